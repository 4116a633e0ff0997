package lang

import (
	"runtime"
	"strings"
	"testing"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"
)

// The guards change nothing but what is too large: values and errors are those of plain Starlark.
func TestGuardsAreTransparent(t *testing.T) {
	h := New(Config{MaxMemory: 8 << 30})
	for _, src := range []string{
		"2 * 3, 2 * 3.5, 1.5 * 2, 'ab' * 3, 3 * 'ab', [1] * 2, 2 * (1,), b'x' * 4, 'x' * -1, (1 << 70) * 3, 3 * (1 << 70), (1 << 70) * (1 << 70)",
		"1 * {}", "'a' * 'b'", "{} * {}", "7 % 4, -7 % 4, 7.5 % 2, '%d %s %r' % (1, [2], 'x'), '%s' % {}", "1 % 0", "'%d' % 'x'", "[] % 1", "'%s %s' % (1,)",
		"','.join(['a', 'b']), ''.join([])", "','.join([1])", "','.join()", "'aXa'.replace('X', 'yy'), 'aaa'.replace('', '-', 2)",
		"'{} {a} {{}}'.format(1, a = 2)", "'{}'.format()", "[1].join", "1 .replace", "{}.format", "'x'.joint", "str([1, 'a']), repr('a'), str({1: (2,)}), str(None)",
		"list(range(3)), tuple('ab'.elems()), sorted([3, 1, 2], reverse = True), reversed([1, 2]), dict([(1, 2)], a = 3), enumerate(['a']), zip([1], [2]), bytes('ab')",
		"list(1)", "sorted([1, 'a'])", "dict(1)", "str()", "list(1, 2)", "[x * x for x in [1, 2] if x * 2 > 2], {a * 2: a % 2 for a in [1]}",
		"max([1, 3, 2]), min(4, 2), max(['a', 'b'], key = len), any([0, 1]), all([]), max(), (lambda *a: a)(*[1, 2]), [1].extend, max(*[3, 4])",
		"max([1, 3, 2]), min(4, 2), max(['a', 'b'], key = len), any([0, 1]), all([]), (lambda *a: a)(*[1, 2]), max(*[3, 4]), [[1].extend([2])]",
		"(lambda *a: a)(*3)", "[].extend(3)",
		"(lambda x, y = 2 * 3: x * y)(2), [1, 2, 3][1 * 1], [1, 2, 3, 4][0 * 1:2 * 1], -(2 * 3), 1 if 2 * 0 else 3 * 3, (lambda *a, **k: len(a) * 2)(1, 2)",
	} {
		f, err := h.opts.Parse("x", src, 0)
		if err != nil {
			t.Fatal(err)
		}
		thread := &starlark.Thread{}
		want, wantErr := starlark.EvalExprOptions(f.Options, thread, f.Stmts[0].(*syntax.ExprStmt).X, starlark.StringDict{})
		got, gotErr := h.Value(src)
		switch {
		case wantErr != nil && (gotErr == nil || !strings.HasPrefix(wantErr.Error(), gotErr.Error())): // starlark adds "did you mean"
			t.Errorf("%s:\n got %v\nwant %v", src, gotErr, wantErr)
		case wantErr == nil && (gotErr != nil || got.String() != want.String()):
			t.Errorf("%s:\n got %v %v\nwant %v", src, got, gotErr, want)
		}
	}
	if _, err := h.Value("def f():\n    x, a, d = 2, [[3]], struct(e = [4])\n    x *= 5\n    a[0][0] *= x\n    a[0][0] %= 8\n    d.e[0] *= 2\n" +
		"    def g(): return [6]\n    g()[0] *= 2\n    l = [1]\n    l *= 2\n    test.eq([x, a, d.e, l], [10, [[6]], [8], [1, 1]])\nf()"); err != nil {
		t.Error(err)
	}
}

