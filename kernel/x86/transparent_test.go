package x86_test

import (
	"math/rand/v2"
	"testing"

	"kscope/kernel/mem"
	"kscope/kernel/x86"
)

// sameAsPlain runs random blocks in user mode plainly on one CPU and by driver on another, and wants the same end.
func sameAsPlain(t *testing.T, seed uint64, blocks int, prepare func(r *rig), driver func(r *rig, budget int64) x86.Exit) {
	t.Helper()
	phys := newPhys()
	plain, other := newRig(phys, 3), newRig(phys, 3)
	other.driver = func(budget int64) x86.Exit {
		prepare(other)
		return driver(other, budget)
	}
	g := &generator{rnd: rand.New(rand.NewPCG(seed, 0)), forms: forms()}
	for n := range blocks {
		b := g.block()
		want, got := plain.run(b.in), other.run(b.in)
		if diff := b.compare(got, want); diff != "" || got.stop != want.stop {
			t.Fatalf("block %d: %s; stop %s, want %s; code % x", n, diff, got.stop, want.stop, b.in.code)
		}
	}
}

// TestInterruptTransparent interrupts blocks after each one to three instructions: a handler that only returns changes
// nothing, wherever it comes.
func TestInterruptTransparent(t *testing.T) {
	taken := 0
	sameAsPlain(t, 21, 1500, func(r *rig) {
		r.poke(codeVA+0x1200, []byte{0x48, 0xcf}) // vector 20: iretq
	}, func(r *rig, budget int64) x86.Exit {
		for i := int64(0); i < budget; i++ {
			e := r.c.Run(1 + i%3)
			if e != x86.ExitBudget {
				return e
			}
			if r.c.CanInterrupt() {
				r.c.Interrupt(0x20)
				taken++
			}
		}
		return x86.ExitBudget
	})
	if taken < 5000 {
		t.Errorf("only %d interrupts", taken)
	}
}

// TestFaultTransparent starts blocks with no page of theirs present. Each fault makes a page present, then writable, and
// the instruction is executed again: a faulting instruction leaves no trace, in whatever part of it the fault was.
func TestFaultTransparent(t *testing.T) {
	faults := 0
	pages := []struct {
		va     uint64
		frames []uint64
	}{{codeVA, codeFrames}, {dataVA, dataFrames}}
	entry := func(r *rig, va uint64) uint64 { return (&pager{rig: r}).pte(va) }
	sameAsPlain(t, 22, 1500, func(r *rig) {
		for _, a := range pages {
			for i, f := range a.frames {
				r.p.PutU64(entry(r, a.va+uint64(i)<<12), f<<12|mem.US)
			}
		}
		r.c.FlushTLB()
	}, func(r *rig, budget int64) x86.Exit {
		for range 1000 {
			e := r.c.Run(budget)
			if e != x86.ExitException || r.c.Exc.Vec != x86.VecPF || r.c.Exc.CR2 >= dataVA+dataSize {
				return e
			}
			faults++
			pos := entry(r, r.c.Exc.CR2)
			switch pte := r.p.U64(pos); {
			case pte&mem.P == 0:
				r.p.PutU64(pos, pte|mem.P)
			case pte&mem.RW == 0 && r.c.Exc.Err&mem.CodeW != 0:
				r.p.PutU64(pos, pte|mem.RW)
			default:
				return e
			}
		}
		return x86.ExitBudget
	})
	if faults < 3000 {
		t.Errorf("only %d faults", faults)
	}
}
