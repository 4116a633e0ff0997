package main

import (
	"bytes"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"
)

// testMachines are booted once for all command lines.
var testMachines = newMachines()

// TestCommandLine runs the program on command lines that need no machine.
func TestCommandLine(t *testing.T) {
	dir := t.TempDir()
	script := filepath.Join(dir, "a.star")
	os.WriteFile(script, []byte("print(flag.args)\ndef main():\n    fail('no')\n"), 0o644)
	latin, long := filepath.Join(dir, "latin", "a.sh"), filepath.Join(dir, "latin", "b.sh")
	os.Mkdir(filepath.Dir(latin), 0o755)
	os.WriteFile(latin, []byte("echo \xe9\n"), 0o644)
	os.WriteFile(long, []byte("echo ok "+strings.Repeat("x", 200000)), 0o644)
	for _, c := range []struct {
		args   string
		stdin  string
		status int
		out    string // what standard output begins with
		err    string // what standard error begins with
	}{
		{args: "help", out: "usage: kscope"},
		{args: "run --help", out: "usage: kscope"},
		{args: "-e 1+1", out: "2\n"},
		{args: "-e 1+", status: 1, err: "error: got end of file"},
		{args: "-e pritn(1)", status: 1, err: "error: undefined: pritn\n  pritn(1)\n  ^\n  hint: did you mean print?\n"},
		{args: "run " + script + " -- --n=5 x", status: 1, out: "[\"--n=5\", \"x\"]\n", err: "error: fail: no\n"},
		{args: "run " + script + "r", status: 1, err: "error: " + filepath.ToSlash(script) + "r: no such file or directory\n  hint: did you mean a.star?\n"},
		{args: "rnu", status: 2, err: "kscope: unknown command \"rnu\": did you mean run?\n"},
		{args: "x.star", status: 2, err: "kscope: unknown command \"x.star\": did you mean kscope run x.star?\n"},
		{args: "frobnicate", status: 2, err: "kscope: unknown command \"frobnicate\"; kscope help lists them\n"},
		{args: "--sede 3", status: 2, err: "kscope: unknown flag -sede: did you mean -seed?\n"},
		{args: "run a.star --fn=x", status: 2, err: "kscope: unknown flag -fn; a script's own flags go behind --\n"},
		{args: "--cpus=x", status: 2, err: "kscope: invalid value \"x\" for flag -cpus"},
		{args: "--mem 3X", status: 2, err: "kscope: invalid value \"3X\" for flag -mem: want a size such as 64M\n"},
		{args: "run", status: 2, err: "kscope: run: want one script, got 0"},
		{args: "run a b", status: 2, err: "kscope: run: want one script, got 2"},
		{args: "run -e 1 a.star", status: 2, err: "kscope: -e and -i do not go with run\n"},
		{args: "test -run ( x", status: 2, err: "kscope: invalid value \"(\" for flag -run"},
		{args: "test " + dir, status: 3, out: "FAIL " + script + ": no .out file"},
		{args: "test " + dir + "/none", status: 2, out: "kscope test: "},
		{args: "--cpus=64 -e len(kernel.cpus)", out: "64\n"},
		{args: "--cpus=65 -e 1", status: 2, err: "kscope: invalid value \"65\" for flag -cpus: want 1 to 64\n"},
		{args: "--cpus=0 -e 1", status: 2, err: "kscope: invalid value \"0\" for flag -cpus"},
		{args: "--mem=1M -e 1", status: 2, err: "kscope: invalid value \"1M\" for flag -mem: want a multiple of 2M from 32M to 64G\n"},
		{args: "test -seeds -1 " + dir, status: 2, err: "kscope: invalid value \"-1\" for flag -seeds: want an int, 0 or more\n"},
		{args: "test -j -1 " + dir, status: 2, err: "kscope: invalid value \"-1\" for flag -j"},
		{args: "-e=", status: 2, err: "kscope: invalid value \"\" for flag -e: want an expression\n"},
		{args: "--cpus=64 --mem=32M -e kernel.now", status: 1, err: "error: kernel: 32 MiB of RAM: too little for 64 CPUs: init"},
		{args: "--cpus=16 --mem=32M -e kernel.exec('cat',['/etc/hostname']).out", out: "kscope\n"},
		{args: "-e flag.duration('d','10ms')", status: 1, err: "error: flag.duration: default of --d: got string, want int or None\n"},
		{args: "-e flag.int('n',None)"},
		{args: "--mem=17179869184G -e 1", status: 2, err: "kscope: invalid value"},
		{args: "-e kernel.boot(cpus=65)", status: 1, err: "error: kernel: 65 CPUs: must be 1 to 64\n"},
		{args: "-e kernel.boot(mem=1<<20)", status: 1, err: "error: kernel: 1048576 bytes of RAM"},
		{args: "-e kernel.exec('cat',timeout=-1)", status: 1, err: "error: kernel.exec: timeout = -1: want 0 or a positive int\n"},
		{args: "-e on('kprobe:vfs_read',lambda~ctx:kernel.boot());sh('cat~/etc/hostname')", status: 1,
			err: "error: kernel.boot: the machine is already running"},
		{args: "run " + latin, out: "\xe9\n"}, // a script of any bytes
		{args: "run " + long, status: 1, err: "error: sh: Argument list too long\n  sh(script)\n    ^\n  hint: the script has 200008 bytes"},
		{args: "-e " + strings.Repeat("(", 9000), status: 1, err: "error: excessive nesting\n  " + strings.Repeat("(", 400) + "...\n   "},
		{args: "--max-insns=3000000 -e kernel.exec('dd',['if=/dev/zero','of=/dev/null'],timeout=0)", status: 5,
			err: "error: kernel.exec: running: 2"}, // million, and dd's work for the rest
		{args: "-e kernel.write('default_idle',b'\\x0f\\x0b'),kernel.exec('sleep',['1'])", status: 4,
			err: "error: kernel.exec: the guest panicked\nKernel panic - not syncing: Attempted to kill the idle task!\n"},
		{args: "--max-steps=1000 -e [n*m~for~n~in~range(99)~for~m~in~range(99)]", status: 5, err: "error: more than 1000 steps (--max-steps)\n"},
		{args: "--max-memory=64M -e [str(n)*1000~for~n~in~range(9999999)]", status: 5, err: "error: more than 64 MiB of memory (--max-memory)\n"},
		{stdin: "1 + 1\nboom\n_", status: 1, out: "2\nerror: undefined: boom\n  boom\n  ^\n  hint: did you mean bool?\n2\n"},
		{args: "--echo", stdin: "for i in [1]:\n  print(i)\nx = 2\nx", out: ">>> for i in [1]:\n...   print(i)\n... x = 2\n1\n>>> x\n2\n"},
		{args: "--echo", stdin: "!cat /etc/hostname; false\n!", status: 1, out: ">>> !cat /etc/hostname; false\nkscope\n[exit status 1]\n>>> !\nerror: ! has no command behind it\n"},
		{args: "-i " + script, stdin: "1", status: 1, out: "[]\nerror: fail: no\n"},
	} {
		in := filepath.Join(dir, "stdin")
		os.WriteFile(in, []byte(c.stdin), 0o644)
		stdin, err := os.Open(in)
		if err != nil {
			t.Fatal(err)
		}
		var out, errs bytes.Buffer
		args := strings.Fields(c.args)
		for i := range args {
			args[i] = strings.ReplaceAll(args[i], "~", " ")
		}
		status := runOn(testMachines, args, stdin, &out, &errs)
		stdin.Close()
		if status != c.status || !strings.HasPrefix(out.String(), c.out) || !strings.HasPrefix(errs.String(), c.err) ||
			c.err == "" && errs.Len() > 0 {
			t.Errorf("kscope %s: status %d\nstdout: %s\nstderr: %s", c.args, status, &out, &errs)
		}
	}
}

