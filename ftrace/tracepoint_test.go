package ftrace

import (
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"kscope/kernel"
)

// withPoints gives a machine whose image has tracepoints.
func withPoints(t *testing.T, cfg kernel.Config) *Tracer {
	tr := boot(t, cfg)
	if len(tr.TraceEvents()) == 0 {
		t.Skip("the image has no tracepoints")
	}
	return tr
}

// TestEventFormats holds the format files against Debian 6.1's, as far as transcripts show them.
func TestEventFormats(t *testing.T) {
	tr := withPoints(t, kernel.Config{})
	raw, err := os.ReadFile("../scripts/conform/f-events.out")
	if err != nil {
		t.Skip("needs the oracle's transcripts beside the repository: ", err)
	}
	for _, name := range []string{"sched/sched_switch", "sched/sched_wakeup", "syscalls/sys_enter_openat", "syscalls/sys_exit_openat"} {
		want := truthBlock(t, string(raw), "cat events/"+name+"/format")
		if got := mustRead(t, tr, "events/"+name+"/format"); got != want {
			t.Errorf("%s:\n%s\nwant\n%s", name, got, want)
		}
	}
}

// TestTracepoints: a jump label is a nop until its event is on, a jump while it is, and what it records has Linux's form.
func TestTracepoints(t *testing.T) {
	for _, overhead := range []kernel.Overhead{kernel.OverheadModel, kernel.OverheadNone} {
		tr := withPoints(t, kernel.Config{Overhead: overhead})
		tp := tr.points.find("sched_switch")
		if len(tp.sites) == 0 {
			t.Fatal("no jump labels")
		}
		must(t, tr.WriteFile("events/sched/enable", "1", false))
		if b := tr.bytesAt(t, tp.sites[0].code); b[0] != 0xe9 {
			t.Errorf("on: % x", b)
		}
		work(t, tr)
		must(t, tr.m.Hot(0b1111, 5))
		tr.m.Run(kernel.Until{Time: tr.m.Now() + 20e6})
		work(t, tr)
		must(t, tr.WriteFile("set_event", "", false))
		for _, tp := range tr.points.list {
			for _, s := range tp.sites {
				if b := tr.bytesAt(t, s.code); b != nop5 {
					t.Errorf("off: %s % x", tp.name, b)
				}
			}
		}
		text := tr.Text(-1)
		for _, re := range []string{
			`\[00\d\] d\.\.2\. +1\.\d{6}: sched_switch: prev_comm=swapper/\d prev_pid=0 prev_prio=120 prev_state=R ==> next_comm=kscoped next_pid=\d+ next_prio=120\n`,
			`: sched_switch: prev_comm=\S+ prev_pid=\d+ prev_prio=120 prev_state=(S|D|I) ==> next_comm=swapper/\d next_pid=0 next_prio=120\n`,
			`: sched_waking: comm=kscoped pid=\d+ prio=120 target_cpu=00\d\n`,
			`: sched_wakeup: comm=kscoped pid=\d+ prio=120 target_cpu=00\d\n`,
			`: sched_process_fork: comm=\S+ pid=\d+ child_comm=\S+ child_pid=\d+\n`,
			`: sched_wakeup_new: comm=\S+ pid=\d+ prio=120 target_cpu=00\d\n`,
			`: sched_process_exit: comm=\S+ pid=\d+ prio=120\n`,
			`prev_state=(X|Z) ==> `,
		} {
			if !regexp.MustCompile(re).MatchString(text) {
				t.Errorf("no %s in\n%s", re, text)
			}
		}
	}
}

