package main

import (
	"testing"
	"time"
)

// A lesson on a real terminal: it waits for the answer, runs what a student types in between, and goes on.
func TestLabOnPty(t *testing.T) {
	if testing.Short() {
		t.Skip("types for a second")
	}
	master, s, cmd := onPty(t, t.TempDir(), "lab", "1")
	for _, step := range []struct{ typ, wait string }{
		{"", "Q1> "},
		{"four\r", "That is not it."},
		{"", "Q1> "},
		{"!cat /etc/hostname\r", "\nkscope\r\n"},
		{"", "Q1> "},
		{"kernel.disasm(\"vfs_wri\t", "vfs_write"},
		{"\", n = 1)\r", "fentry site"},
		{"", "Q1> "},
		{"\x03", "Q1> "}, // nothing runs: Ctrl-C drops the line
		{"5 bytes\r", "Right: 5"},
		{"", "Q2> "},
		{"\x04", "0 of 5 questions answered at the first try"},
	} {
		time.Sleep(20 * time.Millisecond)
		master.WriteString(step.typ)
		s.wait(t, step.wait)
	}
	ended(t, cmd)
}
