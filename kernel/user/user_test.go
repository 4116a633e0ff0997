package user

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"kscope/kernel"
)

func program(t testing.TB, name string) Program {
	for _, p := range Commands() {
		if p.Name == name {
			return p
		}
	}
	t.Fatalf("no program %s", name)
	return Program{}
}

// The rows are from a Debian 12 shell (LC_ALL=C); TestCommandsAgainstHost proves it where coreutils 9 is installed.
// % stands for the test's directory of files.
var commandRows = []struct {
	line, stdin string
	hostOnly    bool
}{
	{line: "cat %/three"}, {line: "cat -n %/three"}, {line: "cat -b -s %/blanks"}, {line: "cat -A %/odd"}, {line: "cat -e %/blanks"},
	{line: "cat -vT %/odd"}, {line: "cat /nonexistent"}, {line: "cat %"}, {line: "cat %/three - %/three", stdin: "in\n"}, {line: "cat", stdin: "abc"},
	{line: "cat -z"}, {line: "cat --foo"}, {line: "cat --show %/three"}, {line: "cat --number=3"}, {line: "cat --num %/three"},
	{line: "cat /nonexistent %/three"}, {line: "cat -- %/three"}, {line: "cat %/big"},
	{line: "echo a b c"}, {line: "echo -n x"}, {line: "echo -e a\\tb\\n\\x41\\0101\\c no"}, {line: "echo -E a\\tb"}, {line: "echo -nx"}, {line: "echo -e \\q\\x"},
	{line: "head -n 2 %/three"}, {line: "head -1 %/three"}, {line: "head -c 5 %/three"}, {line: "head -n -1 %/three"}, {line: "head -c -3 %/three"},
	{line: "head %/three %/blanks"}, {line: "head -q -n1 %/three %/blanks"}, {line: "head -v -n1 %/three"}, {line: "head /nonexistent"},
	{line: "head -n x"}, {line: "head -n"}, {line: "head -n1 -v", stdin: "a\nb\n"}, {line: "head %"}, {line: "head %/big"}, {line: "head -c 10000 %/big"},
	{line: "wc %/three"}, {line: "wc -l %/three %/odd"}, {line: "wc", stdin: "a b\nc"}, {line: "wc -c", stdin: "abc"}, {line: "wc -lwmcL %/odd"},
	{line: "wc -L %/three"}, {line: "wc /nonexistent"}, {line: "wc /nonexistent %/three"}, {line: "wc %"}, {line: "wc %/big"}, {line: "wc -w -", stdin: "x y"},
	{line: "ls %"}, {line: "ls /nonexistent"}, {line: "ls %/three %"}, {line: "ls -a %"}, {line: "ls -r %"}, {line: "ls -F %"}, {line: "ls -A -1 %"},
	{line: "ls -d %"}, {line: "ls -9"}, {line: "ls %/three /nonexistent %/sub"}, {line: "ls -R %"}, {line: "ls -p %"},
	{line: "true x"}, {line: "false"}, {line: "sleep"}, {line: "sleep x"}, {line: "sleep 0.01 0"}, {line: "sleep 1x 2y"}, {line: "sleep -1"},
	{line: "dd if=/nonexistent"}, {line: "dd if=%/big bs=1000 count=2 status=noxfer"}, {line: "dd foo"}, {line: "dd bs=x"}, {line: "dd status=maybe"},
	{line: "dd if=%/big ibs=1000 obs=300 status=noxfer"}, {line: "dd if=%/three bs=4 skip=1 status=none"}, {line: "dd conv=zz"}, {line: "dd status=noxfer bs=2k", stdin: "hello"},
}

var testFiles = []struct{ name, data string }{
	{"three", "one\ntwo two\nthree three three\n"}, {"blanks", "a\n\n\n\nb\n\n"}, {"odd", "tab\there \x01\x7f\x80\xe9\r\nno newline"},
	{"big", strings.Repeat("the quick brown fox jumps\n", 800)}, {"sub/inner", "x\n"}, {".hidden", ""},
}

type result struct {
	out, err string
	code     int
}

