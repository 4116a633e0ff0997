package ftrace

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"kscope/kernel"
)

var updateRows = flag.Bool("update-rows", false, "rewrite testdata/rows.txt")

const rowsFile = "testdata/rows.txt"

// volatile is what another image or another cost changes: addresses, times, pids and ids.
var volatile = []struct {
	re *regexp.Regexp
	to string
}{
	{regexp.MustCompile(`f{8}[0-9a-f]{8}`), "ADDR"},
	{regexp.MustCompile(`0x[0-9a-f]{3,}|\+0x[0-9a-f]+/0x[0-9a-f]+`), "ADDR"},
	{regexp.MustCompile(` +\d+\.\d{6}`), " TIME"},
	{regexp.MustCompile(` [ !#+*@$] *\d+\.\d+ us `), " DURATION "},
	{regexp.MustCompile(`(?m)(now|oldest event) ts: .*`), "$1 ts: TIME"},
	{regexp.MustCompile(`(?m)^\[ +\d.*?\]`), "[TIME]"},
	{regexp.MustCompile(`(?m)^\d+ pages:\d+ groups: \d+`), "N pages:N groups: N"},
	{regexp.MustCompile(`-\d+ +(\( *[\d-]+\))? *\[`), "-PID ["},
	{regexp.MustCompile(`(-PID \[\d+\](?: \S{5})?) +\d+: `), "$1 COUNT: "},
	{regexp.MustCompile(`(?m)^\d+ (\d) \d+ ADDR`), "PID $1 COUNT ADDR"},
	{regexp.MustCompile(`(?m)^[0-9a-f]{8} ([0-9a-f]{8}) [0-9a-f]{16} `), "PID $1 COUNT "},
	{regexp.MustCompile(`(kscoped)-\d+ +\|`), "$1-PID |"},
	{regexp.MustCompile(`(\d+\) +)\d+ +\d+ `), "$1 DEPTH SIZE "},
	{regexp.MustCompile(` +\d+ +\d+\.\d{3} us .*`), " HITS TIMES"},
	{regexp.MustCompile(`(?m)^\d+ (kscoped)$`), "PID $1"},
	{regexp.MustCompile(`(?m)^\d+ \d+$`), "PID TGID"},
}

// rowsRun does what the lines "$ VERB FILE ARGUMENT" of the transcript say, on CPU 0 of a machine of two, and gives the transcript.
func rowsRun(tb testing.TB, script string) string {
	tr := boot(tb, kernel.Config{CPUs: 2})
	var out strings.Builder
	for _, line := range strings.Split(script, "\n") {
		if strings.HasPrefix(line, "## ") {
			out.WriteString(line + "\n")
		}
		if cmd, ok := strings.CutPrefix(line, "$ "); ok {
			out.WriteString(line + "\n" + rowsLine(tb, tr, cmd))
		}
	}
	return out.String()
}

// rowsLine does one line, and gives what stands below it in the transcript.
func rowsLine(tb testing.TB, tr *Tracer, cmd string) string {
	verb, rest, _ := strings.Cut(cmd, " ")
	file, arg, _ := strings.Cut(rest, " ")
	text, err := rowsStep(tb, tr, verb, file, arg)
	for _, v := range volatile {
		text = v.re.ReplaceAllString(text, v.to)
	}
	if text != "" && !strings.HasSuffix(text, "\n") {
		text += "\\\n"
	}
	if err != nil {
		text += fmt.Sprintf("error: %v\n", err)
	}
	return text
}

// rowsBlank is something of a file that a golden must miss.
type rowsBlank struct {
	name, path, arg string // arg is what * stands for; "": anything
	blank           func(tr *Tracer)
}

