package kernel_test

import (
	"strings"
	"testing"

	"kscope/kernel"
	"kscope/kernel/user"
)

// pingPong passes a byte to and fro between two tasks on CPUs that the scheduler chooses.
func pingPong(rounds int) func(s *user.Sys, _ []string) int {
	return func(s *user.Sys, _ []string) int {
		r1, w1, e1 := s.Pipe()
		r2, w2, e2 := s.Pipe()
		if e1 != 0 || e2 != 0 {
			return 1
		}
		pid, e := s.Fork(func(s *user.Sys) int {
			for range rounds {
				s.Read(r1, 1)
				s.Write(w2, []byte("b"))
			}
			return 0
		})
		if e != 0 {
			return 1
		}
		for range rounds {
			s.Write(w1, []byte("a"))
			s.Read(r2, 1)
		}
		s.Wait4(pid, 0)
		return 0
	}
}

// watched gives a machine with user programs, prepared before its order is watched.
func watched(t *testing.T, seed uint64, prepare func(*kernel.Machine)) (*kernel.Machine, *kernel.OrderWatch) {
	t.Helper()
	m, _ := withPrograms(t, kernel.Config{Seed: seed})
	prepare(m)
	w, err := m.WatchOrder()
	if err != nil {
		t.Fatal(err)
	}
	return m, w
}

// watchedPingPong runs pairs of tasks that wake each other on four CPUs, and returns what the watch saw in all seeds.
func watchedPingPong(t *testing.T, seeds uint64, prepare func(*kernel.Machine)) (crossed int, faults []string) {
	t.Helper()
	for seed := range seeds {
		m, w := watched(t, seed, prepare)
		host, _ := kernel.PartOf[*user.Host](m)
		var pids []int
		for range 6 {
			pid, err := host.Spawn(user.Program{Name: "pingpong", Main: pingPong(60)}, nil, kernel.Streams{})
			if err != nil {
				t.Fatal(err)
			}
			pids = append(pids, pid)
		}
		for _, pid := range pids {
			if code, err := m.Wait(pid); err != nil || code != 0 {
				t.Fatalf("seed %d: pid %d: %d, %v", seed, pid, code, err)
			}
		}
		crossed += w.Crossed
		faults = append(faults, w.Faults...)
	}
	return crossed, faults
}

// TestWakingBeforeSwitch: no task runs, in t, before the waking that made it run, on any pair of CPUs, for any seed.
func TestWakingBeforeSwitch(t *testing.T) {
	crossed, faults := watchedPingPong(t, 8, func(*kernel.Machine) {})
	for _, f := range faults {
		t.Error(f)
	}
	t.Logf("%d wakings from another CPU", crossed)
	if crossed < 100 {
		t.Error("too few tasks were woken from another CPU")
	}
}

// TestOrderWatchSees: a switch before its waking is reported.
func TestOrderWatchSees(t *testing.T) {
	_, faults := watchedPingPong(t, 1, kernel.EarlySwitch)
	if len(faults) == 0 {
		t.Error("clocks go back at each switch and the watch saw nothing")
	}
	for _, f := range faults {
		if !strings.Contains(f, "before its waking") {
			t.Error(f)
		}
	}
}

// TestOrderWatchIPI: an interrupt from the future is reported.
func TestOrderWatchIPI(t *testing.T) {
	m, w := watched(t, 0, func(*kernel.Machine) {})
	kernel.EarlyIPI(m, 1)
	m.Run(kernel.Until{Time: m.Now() + 10_000})
	if err := w.Err(); err == nil || !strings.Contains(err.Error(), "CPU 1 takes interrupt 0xf6") {
		t.Errorf("the watch says %v", err)
	}
}
