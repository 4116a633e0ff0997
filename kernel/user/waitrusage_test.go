package user

import (
	"encoding/binary"
	"testing"

	"kscope/kernel"
)

// getrusage, and what wait4 and waitid tell of a child's use: its time and its own children's, once they were waited for.
func TestRusage(t *testing.T) {
	got := spawn(t, kernel.Config{CPUs: 2, Seed: 1}, func(s *Sys, print func(string, ...any)) {
		type rusage struct{ us, maxrss, minflt, switches int64 }
		parse := func(b []byte) rusage {
			word := func(i int) int64 { return int64(binary.LittleEndian.Uint64(b[8*i:])) }
			return rusage{word(0)*1e6 + word(1) + word(2)*1e6 + word(3), word(4), word(8), word(16) + word(17)}
		}
		of := func(who int) rusage {
			_, out, e := s.named("getrusage", who, Out(144))
			if e != 0 {
				print("%v", e)
				return rusage{}
			}
			return parse(out[0])
		}
		spin := func(s *Sys, us int) {
			for range us * 4 {
				s.Getpid()
			}
		}
		pid, _ := s.Fork(func(s *Sys) int {
			s.Fork(func(s *Sys) int { spin(s, 3000); return 0 })
			s.Wait4(-1, 0)
			spin(s, 1000)
			return 0
		})
		_, out, e := s.named("wait4", pid, Out(4), 0, Out(144))
		child := parse(out[1])
		print("%d: as long as both %v, more than one's %v, sleeps %v, faults %v, memory %v", e, child.us > 2000 && child.us < 20000,
			child.us > 1500, child.switches > 1, child.minflt > 2 && child.minflt < 50, child.maxrss > 4 && child.maxrss < 1000)
		print("children %v", of(-1) == child)
		self, thread := of(0), of(1)
		print("less than them %v, a thread's alone %v, memory %v", self.us < child.us, thread.us >= self.us && thread.minflt >= self.minflt, self.maxrss > 0)
		pid, _ = s.Fork(func(s *Sys) int { spin(s, 500); return 0 })
		for _, options := range []int{0x1000004, 4} {
			_, out, e = s.named("waitid", 1, pid, Out(128), options, Out(144))
			print("%d: %v", e, parse(out[1]).us > 100)
		}
		print("more %v", of(-1).us > child.us)
		of(-2)
		of(7)
	})
	const want = `0: as long as both true, more than one's true, sleeps true, faults true, memory true
children true
less than them true, a thread's alone true, memory true
0: true
0: true
more true
Invalid argument
Invalid argument
`
	if got != want {
		t.Errorf("%s want\n%s", got, want)
	}
}
