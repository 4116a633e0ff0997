package kprobe

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"kscope/ftrace"
	"kscope/ftrace/event"
	"kscope/kernel"
)

// firstID is the first id of our events; 1392 is what the oracle's kernel gives.
const firstID = 1392

// The fields that each record has; see kernel/trace/trace_probe.h.
const (
	fieldIP    = "__probe_ip"
	fieldRetIP = "__probe_ret_ip"
	fieldFunc  = "__probe_func"
)

// Event is one line of kprobe_events: struct trace_kprobe.
type Event struct {
	*Line
	Hits uint64

	k      *Kprobes
	group  *group
	probe  *Probe
	ret    *Ret
	placed bool   // false: the place may come with a module
	seq    uint64 // of all dynamic events

	fetches bool    // it has strings
	quick   []quick // its arguments, when all of them are registers

	hit        *Hit   // that was recorded last
	recording  bool   // it is just being recorded
	addr, from uint64 // of it: the place, and the return address
	fill       func(d []byte)
}

// group is the events of one name: struct trace_probe_event.
type group struct {
	event *ftrace.TraceEvent
	list  []*Event
	fixed int // bytes of a record without strings
	fetch fetcher
}

// Probe is the kprobe behind the event, and Ret its kretprobe or nil.
func (e *Event) Probe() *Probe { return e.probe }
func (e *Event) Ret() *Ret     { return e.ret }

// System is the event's group, ID its number in records.
func (e *Event) System() string { return e.Group }
func (e *Event) ID() uint16     { return e.group.event.ID }

// On says whether the event is enabled.
func (e *Event) On() bool { return e.group.event.Used() }

// Missed is the second number of kprobe_profile.
func (e *Event) Missed() uint64 {
	if e.ret != nil {
		return e.ret.Missed()
	}
	return e.probe.Missed
}

// Text is the event's line of kprobe_events.
func (e *Event) Text() string {
	letter := "p"
	if e.Return {
		letter = "r"
		if e.placed {
			letter += strconv.Itoa(e.ret.MaxActive)
		} else if e.MaxActive > 0 {
			letter += strconv.Itoa(e.MaxActive)
		}
	}
	return fmt.Sprintf("%s:%s/%s %s%s", letter, e.Group, e.Name, e.where(), e.argsText())
}

// Events are the lines of kprobe_events in order.
func (k *Kprobes) Events() []*Event { return k.events }

// EventsText is kprobe_events.
func (k *Kprobes) EventsText() string {
	var s strings.Builder
	for _, e := range k.events {
		s.WriteString(e.Text() + "\n")
	}
	return s.String()
}

// Define does one command of kprobe_events: a definition, or -:[GRP/]EVENT [PLACE [ARGS]], which gives no event.
func (k *Kprobes) Define(command string) (*Event, error) {
	words := fields(command)
	if len(words) == 0 {
		return nil, nil
	}
	if command[0] == '-' {
		return nil, k.undefine(words, false)
	}
	l, err := k.parseLine(words)
	if err != nil {
		return nil, err
	}
	e := &Event{Line: l, k: k, seq: k.t.NextDynamic()}
	if err := k.add(e); err != nil {
		return nil, err
	}
	return e, nil
}

// findGroup finds the events of a name.
func (k *Kprobes) findGroup(system, name string) *group {
	for _, g := range k.groups {
		if g.event.System == system && g.event.Name == name {
			return g
		}
	}
	return nil
}

// add is register_trace_kprobe.
func (k *Kprobes) add(e *Event) error {
	if g := k.findGroup(e.Group, e.Name); g != nil {
		if err := k.sibling(e, g); err != nil {
			return err
		}
		e.group = g
		if err := k.register(e); err != nil {
			return err
		}
		g.list = append(g.list, e)
	} else {
		for _, f := range k.t.Events().All() {
			if f.System == e.Group && f.Name == e.Name {
				return e.src.fail(0, 0, msgEventExists, kernel.EEXIST)
			}
		}
		e.group = &group{}
		if err := k.register(e); err != nil {
			return err
		}
		k.newGroup(e)
	}
	k.events = append(k.events, e)
	if e.On() && e.placed {
		return k.Enable(e.probe)
	}
	return nil
}

