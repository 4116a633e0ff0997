package sh

import (
	"maps"
	"path"
	"slices"
	"sort"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"kscope/kernel"
)

// Completion of the last word of a line, for the editor of an interactive shell: variables behind $, commands where a command
// stands, directories behind cd, files, and in what is written to files the words that tracefs takes.

// Offers are what completion needs of the machine.
type Offers struct {
	List  func(dir string) []kernel.DirEntry // a directory by its whole path; nil: there is none
	Words func() []string                    // events, functions, tracers …
}

// reservedWords are those that a command may begin with; a command follows each that is marked.
func reservedWords() map[string]bool {
	return map[string]bool{"if": true, "then": true, "else": true, "elif": true, "while": true, "until": true, "do": true, "!": true, "{": true,
		"time": true, "for": false, "case": false, "select": false, "function": false, "fi": false, "done": false, "esac": false, "}": false, "[[": false}
}

// runners are the commands whose argument is a command.
const runners = " exec command builtin env nohup xargs nice setsid type which hash "

// Complete gives the candidates for the last word of a line, or of the statement so far, and how many of its last bytes each
// of them begins with.
func (t *Terminal) Complete(before string, o Offers) (candidates []string, replace int) {
	if t.sh == nil {
		return nil, 0
	}
	w, ok := lastWord(before)
	if !ok {
		return nil, 0
	}
	c := &completion{sh: t.sh, o: o, w: w}
	end := " "
	if w.quote != 0 {
		end = string(w.quote) + " "
	}
	switch i := strings.LastIndexByte(w.raw, '$'); {
	case i >= 0 && w.quote != '\'' && isVariable(w.raw[i+1:]):
		candidates, replace = c.variables(w.raw[i:]), len(w.raw)-i
	case w.command && !strings.Contains(w.text, "/"):
		candidates, replace = c.commands(), len(w.raw)
	default:
		candidates, replace = c.files(w.text)
		tail := w.text[strings.LastIndexAny(w.text, " !")+1:]
		echoes := w.name == "echo" || w.name == "printf"
		if tail == "" || w.redirect || strings.Contains(w.text, "/") || !strings.HasSuffix(w.raw, tail) || takesDir(w.name) || len(candidates) > 0 && !echoes {
			break
		}
		if words := c.words(tail); len(candidates) == 0 {
			if candidates, replace = words, len(tail); strings.Contains(w.text, " ") {
				end = "" // a line of kprobe_events may go on
			}
		} else if replace == len(tail) {
			candidates = append(candidates, words...)
		}
	}
	sort.Strings(candidates)
	candidates = slices.Compact(candidates)
	if len(candidates) == 1 && !strings.HasSuffix(candidates[0], "/") && candidates[0][0] != '$' {
		candidates[0] += end
	}
	return candidates, replace
}

// takesDir tells a command whose arguments are directories.
func takesDir(command string) bool { return strings.Contains(" cd pushd rmdir ", " "+command+" ") }

// word is the one that is being typed.
type word struct {
	raw, text string // as typed, and without quotes
	quote     byte   // still open; 0: none
	command   bool   // a command stands here
	redirect  bool   // behind < or >
	name      string // the command that it is an argument of
}

// lastWord scans a line up to its end; false within a comment.
func lastWord(line string) (word, bool) {
	s := &wordScan{line: line, w: word{command: true}, runs: true}
	for s.i < len(line) {
		if !s.step() {
			return word{}, false
		}
	}
	s.w.raw = line[s.start:]
	return s.w, true
}

// wordScan is a scan under way.
type wordScan struct {
	line  string
	i     int
	start int // of the word
	w     word
	outer []word // around each open $(
	runs  bool   // a command may stand behind those that take one
}

// step takes a character, or a quoted one with its backslash.
func (s *wordScan) step() bool {
	c := s.line[s.i]
	s.i++
	switch {
	case strings.HasPrefix(s.line[s.i-1:], "$(") && s.w.quote != '\'':
		s.i++
		s.outer = append(s.outer, s.w)
		s.w = word{}
		s.begin(true)
	case c == '\\' && s.w.quote != '\'' && s.i < len(s.line):
		s.w.text += s.line[s.i : s.i+1]
		s.i++
	case s.w.quote != 0 && c == s.w.quote:
		s.w.quote = 0
	case s.w.quote != 0:
		s.w.text += string(c)
	case c == '\'' || c == '"':
		s.w.quote = c
	case c == '#' && s.start == s.i-1:
		end := strings.IndexByte(s.line[s.i:], '\n')
		if end < 0 {
			return false
		}
		s.i += end
	case c == ')' && len(s.outer) > 0:
		s.w = s.outer[len(s.outer)-1]
		s.outer = s.outer[:len(s.outer)-1]
		s.w.text += "\x00" // what it stands for is not known
	case strings.IndexByte("\n;&|()`", c) >= 0:
		s.w.name = ""
		s.begin(true)
	case c == '<' || c == '>':
		s.begin(s.w.command && s.w.text == "")
		s.w.redirect = true
	case c == ' ' || c == '\t':
		s.space()
	case c == '=' && s.w.text != "":
		command := s.w.command && syntax.ValidName(s.w.text)
		s.begin(command)
		s.w.redirect = true // a file
	default:
		s.w.text += string(c)
	}
	return true
}

