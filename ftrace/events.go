package ftrace

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"kscope/ftrace/event"
	"kscope/kernel"
)

// TraceEvent is an event that can be switched on, in each tracer by itself: Linux's trace_event_call, with its
// trace_event_file in every trace_array. Packages that have events add them with AddEvent and call Fire where they happen.
type TraceEvent struct {
	*event.Format
	// Switch arms the place where the event happens: it is called when the first tracer wants the event, and when the last
	// does not any more. nil: it is always armed.
	Switch func(on bool) error
	// SwitchIn is Switch for an event probe, which is armed in one tracer: the first that wants it. When the last does not any more it
	// is asked for where that is, as in 6.1: if it is another, the event goes on (see enable_trace_eprobe and disable_eprobe).
	SwitchIn func(t *Tracer, on bool) error
	// Above, of the events of probes, names what Linux's stacks of triggers have above the probed code, innermost first, and walks the
	// stack below, while the event is being recorded. nil: they begin at the probed code.
	Above func() (names []string, walk func(f func(pc uint64) bool))

	// Head changes the header of a stack that a trigger of the event writes, as the event's own is changed; nil: it does not.
	Head func(d []byte)
	// Record, of an event probe, is called with the records of the event it is on in t; see Probe.
	Record func(t *Tracer, c *kernel.VCPU, d []byte)

	held  int         // event probes on it
	depth uint32      // preempt count that the tracepoint adds in the event's flags
	point bool        // of a tracepoint
	class string      // DECLARE_EVENT_CLASS of an event that the guest describes
	made  bool        // code of a module makes its records
	top   uint64      // where stacks of it begin; see recorder
	users []*eventUse // tracers that have it on, in order of switching on
	files []File      // its rows, the same in every tracer

	listeners []*listener
}

// Key is SYSTEM:NAME.
func (ev *TraceEvent) Key() string { return ev.System + ":" + ev.Name }

// Used says whether a tracer has it on, or somebody listens.
func (ev *TraceEvent) Used() bool { return len(ev.users) > 0 || len(ev.listeners) > 0 }

// eventUse is an event in one tracer.
type eventUse struct {
	t      *Tracer
	ev     *TraceEvent
	on     bool // the place is armed (ENABLED)
	wasOn  bool // it has been (WAS_ENABLED): there may be records of it
	soft   int  // commands and triggers that want it armed, whoever wants it recorded (sm_ref, SOFT_MODE)
	asleep bool // armed, but not recorded (SOFT_DISABLED)
	filter *event.Filter
	text   string   // of the filter file; "": none
	trig   *trigSet // nil: it has no triggers
}

// eventFiles are the files of each event.
var eventFiles = [...]File{
	{Path: "enable", Mode: 0o640, Text: eventEnableText, Write: writeEventEnable, Doc: "whether the event is recorded: 0 or 1"},
	{Path: "filter", Once: true, Mode: 0o640, Text: eventFilterText, Write: writeEventFilter, Doc: "which of these events are recorded; 0: all"},
	{Path: "format", Mode: 0o440, Text: traceEventFormat, Doc: "fields of a record of this event"},
	{Path: "hist", Mode: 0o440, Text: histFileText, Doc: "the histograms that triggers of this event have made"},
	{Path: "id", Mode: 0o440, Text: traceEventID, Doc: "number of this event in records"},
	{Path: "trigger", Mode: 0o640, Open: openTrigger, Text: triggerText, Write: writeTrigger,
		Doc: "what happens with the event: COMMAND[:COUNT] [if FILTER], !COMMAND takes it away"},
}

var systemFiles = [...]File{
	{Path: "enable", Mode: 0o640, Text: systemEnableText, Write: writeSystemEnable, Doc: "all events of the system: 0, 1, or X when they differ"},
	{Path: "filter", Once: true, Mode: 0o640, Text: systemFilterText, Write: writeSystemFilter, Doc: "one filter for all events of the system that it fits"},
}

