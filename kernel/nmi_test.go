package kernel_test

import (
	"testing"

	"kscope/kernel"
	"kscope/kernel/user"
	"kscope/kernel/x86"
)

// TestNestedNMI: a page fault within an NMI ends with an iret, which lets the next NMI in, on the stack that the first one uses. The
// first goes on undisturbed and runs once more for the second, wherever the first came: in user mode, in the kernel, in its entry
// code. (Without Linux's protocol in asm_exc_nmi the second NMI overwrites the first's frame, and the machine dies.)
func TestNestedNMI(t *testing.T) {
	for seed := range uint64(4) {
		nestNMIs(t, seed)
	}
}

func nestNMIs(t *testing.T, seed uint64) {
	m, host := withPrograms(t, kernel.Config{CPUs: 2, Seed: seed})
	defer host.Close()
	sym := func(name string) uint64 {
		va, ok := m.SymAddr(name)
		if !ok {
			t.Fatal("no ", name)
		}
		return va
	}
	const unmapped = 0xffffc90000000000
	var saved [2]*[17]uint64 // of each CPU: its registers and CR2 at exc_nmi, while the fault is made: exc_nmi itself has not kept CR2 yet
	nmi, peek := sym("exc_nmi"), sym("copy_from_kernel_nofault")
	var nested, inUser, repeated int
	hook := func(va uint64, fn func(c *kernel.VCPU)) {
		if _, err := m.Hook(va, fn); err != nil {
			t.Fatal(err)
		}
	}
	hook(nmi, func(c *kernel.VCPU) {
		if s := saved[c.ID]; s != nil { // the fault is over: go on
			for r, x := range s[:16] {
				c.CPU.SetReg(r, x)
			}
			c.CPU.SetCR2(s[16])
			saved[c.ID] = nil
			return
		}
		if cs, _ := m.U8(c.CPU.Reg(x86.RDI) + 136); cs&3 != 0 {
			inUser++
		}
		s := new([17]uint64)
		for r := range s[:16] {
			s[r] = c.CPU.Reg(r)
		}
		s[16] = c.CPU.CR2()
		saved[c.ID] = s
		sp := s[x86.RSP] - 1024
		if err := m.PutU64(sp, nmi); err != nil {
			t.Error(err)
		}
		c.CPU.SetReg(x86.RSP, sp)
		c.CPU.SetReg(x86.RDI, sp+64)
		c.CPU.SetReg(x86.RSI, unmapped)
		c.CPU.SetReg(x86.RDX, 8)
		c.CPU.SetRIP(peek)
	})
	hook(sym("fixup_exception"), func(c *kernel.VCPU) {
		if saved[c.ID] != nil && nested < 4*300 {
			nested++
			m.InjectNMI(c.ID, c.Now())
		}
	})
	hook(sym("repeat_nmi"), func(c *kernel.VCPU) { repeated++ })
	pid, err := host.Spawn(user.Program{Name: "victim", Main: func(s *user.Sys, _ []string) int {
		sum := 0
		for i := range 40 {
			child, _ := s.Fork(func(s *user.Sys) int { s.Work(3000); return i })
			s.Work(2000)
			_, status, _ := s.Wait4(child, 0)
			sum += status >> 8
		}
		return sum % 251
	}}, nil, kernel.Streams{})
	if err != nil {
		t.Fatal(err)
	}
	start := m.Now()
	for i := range uint64(300) {
		m.InjectNMI(int(i%2), start+1000+i*1597)
	}
	m.Run(kernel.Until{Insns: 30e6, Pid: pid})
	if status, ok := m.Exited(pid); !ok || status != 40*39/2%251 {
		t.Errorf("exited %v, status %d: %v\n%v", ok, status, m.Tasks(), m.Dmesg())
	}
	if len(m.Oopses()) > 0 || m.Dead() {
		t.Errorf("%v", m.Oopses())
	}
	var count uint32
	for cpu := range 2 {
		n, err := m.U32(m.PerCPU("nmi_count", cpu))
		if err != nil {
			t.Fatal(err)
		}
		count += n
	}
	if nested < 300 || repeated < 300 || inUser < 10 || count < 600 {
		t.Errorf("%d nested, %d times at repeat_nmi, %d in user mode, %d counted: the test does not test", nested, repeated, inUser, count)
	}
	t.Logf("%d nested, %d times at repeat_nmi, %d in user mode, %d counted", nested, repeated, inUser, count)
}
