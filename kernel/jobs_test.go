package kernel_test

import (
	"fmt"
	"testing"

	"kscope/kernel/user"
)

// TestJobControl: stops and continuations, as a shell sees them through wait4; a stopped task can still be killed.
func TestJobControl(t *testing.T) {
	const (
		sigstop, sigcont, sigkill, sigtstp = 19, 18, 9, 20
		wnohang, wuntraced, wcontinued     = 1, 2, 8
	)
	code := program(t, 4, func(s *user.Sys, check func(string, bool)) {
		sleeper := func(c *user.Sys) int {
			for range 1000 {
				c.Nanosleep(100_000)
			}
			return 1
		}
		wait := func(what string, pid, options, want int) {
			got, status, e := s.Wait4(pid, options)
			check(fmt.Sprintf("%s: pid %d, status %#x, %v; want %#x", what, got, status, e, want), e == 0 && status == want && (got == pid || want == 0))
		}
		pid, _ := s.Fork(sleeper)
		s.Kill(pid, sigstop)
		wait("stopped", pid, wuntraced, sigstop<<8|0x7f)
		wait("a stop is reported once", pid, wnohang|wuntraced, 0)
		s.Nanosleep(1_000_000)
		s.Kill(pid, sigcont)
		wait("continued", pid, wcontinued, 0xffff)
		s.Kill(pid, sigtstp)
		wait("stopped from the keyboard", pid, wuntraced, sigtstp<<8|0x7f)
		s.Kill(pid, sigkill)
		wait("killed while stopped", pid, 0, sigkill)

		pid, _ = s.Fork(func(c *user.Sys) int { c.Nanosleep(3_000_000); return 5 })
		s.Kill(pid, sigstop)
		wait("stopped in a sleep", pid, wuntraced, sigstop<<8|0x7f)
		s.Kill(pid, sigcont)
		wait("ends by itself", pid, 0, 5<<8)
	})
	if code != 0 {
		t.Errorf("status %d", code)
	}
}
