package kprobe

import (
	"crypto/sha256"
	"fmt"
	"math/rand/v2"
	"testing"

	"kscope/kernel"
	"kscope/kernel/user"
)

// TestTracedChain: what tracers and probes of all kinds record, and what the guest does under them, is the same in host code and
// interpreted, in chained slices and single ones, and whatever stops there are in between: to the last byte of the trace.
func TestTracedChain(t *testing.T) {
	for seed := range uint64(seeds(2)) {
		want := tracedTrail(t, seed, "host code")
		for _, how := range [][]string{{"interpreted", "stops in between"}, {"single slices", "interpreted"}}[seed%2] {
			got := tracedTrail(t, seed, how)
			for i := range want {
				if i >= len(got) || got[i] != want[i] {
					t.Fatalf("seed %d, stage %d, %s:\n%s\nwant\n%s", seed, i, how, got[i:min(len(got), i+1)], want[i])
				}
			}
		}
	}
}

// tracedSymbols are where probes go.
var tracedSymbols = []string{"do_filp_open", "vfs_read", "vfs_write", "kmalloc", "kfree", "__schedule", "try_to_wake_up", "mutex_lock", "handle_mm_fault", "do_sys_openat2",
	"_raw_spin_lock_irqsave", "hrtimer_interrupt", "strncpy_from_user", "path_openat"}

// tracedTrail is what a machine has done at the end of each stage: other tracers and probes, and work.
func tracedTrail(t *testing.T, seed uint64, how string) (trail []string) {
	k := bootOpen(t, kernel.Config{Seed: seed, CPUs: 1 + 3*int(seed&1), Interpret: how == "interpreted"})
	if h, ok := kernel.PartOf[*user.Host](k.m); ok {
		defer h.Close()
	}
	if how == "single slices" {
		k.m.SetSliceHook(func(*kernel.VCPU) {})
	}
	rnd, stops := rand.New(rand.NewPCG(seed, 3)), rand.New(rand.NewPCG(seed, 4))
	pick := func(s ...string) string { return s[rnd.IntN(len(s))] }
	for stage := range 5 {
		k.write(t, "current_tracer", pick("nop", "function", "function_graph", "function_graph"))
		k.write(t, "set_ftrace_filter", pick("", "vfs_*", "*lock*", "do_*"))
		for _, e := range []string{"sched", "syscalls", "irq", "kmem"} {
			k.write(t, "events/"+e+"/enable", pick("0", "1"))
		}
		lines := ""
		for n := range 1 + rnd.IntN(6) {
			sym, _ := k.m.Symbols().At(k.addr(t, pick(tracedSymbols...)))
			places := k.Boundaries(sym)
			line := fmt.Sprintf("p:s%dp%d %s+%d a=%%di b=$stack1", stage, n, sym.Name, places[rnd.IntN(len(places))])
			if rnd.IntN(3) == 0 {
				line = fmt.Sprintf("r:s%dp%d %s r=$retval", stage, n, sym.Name)
			}
			if k.t.WriteFile("kprobe_events", line, true) == nil {
				k.write(t, fmt.Sprintf("events/kprobes/s%dp%d/enable", stage, n), "1")
				lines += line + "; "
			}
		}
		for range 4 {
			k.spawn(t)
			u := kernel.Until{Time: k.m.Now() + 200_000 + rnd.Uint64N(1_500_000)}
			for how == "stops in between" && stops.IntN(30) != 0 {
				piece := u
				piece.Insns = 1 + stops.Uint64N(40)
				k.m.Run(piece)
			}
			k.m.Run(u)
		}
		text := k.read(t, "trace") + k.read(t, "kprobe_profile")
		trail = append(trail, fmt.Sprintf("t %d, %d instructions, state %x, %d bytes of trace %x, probes %s", k.m.Now(), k.m.Insns(), k.m.StateHash(), len(text),
			sha256.Sum256([]byte(text)), lines))
		for _, o := range k.m.Oopses() {
			t.Fatal(o.Text())
		}
		k.write(t, "events/enable", "0")
		k.write(t, "kprobe_events", "\n")
		k.write(t, "trace", "")
	}
	return trail
}

// spawn starts a program.
func (k *Kprobes) spawn(t *testing.T) {
	t.Helper()
	_, err := k.m.Exec("/bin/cat", []string{"cat", "/etc/passwd", "/etc/hostname"}, kernel.Streams{})
	must(t, err)
}
