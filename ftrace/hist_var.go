package ftrace

import (
	"strings"

	"kscope/kernel"
)

// varAt is a variable and the histogram that has it.
type varAt struct {
	h *hist
	f *histField
}

// varField is find_var_field: a variable that the histogram defines.
func (h *hist) varField(name string) *histField {
	for _, f := range h.fields {
		if f.flags&histVarField != 0 && f.varName == name {
			return f
		}
	}
	return nil
}

// varOn is find_file_var: a variable of the histograms of an event.
func (u *eventUse) varOn(name string) (v varAt, ok bool) {
	for _, x := range u.triggers() {
		if x.hist == nil {
			continue
		}
		if f := x.hist.varField(name); f != nil {
			return varAt{x.hist, f}, true
		}
	}
	return v, false
}

// varTaken is find_var: whether a new histogram's event has a variable of a name already.
func (h *hist) varTaken(name string) bool {
	if h.varField(name) != nil {
		return true
	}
	_, ok := h.u.varOn(name)
	return ok
}

// varUse is find_var_file: the event whose histograms have a variable; the only one, when none is named.
func (p *histParser) varUse(system, ev, name string) *eventUse {
	t := p.h.u.t
	if system != "" {
		e, ok := t.TraceEvent(system, ev)
		if !ok {
			return nil
		}
		return t.use(e)
	}
	var found *eventUse
	for _, h := range t.histVars {
		if h.u == found || h.varField(name) == nil {
			continue
		}
		if found != nil {
			p.log("Variable name not unique, need to use fully qualified name (subsys.event.var) for variable", p.at(name))
			return nil
		}
		found = h.u
	}
	return found
}

// eventVar is find_event_var: a variable of another event, of those of onmatch first.
func (p *histParser) eventVar(system, ev, name string) (v varAt, ok bool) {
	if system == "" || ev == "" {
		for _, a := range p.h.actions {
			if a.handler != onMatch {
				continue
			}
			u := p.varUse(a.system, a.event, name)
			if u == nil {
				continue
			}
			w, has := u.varOn(name)
			switch {
			case has && ok:
				p.log("Variable name not unique, need to use fully qualified name (subsys.event.var) for variable", p.at(name))
				return varAt{}, false
			case has:
				v, ok = w, true
			}
		}
		if ok {
			return v, true
		}
	}
	u := p.varUse(system, ev, name)
	if u == nil {
		return v, false
	}
	return u.varOn(name)
}

// refTo is create_var_ref: the histogram's reference to a variable.
func (h *hist) refTo(v varAt, system, ev string) *histField {
	for _, r := range h.refs {
		if r.varIdx == v.f.varIdx && r.varOf == v.h {
			return r
		}
	}
	r := &histField{flags: histVarRef | v.f.flags&(histTimestamp|histUsecs), varOf: v.h, varIdx: v.f.varIdx, size: v.f.size, signed: v.f.signed, typ: v.f.typ,
		system: system, event: ev, name: v.f.varName, refIdx: len(h.refs)}
	i := r.refIdx
	r.num = func(x *histHit) uint64 { return x.refs[i].Num }
	if v.f.str != nil {
		r.num, r.str = nil, func(x *histHit) []byte { return x.refs[i].Str }
	}
	h.refs = append(h.refs, r)
	return r
}

// isRef is is_var_ref.
func isRef(name string) bool { return len(name) > 1 && name[0] == '$' }

// localVar is local_field_var_ref: the field that a variable of this histogram stands for, when it is no more than that.
func (p *histParser) localVar(system, ev, name string) (string, bool) {
	e := p.h.u.ev
	if system != "" && ev != "" && (system != e.System || ev != e.Name) || (system != "") != (ev != "") || !isRef(name) {
		return "", false
	}
	for _, d := range p.h.attrs.vars {
		if op, _ := rootOperator(d.expr); d.name == name[1:] && op == 0 && !isRef(d.expr) {
			return d.expr, true
		}
	}
	return "", false
}

// varRef is parse_var_ref.
func (p *histParser) varRef(system, ev, name string) *histField {
	if !isRef(name) {
		return nil
	}
	v, ok := p.eventVar(system, ev, name[1:])
	if !ok {
		p.log("Couldn't find variable", p.at(name[1:]))
		return nil
	}
	return p.h.refTo(v, system, ev)
}

