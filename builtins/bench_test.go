package builtins

import (
	"fmt"
	"io"
	"testing"

	"kscope/kernel"
	"kscope/lang"
)

// BenchmarkOn is one call of a guest function with a handler on it that counts by name: by a host hook, by a kprobe, and without;
// and with one of kprobe.attach that reads two arguments and counts. The difference to "none" is what a hit costs the host.
func BenchmarkOn(b *testing.B) {
	var snaps kernel.Snapshots
	for _, spec := range []string{"none", "function:kscope_hot", "kprobe:kscope_hot", "kretprobe:kscope_hot", "attach"} {
		b.Run(spec, func(b *testing.B) {
			boot := bootForTest(&snaps)
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
				arm = "kprobe.attach(\"kscope_hot\", lambda ctx: c.inc((ctx.arg(0) + ctx.arg(1)) & 7))"
			default:
				arm = fmt.Sprintf("on(%q, lambda ctx: c.inc(ctx.comm))", spec)
			}
			if err := h.Eval("kernel.boot(cpus = 1)"); err != nil {
				b.Fatal(err)
			}
			const calls = 20_000
			n := max(b.N, 1)
			src := "c = agg.count(\"c\")\n" + arm + "\n"
			b.ResetTimer()
			for done := 0; done < n; done += calls {
				src += fmt.Sprintf("kernel.hot([0], calls = %d)\nkernel.run(time = 3 * ms)\n", min(calls, n-done))
			}
			if err := h.Eval(src); err != nil {
				b.Fatal(err)
			}
		})
	}
}
