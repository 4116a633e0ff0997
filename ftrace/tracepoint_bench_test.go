package ftrace

import (
	"encoding/binary"
	"strings"
	"testing"

	"kscope/internal/cputime"
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
	defer cputime.Report(b)()
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

// BenchmarkEventWhole is what an event of a tracepoint costs from end to end: jump label, cold text, gate, record, ring. kscope_hot,
// which a kthread calls for ever, is made to call a function that does little else: kfree(NULL), whose event has the caller looked up in the
// stack, or rcu_note_context_switch(false), which has two events of one field. The differences to off are the figures.
func BenchmarkEventWhole(b *testing.B) {
	for _, c := range []struct{ name, event, fn, filter string }{
		{"off", "", "kfree", ""}, {"on", "kmem/kfree", "kfree", "0"},
		{"passes", "kmem/kfree", "kfree", "ptr == 0 && common_pid > 0"}, {"filtered", "kmem/kfree", "kfree", "ptr == 0 && common_pid == 0"},
		{"two-off", "", "rcu_note_context_switch", ""}, {"two-on", "rcu/rcu_utilization", "rcu_note_context_switch", "0"},
		{"two-filtered", "rcu/rcu_utilization", "rcu_note_context_switch", "common_cpu == 1 && common_pid == 0"},
	} {
		b.Run(c.name, func(b *testing.B) {
			tr := boot(b, kernel.Config{CPUs: 2})
			syms := tr.m.Symbols()
			hot, fn := syms.MustLookup("kscope_hot"), syms.MustLookup(c.fn)
			code := []byte{0x31, 0xff, 0xe9, 0, 0, 0, 0} // xor %edi, %edi; jmp fn
			binary.LittleEndian.PutUint32(code[3:], uint32(fn-(hot+siteSize+7)))
			must(b, tr.m.Text().Early(hot+siteSize, code))
			if c.event != "" {
				must(b, tr.WriteFile("events/"+c.event+"/filter", c.filter, false))
				must(b, tr.WriteFile("events/"+c.event+"/enable", "1", false))
			}
			tr.m.CountEntries(hot)
			must(b, tr.m.Hot(0b10, 0))
			start, before := tr.m.Entries(hot), tr.Stats(1).Written
			b.ResetTimer()
			defer cputime.Report(b)()
			tr.runCalls(hot, start+uint64(b.N))
			b.StopTimer()
			if n := tr.Stats(1).Written - before; c.event != "" && !strings.HasSuffix(c.name, "filtered") && n < uint64(b.N) {
				b.Fatalf("%d calls, %d events", b.N, n)
			}
		})
	}
}
