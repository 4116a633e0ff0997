package user

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"kscope/kernel"
)

var updateTables = flag.Bool("update", false, "rewrite the expectations of testdata/commands/*.txt by running the host's GNU tools")

// The files testdata/commands/*.txt hold blocks, separated by blank lines, of commands that run one after another in a directory with
// testFiles:
//
//	$ command word 'quoted' $'with \n escapes'
//	< "what it reads"
//	| a line of its standard output        ~ the same, without a newline at its end
//	! a line of its standard error
//	[exit 1]
//
// Expectations are those of the host's tools in the C locale (coreutils 9.1, grep 3.8, sed 4.9, gawk 5.2, diffutils 3.8,
// findutils 4.9, util-linux 2.38). A block that starts with "# ours" and a reason is not held against the host.
type tableRow struct {
	words []string
	line  string
	stdin string
	want  result
}

type tableBlock struct {
	head []string // comments
	ours bool
	rows []tableRow
}

func readTable(t *testing.T, file string) (blocks []tableBlock) {
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range strings.Split(strings.TrimSpace(string(text)), "\n\n") {
		var b tableBlock
		for _, l := range strings.Split(part, "\n") {
			if strings.HasPrefix(l, "#") {
				b.head = append(b.head, l)
				b.ours = b.ours || strings.HasPrefix(l, "# ours")
				continue
			}
			if cmd, ok := strings.CutPrefix(l, "$ "); ok {
				b.rows = append(b.rows, tableRow{words: splitWords(t, cmd), line: cmd})
				continue
			}
			if len(b.rows) == 0 {
				t.Fatalf("%s: %q without a command", file, l)
			}
			r := &b.rows[len(b.rows)-1]
			switch {
			case strings.HasPrefix(l, "< "):
				if r.stdin, err = strconv.Unquote(l[2:]); err != nil {
					t.Fatalf("%s: %s: %v", file, l, err)
				}
			case strings.HasPrefix(l, "| "), l == "|":
				r.want.out += strings.TrimPrefix(l[1:], " ") + "\n"
			case strings.HasPrefix(l, "~ "):
				r.want.out += l[2:]
			case strings.HasPrefix(l, "! "), l == "!":
				r.want.err += strings.TrimPrefix(l[1:], " ") + "\n"
			case strings.HasPrefix(l, "[exit "):
				r.want.code, _ = strconv.Atoi(strings.TrimSuffix(l[6:], "]"))
			default:
				t.Fatalf("%s: %q", file, l)
			}
		}
		blocks = append(blocks, b)
	}
	return blocks
}

func writeTable(t *testing.T, file string, blocks []tableBlock) {
	var out strings.Builder
	for i, b := range blocks {
		if i > 0 {
			out.WriteString("\n")
		}
		for _, h := range b.head {
			out.WriteString(h + "\n")
		}
		for _, r := range b.rows {
			fmt.Fprintf(&out, "$ %s\n", r.line)
			if r.stdin != "" {
				fmt.Fprintf(&out, "< %q\n", r.stdin)
			}
			text, last, open := cutLast(r.want.out)
			for _, l := range text {
				out.WriteString(strings.TrimSuffix("| "+l, " ") + "\n")
			}
			if open {
				out.WriteString("~ " + last + "\n")
			}
			text, last, open = cutLast(r.want.err)
			if open {
				text = append(text, last)
			}
			for _, l := range text {
				out.WriteString(strings.TrimSuffix("! "+l, " ") + "\n")
			}
			if r.want.code != 0 {
				fmt.Fprintf(&out, "[exit %d]\n", r.want.code)
			}
		}
	}
	if err := os.WriteFile(file, []byte(out.String()), 0o644); err != nil {
		t.Fatal(err)
	}
}

func cutLast(text string) (lines []string, last string, open bool) {
	lines = strings.Split(text, "\n")
	last = lines[len(lines)-1]
	return lines[:len(lines)-1], last, last != ""
}

