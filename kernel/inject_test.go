package kernel

import (
	"testing"

	"kscope/kernel/x86"
)

// rolling follows where every slice of a machine ends.
func rolling(m *Machine) *uint64 {
	h := uint64(14695981039346656037)
	m.SetSliceHook(func(v *VCPU) {
		for _, x := range []uint64{uint64(v.ID), v.Now(), v.CPU.RIP()} {
			h = (h ^ x) * 1099511628211
		}
	})
	return &h
}

// TestStep: a machine that is stepped ends where it would have ended, and each step is exact.
func TestStep(t *testing.T) {
	base, _ := hotMachine(t)
	plain, stepped := base.Copy(), base.Copy()
	h1, h2 := rolling(plain), rolling(stepped)
	if stop, err := stepped.Step(0, 1); err != nil || stop.Reason != StopIdle {
		t.Errorf("an idle CPU: %v, %v", stop, err)
	}
	for n, cpu := uint64(1), 1; n < 4000; n, cpu = n+n/3+1, cpu%3+1 {
		before := stepped.VCPU(cpu).CPU.Insns
		stop, err := stepped.Step(cpu, n)
		if err != nil || stop.Reason != StopDone || stop.CPU != cpu || stop.PC != stepped.VCPU(cpu).CPU.RIP() {
			t.Fatalf("%+v, %v", stop, err)
		}
		if got := stepped.VCPU(cpu).CPU.Insns - before; got != n {
			t.Errorf("%d instructions instead of %d", got, n)
		}
	}
	end := stepped.Now() + 100_000
	plain.Run(Until{Time: end})
	stepped.Run(Until{Time: end})
	if *h1 != *h2 || plain.StateHash() != stepped.StateHash() {
		t.Error("steps change the run")
	}
	if _, err := stepped.Step(4, 1); err == nil {
		t.Error("stepped a CPU that is not there")
	}
}

// interrupted hooks the entry of an interrupt and returns the addresses at which it was taken, by CPU.
func interrupted(t *testing.T, m *Machine, entry string) map[int][]uint64 {
	t.Helper()
	at, ok := m.SymAddr(entry)
	if !ok {
		t.Fatalf("the image has no %s", entry)
	}
	taken := map[int][]uint64{}
	if _, err := m.Hook(at, func(c *VCPU) {
		rip, _ := m.U64(c.CPU.Reg(x86.RSP))
		taken[c.ID] = append(taken[c.ID], rip)
	}); err != nil {
		t.Fatal(err)
	}
	return taken
}

// TestInjectAt: an NMI and an interrupt before a chosen instruction, on the CPU that executes it and on another; forks carry
// what is pending, and StateHash knows.
func TestInjectAt(t *testing.T) {
	base, site := hotMachine(t)
	for _, row := range []Injection{
		{Addr: site + 5, Nth: 3, On: 2, CPU: -1, NMI: true},
		{Addr: site + 5, Nth: 3, On: -1, CPU: -1, NMI: true},
		{Addr: site + 5, On: 1, CPU: 2, NMI: true, Delay: 700},
		{After: 1234, On: 3, CPU: -1, NMI: true},
		{Addr: site, Nth: 7, On: 3, CPU: -1, Vec: 0xfd},
	} {
		m := base.Copy()
		if _, err := m.InjectAt(row); err != nil {
			t.Fatal(err)
		}
		if m.StateHash() == base.StateHash() || len(m.Injections()) != 1 {
			t.Errorf("%+v: not part of the state", row)
		}
		n := m.Copy()
		var after [2]uint64
		for k, m := range []*Machine{m, n} {
			entry := "asm_exc_nmi"
			if !row.NMI {
				entry = "asm_sysvec_reschedule_ipi"
			}
			insns := m.VCPU(3).CPU.Insns
			taken := interrupted(t, m, entry)
			if row.After != 0 {
				m.Hook(mustSym(t, m, entry), func(c *VCPU) {
					if got := c.CPU.Insns - insns; got != row.After {
						t.Errorf("after %d instructions instead of %d", got, row.After)
					}
				})
			}
			m.Run(Until{Time: m.Now() + 30_000})
			on := row.On
			if row.CPU >= 0 {
				on = row.CPU
			}
			all := 0
			for cpu, at := range taken {
				all += len(at)
				if on >= 0 && cpu != on || row.CPU < 0 && row.Addr != 0 && at[0] != row.Addr {
					t.Errorf("%+v: CPU %d was interrupted at %#x", row, cpu, at)
				}
			}
			if all != 1 || len(m.Injections()) != 0 {
				t.Errorf("%+v: interrupts %v", row, taken)
			}
			after[k] = m.StateHash()
		}
		if after[0] != after[1] {
			t.Errorf("%+v: the fork goes on in another way", row)
		}
	}
}

