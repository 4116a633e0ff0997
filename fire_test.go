package main

import (
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"sync"
	"testing"

	"kscope/ftrace"
	"kscope/kernel"
	"kscope/kernel/user"
	"kscope/kernel/user/sh"
)

var (
	fireSeeds = flag.Uint64("fire-seeds", 2, "seeds of TestUnderFire")
	fireFrom  = flag.Uint64("fire-from", 0, "the first of them")
)

// fireScript forks, writes and reads files, sleeps, and loads and unloads modules.
const fireScript = `#!/bin/bash
for i in 1 2 3; do
	for j in 1 2 3 4 5 6; do (echo $i$j > /tmp/f$j; cat /tmp/f$j > /dev/null; sleep 0.0005) & done
	insmod /lib/modules/kscope_test.ko; ls / | sort > /dev/null; rmmod kscope_test
	wait
done
`

// fire is a machine of eight CPUs in which fireScript has been started, and the hash of (CPU, t, rip) at each slice's end.
type fire struct {
	m      *kernel.Machine
	tr     *ftrace.Tracer
	host   *user.Host
	pid    int
	hash   uint64
	slices int
}

var fireInitrd = sync.OnceValue(func() []byte {
	return user.Initrd(append(sh.Files(), user.File{Path: "fire", Mode: 0o100755, Data: []byte(fireScript)})...)
})

func newFire(t *testing.T, snaps *kernel.Snapshots, overhead kernel.Overhead, seed uint64) *fire {
	t.Helper()
	cfg := kernel.Config{CPUs: 8, Mem: 64 << 20, MaxInsns: 5e9, Overhead: overhead, Seed: seed}
	cfg.Initrd = fireInitrd()
	m, err := snaps.Machine(cfg, parts)
	if err != nil {
		t.Fatal(err)
	}
	f := &fire{m: m}
	f.tr, _ = ftrace.Of(m)
	f.host, _ = kernel.PartOf[*user.Host](m)
	t.Cleanup(f.host.Close)
	m.SetSliceHook(func(c *kernel.VCPU) {
		f.slices++
		for _, x := range []uint64{uint64(c.ID), c.Now(), c.CPU.RIP()} {
			f.hash = (f.hash ^ x) * 0x100000001b3
		}
	})
	if f.pid, err = f.host.Exec("/fire", nil, kernel.Streams{Out: io.Discard, Err: io.Discard}); err != nil {
		t.Fatal(err)
	}
	return f
}

// run runs the script to its end, with something done by act at 40 moments.
func (f *fire) run(t *testing.T, r *rand.Rand, act func(step int)) {
	t.Helper()
	for step := range 40 {
		f.m.Run(kernel.Until{Time: f.m.Now() + 20e3 + r.Uint64N(300e3)})
		act(step)
	}
	if code, err := f.m.Wait(f.pid); code != 0 || err != nil {
		t.Errorf("the script: exit %d, %v", code, err)
	}
}

// switchTracing changes what is traced, as often as not in the middle of functions.
func (f *fire) switchTracing(t *testing.T, r *rand.Rand) {
	t.Helper()
	write := func(file, text string) {
		if err := f.tr.WriteFile(file, text+"\n", false); err != nil {
			t.Errorf("%s > %s: %v", text, file, err)
		}
	}
	switch r.IntN(9) {
	case 0, 1:
		write("current_tracer", "function")
	case 2, 3:
		write("function_profile_enabled", "0")
		write("current_tracer", "function_graph")
	case 4:
		write("current_tracer", "nop")
	case 5:
		write("set_ftrace_filter", []string{"", "vfs_*", "*lock*", ":mod:kscope_test"}[r.IntN(4)])
	case 6:
		write("buffer_size_kb", fmt.Sprint(20+r.IntN(300)))
	case 7:
		write("function_profile_enabled", "0") // it may not be on beside function_graph
		write("current_tracer", "nop")
		write("function_profile_enabled", "1")
		write("options/func_stack_trace", fmt.Sprint(r.IntN(2)))
	case 8:
		if _, ok := f.tr.Instance("i"); !ok {
			if x, err := f.tr.MakeInstance("i"); err != nil || x.Set("function") != nil {
				t.Errorf("instance: %v", err)
			}
		} else if err := f.tr.RemoveInstance("i"); err != nil {
			t.Errorf("instance: %v", err)
		}
	}
}

