package ftrace

import (
	"strings"
	"testing"

	"kscope/kernel"
)

// TestZeroEffectEvents is TestZeroEffect for events: with every event on, the machine runs instruction for instruction as with
// none, and its memory and registers are the same.
func TestZeroEffectEvents(t *testing.T) {
	run := func(on bool, seed uint64) (slices int, hash, state uint64, events uint64) {
		tr := withPoints(t, kernel.Config{Overhead: kernel.OverheadNone, Seed: seed})
		if on {
			must(t, tr.WriteFile("events/enable", "1", false))
		}
		tr.m.SetSliceHook(func(c *kernel.VCPU) {
			slices++
			for _, x := range []uint64{uint64(c.ID), c.Now(), c.CPU.RIP()} {
				hash = (hash ^ x) * 0x100000001b3
			}
		})
		for range 20 {
			work(t, tr)
		}
		if on {
			for i := range tr.m.NumCPU() {
				events += tr.Stats(i).Written
			}
			must(t, tr.WriteFile("events/enable", "0", false))
		}
		return slices, hash, tr.m.StateHash(), events
	}
	for seed := range uint64(3) {
		n, hash, state, _ := run(false, seed)
		n2, hash2, state2, events := run(true, seed)
		if n != n2 || hash != hash2 || state != state2 {
			t.Errorf("seed %d: %d slices, hash %x, state %x; with events %d, %x, %x", seed, n, hash, state, n2, hash2, state2)
		}
		if events < 1000 {
			t.Errorf("only %d events", events)
		}
	}
}

// TestColdOneStep: a machine that does cold text in one step with its gate runs as one that executes it, and writes the same records.
func TestColdOneStep(t *testing.T) {
	run := func(execute bool, seed uint64) (slices int, hash, state uint64, text string) {
		tr := withPoints(t, kernel.Config{Seed: seed})
		if execute {
			tr.m.ExecuteCold()
		}
		must(t, tr.WriteFile("events/enable", "1", false))
		tr.m.SetSliceHook(func(c *kernel.VCPU) {
			slices++
			for _, x := range []uint64{uint64(c.ID), c.Now(), c.CPU.RIP()} {
				hash = (hash ^ x) * 0x100000001b3
			}
		})
		for range 10 {
			work(t, tr)
		}
		return slices, hash, tr.m.StateHash(), tr.Text(-1)
	}
	for seed := range uint64(3) {
		n, hash, state, text := run(true, seed)
		n2, hash2, state2, text2 := run(false, seed)
		if n != n2 || hash != hash2 || state != state2 || text != text2 {
			t.Errorf("seed %d: %d slices, hash %x, state %x; executed %d, %x, %x; texts equal: %v", seed, n2, hash2, state2, n, hash, state, text == text2)
		}
		if n := strings.Count(text, "\n"); n < 300 {
			t.Errorf("only %d lines", n)
		}
	}
}

// TestColdPieces: the code behind every jump label is understood, and nearly all done in one step.
func TestColdPieces(t *testing.T) {
	tr := withPoints(t, kernel.Config{})
	sites, pieces, steps := 0, 0, 0
	for _, tp := range tr.points.list {
		n := len(tr.points.coldPieces(tp, tp.sites))
		sites, pieces = sites+len(tp.sites), pieces+n
		for _, s := range tp.sites {
			steps += min(tr.m.VCPU(0).GateText(s.target), 1)
		}
		if n != len(tp.sites) {
			t.Logf("%s: %d of %d labels", tp.name, n, len(tp.sites))
		}
	}
	if pieces != sites {
		t.Errorf("%d of %d labels", pieces, sites)
	}
	if steps < pieces*9/10 {
		t.Errorf("%d of %d in one step", steps, pieces)
	}
}
