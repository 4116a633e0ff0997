package ftrace

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"kscope/kernel"
	"kscope/kernel/x86"
)

// latency sets up what TestHistActions and the fork look at: how long kscoped waits for its CPU.
func latency(tb testing.TB, tr *Tracer) {
	tb.Helper()
	for _, w := range [][2]string{
		{"synthetic_events", "lat u64 us; pid_t pid; char comm[16]; char dyn[]"},
		{"events/sched/sched_waking/trigger", "hist:keys=pid:ts0=common_timestamp.usecs"},
		{"events/sched/sched_switch/trigger", "hist:keys=next_pid:us=common_timestamp.usecs-$ts0:onmatch(sched.sched_waking).trace(lat,$us,next_pid,next_comm,prev_comm):onmax($us).save(next_comm,prev_pid)"},
		{"events/synthetic/lat/trigger", "hist:keys=comm:vals=us"},
		{"events/synthetic/lat/enable", "1"},
	} {
		must(tb, tr.WriteFile(w[0], w[1]+"\n", true))
	}
	must(tb, tr.m.Do("clearing", func(c *kernel.VCPU) error { // both at once
		must(tb, tr.fs.WriteFile(c, "trace", nil, false))
		return tr.fs.WriteFile(c, "events/synthetic/lat/trigger", []byte("hist:keys=comm:vals=us:clear"), true)
	}))
}

// TestHistActions: a latency by two histograms and a synthetic event, which a third counts; and what is busy then. A fork has
// its own of all.
func TestHistActions(t *testing.T) {
	tr := boot(t, kernel.Config{CPUs: 1})
	latency(t, tr)
	work(t, tr)
	n, _ := Of(tr.m.Fork(3))
	before := mustRead(t, tr, "events/synthetic/lat/hist")
	work(t, n)
	if got := mustRead(t, tr, "events/synthetic/lat/hist"); got != before {
		t.Errorf("the fork's work is in the original:\n%s", got)
	}
	for _, tr := range []*Tracer{tr, n} {
		text := tr.Text(-1)
		if !regexp.MustCompile(`<idle>-0 +\[000\] d\.\.4\. +1\.\d+: lat: us=\d+ pid=\d+ comm=kscoped dyn=swapper/0\n`).MatchString(text) {
			t.Errorf("no lat:\n%s", text)
		}
		hits := strings.Count(text, ": lat: ")
		if got := mustRead(t, tr, "events/synthetic/lat/hist"); !strings.Contains(got, fmt.Sprintf("hitcount: %10d  us: ", hits)) {
			t.Errorf("%d events, but\n%s", hits, got)
		}
		if got := mustRead(t, tr, "events/sched/sched_switch/hist"); !regexp.MustCompile(`\{ next_pid: +\d+ \} hitcount: +\d+\n\tmax: +\d+  next_comm: kscoped +prev_pid: +0\n`).MatchString(got) {
			t.Error(got)
		}
		for _, c := range []struct {
			file, write string
			err         error
		}{
			{"events/sched/sched_waking/trigger", "!hist:keys=pid:ts0=common_timestamp.usecs", kernel.EBUSY},
			{"synthetic_events", "!lat", kernel.EBUSY},
			{"events/synthetic/lat/enable", "0", nil},
			{"events/synthetic/lat/trigger", "!hist:keys=comm:vals=us", nil},
			{"synthetic_events", "!lat", kernel.EBUSY},
			{"events/sched/sched_switch/trigger", "!hist:keys=next_pid:us=common_timestamp.usecs-$ts0:onmatch(sched.sched_waking).trace(lat,$us,next_pid,next_comm,prev_comm):onmax($us).save(next_comm,prev_pid)", nil},
			{"synthetic_events", "!lat", nil},
			{"events/sched/sched_waking/trigger", "!hist:keys=pid:ts0=common_timestamp.usecs", nil},
		} {
			if err := tr.WriteFile(c.file, c.write+"\n", true); err != c.err {
				t.Errorf("%s > %s: %v, want %v", c.write, c.file, err, c.err)
			}
		}
		if len(tr.histVars) != 0 || len(tr.synths) != 0 || tr.trigDepth != 0 {
			t.Errorf("left: %d, %d, depth %d", len(tr.histVars), len(tr.synths), tr.trigDepth)
		}
	}
}

