package x86

// Run executes at most n counted instructions, exactly, and says why it stopped. Shadow text and gates count nothing,
// and neither the budget nor an interrupt stops the CPU inside them.
func (c *CPU) Run(n int64) Exit {
	c.limit = c.Insns + uint64(n)
	c.budget = n
	c.tl.Sync(c.phys)
	e := c.run()
	c.Insns = c.limit - uint64(c.budget)
	c.b = nil // what the machine does now, an exception's frame on a page with code say, counts nothing
	return e
}

func (c *CPU) run() Exit {
	for {
		if c.stop {
			c.stop = false
			return ExitStop
		}
		if c.pendDB {
			c.pendDB = false
			c.raise(VecDB, 0, false)
			return ExitException
		}
		if c.budget <= 0 && !c.InShadow() { // first: what is due at a slice's end comes in the next one, behind a trampoline too
			return ExitBudget
		}
		wanted := c.irq && c.sys&FlagIF != 0
		if wanted && c.CanInterrupt() {
			return ExitWindow
		}
		r := xResync
		switch {
		case c.sys&FlagTF != 0 || c.win.held || c.archState.shadow && c.irq:
			r = c.single()
		case wanted && !c.archState.shadow: // in shadow text: go on to the first counted instruction
			left := c.budget
			c.limit -= uint64(left)
			c.budget = 0
			r = c.blocks()
			c.budget += left
			c.limit += uint64(left)
		default:
			c.archState.shadow = false
			r = c.blocks()
		}
		switch r {
		case xFault:
			return ExitException
		case xExit:
			if c.exit != exitStep || c.steps() != stJump {
				return c.exit
			}
		}
	}
}

// position returns the block and the precise uop to go on with.
func (c *CPU) position() (*block, int) {
	if b := c.cur; b != nil && !b.dead {
		return b, c.ku
	}
	c.cur, c.ku = nil, 0
	if e := &c.jc[(c.rip^c.rip>>12)&jcMask]; e.tag == c.rip^c.jkey && !e.b.dead {
		return e.b, 0
	}
	return c.find(nil, c.rip), 0
}

// blocks runs chained blocks; where the budget ends inside a block it stops at the exact instruction.
func (c *CPU) blocks() int {
	b, k := c.position()
	if b == nil {
		return xFault
	}
	if k == 0 {
		if b.cost > c.budget {
			return c.partial(b, 0)
		}
		c.cur = nil
		return c.chain(b)
	}
	u := uopAt(b.p0, k)
	rest := int64(0)
	if b.cost != 0 {
		rest = b.cost - int64(u.idx)
	}
	if rest > c.budget {
		return c.partial(b, k)
	}
	c.budget -= rest
	c.cur = nil
	if r := c.exec(b, u); r != xHost {
		return r
	}
	b = c.cur
	c.cur = nil
	return c.chain(b)
}

// partial runs the instructions of b from its precise uop k on that the budget still allows: fewer than are left in b.
func (c *CPU) partial(b *block, k int) int {
	u := uopAt(b.p0, k) // not by way of b.code: slices end in blocks that are cold
	stop := u.idx + uint8(c.budget)
	c.budget -= b.cost - int64(u.idx)
	c.cur, c.b = nil, b
	for ; u.idx < stop; u = uopAt(u, 1) {
		r := c.slow(u)
		if r == stNext && !c.smc {
			k++
			continue
		}
		return c.stepped(b, k, r)
	}
	c.park(b, k)
	return xBudget
}

// park stops before precise uop k of b.
func (c *CPU) park(b *block, k int) {
	u := uopAt(b.p0, k)
	if b.cost != 0 {
		c.budget += b.cost - int64(u.idx)
	}
	c.cur, c.ku, c.rip = b, k, b.rip(u)
}

// stepped ends a slow step: uop k of b answered r.
func (c *CPU) stepped(b *block, k, r int) int {
	switch r {
	case stNext:
		return c.finish(b, b.code.precise, k)
	case stJump:
		c.smc = false
		return xResync
	}
	return c.leave(b, &b.code.precise[k], r)
}

// finish completes the instruction whose uop k is done and leaves b behind it.
func (c *CPU) finish(b *block, us []uop, k int) int {
	idx := us[k].idx
	c.b = b
	for k++; us[k].idx == idx; k++ {
		if r := c.slow(&us[k]); r != stNext {
			if r == stJump {
				c.smc = false
				return xResync
			}
			return c.leave(b, &us[k], r)
		}
	}
	c.smc = false
	c.park(b, preciseIndex(b.code, idx+1))
	return xResync
}

// preciseIndex returns the first precise uop of instruction idx.
func preciseIndex(co *code, idx uint8) int {
	k := 0
	for co.precise[k].idx != idx {
		k++
	}
	return k
}

