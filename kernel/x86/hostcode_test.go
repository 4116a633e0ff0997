package x86_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// exactly says how two runs of one program differ, undefined flags included.
func exactly(got, want *state) string {
	var w []string
	if got.stop != want.stop || got.rip != want.rip || got.flags != want.flags || got.cpl != want.cpl || got.cr2 != want.cr2 {
		w = append(w, fmt.Sprintf("stop %q rip %#x flags %#x cr2 %#x, interpreted %q %#x %#x %#x", got.stop, got.rip, got.flags, got.cr2, want.stop, want.rip, want.flags, want.cr2))
	}
	for i := range 16 {
		if got.regs[i] != want.regs[i] {
			w = append(w, fmt.Sprintf("%s %#x, interpreted %#x", regNames[i], got.regs[i], want.regs[i]))
		}
	}
	if c := memChange("", want.data, got.data); c != nil {
		w = append(w, "memory "+strings.Join(c, " "))
	}
	return strings.Join(w, ", ")
}

// TestHostCode runs random blocks and the pieces of the guest kernel as host code and interpreted, at once and in slices: all
// registers, all flags, memory, faults and counts are equal. On hosts without host code it compares the interpreter with itself.
func TestHostCode(t *testing.T) {
	phys := newPhys()
	host, plain := newRig(phys, 3), (&rig{interpret: true}).init(phys, 3)
	run := func(name string, s *state, n int) {
		host.chop = int64(n % 4)
		plain.chop = []int64{0, 5, 1, 3}[n%4]
		i, j := host.c.Insns, plain.c.Insns
		got, want := host.run(s), plain.run(s)
		i, j = host.c.Insns-i, plain.c.Insns-j
		if diff := exactly(got, want); diff != "" || i != j {
			t.Fatalf("%s in slices of %d: %d instructions, interpreted %d; %s; code % x", name, host.chop, i, j, diff, s.code)
		}
	}
	for _, seed := range []uint64{1, 2, 52} {
		g := &generator{rnd: rand.New(rand.NewPCG(seed, 0)), forms: forms()}
		for n := range 8000 {
			run(fmt.Sprint("seed ", seed, " block ", n), g.block().in, n)
		}
	}
	rnd := rand.New(rand.NewPCG(53, 0))
	for n, code := range guestPieces(t) {
		run(fmt.Sprint("piece ", n), pieceState(rnd, code), n)
	}
}
