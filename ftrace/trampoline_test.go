package ftrace

import (
	"testing"

	"kscope/kernel"
)

// TestEpilogue: the rest of ftrace_caller is what epilogue reads, that of ftrace_regs_caller is more.
func TestEpilogue(t *testing.T) {
	tr := boot(t, kernel.Config{})
	e := tr.sites.tmpl[0].rest
	if e == nil || len(e.Loads) != 8 || e.Drop != 160 {
		t.Errorf("ftrace_caller: %+v", e)
	}
	if e := tr.sites.tmpl[1].rest; e != nil {
		t.Errorf("ftrace_regs_caller: %+v", e)
	}
}

// TestReturnBy: a machine whose trampolines end in one step runs instruction for instruction, and to the same memory, as one that
// executes them to the end.
func TestReturnBy(t *testing.T) {
	run := func(tracer string, seed uint64, executed bool) (slices int, hash, state uint64, text string) {
		tr := boot(t, kernel.Config{Seed: seed})
		if executed {
			tr.sites.tmpl[0].rest = nil
		}
		must(t, tr.Set(tracer))
		tr.m.SetSliceHook(func(c *kernel.VCPU) {
			slices++
			for _, x := range []uint64{uint64(c.ID), c.Now(), c.CPU.RIP()} {
				hash = (hash ^ x) * 0x100000001b3
			}
		})
		must(t, tr.m.Hot(0b1111, 100))
		for range 10 {
			work(t, tr)
		}
		return slices, hash, tr.m.StateHash(), tr.Text(-1)
	}
	for seed := range uint64(3) {
		for _, tracer := range []string{"function", "function_graph"} {
			n, hash, state, text := run(tracer, seed, true)
			n2, hash2, state2, text2 := run(tracer, seed, false)
			if n != n2 || hash != hash2 || state != state2 || text != text2 {
				t.Errorf("%s, seed %d: %d slices, hash %x, state %x; in one step %d, %x, %x; texts equal: %v", tracer, seed, n, hash, state, n2, hash2, state2, text == text2)
			}
		}
	}
}
