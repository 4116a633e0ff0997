package x86

import (
	"encoding/hex"
	"strings"
	"testing"

	"kscope/kernel/mem"
)

// The test machine: textVA is 2 MiB of text and dataVA 2 MiB of data, both supervisor and writable; userVA is 2 MiB for
// user mode; hole is not mapped. Page tables are at 0x1000.
const (
	textVA = 0xffffffff81000000
	dataVA = 0xffff888000000000
	userVA = 0x400000
	hole   = dataVA + 2<<20
	textPA = 0x200000
	dataPA = 0x400000
	userPA = 0x600000
)

type testEnv struct {
	shadowLo, shadowHi uint64
	gates              map[uint64]bool
	entries            map[uint64]*uint64
	writes             []uint64
	cpus               []*CPU
	msr                map[uint32]uint64
}

func (e *testEnv) RDMSR(c *CPU, n uint32) (uint64, bool)                   { v, ok := e.msr[n]; return v, ok }
func (e *testEnv) WRMSR(c *CPU, n uint32, v uint64) bool                   { e.msr[n] = v; return n>>28 == 0 }
func (e *testEnv) TSC(c *CPU) uint64                                       { return c.Insns }
func (e *testEnv) Gate(va uint64) bool                                     { return e.gates[va] }
func (e *testEnv) Shadow(va uint64) bool                                   { return va >= e.shadowLo && va < e.shadowHi }
func (e *testEnv) EntryCounter(va uint64) *uint64                          { return e.entries[va] }
func (e *testEnv) HostCode() int                                           { return 1 }
func (e *testEnv) CPUID(*CPU, uint32, uint32) (a, b, c, d uint32, ok bool) { return }
func (e *testEnv) CodeWrite(c *CPU, pa uint64, n int) {
	e.writes = append(e.writes, pa)
	for _, o := range e.cpus {
		if o != c {
			o.HoldWindow()
		}
	}
}

func newTestPhys() *mem.Phys {
	p := mem.NewPhys(8 << 20)
	const pml4, pdptU, pdptD, pdptT, pdU, pdD, pdT = 0x1000, 0x2000, 0x3000, 0x4000, 0x5000, 0x6000, 0x7000
	set := func(table, va uint64, shift int, e uint64) { p.PutU64(table+va>>shift&511*8, e) }
	for _, m := range []struct{ va, pa, pdpt, pd, user, global uint64 }{
		{userVA, userPA, pdptU, pdU, mem.US, 0}, {dataVA, dataPA, pdptD, pdD, 0, mem.G}, {textVA, textPA, pdptT, pdT, 0, mem.G},
	} {
		set(pml4, m.va, 39, m.pdpt|mem.P|mem.RW|m.user)
		set(m.pdpt, m.va, 30, m.pd|mem.P|mem.RW|m.user)
		set(m.pd, m.va, 21, m.pa|mem.P|mem.RW|m.user|mem.PS|m.global)
	}
	return p
}

// newTestCPUs makes n CPUs on one memory, with code at textVA and stacks at the end of the data.
func newTestCPUs(n int, code []byte) []*CPU {
	p := newTestPhys()
	p.WriteAt(textPA, code)
	e := &testEnv{gates: map[uint64]bool{}, entries: map[uint64]*uint64{}, msr: map[uint32]uint64{}}
	for i := range n {
		c := New(i, p, e)
		c.SetCR3(0x1000)
		c.SetRIP(textVA)
		c.SetReg(RSP, dataVA+2<<20-uint64(i+1)*0x1000)
		e.cpus = append(e.cpus, c)
	}
	return e.cpus
}

func (c *CPU) testEnv() *testEnv { return c.env.(*testEnv) }

func unhex(t testing.TB, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(strings.ReplaceAll(s, " ", ""))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestRunBasics(t *testing.T) {
	// mov eax,5; mov ecx,3; l: add rax,rcx; dec ecx; jne l; hlt
	c := newTestCPUs(1, unhex(t, "b805000000 b903000000 4801c8 ffc9 75f9 f4"))[0]
	if e := c.Run(1000); e != ExitHalt || c.Reg(RAX) != 11 || c.Insns != 12 {
		t.Errorf("exit %v, rax %d, insns %d, rip %#x, exc %+v", e, c.Reg(RAX), c.Insns, c.RIP(), c.Exc)
	}
}

// TestBudget runs a program in slices of every size: counts, registers and the places of the stops must agree.
func TestBudget(t *testing.T) {
	code := unhex(t, "b805000000 b903000000 4801c8 ffc9 75f9 6a07 58 4839c8 740a 9090 e800000000 58 90 f4")
	type state struct {
		rip, rax, flags uint64
	}
	var want []state
	one := newTestCPUs(1, code)[0]
	for {
		want = append(want, state{one.RIP(), one.Reg(RAX), one.Flags()})
		if e := one.Run(1); e == ExitHalt {
			break
		} else if e != ExitBudget {
			t.Fatal(e, one.Exc)
		}
	}
	for n := int64(2); n < 40; n++ {
		c := newTestCPUs(1, code)[0]
		for {
			if got := (state{c.RIP(), c.Reg(RAX), c.Flags()}); c.Insns < uint64(len(want)) && got != want[c.Insns] {
				t.Fatalf("slices of %d: after %d instructions %x, want %x", n, c.Insns, got, want[c.Insns])
			}
			if c.Run(n) == ExitHalt {
				break
			}
		}
		if c.Insns != uint64(len(want)) {
			t.Errorf("slices of %d: %d instructions, want %d", n, c.Insns, len(want))
		}
	}
}
