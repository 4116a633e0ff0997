package user

import (
	"strings"
	"testing"

	"kscope/kernel"
)

// The commands that read /proc and the log: on what the guest's kernel has, or on files in its place where it has no /proc.
func TestProcCommands(t *testing.T) {
	m, h := boot(t, kernel.Config{Seed: 1})
	_, err := m.ReadFile("/proc/self/stat")
	real := err == nil
	if !real {
		for _, f := range []struct{ path, data string }{
			{"/proc/self/stat", "-"}, {"/proc/100/stat", "100 (a (b) c) S 2 100 100 0 -1 0 0 0 0 0 150 50 0 0 20 0 1 0 10 8192 3 0 0 0 0 0 0 0 0 0 0 0 0 0 17 2 0 0\n"},
			{"/proc/100/cmdline", "prog\x00arg\x00"}, {"/proc/2/stat", "2 (kthreadd) S 0 0 0 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 17 0 0 0\n"},
			{"/proc/modules", "ext4 98304 1 - Live 0xffffffffc0000000\nbase 16384 2 ext4,x, Live 0x0\n"}, {"/proc/mounts", "rootfs / rootfs rw 0 0\ntracefs /sys/kernel/tracing tracefs rw,nosuid 0 0\n"},
			{"/proc/sys/kernel/hostname", "kscope\n"}, {"/proc/sys/kernel/ostype", "Linux\n"},
		} {
			dir := f.path[:strings.LastIndexByte(f.path, '/')]
			if got, err := runInDir(m, h, "/", []string{"mkdir", "-p", dir}, ""); err != nil || got.code != 0 {
				t.Skip("no /proc, and none can be made: ", got, err)
			}
			if err := m.WriteFile(f.path, []byte(f.data), false); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, row := range []struct {
		line, want string // want: the whole output without a real /proc, else a line's part
		part       string
	}{
		{"ps", "    PID TTY          TIME CMD\n    100 ?        00:00:02 a (b) c\n", "PID TTY          TIME CMD"},
		{"ps -e -o pid,ppid,stat,psr,comm,args", "    PID    PPID STAT PSR COMMAND         COMMAND\n      2       0 S      0 kthreadd        [kthreadd]\n    100       2 Ss     2 a (b) c         prog arg\n", "kthreadd"},
		{"ps -p 2 -o comm=", "kthreadd\n", "kthreadd"},
		{"ps -o nosuch", "", ""},
		{"lsmod", "Module                  Size  Used by\next4                   98304  1\nbase                   16384  2 ext4,x\n", "Module                  Size  Used by"},
		{"mount", "rootfs on / type rootfs (rw)\ntracefs on /sys/kernel/tracing type tracefs (rw,nosuid)\n", " on / type "},
		{"mount -t tracefs", "tracefs on /sys/kernel/tracing type tracefs (rw,nosuid)\n", ""},
		{"sysctl kernel.ostype", "kernel.ostype = Linux\n", "kernel.ostype = Linux"},
		{"sysctl -n kernel.hostname kernel/ostype", "kscope\nLinux\n", "kscope\nLinux\n"},
		{"sysctl kernel", "kernel.hostname = kscope\nkernel.ostype = Linux\n", "kernel.ostype = Linux"},
		{"sysctl kernel.hostname=there", "kernel.hostname = there\n", "kernel.hostname = there"},
	} {
		need := map[string]string{"lsmod": "/proc/modules", "mount": "/proc/mounts", "sysctl": "/proc/sys/kernel/ostype", "ps": "/proc/self/stat"}[strings.Fields(row.line)[0]]
		if strings.Contains(row.line, "hostname") {
			need = "/proc/sys/kernel/hostname"
		}
		if _, err := m.ReadFile(need); err != nil {
			t.Logf("%s: the guest has no %s", row.line, need)
			continue
		}
		got, err := runInDir(m, h, "/", strings.Fields(row.line), "")
		if err != nil {
			t.Fatal(row.line, err)
		}
		if real && !strings.Contains(got.out, row.part) || !real && got.out != row.want {
			t.Errorf("%s: %v, want %q", row.line, got, row.want)
		}
	}
}

func TestLogRecords(t *testing.T) {
	r, ok := parseKmsg("6,12,1000042,-;a; text\n SUBSYSTEM=x\n")
	if !ok || r != (dmesgRecord{6, 1000042, "a; text"}) {
		t.Errorf("kmsg: %v %v", r, ok)
	}
	if r, ok = parseSyslog("<4>[    1.000042] b] c"); !ok || r != (dmesgRecord{4, 1000042, "b] c"}) {
		t.Errorf("syslog: %v %v", r, ok)
	}
	if _, ok = parseSyslog("no priority"); ok {
		t.Error("a line without a priority is no record")
	}
}

// The log is there in some form, or the command says why not.
func TestDmesg(t *testing.T) {
	m, h := boot(t, kernel.Config{Seed: 1})
	got, err := runInDir(m, h, "/", []string{"dmesg"}, "")
	if err != nil {
		t.Fatal(err)
	}
	if got.code == 1 && got.err == "dmesg: read kernel buffer failed: Function not implemented\n" {
		t.Skip("the guest has neither /dev/kmsg nor syslog")
	}
	log := m.Dmesg()
	if got.code != 0 || strings.Count(got.out, "\n") < len(log)/2 || !strings.HasPrefix(got.out, "[    0.") {
		t.Errorf("%v; the machine has %d lines", got, len(log))
	}
}
