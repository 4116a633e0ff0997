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

// callHost runs host code with no more budget than its stack allows.
func (c *CPU) callHost(m *hostMemory, host uintptr) {
	h := &c.host
	if lo := uintptr(unsafe.Pointer(&h.returns)); h.sp < lo+8*returnsFree {
		h.returns[returnsSize-1] = m.pc(m.t.shared.underflow)
		h.sp = lo + 8*(returnsSize-1)
	}
	over := max(c.budget-hostBudget, 0)
	c.budget -= over
	c.limit -= uint64(over)
	hostCall(c, host)
	c.budget += over
	c.limit += uint64(over)
}

// runHost is exec in host code, from the start of b, which has some.
func (c *CPU) runHost(b *block) int {
	m, host := c.cache.hosts, b.host
	for {
		c.callHost(m, host)
		var from *block // that leads to b on one side
		code, side := 0, 0
		switch h := &c.host; h.why {
		case whyFind:
			if b = c.next(uint64(h.at)); b == nil {
				return xFault
			}
		case whyLink:
			code, side = int(h.code>>1), int(h.code&1)
			from = m.codes[code].b
			if b = c.follow(from, side); b == nil {
				return xFault
			}
		case whyBudget:
			b = m.codes[h.code].b
			c.budget += b.cost
		default:
			var s *site
			if h.why == whyBare {
				s = &m.sites[h.code]
			} else {
				s = m.siteAt(h.at)
			}
			b = m.codes[s.code].b
			u := uopAt(b.u0, int(s.k))
			c.b, c.idx = b, u.idx
			switch r := slowOps[u.op](c, u); {
			case r == stNext && c.smc:
				return c.afterStore(b, u)
			case r == stNext && s.next != 0 && c.cache.hosts == m:
				host = m.pc(int(s.next))
				continue
			case r == stNext:
				return c.exec(b, uopAt(u, 1))
			case r == stJump:
			case r == stResync && c.steady():
				c.leave(b, u, r)
				if c.budget <= 0 {
					return xResync
				}
			default:
				return c.leave(b, u, r)
			}
			if b = c.next(c.rip); b == nil {
				return xFault
			}
		}
		if b.cost > c.budget {
			c.cur, c.ku, c.rip = b, 0, b.start
			return xBudget
		}
		if !c.warm(b) {
			c.budget -= b.cost
			return c.exec(b, b.u0)
		}
		if host = b.host; m != c.cache.hosts {
			m = c.cache.hosts
		} else if from != nil && !from.dead && (side == 0 && from.t == b || side == 1 && from.f == b) {
			m.join(code, side, b)
		}
	}
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
	if nb == unlinkedT || nb == unlinkedF || nb.dead {
		return c.link(from, nb, target)
	}
	return nb
}
