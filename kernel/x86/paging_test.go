package x86_test

import (
	"testing"

	"kscope/kernel/mem"
	"kscope/kernel/x86"
)

// pager is a rig at CPL 0 whose page tables the test edits behind the CPU's back.
type pager struct {
	*rig
	t *testing.T
}

func newPager(t *testing.T) *pager { return &pager{newRig(newPhys(), 0), t} }

// pte returns the physical address of the last-level entry of va.
func (p *pager) pte(va uint64) uint64 {
	table := uint64(0x1000)
	for shift := 39; shift > 12; shift -= 9 {
		table = p.p.U64(table+va>>shift&511*8) &^ 0xfff
	}
	return table + va>>12&511*8
}

// exec runs code at c with rdi set, and returns rax and what ended it.
func (p *pager) exec(rdi uint64, code ...byte) (rax uint64, stop string) {
	s := newState()
	s.flags, s.code, s.data = 2, code, p.peek(dataFrames)
	s.regs[x86.RSP], s.regs[x86.RDI], s.regs[x86.RAX] = stack0, rdi, 0x77
	o := p.run(s)
	return o.regs[x86.RAX], o.stop
}

func (p *pager) wantRead(what string, va, want uint64) {
	p.t.Helper()
	if rax, stop := p.exec(va, 0x48, 0x8b, 0x07); rax != want || stop != "" { // mov rax, [rdi]
		p.t.Errorf("%s: read %#x %s, want %#x", what, rax, stop, want)
	}
}

func (p *pager) wantStore(what string, va uint64, want string) {
	p.t.Helper()
	if _, stop := p.exec(va, 0x48, 0x89, 0x07); stop != want { // mov [rdi], rax
		p.t.Errorf("%s: store ended with %q, want %q", what, stop, want)
	}
}

func (p *pager) invlpg(va uint64) { p.exec(va, 0x0f, 0x01, 0x3f) }
func (p *pager) reloadCR3()       { p.exec(0, 0x0f, 0x20, 0xd8, 0x0f, 0x22, 0xd8) }

func TestAccessedDirty(t *testing.T) {
	p := newPager(t)
	e := p.pte(dataVA)
	if p.p.U64(e)&(mem.A|mem.D) != 0 {
		t.Fatal("set before any access")
	}
	p.wantRead("first", dataVA, 0)
	if p.p.U64(e)&(mem.A|mem.D) != mem.A {
		t.Error("a read must set A and not D")
	}
	p.wantStore("first", dataVA, "")
	if p.p.U64(e)&(mem.A|mem.D) != mem.A|mem.D {
		t.Error("a store must set D")
	}
	p.p.PutU64(e, p.p.U64(e)&^(mem.A|mem.D))
	p.invlpg(dataVA)
	p.exec(dataVA, 0x83, 0x07, 0x01) // add dword [rdi], 1
	if p.p.U64(e)&(mem.A|mem.D) != mem.A|mem.D {
		t.Error("after invlpg a read-modify-write must set both again")
	}
}

// TestStaleTLB changes mappings: a translation may be stale until invlpg or a write to cr3, and not longer. More rights
// than were cached are seen at once, as hardware walks again before it faults.
func TestStaleTLB(t *testing.T) {
	p := newPager(t)
	p.p.PutU64(dataFrames[0]<<12, 1)
	p.p.PutU64(0x70<<12, 2)
	p.p.PutU64(0x71<<12, 3)
	e := p.pte(dataVA)
	p.wantRead("before", dataVA, 1)
	p.p.PutU64(e, 0x70<<12|mem.P|mem.RW|mem.US)
	p.wantRead("stale", dataVA, 1)
	p.invlpg(dataVA + 0x123)
	p.wantRead("after invlpg", dataVA, 2)
	p.p.PutU64(e, 0x71<<12|mem.P|mem.RW|mem.US)
	p.reloadCR3()
	p.wantRead("after cr3", dataVA, 3)

	p.wantStore("writable", dataVA+8, "")
	p.p.PutU64(e, 0x71<<12|mem.P|mem.US)
	p.wantStore("stale rights", dataVA+8, "")
	p.invlpg(dataVA)
	p.wantStore("read-only now", dataVA+8, "#PF(3,d+8)")
	p.p.PutU64(e, 0x71<<12|mem.P|mem.RW|mem.US)
	p.wantStore("writable without a flush", dataVA+8, "")
	p.p.PutU64(e, 0)
	p.invlpg(dataVA)
	p.wantStore("gone", dataVA, "#PF(2,d+0)")
	p.p.PutU64(e, 0x70<<12|mem.P)
	p.wantRead("present without a flush", dataVA, 2)
}

