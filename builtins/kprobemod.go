package builtins

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"go.starlark.net/starlark"

	"kscope/kernel"
	"kscope/kprobe"
	"kscope/lang"
)

// kprobeMethods are the rows of module kprobe.
func kprobeMethods() []method {
	return append([]method{
		{name: "attach", sig: "(where, pre = None, post = None, name = None, step = \"tf\", host = False, optimize = True, when = None, limit = None, missing = \"error\", variants = False) -> Probe", fn: kprobeAttach,
			doc: "Puts a kprobe at any instruction (\"vfs_read\", \"vfs_read+5\", \"read_write.c:160\", an address): pre(ctx) is called before it, post(ctx) behind it.\n" +
				"At a function's entry it goes through ftrace, elsewhere through int3 and a step of a copy, by the trap flag (step = \"tf\") or as 6.1 does (\"int3\"); without post it soon becomes a\n" +
				"jump, where one fits, at which handlers cannot change ip and sp: optimize = False keeps the int3. host = True hooks the emulator\n" +
				"instead: any instruction, nothing patched, nothing missed, no time.\n" +
				"when(ctx) says whether a hit is wanted; after limit hits that were, the probe disables itself. missing = \"ignore\" or \"warn\" gives None\n" +
				"for a place that is not there or takes no probe. variants = True gives a list: probes at the function and at what else the compiler\n" +
				"made of it (f.isra.0, f.part.0, f.constprop.0).\n" +
				"Refused are, with Linux's errno: what is no instruction's first byte, int3 itself, the inside of an ftrace site, jump labels, the blacklist\n" +
				"(kprobe.blacklist()), trampolines, init code. (ADRP/ADD pairs and exclusive accesses are restrictions of ARM64.) help(\"Ctx\") lists what\n" +
				"ctx can do."},
		{name: "ret", sig: "(where, fn = None, entry = None, maxactive = 0, name = None) -> Probe", fn: kprobeRet,
			doc: "Puts a kretprobe at a function: fn(ctx) is called when it returns, entry(ctx) when it is entered.\nWhat entry returns is ctx.data in fn; False leaves the call alone. maxactive = 0 is max(10, 2 * CPUs)."},
		{name: "event", sig: "(line, enable = True) -> ProbeEvent", fn: kprobeEvent,
			doc: "Writes a line of kprobe_events, as \"p:myopen do_sys_openat2 dfd=%di\", and enables the event.\n\"-:name\" disables and removes one, and gives None."},
		{name: "events", sig: "() -> string", fn: kprobeText((*kprobe.Kprobes).EventsText), doc: "The file kprobe_events."},
		{name: "list", sig: "() -> string", fn: kprobeText((*kprobe.Kprobes).List),
			doc: "All probes, as /sys/kernel/debug/kprobes/list on Linux."},
		{name: "blacklist", sig: "() -> string", fn: kprobeText((*kprobe.Kprobes).Blocked),
			doc: "The functions that take no probes, as /sys/kernel/debug/kprobes/blacklist on Linux."},
	}, moreKprobeMethods()...)
}

// kprobes are the machine's probes.
func (c *call) kprobes() (*kprobe.Kprobes, error) {
	k, ok := kprobe.Of(c.g.M)
	if !ok {
		return nil, c.errorf("this machine has no kprobes")
	}
	return k, nil
}

func kprobeText(text func(k *kprobe.Kprobes) string) func(c *call) (starlark.Value, error) {
	return func(c *call) (starlark.Value, error) {
		if err := c.unpack(); err != nil {
			return nil, err
		}
		k, err := c.kprobes()
		if err != nil {
			return nil, err
		}
		return str(text(k)), nil
	}
}

// change runs fn in the guest's kthread kscoped, so that patches have a CPU and a task.
func (c *call) change(what string, fn func() error) error {
	if err := c.ready(); err != nil {
		return err
	}
	return c.g.guard(func() error { return c.g.M.Do(what, func(*kernel.VCPU) error { return fn() }) })
}

// where resolves the place of a probe.
func (c *call) where(v starlark.Value) (uint64, string, error) {
	addr, err := c.address(v)
	if err != nil {
		return 0, "", about("where", err)
	}
	name := c.g.M.Symbols().Format(addr)
	if s, ok := starlark.AsString(v); ok {
		name = s
	}
	return addr, name, nil
}

// takes refuses a function that cannot be called with such arguments, before it is first called.
func (c *call) takes(param string, fn starlark.Callable, args ...string) error {
	return c.g.env.host.Takes(c.name, param, fn, args...)
}

