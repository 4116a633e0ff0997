package kernel_test

import (
	"encoding/binary"
	"testing"

	"kscope/kernel"
	"kscope/kernel/user"
)

// hook makes the call site at the entry of the guest function fn call a gate before its body.
func hook(t *testing.T, m *kernel.Machine, fn string, gate string) {
	site, ok := m.SymAddr(fn)
	if !ok {
		t.Skip("image has no " + fn)
	}
	to, _ := m.SymAddr(gate)
	va, err := m.ShadowAlloc(6, "hook")
	if err != nil {
		t.Fatal(err)
	}
	call := func(at, to uint64) []byte {
		return binary.LittleEndian.AppendUint32([]byte{0xe8}, uint32(to-at-5))
	}
	m.ShadowWrite(va, append(call(va, to), 0xc3))
	if err := m.Text().Early(site, call(site, va)); err != nil {
		t.Fatal(err)
	}
}

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

// TestWakingBeforeSwitch: no task runs, in t, before the waking that made it run, on any pair of CPUs, for any seed.
func TestWakingBeforeSwitch(t *testing.T) {
	var snaps kernel.Snapshots
	type moment struct {
		t   uint64
		cpu int
	}
	wakes, crossed := 0, 0
	for seed := range uint64(8) {
		m, err := snaps.Machine(kernel.Config{Initrd: user.Initrd(), Seed: seed}, func(m *kernel.Machine) error {
			kernel.Bare(m)
			_, err := user.New(m)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		waking := map[int]moment{} // by pid: the first waking since it last ran
		m.RegisterGate("ftrace_graph_func", func(c *kernel.VCPU) uint64 {
			state, _ := m.U32(c.Arg(0) + uint64(m.Types().Struct("task_struct").Field("__state").Offset))
			pid := m.TaskAt(c.Arg(0)).Pid
			if _, ok := waking[pid]; !ok && state != 0 {
				waking[pid] = moment{c.Now(), c.ID}
			}
			return 0
		})
		m.RegisterGate("prepare_ftrace_return", func(c *kernel.VCPU) uint64 {
			pid := c.CurrentPid()
			if w, ok := waking[pid]; ok {
				wakes++
				if w.cpu != c.ID {
					crossed++
				}
				if c.Now() < w.t {
					t.Errorf("seed %d: pid %d runs on CPU %d at %d, before its waking on CPU %d at %d", seed, pid, c.ID, c.Now(), w.cpu, w.t)
				}
				delete(waking, pid)
			}
			return 0
		})
		hook(t, m, "try_to_wake_up", "ftrace_graph_func")
		hook(t, m, "finish_task_switch", "prepare_ftrace_return")
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
	}
	t.Logf("%d wakings, %d of them from another CPU", wakes, crossed)
	if crossed < 100 {
		t.Error("too few tasks were woken from another CPU")
	}
}
