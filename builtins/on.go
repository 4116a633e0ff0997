package builtins

import (
	"fmt"
	"sort"
	"strings"
	"weak"

	"go.starlark.net/starlark"

	"kscope/kernel"
	"kscope/lang"
)

// on(spec, fn) is one front door to everything that can call a function: a table of kinds of specs, each with how it is
// armed. Handlers run at the instruction where it happens, on the emulating goroutine. At one place those of one kind run in
// the order of attachment. Host hooks (function, panic) come behind the probes of the guest there; towards other probes of the guest,
// kprobe and kretprobe have Linux's order.

// onKind is a row: what stands before the first colon of a spec.
type onKind struct {
	name string
	form string // what stands behind it
	doc  string
	has  string // what ctx has of its own, beside Ctx's attributes where a CPU is in it
	arm  func(h *hook, rest string) error
	host bool // it is of the host's machine alone: a copy of the machine has none
}

func onKinds() []onKind {
	return []onKind{
		{"kprobe", ":GLOB :sym+off :file.c:160", "before an instruction, by a kprobe of the guest; of a source line wherever it is", "", armKprobe, false},
		{"kretprobe", ":GLOB", "when a function returns, by a kretprobe of the guest", "retval duration data", armKretprobe, false},
		{"function", ":GLOB", "at a function's entry, by a host hook: the guest is not patched and cannot tell", "", armFunction, true},
		{"tracepoint", ":SYSTEM:EVENT, both globs", "a trace event: ctx has its fields too", "event ts common_pid common_comm", armTracepoint, true},
		{"interval", ":ns|us|ms|s|hz:N", "every N of virtual time, on the boot CPU; from 100 ns to an hour", "", armInterval, true},
		{"profile", ":ns|us|ms|s|hz:N", "the same on every CPU", "", armProfile, true},
		{"insn", ":N", "whenever N more instructions have been executed", "", armInsn, true},
		{"watch", ":SYM[+OFFSET][:SIZE][:rw]", "memory has changed, or with r, w, rw was read, written; of is a per-CPU variable's CPU, where who did", "addr name old new size where of access", armWatch, true},
		{"patch", "", "each write of a text patch", "kind addr where old new insns time", armPatch, true},
		{"patch_seen", "", "a CPU sees a patch's bytes: until now it could see the old ones", "kind where sites since time window stale by", armPatchSeen, true},
		{"lost", "", "each record that a ring loses", "cause cpu ts where pid event", armLost, true},
		{"panic", "", "the guest's panic(), before it does anything", "", armPanic, true},
		{"BEGIN", "", "now, at once; no CPU is in it", "now insns", armBegin, false},
		{"END", "", "at the script's end, before aggregations are printed; no CPU is in it", "now insns", armEnd, false},
	}
}

// onRows are the function on and the value On.
func (e *Env) onRows() []lang.Row {
	doc := "Calls fn(ctx) whenever spec happens. help(\"Ctx\") lists what ctx can do. The kinds of specs:\n"
	for _, k := range onKinds() {
		doc += fmt.Sprintf("  %-12s%-26s %s\n", k.name, k.form, k.doc)
	}
	doc += "Where a CPU is in it, ctx has all that help(\"Ctx\") lists: pid, comm, cpu, now, where, regs, arg(n), args, stack(), task ... Of its own it has\n"
	for _, k := range onKinds() {
		if k.has != "" {
			doc += fmt.Sprintf("  %-12s%s\n", k.name, "."+strings.ReplaceAll(k.has, " ", " ."))
		}
	}
	doc += "when(ctx) must be true for a call to count; of trace events when may be a filter: 'prev_pid == 0 && next_comm ~ \"k*\"'. After limit\n" +
		"calls the handler detaches itself. An error of fn stops the run,\n" +
		"or with on_error = \"detach\" ends the handler, with \"count\" is only counted. At one place handlers run in the order of on(), those of host hooks (function, panic) behind the guest's probes."
	rows := []lang.Row{{
		Name: "on", Sig: `(spec, fn, when = None, limit = None, on_error = "stop") -> On`, Fn: e.onGuest(onFn), Doc: doc,
		Example: "calls = agg.count(\"calls\")\non(\"kprobe:vfs_*\", lambda ctx: calls.inc(ctx.where))\nkernel.exec(\"cat\", [\"/etc/hostname\"])\ncalls.print()",
	}}
	for _, r := range hookRows() {
		rows = append(rows, lang.Row{Name: "On." + r.name, Sig: r.sig, Doc: r.doc})
	}
	return rows
}

