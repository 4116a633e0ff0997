package lang

import (
	"os"
	"path/filepath"
	"strings"
)

// joint stands for a line break where a whole statement must fit into one line: in the history file and in the line that
// the up arrow recalls.
const joint = "⏎"

// historyMax is how many statements are kept.
const historyMax = 1000

// history is the list of whole statements, oldest first. Every failure to read or write its file is silent: a session must
// work with an empty, read-only or absent home directory.
type history struct {
	path  string // "" keeps nothing
	items []string
}

// HistoryPath is where sessions keep their history, by the XDG convention; "" when there is no such place.
func HistoryPath(getenv func(string) string) string {
	dir := getenv("XDG_STATE_HOME")
	if dir == "" {
		home := getenv("HOME")
		if home == "" {
			home = getenv("LOCALAPPDATA") // Windows
		}
		if home == "" {
			return ""
		}
		dir = filepath.Join(home, ".local", "state")
	}
	return filepath.Join(dir, "kscope", "history")
}

func openHistory(path string) *history {
	hist := &history{path: path}
	if path == "" {
		return hist
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return hist
	}
	for _, line := range strings.Split(string(data), "\n") {
		if line != "" {
			hist.items = append(hist.items, line)
		}
	}
	if len(hist.items) > 2*historyMax {
		hist.items = hist.items[len(hist.items)-historyMax:]
		os.WriteFile(path, []byte(strings.Join(hist.items, "\n")+"\n"), 0o600)
	}
	return hist
}

// add keeps one statement and returns the line that stands for it, or "" when there is nothing new.
func (hist *history) add(stmt string) string {
	line := strings.ReplaceAll(strings.TrimRight(stmt, " \n"), "\n", joint)
	if line == "" || len(hist.items) > 0 && hist.items[len(hist.items)-1] == line {
		return ""
	}
	hist.items = append(hist.items, line)
	if hist.path != "" {
		os.MkdirAll(filepath.Dir(hist.path), 0o700)
		if f, err := os.OpenFile(hist.path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600); err == nil {
			f.WriteString(line + "\n")
			f.Close()
		}
	}
	return line
}
