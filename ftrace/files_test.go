package ftrace

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"kscope/ftrace/event"
	"kscope/ftrace/ring"
	"kscope/kernel"
)

func TestMatch(t *testing.T) {
	text, err := os.ReadFile("testdata/match.txt")
	if err != nil {
		t.Fatal(err)
	}
	for i, line := range strings.Split(strings.TrimSpace(string(text)), "\n") {
		if strings.HasPrefix(line, "#") {
			continue
		}
		pat, names, ok := strings.Cut(line, ": ")
		yes, no, ok2 := strings.Cut(names, "/")
		if !ok || !ok2 {
			t.Fatalf("testdata/match.txt:%d: %q", i+1, line)
		}
		for _, n := range strings.Fields(yes) {
			if !Match(pat, n) {
				t.Errorf("%s does not match %s", pat, n)
			}
		}
		for _, n := range strings.Fields(no) {
			if Match(pat, n) {
				t.Errorf("%s matches %s", pat, n)
			}
		}
	}
}

// someSites is a table of records without a machine under it.
func someSites() *Sites {
	s := &Sites{enabled: true, byID: []*Ops{nil}}
	for i, n := range []string{"vfs_open", "vfs_read", "vfs_write", "ksys_read", "do_exit"} {
		s.recs = append(s.recs, Record{IP: 0x1000 + 0x100*uint64(i), Name: n})
	}
	return s
}

// someTracer is a tracer without a machine: all files work that neither patch nor name symbols.
func someTracer(cpus int) *Tracer {
	t := &Tracer{on: true, current: &tracers[nopTracer], options: defaultOptions(), percent: defaultPercent, sites: someSites(), cpu: make([]cpuState, cpus)}
	for i := range t.cpu {
		t.cpu[i].ring = ring.New(ring.MinPages)
	}
	t.ops = &Ops{Name: "function", Gate: "function_trace_call"}
	t.events = event.NewSet()
	t.guest = guestView{
		symbol: func(addr uint64, offset bool) string {
			name, ok := map[uint64]string{0xffffffff8134cc50: "vfs_read+0x0/0x310", 0xffffffff8134d82b: "ksys_read+0x6b/0xf0", 0x51: "tracing_mark_write+0x0/0x10"}[addr]
			if !ok {
				return fmt.Sprintf("0x%08x", addr)
			}
			if !offset {
				name, _, _ = strings.Cut(name, "+")
			}
			return name
		},
		online:   func() int { return cpus },
		irqEntry: func(addr uint64) bool { return addr == 0x77 },
		release:  func() string { return "6.1.0-57-cloud-amd64" },
	}
	t.graph = &graph{t: t, tasks: map[uint64]*retStack{}}
	t.grapher, t.prof = t.graph.newUser(t, "function_graph", nil), newProfiler(t)
	t.stack = &stackTracer{t: t, ops: &Ops{Name: "stack_trace"}}
	t.cmdline = newCmdlines(defaultCmdlines)
	t.fs = newFS(t)
	return t
}

