package kernel

import (
	"fmt"
	"testing"
)

// The host keeps the last records of a log without end, and a copy of the machine has them too.
func TestLogBounded(t *testing.T) {
	m := boot(t, Config{CPUs: 1})
	const n = 5*logLines + 7
	for i := range n {
		m.Log(m.cpus[0], 4, fmt.Sprint("record ", i))
	}
	for _, m := range []*Machine{m, m.Fork(1)} {
		lines := m.Dmesg()
		if len(lines) < logLines || len(lines) > 2*logLines || lines[len(lines)-1].Text != fmt.Sprint("record ", n-1) {
			t.Fatalf("%d records, the last one %v", len(lines), lines[len(lines)-1])
		}
		for i, l := range lines {
			if want := fmt.Sprint("record ", n-len(lines)+i); l.Text != want {
				t.Fatalf("record %d is %q, want %q", i, l.Text, want)
			}
		}
	}
}
