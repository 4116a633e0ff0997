package kprobe

import (
	"bytes"
	"errors"
	"regexp"
	"strings"
	"testing"

	"kscope/kernel"
)

// optimised is more than the optimiser takes: its delay of 20 ms, and the grace periods behind it.
const optimised = 80 * ms

// pass lets virtual time pass.
func (k *Kprobes) pass(tb testing.TB, ns uint64) {
	tb.Helper()
	if stop := k.m.Run(kernel.Until{Time: k.m.Now() + ns}); stop.Reason != kernel.StopDone {
		tb.Fatalf("%v", stop)
	}
	for _, o := range k.m.Oopses() {
		tb.Fatalf("%s", o.Text())
	}
}

const ms = 1_000_000

// TestOptimizer: the life of an optimised probe, as kprobes/list and the text show it.
func TestOptimizer(t *testing.T) {
	k := boot(t, kernel.Config{})
	at := k.addr(t, "do_filp_open")
	sym, _ := k.m.Symbols().At(at)
	off := -1
	for _, b := range k.Boundaries(sym)[1:] {
		if _, why := k.optimizable(at + uint64(b)); why == "" {
			off = int(b)
			break
		}
	}
	if off < 0 {
		t.Fatal("no place for a jump in do_filp_open")
	}
	p := &Probe{Addr: at + uint64(off), Name: "opt"}
	before := p.now(k)
	k.do(t, func() error { return errors.Join(k.Register(p), k.Enable(p)) })
	if b := p.now(k); b[0] != int3 || !bytes.Equal(b[1:], before[1:]) {
		t.Errorf("armed: % x", b)
	}
	if l := k.List(); !strings.HasSuffix(l, " [OPTIMIZED]\n") {
		t.Errorf("armed: %s", l)
	}
	work(t, k)
	hits := p.Hits
	k.pass(t, optimised)
	if b := p.now(k); b[0] != 0xe9 || k.sites[p.Addr].opt != optJumping {
		t.Errorf("then: % x", b)
	}
	work(t, k)
	if hits == 0 || p.Hits != 2*hits {
		t.Errorf("%d hits by int3, %d by jump", hits, p.Hits-hits)
	}
	k.do(t, func() error { return k.Disable(p) })
	if l, b := k.List(), p.now(k); !strings.HasSuffix(l, " [DISABLED][OPTIMIZED]\n") || b[0] != 0xe9 {
		t.Errorf("disabled: %s % x", l, b)
	}
	work(t, k)
	k.pass(t, optimised)
	if l, b := k.List(), p.now(k); !strings.HasSuffix(l, " [DISABLED]\n") || !bytes.Equal(b, before) || p.Hits != 2*hits {
		t.Errorf("then: %s % x, %d hits", l, b, p.Hits-2*hits)
	}
	k.do(t, func() error { return k.Enable(p) })
	k.pass(t, optimised)
	k.do(t, func() error { k.SetOptimization(false); return nil })
	k.pass(t, optimised)
	if l, b := k.List(), p.now(k); strings.Contains(l, "OPT") || b[0] != int3 || !bytes.Equal(b[1:], before[1:]) {
		t.Errorf("sysctl 0: %s % x", l, b)
	}
	k.do(t, func() error { return k.Unregister(p) })
	k.do(t, func() error { k.reap(); return nil })
	if len(k.sites) != 0 || len(k.detours) != 0 || len(k.optList) != 0 {
		t.Errorf("%d sites, %d detours, %d in the optimiser's list are left", len(k.sites), len(k.detours), len(k.optList))
	}
}

func (p *Probe) now(k *Kprobes) []byte {
	b := make([]byte, jumpSize)
	if k.m.Read(p.Addr, b) != nil {
		return nil
	}
	return b
}