// rowsBlanks takes each blank away in turn: the golden must become another. What is before the first use of a blank's file is the
// same for all, so the script runs once, and a copy of the machine runs on from there, without the blank, as far as it gives the same.
func rowsBlanks(t *testing.T, golden string, blanks []rowsBlank) {
	script, err := os.ReadFile(golden)
	must(t, err)
	var lines, base []string
	for _, line := range strings.Split(string(script), "\n") {
		if cmd, ok := strings.CutPrefix(line, "$ "); ok {
			lines = append(lines, cmd)
		}
	}
	tr := boot(t, kernel.Config{CPUs: 2})
	type use struct{ path, arg string }
	first := map[use]int{} // the line of a row's first use
	for _, f := range tr.fs.Rows() {
		by := *f
		by.Open = func(h *Handle) error {
			for _, u := range []use{{f.Path, ""}, {f.Path, h.Arg}} {
				if _, used := first[u]; !used {
					first[u] = len(base)
				}
			}
			if f.Open == nil {
				return nil
			}
			return f.Open(h)
		}
		replaceRow(tr, f, &by)
	}
	for _, line := range lines {
		base = append(base, rowsLine(t, tr, line))
	}
	tr = boot(t, kernel.Config{CPUs: 2})
	for i, line := range lines {
		for _, b := range blanks {
			if at, used := first[use{b.path, b.arg}]; !used || at != i {
				continue
			}
			t.Run(b.name, func(t *testing.T) {
				without, _ := Of(tr.m.Copy())
				b.blank(without)
				for j := i; j < len(lines); j++ {
					if rowsLine(t, without, lines[j]) != base[j] {
						return
					}
				}
				t.Error("without it the golden is the same")
			})
		}
		rowsLine(t, tr, line)
	}
	for _, b := range blanks {
		if _, used := first[use{b.path, b.arg}]; !used {
			t.Errorf("%s: the golden does not open %s", b.name, b.path)
		}
	}
}

func rowsStep(tb testing.TB, tr *Tracer, verb, file, arg string) (text string, err error) {
	c := tr.m.VCPU(0)
	switch verb {
	case "work":
		work(tb, tr)
	case "fill": // a ring of two pages overflows
		err = tr.m.Do("fill", func(c *kernel.VCPU) error {
			for i := range tr.cpu {
				tr.cpu[i].ring.Resize(2)
			}
			for i := range 2000 {
				if _, err := tr.mark(tr.m.VCPU(i&1), fmt.Appendf(nil, "mark %d\n", i)); err != nil && err != kernel.EBADF {
					return err
				}
			}
			return nil
		})
	case "pause": // whether marks are refused while the file is open
		h, err := tr.fs.Open(c, file, 0)
		must(tb, err)
		_, err = tr.mark(c, []byte("x"))
		must(tb, h.Close())
		return fmt.Sprintf("a mark meanwhile: %v\n", err), nil
	case "read", "pages", "head", "tail", "size", "count", "has", "words":
		var data []byte
		data, err = tr.fs.ReadFile(c, file)
		if text = string(data); verb == "pages" {
			text = fmt.Sprintf("%d bytes, %v\n", len(data), bytes.Contains(data, []byte("abcd")) || bytes.Contains(data, []byte("six")))
		}
		lines := strings.SplitAfter(strings.TrimSuffix(text, "\n"), "\n")
		switch n, _ := strconv.Atoi(arg); verb {
		case "head":
			text = strings.Join(lines[:min(n, len(lines))], "")
		case "tail":
			text = strings.Join(lines[max(len(lines)-n, 0):], "")
		case "words": // of the last line
			text = fmt.Sprintln(len(strings.Fields(lines[len(lines)-1])))
		case "size":
			text = fmt.Sprintf("%d bytes\n", len(text))
		case "has":
			text = fmt.Sprintln(strings.Contains(text, arg))
		case "count":
			text = fmt.Sprintf("%d\n", strings.Count(text, arg))
		}
	case "id":
		var data []byte
		data, err = tr.fs.ReadFile(c, file)
		ev, _ := tr.TraceEvent("sched", "sched_switch")
		text = fmt.Sprintf("the event's: %v\n", string(data) == fmt.Sprintln(ev.ID))
	case "stack":
		err = tr.m.Do("stack tracer", func(*kernel.VCPU) error { return tr.stack.set(file == "1") })
	case "mark":
		err = tr.m.Do("mark", func(*kernel.VCPU) error { return tr.fs.WriteFile(c, file, []byte("\x01\x00\x00\x00abcd"), false) })
	case "write":
		err = tr.m.Do("write", func(*kernel.VCPU) error {
			if arg == "" {
				return tr.fs.WriteFile(c, file, nil, false)
			}
			return tr.fs.WriteFile(c, file, []byte(arg+"\n"), false)
		})
	default:
		tb.Fatalf("%s: no such verb", verb)
	}
	return text, err
}

// TestRows is a golden of every file of the table.
func TestRows(t *testing.T) { rowsGolden(t, rowsFile) }