// splitWords knows blanks, '…' and $'…'.
func splitWords(t *testing.T, line string) (words []string) {
	for i := 0; i < len(line); {
		if line[i] == ' ' {
			i++
			continue
		}
		word := ""
		for i < len(line) && line[i] != ' ' {
			escapes := strings.HasPrefix(line[i:], "$'")
			if !escapes && line[i] != '\'' {
				word += line[i : i+1]
				i++
				continue
			}
			if escapes {
				i++
			}
			end := strings.IndexByte(line[i+1:], '\'')
			if end < 0 {
				t.Fatalf("quote in %s", line)
			}
			text := line[i+1 : i+1+end]
			if escapes {
				var err error
				if text, err = strconv.Unquote(`"` + text + `"`); err != nil {
					t.Fatalf("%s: %v", line, err)
				}
			}
			word += text
			i += end + 2
		}
		words = append(words, word)
	}
	return words
}

func tables(t *testing.T) []string {
	files, err := filepath.Glob("testdata/commands/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	return files
}

var tableEnv = []string{"LC_ALL=C", "TZ=UTC", "HOME=/root", "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"}

// The committed expectations are the host's, where it has the tools of Debian 12; -update writes them anew.
func TestTablesAgainstHost(t *testing.T) {
	v, err := exec.Command("cat", "--version").Output()
	if err != nil || !bytes.HasPrefix(v, []byte("cat (GNU coreutils) 9.1\n")) {
		t.Skip("no GNU coreutils 9.1 on this host")
	}
	for _, file := range tables(t) {
		blocks := readTable(t, file)
		for bi := range blocks {
			if b := &blocks[bi]; !b.ours {
				hostBlock(t, filepath.Base(file), b)
			}
		}
		if *updateTables {
			writeTable(t, file, blocks)
		}
	}
}

func hostBlock(t *testing.T, file string, b *tableBlock) {
	dir := t.TempDir()
	for _, f := range testFiles {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, f.name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, f.name), []byte(f.data), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for i := range b.rows {
		r := &b.rows[i]
		path, err := exec.LookPath(r.words[0])
		if err != nil {
			continue
		}
		cmd := &exec.Cmd{Path: path, Args: r.words, Dir: dir, Env: tableEnv, Stdin: strings.NewReader(r.stdin)}
		var out, errs bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &errs
		if err := cmd.Run(); err != nil && !errors.As(err, new(*exec.ExitError)) {
			t.Fatal(r.line, err)
		}
		got := result{out.String(), errs.String(), cmd.ProcessState.ExitCode()}
		if *updateTables {
			r.want = got
		} else if got != r.want {
			t.Errorf("%s: %s\nhost  %v\ntable %v", file, r.line, got, r.want)
		}
	}
}

// Every row runs as a guest task; each block on a machine of its own.
func TestTablesInGuest(t *testing.T) {
	used := map[string]bool{}
	for _, file := range tables(t) {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			for i, b := range readTable(t, file) {
				m, h := boot(t, kernel.Config{Seed: uint64(i)})
				for _, r := range b.rows {
					used[r.words[0]] = true
					got, err := runInDir(m, h, "/t", r.words, r.stdin)
					if err != nil {
						t.Fatalf("%s: %v", r.line, err)
					}
					if got != r.want {
						t.Errorf("%s\nguest %v\nwant  %v", r.line, got, r.want)
					}
				}
				h.Close()
			}
		})
	}
	used["yes"] = true // TestPipelines: it has no end
	for _, r := range commandRows {
		used[strings.Fields(r.line)[0]] = true
	}
	for _, p := range Commands() {
		if !used[p.Name] && p.Name != "stub" {
			t.Errorf("no row for %s", p.Name)
		}
	}
}

// runInDir executes a command from /bin in a directory.
func runInDir(m *kernel.Machine, h *Host, dir string, words []string, stdin string) (result, error) {
	var out, errs bytes.Buffer
	pid, err := h.Spawn(Program{Name: "table", Main: func(s *Sys, argv []string) int {
		s.Chdir(dir)
		e := s.Exec("/bin/"+words[0], words, tableEnv)
		s.Write(2, []byte(words[0]+": "+e.Error()+"\n"))
		return 127
	}}, nil, kernel.Streams{In: strings.NewReader(stdin), Out: &out, Err: &errs})
	if err != nil {
		return result{}, err
	}
	code, err := m.Wait(pid)
	return result{out.String(), errs.String(), code}, err
}