func (r result) String() string {
	return fmt.Sprintf("exit %d\nstdout %.300q\nstderr %.300q", r.code, r.out, r.err)
}

func runFake(t testing.TB, dir, line, stdin string) (result, *fakeOS) {
	o := newFakeOS(stdin)
	for d := dir; d != "/"; d = filepath.Dir(d) {
		o.files[d] = &fakeFile{mode: modeDir | 0o755}
	}
	o.files[dir+"/sub"] = &fakeFile{mode: modeDir | 0o755}
	for _, f := range testFiles {
		o.files[dir+"/"+f.name] = &fakeFile{mode: modeReg | 0o644, data: []byte(f.data)}
	}
	words := strings.Split(strings.ReplaceAll(line, "%", dir), " ")
	code := o.exec(program(t, words[0]), words[1:]...)
	return result{o.out[1].String(), o.out[2].String(), code}, o
}

func TestCommandsAgainstHost(t *testing.T) {
	v, err := exec.Command("cat", "--version").Output()
	if err != nil || !bytes.HasPrefix(v, []byte("cat (GNU coreutils) 9")) {
		t.Skip("no GNU coreutils 9 on this host")
	}
	dir := t.TempDir()
	for _, f := range testFiles {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, f.name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, f.name), []byte(f.data), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, row := range commandRows {
		words := strings.Split(strings.ReplaceAll(row.line, "%", dir), " ")
		file, err := exec.LookPath(words[0])
		if err != nil {
			continue
		}
		cmd := &exec.Cmd{Path: file, Args: words, Env: []string{"LC_ALL=C", "TZ=UTC"}, Stdin: strings.NewReader(row.stdin)}
		var out, errs bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &errs
		_ = cmd.Run()
		want := result{out.String(), errs.String(), cmd.ProcessState.ExitCode()}
		if got, _ := runFake(t, dir, row.line, row.stdin); got != want {
			t.Errorf("%s\nkscope %v\ngnu    %v", row.line, got, want)
		}
	}
}

func TestCommandCharges(t *testing.T) {
	_, small := runFake(t, "/t", "wc /t/three", "")
	_, big := runFake(t, "/t", "wc /t/big", "")
	if want := uint64(800 * 26); big.charge-small.charge < want {
		t.Errorf("wc of 20,800 bytes is charged %d ns, of 31 bytes %d: want at least %d more", big.charge, small.charge, want)
	}
}

// Feeding a program's results to a fresh coroutine at any point must not change what it does (Host.Fork).
func TestReplay(t *testing.T) {
	prog := Program{Name: "p", Main: func(s *Sys, argv []string) int {
		n := 0
		for i := range 3 {
			s.Write(1, []byte(fmt.Sprintf("%d %v\n", i, s.Replaying())))
			pid, _ := s.Fork(func(c *Sys) int {
				n += 100 // the child's own closure: the parent's n must not see it after a replay
				c.Write(1, []byte(fmt.Sprintf("child %d of %d\n", n, i)))
				return n
			})
			n += pid - 100
		}
		st, _ := s.Stat("/etc/passwd")
		return n + int(st.Size)
	}}
	for limit := 1; ; limit++ {
		o := newFakeOS("")
		task := o.task()
		task.limit = limit
		p := fakeProc(prog)
		code := task.run(p)
		if code >= 0 {
			if limit < 8 {
				t.Fatalf("only %d calls", limit)
			}
			return
		}
		// The machine forks here: the call is about to be made. Both copies go on.
		q := p.copy()
		p.end()
		task.limit, task.regs[0] = 0, uint64(task.syscall(q))
		task.run(q)
		if got := strings.Count(o.out[1].String(), "false"); got != 3 {
			t.Errorf("limit %d: output %q", limit, o.out[1].String())
		}
	}
}

func TestNoGoroutinesLeft(t *testing.T) {
	before := runtime.NumGoroutine()
	for range 50 {
		runFake(t, "/t", "cat /t/three", "")
		p := fakeProc(program(t, "cat"), "/x")
		o := newFakeOS("")
		task := o.task()
		task.limit = 1
		task.run(p)
		p.end() // killed in the middle of its first system call
	}
	if after := runtime.NumGoroutine(); after > before {
		t.Errorf("%d goroutines before, %d after", before, after)
	}
}