// hook is the value On: one handler and what it is attached to.
type hook struct {
	c        *call // of on(): errors are its
	g        *Guest
	spec     string
	fn, when *lang.Handler
	limit    uint64
	onError  string
	filter   string // of trace events: what when says in the language of their filter files
	armed    bool
	calls    uint64
	errors   uint64
	last     error
	sites    []string // what it is armed at, for print and --dry-run
	undo     []func(post bool) error
}

var _ starlark.HasAttrs = (*hook)(nil)

func (h *hook) Type() string          { return "On" }
func (h *hook) Freeze()               {}
func (h *hook) Truth() starlark.Bool  { return true }
func (h *hook) Hash() (uint32, error) { return starlark.String(h.spec).Hash() }
func (h *hook) String() string {
	if h.sites == nil {
		return fmt.Sprintf("<on %s>", h.spec)
	}
	return fmt.Sprintf("<on %s: %s>", h.spec, plural(len(h.sites), "site"))
}

// onFn implements on.
func onFn(c *call) (starlark.Value, error) {
	var spec string
	var fn starlark.Callable
	var when, limit starlark.Value
	h := &hook{c: c, g: c.g, onError: "stop"}
	if err := c.unpack("spec", &spec, "fn", &fn, "when?", &when, "limit?", &limit, "on_error?", &h.onError); err != nil {
		return nil, err
	}
	n, err := c.positive("limit", limit)
	if err != nil {
		return nil, err
	}
	if err := c.choice("on_error", h.onError, "stop", "detach", "count"); err != nil {
		return nil, err
	}
	if filter, ok := starlark.AsString(when); ok && when != nil {
		if h.filter = filter; !strings.HasPrefix(spec, "tracepoint:") {
			e := c.errorf("when = %s: a filter is for trace events", when)
			e.At, e.Hint = "when", "other specs take a function of ctx"
			return nil, e
		}
	} else if when != nil && when != starlark.None {
		w, err := c.callback("when", when)
		if err != nil {
			return nil, err
		}
		h.when = c.g.env.host.Handler(c.thread, "when of "+spec, w)
	}
	if err := c.takes("fn", fn, "ctx"); err != nil {
		return nil, err
	}
	h.spec, h.limit = spec, n
	h.fn = c.g.env.host.Handler(c.thread, "on "+spec, fn)
	return h, h.attach()
}

// attach parses the spec and arms the handler; it detaches at the script's end at the latest.
func (h *hook) attach() error {
	name, rest, _ := strings.Cut(h.spec, ":")
	for _, k := range onKinds() {
		if k.name != name {
			continue
		}
		if k.form == "" && rest != "" {
			return h.bad(rest, len(name)+1, "%s takes nothing behind it", name)
		}
		if k.form != "" && rest == "" {
			return h.bad(h.spec, len(name), "want %s%s", name, k.form)
		}
		h.armed = true
		if err := k.arm(h, rest); err != nil {
			_ = h.detach(false)
			return err
		}
		h.g.env.hold(h)
		return nil
	}
	err := h.bad(name, 0, "unknown kind %q of spec", name)
	if there := elsewhere(name); there != "" {
		err.Hint = there
		return err
	}
	if err.Hint = lang.DidYouMean(name, kindNames()); rest == "" && len(h.g.M.Symbols().ByName(name)) > 0 {
		err.Hint = fmt.Sprintf("did you mean \"kprobe:%s\", \"kretprobe:%s\" or \"function:%s\"?", name, name, name)
	} else if err.Hint == "" {
		err.Hint = "kinds are " + strings.Join(kindNames(), ", ")
	}
	return err
}

