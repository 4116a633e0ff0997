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

// TestJumpToRemapped: a loop goes to another page by a jump, which host code leaves out where the page's block comes behind. When the
// page is remapped and flushed, by invlpg or by way of CR4, the loop finds the new one.
func TestJumpToRemapped(t *testing.T) {
	for _, warm := range []int{0, 1, 2, 3} {
		for _, how := range []string{"invlpg", "cr4", "cr3"} {
			g := &program{generator: &generator{}, seed: 1, cpus: 1}
			g.buildWorld()
			loop, far := uint64(kernVA+0x1100), uint64(kernVA+0x2010)
			back := func(at uint64) []byte { return put32([]byte{0xe9}, loop-at-5) }
			g.p.WriteAt(kernFrames[2]<<12+0x10, append([]byte{0x48, 0xff, 0xc3}, back(far+3)...)) // inc rbx
			g.p.WriteAt(altCode<<12+0x10, append([]byte{0x49, 0xff, 0xc4}, back(far+3)...))       // inc r12
			g.code, g.starts, g.undefAt = nil, nil, map[int]uint64{}
			bits := uint64(mem.P | mem.RW | mem.G)
			g.emit(0x41, 0xff, 0xca) // dec r10d
			g.rel(loop, []byte{0x0f, 0x85}, far)
			g.abs([]byte{0x89}, x86.R9, g.window(kernVA+0x2000)) // the new entry
			switch how {
			case "invlpg":
				g.invlpg(kernVA + 0x2000)
			case "cr4":
				for range 2 {
					g.crReg(0x20, 4, x86.RAX)
					g.emit(0x48, 0x0f, 0xba, 0xf8, 7) // btc rax, 7
					g.crReg(0x22, 4, x86.RAX)
				}
			case "cr3":
				bits &^= mem.G
				g.p.PutU64(g.leaf(kernVA+0x2000), kernFrames[2]<<12|bits)
				g.crReg(0x20, 3, x86.RAX)
				g.crReg(0x22, 3, x86.RAX)
			}
			g.emit(0x41, 0xba, 20, 0, 0, 0) // mov r10d, 20
			g.emit(0x41, 0xff, 0xcb)        // dec r11d
			g.rel(loop, []byte{0x0f, 0x85}, loop)
			g.emit(0xcc)
			g.at(loop, g.code)
			w := newWorld(g, wMode{warm: warm})
			c := w.cpus[0]
			for r, v := range map[int]uint64{x86.RSP: stackA, x86.R9: altCode<<12 | bits, x86.R10: 20, x86.R11: 2, x86.RBX: 0, x86.R12: 0} {
				c.SetReg(r, v)
			}
			c.SetRIP(loop)
			for c.Run(1000) == x86.ExitStop {
			}
			if c.Exc.Vec != x86.VecBP || c.Reg(x86.RBX) != 19 || c.Reg(x86.R12) != 19 {
				t.Errorf("warm %d, %s: %d rounds in the old page, %d in the new one, want 19 and 19; at %#x, %+v", warm, how, c.Reg(x86.RBX), c.Reg(x86.R12), c.RIP(), c.Exc)
			}
		}
	}
}

// TestReturnAcrossLevels: the kernel calls a function which goes to user code in the kernel's half (a vsyscall page), and that returns to
// the address behind the call, which is not its: a page fault.
func TestReturnAcrossLevels(t *testing.T) {
	for _, warm := range []int{0, 1} {
		g := &program{generator: &generator{}, seed: 1, cpus: 1}
		g.buildWorld()
		g.p.PutU64(g.leaf(kernVA+0x3000), kernFrames[3]<<12|mem.P|mem.RW|mem.US|mem.G)
		f, site, user := uint64(kernVA+0x1100), uint64(kernVA+0x1000), uint64(kernVA+0x3000)
		g.at(site, slices.Concat(put32([]byte{0xe8}, f-site-5), []byte{0xb0, 0x11, 0xcc}))
		g.at(f, []byte{0x45, 0x85, 0xd2, 0x75, 1, 0xc3, 0x48, 0x8d, 0x64, 0x24, 8, 0x48, 0xcf}) // test r10d, r10d; jne +1; ret; lea rsp, [rsp+8]; iretq
		g.at(user, []byte{0x58, 0x50, 0xc3})                                                    // pop rax; push rax: the page is in the TLB; ret
		w := newWorld(g, wMode{warm: warm})
		c := w.cpus[0]
		const sp = dataVA + 0x1000
		c.PutU64(sp, site+5)
		for i := range uint64(4) {
			c.SetReg(x86.R10, i/3)
			c.SetReg(x86.RSP, stackA-40)
			for j, v := range []uint64{user, 0x33, 2, sp, 0x2b} {
				c.PutU64(stackA-40+uint64(8*j), v)
			}
			c.SetRIP(site)
			if e := c.Run(1000); e != x86.ExitException || i < 3 && c.Exc.Vec != x86.VecBP {
				t.Fatalf("round %d: %v %+v at %#x", i, e, c.Exc, c.RIP())
			}
		}
		if c.Exc.Vec != x86.VecPF || c.Exc.CR2 != site+5 || c.Exc.Err != 0x15 || c.CPL() != 3 || c.RIP() != site+5 {
			t.Errorf("warm %d: %+v at %#x, CPL %d", warm, c.Exc, c.RIP(), c.CPL())
		}
	}
}