// callback takes an optional function of ctx.
func (c *call) callback(name string, v starlark.Value) (starlark.Callable, error) {
	if v == nil || v == starlark.None {
		return nil, nil
	}
	fn, ok := v.(starlark.Callable)
	if !ok {
		return nil, c.errorf("%s: got %s, want a function of ctx", name, v.Type())
	}
	return fn, c.takes(name, fn, "ctx")
}

func kprobeRet(c *call) (starlark.Value, error) {
	var where, fn, entry starlark.Value
	name, active := "", 0
	if err := c.unpack("where", &where, "fn?", &fn, "entry?", &entry, "maxactive?", &active, "name?", &name); err != nil {
		return nil, err
	}
	if active < 0 || active > 4096 {
		return nil, c.errorf("maxactive = %d: want 0 to 4096", active)
	}
	k, err := c.kprobes()
	if err != nil {
		return nil, err
	}
	addr, at, err := c.where(where)
	if err != nil {
		return nil, err
	}
	if name == "" {
		name = at
	}
	r := &kprobe.Ret{MaxActive: active, Probe: kprobe.Probe{Addr: addr, Name: name}}
	p := &probe{g: c.g, k: k, p: &r.Probe, r: r, where: at}
	if r.Return, err = p.handler(c, "fn", fn); err != nil {
		return nil, err
	}
	before, err := p.bind(c, "entry", entry)
	if err != nil {
		return nil, err
	}
	if before != nil {
		r.Entry = func(h *kprobe.Hit) bool {
			v := p.call(before, h)
			h.In.Data = v
			return v != starlark.False
		}
	}
	err = c.change("kretprobe", func() error {
		if err := k.RegisterRet(r); err != nil {
			return err
		}
		return k.Enable(p.p)
	})
	if err != nil {
		return nil, c.placeError(err, k, at)
	}
	c.g.env.attach(p)
	return p, nil
}

func kprobeEvent(c *call) (starlark.Value, error) {
	line, enable := "", true
	if err := c.unpack("line", &line, "enable?", &enable); err != nil {
		return nil, err
	}
	k, err := c.kprobes()
	if err != nil {
		return nil, err
	}
	var ev *kprobe.Event
	err = c.change("kprobe_events", func() (err error) {
		if strings.HasPrefix(line, "-") {
			c.switchOff(k, line)
		}
		if ev, err = k.Define(line); err == nil && ev != nil && enable {
			err = k.SetOn(ev, true)
		}
		return err
	})
	if err != nil {
		return nil, c.lineError(err, k)
	}
	if ev == nil {
		return starlark.None, nil
	}
	return &probeEvent{g: c.g, k: k, e: ev}, nil
}

// switchOff disables the event that a line removes.
func (c *call) switchOff(k *kprobe.Kprobes, line string) {
	name := strings.TrimPrefix(strings.Fields(line + " ")[0], "-:")
	for _, e := range k.Events() {
		if name == e.Name || name == e.Group+"/"+e.Name {
			_ = k.SetOn(e, false)
		}
	}
}

// lineError shows a bad line as error_log would.
func (c *call) lineError(err error, k *kprobe.Kprobes) error {
	e := c.fail(err, "", nil)
	var bad *kprobe.SyntaxError
	var le *lang.Error
	if errors.As(err, &bad) && errors.As(e, &le) {
		if le.Msg = c.name + ": " + bad.Error(); bad.Msg == "" && bad.Err == kernel.EINVAL && len(bad.Command) > 0 && !strings.ContainsRune("pr-", rune(bad.Command[0])) {
			le.Hint = "a line of kprobe_events begins with p, r or -"
		}
		if i := strings.IndexByte(bad.Command, '%'); i >= 0 && strings.Contains(bad.Msg, "register name") {
			le.Hint = "registers are " + strings.Join(kprobe.RegNames(), " ")
			rest := bad.Command[min(bad.Pos, len(bad.Command)):]
			name, _, _ := strings.Cut(strings.TrimPrefix(rest, "%")+" ", " ")
			name, _, _ = strings.Cut(name, ":")
			if len(name) > 2 && slices.Contains(kprobe.RegNames(), name[1:]) {
				le.Hint = "did you mean %" + name[1:] + "? " + le.Hint
			} else if foreignReg(strings.TrimPrefix(rest, "%")) {
				le.Hint = "%x0 to %x7 hold arguments on ARM64; here they are in %di %si %dx %cx %r8 %r9; " + le.Hint
			}
		} else if bad.Pos < len(bad.Command) && strings.Contains(bad.Msg, "symbol") {
			le.Hint = c.placeHint(strings.Fields(bad.Command[bad.Pos:])[0])
		}
	}
	return e
}

