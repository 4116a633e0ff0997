package builtins

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"go.starlark.net/starlark"

	"kscope/ftrace"
	"kscope/ftrace/event"
	"kscope/kernel"
	"kscope/kprobe"
	"kscope/lang"
)

// How each kind of spec is armed.

// spot is where guest probes of on() are: all handlers of one place share one probe, so that they run in the order of
// attachment, whatever order the guest has.
type spot struct {
	addr  uint64
	probe *kprobe.Probe
	ret   *kprobe.Ret // nil: a kprobe
	hooks []*hook
}

type spotKey struct {
	addr uint64
	ret  bool
}

func armKprobe(h *hook, rest string) error    { return h.armProbes(rest, false) }
func armKretprobe(h *hook, rest string) error { return h.armProbes(rest, true) }

// armProbes puts probes at the functions of a glob, or at one place, in one change of the guest's text.
func (h *hook) armProbes(rest string, ret bool) error {
	if err := h.c.ready(); err != nil {
		return err
	}
	k, err := h.c.kprobes()
	if err != nil {
		return err
	}
	isGlob := strings.ContainsAny(rest, "*?[")
	addrs, err := h.addresses(rest, isGlob)
	if err != nil {
		return err
	}
	var added []*spot
	at := ""
	err = h.c.change("on "+h.spec, func() error {
		for _, addr := range addrs {
			p, err := h.g.spot(k, addr, ret)
			var refused *kprobe.PlaceError
			if isGlob && errors.As(err, &refused) {
				continue // what takes no probes is no match
			}
			if at = h.g.placeName(addr); err != nil {
				return err
			}
			p.hooks = append(p.hooks[:len(p.hooks):len(p.hooks)], h)
			added = append(added, p)
			h.sites = append(h.sites, at)
		}
		return nil
	})
	g, c := h.g, h.c // those of now: kernel.restore may give the handler another machine
	h.undo = append(h.undo, func(post bool) error { return h.leave(g, c, k, added, post) })
	if err != nil {
		if _, off, ok := strings.Cut(rest, "+"); ok && off != "" {
			at = rest // as it was written
		}
		return h.c.placeError(err, k, at)
	}
	if len(added) == 0 {
		return h.bad(rest, len(h.spec)-len(rest), "no function that takes a probe matches")
	}
	return nil
}

// addresses are the functions that a glob matches, by address, or the one place of a name.
func (h *hook) addresses(rest string, isGlob bool) ([]uint64, error) {
	if addrs, ok, err := h.c.lineAddrs(rest); ok {
		return addrs, err
	}
	if !isGlob {
		addr, err := h.c.address(starlark.String(rest))
		return []uint64{addr}, err
	}
	var out []uint64
	seen := map[uint64]bool{}
	for _, s := range h.g.M.Symbols().Glob(rest, "tTwW") {
		if !seen[s.Addr] && s.Section != ".shadow" && s.Section != ".gates" {
			seen[s.Addr] = true
			out = append(out, s.Addr)
		}
	}
	if len(out) == 0 {
		return nil, h.unknown(rest, h.g.functions())
	}
	return out, nil
}

// unknown is the error for a glob without a match.
func (h *hook) unknown(rest string, names []string) error {
	e := h.bad(rest, len(h.spec)-len(rest), "nothing matches %s", rest)
	e.Code = "ENOENT"
	bare := strings.Trim(rest, "*")
	if near := lang.Near(bare, names); len(near) > 0 {
		e.Hint = didYouMean(near)
	}
	if there := h.g.withModule(rest); there != "" {
		e.Hint = there
	}
	return e
}

// spot finds the shared probe of an address, or makes it.
func (g *Guest) spot(k *kprobe.Kprobes, addr uint64, ret bool) (*spot, error) {
	key := spotKey{addr, ret}
	if p := g.spots[key]; p != nil {
		return p, nil
	}
	p := &spot{addr: addr}
	name := "on " + g.placeName(addr)
	var err error
	if ret {
		p.ret = &kprobe.Ret{Return: p.hit, Probe: kprobe.Probe{Addr: addr, Name: name}}
		p.probe = &p.ret.Probe
		err = k.RegisterRet(p.ret)
	} else {
		p.probe = &kprobe.Probe{Addr: addr, Name: name, Pre: p.hit}
		err = k.Register(p.probe)
	}
	if err == nil {
		err = k.Enable(p.probe)
	}
	if err != nil {
		return nil, err
	}
	if g.spots == nil {
		g.spots = map[spotKey]*spot{}
	}
	g.spots[key] = p
	return p, nil
}