// TestFilter replays the writes of oracle e-filter: "> text" truncates, ">> text" appends, and what is listed after.
func TestFilter(t *testing.T) {
	tr := someTracer(1)
	const file = "set_ftrace_filter"
	for _, c := range []struct {
		write string
		app   bool
		err   error
		list  string // names, blank-separated; "" for none
	}{
		{"vfs_write\n", false, nil, "vfs_write"},
		{"vfs_read\n", true, nil, "vfs_read vfs_write"},
		{"vfs_open\n", true, nil, "vfs_open vfs_read vfs_write"},
		{"!vfs_read\n", true, nil, "vfs_open vfs_write"},
		{"!vfs_read\n", true, nil, "vfs_open vfs_write"},
		{"!vfs_*\n", true, nil, ""},
		{"vfs_*\n", false, nil, "vfs_open vfs_read vfs_write"},
		{"!*_w*\n", true, nil, "vfs_open vfs_read"},
		{"!vfs_read\n", false, nil, ""},
		{"vfs_read vfs_write\n", false, nil, "vfs_read vfs_write"},
		{"vfs_read\nvfs_open\n", false, nil, "vfs_open vfs_read"},
		{"vfs_read", false, nil, "vfs_read"},
		{"  vfs_read\t vfs_open  \n\n", false, nil, "vfs_open vfs_read"},
		{"nosuch\n", false, kernel.EINVAL, ""},
		{"vfs_read\n", false, nil, "vfs_read"},
		{"nosuch\n", true, kernel.EINVAL, "vfs_read"},
		{"vfs_write nosuch vfs_open\n", false, kernel.EINVAL, "vfs_write"},
		{"nosuch*\n", false, kernel.EINVAL, ""},
		{"vfs_read [vfs]\n", false, kernel.EINVAL, "vfs_read"},
		{"1\n", false, nil, "vfs_open"},
		{"0x2 3\n", false, nil, "vfs_read vfs_write"},
		{"0\n", false, kernel.EINVAL, ""},
		{"99999999\n", false, kernel.EINVAL, ""},
		{"vfs_read:nosuchcmd\n", false, kernel.EINVAL, ""},
		{"vfs_read:\n", false, kernel.EINVAL, ""},
		{"nosuch", false, nil, ""}, // without a blank it is read at close, where errors are lost
		{strings.Repeat("x", 1000) + "\n", false, kernel.EINVAL, ""},
		{"", false, nil, ""},
	} {
		if err := tr.fs.WriteFile(nil, file, []byte(c.write), c.app); err != c.err {
			t.Errorf("%q: %v, want %v", c.write, err, c.err)
		}
		got, err := tr.fs.ReadFile(nil, file)
		want := "#### all functions enabled ####\n"
		if c.list != "" {
			want = strings.ReplaceAll(c.list, " ", "\n") + "\n"
		}
		if err != nil || string(got) != want {
			t.Errorf("%q lists %q, want %q", c.write, got, want)
		}
	}
}

// TestFilterAtClose: a filter that is being written takes effect at close.
func TestFilterAtClose(t *testing.T) {
	tr := someTracer(1)
	h, err := tr.fs.Open(nil, "set_ftrace_notrace", oWronly|oTrunc)
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{"vfs_", "open vfs_re"} { // words go on in the next write
		if n, err := h.Write([]byte(part)); n != len(part) || err != nil {
			t.Fatal(n, err)
		}
	}
	list := func() string {
		b, _ := tr.fs.ReadFile(nil, "set_ftrace_notrace")
		return string(b)
	}
	if got := list(); got != "#### no functions disabled ####\n" {
		t.Errorf("before close: %q", got)
	}
	h.Write([]byte("ad"))
	h.Close()
	if got := list(); got != "vfs_open\nvfs_read\n" {
		t.Errorf("after close: %q", got)
	}
}

func TestParseUint(t *testing.T) {
	for _, c := range []struct {
		in  string
		n   uint64
		err error
	}{
		{"1\n", 1, nil}, {"0", 0, nil}, {"+7", 7, nil}, {"18446744073709551615", 1<<64 - 1, nil},
		{"18446744073709551616", 0, kernel.ERANGE},
		{"", 0, kernel.EINVAL}, {"\n", 0, kernel.EINVAL}, {"x", 0, kernel.EINVAL}, {" 1", 0, kernel.EINVAL}, {"1 ", 0, kernel.EINVAL},
		{"-1", 0, kernel.EINVAL}, {"1\n\n", 0, kernel.EINVAL}, {"0x10", 0, kernel.EINVAL}, {"1_0", 0, kernel.EINVAL}, {"4k", 0, kernel.EINVAL},
		{"1\x00junk", 1, nil},
	} {
		if n, err := parseUint([]byte(c.in), 10); n != c.n || err != c.err {
			t.Errorf("%q: %d %v, want %d %v", c.in, n, err, c.n, c.err)
		}
	}
}

// TestLinuxPages: 35,812 sites took 150 pages in 8 groups with Debian's six modules, which have a group each.
func TestLinuxPages(t *testing.T) {
	var s Sites
	s.countPages(35812)
	if s.pages != 140 || s.group != 3 {
		t.Errorf("%d pages in %d groups", s.pages, s.group)
	}
}

