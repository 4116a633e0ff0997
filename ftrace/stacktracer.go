package ftrace

import (
	"fmt"
	"strings"

	"kscope/kernel"
)

// stackTracer keeps the deepest stack that a traced function has seen on its task's stack; see kernel/trace/trace_stack.c.
//
// Linux looks for each return address of the unwinder as a word on the stack, from the pt_regs of the trampoline on, and
// leaves out what it does not find. So does this: a function whose return address function_graph or a kretprobe has replaced
// is not there, and the first entry is the copy of the traced function's address in pt_regs, some way below its caller's.
type stackTracer struct {
	t       *Tracer
	ops     *Ops
	max     uint64       // stack_max_size
	entries []stackEntry // the function first
	offTask uint64       // of stack in task_struct
	offIP   uint64       // of ip in pt_regs
	size    uint64       // of a stack: THREAD_SIZE
}

type stackEntry struct {
	pc    uint64
	depth uint64 // bytes from the slot that holds it to the stack's end
}

// maxStackEntries is STACK_TRACE_ENTRIES.
const maxStackEntries = 500

func newStackTracer(t *Tracer) *stackTracer {
	s := &stackTracer{t: t, ops: &Ops{Name: "stack_trace", Gate: "stack_trace_call"}}
	types := t.m.Types()
	s.offTask = uint64(types.Struct("task_struct").Field("stack").Offset)
	s.offIP = uint64(types.Struct("pt_regs").Field("ip").Offset)
	s.size = t.m.ThreadSize()
	s.ops.Call = s.call
	return s
}

func (s *stackTracer) fork(t *Tracer) *stackTracer {
	n := &stackTracer{}
	*n = *s
	n.t, n.ops = t, t.sites.ForkOf(s.ops)
	n.ops.Call = n.call
	n.entries = append([]stackEntry(nil), s.entries...)
	return n
}

// set is the sysctl stack_tracer_enabled.
func (s *stackTracer) set(on bool) error {
	switch {
	case on == s.ops.Registered():
		return nil
	case on:
		return s.t.sites.Register(s.ops)
	}
	return s.t.sites.Unregister(s.ops)
}

// call is stack_trace_call and check_stack. A stack that is not the task's (an interrupt's) is not looked at.
func (s *stackTracer) call(c *kernel.VCPU, ip, _, regs uint64) {
	mem := hot{s.t.m}
	lo := mem.u64(c.CurrentAddr() + s.offTask)
	if lo == 0 || regs < lo || regs >= lo+s.size || c.PreemptCount()&nmiMask != 0 {
		return
	}
	top, pc := lo+s.size, ip+siteSize
	if top-(regs+s.offIP) <= s.max {
		return
	}
	s.entries = s.entries[:0]
	s.add(top, regs+s.offIP, pc)
	s.max = top - (regs + s.offIP)
	found := false
	_ = c.Walk(func(f *kernel.Frame) bool {
		switch {
		case f.User || len(s.entries) == maxStackEntries:
			return false
		case f.PC == pc && !found:
			found = true
		case found:
			s.add(top, f.At, f.PC)
		}
		return true
	})
}

// add notes a frame when its slot really holds the address.
func (s *stackTracer) add(top, slot, pc uint64) {
	if slot < top && (hot{s.t.m}).u64(slot) == pc {
		s.entries = append(s.entries, stackEntry{pc, top - slot})
	}
}

const stackTracerOff = `#
#  Stack tracer disabled
#
# To enable the stack tracer, either add 'stacktrace' to the
# kernel command line
# or 'echo 1 > /proc/sys/kernel/stack_tracer_enabled'
#
`

func stackTraceText(h *Handle, b []byte) ([]byte, error) {
	s := h.T.stack
	b = fmt.Appendf(b, "        Depth    Size   Location    (%d entries)\n        -----    ----   --------\n", len(s.entries))
	if !s.ops.Registered() && s.max == 0 {
		b = append(b, stackTracerOff...)
	}
	for i, e := range s.entries {
		size := e.depth
		if i+1 < len(s.entries) {
			size -= s.entries[i+1].depth
		}
		b = fmt.Appendf(b, "%3d) %8d   %5d   %s\n", i, e.depth, size, h.T.guest.symbol(e.pc, true))
	}
	return b, nil
}

func stackMaxText(h *Handle, b []byte) ([]byte, error) {
	return fmt.Appendf(b, "%d\n", int64(h.T.stack.max)), nil
}

func writeStackMax(h *Handle, p []byte) (int, error) {
	n, err := parseUint(p, 10)
	if err == nil {
		h.T.stack.max = n
	}
	return len(p), err
}

// openStackFilter is stack_trace_filter_open: the hash of the stack tracer's op, which has neither a notrace hash to show
// nor modules to wait for, nor takes commands.
func openStackFilter(h *Handle) error {
	if !h.Writable() {
		return nil
	}
	st := &filterState{hash: h.T.stack.ops.Filter.Clone()}
	if st.hash == nil || h.Flags&oTrunc != 0 {
		st.hash = NewHash()
	}
	h.state = st
	return nil
}

func (h *Handle) stackFilterWord(st *filterState, word string) error {
	if fn, rest, ok := strings.Cut(word, ":"); ok {
		name, param, named := strings.Cut(rest, ":")
		if name == "mod" && h.T.sites.enterMod(st.hash, fn, param, named) {
			return nil
		}
		for i := range commandKinds {
			if commandKinds[i].name == name {
				return kernel.ENODEV
			}
		}
		return kernel.EINVAL
	}
	if !h.T.sites.enter(st.hash, word) {
		return kernel.EINVAL
	}
	return nil
}

func writeStackFilter(h *Handle, p []byte) (int, error) {
	st := h.state.(*filterState)
	return len(p), st.words.write(p, func(word string) error { return h.stackFilterWord(st, word) })
}

func closeStackFilter(h *Handle) error {
	st, ok := h.state.(*filterState)
	if !ok {
		return nil
	}
	if word := st.words.rest(); word != "" {
		_ = h.stackFilterWord(st, word)
	}
	s := h.T.stack
	s.ops.Filter = st.hash
	if !s.ops.Registered() {
		return nil
	}
	return h.T.sites.Update("stack_trace_filter")
}

func stackFilterText(h *Handle, b []byte) ([]byte, error) {
	hash := h.T.stack.ops.Filter
	if hash.Empty() {
		return append(b, "#### all functions enabled ####\n"...), nil
	}
	return h.T.sites.namesText(b, hash), nil
}

// gateSetStackTracer: long tracefs_set_stack_tracer(u64 on).
func (t *Tracer) gateSetStackTracer(c *kernel.VCPU) uint64 { return ret(t.stack.set(c.Arg(0) != 0)) }
