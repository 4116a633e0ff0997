package ftrace

import (
	"encoding/binary"
	"fmt"

	"kscope/kernel"
)

// Tracepoints are the places in guest C where events happen: a nop of five bytes with a row in __jump_table (tracepoint.h).
// When the first event of a tracepoint is switched on the text patcher makes it a jump to code that calls the gate
// __traceiter_NAME; see arch/x86/kernel/jump_label.c.
type tracepoint struct {
	name   string
	sites  []jumpSite
	users  int // events of it that are on
	events []*pointEvent
	module string                 // "": the kernel's
	slot   int                    // of a module's: its gate
	bySys  map[uint64]*pointEvent // sys_enter, sys_exit: the events of one system call, by number
	sysOn  int                    // those of them that are on
}

type jumpSite struct{ code, target uint64 }

// pointEvent is an event of a tracepoint.
type pointEvent struct {
	*TraceEvent
	tp  *tracepoint
	row *pointRow
	in  *points
}

// pointRow describes such an event: how long its record is, and how it is filled from the tracepoint's arguments.
type pointRow struct {
	point string
	TraceEvent
	size func(p *points, c *kernel.VCPU) int // nil: fixed
	n    int
	fill func(p *points, c *kernel.VCPU, d []byte)

	progs []fieldProg // that fill runs, nil: it does something else
}

// points are the tracepoints of a machine.
type points struct {
	t     *Tracer
	list  []*tracepoint
	slots [traceSlots]*tracepoint // those of modules

	followers int    // options function-fork and event-fork that are on
	prio      uint64 // offsets in task_struct
	exit      uint64 // exit_state
}

// jumpEntry is the size of a row of __jump_table: s32 code and target, s64 key, each relative to itself.
const jumpEntry = 16

// newPoints reads the image's jump table; an image without one has no tracepoints, and no events.
func newPoints(t *Tracer) (*points, error) {
	p := &points{t: t}
	syms := t.m.Symbols()
	start, ok1 := syms.Lookup("__start___jump_table")
	stop, ok2 := syms.Lookup("__stop___jump_table")
	if !ok1 || !ok2 || stop <= start {
		return p, nil
	}
	task := t.m.Types().Struct("task_struct")
	p.prio, p.exit = uint64(task.Field("prio").Offset), uint64(task.Field("exit_state").Offset)
	table := make([]byte, stop-start)
	if err := t.m.Read(start, table); err != nil {
		return nil, err
	}
	sites := map[uint64][]jumpSite{}
	for i := 0; i+jumpEntry <= len(table); i += jumpEntry {
		s, key := jumpRow(start+uint64(i), table[i:])
		if b := [siteSize]byte{}; t.m.Read(s.code, b[:]) != nil || b != nop5 {
			return nil, fmt.Errorf("ftrace: jump label at %#x is no nop: %w", s.code, kernel.ENOEXEC)
		}
		sites[key] = append(sites[key], s)
	}
	for _, name := range pointNames {
		if key, ok := syms.Lookup("__tracepoint_" + name); ok {
			p.list = append(p.list, &tracepoint{name: name, sites: sites[key], bySys: map[uint64]*pointEvent{}})
		}
	}
	p.addRows(pointRows())
	p.addSyscalls()
	err := p.addImageRows(sites)
	p.addCold()
	return p, err
}

// addImageRows makes the tracepoints and events that the image describes.
func (p *points) addImageRows(sites map[uint64][]jumpSite) error {
	start, ok1 := p.t.m.Symbols().Lookup("__start_ftrace_events")
	stop, ok2 := p.t.m.Symbols().Lookup("__stop_ftrace_events")
	if !ok1 || !ok2 {
		return nil
	}
	rows, keys, err := p.imageRows(start, stop)
	if err != nil {
		return err
	}
	for i, key := range keys {
		p.list = append(p.list, &tracepoint{name: rows[i].point, sites: sites[key], bySys: map[uint64]*pointEvent{}})
	}
	p.addRows(rows)
	return nil
}

