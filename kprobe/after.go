package kprobe

import "kscope/kernel"

// Of what happens at one instruction, a guest's probes come first, as they do on Linux, and what only watches the machine from outside,
// the host's hooks, comes behind them. But the emulator calls a hook before the instruction is fetched, be it an int3, a call or a jump
// by now: a hook where a probe's handlers are about to be called has itself called behind them.

// Later has fn called behind the handlers that c's CPU, which is about to execute the instruction at va, will call there. It is false
// when there are none, or they will be skipped: fn's time is now. A machine that was stopped by a handler comes to the same hit again,
// which is none for fn either.
func (k *Kprobes) Later(c *kernel.VCPU, va uint64, fn func(h *Hit)) bool {
	s := k.sites[va]
	if s == nil || !s.armed || k.running(c) {
		return false
	}
	if len(k.halts) != 0 && k.halts[c.ID].site == s && k.halts[c.ID].insns == c.CPU.Insns {
		return true
	}
	switch b, err := k.m.U8(va); { // not yet, or not any more, while the text is being patched
	case err != nil, s.ftrace != (b == callOp), !s.ftrace && b != int3 && b != jumpOp:
		return false
	}
	if k.later == nil {
		k.later = make([][]func(h *Hit), k.m.NumCPU())
	}
	k.later[c.ID] = append(k.later[c.ID], fn)
	return true
}

// First bytes of a patched instruction.
const (
	callOp = 0xe8
	jumpOp = 0xe9
)

// after calls what waits for the end of a hit's handlers. The registers are those of the instruction, unless a handler has changed ip.
func (k *Kprobes) after(h *Hit) {
	if k.later == nil || len(k.later[h.C.ID]) == 0 {
		return
	}
	fns := k.later[h.C.ID]
	k.later[h.C.ID] = nil
	ip := h.Regs.ip
	if !h.Regs.moved {
		h.Regs.ip = h.Addr()
	}
	for _, fn := range fns {
		fn(h)
	}
	if !h.Regs.moved {
		h.Regs.ip = ip
	}
}
