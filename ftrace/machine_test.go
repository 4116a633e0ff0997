package ftrace

import (
	"bytes"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"kscope/internal/cputime"
	"kscope/kernel"
	"kscope/kernel/x86"
)

// snaps is shared by the tests so that each configuration boots once.
var snaps kernel.Snapshots

// boot gives a fork of a booted, traced machine without user programs; it skips while the embedded image is a placeholder.
func boot(tb testing.TB, cfg kernel.Config) *Tracer {
	tb.Helper()
	if file := os.Getenv("KSCOPE_TEST_IMAGE"); file != "" {
		cfg.Image, _ = os.ReadFile(file)
	}
	m, err := snaps.Machine(cfg, func(m *kernel.Machine) error {
		for _, g := range m.Gates() {
			if g == "user_task_exec" {
				m.RegisterGate(g, func(*kernel.VCPU) uint64 { return 0 })
			}
		}
		_, err := New(m)
		return err
	})
	if err != nil {
		if strings.Contains(err.Error(), "not a kscope guest") {
			tb.Skip("the embedded image is a placeholder: ", err)
		}
		tb.Fatal(err)
	}
	t, ok := Of(m)
	if !ok {
		tb.Fatal("the tracer did not follow the fork")
	}
	return t
}

// must fails the test on an error.
func must(tb testing.TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
}

// bytesAt reads kernel text.
func (t *Tracer) bytesAt(tb testing.TB, va uint64) (b [siteSize]byte) {
	tb.Helper()
	must(tb, t.m.Read(va, b[:]))
	return b
}

// TestSites: boot has turned every site into a nop, and nothing calls __fentry__ any more.
func TestSites(t *testing.T) {
	tr := boot(t, kernel.Config{})
	recs := tr.Sites().Records()
	if len(recs) < 100 {
		t.Fatalf("%d sites", len(recs))
	}
	for i, r := range recs {
		if b := tr.bytesAt(t, r.IP); b != nop5 {
			t.Errorf("%s: % x", r.Name, b)
		}
		if i > 0 && r.IP <= recs[i-1].IP {
			t.Errorf("%s is not behind %s", r.Name, recs[i-1].Name)
		}
	}
	if !strings.Contains(dmesg(tr), fmt.Sprintf("ftrace: allocating %d entries in ", tr.sites.allocated)) {
		t.Errorf("no boot message:\n%s", dmesg(tr))
	}
}

func dmesg(t *Tracer) string {
	var s strings.Builder
	for _, l := range t.m.Dmesg() {
		s.WriteString(l.Text + "\n")
	}
	return s.String()
}

// TestPatch: with the function tracer every site calls the op's trampoline, and with nop the text is boot's again.
func TestPatch(t *testing.T) {
	for _, overhead := range []kernel.Overhead{kernel.OverheadModel, kernel.OverheadNone} {
		tr := boot(t, kernel.Config{Overhead: overhead})
		must(t, tr.Set("function"))
		tramp := tr.ops.Trampoline()
		for _, r := range tr.Sites().Records() {
			if b, want := tr.bytesAt(t, r.IP), call(r.IP, tramp); b != want {
				t.Fatalf("%s: % x, want % x", r.Name, b, want)
			}
		}
		if n := len(tr.Sites().Records()); strings.Count(mustRead(t, tr, "enabled_functions"), " (1)      \ttramp: 0x") != n {
			t.Errorf("enabled_functions does not list %d functions", n)
		}
		must(t, tr.Set("nop"))
		for _, r := range tr.Sites().Records() {
			if b := tr.bytesAt(t, r.IP); b != nop5 {
				t.Fatalf("%s: % x", r.Name, b)
			}
		}
		if got := mustRead(t, tr, "enabled_functions"); got != "" {
			t.Errorf("enabled_functions: %s", got)
		}
	}
}

