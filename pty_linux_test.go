package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
	"unsafe"
)

// childEnv makes the test binary be kscope itself.
const childEnv = "KSCOPE_TEST_CHILD"

func TestMain(m *testing.M) {
	if os.Getenv(childEnv) != "" {
		main()
	}
	os.Exit(m.Run())
}

// openPty gives the two ends of a fresh pseudo-terminal; see pty(7).
func openPty(t *testing.T) (master, slave *os.File) {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Skip("no pseudo-terminals here: ", err)
	}
	const tiocgptn, tiocsptlck, tiocswinsz = 0x80045430, 0x40045431, 0x5414
	var n, unlock uint32
	size := [4]uint16{50, 160} // rows, columns
	for _, c := range []struct {
		req uintptr
		arg unsafe.Pointer
	}{{tiocgptn, unsafe.Pointer(&n)}, {tiocsptlck, unsafe.Pointer(&unlock)}, {tiocswinsz, unsafe.Pointer(&size)}} {
		if _, _, errno := syscall.Syscall(syscall.SYS_IOCTL, master.Fd(), c.req, uintptr(c.arg)); errno != 0 {
			t.Skip("no pseudo-terminals here: ", errno)
		}
	}
	slave, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Skip("no pseudo-terminals here: ", err)
	}
	return master, slave
}

// screen is what a terminal has shown since the last wait.
type screen struct {
	mu   sync.Mutex
	text string
	all  string
}

func (s *screen) read(f *os.File) {
	buf := make([]byte, 4096)
	for {
		n, err := f.Read(buf)
		s.mu.Lock()
		s.text += string(buf[:n])
		s.all += string(buf[:n])
		s.mu.Unlock()
		if err != nil {
			return
		}
	}
}

// wait waits until text is shown and forgets everything up to it.
func (s *screen) wait(t *testing.T, text string) {
	t.Helper()
	for range 4000 {
		s.mu.Lock()
		i := strings.Index(s.text, text)
		if i >= 0 {
			s.text = s.text[i+len(text):]
		}
		s.mu.Unlock()
		if i >= 0 {
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
	t.Fatalf("never showed %q; the screen ends with\n%q", text, s.all[max(0, len(s.all)-800):])
}

// onPty starts kscope on a terminal of its own.
func onPty(t *testing.T, state string, args ...string) (master *os.File, s *screen, cmd *exec.Cmd) {
	master, slave := openPty(t)
	cmd = exec.Command(os.Args[0], args...)
	cmd.Env = append(os.Environ(), childEnv+"=1", "XDG_STATE_HOME="+state, "NO_COLOR=", "TERM=xterm")
	cmd.Stdin, cmd.Stdout, cmd.Stderr = slave, slave, slave
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill() })
	slave.Close()
	s = &screen{}
	go s.read(master)
	return master, s, cmd
}

// ended waits for the end of the session.
func ended(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	select {
	case err := <-done:
		if err != nil {
			t.Errorf("it ended with %v", err)
		}
	case <-time.After(10 * time.Second):
		cmd.Process.Kill()
		t.Fatal("the session did not end")
	}
}

// A session on a real terminal, as a person has it: completion, blocks, history, colours, progress, commands, and Ctrl-C, which
// stops the guest first and the script next.
func TestSessionOnPty(t *testing.T) {
	if testing.Short() {
		t.Skip("types for some seconds")
	}
	state := t.TempDir()
	master, s, cmd := onPty(t, state)
	for _, step := range []struct{ typ, wait string }{
		{"", "Ctrl-D leaves"},
		{"", ">>> "},
		{"kernel.disasm(\"vfs_rea\t", "vfs_read"},
		{"\", n = 1)\r", "fentry site"},
		{"def twice(x):\r", "... "},
		{"    return 2 * x\r", "... "},
		{"\r", ">>> "},
		{"twice(21)\r", "\n42"},
		{"\x10\r", "\n42"}, // the line before
		{"_ + 1\r", "\n43"},
		{"tracer.mark(\"hello\"); tracer.show()\r", "\x1b[1mtracing_mark_write\x1b[0m: hello"},
		{"kernel.sym(\"vfs_raed\")\r", "\x1b[31merror:"},
		{"", "did you mean vfs_read"},
		{"kernel.exec(\"dd\", [\"if=/dev/zero\", \"of=/dev/null\"], timeout = 0)\r", "MIPS; Ctrl-C stops"},
		{"\x03", "interrupted; the guest keeps its state"},
		{"kernel.now > 1 * s\r", "True"},
		{"while True: attempt(kernel.exec, \"sleep\", [\"1000\"], timeout = 0)\r", "... "},
		{"\r", "MIPS; Ctrl-C stops"},
		{"\x03", ""}, // stops the guest; the loop goes on
		{"", "MIPS; Ctrl-C stops"},
		{"\x03", "interrupted"},                      // the second one ends the script
		{"sh(\"yes > /dev/null\")\r", "null\")\r\n"}, // Ctrl-C is SIGINT for what the shell runs
		{"\x03", "sh: interrupted"},
		{"[t for t in kernel.tasks() if t.comm == \"yes\"]\r", "\n[]"},
		{"def command_up(args):\r", "... "},
		{"    print(\" \".join(args))\r", "... "},
		{"\r", ">>> "},
		{"%u\t two words | tr a-z A-Z\r", "TWO WORDS"},
		{"twice?\r", "twice(x)"},
		{"\x1b[200~def thrice(x):\n\n\ty = 3 * x\n\n\treturn y\n\nthrice(4)\n\x1b[201~", "thrice(4)"}, // pasted
		{"\r", "\n12"},
		{"\x04", ""},
	} {
		time.Sleep(20 * time.Millisecond) // as fingers do
		if step.typ == "\x03" {
			time.Sleep(300 * time.Millisecond)
		}
		master.WriteString(step.typ)
		if step.wait != "" {
			s.wait(t, step.wait)
		}
	}
	ended(t, cmd)
	history, err := os.ReadFile(filepath.Join(state, "kscope", "history"))
	if err != nil || !strings.Contains(string(history), "def twice(x):⏎    return 2 * x\ntwice(21)\n") {
		t.Errorf("history: %v\n%s", err, history)
	}
}