// elsewhere says what there is here in place of a kind of specs that other tracers have; "" of any other.
func elsewhere(kind string) string {
	return map[string]string{
		"uprobe": "there are no uprobes: user programs have no code of their own here", "uretprobe": "there are no uprobes: user programs have no code of their own here",
		"usdt": "there are no uprobes: user programs have no code of their own here", "fentry": "write function:... (a host hook) or kprobe:...", "kfunc": "write function:... (a host hook) or kprobe:...",
		"fexit": "write kretprobe:...", "kretfunc": "write kretprobe:...", "rawtracepoint": "write tracepoint:SYSTEM:EVENT", "rt": "write tracepoint:SYSTEM:EVENT", "t": "write tracepoint:SYSTEM:EVENT",
		"k": "write kprobe:...", "kr": "write kretprobe:...", "hardware": "write insn:N, profile:hz:N or function:NAME", "software": "write tracepoint:SYSTEM:EVENT or function:NAME",
		"watchpoint": "write watch:SYMBOL:8:rw", "begin": "write BEGIN", "end": "write END", "i": "write interval:ms:N", "p": "write profile:hz:N",
	}[strings.ToLower(kind)]
}

// hold detaches a handler at the script's end at the latest. Till then only the machine that it is on keeps it, and it keeps that
// machine: a sweep over thousands of machines must not hold them all.
func (e *Env) hold(h *hook) {
	ref := weak.Make(h)
	e.hooks = append(e.hooks, ref)
	e.hooked = true
	e.host.OnClose(func() error {
		if h := ref.Value(); h != nil {
			return h.detach(false)
		}
		return nil
	})
}

// live are the handlers that are still there, in the order of on().
func (e *Env) live() (out []*hook) {
	var refs []weak.Pointer[hook]
	for _, ref := range e.hooks {
		if h := ref.Value(); h != nil {
			out, refs = append(out, h), append(refs, ref)
		}
	}
	e.hooks = refs
	return out
}

// rearm attaches the handlers of one machine to the copy that kernel.restore has put in its place. Guest probes have come along.
func (e *Env) rearm(old, g *Guest) error {
	for _, h := range e.live() {
		name, rest, _ := strings.Cut(h.spec, ":")
		for _, k := range onKinds() {
			if k.name != name || !k.host || !h.armed || h.g.shared != old.shared {
				continue
			}
			c, sites := *h.c, h.sites
			c.g = g
			h.g, h.c = g, &c
			err := k.arm(h, rest)
			if h.sites = sites; err != nil {
				return err
			}
		}
	}
	return nil
}

func kindNames() (names []string) {
	for _, k := range onKinds() {
		names = append(names, k.name)
	}
	return names
}

// bad is an error that points at byte off of the spec.
func (h *hook) bad(at string, off int, format string, args ...any) *lang.Error {
	e := h.c.errorf("%s: "+format, append([]any{h.spec}, args...)...)
	e.At, e.Off, e.Code = h.spec, off, "EINVAL"
	return e
}

// fire calls the handler with its ctx. It tells whether a value came back, for kretprobes' entries.
func (h *hook) fire(m *kernel.Machine, ctx starlark.Value) {
	if !h.armed || h.g.env.host.Closing() {
		return
	}
	if h.when != nil {
		v, err := h.when.Call1(ctx)
		if err != nil {
			h.failed(m, ctx, err)
			return
		}
		if !v.Truth() {
			return
		}
	}
	h.calls++
	if _, err := h.fn.Call1(ctx); err != nil {
		h.failed(m, ctx, err)
	}
	if h.limit != 0 && h.calls >= h.limit {
		h.drop(m)
	}
}

