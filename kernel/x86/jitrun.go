//go:build linux && amd64 && !race

package x86

import "unsafe"

// chain runs block b, whose budget has not been taken, and what follows it.
func (c *CPU) chain(b *block) int {
	for {
		r := 0
		if c.cache.warm != 0 && c.warm(b) {
			r = c.runHost(b)
		} else {
			c.budget -= b.cost
			r = c.exec(b, b.u0)
		}
		if r != xHost {
			return r
		}
		b = c.cur
		c.cur = nil
	}
}

// lend gives host code no more of the budget than its stack allows, and a stack.
func (c *CPU) lend() {
	h := &c.host
	if lo := uintptr(unsafe.Pointer(&h.returns)); h.sp < lo+8*returnsFree {
		m := c.cache.hosts
		h.returns[returnsSize-1] = m.pc(m.t.shared.underflow)
		h.sp = lo + 8*(returnsSize-1)
	}
	h.over = max(c.budget-hostBudget, 0)
	c.budget -= h.over
	c.limit -= uint64(h.over)
}

// runHost is exec in host code, from the start of b, which has some.
func (c *CPU) runHost(b *block) int {
	c.lend()
	h := &c.host
	hostCall(c, b.host)
	if b = h.b; b == nil {
		return h.answer
	}
	u := h.u
	h.b, h.u = nil, nil
	return c.exec(b, u)
}

// hostAsk does what host code has left for, and returns where that goes on. 0: nowhere; then host.answer is exec's, or exec is to go on
// at u of b. Host code comes here as one calls a function, so that the host's guesses of returns stay in step: when hostCall returned
// each time, that return and the next one in host code were both guessed wrong.
func hostAsk(c *CPU) (host uintptr) {
	h := &c.host
	c.budget += h.over
	c.limit += uint64(h.over)
	if h.why != whyGate || c.gater == nil {
		if host = c.hostNext(); host != 0 {
			c.lend()
		}
		return host
	}
	b := c.cache.hosts.codes[h.code].b // a gate, as opGate, as long as that goes on: each event comes here
	c.b = b
	c.rip, c.exit = b.start, ExitGate
	tl := c.tl
	c.Insns = c.limit - uint64(c.budget)
	n := c.gater.RunGate()
	if n <= 0 || c.tl != tl || !c.steady() {
		if r := c.settled(n, tl); r != stJump {
			return c.ends(c.leave(b, b.u0, r))
		}
	} else {
		c.smc = false
		c.budget, c.limit = n, c.Insns+uint64(n)
		tl.Sync(c.phys)
	}
	c.lend()
	return c.cache.hosts.find
}

// ends has runHost return r.
func (c *CPU) ends(r int) uintptr {
	c.host.answer = r
	return 0
}

// interpret has runHost go on at u of b, whose budget has been taken.
func (c *CPU) interpret(b *block, u *uop) uintptr {
	c.host.b, c.host.u = b, u
	return 0
}

// hostNext is hostAsk but for gates that a Gater settles.
func (c *CPU) hostNext() uintptr {
	h, m := &c.host, c.cache.hosts
	var s *site
	switch h.why {
	case whyFind:
		return c.goOn(c.next(uint64(h.at)))
	case whyLink:
		return c.hostLink(m, int(h.code>>1), int(h.code&1))
	case whyBudget:
		b := m.codes[h.code].b
		c.budget += b.cost
		return c.goOn(b)
	case whyGate:
		b := m.codes[h.code].b
		c.b = b
		return c.ends(c.leave(b, b.u0, c.opGate(b.u0)))
	case whyBare:
		s = &m.sites[h.code]
	default:
		s = m.siteAt(h.at)
	}
	b := m.codes[s.code].b
	u := uopAt(b.u0, int(s.k))
	c.b, c.idx = b, u.idx
	switch r := slowOps[u.op](c, u); {
	case r == stNext && c.smc:
		return c.ends(c.afterStore(b, u))
	case r == stNext && s.next != 0 && c.cache.hosts == m:
		return m.pc(int(s.next))
	case r == stNext:
		return c.interpret(b, uopAt(u, 1))
	case r == stJump && c.smc:
		return c.ends(c.leave(b, u, stResync))
	case r == stJump:
	case r == stResync && c.steady():
		c.leave(b, u, r)
		if c.budget <= 0 {
			return c.ends(xResync)
		}
	default:
		if r = c.leave(b, u, r); r != xExit || c.exit != exitStep || c.steps() != stJump {
			return c.ends(r)
		}
	}
	return c.goOn(c.next(c.rip))
}

// hostLink goes to the block behind another, and joins the two.
func (c *CPU) hostLink(m *hostMemory, code, side int) uintptr {
	from := m.codes[code].b
	b := c.follow(from, side)
	host := c.goOn(b)
	if host != 0 && m == c.cache.hosts && !from.dead && (side == 0 && from.t == b || side == 1 && from.f == b) {
		m.join(code, side, b)
	}
	return host
}

// goOn goes to b; nil: c.Exc says why there is none.
func (c *CPU) goOn(b *block) uintptr {
	switch {
	case b == nil:
		return c.ends(xFault)
	case b.cost > c.budget:
		c.cur, c.ku, c.rip = b, 0, b.start
		return c.ends(xBudget)
	case !c.warm(b):
		c.budget -= b.cost
		return c.interpret(b, b.u0)
	}
	return b.host
}

// steady reports whether run would go on at once behind an instruction that answers stResync.
func (c *CPU) steady() bool {
	return !c.stop && !c.pendDB && !c.irq && !c.win.held && !c.archState.shadow && c.sys&FlagTF == 0
}

// next returns the block at target; nil: c.Exc says why there is none.
func (c *CPU) next(target uint64) *block {
	if e := &c.jc[(target^target>>12)&jcMask]; e.tag == target^c.jkey && !e.b.dead {
		return e.b
	}
	return c.find(nil, target)
}

// follow returns the block behind from.
func (c *CPU) follow(from *block, side int) *block {
	nb, target := from.t, from.tva
	if side == 1 {
		nb, target = from.f, from.fva
	}
	if from.dead { // killed while what it called ran: nobody has kept its links
		return c.next(target)
	}
	if nb == unlinkedT || nb == unlinkedF || nb.dead {
		return c.link(from, nb, target)
	}
	return nb
}
