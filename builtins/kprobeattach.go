package builtins

import (
	"errors"
	"fmt"
	"strings"

	"go.starlark.net/starlark"

	"kscope/ftrace"
	"kscope/kernel"
	"kscope/kprobe"
	"kscope/lang"
)

// attachment is what kprobe.attach was asked for.
type attachment struct {
	pre, post, when starlark.Callable
	name, step      string
	host, optimize  bool
	limit           uint64
	missing         string
}

func kprobeAttach(c *call) (starlark.Value, error) {
	var where, pre, post, when, limit starlark.Value
	a := attachment{step: "tf", optimize: true, missing: "error"}
	variants := false
	err := c.unpack("where", &where, "pre?", &pre, "post?", &post, "name?", &a.name, "step?", &a.step, "host?", &a.host, "optimize?", &a.optimize,
		"when?", &when, "limit?", &limit, "missing?", &a.missing, "variants?", &variants)
	if err != nil {
		return nil, err
	}
	if err := errors.Join(c.choice("step", a.step, "tf", "int3"), c.choice("missing", a.missing, "error", "warn", "ignore")); err != nil {
		return nil, err
	}
	if a.limit, err = c.positive("limit", limit); err != nil {
		return nil, err
	}
	for _, f := range []struct {
		name string
		v    starlark.Value
		to   *starlark.Callable
	}{{"pre", pre, &a.pre}, {"post", post, &a.post}, {"when", when, &a.when}} {
		if *f.to, err = c.callback(f.name, f.v); err != nil {
			return nil, err
		}
	}
	if variants {
		return a.all(c, where)
	}
	p, err := a.place(c, where)
	if err != nil {
		return a.absent(c, err)
	}
	return p, nil
}

// absent is the answer for a place that takes no probe: an error, or None.
func (a *attachment) absent(c *call, err error) (starlark.Value, error) {
	var errno kernel.Errno
	if a.missing == "error" || !errors.As(err, &errno) {
		return nil, err
	}
	if a.missing == "warn" && c.thread.Print != nil {
		text, _, _ := strings.Cut(err.Error(), "\n")
		c.thread.Print(c.thread, "warning: "+text)
	}
	return starlark.None, nil
}

// all probes a function and what else the compiler made of it.
func (a *attachment) all(c *call, where starlark.Value) (starlark.Value, error) {
	name, ok := starlark.AsString(where)
	if !ok || strings.Contains(name, "+") {
		return nil, c.errorf("variants = True: want a function's name")
	}
	names := c.g.variantsOf(name)
	if len(c.g.M.Symbols().ByName(name)) > 0 || len(names) == 0 {
		names = append([]string{name}, names...)
	}
	var out []starlark.Value
	for _, n := range names {
		p, err := a.place(c, starlark.String(n))
		if err != nil {
			v, err := a.absent(c, err)
			if v == nil {
				return nil, err
			}
			continue
		}
		out = append(out, p)
	}
	return starlark.NewList(out), nil
}

// variantsOf are the names of a function's clones and parts. What is cold is no function: nothing calls it.
func (g *Guest) variantsOf(name string) (out []string) {
	for _, s := range g.M.Symbols().Glob(name+".*", "tT") {
		if !strings.Contains(s.Name, ".cold") {
			out = append(out, s.Name)
		}
	}
	return out
}

func (g *Guest) variants(addr uint64) []string {
	s, off := g.M.Symbols().At(addr)
	if s.Name == "" || off != 0 {
		return nil
	}
	return g.variantsOf(s.Name)
}

