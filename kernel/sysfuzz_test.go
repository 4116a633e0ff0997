package kernel_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"kscope/kernel"
	"kscope/kernel/user"
)

// blocking are calls that a random caller might never come back from, or that end it: by number, with the reason.
var blocking = map[int]string{
	7: "poll", 15: "rt_sigreturn", 22: "pipe", 293: "pipe2", 23: "select", 34: "pause", 35: "nanosleep", 37: "alarm", 56: "clone", 57: "fork", 58: "vfork", 60: "exit",
	61: "wait4", 62: "kill", 130: "rt_sigsuspend", 200: "tkill", 230: "clock_nanosleep", 231: "exit_group", 232: "epoll_wait", 234: "tgkill",
	247: "waitid", 270: "pselect6", 271: "ppoll", 281: "epoll_pwait", 435: "clone3",
}

// reads are calls that block on an empty pipe or console, writes on a full one.
var (
	reads  = map[int]bool{0: true, 17: true, 19: true, 40: true, 275: true, 276: true, 295: true}
	writes = map[int]bool{1: true, 18: true, 20: true, 278: true, 296: true}
)

const fuzzNames = "/tmp/a\x00/etc/passwd\x00/proc/self\x00/dev/null\x00/tmp\x00/bin/cat\x00..\x00x/y/z\x00/tmp/a/b\x00"

// fuzzer makes random system calls with arguments that are often nearly right.
type fuzzer struct {
	*rand.Rand
	buf, paths   uint64
	pipeR, pipeW int
	last         string
}

func (f *fuzzer) arg() uint64 {
	switch f.IntN(12) {
	case 0:
		return 0
	case 1:
		return ^uint64(0)
	case 2:
		return uint64(f.IntN(10))
	case 3:
		return f.buf + f.Uint64N(16384)
	case 4:
		return f.paths + f.Uint64N(uint64(len(fuzzNames)))
	case 5:
		return f.paths
	case 6:
		return 0xffff888000000000 + f.Uint64N(1<<26)
	case 7:
		return 1 << f.IntN(64)
	case 8:
		return f.Uint64N(4096)
	case 9:
		return ^uint64(99) // AT_FDCWD
	case 10:
		return f.buf + 16384 - f.Uint64N(64)
	}
	return f.Uint64()
}

// harmless tells whether a call can come back and leaves the program itself in place.
func (f *fuzzer) harmless(nr int, a []uint64) bool {
	fd := int(int32(a[0]))
	switch {
	case blocking[nr] != "":
		return false
	case reads[nr]:
		return fd != f.pipeR && uint32(fd) > 2
	case writes[nr]:
		return fd != f.pipeW
	case nr == 10 || nr == 11: // mprotect, munmap
		return a[0] > 1<<24
	case nr == 32 || nr == 33 || nr == 72 || nr == 292: // the pipe under another number
		return fd != f.pipeR && fd != f.pipeW && uint32(fd) > 2
	case nr == 158: // arch_prctl
		return a[0]>>4 != 0x100
	}
	return true
}

func (f *fuzzer) run(s *user.Sys, calls int) {
	b, _ := s.Mmap(16384)
	f.buf, f.paths = b.Addr, b.Addr+8192
	f.pipeR, f.pipeW, _ = s.Pipe()
	s.Write(f.pipeW, []byte(fuzzNames))
	s.ReadInto(f.pipeR, user.Buf{Addr: f.paths, Size: len(fuzzNames)})
	for i := range calls {
		nr := f.IntN(340)
		if f.IntN(30) == 0 {
			nr = 434 + f.IntN(10)
		}
		args := make([]uint64, 6)
		for i := range args {
			args[i] = f.arg()
		}
		if f.harmless(nr, args) {
			f.last = fmt.Sprintf("call %d: nr %d %#x", i, nr, args)
			s.Call(nr, args...)
		}
	}
}

// TestRandomCalls: no system call, whatever its arguments, harms the guest kernel or hangs the caller.
func TestRandomCalls(t *testing.T) {
	for seed := range uint64(25) {
		m, host := withPrograms(t, kernel.Config{Seed: seed, CPUs: 2})
		f := &fuzzer{Rand: rand.New(rand.NewPCG(seed, 7))}
		prog := user.Program{Name: "fuzz", Main: func(s *user.Sys, _ []string) int { f.run(s, 1500); return 0 }}
		pid, err := host.Spawn(prog, nil, kernel.Streams{})
		if err != nil {
			t.Fatal(err)
		}
		stop := m.Run(kernel.Until{Time: m.Now() + 60e9, Insns: 200e6, Pid: pid})
		if code, ok := m.Exited(pid); !ok || code != 0 {
			t.Errorf("seed %d: %v, exited %v, status %d, last %s", seed, stop, ok, code, f.last)
		}
		if len(m.Oopses()) > 0 {
			t.Errorf("seed %d: last %s\n%s", seed, f.last, m.Oopses()[0].Text())
		}
		host.Close()
	}
}
