package x86_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"kscope/kernel/x86"
)

// TestWindowDiff parks a CPU in a random program, writes to the text as another CPU would, and lets it run on. What it
// executes must not depend on how it came to the place: in one slice or many, through blocks of another shape, or in a
// fork or a restored state made while it was parked.
func TestWindowDiff(t *testing.T) {
	rnd := rand.New(rand.NewPCG(11, 0))
	phys := newPhys()
	insns := [][]byte{{0xff, 0xc0}, {0xff, 0xc1}, {0x48, 0xff, 0xc2}, {0x83, 0xc3, 3}, {0x90}, {0x0f, 0x1f, 0x00}, {0xd1, 0xc5}, {0x89, 0xc6},
		{0x31, 0xc7}, {0x0f, 0x1f, 0x44, 0x00, 0x00}, {0x39, 0xc8, 0x75, 0x00}, {0xeb, 0x00}, {0x0f, 0xa2}, {0x50, 0x58}, {0xfb}}
	stale, torn := uint64(0), 0
	for n := range 700 {
		var code []byte
		for range 20 + rnd.IntN(40) {
			k := rnd.IntN(10) // mostly plain ones
			if rnd.IntN(8) == 0 {
				k = rnd.IntN(len(insns))
			}
			code = append(code, insns[k]...)
		}
		type poke struct {
			at int // from where it is parked first
			b  []byte
		}
		var pokes []poke
		for range 1 + rnd.IntN(3) {
			p := poke{rnd.IntN(40) - 8, insns[rnd.IntN(9)]}
			pokes = append(pokes, p)
		}
		park := int64(1 + rnd.IntN(30))
		between := int64(rnd.IntN(4))
		start := rnd.IntN(64)
		warm := []int{rnd.IntN(len(code)), rnd.IntN(len(code)), rnd.IntN(len(code))}
		run := func(how string) string {
			r := newRig(phys, 0)
			s := newState()
			s.flags = 2
			s.regs[x86.RSP] = stack0
			s.rip = codeVA + uint64(start)
			s.code = code
			if how == "warm" {
				for _, w := range warm {
					r.load(s)
					r.c.SetRIP(s.rip + uint64(w))
					r.c.Run(20)
				}
			}
			r.poke(sysVA+0x2000, make([]byte, 0x2000)) // the warm runs dirtied the stack
			r.load(s)
			if how == "slices" {
				for i := int64(0); i < park && r.c.Run(1) == x86.ExitBudget; i++ {
				}
			} else {
				r.c.Run(park)
			}
			switch how {
			case "fork":
				p := r.p.Fork()
				c := r.c.Fork(p, r)
				r.p, r.c = p, c
			case "state":
				st := r.c.SaveState()
				r.c = x86.New(0, r.p, r)
				r.c.LoadState(st)
			}
			parked := r.c.RIP()
			for _, p := range pokes {
				r.c.HoldWindow()
				r.poke(max(parked+uint64(p.at), codeVA), p.b)
				if how == "slices" {
					for i := int64(0); i < between && r.c.Run(1) == x86.ExitBudget; i++ {
					}
				} else if between > 0 {
					r.c.Run(between)
				}
			}
			before := r.c.StaleInsns
			if how == "slices" {
				for range 200 {
					if r.c.Run(1) != x86.ExitBudget {
						break
					}
				}
			} else {
				r.c.Run(200)
			}
			if how == "one" {
				stale += r.c.StaleInsns - before
				if r.c.Exc.Vec != x86.VecBP {
					torn++
				}
			}
			regs := [8]uint64{}
			for i := range regs {
				regs[i] = r.c.Reg(i)
			}
			return fmt.Sprintf("rip %#x vec %d regs %x", r.c.RIP(), r.c.Exc.Vec, regs)
		}
		want := run("one")
		for _, how := range []string{"slices", "warm", "fork", "state"} {
			if got := run(how); got != want {
				t.Errorf("program %d, start %d, parked after %d, pokes %x, %d between: %s gives\n %s, want\n %s\n code % x", n, start, park, pokes,
					between, how, got, want, code)
			}
		}
		if t.Failed() {
			return
		}
	}
	t.Logf("%d stale instructions, %d torn runs", stale, torn)
	if stale == 0 || torn == 0 {
		t.Error("the test misses its point")
	}
}
