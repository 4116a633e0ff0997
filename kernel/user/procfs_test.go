package user

import (
	"fmt"
	"strings"
	"testing"

	"kscope/kernel"
)

// /proc and /dev/kmsg tell what the machine itself knows.
func TestProcFS(t *testing.T) {
	m, h := boot(t, kernel.Config{Seed: 4})
	read := func(name string) string {
		t.Helper()
		status, out, errs, err := h.Run("cat", name)
		if status != 0 || err != nil {
			t.Errorf("cat %s: %d %s %v", name, status, errs, err)
		}
		return out
	}
	has := func(name string, parts ...string) {
		t.Helper()
		text := read(name)
		for _, p := range parts {
			if !strings.Contains(text, p) {
				t.Errorf("%s has no %q:\n%s", name, p, text)
			}
		}
	}
	has("/proc/self/status", "Name:\tcat\n", "State:\tR (running)\n", "Uid:\t0\t0\t0\t0\n")
	has("/proc/1/comm", "init\n")
	has("/proc/self/maps", "00400000-00401000 r-xp 00000000", "/bin/cat\n", "[stack]\n")
	has("/proc/mounts", "rootfs / rootfs rw 0 0\n", "tracefs /sys/kernel/tracing tracefs rw,relatime 0 0\n")
	has("/proc/filesystems", "nodev\tramfs\n", "nodev\tpipefs\n")
	if got := read("/proc/self/cmdline"); got != "cat\x00/proc/self/cmdline\x00" {
		t.Errorf("cmdline %q", got)
	}
	var want string
	for _, name := range []string{"vfs_read", "do_sys_open"} {
		s := m.Symbols().ByName(name)[0]
		want = fmt.Sprintf("\n%016x T %s\n", s.Addr, s.Name)
		has("/proc/kallsyms", want)
	}
	if got := read("/proc/sys/kernel/hostname"); got != "kscope\n" {
		t.Errorf("hostname %q", got)
	}
	// each console line is a record of /dev/kmsg, in order and with its time
	var log []string
	pid, err := h.Spawn(Program{Name: "kmsg", Main: func(s *Sys, argv []string) int {
		fd, _ := s.Open("/dev/kmsg", 0o4000, 0)
		for {
			b, e := s.Read(fd, 8000)
			if e == kernel.EAGAIN {
				break
			} else if e != 0 {
				return int(e)
			}
			log = append(log, string(b))
		}
		out, _ := s.Open("/dev/kmsg", 1, 0)
		s.Write(out, []byte("<3>told by a program\n"))
		b, _ := s.Read(fd, 8000)
		log = append(log, string(b))
		return 0
	}}, nil, kernel.Streams{})
	if err != nil {
		t.Fatal(err)
	}
	if code, err := m.Wait(pid); code != 0 || err != nil {
		t.Fatal(code, err)
	}
	lines := m.Dmesg()
	if len(log) != len(lines) || len(log) < 10 {
		t.Fatalf("%d records in /dev/kmsg, %d lines on the console", len(log), len(lines))
	}
	for i, l := range lines {
		if _, text, _ := strings.Cut(log[i], ";"); strings.TrimSuffix(text, "\n") != l.Text {
			t.Errorf("record %d is %q, line %q", i, log[i], l.Text)
		}
	}
	if last := log[len(log)-1]; !strings.HasPrefix(last, fmt.Sprintf("3,%d,", len(log)-1)) {
		t.Errorf("the written record is %q", last)
	}
}

// kallsyms=exported: what is not exported has no name, as seeds/ftrace-and-kprobe.txt says of CONFIG_KALLSYMS_ALL=n.
func TestKallsymsExported(t *testing.T) {
	for cmdline, want := range map[string]string{"": "3\n", "kallsyms=exported": "1\n"} {
		_, h := boot(t, kernel.Config{Seed: 1, Cmdline: cmdline})
		status, out, errs, err := h.Run("grep", "-c", "-w", "-e", "vfs_read", "-e", "kmalloc", "-e", "do_exit", "/proc/kallsyms")
		if status != 0 || out != want || err != nil {
			t.Errorf("%q: %d %q %q %v", cmdline, status, out, errs, err)
		}
	}
}
