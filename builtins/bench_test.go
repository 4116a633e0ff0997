package builtins

import (
	"fmt"
	"io"
	"math"
	"testing"

	"go.starlark.net/starlark"
	"go.starlark.net/starlarkstruct"

	"kscope/internal/cputime"
	"kscope/kernel"
	"kscope/lang"
)

// attached is a handler that reads two arguments and counts.
const attached = "lambda ctx: c.inc((ctx.arg(0) + ctx.arg(1)) & 7)"

// BenchmarkOn is one call of a guest function with a handler on it that counts by name: by a host hook, by a kprobe, and without;
// and with one of kprobe.attach that reads two arguments and counts. The difference to "none" is what a hit costs the host. Asked of
// attach: 1.5 us.
func BenchmarkOn(b *testing.B) {
	var snaps kernel.Snapshots
	for _, spec := range []string{"none", "function:kscope_hot", "kprobe:kscope_hot", "kretprobe:kscope_hot", "attach"} {
		b.Run(spec, func(b *testing.B) {
			boot := bootLimited(&snaps, 0)
			e := New(Config{Defaults: kernel.Config{CPUs: 1}, Stdout: io.Discard, Boot: func(cfg kernel.Config) (*Guest, error) {
				g, err := boot(cfg)
				return g, err
			}})
			h := lang.New(lang.Config{Tables: e.Tables()})
			e.Attach(h)
			arm := ""
			switch spec {
			case "none":
			case "attach":
				arm = "kprobe.attach(\"kscope_hot\", " + attached + ")"
			default:
				arm = fmt.Sprintf("on(%q, lambda ctx: c.inc(ctx.comm))", spec)
			}
			const calls = 20_000
			src := ""
			for done := 0; done < b.N; done += calls {
				src += fmt.Sprintf("kernel.hot([0], calls = %d)\nkernel.run(time = 3 * ms)\n", min(calls, b.N-done))
			}
			if err := h.Eval("kernel.boot(cpus = 1)\nc = agg.count(\"c\")\n" + arm + "\n"); err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			b.ResetTimer()
			start := cputime.Now()
			if err := h.Eval(src); err != nil {
				b.Fatal(err)
			}
			b.ReportMetric((cputime.Now()-start)/float64(b.N), "cpu-ns/call")
		})
	}
}

// BenchmarkFloor is what Starlark itself takes for the handler of BenchmarkOn's attach: a bare starlark.Call of the same function, whose
// arg and inc are Go functions that do nothing.
func BenchmarkFloor(b *testing.B) {
	t := &starlark.Thread{}
	one := starlark.MakeUint64(math.MaxUint64 / 3)
	bare := func(name string, v starlark.Value) starlark.Value {
		return starlarkstruct.FromStringDict(starlarkstruct.Default, starlark.StringDict{name: starlark.NewBuiltin(name,
			func(*starlark.Thread, *starlark.Builtin, starlark.Tuple, []starlark.Tuple) (starlark.Value, error) {
				return v, nil
			})})
	}
	fn, err := starlark.Eval(t, "floor", attached, starlark.StringDict{"c": bare("inc", starlark.None)})
	if err != nil {
		b.Fatal(err)
	}
	args := starlark.Tuple{bare("arg", one)}
	b.ReportAllocs()
	start := cputime.Now()
	for range b.N {
		if _, err := starlark.Call(t, fn, args, nil); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric((cputime.Now()-start)/float64(b.N), "cpu-ns/call")
}
