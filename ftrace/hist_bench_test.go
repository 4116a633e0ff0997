package ftrace

import "testing"

// benchTrigger is benchPoint with a trigger, and without the event recorded.
func benchTrigger(b *testing.B, trigger string) {
	benchPointWith(b, "sched", "sched_waking", 1, func(tr *Tracer) {
		must(b, tr.WriteFile("events/sched/sched_waking/trigger", trigger, true))
	})
}

func BenchmarkHistOneKey(b *testing.B)   { benchTrigger(b, "hist:keys=pid") }
func BenchmarkHistTwoKeys(b *testing.B)  { benchTrigger(b, "hist:keys=pid,prio:vals=target_cpu") }
func BenchmarkHistString(b *testing.B)   { benchTrigger(b, "hist:keys=comm") }
func BenchmarkHistVariable(b *testing.B) { benchTrigger(b, "hist:keys=pid:ts0=common_timestamp.usecs") }
func BenchmarkHistFiltered(b *testing.B) { benchTrigger(b, "hist:keys=pid if pid == 1 && prio < 100") }
func BenchmarkTriggerIdle(b *testing.B)  { benchTrigger(b, "traceoff if pid == 99999") }
