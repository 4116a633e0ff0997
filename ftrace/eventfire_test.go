package ftrace

import (
	"math/rand/v2"
	"testing"

	"kscope/kernel"
)

// TestEventsUnderFire: 8 CPUs at work, forks and modules, and events that go on and off at random in the machine's tracer and
// in an instance, with filters and triggers: with overhead = "none" the run is, at each slice's end, the run without any of it, and what the
// rings hold and lost is what was written.
func TestEventsUnderFire(t *testing.T) {
	seeds := uint64(6)
	if testing.Short() {
		seeds = 1
	}
	for seed := range seeds {
		n, hash, state, _ := eventFire(t, seed, false)
		n2, hash2, state2, events := eventFire(t, seed, true)
		if n != n2 || hash != hash2 || state != state2 {
			t.Errorf("seed %d: %d slices, hash %x, state %x; with events %d, %x, %x", seed, n, hash, state, n2, hash2, state2)
		}
		if events < 100 { // triggers have put some to sleep
			t.Errorf("seed %d: only %d events", seed, events)
		}
	}
}

func eventFire(t *testing.T, seed uint64, on bool) (slices int, hash, state, events uint64) {
	tr := bootModules(t, kernel.Config{CPUs: 8, Overhead: kernel.OverheadNone, Seed: seed})
	rng := rand.New(rand.NewPCG(seed, 1))
	tracers := []*Tracer{tr}
	if on {
		x, err := tr.MakeInstance("other")
		must(t, err)
		tracers = append(tracers, x)
	}
	all := tr.TraceEvents()
	filters := []string{"0", "common_pid > 50", "common_pid == 0 || CPU & 1", "common_flags != 1"}
	triggers := []string{"stacktrace:3", "!stacktrace", "hist:keys=common_pid", "hist:keys=stacktrace,common_cpu:ts=common_timestamp if common_pid > 0",
		"!hist:keys=common_pid", "enable_event:sched:sched_waking:2", "!enable_event:sched:sched_waking", "disable_event:sched:sched_switch if common_pid == 0"}
	tr.m.SetSliceHook(func(c *kernel.VCPU) {
		slices++
		for _, x := range []uint64{uint64(c.ID), c.Now(), c.CPU.RIP()} {
			hash = (hash ^ x) * 0x100000001b3
		}
	})
	must(t, tr.m.Hot(0xff, 50))
	for step := range 25 {
		if on {
			for range 8 {
				x, ev := tracers[rng.IntN(2)], all[rng.IntN(len(all))]
				dir := "events/" + ev.System + "/" + ev.Name + "/"
				must(t, x.WriteFile(dir+"filter", filters[rng.IntN(len(filters))], false))
				must(t, x.WriteFile(dir+"enable", []string{"0", "1"}[rng.IntN(2)], false))
				if err := x.WriteFile(dir+"trigger", triggers[rng.IntN(len(triggers))]+"\n", true); err != nil && err != kernel.EEXIST && err != kernel.EINVAL { // there already, or its variable is
					t.Fatal(err)
				}
			}
			if step == 12 {
				must(t, tr.WriteFile("events/enable", "1", false))
			}
		}
		switch step % 5 {
		case 1:
			work(t, tr)
		case 3:
			must(t, tr.m.LoadModule("/kscope_test.ko", "interval=1"))
		case 4:
			must(t, tr.m.UnloadModule("kscope_test"))
		}
		tr.m.Run(kernel.Until{Time: tr.m.Now() + 300e3})
	}
	if on {
		for _, x := range tracers {
			for i := range x.cpu {
				s := x.Stats(i)
				if s.Written != s.Entries+s.Overrun+s.Read {
					t.Errorf("seed %d: cpu %d: %d written, %d there, %d overwritten, %d read", seed, i, s.Written, s.Entries, s.Overrun, s.Read)
				}
				events += s.Written
			}
			must(t, x.m.Do("triggers", func(*kernel.VCPU) error { return x.resetEvents() }))
		}
		must(t, tr.RemoveInstance("other"))
	}
	return slices, hash, tr.m.StateHash(), events
}
