package builtins

import (
	"bytes"
	"debug/elf"
	"fmt"
	"slices"
	"strings"

	"go.starlark.net/starlark"

	"kscope/kernel"
	"kscope/kernel/guest"
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

// placeName is an address as a person writes it: "vfs_read", "vfs_read+0x5", "mod:sym".
func (g *Guest) placeName(addr uint64) string {
	s, off := g.M.Symbols().At(addr)
	if s.Name == "" {
		return fmt.Sprintf("%#x", addr)
	}
	name := s.Name
	if s.Module != "" {
		name = s.Module + ":" + name
	}
	if off != 0 {
		name += fmt.Sprintf("+%#x", off)
	}
	return name
}

// missing says why a function that the source has is no symbol: inlined everywhere, or known by a clone's name only. It is ""
// when there is no such function at all.
func (g *Guest) missing(name string) string {
	if clones := g.M.Symbols().Glob(name+".*", "tT"); len(clones) > 0 {
		return "the compiler made " + enumerate(clones, func(s kernel.Sym) string { return s.Name }) + " of it"
	}
	if sites := g.M.Types().Inlined(name); len(sites) > 0 {
		return "it was inlined into " + enumerate(sites, func(s kernel.InlineSite) string { return s.Caller }) + ": no call is left to trace" + g.inlineAt(name, sites)
	}
	return ""
}

// inlineAt says where one of a function's bodies is.
func (g *Guest) inlineAt(name string, sites []kernel.InlineSite) string {
	for _, s := range sites {
		if s.Addr != 0 {
			return fmt.Sprintf("; one body begins at %s, kernel.func(%q).inlines has all", g.placeName(s.Addr), name)
		}
	}
	return ""
}

// enumerate names up to three different items.
func enumerate[T any](items []T, name func(T) string) string {
	var names []string
	for _, x := range items {
		if n := name(x); !slices.Contains(names, n) {
			names = append(names, n)
		}
	}
	if n := len(names); n > 3 {
		names = append(names[:3], fmt.Sprintf("%d more", n-3))
	}
	if last := len(names) - 1; last > 0 {
		return strings.Join(names[:last], ", ") + " and " + names[last]
	}
	return strings.Join(names, "")
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

// kernelFunc finds a prototype, also of a function that exists only inlined.
func kernelFunc(c *call) (starlark.Value, error) {
	var x starlark.Value
	if err := c.unpack("x", &x); err != nil {
		return nil, err
	}
	if name, ok := starlark.AsString(x); ok && len(c.g.M.Symbols().ByName(name)) == 0 {
		if f, ok := c.g.M.Types().Func(name, 0); ok && len(c.g.M.Types().Inlined(name)) > 0 {
			return c.g.funcRecord(f, starlark.None), nil
		}
	}
	addr, err := c.address(x)
	if err != nil {
		return nil, err
	}
	s, _ := c.g.M.Symbols().At(addr)
	f, ok := c.g.M.Types().Func(s.Name, s.Addr)
	if !ok {
		return nil, c.errorf("%s: the image has no prototype for it", c.g.M.Symbols().Format(addr))
	}
	return c.g.funcRecord(f, c.g.symRecord(s)), nil
}

// funcRecord is the value Func. sym is None for a function that has no code of its own.
func (g *Guest) funcRecord(f *kernel.Func, sym starlark.Value) starlark.Value {
	args := list(f.Params, func(p kernel.Param) starlark.Value {
		return &record{typ: "Arg", text: p.Type.Decl(p.Name), fields: []field{{"name", str(p.Name)}, {"type", str(strings.TrimSpace(p.Type.String()))}}}
	})
	inlines := list(g.M.Types().Inlined(f.Name), func(s kernel.InlineSite) starlark.Value {
		text := fmt.Sprintf("<inlined into %s at %s:%d>", s.Caller, s.File, s.Line)
		return &record{typ: "Inline", text: text, fields: []field{
			{"caller", str(s.Caller)}, {"addr", unum(s.Addr)}, {"file", str(s.File)}, {"line", num(s.Line)},
		}}
	})
	sites, patched := starlark.Value(starlark.NewList(nil)), starlark.Value(starlark.None)
	if at, ok := g.T.Sites().At(f.Addr); ok && sym != starlark.None {
		sites = starlark.NewList([]starlark.Value{unum(at.IP)})
		if p, ok := g.lastPoke(at.IP); ok {
			patched = str(p.By)
		}
	}
	file := f.File
	if file == "" {
		file, _, _ = g.M.Types().Line(f.Addr)
	}
	return &record{typ: "Func", text: f.String(), fields: []field{
		{"name", str(f.Name)}, {"proto", str(f.String())}, {"args", args}, {"ret", str(strings.TrimSpace(f.Ret.String()))},
		{"file", str(file)}, {"line", num(f.Line)}, {"addr", addrOf(f.Addr)}, {"sym", sym}, {"inlines", inlines}, {"sites", sites}, {"patched", patched},
	}}
}

// addrOf is the address of a function that has code of its own, else None.
func addrOf(addr uint64) starlark.Value {
	if addr == 0 {
		return starlark.None
	}
	return unum(addr)
}

// Symbol is what is at an address of the machine that there is: "vfs_read+0x5", "" of none.
func (e *Env) Symbol(addr uint64) string {
	if e.guest == nil {
		return ""
	}
	if s, _ := e.guest.M.Symbols().At(addr); s.Name == "" {
		return ""
	}
	return e.guest.placeName(addr)
}

// GuestName is the call that tells about a function or a variable of the guest's kernel; "" of any other name. Before there is a
// machine the kernel that comes with kscope is asked: a wrong name boots none.
func (e *Env) GuestName(name string) string {
	isFunc, found := false, false
	if e.guest != nil {
		syms := e.guest.M.Symbols().ByName(name)
		if found = len(syms) > 0; found {
			isFunc = strings.ContainsAny(string(syms[0].Kind), "tTwW")
		}
	} else if f, err := elf.NewFile(bytes.NewReader(guest.Kernel())); err == nil {
		syms, _ := f.Symbols()
		if i := slices.IndexFunc(syms, func(s elf.Symbol) bool { return s.Name == name }); i >= 0 {
			kind := elf.ST_TYPE(syms[i].Info)
			isFunc = kind == elf.STT_FUNC
			found = isFunc || kind == elf.STT_OBJECT
		}
	}
	switch {
	case isFunc:
		return fmt.Sprintf("kernel.func(%q), on(%q, fn)", name, "kprobe:"+name)
	case found:
		return fmt.Sprintf("kernel.var(%q)", name)
	}
	return ""
}
