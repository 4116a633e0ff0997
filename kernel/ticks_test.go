package kernel

import "testing"

// TestTicks: the host's clocks come on time, exactly by instructions, and the guest's future is the same with them.
func TestTicks(t *testing.T) {
	run := func(ticks bool) (hash uint64, times, insns []uint64, each [4]int) {
		m := boot(t, Config{Seed: 5})
		start, first := m.Now(), m.Insns()
		if ticks {
			m.Every(1e6, false, func(c *VCPU) { times = append(times, c.Now()-start) })
			m.Every(2e6, true, func(c *VCPU) { each[c.ID]++ })
			m.EveryInsns(1000, func(c *VCPU) { insns = append(insns, m.Insns()-first) })
		}
		if err := m.Hot(0xf, 2000); err != nil {
			t.Fatal(err)
		}
		m.Run(Until{Insns: 30000}) // ends where no clock was moved to the end's time
		hash = m.StateHash()
		m.Run(Until{Time: start + 10e6})
		return hash*31 + m.StateHash(), times, insns, each
	}
	bare, _, _, _ := run(false)
	hash, times, insns, each := run(true)
	if hash != bare {
		t.Error("the host's clocks changed the guest")
	}
	if len(times) != 10 || each != [4]int{5, 5, 5, 5} {
		t.Errorf("%d times, each CPU %v", len(times), each)
	}
	for i, at := range times {
		if due := uint64(i+1) * 1e6; at < due || at > due+maxSlice {
			t.Errorf("tick %d at %d", i, at)
		}
	}
	if len(insns) < 10 {
		t.Fatalf("%d ticks by instructions", len(insns))
	}
	for i, n := range insns {
		if n != uint64(i+1)*1000 {
			t.Fatalf("tick %d at %d instructions", i, n)
		}
	}
}

// TestTickStops: a clock may stop the machine, and be removed.
func TestTickStops(t *testing.T) {
	m := boot(t, Config{})
	remove := m.EveryInsns(500, func(c *VCPU) { m.RequestStop("enough") })
	at := m.Insns() + 500
	if err := m.Hot(1, 0); err == nil {
		t.Fatal("no stop")
	}
	if m.Insns() != at {
		t.Errorf("stopped at %d, want %d", m.Insns(), at)
	}
	remove()
	m.Every(1e6, false, func(c *VCPU) { m.RequestStop("tick") })
	if s := m.Run(Until{Time: m.Now() + 5e6}); s.Reason != StopVerdict || s.Text != "tick" {
		t.Errorf("%v", s)
	}
}