// TestPatchBatches: 500 sites are two batches of three steps, and every CPU passes a serialising point after each step.
func TestPatchBatches(t *testing.T) {
	tr := boot(t, kernel.Config{})
	h := NewHash()
	for _, r := range tr.Sites().Records()[:500] {
		h.Add(r.IP)
	}
	tr.ops.Filter = h
	before := len(tr.m.Text().Patches())
	must(t, tr.Set("function"))
	patches := tr.m.Text().Patches()[before:]
	sites := 0
	for _, p := range patches {
		sites += len(p.Pokes)
		if len(p.Steps) != 3 || len(p.Skipped) != 0 || !p.Done {
			t.Errorf("a batch of %d sites: %d steps, %d skipped, done %v", len(p.Pokes), len(p.Steps), len(p.Skipped), p.Done)
		}
		for _, s := range p.Steps {
			seen := map[int]bool{}
			for _, a := range s.Acks {
				seen[a.CPU] = true
			}
			if len(seen) != tr.m.NumCPU() {
				t.Errorf("step %s: only CPUs %v have synced", s.Kind, seen)
			}
		}
	}
	if len(patches) != 2 || sites != 500 {
		t.Errorf("%d batches, %d sites", len(patches), sites)
	}
}

func mustRead(tb testing.TB, t *Tracer, path string) string {
	tb.Helper()
	s, err := t.ReadFile(path)
	must(tb, err)
	return s
}

// work makes kscoped write and read a file through the guest's VFS.
func work(tb testing.TB, t *Tracer) {
	tb.Helper()
	must(tb, t.m.WriteFile("/file", []byte("guest\n"), false))
	got, err := t.m.ReadFile("/file")
	if must(tb, err); string(got) != "guest\n" {
		tb.Fatalf("/file: %q", got)
	}
}

const emptyTrace = `# tracer: %s
#
# entries-in-buffer/entries-written: %s   #P:4
#
#                                _-----=> irqs-off/BH-disabled
#                               / _----=> need-resched
#                              | / _---=> hardirq/softirq
#                              || / _--=> preempt-depth
#                              ||| / _-=> migrate-disable
#                              |||| /     delay
#           TASK-PID     CPU#  |||||  TIMESTAMP  FUNCTION
#              | |         |   |||||     |         |
`

// TestTrace: the header is Linux's, byte for byte, and the lines are events that the guest's own code made.
func TestTrace(t *testing.T) {
	tr := boot(t, kernel.Config{})
	if got, want := tr.Text(-1), fmt.Sprintf(emptyTrace, "nop", "0/0"); got != want {
		t.Errorf("empty trace:\n%s", got)
	}
	must(t, tr.Filter("vfs_*"))
	must(t, tr.Set("function"))
	work(t, tr)
	must(t, tr.Off())
	text := tr.Text(-1)
	n := tr.Stats(0).Entries + tr.Stats(1).Entries + tr.Stats(2).Entries + tr.Stats(3).Entries
	head := fmt.Sprintf(emptyTrace, "function", fmt.Sprintf("%d/%d", n, n))
	if !strings.HasPrefix(text, head) {
		t.Fatalf("header:\n%s", text)
	}
	lines := strings.Split(strings.TrimSuffix(text[len(head):], "\n"), "\n")
	row := regexp.MustCompile(`^ +kscoped-\d+ +\[00[0-3]\] [.d]\.\.[.1]\. +1\.\d{6}: vfs_\w+ <-\w+$`)
	for _, l := range lines {
		if !row.MatchString(l) {
			t.Errorf("line %q", l)
		}
	}
	if uint64(len(lines)) != n || !strings.Contains(text, ": vfs_open <-path_openat") {
		t.Errorf("%d lines, %d entries:\n%s", len(lines), n, text)
	}
	must(t, tr.Clear())
	if got, want := tr.Text(-1), fmt.Sprintf(emptyTrace, "function", "0/0"); got != want {
		t.Errorf("after clear:\n%s", got)
	}
	t.Log(text)
}

// TestSameBytes: two machines with one seed print the same bytes, another seed other ones.
func TestSameBytes(t *testing.T) {
	run := func(seed uint64) string {
		tr := boot(t, kernel.Config{Seed: seed})
		must(t, tr.Set("function"))
		must(t, tr.m.Hot(0b1111, 50))
		work(t, tr)
		return tr.Text(-1)
	}
	a, b, c := run(1), run(1), run(2)
	if a != b {
		t.Error("one seed, two traces")
	}
	if a == c {
		t.Error("two seeds, one trace")
	}
}

