package lang

import (
	"bytes"
	"flag"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
)

var update = func() *Update {
	u := new(Update)
	flag.BoolFunc("update", "rewrite testdata/*.out; -update=structure accepts any change", u.Set)
	return u
}()

// execGolden runs one file of testdata as the program would.
func execGolden(r *GoldenRun) int {
	path, out := r.Path, r.Out
	h := New(Config{Stdout: out, Dir: filepath.Dir(path), MaxSteps: 1 << 20})
	if filepath.Ext(path) == ".in" {
		in, err := os.Open(path)
		if err != nil {
			return ExitUsage
		}
		return (&Session{Host: h, In: in, Out: out, Echo: true}).Run()
	}
	return h.Run(path, out)
}

func TestGoldens(t *testing.T) {
	var out bytes.Buffer
	g := &Goldens{Dirs: []string{"testdata"}, Update: *update, Out: &out, Exec: execGolden}
	if status := g.Run(); status != ExitOK {
		t.Errorf("status %d\n%s", status, out.String())
	}
}

func TestGoldenRunner(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("good.star", "print(1)\n")
	write("good.out", "1\n")
	write("bad.star", "print(1)\nfail('no')\n")
	write("bad.out", "2\n")
	write("new.star", "print(3)\n")
	write("_lib.star", "fail()\n")
	write("orphan.out", "")
	write("gone.name.golden", "")
	write("good.name.golden", "")
	run := func(g *Goldens) (int, string) {
		var out bytes.Buffer
		g.Dirs, g.Out = []string{dir}, &out
		if g.Exec == nil {
			g.Exec = execGolden
		}
		status := g.Run()
		return status, strings.ReplaceAll(out.String(), dir+string(filepath.Separator), "")
	}
	status, got := run(&Goldens{})
	want := "FAIL bad.star: -want +got\n@@ line 1\n-2\n+1\n+error: fail: no\n+  bad.star:2:5:\n+    fail('no')\n+        ^\n+[exit status 1]\n" +
		"FAIL gone.name.golden: no script is beside it whose test.golden reads it\n" +
		"FAIL new.star: no .out file (kscope test -update writes it; a file only for load() is named _new.star)\nFAIL orphan.out: no script orphan.{star,sh,in,lab} is beside it\nFAIL: 4 of 5 goldens failed\n"
	if status != ExitAssert || got != want {
		t.Errorf("status %d\n%s", status, Diff(want, got))
	}
	if status, got := run(&Goldens{Filter: regexp.MustCompile("good")}); status != ExitOK || got != "ok: 1 golden\n" {
		t.Errorf("filter: %d %q", status, got)
	}
	n := 0
	flaky := func(r *GoldenRun) int { n++; io.WriteString(r.Out, strings.Repeat("x", n)); return 0 }
	if status, got := run(&Goldens{Filter: regexp.MustCompile("good"), Exec: flaky}); status != ExitAssert || !strings.Contains(got, "two runs differ") {
		t.Errorf("flaky: %d %q", status, got)
	}
	if status, got := run(&Goldens{Update: UpdateNumbers, Filter: regexp.MustCompile("new|bad")}); status != ExitAssert ||
		!strings.Contains(got, "structure changed") || !strings.HasSuffix(got, "new.star: written\nFAIL: 1 of 2 goldens failed\n") {
		t.Errorf("update: %d %s", status, got)
	}
	if status, got := run(&Goldens{Update: UpdateStructure, Filter: regexp.MustCompile("bad")}); status != ExitOK {
		t.Errorf("update structure: %d %s", status, got)
	}
	write("new.out", "4\n")
	if status, got := run(&Goldens{Update: UpdateNumbers, Filter: regexp.MustCompile("new")}); status != ExitOK ||
		!strings.HasPrefix(got, "new.star: updated: addresses and times only\n") {
		t.Errorf("update numbers: %d %s", status, got)
	}
	if data, _ := os.ReadFile(filepath.Join(dir, "new.out")); string(data) != "3\n" {
		t.Errorf("new.out = %q", data)
	}
	if status, got := run(&Goldens{Filter: regexp.MustCompile("nothing")}); status != ExitUsage {
		t.Errorf("nothing to do: %d %q", status, got)
	}
}

