package main

import (
	"strings"
	"testing"

	"kscope/ftrace"
	"kscope/ftrace/event"
	"kscope/kernel"
)

// TestBlankSyscalls takes the text of every second event of the system calls away, then that of the others: of the golden's two cells for
// each call, exactly those of what was taken away must change.
func TestBlankSyscalls(t *testing.T) {
	const file = "scripts/events/syscalls.star"
	snaps := newMachines()
	run := func(booted func(m *kernel.Machine)) []string {
		return strings.Split(strings.TrimSuffix(runBooted(t, snaps, file, booted), "\n"), "\n")
	}
	var names []string
	whole := run(func(m *kernel.Machine) {
		tr, _ := ftrace.Of(m)
		for _, ev := range tr.TraceEvents() {
			if ev.System == "syscalls" && strings.HasPrefix(ev.Name, "sys_enter_") {
				names = append(names, strings.TrimPrefix(ev.Name, "sys_enter_"))
			}
		}
	})
	if len(names) < 150 {
		t.Fatalf("%d system calls", len(names))
	}
	for parity := range 2 {
		gone := map[string]bool{}
		for i, n := range names {
			gone["sys_enter_"+n], gone["sys_exit_"+n] = i%2 == parity, i%2 != parity
		}
		lines := run(func(m *kernel.Machine) {
			tr, _ := ftrace.Of(m)
			for name, yes := range gone {
				if ev, ok := tr.TraceEvent("syscalls", name); yes && ok {
					f := *ev.Format
					f.Text = func(*event.Printer, []byte) {}
					tr.Events().Remove(ev.Format)
					tr.Events().Add(&f)
				}
			}
		})
		if len(lines) != len(whole) {
			t.Fatalf("%d lines, %d with all events", len(lines), len(whole))
		}
		shown := map[string]bool{}
		for i := range whole {
			enter, exit, _ := strings.Cut(whole[i], " | ")
			enter2, exit2, _ := strings.Cut(lines[i], " | ")
			name, _, ok := strings.Cut(strings.TrimPrefix(enter, "sys_"), "(")
			if !ok {
				continue
			}
			for _, cell := range [][3]string{{"sys_enter_" + name, enter, enter2}, {"sys_exit_" + name, exit, exit2}} {
				if changed := cell[1] != cell[2]; changed != gone[cell[0]] && notShown[cell[0]] == "" {
					t.Errorf("%s: taken away %v, %q was %q", cell[0], gone[cell[0]], cell[2], cell[1])
				}
				shown[cell[0]] = true
			}
		}
		for name := range gone {
			if !shown[name] {
				t.Errorf("%s is not in %s", name, file)
			}
		}
	}
}
