package kprobe

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"

	"kscope/kernel"
	"kscope/kernel/user"
)

// seeds is how many seeds a soak runs: n, or KSCOPE_SEEDS.
func seeds(n int) int {
	if x, err := strconv.Atoi(os.Getenv("KSCOPE_SEEDS")); err == nil && x > 0 {
		return x
	}
	return n
}

// soakInsns is far more than a sound soak takes.
const soakInsns = 40_000_000

// soak is a hot function under four CPUs, at which probes come, go and change their form.
type soak struct {
	t     *testing.T
	k     *Kprobes
	r     *rand.Rand
	at    uint64
	offs  []uint16
	live  []*counted
	rets  []*Ret
	jumps int
	text  []byte // without probes
	bad   string // the last wrong count
}

// counted is a probe and the emulator's own count of the instruction that it is at.
type counted struct {
	*Probe
	passes uint64 // by a host hook
	remove func()
	base   uint64 // passes - hits when it was armed
}

func newSoak(t *testing.T, seed uint64) *soak {
	// The fifth CPU writes: kscoped need not wait for a tick. A patch without its syncs may never end.
	k := bootOpen(t, kernel.Config{Seed: seed, CPUs: 5, MaxInsns: soakInsns})
	must(t, k.m.Hot(0xf, 0))
	s := &soak{t: t, k: k, r: rand.New(rand.NewPCG(seed, 1)), at: k.addr(t, "kscope_hot")}
	sym, _ := k.m.Symbols().At(s.at)
	s.offs = k.Boundaries(sym)[:4] // the rest is padding
	s.text = k.BytesAt(s.at, int(sym.Size))
	return s
}

// do is Kprobes.do, which takes note of a broken guest.
func (s *soak) do(fn func() error) {
	if err := s.k.m.Do("soak", func(*kernel.VCPU) error { return fn() }); err != nil {
		s.bad = err.Error()
	}
}

// add puts a probe anywhere in the function, of any form.
func (s *soak) add() {
	off := s.offs[s.r.IntN(4)]
	if s.r.IntN(2) == 0 {
		off = s.offs[2] // where a jump fits
	}
	p := &counted{Probe: &Probe{Addr: s.at + uint64(off), Int3: s.r.IntN(2) == 0}}
	if s.r.IntN(6) == 0 {
		p.Post = func(*Hit) {}
	}
	remove, err := s.k.m.Hook(p.Addr, func(*kernel.VCPU) { p.passes++ })
	must(s.t, err)
	p.remove = remove
	s.do(func() error { return errors.Join(s.k.Register(p.Probe), s.k.Enable(p.Probe)) })
	p.base = p.passes - p.Hits
	s.live = append(s.live, p)
}

// drop takes a probe away and checks that it has seen each pass.
func (s *soak) drop() {
	i := s.r.IntN(len(s.live))
	p := s.live[i]
	s.check(p)
	s.live = append(s.live[:i], s.live[i+1:]...)
	s.do(func() error { return s.k.Unregister(p.Probe) })
	p.remove()
}

func (s *soak) check(p *counted) {
	if p.Enabled() && p.passes-p.Hits-p.Missed != p.base {
		s.bad = fmt.Sprintf("%s: %d passes, %d hits, %d missed since the last count", p.Kind(), p.passes-p.base, p.Hits, p.Missed)
	}
}

// optimise is the guest's optimiser without its 20 ms.
func (s *soak) optimise() {
	for _, step := range []int{1, 2} {
		s.do(func() error {
			for _, x := range s.k.optList {
				switch {
				case step == 1 && x.opt == optLeaving:
					s.k.restore(x)
				case step == 2 && x.opt == optWaiting:
					s.k.writeJump(x)
					s.jumps++
				}
			}
			s.k.trimOpt()
			return nil
		})
	}
}

