package builtins

import (
	"fmt"
	"sort"
	"strings"

	"go.starlark.net/starlark"

	"kscope/kernel"
	"kscope/kprobe"
	"kscope/lang"
)

// probeCtx is the value Ctx: what a handler sees of its hit. It is good only while the handler runs: each hit has one of its own, since
// a script may keep it.
type probeCtx struct {
	g *Guest
	h *kprobe.Hit
	m ctxMethod // the first that was asked for
}

var _ starlark.HasAttrs = (*probeCtx)(nil)

// newCtx makes the Ctx of a hit. They are made by the dozen: that halves what one takes.
func (g *Guest) newCtx(h *kprobe.Hit) *probeCtx {
	if len(g.ctxs) == 0 {
		g.ctxs = make([]probeCtx, 24)
	}
	x := &g.ctxs[0]
	g.ctxs = g.ctxs[1:]
	x.g, x.h = g, h
	return x
}

func (x *probeCtx) String() string        { return "<ctx of a probe>" }
func (x *probeCtx) Type() string          { return "Ctx" }
func (x *probeCtx) Freeze()               {}
func (x *probeCtx) Truth() starlark.Bool  { return true }
func (x *probeCtx) Hash() (uint32, error) { return 0, fmt.Errorf("unhashable: Ctx") }

// comm is the name of the task that runs on c: one value as long as it is the same, since most handlers ask for it.
func (g *Guest) comm(c *kernel.VCPU) starlark.Value {
	if b := c.CommBytes(); g.lastComm == nil || b != g.lastBytes {
		name, _, _ := strings.Cut(string(b[:]), "\x00")
		g.lastBytes, g.lastComm = b, str(name)
	}
	return g.lastComm
}

// ctxRow is an attribute of Ctx.
type ctxRow struct {
	name, sig, doc string
	get            func(x *probeCtx) starlark.Value
	try            func(x *probeCtx) (starlark.Value, error)
	fn             func(c *call, h *kprobe.Hit) (starlark.Value, error)
	short          func(x *probeCtx, args starlark.Tuple) starlark.Value // fn for the usual arguments; nil: they are others
}