// hit calls the handlers of a place.
func (p *spot) hit(hit *kprobe.Hit) {
	for _, h := range p.hooks {
		g, ok := hit.K.Owner.(*Guest) // the machine may be a fork of the one that on() was called for
		if !ok {
			g = h.g
		}
		ctx := g.newCtx(hit)
		h.fire(hit.K.Machine(), ctx)
		ctx.h = nil
	}
}

// leave takes a handler off its places, and the probes of those that it leaves empty out.
func (h *hook) leave(g *Guest, c *call, k *kprobe.Kprobes, places []*spot, post bool) error {
	var empty []*spot
	for _, p := range places {
		var left []*hook
		for _, x := range p.hooks {
			if x != h {
				left = append(left, x)
			}
		}
		if p.hooks = left; len(left) == 0 {
			empty = append(empty, p)
			delete(g.spots, spotKey{p.addr, p.ret != nil})
		}
	}
	remove := func() error {
		for _, p := range empty {
			var err error
			if p.ret != nil {
				err = k.UnregisterRet(p.ret)
			} else {
				err = k.Unregister(p.probe)
			}
			if err != nil {
				return err
			}
		}
		return nil
	}
	if len(empty) == 0 || g.M.Dead() {
		return nil
	}
	if post {
		g.M.Post(func(*kernel.VCPU) error { return remove() })
		return nil
	}
	return c.change("on "+h.spec, remove)
}

// armFunction hooks the entries of functions: nothing is patched.
func armFunction(h *hook, rest string) error {
	isGlob := strings.ContainsAny(rest, "*?[")
	addrs, err := h.addresses(rest, isGlob)
	if err != nil {
		return err
	}
	entered := h.behindProbes()
	for _, addr := range addrs {
		remove, err := h.g.M.Hook(addr, entered)
		if err != nil {
			if isGlob {
				continue
			}
			return h.c.fail(err, rest, nil)
		}
		h.removed(remove)
		h.sites = append(h.sites, h.g.placeName(addr))
	}
	return nil
}

// armPanic hooks panic().
func armPanic(h *hook, _ string) error {
	addr, err := h.c.address(str("panic"))
	if err != nil {
		return err
	}
	remove, err := h.g.M.Hook(addr, h.behindProbes())
	if err != nil {
		return h.c.fail(err, "", nil)
	}
	h.removed(remove)
	return nil
}

// armTracepoint listens to the events of a glob.
func armTracepoint(h *hook, rest string) error {
	if err := h.c.ready(); err != nil {
		return err
	}
	if !strings.Contains(rest, ":") {
		e := h.bad(rest, len(h.spec), "want tracepoint:SYSTEM:EVENT")
		e.Hint = didYouMean(h.g.eventsCalled(rest))
		return e
	}
	var events []*ftrace.TraceEvent
	for _, ev := range h.g.T.TraceEvents() {
		if kernel.Glob(rest, ev.Key()) {
			events = append(events, ev)
		}
	}
	if len(events) == 0 {
		return h.unknown(rest, h.g.eventNames())
	}
	events, passes, err := h.filtered(events)
	if err != nil {
		return err
	}
	for _, ev := range events {
		h.sites = append(h.sites, ev.Key())
	}
	var removes []func() error
	g, c := h.g, h.c
	err = c.change("on "+h.spec, func() error {
		for i, ev := range events {
			remove, err := g.T.Listen(ev, func(v *kernel.VCPU, d []byte) {
				if passes == nil || passes[i](v, d) {
					h.fireMoment(v, g.eventMoment(ev.Format, v, d))
				}
			})
			if err != nil {
				return err
			}
			removes = append(removes, remove)
		}
		return nil
	})
	h.undo = append(h.undo, func(post bool) error {
		all := func() error {
			for _, remove := range removes {
				if err := remove(); err != nil {
					return err
				}
			}
			return nil
		}
		if g.M.Dead() {
			return nil
		}
		if post {
			g.M.Post(func(*kernel.VCPU) error { return all() })
			return nil
		}
		return c.change("on "+h.spec, all)
	})
	return c.fail(err, rest, nil)
}