// sibling checks another probe of an event that exists.
func (k *Kprobes) sibling(e *Event, g *group) error {
	old := g.list[0]
	if old.Return != e.Return {
		return e.src.fail(0, 0, msgDiffType, kernel.EEXIST)
	}
	if n := differ(e.Args, old.Args); n > 0 {
		return e.src.fail(n+1, 0, msgDiffArg, kernel.EEXIST)
	}
	for _, o := range g.list {
		if o.Symbol == e.Symbol && o.Offset == e.Offset && o.Addr == e.Addr && o.argsText() == e.argsText() {
			return e.src.fail(0, 0, msgSame, kernel.EEXIST)
		}
	}
	return nil
}

// differ is trace_probe_compare_arg_type: the first argument, from 1, in which two probes differ.
func differ(a, b []*Program) int {
	if len(a) != len(b) {
		return min(len(a), len(b)) + 1
	}
	for i := range a {
		if a[i].Type != b[i].Type || a[i].Count != b[i].Count || a[i].Name != b[i].Name {
			return i + 1
		}
	}
	return 0
}

// register puts the kprobe in place; see __register_trace_kprobe. The errors of the place become positioned ones.
func (k *Kprobes) register(e *Event) error {
	e.lay()
	err := k.place1(e)
	var errno kernel.Errno
	switch {
	case err == nil:
		e.placed = true
		return nil
	case !errors.As(err, &errno):
		return err
	case errno == kernel.ENOENT && (e.Symbol == "" || strings.Contains(e.Symbol, ":")):
		k.warn("This probe might be able to register after target module is loaded. Continue.")
		return nil
	}
	return e.placeError(err)
}

// placeError makes the error of a place one of its line.
func (l *Line) placeError(err error) error {
	var errno kernel.Errno
	switch {
	case !errors.As(err, &errno) || errno == kernel.ENOMEM:
		return err
	case errno == kernel.EILSEQ:
		return l.src.fail(1, 0, msgBadInsn, errno)
	case errno == kernel.ENOENT:
		return l.src.fail(1, 0, msgBadProbeAddr, errno)
	}
	return l.src.fail(1, 0, msgFailed, errno)
}

// warn is what Linux says in the log.
func (k *Kprobes) warn(text string) { k.log(4, "trace_kprobe: "+text) } // KERN_WARNING

// place1 finds the address and registers the probe.
func (k *Kprobes) place1(e *Event) error {
	addr := e.Addr
	e.probe = &Probe{}
	if e.Return {
		e.ret = &Ret{MaxActive: e.MaxActive, Return: eventReturn}
		e.probe = &e.ret.Probe
	} else {
		e.probe.Pre = eventHit
	}
	e.probe.event, e.probe.Name = e, e.Group+"/"+e.Name
	if e.Symbol != "" {
		sym, ok := k.m.Symbols().Lookup(e.Symbol)
		if !ok {
			return kernel.ENOENT
		}
		if addr = sym + e.Offset; k.noFunction(addr) {
			return kernel.EINVAL
		}
	} else if addr == 0 {
		return kernel.EINVAL
	}
	if k.notrace(addr) {
		k.warn("Could not probe notrace function " + cmp.Or(e.Symbol, "unknown")) // trace_kprobe_symbol's word for an address
		return kernel.EINVAL
	}
	for _, a := range e.Args {
		if err := a.resolve(k.m.Symbols()); err != nil {
			return err
		}
	}
	e.probe.Addr = addr
	if e.Return {
		return k.RegisterRet(e.ret)
	}
	return k.Register(e.probe)
}

func (k *Kprobes) noFunction(addr uint64) bool {
	s, _ := k.m.Symbols().At(addr)
	return s.Name == ""
}

// notrace is within_notrace_func: events are not put into functions without a call site (CONFIG_KPROBE_EVENTS_ON_NOTRACE=n).
func (k *Kprobes) notrace(addr uint64) bool {
	s, _ := k.m.Symbols().At(addr)
	if s.Name == "" {
		return false
	}
	recs := k.t.Sites().Records()
	i, _ := slices.BinarySearchFunc(recs, s.Addr, func(r ftrace.Record, a uint64) int {
		if r.IP < a {
			return -1
		}
		return 1
	})
	return i == len(recs) || recs[i].IP >= s.Addr+s.Size
}

