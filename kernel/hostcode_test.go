package kernel_test

import (
	"fmt"
	"testing"

	"kscope/kernel"
	"kscope/kernel/user"
)

// trail is what a machine does under a storm of processes: the rolling hash of (CPU, t, rip) at each slice's end, the state at the
// end, and the counts of entries and instructions.
func trail(t *testing.T, cfg kernel.Config) string {
	m, host := withPrograms(t, cfg)
	defer host.Close()
	h, slices := uint64(14695981039346656037), 0
	m.SetSliceHook(func(v *kernel.VCPU) {
		slices++
		for _, x := range []uint64{uint64(v.ID), v.Now(), v.CPU.RIP(), v.CPU.Flags(), v.CPU.Insns} {
			h = (h ^ x) * 1099511628211
		}
	})
	for k := range uint64(4) {
		st := newStorm(cfg.Seed*4+k, 0)
		prog := user.Program{Name: "storm", Main: func(s *user.Sys, _ []string) int { return st.run(s) }}
		pid, err := host.Spawn(prog, nil, kernel.Streams{})
		if err != nil {
			t.Fatal(err)
		}
		if stop := m.Run(kernel.Until{Time: m.Now() + 60e9, Insns: 100e6, Pid: pid}); len(m.Oopses()) > 0 {
			t.Fatal(stop, m.Oopses()[0].Text())
		}
	}
	return fmt.Sprintf("%d slices %x, state %x, %d instructions", slices, h, m.StateHash(), m.Insns())
}

// TestHostCode: a machine whose code is translated to the host's does what an interpreted one does, to the last slice.
func TestHostCode(t *testing.T) {
	for _, cpus := range []int{1, 4} {
		for seed := range uint64(3) {
			cfg := kernel.Config{Seed: seed, CPUs: cpus}
			got := trail(t, cfg)
			cfg.Interpret = true
			if want := trail(t, cfg); got != want {
				t.Errorf("%d CPUs, seed %d: %s; interpreted %s", cpus, seed, got, want)
			}
		}
	}
}
