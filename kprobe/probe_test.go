package kprobe

import (
	"errors"
	"testing"

	"kscope/internal/cputime"
	"kscope/kernel"
)

// TestRefused: the places that Linux refuses, by its errno.
func TestRefused(t *testing.T) {
	k := boot(t, kernel.Config{})
	entry := k.addr(t, "vfs_read")
	for _, c := range []struct {
		addr uint64
		want kernel.Errno
	}{
		{entry + 1, kernel.EILSEQ}, {entry + 4, kernel.EILSEQ}, {k.addr(t, "irqentry_enter"), kernel.EINVAL}, {k.addr(t, "init_task"), kernel.EINVAL},
		{k.addr(t, "asm_exc_page_fault"), kernel.EINVAL}, {k.addr(t, "optimized_callback"), kernel.EINVAL}, {0x10, kernel.ENOENT},
	} {
		if err := k.Register(&Probe{Addr: c.addr}); !errors.Is(err, c.want) {
			t.Errorf("%#x: %v, want %v", c.addr, err, c.want)
		}
	}
	if err := k.RegisterRet(&Ret{Probe: Probe{Addr: entry + 5}}); !errors.Is(err, kernel.EINVAL) {
		t.Errorf("a kretprobe within a function: %v", err)
	}
}

// TestOrder: several probes at one place run newest first, and their kretprobes return oldest first.
func TestOrder(t *testing.T) {
	k := boot(t, kernel.Config{})
	got := ""
	at := k.addr(t, "do_filp_open")
	k.do(t, func() error {
		for _, n := range []string{"a", "b"} {
			p := &Probe{Addr: at, Name: n, Pre: func(*Hit) { got += n }}
			r := &Ret{Probe: Probe{Addr: at, Name: n}, Return: func(*Hit) { got += "r" + n }}
			if err := errors.Join(k.Register(p), k.Enable(p), k.RegisterRet(r), k.Enable(&r.Probe)); err != nil {
				return err
			}
		}
		return nil
	})
	_, err := k.m.ReadFile("/etc/hostname")
	if got != "bararb" {
		t.Errorf("%q (%v)", got, err)
	}
}

// TestNested: a hit while a handler runs is only counted, by whatever way it comes.
func TestNested(t *testing.T) {
	k := boot(t, kernel.Config{})
	at := k.addr(t, "do_filp_open")
	entry, mid := &Probe{Addr: at}, &Probe{Addr: at + 5}
	k.do(t, func() error {
		return errors.Join(k.Register(entry), k.Enable(entry), k.Register(mid), k.Enable(mid))
	})
	for i := range k.busy {
		k.busy[i] = true
	}
	work(t, k)
	if entry.Hits != 0 || mid.Hits != 0 || entry.Missed == 0 || mid.Missed != entry.Missed {
		t.Errorf("%d and %d hits, %d and %d missed", entry.Hits, mid.Hits, entry.Missed, mid.Missed)
	}
}

// TestFork: a copy of the machine has the probes, with counters and rings of its own.
func TestFork(t *testing.T) {
	k := boot(t, kernel.Config{})
	k.add2(t, "p:a do_filp_open name=+0(+0(%si)):string", "p:b do_filp_open+5", "r:c do_filp_open")
	k.write(t, "events/kprobes/enable", "1")
	work(t, k)
	n, _ := Of(k.m.Copy())
	work(t, n)
	work(t, n)
	if a, b := k.events[0].Hits, n.events[0].Hits; a == 0 || b != 3*a {
		t.Errorf("%d hits, %d in the copy after three times the work", a, b)
	}
	n.write(t, "events/kprobes/enable", "0")
	n.write(t, "kprobe_events", "\n")
	work(t, k)
	if a := k.events[2].Hits; a != 2*n1(k) || k.read(t, "events/kprobes/enable") != "1\n" {
		t.Errorf("%d returns", a)
	}
}

func n1(k *Kprobes) uint64 { return k.events[1].Hits / 2 }