// jumpRow reads the row at address at: struct jump_entry.
func jumpRow(at uint64, row []byte) (s jumpSite, key uint64) {
	s.code = at + uint64(int64(int32(binary.LittleEndian.Uint32(row))))
	s.target = at + 4 + uint64(int64(int32(binary.LittleEndian.Uint32(row[4:]))))
	return s, at + 8 + binary.LittleEndian.Uint64(row[8:])
}

// poke makes the jump of a site, or the nop again.
func (s jumpSite) poke(on bool) kernel.Poke {
	jump := call(s.code, s.target)
	jump[0] = 0xe9
	k := kernel.Poke{Addr: s.code, Old: nop5[:], New: jump[:]}
	if !on {
		k.Old, k.New = k.New, k.Old
	}
	return k
}

// addRows makes the events of the table, of the tracepoints that the image has.
func (p *points) addRows(rows []pointRow) {
	for i := range rows {
		r := &rows[i]
		tp := p.find(r.point)
		if tp == nil {
			continue
		}
		e := &pointEvent{TraceEvent: &r.TraceEvent, tp: tp, row: r}
		p.bind(e)
		tp.events = append(tp.events, e)
		p.t.AddEvent(e.TraceEvent)
	}
}

func (p *points) find(name string) *tracepoint {
	for _, tp := range p.list {
		if tp.name == name {
			return tp
		}
	}
	return nil
}

func (p *points) bind(e *pointEvent) {
	e.point, e.in = true, p
	e.Switch = func(on bool) error {
		if e.System == "syscalls" {
			e.tp.sysOn += 2*b2i(on) - 1
		}
		return p.switchPoint(e.tp, on)
	}
}

// switchPoint counts a tracepoint's users and patches its sites with the first and the last.
func (p *points) switchPoint(tp *tracepoint, on bool) error {
	was := tp.users > 0
	tp.users += 2*b2i(on) - 1
	if was == (tp.users > 0) {
		return nil
	}
	var pokes []kernel.Poke
	for _, s := range tp.sites {
		pokes = append(pokes, s.poke(on))
	}
	if len(pokes) == 0 {
		return nil
	}
	return p.t.m.Text().Queue("jump_label "+tp.name, pokes)
}

// The tracepoints that tell of new and ending tasks.
const (
	forkPoint = "sched_process_fork"
	exitPoint = "sched_process_exit"
)

// setFollow arms them while an option wants to follow tasks: ftrace_pid_follow_fork and trace_event_follow_fork.
func (t *Tracer) setFollow(on bool) error {
	p := t.root().points
	if p == nil {
		return nil
	}
	p.followers += 2*b2i(on) - 1
	for _, name := range []string{forkPoint, exitPoint} {
		if tp := p.find(name); tp != nil {
			if err := p.switchPoint(tp, on); err != nil {
				return err
			}
		}
	}
	return nil
}

// follow adds the child of a listed task to the lists of pids, or takes out a task that ends; trace_filter_add_remove_task.
func (t *Tracer) follow(parent, task int32, fork bool) {
	for _, x := range append([]*Tracer{t}, t.instances...) {
		for _, l := range []struct {
			o    option
			list *pidLists
		}{{optFunctionFork, &x.pids}, {optEventFork, &x.eventPids}} {
			if !x.opt(l.o) {
				continue
			}
			for _, pids := range []map[int32]struct{}{l.list.only, l.list.not} {
				if _, listed := pids[parent]; fork && listed {
					pids[task] = struct{}{}
				} else if !fork {
					delete(pids, task)
				}
			}
		}
	}
}

// registerGates binds the tracepoints' gates.
func (p *points) registerGates() {
	p.registerSlots()
	for _, tp := range p.list {
		if tp.module != "" {
			continue
		}
		p.t.m.RegisterGate("__traceiter_"+tp.name, func(c *kernel.VCPU) uint64 {
			p.hit(tp, c)
			c.LeaveCold()
			return 0
		})
	}
}

