package user

import (
	"fmt"
	"strings"
	"testing"

	"kscope/kernel"
)

// crash replaces the first bytes of a kernel function and runs cat, which calls it; the guest's report is what Linux prints.
func crash(t *testing.T, fn string, code ...byte) (*kernel.Machine, *kernel.OopsRecord) {
	t.Helper()
	m, h := boot(t, kernel.Config{Seed: 1})
	at, ok := m.Symbols().Lookup(fn)
	if !ok {
		t.Fatal("no ", fn)
	}
	if err := m.Write(at, code); err != nil {
		t.Fatal(err)
	}
	_, _, _, _ = h.Run("cat", "/etc/hostname")
	if len(m.Oopses()) == 0 {
		t.Fatalf("no oops: %v", m.Dmesg()[max(0, len(m.Dmesg())-5):])
	}
	return m, m.Oopses()[0]
}

func TestGuestOops(t *testing.T) {
	for _, c := range []struct {
		name, want string
		code       []byte
	}{
		{"null", "BUG: kernel NULL pointer dereference, address: 0000000000000008\n#PF: supervisor write access in kernel mode\n#PF: error_code(0x0002) - not-present page\n",
			[]byte{0xc7, 0x04, 0x25, 8, 0, 0, 0, 1, 0, 0, 0}},
		{"ud2", "invalid opcode: 0000 [#1] PREEMPT SMP NOPTI\nCPU: ", []byte{0x0f, 0x0b}},
		{"gp", "general protection fault, probably for non-canonical address 0x4141414141414141: 0000 [#1] PREEMPT SMP NOPTI\n",
			[]byte{0x48, 0xb8, 0x41, 0x41, 0x41, 0x41, 0x41, 0x41, 0x41, 0x41, 0x8b, 0x00}},
		{"int3", "int3: 0000 [#1] PREEMPT SMP NOPTI\n", []byte{0xcc}},
		{"call0", "BUG: kernel NULL pointer dereference, address: 0000000000000000\n#PF: supervisor instruction fetch in kernel mode\n#PF: error_code(0x0010) - not-present page\n",
			[]byte{0x31, 0xc0, 0xff, 0xd0}},
	} {
		m, o := crash(t, "ksys_read", c.code...)
		text := o.Text()
		if !strings.HasPrefix(text, c.want) {
			t.Errorf("%s: %s", c.name, text)
		}
		for _, want := range []string{"\nCall Trace:\n <TASK>\n", "\n do_syscall_64+0x",
			"\n entry_SYSCALL_64_after_hwframe+0x", "\nRIP: 0033:0x4000", "ORIG_RAX: 0000000000000000\n", "\n </TASK>\nModules linked in:\n", "Comm: cat Not tainted 6.1.0-kscope #1\n"} {
			if c.name == "gp" && strings.Contains(want, "+0x") || c.name == "gp" && strings.Contains(want, "RAX") || c.name == "gp" && strings.Contains(want, "0033") {
				continue // its bytes overwrite a push: the unwind rows are not true of them
			}
			if !strings.Contains(text, want) {
				t.Errorf("%s: no %q in\n%s", c.name, want, text)
				break
			}
		}
		var log strings.Builder
		for _, l := range m.Dmesg() {
			fmt.Fprintln(&log, l.Text)
		}
		if !strings.Contains(log.String(), text) {
			t.Errorf("%s: dmesg does not hold the report: %s", c.name, log.String())
		}
	}
}

// Stacks are unwound to their true end at any moment of a busy machine: user mode, a kernel thread's first function, or
// the idle task's.
func TestUnwindRunningGuest(t *testing.T) {
	m, h := boot(t, kernel.Config{Seed: 4})
	pid, err := h.Spawn(Program{Name: "tree", Main: tree}, nil, kernel.Streams{})
	if err != nil {
		t.Fatal(err)
	}
	walks, ends := 0, map[string]int{}
	for range 6000 {
		if _, done := m.Exited(pid); done {
			break
		}
		m.Run(kernel.Until{Insns: 37})
		for id := range m.NumCPU() {
			c := m.VCPU(id)
			if c.CPU.CPL() == 3 {
				continue
			}
			var last kernel.Frame
			var trail []string
			if err := c.Walk(func(f *kernel.Frame) bool {
				last = *f
				trail = append(trail, m.Symbols().FormatReturn(f.PC))
				return true
			}); err != nil {
				t.Fatalf("CPU %d: %v: %q", id, err, trail)
			}
			walks++
			if last.User {
				ends["user"]++
				continue
			}
			s, _ := m.Symbols().At(last.PC - 1)
			ends[s.Name]++
		}
	}
	t.Logf("%d walks: %v", walks, ends)
	for name := range ends {
		switch name {
		case "user", "ret_from_fork", "secondary_startup_64", "startup_64", "reload_segments": // the last two: idle tasks
		case "": // execve, between clearing the pt_regs and filling it in
		case "__switch_to_asm": // in front of ret_from_fork, where a task that has never run goes on
		default:
			t.Errorf("%d walks end in %s", ends[name], name)
		}
	}
	if walks < 1000 || ends["user"] == 0 {
		t.Errorf("%d walks: %v", walks, ends)
	}
}