// Goldens of another program are one line, whatever their number; their own settings are what they run with.
func TestPins(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	here := Pin{Image: "aaaa", Costs: "11", CPUs: 4, Mem: 64}
	for name, body := range map[string]string{"same": "t = 5\nx\n", "numbers": "t = 4\nx\n", "structure": "t = 5\n"} {
		write(name+".star", "print('t = 5\\nx')\n")
		write(name+".out", Pin{Image: "bbbb", Costs: "11", CPUs: 4, Mem: 64}.String()+body)
	}
	write("seeded.star", "print(1)\n")
	write("seeded.out", Pin{Image: "aaaa", Costs: "11", CPUs: 2, Mem: 64, Seed: 7}.String()+"1\n")
	var mu sync.Mutex
	ran := map[string]Pin{}
	run := func(update Update) (int, string) {
		var out bytes.Buffer
		g := &Goldens{Dirs: []string{dir}, Out: &out, Update: update, Exec: func(r *GoldenRun) int {
			mu.Lock()
			ran[filepath.Base(r.Path)] = r.Pin
			mu.Unlock()
			return execGolden(r)
		}, Pin: func(own Pin) Pin {
			pin := here
			if own != (Pin{}) {
				pin.CPUs, pin.Mem, pin.Seed = own.CPUs, own.Mem, own.Seed
			}
			return pin
		}}
		status := g.Run()
		return status, strings.ReplaceAll(out.String(), dir+string(filepath.Separator), "")
	}
	want := "FAIL structure.star: -want +got\n@@ line 2\n t = 5\n+x\n3 goldens were made with image bbbb, costs 11; this is image aaaa, costs 11: " +
		"1 passed with the same output, 1 failed and differs in numbers only (numbers.star), 1 failed and differs in structure (structure.star); " +
		"kscope test -update renews them, but for those of other structure; --image FILE runs them on their image\nFAIL: 2 of 4 goldens failed\n"
	if status, got := run(""); status != ExitAssert || got != want {
		t.Errorf("status %d\n%s", status, Diff(want, got))
	}
	if pin := ran["seeded.star"]; pin.Seed != 7 || pin.CPUs != 2 {
		t.Errorf("its own settings: %+v", pin)
	}
	if status, got := run(UpdateStructure); status != ExitOK || !strings.Contains(got, "same.star: updated: its pin only\n") {
		t.Errorf("update: %d\n%s", status, got)
	}
	if status, got := run(""); status != ExitOK {
		t.Errorf("after update: %d\n%s", status, got)
	}
	write("seeded.out", pinHead+" image aaaa seed many\n1\n")
	if status, got := run(""); status != ExitAssert || !strings.Contains(got, "FAIL seeded.star: seeded.out: line 1: # kscope golden: image aaaa seed many: seed many: want a number\n") {
		t.Errorf("a damaged pin: %d\n%s", status, got)
	}
}

func TestNear(t *testing.T) {
	names := []string{"vfs_read", "vfs_readv", "vfs_write", "vfs_open", "schedule", "do_sys_openat2"}
	for _, c := range []struct{ x, want string }{
		{"vfs_raed", "did you mean vfs_read or vfs_readv?"},
		{"vfs_opn", "did you mean vfs_open?"},
		{"shcedule", "did you mean schedule?"},
		{"do_sys_open", "did you mean do_sys_openat2?"},
		{"zzz", ""},
		{"VFS_READ", "did you mean vfs_read or vfs_readv?"},
	} {
		if got := DidYouMean(c.x, names); got != c.want {
			t.Errorf("%s: %q, want %q", c.x, got, c.want)
		}
	}
}

