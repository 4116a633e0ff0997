package user

import (
	"encoding/binary"
	"testing"

	"kscope/kernel"
)

const (
	sigUSR1 = 10
	sigSEGV = 11
	sigUSR2 = 12
)

// The handler runs on a frame on the user stack and goes back by rt_sigreturn: registers and the mask are as before.
func TestSignalFrames(t *testing.T) {
	got := spawn(t, kernel.Config{CPUs: 2, Seed: 1}, func(s *Sys, print func(string, ...any)) {
		s.Signal(sigUSR1, Catch)
		s.Signal(sigUSR2, Catch)
		self := s.Getpid()
		for range 100 {
			s.do1("kill", self, sigUSR1)
		}
		print("caught %#x, then %#x", s.Caught(), s.Caught())
		// blocked: pending, and only then caught
		mask := binary.LittleEndian.AppendUint64(nil, 1<<(sigUSR2-1))
		s.do1("rt_sigprocmask", 0, mask, nil, 8)
		s.do1("kill", self, sigUSR2)
		_, out, _ := s.named("rt_sigpending", Out(8), 8)
		print("pending %#x, caught %#x", binary.LittleEndian.Uint64(out[0]), s.Caught())
		s.do1("rt_sigprocmask", 1, mask, nil, 8)
		print("caught %#x", s.Caught())
		// a sleep is interrupted
		pid, _ := s.Fork(func(s *Sys) int {
			s.do1("nanosleep", append(make([]byte, 8), binary.LittleEndian.AppendUint64(nil, 1e6)...), nil)
			s.do1("kill", self, sigUSR1)
			return 0
		})
		e := s.do1("nanosleep", append(binary.LittleEndian.AppendUint64(nil, 100), make([]byte, 8)...), nil)
		print("%v, caught %#x", e == kernel.EINTR, s.Caught())
		s.Wait4(pid, 0)
	})
	const want = "caught 0x200, then 0x0\npending 0x800, caught 0x0\ncaught 0x800\ntrue, caught 0x200\n"
	if got != want {
		t.Errorf("%s want\n%s", got, want)
	}
}

