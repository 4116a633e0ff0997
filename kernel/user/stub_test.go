package user

import (
	"bytes"
	"debug/elf"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"kscope/kernel/guest"
	"kscope/kernel/mem"
	"kscope/kernel/x86"
)

// The stub's real machine code on an emulated CPU at CPL 3: each system call stops at LSTAR, where fakeOS answers, and goes
// back by sysretq. Pages of the scratch area appear when they are touched.
func TestStub(t *testing.T) {
	raw := guest.Stub()
	if f, err := elf.NewFile(bytes.NewReader(raw)); err != nil || len(f.Progs) < 2 {
		raw = buildStub(t)
	}
	st, err := loadStub(raw)
	if err != nil {
		t.Fatal(err)
	}
	m := newStubMachine(t, raw)
	// mov $15,%eax; syscall, where the kernel is told that handlers return to
	if code := make([]byte, 7); m.cpu.Read(st.restorer, code) != nil || string(code) != "\xb8\x0f\x00\x00\x00\x0f\x05" {
		t.Errorf("at the restorer stands % x", code)
	}
	o := newFakeOS("")
	task := o.task()
	task.m = m
	var trail []string
	p := &Proc{Pid: 100, Name: "p", stub: st, origin: origin{main: func(s *Sys, _ []string) int {
		fd, e := s.Open("/etc/hostname", 0, 0)
		trail = append(trail, e.Error())
		b, _ := s.Alloc(20_000) // five pages
		n, _ := s.ReadInto(fd, b)
		s.WriteFrom(1, b, n)
		s.Write(1, bytes.Repeat([]byte("x"), 9000)) // three pages at once
		return 3
	}}}
	for !task.done {
		switch exit := m.cpu.Run(1 << 20); exit {
		case x86.ExitHypercall:
			if fresh := m.cpu.RIP() == st.fresh; fresh != (p.phase == phaseFresh) {
				t.Fatalf("vmcall at %#x in phase %d", m.cpu.RIP(), p.phase)
			}
			p.step(m.cpu)
		case x86.ExitGate: // LSTAR
			for i := range task.regs {
				task.regs[i] = m.cpu.Reg(i)
			}
			m.cpu.SetReg(x86.RAX, uint64(task.syscall(p)))
			m.cpu.SetRIP(sysretVA)
		case x86.ExitException:
			if m.cpu.Exc.Vec != x86.VecPF {
				t.Fatalf("exception %+v at %#x", m.cpu.Exc, m.cpu.RIP())
			}
			m.touches++
			m.mapPage(m.cpu.Exc.CR2&^4095, mem.P|mem.RW|mem.US)
		default:
			t.Fatal(exit)
		}
	}
	p.end()
	if o.status != 3 || o.out[1].Len() != 9007 || o.out[1].String()[:7] != "kscope\n" {
		t.Errorf("status %d, %d bytes %.20q, %q", o.status, o.out[1].Len(), o.out[1].String(), trail)
	}
	if m.touches != 3 { // the path's page; two more for the 9000 bytes; the kernel's own writes make the rest
		t.Errorf("%d page faults", m.touches)
	}
}

// buildStub compiles the stub while no image with it is embedded.
func buildStub(t *testing.T) []byte {
	out := filepath.Join(t.TempDir(), "stub")
	cmd := exec.Command("gcc", "-nostdlib", "-static", "-Wl,-T,stub.lds", "-Wl,-z,noexecstack", "-Wl,--build-id=none", "-o", out, "user/stub.S")
	cmd.Dir = "../guest"
	if msg, err := cmd.CombinedOutput(); err != nil {
		t.Skipf("no stub, and gcc says: %v %s", err, msg)
	}
	raw, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

const (
	gateVA   = 0xffffffff81000000
	sysretVA = gateVA + 16
)

// stubMachine is a CPU with page tables, in the place of a kernel.
type stubMachine struct {
	phys    *mem.Phys
	cpu     *x86.CPU
	free    uint64
	touches int
}

const stubCR3 = 0x1000

func newStubMachine(t *testing.T, raw []byte) *stubMachine {
	m := &stubMachine{phys: mem.NewPhys(8 << 20), free: 0x10000}
	m.cpu = x86.New(0, m.phys, m)
	m.cpu.SetCR3(stubCR3)
	f, err := elf.NewFile(bytes.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range f.Progs {
		if p.Type != elf.PT_LOAD || p.Flags&elf.PF_W != 0 {
			continue
		}
		data := make([]byte, p.Filesz)
		if _, err := p.ReadAt(data, 0); err != nil {
			t.Fatal(err)
		}
		pa := m.mapPage(p.Vaddr&^4095, mem.P|mem.US)
		m.phys.WriteAt(pa+p.Vaddr&4095, data)
	}
	pa := m.mapPage(gateVA, mem.P)
	m.phys.WriteAt(pa+16, []byte{0x48, 0x0f, 0x07}) // sysretq
	m.phys.WriteAt(pa+32, []byte{0x0f, 0x30})       // wrmsr
	for msr, v := range map[uint64]uint64{0xc0000081: 0x0023_0010 << 32, 0xc0000082: gateVA, 0xc0000084: 0x47700} {
		m.cpu.SetReg(x86.RCX, msr)
		m.cpu.SetReg(x86.RAX, v&0xffffffff)
		m.cpu.SetReg(x86.RDX, v>>32)
		m.cpu.SetRIP(gateVA + 32)
		if exit := m.cpu.Run(1); exit != x86.ExitBudget {
			t.Fatal(exit, m.cpu.Exc)
		}
	}
	// To user mode by the same sysretq: rip from rcx, flags from r11.
	m.cpu.SetReg(x86.RCX, f.Entry)
	m.cpu.SetReg(x86.R11, 2)
	m.cpu.SetRIP(sysretVA)
	return m
}

// mapPage maps a fresh frame at va and returns its address.
func (m *stubMachine) mapPage(va, flags uint64) uint64 {
	table := uint64(stubCR3)
	for shift := 39; shift > 12; shift -= 9 {
		at := table + va>>shift&511*8
		if m.phys.U64(at) == 0 {
			m.phys.PutU64(at, m.free|uint64(mem.P|mem.RW|mem.US))
			m.free += 4096
		}
		table = m.phys.U64(at) &^ 4095
	}
	pa := m.free
	m.free += 4096
	m.phys.PutU64(table+va>>12&511*8, pa|flags)
	m.cpu.FlushTLB()
	return pa
}

func (m *stubMachine) RDMSR(c *x86.CPU, n uint32) (uint64, bool)                   { return 0, false }
func (m *stubMachine) WRMSR(*x86.CPU, uint32, uint64) bool                         { return false }
func (m *stubMachine) TSC(c *x86.CPU) uint64                                       { return c.Insns }
func (m *stubMachine) CodeWrite(*x86.CPU, uint64, int)                             {}
func (m *stubMachine) Gate(va uint64) bool                                         { return va == gateVA }
func (m *stubMachine) Shadow(uint64) bool                                          { return false }
func (m *stubMachine) EntryCounter(uint64) *uint64                                 { return nil }
func (m *stubMachine) CPUID(*x86.CPU, uint32, uint32) (a, b, c, d uint32, ok bool) { return }
