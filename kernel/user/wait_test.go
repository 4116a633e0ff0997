package user

import (
	"encoding/binary"
	"testing"

	"kscope/kernel"
)

// waitid: a child's end, its death by a signal, a stop and its continuation, each first looked at (WNOWAIT) and then taken; process
// groups; nothing to tell yet; and the mistakes, whose numbers are Linux's.
func TestWaitid(t *testing.T) {
	const (
		all, pidOf, group                               = 0, 1, 2
		noHang, stopped, exited, continued, noWait, bad = 1, 2, 4, 8, 0x1000000, 0x100
		sigKILL, sigCONT, sigSTOP                       = 9, 18, 19
	)
	got := spawn(t, kernel.Config{CPUs: 2, Seed: 1}, func(s *Sys, print func(string, ...any)) {
		wait := func(which, id, options int) {
			ret, out, e := s.named("waitid", which, id, Out(128), options, 0)
			word := func(off int) int32 { return int32(binary.LittleEndian.Uint32(out[0][off:])) }
			if e != 0 {
				print("%v", e)
				return
			}
			print("%d: signo %d code %d uid %d status %d same %v", ret, word(0), word(8), word(20), word(24), int(word(16)) == id)
		}
		pid, _ := s.Fork(func(s *Sys) int { return 7 })
		wait(pidOf, pid, exited|noWait)
		wait(pidOf, pid, exited)
		wait(pidOf, pid, exited)
		pid, _ = s.Fork(func(s *Sys) int {
			for {
				s.do1("pause")
			}
		})
		wait(all, 0, exited|stopped|noHang)
		for _, sig := range []int{sigSTOP, sigCONT, sigKILL} {
			s.Kill(pid, sig)
			wait(pidOf, pid, exited|stopped|continued|noWait)
			wait(pidOf, pid, exited|stopped|continued)
		}
		pid, _ = s.Fork(func(s *Sys) int {
			s.do1("setpgid", 0, 0)
			return 1
		})
		wait(group, 0, exited|noHang|noWait)
		s.Nanosleep(1e6)
		wait(group, pid, exited)
		wait(all, 0, exited)
		for _, a := range [][3]int{{pidOf, 0, exited}, {group, -1, exited}, {5, 1, exited}, {all, 0, 0}, {all, 0, exited | bad}, {3, 5, exited}} {
			wait(a[0], a[1], a[2])
		}
	})
	const want = `0: signo 17 code 1 uid 0 status 7 same true
0: signo 17 code 1 uid 0 status 7 same true
No child processes
0: signo 0 code 0 uid 0 status 0 same true
0: signo 17 code 5 uid 0 status 19 same true
0: signo 17 code 5 uid 0 status 19 same true
0: signo 17 code 6 uid 0 status 18 same true
0: signo 17 code 6 uid 0 status 18 same true
0: signo 17 code 2 uid 0 status 9 same true
0: signo 17 code 2 uid 0 status 9 same true
0: signo 0 code 0 uid 0 status 0 same true
0: signo 17 code 1 uid 0 status 1 same true
No child processes
Invalid argument
Invalid argument
Invalid argument
Invalid argument
Invalid argument
Bad file descriptor
`
	if got != want {
		t.Errorf("%s want\n%s", got, want)
	}
}
