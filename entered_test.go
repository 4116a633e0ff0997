package main

import (
	"bytes"
	"os"
	"sort"
	"strings"
	"sync"
	"testing"

	"kscope/ftrace"
	"kscope/kernel"
)

// TestEntered: the goldens together enter at least 70 % of the kernel's functions that can be traced, by the emulator's own
// count: a kernel worth tracing is one whose functions run. What runs only while the machine boots does not count. -v lists
// the functions that no golden enters, by file order of their addresses. It runs all goldens, so it is asked for:
// KSCOPE_ENTERED=1.
func TestEntered(t *testing.T) {
	if os.Getenv("KSCOPE_ENTERED") == "" {
		t.Skip("runs all goldens: KSCOPE_ENTERED=1")
	}
	opts, err := parseArgs([]string{"test", "-j=2", "scripts"})
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	entered, all := map[string]bool{}, map[string]uint64{}
	var out bytes.Buffer
	p := &program{opts: opts, stdout: &out, stderr: &out, snaps: newMachines()}
	p.checks = []machineCheck{{"entered", func(m *kernel.Machine) func() error {
		tr, ok := kernel.PartOf[*ftrace.Tracer](m)
		if !ok {
			return func() error { return nil }
		}
		sites := tr.Sites().Records()
		for _, s := range sites {
			if s.Module == "" {
				m.CountEntries(s.IP)
			}
		}
		return func() error {
			mu.Lock()
			defer mu.Unlock()
			for _, s := range sites {
				if s.Module == "" {
					all[s.Name] = s.IP
					entered[s.Name] = entered[s.Name] || m.Entries(s.IP) > 0
				}
			}
			return nil
		}
	}}}
	status := p.dispatch()
	t.Logf("goldens: status %d\n%s", status, lastLines(out.String(), 3))
	var missing []string
	for name := range all {
		if !entered[name] {
			missing = append(missing, name)
		}
	}
	sort.Slice(missing, func(i, j int) bool { return all[missing[i]] < all[missing[j]] })
	share := 100 * float64(len(all)-len(missing)) / float64(len(all))
	t.Logf("%d of %d traceable functions are entered: %.1f %%; not: %s", len(all)-len(missing), len(all), share, strings.Join(missing, " "))
	if share < 70 {
		t.Errorf("only %.1f %% of the traceable functions are entered by the goldens", share)
	}
}

func lastLines(text string, n int) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return strings.Join(lines[max(0, len(lines)-n):], "\n")
}
