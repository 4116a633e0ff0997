package kprobe

import (
	"kscope/kernel"
	"kscope/kernel/x86"
)

// The bytes of detours and of the trampoline of ftrace's probes save a struct pt_regs, call a gate, load it and go on. Here they are
// done in one step, which leaves the same words in the same places: TestDetourBytes and TestEntryBytes hold them against the bytes.
//
// With overhead = "none" nothing may be stored: the CPU's own registers are what a detour's handlers see and change.

// sitesOf are the sites of detours, by number: a map took a tenth of a hit's time.
type sitesOf []*site

func (d sitesOf) at(va uint64) *site {
	if i := kernel.DetourIndex(va); uint(i) < uint(len(d)) {
		return d[i]
	}
	return nil
}

func (d *sitesOf) put(va uint64, s *site) {
	i := kernel.DetourIndex(va)
	for len(*d) <= i {
		*d = append(*d, nil)
	}
	for (*d)[i] = s; len(*d) > 0 && (*d)[len(*d)-1] == nil; {
		*d = (*d)[:len(*d)-1]
	}
}

// detourHit is a detour in one step.
func (k *Kprobes) detourHit(c *kernel.VCPU) uint64 {
	c.KeepRIP()
	va := c.CPU.RIP()
	s := k.detours.at(va)
	if k.bare {
		k.detourBare(c, s, va)
		return 0
	}
	w := k.room(c, 0)
	if w == nil {
		if k.first1(c, va, kernelDS, 2) != nil { // the bytes will say what happens then
			k.m.ExecuteDetours()
		}
		return 0
	}
	top := c.CPU.Reg(x86.RSP)
	regs := top - regsSize
	w.save(c)
	w.ip, w.sp, w.orig = s.addr+1, top, ^uint64(0)
	w.from = s.from
	c.CPU.SetReg(x86.RDI, va)
	c.CPU.SetReg(x86.RSI, regs)
	c.CPU.SetReg(x86.RSP, regs-8)
	c.CPU.SetRIP(s.gate)
	flags := w.flags
	if k.optimized(c, s, regs, w) {
		w.load(c, flags)
		w.ss = w.flags // where the template's popfq takes them from
		c.CPU.SetReg(x86.RSP, top)
		c.CPU.SetRIP(kernel.DetourCode(va))
	}
	return 0
}

// room is room, unless a test wants none.
func (k *Kprobes) room(c *kernel.VCPU, below uint64) *regWords {
	if k.narrow != 0 {
		if k.frames++; k.frames%k.narrow == 0 {
			return nil
		}
	}
	return room(c, below)
}

// first1 does the first instruction of some code, a push of n bytes, and has the CPU go on behind it.
func (k *Kprobes) first1(c *kernel.VCPU, va, x, n uint64) error {
	sp := c.CPU.Reg(x86.RSP) - 8
	if err := c.CPU.PutU64(sp, x); err != nil {
		return err
	}
	c.CPU.SetReg(x86.RSP, sp)
	c.CPU.SetRIP(va + n)
	return nil
}

func (k *Kprobes) detourBare(c *kernel.VCPU, s *site, va uint64) {
	c.CPU.SetRIP(kernel.DetourCode(va))
	if !k.enterDetour(c, s) {
		return
	}
	if s.guest() {
		k.enterThunk(c, thunk{site: s, via: viaDetour, ip: s.addr + 1, to: c.CPU.RIP()})
		return
	}
	h := k.newHit(c, 0, s.addr+1)
	h.Regs.fix = true
	k.call(h, s)
	k.rewind(c, s)
}

// enterDetour counts a hit by a jump; false: no handler is to run. The jump has been counted, unless it is in cold text: its copies
// count for themselves.
func (k *Kprobes) enterDetour(c *kernel.VCPU, s *site) bool {
	if !s.cold {
		c.Uncount()
	}
	c.Charge(costOptimized)
	if k.stopped(c, s) {
		return false
	}
	if k.running(c) {
		s.miss()
		return false
	}
	return true
}

// gateOptimized: void optimized_callback(detour, struct pt_regs *regs), called by a detour's bytes.
func (k *Kprobes) gateOptimized(c *kernel.VCPU) uint64 {
	if s := k.detours.at(c.Arg(0)); s != nil {
		regs := c.Arg(1)
		if sp, ok := word(k.m, regs+regSP); ok {
			k.push(regs+regSP, sp+8)
		}
		k.optimized(c, s, regs, nil)
	}
	return 0
}

// optimized is optimized_callback; false: the CPU goes elsewhere than behind the call. w, if not nil, is what is at regs.
func (k *Kprobes) optimized(c *kernel.VCPU, s *site, regs uint64, w *regWords) bool {
	if !k.enterDetour(c, s) {
		return true
	}
	if s.guest() {
		k.enterThunk(c, thunk{site: s, via: viaTemplate, ip: s.addr + 1, mem: regs})
		return false
	}
	h := k.newHit(c, regs, s.addr+1)
	h.Regs.fix, h.Regs.w = true, w
	k.call(h, s)
	if !k.m.Stopping() {
		return true
	}
	for i, num := range regNums[:regOrig/8] { // the handlers have stopped the machine: the rest of the template, and back to the jump
		x, _ := word(k.m, regs+8*uint64(i))
		c.CPU.SetReg(num, x)
	}
	flags, _ := word(k.m, regs+regFlags)
	c.CPU.SetFlags(flags)
	c.CPU.SetReg(x86.RSP, regs+regsSize)
	k.rewind(c, s)
	c.KeepRIP()
	return false
}

// ftraceEntry is Ops.Entry: ftrace_regs_caller in one step.
func (k *Kprobes) ftraceEntry(c *kernel.VCPU) uint64 {
	va, top := c.CPU.RIP(), c.CPU.Reg(x86.RSP)
	w := k.room(c, 8)
	if w == nil {
		if k.first1(c, va, c.CPU.Flags(), 1) != nil {
			k.m.EntryFunc(va, nil)
		}
		c.KeepRIP()
		return 0
	}
	behind, parent, ok := w.over(top)
	if !ok {
		behind, parent, _ = words(k.m, top)
	}
	regs := top - 8 - regsSize
	w.save(c)
	w.ip, w.sp, w.orig, w.above = behind, top+8, 0, w.flags
	flags := w.flags
	gate, from := k.op.Own()
	w.from = from
	const call = 5
	c.CPU.SetReg(x86.RDI, behind-call)
	c.CPU.SetReg(x86.RSI, parent)
	c.CPU.SetReg(x86.RCX, regs)
	c.CPU.SetReg(x86.RSP, regs-8)
	c.CPU.SetRIP(gate)
	k.w = w
	k.t.Sites().CallOwn(c, k.op, behind-call, parent, regs)
	k.w = nil
	if c.Kept() { // for a handler of guest code; the bytes will do the rest
		return 0
	}
	w.load(c, flags)
	if w.above = w.flags; w.ip != behind {
		k.push(top, w.ip)
	}
	c.CPU.SetReg(x86.RSP, top+8)
	c.CPU.SetRIP(w.ip)
	c.KeepRIP()
	return 0
}