// AddEvent makes an event known, with its files, in all tracers.
func (t *Tracer) AddEvent(ev *TraceEvent) {
	r := t.root()
	r.events.Add(ev.Format)
	at, _ := slices.BinarySearchFunc(r.catalog, ev.ID, func(x *TraceEvent, id uint16) int { return cmp.Compare(x.ID, id) })
	r.catalog = slices.Insert(r.catalog, at, ev)
	ev.files = ev.rows()
	for _, x := range append([]*Tracer{r}, r.instances...) {
		x.addEventFiles(ev)
	}
}

// rows makes the event's rows of the table.
func (ev *TraceEvent) rows() []File {
	var rows []File
	for _, f := range systemFiles {
		f.Path = "events/" + ev.System + "/" + f.Path
		rows = append(rows, f)
	}
	for _, f := range eventFiles {
		f.Path = "events/" + ev.System + "/" + ev.Name + "/" + f.Path
		rows = append(rows, f)
	}
	return rows
}

func (t *Tracer) addEventFiles(ev *TraceEvent) {
	root := t.fs.rootOf(t)
	for i := range ev.files {
		if f := &ev.files[i]; root.find(f.Path) == nil {
			t.fs.addRow(root, f)
		}
	}
}

// RemoveEvent takes an event out of all tracers; EBUSY while one has it on.
func (t *Tracer) RemoveEvent(ev *TraceEvent) error {
	r := t.root()
	if ev.Used() || ev.held > 0 {
		return kernel.EBUSY
	}
	r.events.Remove(ev.Format)
	r.catalog = slices.DeleteFunc(slices.Clone(r.catalog), func(x *TraceEvent) bool { return x == ev })
	last := !slices.ContainsFunc(r.catalog, func(x *TraceEvent) bool { return x.System == ev.System })
	for _, x := range append([]*Tracer{r}, r.instances...) {
		if u := x.uses[ev]; u != nil && u.wasOn {
			x.stale = true
		}
		delete(x.uses, ev)
		dir := "events/" + ev.System
		if !last {
			dir += "/" + ev.Name
		}
		if n := t.fs.rootOf(x).find(dir); n != nil {
			t.fs.drop(n)
		}
	}
	return nil
}

// ClearStale empties the rings that may have records of events that are gone: tracing_reset_all_online_cpus, which 6.1 calls when
// dynamic events are removed through their own files.
func (t *Tracer) ClearStale() {
	r := t.root()
	for _, x := range append([]*Tracer{r}, r.instances...) {
		if x.stale {
			x.stale = false
			x.reset()
		}
	}
}

// TraceEvents lists the events in order of id.
func (t *Tracer) TraceEvents() []*TraceEvent { return slices.Clone(t.root().catalog) }

// TraceEvent finds an event by system and name.
func (t *Tracer) TraceEvent(system, name string) (*TraceEvent, bool) {
	for _, ev := range t.root().catalog {
		if ev.System == system && ev.Name == name {
			return ev, true
		}
	}
	return nil, false
}

// ForkEvent gives the copy of an event in a fork of its tracer; its owner must set the copy's Switch.
func (t *Tracer) ForkEvent(old *TraceEvent) *TraceEvent { return t.root().eventForks[old] }

// forkEvents copies the events, and what each tracer has made of them, from t to its fork n.
func (n *Tracer) forkEvents(t *Tracer) {
	n.catalog, n.eventForks = nil, map[*TraceEvent]*TraceEvent{}
	for _, ev := range t.catalog {
		c := &TraceEvent{Format: ev.Format, files: ev.files, depth: ev.depth, point: ev.point, class: ev.class, made: ev.made, top: ev.top, held: ev.held}
		n.catalog = append(n.catalog, c)
		n.eventForks[ev] = c
	}
	if n.marker = nil; t.marker != nil {
		n.marker = &TraceEvent{Format: t.marker.Format, point: true, top: t.marker.top}
		n.eventForks[t.marker] = n.marker
	}
	forks := map[*eventUse]*eventUse{}
	use := func(to, from *Tracer) {
		to.view, to.printks, to.keeper, to.endless = nil, nil, nil, nil // losses are watched on this machine alone
		to.uses = make(map[*TraceEvent]*eventUse, len(from.uses))
		for ev, u := range from.uses {
			c := *u
			c.t, c.ev = to, n.eventForks[ev]
			to.uses[c.ev], forks[u] = &c, &c
		}
	}
	use(n, t)
	for i, x := range n.instances {
		use(x, t.instances[i])
	}
	for ev, c := range n.eventForks {
		for _, u := range ev.users {
			c.users = append(c.users, forks[u])
		}
	}
	n.forkTriggers(t, forks)
}

