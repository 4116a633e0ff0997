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
	noResched     = 1 << 31 // x86 keeps it inverted

	tifNeedResched = 1 << 3
)

// header makes the common part of a record, as tracing_gen_ctx_irq_test does in kernel/trace/trace.c.
func (t *Tracer) header(c *kernel.VCPU, id uint16, task uint64, pc uint32) event.Header {
	flags, pid, migrate := hot{t.m}.task(task, &t.lay)
	return t.headerOf(c, id, taskWords{flags, pid, migrate}, pc)
}

// taskWords are what a header needs of a task_struct.
type taskWords struct {
	flags   uint32
	pid     int32
	migrate uint32
}

func (t *Tracer) headerOf(c *kernel.VCPU, id uint16, task taskWords, pc uint32) event.Header {
	flags, migrate := task.flags, task.migrate
	h := event.Header{Type: id, PID: task.pid, Preempt: uint8(min(pc&0xff, 15))}
	if c.IRQsOff() {
		h.Flags |= event.IRQsOff
	}
	if pc&nmiMask != 0 {
		h.Flags |= event.NMI
	}
	if pc&hardirqMask != 0 {
		h.Flags |= event.HardIRQ
	}
	if pc&softirqOffset != 0 {
		h.Flags |= event.SoftIRQ
	}
	if pc&(softirqMask&^softirqOffset) != 0 {
		h.Flags |= event.BHOff
	}
	if flags&tifNeedResched != 0 {
		h.Flags |= event.NeedResched
	}
	if pc&noResched == 0 {
		h.Flags |= event.PreemptResched
	}
	if t.lay.hasMigrate {
		h.Preempt |= uint8(min(migrate&0xffff, 15)) << 4
	}
	return h
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
func (t *Tracer) commit(c *kernel.VCPU, task uint64, pid int32) {
	t.cpu[c.ID].ring.Commit()
	t.committed(c, task, pid)
}

// committed is what commit does when the ring has it.
func (t *Tracer) committed(c *kernel.VCPU, task uint64, pid int32) {
	if t.recordsCmdline() {
		t.saveTask(c, task, pid)
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
	task := c.CurrentAddr()
	h := t.header(c, id, task, c.PreemptCount())
	h.Put(d)
	fill(d)
	t.commit(c, task, h.PID)
	c.Charge(costEvent)
	t.afterEvent(c, 0, func() { t.TraceStack(c) })
	return true
}

// traceFunction is function_trace_call.
func (t *Tracer) traceFunction(c *kernel.VCPU, ip, parent, _ uint64) {
	p, pc := &t.cpu[c.ID], c.PreemptCount()
	bit := context(pc)
	if p.busy&bit != 0 {
		p.recurse++
		t.tellLost(c, "recursion", ip, event.IDFunction)
		return
	}
	if (t.pids.only != nil || t.pids.not != nil) && t.pids.ignores(int32(c.CurrentPid())) {
		return
	}
	p.busy |= bit
	if t.options&(1<<optFuncStack|1<<optFuncNoRepeats) != 0 && !t.functionExtra(c, p, ip, parent) {
		p.busy &^= bit
		return
	}
	if d, ok := t.reserve(c, event.IDFunction, event.FunctionSize); ok {
		task := c.CurrentAddr()
		h := t.header(c, event.IDFunction, task, pc)
		event.PutFunction(d, h, ip, parent)
		t.commit(c, task, h.PID)
		c.Charge(costEvent)
		if t.opt(optFuncStack) {
			t.traceStack(c)
		}
	} else if t.records(p) {
		t.tellLost(c, "dropped", ip, event.IDFunction)
	}
	p.busy &^= bit
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
			task := c.CurrentAddr()
			h := t.header(c, event.IDFuncRepeats, task, c.PreemptCount())
			event.PutRepeats(d, h, event.Repeats{IP: l.ip, Parent: l.parent, Count: l.count, Delta: t.now(c) - l.ts})
			t.commit(c, task, h.PID)
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
	task := c.CurrentAddr()
	h := t.header(c, event.IDPrint, task, c.PreemptCount())
	event.PutPrint(d, h, t.markIP, text)
	ring := t.cpu[c.ID].ring // a trigger may take a snapshot
	u, post := t.markTriggers(c, d, task)
	ring.Commit()
	t.committed(c, task, h.PID)
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
	task := c.CurrentAddr()
	h := t.header(c, event.IDRawData, task, c.PreemptCount())
	h.Put(d)
	clear(d[8+copy(d[8:], data):])
	t.commit(c, task, h.PID)
	c.Charge(costEvent)
	return len(data), nil
}