// TestEventFiles: enable at all levels, set_event, filters, instances and forks.
func TestEventFiles(t *testing.T) {
	tr := withPoints(t, kernel.Config{})
	check := func(file, want string) {
		t.Helper()
		if got := mustRead(t, tr, file); got != want {
			t.Errorf("%s: %q, want %q", file, got, want)
		}
	}
	check("events/enable", "0\n")
	must(t, tr.WriteFile("events/sched/sched_switch/enable", "1\n", false))
	check("events/sched/sched_switch/enable", "1\n")
	check("events/sched/enable", "X\n")
	check("events/enable", "X\n")
	check("set_event", "sched:sched_switch\n")
	must(t, tr.WriteFile("set_event", "sched_wakeup\n", true))
	check("set_event", "sched:sched_switch\nsched:sched_wakeup\n")
	must(t, tr.WriteFile("set_event", "!sched:sched_switch\n", true))
	check("set_event", "sched:sched_wakeup\n")
	must(t, tr.WriteFile("set_event", "irq\n", false))
	check("set_event", "irq:softirq_raise\nirq:softirq_exit\nirq:softirq_entry\nirq:irq_handler_exit\nirq:irq_handler_entry\n")
	for word, want := range map[string]error{"nosuch\n": kernel.EINVAL, "syscalls:sys_enter_op*\n": kernel.EINVAL, "sched:nosuch\n": kernel.EINVAL, "sched:sched_switch nosuch\n": kernel.EINVAL, " \n": nil} {
		if err := tr.WriteFile("set_event", word, false); err != want {
			t.Errorf("%q: %v", word, err)
		}
	}
	for _, bad := range []string{"2\n", "x\n", "1 1\n"} {
		if err := tr.WriteFile("events/sched/sched_switch/enable", bad, false); err != kernel.EINVAL {
			t.Errorf("%q: %v", bad, err)
		}
	}
	check("events/sched/sched_switch/filter", "none\n")
	check("events/sched/filter", globalFilter)
	must(t, tr.WriteFile("events/sched/filter", "pid == 3\n", false))
	check("events/sched/sched_wakeup/filter", "pid == 3\n")
	check("events/sched/sched_switch/filter", "pid == 3\n^\nparse_error: Couldn't find or set field in one of a subsystem's events\n\n")
	must(t, tr.WriteFile("events/sched/filter", "0\n", false))
	check("events/sched/sched_wakeup/filter", "none\n")

	must(t, tr.WriteFile("events/sched/sched_switch/filter", `next_comm == "kscoped"`, false))
	must(t, tr.WriteFile("events/sched/sched_switch/enable", "1", false))
	in, err := tr.MakeInstance("events")
	must(t, err)
	must(t, in.WriteFile("events/sched/sched_waking/enable", "1", false))
	m := tr.m.Fork(8)
	n, _ := Of(m)
	for _, tr := range []*Tracer{tr, n} {
		must(t, tr.Clear())
		work(t, tr)
		in, _ := tr.Instance("events")
		text, other := tr.Text(-1), in.Text(-1)
		if a, b := strings.Count(text, "sched_switch: "), strings.Count(text, "next_comm=kscoped"); a == 0 || a != b {
			t.Errorf("%d switches, %d to kscoped:\n%s", a, b, text)
		}
		if !strings.Contains(other, "sched_waking: ") || strings.Contains(other, "sched_switch") || strings.Contains(text, "sched_waking") {
			t.Errorf("instance:\n%s", other)
		}
		must(t, tr.WriteFile("set_event", "", false))
		must(t, tr.RemoveInstance("events"))
		for _, tp := range tr.points.list {
			for _, s := range tp.sites {
				if b := tr.bytesAt(t, s.code); b != nop5 {
					t.Errorf("%s % x", tp.name, b)
				}
			}
		}
	}
}

// TestFollowFork: with function-fork and event-fork the children of listed tasks are listed, and tasks that end are not.
func TestFollowFork(t *testing.T) {
	tr := withPoints(t, kernel.Config{})
	pid := ""
	must(t, tr.m.Do("who", func(c *kernel.VCPU) error {
		pid = strconv.Itoa(c.CurrentPid())
		return nil
	}))
	for _, o := range []string{"options/function-fork", "options/event-fork"} {
		must(t, tr.WriteFile(o, "1", false))
	}
	must(t, tr.WriteFile("set_ftrace_pid", pid, false))
	must(t, tr.WriteFile("set_event_pid", pid, false))
	n, _ := strconv.Atoi(pid)
	tr.follow(int32(n), 4000, true)
	for _, f := range []string{"set_ftrace_pid", "set_event_pid"} {
		if got := mustRead(t, tr, f); got != pid+"\n4000\n" {
			t.Errorf("%s: %q", f, got)
		}
	}
	tr.follow(0, 4000, false)
	must(t, tr.m.Hot(0b1111, 5)) // kthreads that kthreadd makes: not followed
	if got := mustRead(t, tr, "set_ftrace_pid"); got != pid+"\n" {
		t.Errorf("%q", got)
	}
	must(t, tr.WriteFile("set_ftrace_pid", "2", false)) // kthreadd
	must(t, tr.m.Hot(0b1111, 0))
	if got := mustRead(t, tr, "set_ftrace_pid"); strings.Count(got, "\n") < 5 {
		t.Errorf("kthreadd's children: %q", got)
	}
	for _, o := range []string{"options/function-fork", "options/event-fork"} {
		must(t, tr.WriteFile(o, "0", false))
	}
	if b := tr.bytesAt(t, tr.points.find(forkPoint).sites[0].code); b != nop5 {
		t.Errorf("% x", b)
	}
}