func mustSym(t *testing.T, m *Machine, name string) uint64 {
	va, ok := m.SymAddr(name)
	if !ok {
		t.Fatalf("the image has no %s", name)
	}
	return va
}

// TestInjectErrors: what cannot be is refused, and what was asked for can be taken back.
func TestInjectErrors(t *testing.T) {
	m, site := hotMachine(t)
	for _, bad := range []Injection{{Addr: site, Vec: 14}, {Addr: site, On: 9, NMI: true}, {Addr: 0x1000, NMI: true}, {On: -1, NMI: true}, {Addr: site, CPU: 4, NMI: true}} {
		if id, err := m.InjectAt(bad); err == nil {
			t.Errorf("%+v: id %d", bad, id)
		}
	}
	if _, err := m.DelayIPI(IPIDelay{From: -2}); err == nil {
		t.Error("a delay from CPU -2")
	}
	before := m.StateHash()
	a, _ := m.InjectAt(Injection{Addr: site, NMI: true})
	b, _ := m.InjectAt(Injection{After: 10, NMI: true})
	d, _ := m.DelayIPI(IPIDelay{From: -1, To: -1, Vec: -1, Extra: 1})
	if !m.CancelRule(b) || !m.CancelRule(a) || !m.CancelRule(d) || m.CancelRule(a) || m.StateHash() != before {
		t.Error("not taken back")
	}
}

// TestLateSync: the IPI of a patch's first sync reaches CPU 2 late, and an NMI hits CPU 3 in the window: CPU 2 acknowledges that
// much later, the writer waits, and the protocol holds.
func TestLateSync(t *testing.T) {
	m, site := hotMachine(t)
	taken := interrupted(t, m, "asm_exc_nmi")
	remove := m.OnPatchStep(func(c *VCPU, p *Patch, s *PatchStep) {
		if s.Kind == "int3" {
			if _, err := m.DelayIPI(IPIDelay{From: c.ID, To: 2, Vec: -1, Count: 1, Extra: 40_000}); err != nil {
				t.Error(err)
			}
			m.InjectNMI(3, c.Now()+10)
		}
	})
	old := m.text.read(site, 5)
	if err := m.Do("poke", func(*VCPU) error {
		return m.text.Queue("test", []Poke{{Addr: site, Old: old, New: []byte(nops[5])}})
	}); err != nil || len(m.Oopses()) > 0 {
		t.Fatal(err, m.Oopses())
	}
	remove()
	ps := m.text.Patches()
	p := ps[len(ps)-1]
	for _, a := range p.Steps[0].Acks {
		if late := a.Time - p.Steps[0].Time; (a.CPU == 2) != (late > 40_000) {
			t.Errorf("CPU %d acknowledges %d ns after the write", a.CPU, late)
		}
	}
	if p.Steps[1].Time < p.Steps[0].Time+40_000 || len(taken[3]) != 1 {
		t.Errorf("tails %d ns after the int3s, NMIs at %#x", p.Steps[1].Time-p.Steps[0].Time, taken)
	}
}

// TestPatchHistory: the history is bounded, and says how much of it is gone.
func TestPatchHistory(t *testing.T) {
	m := boot(t, Config{Overhead: OverheadNone})
	site, ok := m.SymAddr("kscope_hot")
	if !ok {
		t.Skip("image has no kscope_hot")
	}
	const rounds = 2500
	if err := pokeSite(m, site, rounds); err != nil {
		t.Fatal(err)
	}
	kept, gone := len(m.text.Patches()), m.text.PatchesDropped()
	if kept != maxWeight/(patchWeight+1) || uint64(kept)+gone != 2*rounds {
		t.Errorf("%d patches kept, %d dropped", kept, gone)
	}
	if n := m.Fork(1); len(n.text.Patches()) != kept || n.text.PatchesDropped() != gone {
		t.Error("the fork has another history")
	}
}
