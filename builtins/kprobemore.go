package builtins

import (
	"errors"
	"fmt"
	"strings"

	"go.starlark.net/starlark"

	"kscope/kernel"
	"kscope/kprobe"
	"kscope/lang"
)

// moreKprobeMethods are the rows of module kprobe that place nothing.
func moreKprobeMethods() []method {
	return []method{
		{name: "parse", sig: "(line) -> struct", fn: kprobeParse,
			doc: "What a line of kprobe_events would make, without making it: kind (\"kprobe\", \"kretprobe\"), group, name, where, addr, how (\"ftrace\",\n" +
				"\"int3\", \"optimized\"), why (no jump), maxactive, text as kprobe_events would list it, and args: name, type, size, fetch. A bad line is the\n" +
				"error that kprobe.event would give."},
		{name: "optimization", sig: "(on = None) -> bool", fn: kprobeOptimization,
			doc: "Whether probes become jumps, sysctl debug.kprobes-optimization; with on, switches it."},
		{name: "guard", sig: "(on = None) -> bool", fn: kprobeGuard,
			doc: "Whether hits within a handler are only counted (nmissed), as on Linux. guard(False) is a lesson: handlers in guest code that\ncome to their own probe then call themselves until the stack is full."},
		{name: "jprobe", sig: "(*args)", fn: kprobeJprobe, doc: "Gone from Linux since 4.15: says what to use instead."},
	}
}

func kprobeJprobe(c *call) (starlark.Value, error) {
	return nil, &lang.Error{Msg: c.name + ": jprobes are gone from Linux since 4.15", Code: "ENOSYS",
		Hint: "kprobe.attach(\"f\", pre = fn) with ctx.arg(n) or ctx.args.name, or kprobe.event(\"p:f f a=$arg1\")"}
}

func kprobeGuard(c *call) (starlark.Value, error) {
	var on option[bool]
	if err := c.unpack("on?", &on); err != nil {
		return nil, err
	}
	k, err := c.kprobes()
	if err != nil {
		return nil, err
	}
	if on.given {
		k.NoGuard = !on.value
	}
	return starlark.Bool(!k.NoGuard), nil
}