// TestTwoOps: a site that two ops want goes through the list, and back to the trampoline of the one that stays.
func TestTwoOps(t *testing.T) {
	tr := boot(t, kernel.Config{})
	must(t, tr.Filter("vfs_open"))
	must(t, tr.Set("function"))
	var hits int
	read := tr.filtered(t)
	o := &Ops{Name: "test", Gate: "function_trace_call", Filter: NewHash(read.IP), Call: func(*kernel.VCPU, uint64, uint64, uint64) { hits++ }}
	must(t, tr.m.Do("registering", func(*kernel.VCPU) error { return tr.Sites().Register(o) }))
	if got := mustRead(t, tr, "enabled_functions"); !strings.HasPrefix(got, "vfs_open (2)       ->arch_ftrace_ops_list_func+0x0/0x") {
		t.Errorf("enabled_functions: %q", got)
	}
	work(t, tr)
	n := tr.FunctionCounts()[read.IP]
	if hits == 0 || n != uint64(hits) {
		t.Errorf("%d hits of one op, %d of the other", hits, n)
	}
	must(t, tr.m.Do("unregistering", func(*kernel.VCPU) error { return tr.Sites().Unregister(o) }))
	if b, want := tr.bytesAt(t, read.IP), call(read.IP, tr.ops.Trampoline()); b != want {
		t.Errorf("vfs_open: % x, want % x", b, want)
	}
	work(t, tr)
	if hits != int(n) {
		t.Error("an op is called after it is gone")
	}
}

// TestRegs: an op that asks for all registers sees a whole struct pt_regs as of the function's first instruction, whether
// it has the site for itself or shares it, and the traced function runs on as if nothing had been.
func TestRegs(t *testing.T) {
	tr := boot(t, kernel.Config{})
	regs := tr.m.Types().Struct("pt_regs")
	if regs == nil {
		t.Fatal("no struct pt_regs")
	}
	must(t, tr.Filter("vfs_open"))
	open := tr.filtered(t)
	hits := 0
	o := &Ops{Name: "regs", Gate: "function_trace_call", Regs: true, Filter: NewHash(open.IP)}
	o.Call = func(c *kernel.VCPU, ip, parent, at uint64) {
		hits++
		get := func(name string) uint64 {
			x, err := tr.m.U64(at + uint64(regs.Field(name).Offset))
			must(t, err)
			return x
		}
		if ret, err := tr.m.U64(get("sp")); err != nil || ret != parent {
			t.Errorf("sp = %#x holds %#x, not the return address %#x", get("sp"), ret, parent)
		}
		if get("ip") != ip+siteSize || ip != open.IP {
			t.Errorf("ip %#x, site %#x", get("ip"), ip)
		}
		// The trampoline does not change callee-saved registers before the call.
		for name, r := range map[string]int{"bx": x86.RBX, "bp": x86.RBP, "r12": x86.R12, "r13": x86.R13, "r14": x86.R14, "r15": x86.R15} {
			if get(name) != c.CPU.Reg(r) {
				t.Errorf("%s: %#x, CPU %#x", name, get(name), c.CPU.Reg(r))
			}
		}
		if name, err := tr.m.U64(get("di")); err != nil || name == 0 || get("flags")&0x202 != 0x202 {
			t.Errorf("di %#x, flags %#x", get("di"), get("flags"))
		}
	}
	must(t, tr.m.Do("registering", func(*kernel.VCPU) error { return tr.Sites().Register(o) }))
	if got := mustRead(t, tr, "enabled_functions"); !strings.HasPrefix(got, "vfs_open (1) R    \ttramp: 0x") {
		t.Errorf("enabled_functions: %q", got)
	}
	work(t, tr)
	alone := hits
	must(t, tr.Set("function"))
	if got := mustRead(t, tr, "enabled_functions"); !strings.HasPrefix(got, "vfs_open (2) R     ->arch_ftrace_ops_list_func+0x0/0x") {
		t.Errorf("enabled_functions: %q", got)
	}
	work(t, tr)
	if alone == 0 || hits != 2*alone || tr.FunctionCounts()[open.IP] != uint64(alone) {
		t.Errorf("%d hits alone, %d in all, %d events", alone, hits, tr.FunctionCounts()[open.IP])
	}
}

