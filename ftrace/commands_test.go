package ftrace

import (
	"strings"
	"testing"

	"kscope/kernel"
)

// TestCommands replays the function commands of oracle e-filter, with the functions that kscoped calls.
func TestCommands(t *testing.T) {
	tr := withPoints(t, kernel.Config{})
	const file, all = "set_ftrace_filter", "#### all functions enabled ####\n"
	for _, c := range []struct {
		write string
		app   bool
		err   error
		list  string
	}{
		{"do_exit:traceoff\n", false, nil, all + "do_exit:traceoff:unlimited\n"},
		{"do_exit:traceon:5\n", true, nil, all + "do_exit:traceon:count=5\ndo_exit:traceoff:unlimited\n"},
		{"getname_kernel:traceoff:0\n", true, nil, all + "getname_kernel:traceoff:count=0\ndo_exit:traceon:count=5\ndo_exit:traceoff:unlimited\n"},
		{"getname_kernel:traceoff:x\n", true, kernel.EINVAL, ""},
		{"do_exit:stacktrace:2 do_exit:dump do_exit:cpudump:1 do_exit:stacktrace do_exit:snapshot:1\n", true, nil, all +
			"do_exit:snapshot:count=1\ndo_exit:stacktrace:unlimited\ndo_exit:cpudump:unlimited\ndo_exit:dump:count=1\n" +
			"do_exit:stacktrace:count=2\ngetname_kernel:traceoff:count=0\ndo_exit:traceon:count=5\ndo_exit:traceoff:unlimited\n"},
		{"!do_exit:dump\n!do_exit:cpudump\n!*:snapshot:0\n!do_exit:traceon:0\n", false, nil, all +
			"do_exit:stacktrace:unlimited\ndo_exit:stacktrace:count=2\ngetname_kernel:traceoff:count=0\ndo_exit:traceoff:unlimited\n"},
		{"!getname_kernel:stacktrace\n", true, kernel.EINVAL, ""},
		{"!*:stacktrace:0 !*:stacktrace !*:traceoff:0 !*:traceoff\n", true, nil, all},
		{"!do_exit:traceoff\n", true, kernel.ENODEV, all},
		{"do_exit\n", false, nil, "do_exit\n"},
		{"getname_kernel:traceon\n", true, nil, "do_exit\ngetname_kernel:traceon:unlimited\n"},
		{"!getname_kernel:traceon\n", false, nil, all},
		{"do_exit:enable_event:sched:sched_switch\ndo_exit:disable_event:sched:sched_waking:3\n", false, nil, all +
			"do_exit:disable_event:sched:sched_waking:count=3\ndo_exit:enable_event:sched:sched_switch:unlimited\n"},
		{"do_exit:enable_event:nosuch:ev\n", true, kernel.EINVAL, ""},
		{"do_exit:enable_event:sched\n", true, kernel.EINVAL, ""},
		{"!*:enable_event:sched:sched_switch\n!*:disable_event:sched:sched_waking:0\n", true, nil, all},
	} {
		if err := tr.WriteFile(file, c.write, c.app); err != c.err {
			t.Errorf("%q: %v, want %v", c.write, err, c.err)
		}
		if got := mustRead(t, tr, file); c.list != "" && got != c.list {
			t.Errorf("%q lists\n%swant\n%s", c.write, got, c.list)
		}
	}
	if got := mustRead(t, tr, "enabled_functions"); got != "" {
		t.Errorf("enabled_functions: %s", got)
	}
}

