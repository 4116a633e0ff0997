package x86

import "kscope/kernel/mem"

// stringOp is the state of one string instruction: u.sc is the element size, u.s the slot of the source segment's base,
// u.x the prefix (1 rep or repe, 2 repne), u.m 1 for 32-bit addresses.
type stringOp struct {
	c    *CPU
	u    *uop
	n    uint64 // bytes per element
	step uint64 // n, or -n when DF is set
	mask uint64 // of addresses and counts
}

func (c *CPU) stringOp(u *uop) stringOp {
	s := stringOp{c: c, u: u, n: 1 << u.sc, mask: ^uint64(0)}
	s.step = s.n
	if c.sys&FlagDF != 0 {
		s.step = -s.n
	}
	if u.m == 1 {
		s.mask = 1<<32 - 1
	}
	return s
}

func (s *stringOp) src() uint64 { return s.c.reg(s.u.s, 3) + s.c.r[RSI]&s.mask }
func (s *stringOp) dst() uint64 { return s.c.r[RDI] & s.mask }

// advance moves an index register by k elements; 32-bit addressing clears its upper half.
func (s *stringOp) advance(r int, k uint64) { s.c.r[r] = (s.c.r[r] + k*s.step) & s.mask }

// loop runs body until the count is used up. body does up to max elements and returns how many; 0 is a fault, and
// stop ends the loop after them (repe, repne). Registers are exact at each fault.
func (s *stringOp) loop(body func(max uint64) (done uint64, stop bool)) int {
	c := s.c
	if s.u.x == 0 {
		if done, _ := body(1); done == 0 {
			return stFault
		}
		return stNext
	}
	for c.r[RCX]&s.mask != 0 {
		max := c.r[RCX] & s.mask
		if c.rep1 {
			max = 1
		}
		done, stop := body(max)
		if done == 0 {
			return stFault
		}
		c.r[RCX] = (c.r[RCX] - done) & s.mask
		if stop {
			break
		}
		if (c.rep1 || c.smc) && c.r[RCX] != 0 { // a trap, or the instruction itself may have been overwritten
			c.rip = c.b.rip(s.u)
			return stRepeat
		}
	}
	return stNext
}

// room returns how many elements fit between va and the end of its page in the direction of travel, at least 0.
func (s *stringOp) room(va uint64) uint64 {
	if s.step != s.n {
		return 0
	}
	return (mem.PageSize - va%mem.PageSize) / s.n
}

func (c *CPU) opMovs(u *uop) int {
	s := c.stringOp(u)
	return s.loop(func(max uint64) (uint64, bool) {
		from, to := s.src(), s.dst()
		if k := min(max, s.room(from), s.room(to)); k > 1 && !(to > from && to < from+k*s.n) {
			if done, ok := s.copyRun(from, to, k); done != 0 || !ok {
				return done, false
			}
		}
		v, ok := c.load(from, s.n)
		if !ok || !c.store(to, v, s.n) {
			return 0, false
		}
		s.advance(RSI, 1)
		s.advance(RDI, 1)
		return 1, false
	})
}

// copyRun moves k elements within one page each; 0 with ok: not possible that way.
func (s *stringOp) copyRun(from, to, k uint64) (done uint64, ok bool) {
	c := s.c
	if _, ok = c.readPtr(from); !ok {
		return 0, false
	}
	q, _, code, ok := c.writePtr(to)
	if !ok {
		return 0, false
	}
	p, ok := c.readPtr(from) // again: making the target private may have moved it
	if !ok || code || p == nil || q == nil {
		return 0, ok
	}
	b := k * s.n
	if d := distance(q, p); d > 0 && d < int(b) {
		return 0, true // two addresses of one frame: an element may be one that was just written
	}
	copy(q[:b], p[:b])
	s.advance(RSI, k)
	s.advance(RDI, k)
	return k, true
}

func (c *CPU) opStos(u *uop) int {
	s := c.stringOp(u)
	return s.loop(func(max uint64) (uint64, bool) {
		to := s.dst()
		if k := min(max, s.room(to)); k > 1 {
			q, _, code, ok := c.writePtr(to)
			if !ok {
				return 0, false
			}
			if !code && q != nil {
				fill(q[:k*s.n], c.r[RAX], s.n)
				s.advance(RDI, k)
				return k, false
			}
		}
		if !c.store(to, c.r[RAX], s.n) {
			return 0, false
		}
		s.advance(RDI, 1)
		return 1, false
	})
}

// fill repeats the low n bytes of v.
func fill(b []byte, v, n uint64) {
	for i := range n {
		b[i] = byte(v >> (8 * i))
	}
	for have := n; have < uint64(len(b)); have *= 2 {
		copy(b[have:], b[:have])
	}
}

func (c *CPU) opLods(u *uop) int {
	s := c.stringOp(u)
	return s.loop(func(uint64) (uint64, bool) {
		v, ok := c.load(s.src(), s.n)
		if !ok {
			return 0, false
		}
		c.setReg(RAX*8, u.sc, v)
		s.advance(RSI, 1)
		return 1, false
	})
}

func (c *CPU) opCmps(u *uop) int {
	s := c.stringOp(u)
	return s.loop(func(uint64) (uint64, bool) {
		a, ok := c.load(s.src(), s.n)
		if !ok {
			return 0, false
		}
		b, ok := c.load(s.dst(), s.n)
		if !ok {
			return 0, false
		}
		c.compare(a, b, u.sc)
		s.advance(RSI, 1)
		s.advance(RDI, 1)
		return 1, (a == b) != (u.x == 1)
	})
}

func (c *CPU) opScas(u *uop) int {
	s := c.stringOp(u)
	return s.loop(func(uint64) (uint64, bool) {
		b, ok := c.load(s.dst(), s.n)
		if !ok {
			return 0, false
		}
		a := c.reg(RAX*8, u.sc)
		c.compare(a, b, u.sc)
		s.advance(RDI, 1)
		return 1, (a == b) != (u.x == 1)
	})
}
