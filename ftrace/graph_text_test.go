package ftrace

import (
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"kscope/ftrace/event"
)

// truthBlock is the output of a command in an oracle transcript.
func truthBlock(t *testing.T, text, command string) string {
	t.Helper()
	i := strings.Index(text, "\n$ "+command+"\n")
	if i < 0 {
		t.Fatalf("no %q in the transcript", command)
	}
	text = text[i+len(command)+4:]
	if j := regexp.MustCompile(`(?m)^(\$ |## )`).FindStringIndex(text); j != nil {
		text = text[:j[0]]
	}
	return text
}

func transcript(t *testing.T, name string) string {
	t.Helper()
	raw, err := os.ReadFile("../../shared/oracle/truth/" + name)
	if err != nil {
		t.Skip("needs the oracle's transcripts beside the repository: ", err)
	}
	return string(raw)
}

// assembleGraph makes events of the lines of a graph, with the times of the same lines printed with funcgraph-abstime.
func assembleGraph(t *testing.T, tr *Tracer, graph, abs string) {
	t.Helper()
	row := regexp.MustCompile(`^ (\d)\) .(?: ([0-9.]+) us +| +)\|  ( *)(\w+)?(\(\)( \{|;)|\})$`)
	names, addrs := map[uint64]string{}, map[string]uint64{}
	addr := func(name string) uint64 {
		if addrs[name] == 0 {
			addrs[name] = 0xffffffff81000000 + uint64(len(addrs)+1)*16
			names[addrs[name]] = name
		}
		return addrs[name]
	}
	tr.guest.symbol = func(a uint64, _ bool) string { return names[a] }
	times := strings.Split(abs, "\n")[4:]
	var stack []string
	ts := uint64(0)
	for i, l := range strings.Split(strings.TrimSuffix(graph, "\n"), "\n")[4:] {
		m := row.FindStringSubmatch(l)
		if m == nil {
			t.Fatalf("line %q", l)
		}
		if i < len(times) && len(times[i]) > 12 {
			s, err := strconv.ParseFloat(strings.TrimSpace(times[i][:12]), 64)
			must(t, err)
			ts = uint64(s*1e6+0.5) * 1000
		}
		cpu, _ := strconv.Atoi(m[1])
		us, _ := strconv.ParseFloat(m[2], 64)
		d, depth := uint64(us*1000+0.5), uint32(len(m[3])/2)
		h := event.Header{PID: 108, Preempt: 1}
		if cpu == 0 {
			h.PID = 99
		}
		entry := func(name string) {
			h.Type = event.IDGraphEntry
			tr.put(cpu, ts, event.GraphEntrySize, func(b []byte) { event.PutGraphEntry(b, h, addr(name), depth) })
		}
		exit := func(name string) {
			h.Type = event.IDGraphExit
			tr.put(cpu, ts, event.GraphExitSize, func(b []byte) { event.PutGraphExit(b, h, addr(name), depth, 0, 1e9, 1e9+d) })
		}
		switch {
		case m[5] == "}":
			exit(stack[depth])
		case m[6] == ";":
			entry(m[4])
			exit(m[4])
		default:
			stack = append(stack[:depth], m[4])
			entry(m[4])
		}
	}
}

