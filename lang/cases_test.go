package lang

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
)

// runScript runs a script of its own directory with a config.
func runScript(t *testing.T, cfg Config, src string) (*Host, int, string) {
	t.Helper()
	dir := t.TempDir()
	path := filepath.Join(dir, "a.star")
	if err := os.WriteFile(path, []byte(src), 0o644); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	cfg.Stdout, cfg.Dir = &out, dir
	h := New(cfg)
	status := h.Run(path, &out)
	return h, status, out.String()
}

func TestCases(t *testing.T) {
	h, status, out := runScript(t, Config{}, `
test.case("good", lambda: test.eq(1, 1))
test.case("bad", lambda: test.eq(1, 2))
def later():
    test.skip("not yet")
    fail("unreached")
test.case("later", later)
test.case("worse", lambda: 1 // 0)
print("all run")
`)
	want := `FAIL bad: error: test.eq: got 1, want 2
  a.star:3:33: in lambda
    test.case("bad", lambda: test.eq(1, 2))
                                    ^
  a.star:3:10: called at top level
skip later: not yet
FAIL worse: error: floored division by zero
  a.star:8:30: in lambda
    test.case("worse", lambda: 1 // 0)
                                 ^
  a.star:8:10: called at top level
all run
`
	if status != ExitAssert || out != want {
		t.Errorf("status %d\n%s", status, Diff(want, out))
	}
	var got []string
	for _, c := range h.Cases() {
		got = append(got, c.Name+" "+c.Outcome)
	}
	if s := strings.Join(got, ", "); s != "good pass, bad fail, later skip, worse fail" {
		t.Error(s)
	}
	if f := h.CaseFaults(); len(f) != 2 || !strings.HasPrefix(f[0], "case \"bad\" failed\nerror: test.eq: got 1, want 2\n") || !strings.HasPrefix(f[1], "case \"worse\" failed") {
		t.Errorf("%q", f)
	}
	if text := skips(h.Cases()); text != "case \"later\" is skipped: not yet\n" {
		t.Error(text)
	}
}

// A case that the budget ends has no end, and a script may skip itself as a whole.
func TestCaseFaults(t *testing.T) {
	h, status, _ := runScript(t, Config{MaxSteps: 1000}, "def f():\n    while True:\n        pass\ntest.case('endless', f)\n")
	if f := h.CaseFaults(); status != ExitLimit || len(f) != 1 || f[0] != `case "endless" has no end` {
		t.Errorf("status %d, %q", status, f)
	}
	h, status, out := runScript(t, Config{}, "test.skip('no machine')\nfail()\n")
	if text := skips(h.Cases()); status != ExitOK || out != "" || text != "case \"a.star\" is skipped: no machine\n" {
		t.Errorf("status %d, %q, %q", status, text, out)
	}
}

func TestSeedsOfScripts(t *testing.T) {
	src := "seen = []\ndef f(seed):\n    seen.append(seed)\n    test.true(seed != 4, 'four')\ntest.seeds(3, f)\nprint(seen)\n"
	if _, status, out := runScript(t, Config{}, src); status != ExitOK || out != "[0, 1, 2]\n" {
		t.Errorf("status %d, %q", status, out)
	}
	if _, status, out := runScript(t, Config{Seeds: 9}, src); status != ExitAssert || !strings.HasPrefix(out, "error: seed 4: test.true: four: got False\n") {
		t.Errorf("status %d, %q", status, out)
	}
}

// What a sweep's function returns is the same with each seed.
func TestSeedsReturn(t *testing.T) {
	if _, status, out := runScript(t, Config{}, "test.seeds(4, lambda seed: [1, 'x'])\ntest.seeds(2, lambda seed: None)\nprint('ok')\n"); status != ExitOK || out != "ok\n" {
		t.Errorf("status %d, %q", status, out)
	}
	_, status, out := runScript(t, Config{}, "test.seeds(4, lambda seed: [seed // 2])\n")
	if status != ExitAssert || !strings.HasPrefix(out, "error: test.seeds: seed 2: got [1], with seed 0 [0]\n") {
		t.Errorf("status %d, %q", status, out)
	}
}