// ctxRows is the table of Ctx.
func ctxRows() []ctxRow {
	flag := func(f func(h *kprobe.Hit) bool) func(x *probeCtx) starlark.Value {
		return func(x *probeCtx) starlark.Value { return starlark.Bool(f(x.h)) }
	}
	return []ctxRow{
		{name: "pid", sig: "-> int", doc: "The task that runs.", get: func(x *probeCtx) starlark.Value { return num(x.h.C.CurrentPid()) }},
		{name: "comm", sig: "-> string", doc: "Its name.", get: func(x *probeCtx) starlark.Value { return x.g.comm(x.h.C) }},
		{name: "cpu", sig: "-> int", doc: "The CPU.", get: func(x *probeCtx) starlark.Value { return num(x.h.C.ID) }},
		{name: "now", sig: "-> int", doc: "The CPU's time in ns.", get: func(x *probeCtx) starlark.Value { return unum(x.h.C.Now()) }},
		{name: "where", sig: "-> string", doc: "The probed place: \"vfs_read\", \"vfs_read+0x5\".",
			get: func(x *probeCtx) starlark.Value { return str(x.g.placeName(x.h.Addr())) }},
		{name: "regs", sig: "-> Regs", doc: "All registers by Linux's names: ctx.regs.di.", get: ctxRegs},
		{name: "retval", sig: "-> int", doc: "The function's result, in a kretprobe's fn: register ax; else None.", get: func(x *probeCtx) starlark.Value {
			if x.h.In == nil {
				return starlark.None
			}
			v, _ := x.h.Regs.Get("ax")
			return unum(v)
		}},
		{name: "duration", sig: "-> int", doc: "The latency of the call in ns, from the function's entry, in a kretprobe's fn; else None.", get: func(x *probeCtx) starlark.Value {
			if x.h.In == nil {
				return starlark.None
			}
			return unum(x.h.C.Now() - x.h.In.Time)
		}},
		{name: "data", sig: "-> any", doc: "What entry returned for this call, in a kretprobe's fn; else None.", get: func(x *probeCtx) starlark.Value {
			if x.h.In != nil {
				if v, ok := x.h.In.Data.(starlark.Value); ok {
					return v
				}
			}
			return starlark.None
		}},
		{name: "irqs_off", sig: "-> bool", doc: "Whether the probed code has interrupts off.", get: flag((*kprobe.Hit).IRQsOff)},
		{name: "hardirq", sig: "-> bool", doc: "Whether it serves an interrupt.", get: flag((*kprobe.Hit).HardIRQ)},
		{name: "softirq", sig: "-> bool", doc: "Whether it serves a softirq.", get: flag((*kprobe.Hit).SoftIRQ)},
		{name: "preempt", sig: "-> int", doc: "Its preemption depth.", get: func(x *probeCtx) starlark.Value { return num(x.h.Preempt()) }},
		{name: "handler", sig: "-> Context", doc: "The context that a handler in C would find itself in: irqs_off, nmi, hardirq, softirq, preempt. Behind an int3 that is an NMI's, with\ninterrupts off; through ftrace, a jump or a return preemption is off and the rest is as in the probed code.", get: ctxHandler},
		{name: "emit", sig: "(**fields)", doc: "Records an event kscope:PLACE with these fields (int, bool, string), which the first call defines: it is in the trace, and in events/kscope.", fn: ctxEmit},
		{name: "arg", sig: "(n) -> int", doc: "Argument n, from 0, at a function's entry.", fn: ctxArg, short: shortArg},
		{name: "str", sig: "(addr, max = 256) -> string", doc: "The C string at an address, the kernel's or the task's.", fn: ctxStr},
		{name: "mem", sig: "(addr, n) -> bytes", doc: "n bytes of the kernel's memory or the task's.", fn: ctxMem},
		{name: "stack", sig: "(n = 16, offsets = False) -> [string]", doc: "The functions that led here, innermost first; with offsets as \"vfs_read+0x5/0x1b0\".", fn: ctxStack},
		{name: "set", sig: "(reg, value)", doc: "Changes a register of the probed code: ctx.set(\"di\", 0).", fn: ctxSet},
		{name: "args", sig: "-> Args", doc: "The function's arguments by name, typed by DWARF, at its entry: ctx.args.count, ctx.args.file.f_pos.", try: ctxArgs},
		{name: "obj", sig: "(type, addr) -> Obj", doc: "A typed view of memory: ctx.obj(\"struct file\", ctx.regs.di).f_pos.", fn: ctxObj},
		{name: "task", sig: "-> Task", doc: "The task that runs.", get: func(x *probeCtx) starlark.Value {
			return &task{x.g, x.h.C.CurrentPid(), x.h.C.CurrentAddr(), nil}
		}},
		{name: "insns", sig: "-> int", doc: "Instructions executed by all CPUs since power-on.", get: func(x *probeCtx) starlark.Value { return unum(x.h.K.Machine().Insns()) }},
		{name: "override", sig: "(retval)", doc: "At a function's entry: it returns retval at once, without being run (bpf_override_return).", fn: ctxOverride},
		{name: "stop", sig: "(reason = \"\")", doc: "Stops the machine at this instruction, which then runs when the machine goes on.\nAt a function's entry: behind its call of __fentry__; in a kretprobe's fn: where the function returns to.", fn: ctxStop},
	}
}

func (x *probeCtx) Attr(name string) (starlark.Value, error) {
	r := x.g.env.ctxRow(name)
	switch {
	case r == nil:
		return nil, noAttr("Ctx", name, x.has())
	case x.h == nil:
		return nil, lang.Errorf("ctx.%s: the handler that ctx belongs to has returned", name)
	case r.get != nil:
		return r.get(x), nil
	case r.try != nil:
		return r.try(x)
	}
	return x.bind(r), nil
}

// ctxRow finds an attribute of Ctx; the table is made once, since handlers ask for attributes at every hit.
func (e *Env) ctxRow(name string) *ctxRow {
	if name == "arg" && e.ctxArg != nil { // most of all: 20 ns less than the map
		return e.ctxArg
	}
	if e.ctx == nil {
		e.ctx = map[string]*ctxRow{}
		rows := ctxRows()
		for i := range rows {
			e.ctx[rows[i].name] = &rows[i]
		}
		e.ctxArg = e.ctx["arg"]
	}
	return e.ctx[name]
}

// ctxMethod is a method of a Ctx, as a starlark.Builtin with it as the receiver would be. Most handlers call one, so it is kept in the
// Ctx itself.
type ctxMethod struct {
	x *probeCtx
	r *ctxRow
}

var _ starlark.Callable = (*ctxMethod)(nil)

func (x *probeCtx) bind(r *ctxRow) *ctxMethod {
	if x.m.r == nil {
		x.m = ctxMethod{x, r}
	}
	if x.m.r == r {
		return &x.m
	}
	return &ctxMethod{x, r}
}