// fullDisk is a standard output that takes nothing.
type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, syscall.ENOSPC }

// What could not be written is an error, however little it was.
func TestFullDisk(t *testing.T) {
	for _, args := range [][]string{{"help"}, {"-e", "1"}, {"-format", "json", "-e", "print(1)"}, {"list"}, {"sh", "-c", "ls"}} {
		var errs bytes.Buffer
		status := run(args, os.Stdin, fullDisk{}, &errs)
		want := "error: "
		if args[0] == "sh" {
			want = "ls: write error: "
		}
		if status == 0 || !strings.HasPrefix(strings.ToLower(errs.String()), want+"no space left on device\n") {
			t.Errorf("kscope %q > /dev/full: status %d, %q", args, status, &errs)
		}
	}
}

// A command leaves no goroutine behind: it would keep the machine, and an archive of goldens runs dozens in one process.
func TestCommandsLeaveNothing(t *testing.T) {
	before := runtime.NumGoroutine()
	for range 10 {
		var out, errs bytes.Buffer
		if status := runOn(testMachines, []string{"-e", "1 + 1"}, os.Stdin, &out, &errs); status != 0 || out.String() != "2\n" {
			t.Fatalf("status %d, %q, %q", status, &out, &errs)
		}
	}
	for range 100 { // they end soon after their command
		if runtime.NumGoroutine() < before+5 {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Errorf("%d goroutines before ten commands, %d behind them", before, runtime.NumGoroutine())
}
