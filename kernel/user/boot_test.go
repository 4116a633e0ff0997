package user

import (
	"bytes"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"

	"kscope/internal/cputime"
	"kscope/kernel"
)

// noTracer answers the gates that a tracer would own.
type noTracer struct{}

func (noTracer) Fork(m *kernel.Machine) kernel.Part {
	for _, name := range m.Gates() {
		ret := kernel.ENOSYS.Ret()
		switch {
		case name == "tracefs_lookup":
			ret = kernel.ENOENT.Ret()
		case name == "tracefs_iterate", name == "tracefs_readable":
			ret = 0
		case name == "ftrace_process_locs":
			m.RegisterGate(name, func(*kernel.VCPU) uint64 { return nopSites(m) })
			continue
		case name != "function_trace_call" && name != "arch_ftrace_ops_list_func" && name != "__ftrace_trace_stack" && !strings.HasPrefix(name, "tracefs_"):
			continue
		}
		m.RegisterGate(name, func(*kernel.VCPU) uint64 { return ret })
	}
	return noTracer{}
}

// nopSites makes the calls of __fentry__ nops, as every machine with a tracer has them.
func nopSites(m *kernel.Machine) (n uint64) {
	at, _ := m.SymAddr("__start_mcount_loc")
	end, _ := m.SymAddr("__stop_mcount_loc")
	for ; at < end; at += 8 {
		site, err := m.U64(at)
		if err == nil {
			err = m.Write(site, []byte{0x0f, 0x1f, 0x44, 0, 0})
		}
		if err != nil {
			panic(err)
		}
		n++
	}
	return n
}

// setup gives a machine its Host.
func setup(m *kernel.Machine) error {
	m.Attach(noTracer{}.Fork(m))
	_, err := New(m)
	return err
}

var snaps kernel.Snapshots

// boot gives a fork of a booted machine; it skips while the embedded image is a placeholder.
func boot(t testing.TB, cfg kernel.Config) (*kernel.Machine, *Host) {
	t.Helper()
	if file := os.Getenv("KSCOPE_TEST_IMAGE"); file != "" {
		cfg.Image, _ = os.ReadFile(file)
	}
	if _, err := kernel.LoadImage(cfg.Image); err != nil {
		t.Skip("the embedded image is a placeholder: ", err)
	}
	cfg.Initrd = Initrd(testRoot()...)
	m, err := snaps.Machine(cfg, setup)
	if err != nil {
		t.Fatal(err)
	}
	h, ok := kernel.PartOf[*Host](m)
	if !ok {
		t.Fatal("the fork has no Host")
	}
	t.Cleanup(h.Close)
	return m, h
}

// testRoot puts the files of the command rows into the guest under /t.
func testRoot() []File {
	files := []File{{Path: "t", Mode: modeDir | 0o755}, {Path: "t/sub", Mode: modeDir | 0o755}}
	for _, f := range testFiles {
		files = append(files, text("t/"+f.name, f.data))
	}
	return files
}

func TestHostname(t *testing.T) {
	_, h := boot(t, kernel.Config{Seed: 1})
	status, out, errs, err := h.Run("cat", "/etc/hostname")
	if status != 0 || out != "kscope\n" || errs != "" || err != nil {
		t.Fatalf("cat /etc/hostname: %d %q %q %v", status, out, errs, err)
	}
	if status, _, errs, err = h.Run("cat", "/nonexistent"); status != 1 || errs != "cat: /nonexistent: No such file or directory\n" {
		t.Errorf("cat /nonexistent: %d %q %v", status, errs, err)
	}
}

