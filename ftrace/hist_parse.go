package ftrace

import (
	"math/bits"
	"strings"

	"kscope/ftrace/event"
	"kscope/kernel"
)

// histAttrs are the parts of a histogram's text: struct hist_trigger_attrs.
type histAttrs struct {
	keys, vals, sort, clock string
	hasVals, hasSort        bool
	name                    string // "name=NAME" as a whole
	pause, cont, clear      bool
	bits                    int
	assigns, actions        []string
	vars                    []histDef // while the fields are made
	usecs                   bool
}

type histDef struct{ name, expr string }

// attrs is parse_hist_trigger_attrs.
func (p *histParser) attrs(text string) (a histAttrs, err error) {
	a.bits = histBits
	hasKeys := false
	for _, s := range strings.Split(text, ":") {
		key, rest, assigned := strings.Cut(s, "=")
		switch {
		case assigned && rest == "":
			return a, p.fail("Empty assignment", s)
		case assigned && (key == "key" || key == "keys"):
			a.keys, hasKeys = rest, true
		case assigned && (key == "val" || key == "vals" || key == "values"):
			a.vals, a.hasVals = rest, true
		case assigned && key == "sort":
			a.sort, a.hasSort = rest, true
		case assigned && key == "name":
			a.name = s
		case assigned && key == "clock":
			a.clock = trimBlanks(rest)
		case assigned && key == "size":
			if a.bits, err = mapBits(rest); err != nil {
				return a, err
			}
		case assigned && len(a.assigns) == histMaxVars:
			return a, p.fail("Too many variables defined", s)
		case assigned:
			a.assigns = append(a.assigns, s)
		case s == "pause":
			a.pause = true
		case s == "cont" || s == "continue":
			a.cont = true
		case s == "clear":
			a.clear = true
		case len(a.actions) < histMaxActions && (strings.HasPrefix(s, "onmatch(") || strings.HasPrefix(s, "onmax(") || strings.HasPrefix(s, "onchange(")):
			a.actions = append(a.actions, s)
		default:
			return a, kernel.EINVAL
		}
	}
	if !hasKeys {
		return a, kernel.EINVAL
	}
	if a.clock == "" {
		a.clock = "global"
	}
	return a, nil
}

// mapBits is parse_map_size.
func mapBits(text string) (int, error) {
	n, err := kstrtoul(text, 0)
	if err != nil {
		return 0, err
	}
	if n == 0 || n > 1<<histMaxBits || bits.Len64(n-1) < histMinBits {
		return 0, kernel.EINVAL
	}
	return bits.Len64(n - 1), nil
}

// make is create_hist_data.
func (p *histParser) make(u *eventUse, a histAttrs, remove bool) error {
	h := &hist{u: u, attrs: a, remove: remove, scratch: &histScratch{}}
	p.h = h
	for _, step := range []func() error{p.parseActions, p.varDefs, p.valFields, p.varFields, p.keyFields, p.sortKeys} {
		if err := step(); err != nil {
			return err
		}
	}
	h.attrs.vars = nil
	m := &event.HistMap{Bits: a.bits, KeySize: h.size}
	for _, f := range h.vals() {
		if f.flags&histVarField == 0 {
			m.Sums++
			continue
		}
		f.varIdx, f.varOf = m.Vars, h
		m.Vars++
	}
	for _, k := range h.keys() {
		m.Keys = append(m.Keys, k.mapKey())
	}
	h.m = m
	return nil
}

// mapKey is how a key compares: see create_tracing_map_fields.
func (x *histField) mapKey() event.HistKey {
	k := event.HistKey{Offset: x.offset, Size: 8, Signed: x.signed}
	switch {
	case x.flags&histStacktrace != 0:
		k.Kind = event.HistOpaque
	case x.field == nil || x.flags&histCPU != 0:
	case x.field.TextOf() != nil:
		k.Kind, k.Size = event.HistString, x.size
	default:
		k.Size, k.Signed = x.field.Size, x.field.Signed
	}
	return k
}

// varDefs is parse_var_defs: NAME=EXPR,NAME=EXPR…
func (p *histParser) varDefs() error {
	for _, s := range p.h.attrs.assigns {
		for i, d := range strings.Split(s, ",") {
			if i == histMaxVars {
				break
			}
			name, expr, ok := strings.Cut(d, "=")
			switch {
			case !ok:
				return p.fail("Malformed assignment", name)
			case len(p.h.attrs.vars) == histMaxVars:
				return p.fail("Too many variables defined", name)
			}
			p.h.attrs.vars = append(p.h.attrs.vars, histDef{name, expr})
		}
	}
	return nil
}

