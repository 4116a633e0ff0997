//go:build unix

package kernel_test

import (
	"bytes"
	"syscall"
	"testing"
	"time"

	"kscope/kernel"
	"kscope/kernel/user"
)

// mixPrograms are the programs of the kernel mix: each is endless, and one round of it is real work of the guest's kernel.
var mixPrograms = []struct {
	name  string
	round func(s *user.Sys)
}{
	{"files", mixFiles}, {"names", mixNames}, {"pipe", mixPipe}, {"memory", mixMemory}, {"spawn", mixSpawn}, {"hot", mixHot},
}

// mixFiles writes, seeks and reads 8 KiB of a file: copies, the page cache, descriptors.
func mixFiles(s *user.Sys) {
	fd, e := s.Open("/tmp/mix", 0x42, 0o644)
	buf, e2 := s.Mmap(8192)
	if e != 0 || e2 != 0 {
		return
	}
	for range 16 {
		s.Lseek(fd, 0, 0)
		s.WriteFrom(fd, buf, 8192)
		s.Lseek(fd, 0, 0)
		s.ReadInto(fd, buf)
	}
	s.Munmap(buf)
	s.Close(fd)
}

// mixNames walks, makes, renames and removes names: string functions, hashing, allocation, inodes.
func mixNames(s *user.Sys) {
	s.Mkdir("/tmp/mixdir", 0o755)
	if fd, e := s.Open("/tmp/mixdir/a_name_of_some_length", 0x42, 0o644); e == 0 {
		s.Close(fd)
	}
	s.Rename("/tmp/mixdir/a_name_of_some_length", "/tmp/mixdir/another")
	for range 8 {
		s.Stat("/tmp/mixdir/another")
		s.Stat("/etc/hostname")
		s.Stat("/no/such/file")
	}
	s.ReadDir("/bin")
	s.Unlink("/tmp/mixdir/another")
	s.Rmdir("/tmp/mixdir")
}

// mixPipe sends 256 KiB from a child to its parent: sleeps, wakings, switches, copies.
func mixPipe(s *user.Sys) {
	r, w, e := s.Pipe()
	if e != 0 {
		return
	}
	s.Fork(func(c *user.Sys) int {
		c.Close(r)
		buf, _ := c.Mmap(16384)
		for range 16 {
			c.WriteFrom(w, buf, 16384)
		}
		return 0
	})
	s.Close(w)
	buf, _ := s.Mmap(16384)
	for {
		if n, e := s.ReadInto(r, buf); n == 0 || e != 0 {
			break
		}
	}
	s.Munmap(buf)
	s.Close(r)
	s.Wait4(-1, 0)
}

// mixMemory maps, touches and unmaps 64 pages: page faults, zeroing, page tables.
func mixMemory(s *user.Sys) {
	b, e := s.Mmap(64 * 4096)
	if e != 0 {
		return
	}
	if fd, e := s.Open("/dev/zero", 0, 0); e == 0 {
		s.ReadInto(fd, b) // the kernel touches the pages
		s.Close(fd)
	}
	s.Munmap(b)
}

// mixSpawn is fork, exec, exit and wait.
func mixSpawn(s *user.Sys) {
	s.Fork(func(c *user.Sys) int { c.Exec("/bin/true", []string{"true"}, nil); return 1 })
	s.Wait4(-1, 0)
}

// mixHot is a thousand calls of a small kernel function.
func mixHot(s *user.Sys) { s.Call(600, 1, 1000) }

// mixMachine boots 4 CPUs with user programs. Calls of __fentry__ become nops, as with a tracer that does not trace.
func mixMachine(b *testing.B, snaps *kernel.Snapshots) (*kernel.Machine, *user.Host) {
	m, err := snaps.Machine(kernel.Config{Initrd: user.Initrd(), CPUs: 4, Seed: 1}, func(m *kernel.Machine) error {
		m.RegisterGate("ftrace_process_locs", func(*kernel.VCPU) uint64 {
			start, _ := m.SymAddr("__start_mcount_loc")
			end, _ := m.SymAddr("__stop_mcount_loc")
			for ; start < end; start += 8 {
				site, err := m.U64(start)
				if err == nil {
					err = m.Text().Early(site, []byte{0x0f, 0x1f, 0x44, 0, 0})
				}
				if err != nil {
					b.Fatal(err)
				}
			}
			return 0
		})
		kernel.Bare(m)
		_, err := user.New(m)
		return err
	})
	if err != nil {
		b.Fatal(err)
	}
	host, _ := kernel.PartOf[*user.Host](m)
	return m, host
}

// BenchmarkVariedMix runs every program of the mix at once, and each alone in four copies, on 4 CPUs at the default slice. It
// reports MIPS: millions of guest instructions in a second of the host's processor, the programs' own Go code included. A string
// instruction counts as one, however much it copies.
func BenchmarkVariedMix(b *testing.B) {
	var snaps kernel.Snapshots
	run := func(b *testing.B, names ...string) {
		m, host := mixMachine(b, &snaps)
		defer host.Close()
		var out bytes.Buffer
		for _, name := range names {
			for _, p := range mixPrograms {
				if p.name != name {
					continue
				}
				main := func(s *user.Sys, _ []string) int {
					for {
						p.round(s)
					}
				}
				if _, err := host.Spawn(user.Program{Name: name, Main: main}, nil, kernel.Streams{Out: &out, Err: &out}); err != nil {
					b.Fatal(err)
				}
			}
		}
		m.Run(kernel.Until{Insns: 2e6})
		b.ResetTimer()
		start, clock := m.Insns(), processorTime()
		for range b.N {
			if stop := m.Run(kernel.Until{Insns: 1e5}); stop.Reason != kernel.StopDone {
				b.Fatal(stop)
			}
		}
		b.ReportMetric(float64(m.Insns()-start)/(processorTime()-clock).Seconds()/1e6, "MIPS")
	}
	var all []string
	for _, p := range mixPrograms {
		all = append(all, p.name)
	}
	b.Run("all", func(b *testing.B) { run(b, all...) })
	for _, p := range mixPrograms {
		b.Run(p.name, func(b *testing.B) { run(b, p.name, p.name, p.name, p.name) })
	}
}

// processorTime is what this process has used.
func processorTime() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