// eventsCalled are the events, of any system, that a glob without a system matches: three at most.
func (g *Guest) eventsCalled(glob string) []string {
	var found []string
	for _, name := range g.eventNames() {
		if kernel.Glob("*:"+glob, name) {
			found = append(found, "tracepoint:"+name)
		}
	}
	return found[:min(len(found), 3)]
}

// filtered compiles the handler's filter for events. As with the filter of a system, events that lack a field of it are left out,
// unless none is left. passes is nil without a filter.
func (h *hook) filtered(events []*ftrace.TraceEvent) (fit []*ftrace.TraceEvent, passes []func(c *kernel.VCPU, d []byte) bool, err error) {
	if h.filter == "" {
		return events, nil, nil
	}
	var first *event.FilterError
	for _, ev := range events {
		pass, bad := h.g.T.EventFilter(ev, h.filter)
		if bad != nil {
			if first == nil {
				first = bad
			}
			continue
		}
		fit, passes = append(fit, ev), append(passes, pass)
	}
	if len(fit) == 0 {
		e := h.c.errorf("%s: when is no filter of it:\n%s", h.spec, strings.TrimRight(first.Report(h.filter), "\n"))
		e.At, e.Off, e.Code = h.filter, min(first.Pos, len(h.filter)), "EINVAL"
		return nil, nil, e
	}
	return fit, passes, nil
}

// eventMoment is the ctx of a trace event: the fields of its record by their names, decoded when the first is asked for.
func (g *Guest) eventMoment(f *event.Format, c *kernel.VCPU, d []byte) *moment {
	return &moment{
		kind: f.System + ":" + f.Name,
		fields: []field{
			{"event", str(f.Name)}, {"ts", unum(c.Now())}, {"common_pid", num(c.CurrentPid())}, {"common_comm", str(c.Current().Comm)},
		},
		late: func() []field {
			var out []field
			for i := range f.Fields {
				if v, ok := f.Fields[i].Decode(d); ok {
					out = append(out, field{f.Fields[i].Name, fieldValue(v)})
				}
			}
			return out
		},
	}
}