// TestHot puts probes on a function that four CPUs call without end, and takes them off: nothing is lost, no CPU ends
// anywhere else.
func TestHot(t *testing.T) {
	for seed := range uint64(8) {
		k := boot(t, kernel.Config{Seed: seed})
		must(t, k.m.Hot(0xf, 0))
		at := k.addr(t, "kscope_hot")
		sym, _ := k.m.Symbols().At(at)
		offs := k.Boundaries(sym)
		for round := range 8 {
			p := &Probe{Addr: at + uint64(offs[round%4])}
			r := &Ret{Probe: Probe{Addr: at}}
			k.do(t, func() error { return errors.Join(k.Register(p), k.Enable(p), k.RegisterRet(r), k.Enable(&r.Probe)) })
			if stop := k.m.Run(kernel.Until{Time: k.m.Now() + 20_000}); stop.Reason != kernel.StopDone {
				t.Fatalf("seed %d: %v", seed, stop)
			}
			balance(t, r)
			k.do(t, func() error { return errors.Join(k.Unregister(p), k.UnregisterRet(r)) })
			if p.Hits == 0 || r.Returns == 0 {
				t.Errorf("seed %d: %d hits, %d returns", seed, p.Hits, r.Returns)
			}
		}
		if o := k.m.Oopses(); len(o) != 0 {
			t.Fatalf("seed %d: %s", seed, o[0].Text())
		}
	}
}

// BenchmarkHit is what one call of a function of 4 instructions costs, without a probe and by kind of probe: the difference to none
// is the probe's. Asked: int3 and step (tf, int3) 250 ns, ftrace and jump with two arguments 200, ret 300; no allocations.
func BenchmarkHit(b *testing.B) {
	for _, c := range []struct {
		name, line string
		probe      *Probe
	}{
		{name: "none"},
		{name: "tf", probe: &Probe{}},
		{name: "int3", probe: &Probe{Int3: true}},
		{name: "jump", probe: &Probe{}},
		{name: "ftrace-event", line: "p:e kscope_hot a=%di b=%si"},
		{name: "tf-event", line: "p:e kscope_hot+5 a=%di b=%si"},
		{name: "jump-event", line: "p:e kscope_hot+13 a=%di b=%si"},
		{name: "ret-event", line: "r:e kscope_hot a=$retval"},
	} {
		b.Run(c.name, func(b *testing.B) {
			k := boot(b, kernel.Config{CPUs: 1})
			jump := c.name == "jump" || c.name == "jump-event"
			k.noOpt = !jump
			if c.line != "" {
				k.add2(b, c.line)
				k.write(b, "events/kprobes/enable", "1")
			}
			if c.probe != nil {
				p := *c.probe
				p.Addr = k.addr(b, "kscope_hot") + 13
				k.do(b, func() error { return errors.Join(k.Register(&p), k.Enable(&p)) })
			}
			if k.pass(b, optimised); jump && k.list[0].opt != optJumping {
				b.Fatal("no jump")
			}
			must(b, k.m.Hot(1, 0))
			calls := uint64(0)
			k.m.CountEntries(k.addr(b, "kscope_hot"))
			k.m.Run(kernel.Until{Time: k.m.Now() + ms})
			b.ReportAllocs()
			b.ResetTimer()
			calls -= k.m.Entries(k.addr(b, "kscope_hot"))
			start := cputime.Now()
			k.m.Run(kernel.Until{Insns: uint64(b.N) * 20})
			used := cputime.Now() - start
			b.StopTimer()
			calls += k.m.Entries(k.addr(b, "kscope_hot"))
			b.ReportMetric(used/float64(calls), "cpu-ns/call")
		})
	}
}

// BenchmarkRegister is 10,000 probes, registered and armed. Asked: 2 s.
func BenchmarkRegister(b *testing.B) {
	for range b.N {
		b.StopTimer()
		k := boot(b, kernel.Config{})
		var at []uint64
		for _, s := range k.m.Symbols().Glob("*", "tT") {
			if s.Size != 0 && k.blocked(s.Addr) == "" && s.Module == "" {
				for _, off := range k.Boundaries(s) {
					at = append(at, s.Addr+uint64(off))
				}
			}
		}
		n := 0
		start := cputime.Now()
		b.StartTimer()
		k.do(b, func() error {
			for _, a := range at {
				if p := (&Probe{Addr: a}); n < 10_000 && k.Register(p) == nil {
					must(b, k.Enable(p))
					n++
				}
			}
			return nil
		})
		b.ReportMetric((cputime.Now()-start)/1e9, "cpu-s/10000")
		if n < 10_000 {
			b.Fatal(n)
		}
	}
}