// The same rows as against GNU, now as guest tasks: what the guest's kernel answers must not differ from the fake's.
func TestCommandsInGuest(t *testing.T) {
	m, h := boot(t, kernel.Config{Seed: 2})
	for _, row := range commandRows {
		want, _ := runFake(t, "/t", row.line, row.stdin)
		words := strings.Split(strings.ReplaceAll(row.line, "%", "/t"), " ")
		var out, errs bytes.Buffer
		pid, err := h.Exec(words[0], words[1:], kernel.Streams{In: strings.NewReader(row.stdin), Out: &out, Err: &errs})
		if err != nil {
			t.Fatal(row.line, err)
		}
		code, err := m.Wait(pid)
		if err != nil {
			t.Fatalf("%s: %v\n%s", row.line, err, m.Dmesg())
		}
		got := result{out.String(), errs.String(), code}
		if strings.HasPrefix(row.line, "ls -R") || strings.HasPrefix(row.line, "ls -a") { // . and .. have other sizes
			got.out, want.out = sorted(got.out), sorted(want.out)
		}
		if got != want {
			t.Errorf("%s\nguest %v\nwant  %v", row.line, got, want)
		}
	}
	if n := len(h.procs); n != 0 {
		t.Errorf("%d programs live on", n)
	}
}