// units are what may stand between "interval:" and the number.
var units = map[string]uint64{"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9, "hz": 0}

// What a period may be, in ns: a CPU's slice is about 500.
const (
	minPeriod uint64 = 100
	maxPeriod uint64 = 3600 * 1e9
)

func armInterval(h *hook, rest string) error { return h.armClock(rest, false) }
func armProfile(h *hook, rest string) error  { return h.armClock(rest, true) }

func (h *hook) armClock(rest string, each bool) error {
	unit, num, _ := strings.Cut(rest, ":")
	at := len(h.spec) - len(rest)
	scale, ok := units[unit]
	if !ok {
		e := h.bad(rest, at, "unknown unit %q", unit)
		e.Hint = "units are ns, us, ms, s and hz: interval:ms:10, profile:hz:99"
		return e
	}
	n, err := strconv.ParseUint(num, 10, 64)
	if errors.Is(err, strconv.ErrRange) {
		n = math.MaxUint64
	} else if err != nil || n == 0 {
		return h.bad(rest, at+len(unit)+1, "want a positive number behind %q", unit+":")
	}
	least, most := uint64(1), 1e9/minPeriod
	if unit != "hz" {
		least, most = max(1, minPeriod/scale), maxPeriod/scale
	}
	if n < least || n > most {
		return h.bad(rest, at+len(unit)+1, "want %d to %d behind %q", least, most, unit+":")
	}
	period := n * scale
	if unit == "hz" {
		period = 1e9 / n
	}
	h.removed(h.g.M.Every(period, each, h.fireAt))
	return nil
}

func armInsn(h *hook, rest string) error {
	n, err := strconv.ParseUint(strings.ReplaceAll(rest, "_", ""), 10, 62)
	if err != nil || n == 0 {
		return h.bad(rest, len(h.spec)-len(rest), "want a positive number of instructions")
	}
	h.removed(h.g.M.EveryInsns(n, h.fireAt))
	return nil
}

// armPatch listens to the writes of the text patcher.
func armPatch(h *hook, _ string) error {
	h.removed(h.g.M.OnPatchStep(func(c *kernel.VCPU, p *kernel.Patch, s *kernel.PatchStep) {
		for _, w := range s.Writes {
			h.fireMoment(c, &moment{kind: "patch", fields: []field{
				{"kind", str(s.Kind)}, {"addr", unum(w.Addr)}, {"where", str(h.g.placeName(w.Addr))},
				{"old", starlark.Bytes(w.Old)}, {"new", starlark.Bytes(w.New)}, {"insns", unum(h.g.M.Insns())}, {"time", unum(s.Time)},
			}})
		}
	}))
	return nil
}

// armPatchSeen listens to the CPUs that synchronise behind the writes of the text patcher.
func armPatchSeen(h *hook, _ string) error {
	h.removed(h.g.M.OnPatchSeen(func(c *kernel.VCPU, s *kernel.PatchStep) {
		stale := slices.ContainsFunc(s.Stale, func(w kernel.StaleWindow) bool { return w.CPU == c.ID })
		where := ""
		if len(s.Writes) > 0 {
			where = h.g.placeName(s.Writes[0].Addr)
		}
		h.fireMoment(c, &moment{kind: "patch_seen", fields: []field{
			{"kind", str(s.Kind)}, {"where", str(where)}, {"sites", num(len(s.Writes))}, {"since", unum(s.Time)}, {"time", unum(c.Now())},
			{"window", unum(c.Now() - min(s.Time, c.Now()))}, {"stale", starlark.Bool(stale)}, {"by", num(s.CPU)},
		}})
	}))
	return nil
}

// armLost listens to the losses of the tracer's rings.
func armLost(h *hook, _ string) error {
	h.removed(h.g.T.Losses(func(l ftrace.Loss) {
		where := starlark.Value(starlark.None)
		if l.IP != 0 {
			where = str(h.g.placeName(l.IP))
		}
		name := fmt.Sprintf("type %d", l.Type)
		if f := h.g.T.Events().ByID(l.Type); f != nil {
			name = f.Name
		}
		h.fireMoment(h.g.M.Running(), &moment{kind: "lost", fields: []field{
			{"cause", str(l.Cause)}, {"cpu", num(l.CPU)}, {"ts", unum(l.TS)}, {"where", where}, {"pid", num(l.PID)}, {"event", str(name)},
		}})
	}))
	return nil
}

func armBegin(h *hook, _ string) error {
	h.fireMoment(nil, &moment{kind: "BEGIN"})
	h.armed = false
	return h.g.programError()
}

func armEnd(h *hook, _ string) error {
	e := h.g.env
	e.ends = append(e.ends, h)
	return nil
}

// kernelLog implements kernel.log.
func kernelLog(c *call) (starlark.Value, error) {
	var fn starlark.Callable
	if err := c.unpack("fn", &fn); err != nil {
		return nil, err
	}
	if err := c.takes("fn", fn, "line"); err != nil {
		return nil, err
	}
	h := &hook{c: c, g: c.g, spec: "log", onError: "stop", armed: true, fn: c.g.env.host.Handler(c.thread, "kernel.log", fn)}
	h.removed(c.g.M.OnLog(func(v *kernel.VCPU, l kernel.LogLine) {
		h.fireMoment(v, &moment{kind: "log", fields: []field{
			{"text", str(l.Text)}, {"level", num(l.Level)}, {"ts", unum(l.Time)}, {"line", str(l.String())},
		}})
	}))
	c.g.env.host.OnClose(func() error { return h.detach(false) })
	return h, nil
}
