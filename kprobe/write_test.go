package kprobe

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"kscope/kernel"
)

// TestWrites is the shell part of oracle d-kprobe-errors: several lines in one write, no newline, long lines, many arguments.
func TestWrites(t *testing.T) {
	k := boot(t, kernel.Config{})
	write := func(text string) (string, error) {
		must(t, k.t.WriteFile("kprobe_events", "\n", false))
		must(t, k.t.WriteFile("error_log", "", false))
		err := k.t.WriteFile("kprobe_events", text, true)
		return k.EventsText(), err
	}
	if got, err := write("p:one vfs_read\np:two vfs_write\nbad line\np:three vfs_open\n"); !errors.Is(err, kernel.EINVAL) ||
		got != "p:kprobes/one vfs_read\np:kprobes/two vfs_write\n" {
		t.Errorf("two good lines and a bad one: %v\n%s", err, got)
	}
	if log := k.read(t, "error_log"); log != "" {
		t.Errorf("an unknown letter has an entry: %s", log)
	}
	if got, err := write("p:nonl vfs_read"); err != nil || got != "p:kprobes/nonl vfs_read\n" {
		t.Errorf("no newline: %v\n%s", err, got)
	}
	for _, n := range []int{4094, 4095, 4096} {
		line := "p:long vfs_read "
		got, err := write(line + strings.Repeat(" ", n-1-len(line)) + "\n")
		if ok := n < 4096; ok != (err == nil) || ok != (got == "p:kprobes/long vfs_read\n") {
			t.Errorf("%d bytes: %v\n%s", n, err, got)
		}
	}
	for _, n := range []int{128, 129} {
		line := "p:many vfs_read"
		for i := range n {
			line += fmt.Sprintf(" a%d=%%di", i+1)
		}
		if got, err := write(line + "\n"); err != nil || len(strings.Fields(got)) != 130 {
			t.Errorf("%d arguments: %v, %d words", n, err, len(strings.Fields(got)))
		}
	}
	must(t, k.t.WriteFile("error_log", "", false))
	for i := range 10 {
		_ = k.t.WriteFile("kprobe_events", fmt.Sprintf("p nosuch%d\n", i+1), true)
	}
	if log := k.read(t, "error_log"); strings.Count(log, "Command") != 8 || !strings.Contains(log, "nosuch10") || strings.Contains(log, "nosuch2\n") {
		t.Errorf("error_log:\n%s", log)
	}
}