// step does one random thing.
func (s *soak) step() {
	switch s.r.IntN(8) {
	case 0, 1, 2:
		if len(s.live) < 6 {
			s.add()
		}
	case 3:
		if len(s.live) > 0 {
			s.drop()
		}
	case 4, 5:
		s.optimise()
	case 6:
		if len(s.rets) == 0 {
			r := &Ret{MaxActive: 1 + s.r.IntN(4), Probe: Probe{Addr: s.at}}
			s.do(func() error { return errors.Join(s.k.RegisterRet(r), s.k.Enable(&r.Probe)) })
			s.rets = append(s.rets, r)
		} else {
			r := s.rets[0]
			s.rets = nil
			balance(s.t, r)
			s.do(func() error { return s.k.UnregisterRet(r) })
		}
	case 7:
		s.do(func() error { s.k.SetOptimization(s.r.IntN(4) > 0); return nil })
	}
	if stop := s.k.m.Run(kernel.Until{Time: s.k.m.Now() + 5_000}); stop.Reason != kernel.StopDone {
		s.bad = stop.String()
	}
	if o := s.k.m.Oopses(); len(o) != 0 {
		s.bad = o[0].Text()
	}
	for _, p := range s.live {
		s.check(p)
	}
}

// TestSoak registers, unregisters, optimises and switches probes on a function that four CPUs run: no torn instruction, no lost
// instance, each pass counted. KSCOPE_SEEDS=10000 takes that many seeds.
func TestSoak(t *testing.T) {
	jumps, hits := 0, uint64(0)
	for seed := range seeds(12) {
		s := newSoak(t, uint64(seed))
		for range 24 {
			if s.step(); s.bad != "" {
				t.Fatalf("seed %d: %s", seed, s.bad)
			}
		}
		for len(s.live) > 0 {
			hits += s.live[0].Hits
			s.drop()
		}
		for _, r := range s.rets {
			balance(t, r)
			s.k.do(t, func() error { return s.k.UnregisterRet(r) })
		}
		s.optimise()
		s.k.do(t, func() error { s.k.reap(); return nil })
		s.k.do(t, func() error { s.k.reap(); return nil })
		if n := len(s.k.sites) + len(s.k.optList); n != 0 {
			t.Errorf("seed %d: %d sites are left", seed, n)
		}
		if now := s.k.BytesAt(s.at, len(s.text)); s.k.m.Text().Pending() || !bytes.Equal(now, s.text) {
			t.Errorf("seed %d: the text is % x, was % x", seed, now, s.text)
		}
		jumps += s.jumps
		if s.bad != "" {
			t.Error(s.bad)
		}
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
		if h, ok := kernel.PartOf[*user.Host](s.k.m); ok {
			h.Close()
		}
	}
	if jumps == 0 || hits == 0 {
		t.Errorf("%d jumps, %d hits", jumps, hits)
	}
	t.Logf("%d jumps, %d hits of probes that were left", jumps, hits)
}

// TestMany: 5,000 probes armed in one call, and taken away in one.
func TestMany(t *testing.T) {
	k := boot(t, kernel.Config{})
	var ps []*Probe
	for _, s := range k.m.Symbols().Glob("*", "tT") {
		if s.Size == 0 || k.blocked(s.Addr) != "" || s.Module != "" {
			continue
		}
		for _, off := range k.Boundaries(s) {
			at := s.Addr + uint64(off)
			if in, err := k.decode(at); len(ps) < 5000 && k.check(at) == nil && err == nil && in.probeable(at) == nil {
				ps = append(ps, &Probe{Addr: at})
			}
		}
	}
	each := func(fn func(p *Probe) error) {
		k.do(t, func() error {
			for _, p := range ps {
				if err := fn(p); err != nil {
					return err
				}
			}
			return nil
		})
	}
	each(func(p *Probe) error { return errors.Join(k.Register(p), k.Enable(p)) })
	cats(t, k, 2)
	armed, hits := 0, uint64(0)
	for _, p := range ps {
		if s := k.sites[p.Addr]; s.armed {
			armed++
		}
		hits += p.Hits
	}
	each(k.Unregister)
	k.pass(t, 40*ms)
	cats(t, k, 1)
	k.do(t, func() error { k.reap(); return nil })
	if armed != 5000 || hits == 0 || len(k.sites) != 0 || len(k.m.Oopses()) != 0 {
		t.Errorf("%d armed, %d hits, %d sites left", armed, hits, len(k.sites))
	}
}
