package main

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"kscope/kernel"
	"kscope/kernel/user"
	"kscope/kernel/user/sh"
	"kscope/lang"
)

// truthDir holds transcripts of real Linux 6.1: NAME.sh and what it printed there, NAME.out.
const truthDir = "../shared/oracle/truth"

// runScript runs a script as the oracle does, as /oracle/script, the guest's first program.
func runScript(t *testing.T, text string) (out string, code int) {
	cfg := kernel.Config{CPUs: 2, Mem: 64 << 20, MaxInsns: 20e9}
	cfg.Initrd = user.Initrd(append(sh.Files(), user.File{Path: "oracle", Mode: 0o040755},
		user.File{Path: "oracle/script", Mode: 0o100755, Data: []byte(text)})...)
	var snaps kernel.Snapshots
	m, err := snaps.Machine(cfg, parts)
	if err != nil {
		t.Fatal(err)
	}
	h, _ := kernel.PartOf[*user.Host](m)
	defer h.Close()
	var b bytes.Buffer
	pid, err := h.Exec("/oracle/script", nil, kernel.Streams{Out: &b, Err: &b})
	if err != nil {
		t.Fatal(err)
	}
	code, err = m.Wait(pid)
	if err != nil {
		t.Errorf("%v\n%s", err, tail(b.String()))
	}
	return b.String(), code
}

func tail(text string) string {
	lines := strings.Split(text, "\n")
	return strings.Join(lines[max(0, len(lines)-15):], "\n")
}

// shellTrouble is what only the shell can be guilty of. A command or a file of tracefs that is not there yet is not.
var shellTrouble = regexp.MustCompile(`not supported|syntax error|bad substitution|unexpected EOF|BUG`)

// Every transcript of real Linux runs to its end in the guest's shell. How much of the output is the same is for conform to
// judge; here only the shell counts.
func TestTruthScripts(t *testing.T) {
	files, _ := filepath.Glob(truthDir + "/*.sh")
	if len(files) == 0 {
		t.Skip("no transcripts in " + truthDir)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".sh"), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			want, _ := os.ReadFile(strings.TrimSuffix(file, ".sh") + ".out")
			const end = "[the script has reached its end]"
			// What runs until its time is up need not do so for two seconds (10 s of ours).
			script := strings.ReplaceAll(string(text), "timeout 2 ", "timeout 0.05 ")
			out, code := runScript(t, script+"\necho '"+end+"'\n")
			if dir := os.Getenv("KSCOPE_TRUTH_OUT"); dir != "" {
				os.WriteFile(filepath.Join(dir, filepath.Base(file)+".out"), []byte(out), 0o644)
			}
			out, ended := strings.CutSuffix(out, end+"\n")
			if !ended || code != 0 {
				t.Errorf("exit %d, and not at its end\n%s", code, tail(out))
			}
			real := map[string]bool{}
			for _, line := range strings.Split(string(want), "\n") {
				real[line] = true
			}
			same, lines := 0, strings.Split(out, "\n")
			for _, line := range lines {
				if real[line] {
					same++
				} else if shellTrouble.MatchString(line) {
					t.Errorf("not of real Linux: %s", line)
				}
			}
			t.Logf("%d lines, %d of them as on real Linux", len(lines), same)
		})
	}
}

// kscope sh: options, a script of the host with its own arguments, standard input.
func TestShellCommand(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "x.sh")
	if err := os.WriteFile(file, []byte("echo \"$# $1 $2\"; read l; echo \"<$l>\"; nosuch; exit 4\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	in := filepath.Join(dir, "in")
	if err := os.WriteFile(in, []byte("line of input\nsecond\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct {
		args     []string
		out, err string
		code     int
	}{
		{[]string{"sh", file, "a", "--", "-x"}, "3 a --\n<line of input>\n", file + ": line 1: nosuch: command not found\n", 4},
		{[]string{"-cpus=2", "sh", "-c", "nproc; echo $0 $1", "x", "-seed=3"}, "2\nx -seed=3\n", "", 0},
		{[]string{"sh", "-s", "arg"}, "", "bash: line 1: line: command not found\nbash: line 2: second: command not found\n", 127},
		{[]string{"sh", "-c", "for t in infinity 1e20 5e9 4e9; do timeout 5 sleep $t; echo $?; done"}, "124\n124\n124\n124\n", "", 0},
		{[]string{"sh", "--help"}, shellUsage, "", 0},
		{[]string{"sh", "/nonexistent/x"}, "", "bash: /nonexistent/x: No such file or directory\n", 127},
	} {
		stdin, err := os.Open(in)
		if err != nil {
			t.Fatal(err)
		}
		var out, errs bytes.Buffer
		code := runOn(testMachines, row.args, stdin, &out, &errs)
		stdin.Close()
		if out.String() != row.out || errs.String() != row.err || code != row.code {
			t.Errorf("%q: exit %d\n%s%s", row.args, code, out.String(), errs.String())
		}
	}
}

// Where nothing can ever run again, a read of trace_pipe ends, with the reason, and the script goes on; anything else ends the run.
func TestShellStuck(t *testing.T) {
	const script = `cd /sys/kernel/tracing; cat trace_pipe; echo "after $?"; read l < per_cpu/cpu0/trace_pipe_raw; echo "read $?"
cat trace_pipe | wc -l; echo hi > trace_marker; cat trace_pipe | sed 's/.*: //'; sleep 1; sleep infinity; echo never`
	var out, errs bytes.Buffer
	code := runOn(testMachines, []string{"sh", "-c", script}, os.Stdin, &out, &errs)
	if want := "after 1\nread 1\n0\nhi\n"; out.String() != want || code != lang.ExitLimit {
		t.Errorf("exit %d\n%s", code, out.String())
	}
	const ends = "kscope: trace_pipe ends: deadlock: every CPU is halted and no interrupt will ever come\n"
	if got := errs.String(); !strings.HasPrefix(got, ends) || strings.Count(got, ends) != 4 ||
		strings.Count(got, "cat: trace_pipe: Resource deadlock avoided\n") != 3 || strings.Count(got, "kscope: running the shell: machine stopped: deadlock: ") != 1 {
		t.Errorf("standard error:\n%s", got)
	}
}