func rowsGolden(t *testing.T, file string) {
	want, err := os.ReadFile(file)
	must(t, err)
	got := rowsRun(t, string(want))
	if *updateRows {
		must(t, os.WriteFile(file, []byte(got), 0o644))
		return
	}
	w, g := strings.Split(string(want), "\n"), strings.Split(got, "\n")
	for i := range w {
		if i >= len(g) || w[i] != g[i] {
			t.Fatalf("%s:%d (go test ./ftrace -run %s -update-rows rewrites it)\n-%s\n+%s", file, i+1, t.Name(), w[i], strings.Join(g[min(i, len(g)):min(i+3, len(g))], "\n+"))
		}
	}
}

// replaceRow puts another row in the place of f, wherever the tree has it.
func replaceRow(tr *Tracer, f, by *File) {
	for _, n := range tr.fs.nodes {
		if n.file == f {
			n.file = by
		}
	}
}

// TestBlankRows blanks the reader and the writer of each row in turn; the golden of TestRows must fail. Of the rows that each
// event has, those of sched_switch stand for all: they are the same functions.
func TestBlankRows(t *testing.T) {
	notSeen := map[string]bool{
		"trace_stat/*:write":  true, // refuses
		"printk_formats:read": true, // empty without a module; scripts/tracefs has a golden with one
	}
	var blanks []rowsBlank
	for _, f := range boot(t, kernel.Config{CPUs: 2}).fs.Rows() {
		if p := strings.Split(f.Path, "/"); p[0] == "events" && len(p) > 2 && p[1] != "ftrace" && (p[1] != "sched" || len(p) > 3 && p[2] != "sched_switch") {
			continue
		}
		for _, c := range []struct {
			what string
			has  bool
			by   func(f File) *File
		}{{"read", f.Mode&0o444 != 0, unread}, {"write", f.Mode&0o222 != 0, unwritten}} {
			if !c.has || notSeen[f.Path+":"+c.what] {
				continue
			}
			blanks = append(blanks, rowsBlank{strings.ReplaceAll(f.Path, "/", ":") + ":" + c.what, f.Path, "", func(tr *Tracer) {
				f := rowAt(tr, f.Path)
				replaceRow(tr, f, c.by(*f))
			}})
		}
	}
	rowsBlanks(t, rowsFile, blanks)
}

// unread is a row without its reader, unwritten one without its writer.
func unread(f File) *File {
	f.Text, f.Read = nil, func(*Handle, []byte) (int, error) { return 0, nil }
	return &f
}

func unwritten(f File) *File {
	opens, closes := f.Open, f.Close
	f.Write = accept
	f.Open = func(h *Handle) error {
		if opens == nil || h.Writable() {
			return nil
		}
		return opens(h)
	}
	f.Close = func(h *Handle) error {
		if closes == nil || h.Writable() {
			return nil
		}
		return closes(h)
	}
	return &f
}

// TestBlankOptions takes the effect of each option away in turn, at its file; the golden must fail.
func TestBlankOptions(t *testing.T) {
	quiet := map[string]string{ // why nothing is to be seen
		"block": "cannot be set", "userstacktrace": "needs user space: scripts/tracer/userstack.sh", "sym-userobj": "cannot be set", "hash-ptr": "cannot be set", "test_nop_refuse": "refused",
		"test_nop_accept": "does nothing", "display-graph": "is of the latency tracers", "trace_printk": "a golden with a module has it",
		"event-fork": "needs forks: TestFollow", "function-fork": "needs forks: TestFollow", "funcgraph-irqs": "needs interrupts: scripts/tracer",
		"sleep-time": "needs a task that sleeps: scripts/conform/b-graph", "graph-time": "TestGraphTime",
		"func-no-repeats": "needs a call that repeats: TestFunctionOptions", "funcgraph-overhead": "needs long functions: scripts/conform/b-graph",
	}
	var blanks []rowsBlank
	for i := range optionRows {
		name := optionRows[i].name
		if quiet[name] != "" || optionRows[i].need != "" {
			continue
		}
		blanks = append(blanks, rowsBlank{name, "options/*", name, func(tr *Tracer) {
			f := rowAt(tr, "options/*")
			by := *f
			by.Write = func(h *Handle, p []byte) (int, error) {
				if h.Arg == name {
					return len(p), nil
				}
				return f.Write(h, p)
			}
			replaceRow(tr, f, &by)
		}})
	}
	rowsBlanks(t, rowsFile, blanks)
}

// rowAt finds the row of a path in a tree.
func rowAt(tr *Tracer, path string) *File {
	rows := tr.fs.Rows()
	return rows[slices.IndexFunc(rows, func(f *File) bool { return f.Path == path })]
}
