package ftrace

import (
	"strings"

	"kscope/ftrace/event"
	"kscope/kernel"
)

// histAction is what a histogram does behind a hit: HANDLER(WHAT).ACTION(PARAMS); struct action_data.
type histAction struct {
	handler histHandler
	kind    histActionKind
	name    string // of the action: "save", "snapshot", "trace", or a synthetic event's
	trace   bool   // it is trace(EVENT,…): the synthetic event is the first parameter
	synth   string
	params  []string

	system, event string // of onmatch
	varText       string // of onmax and onchange, with its $
	ref           int    // of their variable
	track         int    // the variable that keeps the largest, or the last

	to     *synthEvent
	fields []int // of its fields: the references
}

type histHandler uint8

const (
	onMatch histHandler = iota
	onMax
	onChange
)

type histActionKind uint8

const (
	actTrace histActionKind = iota
	actSave
	actSnapshot
)

// condSnapshot is the histogram whose snapshot action takes the tracer's snapshots: struct track_data of tr->cond_snapshot.
type condSnapshot struct {
	h       *hist
	a       *histAction
	val     uint64
	elt     event.HistElt
	updated bool
}

// do acts on a hit.
func (a *histAction) do(h *hist, x *histHit, key []byte) {
	if a.handler != onMatch {
		track, val := &x.elt.Vars[a.track], x.refs[a.ref].Num
		if !a.changed(track.Num, val) {
			return
		}
		track.Num, track.Set = val, true
	}
	switch a.kind {
	case actTrace:
		a.to.fire(x, a.fields)
	case actSave:
		for _, v := range h.saveVars {
			x.setVar(&x.elt.Vars[v.v.varIdx], v.val)
		}
	case actSnapshot:
		x.t.snapshotWhen(x.c, a, x.elt)
	}
}

func (a *histAction) changed(old, val uint64) bool {
	if a.handler == onMax {
		return val > old
	}
	return val != old
}

// snapshotWhen is tracing_snapshot_cond with cond_snapshot_update: a snapshot when the value of any row beats that of the last.
func (t *Tracer) snapshotWhen(c *kernel.VCPU, a *histAction, e *event.HistElt) {
	s := t.cond
	if s == nil || t.stops > 0 || t.cpu[0].snap == nil || !s.a.changed(s.val, e.Vars[s.a.track].Num) {
		return
	}
	s.val, s.updated = e.Vars[s.a.track].Num, true
	s.elt.Key, s.elt.Comm = append(s.elt.Key[:0], e.Key...), e.Comm
	t.takeSnapshot(c)
}

// parseActions is parse_actions: what can be known before the fields are.
func (p *histParser) parseActions() error {
	for _, text := range p.h.attrs.actions {
		a := &histAction{}
		word, rest, _ := strings.Cut(text, "(")
		what, rest, closed := strings.Cut(rest, ")")
		switch word {
		case "onmax":
			a.handler, a.varText = onMax, what
		case "onchange":
			a.handler, a.varText = onChange, what
		default:
			if !closed {
				return p.fail("No closing paren found", what)
			}
			system, ev, ok := strings.Cut(what, ".")
			if !ok {
				return p.fail("Missing subsystem", system)
			}
			if _, ok := p.h.u.t.TraceEvent(system, ev); !ok {
				return p.fail("Invalid subsystem or event name", ev)
			}
			a.system, a.event = system, ev
		}
		if !closed {
			return kernel.EINVAL
		}
		if err := p.parseAction(a, rest); err != nil {
			return err
		}
		p.h.actions = append(p.h.actions, a)
	}
	return nil
}

// parseAction is action_parse: .ACTION(PARAMS).
func (p *histParser) parseAction(a *histAction, text string) error {
	_, text, ok1 := strings.Cut(text, ".")
	name, text, ok2 := strings.Cut(text, "(")
	if !ok1 || !ok2 {
		p.log("No action found", 0)
		return kernel.EINVAL
	}
	a.name = name
	params, _, closed := strings.Cut(text, ")")
	switch {
	case strings.HasPrefix(name, "save"):
		a.kind = actSave
		if err := p.actionParams(a, params); err != nil {
			return err
		}
	case strings.HasPrefix(name, "snapshot"):
		a.kind = actSnapshot
		if !closed {
			return p.fail("No closing paren found", params)
		}
	default:
		a.trace = strings.HasPrefix(name, "trace")
		return p.actionParams(a, params)
	}
	if a.handler == onMatch {
		return p.fail("Handler doesn't support action", name)
	}
	return nil
}

// actionParams is parse_action_params.
func (p *histParser) actionParams(a *histAction, text string) error {
	for i, param := range strings.Split(text, ",") {
		if len(a.params) >= synthMaxFields {
			p.log("Too many action params", 0)
			return nil
		}
		param = trimBlanks(param)
		if len(param) < 2 {
			return p.fail("Invalid action param", param)
		}
		if i == 0 && a.trace {
			a.synth = param
			continue
		}
		a.params = append(a.params, param)
	}
	return nil
}

