package user

import (
	"encoding/binary"
	"strings"
	"testing"

	"kscope/kernel"
)

const (
	sigHUP  = 1
	sigKILL = 9
	sigXCPU = 24
	sigCONT = 18
	sigSTOP = 19
)

func words(v ...uint64) (b []byte) {
	for _, x := range v {
		b = binary.LittleEndian.AppendUint64(b, x)
	}
	return b
}

// ulimit -t: SIGXCPU at the soft limit and each second behind it, SIGKILL at the hard one.
func TestCPULimit(t *testing.T) {
	got := spawn(t, kernel.Config{CPUs: 2, Seed: 1}, func(s *Sys, print func(string, ...any)) {
		spin := func(soft, hard uint64, catch bool) (status int) {
			pid, _ := s.Fork(func(s *Sys) int {
				if catch {
					s.Signal(sigXCPU, Catch)
				}
				s.do1("setrlimit", 0, words(soft, hard))
				for range 10_000 {
					s.Work(10_000_000)
					if s.Caught() != 0 && soft+1 == hard {
						print("warned")
					}
				}
				return 0
			})
			_, status, _ = s.Wait4(pid, 0)
			return status & 127
		}
		print("%d", spin(1, 1<<63-1, false))
		print("%d", spin(1, 2, true))
	})
	if want := "24\nwarned\n9\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// A thread that dies with a lock of its robust list held marks it and wakes one waiter.
func TestRobustList(t *testing.T) {
	got := spawn(t, kernel.Config{CPUs: 2, Seed: 1}, func(s *Sys, print func(string, ...any)) {
		const waiters, ownerDied = 1 << 31, 1 << 30
		fd, _ := s.Open("/root/lock", 0o102, 0o600)
		s.Write(fd, make([]byte, 4096))
		at, _, e := s.named("mmap", 0, 4096, 3, 1, fd, 0) // read and write, MAP_SHARED
		base := uint64(at)
		if e != 0 {
			print("mmap %v", e)
		}
		pid, _ := s.Fork(func(s *Sys) int {
			s.named("pwrite64", fd, words(uint64(s.Getpid())|waiters), 8, 0)
			// the head at 16: first entry, the word's offset from an entry, nothing pending; the entry at 64: back to the head
			s.named("pwrite64", fd, words(base+64, ^uint64(63), 0), 24, 16)
			s.named("pwrite64", fd, words(base+16), 8, 64)
			if e := s.do1("set_robust_list", int(base+16), 24); e != 0 {
				return 1
			}
			s.sleepFor(2e6)
			return 0
		})
		s.sleepFor(1e6)
		n, _, e := s.named("futex", int(base), 0, int(uint64(pid)|waiters), 0, 0, 0)
		_, out, _ := s.named("pread64", fd, Out(8), 8, 0)
		print("woken %d %v, owner died %v", n, e == 0, binary.LittleEndian.Uint64(out[0]) == waiters|ownerDied)
		_, status, _ := s.Wait4(pid, 0)
		print("%d %v", status, s.do1("set_robust_list", int(base+16), 23) == kernel.EINVAL)
	})
	if want := "woken 0 true, owner died true\n0 true\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// A stopped task whose group loses the last parent that could continue it is hung up and continued (POSIX, 3.2.2.2).
func TestOrphanedGroup(t *testing.T) {
	got := spawn(t, kernel.Config{CPUs: 2, Seed: 1}, func(s *Sys, print func(string, ...any)) {
		r, w, _ := s.Pipe()
		pid, _ := s.Fork(func(s *Sys) int { // the job's leader, a group of its own
			s.do1("setpgid", 0, 0)
			s.Fork(func(s *Sys) int {
				s.Kill(s.Getpid(), sigSTOP)
				s.Write(w, []byte("continued without SIGHUP"))
				return 0
			})
			s.sleepFor(2e6)
			return 0
		})
		s.Close(w)
		s.Wait4(pid, 0)
		data, e := s.Read(r, 100) // the end, when the last writer is dead
		print("%q %d", data, e)
	})
	if want := "\"\" 0\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// A file that shrinks loses its mappings' pages too: who touches them again gets SIGBUS, here as a system call's EFAULT.
func TestTruncateUnmaps(t *testing.T) {
	got := spawn(t, kernel.Config{CPUs: 2, Seed: 1}, func(s *Sys, print func(string, ...any)) {
		fd, _ := s.Open("/root/f", 0o102, 0o600)
		s.Write(fd, []byte(strings.Repeat("x", 3*4096)))
		out, _ := s.Open("/root/out", 0o102, 0o600)
		shared, _, _ := s.named("mmap", 0, 3*4096, 1, 1, fd, 0)
		private, _, _ := s.named("mmap", 0, 3*4096, 3, 2, fd, 0)
		try := func(what string) {
			for _, at := range []int64{shared, shared + 4096, private, private + 4096, private + 8192} {
				n, _, e := s.named("write", out, int(at), 1)
				print("%s: %d %d", what, n, e)
			}
		}
		try("before")
		s.do1("ftruncate", fd, 4096)
		try("after")
	})
	want := strings.Repeat("before: 1 0\n", 5)
	for _, ok := range []bool{true, false, true, false, false} {
		if ok {
			want += "after: 1 0\n"
		} else {
			want += "after: -14 14\n"
		}
	}
	if got != want {
		t.Errorf("got %swant %s", got, want)
	}
}
