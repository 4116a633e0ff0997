package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"kscope/ftrace"
	"kscope/ftrace/event"
	"kscope/kernel"
)

// eventOf finds the names of events in the output of a golden: "NAME: " of a record, sys_NAME(…) and sys_NAME -> …
var eventOf = regexp.MustCompile(`: ([a-z]\w+): |\b(sys_\w+)(\(| -> )`)

// notShown are the events that no golden shows, and why.
var notShown = map[string]string{
	"sys_exit_exit":         "the call does not return",
	"sys_exit_exit_group":   "the call does not return",
	"sys_exit_rt_sigreturn": "the call's number is gone when it returns, on Linux too",
}

// runBooted is what a script prints that must end well; booted is called with each machine that it boots.
func runBooted(t *testing.T, snaps *machines, file string, booted func(m *kernel.Machine)) string {
	t.Helper()
	opts, err := parseArgs([]string{"run", "--max-memory=4G", file}) // the budget is the process's, and so are other tests' machines
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	p := &program{opts: opts, stdout: &out, stderr: &out, snaps: snaps, booted: booted}
	if status := p.dispatch(); status != 0 {
		t.Fatalf("%s: status %d\n%s", file, status, out.String())
	}
	return out.String()
}

// TestBlankEvents takes each event away in turn: its place is not armed, and of system calls, which share theirs, the text. Of scripts/events the golden that shows it must then print
// something else. All events with KSCOPE_BLANK=1; else the first of each system, and a few system calls.
func TestBlankEvents(t *testing.T) {
	goldens, err := filepath.Glob("scripts/events/[a-z]*.star")
	if err != nil || len(goldens) == 0 {
		t.Fatal(err, goldens)
	}
	snaps := testMachines
	run := func(file string, booted func(m *kernel.Machine)) string { return runBooted(t, snaps, file, booted) }
	whole, shows := map[string]string{}, map[string]string{}
	var tr *ftrace.Tracer
	for _, file := range goldens {
		whole[file] = run(file, func(m *kernel.Machine) {
			if x, _ := ftrace.Of(m); tr == nil || strings.HasSuffix(file, "ext4.star") { // which brings events along
				tr = x
			}
		})
		for _, m := range eventOf.FindAllStringSubmatch(whole[file], -1) {
			name := m[1]
			if m[2] != "" {
				name = map[string]string{"(": "sys_enter_", " -> ": "sys_exit_"}[m[3]] + m[2][len("sys_"):]
			}
			if shows[name] == "" || strings.HasSuffix(file, "syscalls.star") {
				shows[name] = file
			}
		}
	}
	seen := map[string]int{}
	for _, ev := range tr.TraceEvents() {
		file := shows[ev.Name]
		switch {
		case file == "" && notShown[ev.Name] == "":
			t.Errorf("%s:%s: no golden shows it", ev.System, ev.Name)
		case file != "" && notShown[ev.Name] != "":
			t.Errorf("%s:%s: a golden shows it", ev.System, ev.Name)
		}
		n := seen[ev.System]
		seen[ev.System]++
		if file == "" || n%100 != 0 && os.Getenv("KSCOPE_BLANK") == "" || n%10 != 0 && ev.System == "syscalls" { // one generator makes these
			continue
		}
		t.Run(ev.System+":"+ev.Name, func(t *testing.T) {
			if run(file, blankEvent(ev.System, ev.Name)) == whole[file] {
				t.Errorf("without it %s prints the same", file)
			}
		})
	}
	if os.Getenv("KSCOPE_BLANK") != "" {
		t.Log(fmt.Sprint(seen))
	}
}

// blankEvent takes an event away from a machine, now or when its module has come.
func blankEvent(system, name string) func(m *kernel.Machine) {
	return func(m *kernel.Machine) {
		blank := func(*kernel.VCPU, kernel.ModuleEvent, *kernel.Module) error {
			if tr, ok := ftrace.Of(m); ok {
				ev, ok := tr.TraceEvent(system, name)
				switch {
				case !ok:
				case system == "syscalls":
					f := *ev.Format
					f.Text = func(*event.Printer, []byte) {}
					tr.Events().Remove(ev.Format)
					tr.Events().Add(&f)
				default:
					ev.Switch = func(bool) error { return nil }
				}
			}
			return nil
		}
		blank(nil, 0, nil)
		m.OnModule(blank)
	}
}

// blankOption puts other rows in the place of the options' files.
func blankOption(m *kernel.Machine, name string) {
	tr, ok := ftrace.Of(m)
	if !ok {
		return
	}
	for _, f := range tr.FS().Rows() {
		by, mine := *f, func(h *ftrace.Handle, p []byte) bool { return h.Arg == name }
		switch f.Path {
		case "options/*":
		case "trace_options":
			mine = func(_ *ftrace.Handle, p []byte) bool {
				return strings.TrimPrefix(strings.TrimSpace(string(p)), "no") == name
			}
		default:
			continue
		}
		by.Write = func(h *ftrace.Handle, p []byte) (int, error) {
			if mine(h, p) {
				return len(p), nil
			}
			return f.Write(h, p)
		}
		tr.FS().AddFile(&by)
	}
}

// optionGoldens are the options that ftrace's own golden (TestBlankOptions there) does not show, and the scripts that do.
var optionGoldens = [][2]string{
	{"block", "tracefs/poll.star"}, {"userstacktrace", "tracer/userstack.sh"}, {"sym-userobj", "tracer/userobj.sh"}, {"hash-ptr", "tracer/userobj.sh"},
	{"trace_printk", "tracefs/printk.star"}, {"event-fork", "tracer/forks.sh"}, {"function-fork", "tracer/forks.sh"}, {"funcgraph-irqs", "tracer/forks.sh"},
	{"sleep-time", "tracer/forks.sh"}, {"graph-time", "tracer/profile.sh"}, {"func-no-repeats", "tracer/forks.sh"}, {"funcgraph-overhead", "tracer/forks.sh"},
	{"test_nop_accept", "tracer/forks.sh"}, {"test_nop_refuse", "tracer/forks.sh"}, {"display-graph", "tracer/forks.sh"},
	{"funcgraph-retval", "tracer/features.star"}, {"funcgraph-retval-hex", "tracer/features.star"}, {"funcgraph-retaddr", "tracer/features.star"},
	{"funcgraph-args", "tracer/features.star"},
}

// TestBlankOptionScripts has each of them, in turn, accept what is written and do nothing.
func TestBlankOptionScripts(t *testing.T) {
	snaps := testMachines
	run := func(file string, booted func(m *kernel.Machine)) string {
		opts, err := parseArgs([]string{"run", "--max-memory=4G", "scripts/" + file})
		if err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		p := &program{opts: opts, stdout: &out, stderr: &out, snaps: snaps, booted: booted}
		p.dispatch()
		return out.String()
	}
	whole := map[string]string{}
	for _, row := range optionGoldens {
		name, file := row[0], row[1]
		if whole[file] == "" {
			whole[file] = run(file, nil)
		}
		t.Run(name, func(t *testing.T) {
			if run(file, func(m *kernel.Machine) { blankOption(m, name) }) == whole[file] {
				t.Errorf("without it scripts/%s prints the same", file)
			}
		})
	}
}