func kprobeOptimization(c *call) (starlark.Value, error) {
	var on option[bool]
	if err := c.unpack("on?", &on); err != nil {
		return nil, err
	}
	k, err := c.kprobes()
	if err != nil {
		return nil, err
	}
	if on.given {
		err := c.change("kprobes-optimization", func() error {
			k.SetOptimization(on.value)
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return starlark.Bool(k.Optimization()), nil
}

func kprobeParse(c *call) (starlark.Value, error) {
	line := ""
	if err := c.unpack("line", &line); err != nil {
		return nil, err
	}
	k, err := c.kprobes()
	if err != nil {
		return nil, err
	}
	p, err := k.Parse(line)
	if err != nil {
		return nil, c.lineError(err, k)
	}
	kind := "kprobe"
	if p.Line.Return {
		kind = "kretprobe"
	}
	var args []starlark.Value
	for _, a := range p.Line.Args {
		args = append(args, &record{typ: "FetchArg", fields: []field{{"name", str(a.Name)}, {"type", str(a.TypeText())}, {"size", num(a.Size())},
			{"fetch", str(a.Text)}}})
	}
	return &record{typ: "ProbeLine", fields: []field{{"kind", str(kind)}, {"group", str(p.Line.Group)}, {"name", str(p.Line.Name)},
		{"where", str(p.Where)}, {"addr", unum(p.Addr)}, {"how", str(p.How)}, {"why", str(p.Why)}, {"maxactive", num(p.Line.MaxActive)},
		{"text", str(p.Text)}, {"args", starlark.NewList(args)}}}, nil
}

// ctxArgs are a function's arguments by name, typed by DWARF. They are where the ABI puts them only at the function's entry.
func ctxArgs(x *probeCtx) (starlark.Value, error) {
	addr := x.h.Addr()
	s, off := x.g.M.Symbols().At(addr)
	if off != 0 || returns(x.h) {
		return nil, &lang.Error{Msg: "ctx.args: " + x.g.placeName(addr) + " is not a function's entry", Code: "EINVAL",
			Hint: "keep what you need in entry of kprobe.ret and find it in ctx.data; ctx.regs has the registers of this moment"}
	}
	f, ok := x.g.M.Types().Func(s.Name, s.Addr)
	if !ok {
		return nil, &lang.Error{Msg: "ctx.args: no prototype of " + s.Name + " is known", Code: "ENOENT", Hint: "ctx.arg(0) is the first argument"}
	}
	r := &record{typ: "Args"}
	for i, p := range f.Params {
		if p.Name == "" || p.Type == nil {
			continue
		}
		v, err := x.g.convert(kernel.NewValue(x.g.M, p.Type, x.h.Regs.Arg(i)))
		if err != nil {
			return nil, err
		}
		r.fields = append(r.fields, field{p.Name, v})
	}
	return r, nil
}

// unpackPointer is unpackAddr where a typed pointer means what it points at.
func (c *call) unpackPointer(name string, more ...any) (uint64, error) {
	var v starlark.Value
	if err := c.unpack(append([]any{name, &v}, more...)...); err != nil {
		return 0, err
	}
	if o, ok := v.(*object); ok && o.obj.Type.Kind == kernel.KindPtr {
		return o.obj.Uint()
	}
	addr, err := c.address(v)
	return addr, about(name, err)
}

func ctxObj(c *call, h *kprobe.Hit) (starlark.Value, error) {
	typ := ""
	var addr starlark.Value
	if err := c.unpack("type", &typ, "addr", &addr); err != nil {
		return nil, err
	}
	at, err := c.address(addr)
	if o, ok := addr.(*object); ok && o.obj.Type.Kind == kernel.KindPtr {
		at, err = o.obj.Uint()
	}
	if err != nil {
		return nil, about("addr", err)
	}
	o, err := h.K.Machine().Obj(typ, at)
	if err != nil {
		return nil, c.fail(err, typ, nil)
	}
	return &object{c.g, o}, nil
}

// ctxOverride is bpf_override_return: the function returns at once, through an empty one (just_return_func).
func ctxOverride(c *call, h *kprobe.Hit) (starlark.Value, error) {
	var v starlark.Int
	if err := c.unpack("retval", &v); err != nil {
		return nil, err
	}
	if _, off := h.K.Machine().Symbols().At(h.Addr()); off != 0 || h.In != nil {
		return nil, c.fail(kernel.EINVAL, c.g.placeName(h.Addr())+" is not a function's entry", nil)
	}
	x, ok := v.Uint64()
	if i, signed := v.Int64(); signed {
		x, ok = uint64(i), true
	}
	ret, found := h.K.Machine().Symbols().Lookup("ftrace_stub")
	if !ok || !found {
		return nil, c.errorf("%s is no 64-bit value", v)
	}
	if err := h.Regs.Set("ax", x); err != nil {
		return nil, c.fail(err, "", nil)
	}
	return starlark.None, c.fail(h.Regs.Set("ip", ret), "", nil)
}

// hostProbe places a probe that hooks the emulator: nothing is patched, nothing is missed, the guest cannot tell.
func (p *probe) attachHost(c *call, pre, post starlark.Callable) error {
	if post != nil {
		return c.errorf("host = True: no post handler: attach another host probe behind the instruction")
	}
	if pre == nil {
		return c.errorf("host = True: a host probe without pre does nothing")
	}
	if sym, off := c.g.M.Symbols().At(p.p.Addr); sym.Name != "" {
		if why := p.k.Boundary(sym, off); why != "" {
			return c.placeError(&kprobe.PlaceError{Addr: p.p.Addr, Why: why, Err: kernel.EILSEQ}, p.k, p.where)
		}
	}
	p.host = p.own(c, pre)
	return p.hook(p.host)
}

func (p *probe) hook(pre *lang.Handler) error {
	later := func(h *kprobe.Hit) {
		p.p.Hits++
		if p.limit == 0 && p.when == nil || p.wanted(h, true) {
			p.call(pre, h)
		}
	}
	remove, err := p.g.M.Hook(p.p.Addr, func(v *kernel.VCPU) {
		if !p.k.Later(v, p.p.Addr, later) { // the guest's own probes come first
			later(p.k.HitAt(v, 0, p.p.Addr))
		}
	})
	p.host, p.unhook = pre, remove
	return err
}

// around shows the instructions near an address with their offsets.
func (g *Guest) around(k *kprobe.Kprobes, addr uint64) string {
	sym, off := g.M.Symbols().At(addr)
	if sym.Name == "" {
		return ""
	}
	var out strings.Builder
	fmt.Fprintf(&out, "\n%016x <%s>:", sym.Addr, sym.Name)
	for _, b := range k.Boundaries(sym) {
		if uint64(b)+16 < off || uint64(b) > off+16 {
			continue
		}
		if _, line, err := g.disasmLine(sym.Addr+uint64(b), uint64(b), true, true); err == nil {
			out.WriteString("\n" + strings.TrimRight(line, "\n"))
		}
	}
	return out.String()
}

// placeError says why a place takes no probe, with the instructions around one that is no boundary.
func (c *call) placeError(err error, k *kprobe.Kprobes, at string) error {
	e := c.fail(err, at, nil)
	var place *kprobe.PlaceError
	var le *lang.Error
	if !errors.As(err, &place) || !errors.As(e, &le) {
		return e
	}
	le.Msg, le.At = fmt.Sprintf("%s: %s: %s", c.name, at, place.Why), at
	sym, off := c.g.M.Symbols().At(place.Addr)
	if name, _, _ := strings.Cut(at, "+"); name != sym.Name {
		if rows := c.g.M.Symbols().ByName(name); len(rows) > 0 && place.Addr-rows[0].Addr >= rows[0].Size {
			le.Msg += fmt.Sprintf("; %s has only %#x bytes", name, rows[0].Size)
			le.Hint = fmt.Sprintf("kernel.disasm(%q, n = 1000) has all instructions of %s", name, name)
			return e
		}
	}
	if place.Err == kernel.EILSEQ {
		le.Msg += c.g.around(k, place.Addr)
		var near []string
		for _, b := range k.Boundaries(sym) {
			if uint64(b)+16 >= off && uint64(b) <= off+16 {
				near = append(near, fmt.Sprintf("+%#x", b))
			}
		}
		le.Hint = "instructions begin at " + strings.Join(near, " ")
	}
	return e
}