// A frame that cannot be written, a return to nowhere, and a handler without a restorer kill by SIGSEGV; the machine goes on.
func TestBadSignalFrames(t *testing.T) {
	got := spawn(t, kernel.Config{CPUs: 2, Seed: 1}, func(s *Sys, print func(string, ...any)) {
		for i, child := range []func(s *Sys) int{
			func(s *Sys) int { // rt_sigreturn of whatever lies on the stack
				s.do1("rt_sigreturn")
				return 0
			},
			func(s *Sys) int { // no SA_RESTORER
				act := make([]byte, 32)
				binary.LittleEndian.PutUint64(act, s.p.stub.handler)
				s.do1("rt_sigaction", sigUSR1, act, nil, 8)
				s.do1("kill", s.Getpid(), sigUSR1)
				return 0
			},
			func(s *Sys) int { // a handler in the kernel's half
				act := make([]byte, 32)
				binary.LittleEndian.PutUint64(act, 0xffff888000000000)
				binary.LittleEndian.PutUint64(act[8:], 0x04000000)
				binary.LittleEndian.PutUint64(act[16:], s.p.stub.restorer)
				s.do1("rt_sigaction", sigUSR1, act, nil, 8)
				s.do1("kill", s.Getpid(), sigUSR1)
				return 0
			},
		} {
			pid, _ := s.Fork(child)
			_, status, _ := s.Wait4(pid, 0)
			print("%d: %d", i, status&127)
		}
	})
	if want := "0: 11\n1: 11\n2: 11\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// kill in every state: running, sleeping, waiting in a pipe, stopped, not yet reaped.
func TestKillInEveryState(t *testing.T) {
	for seed := range uint64(8) {
		got := spawn(t, kernel.Config{CPUs: 2, Seed: seed}, func(s *Sys, print func(string, ...any)) {
			sleep := func(s *Sys, ns uint64) {
				s.do1("nanosleep", append(make([]byte, 8), binary.LittleEndian.AppendUint64(nil, ns)...), nil)
			}
			r, w, _ := s.Pipe()
			children := []func(s *Sys) int{
				func(s *Sys) int {
					for {
						s.Work(10_000)
						s.Getpid()
					}
				},
				func(s *Sys) int { sleep(s, 900e6); return 1 },
				func(s *Sys) int { s.Read(r, 1); return 1 },
				func(s *Sys) int { s.do1("pause"); return 1 },
				func(s *Sys) int { s.do1("kill", s.Getpid(), 19); return 1 },
				func(s *Sys) int { s.do1("futex", int(s.p.stub.scratch)+(40<<10), 0, 0, nil, 0, 0); return 1 },
			}
			var pids []int
			for _, c := range children {
				pid, _ := s.Fork(c)
				pids = append(pids, pid)
			}
			sleep(s, 3e6)
			for i, pid := range pids {
				e := s.do1("kill", pid, 9)
				_, status, _ := s.Wait4(pid, 0)
				if e != 0 || status != 9 {
					print("%d: %v, status %#x", i, e, status)
				}
			}
			pid, _ := s.Fork(func(s *Sys) int { return 7 })
			sleep(s, 3e6)
			e := s.do1("kill", pid, 9) // a zombie: nothing happens
			_, status, _ := s.Wait4(pid, 0)
			print("zombie %v %#x; gone %v", e == 0, status, s.do1("kill", pid, 9) == kernel.ESRCH)
			s.Close(r)
			s.Close(w)
		})
		if want := "zombie true 0x700; gone true\n"; got != want {
			t.Errorf("seed %d: %s", seed, got)
		}
	}
}

// Two processes share a word of a file: waits that find another value, time out, are woken, moved to another word, and match
// by bits.
func TestFutex(t *testing.T) {
	got := spawn(t, kernel.Config{CPUs: 2, Seed: 5}, func(s *Sys, print func(string, ...any)) {
		fd, _ := s.Open("/tmp/shared", 0o102, 0o600)
		s.Write(fd, make([]byte, 4096))
		addr, _, e := s.named("mmap", 0, 4096, 3, 1, fd, 0)
		if e != 0 {
			print("mmap: %v", e)
			return
		}
		word := int(addr)
		call := func(s *Sys, args ...any) (int64, kernel.Errno) { n, _, e := s.named("futex", args...); return n, e }
		_, e = call(s, word, 0, 1, nil, 0, 0)
		print("another value: %v", e)
		ms := append(make([]byte, 8), binary.LittleEndian.AppendUint64(nil, 2e6)...)
		_, e = call(s, word, 0, 0, ms, 0, 0)
		print("timeout: %v", e)
		_, e = call(s, word+1, 0, 0, nil, 0, 0)
		print("not aligned: %v", e)
		var pids []int
		for i := range 4 {
			pid, _ := s.Fork(func(s *Sys) int {
				_, e := call(s, word, 9, 0, nil, 0, 1<<i) // FUTEX_WAIT_BITSET
				return int(e)
			})
			pids = append(pids, pid)
		}
		s.do1("nanosleep", ms, nil)
		n, _ := call(s, word, 10, 9, nil, 0, 0b0110)
		print("woken by bits: %d", n)
		n, _ = call(s, word, 3, 0, 9, word+8, 0) // FUTEX_REQUEUE: none woken, all moved
		print("moved: %d", n)
		n, _ = call(s, word, 1, 9, nil, 0, 0)
		print("left at the first: %d", n)
		n, _ = call(s, word+8, 1, 9, nil, 0, 0)
		print("woken at the second: %d", n)
		for _, pid := range pids {
			_, status, _ := s.Wait4(pid, 0)
			if status != 0 {
				print("status %#x", status)
			}
		}
	})
	const want = "another value: Resource temporarily unavailable\ntimeout: Connection timed out\nnot aligned: Invalid argument\n" +
		"woken by bits: 2\nmoved: 2\nleft at the first: 0\nwoken at the second: 2\n"
	if got != want {
		t.Errorf("%s want\n%s", got, want)
	}
}

func queued(code int32, value uint64) []byte { // siginfo for rt_sigqueueinfo
	b := make([]byte, 128)
	binary.LittleEndian.PutUint32(b[8:], uint32(code))
	binary.LittleEndian.PutUint64(b[24:], value)
	return b
}

// Real-time signals queue, each with its value, in order, the lowest number first; RLIMIT_SIGPENDING bounds them. Of a classic
// signal one pends. sigtimedwait takes them, or times out; a sender wakes it.
func TestRealTimeSignals(t *testing.T) {
	const rt1, rt2, siQueue = 40, 35, -1
	got := spawn(t, kernel.Config{CPUs: 2, Seed: 1}, func(s *Sys, print func(string, ...any)) {
		self := s.Getpid()
		set := binary.LittleEndian.AppendUint64(nil, 1<<(rt1-1)|1<<(rt2-1)|1<<(sigUSR1-1))
		s.do1("rt_sigprocmask", 0, set, nil, 8)
		queue := func(sig int, v uint64) kernel.Errno { return s.do1("rt_sigqueueinfo", self, sig, queued(siQueue, v)) }
		take := func(timeout uint64) {
			n, out, e := s.named("rt_sigtimedwait", set, Out(128), words(0, timeout), 8)
			if e != 0 {
				print("%d", e)
				return
			}
			i := out[0]
			print("%d: code %d value %d", n, int32(binary.LittleEndian.Uint32(i[8:])), binary.LittleEndian.Uint64(i[24:]))
		}
		for v := range uint64(3) {
			queue(rt1, v+1)
			queue(rt2, v+11)
			queue(sigUSR1, v+21)
		}
		for range 8 {
			take(0)
		}
		for v := range uint64(4) { // one more than the limit
			if v == 0 {
				s.do1("setrlimit", 11, words(3, 3))
			}
			print("%d", queue(rt1, v))
		}
		for range 4 {
			take(0)
		}
		pid, _ := s.Fork(func(s *Sys) int {
			s.sleepFor(1e6)
			s.do1("rt_sigqueueinfo", self, rt2, queued(siQueue, 99))
			return 0
		})
		take(500e6)
		s.Wait4(pid, 0)
		take(5e6)
		print("%d %d", s.do1("rt_sigqueueinfo", 1, rt1, queued(0, 0)), s.do1("rt_sigqueueinfo", self, 65, queued(-1, 0)))
		print("%d %d", s.do1("tgkill", self+1, self, 0), s.do1("tgkill", self, self, 0))
	})
	const want = `10: code -1 value 21
35: code -1 value 11
35: code -1 value 12
35: code -1 value 13
40: code -1 value 1
40: code -1 value 2
40: code -1 value 3
11
0
0
0
11
40: code -1 value 0
40: code -1 value 1
40: code -1 value 2
11
35: code -1 value 99
11
1 22
3 0
`
	if got != want {
		t.Errorf("%s want\n%s", got, want)
	}
}

// What a signal tells: of a fault why and where, of kill() who, of tgkill() that it was that.
func TestSiginfoCodes(t *testing.T) {
	m, h := boot(t, kernel.Config{CPUs: 2, Seed: 1})
	fn, ok := m.SymAddr("__send_signal_locked")
	if !ok {
		t.Fatal("no __send_signal_locked")
	}
	seen := map[[2]int32]bool{}
	if _, err := m.Hook(fn, func(c *kernel.VCPU) {
		if info := c.Arg(1); info > 1 {
			var b [12]byte
			m.Read(info, b[:])
			seen[[2]int32{int32(c.Arg(0)), int32(binary.LittleEndian.Uint32(b[8:]))}] = true
		}
	}); err != nil {
		t.Fatal(err)
	}
	pid, err := h.Spawn(Program{Name: "prog", Main: func(s *Sys, _ []string) int {
		fork := func(fn func(s *Sys)) {
			pid, _ := s.Fork(func(s *Sys) int { fn(s); return 0 })
			s.Wait4(pid, 0)
		}
		jump := func(s *Sys, to uint64) { // by a frame of rt_sigreturn: a handler there
			s.do1("rt_sigaction", sigUSR1, words(to, 0x04000000, s.p.stub.restorer, 0), nil, 8)
			s.Kill(s.Getpid(), sigUSR1)
		}
		fork(func(s *Sys) { jump(s, 0x10000) })          // nothing there
		fork(func(s *Sys) { jump(s, s.p.stub.scratch) }) // memory, not to be executed
		fork(func(s *Sys) {})
		fork(func(s *Sys) { s.do1("tgkill", s.Getpid(), s.Getpid(), 9) })
		return 0
	}}, nil, kernel.Streams{})
	if err == nil {
		_, err = m.Wait(pid)
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range [][2]int32{{sigSEGV, 1}, {sigSEGV, 2}, {sigUSR1, 0}, {9, -6}, {17, 1}, {17, 2}} {
		if !seen[want] {
			t.Errorf("no signal %d with code %d: %v", want[0], want[1], seen)
		}
	}
}
