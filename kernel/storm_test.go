package kernel_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"testing"

	"kscope/kernel"
	"kscope/kernel/user"
)

// storm is a program that does a random mixture of what the guest kernel offers, and whose children do so too.
type storm struct {
	rng   *rand.Rand
	depth int
}

func newStorm(seed uint64, depth int) *storm { return &storm{rand.New(rand.NewPCG(seed, 1)), depth} }

func (st *storm) run(s *user.Sys) int {
	acts := []func(*user.Sys){st.sleep, st.file, st.pipe, st.tree, st.kill, st.memory, st.exec, st.yield, st.move}
	for range 6 {
		acts[st.rng.IntN(len(acts))](s)
	}
	return 0
}

func (st *storm) sleep(s *user.Sys) { s.Nanosleep(st.rng.Uint64N(2_000_000)) }
func (st *storm) move(s *user.Sys)  { s.SetAffinity(1 + st.rng.Uint64N(15)) }

func (st *storm) yield(s *user.Sys) {
	s.Call(24)                             // sched_yield
	s.Call(600, 1, st.rng.Uint64N(20_000)) // kscope: calls of kscope_hot
}

func (st *storm) file(s *user.Sys) {
	fd, e := s.Open(fmt.Sprintf("/tmp/f%d", st.rng.IntN(5)), 0x42, 0o644)
	if e != 0 {
		return
	}
	s.Write(fd, bytes.Repeat([]byte("x"), st.rng.IntN(9000)))
	s.Lseek(fd, 0, 0)
	s.Read(fd, 100)
	s.Close(fd)
}

func (st *storm) pipe(s *user.Sys) {
	r, w, e := s.Pipe()
	if e != 0 {
		return
	}
	n := st.rng.IntN(70_000)
	s.Fork(func(c *user.Sys) int {
		c.Close(r)
		c.Write(w, bytes.Repeat([]byte("y"), n))
		return 3
	})
	s.Close(w)
	for {
		if b, e := s.Read(r, 4000); len(b) == 0 || e != 0 {
			break
		}
	}
	s.Close(r)
	s.Wait4(-1, 0)
}

func (st *storm) tree(s *user.Sys) {
	if st.depth == 3 {
		return
	}
	n := 1 + st.rng.IntN(3)
	for range n {
		child := newStorm(st.rng.Uint64(), st.depth+1)
		s.Fork(func(c *user.Sys) int { return child.run(c) })
	}
	for range n {
		s.Wait4(-1, 0)
	}
}

func (st *storm) kill(s *user.Sys) {
	pid, e := s.Fork(func(c *user.Sys) int { c.Nanosleep(1e12); return 0 })
	if e != 0 {
		return
	}
	if st.rng.IntN(2) == 0 {
		s.Nanosleep(st.rng.Uint64N(100_000))
	}
	s.Kill(pid, []int{9, 15, 2}[st.rng.IntN(3)])
	if _, status, _ := s.Wait4(pid, 0); status&0x7f == 0 {
		s.ExitGroup(99)
	}
}

func (st *storm) memory(s *user.Sys) {
	if b, e := s.Mmap(1 + st.rng.IntN(200_000)); e == 0 {
		s.Call(600, 1, 1000)
		s.Munmap(b)
	}
}

func (st *storm) exec(s *user.Sys) {
	s.Fork(func(c *user.Sys) int { c.Exec("/bin/cat", []string{"cat", "/etc/passwd"}, nil); return 9 })
	s.Wait4(-1, 0)
}

// freePages is the guest's own count, less what the CPUs' lists hold.
func freePages(t *testing.T, m *kernel.Machine) uint64 {
	va, ok := m.Symbols().Lookup("contig_zone")
	off := m.Types().Struct("zone").Field("free_pages").Offset
	var b [8]byte
	if !ok || m.Read(va+uint64(off), b[:]) != nil {
		t.Fatal("no contig_zone")
	}
	return binary.LittleEndian.Uint64(b[:])
}

// TestStorm: random trees of processes end as they should on 1 to 64 CPUs: no deadlock, no oops, no memory lost.
func TestStorm(t *testing.T) {
	for _, cpus := range []int{1, 2, 4, 64} {
		for seed := range uint64(4) {
			m, _ := withPrograms(t, kernel.Config{Seed: seed, CPUs: cpus})
			stormOnce(t, m, seed)
		}
	}
}

func stormOnce(t *testing.T, m *kernel.Machine, seed uint64) {
	host, _ := kernel.PartOf[*user.Host](m)
	defer host.Close()
	var free []uint64
	for round := range 3 {
		var pids []int
		for k := range uint64(4) {
			st := newStorm(seed*4+k, 0)
			prog := user.Program{Name: "storm", Main: func(s *user.Sys, _ []string) int { return st.run(s) }}
			pid, err := host.Spawn(prog, nil, kernel.Streams{})
			if err != nil {
				t.Fatal(err)
			}
			pids = append(pids, pid)
		}
		for _, pid := range pids {
			stop := m.Run(kernel.Until{Time: m.Now() + 60e9, Insns: 100e6, Pid: pid})
			if code, ok := m.Exited(pid); !ok || code != 0 {
				t.Fatalf("%d CPUs, seed %d, round %d: pid %d: %v: exited %v, status %d; tasks %+v", m.NumCPU(), seed, round, pid, stop, ok, code, m.Tasks())
			}
		}
		m.Run(kernel.Until{Time: m.Now() + 50e6})
		free = append(free, freePages(t, m))
	}
	if n := len(m.Oopses()); n > 0 {
		t.Errorf("%d CPUs, seed %d: %d oopses: %s", m.NumCPU(), seed, n, m.Oopses()[0].Text())
	}
	// The caches grow in the first round; each CPU's list of pages holds at most 60.
	if lost := int(free[0]) - int(free[2]); lost > 64+60*m.NumCPU() {
		t.Errorf("%d CPUs, seed %d: free pages %v: %d are lost", m.NumCPU(), seed, free, lost)
	}
}