// The budget holds for the script, loaded files and further threads together, and the exit status tells.
func TestMaxSteps(t *testing.T) {
	dir := t.TempDir()
	os.WriteFile(filepath.Join(dir, "_loop.star"), []byte("while True:\n    pass\n"), 0o644)
	path := filepath.Join(dir, "a.star")
	os.WriteFile(path, []byte("load('_loop.star', 'x')\n"), 0o644)
	var out bytes.Buffer
	h := New(Config{Stdout: &out, MaxSteps: 100000, Dir: dir})
	if status := h.Run(path, &out); status != ExitLimit {
		t.Errorf("status %d", status)
	}
	want := "error: more than 100000 steps (--max-steps)\n  _loop.star:1:1:\n    while True:\n    ^\n  a.star:1:1: called at top level\n"
	if out.String() != want {
		t.Error(Diff(want, out.String()))
	}
}

// Cancel stops a running loop from another goroutine.
func TestInterrupt(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a.star")
	os.WriteFile(path, []byte("print('on')\nwhile True:\n    pass\n"), 0o644)
	h := New(Config{Stdout: writerFunc(func(p []byte) {}), Dir: dir})
	h.cfg.Stdout = writerFunc(func(p []byte) { go h.Interrupt() })
	var out bytes.Buffer
	if status := h.Run(path, &out); status != ExitScript || !strings.HasPrefix(out.String(), "error: interrupted\n") {
		t.Errorf("status %d, %s", status, out.String())
	}
}

type writerFunc func([]byte)

func (f writerFunc) Write(p []byte) (int, error) { f(p); return len(p), nil }

// Every row is documented, and documents itself in one line first.
func TestRows(t *testing.T) {
	for _, r := range New(Config{}).Rows() {
		if r.Doc == "" || !strings.HasSuffix(r.Doc, ".") || strings.HasPrefix(r.Doc, "\n") {
			t.Errorf("%s: doc %q", r.Name, r.Doc)
		}
		if r.Sig == "" || !strings.ContainsRune("(-:", rune(r.Sig[0])) {
			t.Errorf("%s: signature %q", r.Name, r.Sig)
		}
	}
}

func TestScan(t *testing.T) {
	for _, c := range []struct {
		src  string
		want bool
	}{
		{"1 + 1", true}, {"f(1,", false}, {"f(')')", true}, {`x = """a`, false}, {`x = "a`, true}, {"x = 1 + \\", false},
		{"def f():", false}, {"x = [ # ]", false}, {"x = '#'", true}, {"define = 1", true}, {`"a\"b("`, true},
	} {
		if got := complete(c.src); got != c.want {
			t.Errorf("complete(%q) = %v", c.src, got)
		}
	}
}

// A script's flags are known before it runs.
func TestFlags(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f.star")
	os.WriteFile(path, []byte(`"""Times a function."""
fn = flag.string("fn", "vfs_read", "function to time")
n = flag.int("n", 5, doc = "how often")
verbose = flag.bool("verbose", False, "say more")
wait = flag.duration("wait", 10 * ms, "how long")
print(fn, n, verbose, wait, flag.args)
`), 0o644)
	for _, c := range []struct {
		args   string
		status int
		want   string
	}{
		{"", 0, "vfs_read 5 False 10000000 []\n"},
		{"--fn=x --n 0x10 a --verbose b --wait=2us -- --c", 0, "x 16 True 2000 [\"a\", \"b\", \"--c\"]\n"},
		{"--help", 0, "Times a function.\n\nusage: kscope run f.star [-- flags]\n  --fn=STRING          function to time (default vfs_read)\n" +
			"  --n=INT              how often (default 5)\n  --verbose=BOOL       say more (default False)\n  --wait=DURATION      how long (default 10*ms)\n"},
		{"--fm=x", 2, "error: unknown flag --fm\n  hint: did you mean --fn?\n"},
		{"--zzzzz", 2, "error: unknown flag --zzzzz\n  hint: flags are --fn, --n, --verbose, --wait\n"},
		{"--n=x", 2, "error: --n=x: want an int\n"},
	} {
		var out bytes.Buffer
		h := New(Config{Stdout: &out, Dir: filepath.Dir(path), Args: strings.Fields(c.args)})
		if status := h.Run(path, &out); status != c.status || out.String() != c.want {
			t.Errorf("%s: status %d\n%s", c.args, status, Diff(c.want, out.String()))
		}
	}
}