func (m *ctxMethod) Name() string          { return "Ctx." + m.r.name }
func (m *ctxMethod) String() string        { return "<built-in method " + m.Name() + " of Ctx value>" }
func (m *ctxMethod) Type() string          { return "builtin_function_or_method" }
func (m *ctxMethod) Freeze()               {}
func (m *ctxMethod) Truth() starlark.Bool  { return true }
func (m *ctxMethod) Hash() (uint32, error) { return starlark.String(m.Name()).Hash() }

func (m *ctxMethod) CallInternal(t *starlark.Thread, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	if m.r.short != nil && m.x.h != nil && len(kwargs) == 0 {
		if v := m.r.short(m.x, args); v != nil {
			return v, nil
		}
	}
	c := &call{g: m.x.g, thread: t, name: m.Name(), args: args, kwargs: kwargs}
	if m.x.h == nil {
		return nil, c.errorf("the handler that ctx belongs to has returned")
	}
	return m.r.fn(c, m.x.h)
}

func (x *probeCtx) AttrNames() []string {
	var names []string
	for _, r := range ctxRows() {
		names = append(names, r.name)
	}
	return names
}

// has are the attributes that mean something here: a call's result and duration only where it returns.
func (x *probeCtx) has() (names []string) {
	for _, name := range x.AttrNames() {
		ofReturn := name == "retval" || name == "duration" || name == "data"
		if !ofReturn || x.h != nil && x.h.In != nil {
			names = append(names, name)
		}
	}
	sort.Strings(names)
	return names
}

func ctxRegs(x *probeCtx) starlark.Value {
	r := &record{typ: "Regs"}
	for _, name := range kprobe.RegNames() {
		v, _ := x.h.Regs.Get(name)
		r.fields = append(r.fields, field{name, unum(v)})
	}
	return r
}

func ctxArg(c *call, h *kprobe.Hit) (starlark.Value, error) {
	n := 0
	if err := c.unpack("n", &n); err != nil {
		return nil, err
	}
	if n < 0 || n > 63 {
		return nil, c.errorf("argument %d: want 0 to 63", n)
	}
	if returns(h) {
		e := c.errorf("the function has returned: its arguments are gone")
		e.Code, e.Hint = "EINVAL", "keep what you need in entry of kprobe.ret and find it in ctx.data; ctx.retval is what it returned"
		return nil, e
	}
	return unum(h.Regs.Arg(n)), nil
}

// returns tells that a hit is a function's return: Hit.Probe is of entries.
func returns(h *kprobe.Hit) bool { return h.In != nil && h.Probe == nil }

// shortArg is ctxArg for a number alone, several times faster than unpack.
func shortArg(x *probeCtx, args starlark.Tuple) starlark.Value {
	if len(args) != 1 || returns(x.h) {
		return nil
	}
	i, ok := args[0].(starlark.Int)
	if !ok {
		return nil
	}
	if n, ok := i.Int64(); ok && n >= 0 && n <= 63 {
		return unum(x.h.Regs.Arg(int(n)))
	}
	return nil
}

func ctxStr(c *call, h *kprobe.Hit) (starlark.Value, error) {
	n := 256
	addr, err := c.unpackPointer("addr", "max?", &n)
	if err != nil {
		return nil, err
	}
	s, err := h.Str(addr, min(max(n, 0), maxRead))
	if err != nil {
		return nil, c.fault(addr, err)
	}
	return str(s), nil
}

func ctxMem(c *call, h *kprobe.Hit) (starlark.Value, error) {
	n := 0
	addr, err := c.unpackPointer("addr", "n", &n)
	if err != nil {
		return nil, err
	}
	if n < 0 || n > maxRead {
		return nil, c.errorf("%d bytes: want 0 to %d", n, maxRead)
	}
	b := make([]byte, n)
	if err := h.Mem(addr, b); err != nil {
		return nil, c.fault(addr, err)
	}
	return starlark.Bytes(b), nil
}

func ctxStack(c *call, h *kprobe.Hit) (starlark.Value, error) {
	n, offsets := 16, false
	if err := c.unpack("n?", &n, "offsets?", &offsets); err != nil {
		return nil, err
	}
	if offsets {
		return list(h.StackAt(max(n, 1)), func(pc uint64) starlark.Value { return str(c.g.M.Symbols().Format(pc)) }), nil
	}
	return list(h.Stack(max(n, 1)), str), nil
}

