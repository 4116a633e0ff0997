package kernel

import (
	"debug/elf"
	"encoding/binary"
	"slices"
	"testing"

	"kscope/kernel/mem"
	"kscope/kernel/x86"
)

// nothing is an Env for a CPU without a machine.
type nothing struct{}

func (nothing) RDMSR(*x86.CPU, uint32) (uint64, bool)                       { return 0, false }
func (nothing) WRMSR(*x86.CPU, uint32, uint64) bool                         { return false }
func (nothing) TSC(c *x86.CPU) uint64                                       { return c.Insns }
func (nothing) CodeWrite(*x86.CPU, uint64, int)                             {}
func (nothing) Gate(uint64) bool                                            { return false }
func (nothing) Shadow(uint64) bool                                          { return false }
func (nothing) EntryCounter(uint64) *uint64                                 { return nil }
func (nothing) CPUID(*x86.CPU, uint32, uint32) (a, b, c, d uint32, ok bool) { return }

// loadBare puts an ELF file at its kernel addresses into a CPU that is about to execute its entry point.
func loadBare(t *testing.T, f *elf.File) *x86.CPU {
	phys := mem.NewPhys(32 << 20)
	const pgd, pud, pmd = 0x1000, 0x2000, 0x3000 // 0xffffffff80000000 + pa, in 2 MiB pages
	phys.PutU64(pgd+511*8, pud|3)
	phys.PutU64(pud+510*8, pmd|3)
	for i := range uint64(16) {
		phys.PutU64(pmd+i*8, i<<21|0x83)
	}
	for _, s := range f.Sections {
		if s.Flags&elf.SHF_ALLOC == 0 || s.Type == elf.SHT_NOBITS || s.Addr < kernelBase {
			continue
		}
		data, err := s.Data()
		if err != nil {
			t.Fatal(err)
		}
		phys.WriteAt(s.Addr-kernelBase, data)
	}
	c := x86.New(0, phys, nothing{})
	c.SetCR3(pgd)
	c.SetRIP(f.Entry)
	c.SetReg(x86.RSP, kernelBase+31<<20)
	return c
}

// A compiled program runs one instruction at a time. A list of return addresses is kept by watching call and ret, and at
// every single instruction the unwinder must say exactly that list.
func TestUnwindEveryInstruction(t *testing.T) {
	f := compile(t)
	syms, err := NewSymbols(f)
	if err != nil {
		t.Fatal(err)
	}
	u, err := NewUnwinder(f)
	if err != nil {
		t.Fatal(err)
	}
	c := loadBare(t, f)
	var calls []uint64 // the true stack, innermost last
	interrupted := syms.MustLookup("interrupted")
	checked, signals := 0, 0
	for n := 0; ; n++ {
		pc := c.RIP()
		checkStack(t, syms, u, c, calls, interrupted)
		if t.Failed() {
			return
		}
		checked++
		var b [8]byte
		if err := c.Read(pc, b[:]); err != nil {
			t.Fatal(err)
		}
		sp := c.Reg(x86.RSP)
		if exit := c.Run(1); exit == x86.ExitHalt {
			break
		} else if exit != x86.ExitBudget {
			t.Fatalf("%v at %s", exit, syms.Format(pc))
		}
		now := c.Reg(x86.RSP)
		isCall := b[0] == 0xe8 || b[0] == 0xff && b[1]>>3&7 == 2
		switch {
		case isCall:
			var ra [8]byte
			if now != sp-8 || c.Read(now, ra[:]) != nil {
				t.Fatalf("call at %s", syms.Format(pc))
			}
			calls = append(calls, binary.LittleEndian.Uint64(ra[:]))
		case b[0] == 0xc3:
			if calls[len(calls)-1] != c.RIP() {
				t.Fatalf("ret at %s goes to %s", syms.Format(pc), syms.Format(c.RIP()))
			}
			calls = calls[:len(calls)-1]
		case c.RIP() == interrupted:
			signals++
		}
		if n > 1e6 {
			t.Fatal("does not end")
		}
	}
	if checked < 1000 || signals != 4 {
		t.Errorf("%d instructions checked, %d interrupt frames", checked, signals)
	}
}

// checkStack compares the walk with calls. Inside interrupted and what it calls, one more frame shows: the interrupted one.
func checkStack(t *testing.T, syms *Symbols, u *Unwinder, c *x86.CPU, calls []uint64, interrupted uint64) {
	var regs [nDW]uint64
	for i, r := range dwarfOrder {
		regs[i] = c.Reg(r)
	}
	regs[dwRIP] = c.RIP()
	var got []uint64
	entries := 0
	err := u.Walk(c, Start(regs), func(fr *Frame) bool {
		if fr.At != 0 && fr.Entry == nil {
			got = append(got, fr.PC)
		}
		if fr.Entry != nil {
			if fr.Entry.Full || fr.User {
				t.Errorf("at %s: %+v", syms.Format(c.RIP()), fr)
			}
			if s, _ := syms.At(fr.PC); s.Name != "call_asm" {
				t.Errorf("at %s: interrupted in %s", syms.Format(c.RIP()), s.Name)
			}
			entries++
		}
		return true
	})
	if err != nil {
		t.Errorf("at %s: %v", syms.Format(c.RIP()), err)
		return
	}
	want := slices.Clone(calls)
	slices.Reverse(want)
	if s, off := syms.At(c.RIP()); s.Addr == interrupted && len(got) == 0 && off > 8 {
		return // behind the point where the frame is gone
	}
	if !slices.Equal(got, want) || entries > 1 {
		t.Errorf("at %s:\ngot  %s\nwant %s (%d interrupt frames)", syms.Format(c.RIP()), names(syms, got), names(syms, want), entries)
	}
}