// TestCommandsAct: what commands do, and how counts go down.
func TestCommandsAct(t *testing.T) {
	tr := boot(t, kernel.Config{})
	must(t, tr.WriteFile("set_ftrace_filter", "vfs_open:stacktrace:2\n", false))
	if got := mustRead(t, tr, "enabled_functions"); !strings.HasPrefix(got, "vfs_open (1)      \ttramp: 0x") {
		t.Errorf("enabled_functions: %s", got)
	}
	for range 3 {
		work(t, tr)
	}
	text := tr.Text(-1)
	if strings.Count(text, ": <stack trace>\n => 0xffffffffc02") != 2 || strings.Count(text, "\n => vfs_open\n => path_openat\n") != 2 {
		t.Errorf("stacktrace:\n%s", text)
	}
	if got := mustRead(t, tr, "set_ftrace_filter"); !strings.HasSuffix(got, "\nvfs_open:stacktrace:count=0\n") {
		t.Errorf("%q", got)
	}
	must(t, tr.WriteFile("set_ftrace_filter", "!*:stacktrace:0\nvfs_open:traceoff:1\n", false))
	work(t, tr)
	if got := mustRead(t, tr, "tracing_on"); got != "0\n" {
		t.Errorf("tracing_on %s", got)
	}
	must(t, tr.On())
	work(t, tr)
	if got := mustRead(t, tr, "tracing_on"); got != "1\n" {
		t.Errorf("the count is used up, but tracing_on is %s", got)
	}
	must(t, tr.WriteFile("set_ftrace_filter", "!vfs_open:traceoff:0\nvfs_open:dump\n", false))
	must(t, tr.WriteFile("trace_marker", "dump me\n", false))
	work(t, tr)
	if log := dmesg(tr); !strings.Contains(log, "Dumping ftrace buffer:\n---------------------------------\n") || !strings.Contains(log, "us : tracing_mark_write: dump me\n---------------------------------\n") {
		t.Errorf("dump:\n%s", log)
	}
	if got := mustRead(t, tr, "tracing_on"); got != "0\n" {
		t.Error("tracing is on after a dump")
	}
	must(t, tr.On())
	must(t, tr.WriteFile("set_ftrace_filter", "!vfs_open:dump\nvfs_open:snapshot:1\n", false))
	must(t, tr.WriteFile("trace_marker", "kept\n", false))
	m := tr.m.Fork(3)
	n, _ := Of(m)
	for _, tr := range []*Tracer{tr, n} { // a fork has commands, counts and snapshots of its own
		work(t, tr)
		if got := mustRead(t, tr, "snapshot"); !strings.Contains(got, ": kept\n") {
			t.Errorf("snapshot:\n%s", got)
		}
		if got := mustRead(t, tr, "set_ftrace_filter"); !strings.HasSuffix(got, "\nvfs_open:snapshot:count=0\n") {
			t.Errorf("%q", got)
		}
	}
}

// TestFunctionOptions: func_stack_trace and func-no-repeats.
func TestFunctionOptions(t *testing.T) {
	tr := boot(t, kernel.Config{CPUs: 1}) // what comes between the repeats is on the same CPU
	must(t, tr.Filter("vfs_open"))
	must(t, tr.Set("function"))
	must(t, tr.WriteFile("options/func_stack_trace", "1", false))
	work(t, tr)
	text := tr.Text(-1)
	if !strings.Contains(text, ": vfs_open <-path_openat\n") || !strings.Contains(text, ": <stack trace>\n => 0xffffffffc02") || !strings.Contains(text, "\n => vfs_open\n => path_openat\n") {
		t.Errorf("func_stack_trace:\n%s", text)
	}
	must(t, tr.WriteFile("options/func_stack_trace", "0", false))
	must(t, tr.Clear())
	must(t, tr.Filter("kscope_hot", "vfs_open"))
	must(t, tr.WriteFile("options/func-no-repeats", "1", false))
	must(t, tr.m.Hot(0b1, 50))
	tr.m.Run(kernel.Until{Time: tr.m.Now() + 1e6})
	for range 4 {
		work(t, tr)
	}
	if text := tr.Text(-1); !strings.Contains(text, " (repeats: ") || !strings.Contains(text, ", last_ts:     1.") {
		t.Errorf("func-no-repeats:\n%s", text)
	}
}

// TestEventCommands: an event that a command may switch is armed but asleep, and shows as 0*.
func TestEventCommands(t *testing.T) {
	tr := withPoints(t, kernel.Config{})
	const enable = "events/sched/sched_switch/enable"
	tp := tr.points.find("sched_switch")
	must(t, tr.WriteFile("set_ftrace_filter", "vfs_open:enable_event:sched:sched_switch:1\n", false))
	if got := mustRead(t, tr, enable); got != "0*\n" {
		t.Errorf("%q", got)
	}
	if b := tr.bytesAt(t, tp.sites[0].code); b[0] != 0xe9 {
		t.Errorf("not armed: % x", b)
	}
	must(t, tr.Clear())
	tr.m.Run(kernel.Until{Time: tr.m.Now() + 5e6})
	if n := len(tr.Records(-1)); n != 0 {
		t.Errorf("%d events of a sleeping event", n)
	}
	work(t, tr)
	if got := mustRead(t, tr, enable); got != "1*\n" || !strings.Contains(tr.Text(-1), ": sched_switch: ") {
		t.Errorf("%q\n%s", got, tr.Text(-1))
	}
	if got := mustRead(t, tr, "set_ftrace_filter"); !strings.HasSuffix(got, "vfs_open:enable_event:sched:sched_switch:count=0\n") {
		t.Errorf("%q", got)
	}
	must(t, tr.WriteFile(enable, "0", false))
	if got := mustRead(t, tr, enable); got != "0*\n" {
		t.Errorf("%q", got)
	}
	must(t, tr.WriteFile("set_ftrace_filter", "!*:enable_event:sched:sched_switch:0\n", false))
	if b := tr.bytesAt(t, tp.sites[0].code); mustRead(t, tr, enable) != "0\n" || b != nop5 {
		t.Errorf("still armed: % x", b)
	}
}