// TestUnderFire: eight CPUs, forks, interrupts, modules that come and go, and tracing that is switched at random moments.
//   - With overhead = "none" the run is that of a machine which is not traced, slice by slice. (Events are left out of this: the
//     code behind their jump labels is the guest's.)
//   - With either overhead every call of a traced function is in a ring or counted as lost.
//   - With function_graph on all functions each entry has its exit, or a counted reason.
func TestUnderFire(t *testing.T) {
	snaps := &kernel.Snapshots{}
	for _, c := range []struct {
		name string
		run  func(t *testing.T, snaps *kernel.Snapshots, seed uint64)
	}{{"effect", fireEffect}, {"calls", fireCalls}, {"graph", fireGraph}} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			for seed := range *fireSeeds { // one after the other: a parallel test's machine lives until the last has ended
				t.Run(fmt.Sprint(*fireFrom+seed), func(t *testing.T) { c.run(t, snaps, *fireFrom+seed) })
			}
		})
	}
}

func fireEffect(t *testing.T, snaps *kernel.Snapshots, seed uint64) {
	plain, traced := newFire(t, snaps, kernel.OverheadNone, seed), newFire(t, snaps, kernel.OverheadNone, seed)
	plain.run(t, rand.New(rand.NewPCG(seed, 1)), func(int) {})
	r := rand.New(rand.NewPCG(seed, 2))
	traced.run(t, rand.New(rand.NewPCG(seed, 1)), func(int) { traced.switchTracing(t, r) })
	if plain.slices != traced.slices || plain.hash != traced.hash || plain.m.StateHash() != traced.m.StateHash() {
		t.Errorf("%d slices, hash %x; traced: %d, %x", plain.slices, plain.hash, traced.slices, traced.hash)
	}
}

// fireCalls has the function tracer on every function for the whole time, in small rings that overflow, and compares with the
// emulator's own count of the calls. Functions of modules are counted from when their text is there, and not compared.
func fireCalls(t *testing.T, snaps *kernel.Snapshots, seed uint64) {
	f := newFire(t, snaps, []kernel.Overhead{kernel.OverheadModel, kernel.OverheadNone}[seed%2], seed)
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(f.tr.Off())
	must(f.tr.WriteFile("buffer_size_kb", "200", false))
	must(f.tr.Set("function"))
	lost, calls := map[uint64]uint64{}, map[uint64]uint64{} // calls: at the begin, then since
	f.tr.OnLost(func(l ftrace.Loss) { lost[l.IP]++ })
	recs := f.tr.Sites().Records()
	tracing := func(on string) {
		must(f.m.Do("the test", func(c *kernel.VCPU) error { // at one instant
			for _, r := range recs {
				calls[r.IP] = f.m.Entries(r.IP) - calls[r.IP]
			}
			return f.tr.FS().WriteFile(c, "tracing_on", []byte(on), false)
		}))
	}
	for _, r := range recs {
		f.m.CountEntries(r.IP)
	}
	must(f.tr.Clear())
	tracing("1")
	f.run(t, rand.New(rand.NewPCG(seed, 1)), func(int) {})
	tracing("0")
	rings := f.tr.FunctionCounts()
	total := uint64(0)
	for _, r := range recs {
		got, want := rings[r.IP]+lost[r.IP], calls[r.IP]
		total += want
		if got != want && r.Module == "" {
			t.Errorf("%s: %d in rings, %d lost, %d calls", r.Name, rings[r.IP], lost[r.IP], want)
		}
	}
	if total < 10000 {
		t.Errorf("only %d calls", total)
	}
}

// fireGraph has function_graph on every function, and switches it off and on.
func fireGraph(t *testing.T, snaps *kernel.Snapshots, seed uint64) {
	f := newFire(t, snaps, []kernel.Overhead{kernel.OverheadModel, kernel.OverheadNone}[seed%2], seed)
	r := rand.New(rand.NewPCG(seed, 3))
	f.run(t, rand.New(rand.NewPCG(seed, 1)), func(step int) {
		name := "function_graph"
		if r.IntN(4) == 0 {
			name = "nop"
		}
		if err := f.tr.Set(name); err != nil {
			t.Error(err)
		}
	})
	c := f.tr.GraphCounts()
	if c.Entries < 5000 || c.Entries != c.Exits+c.Abandoned+f.tr.GraphDepth() {
		t.Errorf("%d entries; %d exits + %d abandoned + %d on the stacks", c.Entries, c.Exits, c.Abandoned, f.tr.GraphDepth())
	}
}
