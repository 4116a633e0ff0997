package builtins

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"kscope/kernel"
	"kscope/lang"
)

// TestTraceCmdReadsMachine: Debian's trace-cmd reads a machine's trace.dat and tells the same events, in the same order and at
// the same times, as the file trace does. It runs in a mount namespace of its own: it mounts the host's tracefs where it
// finds none.
func TestTraceCmdReadsMachine(t *testing.T) {
	for _, tool := range []string{"trace-cmd", "unshare"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skip("needs ", tool)
		}
	}
	if err := exec.Command("unshare", "-m", "true").Run(); err != nil {
		t.Skip("no mount namespace: ", err)
	}
	file := filepath.Join(t.TempDir(), "trace.dat")
	var snaps kernel.Snapshots
	e := New(Config{Boot: bootForTest(&snaps), Defaults: kernel.Config{CPUs: 4}, Stdout: io.Discard})
	h := lang.New(lang.Config{Tables: e.Tables(), MaxSteps: 50_000_000, Stdout: io.Discard})
	e.Attach(h)
	err := h.Eval(fmt.Sprintf(`(tracer.filter("vfs_*"), tracer.set("function"), event.enable("*:*"),
		kernel.exec("cat", ["/etc/passwd"]), kernel.exec("ls", ["/etc"]), tracer.mark("mark"), tracer.off(), export.trace_dat(%q))`, file))
	if err != nil {
		t.Fatal(err)
	}
	g, err := e.current()
	if err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command("unshare", "-m", "trace-cmd", "report", "-i", file).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	row := regexp.MustCompile(`^ *(\S+)-(\d+) +\[(\d+)\].*? (\d+\.\d{6}): (\w+):`)
	var got []string
	for _, line := range strings.Split(string(out), "\n") {
		if m := row.FindStringSubmatch(line); m != nil {
			got = append(got, fmt.Sprintf("%s-%s [%s] %s %s", m[1], m[2], m[3], m[4], m[5]))
		} else if line != "" && !strings.HasPrefix(line, "cpus=") {
			t.Errorf("trace-cmd says %q", line)
		}
	}
	var want []string
	for _, r := range g.T.Records(-1) {
		us := (r.TS + 500) / 1000
		want = append(want, fmt.Sprintf("%s-%d [%03d] %d.%06d %s", r.Comm, r.Header.PID, r.CPU, us/1e6, us%1e6, r.Name()))
	}
	if len(want) < 500 {
		t.Errorf("only %d events", len(want))
	}
	for i := range max(len(got), len(want)) {
		if i >= len(got) || i >= len(want) || got[i] != want[i] {
			at := func(l []string) string {
				if i < len(l) {
					return l[i]
				}
				return "no more"
			}
			t.Fatalf("event %d of %d: trace-cmd: %s; trace: %s", i, len(want), at(got), at(want))
		}
	}
	os.Remove(file)
}