// TestUnregisterInside: a callback may take its own op off, and stop the machine, and it all goes on.
func TestUnregisterInside(t *testing.T) {
	for _, overhead := range []kernel.Overhead{kernel.OverheadModel, kernel.OverheadNone} {
		tr := boot(t, kernel.Config{Overhead: overhead})
		s := tr.Sites()
		must(t, tr.Filter("vfs_open"))
		open := tr.filtered(t)
		hits := 0
		o := &Ops{Name: "once", Gate: "function_trace_call", Filter: NewHash(open.IP)}
		o.Call = func(c *kernel.VCPU, _, _, _ uint64) {
			if hits++; hits == 1 {
				must(t, s.Unregister(o))
				if len(s.dead) == 0 {
					t.Error("the trampoline is gone under the CPU that is in it")
				}
				tr.m.RequestStop("once")
			}
		}
		must(t, tr.m.Do("registering", func(*kernel.VCPU) error { return s.Register(o) }))
		if err := tr.m.WriteFile("/file", nil, false); err == nil {
			t.Error("the machine has not stopped")
		}
		must(t, tr.Set("function"))
		must(t, tr.Set("nop"))
		work(t, tr)
		must(t, tr.Set("function"))
		if hits != 1 || len(s.dead) != 0 || o.Registered() {
			t.Errorf("%v: %d hits, %d trampolines wait", overhead, hits, len(s.dead))
		}
		work(t, tr)
	}
}

// filtered is the first record of the filter.
func (t *Tracer) filtered(tb testing.TB) *Record {
	for i := range t.sites.recs {
		if t.ops.Filter.Has(t.sites.recs[i].IP) {
			return &t.sites.recs[i]
		}
	}
	tb.Fatal("nothing in the filter")
	return nil
}

// TestPauseOnTrace: with the option, nothing is recorded while trace is open for reading.
func TestPauseOnTrace(t *testing.T) {
	tr := boot(t, kernel.Config{})
	c := tr.m.VCPU(0)
	for _, on := range []string{"0", "1"} {
		must(t, tr.WriteFile("options/pause-on-trace", on, false))
		h, err := tr.fs.Open(c, "trace", 0)
		must(t, err)
		want := error(nil)
		if on == "1" {
			want = kernel.EBADF
		}
		if _, err := tr.mark(c, []byte("open")); err != want {
			t.Errorf("pause-on-trace %s: %v", on, err)
		}
		must(t, h.Close())
		if _, err := tr.mark(c, []byte("closed")); err != nil {
			t.Error(err)
		}
	}
}

// TestFork: a fork of a tracing machine goes on tracing, by itself.
func TestFork(t *testing.T) {
	tr := boot(t, kernel.Config{})
	must(t, tr.Set("function"))
	work(t, tr)
	m := tr.m.Fork(7)
	n, _ := Of(m)
	before := tr.Text(-1)
	if n.Text(-1) != before {
		t.Error("the fork's trace differs")
	}
	work(t, n)
	if tr.Text(-1) != before {
		t.Error("the fork traces into its parent")
	}
	if n.Text(-1) == before {
		t.Error("the fork does not trace")
	}
	must(t, n.Set("nop"))
	if b := tr.bytesAt(t, tr.sites.recs[0].IP); b == nop5 {
		t.Error("the fork patches its parent")
	}
	must(t, tr.Set("nop"))
}

