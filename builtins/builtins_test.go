package builtins

import (
	"io"
	"strings"
	"testing"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"

	"kscope/kernel"
	"kscope/lang"
)

// testEnv has no machine: what it needs of one fails with a clear error.
func testEnv() (*Env, *lang.Host) {
	boot := func(kernel.Config) (*Guest, error) { return nil, lang.Errorf("no machine in this test") }
	e := New(Config{Boot: boot, Stdout: io.Discard})
	h := lang.New(lang.Config{Tables: e.Tables(), Strings: e.Strings, Interrupt: e.Interrupt})
	e.Attach(h)
	return e, h
}

func TestBootFails(t *testing.T) {
	_, h := testEnv()
	for _, src := range []string{"kernel.now", "tracer.current", "fs.read('/')", "kernel.boot(cpus = 2)"} {
		var out strings.Builder
		if status := h.Report(&out, h.Eval(src)); status != lang.ExitScript || !strings.HasPrefix(out.String(), "error: no machine in this test\n") {
			t.Errorf("%s: %d %s", src, status, out.String())
		}
	}
}

// The completion table names functions and parameters that exist.
func TestCompletionsExist(t *testing.T) {
	e, h := testEnv()
	sigs := map[string]string{}
	for _, r := range h.Rows() {
		sigs[r.Name] = r.Sig
	}
	for _, c := range completions() {
		sig, ok := sigs[c.call]
		if !ok || c.key != "" && !strings.Contains(sig, c.key+" =") {
			t.Errorf("completion of %s %s: no such function or parameter", c.call, c.key)
		}
	}
	if names := e.Strings(lang.Place{Call: "help"}); len(names) < 50 {
		t.Errorf("help completes %d names", len(names))
	}
	if names := e.Strings(lang.Place{Call: "kernel.sym"}); names != nil {
		t.Errorf("without a machine: %q", names)
	}
}

// Module functions and methods of objects have one table: their rows agree.
func TestRowsMatchObjects(t *testing.T) {
	_, h := testEnv()
	rows := map[string]bool{}
	for _, r := range h.Rows() {
		rows[r.Name] = true
	}
	for _, m := range taskMethods() {
		if !rows["Task."+m.name] {
			t.Errorf("no row for Task.%s", m.name)
		}
	}
	names := (&sys{}).AttrNames()
	for _, n := range names {
		if !rows["Sys."+n] && openFlags[n] == 0 && n != "O_RDONLY" {
			t.Errorf("no row for Sys.%s", n)
		}
	}
}

func TestPick(t *testing.T) {
	text := "# tracer\n#\na\nb\nc\n"
	for _, c := range []struct {
		n    int
		head bool
		want string
	}{
		{0, true, text}, {0, false, "a\nb\nc\n"}, {1, false, "a\n"}, {-2, false, "b\nc\n"}, {-9, true, text}, {9, false, "a\nb\nc\n"},
	} {
		if got := pick(text, c.n, c.head); got != c.want {
			t.Errorf("pick(%d, %v) = %q", c.n, c.head, got)
		}
	}
}

func TestTimestamp(t *testing.T) {
	for text, want := range map[string]string{"1.000123": "1000123000", " 12": "12", "18446744073709551616.5": "18446744073709551616500000000", "x": "None"} {
		if got := timestamp(text).String(); got != want {
			t.Errorf("timestamp(%q) = %s, want %s", text, got, want)
		}
	}
}

func TestRecordValues(t *testing.T) {
	a := &record{typ: "Sym", fields: []field{{"name", str("x")}, {"addr", num(3)}}}
	b := &record{typ: "Sym", text: "other", fields: []field{{"name", str("x")}, {"addr", num(3)}}}
	if same, err := starlark.Equal(a, b); err != nil || !same {
		t.Errorf("equal records differ: %v", err)
	}
	if a.String() != `Sym(name = "x", addr = 3)` || b.String() != "other" {
		t.Errorf("%s %s", a, b)
	}
	if v, found, err := a.Get(str("addr")); err != nil || !found || v.String() != "3" {
		t.Errorf("a[\"addr\"] = %v %v %v", v, found, err)
	}
	if _, found, _ := a.Get(str("nope")); found {
		t.Error("a[\"nope\"] is there")
	}
	if _, err := starlark.Compare(syntax.LT, a, b); err == nil {
		t.Error("records can be ordered")
	}
}