// lay gives each argument its place in the record; they are packed.
func (e *Event) lay() {
	at := 16
	if e.Return {
		at = 24
	}
	e.fetches, e.quick = false, nil
	for _, a := range e.Args {
		a.compile()
		a.offset = at
		at += a.size()
		e.fetches = e.fetches || a.store == storeString
		if a.direct.size != 0 && !a.direct.more {
			e.quick = append(e.quick, quick{uint16(a.offset), a.direct.word, a.direct.size})
		}
	}
	if len(e.quick) < len(e.Args) {
		e.quick = nil
	}
}

// newGroup makes a new event of e: its format, its directory.
func (k *Kprobes) newGroup(e *Event) {
	g := e.group
	g.list = []*Event{e}
	g.fixed = 16
	if e.Return {
		g.fixed = 24
	}
	for _, a := range e.Args {
		g.fixed += a.size()
	}
	k.nextID = max(k.nextID, k.t.NextEventID())
	g.event = &ftrace.TraceEvent{Format: e.format(k.nextID), Switch: func(on bool) error { return k.switchOn(g, on) }, Above: g.above, Head: g.head}
	k.nextID++
	k.t.AddEvent(g.event)
	k.groups = append(k.groups, g)
}

// matches is trace_kprobe_match_command_head.
func (e *Event) matches(words []string) bool {
	if len(words) == 0 {
		return true
	}
	if words[0] != e.where() || len(words)-1 > len(e.Args) {
		return false
	}
	for i, w := range words[1:] {
		if w != e.Args[i].Name+"="+e.Args[i].Text {
			return false
		}
	}
	return true
}

// Delete removes an event; EBUSY while it is enabled, unless it has siblings.
func (k *Kprobes) Delete(e *Event) error {
	g := e.group
	if len(g.list) == 1 && e.On() {
		return kernel.EBUSY
	}
	if !e.placed && e.probe != nil {
		k.bury(e.probe)
	}
	if e.placed {
		var err error
		if e.ret != nil {
			err = k.UnregisterRet(e.ret)
		} else {
			err = k.Unregister(e.probe)
		}
		if err != nil {
			return err
		}
	}
	drop := func(list []*Event) []*Event {
		return slices.DeleteFunc(slices.Clone(list), func(o *Event) bool { return o == e })
	}
	k.events, g.list = drop(k.events), drop(g.list)
	if len(g.list) == 0 {
		k.groups = slices.DeleteFunc(slices.Clone(k.groups), func(o *group) bool { return o == g })
		return k.t.RemoveEvent(g.event)
	}
	return nil
}

// DeleteAll is `> kprobe_events`: EBUSY when any event is enabled.
func (k *Kprobes) DeleteAll() error {
	for _, e := range k.events {
		if e.On() {
			return kernel.EBUSY
		}
	}
	n := len(k.events)
	for _, e := range slices.Clone(k.events) {
		if err := k.Delete(e); err != nil {
			return err
		}
	}
	if n == 0 {
		return nil
	}
	k.t.ClearStale()
	return nil
}

// SetOn enables or disables an event, with its siblings.
func (k *Kprobes) SetOn(e *Event, on bool) error { return k.t.EnableEvent(e.group.event, on) }

// switchOn is TraceEvent.Switch.
func (k *Kprobes) switchOn(g *group, on bool) error {
	for _, e := range g.list {
		if e.placed {
			if err := k.setEnabled(e.probe, on); err != nil {
				return err
			}
		}
	}
	return nil
}

// eventHit is kprobe_dispatcher and kprobe_trace_func.
func eventHit(h *Hit) {
	e := h.Probe.event
	e.Hits++
	e.write(h, h.Probe.Addr, 0)
}

// eventReturn is kretprobe_dispatcher and kretprobe_trace_func.
func eventReturn(h *Hit) {
	e := h.Ret.Probe.event
	e.Hits++
	e.write(h, h.Ret.Probe.Addr, h.Regs.ip)
}

// write writes the event's record: strings are fetched first, so that its length is known.
func (e *Event) write(h *Hit, addr, ret uint64) {
	g := e.group
	f := &g.fetch
	if f.regs != h.Regs || f.c != h.C { // pointers are written when the CPU is another one, not at each hit
		f.k, f.c, f.regs = e.k, h.C, h.Regs
	}
	if e.hit != h {
		e.hit = h
	}
	f.end = g.fixed
	if e.fetches {
		f.text, f.locs, f.tail = f.text[:0], f.locs[:0], 0
		for _, a := range e.Args {
			if a.store == storeString {
				f.strings(a)
			}
		}
		f.end += len(f.text) + f.tail
	}
	if e.fill == nil {
		e.fill = e.record
	}
	e.recording, e.addr, e.from = true, addr, ret
	g.event.Fire(h.C, (f.end+3)&^3, e.fill)
	e.recording = false
}

