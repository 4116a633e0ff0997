package ftrace

import (
	"slices"

	"kscope/ftrace/event"
	"kscope/ftrace/ring"
	"kscope/kernel"
)

// Event triggers: what a tracer does when an event happens, whether it records the event or not. They hang off the event's use in
// a tracer (Linux's trace_event_file), and are written to events/SYSTEM/EVENT/trigger; see kernel/trace/trace_events_trigger.c.
//
// A trigger that needs no record acts before the event is written. Once any of the event's triggers has a filter, needs the record
// or acts behind it, all wait for the record: it is made in the ring, or aside when the event sleeps or the ring takes none
// (openTriggered), shown to the triggers, and kept or taken back (closeTriggered).

// triggerKind is a row of the triggers: Linux's struct event_command.
type triggerKind struct {
	name   string
	family triggerFamily
	post   bool // it acts behind the event (EVENT_CMD_FL_POST_TRIGGER)
	target bool // it is about another event: SYSTEM:EVENT
	enable bool // of those that switch: on
	act    func(x *trigger, c *kernel.VCPU, e *trigEvent)
}

// triggerFamily is what an event may have one of, but for other events and histograms: enum event_trigger_type.
type triggerFamily uint8

const (
	familyOnOff triggerFamily = iota
	familySnapshot
	familyStack
	familyEvent
	familyHistSwitch
	familyHist
	familyProbe // of an event probe: not listed
)

// triggerKinds are in the order in which an empty file lists them.
var triggerKinds = [...]triggerKind{
	{name: "traceon", family: familyOnOff, enable: true, act: turnTrigger},
	{name: "traceoff", family: familyOnOff, post: true, act: turnTrigger},
	{name: "snapshot", family: familySnapshot, act: snapshotTrigger},
	{name: "stacktrace", family: familyStack, post: true, act: stackTrigger},
	{name: "enable_event", family: familyEvent, target: true, enable: true, act: eventTrigger},
	{name: "disable_event", family: familyEvent, target: true, act: eventTrigger},
	{name: "enable_hist", family: familyHistSwitch, target: true, enable: true, act: histSwitchTrigger},
	{name: "disable_hist", family: familyHistSwitch, target: true, act: histSwitchTrigger},
	{name: "hist", family: familyHist, act: histTrigger},
}

// trigger is one trigger of an event in a tracer.
type trigger struct {
	kind   *triggerKind
	use    *eventUse // whose trigger it is
	count  int64     // -1: unlimited
	filter *event.Filter
	text   string    // of the filter; "": none
	target *eventUse // of kinds with target
	paused bool
	hist   *hist       // of hist; of a named one, shared
	probe  *TraceEvent // of an event probe
	owner  *trigger    // of a named histogram that another trigger made
	refs   int         // of a histogram: triggers that use it
}

// probeKind is the trigger of an event probe: see kernel/trace/trace_eprobe.c.
var probeKind = triggerKind{name: "eprobe", family: familyProbe, act: func(x *trigger, c *kernel.VCPU, e *trigEvent) {
	if x.probe.Record != nil {
		x.probe.depth = x.use.ev.depth + 1 // as within a reservation
		x.probe.Record(x.use.t, c, e.d)
	}
}}

// Hold keeps an event from being removed, once more with true and once less with false.
func (ev *TraceEvent) Hold(on bool) { ev.held += 2*b2i(on) - 1 }

// Probe has ev.Record called with each record of the event target in t, and of those only that pass the filter, if any, until Unprobe.
func (t *Tracer) Probe(target, ev *TraceEvent, filter *event.Filter) error {
	u := t.use(target)
	return u.addTrigger(&trigger{kind: &probeKind, use: u, count: -1, filter: filter, probe: ev}, true)
}

// Unprobe ends that, if it was in t.
func (t *Tracer) Unprobe(target, ev *TraceEvent) error {
	u := t.use(target)
	for _, x := range u.triggers() {
		if x.probe == ev {
			return u.dropTrigger(x)
		}
	}
	return nil
}