// The numbers in syscallTable are the guest's.
func TestSyscallNumbers(t *testing.T) {
	m, _ := boot(t, kernel.Config{})
	table, ok := m.Symbols().Lookup("sys_call_table")
	if !ok {
		t.Fatal("no sys_call_table")
	}
	missing := 0
	for _, c := range Syscalls() {
		fn, err := m.U64(table + uint64(c.Nr)*8)
		if err != nil {
			t.Fatal(err)
		}
		names := map[string]bool{}
		for _, s := range m.Symbols().Glob("__x64_sys_*", "") {
			if s.Addr == fn {
				names[strings.TrimPrefix(s.Name, "__x64_sys_")] = true
			}
		}
		switch {
		case names["ni_syscall"]:
			missing++
		case !names[c.Name] && !names["new"+c.Name] && !names[strings.TrimSuffix(c.Name, "2")] && !names[c.Name+"64"]:
			t.Errorf("%s is %d, where the guest has %v", c.Name, c.Nr, names)
		}
	}
	t.Logf("%d of %d are not in the guest", missing, len(Syscalls()))
}

// A panic shows the stack that led to it, a BUG() its file and line; a second report says that the first has tainted the kernel.
func TestGuestPanic(t *testing.T) {
	m, h := boot(t, kernel.Config{Seed: 1})
	target, _ := m.Symbols().Lookup("panic")
	at, _ := m.Symbols().Lookup("ksys_read")
	text, _ := m.Symbols().Lookup("linux_banner")
	code := []byte{0x48, 0xc7, 0xc7} // mov $text,%rdi; xor %eax,%eax; call panic
	for i := range 4 {
		code = append(code, byte(text>>(8*i)))
	}
	code = append(code, 0x31, 0xc0, 0xe8)
	rel := uint32(target - (at + uint64(len(code)) + 4))
	for i := range 4 {
		code = append(code, byte(rel>>(8*i)))
	}
	if err := m.Write(at, code); err != nil {
		t.Fatal(err)
	}
	_, _, _, err := h.Run("cat", "/etc/hostname")
	if err == nil || !strings.Contains(err.Error(), "Kernel panic - not syncing: Linux version 6.1.0-kscope") {
		t.Fatalf("%v", err)
	}
	var log strings.Builder
	for _, l := range m.Dmesg() {
		fmt.Fprintln(&log, l.Text)
	}
	for _, want := range []string{"\nKernel panic - not syncing: Linux version", "\nCPU: ", " PID: 100 Comm: cat Not tainted 6.1.0-kscope #1\nHardware name: kscope",
		"\nCall Trace:\n <TASK>\n dump_stack_lvl+0x", "\n panic+0x", "\n---[ end Kernel panic - not syncing: "} {
		if !strings.Contains(log.String(), want) {
			t.Errorf("no %q in\n%s", want, log.String())
		}
	}
}

func BenchmarkWalk(b *testing.B) {
	m, h := boot(b, kernel.Config{Seed: 4})
	if _, err := h.Spawn(Program{Name: "tree", Main: tree}, nil, kernel.Streams{}); err != nil {
		b.Fatal(err)
	}
	c := m.VCPU(0)
	for range 20_000 {
		m.Run(kernel.Until{Insns: 37})
		n := 0
		if c.CPU.CPL() == 0 && c.Walk(func(*kernel.Frame) bool { n++; return true }) == nil && n >= 8 {
			break
		}
	}
	frames := 0
	for b.Loop() {
		frames = 0
		if err := c.Walk(func(*kernel.Frame) bool { frames++; return true }); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(frames), "frames")
}