// What is too large is refused before it is made, and what grows is stopped.
func TestMemoryBudget(t *testing.T) {
	large, small := New(Config{MaxMemory: 256 << 20}), New(Config{MaxMemory: 64 << 20})
	for _, c := range []struct{ src, want string }{
		{"[0] * (1 << 25)", "512 MiB more would be more than 256 MiB of memory"},
		{"x = [0]\nx *= 1 << 25", "512 MiB more"},
		{"'x' * (1 << 29)", "512 MiB more"},
		{"list(range(1 << 40))", "list: 16777216 MiB more"},
		{"sorted(range(1 << 30))", "sorted: 16384 MiB more"},
		{"zip(range(1 << 30), range(1 << 30))", "zip: 32768 MiB more"},
		{"','.join(['x' * 1000] * 1000000)", "955 MiB more"},
		{"('a' * 1000000).replace('a', 'b' * 1000000)", "953674 MiB more"},
		{"'{0}{0}{0}{0}'.format('x' * 100000000)", "MiB more"},
		{"[].extend(range(1 << 30))", "extend: 16384 MiB more"},
		{"x = []\nx += range(1 << 30)", "16384 MiB more"},
		{"print(*range(1 << 30))", "16384 MiB more"},
		{"max(range(1 << 40))", "max: 1099511627776 elements in one step"},
		{"any(range(1 << 40))", "any: 1099511627776 elements"},
		{"re('a').sub('b' * 1000000, 'a' * 1000000)", "more than 268 replacements by 1000000 bytes"},
		{"x = 3\nwhile True: x = x * x", "bits is too large"},
		{"x = ['a' * 1000]\nfor i in range(12): x = [x] * 10\nstr(x)", "str: a value has more than 64 MiB as text"},
		{"x = ['a' * 1000]\nfor i in range(12): x = [x] * 10\n'%s' % (x,)", "as text"},
		{"x = ['a' * 1000]\nfor i in range(12): x = [x] * 10\njson.encode(x)", "json.encode: a value has more than 64 MiB as text"},
		{"x = []\nfor i in range(20000): x = [x]\nprintf('%v', x)", "printf: a value nested more than 10000 deep has no text"},
		{"x = ()\nfor i in range(20000): x = (x,)\nstr(x)", "str: a value nested more than 10000 deep has no text"},
		{"x = []\ns = struct(x = x)\nx.append(s)\nprint(s)", "a struct that holds itself has no text"},
		{"x = []\nwhile True: x.append('%d' % len(x))", "more than 64 MiB of memory (--max-memory)"},
		{"x = [1]\nwhile True: x = x + x", "more than 64 MiB of memory (--max-memory)"},
		{"def f(c, d):\n  while True: d[len(d)] = [c]\nattempt(f, 1, {})\nf(1,{})", "more than 64 MiB of memory (--max-memory)"},
	} {
		runtime.GC()
		h := large
		if strings.HasSuffix(c.want, "(--max-memory)") {
			h = small
		}
		s := &Session{Host: h, Out: &strings.Builder{}, globals: starlark.StringDict{}, thread: h.Thread("x")}
		for name, v := range h.env {
			s.globals[name] = v
		}
		s.run(c.src)
		if got := s.Out.(*strings.Builder).String(); !strings.Contains(got, c.want) {
			t.Errorf("%s:\n got %s\nwant %s", c.src, got, c.want)
		}
	}
	if v, err := New(Config{MaxMemory: 256 << 20}).Value("x = []\nx.append(x)\nd = {1: x}\nd[2] = d\nstr(d)"); err != nil {
		t.Errorf("a list that holds itself: %v %v", v, err)
	}
}

func BenchmarkProduct(b *testing.B) {
	h := New(Config{})
	v, err := h.Value("lambda n: [n * 3 for i in range(1000)]")
	if err != nil {
		b.Fatal(err)
	}
	thread := h.Thread("b")
	b.ReportAllocs()
	for b.Loop() {
		starlark.Call(thread, v, starlark.Tuple{starlark.MakeInt(7)}, nil)
	}
}