// afterStore leaves the block after an instruction that changed decoded code: what follows may be it.
func (c *CPU) afterStore(b *block, u *uop) int {
	us := b.code.fast
	k := uopIndex(us, u)
	if k < 0 {
		us = b.code.precise
		k = uopIndex(us, u)
	}
	return c.finish(b, us, k)
}

// leave ends a block at uop u, which answered r.
func (c *CPU) leave(b *block, u *uop, r int) int {
	done := int64(u.idx)
	if r != stFault && r != stRepeat {
		done++
	}
	if b.cost != 0 {
		c.budget += b.cost - done
	}
	c.cur, c.smc = nil, false
	switch r {
	case stFault:
		c.rip = b.rip(u)
		if c.Exc.odd && usesStack(u) {
			c.Exc.Vec = VecSS
		}
		return xFault
	case stTrap:
		return xFault
	case stExit:
		return xExit
	}
	return xResync
}

// single executes one instruction: when TF is set, behind sti and mov ss, and from a held fetch window.
func (c *CPU) single() int {
	tf := c.sys&FlagTF != 0
	c.archState.shadow, c.noTrap = false, false
	c.rep1 = tf
	r := c.step()
	c.rep1 = false
	if !tf || c.noTrap {
		return r
	}
	switch r {
	case xExit:
		c.pendDB = true
		if c.exit == exitStep { // the trap behind the gate comes first
			c.exit = ExitGate
		}
	case xResync:
		c.raise(VecDB, 0, false)
		return xFault
	}
	return r
}

func (c *CPU) step() int {
	if c.win.held {
		return c.stepHeld()
	}
	b, k := c.position()
	if b == nil {
		return xFault
	}
	return c.stepBlock(b, k)
}

// stepBlock executes the instruction at precise uop k of b.
func (c *CPU) stepBlock(b *block, k int) int {
	us := b.code.precise
	idx := us[k].idx
	if b.cost != 0 {
		c.budget -= b.cost - int64(idx)
	}
	c.cur, c.b = nil, b
	for {
		r := c.slow(&us[k])
		if r != stNext || c.smc {
			return c.stepped(b, k, r)
		}
		if k++; us[k].idx != idx {
			c.park(b, k)
			return xResync
		}
	}
}

// slow executes one uop of c.b on the slow path.
func (c *CPU) slow(u *uop) int {
	c.idx = u.idx
	return slowOps[u.op](c, u)
}

// sync makes c.Insns exact within a slow function: the instructions before the current one are counted.
func (c *CPU) sync() {
	left := c.budget
	if c.b.cost != 0 {
		left += c.b.cost - int64(c.idx)
	}
	c.Insns = c.limit - uint64(left)
}

// resync ends an instruction that may have changed anything.
func (c *CPU) resync(u *uop) int {
	c.rip = c.b.next(u)
	return stResync
}

// exitAs ends an instruction that makes Run return.
func (c *CPU) exitAs(u *uop, e Exit) int {
	c.rip = c.b.next(u)
	c.exit = e
	return stExit
}

// transfer goes on at va in a way that no instruction did: the fetch window is gone.
func (c *CPU) transfer(va uint64) {
	c.rip = va
	c.cur = nil
	c.win.held = false
}

// RequestStop makes Run return ExitStop after the current instruction, when that is one that calls Env.
func (c *CPU) RequestStop() { c.stop = true }

// StopRequested tells whether RequestStop was called since Run last returned for it.
func (c *CPU) StopRequested() bool { return c.stop }

// SetIRQ says whether the interrupt controller holds an interrupt for this CPU.
func (c *CPU) SetIRQ(pending bool) { c.irq = pending }

// CanInterrupt reports whether an interrupt can be taken now.
func (c *CPU) CanInterrupt() bool {
	return c.sys&FlagIF != 0 && !c.archState.shadow && !c.InShadow()
}

// InShadow reports whether RIP is in text that is not counted and not stopped in.
func (c *CPU) InShadow() bool { return c.env.Shadow(c.rip) || c.env.Gate(c.rip) }

// usesStack reports whether a uop's memory operand is in the stack segment: a bad address is then #SS.
func usesStack(u *uop) bool {
	op := u.op
	if op >= o_push_run {
		op = firstOps[op-o_push_run] // of the uop that faulted
	}
	switch op {
	case o_push_r, o_push_i, o_pop_r, o_call, o_call_r, o_ret, o_ret_i, o_leave, o_pushw, o_popw, o_pushf, o_popf, o_enter, o_iretq, o_lretq:
		return true
	}
	run := u.op == o_st_run || u.op == o_ld_run // x is no index in them
	return (u.m == RSP*8 || u.m == RBP*8) && (run || u.x != slotFS && u.x != slotGS)
}