// TestGraphText prints the graph of oracle b-graph with each option and holds it against the transcript, byte for byte.
func TestGraphText(t *testing.T) {
	truth := transcript(t, "b-graph.out")
	block := func(command string) string { return truthBlock(t, truth, command) }
	option := func(show, hide, n string) string {
		return block(fmt.Sprintf("echo %s > trace_options; head -%s trace; echo %s > trace_options", show, n, hide))
	}
	tr := someTracer(2)
	tr.current = &tracers[graphTracer]
	tr.cmdline.save(savedTask{99, commOf("script")})
	tr.cmdline.save(savedTask{108, commOf("cat")})
	must(t, tr.resize(100, -1))
	const three = "echo funcgraph-proc > trace_options; echo funcgraph-abstime > trace_options; echo funcgraph-tail > trace_options; head -24 trace"
	assembleGraph(t, tr, block("head -70 trace"), block(three))
	check := func(what, want string) {
		t.Helper()
		lines := strings.SplitAfter(tr.Text(-1), "\n")
		if got := strings.Join(lines[:strings.Count(want, "\n")], ""); got != want {
			t.Errorf("%s:\n%s\nwant\n%s", what, got, want)
		}
	}
	check("default", block("head -70 trace"))
	for _, c := range []struct{ show, hide, n string }{
		{"funcgraph-proc", "nofuncgraph-proc", "20"}, {"funcgraph-abstime", "nofuncgraph-abstime", "20"},
		{"funcgraph-tail", "nofuncgraph-tail", "30"}, {"nofuncgraph-cpu", "funcgraph-cpu", "12"},
		{"nofuncgraph-duration", "funcgraph-duration", "12"}, {"nofuncgraph-overhead", "funcgraph-overhead", "12"},
		{"funcgraph-overrun", "nofuncgraph-overrun", "12"}, {"nofuncgraph-irqs", "funcgraph-irqs", "30"},
	} {
		tr.set(t, "trace_options", c.show)
		check(c.show, option(c.show, c.hide, c.n))
		tr.set(t, "trace_options", c.hide)
	}
	tr.set(t, "trace_options", "latency-format")
	entries, _ := tr.counts(-1, false)
	check("latency-format", strings.Replace(option("latency-format", "nolatency-format", "24"), "#674/674", fmt.Sprintf("#%d/%d", entries, entries), 1))
	tr.set(t, "trace_options", "nolatency-format")
	for _, o := range []string{"funcgraph-proc", "funcgraph-abstime", "funcgraph-tail"} {
		tr.set(t, "trace_options", o)
	}
	check("three", block(three))
}

// TestGraphOther: banners of task switches, long durations, comments, lost entries and interrupt arrows.
func TestGraphOther(t *testing.T) {
	tr := someTracer(2)
	tr.current = &tracers[graphTracer]
	tr.guest.symbol = func(a uint64, _ bool) string {
		return map[uint64]string{0x66: "do_nanosleep", 0x77: "irq", 0x51: "tracing_mark_write"}[a]
	}
	for i := int32(137); i < 143; i++ {
		tr.cmdline.save(savedTask{i, commOf("sleep")})
	}
	ts := uint64(0)
	entry := func(pid int32, fn uint64, depth uint32) {
		ts++
		tr.put(1, ts, event.GraphEntrySize, func(b []byte) { event.PutGraphEntry(b, event.Header{Type: event.IDGraphEntry, PID: pid}, fn, depth) })
	}
	exit := func(pid int32, fn uint64, depth uint32, d uint64) {
		ts++
		tr.put(1, ts, event.GraphExitSize, func(b []byte) {
			event.PutGraphExit(b, event.Header{Type: event.IDGraphExit, PID: pid}, fn, depth, 3, 0, d)
		})
	}
	for i, d := range []uint64{618236, 912407, 5416752, 50919856, 201017234, 1100982345} {
		entry(int32(137+i), 0x66, 0)
		exit(int32(137+i), 0x66, 0, d)
	}
	exit(142, 0x66, 0, 300664512)
	entry(142, 0x66, 0)
	ts++
	tr.putMark(1, ts, 142, "marker\n")
	entry(142, 0x66, 1)
	ts++
	tr.putMark(1, ts, 142, "deep\n")
	entry(142, 0x77, 2)
	exit(142, 0x77, 2, 7)
	exit(142, 0x66, 1, 9)
	exit(142, 0x66, 0, 11)
	want := `# tracer: function_graph
#
# CPU  DURATION                  FUNCTION CALLS
# |     |   |                     |   |   |   |
 1) ! 618.236 us  |  do_nanosleep();
 ------------------------------------------
 1)   sleep-137    =>   sleep-138   
 ------------------------------------------

 1) ! 912.407 us  |  do_nanosleep();
 ------------------------------------------
 1)   sleep-138    =>   sleep-139   
 ------------------------------------------

 1) # 5416.752 us |  do_nanosleep();
 ------------------------------------------
 1)   sleep-139    =>   sleep-140   
 ------------------------------------------

 1) * 50919.85 us |  do_nanosleep();
 ------------------------------------------
 1)   sleep-140    =>   sleep-141   
 ------------------------------------------

 1) @ 201017.2 us |  do_nanosleep();
 ------------------------------------------
 1)   sleep-141    =>   sleep-142   
 ------------------------------------------

 1) $ 1100982 us  |  do_nanosleep();
 1) @ 300664.5 us |  } /* do_nanosleep */
 1)               |  do_nanosleep() {
 1)               |  /* marker */
 1)               |    do_nanosleep() {
 1)               |      /* deep */
 1)   ==========> |
 1)   0.007 us    |      irq();
 1)   <========== |
 1)   0.009 us    |    }
 1)   0.011 us    |  }
`
	if got := tr.Text(-1); got != want {
		t.Errorf("got\n%s", got)
	}
	tr.set(t, "trace_options", "nofuncgraph-irqs")
	if got := tr.Text(-1); got != strings.Replace(want, " 1)   ==========> |\n 1)   0.007 us    |      irq();\n 1)   <========== |\n", "", 1) {
		t.Errorf("nofuncgraph-irqs:\n%s", got)
	}
	tr.set(t, "trace_options", "funcgraph-irqs")
	h, err := tr.fs.Open(nil, "trace_pipe", oNonblock)
	must(t, err)
	buf := make([]byte, 4096)
	n, err := h.Read(buf, 0)
	if must(t, err); string(buf[:n]) != want[strings.Index(want, " 1)"):] {
		t.Errorf("trace_pipe:\n%s", buf[:n])
	}
}

