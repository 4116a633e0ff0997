package user

import (
	"encoding/binary"
	"encoding/hex"
	"testing"

	"kscope/kernel"
)

// threadsProgram is a static ELF file of three threads: the first makes two by clone(CLONE_VM|FS|FILES|SIGHAND|THREAD) and pauses;
// one counts as fast as it can and writes its count to offset 0 of file 3, one between naps of 200 us to offset 8. Source:
//
//	_start: clone(0x10f00, .+0x1000) -> spin; clone(0x10f00, .+0x1800) -> nap; for (;;) pause();
//	spin:   r12 = 0; goto count
//	nap:    r12 = 8; nanosleep({0, 200000}, 0)
//	count:  n[r12/8]++; pwrite64(3, &n[r12/8], 8, r12); goto r12 ? nap : count
func threadsProgram(t *testing.T) []byte {
	text, err := hex.DecodeString("bf000f0100488d1d38000000488d3500100000b8380000000f0585c07502ffe3488d1d2200000048" +
		"8d3500180000b8380000000f0585c07502ffe3b8220000000f05ebf74531e4eb1641bc08000000b8" +
		"23000000488d3d2d00000031f60f05488d35320000004c01e648ff06b812000000bf03000000ba08" +
		"0000004d89e20f054d85e474daebc2900000000000000000400d030000000000" + "00000000000000000000000000000000")
	if err != nil {
		t.Fatal(err)
	}
	const base, head = 0x400000, 64 + 56
	le := binary.LittleEndian
	b := append([]byte("\x7fELF\x02\x01\x01"), make([]byte, 9)...)
	b = le.AppendUint32(le.AppendUint16(le.AppendUint16(b, 2), 62), 1) // ET_EXEC, x86-64
	b = append(b, words(base+head, 64, 0)...)
	b = le.AppendUint32(b, 0)
	for _, v := range []uint16{64, 56, 1, 0, 0, 0} {
		b = le.AppendUint16(b, v)
	}
	b = le.AppendUint32(le.AppendUint32(b, 1), 7) // PT_LOAD, rwx
	b = append(b, words(0, base, base, uint64(head+len(text)), 0x3000, 0x1000)...)
	return append(b, text...)
}

// A stop stops all threads of a process, and only then is told to the parent, once; a continuation goes on with all of them; a stop that
// SIGCONT or SIGKILL overtakes leaves nothing behind. As on 6.1 (oracle: the same with pthreads).
func TestGroupStop(t *testing.T) {
	program := threadsProgram(t)
	const stopped, continued, nohang = 2, 8, 1
	for seed := range uint64(4) {
		got := spawn(t, kernel.Config{CPUs: 2, Seed: seed}, func(s *Sys, print func(string, ...any)) {
			fd, _ := s.Open("/root/threads", 0o101, 0o755)
			s.Write(fd, program)
			s.Close(fd)
			out, _ := s.Open("/root/counts", 0o102, 0o644)
			s.Write(out, make([]byte, 16))
			pid, _ := s.Fork(func(s *Sys) int {
				s.Dup2(out, 3)
				s.Exec("/root/threads", []string{"threads"}, nil)
				return 1
			})
			counts := func() (n [2]uint64) {
				_, b, _ := s.named("pread64", out, Out(16), 16, 0)
				return [2]uint64{binary.LittleEndian.Uint64(b[0]), binary.LittleEndian.Uint64(b[0][8:])}
			}
			run := func() bool { // both threads get on
				a := counts()
				for range 50 {
					s.sleepFor(1e6)
					if b := counts(); b[0] > a[0] && b[1] > a[1] {
						return true
					}
				}
				return false
			}
			print("runs %v", run())
			s.Kill(pid, sigSTOP)
			w, status, _ := s.Wait4(pid, stopped)
			before := counts()
			again, _, _ := s.Wait4(pid, stopped|nohang)
			s.sleepFor(20e6)
			print("stopped %v %#x, again %d, frozen %v", w == pid, status, again, counts() == before)
			s.Kill(pid, sigCONT)
			w, status, _ = s.Wait4(pid, continued)
			print("continued %v %#x, runs %v", w == pid, status, run())
			for i := range 20 { // overtaken at any moment
				s.Kill(pid, sigSTOP)
				s.Work(i * 500)
				s.Kill(pid, sigCONT)
			}
			print("runs %v", run())
			s.Wait4(pid, continued|nohang)
			s.Kill(pid, sigSTOP)
			s.Kill(pid, sigKILL)
			w, status, _ = s.Wait4(pid, stopped)
			print("killed %v %#x", w == pid, status)
		})
		const want = "runs true\nstopped true 0x137f, again 0, frozen true\ncontinued true 0xffff, runs true\nruns true\nkilled true 0x9\n"
		if got != want {
			t.Errorf("seed %d: %s want\n%s", seed, got, want)
		}
	}
}
