package event

import (
	"os"
	"path"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

var switchFormat = Format{System: "sched", Name: "sched_switch", ID: 314, Fields: []Field{
	{"char[16]", "prev_comm", 8, 16, true}, {"pid_t", "prev_pid", 24, 4, true}, {"int", "prev_prio", 28, 4, true},
	{"long", "prev_state", 32, 8, true}, {"char[16]", "next_comm", 40, 16, true}, {"pid_t", "next_pid", 56, 4, true},
	{"int", "next_prio", 60, 4, true}}}

var openatFormat = Format{System: "syscalls", Name: "sys_enter_openat", ID: 654, Fields: []Field{
	{"int", "__syscall_nr", 8, 4, true}, {"int", "dfd", 16, 8, false}, {"const char *", "filename", 24, 8, false},
	{"int", "flags", 32, 8, false}, {"umode_t", "mode", 40, 8, false}}}

var env = FilterEnv{Glob: glob}

func glob(pattern string) func(s []byte) bool {
	return func(s []byte) bool {
		ok, _ := path.Match(pattern, string(s))
		return ok
	}
}

// TestFilterTruth holds every filter of oracle f-events against what Linux made of it: errno, and what the file then shows.
func TestFilterTruth(t *testing.T) {
	raw, err := os.ReadFile("../../scripts/conform/f-events.out")
	if err != nil {
		t.Skip("needs the oracle's transcripts beside the repository: ", err)
	}
	errnos := map[int]string{eperm: "Operation not permitted", enoent: "No such file or directory", esrch: "No such process", einval: "Invalid argument"}
	blocks := regexp.MustCompile(`(?m)^\$ `).Split(string(raw), -1)
	row := regexp.MustCompile(`^([fb]) (\S+) (?:'([^\n]*)'|"([^\n]*)") ?\n\[[^\n]*\]\n(?:[^\n]*write error: ([^\n]*)\n  exit 1\n)?`)
	n := 0
	for _, b := range blocks {
		m := row.FindStringSubmatch(b)
		if m == nil {
			continue
		}
		n++
		f := &switchFormat
		if m[2] != "sched/sched_switch" {
			f = &openatFormat
		}
		text, rest := strings.TrimSpace(m[3]+m[4]), b[len(m[0]):]
		if text == "0" {
			continue
		}
		got, errno := "", ""
		if x, err := ParseFilter(f, text, env); err != nil {
			got, errno = err.Report(text), errnos[err.Errno]
		} else {
			got = x.Text
		}
		if errno != m[5] || !strings.HasPrefix(rest, got+"\n") {
			t.Errorf("%q: %q %q; Linux %q %q", text, errno, got, m[5], rest)
		}
	}
	if n < 50 {
		t.Errorf("only %d filters", n)
	}
}

// TestFilterMatch: a row is a filter and whether it lets the record pass.
func TestFilterMatch(t *testing.T) {
	d := make([]byte, 64)
	Header{Type: 314, PID: 7}.Put(d)
	copy(d[8:], "bash")
	copy(d[40:], "swapper/1")
	for name, x := range map[string]uint64{"prev_pid": 7, "prev_prio": 120, "prev_state": 1, "next_pid": ^uint64(0), "next_prio": 100} {
		f, _ := switchFormat.Field(name)
		f.Encode(d, x)
	}
	r := &Record{Data: d, CPU: 2, Comm: func() []byte { return []byte("bash") }}
	for text, want := range map[string]bool{
		"prev_pid == 7": true, "prev_pid != 7": false, "prev_pid == 0x7": true, "prev_pid > 6 && prev_pid < 8": true, "prev_pid >= 8": false,
		"prev_pid <= 7 || next_pid == 3": true, "next_pid == -1": true, "next_pid < 0": true, "prev_state & 0x1": true, "prev_state & 2": false,
		`prev_comm == "bas"`: false, `prev_comm == "bashx"`: false, `prev_comm == ""`: false, `prev_comm != ""`: true, `prev_comm == "0123456789abcdefg"`: false,
		`prev_comm == "bash"`: true, `prev_comm != "bash"`: false, `next_comm ~ "swapper/*"`: true, `COMM == "bash"`: true, "CPU == 2": true,
		"!(prev_pid == 7)": false, "!prev_pid == 8": true, "(prev_pid == 1 || prev_pid == 7) && !(prev_prio > 200)": true,
		"prev_pid == 1 && prev_pid == 2 || prev_pid == 7": true, "common_pid == 7 && common_type == 314": true, "prev_pid == 4294967303": true,
	} {
		f, err := ParseFilter(&switchFormat, text, env)
		if err != nil {
			t.Errorf("%q: %v", text, err)
		} else if f.Match(r) != want {
			t.Errorf("%q: %v", text, !want)
		} else if pass, ok := f.Numbers(d, 2); ok && pass != want {
			t.Errorf("%q: %v of numbers alone", text, pass)
		}
	}
}

// TestFilterNumbers: every comparison of numbers of every size is Go's.
func TestFilterNumbers(t *testing.T) {
	values := []uint64{0, 1, 2, 5, 1<<7 - 1, 1 << 7, 1<<31 - 1, 1 << 31, 1<<63 - 1, 1 << 63, ^uint64(0), ^uint64(0) - 1}
	for _, size := range []int{1, 2, 4, 8} {
		for _, signed := range []bool{false, true} {
			f := Format{Name: "x", Fields: []Field{{"x", "x", 8, size, signed}}}
			typ := cType{size: size, signed: signed}
			for _, a := range values {
				for _, b := range values {
					x, y := typ.fit(a), typ.fit(b)
					if signed && y == 1<<63 { // the parser has no such number
						continue
					}
					less := x < y
					text := strconv.FormatUint(y, 10)
					if signed {
						less, text = int64(x) < int64(y), strconv.FormatInt(int64(y), 10)
					}
					d := make([]byte, 8+size)
					f.Fields[0].Encode(d, x)
					for op, want := range map[string]bool{"==": x == y, "!=": x != y, "<": less, "<=": less || x == y, ">": !less && x != y, ">=": !less, "&": x&y != 0} {
						filter, err := ParseFilter(&f, "x "+op+" "+text, env)
						if err != nil {
							t.Fatalf("x %s %s: %v", op, text, err)
						}
						if pass, ok := filter.Numbers(d, 0); !ok || pass != want || filter.Match(&Record{Data: d}) != want {
							t.Errorf("size %d, signed %v: %d %s %s: %v, %v", size, signed, x, op, text, pass, ok)
						}
					}
				}
			}
		}
	}
}

func FuzzFilter(f *testing.F) {
	for _, s := range []string{"prev_pid == 1", "(a&&b)||!c", `prev_comm ~ "x*"`, "()", "!!!", "((", "'"} {
		f.Add(s)
	}
	d := make([]byte, 64)
	f.Fuzz(func(t *testing.T, s string) {
		if x, err := ParseFilter(&switchFormat, s, env); err == nil {
			x.Match(&Record{Data: d})
		} else {
			err.Report(s)
		}
	})
}

func BenchmarkFilter(b *testing.B) {
	f, err := ParseFilter(&switchFormat, `prev_pid != 0 && next_comm == "bash"`, env)
	if err != nil {
		b.Fatal(err)
	}
	d := make([]byte, 64)
	Header{Type: 314, PID: 7}.Put(d)
	d[24] = 3
	copy(d[40:], "bash")
	r := &Record{Data: d}
	b.ReportAllocs()
	for b.Loop() {
		if !f.Match(r) {
			b.Fatal("no match")
		}
	}
}

// TestLaterFilters: .function and CPUS{} with the features that they are, and the errors that they are without.
func TestLaterFilters(t *testing.T) {
	f := &Format{System: "kmem", Name: "kfree", ID: 400, Fields: []Field{{"unsigned long", "call_site", 8, 8, false}, {"int", "target_cpu", 16, 4, true}}}
	later := FilterEnv{Glob: glob, CPUs: true, Function: func(text string) (uint64, uint64, bool) {
		return 0x1000, 0x1100, text != "kfree" && text != "0x1010"
	}}
	d := make([]byte, 24)
	d[8], d[9], d[16] = 0x80, 0x10, 3
	r := &Record{Data: d, CPU: 2}
	for text, want := range map[string]bool{
		"call_site.function == kfree": true, "call_site.function != kfree": false, "call_site.function == 0x1010 && CPU == 2": true,
		"CPU & CPUS{0-2}": true, "CPU & CPUS{0,1,3}": false, "CPU == CPUS{2}": true, "CPU != CPUS{2}": false, "CPU == CPUS{1-2}": false,
		"target_cpu & CPUS{3,7}": true, "target_cpu & CPUS{0-2}": false, "CPU & CPUS{2} && call_site.function == kfree": true,
	} {
		x, err := ParseFilter(f, text, later)
		if err != nil {
			t.Errorf("%q: %v", text, err)
		} else if x.Match(r) != want {
			t.Errorf("%q: %v", text, !want)
		}
		if _, err := ParseFilter(f, text, env); err == nil {
			t.Errorf("%q: fine without the feature", text)
		}
	}
	for text, want := range map[string]string{
		"target_cpu.function == kfree": errFieldOp, "call_site.function > kfree": errInvalidOp, "call_site.function == nosuch": errNoFunction,
		"CPU & CPUS0": errBraceOpen, "CPU & CPUS{0": errBraceClose, "CPU > CPUS{0}": errFieldOp, "CPU & CPUS{x}": errBadInt,
		"CPU & CPUS{64}": errBadInt, "COMM & CPUS{0}": errFieldOp, "CPU & CPUS{3-1}": errBadInt,
	} {
		if _, err := ParseFilter(f, text, later); err == nil || err.Msg != want {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}