// TestFiles writes and reads the small files as oracle g-buffer does. A row: file, what is written ("" = nothing), the
// error, what is read afterwards.
func TestFiles(t *testing.T) {
	tr := someTracer(2)
	for _, c := range []struct {
		file, write string
		err         error
		want        string
	}{
		{"buffer_size_kb", "", nil, "7 (expanded: 1408)\n"},
		{"buffer_total_size_kb", "", nil, "14 (expanded: 2816)\n"},
		{"per_cpu/cpu0/buffer_size_kb", "", nil, "7\n"},
		{"available_tracers", "", nil, "function_graph function nop\n"},
		{"current_tracer", "", nil, "nop\n"},
		{"trace_clock", "", nil, "[local] global counter uptime perf mono mono_raw boot tai x86-tsc\n"},
		{"tracing_cpumask", "", nil, "3\n"},
		{"timestamp_mode", "", nil, "[delta] absolute\n"},
		{"saved_cmdlines_size", "", nil, "6552\n"},
		{"current_tracer", "nosuch\n", kernel.EINVAL, "nop\n"},
		{"current_tracer", "\n", kernel.EINVAL, "nop\n"},
		{"buffer_size_kb", "", nil, "1410\n"},
		{"buffer_total_size_kb", "", nil, "2820\n"},
		{"buffer_size_kb", "100\n", nil, "103\n"},
		{"buffer_size_kb", "1\n", nil, "7\n"},
		{"buffer_size_kb", "0\n", kernel.EINVAL, "7\n"},
		{"buffer_size_kb", "abc\n", kernel.EINVAL, "7\n"},
		{"buffer_size_kb", "-1\n", kernel.EINVAL, "7\n"},
		{"per_cpu/cpu0/buffer_size_kb", "200\n", nil, "203\n"},
		{"buffer_size_kb", "", nil, "X\n"},
		{"buffer_total_size_kb", "", nil, "210\n"},
		{"buffer_size_kb", "9999999999\n", kernel.ENOMEM, "X\n"},
		{"buffer_size_kb", "4k\n", kernel.EINVAL, "X\n"},
		{"buffer_size_kb", "16\n", nil, "19\n"},
		{"tracing_on", "0\n", nil, "0\n"},
		{"tracing_on", "2\n", nil, "1\n"},
		{"tracing_on", "x\n", kernel.EINVAL, "1\n"},
		{"tracing_cpumask", "1\n", nil, "1\n"},
		{"tracing_cpumask", "0\n", nil, "0\n"},
		{"tracing_cpumask", "f\n", kernel.EOVERFLOW, "0\n"},
		{"tracing_cpumask", "xyz\n", kernel.EINVAL, "0\n"},
		{"tracing_cpumask", "3\n", nil, "3\n"},
		{"options/overwrite", "2\n", kernel.EINVAL, "1\n"},
		{"options/overwrite", "0\n", nil, "0\n"},
		{"trace_options", "nosuch\n", kernel.EINVAL, ""},
		{"trace_options", "overwrite\n", nil, ""},
		{"options/overwrite", "", nil, "1\n"},
		{"options/sym-userobj", "1\n", nil, "1\n"},
		{"options/userstacktrace", "0\n", nil, "0\n"},
		{"options/funcgraph-cpu", "", nil, "1\n"},
		{"options/funcgraph-proc", "1\n", nil, "1\n"},
		{"trace_options", "sleep-time\n", kernel.EINVAL, ""}, // another tracer's
		{"max_graph_depth", "", nil, "0\n"},
		{"max_graph_depth", "2\n", nil, "2\n"},
		{"max_graph_depth", "-1\n", kernel.EINVAL, "2\n"},
		{"max_graph_depth", "5x\n", kernel.EINVAL, "2\n"},
		{"max_graph_depth", "4294967296\n", nil, "0\n"},
		{"tracing_thresh", "x\n", kernel.EINVAL, "0\n"},
		{"tracing_thresh", "-1\n", kernel.EINVAL, "0\n"},
		{"tracing_thresh", "5\n", nil, "5\n"},
		{"tracing_max_latency", "7\n", nil, "7\n"},
		{"buffer_percent", "", nil, "50\n"},
		{"buffer_percent", "100\n", nil, "100\n"},
		{"buffer_percent", "101\n", kernel.EINVAL, "100\n"},
		{"buffer_percent", "x\n", kernel.EINVAL, "100\n"},
		{"set_graph_function", "", nil, "#### all functions enabled ####\n"},
		{"set_graph_notrace", "", nil, "#### no functions disabled ####\n"},
		{"set_graph_function", "vfs_read nosuch vfs_write\n", kernel.EINVAL, "vfs_read\n"},
		{"set_graph_function", "!vfs_read\n", kernel.EINVAL, "#### all functions enabled ####\n"},
		{"set_graph_function", "5\n", kernel.EINVAL, "#### all functions enabled ####\n"},
		{"set_graph_function", "vfs_read:mod:foo\n", kernel.EINVAL, "#### all functions enabled ####\n"},
		{"set_graph_notrace", "vfs_open\n", nil, "vfs_open\n"},
		{"set_ftrace_filter", "vfs_read:mod:nomodule\n", nil, "vfs_read:mod:nomodule\n"},
		{"set_ftrace_filter", ":mod:nomodule\n", nil, ":mod:nomodule\n"},
		{"set_ftrace_filter", "vfs_read:mod\n", nil, "vfs_read\n"},
		{"set_ftrace_filter", ":traceoff\n", kernel.EINVAL, "#### all functions enabled ####\n"},
		{"set_ftrace_filter", "nosuch:traceoff\n", kernel.EINVAL, "#### all functions enabled ####\n"},
		{"set_ftrace_filter", "vfs_open:traceoff:x\n", kernel.EINVAL, "#### all functions enabled ####\n"},
		{"set_ftrace_filter", "vfs_open:traceoff:-1\n", kernel.EINVAL, "#### all functions enabled ####\n"},
		{"set_ftrace_filter", "!vfs_read:traceoff\n", kernel.ENODEV, "#### all functions enabled ####\n"},
		{"set_ftrace_filter", "vfs_fsync:enable_event:nosuch:ev\n", kernel.EINVAL, "#### all functions enabled ####\n"},
		{"set_ftrace_notrace", "vfs_read:traceoff\n", kernel.EINVAL, "#### no functions disabled ####\n"},
		{"snapshot", "x\n", kernel.EINVAL, "# tracer: nop\n#\n#\n# * Snapshot is freed *\n#\n" + snapshotHelp},
		{"per_cpu/cpu0/snapshot", "1\n", kernel.EINVAL, "# tracer: nop\n#\n#\n# * Snapshot is freed *\n#\n" + snapshotCPUHelp},
		{"snapshot", "1\n", nil, "# tracer: nop\n#\n#\n# * Snapshot is allocated *\n#\n" + snapshotHelp},
		{"snapshot", "0\n", nil, "# tracer: nop\n#\n#\n# * Snapshot is freed *\n#\n" + snapshotHelp},
		{"trace_clock", "nosuch\n", kernel.EINVAL, "[local] global counter uptime perf mono mono_raw boot tai x86-tsc\n"},
		{"trace_clock", "counter\n", nil, "local global [counter] uptime perf mono mono_raw boot tai x86-tsc\n"},
		{"saved_cmdlines_size", "5\n", nil, "6552\n"},
		{"saved_cmdlines_size", "0\n", kernel.EINVAL, "6552\n"},
		{"saved_cmdlines_size", "x\n", kernel.EINVAL, "6552\n"},
		{"saved_cmdlines_size", "999999999\n", kernel.EINVAL, "6552\n"},
		{"error_log", "", nil, ""},
		{"set_ftrace_pid", "", nil, "no pid\n"},
		{"set_ftrace_notrace_pid", "", nil, "no pid\n"},
		{"set_ftrace_pid", "99999999\n", nil, "99999999\n"},
		{"set_ftrace_pid", "abc\n", kernel.EINVAL, "no pid\n"},
		{"set_ftrace_pid", "2147483648\n", kernel.EPERM, "no pid\n"},
		{"set_ftrace_pid", "3 1 2\n", nil, "1\n2\n3\n"},
		{"set_ftrace_pid", "\n", nil, "no pid\n"},
		{"events/ftrace/function/id", "", nil, "1\n"},
		{"dyn_ftrace_total_info", "", nil, "5 pages:0 groups: 0\n"},
		{"available_filter_functions", "", nil, "vfs_open\nvfs_read\nvfs_write\nksys_read\ndo_exit\n"},
	} {
		if c.write != "" {
			if err := tr.fs.WriteFile(nil, c.file, []byte(c.write), false); err != c.err {
				t.Errorf("%q > %s: %v, want %v", c.write, c.file, err, c.err)
			}
		}
		if got, err := tr.fs.ReadFile(nil, c.file); err != nil || c.want != "" && string(got) != c.want {
			t.Errorf("%s after %q: %q %v, want %q", c.file, c.write, got, err, c.want)
		}
	}
}

