package kprobe

import (
	"errors"
	"fmt"
	"testing"

	"kscope/kernel"
)

// TestMistakes injects faults that the tests of this package must see: fix-ups of RIP, operands and flags that are left out, syncs that are
// skipped, instances that are not recycled.
func TestMistakes(t *testing.T) {
	t.Run("steps", testStepMistakes)
	t.Run("instances", testInstanceMistakes)
	t.Run("syncs", testSyncMistakes)
}

// testStepMistakes: what TestEveryBoundary compares, for one function that has instructions of the kind.
func testStepMistakes(t *testing.T) {
	base := boot(t, kernel.Config{Overhead: kernel.OverheadNone})
	run := func(mistake, fn string) string {
		k, _ := Of(base.m.Copy())
		k.closing(t)
		k.mistake = mistake
		k.SetOptimization(false)
		sym, _ := k.m.Symbols().At(k.addr(t, fn))
		hits := uint64(0)
		for _, off := range k.Boundaries(sym)[1:] {
			p := &Probe{Addr: sym.Addr + uint64(off), Pre: func(*Hit) { hits++ }}
			if k.Register(p) == nil {
				must(t, k.Enable(p))
			}
		}
		slices := uint64(0)
		k.m.SetSliceHook(func(c *kernel.VCPU) {
			for _, x := range []uint64{uint64(c.ID), c.Now(), c.CPU.RIP()} {
				slices = (slices ^ x) * 0x100000001b3
			}
		})
		_, err := k.m.ReadFile("/etc/hostname")
		if err == nil {
			k.m.Run(kernel.Until{Time: k.m.Now() + ms})
		}
		if hits == 0 {
			t.Errorf("%s: nobody has come to %s", mistake, fn)
		}
		return fmt.Sprintf("%x %x %v %d", k.m.StateHash(), slices, err, len(k.m.Oopses()))
	}
	for _, c := range []struct{ mistake, fn string }{
		{"rip", "do_filp_open"}, {"jump", "do_filp_open"}, {"disp", "do_filp_open"}, {"flags", "_raw_spin_lock_irqsave"},
	} {
		if good, bad := run("", c.fn), run(c.mistake, c.fn); good == bad {
			t.Errorf("%s changes nothing: %s", c.mistake, good)
		}
	}
}

// testInstanceMistakes: entries = returns + in flight + missed + dropped, and instances come back.
func testInstanceMistakes(t *testing.T) {
	for _, mistake := range []string{"", "recycle", "leak"} {
		for _, fn := range []string{"do_group_exit", "do_filp_open"} { // the one never returns
			k := boot(t, kernel.Config{})
			k.mistake = mistake
			r := &Ret{MaxActive: 2, Probe: Probe{Addr: k.addr(t, fn), Name: fn}}
			k.do(t, func() error { return errors.Join(k.RegisterRet(r), k.Enable(&r.Probe)) })
			for range 3 {
				cats(t, k, 1)
			}
			balanced := r.Entries == r.Returns+uint64(r.InFlight)+r.NoFree+r.Refused+r.Dropped
			ok := r.InFlight == 0 && r.NoFree == 0 && r.Entries > 2 && balanced
			if want := mistake == "" || mistake == "recycle" && fn == "do_filp_open" || mistake == "leak" && fn == "do_group_exit"; ok != want {
				t.Errorf("%q: %s: %+v", mistake, fn, r.Probe)
			}
		}
	}
}

// testSyncMistakes: TestSoak with syncs left out, each kind alone and both: passes are not counted, or the guest breaks.
func testSyncMistakes(t *testing.T) {
	caught := func(first, last bool) bool {
		for seed := range uint64(60) {
			s := newSoak(t, seed)
			s.k.closing(t)
			s.k.m.Text().DropFirstSync, s.k.m.Text().DropLastSync = first, last
			for range 24 {
				if s.step(); s.bad != "" {
					return true
				}
			}
		}
		return false
	}
	if !caught(true, true) {
		t.Error("60 machines without syncs, and every pass was counted")
	}
	if !caught(true, false) {
		t.Error("60 machines without the first sync, and every pass was counted")
	}
}
