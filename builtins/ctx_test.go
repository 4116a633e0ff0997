package builtins

import (
	"strings"
	"testing"

	"kscope/kernel"
	"kscope/lang"
)

// TestCtxKept keeps a handler's ctx and its methods: they are dead behind its return, also while a later handler runs, and whoever asks is
// told so.
func TestCtxKept(t *testing.T) {
	var snaps kernel.Snapshots
	var out strings.Builder
	e := New(Config{Defaults: kernel.Config{CPUs: 1}, Stdout: &out, Boot: bootForTest(&snaps)})
	h := lang.New(lang.Config{Stdout: &out, Tables: e.Tables()})
	e.Attach(h)
	err := h.Eval(`
def failing(f, *args, **kwargs):
    return attempt(f, *args, **kwargs).error.text
kernel.boot(cpus = 1)
kept, said = [], []
def keep(ctx):
    if kept:
        said.extend([failing(f) for f in [lambda: kept[0].pid, lambda: kept[0].arg(0), lambda: kept[1](0), lambda: kept[2](0)]])
    else:
        said.extend([str(ctx.arg), type(ctx.arg), ctx.arg(0) == ctx.regs.di, ctx.arg(n = 1) == ctx.arg(1), failing(ctx.arg, 64), failing(ctx.arg, "0")])
    kept.extend([ctx, ctx.arg, ctx.str])
p = kprobe.attach("vfs_read", keep, limit = 2)
kernel.exec("cat", ["/etc/hostname"])
p.close()
print("\n".join([str(s) for s in said]))
`)
	if err != nil {
		t.Fatal(err)
	}
	const want = `<built-in method Ctx.arg of Ctx value>
builtin_function_or_method
True
True
Ctx.arg: argument 64: want 0 to 63
Ctx.arg: n: got string, want int
ctx.pid: the handler that ctx belongs to has returned
ctx.arg: the handler that ctx belongs to has returned
Ctx.arg: the handler that ctx belongs to has returned
Ctx.str: the handler that ctx belongs to has returned
`
	if out.String() != want {
		t.Errorf("got:\n%s", out.String())
	}
}
