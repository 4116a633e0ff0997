package ftrace

import (
	"encoding/binary"
	"math/bits"

	"kscope/ftrace/event"
	"kscope/kernel"
)

// Histograms: triggers that count events by keys, sum their values, remember variables and act on them; see
// kernel/trace/trace_events_hist.c, whose structures and rules these are.
//
//	hist_command.go  what a write does: a new histogram, pause, continue, clear, removal
//	hist_parse.go    a histogram's text: attributes, keys, values, sort keys
//	hist_expr.go     fields, modifiers and expressions
//	hist_var.go      variables, and references to those of other histograms
//	hist_action.go   onmatch, onmax, onchange; trace, save, snapshot
//	hist_print.go    the file hist, and a histogram's line in the file trigger
//	hist.go          a hit
//
// Synthetic events, which actions make happen, are in synth.go.

// Limits; see kernel/trace/tracing_map.h and trace_synth.h.
const (
	histMaxKeys    = 3
	histMaxVals    = 3
	histMaxVars    = 16
	histMaxSort    = 2
	histMaxActions = 8
	histBits       = 11 // of size=2048
	histMinBits    = 7
	histMaxBits    = 17
	histMaxKey     = histText + 8*histDepth
	histText       = 256 // MAX_FILTER_STR_VAL: of a string whose length is not known, and of a variable
	histDepth      = 16  // HIST_STACKTRACE_DEPTH
	histSkip       = 2   // frames of a stack that are the event's own: of HIST_STACKTRACE_SKIP the first three are Linux's functions only
	synthMaxFields = 64
)

// histFlags are the kinds and modifiers of a field: enum hist_field_flags.
type histFlags uint32

const (
	histHitcount histFlags = 1 << iota
	histKey
	histString
	histHex
	histSym
	histSymOffset
	histExecname
	histSyscall
	histStacktrace
	histLog2
	histTimestamp
	histUsecs
	histVarField
	histExpr
	histVarRef
	histCPU
	histAlias
	histBucket
	histConst
	histPercent
	histGraph
)

// hist is a histogram: struct hist_trigger_data. One with a name may serve several triggers.
type hist struct {
	u      *eventUse
	attrs  histAttrs
	fields []*histField // hitcount, the values, the variables; behind them the keys
	nVals  int          // with the variables
	nVars  int
	size   int // of the key
	sort   []event.HistSort
	stamps bool // a field is common_timestamp
	remove bool // made only to find what a "!" names
	m      *event.HistMap

	refs      []*histField // references to variables
	actions   []*histAction
	fieldVars []*histFieldVar
	saveVars  []*histFieldVar
	varHists  []*histOther // histograms that were made for this one's actions
	scratch   *histScratch
}

func (h *hist) vals() []*histField { return h.fields[:h.nVals] }
func (h *hist) keys() []*histField { return h.fields[h.nVals:] }

// histField is a key, a value, a variable, a reference, or a part of an expression: struct hist_field. It is not changed once its
// histogram is made, so that forks of a machine share it; what a reference leads to is in the histogram's list of references.
type histField struct {
	field   *event.Field // of the event; nil: none
	flags   histFlags
	buckets uint64
	typ     string
	size    int
	offset  int
	signed  bool
	ops     [2]*histField
	op      byte
	name    string // of an expression or a reference

	varName       string // of a variable
	varOf         *hist  // whose variable it is, or refers to
	varIdx        int
	refIdx        int
	once          bool   // a reference that takes the value away
	system, event string // of a reference that names them
	constant      uint64
	num           func(x *histHit) uint64
	str           func(x *histHit) []byte // of strings
}

// histFieldVar is a variable that is made of a field for an action.
type histFieldVar struct{ v, val *histField }

// histOther is a histogram that was made on another event for a field of it.
type histOther struct {
	u   *eventUse
	cmd string
}

// histHit is what fields read when the event happens.
type histHit struct {
	h     *hist
	c     *kernel.VCPU
	t     *Tracer
	d     []byte
	ts    uint64
	depth uint32 // of the event
	elt   *event.HistElt
	refs  []event.HistVar
}

// histScratch is what a hit needs room for; one is kept, so that hits do not allocate.
type histScratch struct {
	busy bool
	hit  histHit
	key  [histMaxKey]byte
	refs [histMaxVars]event.HistVar
}

// histTrigger is event_hist_trigger.
func histTrigger(x *trigger, c *kernel.VCPU, e *trigEvent) {
	h := x.hist
	s := h.scratch
	if s.busy { // an action has led back here
		s = &histScratch{}
	}
	s.busy = true
	hit := &s.hit
	hit.depth = x.use.ev.depth
	hit.h, hit.c, hit.t, hit.d, hit.ts, hit.elt, hit.refs = h, c, x.use.t, e.d, e.ts, nil, s.refs[:len(h.refs)]
	h.hit(x, hit, h.key(x, hit, s.key[:h.size]))
	s.busy = false
}