// TestHistNamed: two events count in one histogram, which stays until the last of its triggers goes.
func TestHistNamed(t *testing.T) {
	tr := boot(t, kernel.Config{CPUs: 1})
	const spec = "hist:name=n:keys=common_pid"
	for _, ev := range []string{"sched_waking", "sched_switch"} {
		must(t, tr.WriteFile("events/sched/"+ev+"/trigger", spec+"\n", true))
	}
	work(t, tr)
	a, b := mustRead(t, tr, "events/sched/sched_waking/hist"), mustRead(t, tr, "events/sched/sched_switch/hist")
	if a != b || !strings.Contains(a, "{ common_pid:          0 }") {
		t.Errorf("%s\n%s", a, b)
	}
	must(t, tr.WriteFile("events/sched/sched_waking/trigger", "!"+spec+"\n", true))
	if got := mustRead(t, tr, "events/sched/sched_switch/hist"); !strings.Contains(got, "{ common_pid:          0 }") {
		t.Error(got)
	}
	n, _ := Of(tr.m.Fork(1))
	must(t, n.WriteFile("events/sched/sched_switch/trigger", "!"+spec+"\n", true))
	if len(n.named) != 0 || len(tr.named) != 2 {
		t.Errorf("%d named, in the original %d", len(n.named), len(tr.named))
	}
}

// TestTriggersOfDefined: events of Define have triggers, which see their fields, of any length too.
func TestTriggersOfDefined(t *testing.T) {
	tr := boot(t, kernel.Config{CPUs: 1})
	ev, err := tr.Define("my", "ev", []DefineField{{"n", "s16"}, {"s", "string"}}, "")
	must(t, err)
	must(t, tr.WriteFile("events/my/ev/trigger", "hist:keys=s,n:vals=common_type:sort=s,n.descending if n != 3\n", true))
	must(t, tr.WriteFile("events/my/ev/trigger", "stacktrace:1 if s == \"two\"\n", true))
	if err := tr.Undefine(ev); err != kernel.EBUSY {
		t.Errorf("%v, want EBUSY", err)
	}
	must(t, tr.m.Do("emit", func(c *kernel.VCPU) error {
		for _, v := range []struct {
			n int64
			s string
		}{{1, "one"}, {-1, "one"}, {2, "two"}, {2, "two"}, {3, "three"}} {
			ev.Emit(c, []any{uint64(v.n), v.s})
		}
		return nil
	}))
	got := mustRead(t, tr, "events/my/ev/hist")
	id := uint64(ev.ID)
	want := fmt.Sprintf("{ s: %-50s, n: %10d } hitcount:          1  common_type: %10d\n{ s: %-50s, n: %d } hitcount:          1  common_type: %10d\n"+
		"{ s: %-50s, n: %10d } hitcount:          2  common_type: %10d\n", "one", 1, id, "one", ^uint64(0), id, "two", 2, 2*id)
	if !strings.Contains(got, want) || !strings.Contains(got, "    Hits: 4\n") {
		t.Errorf("%swant\n%s", got, want)
	}
	if text := tr.Text(-1); strings.Count(text, "<stack trace>") != 1 || strings.Contains(text, ": ev: ") {
		t.Error(text)
	}
	must(t, tr.WriteFile("events/my/ev/trigger", "", false)) // the histogram goes
	must(t, tr.WriteFile("events/my/ev/trigger", "!stacktrace\n", true))
	must(t, tr.Undefine(ev))
}

