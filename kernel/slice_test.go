package kernel_test

import (
	"fmt"
	"testing"

	"kscope/kernel"
	"kscope/kernel/user"
)

// TestChain: slices of a CPU that follow each other without a look at the machine give the run that single ones give, which a slice
// hook demands: the same state, instructions and draws of the seed, whatever stops it.
func TestChain(t *testing.T) {
	run := func(cpus int, seed uint64, single bool) (trail []string) {
		m, host := withPrograms(t, kernel.Config{Seed: seed, CPUs: cpus})
		defer host.Close()
		if single {
			m.SetSliceHook(func(*kernel.VCPU) {})
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
			stop := m.Run(u)
			trail = append(trail, fmt.Sprintf("%v on CPU %d at %#x, t %d, %d instructions, next draw %x",
				stop, stop.CPU, stop.PC, stop.Time, m.Insns(), kernel.NextDraw(m)))
		}
		trail = append(trail, fmt.Sprintf("state %x", m.StateHash()))
		return trail
	}
	for cpus, seeds := range map[int]uint64{1: 4, 2: 4, 4: 30} {
		for seed := range seeds {
			got, want := run(cpus, seed, false), run(cpus, seed, true)
			for i := range want {
				if got[i] != want[i] {
					t.Fatalf("%d CPUs, seed %d, stop %d: %s\nwith single slices: %s", cpus, seed, i, got[i], want[i])
				}
			}
		}
	}
}