func TestGoldenFiles(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a.star")
	os.WriteFile(path, []byte("test.golden('one\\n')\ntest.golden('two\\n', name = 'second')\n"), 0o644)
	run := func(u Update) (int, string) {
		var out bytes.Buffer
		status := New(Config{Stdout: &out, Dir: dir, Update: u}).Run(path, &out)
		return status, out.String()
	}
	if status, out := run(""); status != ExitAssert || !strings.HasPrefix(out, "error: test.golden: no file a.golden\n") {
		t.Errorf("status %d, %q", status, out)
	}
	if status, out := run(UpdateNumbers); status != ExitOK {
		t.Errorf("status %d, %q", status, out)
	}
	if status, out := run(""); status != ExitOK {
		t.Errorf("status %d, %q", status, out)
	}
	os.WriteFile(filepath.Join(dir, "a.second.golden"), []byte("three\n"), 0o644)
	if status, out := run(""); status != ExitAssert || !strings.HasPrefix(out, "error: test.golden: a.second.golden\n-want +got\n@@ line 1\n-three\n+two\n") {
		t.Errorf("status %d, %q", status, out)
	}
}

func TestStd(t *testing.T) {
	std := fstest.MapFS{
		"lib.star":       {Data: []byte("load('sub/more.star', 'two')\none = two - 1\n")},
		"sub/more.star":  {Data: []byte("load('../last.star', 'zero')\ntwo = zero + 2\n")},
		"last.star":      {Data: []byte("zero = 0\n")},
		"bad.star":       {Data: []byte("x = 1 +\n")},
		"sub/cycle.star": {Data: []byte("load('@std//sub/cycle.star', 'x')\n")},
	}
	for _, c := range []struct{ src, want string }{
		{"load('@std//lib.star', 'one')\nprint(one)\n", "1\n"},
		{"load('@std//lbi.star', 'one')\n", "error: load: @std//lbi.star: file does not exist\n  a.star:1:1:\n    load('@std//lbi.star', 'one')\n          ^\n  hint: did you mean lib.star?\n"},
		{"load('@stdd//lib.star', 'one')\n", "error: load: @stdd//lib.star: no such library\n"},
		{"load('@std//bad.star', 'x')\n", "error: got newline, want primary expression\n  @std//bad.star:1:8:\n    x = 1 +\n"},
		{"load('@std//sub/cycle.star', 'x')\n", "error: load: cycle: cycle.star -> cycle.star\n"},
	} {
		if _, _, out := runScript(t, Config{Std: std}, c.src); !strings.HasPrefix(out, c.want) {
			t.Errorf("%s: %s", c.src, Diff(c.want, out))
		}
	}
}

// Lines and errors as JSON: one document, or an object a line.
func TestFormats(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.star")
	os.WriteFile(path, []byte("print('a \"b\"')\nprint('{\"type\": \"map\", \"data\": 1}')\nprint('{\"type\": broken')\nprint({'a': [1]})\nprint(struct(x = 'y'))\nprintf('no end')\n(1)[0]\n"), 0o644)
	objects := []string{`{"type": "text", "data": "a \"b\""}`, `{"type": "map", "data": 1}`, `{"type": "text", "data": "{\"type\": broken"}`, `{"type": "dict", "data": {"a":[1]}}`, `{"type": "struct", "data": {"x":"y"}}`}
	last := `{"type": "error", "text": "unhandled index operation int[int]", "where": "  a.star:7:4:\n    (1)[0]\n       ^", "hint": "", "status": 1}`
	tail := `{"type": "text", "data": "no end"}`
	for format, want := range map[string]string{
		"ndjson": strings.Join(append(objects, tail, last), "\n") + "\n",
		"json":   "[\n" + strings.Join(append(objects, tail, last), ",\n") + "\n]\n",
	} {
		var out, errs bytes.Buffer
		o := NewOutput(&out, format)
		status := New(Config{Stdout: o, Dir: filepath.Dir(path)}).Run(path, &errs)
		o.Finish()
		if status != ExitScript || out.String() != want || !strings.HasPrefix(errs.String(), "error: unhandled") {
			t.Errorf("%s: status %d\n%s%s", format, status, Diff(want, out.String()), errs.String())
		}
	}
	var empty bytes.Buffer
	NewOutput(&empty, "json").Finish()
	if empty.String() != "[\n]\n" || NewOutput(&empty, "text") != nil {
		t.Error(fmt.Sprintf("%q", empty.String()))
	}
}
