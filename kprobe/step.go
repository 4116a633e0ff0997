package kprobe

import (
	"kscope/kernel"
	"kscope/kernel/x86"
)

// Hit is what a handler sees.
type Hit struct {
	K     *Kprobes
	C     *kernel.VCPU
	Probe *Probe    // nil in a kretprobe's return handler
	Regs  *Regs     // of the probed code
	Ret   *Ret      // of kretprobe handlers
	In    *Instance // so too
	Int3  bool      // it came by an int3: Linux runs the handler as an NMI

	added   uint32 // to __preempt_count, for handlers in guest code
	partial bool   // not all of Regs is known
	behind  bool   // in a post handler
}

// hit is a CPU's Hit, used again and again: a Hit is good only while its handler runs.
type hit struct {
	Hit
	regs  Regs
	place Probe // of HitAt
}

// newHit prepares the Hit of c's CPU. mem is a struct pt_regs in guest memory, 0: the CPU's own registers are meant.
func (k *Kprobes) newHit(c *kernel.VCPU, mem, ip uint64) *Hit {
	h := &k.hits[c.ID]
	r := &h.regs
	r.mem, r.w, r.ip, r.fix, r.moved = mem, nil, ip, false, false
	if h.C != c || h.K != k { // what stays from hit to hit is not written again
		r.c, h.K, h.C, h.Regs = c, k, c, r
	}
	if h.Ret != nil {
		h.Ret, h.In = nil, nil
	}
	h.Probe, h.Int3, h.added, h.partial, h.behind = nil, false, 0, false, false
	return &h.Hit
}

// Costs in virtual ns under overhead = "model", beyond ftrace's own 30 + 70 for a trampoline and an event. The oracle's
// ratios to a function event (100 ns here): ftrace-based and
// optimised 2.8, int3 6.5, kretprobe 4.
const (
	costFtrace    = 150
	costInt3      = 550
	costReturn    = 150
	costOptimized = 150
)

// step is the instruction that a CPU runs out of line.
type step struct {
	site   *site
	tf     bool // TF was set before
	nested bool // no post handlers: the hit was within a handler
}

// trap owns the int3s of armed sites, the traps behind their copies, and the copies' faults.
func (k *Kprobes) trap(c *kernel.VCPU, vec uint8) bool {
	st := &k.steps[c.ID]
	if s := st.site; s != nil && c.CPU.RIP()-s.slot < slotSize {
		return k.stepped(c, st, vec)
	} else if s != nil && vec == x86.VecDB {
		return k.finish(c, st)
	}
	if vec != x86.VecBP {
		return false
	}
	addr := c.CPU.RIP() - 1
	s := k.at(addr)
	if s != nil && !s.ftrace {
		return k.int3Hit(c, s)
	}
	if b, err := k.m.U8(addr); err == nil && b != int3 { // gone since it was fetched
		c.Uncount()
		c.CPU.SetRIP(addr)
		return true
	}
	return false
}

// int3Hit is kprobe_int3_handler.
func (k *Kprobes) int3Hit(c *kernel.VCPU, s *site) bool {
	c.Uncount()
	if s.opt == optNone && s.insn.locked && !c.Locked(c.CPU, s.insn.address(c, s.addr)) {
		c.CPU.SetRIP(s.addr) // it is another CPU's turn: this one comes back
		return true
	}
	c.Charge(costInt3)
	st := &k.steps[c.ID]
	*st = step{site: s, tf: c.CPU.Flags()&x86.FlagTF != 0}
	switch {
	case k.stopped(c, s):
	case k.running(c):
		st.nested = true
		s.miss()
	case s.guest():
		st.site = nil
		k.enterThunk(c, thunk{site: s, via: viaInt3, ip: s.addr + 1, tf: st.tf})
		return true
	default:
		h := k.newHit(c, 0, s.addr+1)
		h.Int3, h.Regs.fix = true, s.opt != optNone // the same answer before the jump is written as after
		k.call(h, s)
		if k.rewind(c, s) {
			st.site = nil
			return true
		}
		if h.Regs.moved {
			k.skip(c, st, h.Regs.ip)
			return true
		}
	}
	k.outOfLine(c, st)
	return true
}

// skip goes on where a handler has sent the CPU: the instruction is not run (pre_handler returned 1).
func (k *Kprobes) skip(c *kernel.VCPU, st *step, ip uint64) {
	c.Recount()
	st.site = nil
	c.CPU.SetRIP(ip)
}

// outOfLine runs the probed instruction elsewhere: setup_singlestep. An optimised probe goes to its detour at once, so that
// nobody comes into the bytes that the jump will cover (setup_detour_execution).
func (k *Kprobes) outOfLine(c *kernel.VCPU, st *step) {
	s := st.site
	if s.opt != optNone && !(k.stepWaiting && s.opt == optWaiting) {
		st.site = nil
		c.CPU.SetRIP(kernel.DetourCode(s.detour))
		return
	}
	if (s.int3 || s.insn.kind == nearRet) && k.emulate(c, s) {
		k.done(c, st)
		return
	}
	if !s.int3 || s.insn.kind == relative || s.insn.kind == relCall || s.insn.kind == indirect || s.insn.kind == indCall {
		c.CPU.SetFlags(c.CPU.Flags() | x86.FlagTF)
	}
	c.CPU.SetRIP(s.slot)
}

// halt is a stop that a handler asked for at a probe: the CPU was sent back to the instruction, so that whoever looks at the
// stopped machine finds it there; the hit that follows is the same one.
type halt struct {
	site  *site
	insns uint64
}

