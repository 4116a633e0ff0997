package user

import (
	"encoding/binary"
	"fmt"
	"maps"
	"strings"
	"testing"

	"kscope/kernel"
)

// spawn runs fn as a guest program and returns what it printed by its print function.
func spawn(t *testing.T, cfg kernel.Config, fn func(s *Sys, print func(string, ...any))) string {
	t.Helper()
	m, h := boot(t, cfg)
	var out strings.Builder
	pid, err := h.Spawn(Program{Name: "prog", Main: func(s *Sys, _ []string) int {
		fn(s, func(format string, args ...any) {
			if !s.Replaying() {
				fmt.Fprintf(&out, format+"\n", args...)
			}
		})
		return 0
	}}, nil, kernel.Streams{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.Wait(pid); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func (s *Sys) setPolicy(policy, prio int) kernel.Errno {
	return s.do1("sched_setscheduler", 0, policy, binary.LittleEndian.AppendUint32(nil, uint32(prio)))
}

const (
	schedOther = 0
	schedFIFO  = 1
	schedRR    = 2
)

// On one CPU the most urgent task runs first, whatever the order of their start. Both of priority 5 come down from 90, and
// who comes down stands before its new equals (see __sched_setscheduler).
func TestRealTimeOrder(t *testing.T) {
	for seed := range uint64(4) {
		got := spawn(t, kernel.Config{CPUs: 1, Seed: seed}, func(s *Sys, print func(string, ...any)) {
			s.setPolicy(schedFIFO, 90) // nothing else runs while the children are made
			for _, c := range []struct {
				name         string
				policy, prio int
			}{{"other", schedOther, 0}, {"low", schedFIFO, 5}, {"high", schedFIFO, 50}, {"low2", schedFIFO, 5}, {"mid", schedRR, 20}} {
				s.Fork(func(s *Sys) int {
					s.setPolicy(c.policy, c.prio)
					s.Work(400_000)
					print("%s", c.name)
					return 0
				})
			}
			for range 5 {
				s.Wait4(-1, 0)
			}
		})
		if want := "high\nmid\nlow2\nlow\nother\n"; got != want {
			t.Errorf("seed %d: %q, want %q", seed, got, want)
		}
	}
}

// SCHED_RR takes turns, SCHED_FIFO does not. A slice is 20 ms here.
func TestRoundRobin(t *testing.T) {
	for policy, want := range map[int]bool{schedRR: true, schedFIFO: false} {
		turns := 0
		spawn(t, kernel.Config{CPUs: 1, Seed: 7}, func(s *Sys, print func(string, ...any)) {
			fd, _ := s.Open("/proc/sys/kernel/sched_rr_timeslice_ms", 1, 0)
			s.Write(fd, []byte("20\n"))
			s.setPolicy(schedFIFO, 90)
			last := ""
			for _, name := range []string{"a", "b"} {
				s.Fork(func(s *Sys) int {
					s.setPolicy(policy, 5)
					for range 600 {
						s.Work(1_000_000)
						s.Getpid()
						if !s.Replaying() && last != name {
							last = name
							turns++
						}
					}
					return 0
				})
			}
			s.Wait4(-1, 0)
			s.Wait4(-1, 0)
		})
		if got := turns > 2; got != want {
			t.Errorf("policy %d: %d turns", policy, turns)
		}
	}
}

// A real-time task that loops leaves the others a share of each period, and the kernel's log says so.
func TestRealTimeThrottling(t *testing.T) {
	got := spawn(t, kernel.Config{CPUs: 1, Seed: 3}, func(s *Sys, print func(string, ...any)) {
		for _, set := range [][2]string{{"sched_rt_runtime_us", "10000"}, {"sched_rt_period_us", "20000"}} {
			file, text := set[0], set[1]
			fd, _ := s.Open("/proc/sys/kernel/"+file, 1, 0)
			if _, e := s.Write(fd, []byte(text)); e != 0 {
				print("%s: %v", file, e)
			}
			s.Close(fd)
		}
		pid, _ := s.Fork(func(s *Sys) int {
			s.setPolicy(schedFIFO, 50)
			for {
				s.Work(1 << 20)
				s.Getpid()
			}
		})
		s.do1("nanosleep", append(make([]byte, 8), binary.LittleEndian.AppendUint64(nil, 200e6)...), nil)
		print("alive")
		s.do1("kill", pid, 9)
		s.Wait4(pid, 0)
		fd, _ := s.Open("/dev/kmsg", 0x800, 0)
		for {
			line, e := s.Read(fd, 4096)
			if e != 0 {
				break
			}
			if _, text, ok := strings.Cut(string(line), ";"); ok && strings.Contains(text, "throttling") {
				print("%s", strings.TrimSpace(text))
			}
		}
	})
	if want := "alive\nsched: RT throttling activated\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// A nice value is a share: 1024 to 335 is three to one (sched_prio_to_weight).
func TestNiceShares(t *testing.T) {
	var done [2]int
	spawn(t, kernel.Config{CPUs: 1, Seed: 2}, func(s *Sys, print func(string, ...any)) {
		var pids []int
		for i, nice := range []int{0, 5} {
			pid, _ := s.Fork(func(s *Sys) int {
				s.do1("setpriority", 0, 0, nice)
				for {
					s.Work(100_000)
					s.Getpid()
					if !s.Replaying() {
						done[i]++
					}
				}
			})
			pids = append(pids, pid)
		}
		s.do1("nanosleep", append(make([]byte, 8), binary.LittleEndian.AppendUint64(nil, 900e6)...), nil)
		for _, pid := range pids {
			s.do1("kill", pid, 9)
			s.Wait4(pid, 0)
		}
	})
	if r := float64(done[0]) / float64(done[1]); r < 2.4 || r > 3.8 {
		t.Errorf("%d to %d: %.2f, want 3.06", done[0], done[1], r)
	}
}

// A running task is moved by its CPU's stopper; one that may run nowhere is refused.
func TestMoveRunningTask(t *testing.T) {
	got := spawn(t, kernel.Config{CPUs: 3, Seed: 4}, func(s *Sys, print func(string, ...any)) {
		pid, _ := s.Fork(func(s *Sys) int {
			for {
				s.Work(50_000)
				s.Getpid()
			}
		})
		for _, cpu := range []int{0, 2, 1, 0} {
			mask := make([]byte, 8)
			mask[0] = 1 << cpu
			e := s.do1("sched_setaffinity", pid, 8, mask)
			s.do1("nanosleep", append(make([]byte, 8), binary.LittleEndian.AppendUint64(nil, 5e6)...), nil)
			fd, _ := s.Open(fmt.Sprintf("/proc/%d/stat", pid), 0, 0)
			text, _ := s.Read(fd, 1000)
			s.Close(fd)
			_, rest, _ := strings.Cut(string(text), ") ")
			print("%v on %s", e == 0, strings.Fields(rest)[36])
		}
		print("%v", s.do1("sched_setaffinity", pid, 8, make([]byte, 8)))
		s.do1("kill", pid, 9)
		s.Wait4(pid, 0)
	})
	if want := "true on 0\ntrue on 2\ntrue on 1\ntrue on 0\ninvalid argument\n"; !strings.EqualFold(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// Two tasks that run for 40 s bring the average of one minute to 2 (1 - e^(-40/60)) = 0.97, and the idleness behind takes it down.
func TestLoadAverage(t *testing.T) {
	var loads [2]float64
	spawn(t, kernel.Config{CPUs: 4, Seed: 6}, func(s *Sys, print func(string, ...any)) {
		sleep := func(sec uint64) {
			s.do1("nanosleep", append(binary.LittleEndian.AppendUint64(nil, sec), make([]byte, 8)...), nil)
		}
		read := func(i int) {
			fd, _ := s.Open("/proc/loadavg", 0, 0)
			text, _ := s.Read(fd, 100)
			s.Close(fd)
			if !s.Replaying() {
				fmt.Sscan(string(text), &loads[i])
			}
		}
		var pids []int
		for range 2 {
			pid, _ := s.Fork(func(s *Sys) int {
				for {
					s.Work(1 << 26)
				}
			})
			pids = append(pids, pid)
		}
		sleep(40)
		read(0)
		for _, pid := range pids {
			s.do1("kill", pid, 9)
			s.Wait4(pid, 0)
		}
		sleep(60)
		read(1)
	})
	if loads[0] < 0.8 || loads[0] > 1.1 || loads[1] < loads[0]*0.3 || loads[1] > loads[0]*0.45 {
		t.Errorf("%v", loads)
	}
}

// sched_setattr and sched_getattr: policy, nice and priority in one record, whose size tells what the caller knows.
func TestSchedAttr(t *testing.T) {
	le := binary.LittleEndian
	attr := func(size, policy uint32, flags uint64, nice int32, prio uint32, more ...byte) []byte {
		b := le.AppendUint32(le.AppendUint32(nil, size), policy)
		b = le.AppendUint32(le.AppendUint32(le.AppendUint64(b, flags), uint32(nice)), prio)
		return append(append(b, make([]byte, 56-len(b))...), more...)
	}
	got := spawn(t, kernel.Config{CPUs: 2, Seed: 1}, func(s *Sys, print func(string, ...any)) {
		show := func() {
			_, out, e := s.named("sched_getattr", 0, Out(56), 56, 0)
			b := out[0]
			print("%d: size %d policy %d flags %d nice %d prio %d", e, le.Uint32(b), le.Uint32(b[4:]), le.Uint64(b[8:]), int32(le.Uint32(b[16:])), le.Uint32(b[20:]))
		}
		set := func(a []byte) { print("set %d", s.do1("sched_setattr", 0, a, 0)) }
		show()
		set(attr(56, 0, 1, 7, 0)) // SCHED_OTHER, reset on fork
		show()
		set(attr(0, 1, 0, 0, 42)) // SCHED_FIFO; size 0: the first version's
		show()
		set(attr(56, 5, 8|16, 0, 0)) // the policy and its parameters stay
		show()
		set(attr(56, 1, 0, 0, 0))             // FIFO without a priority
		set(attr(56, 6, 0, 0, 0))             // SCHED_DEADLINE
		set(attr(60, 0, 0, 0, 0, 0, 0, 0, 0)) // words that nobody knows, but 0
		set(attr(60, 0, 0, 0, 0, 1, 0, 0, 0))
		set(attr(40, 0, 0, 0, 0))
		print("%d %d", s.do1("sched_getattr", 0, make([]byte, 56), 40, 0), s.do1("sched_getattr", 9999, make([]byte, 56), 56, 0))
	})
	const want = `0: size 56 policy 0 flags 0 nice 0 prio 0
set 0
0: size 56 policy 0 flags 1 nice 7 prio 0
set 0
0: size 56 policy 1 flags 0 nice 0 prio 42
set 0
0: size 56 policy 1 flags 0 nice 0 prio 42
set 22
set 22
set 0
set 7
set 7
22 3
`
	if got != want {
		t.Errorf("got %s want %s", got, want)
	}
}

// A program that is started on a CPU is there from before its execve: the open of its own file is on that CPU too.
func TestSpawnOn(t *testing.T) {
	m, h := boot(t, kernel.Config{CPUs: 4, Seed: 1})
	seen := map[string]map[int]int{} // function -> CPU -> calls, by the program
	for _, name := range []string{"do_open_execat", "load_elf_binary", "vfs_write", "do_exit"} {
		at, _ := m.SymAddr(name)
		_, err := m.Hook(at, func(v *kernel.VCPU) {
			if seen[name] == nil {
				seen[name] = map[int]int{}
			}
			seen[name][v.ID]++
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, cpu := range []int{3, 0, 2, 1, 1} {
		clear(seen)
		pid, err := m.ExecOn(cpu, "/usr/bin/echo", []string{"echo", "x"}, kernel.Streams{})
		if err != nil {
			t.Fatal(err)
		}
		if code, err := m.Wait(pid); code != 0 || err != nil {
			t.Fatal(code, err)
		}
		if want := map[int]int{cpu: 1}; len(seen) != 4 || !maps.EqualFunc(seen, map[string]map[int]int{"do_open_execat": want, "load_elf_binary": want,
			"vfs_write": want, "do_exit": want}, maps.Equal[map[int]int]) {
			t.Errorf("on CPU %d: %v", cpu, seen)
		}
	}
	if _, err := h.SpawnOn(4, Program{Name: "x", Main: func(*Sys, []string) int { return 0 }}, nil, kernel.Streams{}); err == nil {
		t.Error("the machine has no CPU 4")
	}
}
