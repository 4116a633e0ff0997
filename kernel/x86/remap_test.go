package x86_test

import (
	"slices"
	"testing"

	"kscope/kernel/mem"
	"kscope/kernel/x86"
)

// leafOf is the physical address of the page table entry of va.
func leafOf(p *mem.Phys, va uint64) uint64 {
	t := uint64(0x1000)
	for shift := 39; shift > 12; shift -= 9 {
		t = p.U64(t+va>>shift&511*8) &^ 0xfff
	}
	return t + va>>12&511*8
}

// TestRemapAcrossPages: an instruction has its head in one page and its tail in the next, which is remapped: after the flush it has
// the new tail, for whoever comes to it by a link, by a call or anew. A block was once found by its first frame alone.
func TestRemapAcrossPages(t *testing.T) {
	for _, interpret := range []bool{true, false} {
		r := (&rig{interpret: interpret}).init(newPhys(), 0)
		at := uint64(codeVA + 0xfff)
		code := slices.Concat(put32([]byte{0x0f, 0x01, 0x3c, 0x25}, codeVA+0x1000), // invlpg
			put32([]byte{0xe8}, at-codeVA-13), // call
			[]byte{0xcc})
		r.poke(codeVA, code)
		r.poke(at, []byte{0xb0, 0x11, 0xc3}) // mov al, 0x11; ret
		const other = 0x34
		r.p.WriteAt(other<<12, []byte{0x22, 0xc3})
		pte := leafOf(r.p, codeVA+0x1000)
		run := func(how string, want uint64) {
			t.Helper()
			r.c.SetReg(x86.RSP, stack0)
			r.c.SetReg(x86.RAX, 0)
			r.c.SetRIP(codeVA)
			if e := r.c.Run(100); e != x86.ExitException || r.c.Exc.Vec != x86.VecBP || r.c.Reg(x86.RAX) != want {
				t.Errorf("interpreted %v, %s: al is %#x, want %#x; %v %+v", interpret, how, r.c.Reg(x86.RAX), want, e, r.c.Exc)
			}
		}
		for range 4 {
			run("before", 0x11)
		}
		was := r.p.U64(pte)
		r.p.PutU64(pte, other<<12|was&0xfff)
		run("remapped", 0x22)
		r.p.PutU64(pte, was)
		run("and back", 0x11)
		r.p.PutU64(pte, other<<12|was&0xfff)
		r.c.FlushTLB()
		run("remapped by the host", 0x22)
	}
}

// TestReturnToRemapped: a call ends its page. While the function runs, the call's text is written (as it was), and the page that it
// returns to is remapped and flushed. The return finds the new page.
func TestReturnToRemapped(t *testing.T) {
	for _, warm := range []int{0, 1, 2, 3} {
		g := &program{generator: &generator{}, seed: 1, cpus: 1}
		g.buildWorld()
		f, site := uint64(kernVA+0x1100), uint64(kernVA+0x1ffb)
		g.at(site, put32([]byte{0xe8}, f-site-5))
		g.at(site+5, []byte{0xb0, 0x11, 0xcc})
		g.p.WriteAt(altCode<<12, []byte{0xb0, 0x22, 0xcc})
		g.code, g.starts, g.undefAt = nil, nil, map[int]uint64{}
		g.emit(0x45, 0x85, 0xd2, 0x75, 1, 0xc3)                                                      // test r10d, r10d; jne +1; ret
		g.emit(slices.Concat(put32([]byte{0xc6, 0x04, 0x25}, site), []byte{0xe8})...)                // mov byte [site], 0xe8
		g.abs([]byte{0x89}, x86.R9, g.window(kernVA+0x2000))                                         // the new entry
		g.emit(slices.Concat(put32([]byte{0x0f, 0x01, 0x3c, 0x25}, kernVA+0x2000), []byte{0xc3})...) // invlpg; ret
		g.at(f, g.code)
		w := newWorld(g, wMode{warm: warm})
		c := w.cpus[0]
		for i := range uint64(8) {
			last := i == 7
			c.SetReg(x86.RSP, stackA)
			c.SetReg(x86.R10, 0)
			want := uint64(0x11)
			if last {
				c.SetReg(x86.R10, 1)
				c.SetReg(x86.R9, altCode<<12|mem.P|mem.RW|mem.G)
				want = 0x22
			}
			c.SetRIP(site)
			for c.Run(100) == x86.ExitStop {
			}
			if c.Exc.Vec != x86.VecBP || c.Reg(x86.RAX)&0xff != want {
				t.Errorf("warm %d, round %d: al is %#x, want %#x; at %#x, %+v", warm, i, c.Reg(x86.RAX)&0xff, want, c.RIP(), c.Exc)
			}
		}
	}
}