// key makes the key of a hit.
func (h *hist) key(x *trigger, hit *histHit, key []byte) []byte {
	keys := h.keys()
	if len(keys) == 1 && keys[0].str == nil && keys[0].flags&histStacktrace == 0 {
		binary.LittleEndian.PutUint64(key, keys[0].value(hit))
		return key
	}
	clear(key)
	for _, k := range keys {
		at := key[k.offset : k.offset+k.size]
		switch {
		case k.flags&histStacktrace != 0:
			x.use.histStack(hit.c, at)
		case k.str != nil:
			copy(at[:len(at)-1], k.str(hit))
		default:
			binary.LittleEndian.PutUint64(at, k.value(hit))
		}
	}
	return key
}

// hit counts an event: the variables of others first, then this row, then the actions.
func (h *hist) hit(x *trigger, hit *histHit, key []byte) {
	if len(h.refs) > 0 && !h.resolve(key, hit.refs, false) {
		return
	}
	e, fresh := h.m.Insert(key)
	if e == nil {
		return
	}
	if fresh {
		hit.saveComm(e)
	}
	hit.elt = e
	for i, f := range h.vals() {
		if f.flags&histVarField == 0 {
			e.Sums[i] += f.value(hit)
			continue
		}
		hit.setVar(&e.Vars[f.varIdx], f)
	}
	for _, v := range h.fieldVars {
		hit.setVar(&e.Vars[v.v.varIdx], v.val)
	}
	if h.resolve(key, hit.refs, true) {
		for _, a := range h.actions {
			a.do(h, hit, key)
		}
	}
}

// setVar sets a variable to the value of a field.
func (x *histHit) setVar(v *event.HistVar, f *histField) {
	v.Set = true
	if f.str != nil {
		s := f.str(x)
		v.Str = append(v.Str[:0], s[:min(len(s), min(f.size, histText)-1)]...)
		return
	}
	v.Num = f.value(x)
}

// saveComm notes the task in a new row.
func (x *histHit) saveComm(e *event.HistElt) {
	task := x.c.CurrentAddr()
	e.Comm = hot{x.t.m}.comm(task + x.t.lay.comm)
	if x.c.CurrentPid() == 0 {
		e.Comm = [16]byte{}
		copy(e.Comm[:], "<idle>")
	}
}

// resolve reads the variables that are referred to: of this histogram with self, else of the others; false: one is not set.
func (h *hist) resolve(key []byte, refs []event.HistVar, self bool) bool {
	for i, f := range h.refs {
		if (f.varOf == h) != self {
			continue
		}
		e := f.varOf.m.Lookup(key)
		if e == nil || !e.Vars[f.varIdx].Set {
			return false
		}
		refs[i] = e.Vars[f.varIdx]
		if !self && f.once {
			e.Vars[f.varIdx].Set = false
		}
	}
	return true
}

// histStack puts the stack of an event into a key: what is behind the functions that make the record.
func (u *eventUse) histStack(c *kernel.VCPU, key []byte) {
	n := -histSkip
	if s := u.ev.System; s == "syscalls" || s == "raw_syscalls" {
		n++ // syscall_trace_enter and syscall_exit_to_user_mode_prepare are inlined in the image
	}
	u.stack(c, func(pc uint64) bool {
		if n >= 0 {
			binary.LittleEndian.PutUint64(key[8*n:], pc)
		}
		n++
		return n < histDepth
	})
}

// stack walks the stack of an event, from the function that records it on.
func (u *eventUse) stack(c *kernel.VCPU, f func(pc uint64) bool) {
	r := u.t.root()
	if u.ev.Above != nil {
		names, walk := u.ev.Above()
		for _, n := range names {
			if !f(r.shadowName(n) + 1) { // where it would go on
				return
			}
		}
		if walk != nil {
			walk(f)
			return
		}
	}
	for _, pc := range u.ev.recorder(r) {
		if !f(pc) {
			return
		}
	}
	inside := true
	_ = c.Walk(func(fr *kernel.Frame) bool {
		if inside {
			if inside = fr.PC < kernelText || c.Shadow(fr.PC); inside {
				return true
			}
		}
		return !fr.User && f(fr.PC)
	})
}

// log2Of is ilog2(roundup_pow_of_two(x)).
func log2Of(x uint64) uint64 {
	if x < 2 {
		return 0
	}
	return uint64(bits.Len64(x - 1))
}
