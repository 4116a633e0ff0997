package agg

import (
	"io"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"

	"kscope/lang"
)

// run runs the statements of a session with module agg and gives what they print.
func run(t testing.TB, src string) string {
	t.Helper()
	var out strings.Builder
	var s Set
	h := lang.New(lang.Config{Stdout: &out, Tables: []lang.Table{s.Table()}})
	(&lang.Session{Host: h, In: io.NopCloser(strings.NewReader(src + "\n")), Out: &out}).Run()
	return out.String()
}

// The tables of testdata: a session, then "----", then what it prints; bpftrace's own outputs are among them.
func TestPrint(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no tables: %v", err)
	}
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		for i, c := range strings.Split(strings.TrimSuffix(string(text), "\n"), "\n====\n") {
			src, want, _ := strings.Cut(c, "\n----\n")
			if got := run(t, src); got != want+"\n" {
				t.Errorf("%s case %d:\n%s\n%s", f, i+1, src, lang.Diff(want+"\n", got))
			}
		}
	}
}

// Each example of the reference runs.
func TestExamples(t *testing.T) {
	for _, r := range new(Set).Table().Rows {
		if out := run(t, r.Example); r.Example == "" || strings.Contains(out, "error:") {
			t.Errorf("%s: %s", r.Name, out)
		}
	}
}

// Buckets hold exactly what their bounds say, and no value is between them.
func TestBuckets(t *testing.T) {
	for k := range maxBits + 1 {
		p := &params{kind: "hist", bits: k}
		for _, v := range []int64{math.MinInt64, -1, 0, 1, 2, 3, 4, 5, 7, 8, 31, 32, 33, 63, 64, 65, 1023, 1024, 1 << 40, 1<<40 + 1, math.MaxInt64} {
			i := p.bucket(v)
			b := p.bounds(i)
			if !b.below && v < b.from || v > b.last() {
				t.Errorf("bits %d: %d is in bucket %d: %d to %d", k, v, i, b.from, b.last())
			}
			if i > 0 && p.bounds(i-1).last()+1 != b.from {
				t.Errorf("bits %d: bucket %d begins at %d, the one before ends at %d", k, i, b.from, p.bounds(i-1).last())
			}
		}
	}
	p := &params{kind: "lhist", lo: -10, hi: 10, step: 5}
	for v, want := range map[int64]int{-11: 0, -10: 1, -6: 1, -5: 2, 0: 3, 9: 4, 10: 5, math.MaxInt64: 5, math.MinInt64: 0} {
		if got := p.bucket(v); got != want {
			t.Errorf("lhist: %d is in bucket %d, want %d", v, got, want)
		}
	}
}

// Sums of 128 bits and squares of 192 do not overflow.
func TestWide(t *testing.T) {
	out := run(t, `
a = agg.stats("x")
for _ in range(4):
    a.add((1 << 63) - 1)
    a.add(-(1 << 63))

print(a[()].total, a[()].average, a[()].stddev)
b = agg.avg("y")
for _ in range(5):
    b.add((1 << 63) - 1)

print(b[()] == (1 << 63) - 1)
`)
	if want := "-4 0 9860199460760538698\nTrue\n"; out != want {
		t.Errorf("got %q, want %q", out, want)
	}
}

// A handle of a frozen module still counts.
func TestFrozen(t *testing.T) {
	a := newAgg("x", &params{kind: "count"})
	starlark.StringDict{"a": a}.Freeze()
	if err := a.SetKey(starlark.String("k"), starlark.MakeInt(2)); err != nil {
		t.Error(err)
	}
}

// handler is what a script does at each hit.
const handler = `
c = agg.count("c")
h = agg.hist("h")

def count(comm, ns):
    c.inc(comm)

def hist(comm, ns):
    h.add(ns, comm)

def index(comm, ns):
    c[comm] += 1

def empty(comm, ns):
    pass
`

// BenchmarkHandler is one hit: a Starlark function that counts or adds by a string. "empty" is the function call alone.
func BenchmarkHandler(b *testing.B) {
	var s Set
	h := lang.New(lang.Config{Tables: []lang.Table{s.Table()}})
	v, err := h.Value("agg")
	if err != nil {
		b.Fatal(err)
	}
	globals, err := starlark.ExecFileOptions(&syntax.FileOptions{}, h.Thread("x"), "x.star", handler, starlark.StringDict{"agg": v})
	if err != nil {
		b.Fatal(err)
	}
	for _, name := range []string{"empty", "count", "hist", "index"} {
		b.Run(name, func(b *testing.B) {
			t := h.Thread("handler")
			args := starlark.Tuple{starlark.String("cat"), starlark.MakeInt(1234)}
			b.ReportAllocs()
			for range b.N {
				if _, err := starlark.Call(t, globals[name], args, nil); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkMillionKeys is the memory of a count with a million keys.
func BenchmarkMillionKeys(b *testing.B) {
	for range b.N {
		a := newAgg("x", &params{kind: "count"})
		for i := range 1_000_000 {
			if err := a.Add(1, starlark.Tuple{starlark.MakeInt(i), starlark.String("cat")}); err != nil {
				b.Fatal(err)
			}
		}
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		b.ReportMetric(float64(m.HeapAlloc)/(1<<20), "MB")
		runtime.KeepAlive(a)
	}
}