func ctxSet(c *call, h *kprobe.Hit) (starlark.Value, error) {
	var name string
	var v starlark.Int
	if err := c.unpack("reg", &name, "value", &v); err != nil {
		return nil, err
	}
	x, ok := v.Uint64()
	if i, signed := v.Int64(); signed {
		x, ok = uint64(i), true
	}
	if !ok {
		return nil, c.errorf("%s is no 64-bit value", v)
	}
	return starlark.None, c.regError(h.Regs.Set(name, x), name)
}

func ctxStop(c *call, h *kprobe.Hit) (starlark.Value, error) {
	reason := ""
	if err := c.unpack("reason?", &reason); err != nil {
		return nil, err
	}
	h.K.Machine().RequestStop(reason)
	return starlark.None, nil
}

// probeEvent is the value ProbeEvent: a line of kprobe_events.
type probeEvent struct {
	g *Guest
	k *kprobe.Kprobes
	e *kprobe.Event
}

var _ starlark.HasAttrs = (*probeEvent)(nil)

func (p *probeEvent) String() string        { return "<" + p.e.Text() + ">" }
func (p *probeEvent) Type() string          { return "ProbeEvent" }
func (p *probeEvent) Freeze()               {}
func (p *probeEvent) Truth() starlark.Bool  { return true }
func (p *probeEvent) Hash() (uint32, error) { return starlark.String(p.e.Text()).Hash() }

type probeEventRow struct {
	name, sig, doc string
	get            func(p *probeEvent) starlark.Value
	do             func(p *probeEvent) error
}

// probeEventRows is the table of ProbeEvent.
func probeEventRows() []probeEventRow {
	return []probeEventRow{
		{name: "name", sig: "-> string", doc: "The event's name.", get: func(p *probeEvent) starlark.Value { return str(p.e.Name) }},
		{name: "group", sig: "-> string", doc: "Its group: events/GROUP/NAME.", get: func(p *probeEvent) starlark.Value { return str(p.e.Group) }},
		{name: "text", sig: "-> string", doc: "Its line in kprobe_events.", get: func(p *probeEvent) starlark.Value { return str(p.e.Text()) }},
		{name: "hits", sig: "-> int", doc: "Hits, as kprobe_profile counts them.", get: func(p *probeEvent) starlark.Value { return unum(p.e.Hits) }},
		{name: "nmissed", sig: "-> int", doc: "Missed hits, as kprobe_profile counts them.", get: func(p *probeEvent) starlark.Value { return unum(p.e.Missed()) }},
		{name: "enabled", sig: "-> bool", doc: "Whether it is recorded.", get: func(p *probeEvent) starlark.Value { return starlark.Bool(p.e.On()) }},
		{name: "enable", sig: "()", doc: "Switches the event on.", do: func(p *probeEvent) error { return p.k.SetOn(p.e, true) }},
		{name: "disable", sig: "()", doc: "Switches the event off.", do: func(p *probeEvent) error { return p.k.SetOn(p.e, false) }},
		{name: "close", sig: "()", doc: "Switches the event off and removes it.", do: func(p *probeEvent) error {
			if err := p.k.SetOn(p.e, false); err != nil {
				return err
			}
			return p.k.Delete(p.e)
		}},
	}
}

func (p *probeEvent) Attr(name string) (starlark.Value, error) {
	for _, r := range probeEventRows() {
		switch {
		case r.name != name:
		case r.get != nil:
			return r.get(p), nil
		default:
			return action("ProbeEvent."+name, p, p.g, func() error { return r.do(p) }), nil
		}
	}
	return nil, noAttr("ProbeEvent", name, p.AttrNames())
}

func (p *probeEvent) AttrNames() []string {
	var names []string
	for _, r := range probeEventRows() {
		names = append(names, r.name)
	}
	return names
}

// kprobeObjectRows document Probe, Ctx and ProbeEvent.
func kprobeObjectRows() (rows []lang.Row) {
	for _, r := range probeRows() {
		rows = append(rows, lang.Row{Name: "Probe." + r.name, Sig: r.sig, Doc: r.doc})
	}
	for _, r := range ctxRows() {
		rows = append(rows, lang.Row{Name: "Ctx." + r.name, Sig: r.sig, Doc: r.doc})
	}
	for _, r := range probeEventRows() {
		rows = append(rows, lang.Row{Name: "ProbeEvent." + r.name, Sig: r.sig, Doc: r.doc})
	}
	return rows
}