// failed acts on an error of the handler, as on_error says.
func (h *hook) failed(m *kernel.Machine, ctx starlark.Value, err error) {
	h.errors++
	h.last = err
	switch h.onError {
	case "count":
	case "detach":
		h.drop(m)
	default:
		if h.g.err == nil {
			h.g.err = lang.At(err, h.g.position(m, ctx))
		}
		m.RequestStop("a handler of " + h.spec + " failed")
	}
}

// position says where a machine is, while a handler runs with ctx.
func (g *Guest) position(m *kernel.Machine, ctx starlark.Value) string {
	c := m.Running()
	if c == nil {
		return fmt.Sprintf("t = %s, %d insns", seconds(m.Now()), m.Insns())
	}
	cur, at := c.Current(), c.CPU.RIP()
	if x, ok := ctx.(*probeCtx); ok && x.h != nil {
		at = x.h.Addr() // the CPU is in the probe's own code
	}
	return fmt.Sprintf("%s, cpu%d, %s-%d, t = %s, %d insns", g.placeName(at), c.ID, cur.Comm, cur.Pid, seconds(c.Now()), m.Insns())
}

// drop detaches from inside a run.
func (h *hook) drop(m *kernel.Machine) {
	if err := h.detach(m.Running() != nil); err != nil && h.g.err == nil {
		h.g.err = err
	}
}

// detach takes the handler off, the newest part first. With post the guest's kthread does what must be patched, later.
func (h *hook) detach(post bool) error {
	h.armed = false
	var first error
	for len(h.undo) > 0 {
		last := len(h.undo) - 1
		undo := h.undo[last]
		h.undo = h.undo[:last]
		if err := undo(post); err != nil && first == nil {
			first = err
		}
	}
	h.fn.Close()
	if h.when != nil {
		h.when.Close()
	}
	return first
}

// removed adds a way back that needs no patching.
func (h *hook) removed(remove func()) {
	h.undo = append(h.undo, func(bool) error { remove(); return nil })
}

// hookRow is an attribute of On.
type hookRow struct {
	name, sig, doc string
	get            func(h *hook) starlark.Value
	do             func(c *call, h *hook) error
}

func hookRows() []hookRow {
	return []hookRow{
		{name: "spec", sig: "-> string", doc: "What it was made of.", get: func(h *hook) starlark.Value { return str(h.spec) }},
		{name: "sites", sig: "-> [string]", doc: "Where it is armed.", get: func(h *hook) starlark.Value { return lang.Strings(h.sites) }},
		{name: "calls", sig: "-> int", doc: "How often fn was called.", get: func(h *hook) starlark.Value { return unum(h.calls) }},
		{name: "errors", sig: "-> int", doc: "How often fn or when failed.", get: func(h *hook) starlark.Value { return unum(h.errors) }},
		{name: "error", sig: "-> string", doc: "The last failure; None without.", get: func(h *hook) starlark.Value {
			if h.last == nil {
				return starlark.None
			}
			return str(h.last.Error())
		}},
		{name: "armed", sig: "-> bool", doc: "Whether it still calls fn.", get: func(h *hook) starlark.Value { return starlark.Bool(h.armed) }},
		{name: "close", sig: "()", doc: "Detaches it; a handler may do so too.", do: func(c *call, h *hook) error { return h.detach(h.g.busy) }},
	}
}

func (h *hook) Attr(name string) (starlark.Value, error) {
	for _, r := range hookRows() {
		switch {
		case r.name != name:
		case r.get != nil:
			return r.get(h), nil
		default:
			return method{name: name, fn: func(c *call) (starlark.Value, error) {
				if err := c.unpack(); err != nil {
					return nil, err
				}
				return starlark.None, c.fail(r.do(c, h), "", nil)
			}}.bound("On", h, h.g)
		}
	}
	return nil, noAttr("On", name, h.AttrNames())
}

func (h *hook) AttrNames() []string {
	var names []string
	for _, r := range hookRows() {
		names = append(names, r.name)
	}
	sort.Strings(names)
	return names
}