// hit records a tracepoint's events that are on.
func (p *points) hit(tp *tracepoint, c *kernel.VCPU) {
	if p.followers > 0 {
		switch tp.name {
		case forkPoint:
			p.t.follow(int32(p.pid(c.Arg(0))), int32(p.pid(c.Arg(1))), true)
		case exitPoint:
			p.t.follow(0, int32(p.pid(c.Arg(0))), false)
		}
	}
	for _, e := range tp.events {
		if e.Used() {
			p.fire(e, c)
		}
	}
	if tp.sysOn > 0 {
		if e := tp.bySys[p.syscall(c)]; e != nil && e.Used() {
			p.fire(e, c)
		}
	}
}

func (p *points) fire(e *pointEvent, c *kernel.VCPU) {
	n := e.row.n
	if e.row.size != nil {
		n = e.row.size(p, c)
	}
	for _, u := range e.users { // as Fire, without a closure to allocate
		out := u.t.eventPids.active() && p.ignores(&u.t.eventPids, e.tp.name, c)
		if u.trig != nil {
			if o := u.openTriggered(c, n, out); o != nil {
				e.row.fill(p, c, o.d)
				u.closeTriggered(c, o)
			}
			continue
		}
		if out || u.asleep {
			continue
		}
		u.record(c, n, e)
	}
	if len(e.listeners) > 0 {
		e.hear(c, n, func(d []byte) { e.row.fill(p, c, d) })
	}
}

// fill implements filler.
func (e *pointEvent) fill(c *kernel.VCPU, d []byte) {
	if e.row.progs != nil {
		e.in.fillFields(c, d, e.row.progs)
	} else {
		e.row.fill(e.in, c, d)
	}
}

// ignores says whether set_event_pid or set_event_notrace_pid leave an event of a tracepoint out. A switch counts for both of its
// tasks, a wakeup for the waker and the woken; see event_filter_pid_sched_switch_probe_pre in kernel/trace/trace_events.c.
func (p *points) ignores(l *pidLists, point string, c *kernel.VCPU) bool {
	pid := int32(c.CurrentPid())
	switch point {
	case "sched_switch":
		prev, next := int32(p.pid(c.Arg(1))), int32(p.pid(c.Arg(2)))
		only, not := pidLists{only: l.only}, pidLists{not: l.not}
		return not.ignores(prev) && not.ignores(next) || only.ignores(prev) && only.ignores(next)
	case "sched_waking", "sched_wakeup", "sched_wakeup_new":
		return l.ignores(pid) && l.ignores(int32(p.pid(c.Arg(0))))
	}
	return l.ignores(pid)
}

// syscall is the number of the call that a task is in: pt_regs.orig_ax.
func (p *points) syscall(c *kernel.VCPU) uint64 { return hot{p.t.m}.u64(c.Arg(0) + p.t.lay.origAX) }

func (p *points) fork(t *Tracer) *points {
	n := &points{t: t, prio: p.prio, exit: p.exit, followers: p.followers}
	for _, tp := range p.list {
		c := &tracepoint{name: tp.name, sites: tp.sites, users: tp.users, sysOn: tp.sysOn, module: tp.module, slot: tp.slot, bySys: make(map[uint64]*pointEvent, len(tp.bySys))}
		copyOf := func(e *pointEvent) *pointEvent {
			x := &pointEvent{TraceEvent: t.ForkEvent(e.TraceEvent), tp: c, row: e.row}
			n.bind(x)
			return x
		}
		for _, e := range tp.events {
			c.events = append(c.events, copyOf(e))
		}
		for nr, e := range tp.bySys {
			c.bySys[nr] = copyOf(e)
		}
		n.list = append(n.list, c)
		if tp.module != "" {
			n.slots[tp.slot] = c
		}
	}
	return n
}