// use is an event's state in t.
func (t *Tracer) use(ev *TraceEvent) *eventUse {
	u := t.uses[ev]
	if u == nil {
		if t.uses == nil {
			t.uses = map[*TraceEvent]*eventUse{}
		}
		u = &eventUse{t: t, ev: ev}
		t.uses[ev] = u
	}
	return u
}

// EnableEvent switches an event on or off in t.
func (t *Tracer) EnableEvent(ev *TraceEvent, on bool) error {
	u := t.use(ev)
	if u.on == on && u.soft == 0 {
		return nil
	}
	if err := t.expand(); err != nil {
		return err
	}
	return u.enable(on, false)
}

// enable is __ftrace_event_enable_disable. With soft it is for a command or a trigger: the place is armed, and the event sleeps
// until somebody wants it recorded. One that is awake when the last of them goes stays on.
func (u *eventUse) enable(on, soft bool) error {
	if on {
		if !soft {
			u.asleep = false
		} else if u.soft++; u.soft > 1 {
			return nil
		}
		if u.on {
			return nil
		}
		u.asleep = soft
		return u.arm(true)
	}
	off := u.soft == 0
	if soft {
		if u.soft--; u.soft > 0 {
			return nil
		}
		off = u.asleep
	}
	u.asleep = u.soft > 0
	if off && u.on {
		return u.arm(false)
	}
	return nil
}

// arm puts the event into its users, or takes it out.
func (u *eventUse) arm(on bool) error {
	t, ev := u.t, u.ev
	users := slices.DeleteFunc(slices.Clone(ev.users), func(x *eventUse) bool { return x == u })
	if on {
		users = append(users, u)
	}
	if err := ev.rearm(t, len(users)+len(ev.listeners)); err != nil {
		return err
	}
	ev.users = users // a new list: the old one may be in use by Fire
	u.on, u.wasOn = on, u.wasOn || on
	t.eventsOn += 2*b2i(on) - 1
	return nil
}

// rearm arms the event's place, or disarms it, when it is to have n users, of whom the one in t is new or gone.
func (ev *TraceEvent) rearm(t *Tracer, n int) error {
	used := ev.Used()
	switch {
	case used == (n > 0):
		return nil
	case ev.SwitchIn != nil:
		return ev.SwitchIn(t, !used)
	case ev.Switch != nil:
		return ev.Switch(!used)
	}
	return nil
}

// Fire records one event of n bytes in every tracer that has it on: fill gets the record with its header in place.
func (ev *TraceEvent) Fire(c *kernel.VCPU, n int, fill func(d []byte)) {
	for _, u := range ev.users {
		u.fire(c, n, fill)
	}
	if len(ev.listeners) > 0 {
		ev.hear(c, n, fill)
	}
}

// FireIn is Fire in one tracer, and for listeners. An event probe comes here, whether t still wants the event or not.
func (ev *TraceEvent) FireIn(t *Tracer, c *kernel.VCPU, n int, fill func(d []byte)) {
	t.use(ev).fire(c, n, fill)
	if len(ev.listeners) > 0 {
		ev.hear(c, n, fill)
	}
}

func (u *eventUse) fire(c *kernel.VCPU, n int, fill func(d []byte)) {
	l := &u.t.eventPids
	out := l.active() && l.ignores(int32(c.CurrentPid()))
	switch {
	case u.trig != nil:
		if o := u.openTriggered(c, n, out); o != nil {
			fill(o.d)
			u.closeTriggered(c, o)
		}
	case !out && !u.asleep:
		u.record(c, n, fillFunc(fill))
	}
}