// TestStaleCode does the same for fetches, with blocks cached and linked.
func TestStaleCode(t *testing.T) {
	p := newPager(t)
	f1, f2 := uint64(0x70), uint64(0x71)
	p.p.WriteAt(f1<<12, []byte{0xb8, 1, 0, 0, 0, 0xc3}) // mov eax, 1; ret
	p.p.WriteAt(f2<<12, []byte{0xb8, 2, 0, 0, 0, 0xc3})
	call := func(what string, want uint64, wantStop string) {
		t.Helper()
		if rax, stop := p.exec(dataVA, 0xff, 0xd7); rax != want || stop != wantStop { // call rdi
			t.Errorf("%s: %#x %s, want %#x %s", what, rax, stop, want, wantStop)
		}
	}
	e := p.pte(dataVA)
	p.p.PutU64(e, f1<<12|mem.P|mem.RW)
	call("before", 1, "")
	call("cached", 1, "")
	p.p.PutU64(e, f2<<12|mem.P|mem.RW)
	p.invlpg(dataVA)
	call("remapped", 2, "")
	p.p.PutU64(e, f1<<12|mem.P|mem.RW)
	p.reloadCR3()
	call("back", 1, "")
	p.p.PutU64(e, f1<<12|mem.P|mem.RW|mem.NX)
	p.reloadCR3()
	call("NX", 0x77, "#PF(11,d+0)")
	p.p.PutU64(e, f1<<12|mem.P|mem.RW)
	call("executable without a flush", 1, "")
}

// TestAliasedCode stores to code through another address of the same frame: the store takes effect.
func TestAliasedCode(t *testing.T) {
	p := newPager(t)
	p.p.WriteAt(0x70<<12, []byte{0xb8, 1, 0, 0, 0, 0xc3})
	p.p.PutU64(p.pte(dataVA), 0x70<<12|mem.P|mem.RW)
	p.p.PutU64(p.pte(dataVA+0x1000), 0x70<<12|mem.P|mem.RW)
	for round := range byte(3) {
		// mov byte [rdi+0x1001], round+5; call rdi
		rax, stop := p.exec(dataVA, 0xc6, 0x87, 0x01, 0x10, 0, 0, round+5, 0xff, 0xd7)
		if rax != uint64(round+5) || stop != "" {
			t.Errorf("round %d: %#x %s", round, rax, stop)
		}
	}
}

// TestTLBPrivilege: what the supervisor has cached does not serve user mode.
func TestTLBPrivilege(t *testing.T) {
	p := newPager(t)
	p.p.PutU64(sysFrames[5]<<12, 0x1234)
	p.wantRead("supervisor", sysVA+0x5000, 0x1234)
	// Build an iretq frame to user code that reads the same address.
	s := newState()
	s.flags, s.regs[x86.RSP], s.regs[x86.RDI] = 2, stack0-40, sysVA+0x5000
	s.supers = nil
	frame := []uint64{codeVA + 2, 0x33, 0x202, dataVA + 0x3000, 0x2b}
	for i, v := range frame {
		if err := p.c.PutU64(stack0-40+uint64(8*i), v); err != nil {
			t.Fatal(err)
		}
	}
	s.code = []byte{0x48, 0xcf, 0x48, 0x8b, 0x07} // iretq; mov rax, [rdi]
	if o := p.run(s); o.stop != "#PF(5,s+5000)" || o.cpl != 3 {
		t.Errorf("user mode: %q at CPL %d", o.stop, o.cpl)
	}
}

// TestLargePageFlush: invlpg of any address in a 2 MiB page drops all of it.
func TestLargePageFlush(t *testing.T) {
	p := newPager(t)
	const va = dataVA + 2<<20
	pd := p.p.U64(p.p.U64(0x1000+uint64(va>>39&511*8))&^0xfff+va>>30&511*8) &^ 0xfff
	entry := pd + va>>21&511*8
	p.p.PutU64(entry, 0|mem.P|mem.RW|mem.PS)
	p.wantRead("low page", va+0x70000, p.p.U64(0x70000))
	p.p.PutU64(0x71000, 0x55)
	p.wantRead("next page", va+0x71000, 0x55)
	p.p.PutU64(entry, 0)
	p.wantRead("stale", va+0x71000, 0x55)
	p.invlpg(va + 0x1ff000)
	if _, stop := p.exec(va+0x71000, 0x48, 0x8b, 0x07); stop != "#PF(0,20271000)" {
		t.Errorf("after invlpg elsewhere in the page: %q", stop)
	}
}
