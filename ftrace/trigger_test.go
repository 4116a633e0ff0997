package ftrace

import (
	"strings"
	"testing"

	"kscope/kernel"
)

const noTriggers = "# Available triggers:\n# traceon traceoff snapshot stacktrace enable_event disable_event enable_hist disable_hist hist\n"

// TestTriggers replays what 6.1 says to texts of triggers (oracle f4-triggers): errnos, and the list.
func TestTriggers(t *testing.T) {
	tr := withPoints(t, kernel.Config{})
	const file = "events/sched/sched_switch/trigger"
	never := " if prev_pid == 99999"
	for _, c := range []struct {
		write string
		err   error
		list  string
	}{
		{"stacktrace:1" + never, nil, "stacktrace:count=1" + never + "\n"},
		{"stacktrace", kernel.EEXIST, "stacktrace:count=1" + never + "\n"},
		{"snapshot" + never, nil, "snapshot:unlimited" + never + "\nstacktrace:count=1" + never + "\n"},
		{"enable_event:sched:sched_waking:3" + never, nil, ""},
		{"disable_event:sched:sched_waking", kernel.EEXIST, ""},
		{"disable_hist:sched:sched_waking" + never, nil, "disable_hist:sched:sched_waking:unlimited" + never + "\nenable_event:sched:sched_waking:count=3" + never +
			"\nsnapshot:unlimited" + never + "\nstacktrace:count=1" + never + "\n"},
		{"!enable_event:sched:sched_waking:9 if nosuch == 2", nil, ""},
		{"!snapshot:nonsense", nil, ""},
		{"!traceoff", nil, ""},
		{"!disable_hist:sched:sched_waking", nil, "stacktrace:count=1" + never + "\n"},
		{"!stacktrace:7", nil, noTriggers},
		{"  stacktrace   if   prev_pid   ==   99999  ", nil, "stacktrace:unlimited if   prev_pid   ==   99999\n"},
		{"!stacktrace", nil, noTriggers},
		{"stacktrace:010:7" + never, nil, "stacktrace:count=8" + never + "\n"},
		{"!stacktrace", nil, ""},
		{"stacktrace 0x10" + never, nil, "stacktrace:count=16" + never + "\n"},
		{"!stacktrace", nil, ""},
		{"stacktrace:18446744073709551615" + never, nil, "stacktrace:unlimited" + never + "\n"},
		{"!stacktrace", nil, ""},
		{"traceoff:5x", kernel.EINVAL, ""},
		{"traceoff:-1", kernel.EINVAL, ""},
		{"traceoff:99999999999999999999", kernel.ERANGE, ""},
		{"traceoff if nosuch == 1", kernel.EINVAL, ""},
		{"traceoff if", kernel.EINVAL, ""},
		{"stacktrace if (prev_pid == 1", kernel.ENOENT, ""},
		{"enable_event", kernel.EINVAL, ""},
		{"enable_event:sched:", kernel.EINVAL, ""},
		{"enable_event:sched:sched_waking:", kernel.EINVAL, ""},
		{"dump", kernel.EINVAL, ""},
		{"!", kernel.EINVAL, ""},
		{"", kernel.EINVAL, noTriggers},
	} {
		if err := tr.WriteFile(file, c.write+"\n", true); err != c.err {
			t.Errorf("%q: %v, want %v", c.write, err, c.err)
		}
		if got := mustRead(t, tr, file); c.list != "" && got != c.list {
			t.Errorf("%q lists\n%swant\n%s", c.write, got, c.list)
		}
	}
	tp := tr.points.find("sched_switch")
	if b := tr.bytesAt(t, tp.sites[0].code); b != nop5 {
		t.Errorf("still armed: % x", b)
	}
}

// TestSoftMode: what an event's enable file says while triggers hold it, and after.
func TestSoftMode(t *testing.T) {
	tr := boot(t, kernel.Config{})
	const s, r = "events/sched/sched_switch/", "events/sched/sched_process_fork/"
	for _, c := range []struct{ file, write, read, want string }{
		{s + "trigger", "stacktrace if prev_pid == 99999", s + "enable", "0*\n"},
		{"", "", "events/sched/enable", "X\n"},
		{"", "", "set_event", "sched:sched_switch\n"},
		{s + "enable", "1", s + "enable", "1*\n"},
		{s + "enable", "0", s + "enable", "0*\n"},
		{s + "enable", "1", s + "enable", "1*\n"},
		{s + "trigger", "!stacktrace", s + "enable", "1\n"},
		{s + "trigger", "enable_event:sched:sched_process_fork:1", r + "enable", "1*\n"},
		{s + "trigger", "!enable_event:sched:sched_process_fork", r + "enable", "1\n"}, // it was awake, and stays on
		{s + "trigger", "disable_event:sched:sched_process_fork", r + "enable", "0*\n"},
		{s + "trigger", "!disable_event:sched:sched_process_fork", r + "enable", "0\n"},
		{s + "enable", "0", "events/enable", "0\n"},
	} {
		if c.file != "" {
			must(t, tr.WriteFile(c.file, c.write+"\n", true))
			work(t, tr)
		}
		if got := mustRead(t, tr, c.read); got != c.want {
			t.Errorf("%s of %s: %s is %q, want %q", c.write, c.file, c.read, got, c.want)
		}
	}
}