func sorted(text string) string {
	lines := strings.Split(text, "\n")
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

// A tree of processes: pipes, waits, exit codes, exec from a child, on all CPUs and several seeds.
func TestProcesses(t *testing.T) {
	for seed := range uint64(8) {
		m, h := boot(t, kernel.Config{Seed: seed, CPUs: 4})
		var out bytes.Buffer
		pid, err := h.Spawn(Program{Name: "tree", Main: tree}, []string{"x", "y"}, kernel.Streams{Out: &out, Err: &out})
		if err != nil {
			t.Fatal(err)
		}
		code, err := m.Wait(pid)
		if err != nil || code != 7 {
			t.Fatalf("seed %d: %d %v\n%s", seed, code, err, out.String())
		}
		want := "argv [tree x y]\nfrom child\nexec failed: No such file or directory\nkscope\nstatuses 1 2 3 4\n"
		if out.String() != want {
			t.Errorf("seed %d: %q, want %q", seed, out.String(), want)
		}
		if len(h.procs)+len(h.births)+len(h.orphans)+len(h.spawned) != 0 {
			t.Errorf("seed %d: left behind: %d programs, %d births, %d orphans, %d spawned", seed, len(h.procs), len(h.births), len(h.orphans), len(h.spawned))
		}
	}
}

func tree(s *Sys, argv []string) int {
	print := func(s *Sys, format string, args ...any) { s.Write(1, fmt.Appendf(nil, format, args...)) }
	print(s, "argv %v\n", argv)
	r, w, e := s.Pipe()
	if e != 0 {
		print(s, "pipe: %v\n", e)
		return 1
	}
	s.Fork(func(c *Sys) int {
		c.Write(w, []byte("from child\n"))
		return 0
	})
	s.Close(w)
	for {
		b, _ := s.Read(r, 100)
		if len(b) == 0 {
			break
		}
		s.Write(1, b)
	}
	s.Wait4(-1, 0)
	s.Fork(func(c *Sys) int {
		e := c.Exec("/none", []string{"none"}, nil)
		print(c, "exec failed: %v\n", e)
		c.Exec("/bin/cat", []string{"cat", "/etc/hostname"}, c.Env())
		return 9
	})
	s.Wait4(-1, 0)
	var pids []int
	for i := range 4 {
		pid, _ := s.Fork(func(c *Sys) int { c.Nanosleep(uint64(50_000 * (4 - i))); return i + 1 })
		pids = append(pids, pid)
	}
	print(s, "statuses")
	for _, pid := range pids {
		_, status, _ := s.Wait4(pid, 0)
		s.Write(1, fmt.Appendf(nil, " %d", status>>8))
	}
	print(s, "\n")
	return 7
}

// A kill in the middle of a blocking call stops the coroutine; its deferred calls run, nothing leaks.
func TestKill(t *testing.T) {
	m, h := boot(t, kernel.Config{Seed: 3})
	before := runtime.NumGoroutine()
	unwound := false
	pid, err := h.Spawn(Program{Name: "sleeper", Main: func(s *Sys, _ []string) int {
		defer func() { unwound = true }()
		s.Nanosleep(1e12)
		return 0
	}}, nil, kernel.Streams{})
	if err != nil {
		t.Fatal(err)
	}
	m.Run(kernel.Until{Time: m.Now() + 2e6})
	if err := m.Kill(pid, 9); err != nil {
		t.Fatal(err)
	}
	if status, err := m.Wait(pid); status != 128+9 || err != nil {
		t.Errorf("status %d %v", status, err)
	}
	if !unwound || runtime.NumGoroutine() > before {
		t.Errorf("unwound %v, %d goroutines before, %d after", unwound, before, runtime.NumGoroutine())
	}
}

// A machine is forked while a tree of programs is alive: the copy runs them to the same end as the original does under the
// copy's seed.
func TestForkWithLivePrograms(t *testing.T) {
	run := func(forkAt uint64) string {
		m, h := boot(t, kernel.Config{Seed: 5})
		var out bytes.Buffer
		pid, err := h.Spawn(Program{Name: "tree", Main: tree}, nil, kernel.Streams{Out: &out, Err: &out})
		if err != nil {
			t.Fatal(err)
		}
		m.Run(kernel.Until{Time: m.Now() + forkAt})
		n := m.Fork(6)
		nh, _ := kernel.PartOf[*Host](n)
		defer nh.Close()
		live := len(nh.procs)
		code, err := n.Wait(pid)
		if err != nil || code != 7 {
			t.Errorf("fork after %d ns with %d programs: %d %v", forkAt, live, code, err)
		}
		return out.String()
	}
	for at := uint64(20_000); at < 400_000; at += 40_000 {
		if out := run(at); !strings.HasSuffix(out, "statuses 1 2 3 4\n") {
			t.Errorf("fork after %d ns: %q", at, out)
		}
	}
}

func BenchmarkForkExecExit(b *testing.B) {
	benchProgram(b, func(s *Sys) {
		s.Fork(func(c *Sys) int { c.Exec("/usr/bin/true", []string{"true"}, nil); return 1 })
		s.Wait4(-1, 0)
	})
}

func BenchmarkSyscall(b *testing.B) { benchProgram(b, func(s *Sys) { s.Getpid() }) }

// benchProgram is a program that does once over and over.
func benchProgram(b *testing.B, once func(s *Sys)) {
	m, h := boot(b, kernel.Config{Seed: 1})
	pid, err := h.Spawn(Program{Name: "loop", Main: func(s *Sys, _ []string) int {
		for range b.N {
			once(s)
		}
		return 0
	}}, nil, kernel.Streams{})
	if err != nil {
		b.Fatal(err)
	}
	insns := m.Insns()
	cpu := cputime.Report(b)
	b.ResetTimer()
	if code, err := m.Wait(pid); code != 0 || err != nil {
		b.Fatal(code, err)
	}
	cpu()
	b.ReportMetric(float64(m.Insns()-insns)/float64(b.N), "insns/op")
}

// The same seed gives the same run to the last slice, also in parallel with other machines; another seed another one.
func TestSameSeedSameRun(t *testing.T) {
	run := func(seed uint64) (string, uint64) {
		m, h := boot(t, kernel.Config{Seed: seed})
		hash := uint64(14695981039346656037)
		m.SetSliceHook(func(v *kernel.VCPU) {
			for _, x := range []uint64{uint64(v.ID), v.Now(), v.CPU.RIP()} {
				hash = (hash ^ x) * 1099511628211
			}
		})
		var out bytes.Buffer
		pid, err := h.Spawn(Program{Name: "tree", Main: tree}, nil, kernel.Streams{Out: &out, Err: &out})
		if err == nil {
			_, err = m.Wait(pid)
		}
		if err != nil {
			t.Error(err)
		}
		return out.String(), hash
	}
	want, first := run(11)
	type result struct {
		out  string
		hash uint64
	}
	results := make(chan result)
	for i := range 4 {
		go func() {
			out, hash := run(11 + uint64(i%2))
			results <- result{out, hash}
		}()
	}
	same := 0
	for range 4 {
		r := <-results
		if r.out != want {
			t.Errorf("output %q, want %q", r.out, want)
		}
		if r.hash == first {
			same++
		}
	}
	if same != 2 {
		t.Errorf("%d of 4 runs are like the first: two have its seed, two another", same)
	}
}