// alias is create_alias: a variable that is another one.
func (p *histParser) alias(ref *histField, name string) *histField {
	x := p.newField(nil, histAlias|histVarField, name)
	x.num, x.str, x.ops[0] = ref.num, ref.str, ref
	x.varOf, x.varIdx, x.size, x.signed, x.typ = ref.varOf, ref.varIdx, ref.size, ref.signed, ref.typ
	x.flags |= ref.flags & (histTimestamp | histUsecs)
	x.system, x.event, x.name, x.refIdx = ref.system, ref.event, ref.name, ref.refIdx
	return x
}

// newVar is create_var: a variable that no field of the histogram is.
func (p *histParser) newVar(name, typ string, size int) (*histField, error) {
	h := p.h
	if h.varTaken(name) && !h.remove || h.m.Vars == histMaxVars {
		return nil, kernel.EINVAL
	}
	v := &histField{flags: histVarField, varName: name, varIdx: h.m.Vars, varOf: h, size: size, typ: typ}
	h.m.Vars++
	return v, nil
}

// fieldVar is create_field_var: a variable for a field that an action uses.
func (p *histParser) fieldVar(name string) (*histFieldVar, error) {
	if len(p.h.fieldVars) >= synthMaxFields {
		return nil, p.fail("Too many field variables defined", name)
	}
	val, err := p.atom(name, histVarField, "")
	if err != nil {
		_ = p.fail("Couldn't parse field variable", name)
		return nil, err
	}
	v, err := p.newVar(name, val.typ, val.size)
	if err != nil {
		_ = p.fail("Couldn't create or find variable", name)
		return nil, err
	}
	v.str, v.num = val.str, val.num
	return &histFieldVar{v, val}, nil
}

// otherVar is create_field_var_hist: a field of another event, for which a histogram with that event's keys is made there. It must
// have one with keys like these.
func (p *histParser) otherVar(system, ev, name string) (v varAt, err error) {
	h := p.h
	if len(h.varHists) >= synthMaxFields {
		return v, p.fail("Too many field variables defined", name)
	}
	e, ok := h.u.t.TraceEvent(system, ev)
	if !ok {
		return v, p.fail("Event file not found", name)
	}
	u := h.u.t.use(e)
	like := u.likeHist(h)
	if like == nil {
		return v, p.fail("Matching event histogram not found", name)
	}
	if v, ok := p.eventVar(system, ev, "synthetic_"+name); ok {
		return v, nil
	}
	var keys []string
	for _, k := range like.hist.keys() {
		if k.field == nil {
			return v, p.fail("Matching event histogram not found", name)
		}
		keys = append(keys, k.field.Name)
	}
	cmd := "keys=" + strings.Join(keys, ",") + ":synthetic_" + name + "=" + name
	if like.text != "" {
		cmd += " if " + like.text
	}
	nested := &histParser{log: p.log, cmd: p.cmd, c: p.c}
	if err := nested.command(u, cmd, false); err != nil {
		_ = p.fail("Couldn't create histogram for field", name)
		return v, err
	}
	if v, ok = p.eventVar(system, ev, "synthetic_"+name); !ok {
		return v, p.fail("Couldn't find synthetic variable", name)
	}
	h.varHists = append(h.varHists, &histOther{u, cmd})
	return v, nil
}

// likeHist is find_compatible_hist: a histogram of the event whose keys are of the same types as h's.
func (u *eventUse) likeHist(h *hist) *trigger {
	for _, x := range u.triggers() {
		if x.hist == nil || len(x.hist.keys()) != len(h.keys()) {
			continue
		}
		same := true
		for i, k := range x.hist.keys() {
			o := h.keys()[i]
			same = same && k.typ == o.typ && k.size == o.size && k.signed == o.signed
		}
		if same {
			return x
		}
	}
	return nil
}

// hasVars is has_hist_vars.
func (h *hist) hasVars() bool {
	for _, f := range h.fields {
		if f.usesVars(0) {
			return true
		}
	}
	return false
}

func (x *histField) usesVars(level int) bool {
	if x == nil || level > 3 {
		return false
	}
	return x.flags&(histVarField|histVarRef) != 0 || x.ops[0].usesVars(level+1) || x.ops[1].usesVars(level+1)
}

// referenced is check_var_refs: whether another histogram refers to a variable of this one.
func (h *hist) referenced() bool {
	for _, f := range h.fields {
		if f.flags&histVarField == 0 {
			continue
		}
		for _, o := range h.u.t.histVars {
			if o == h {
				continue
			}
			for _, r := range o.refs {
				if r.varOf == h && r.varIdx == f.varIdx {
					return true
				}
			}
		}
	}
	return false
}

// varsReferenced is hist_file_check_refs.
func (u *eventUse) varsReferenced() bool {
	for _, x := range u.triggers() {
		if x.hist != nil && x.hist.referenced() {
			return true
		}
	}
	return false
}