// head is what the context of a hit makes of a header.
func (g *group) head(d []byte) {
	for _, e := range g.list {
		if e.recording && e.hit.Int3 {
			nmiHeader(d)
			return
		}
	}
}

// above is what Linux's stacks show between the writer of a record and the probed code: how the hit came to the event.
func (g *group) above() (names []string, walk func(f func(pc uint64) bool)) {
	for _, e := range g.list {
		if !e.recording {
			continue
		}
		h := e.hit
		walk = func(f func(pc uint64) bool) { _ = h.walk(func(pc uint64) bool { return pc>>63 != 0 && f(pc) }) } // not into user space
		switch {
		case e.Return:
			return []string{"kretprobe_trace_func", "kretprobe_dispatcher", "kretprobe_rethook_handler", "rethook_trampoline_handler",
				"arch_rethook_trampoline_callback", "arch_rethook_trampoline"}, walk
		case h.Int3 && len(h.K.sites[h.Probe.Addr].probes) > 1:
			return []string{"kprobe_trace_func", "kprobe_dispatcher", "aggr_pre_handler", "kprobe_int3_handler", "exc_int3", "asm_exc_int3"}, walk
		case h.Int3:
			return []string{"kprobe_trace_func", "kprobe_dispatcher", "kprobe_int3_handler", "exc_int3", "asm_exc_int3"}, walk
		}
		return []string{"kprobe_trace_func", "kprobe_dispatcher"}, func(f func(pc uint64) bool) { // the trampoline has frames of its own
			_ = h.C.Walk(func(fr *kernel.Frame) bool { return !fr.User && f(fr.PC) })
		}
	}
	return nil, nil
}

// record fills a record.
func (e *Event) record(d []byte) {
	g := e.group
	f := &g.fetch
	if e.hit.Int3 {
		nmiHeader(d)
	}
	binary.LittleEndian.PutUint64(d[8:], e.addr)
	if e.Return {
		binary.LittleEndian.PutUint64(d[16:], e.from)
	}
	switch {
	case e.quick != nil:
		f.regs.put(e.quick, d)
		return
	case !e.fetches:
		for _, a := range e.Args {
			f.put(a, d, 0, nil)
		}
		return
	}
	dyn, locs := g.fixed, f.locs
	for _, a := range e.Args {
		dyn, locs = f.put(a, d, dyn, locs)
	}
	n := copy(d[g.fixed:], f.text)
	clear(d[min(g.fixed+n, len(d)):min(f.end, len(d))])
}

// nmiHeader is what 6.1 writes in a handler behind an int3, which runs as an NMI with interrupts off: tracing_gen_ctx_dec
// takes 1 from a word whose low half is the preempt count, which is 0, so that it borrows from the flags: "..Zff".
func nmiHeader(d []byte) {
	ctx := uint16(d[2]|event.IRQsOff|event.NMI|event.HardIRQ)<<8 | uint16(d[3])
	ctx--
	d[2], d[3] = byte(ctx>>8), byte(ctx)
}

func (c *copier) event(e *Event) *Event {
	if n := c.events[e]; n != nil {
		return n
	}
	n := &Event{}
	*n = *e
	c.events[e] = n
	n.k, n.fill, n.hit, n.recording = c.k, nil, nil, false
	if e.ret != nil {
		n.ret = c.ret(e.ret)
		n.probe = &n.ret.Probe
	} else {
		n.probe = c.probe(e.probe)
	}
	n.probe.event = n
	return n
}

func (c *copier) group(g *group) *group {
	n := &group{event: c.k.t.ForkEvent(g.event), fixed: g.fixed}
	for _, e := range g.list {
		m := c.event(e)
		m.group = n
		n.list = append(n.list, m)
	}
	c.k.t.Events().Remove(n.event.Format) // its text names symbols of the other machine
	n.event.Format = n.list[0].format(g.event.ID)
	c.k.t.Events().Add(n.event.Format)
	n.event.Switch = func(on bool) error { return c.k.switchOn(n, on) }
	n.event.Above, n.event.Head = n.above, n.head
	return n
}
