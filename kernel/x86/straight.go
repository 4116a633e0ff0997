package x86

import (
	"unsafe"

	"kscope/kernel/mem"
)

// Straight is shadow text without branches up to a direct call or jump, its last instruction, as RunStraight does it: the way to a gate.
type Straight struct {
	uops []uop
	va   uint64
	to   uint64 // where the last instruction goes
}

// NewStraight reads text, the code at va; nil: it is more than that.
func NewStraight(va uint64, text []byte) *Straight {
	co, l, ended := &code{va: va, shadow: true}, lowering{}, false
	for l.reset(co); len(text) > 0; {
		in := decodeInst(text)
		if in.Len == truncated || ended {
			return nil
		}
		l.add(in)
		text, ended = text[in.Len:], l.ends(&in)
	}
	l.lower(false)
	if last := co.precise[len(co.precise)-1].op; last != o_call && last != o_jmp {
		return nil
	}
	return &Straight{co.precise, va, co.tva}
}

// RunStraight goes to the end of s, as the CPU would in shadow text, whose instructions count nothing. false: it stands before another
// instruction of s, whose fault is c.Exc with fault, or or the flags say that one is executed
// at a time. RIP is that of a gate in place of the first.
func (c *CPU) RunStraight(s *Straight) (ok, fault bool) {
	c.tl.Sync(c.phys)
	cp, tl := unsafe.Pointer(c), c.tl
	one := c.sys&FlagTF != 0
	for u := &s.uops[0]; ; u = uopAt(u, 1) {
		if one && u.idx != 0 {
			c.transfer(s.va + uint64(u.off))
			return false, false
		}
		switch u.op {
		case o_mov_rr_64:
			*(*uint64)(unsafe.Add(cp, u.d)) = *(*uint64)(unsafe.Add(cp, u.s))
		case o_mov_rr_32:
			*(*uint64)(unsafe.Add(cp, u.d)) = uint64(*(*uint32)(unsafe.Add(cp, u.s)))
		case o_mov_ri_64:
			*(*uint64)(unsafe.Add(cp, u.d)) = u.imm
		case o_lea_64_B:
			*(*uint64)(unsafe.Add(cp, u.d)) = *(*uint64)(unsafe.Add(cp, u.m)) + u.disp
		case o_ldz_64_B:
			va := *(*uint64)(unsafe.Add(cp, u.m)) + u.disp
			e := &tl.R[mem.Index(va)]
			if va-e.VA > mem.PageSize-8 {
				goto slow
			}
			*(*uint64)(unsafe.Add(cp, u.d)) = *(*uint64)(unsafe.Add(e.P, va-e.VA))
		case o_call:
			va := c.r[RSP] - 8
			e := &tl.W[mem.Index(va)]
			if va-e.VA > mem.PageSize-8 {
				goto slow
			}
			*(*uint64)(unsafe.Add(e.P, va-e.VA)) = u.imm
			c.r[RSP] = va
			c.transfer(s.to)
			return !one, false
		case o_jmp:
			c.transfer(s.to)
			return !one, false
		default:
			goto slow
		}
		continue
	slow:
		switch c.slow(u) {
		case stNext:
		case stJump: // a call that has missed
			c.transfer(s.to)
			return !one, false
		default:
			c.transfer(s.va + uint64(u.off))
			return false, true
		}
	}
}
