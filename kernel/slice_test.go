package kernel_test

import (
	"fmt"
	"testing"

	"kscope/kernel"
	"kscope/kernel/user"
	"kscope/kernel/x86"
)

// TestChain: slices of a CPU that follow each other without a look at the machine give the run that single ones give, which a slice
// hook demands: the same state, instructions and draws of the seed, whatever stops it. So do many stops in between, and hooks. In some
// machines what the kernel's stacks are written costs time, so that t moves within exceptions.
func TestChain(t *testing.T) {
	for cpus, seeds := range map[int]uint64{1: 4, 2: 4, 4: 24} {
		for seed := range seeds {
			how := [...]string{"single slices", "stops in between", "single slices", "hooks"}[seed%4]
			got, want := chainTrail(t, cpus, seed, ""), chainTrail(t, cpus, seed, how)
			for i := range want {
				if got[i] != want[i] {
					t.Fatalf("%d CPUs, seed %d, stop %d: %s\nwith %s: %s", cpus, seed, i, got[i], how, want[i])
				}
			}
		}
	}
}

// chainTrail is what a machine with a storm has done at some stops.
func chainTrail(t *testing.T, cpus int, seed uint64, how string) (trail []string) {
	m, host := withPrograms(t, kernel.Config{Seed: seed, CPUs: cpus})
	defer host.Close()
	switch how {
	case "single slices":
		m.SetSliceHook(func(*kernel.VCPU) {})
	case "hooks":
		for _, name := range []string{"do_syscall_64", "__schedule", "handle_mm_fault", "finish_task_switch", "asm_exc_page_fault", "kscope_hot", "try_to_wake_up"} {
			if va, ok := m.SymAddr(name); !ok {
				t.Errorf("no symbol %s", name)
			} else if _, err := m.Hook(va, func(*kernel.VCPU) {}); err != nil {
				t.Error(err)
			}
		}
	}
	st := newStorm(seed, 0)
	pid, err := host.Spawn(user.Program{Name: "storm", Main: func(s *user.Sys, _ []string) int { return st.run(s) }}, nil, kernel.Streams{})
	if err != nil {
		t.Fatal(err)
	}
	for k := range uint64(20) { // stops by instructions, by time, and at the end
		u := kernel.Until{Insns: 1 + (seed+k)*7919%30_000, Pid: pid}
		switch {
		case k == 19:
			u = kernel.Until{Pid: pid}
		case k%2 == 1:
			u = kernel.Until{Time: m.Now() + (seed+k)*104_729%50_000, Pid: pid}
		}
		if how == "stops in between" {
			stopOften(m, &u, k)
		}
		stop := m.Run(u)
		trail = append(trail, fmt.Sprintf("%v on CPU %d at %#x, t %d, %d instructions, next draw %x",
			stop, stop.CPU, stop.PC, stop.Time, m.Insns(), kernel.NextDraw(m)))
		if k%4 == 0 && seed%3 == 0 {
			kernel.MarkStacks(m)
		}
	}
	return append(trail, fmt.Sprintf("state %x", m.StateHash()))
}

// stopOften runs part of u in pieces of k and more instructions.
func stopOften(m *kernel.Machine, u *kernel.Until, k uint64) {
	for n := k + 1; n < 60+k; n++ {
		piece := *u
		if u.Insns != 0 {
			if u.Insns <= n {
				return
			}
			u.Insns -= n
		}
		piece.Insns = n
		if stop := m.Run(piece); stop.Reason != kernel.StopDone || m.Insns() == 0 {
			return
		}
	}
}

// TestChainFaults: a fault at the very end of a slice belongs to the next one, also where its frame makes t move: it lies on a page
// that counts as code here.
func TestChainFaults(t *testing.T) {
	run := func(single bool) string {
		m, host := withPrograms(t, kernel.Config{Seed: 5, CPUs: 1})
		defer host.Close()
		if single {
			m.SetSliceHook(func(*kernel.VCPU) {})
		}
		entry, _ := m.SymAddr("asm_exc_page_fault")
		at := uint64(0)
		remove, err := m.Hook(entry, func(v *kernel.VCPU) {
			if cr2 := v.CPU.CR2(); cr2 == 8 {
				at, _ = m.U64(v.CPU.Reg(x86.RSP) + 8)
			}
		})
		if err != nil {
			t.Fatal(err)
		}
		var faults *int
		pid, err := host.Spawn(user.Program{Name: "faults", Main: func(s *user.Sys, _ []string) int {
			for range 1500 {
				s.Call(nrGettime, 0, 8)
			}
			return 0
		}}, nil, kernel.Streams{})
		if err != nil {
			t.Fatal(err)
		}
		for n := 0; at == 0 && n < 1000; n++ {
			m.Run(kernel.Until{Insns: 1000, Pid: pid})
		}
		remove()
		if faults, err = kernel.CostlyFrames(m, at, entry); err != nil {
			t.Fatal(err)
		}
		m.Run(kernel.Until{Pid: pid})
		if *faults < 1000 {
			t.Errorf("%d faults", *faults)
		}
		return fmt.Sprintf("t %d, %d instructions, next draw %x, state %x", m.Now(), m.Insns(), kernel.NextDraw(m), m.StateHash())
	}
	if got, want := run(false), run(true); got != want {
		t.Errorf("%s\nwith single slices: %s", got, want)
	}
}