// FuzzWrite writes any bytes to any file of tracefs: an errno or success, no panic, and the machine still traces.
func FuzzWrite(f *testing.F) {
	tr := boot(f, kernel.Config{})
	var paths []string
	for _, row := range tr.FS().Rows() {
		if row.Write == nil || strings.HasPrefix(row.Path, "events/") && !strings.Contains(row.Path, "sched_switch") && row.Path != "events/enable" && row.Path != "events/irq/enable" {
			continue // all events have the same files
		}
		if row.Each == nil {
			paths = append(paths, row.Path)
			continue
		}
		for _, name := range row.Each(tr) {
			paths = append(paths, strings.Replace(row.Path, "*", name, 1))
		}
	}
	for i := range paths {
		for _, s := range []string{"1\n", "0", "function\n", "nop", "vfs_*\n", "!x", "global", "\x00\xff", ""} {
			f.Add(uint8(i), []byte(s), i%2 == 0)
		}
	}
	f.Fuzz(func(t *testing.T, file uint8, data []byte, app bool) {
		m := tr.m.Fork(1)
		tr, _ := Of(m)
		path := paths[int(file)%len(paths)]
		if path == "buffer_size_kb" && len(data) > 6 {
			data = data[:6] // not the host's memory
		}
		err := tr.WriteFile(path, string(data), app)
		if e, ok := err.(*kernel.StopError); ok {
			t.Fatalf("%s: %v", path, e)
		}
		must(t, tr.WriteFile("tracing_on", "1", false))
		must(t, tr.WriteFile("options/overwrite", "1", false))
		must(t, tr.WriteFile("tracing_cpumask", "f", false))
		must(t, tr.WriteFile("options/markers", "1", false))
		must(t, tr.WriteFile("trace_marker", "still here\n", false))
		if !bytes.Contains([]byte(tr.Text(-1)), []byte("still here")) && !tr.opt(optRaw) && !tr.opt(optHex) && !tr.opt(optBin) {
			t.Fatalf("after %q > %s:\n%s", data, path, tr.Text(-1))
		}
		must(t, tr.Set("nop"))
	})
}

// BenchmarkFunctionEvent is what tracing adds to each call of kscope_hot on the host: a run with the tracer less one without.
func BenchmarkFunctionEvent(b *testing.B) { benchHot(b, "function") }

// BenchmarkProfile is what the function profiler adds.
func BenchmarkProfile(b *testing.B) { benchHot(b, "profile") }

// benchHot runs kscope_hot with a tracer on it and without.
func benchHot(b *testing.B, tracer string) {
	run := func(b *testing.B, trace bool) {
		tr := boot(b, kernel.Config{CPUs: 2})
		if trace {
			must(b, tr.Filter("kscope_hot"))
			if tracer == "profile" {
				must(b, tr.WriteFile("function_profile_enabled", "1\n", false))
			} else {
				must(b, tr.Set(tracer))
			}
		}
		hot := tr.m.Symbols().MustLookup("kscope_hot")
		tr.m.CountEntries(hot)
		must(b, tr.m.Hot(0b10, 0))
		start := tr.m.Entries(hot)
		b.ResetTimer()
		defer cputime.Report(b)()
		tr.runCalls(hot, start+uint64(b.N))
		b.StopTimer()
		if n := tr.Stats(1).Written; trace && tracer != "profile" && n < uint64(b.N) {
			b.Fatalf("%d calls, %d events", b.N, n)
		}
	}
	b.Run("plain", func(b *testing.B) { run(b, false) })
	b.Run("traced", func(b *testing.B) { run(b, true) })
}

// runCalls runs the machine until fn has been called n times, and a few more: it asks every 100 us.
func (t *Tracer) runCalls(fn, n uint64) {
	for t.m.Entries(fn) < n {
		t.m.Run(kernel.Until{Time: t.m.Now() + 100_000})
	}
}

func BenchmarkPatch500(b *testing.B) {
	tr := boot(b, kernel.Config{})
	h := NewHash()
	for _, r := range tr.Sites().Records()[:min(500, len(tr.Sites().Records()))] {
		h.Add(r.IP)
	}
	tr.ops.Filter = h
	for b.Loop() {
		must(b, tr.Set("function"))
		must(b, tr.Set("nop"))
	}
}

func BenchmarkTraceText(b *testing.B) {
	tr := boot(b, kernel.Config{})
	must(b, tr.Set("function"))
	must(b, tr.m.Hot(0b1110, 0))
	tr.m.Run(kernel.Until{Time: tr.m.Now() + 20e6})
	lines := 0
	for b.Loop() {
		lines = strings.Count(tr.Text(-1), "\n")
	}
	b.ReportMetric(float64(b.N*lines)/b.Elapsed().Seconds()/1e6, "Mlines/s")
}