// TestWithin: a probe in the bytes that a jump covers takes the jump back at once, and lets it come again when it goes.
func TestWithin(t *testing.T) {
	k := boot(t, kernel.Config{})
	at := k.addr(t, "do_filp_open")
	sym, _ := k.m.Symbols().At(at)
	var outer, inner *Probe
	offs := k.Boundaries(sym)
	for i, b := range offs[1 : len(offs)-1] {
		if span, why := k.optimizable(at + uint64(b)); why == "" && int(offs[i+2]-b) < span {
			outer, inner = &Probe{Addr: at + uint64(b), Name: "outer"}, &Probe{Addr: at + uint64(offs[i+2]), Name: "inner"}
			break
		}
	}
	k.do(t, func() error { return errors.Join(k.Register(outer), k.Enable(outer)) })
	k.pass(t, optimised)
	if outer.now(k)[0] != 0xe9 || outer.Kind() != "optimized" {
		t.Fatalf("% x", outer.now(k))
	}
	k.do(t, func() error { return errors.Join(k.Register(inner), k.Enable(inner)) })
	if outer.now(k)[0] != int3 || inner.now(k)[0] != int3 || outer.Kind() != "int3" || outer.Unoptimized() == "" {
		t.Errorf("% x, %s (%s)", outer.now(k), outer.Kind(), outer.Unoptimized())
	}
	work(t, k)
	if outer.Hits == 0 || inner.Hits != outer.Hits {
		t.Errorf("%d and %d hits", outer.Hits, inner.Hits)
	}
	k.do(t, func() error { return k.Unregister(inner) })
	k.pass(t, optimised)
	if outer.now(k)[0] != 0xe9 {
		t.Errorf("not optimised again: % x", outer.now(k))
	}
	post := &Probe{Addr: outer.Addr, Name: "post", Post: func(*Hit) {}}
	k.do(t, func() error { return errors.Join(k.Register(post), k.Enable(post)) })
	k.pass(t, optimised)
	if outer.Kind() != "int3" || outer.now(k)[0] != int3 {
		t.Errorf("a post handler and a jump: % x", outer.now(k))
	}
}

// TestOptimizedEvent: the record of an optimised probe has the flags of the probed code; that of an int3 is an NMI's (oracle).
func TestOptimizedEvent(t *testing.T) {
	k := boot(t, kernel.Config{})
	k.add2(t, "p:x do_filp_open+5 a=%di")
	k.write(t, "events/kprobes/x/enable", "1")
	k.pass(t, optimised)
	work(t, k)
	if text := k.read(t, "trace"); !regexp.MustCompile(`\] \.{5} +\S+: x: \(do_filp_open\+0x5/`).MatchString(text) {
		t.Errorf("%s%s", k.List(), text)
	}
}

// TestQuiescence: whenever a jump's bytes are written over two instructions of a loop that four CPUs are in, no CPU or task is between
// the two, even when the patcher's first sync is left out: hits take the detour from the moment on that the site waits for its jump.
// With stepped hits some are. (TestTasksAreWaitedFor is about the optimiser's wait for tasks.)
func TestQuiescence(t *testing.T) {
	for _, stepping := range []bool{false, true} {
		jumps, inside := 0, 0
		for seed := range uint64(2) {
			k := boot(t, kernel.Config{Seed: seed})
			must(t, k.m.Hot(0xf, 0))
			k.stepWaiting = stepping
			k.m.Text().DropFirstSync = true
			n, m := k.jumpIntoLoop(t)
			jumps, inside = jumps+n, inside+m
		}
		if jumps == 0 || stepping != (inside > 0) {
			t.Errorf("stepping = %v: %d jumps, %d tasks within their bytes", stepping, jumps, inside)
		}
		t.Logf("stepping = %v: %d jumps, %d tasks within their bytes", stepping, jumps, inside)
	}
}

// jumpIntoLoop optimises a probe over two instructions of hot_thread's loop and takes it off again, a few times. inside counts
// who was between them when the bytes were written.
func (k *Kprobes) jumpIntoLoop(t *testing.T) (jumps, inside int) {
	at := k.loopPlace(t)
	remove := k.m.OnPatchStep(func(_ *kernel.VCPU, p *kernel.Patch, s *kernel.PatchStep) {
		if s.Kind != "tails" || len(p.Pokes) == 0 || p.Pokes[0].Addr != at || len(p.Pokes[0].New) != jumpSize {
			return
		}
		k.pcs = nil
		for pc := range k.standing() {
			if pc > at && pc < at+jumpSize {
				inside++
			}
		}
	})
	defer remove()
	for range 6 {
		p := &Probe{Addr: at}
		k.do(t, func() error { return errors.Join(k.Register(p), k.Enable(p)) })
		for range 12 {
			k.pass(t, 10*ms)
			if k.sites[at].opt == optJumping {
				jumps++
				break
			}
		}
		k.do(t, func() error { return k.Unregister(p) })
	}
	return jumps, inside
}
