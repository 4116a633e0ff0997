package kprobe

import (
	"strings"
	"testing"

	"kscope/kernel"
)

// TestEprobe: an event of another event's fields: recorded, filtered, forked, busy while it is on, and gone.
func TestEprobe(t *testing.T) {
	k := boot(t, kernel.Config{})
	for _, line := range []string{"e:open syscalls.sys_enter_openat file=+0($filename):ustring dfd=$dfd:s32", "e:none syscalls.sys_enter_openat $flags if flags == 12345",
		"e:g/sw sched.sched_switch c=$next_comm:string $prev_pid:u8"} {
		if err := k.t.WriteFile("dynamic_events", line+"\n", true); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
	}
	want := "e:eprobes/open syscalls.sys_enter_openat file=+0($filename):ustring dfd=$dfd:s32\ne:eprobes/none syscalls.sys_enter_openat arg1=$flags\n" +
		"e:g/sw sched.sched_switch c=$next_comm:string arg2=$prev_pid:u8\n"
	if got := k.read(t, "dynamic_events"); got != want {
		t.Errorf("%swant\n%s", got, want)
	}
	k.write(t, "events/eprobes/enable", "1")
	k.write(t, "events/g/enable", "1")
	if got := k.read(t, "events/sched/sched_switch/enable") + k.read(t, "events/sched/sched_switch/trigger"); !strings.HasPrefix(got, "0*\n# Available triggers:\n") {
		t.Errorf("the event beneath: %s", got)
	}
	n, _ := Of(k.m.Fork(2))
	for _, k := range []*Kprobes{k, n} {
		if _, err := k.m.ReadFile("/etc/hostname"); err != nil {
			t.Log(err) // an image without it: the open is what counts
		}
		k.m.Run(kernel.Until{Time: k.m.Now() + 5e6})
		text := k.t.Text(-1)
		if !strings.Contains(text, ": sw: (sched.sched_switch) c=\"kscoped\" arg2=0\n") || strings.Contains(text, ": none: ") {
			t.Error(text)
		}
	}
	for _, c := range [][2]string{{"-:open", "EBUSY"}, {"e:x sched.sched_switch a=%di", "EINVAL"}, {"e:x nosuch.ev", "ENODEV"}, {"e:g/sw sched.sched_waking", "EEXIST"}} {
		err := k.t.WriteFile("dynamic_events", c[0]+"\n", true)
		var want error = map[string]error{"EBUSY": kernel.EBUSY, "EINVAL": kernel.EINVAL, "ENODEV": kernel.ENODEV, "EEXIST": kernel.EEXIST}[c[1]]
		if err != want {
			t.Errorf("%s: %v, want %v", c[0], err, want)
		}
	}
	k.write(t, "events/eprobes/enable", "0")
	k.write(t, "events/g/enable", "0")
	if err := k.t.WriteFile("dynamic_events", "", false); err != nil || k.read(t, "dynamic_events") != "" || k.read(t, "events/sched/sched_switch/enable") != "0\n" {
		t.Errorf("%v: %s", err, k.read(t, "dynamic_events"))
	}
}

// TestEprobeInstances: an event probe is armed in the tracer that wants it first, and nowhere else; when that is not the last that does
// not want it any more, it goes on there for ever (enable_trace_eprobe and disable_eprobe of 6.1; the oracle's answers).
func TestEprobeInstances(t *testing.T) {
	k := boot(t, kernel.Config{CPUs: 1})
	k.write(t, "dynamic_events", "e:ep syscalls.sys_enter_openat dfd=$dfd\n")
	_, err := k.t.MakeInstance("a")
	must(t, err)
	const target = "events/syscalls/sys_enter_openat/enable"
	for _, c := range []struct {
		file, set            string
		top, a               string // the target's enable
		records, inInstances int    // of one call
	}{
		{"events", "1", "0*", "0", 1, 0}, {"instances/a/events", "1", "0*", "0", 1, 0}, {"events", "0", "0*", "0", 1, 0},
		{"instances/a/events", "0", "0*", "0", 1, 0}, {"events", "1", "0*", "0", 2, 0}, {"events", "0", "0*", "0", 1, 0},
		{"instances/a/events", "1", "0*", "0*", 1, 1}, {"instances/a/events", "0", "0*", "0", 1, 0},
	} {
		k.write(t, c.file+"/eprobes/ep/enable", c.set)
		k.write(t, "trace", "\n")
		k.write(t, "instances/a/trace", "\n")
		pid, err := k.m.Exec("/bin/cat", []string{"cat", "/etc/hostname"}, kernel.Streams{})
		must(t, err)
		_, err = k.m.Wait(pid)
		must(t, err)
		top, a := strings.TrimSpace(k.read(t, target)), strings.TrimSpace(k.read(t, "instances/a/"+target))
		n, m := strings.Count(k.read(t, "trace"), "ep:"), strings.Count(k.read(t, "instances/a/trace"), "ep:")
		if top != c.top || a != c.a || n != c.records || m != c.inInstances {
			t.Errorf("%s = %s: %s and %s, %d and %d records; want %s, %s, %d, %d", c.file, c.set, top, a, n, m, c.top, c.a, c.records, c.inInstances)
		}
	}
	k.write(t, "dynamic_events", "\n")
	if top := strings.TrimSpace(k.read(t, target)); top != "0" {
		t.Errorf("%s of the target behind its probes", top)
	}
}
