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
	"syscall"
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
//	! a line of its standard error         (any of the three: |$ "quoted" where it is not plain text)
//	[exit 1]
//
// Expectations are those of the host's tools in the C locale (coreutils 9.1, grep 3.8, sed 4.9, gawk 5.2, diffutils 3.8,
// findutils 4.9, util-linux 2.38). A block that starts with "# ours" and a reason is not held against the host; one with
// "# needs CALL" runs where the guest's kernel has that system call.
type tableRow struct {
	words []string
	line  string
	stdin string
	want  result
}

type tableBlock struct {
	head []string // comments
	ours bool
	need string // a system call without which the block is skipped
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
				if call, ok := strings.CutPrefix(l, "# needs "); ok {
					b.need = call
				}
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
			case l[0] == '|':
				r.want.out += tableText(t, l[1:]) + "\n"
			case l[0] == '~':
				r.want.out += tableText(t, l[1:])
			case l[0] == '!':
				r.want.err += tableText(t, l[1:]) + "\n"
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
				out.WriteString(tableLine("| ", l) + "\n")
			}
			if open {
				out.WriteString(tableLine("~ ", last) + "\n")
			}
			text, last, open = cutLast(r.want.err)
			if open {
				text = append(text, last)
			}
			for _, l := range text {
				out.WriteString(tableLine("! ", l) + "\n")
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

func tableLine(mark, text string) string {
	if text == "" {
		return mark[:1]
	}
	for i := range len(text) {
		if text[i] < ' ' && text[i] != '\t' || text[i] > '~' || i == len(text)-1 && text[i] <= ' ' {
			return mark[:1] + "$ " + strconv.Quote(text)
		}
	}
	return mark + text
}

// tableText reads the rest of a line behind its mark.
func tableText(t *testing.T, rest string) string {
	if q, ok := strings.CutPrefix(rest, "$ "); ok {
		text, err := strconv.Unquote(q)
		if err != nil {
			t.Fatalf("%s: %v", q, err)
		}
		return text
	}
	return strings.TrimPrefix(rest, " ")
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
	if os.Getenv("KSCOPE_HOST_TOOLS") == "" && !*updateTables {
		t.Skip("starts the host's tools for each row: KSCOPE_HOST_TOOLS=1")
	}
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
		if words, to := redirected(r.words); to != "" {
			f, err := os.OpenFile(to, os.O_WRONLY, 0)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			cmd.Args, cmd.Stdout = words, f
		}
		if err := cmd.Run(); err != nil && !errors.As(err, new(*exec.ExitError)) {
			t.Fatal(r.line, err)
		}
		got := result{out.String(), errs.String(), cmd.ProcessState.ExitCode()}
		if ws, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
			got.code = 128 + int(ws.Signal())
		}
		if *updateTables {
			r.want = got
		} else if got != r.want {
			t.Errorf("%s: %s\nhost  %v\ntable %v", file, r.line, got, r.want)
		}
	}
}

// Every row runs as a guest task; each block of several on a machine of its own.
func TestTablesInGuest(t *testing.T) {
	for _, file := range tables(t) {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			m, h := boot(t, kernel.Config{Seed: 0})
			for i, b := range readTable(t, file) {
				if len(b.rows) > 1 { // they leave files behind: a machine of their own
					m, h = boot(t, kernel.Config{Seed: uint64(i)})
				}
				if b.need != "" && !hasCall(t, m, h, b.need) {
					t.Logf("%s: the guest has no %s", b.rows[0].line, b.need)
					continue
				}
				for _, r := range b.rows {
					got, err := runInDir(m, h, "/t", r.words, r.stdin)
					if err != nil {
						t.Fatalf("%s: %v", r.line, err)
					}
					if got != r.want {
						t.Errorf("%s\nguest %v\nwant  %v", r.line, got, r.want)
					}
				}
				if len(b.rows) > 1 {
					m, h = boot(t, kernel.Config{Seed: uint64(i)})
				}
			}
		})
	}
}

func TestEveryCommandHasARow(t *testing.T) {
	used := map[string]bool{}
	for _, file := range tables(t) {
		for _, b := range readTable(t, file) {
			for _, r := range b.rows {
				used[r.words[0]] = true
			}
		}
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

// redirected takes > /dev/FILE off the end of a command.
func redirected(words []string) ([]string, string) {
	if n := len(words); n > 2 && words[n-2] == ">" && strings.HasPrefix(words[n-1], "/dev/") {
		return words[:n-2], words[n-1]
	}
	return words, ""
}

func hasCall(t *testing.T, m *kernel.Machine, h *Host, call string) bool {
	pid, err := h.Spawn(Program{Name: "probe", Main: func(s *Sys, _ []string) int {
		if _, _, e := s.named(call, 0, 0, 0); e == kernel.ENOSYS {
			return 1
		}
		return 0
	}}, nil, kernel.Streams{})
	if err != nil {
		t.Fatal(err)
	}
	code, err := m.Wait(pid)
	return code == 0 && err == nil
}

// runInDir executes a command in a directory.
func runInDir(m *kernel.Machine, h *Host, dir string, words []string, stdin string) (result, error) {
	var out, errs bytes.Buffer
	pid, err := h.Spawn(Program{Name: "table", Main: func(s *Sys, argv []string) int {
		s.Chdir(dir)
		words, to := redirected(words)
		if to != "" {
			fd, _ := s.Open(to, oWronly, 0)
			s.Dup2(fd, 1)
			s.Close(fd)
		}
		e := s.Exec(ProgramPath(words[0]), words, tableEnv)
		s.Write(2, []byte(words[0]+": "+e.Error()+"\n"))
		return 127
	}}, nil, kernel.Streams{In: strings.NewReader(stdin), Out: &out, Err: &errs})
	if err != nil {
		return result{}, err
	}
	code, err := m.Wait(pid)
	return result{out.String(), errs.String(), code}, err
}
