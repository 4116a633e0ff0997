package ftrace

import (
	"kscope/ftrace/event"
	"kscope/kernel"
)

// maxStack is the most addresses of one kernel_stack record (FTRACE_KSTACK_ENTRIES).
const maxStack = 1024

// traceStack writes the stack of what c runs but for the first frames: with 1, from the trampoline of the traced function on behind
// the gate, as __trace_stack does for the function tracer and its commands.
func (t *Tracer) traceStack(c *kernel.VCPU, skip int) {
	var pcs []uint64
	_ = c.Walk(func(f *kernel.Frame) bool {
		if skip > 0 {
			skip--
			return true
		}
		if f.User || !t.textAddress(f.PC) {
			return false
		}
		pcs = append(pcs, f.PC)
		return len(pcs) < maxStack
	})
	t.writeStack(c, pcs, 0)
}

// TraceStack writes a stack that begins at the innermost frame outside shadow text: what an event of a probe gets with the
// option stacktrace.
func (t *Tracer) TraceStack(c *kernel.VCPU) { t.traceStackBelow(c, 0) }

// traceStackBelow is TraceStack with addresses on top; depth is what the event's tracepoint adds to the preempt count.
func (t *Tracer) traceStackBelow(c *kernel.VCPU, depth uint32, pcs ...uint64) {
	inside := true
	_ = c.Walk(func(f *kernel.Frame) bool {
		if inside {
			if inside = f.PC < kernelText || c.Shadow(f.PC); inside {
				return true
			}
		}
		if f.User || !t.textAddress(f.PC) {
			return false
		}
		pcs = append(pcs, f.PC)
		return len(pcs) < maxStack
	})
	t.writeStack(c, pcs, depth)
}

// textAddress is __kernel_text_address: an unwinder that has lost its way ends there (unwind_get_return_address). It does so at an int3 or
// jump on a push of one byte, where regs->ip is behind it already (oracle).
func (t *Tracer) textAddress(pc uint64) bool {
	if pc < kernelText {
		return false
	}
	s, _ := t.m.Symbols().At(pc)
	return s.Text()
}

// kernelText is where the kernel's text begins.
const kernelText = 0xffffffff81000000

// writeStack writes a stack; head, if any, changes its header, which is in place.
func (t *Tracer) writeStack(c *kernel.VCPU, pcs []uint64, depth uint32, head ...func(d []byte)) {
	d, ok := t.reserve(c, event.IDKernelStack, event.StackSize(len(pcs)))
	if !ok {
		return
	}
	w := t.running(c)
	w.pc += depth
	event.PutStack(d, t.header(c, event.IDKernelStack, w), pcs)
	for _, f := range head {
		f(d)
	}
	t.commit(c, w)
	c.Charge(costEvent)
}