// rewind sends the CPU back to a probed instruction when its handlers have stopped the machine.
func (k *Kprobes) rewind(c *kernel.VCPU, s *site) bool {
	if !k.m.Stopping() {
		return false
	}
	if len(k.halts) == 0 {
		k.halts = make([]halt, k.m.NumCPU())
	}
	k.halts[c.ID] = halt{s, c.CPU.Insns}
	c.CPU.SetRIP(s.addr)
	return true
}

// stopped says whether this hit is the one at which the machine was stopped.
func (k *Kprobes) stopped(c *kernel.VCPU, s *site) bool {
	if len(k.halts) == 0 || k.halts[c.ID].site != s {
		return false
	}
	same := k.halts[c.ID].insns == c.CPU.Insns
	k.halts[c.ID] = halt{}
	return same
}

// running says whether a handler runs on the CPU: its hits are only counted (kprobe_running).
func (k *Kprobes) running(c *kernel.VCPU) bool { return k.busy[c.ID] && !k.NoGuard }

// miss counts a hit within a handler.
func (s *site) miss() {
	for _, p := range s.probes {
		if p.enabled {
			p.miss()
		}
	}
}

// call runs the pre handlers of a site, newest first.
func (k *Kprobes) call(h *Hit, s *site) {
	k.busy[h.C.ID] = true
	for _, p := range s.probes { // as it is now: a handler that changes it makes a new one
		if p.enabled {
			p.Hits++
			if h.Probe = p; p.Pre != nil {
				p.Pre(h)
			}
			if h.Regs.moved { // as aggr_pre_handler, when a handler says that it has changed ip
				break
			}
		}
	}
	k.busy[h.C.ID] = false
	k.after(h)
}

// post runs the post handlers of a site.
func (k *Kprobes) post(h *Hit, s *site) {
	h.behind = true
	for _, p := range s.probes {
		if p.enabled && p.Post != nil {
			k.busy[h.C.ID] = true
			h.Probe = p
			p.Post(h)
			k.busy[h.C.ID] = false
		}
	}
}

// stepped is a trap or fault with RIP in the slot.
func (k *Kprobes) stepped(c *kernel.VCPU, st *step, vec uint8) bool {
	s := st.site
	off := c.CPU.RIP() - s.slot
	switch {
	case vec == x86.VecDB && off == 0 && s.insn.rep:
		return true // one iteration
	case vec == x86.VecDB && off == 0 && s.insn.kind != relative:
		return true // it has to run again
	case vec == x86.VecDB:
		return k.finish(c, st)
	case vec == x86.VecBP && off == uint64(s.insn.size)+1: // it took no trap
		c.CPU.SetRIP(c.CPU.RIP() - 1)
		return k.finish(c, st)
	}
	// A fault: to the guest it is one of the original instruction, which will hit again (kprobe_fault_handler).
	c.CPU.SetRIP(s.addr)
	k.clearTF(c, st)
	st.site = nil
	return false
}

func (k *Kprobes) clearTF(c *kernel.VCPU, st *step) {
	if !st.tf {
		c.CPU.SetFlags(c.CPU.Flags() &^ x86.FlagTF)
	}
}

// finish is resume_execution: it mends what the copy did at the wrong address.
func (k *Kprobes) finish(c *kernel.VCPU, st *step) bool {
	s := st.site
	in := &s.insn
	next := s.addr + uint64(in.size)
	switch in.kind {
	case plain, relative, relCall, pushFlags:
		if k.mistake != "jump" || in.kind != relative {
			c.CPU.SetRIP(c.CPU.RIP() + s.addr - s.slot)
		}
	default:
		c.CPU.SetRIP(c.CPU.RIP())
	}
	sp := c.CPU.Reg(x86.RSP)
	switch in.kind {
	case relCall, indCall:
		if k.mistake != "rip" {
			k.push(sp, next)
		}
	case pushFlags:
		if !st.tf && k.mistake != "flags" {
			if x, err := k.m.U64(sp); err == nil {
				k.push(sp, x&^x86.FlagTF)
			}
		}
	}
	k.clearTF(c, st)
	k.done(c, st)
	return true
}

// push rewrites the word that the copy has just pushed.
func (k *Kprobes) push(sp, x uint64) {
	if err := k.m.PutU64(sp, x); err != nil {
		panic("BUG: kprobe: a word that was pushed cannot be written: " + err.Error())
	}
}

// done ends a step: post handlers run with the registers behind the instruction.
func (k *Kprobes) done(c *kernel.VCPU, st *step) {
	s, nested := st.site, st.nested
	st.site = nil
	c.Recount()
	if nested || k.busy[c.ID] || !s.hasPost() {
		return
	}
	if s.guest() {
		k.enterThunk(c, thunk{site: s, via: viaPost, ip: c.CPU.RIP(), to: c.CPU.RIP()})
		return
	}
	h := k.newHit(c, 0, c.CPU.RIP())
	h.Int3 = true
	k.post(h, s)
}

// ftraceHit is kprobe_ftrace_handler: ip is the site, regs a struct pt_regs in guest memory.
func (k *Kprobes) ftraceHit(c *kernel.VCPU, ip, _, regs uint64) {
	s := k.at(ip)
	if s == nil {
		return
	}
	c.Charge(costFtrace)
	if k.running(c) {
		s.miss()
		return
	}
	if s.guest() {
		k.enterThunk(c, thunk{site: s, via: viaFtrace, ip: ip + 1, mem: regs})
		return
	}
	h := k.newHit(c, regs, ip+1) // as behind an int3: handlers see no difference
	h.Regs.w = k.w
	k.call(h, s)
	if h.Regs.moved {
		k.push(regs+regIP, h.Regs.ip) // where the trampoline goes on
		return
	}
	h.Regs.ip = ip + 5
	k.post(h, s)
}
