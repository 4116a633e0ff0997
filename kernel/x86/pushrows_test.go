package x86_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"kscope/kernel/x86"
)

// TestPushRows: rows of pushes and pops of saved registers, in gcc's order and in others, with moves, adds and loads between them, at
// the end of a page and elsewhere, in host code and interpreted.
func TestPushRows(t *testing.T) {
	phys := newPhys()
	host, plain := (&rig{}).init(phys, 0), (&rig{interpret: true}).init(phys, 0)
	rnd := rand.New(rand.NewPCG(73, 0))
	saved := []int{x86.R15, x86.R14, x86.R13, x86.R12, x86.RBP, x86.RBX}
	reg := func() int { return append(saved, x86.RAX, x86.RDI)[rnd.IntN(8)] }
	for n := range 1500 {
		var code []byte
		row := func(op byte, regs []int) {
			for _, r := range regs {
				if rnd.IntN(12) == 0 {
					r = reg()
				}
				code = append(append(code, rexB(r)...), op|byte(r&7))
				for range rnd.IntN(6) / 3 {
					d, s := reg(), reg()
					switch rnd.IntN(5) {
					case 0, 1:
						code = append(code, 0x48|byte(s>>3)<<2|byte(d>>3), 0x89, 0xc0|byte(s&7)<<3|byte(d&7)) // mov d, s
					case 2:
						code = append(code, 0x48|byte(d>>3), 0x83, 0xc0|byte(d&7), byte(rnd.Uint32())) // add d, imm
					case 3:
						code = append(code, 0x48|byte(d>>3)<<2, 0x8b, 0x44|byte(d&7)<<3, 0x24, byte(rnd.IntN(40))) // mov d, [rsp+x]
					case 4:
						code = append(code, 0x48|byte(d>>3)<<2|byte(s>>3), 0x8d, 0x80|byte(d&7)<<3|byte(s&7))
						if s&7 == 4 {
							code = append(code, 0x24)
						}
						code = put32(code, rnd.Uint64N(99)) // lea d, [s+x]
					}
				}
			}
		}
		first := rnd.IntN(5)
		row(0x50, saved[first:first+1+rnd.IntN(6-first)])
		pops := slices.Clone(saved[rnd.IntN(5):])
		slices.Reverse(pops)
		row(0x58, pops)
		code = append(code, []byte{0xc3, 0xcc}[rnd.IntN(2)])
		sp := dataVA + 0x2000 + uint64(rnd.IntN(16))*8 - 64
		if rnd.IntN(2) == 0 {
			sp = dataVA + 0x1800 + rnd.Uint64N(64)
		}
		var got [2][17]uint64
		var memory [2]string
		for k, r := range []*rig{host, plain} {
			r.poke(codeVA, append(code, 0xcc))
			for i := range dataSize / 0x1000 * 8 {
				r.poke(dataVA+0x1f00+uint64(i)*8, []byte{byte(i), 2, 0, 0x10, 0, 0, 0, 0}) // addresses of int3
			}
			for i := range 16 {
				r.c.SetReg(i, uint64(n*16+i)*0x0101)
			}
			r.c.SetReg(x86.RSP, sp)
			r.c.SetRIP(codeVA)
			r.c.SetFlags(2)
			for range 2 { // the first time the page is not in the TLB
				r.c.SetReg(x86.RSP, sp)
				r.c.SetRIP(codeVA)
				r.c.Run(60)
			}
			for i := range 16 {
				got[k][i] = r.c.Reg(i)
			}
			got[k][16] = r.c.Flags()<<32 ^ r.c.RIP() ^ r.c.Insns<<48
			memory[k] = string(r.peek(dataFrames))
		}
		if got[0] != got[1] || memory[0] != memory[1] {
			t.Fatalf("row %d, sp %#x: % x\n%x\ninterpreted\n%x", n, sp, code, got[0], got[1])
		}
	}
}