// kscope sh on a terminal: Ctrl-C ends the command, and the rest of its line, but not the next one.
func TestShellOnPty(t *testing.T) {
	if testing.Short() {
		t.Skip("types for some seconds")
	}
	state := t.TempDir()
	master, s, cmd := onPty(t, state, "sh")
	for _, step := range []struct{ typ, wait string }{
		{"", "# "},
		{"yes > /dev/null\r", "null\r\n"},
		{"\x03", "# "},
		{"echo $((1+1)) $?\r", "\n2 130\r\n"},
		{"", "# "},
		{"yes > /dev/null; echo $((2+2))\r", "2+2))\r\n"},
		{"\x03", "# "},
		{"echo $((3+3)) $?\r", "\n6 130\r\n"},
		{"", "# "},
		{"cat | tr a-z A-Z\r", "Z\r\n"},
		{"typed\r", "typed\r\n"},
		{"\x03", "# "},
		{"echo $((4+4)) $?\r", "\n8 130\r\n"},
		{"", "# "},
		{"bash -c 'trap \"echo \\$((8+8))\" INT; cat; cat'\r", "cat'\r\n"}, // within what the Ctrl-C before takes to be handled
		{"\x03", "^C16\r\n"},
		{"line\r", "\nline\r\n"}, // the second cat's
		{"\x03", "# "},
		{"cat /sys/kernel/tracing/trace_pipe\r", "cat: /sys/kernel/tracing/trace_pipe: Resource deadlock avoided\r\n"},
		{"", "# "},
		{"sleep infinity\r", "Ctrl-C ends the command\r\n"},
		{"\x03", "# "},
		{"echo $((5+5)) $?\r", "\n10 130\r\n"},
		{"", "# "},
		{"while :; do cat /sys/kernel/tracing/trace_pipe; done\r", "Ctrl-C ends the command\r\n"}, // it would go on for ever
		{"\x03", "# "},
		{"cd /sys/kern\ttra\t\r", "cd /sys/kernel/tracing/\r\n"},
		{"", "# "},
		{"echo function_g\t>cur\t;tracer=current_tracer\r", "# "},
		{"cat $trac\t\r", "\nfunction_graph\r\n"},
		{"", "# "},
		{"uname not/thi-s\x17-r\r", "\n6.1.0"}, // ^W takes a word
		{"", "# "},
		{"for i in 1 2; do\r", "> "},
		{"echo \"$i,$((i+20))\"\r", "> "},
		{"done\r", "\n1,21\r\n2,22\r\n"},
		{"", "# "},
		{"\x10\r", "\n1,21\r\n2,22\r\n"}, // the statement again, as a whole
		{"", "# "},
		{"\x12uname\r", "\n6.1.0"}, // ^R
		{"", "# "},
		{"read line; echo \"<$line>\"\r", "line>\"\r\n"},
		{"ech\t\x7fx\r", "\n<echx>"}, // no editor but the terminal's own reads this
		{"", "# "},
		{"seq 60 | tr '\\n' ' '\r", " 59 60 \r\nbash-5.2# "}, // no room for keys beside it
		{"printf ab\r", "abbash-5.2# "},
		{"alias v='uname -r'\r", "# "},
		{"v\r", "\n6.1.0"},
		{"", "# "},
		{"history 3\r", "  alias v='uname -r'\r\n"},
		{"", "# "},
	} {
		time.Sleep(20 * time.Millisecond)
		if step.typ == "\x03" {
			time.Sleep(300 * time.Millisecond)
		}
		master.WriteString(step.typ)
		s.wait(t, step.wait)
	}
	if strings.Contains(s.all, "\n4\r\n") {
		t.Error("the rest of the line ran")
	}
	if strings.Contains(s.all, "Input/output error") {
		t.Error("Ctrl-C is an error of a read")
	}
	master.WriteString("exit 0\r")
	ended(t, cmd)
	history, err := os.ReadFile(filepath.Join(state, "kscope", "sh_history"))
	if err != nil || !strings.Contains(string(history), "\nfor i in 1 2; do⏎echo \"$i,$((i+20))\"⏎done\nuname -r\n") {
		t.Errorf("history: %v\n%s", err, history)
	}
}
