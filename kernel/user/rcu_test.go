package user

import (
	"encoding/binary"
	"maps"
	"testing"

	"kscope/kernel"
)

// grace watches every grace period of a machine: no callback may run while a read side is open that was open when it was queued.
type grace struct {
	open             map[uint64]int // task -> its open read side's number
	depth            map[uint64]int
	sides            int
	queued           map[uint64]map[uint64]int // rcu_head -> the read sides that it has to wait for
	run, late, waits int                       // callbacks: all, those before their time, those that had somebody to wait for
	switched         int                       // read sides that were switched away: the kernel is preempted at might_sleep() alone, which no reader calls
}

func (g *grace) hook(t *testing.T, m *kernel.Machine, name string, fn func(v *kernel.VCPU)) {
	at, ok := m.SymAddr(name)
	if !ok {
		t.Fatal("no ", name)
	}
	if _, err := m.Hook(at, fn); err != nil {
		t.Fatal(err)
	}
}

func watchGrace(t *testing.T, m *kernel.Machine) *grace {
	g := &grace{open: map[uint64]int{}, depth: map[uint64]int{}, queued: map[uint64]map[uint64]int{}}
	callback := map[uint64]bool{}
	g.hook(t, m, "__rcu_read_lock", func(v *kernel.VCPU) {
		task := v.CurrentAddr()
		if g.depth[task]++; g.depth[task] == 1 {
			g.sides++
			g.open[task] = g.sides
			if g.sides%40 == 0 {
				v.ChargeWork(10_000_000) // two ticks and more: the other CPU goes on meanwhile
			}
		}
	})
	g.hook(t, m, "__rcu_read_unlock", func(v *kernel.VCPU) {
		task := v.CurrentAddr()
		if g.depth[task]--; g.depth[task] <= 0 {
			delete(g.open, task)
			delete(g.depth, task)
		}
	})
	g.hook(t, m, "rcu_note_context_switch", func(v *kernel.VCPU) {
		if g.depth[v.CurrentAddr()] > 0 {
			g.switched++
		}
	})
	g.hook(t, m, "call_rcu", func(v *kernel.VCPU) {
		g.queued[v.Arg(0)] = maps.Clone(g.open)
		fn := v.Arg(1)
		if callback[fn] {
			return
		}
		callback[fn] = true
		_, err := m.Hook(fn, func(v *kernel.VCPU) {
			head := v.Arg(0)
			before, ok := g.queued[head]
			if !ok {
				return // called by another
			}
			delete(g.queued, head)
			g.run++
			for task, side := range before {
				if g.open[task] == side {
					g.late++
				}
			}
			if len(before) > 0 {
				g.waits++
			}
		})
		if err != nil {
			t.Error(err)
		}
	})
	return g
}

// TestGracePeriods: real-time tasks interrupt readers, some of which take longer than a tick, and no callback runs before the readers
// that it was queued under are done.
func TestGracePeriods(t *testing.T) {
	run, waits := 0, 0
	for seed := range uint64(3) {
		m, h := boot(t, kernel.Config{CPUs: 2, Seed: seed})
		g := watchGrace(t, m)
		walk := Program{Name: "walk", Main: func(s *Sys, _ []string) int {
			for i := range 400 {
				if i%8 == 0 {
					s.Fork(func(c *Sys) int { return 0 })
					s.Wait4(-1, 0)
				}
				s.do1("access", "/usr/bin/../lib/modules/../../bin/cat", 0)
			}
			return 0
		}}
		hog := Program{Name: "hog", Main: func(s *Sys, _ []string) int {
			s.do1("sched_setscheduler", 0, 1, binary.LittleEndian.AppendUint32(nil, 50))
			for range 800 {
				s.Nanosleep(1e3)
			}
			return 0
		}}
		var pids []int
		for _, p := range []Program{walk, walk, walk, hog, hog} {
			pid, err := h.Spawn(p, nil, kernel.Streams{})
			if err != nil {
				t.Fatal(err)
			}
			pids = append(pids, pid)
		}
		for _, pid := range pids {
			if code, err := m.Wait(pid); code != 0 || err != nil {
				t.Fatal(code, err)
			}
		}
		m.Run(kernel.Until{Time: m.Now() + 50e6})
		if g.late > 0 {
			t.Errorf("seed %d: %d of %d callbacks ran while a read side was open that they had to wait for", seed, g.late, g.run)
		}
		if g.switched > 0 {
			t.Errorf("seed %d: %d readers were switched away", seed, g.switched)
		}
		run, waits = run+g.run, waits+g.waits
	}
	if run < 300 || waits < 100 {
		t.Errorf("%d callbacks, %d of them queued while somebody read: that shows nothing", run, waits)
	}
}
