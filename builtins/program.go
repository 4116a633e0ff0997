package builtins

import (
	"go.starlark.net/starlark"

	"kscope/lang"
)

// kernelSpawn implements kernel.spawn.
func kernelSpawn(c *call) (starlark.Value, error) {
	var prog starlark.Value
	var list starlark.Iterable
	stdin, name := "", ""
	if err := c.unpack("prog", &prog, "args?", &list, "stdin?", &stdin, "name?", &name); err != nil {
		return nil, err
	}
	if err := c.ready(); err != nil {
		return nil, err
	}
	path, ok := starlark.AsString(prog)
	if !ok {
		return nil, c.errorf("got %s, want a program's name or a function fn(sys)", prog.Type())
	}
	argv, err := c.argv(path, list)
	if err != nil {
		return nil, err
	}
	p, err := c.g.start(c, path, argv, stdin)
	if err != nil {
		return nil, err
	}
	c.g.procs[p.pid] = p
	return &task{c.g, p.pid, 0, p}, nil
}

func sysRows() []lang.Row { return nil }
