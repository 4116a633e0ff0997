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

// moment is the value Moment: what a handler sees of something that is no place in code: a trace event, a patch, a loss, a
// log line, BEGIN and END. It has fields of its own and, where a CPU is in it, what Ctx has.
type moment struct {
	g      *Guest
	kind   string
	fields []field
	late   func() []field // computed when first asked for
	ctx    *probeCtx      // nil: no CPU is in it
}

var (
	_ starlark.HasAttrs = (*moment)(nil)
	_ starlark.Mapping  = (*moment)(nil)
)

// String shows its own fields: what ctx has as well, a CPU's, goes without saying.
func (x *moment) String() string {
	x.own("") // the late ones too
	text := "<" + x.kind
	for i, f := range x.fields {
		text += map[bool]string{true: ": ", false: ", "}[i == 0] + f.name + " = " + f.value.String()
	}
	return text + ">"
}

func (x *moment) Type() string          { return "Moment" }
func (x *moment) Freeze()               {}
func (x *moment) Truth() starlark.Bool  { return true }
func (x *moment) Hash() (uint32, error) { return 0, fmt.Errorf("unhashable: Moment") }

// own finds a field of its own.
func (x *moment) own(name string) (starlark.Value, bool) {
	for pass := 0; ; pass++ {
		for _, f := range x.fields {
			if f.name == name {
				return f.value, true
			}
		}
		if x.late == nil {
			return nil, false
		}
		x.fields, x.late = append(x.fields, x.late()...), nil
	}
}

func (x *moment) Attr(name string) (starlark.Value, error) {
	if v, ok := x.own(name); ok {
		return v, nil
	}
	if name == "args" && strings.Contains(x.kind, ":") {
		x.own("") // the late ones too
		return nil, &lang.Error{Msg: x.kind + " has no .args", Hint: "an event's fields are ctx's own: ctx." + x.fields[len(x.fields)-1].name}
	}
	if x.ctx != nil && x.g.env.ctxRow(name) != nil {
		return x.ctx.Attr(name)
	}
	switch {
	case x.ctx != nil:
	case name == "now":
		return unum(x.g.M.Now()), nil
	case name == "insns":
		return unum(x.g.M.Insns()), nil
	}
	return nil, noAttr(x.kind, name, x.has())
}

// Get makes ctx["field"] work.
func (x *moment) Get(key starlark.Value) (starlark.Value, bool, error) {
	name, ok := starlark.AsString(key)
	if !ok {
		return nil, false, fmt.Errorf("%s[%s]: want a field's name", x.kind, key.Type())
	}
	v, ok := x.own(name)
	if !ok {
		return nil, false, noAttr(x.kind, name, x.AttrNames())
	}
	return v, true, nil
}

func (x *moment) AttrNames() []string {
	x.own("") // the late ones too
	var names []string
	for _, f := range x.fields {
		names = append(names, f.name)
	}
	if x.ctx != nil {
		names = append(names, x.ctx.AttrNames()...)
	} else {
		names = append(names, "insns", "now")
	}
	sort.Strings(names)
	return compact(names)
}

// has are the names that mean something here.
func (x *moment) has() []string {
	if x.ctx == nil {
		return x.AttrNames()
	}
	names := x.ctx.has()
	for _, f := range x.fields {
		names = append(names, f.name)
	}
	sort.Strings(names)
	return compact(names)
}

// at makes a Ctx for a CPU whose registers are the machine's own. It is good while the handler runs.
func (g *Guest) at(c *kernel.VCPU) *probeCtx {
	k, ok := kprobe.Of(c.Machine())
	if !ok {
		return nil
	}
	return g.newCtx(k.HitAt(c, 0, c.CPU.RIP()))
}

// fireAt calls the handler with a Ctx of the CPU.
func (h *hook) fireAt(c *kernel.VCPU) {
	ctx := h.g.at(c)
	h.fire(c.Machine(), ctx)
	ctx.h = nil
}

// behindProbes is fireAt for a place where the guest may have probes of its own: those come first.
func (h *hook) behindProbes() func(c *kernel.VCPU) {
	later := func(hit *kprobe.Hit) {
		ctx := h.g.newCtx(hit)
		h.fire(hit.K.Machine(), ctx)
		ctx.h = nil
	}
	return func(c *kernel.VCPU) {
		if k, ok := kprobe.Of(c.Machine()); !ok || !k.Later(c, c.CPU.RIP(), later) {
			h.fireAt(c)
		}
	}
}

// fireMoment calls the handler with a Moment on a CPU, or on none.
func (h *hook) fireMoment(c *kernel.VCPU, x *moment) {
	x.g = h.g
	if c == nil {
		h.fire(h.g.M, x)
		return
	}
	x.ctx = h.g.at(c)
	h.fire(c.Machine(), x)
	x.ctx.h = nil
}

// momentRows document Moment.
func momentRows() []lang.Row {
	return []lang.Row{
		{Name: "Moment.insns", Sig: "-> int", Doc: "Instructions executed by all CPUs since power-on.\nA Moment is the ctx of handlers of events, patches, losses and log lines: besides fields of its own it has all of Ctx's attributes when a CPU is in it."},
	}
}
