package x86_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"kscope/kernel/x86"
)

// where is what a hook sees: the exact state before an instruction.
func (r *rig) where() string {
	s := fmt.Sprintf("%x flags %x insns %d", r.c.RIP(), r.c.Flags(), r.c.Insns)
	for i := range 16 {
		s += fmt.Sprintf(" %x", r.c.Reg(i))
	}
	return s
}

// hookedRun runs random blocks with a hook before every instruction, and compares with the same blocks run instruction by
// instruction: the same states are seen, and the end is the same. Every third time the hook does what act says.
func hookedRun(t *testing.T, seed uint64, act func(r *rig)) {
	t.Helper()
	phys := newPhys()
	stepped, hooked := newRig(phys, 3), newRig(phys, 3)
	var want, got []string
	stepped.driver = func(budget int64) x86.Exit {
		for ; budget > 0; budget-- {
			want = append(want, stepped.where())
			if e := stepped.c.Run(1); e != x86.ExitBudget {
				return e
			}
		}
		return x86.ExitBudget
	}
	hooked.driver = func(budget int64) x86.Exit {
		end := hooked.c.Insns + uint64(budget)
		for {
			e := hooked.c.Run(int64(end - hooked.c.Insns))
			if e != x86.ExitStop {
				return e
			}
			if now := hooked.where(); now != got[len(got)-1] {
				t.Fatalf("stopped at %s behind the hook at %s", now, got[len(got)-1])
			}
		}
	}
	hooked.hook = func(va uint64) {
		got = append(got, hooked.where())
		if len(got)%3 == 0 {
			act(hooked)
		}
	}
	g := &generator{rnd: rand.New(rand.NewPCG(seed, 0)), forms: forms()}
	for n := range 1500 {
		want, got = want[:0], got[:0]
		b := g.block()
		a, c := stepped.run(b.in), hooked.run(b.in)
		if diff := b.compare(c, a); diff != "" || c.stop != a.stop {
			t.Fatalf("block %d: %s; stop %s, want %s; code % x", n, diff, c.stop, a.stop, b.in.code)
		}
		for i := range max(len(want), len(got)) {
			if i >= len(want) || i >= len(got) || want[i] != got[i] {
				t.Fatalf("block %d: hook %d of %d saw\n%s\nwant, of %d,\n%s", n, i, len(got), at(got, i), len(want), at(want, i))
			}
		}
	}
}

func at(s []string, i int) string {
	if i < len(s) {
		return s[i]
	}
	return "nothing"
}

// TestHookTransparent: a hook sees each instruction's exact state before it, once, and changes nothing.
func TestHookTransparent(t *testing.T) { hookedRun(t, 31, func(*rig) {}) }

// TestHookStops: a hook that stops the CPU stops it before the instruction, and is not called again when it goes on.
func TestHookStops(t *testing.T) { hookedRun(t, 32, func(r *rig) { r.c.RequestStop() }) }

// TestHookDropsCode: code may be dropped under a hook's feet.
func TestHookDropsCode(t *testing.T) {
	hookedRun(t, 33, func(r *rig) { r.c.InvalidateCode(codeFrames[0]<<12, 4096) })
}

// TestHookMoves: a hook may send the CPU elsewhere.
func TestHookMoves(t *testing.T) {
	r := newRig(newPhys(), 3)
	s := newState()
	s.code = []byte{0xb8, 1, 0, 0, 0, 0xb8, 2, 0, 0, 0, 0xbb, 3, 0, 0, 0, 0xcc} // mov eax,1; mov eax,2; mov ebx,3; int3
	r.hook = func(va uint64) {
		if va == codeVA+5 {
			r.c.SetRIP(codeVA + 10)
		}
	}
	end := r.run(s)
	if end.regs[x86.RAX] != 1 || end.regs[x86.RBX] != 3 {
		t.Errorf("rax %x rbx %x, want 1 and 3", end.regs[x86.RAX], end.regs[x86.RBX])
	}
}
