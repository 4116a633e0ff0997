package main

import (
	"bytes"
	"os"
	"testing"
)

// A reader of trace whose reads are what is traced never ends, as on Linux (the oracle's cat, tail and wc were killed after 5 s
// and 120,000 lines); kscope sh says so, once, and only then.
func TestEndlessTrace(t *testing.T) {
	const trace = "cd /sys/kernel/tracing; echo vfs_read > set_ftrace_filter; echo function > current_tracer; "
	for _, c := range []struct{ name, script, out, err string }{
		{"twice", trace + "for i in 1 2; do head -n 100500 trace | wc -l; done", "100500\n100500\n", endlessHint},
		{"paused", trace + "echo 1 > options/pause-on-trace; cat trace > /dev/null; echo $?", "0\n", ""},
		{"off", trace + "echo 0 > tracing_on; cat trace > /dev/null; echo $?", "0\n", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var out, errs bytes.Buffer
			if code := runOn(testMachines, []string{"sh", "-c", c.script}, os.Stdin, &out, &errs); code != 0 || out.String() != c.out || errs.String() != c.err {
				t.Errorf("exit %d\n%s%s", code, out.String(), errs.String())
			}
		})
	}
}