// createActions is create_actions: the variables that the actions need, and what they lead to.
func (p *histParser) createActions() error {
	for _, a := range p.h.actions {
		if a.handler != onMatch {
			if err := p.trackVar(a); err != nil {
				return err
			}
		}
		var err error
		switch a.kind {
		case actTrace:
			err = p.traceAction(a)
		case actSave:
			err = p.saveAction(a)
		case actSnapshot:
			err = p.h.u.t.snapshotAction(p.h, a)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// trackVar is the first part of track_data_create.
func (p *histParser) trackVar(a *histAction) error {
	name, ok := strings.CutPrefix(a.varText, "$")
	if !ok {
		return p.fail("For onmax(x) or onchange(x), x must be a variable", a.varText)
	}
	f := p.h.varField(name)
	if f == nil {
		return p.fail("Couldn't find onmax or onchange variable", name)
	}
	a.ref = p.h.refTo(varAt{p.h, f}, "", "").refIdx
	hidden := "__max"
	if a.handler == onChange {
		hidden = "__change"
	}
	v, err := p.newVar(hidden, "u64", 8)
	if err != nil {
		p.log("Couldn't create onmax or onchange variable", 0)
		return err
	}
	a.track = v.varIdx
	return nil
}

func (p *histParser) saveAction(a *histAction) error {
	h := p.h
	if len(h.saveVars) > 0 {
		p.log("Can't have more than one save() action per hist", 0)
		return kernel.EEXIST
	}
	for _, param := range a.params {
		v, err := p.fieldVar(param)
		if err != nil {
			_ = p.fail("Couldn't create field variable", param)
			return err
		}
		h.saveVars = append(h.saveVars, v)
	}
	return nil
}

// snapshotAction is tracing_snapshot_cond_enable: a tracer has one of them.
func (t *Tracer) snapshotAction(h *hist, a *histAction) error {
	if err := t.snapshotRings(); err != nil {
		return err
	}
	if t.cond != nil {
		return kernel.EBUSY
	}
	t.cond = &condSnapshot{h: h, a: a}
	return nil
}

// traceAction is trace_action_create: the fields of a synthetic event, each from a variable or from a field of an event.
func (p *histParser) traceAction(a *histAction) error {
	name := a.name
	if a.trace {
		name = a.synth
	}
	se := p.h.u.t.root().synth(name)
	if se == nil {
		return p.fail("Couldn't find synthetic event", name)
	}
	se.ref++
	if err := p.traceParams(a, se); err != nil {
		se.ref--
		return err
	}
	a.to = se
	return nil
}

func (p *histParser) traceParams(a *histAction, se *synthEvent) error {
	for i, param := range a.params {
		system, ev := "", ""
		if part := strings.SplitN(param, ".", 3); len(part) == 2 {
			return kernel.EINVAL
		} else if len(part) == 3 {
			system, ev, param = part[0], part[1], part[2]
		}
		var v varAt
		var ok bool
		if param != "" && param[0] == '$' {
			v, ok = p.paramVar(a, system, ev, param[1:])
		} else {
			v, ok = p.paramField(a, system, ev, param)
		}
		switch {
		case !ok:
			return kernel.EINVAL
		case !se.takes(i, v.f):
			return p.fail("Param type doesn't match synthetic event field type", param)
		}
		a.fields = append(a.fields, p.h.refTo(v, system, ev).refIdx)
	}
	if len(a.params) != len(se.fields) {
		return p.fail("Param count doesn't match synthetic event field count", se.ev.Name)
	}
	return nil
}

// paramVar is trace_action_find_var: a variable of this histogram, else of the event of onmatch, or of the one that is named.
func (p *histParser) paramVar(a *histAction, system, ev, name string) (v varAt, ok bool) {
	h := p.h
	if system == "" || system == h.u.ev.System && ev == h.u.ev.Name {
		if f := h.varField(name); f != nil {
			return varAt{h, f}, true
		}
	}
	if system == "" && a.handler == onMatch {
		system, ev = a.system, a.event
	}
	if v, ok = p.eventVar(system, ev, name); !ok {
		_ = p.fail("Couldn't find param", name)
	}
	return v, ok
}

// paramField is trace_action_create_field_var: a field of this event, else of the event of onmatch, or of the one that is named.
func (p *histParser) paramField(a *histAction, system, ev, name string) (v varAt, ok bool) {
	h := p.h
	if system == "" || system == h.u.ev.System && ev == h.u.ev.Name {
		if fv, err := p.fieldVar(name); err == nil {
			h.fieldVars = append(h.fieldVars, fv)
			return varAt{h, fv.v}, true
		}
	}
	if system == "" && a.handler == onMatch {
		system, ev = a.system, a.event
	}
	if ev == "" {
		return v, false
	}
	v, err := p.otherVar(system, ev, name)
	return v, err == nil
}

// sameActions is actions_match.
func (h *hist) sameActions(o *hist) bool {
	if len(h.actions) != len(o.actions) {
		return false
	}
	for i, a := range h.actions {
		b := o.actions[i]
		if a.handler != b.handler || a.kind != b.kind || strings.Join(a.params, ",") != strings.Join(b.params, ",") || a.target() != b.target() ||
			a.system != b.system || a.event != b.event || a.varText != b.varText {
			return false
		}
	}
	return true
}

// target is the synthetic event that an action names, or the action.
func (a *histAction) target() string {
	if a.trace {
		return a.synth
	}
	return a.name
}
