package ftrace

import (
	"testing"

	"kscope/kernel"
)

// TestZeroEffect: with overhead = "none" a machine whose every function is traced runs instruction for instruction as one
// that is not: the rolling hash of (CPU, t, rip) at each slice's end and the final state are equal.
func TestZeroEffect(t *testing.T) {
	run := func(tracer string, seed uint64) (slices int, hash, state uint64, events uint64) {
		tr := boot(t, kernel.Config{Overhead: kernel.OverheadNone, Seed: seed})
		must(t, tr.Set(tracer))
		tr.m.SetSliceHook(func(c *kernel.VCPU) {
			slices++
			for _, x := range []uint64{uint64(c.ID), c.Now(), c.CPU.RIP()} {
				hash = (hash ^ x) * 0x100000001b3
			}
		})
		must(t, tr.m.Hot(0b1111, 100))
		for range 20 {
			work(t, tr)
		}
		if tracer != "nop" {
			events = tr.Stats(0).Written + tr.Stats(1).Written + tr.Stats(2).Written + tr.Stats(3).Written
		}
		return slices, hash, tr.m.StateHash(), events
	}
	for seed := range uint64(3) {
		n, hash, state, _ := run("nop", seed)
		for _, tracer := range []string{"function", "function_graph"} {
			n2, hash2, state2, events := run(tracer, seed)
			if n != n2 || hash != hash2 || state != state2 {
				t.Errorf("seed %d: %d slices, hash %x, state %x; %s: %d, %x, %x", seed, n, hash, state, tracer, n2, hash2, state2)
			}
			if events < 1000 {
				t.Errorf("%s: only %d events", tracer, events)
			}
		}
	}
}
