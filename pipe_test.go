package main

import (
	"bytes"
	"os"
	"strings"
	"testing"
)

// What a reader of trace_pipe sees who is a task of the guest: it sleeps until an event comes, wakes for each, of its own CPU
// only with per_cpu/cpuN/trace_pipe; a signal ends it, or tracing that goes off after something was read, and nothing else
// (tracing_wait_pipe).
func TestTracePipeInGuest(t *testing.T) {
	for _, c := range []struct{ name, script, want string }{
		{"blocks, wakes, is killed", `
cat trace_pipe > /tmp/p & p=$!
sleep 0.01; echo "[$(wc -c < /tmp/p)] $(cut -d' ' -f3 /proc/$p/stat)"
echo one > trace_marker; sleep 0.01; sed 's/.*: //' /tmp/p
echo two > trace_marker; sleep 0.01; sed 's/.*: //' /tmp/p
kill $p; wait $p; echo "exit $?"; grep -v "#" trace; echo end`, "[0] S\none\none\ntwo\nexit 143\nend\n"},
		{"ends when tracing goes off after it has read", `
cat trace_pipe > /tmp/p & p=$!
echo one > trace_marker; sleep 0.01; echo 0 > tracing_on; wait $p; echo "exit $?"; sed 's/.*: //' /tmp/p`, "exit 0\none\n"},
		{"does not end when it has read nothing", `
echo 0 > tracing_on; cat trace_pipe > /tmp/p & p=$!
sleep 0.01; echo "$(cut -d' ' -f3 /proc/$p/stat)"
echo 1 > tracing_on; echo late > trace_marker; sleep 0.01; sed 's/.*: //' /tmp/p; kill $p; wait $p; echo "exit $?"`,
			"S\nlate\nexit 143\n"},
		{"of one CPU", `
cat per_cpu/cpu1/trace_pipe > /tmp/p & p=$!
taskset 1 sh -c 'echo zero > trace_marker'; sleep 0.01; echo "[$(wc -c < /tmp/p)]"
taskset 2 sh -c 'echo one > trace_marker'; sleep 0.01; sed 's/.*: //' /tmp/p
kill $p; wait $p; echo "exit $?"; sed -n 's/.*\(\[00.\]\).*: /\1 /p' trace`, "[0]\none\nexit 143\n[000] zero\n"},
		{"holds its tracer", `
cat trace_pipe > /dev/null & p=$!
sleep 0.01; echo function > current_tracer; kill $p; wait $p; echo function > current_tracer; cat current_tracer`,
			"/oracle/script: line 4: echo: write error: Device or resource busy\nfunction\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			out, code := runScript(t, "#!/bin/sh\ncd /sys/kernel/tracing"+c.script+"\n")
			if out != c.want || code != 0 {
				t.Errorf("exit %d\n%s", code, out)
			}
		})
	}
	for _, file := range []string{"trace_pipe", "per_cpu/cpu0/trace_pipe", "per_cpu/cpu0/trace_pipe_raw"} {
		var out, errs bytes.Buffer
		code := runOn(testMachines, []string{"-e", `kernel.exec("cat", ["/sys/kernel/tracing/` + file + `"], timeout = 0)`}, os.Stdin, &out, &errs)
		want := "error: kernel.exec: waiting for cat: nothing in the guest can ever run again\n" +
			"every CPU is halted and no interrupt will ever come\n  cat              pid 100   S ring_buffer_wait <- "
		if code != 1 || !strings.HasPrefix(errs.String(), want) {
			t.Errorf("%s: exit %d\n%s%s", file, code, out.String(), errs.String())
		}
	}
}
