package user

import (
	"math/rand"
	"testing"

	"kscope/kernel"
)

// The timer wheel (poll's timeouts are jiffies timers): no timer fires early, none later than its level's granule and a tick;
// also when dozens are set at once, in any order, on several CPUs, and when some are taken back.
func TestTimerWheel(t *testing.T) {
	const tick = 4 // ms
	granule := func(ms uint64) uint64 {
		g := uint64(1)
		for limit := uint64(63); (ms+tick-1)/tick >= limit; limit *= 8 {
			g *= 8
		}
		return g * tick
	}
	poll := func(s *Sys, print func(string, ...any), ms uint64) {
		t0, _ := s.ClockGettime(1)
		s.do1("poll", 0, 0, int(ms))
		t1, _ := s.ClockGettime(1)
		if d := t1 - t0; d < ms*1e6 || d > (ms+granule(ms)+3*tick)*1e6 {
			print("poll of %d ms took %d ns", ms, d)
		}
	}
	got := spawn(t, kernel.Config{CPUs: 4, Seed: 1}, func(s *Sys, print func(string, ...any)) {
		for _, ms := range []uint64{1, 3, 4, 5, 100, 247, 248, 252, 253, 300, 1000, 2015, 2016, 2017, 5000, 16129, 40_000, 1_100_000, 20_000_000} {
			poll(s, print, ms)
		}
		rng := rand.New(rand.NewSource(1))
		for range 40 {
			ms := uint64(rng.Intn(1 << rng.Intn(14)))
			kill := rng.Intn(4) == 0
			pid, _ := s.Fork(func(s *Sys) int {
				for i := range uint64(5) {
					poll(s, print, ms+i*7)
				}
				return 0
			})
			if kill {
				s.sleepFor(uint64(rng.Intn(50)) * 1e6)
				s.Kill(pid, sigKILL)
			}
		}
		for {
			if _, _, e := s.Wait4(-1, 0); e != 0 {
				break
			}
		}
	})
	if got != "" {
		t.Error(got)
	}
}