// valFields is create_val_fields: hitcount comes first, asked for or not.
func (p *histParser) valFields() error {
	p.addVal(p.newField(nil, histHitcount, ""))
	if !p.h.attrs.hasVals {
		return nil
	}
	rest := strings.Split(p.h.attrs.vals, ",")
	for i := 0; i < histMaxVals && len(p.h.fields) < histMaxVals && len(rest) > 0; i++ {
		text := rest[0]
		rest = rest[1:]
		if text == "hitcount" {
			continue
		}
		if err := p.valField(text, 0, ""); err != nil {
			return err
		}
	}
	if len(rest) > 0 && strings.Join(rest, ",") != "hitcount" {
		return kernel.EINVAL
	}
	return nil
}

func (p *histParser) addVal(x *histField) {
	p.h.fields = append(p.h.fields, x)
	p.h.nVals++
}

// valField is __create_val_field.
func (p *histParser) valField(text string, flags histFlags, name string) error {
	subs := 0
	x, err := p.expr(text, flags, name, &subs)
	if err != nil {
		return err
	}
	bad := histSym | histSymOffset | histSyscall | histLog2 | histBucket
	if x.flags&histVarField != 0 {
		bad = histGraph | histPercent | histLog2 | histBucket
	}
	if x.flags&bad != 0 {
		return p.fail("Invalid field modifier", text)
	}
	p.addVal(x)
	return nil
}

// varFields is create_var_fields.
func (p *histParser) varFields() error {
	h := p.h
	for _, d := range h.attrs.vars {
		if h.varTaken(d.name) && !h.remove {
			return p.fail("Variable already defined", d.name)
		}
		h.nVars++
		if err := p.valField(d.expr, histVarField, d.name); err != nil {
			return err
		}
		if x := h.fields[len(h.fields)-1]; x.flags&histExecname != 0 { // update_var_execname
			x.flags, x.size, x.signed, x.typ = histString|histVarField|histExecname, histText, false, "char[]"
			x.num, x.str = nil, func(h *histHit) []byte { return h.elt.Comm[:nul(h.elt.Comm[:])] }
		}
	}
	return nil
}

// keyFields is create_key_fields.
func (p *histParser) keyFields() error {
	texts := strings.Split(p.h.attrs.keys, ",")
	for _, text := range texts[:min(len(texts), histMaxKeys)] {
		if err := p.keyField(text); err != nil {
			return err
		}
	}
	if len(texts) > histMaxKeys {
		return kernel.EINVAL
	}
	return nil
}

func (p *histParser) keyField(text string) error {
	h, x := p.h, (*histField)(nil)
	if text == "stacktrace" {
		x = p.newField(nil, histKey|histStacktrace, "")
		x.size = 8 * histDepth
	} else {
		subs := 0
		var err error
		if x, err = p.expr(text, histKey, "", &subs); err != nil {
			return err
		}
		if x.usesVars(0) {
			return p.fail("Using variable references in keys not supported", text)
		}
	}
	x.size = (x.size + 7) &^ 7
	x.offset = h.size
	h.fields = append(h.fields, x)
	if h.size += x.size; h.size > histMaxKey {
		return kernel.EINVAL
	}
	return nil
}

// sortKeys is create_sort_keys; hitcount when nothing is asked for.
func (p *histParser) sortKeys() error {
	h := p.h
	if !h.attrs.hasSort {
		h.sort = []event.HistSort{{}}
		return nil
	}
	texts := strings.Split(h.attrs.sort, ",")
	for i, text := range texts {
		if i == histMaxSort {
			break
		}
		name, order, has := strings.Cut(text, ".")
		switch {
		case text == "":
			return p.fail("Empty sort field", "sort=")
		case i == histMaxSort-1 && len(texts) > histMaxSort:
			return p.fail("Too many sort fields (Max = 2)", "sort=")
		case name == "":
			return p.fail("Empty sort field", "sort=")
		}
		at := h.sortField(name)
		if at < 0 {
			return p.fail("Sort field must be a key or a val", name)
		}
		k := event.HistSort{Field: at}
		switch {
		case has && order == "descending":
			k.Descending = true
		case has && order != "ascending":
			return p.fail("Invalid sort modifier", order)
		}
		h.sort = append(h.sort, k)
	}
	return nil
}

// sortField is the number, without variables, of the value or key that a sort key names; -1: there is none.
func (h *hist) sortField(name string) int {
	if name == "hitcount" {
		return 0
	}
	at := 0
	for _, f := range h.fields[1:] {
		if f.flags&histVarField != 0 {
			continue
		}
		at++
		if f.label(0) == name {
			return at
		}
	}
	return -1
}
