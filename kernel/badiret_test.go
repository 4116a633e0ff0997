package kernel_test

import (
	"testing"

	"kscope/kernel"
	"kscope/kernel/user"
	"kscope/kernel/x86"
)

// TestBadIret: an iret to user state that cannot be faults within the kernel; it kills the task and nothing else.
func TestBadIret(t *testing.T) {
	for _, row := range []struct {
		name string
		word uint64 // of the iret frame: 0 rip, 1 cs, 4 ss
		bad  uint64
	}{{"rip", 0, 1 << 63}, {"cs", 1, 0x1233}, {"ss", 4, 0x1233}, {"ss of code", 4, 0x33}} {
		m, host := withPrograms(t, kernel.Config{CPUs: 2, Seed: 1})
		defer host.Close()
		pid, err := host.Spawn(user.Program{Name: "victim", Main: func(s *user.Sys, _ []string) int {
			for {
				s.Work(1000)
			}
		}}, nil, kernel.Streams{})
		if err != nil {
			t.Fatal(err)
		}
		iret, ok := m.SymAddr("native_irq_return_iret")
		if !ok {
			t.Fatal("the image has no native_irq_return_iret")
		}
		hits := 0
		if _, err := m.Hook(iret, func(c *kernel.VCPU) {
			if c.CurrentPid() == pid {
				if hits++; hits == 3 {
					if err := m.PutU64(c.CPU.Reg(x86.RSP)+8*row.word, row.bad); err != nil {
						t.Error(err)
					}
				}
			}
		}); err != nil {
			t.Fatal(err)
		}
		m.Run(kernel.Until{Insns: 30e6, Pid: pid})
		status, ok := m.Exited(pid)
		if !ok {
			t.Fatalf("%s: %d returns by iret, and the task lives on: %v", row.name, hits, m.Tasks())
		}
		if status != 128+11 || hits != 3 || len(m.Oopses()) > 0 {
			t.Errorf("%s: status %d, %d returns; %v", row.name, status, hits, m.Oopses())
		}
		after, err := host.Spawn(user.Program{Name: "other", Main: func(s *user.Sys, _ []string) int { return s.Getpid() & 1 }}, nil, kernel.Streams{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := m.Wait(after); err != nil {
			t.Errorf("%s: %v", row.name, err)
		}
	}
}