// TestTable proves the table sane: sorted, no path twice, every row with a reader or a writer that its mode allows.
func TestTable(t *testing.T) {
	if !slices.IsSortedFunc(files[:], func(a, b File) int { return strings.Compare(a.Path, b.Path) }) {
		t.Error("rows are not in order of path")
	}
	for i, f := range files {
		if i > 0 && f.Path == files[i-1].Path {
			t.Errorf("%s twice", f.Path)
		}
		reads, writes := f.Text != nil || f.Read != nil, f.Write != nil
		if reads != (f.Mode&0o444 != 0) || writes != (f.Mode&0o222 != 0) {
			t.Errorf("%s: mode %o, reads %v, writes %v", f.Path, f.Mode, reads, writes)
		}
		if f.Doc == "" || strings.Contains(f.Path, "*") != (f.Each != nil) {
			t.Errorf("%s: row incomplete", f.Path)
		}
	}
	for i := range optionRows {
		if optionRows[i].name == "" {
			t.Errorf("option %d has no name", i)
		}
	}
}

// TestModes holds names and modes against the listing of real Linux: nothing here that is not there.
func TestModes(t *testing.T) {
	truth, err := os.ReadFile("../scripts/conform/k-listing.out")
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"function_profile_enabled": "-rw-r-----", "trace_stat": "drwxr-x---"} // CONFIG_FUNCTION_PROFILER
	for _, line := range strings.Split(string(truth), "\n") {
		if f := strings.Fields(line); len(f) == 7 && len(f[0]) == 10 && f[5] == "T" {
			want[f[6]] = f[0]
		}
	}
	tr := someTracer(2)
	for _, dir := range []string{"", "per_cpu/cpu0", "options"} {
		list, err := tr.fs.List(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range list {
			mode := []byte("-rwxrwxrwx")
			if e.Dir {
				mode[0] = 'd'
			}
			for i := range 9 {
				if e.Mode>>(8-i)&1 == 0 {
					mode[1+i] = '-'
				}
			}
			w := want[e.Name]
			if dir == "options" {
				w = "-rw-r-----" // the listing shows only the first few of them
			}
			if w != string(mode) {
				t.Errorf("%s/%s: mode %s, Linux %q", dir, e.Name, mode, w)
			}
		}
	}
}

