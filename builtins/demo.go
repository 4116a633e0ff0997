package builtins

import (
	"strings"

	"go.starlark.net/starlark"
)

// demoText is what demo() types. Its output is a golden (scripts/demo.star), so it is always true.
const demoText = `# four CPUs run a Linux-like kernel; this is one of its functions, ready to be traced
print(kernel.disasm("vfs_read", n = 2))
# trace the functions vfs_*; their call sites are patched while the machine runs
tracer.filter("vfs_*")
tracer.set("function")
print(kernel.disasm("vfs_read", n = 2))
# run a program of the guest, and see what it called
print(kernel.exec("cat", ["/etc/hostname"]).out)
tracer.show()
# how the patch went: every step, on every CPU
print(kernel.patches()[-1])
tracer.reset()
`

// demo implements demo().
func (e *Env) demo(t *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	if err := (&call{thread: t, name: b.Name(), args: args, kwargs: kwargs}).unpack(); err != nil {
		return nil, err
	}
	return starlark.None, e.host.Transcript(t, strings.TrimSuffix(demoText, "\n"))
}
