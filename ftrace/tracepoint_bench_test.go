package ftrace

import (
	"testing"

	"kscope/kernel"
	"kscope/kernel/x86"
)

// benchPoint is what a tracepoint's gate does: its events' records, from the arguments in registers into the ring.
func benchPoint(b *testing.B, system, name, filter string, pid int) {
	n := benchPointWith(b, system, name, pid, func(tr *Tracer) {
		must(b, tr.WriteFile("events/"+system+"/"+name+"/enable", "1", false))
		if filter != "" {
			must(b, tr.WriteFile("events/"+system+"/"+name+"/filter", filter, false))
		}
	})
	if filter == "" && n < uint64(b.N) {
		b.Fatalf("%d events of %d", n, b.N)
	}
}

// benchPointWith runs a tracepoint of task pid after prepare, and says how many records that made.
func benchPointWith(b *testing.B, system, name string, pid int, prepare func(tr *Tracer)) uint64 {
	tr := boot(b, kernel.Config{CPUs: 2})
	prepare(tr)
	c, tp := tr.m.VCPU(1), tr.points.find(name)
	if tp == nil {
		b.Skip("the image has no such tracepoint")
	}
	var task uint64
	for _, t := range tr.m.Tasks() {
		if t.Pid == pid {
			task = t.Addr
		}
	}
	for _, r := range []int{x86.RDI, x86.RSI, x86.RDX} {
		c.CPU.SetReg(r, task)
	}
	before := tr.Stats(1).Written
	b.ReportAllocs()
	b.ResetTimer()
	defer cpuTime(b)()
	for range b.N {
		tr.points.hit(tp, c)
	}
	b.StopTimer()
	return tr.Stats(1).Written - before
}

func BenchmarkEventSwitch(b *testing.B) { benchPoint(b, "sched", "sched_switch", "", 1) }
func BenchmarkEventWaking(b *testing.B) { benchPoint(b, "sched", "sched_waking", "", 1) }
func BenchmarkEventImage(b *testing.B)  { benchPoint(b, "timer", "timer_cancel", "", 1) }

// BenchmarkEventFiltered: two fields, of which the second decides that the event is not kept.
func BenchmarkEventFiltered(b *testing.B) {
	benchPoint(b, "sched", "sched_waking", `pid == 1 && prio < 100`, 1)
}
