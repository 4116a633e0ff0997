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