// A program that is killed unwinds through its deferred calls, whose system calls unwind too.
func TestKilledUnwinds(t *testing.T) {
	var trail []string
	prog := Program{Name: "p", Main: func(s *Sys, _ []string) int {
		defer func() { trail = append(trail, "outer") }()
		defer func() {
			trail = append(trail, "inner")
			s.Close(3)
			trail = append(trail, "not reached")
		}()
		s.Getpid()
		s.Getpid()
		return 0
	}}
	task := newFakeOS("").task()
	task.limit = 1
	p := fakeProc(prog)
	task.run(p)
	p.end()
	if want := []string{"inner", "outer"}; !slices.Equal(trail, want) {
		t.Errorf("trail %q, want %q", trail, want)
	}
}

func TestCallNamed(t *testing.T) {
	prog := Program{Name: "p", Main: func(s *Sys, _ []string) int {
		fd, _, err := s.CallNamed("openat", -100, "/etc/hostname", 0)
		if err != nil {
			t.Error(err)
		}
		n, out, err := s.CallNamed("read", int(fd), Out(64), 64)
		if err != nil || n != 7 || string(out[0]) != "kscope\n" {
			t.Errorf("read: %d %q %v", n, out, err)
		}
		if _, _, err := s.CallNamed("opnat"); err == nil || err.Error() != `no system call "opnat"; did you mean "openat"?` {
			t.Error(err)
		}
		if _, _, err := s.CallNamed("openat", -100, "/none", 0); err != kernel.ENOENT {
			t.Error(err)
		}
		if _, e := s.Open(strings.Repeat("x", 9000), 0, 0); e != kernel.ENAMETOOLONG {
			t.Error(e)
		}
		return 0
	}}
	newFakeOS("").exec(prog)
}

// The archive must be what cpio reads.
func TestCpio(t *testing.T) {
	archive := Initrd(File{Path: "etc/motd", Mode: modeReg | 0o644, Data: []byte("hello")})
	if again := Initrd(File{Path: "etc/motd", Mode: modeReg | 0o644, Data: []byte("hello")}); !bytes.Equal(archive, again) {
		t.Fatal("two builds differ")
	}
	names := map[string]int{}
	for at := 0; ; {
		h := archive[at:]
		if string(h[:6]) != "070701" {
			t.Fatalf("no magic at %d", at)
		}
		field := func(i int) (v int) {
			fmt.Sscanf(string(h[6+8*i:14+8*i]), "%x", &v)
			return v
		}
		size, name := field(6), field(11)
		path := string(h[110 : 110+name-1])
		names[path] = size
		if at += (110 + name + 3) &^ 3; path == "TRAILER!!!" {
			break
		}
		at = (at + size + 3) &^ 3
	}
	for _, want := range []string{"usr/bin/cat", "usr/sbin/rmmod", "bin", "etc/hostname", "etc/motd", "dev/null", "sys/kernel/tracing"} {
		if _, ok := names[want]; !ok {
			t.Errorf("no %s", want)
		}
	}
	if _, err := exec.LookPath("cpio"); err == nil {
		cmd := exec.Command("cpio", "-tv", "--quiet")
		cmd.Stdin = bytes.NewReader(archive)
		if out, err := cmd.CombinedOutput(); err != nil || !bytes.Contains(out, []byte("crw-rw-rw-   1 root     root       1,   3")) {
			t.Errorf("cpio: %v\n%s", err, out)
		}
	}
}

// Command code must not start goroutines: determinism holds because nothing in Go waits.
func TestNoGoStatements(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		for i, l := range strings.Split(string(text), "\n") {
			if !strings.HasSuffix(f, "_test.go") && strings.HasPrefix(strings.TrimSpace(l), "go "+"func") || strings.HasPrefix(strings.TrimSpace(l), "go "+"s.") {
				t.Errorf("%s:%d: %s", f, i+1, l)
			}
		}
	}
}