// TestTriggersAct: each command, with the event recorded and without, in the machine's tracer, an instance and a fork.
func TestTriggersAct(t *testing.T) {
	tr := boot(t, kernel.Config{CPUs: 1})
	x, err := tr.MakeInstance("other")
	must(t, err)
	const dir = "events/sched/sched_switch/"
	run := func(tr *Tracer) { work(t, tr) }
	for _, tr := range []*Tracer{tr, x} {
		must(t, tr.WriteFile(dir+"trigger", "stacktrace:2 if prev_pid == 0\n", true))
		run(tr)
		if text := tr.Text(-1); strings.Count(text, ": <stack trace>\n => trace_event_raw_event_sched_switch\n => __traceiter_sched_switch\n => __schedule\n") != 2 || strings.Contains(text, ": sched_switch: ") {
			t.Errorf("%s stacktrace:\n%s", tr.name, text)
		}
		must(t, tr.WriteFile(dir+"trigger", "!stacktrace\n", true))
		must(t, tr.WriteFile(dir+"enable", "1", false))
		must(t, tr.Clear())
		must(t, tr.WriteFile(dir+"trigger", "traceoff:1 if prev_pid == 0\n", true))
		run(tr)
		lines := strings.Split(strings.TrimSuffix(tr.Text(-1), "\n"), "\n")
		if got := mustRead(t, tr, "tracing_on"); got != "0\n" || !strings.Contains(lines[len(lines)-1], "sched_switch: prev_comm=swapper/0 prev_pid=0 ") {
			t.Errorf("%s tracing_on %s, the last event is %s", tr.name, got, lines[len(lines)-1])
		}
		must(t, tr.WriteFile(dir+"trigger", "!traceoff\n", true))
		must(t, tr.WriteFile(dir+"trigger", "traceon if prev_pid == 0\n", true))
		run(tr)
		if got := mustRead(t, tr, "tracing_on"); got != "1\n" {
			t.Errorf("%s tracing_on %s", tr.name, got)
		}
		must(t, tr.WriteFile(dir+"trigger", "!traceon\n", true))
		must(t, tr.Clear())
		must(t, tr.WriteFile(dir+"trigger", "snapshot:1 if prev_pid == 0\n", true))
		run(tr)
		lines = strings.Split(strings.TrimSuffix(mustRead(t, tr, "snapshot"), "\n"), "\n")
		if last := lines[len(lines)-1]; !strings.Contains(last, "sched_switch: prev_comm=swapper/0 prev_pid=0 ") {
			t.Errorf("%s the event is not the last in its snapshot: %s", tr.name, last)
		}
		must(t, tr.WriteFile(dir+"trigger", "!snapshot\n", true))
		must(t, tr.WriteFile(dir+"enable", "0", false))
		must(t, tr.Clear())
	}
	must(t, tr.WriteFile(dir+"trigger", "enable_event:sched:sched_waking:1 if prev_pid == 0\n", true))
	n, _ := Of(tr.m.Fork(3))
	for _, tr := range []*Tracer{tr, n} {
		run(tr)
		if got := mustRead(t, tr, dir+"trigger"); got != "enable_event:sched:sched_waking:count=0 if prev_pid == 0\n" {
			t.Error(got)
		}
		if text := tr.Text(-1); !strings.Contains(text, ": sched_waking: ") {
			t.Errorf("sched_waking sleeps:\n%s", text)
		}
	}
	must(t, tr.RemoveInstance("other"))
}

// TestTriggerFiltered: an event with triggers still heeds its filter, in the ring too.
func TestTriggerFiltered(t *testing.T) {
	tr := boot(t, kernel.Config{CPUs: 1})
	const dir = "events/sched/sched_switch/"
	must(t, tr.WriteFile(dir+"filter", "next_pid != 0", false))
	must(t, tr.WriteFile(dir+"enable", "1", false))
	must(t, tr.WriteFile(dir+"trigger", "stacktrace:3 if next_pid == 0\n", true))
	must(t, tr.Clear())
	work(t, tr)
	text := tr.Text(-1)
	if strings.Count(text, ": sched_switch: ") == 0 || strings.Contains(text, "next_pid=0 ") || strings.Count(text, "<stack trace>") == 0 {
		t.Error(text)
	}
	for i := range tr.cpu {
		if s := tr.Stats(i); s.Written != s.Entries+s.Overrun+s.Read {
			t.Errorf("%+v", s)
		}
	}
}
