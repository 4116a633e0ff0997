package ftrace

import (
	"testing"

	"kscope/kernel"
)

// TestInterruptAtTracedCall: interrupts that are due at any moment, also while a CPU is in a trampoline, are taken at the same
// instruction with and without tracing. (Once, one that was due at the traced call itself came an instruction late: the gate's
// way back into the trampoline did not look at the interrupts again.)
func TestInterruptAtTracedCall(t *testing.T) {
	const rescheduleVector = 0xfd
	run := func(tracer string) (hash, state uint64) {
		tr := boot(t, kernel.Config{Overhead: kernel.OverheadNone, Seed: 2})
		must(t, tr.Set(tracer))
		must(t, tr.m.Hot(0b1111, 0))
		start := tr.m.Now() + 100_000
		tr.m.Run(kernel.Until{Time: start})
		tr.m.SetSliceHook(func(c *kernel.VCPU) {
			for _, x := range []uint64{uint64(c.ID), c.Now(), c.CPU.RIP()} {
				hash = (hash ^ x) * 0x100000001b3
			}
		})
		const n = 400
		for i := range uint64(n) {
			tr.m.Inject(int(i%4), rescheduleVector, start+1000+i*997)
		}
		tr.m.Run(kernel.Until{Time: start + 1000*(n+2)})
		return hash, tr.m.StateHash()
	}
	hash, state := run("nop")
	for _, tracer := range []string{"function", "function_graph"} {
		if h, s := run(tracer); h != hash || s != state {
			t.Errorf("%x, %x; %s: %x, %x", hash, state, tracer, h, s)
		}
	}
}
