package kprobe

import (
	"fmt"

	"kscope/kernel"
	"kscope/kernel/x86"
)

// Handlers in guest code: those of a module that has called register_kprobe or register_kretprobe.
//
//	int3, detour, return: kprobe_thunk (arch/kprobes_64.S) pushes a struct pt_regs, calls kprobe_dispatch(regs), loads what
//	                      the handlers have left and jumps to the gate kprobe_resume: gateResume goes on as the probe would have
//	ftrace, a detour      the pt_regs have been built; kprobe_dispatch is called in place of the gate's return
//	whose bytes run:
//
// kprobe_dispatch calls what gateNext tells it to. Go handlers of the same place run within gateNext, in their turn. A CPU runs one
// thunk at a time: hits within it are only counted. Its task stays, as preemption is off; interrupts are as Linux has them (context).
type thunk struct {
	live  bool
	began bool
	post  bool // the handlers behind the instruction
	skip  bool // a handler has changed ip: the instruction is not run
	tf    bool
	via   via
	site  *site
	ip    uint64 // what handlers see
	mem   uint64 // ftrace: the struct pt_regs
	to    uint64 // where the CPU goes on; int3: decided then
	flags uint64 // of the probed code
	list  []*Probe
	in    *Instance   // the entry handler that has been called is about this one
	chain []*Instance // of a return: whose handlers are to be called
}

type via uint8

const (
	viaInt3 via = iota
	viaDetour
	viaFtrace   // with the registers that ftrace's trampoline has saved
	viaTemplate // with the registers that a detour's bytes have saved
	viaPost
	viaReturn
)

// GuestProbe is the guest's side of a probe: addresses of its struct kprobe or kretprobe and of its handlers, 0: none.
type GuestProbe struct {
	at, pre, post uint64
	rp            uint64 // struct kretprobe
	entry, ret    uint64
	free          []uint64 // struct kretprobe_instance
}

// guest says whether handlers of guest code are enabled at the site.
func (s *site) guest() bool {
	for _, p := range s.probes {
		if p.C != nil && p.enabled {
			return true
		}
	}
	return false
}

// miss counts a hit of a probe within a handler.
func (p *Probe) miss() {
	p.Missed++
	if p.C != nil {
		_ = p.k.m.PutU64(p.C.at+p.k.lay.nmissed, p.Missed)
	}
}

// enterThunk sends a CPU to the handlers of guest code.
func (k *Kprobes) enterThunk(c *kernel.VCPU, t thunk) {
	t.live, t.flags, t.post = true, c.CPU.Flags(), t.via == viaPost
	if t.site != nil {
		t.list = t.site.probes
	}
	k.thunks[c.ID] = t
	k.busy[c.ID] = true
	if k.NoGuard && k.stackFull(c) {
		return
	}
	flags := t.flags &^ x86.FlagTF
	if t.nmi() {
		flags &^= x86.FlagIF
	}
	c.CPU.SetFlags(flags)
	if t.saved() {
		c.CallThen(k.symbol("kprobe_dispatch"), "", t.mem)
		return
	}
	c.CPU.SetRIP(k.symbol("kprobe_thunk"))
}

// saved says whether somebody else has built the struct pt_regs, and loads it again.
func (t *thunk) saved() bool { return t.via == viaFtrace || t.via == viaTemplate }

// nmi says whether the handlers run in an exception's context, an NMI's: those of int3 probes (exc_int3). The others run as
// the probed code does, with preemption off: see kprobe_ftrace_handler, optimized_callback, rethook_trampoline_handler.
func (t *thunk) nmi() bool { return t.via == viaInt3 || t.via == viaPost }

// The parts of __preempt_count that a handler's context adds: see __nmi_enter and preempt_disable.
const (
	preemptOffset = 1
	nmiOffset     = 0x100000 + 0x10000 // an NMI counts as a hard interrupt too
)

// gateEnter: int kprobe_enter(struct pt_regs *regs): what __preempt_count gets while the handlers run.
func (k *Kprobes) gateEnter(c *kernel.VCPU) uint64 {
	return uint64(k.thunks[c.ID].added())
}

func (t *thunk) added() uint32 {
	if t.nmi() {
		return nmiOffset
	}
	return preemptOffset
}

// stackFull stops the machine before handlers within handlers leave the task's stack. Linux has a guard page there, and a double
// fault; the guest's stacks have none, and what is below would be written over.
func (k *Kprobes) stackFull(c *kernel.VCPU) bool {
	lo, _ := word(k.m, c.CurrentAddr()+k.lay.stack)
	sp := c.CPU.Reg(x86.RSP)
	const room = 1024 // for one more handler
	if sp-lo >= threadSize || sp-lo >= room {
		return false
	}
	k.m.RequestStop(fmt.Sprintf("the stack of %s (pid %d) is full of handlers within handlers: %d bytes are left", c.Current().Comm, c.CurrentPid(), sp-lo))
	return true
}

func (k *Kprobes) symbol(name string) uint64 {
	a, ok := k.m.Symbols().Lookup(name)
	if !ok {
		panic("BUG: kprobe: the image has no " + name)
	}
	return a
}

// gateNext: long kprobe_next(struct pt_regs *regs, struct kprobe_call *call, long ret).
func (k *Kprobes) gateNext(c *kernel.VCPU) uint64 {
	t := &k.thunks[c.ID]
	regs := c.Arg(0)
	switch {
	case !t.live:
		return 0
	case !t.began:
		t.began = true
		k.push(regs+regIP, t.ip)
		if !t.saved() {
			k.push(regs+regFlags, t.flags)
		}
	default:
		k.answered(c, t, c.Arg(2) != 0)
	}
	fn, a, ok := k.nextGuest(c, t, regs)
	if ok {
		b := make([]byte, 0, 32)
		for _, x := range []uint64{fn, a, regs, 0} {
			for i := range 8 {
				b = append(b, byte(x>>(8*i)))
			}
		}
		if k.m.Write(c.Arg(1), b) == nil {
			return 1
		}
	}
	k.finishCalls(c, t, regs)
	return 0
}