func names(syms *Symbols, list []uint64) (out []string) {
	for _, a := range list {
		out = append(out, syms.FormatReturn(a))
	}
	return out
}

// Damaged stacks and rows end a walk with an error, never with a panic or an endless loop.
func TestUnwindCorrupt(t *testing.T) {
	f := compile(t)
	syms, _ := NewSymbols(f)
	u, _ := NewUnwinder(f)
	c := loadBare(t, f)
	fib := syms.MustLookup("fib")
	stack := uint64(kernelBase + 8<<20)
	for off := uint64(0); off < 40; off++ {
		for i := range uint64(512) { // every word is a return address into fib
			if err := c.PutU64(stack+i*8, fib+20); err != nil {
				t.Fatal(err)
			}
		}
		var regs [nDW]uint64
		regs[dwRSP], regs[dwRIP] = stack, fib+off
		n := 0
		_ = u.Walk(c, Start(regs), func(*Frame) bool { n++; return true })
		if n > maxFrames {
			t.Fatalf("%d frames", n)
		}
	}
	var regs [nDW]uint64
	regs[dwRIP] = fib // and no stack at all
	if err := u.Walk(c, Start(regs), func(*Frame) bool { return true }); err == nil {
		t.Error("a walk over no stack finds no error")
	}
}

func FuzzCFI(f *testing.F) {
	f.Add([]byte{0x0c, 7, 8, 0x90, 1, 0x41, 0x0e, 16, 0x0a, 0x0b})
	f.Add([]byte{0x0f, 2, 0x77, 8})
	f.Fuzz(func(t *testing.T, prog []byte) {
		tab := &frameTable{fdes: []fde{{lo: 0x1000, hi: 0x2000, cie: &cie{codeAlign: 1, dataAlign: -8, ra: 16}, prog: prog}}}
		u := &Unwinder{table: tab, rows: map[uint64]*row{}}
		var regs [nDW]uint64
		regs[dwRIP], regs[dwRSP] = 0x1800, 0x5000
		_ = u.Walk(fakeMemory{}, Start(regs), func(*Frame) bool { return true })
	})
}

// The call trace in Linux's form, from a function that an interrupt-like frame on a second stack called: return addresses
// that the unwinder reads are plain, stale words that look like code get a "?", the interrupted registers are shown.
func TestCallTrace(t *testing.T) {
	f := compile(t)
	syms, _ := NewSymbols(f)
	u, _ := NewUnwinder(f)
	c := loadBare(t, f)
	trap := syms.MustLookup("trap")
	for c.RIP() != trap {
		if c.Run(1) != x86.ExitBudget {
			t.Fatal("trap is not reached")
		}
	}
	top := kernelBase + uint64(31<<20)
	other := syms.MustLookup("other_stack_top")
	if err := c.PutU64(c.Reg(x86.RSP)-8, 0); err != nil {
		t.Fatal(err)
	}
	r := &reporter{syms: syms, unw: u, mem: c}
	r.text = func(va uint64) bool { s, _ := syms.At(va); return s.Name != "" && s.Text() }
	r.area = func(sp uint64) (stackArea, bool) {
		switch {
		case sp >= other-4096 && sp < other:
			return stackArea{"IRQ", other - 4096, other, c.Reg(x86.RBP)}, true
		case sp >= top-4096 && sp < top:
			return stackArea{"TASK", top - 4096, top, 0}, true
		}
		return stackArea{}, false
	}
	var regs [nDW]uint64
	for i, reg := range dwarfOrder {
		regs[i] = c.Reg(reg)
	}
	regs[dwRIP] = c.RIP()
	r.trace(regs)
	var got []string
	for _, l := range r.out {
		for i := 0; i < len(l); i++ { // offsets belong to the compiler
			if l[i] == '+' {
				l = l[:i]
			}
		}
		if len(l) > 4 && l[:4] == "Code" || len(l) > 3 && l[:3] == "RSP" {
			continue
		}
		got = append(got, l)
	}
	want := []string{"Call Trace:", " <IRQ>", " interrupted", "RIP: 0010:call_asm", " </IRQ>", " <TASK>", " start_c", " start", " </TASK>"}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q\n", got, want)
	}
}