// place puts one probe.
func (a *attachment) place(c *call, where starlark.Value) (*probe, error) {
	k, err := c.kprobes()
	if err != nil {
		return nil, err
	}
	addr, at, err := c.where(where)
	if err != nil {
		return nil, err
	}
	p := &probe{g: c.g, k: k, p: &kprobe.Probe{Addr: addr, Name: a.name, Int3: a.step == "int3", NoJump: !a.optimize}, where: at, limit: a.limit}
	if p.p.Name == "" {
		p.p.Name = at
	}
	if a.when != nil {
		p.when = p.own(c, a.when)
	}
	if a.host {
		c.g.env.attach(p)
		return p, p.attachHost(c, a.pre, a.post)
	}
	p.p.Pre, p.p.Post = p.go1(c, a.pre, true), p.go1(c, a.post, a.pre == nil)
	err = c.change("kprobe", func() error {
		if err := k.Register(p.p); err != nil {
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

// go1 makes the Go side of a handler. counts: its calls are those that limit is about.
func (p *probe) go1(c *call, fn starlark.Callable, counts bool) func(h *kprobe.Hit) {
	if fn == nil {
		return nil
	}
	x := p.own(c, fn)
	if p.when == nil && p.limit == 0 {
		return func(h *kprobe.Hit) { p.call(x, h) }
	}
	return func(h *kprobe.Hit) {
		if p.wanted(h, counts) {
			p.call(x, h)
		}
	}
}

// wanted says whether a hit is to be handled, and disables the probe behind the last that is.
func (p *probe) wanted(h *kprobe.Hit, counts bool) bool {
	if p.limit != 0 && counts && p.calls >= p.limit || p.when != nil && !bool(p.call(p.when, h).Truth()) {
		return false
	}
	if !counts {
		return true
	}
	if p.calls++; p.calls == p.limit {
		k, hit := h.K, h.Probe
		k.Machine().Post(func(*kernel.VCPU) error {
			if p.host != nil {
				return p.set(false)
			}
			return k.Disable(hit)
		})
	}
	return true
}

func probeStats(p *probe) starlark.Value {
	fields := []field{{"hits", unum(p.p.Hits)}, {"nmissed", unum(p.p.Missed)}}
	if r := p.r; r != nil {
		fields = append(fields, field{"entries", unum(r.Entries)}, field{"returns", unum(r.Returns)}, field{"inflight", num(r.InFlight)},
			field{"ret_nmissed", unum(r.NoFree)}, field{"refused", unum(r.Refused)}, field{"dropped", unum(r.Dropped)}, field{"maxactive", num(r.MaxActive)})
	}
	rec := &record{typ: "ProbeStats", fields: fields}
	v, _ := method{name: "stats", fn: func(c *call) (starlark.Value, error) {
		if err := c.unpack(); err != nil {
			return nil, err
		}
		return rec, nil
	}}.bound("Probe", p, p.g)
	return v
}

// ctxEmit records an event of the script's own: events/kscope/NAME, made by the first emit with the fields that it has.
func ctxEmit(c *call, h *kprobe.Hit) (starlark.Value, error) {
	if len(c.args) > 0 {
		return nil, c.errorf("want fields by name only")
	}
	name := eventNameOf(c.g.placeName(h.Addr()))
	ev, found := c.g.T.TraceEvent("kscope", name)
	if !found {
		var fields []ftrace.DefineField
		for _, kw := range c.kwargs {
			f := ftrace.DefineField{Name: string(kw[0].(starlark.String)), Type: "s64"}
			switch v := kw[1].(type) {
			case starlark.String:
				f.Type = "string"
			case starlark.Bool:
				f.Type = "u8"
			case starlark.Int:
				if _, ok := v.Int64(); !ok {
					f.Type = "u64"
				}
			default:
				return nil, c.errorf("field %s: want int, bool or string, not %s", f.Name, v.Type())
			}
			fields = append(fields, f)
		}
		var err error
		if ev, err = c.g.T.Define("kscope", name, fields, ""); err == nil {
			err = c.g.T.EnableEvent(ev, true)
		}
		if err != nil {
			e := c.errorf("%v", err)
			var de *ftrace.DefineError
			if errors.As(err, &de) {
				e.Code, e.At = de.Errno.Name(), de.Field
			}
			return nil, e
		}
	}
	values, err := c.emitValues(ev)
	if err != nil {
		return nil, err
	}
	ev.Emit(h.C, values)
	return starlark.None, nil
}

// eventNameOf makes an event's name of a place: "vfs_read+0x5" is vfs_read_0x5.
func eventNameOf(place string) string {
	return strings.Map(func(r rune) rune {
		if r == '_' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' {
			return r
		}
		return '_'
	}, place)
}

// ctxHandler is what a handler in C would find with irqs_disabled() and its kin.
func ctxHandler(x *probeCtx) starlark.Value {
	h := x.h.Context()
	return &record{typ: "Context", fields: []field{{"irqs_off", starlark.Bool(h.IRQsOff)}, {"nmi", starlark.Bool(h.NMI)}, {"hardirq", starlark.Bool(h.HardIRQ)},
		{"softirq", starlark.Bool(h.SoftIRQ)}, {"preempt", num(h.Preempt)}}}
}

// foreignReg says whether a text begins with a register of ARM64's: x0 to x30, w0 to w30, lr, pc.
func foreignReg(s string) bool {
	end := strings.IndexFunc(s, func(r rune) bool { return r != '_' && (r < '0' || r > '9') && (r|0x20 < 'a' || r|0x20 > 'z') })
	if end >= 0 {
		s = s[:end]
	}
	n := strings.TrimLeft(s, "xw")
	return s == "lr" || len(s) == len(n)+1 && (len(n) == 1 || len(n) == 2) && strings.Trim(n, "0123456789") == ""
}

// regError is the error of setting a register.
func (c *call) regError(err error, name string) error {
	e := c.fail(err, name, kprobe.RegNames)
	var le *lang.Error
	if errors.As(e, &le) {
		switch {
		case foreignReg(name):
			le.Hint = armHint
		case le.Code == "EOPNOTSUPP" && (name == "ip" || name == "sp"):
			le.Hint = "the probe is a jump, or goes through ftrace, where only what is below works: kprobe.attach(..., optimize = False) keeps the int3"
		}
	}
	return e
}

const armHint = "x0 to x7 hold arguments on ARM64; here they are in di si dx cx r8 r9, and ctx.arg(n) has them"

// placeHint is the hint for a place whose symbol is not there, or is there twice.
func (c *call) placeHint(place string) string {
	name, _, _ := strings.Cut(place, "+")
	syms := c.g.M.Symbols()
	if rows := syms.ByName(name); len(rows) > 1 {
		return "the name is at " + enumerate(rows, func(s kernel.Sym) string { return fmt.Sprintf("%#x", s.Addr) }) + ": probe by address"
	}
	if why := c.g.missing(name); why != "" {
		return why
	}
	return didYouMean(syms.Suggest(name))
}