// begin begins a word.
func (s *wordScan) begin(command bool) {
	s.start = s.i
	s.w.text, s.w.quote, s.w.command, s.w.redirect = "", 0, command, false
}

// space ends a word, and says what the next one is.
func (s *wordScan) space() {
	w := s.w
	switch more, reserved := reservedWords()[w.text]; {
	case w.redirect && w.text == "" && s.i >= 2 && strings.IndexByte("<> ", s.line[s.i-2]) >= 0: // blanks behind the sign
		s.start = s.i
	case w.redirect || w.text == "" && s.start == s.i-1:
		s.begin(w.command)
	case w.command && reserved && more, w.command && s.runs && strings.Contains(runners, " "+w.text+" "):
		s.begin(true)
		s.w.name = w.text
	case w.command:
		s.begin(false)
		s.w.name = w.text
	default:
		s.begin(false)
	}
}

func isVariable(s string) bool {
	s = strings.TrimPrefix(s, "{")
	return s == "" || syntax.ValidName(s)
}

// completion is one under way.
type completion struct {
	sh *Shell
	o  Offers
	w  word
}

func (c *completion) variables(typed string) (out []string) {
	name, brace := strings.CutPrefix(typed[1:], "{")
	for n, v := range c.sh.vars {
		if !strings.HasPrefix(n, name) || !v.set {
			continue
		}
		if brace {
			out = append(out, "${"+n+"}")
		} else {
			out = append(out, "$"+n)
		}
	}
	return out
}

func (c *completion) commands() (out []string) {
	names := slices.Collect(maps.Keys(c.sh.builtins))
	names = slices.AppendSeq(names, maps.Keys(c.sh.funcs))
	names = slices.AppendSeq(names, maps.Keys(reservedWords()))
	for _, dir := range strings.Split(c.sh.get("PATH"), ":") {
		for _, e := range c.o.List(c.whole(dir)) {
			names = append(names, e.Name)
		}
	}
	for _, n := range names {
		if c.w.text != "" && strings.HasPrefix(n, c.w.text) {
			out = append(out, c.w.raw+n[len(c.w.text):])
		}
	}
	if len(out) == 0 && c.w.text != "" {
		out, _ = c.files(c.w.text)
		out = slices.DeleteFunc(out, func(n string) bool { return !strings.HasSuffix(n, "/") })
	}
	return out
}

// whole is a path from the root.
func (c *completion) whole(name string) string {
	switch {
	case name == "~" || strings.HasPrefix(name, "~/"):
		name = c.sh.get("HOME") + name[1:]
	case !strings.HasPrefix(name, "/"):
		name = c.sh.get("PWD") + "/" + name
	}
	return path.Clean(name)
}

// Types of a DirEntry.
const (
	entryDir  = 4
	entryLink = 10
)

// files are the names in the directory that the word is in.
func (c *completion) files(text string) (out []string, replace int) {
	dir, base := path.Split(text)
	raw := c.w.raw[strings.LastIndexByte(c.w.raw, '/')+1:]
	if len(raw) > 0 && c.w.quote != 0 && raw[0] == c.w.quote {
		raw = raw[1:]
	}
	dirsOnly := takesDir(c.w.name) && !c.w.redirect
	for _, e := range c.o.List(c.whole(dir)) {
		if !strings.HasPrefix(e.Name, base) || e.Name[0] == '.' && base == "" {
			continue
		}
		isDir := e.Type == entryDir || e.Type == entryLink && c.o.List(c.whole(dir+e.Name)) != nil
		if dirsOnly && !isDir {
			continue
		}
		name := raw + quoteRest(e.Name[len(base):], c.w.quote)
		if isDir {
			name += "/"
		}
		out = append(out, name)
	}
	return out, len(raw)
}

// quoteRest is the rest of a name as one has to type it.
func quoteRest(s string, quote byte) string {
	special := " \t\n\\'\"`$&|;()<>*?[]#~!{}"
	switch quote {
	case '\'':
		return s
	case '"':
		special = "\\\"`$"
	}
	var b strings.Builder
	for i := range len(s) {
		if strings.IndexByte(special, s[i]) >= 0 {
			b.WriteByte('\\')
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

func (c *completion) words(prefix string) (out []string) {
	for _, n := range c.o.Words() {
		if strings.HasPrefix(n, prefix) {
			out = append(out, n)
		}
	}
	return out
}
