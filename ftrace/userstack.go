package ftrace

import (
	"encoding/binary"

	"kscope/ftrace/event"
	"kscope/kernel"
)

// maxUserStack is FTRACE_STACK_ENTRIES: the addresses of one user_stack record.
const maxUserStack = 8

const userStackSize = 16 + 8*maxUserStack

// afterEvent writes the stacks that options want behind an event: __trace_buffer_unlock_commit_regs. They have the event's
// flags: depth is what its tracepoint adds to the preempt count.
func (t *Tracer) afterEvent(c *kernel.VCPU, depth uint32, kernelStack func()) {
	if t.opt(optStacktrace) {
		kernelStack()
	}
	if t.opt(optUserStack) {
		t.traceUserStack(c, depth)
	}
}

// traceUserStack writes where the current task left user space, and its callers as far as frame pointers lead: ftrace_trace_userstack
// and arch_stack_walk_user. A kernel thread has none.
func (t *Tracer) traceUserStack(c *kernel.VCPU, depth uint32) {
	w, lay := t.running(c), &t.lay
	mem := hot{t.m}
	w.pc += depth
	if w.pc&nmiMask != 0 || mem.u32(w.task+lay.taskFlags)&pfKthread != 0 {
		return
	}
	regs := mem.u64(w.task+t.stack.offTask) + t.stack.size - lay.regsSize
	var stack [maxUserStack]uint64
	stack[0] = mem.u64(regs + t.stack.offIP)
	sp, fp := mem.u64(regs+t.graph.offSP), mem.u64(regs+lay.bp)
	for n := 1; n < maxUserStack; n++ {
		var frame [16]byte
		if fp < sp || fp >= userEnd || c.CPU.Read(fp, frame[:]) != nil {
			break
		}
		ret := binary.LittleEndian.Uint64(frame[8:])
		if ret == 0 {
			break
		}
		stack[n], fp = ret, binary.LittleEndian.Uint64(frame[:])
	}
	d, ok := t.reserve(c, event.IDUserStack, userStackSize)
	if !ok {
		return
	}
	t.header(c, event.IDUserStack, w).Put(d)
	binary.LittleEndian.PutUint64(d[8:], uint64(mem.u32(w.task+lay.tgid)))
	for i, a := range stack {
		binary.LittleEndian.PutUint64(d[16+8*i:], a)
	}
	t.commit(c, w)
	c.Charge(costEvent)
}

// pfKthread is PF_KTHREAD of task_struct.flags.
const pfKthread = 0x00200000