// FuzzFiles writes any bytes to the files that need no machine: an errno or success, and what is read back is sane.
func FuzzFiles(f *testing.F) {
	paths := []string{"set_ftrace_filter", "set_ftrace_notrace", "buffer_size_kb", "per_cpu/cpu1/buffer_size_kb", "trace_options",
		"options/overwrite", "options/raw", "trace_clock", "tracing_cpumask", "tracing_on", "saved_cmdlines_size", "set_ftrace_pid",
		"set_ftrace_notrace_pid", "error_log", "trace", "per_cpu/cpu0/trace"}
	for i := range paths {
		for _, s := range []string{"1\n", "vfs_*", "!vfs_read x[", "global\n", "ffffffff,3", "overwrite", "-1", "\x00\xa0\xff"} {
			f.Add(uint8(i), []byte(s), i%2 == 0)
		}
	}
	f.Fuzz(func(t *testing.T, file uint8, data []byte, app bool) {
		tr := someTracer(40)
		path := paths[int(file)%len(paths)]
		if strings.HasSuffix(path, "buffer_size_kb") && len(data) > 5 {
			data = data[:5] // not the host's memory
		}
		if err := tr.fs.WriteFile(nil, path, data, app); err != nil {
			errnoOf(err)
		}
		if strings.HasSuffix(path, "trace") {
			return
		}
		if _, err := tr.fs.ReadFile(nil, path); err != nil {
			t.Fatal(err)
		}
	})
}
