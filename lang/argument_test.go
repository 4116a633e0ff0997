package lang

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"go.starlark.net/starlark"
)

// A signature is taken apart as help shows it.
func TestParams(t *testing.T) {
	for sig, want := range map[string]string{
		"()":         "",
		"(x) -> int": "x",
		`(text, stdin = "a, (b", *rest, by = (1, [2, 3]), **more) -> struct(a, b)`: "text stdin? *rest by?! **more!",
		"(...) -> string":  "none",
		"-> int":           "none",
		": encode, decode": "none",
	} {
		params, ok := Params(sig)
		var got []string
		for _, p := range params {
			text := strings.Repeat("*", p.Stars) + p.Name
			if p.Optional {
				text += "?"
			}
			if p.Named {
				text += "!"
			}
			got = append(got, text)
		}
		text := strings.Join(got, " ")
		if !ok {
			text = "none"
		}
		if text != want {
			t.Errorf("%s: %s, want %s", sig, text, want)
		}
	}
}

// Every signature of the host itself can be taken apart, but for the few that leave something out.
func TestSignatures(t *testing.T) {
	for _, r := range New(Config{}).Rows() {
		if _, ok := Params(r.Sig); !ok && r.Fn != nil {
			t.Errorf("%s%s", r.Name, r.Sig)
		}
	}
}

// A name that is wrong in all its letters is near to nothing.
func TestNearNothing(t *testing.T) {
	names := []string{"s", "ms", "us", "ns", "fs", "on", "sh", "re", "agg", "awk", "print", "printf", "kernel", "kprobe", "vfs_read", "vfs_readv"}
	for _, c := range []struct{ name, want string }{
		{"a", ""}, {"x", ""}, {"q", ""}, {"S", "s"}, {"MS", "ms"}, {"xs", ""}, {"xy", ""}, {"ag", "agg"}, {"mss", "ms"}, {"foo", ""}, {"kernl", "kernel"},
		{"pritn", "print"}, {"vfs_raed", "vfs_read vfs_readv"}, {"tracer", ""},
	} {
		if got := strings.Join(Near(c.name, names), " "); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// A function's arity: with defaults, *args and parameters that go by name only.
func TestTakes(t *testing.T) {
	h := New(Config{})
	for _, c := range []struct {
		fn   string
		args []string
		ok   bool
	}{
		{"lambda: 0", nil, true}, {"lambda: 0", []string{"x"}, false}, {"lambda x: 0", []string{"x"}, true}, {"lambda x, y = 1: 0", []string{"x"}, true},
		{"lambda x, y = 1: 0", []string{"x", "y", "z"}, false}, {"lambda *a: 0", []string{"x", "y"}, true}, {"lambda x, *a: 0", nil, false},
		{"lambda **k: 0", []string{"x"}, false}, {"lambda **k: 0", nil, true}, {"lambda x, *, y: 0", []string{"x"}, false}, {"lambda x, *, y = 1, **k: 0", []string{"x"}, true},
		{"printf", []string{"x"}, true}, {"printf", nil, false}, {"test.eq", []string{"x"}, false}, {"len", nil, true}, {"dir", []string{"x"}, true}, {"dir", []string{"x", "y"}, false},
	} {
		fn, err := h.Value(c.fn)
		if err != nil {
			t.Fatal(err)
		}
		if err := h.Takes("f", "fn", fn.(starlark.Callable), c.args...); (err == nil) != c.ok {
			t.Errorf("%s with %q: %v", c.fn, c.args, err)
		}
	}
}

// -update says of a golden that it has written an error into it.
func TestUpdateTellsErrors(t *testing.T) {
	dir := tree(t, map[string]string{"a.star": "print(1)\nfail('no')\n", "b.star": "print(2)\n", "c.star": "fail('x')\n", "c.out": "error: fail: x\n"})
	want := "a.star: written (exit status 1: error: fail: no)\nb.star: written\nc.star: updated: structure changed (exit status 1: error: fail: x)\nok: 3 goldens\n"
	if status, got := runTree(dir, &Goldens{Update: UpdateStructure}); status != ExitOK || got != want {
		t.Errorf("%d\n%s", status, Diff(want, got))
	}
}

// Names that other languages have, and this one has not, are met with what there is.
func TestNewcomerNames(t *testing.T) {
	names := newcomerNames()
	for _, name := range slices.Sorted(maps.Keys(names)) {
		h := New(Config{})
		var out strings.Builder
		h.Report(&out, h.Eval(name+"(1)"))
		if !strings.Contains(out.String(), "  hint: "+names[name]+"\n") {
			t.Errorf("%s: %s", name, out.String())
		}
		out.Reset()
		h.Report(&out, h.Eval(name+"snoop(1)"))
		if strings.Contains(out.String(), names[name]) {
			t.Errorf("%ssnoop: %s", name, out.String())
		}
	}
	if len(names) < 50 {
		t.Errorf("%d names", len(names))
	}
}

// The caret is at what is wrong also where a call stands on several lines, and where the same text stands earlier in its line.
func TestCarets(t *testing.T) {
	for _, c := range []struct{ src, line, caret string }{
		{"help(\n    \"kernel.nosuch\",\n)", `    "kernel.nosuch",`, "     ^"},
		{"x = \"nosuch.x\"; help(\"nosuch.x\")", `x = "nosuch.x"; help("nosuch.x")`, "                      ^"},
		{"plot.bars(\n    {\"a\": 1},\n    width = 0,\n)", "    width = 0,", "            ^"},
		{"n = 1; plot.bars({}, 0 * n)", "n = 1; plot.bars({}, 0 * n)", "                     ^"},
	} {
		h := New(Config{})
		var out strings.Builder
		h.Report(&out, h.Eval(c.src))
		if want := "  " + c.line + "\n  " + c.caret + "\n"; !strings.Contains(out.String(), want) {
			t.Errorf("%s:\n%s", c.src, out.String())
		}
	}
}
