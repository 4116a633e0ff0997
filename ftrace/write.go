package ftrace

import (
	"kscope/ftrace/event"
	"kscope/kernel"
)

// The parts of __preempt_count; see include/linux/preempt.h.
const (
	softirqOffset = 0x100
	softirqMask   = 0xff00
	hardirqMask   = 0xf0000
	nmiMask       = 0xf00000

	noResched      = 31 // bit; x86 keeps it inverted
	tifNeedResched = 3  // bit of thread_info.flags
	migrateShift   = 8  // in taskInfo
)

// running is what a record's header needs of a CPU and the task that runs there: four words, which the compiler keeps in registers.
type running struct {
	task uint64
	pid  int32
	info taskInfo
	pc   uint32 // preempt count
}

// taskInfo is TIF_NEED_RESCHED of thread_info.flags, in place, and above it how often the task has disabled migration, up to 15.
type taskInfo uint32

func (t *Tracer) running(c *kernel.VCPU) (w running) {
	task, words, pc := c.Here()
	w.task, w.pc = task, pc
	if words == nil || task&4095 >= t.lay.span {
		words = hot{t.m}.gather(task, &t.lay)
	}
	w.pid, w.info = t.lay.words(words)
	return w
}

// header makes the common part of a record, as tracing_gen_ctx_irq_test does in kernel/trace/trace.c.
func (t *Tracer) header(c *kernel.VCPU, id uint16, w running) event.Header {
	h := event.Header{Type: id, PID: w.pid, Preempt: uint8(min(w.pc&0xff, 15)) | uint8(w.info>>migrateShift)<<4}
	h.Flags = uint8(uint32(w.info)>>tifNeedResched&1*event.NeedResched | ^w.pc>>noResched*event.PreemptResched)
	if c.IRQsOff() {
		h.Flags |= event.IRQsOff
	}
	if w.pc&(nmiMask|hardirqMask|softirqMask) != 0 {
		h.Flags |= contextFlags(w.pc)
	}
	return h
}

func contextFlags(pc uint32) (f uint8) {
	if pc&nmiMask != 0 {
		f |= event.NMI
	}
	if pc&hardirqMask != 0 {
		f |= event.HardIRQ
	}
	if pc&softirqOffset != 0 {
		f |= event.SoftIRQ
	}
	if pc&(softirqMask&^softirqOffset) != 0 {
		f |= event.BHOff
	}
	return f
}

// context is the bit of the context that a CPU is in, for recursion guards: see trace_get_context_bit.
func context(pc uint32) uint8 {
	switch {
	case pc&nmiMask != 0:
		return 8
	case pc&hardirqMask != 0:
		return 4
	case pc&softirqOffset != 0:
		return 2
	}
	return 1
}

// reserve opens an event of n bytes on c's CPU; false when tracing is off or the ring refuses it. Who watches losses is told,
// but for function events: their writer tells which function it was.
func (t *Tracer) reserve(c *kernel.VCPU, id uint16, n int) ([]byte, bool) {
	p := &t.cpu[c.ID]
	if !t.records(p) {
		return nil, false
	}
	ts := c.Now()
	if t.clock != 0 || t.root().skew != nil { // now by hand: the compiler does not inline it, and each event comes here
		ts = t.otherNow(c)
	}
	d, ok := p.ring.Reserve(ts, n)
	if !ok && t.lost != nil && id != event.IDFunction {
		t.tellLost(c, "dropped", 0, id)
	}
	return d, ok
}

// records says whether a CPU's ring takes events.
func (t *Tracer) records(p *cpuState) bool { return t.on && !p.off && t.stops == 0 }

// commit closes it and does what Linux does for each event: note the task's name, wake readers.
func (t *Tracer) commit(c *kernel.VCPU, w running) {
	t.cpu[c.ID].ring.Commit()
	t.committed(c, w)
}

// committed is what commit does when the ring has it.
func (t *Tracer) committed(c *kernel.VCPU, w running) {
	if s := &t.cpu[c.ID].saved; (s.task != w.task || s.pid != w.pid) && t.recordsCmdline() {
		t.saveTask(c, w)
	}
	if t.wait.pending {
		t.wake(c)
	}
}

// Emit writes one event of n bytes: fill gets the record and its header, already put in place. It is how other packages
// (probes, tracepoints) write. False: not recorded.
func (t *Tracer) Emit(c *kernel.VCPU, id uint16, n int, fill func(d []byte)) bool {
	d, ok := t.reserve(c, id, n)
	if !ok {
		return false
	}
	w := t.running(c)
	t.header(c, id, w).Put(d)
	fill(d)
	t.commit(c, w)
	c.Charge(costEvent)
	t.afterEvent(c, 0, func() { t.TraceStack(c) })
	return true
}

// filler writes what is behind the header of a record.
type filler interface {
	fill(c *kernel.VCPU, d []byte)
}

// record writes one event of n bytes, unless the filter does not want it. It is one piece with few calls, since most events come here.
func (u *eventUse) record(c *kernel.VCPU, n int, f filler) {
	t, ev := u.t, u.ev
	p := &t.cpu[c.ID]
	d, ok := t.reserve(c, ev.ID, n)
	if !ok {
		return
	}
	w := t.running(c)
	w.pc += ev.depth
	t.header(c, ev.ID, w).Put(d)
	f.fill(c, d)
	c.Charge(costEvent)
	if u.filter != nil && !u.passes(c, d, w.task) {
		p.ring.Discard()
		return
	}
	p.ring.Commit()
	t.committed(c, w)
	if t.options&(1<<optStacktrace|1<<optUserStack) != 0 {
		u.stacks(c)
	}
}