// UnprobeAll ends that wherever it was.
func (t *Tracer) UnprobeAll(target, ev *TraceEvent) error {
	for _, x := range append([]*Tracer{t.root()}, t.root().instances...) {
		for _, trig := range x.use(target).triggers() {
			if trig.probe == ev {
				if err := trig.use.dropTrigger(trig); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// trigSet is an event's triggers in the order of its file. It is replaced, never changed.
type trigSet struct {
	list []*trigger
	cond bool // they wait for the record (TRIGGER_COND)
	time bool // one wants the event's time, recorded or not
}

// setTriggers replaces the list, and arms the event with the first: trace_event_trigger_enable_disable and update_cond_flag.
func (u *eventUse) setTriggers(list []*trigger) error {
	had := u.trig != nil
	if len(list) == 0 {
		u.trig = nil
	} else {
		s := &trigSet{list: list}
		for _, x := range list {
			s.cond = s.cond || x.filter != nil || x.kind.post || x.kind.family >= familyHist
			s.time = s.time || x.hist != nil && x.hist.stamps
		}
		u.trig = s
	}
	if has := u.trig != nil; has != had {
		return u.enable(has, true)
	}
	return nil
}

// triggers is the list, nil when there are none.
func (u *eventUse) triggers() []*trigger {
	if u.trig == nil {
		return nil
	}
	return u.trig.list
}

// addTrigger puts a trigger in front, or, for a histogram, behind.
func (u *eventUse) addTrigger(x *trigger, behind bool) error {
	list := u.triggers()
	if behind {
		list = append(slices.Clip(list), x)
	} else {
		list = append([]*trigger{x}, list...)
	}
	return u.setTriggers(list)
}

// dropTrigger takes a trigger out, with what it holds.
func (u *eventUse) dropTrigger(x *trigger) error {
	if err := u.setTriggers(slices.DeleteFunc(slices.Clone(u.triggers()), func(y *trigger) bool { return y == x })); err != nil {
		return err
	}
	return x.free()
}

func (x *trigger) free() error {
	if x.target != nil {
		return x.target.enable(false, true)
	}
	if x.hist != nil {
		return x.freeHist()
	}
	return nil
}

// dropTriggers is clear_event_triggers for one event.
func (u *eventUse) dropTriggers() {
	for _, x := range u.triggers() {
		_ = u.dropTrigger(x)
	}
}

// trigEvent is a record that triggers look at.
type trigEvent struct {
	openEvent
	ts   uint64
	ring *ring.Buffer // that it is in; nil: it was made aside
	keep bool         // made aside only because the event slept: it may yet be recorded
	out  bool         // the task's events are not recorded (set_event_pid)
	buf  []byte       // to make it aside
}

// maxTrigDepth bounds triggers that make events happen which have triggers.
const maxTrigDepth = 4

// openTriggered is open for an event with triggers; out says that the task's events are not recorded.
func (u *eventUse) openTriggered(c *kernel.VCPU, n int, out bool) *trigEvent {
	t, s := u.t, u.trig
	if !s.cond {
		for _, x := range s.list {
			if !x.paused {
				x.kind.act(x, c, nil)
			}
		}
		if u.asleep || out {
			return nil
		}
	}
	r := t.root()
	if r.trigDepth == maxTrigDepth {
		return nil
	}
	p, e := &t.cpu[c.ID], &r.trigs[r.trigDepth]
	e.ring, e.keep = nil, false
	e.running, e.out = t.running(c), out
	e.pc += u.ev.depth
	if !(u.asleep || out) && t.records(p) {
		e.ts = t.now(c)
		if d, ok := p.ring.Reserve(e.ts, n); ok {
			e.d = d
			e.ring = p.ring
		} else if t.lost != nil {
			t.tellLost(c, "dropped", 0, u.ev.ID)
		}
	}
	if e.ring == nil {
		if !s.cond {
			return nil
		}
		if e.keep = t.records(p) && (u.asleep || out); s.time {
			e.ts = t.now(c)
		}
		if cap(e.buf) < n {
			e.buf = make([]byte, n)
		}
		e.d = e.buf[:n]
	}
	r.trigDepth++
	t.header(c, u.ev.ID, e.running).Put(e.d)
	return e
}

// closeTriggered shows the record to the triggers, and then keeps it or takes it back: trace_event_buffer_commit with
// __event_trigger_test_discard.
func (u *eventUse) closeTriggered(c *kernel.VCPU, e *trigEvent) {
	t, s := u.t, u.trig
	r := t.root()
	c.Charge(costEvent)
	post := uint(0)
	if s.cond {
		post = u.show(c, e)
	}
	keep := !u.asleep && !e.out && (u.filter == nil || u.matches(u.filter, c, e.d, e.task))
	if e.ring == nil && keep && e.keep {
		p := &t.cpu[c.ID]
		if !s.time {
			e.ts = t.now(c)
		}
		if d, ok := p.ring.Reserve(e.ts, len(e.d)); ok {
			copy(d, e.d)
			e.ring = p.ring
		}
	}
	r.trigDepth--
	if e.ring != nil {
		if keep {
			e.ring.Commit()
			t.committed(c, e.running)
			if t.options&(1<<optStacktrace|1<<optUserStack) != 0 {
				t.afterEvent(c, u.ev.depth, func() { t.traceStackBelow(c, u.ev.depth, u.ev.recorder(r)...) })
			}
		} else {
			e.ring.Discard()
		}
	}
	u.actBehind(c, post)
}

// show lets the triggers whose filters a record passes act, and says which families are to act behind it: event_triggers_call.
func (u *eventUse) show(c *kernel.VCPU, e *trigEvent) (post uint) {
	for _, x := range u.trig.list {
		switch {
		case x.paused || x.filter != nil && !u.matches(x.filter, c, e.d, e.task):
		case x.kind.post:
			post |= 1 << x.kind.family
		default:
			x.kind.act(x, c, e)
		}
	}
	return post
}

// actBehind is event_triggers_post_call.
func (u *eventUse) actBehind(c *kernel.VCPU, post uint) {
	if post == 0 || u.trig == nil {
		return
	}
	for _, x := range u.trig.list {
		if !x.paused && post&(1<<x.kind.family) != 0 {
			x.kind.act(x, c, nil)
		}
	}
}

// spend is one less of a count, false when it is used up.
func (x *trigger) spend() bool {
	if x.count == 0 {
		return false
	}
	if x.count > 0 {
		x.count--
	}
	return true
}

// turnTrigger is traceon and traceoff: a change that changes nothing costs no count.
func turnTrigger(x *trigger, c *kernel.VCPU, _ *trigEvent) {
	if t := x.use.t; t.on != x.kind.enable && x.spend() {
		t.switchOn(c, x.kind.enable)
	}
}

func snapshotTrigger(x *trigger, c *kernel.VCPU, _ *trigEvent) {
	if x.spend() {
		x.use.t.takeSnapshot(c)
	}
}

func stackTrigger(x *trigger, c *kernel.VCPU, _ *trigEvent) {
	if !x.spend() {
		return
	}
	var pcs []uint64
	x.use.stack(c, func(pc uint64) bool {
		pcs = append(pcs, pc)
		return len(pcs) < maxStack
	})
	if head := x.use.ev.Head; head != nil {
		x.use.t.writeStack(c, pcs, x.use.ev.depth, head)
	} else {
		x.use.t.writeStack(c, pcs, x.use.ev.depth)
	}
}

// eventTrigger is enable_event and disable_event; only those with a count look whether there is something to do.
func eventTrigger(x *trigger, _ *kernel.VCPU, _ *trigEvent) {
	if x.count >= 0 && (x.target.asleep != x.kind.enable || !x.spend()) {
		return
	}
	x.target.asleep = !x.kind.enable
}

// histSwitchTrigger is enable_hist and disable_hist, for all histograms of the event.
func histSwitchTrigger(x *trigger, _ *kernel.VCPU, _ *trigEvent) {
	if !x.spend() {
		return
	}
	for _, y := range x.target.triggers() {
		if y.hist != nil {
			y.paused = !x.kind.enable
		}
	}
}
