package ftrace

import (
	"regexp"
	"strings"
	"testing"

	"kscope/ftrace/event"
	"kscope/kernel"
)

// TestGraph: the graph of a run nests as the calls do, in Linux's form.
func TestGraph(t *testing.T) {
	tr := boot(t, kernel.Config{})
	must(t, tr.WriteFile("set_graph_function", "path_openat", false))
	must(t, tr.Set("function_graph"))
	work(t, tr)
	must(t, tr.Off())
	text := tr.Text(-1)
	head := "# tracer: function_graph\n#\n# CPU  DURATION                  FUNCTION CALLS\n# |     |   |                     |   |   |   |\n"
	if !strings.HasPrefix(text, head) {
		t.Fatalf("header:\n%s", text)
	}
	row := regexp.MustCompile(`^ \d\) ([ +!#*@$] [0-9.]{5,8} us +|              )\|  ( *)(\w+\(\)( \{|;)|\}|\} /\* \w+ \*/)$`)
	depth := 0
	for _, l := range strings.Split(strings.TrimSuffix(text[len(head):], "\n"), "\n") {
		m := row.FindStringSubmatch(l)
		if m == nil {
			t.Errorf("line %q", l)
			continue
		}
		if strings.HasPrefix(m[3], "}") {
			depth--
		}
		if len(m[2]) != 2*depth {
			t.Errorf("depth %d: %q", depth, l)
		}
		if strings.HasSuffix(m[3], "{") {
			depth++
		}
	}
	if depth != 0 || !strings.Contains(text, "|  path_openat() {\n") {
		t.Errorf("%d functions are open at the end:\n%s", depth, text)
	}
	t.Log(text)
}

// graphBalance checks that what was entered has left, or is told why not, and that all events are there.
func graphBalance(t *testing.T, tr *Tracer) {
	t.Helper()
	n := tr.GraphCounts()
	if n.Entries != n.Exits+n.Abandoned+tr.GraphDepth() {
		t.Errorf("%+v, %d on the stacks", n, tr.GraphDepth())
	}
	open := map[int32][]event.GraphRecord{}
	entries, exits, lost := uint64(0), uint64(0), 0
	for _, r := range tr.Records(-1) {
		g, ok := event.ParseGraph(r.Header.Type, r.Data)
		if !ok {
			continue
		}
		task := r.Header.PID
		if task == 0 {
			task = -int32(r.CPU) // each CPU's idle task
		}
		s := open[task]
		if r.Header.Type == event.IDGraphEntry {
			entries++
			if int(g.Depth) < len(s) {
				lost += len(s) - int(g.Depth) // they never return
				s = s[:g.Depth]
			}
			open[task] = append(s, g)
			continue
		}
		exits++
		if len(s) == 0 || s[len(s)-1].Func != g.Func || s[len(s)-1].Depth != g.Depth {
			t.Fatalf("%s does not fit %+v", r.Line, s)
		}
		open[task] = s[:len(s)-1]
	}
	overrun := uint64(0)
	for i := range tr.cpu {
		overrun += tr.Stats(i).Overrun
	}
	if overrun != 0 || entries != n.Entries || exits != n.Exits-n.Unwritten {
		t.Errorf("%d entries, %d exits, %d overwritten: %+v", entries, exits, overrun, n)
	}
	t.Logf("%+v, %d open, %d skipped by an abandoned stack", n, tr.GraphDepth(), lost)
}

// TestGraphEverything: every traceable function at once on four CPUs, with kthreads that are made and exit and interrupts.
func TestGraphEverything(t *testing.T) {
	for _, overhead := range []kernel.Overhead{kernel.OverheadModel, kernel.OverheadNone} {
		tr := boot(t, kernel.Config{Overhead: overhead, Seed: 5})
		must(t, tr.WriteFile("buffer_size_kb", "30000", false))
		for _, r := range tr.Sites().Records() {
			tr.m.CountEntries(r.IP)
		}
		calls := func() (n uint64) {
			for _, r := range tr.Sites().Records() {
				n += tr.m.Entries(r.IP)
			}
			return n
		}
		must(t, tr.Set("function_graph"))
		seen := func() uint64 { return tr.GraphCounts().Entries + tr.GraphCounts().Overrun }
		before, was := calls(), seen()
		for range 40 {
			must(t, tr.m.Hot(0b1111, 20))
			work(t, tr)
		}
		if a, b := calls()-before, seen()-was; a != b {
			t.Errorf("the emulator counts %d calls, the graph %d", a, b)
		}
		tr.on = false
		graphBalance(t, tr)
		if n := tr.GraphCounts(); n.Entries < 20000 || n.Abandoned+tr.GraphDepth() == 0 {
			t.Errorf("the run proves little: %+v", n)
		}
	}
}