// answered takes the result of a handler.
func (k *Kprobes) answered(c *kernel.VCPU, t *thunk, nonzero bool) {
	switch {
	case t.in != nil && t.via != viaReturn:
		in := t.in
		t.in = nil
		if nonzero {
			k.refuse(in)
		} else {
			k.commit(in)
		}
	case t.via == viaReturn:
		k.release(t.chain[0])
		t.chain = t.chain[1:]
	case !t.post && nonzero:
		t.moved()
	}
}

// moved notes that a handler has changed ip: the instruction is not run, nor are the handlers behind. At a jump that means nothing
// (aggr_pre_handler, opt_pre_handler).
func (t *thunk) moved() {
	if t.via != viaDetour && t.via != viaTemplate {
		t.skip, t.list = true, nil
	}
}

// nextGuest runs Go handlers up to the next one of guest code.
func (k *Kprobes) nextGuest(c *kernel.VCPU, t *thunk, regs uint64) (fn, arg uint64, ok bool) {
	for t.via == viaReturn && len(t.chain) > 0 {
		in := t.chain[0]
		if r := in.Ret; r != nil && r.Probe.C != nil && r.Probe.C.ret != 0 && r.Probe.enabled {
			return r.Probe.C.ret, in.guest, true
		}
		k.leave(c, in, t.ip, regs)
		t.chain = t.chain[1:]
	}
	for {
		for len(t.list) > 0 {
			p := t.list[0]
			t.list = t.list[1:]
			if !p.enabled {
				continue
			}
			if fn, arg, ok = k.guestCall(c, t, p, regs); ok {
				return fn, arg, true
			}
		}
		if t.site != nil && !t.post && k.later != nil {
			h := k.newHit(c, regs, t.ip)
			h.Probe, h.added = t.site.probes[0], t.added()
			k.after(h)
		}
		if t.via != viaFtrace || t.post || t.skip {
			return 0, 0, false
		}
		t.post, t.list = true, t.site.probes
		k.push(regs+regIP, t.site.addr+5)
	}
}

// guestCall is what to call for one probe; it runs Go handlers itself.
func (k *Kprobes) guestCall(c *kernel.VCPU, t *thunk, p *Probe, regs uint64) (fn, arg uint64, ok bool) {
	h := k.newHit(c, regs, t.ip)
	h.Probe, h.Int3, h.added, h.behind = p, t.nmi(), t.added(), t.post
	switch {
	case t.post:
		if p.C != nil {
			return p.C.post, p.C.at, p.C.post != 0
		}
		if p.Post != nil {
			p.Post(h)
		}
		return 0, 0, false
	case p.ret != nil && p.C != nil:
		p.Hits++
		in := k.begin(h)
		if in == nil {
			return 0, 0, false
		}
		if p.C.entry != 0 {
			t.in = in
			return p.C.entry, in.guest, true
		}
		k.commit(in)
		return 0, 0, false
	case p.C != nil:
		p.Hits++
		return p.C.pre, p.C.at, p.C.pre != 0
	}
	p.Hits++
	if p.Pre != nil {
		p.Pre(h)
		if h.Regs.moved {
			t.moved()
			k.push(regs+regIP, h.Regs.ip)
		}
	}
	return 0, 0, false
}

// finishCalls ends the handlers: ftrace's trampoline goes on, kprobe_thunk will come to gateResume.
func (k *Kprobes) finishCalls(c *kernel.VCPU, t *thunk, regs uint64) {
	if t.saved() {
		if t.via == viaFtrace && !t.skip {
			k.push(regs+regIP, t.site.addr+5)
		}
		*t = thunk{}
		k.busy[c.ID] = false
		return
	}
	t.flags, _ = word(k.m, regs+regFlags)
	hidden := uint64(x86.FlagTF)
	if t.nmi() {
		hidden |= x86.FlagIF
	}
	k.push(regs+regFlags, t.flags&^hidden)
	if t.skip {
		t.to, _ = word(k.m, regs+regIP)
	}
}

// gateResume: void kprobe_resume(void), jumped to with the registers that the handlers have left.
func (k *Kprobes) gateResume(c *kernel.VCPU) uint64 {
	t := k.thunks[c.ID]
	if !t.live {
		c.KeepRIP()
		to, _ := k.m.Symbols().Lookup("panic")
		c.CPU.SetRIP(to)
		return 0
	}
	c.KeepRIP()
	k.thunks[c.ID] = thunk{}
	k.busy[c.ID] = false
	c.CPU.SetFlags(t.flags)
	if t.via != viaInt3 {
		c.CPU.SetRIP(t.to)
		return 0
	}
	st := &k.steps[c.ID]
	*st = step{site: t.site, tf: t.tf}
	if t.skip {
		k.skip(c, st, t.to)
	} else {
		k.outOfLine(c, st)
	}
	return 0
}

// thunk copies the calls of handlers that are under way.
func (c *copier) thunk(t *thunk) thunk {
	n := *t
	if n.list = nil; t.site != nil {
		if n.site = c.k.sites[t.site.addr]; n.site == nil { // it has been taken off meanwhile
			n.site = c.site(t.site)
		}
		for _, p := range t.list {
			n.list = append(n.list, c.probe(p))
		}
	}
	if t.in != nil {
		n.in = c.instance(t.in)
	}
	n.chain = nil
	for _, in := range t.chain {
		n.chain = append(n.chain, c.instance(in))
	}
	return n
}
