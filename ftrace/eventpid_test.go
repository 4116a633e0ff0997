package ftrace

import (
	"fmt"
	"testing"

	"kscope/kernel"
)

// TestEventPidSwitch: with set_event_pid a task switch is recorded for the task that leaves and for the one that comes, and a
// wakeup for the waker and for the woken; with set_event_notrace_pid a switch is left out when both of its tasks are listed.
func TestEventPidSwitch(t *testing.T) {
	records := func(file, pids string) []Rec {
		tr := withPoints(t, kernel.Config{CPUs: 2})
		must(t, tr.WriteFile(file, pids, false))
		for _, name := range []string{"sched_switch", "sched_waking", "sched_wakeup"} {
			must(t, tr.WriteFile("events/sched/"+name+"/enable", "1", false))
		}
		must(t, tr.m.Hot(0b11, 20))
		for range 5 {
			work(t, tr)
		}
		return tr.Records(-1)
	}
	var daemon uint64
	for _, task := range withPoints(t, kernel.Config{CPUs: 2}).m.Tasks() {
		if task.Comm == "kscoped" {
			daemon = uint64(task.Pid)
		}
	}
	num := func(r *Rec, name string) uint64 {
		v, _ := r.Field(name)
		return v.Num
	}
	left, came, woken := 0, 0, 0
	for _, r := range records("set_event_pid", fmt.Sprint(daemon)) {
		if r.Name() == "sched_switch" {
			switch daemon {
			case num(&r, "prev_pid"):
				left++
			case num(&r, "next_pid"):
				came++
			default:
				t.Errorf("a switch of others: %s", r.Text)
			}
			continue
		}
		if uint64(r.Header.PID) != daemon && num(&r, "pid") != daemon {
			t.Errorf("a wakeup of others: %s", r.Line)
		}
		if uint64(r.Header.PID) != daemon {
			woken++
		}
	}
	if left < 5 || came < 5 || woken < 5 {
		t.Errorf("%d times left, %d came, %d times woken by others", left, came, woken)
	}
	n := 0
	for _, r := range records("set_event_notrace_pid", fmt.Sprint("0 ", daemon)) {
		if r.Name() == "sched_switch" {
			if n++; (num(&r, "prev_pid") == daemon || num(&r, "prev_pid") == 0) && (num(&r, "next_pid") == daemon || num(&r, "next_pid") == 0) {
				t.Errorf("a switch of listed tasks: %s", r.Text)
			}
		}
	}
	if n == 0 {
		t.Error("no switch of others")
	}
}
