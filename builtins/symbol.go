package builtins

import (
	"fmt"
	"strings"

	"go.starlark.net/starlark"

	"kscope/kernel"
)

// symRecord is the value Sym.
func (g *Guest) symRecord(s kernel.Sym) starlark.Value {
	text := fmt.Sprintf("<%016x %c %s, %d bytes", s.Addr, s.Kind, s.Name, s.Size)
	if s.PerCPU() {
		text = fmt.Sprintf("<per-CPU %#x %c %s, %d bytes", s.Addr, s.Kind, s.Name, s.Size)
	}
	return &record{typ: "Sym", text: text + ">", fields: []field{
		{"name", str(s.Name)}, {"addr", unum(s.Addr)}, {"size", unum(s.Size)}, {"kind", str(string(s.Kind))},
		{"section", str(s.Section)}, {"module", strOrNone(s.Module)}, {"percpu", starlark.Bool(s.PerCPU())},
		{"traceable", starlark.Bool(g.traceable(s.Addr))},
	}}
}

func kernelSymbols(c *call) (starlark.Value, error) {
	glob, kind := "*", ""
	var k starlark.Value = starlark.None
	if err := c.unpack("glob?", &glob, "kind?", &k); err != nil {
		return nil, err
	}
	if k != starlark.None {
		s, ok := starlark.AsString(k)
		if !ok || strings.Trim(s, "tTdDbBrRaAwWvV") != "" {
			return nil, c.errorf("kind = %s: want nm's letters, such as \"tT\" for functions", k)
		}
		kind = s
	}
	return list(c.g.M.Symbols().Glob(glob, kind), c.g.symRecord), nil
}

func kernelSym(c *call) (starlark.Value, error) {
	var x starlark.Value
	if err := c.unpack("x", &x); err != nil {
		return nil, err
	}
	if name, ok := starlark.AsString(x); ok && !strings.Contains(name, "+") {
		if syms := c.g.M.Symbols().ByName(name); len(syms) > 0 {
			return c.g.symRecord(syms[0]), nil
		}
	}
	addr, err := c.address(x)
	if err != nil {
		return nil, err
	}
	s, _ := c.g.M.Symbols().At(addr)
	if s.Name == "" {
		return nil, c.errorf("no symbol covers %#x", addr)
	}
	return c.g.symRecord(s), nil
}

func kernelFunc(c *call) (starlark.Value, error) {
	addr, err := c.unpackAddr("x")
	if err != nil {
		return nil, err
	}
	s, _ := c.g.M.Symbols().At(addr)
	f, ok := c.g.M.Types().Func(s.Name, s.Addr)
	if !ok {
		return nil, c.errorf("%s: the image has no prototype for it", c.g.M.Symbols().Format(addr))
	}
	args := list(f.Params, func(p kernel.Param) starlark.Value {
		return &record{typ: "Arg", text: p.Type.Decl(p.Name), fields: []field{{"name", str(p.Name)}, {"type", str(p.Type.String())}}}
	})
	return &record{typ: "Func", text: f.String(), fields: []field{
		{"name", str(f.Name)}, {"proto", str(f.String())}, {"args", args}, {"ret", str(strings.TrimSpace(f.Ret.String()))},
		{"file", str(f.File)}, {"line", num(f.Line)}, {"addr", unum(f.Addr)}, {"sym", c.g.symRecord(s)},
	}}, nil
}