// probe is the value Probe.
type probe struct {
	g     *Guest
	k     *kprobe.Kprobes
	p     *kprobe.Probe
	r     *kprobe.Ret // nil: a kprobe
	where string

	when  *lang.Handler // nil: every hit is wanted
	limit uint64        // of calls; 0: none
	calls uint64        // that when wanted

	fns    []*lang.Handler // its handlers
	host   *lang.Handler   // of a host probe: its handler
	unhook func()          // nil: it is disabled
	closed bool
	mute   bool // a handler has disabled or closed it: the guest will, soon
}

var _ starlark.HasAttrs = (*probe)(nil)

func (p *probe) String() string {
	kind := "kprobe"
	if p.r != nil {
		kind = "kretprobe"
	}
	return fmt.Sprintf("<%s at %s, %s, %d hits>", kind, p.where, p.kind(), p.p.Hits)
}

func (p *probe) kind() string {
	if p.host != nil {
		return "host"
	}
	return p.p.Kind()
}

// set arms or disarms the probe.
func (p *probe) set(on bool) error {
	switch {
	case p.closed:
		return &lang.Error{Msg: "the probe at " + p.where + " is closed", Code: kernel.EINVAL.Name()}
	case p.host == nil && on:
		return p.k.Enable(p.p)
	case p.host == nil:
		return p.k.Disable(p.p)
	case on && p.unhook == nil:
		return p.hook(p.host)
	case !on && p.unhook != nil:
		p.unhook()
		p.unhook = nil
	}
	return nil
}

func (p *probe) close() error {
	if p.closed {
		return nil
	}
	p.closed = true
	return p.detach()
}

// detach takes a closed probe off.
func (p *probe) detach() error {
	for _, fn := range p.fns {
		fn.Close()
	}
	switch {
	case p.host != nil:
		if p.unhook != nil {
			p.unhook()
			p.unhook = nil
		}
		return nil
	case p.r != nil:
		return p.k.UnregisterRet(p.r)
	}
	return p.k.Unregister(p.p)
}

func (p *probe) Type() string          { return "Probe" }
func (p *probe) Freeze()               {}
func (p *probe) Truth() starlark.Bool  { return true }
func (p *probe) Hash() (uint32, error) { return uint32(p.p.Addr), nil }

// bind gives a Starlark handler a thread that all its calls share; nil for None.
func (p *probe) bind(c *call, name string, v starlark.Value) (*lang.Handler, error) {
	fn, err := c.callback(name, v)
	if fn == nil || err != nil {
		return nil, err
	}
	return p.own(c, fn), nil
}

func (p *probe) own(c *call, fn starlark.Callable) *lang.Handler {
	x := p.g.env.host.Handler(c.thread, "kprobe "+p.where, fn)
	p.fns = append(p.fns, x)
	return x
}

// handler makes the Go side of a Starlark handler.
func (p *probe) handler(c *call, name string, v starlark.Value) (func(h *kprobe.Hit), error) {
	fn, err := p.bind(c, name, v)
	if fn == nil {
		return nil, err
	}
	return func(h *kprobe.Hit) { p.call(fn, h) }, nil
}

// call runs a handler at the probed instruction. One that fails stops the run, which reports its error.
func (p *probe) call(fn *lang.Handler, h *kprobe.Hit) starlark.Value {
	g, ok := h.K.Owner.(*Guest) // the probed machine may be a fork of the one that the probe was made on
	if !ok {
		g = p.g
	}
	if p.closed || p.mute || g.env.host.Closing() {
		return starlark.None // it goes, but its last run on another CPU was under way
	}
	ctx := g.newCtx(h)
	v, err := fn.Call1(ctx)
	defer func() { ctx.h = nil }()
	if err != nil {
		if g.err == nil {
			g.err = lang.At(err, g.position(h.K.Machine(), ctx))
		}
		h.K.Machine().RequestStop("a probe's handler failed at " + h.K.Machine().Symbols().Format(h.Addr()))
		return starlark.None
	}
	return v
}

// probeRow is an attribute of Probe.
type probeRow struct {
	name, sig, doc string
	get            func(p *probe) starlark.Value
	do             func(p *probe) error
}