// TestLatencyText prints the four events of oracle h-latency ("delays between entries"), and verbose.
func TestLatencyText(t *testing.T) {
	truth := transcript(t, "h-latency.out")
	want := truthBlock(t, truth, "echo 'do_nanosleep' > set_ftrace_filter; echo > trace; echo 1 > tracing_on; sleep 0.001; sleep 0.02;  sleep 0.3; sleep 1.2; "+
		"echo 0 > tracing_on; echo 1 > options/latency-format; cat trace; echo 0 > options/latency-format")
	tr := someTracer(2)
	tr.current, tr.setCPU = &tracers[functionTracer], 1
	tr.guest.symbol = func(a uint64, _ bool) string {
		return map[uint64]string{0xffffffff8134cc50: "do_nanosleep", 0xffffffff8134d82b: "hrtimer_nanosleep"}[a]
	}
	for i, us := range []uint64{80416, 145092, 220302, 588434} {
		tr.cmdline.save(savedTask{int32(113 + i), commOf("sleep")})
		tr.putFunction(b2i(i < 3), us*1000, int32(113+i), 0, 0)
	}
	tr.set(t, "options/latency-format", "1")
	if got := tr.Text(-1); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	tr.set(t, "options/verbose", "1")
	if got, want := tr.Text(-1), "           sleep     116   0 0 00000000 00000003 [0008fa92] 588.434ms (+0.000ms): do_nanosleep <-hrtimer_nanosleep\n"; !strings.HasSuffix(got, want) {
		t.Errorf("verbose:\n%s", got)
	}
	tr.set(t, "options/verbose", "0")
	tr.set(t, "trace", "")
	if got := tr.Text(-1); got != "# tracer: function\n#\n" {
		t.Errorf("empty: %q", got)
	}
}

// TestSnapshot: 1 changes the rings' places, 2 empties the snapshot, 0 frees it.
func TestSnapshot(t *testing.T) {
	tr := someTracer(2)
	tr.putMark(1, 5e9, 7, "before\n")
	tr.set(t, "snapshot", "1\n")
	read := func(path string) string {
		b, err := tr.fs.ReadFile(nil, path)
		must(t, err)
		return string(b)
	}
	if a, b := read("snapshot"), read("per_cpu/cpu1/snapshot"); !strings.Contains(a, "before") || !strings.Contains(b, "before") || strings.Contains(read("trace"), "before") {
		t.Errorf("%s\n%s", a, b)
	}
	if raw := read("per_cpu/cpu1/snapshot_raw"); len(raw) != 4096 {
		t.Errorf("snapshot_raw: %d bytes", len(raw))
	}
	tr.putMark(1, 6e9, 7, "again\n")
	tr.set(t, "snapshot", "1\n")
	tr.set(t, "snapshot", "2\n")
	if got := read("snapshot"); !strings.Contains(got, "* Snapshot is allocated *") {
		t.Errorf("%s", got)
	}
}