// TestGraphOff: functions that are on the stacks when the tracer goes return to where they were called from, and a tracer
// that comes back finds the stacks in order.
func TestGraphOff(t *testing.T) {
	tr := boot(t, kernel.Config{})
	for range 3 {
		must(t, tr.Set("function_graph"))
		work(t, tr)
		if tr.GraphDepth() == 0 {
			t.Error("no function sleeps on its stack")
		}
		must(t, tr.Set("nop"))
		must(t, tr.m.Hot(0b1111, 20))
		work(t, tr)
		for _, r := range tr.Sites().Records() {
			if b := tr.bytesAt(t, r.IP); b != nop5 {
				t.Fatalf("%s: % x", r.Name, b)
			}
		}
	}
	if n := tr.GraphCounts(); n.Entries != n.Exits+n.Abandoned+tr.GraphDepth() {
		t.Errorf("%+v, %d on the stacks", n, tr.GraphDepth())
	}
}

// TestGraphFork: a fork has its own shadow stacks and goes on with what is on them.
func TestGraphFork(t *testing.T) {
	tr := boot(t, kernel.Config{})
	must(t, tr.Set("function_graph"))
	work(t, tr)
	m := tr.m.Fork(9)
	n, _ := Of(m)
	before := tr.Text(-1)
	work(t, n)
	if tr.Text(-1) != before || n.Text(-1) == before {
		t.Error("the fork's graph is not its own")
	}
	must(t, n.Set("nop"))
	work(t, tr)
	must(t, tr.Set("nop"))
	work(t, n)
}

// TestGraphUnwind: stacks show true addresses, not return_to_handler.
func TestGraphUnwind(t *testing.T) {
	tr := boot(t, kernel.Config{})
	must(t, tr.Set("function_graph"))
	walks, deep := 0, 0
	o := tr.grapher.ops
	enter := o.Call
	o.Call = func(c *kernel.VCPU, ip, parent, regs uint64) {
		enter(c, ip, parent, regs)
		if walks++; walks > 3000 {
			return
		}
		err := c.Walk(func(f *kernel.Frame) bool {
			if f.PC == tr.graph.handler {
				t.Fatal("return_to_handler in a stack")
			}
			if tr.graph.handler != 0 && f.At != 0 {
				if x, _ := tr.m.U64(f.At); x == tr.graph.handler {
					deep++
				}
			}
			return true
		})
		must(t, err)
	}
	work(t, tr)
	if walks < 300 || deep < 500 {
		t.Errorf("%d walks, %d hijacked frames", walks, deep)
	}
}

// TestGraphFilters: depth, thresholds and notrace.
func TestGraphFilters(t *testing.T) {
	tr := boot(t, kernel.Config{})
	must(t, tr.WriteFile("max_graph_depth", "2", false))
	must(t, tr.Set("function_graph"))
	work(t, tr)
	for _, r := range tr.Records(-1) {
		if g, ok := event.ParseGraph(r.Header.Type, r.Data); ok && g.Depth > 1 {
			t.Fatalf("depth: %s", r.Line)
		}
	}
	must(t, tr.WriteFile("max_graph_depth", "0", false))
	must(t, tr.WriteFile("set_graph_function", "vfs_open\n", false))
	must(t, tr.WriteFile("set_graph_notrace", "do_dentry_open\n", false))
	must(t, tr.Clear())
	work(t, tr)
	must(t, tr.Off())
	text := tr.Text(-1)
	if !strings.Contains(text, "vfs_open") || strings.Contains(text, "do_dentry_open") {
		t.Errorf("notrace:\n%s", text)
	}
	must(t, tr.On())
	must(t, tr.WriteFile("set_graph_notrace", "", false))
	must(t, tr.WriteFile("set_graph_function", "", false))
	must(t, tr.WriteFile("tracing_thresh", "1", false))
	must(t, tr.Clear())
	work(t, tr)
	for _, r := range tr.Records(-1) {
		if g, ok := event.ParseGraph(r.Header.Type, r.Data); ok && (r.Header.Type != event.IDGraphExit || g.Ret-g.Call < 1000) {
			t.Fatalf("thresh: %s", r.Line)
		}
	}
	if !strings.Contains(tr.Text(-1), "} /* ") {
		t.Errorf("no exits over the threshold:\n%s", tr.Text(-1))
	}
	if err := tr.WriteFile("set_graph_function", "nosuch\n", false); err != kernel.EINVAL {
		t.Errorf("nosuch: %v", err)
	}
	if got := mustRead(t, tr, "set_graph_function"); got != "#### all functions enabled ####\n" {
		t.Errorf("after nosuch: %q", got)
	}
}

// BenchmarkGraphPair is what an entry and its exit add to each call of kscope_hot.
func BenchmarkGraphPair(b *testing.B) { benchHot(b, "function_graph") }