// TestTriggersOfModule: a module takes the triggers of its events along.
func TestTriggersOfModule(t *testing.T) {
	tr := bootModules(t, kernel.Config{})
	must(t, tr.m.LoadModule("/kscope_test.ko", "interval=1"))
	var ev *TraceEvent
	for _, x := range tr.TraceEvents() {
		if strings.Contains(x.System, "kscope") {
			ev = x
		}
	}
	if ev == nil {
		t.Skip("the module has no events")
	}
	file := "events/" + ev.System + "/" + ev.Name + "/trigger"
	must(t, tr.WriteFile(file, "hist:keys=common_pid:x=common_cpu\n", true))
	must(t, tr.WriteFile(file, "traceoff if common_pid == 99999\n", true))
	tr.m.Run(kernel.Until{Time: tr.m.Now() + 5e6})
	must(t, tr.m.UnloadModule("kscope_test"))
	if len(tr.histVars) != 0 {
		t.Error("its histogram is left")
	}
}

// TestHistLoop: histograms whose actions lead back to themselves end.
func TestHistLoop(t *testing.T) {
	tr := boot(t, kernel.Config{CPUs: 1})
	must(t, tr.WriteFile("synthetic_events", "loop u64 n\n", true))
	must(t, tr.WriteFile("events/synthetic/loop/trigger", "hist:keys=common_pid:n=n+1:onchange($n).trace(loop,$n)\n", true))
	must(t, tr.WriteFile("events/sched/sched_waking/trigger", "hist:keys=common_pid:n=common_timestamp:onchange($n).trace(loop,$n)\n", true))
	must(t, tr.WriteFile("events/synthetic/loop/enable", "1", false))
	work(t, tr)
	if text := tr.Text(-1); !strings.Contains(text, ": loop: n=") {
		t.Error(text)
	}
}

// FuzzTrigger writes any text to a trigger file and to synthetic_events: an errno or success, carets within the command,
// and all of it goes away again.
func FuzzTrigger(f *testing.F) {
	for _, s := range []string{"traceoff:5 if prev_pid == 0", "hist:keys=prev_pid.log2,next_comm:vals=prev_prio.percent:sort=prev_pid.descending:size=128:a=prev_pid+1",
		"hist:keys=next_pid:d=common_timestamp.usecs-$ts0:onmatch(sched.sched_waking).lat($d,next_pid)", "hist:keys=prev_pid:a=-(prev_prio)/3*2:onmax($a).save(prev_comm)",
		"enable_event:sched:sched_waking:1", "lat u64 x; char c[16]", "hist:name=x:keys=stacktrace:pause", "hist:keys=prev_pid:p=prev_prio:onchange($p).snapshot()"} {
		f.Add(s)
	}
	tr := boot(f, kernel.Config{CPUs: 1})
	tp := tr.points.find("sched_switch")
	for _, r := range []int{x86.RSI, x86.RDX} {
		tr.m.VCPU(0).CPU.SetReg(r, tr.m.Tasks()[0].Addr)
	}
	f.Fuzz(func(t *testing.T, text string) {
		const file = "events/sched/sched_switch/trigger"
		ev, _ := tr.TraceEvent("sched", "sched_switch")
		c := tr.m.VCPU(0)
		for _, to := range []string{file, "synthetic_events"} {
			if err := tr.fs.WriteFile(c, to, []byte(text+"\n"), true); err != nil {
				errnoOf(err)
			}
		}
		for _, e := range tr.errs.list {
			if e.pos < 0 || e.pos > len(e.cmd) {
				t.Fatalf("%q: caret at %d of %q", text, e.pos, e.cmd)
			}
		}
		tr.errs = errorLog{}
		for range 3 {
			tr.points.hit(tp, c)
		}
		for _, file := range []string{file, "events/sched/sched_switch/hist", "synthetic_events", "trace"} {
			if _, err := tr.fs.ReadFile(c, file); err != nil {
				t.Fatalf("%q: reading %s: %v", text, file, err)
			}
		}
		tr.use(ev).dropTriggers()
		must(t, tr.DeleteSynths())
	})
}