// fillFunc is a filler.
type fillFunc func(d []byte)

func (f fillFunc) fill(_ *kernel.VCPU, d []byte) { f(d) }

// openEvent is a record that is being written.
type openEvent struct {
	d []byte
	running
}

// stacks writes those that options want behind an event.
func (u *eventUse) stacks(c *kernel.VCPU) {
	u.t.afterEvent(c, u.ev.depth, func() { u.t.traceStackBelow(c, u.ev.depth, u.ev.recorder(u.t.root())...) })
}

// userEnd is where user space ends (TASK_SIZE_MAX).
const userEnd = 1<<47 - 4096

// filterView is what a tracer's filters see of an event that is being written: one for all of them, so that asking a filter
// allocates nothing.
type filterView struct {
	event.Record
	t    *Tracer
	c    *kernel.VCPU
	task uint64
	comm [16]byte
}

func (t *Tracer) newFilterView() *filterView {
	v := &filterView{t: t}
	v.Comm = func() []byte {
		v.comm = hot{v.t.m}.comm(v.task + v.t.lay.comm)
		return v.comm[:nul(v.comm[:])]
	}
	v.Str = func(va uint64, user bool) ([]byte, bool) {
		if user != (va < userEnd) {
			return nil, false
		}
		s, err := v.c.CPU.Str(va, 255)
		return []byte(s), err == nil
	}
	return v
}

// passes asks the filter about the record d of the current task.
func (u *eventUse) passes(c *kernel.VCPU, d []byte, task uint64) bool {
	if pass, ok := u.filter.Numbers(d, c.ID); ok {
		return pass
	}
	return u.matches(u.filter, c, d, task)
}

// matches asks a filter of the event, of a trigger's too.
func (u *eventUse) matches(f *event.Filter, c *kernel.VCPU, d []byte, task uint64) bool {
	v := u.t.view
	if v == nil {
		v = u.t.newFilterView()
		u.t.view = v
	}
	v.Data, v.CPU, v.c, v.task = d, c.ID, c, task
	return f.Match(&v.Record)
}

// matchBytes compiles a pattern for the filters' operator ~; see filter_build_regex: a pattern that begins with a digit is
// taken literally.
func matchBytes(text string) func(s []byte) bool {
	p := parsePattern(text)
	if p.kind == matchIndex {
		p.kind = matchFull
	}
	return func(s []byte) bool { return p.match(string(s)) != p.not }
}

// filterEnv is what filters may use: later kernels' syntax by features.
func (t *Tracer) filterEnv() event.FilterEnv {
	env := event.FilterEnv{Glob: matchBytes}
	if t.m == nil {
		return env
	}
	if env.CPUs = t.m.Feature(featureFilterCPUs); t.m.Feature(featureFilterFunction) {
		env.Function = func(text string) (start, end uint64, bad bool) {
			va, err := strconv.ParseUint(text, 0, 64)
			if text == "" || text[0] < '0' || text[0] > '9' {
				var ok bool
				if va, ok = t.m.Symbols().Lookup(text); !ok {
					return 0, 0, true
				}
			} else if err != nil {
				return 0, 0, true
			}
			s, off := t.m.Symbols().At(va)
			if s.Name == "" {
				return 0, 0, true
			}
			return va - off, va - off + s.Size, false
		}
	}
	return env
}

// setFilter is apply_event_filter; h logs the error of a bad one.
func (u *eventUse) setFilter(now uint64, text string) error {
	text = stripEnd(text)
	if strings.TrimSpace(text) == "0" {
		u.filter, u.text = nil, ""
		return nil
	}
	f, err := event.ParseFilter(u.ev.Format, text, u.t.filterEnv())
	if err != nil {
		u.filter, u.text = nil, err.Report(text)
		u.t.LogError(now, "event filter parse error", err.Error(), text, err.Pos)
		return kernel.Errno(err.Errno)
	}
	u.filter, u.text = f, text
	return nil
}