// probeRows is the table of Probe.
func probeRows() []probeRow {
	ret := func(get func(p *probe) starlark.Value) func(p *probe) starlark.Value {
		return func(p *probe) starlark.Value {
			if p.r == nil {
				return starlark.None
			}
			return get(p)
		}
	}
	return []probeRow{
		{name: "hits", sig: "-> int", doc: "How often the probe was hit.", get: func(p *probe) starlark.Value { return unum(p.p.Hits) }},
		{name: "nmissed", sig: "-> int", doc: "Hits within a handler, which are only counted.", get: func(p *probe) starlark.Value { return unum(p.p.Missed) }},
		{name: "ret_nmissed", sig: "-> int", doc: "Calls that found no free instance; None of a kprobe.",
			get: ret(func(p *probe) starlark.Value { return unum(p.r.NoFree) })},
		{name: "returns", sig: "-> int", doc: "Returns that were seen; None of a kprobe.",
			get: ret(func(p *probe) starlark.Value { return unum(p.r.Returns) })},
		{name: "inflight", sig: "-> int", doc: "Calls that have not returned yet; None of a kprobe.",
			get: ret(func(p *probe) starlark.Value { return num(p.r.InFlight) })},
		{name: "holders", sig: "-> [Task]", doc: "The tasks in those calls; None of a kprobe.",
			get: ret(func(p *probe) starlark.Value {
				return list(p.k.Holders(p.r), func(in *kprobe.Instance) starlark.Value { return &task{p.g, in.Pid, in.Task, nil} })
			})},
		{name: "enabled", sig: "-> bool", doc: "Whether hits call the handlers.", get: func(p *probe) starlark.Value { return starlark.Bool(p.p.Enabled() || p.unhook != nil) }},
		{name: "kind", sig: "-> string", doc: "How the place is patched: \"ftrace\", \"int3\", \"optimized\" (a jump, or soon one), \"host\" (not at all).",
			get: func(p *probe) starlark.Value { return str(p.kind()) }},
		{name: "unoptimized", sig: "-> string", doc: "Why no jump can be at an int3 probe; \"\" when one can.", get: func(p *probe) starlark.Value {
			if p.host != nil {
				return str("")
			}
			return str(p.p.Unoptimized())
		}},
		{name: "variants", sig: "-> [string]", doc: "What else the compiler made of the function: code that this probe does not see. kprobe.attach(..., variants = True) does.",
			get: func(p *probe) starlark.Value { return lang.Strings(p.g.variants(p.p.Addr)) }},
		{name: "stats", sig: "() -> struct", doc: "The counters at once: hits, nmissed and, of a kretprobe, entries = returns + inflight + ret_nmissed + refused + dropped: dropped are\ncalls whose task died, refused those that entry did not want.", get: probeStats},
		{name: "bytes", sig: "-> bytes", doc: "Five bytes of text at the probe as they are now.", get: func(p *probe) starlark.Value { return starlark.Bytes(p.k.BytesAt(p.p.Addr, 5)) }},
		{name: "addr", sig: "-> int", doc: "Where the probe is.", get: func(p *probe) starlark.Value { return unum(p.p.Addr) }},
		{name: "enable", sig: "()", doc: "Arms the probe again. In a handler this and the two below take effect at once for handlers, and in the text a little later.", do: func(p *probe) error { return p.set(true) }},
		{name: "disable", sig: "()", doc: "Disarms the probe and keeps it in place.", do: func(p *probe) error { return p.set(false) }},
		{name: "close", sig: "()", doc: "Removes the probe.", do: (*probe).close},
	}
}

func (p *probe) Attr(name string) (starlark.Value, error) {
	for _, r := range probeRows() {
		switch {
		case r.name != name:
		case r.get != nil:
			return r.get(p), nil
		default:
			return action("Probe."+name, p, p.g, func() error { p.mute = false; return r.do(p) }), nil
		}
	}
	return nil, noAttr("Probe", name, p.AttrNames())
}

// action makes a method without arguments that changes probes.
func action(name string, recv starlark.Value, g *Guest, fn func() error) starlark.Value {
	_, short, _ := strings.Cut(name, ".")
	typ := strings.TrimSuffix(name, "."+short)
	v, _ := method{name: short, fn: func(c *call) (starlark.Value, error) {
		if err := c.unpack(); err != nil {
			return nil, err
		}
		if m := g.M; m.Running() != nil { // in a handler: the guest's kthread does it, later
			if p, ok := recv.(*probe); ok {
				p.mute = short != "enable"
			}
			m.Post(func(*kernel.VCPU) error { return fn() })
			return starlark.None, nil
		}
		return starlark.None, c.fail(c.change(name, fn), "", nil)
	}}.bound(typ, recv, g)
	return v
}

func (p *probe) AttrNames() []string {
	var names []string
	for _, r := range probeRows() {
		names = append(names, r.name)
	}
	return names
}
