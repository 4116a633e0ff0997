package kernel

import (
	"bytes"
	"flag"
	"testing"
)

var raceSeeds = flag.Int("race-seeds", 200, "seeds of the patch race tests")

// hotMachine gives a machine whose CPUs 1 to 3 call kscope_hot for ever, and the address of its call site.
func hotMachine(t testing.TB) (*Machine, uint64) {
	m := boot(t, Config{})
	site, ok := m.SymAddr("kscope_hot")
	if !ok {
		t.Skip("image has no kscope_hot")
	}
	if err := m.Hot(0b1110, 0); err != nil {
		t.Fatal(err)
	}
	m.Run(Until{Time: m.Now() + 20e6})
	if site>>6 == (site+4)>>6 {
		t.Errorf("kscope_hot's site at %#x does not straddle a 64-byte line", site)
	}
	return m, site
}

// raceFork is a machine of the race with a seed. A broken guest may also spin for ever, say in a wait for an IPI that a dead CPU
// will never take, so its runs are bounded.
func raceFork(base *Machine, seed int) *Machine {
	m := base.Fork(uint64(seed))
	m.cfg.MaxInsns = m.Insns() + 3e6 // a poke takes some 20,000
	return m
}

// pokeSite makes the site of m a nop and then what it was before, n times.
func pokeSite(m *Machine, site uint64, n int) error {
	call := m.text.read(site, 5)
	nop := []byte(nops[5])
	for range n {
		for _, p := range []Poke{{Addr: site, Old: call, New: nop}, {Addr: site, Old: nop, New: call}} {
			if err := m.Do("poke", func(*VCPU) error { return m.text.Queue("test", []Poke{p}) }); err != nil {
				return err
			}
		}
	}
	return nil
}

// TestPatchRace: the protocol never breaks the CPUs that run through the site, in spite of transient int3s and stale windows.
func TestPatchRace(t *testing.T) {
	base, site := hotMachine(t)
	hits, stale := 0, 0
	for seed := range *raceSeeds {
		m := raceFork(base, seed)
		if err := pokeSite(m, site, 1); err != nil || len(m.Oopses()) > 0 {
			t.Fatalf("seed %d: %v\n%v", seed, err, m.Oopses())
		}
		if m.text.Int3Hits > 0 {
			hits++
		}
		if m.text.StaleHolds > 0 {
			stale++
		}
	}
	t.Logf("%d seeds: %d met the transient int3, %d held a stale window", *raceSeeds, hits, stale)
	if hits*100 < *raceSeeds || stale*100 < *raceSeeds {
		t.Error("each must be above 1 %")
	}
}

// TestNaiveRace: without the protocol some seeds oops.
func TestNaiveRace(t *testing.T) {
	base, site := hotMachine(t)
	call := base.text.read(site, 5)
	bad := 0
	for seed := range *raceSeeds {
		m := raceFork(base, seed)
		err := m.Poke(site, []byte(nops[5]), true)
		if err == nil {
			err = m.Poke(site, call, true)
		}
		if err != nil || len(m.Oopses()) > 0 {
			bad++
		}
	}
	t.Logf("%d of %d seeds oops or hang", bad, *raceSeeds)
	if bad == 0 {
		t.Error("naive writes never broke anything")
	}
}

// TestDroppedSync: the first and the last sync of a batch are each needed.
func TestDroppedSync(t *testing.T) {
	base, site := hotMachine(t)
	for _, which := range []string{"first", "last"} {
		bad := 0
		for seed := range *raceSeeds {
			m := raceFork(base, seed)
			m.text.DropFirstSync, m.text.DropLastSync = which == "first", which == "last"
			if err := pokeSite(m, site, 2); err != nil || len(m.Oopses()) > 0 {
				bad++
			}
		}
		t.Logf("without the %s sync %d of %d seeds oops or hang", which, bad, *raceSeeds)
		if bad == 0 {
			t.Errorf("without the %s sync nothing broke", which)
		}
	}
}

// TestPatches: the history of one poke has the protocol's steps, each acknowledged by every CPU.
func TestPatches(t *testing.T) {
	m, site := hotMachine(t)
	old := m.text.read(site, 5)
	if err := m.Do("poke", func(*VCPU) error {
		return m.text.Queue("test", []Poke{{Addr: site, Old: old, New: []byte(nops[5])}})
	}); err != nil {
		t.Fatal(err)
	}
	ps := m.text.Patches()
	if len(ps) != 1 || !ps[0].Done || len(ps[0].Steps) != 3 {
		t.Fatalf("patches: %+v", ps)
	}
	for i, kind := range []string{"int3", "tails", "heads"} {
		s := ps[0].Steps[i]
		seen := map[int]bool{}
		for _, a := range s.Acks {
			seen[a.CPU] = true
			if a.Time < s.Time {
				t.Errorf("%s: CPU %d acknowledges at %d, before the write at %d", kind, a.CPU, a.Time, s.Time)
			}
		}
		if s.Kind != kind || len(seen) != m.NumCPU() || s.Task.Comm != "kscoped" {
			t.Errorf("step %d: %s by %+v, %d CPUs acknowledge, %d hits", i, s.Kind, s.Task, len(seen), len(s.Hits))
		}
	}
	if got := m.text.read(site, 5); !bytes.Equal(got, []byte(nops[5])) {
		t.Errorf("site holds % x", got)
	}
	if err := m.text.Queue("test", []Poke{{Addr: site, New: []byte{0x48, 0x89, 0xe5}}}); err == nil {
		t.Error("a poke of mov rbp, rsp was accepted")
	}
	if err := m.text.Queue("test", []Poke{{Addr: 0x1000, New: []byte{0xcc}}}); err == nil {
		t.Error("a poke of an unmapped address was accepted")
	}
}

func TestEmulateTable(t *testing.T) {
	for n := 1; n < len(nops); n++ {
		if len(nops[n]) != n || actionOf([]byte(nops[n])) != actNop {
			t.Errorf("nop of %d bytes: % x", n, nops[n])
		}
	}
}