// TestSwitchUnderCall: code at a low address calls a function that switches the address space, and returns to the other space's page.
func TestSwitchUnderCall(t *testing.T) {
	for _, warm := range []int{0, 1, 2} {
		g := &program{generator: &generator{}, seed: 1, cpus: 1}
		g.buildWorld()
		f, site := uint64(codeVA+0x100), uint64(codeVA+0x1100)
		call := put32([]byte{0xe8}, f-site-5)
		g.p.WriteAt(codeFrames[1]<<12+0x100, slices.Concat(call, []byte{0xb0, 0x11, 0xcc}))
		g.p.WriteAt(otherCode<<12+0x100, slices.Concat(call, []byte{0xb0, 0x22, 0xcc}))
		g.at(f, []byte{0x41, 0x0f, 0x22, 0xd9, 0xc3}) // mov cr3, r9; ret
		w := newWorld(g, wMode{warm: warm})
		c := w.cpus[0]
		for i := range uint64(9) {
			c.SetCR3(g.space[0])
			c.SetReg(x86.R9, g.space[i/4%2])
			c.SetReg(x86.RSP, stackA)
			c.SetRIP(site)
			c.Run(1000)
			if want := 0x11 * (1 + i/4%2); c.Exc.Vec != x86.VecBP || c.Reg(x86.RAX)&0xff != want {
				t.Errorf("warm %d, round %d: al is %#x, want %#x; %+v at %#x", warm, i, c.Reg(x86.RAX)&0xff, want, c.Exc, c.RIP())
			}
		}
	}
}

// TestCopyThroughAlias: a row that is moved within its own frame by way of another address repeats its first bytes, as one that overlaps
// in addresses does.
func TestCopyThroughAlias(t *testing.T) {
	for _, interpret := range []bool{true, false} {
		for _, op := range [][]byte{{0xf3, 0xa4, 0xcc}, {0xf3, 0x66, 0xa5, 0xcc}, {0xf3, 0x48, 0xa5, 0xcc}} {
			for _, ahead := range []int64{1, 8, 24, 0, -8} {
				r := (&rig{interpret: interpret}).init(newPhys(), 0)
				r.p.PutU64(leafOf(r.p, dataVA+0x2000), r.p.U64(leafOf(r.p, dataVA+0x1000)))
				r.c.FlushTLB()
				r.poke(codeVA, op)
				const at, n = 0x100, 12
				size := map[byte]int64{0xa4: 1, 0x66: 2, 0x48: 8}[op[1]]
				want := make([]byte, 0x200)
				for i := range want {
					want[i] = byte(i * 7)
				}
				for range 2 { // the second time the pages are in the TLB
					r.poke(dataVA+0x1000, want)
					r.c.SetReg(x86.RSI, dataVA+0x1000+at)
					r.c.SetReg(x86.RDI, uint64(int64(dataVA+0x2000+at)+ahead))
					r.c.SetReg(x86.RCX, n)
					r.c.SetRIP(codeVA)
					r.c.Run(10)
				}
				for i := range n { // one element after the other
					from := want[at+int64(i)*size:][:size]
					copy(want[at+int64(i)*size+ahead:], append([]byte(nil), from...))
				}
				if got := r.p.Page(dataFrames[1])[:0x200]; string(got) != string(want) {
					t.Errorf("interpreted %v, % x, %d bytes ahead:\n% x\nwant\n% x", interpret, op, ahead, got[at:at+0x80], want[at:at+0x80])
				}
			}
		}
	}
}