// traceFunction is function_trace_call.
func (t *Tracer) traceFunction(c *kernel.VCPU, ip, parent, _ uint64) {
	if t.starting {
		if !t.m.Text().Settled() {
			return
		}
		t.starting = false
	}
	p, w := &t.cpu[c.ID], t.running(c)
	bit := context(w.pc)
	if p.busy&bit != 0 {
		p.recurse++
		t.tellLost(c, "recursion", ip, event.IDFunction)
		return
	}
	if t.pids.active() && t.pids.ignores(w.pid) {
		return
	}
	p.busy |= bit
	if t.options&(1<<optFuncStack|1<<optFuncNoRepeats) != 0 && !t.functionExtra(c, p, ip, parent) {
		p.busy &^= bit
		return
	}
	if t.writeFunction(c, p, t.header(c, event.IDFunction, w), ip, parent) {
		t.committed(c, w)
		c.Charge(costEvent)
		if t.opt(optFuncStack) {
			t.traceStack(c, 1)
		}
	} else if t.records(p) {
		t.tellLost(c, "dropped", ip, event.IDFunction)
	}
	p.busy &^= bit
}

// writeFunction puts a function event into p's ring; see reserve.
func (t *Tracer) writeFunction(c *kernel.VCPU, p *cpuState, h event.Header, ip, parent uint64) bool {
	if t.records(p) && t.clock == 0 && t.root().skew == nil && p.ring.Put3(c.Now(), h.Word(), ip, parent) {
		return true
	}
	d, ok := t.reserve(c, event.IDFunction, event.FunctionSize)
	if ok {
		event.PutFunction(d, h, ip, parent)
		p.ring.Commit()
	}
	return ok
}

// lastCall is the call that a CPU traced last, and how often it has come again since: trace_func_repeats.
type lastCall struct {
	ip, parent uint64
	count      uint16
	ts         uint64 // of the last repeat
}

// functionExtra does what func-no-repeats wants before a call is written; false: it is the same call again, only counted.
// See function_no_repeats_trace_call in kernel/trace/trace_functions.c.
func (t *Tracer) functionExtra(c *kernel.VCPU, p *cpuState, ip, parent uint64) bool {
	if !t.opt(optFuncNoRepeats) {
		return true
	}
	l := &p.last
	if l.ip == ip && l.parent == parent && l.count < 1<<16-1 {
		l.ts = t.now(c)
		l.count++
		return false
	}
	if l.count > 0 {
		if d, ok := t.reserve(c, event.IDFuncRepeats, event.RepeatsSize); ok {
			w := t.running(c)
			event.PutRepeats(d, t.header(c, event.IDFuncRepeats, w), event.Repeats{IP: l.ip, Parent: l.parent, Count: l.count, Delta: t.now(c) - l.ts})
			t.commit(c, w)
		}
	}
	*l = lastCall{ip: ip, parent: parent}
	return true
}

// tellLost tells the hook of OnLost about an event that was not written. A ring refuses one when it is full in discard mode,
// or when so many are open on one CPU that the oldest page is still being written.
func (t *Tracer) tellLost(c *kernel.VCPU, cause string, ip uint64, id uint16) {
	if t.lost == nil {
		return
	}
	p := &t.cpu[c.ID]
	if over := p.ring.Stats().CommitOverrun; cause == "dropped" && over != p.commitOver {
		p.commitOver, cause = over, "commit overrun"
	}
	t.lost(Loss{TS: t.now(c), CPU: c.ID, Cause: cause, IP: ip, PID: int32(c.CurrentPid()), Type: id})
}

// mark writes text into the ring, at most 1024 bytes of it, as tracing_mark_write.
func (t *Tracer) mark(c *kernel.VCPU, text []byte) (int, error) {
	if !t.opt(optMarkers) {
		return 0, kernel.EINVAL
	}
	text = text[:min(len(text), 1024)]
	if len(text) == 0 {
		return 0, nil
	}
	d, ok := t.reserve(c, event.IDPrint, event.PrintSize(len(text)))
	if !ok {
		return 0, kernel.EBADF
	}
	w := t.running(c)
	event.PutPrint(d, t.header(c, event.IDPrint, w), t.markIP, text)
	ring := t.cpu[c.ID].ring // a trigger may take a snapshot
	u, post := t.markTriggers(c, d, w.task)
	ring.Commit()
	t.committed(c, w)
	c.Charge(costEvent)
	if post != 0 {
		u.actBehind(c, post)
	}
	return len(text), nil
}

// markRaw writes binary data with an id in front, as tracing_mark_raw_write.
func (t *Tracer) markRaw(c *kernel.VCPU, data []byte) (int, error) {
	if !t.opt(optMarkers) || len(data) < 4 || len(data) > 3*1024 {
		return 0, kernel.EINVAL
	}
	d, ok := t.reserve(c, event.IDRawData, 12+max(len(data), 4+len("<faulted>"))) // Linux counts the id twice: sizeof(*entry) has it
	if !ok {
		return 0, kernel.EBADF
	}
	w := t.running(c)
	t.header(c, event.IDRawData, w).Put(d)
	clear(d[8+copy(d[8:], data):])
	t.commit(c, w)
	c.Charge(costEvent)
	return len(data), nil
}
