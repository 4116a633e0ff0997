package x86

import (
	"encoding/binary"

	"kscope/kernel/mem"
)

// The dead stack.
//
// A probe that must leave no trace may store only below the stack pointer of the probed code, within deadStack bytes, and
// even these come back: a direct call from counted text into shadow text keeps them (uop scall), and the return to the same
// stack pointer restores them (uop sret). Blocks hold these uops only when Env is a StackKeeper that says so.

// StackKeeper is an Env that may want the dead stack kept across shadow text.
type StackKeeper interface{ KeepDeadStack() bool }

const deadStack = 512

// kept is the dead stack below sp; sp 0: none. Shadow text is not interrupted, so one per CPU is enough.
type kept struct {
	sp    uint64
	bytes [deadStack]byte
}

// keepDead copies the dead stack; what is not mapped is not kept.
func (c *CPU) keepDead(sp uint64) {
	c.kept.sp = sp
	lo := sp - deadStack
	if !crosses(lo, deadStack) {
		if p, ok := c.readPtr(lo); ok {
			copy(c.kept.bytes[:], p)
			return
		}
	}
	for i := uint64(0); i < deadStack; i += 8 {
		v, _ := c.load(lo+i, 8)
		binary.LittleEndian.PutUint64(c.kept.bytes[i:], v)
	}
}

// restoreDead puts it back.
func (c *CPU) restoreDead() {
	lo := c.kept.sp - deadStack
	c.kept.sp = 0
	if !crosses(lo, deadStack) {
		if p, _, code, ok := c.writePtr(lo); ok && !code {
			copy(p, c.kept.bytes[:])
			return
		}
	}
	for i := uint64(0); i < deadStack; i += 8 {
		c.store(lo+i, binary.LittleEndian.Uint64(c.kept.bytes[i:]), 8)
	}
}

// opShadowCall is a direct call from counted text into shadow text.
func (c *CPU) opShadowCall(u *uop) int {
	sp := c.r[RSP]
	c.keepDead(sp)
	if !c.store(sp-8, u.imm, 8) {
		c.kept.sp = 0
		return stFault
	}
	c.r[RSP] = sp - 8
	c.rip = c.b.tva
	return stJump
}

// opShadowRet is a ret in shadow text.
func (c *CPU) opShadowRet(u *uop) int {
	va, ok := c.load(c.r[RSP], 8)
	if !ok {
		return stFault
	}
	if !mem.Canonical(va) {
		return c.raiseGP(0)
	}
	c.r[RSP] += 8
	c.rip = va
	if c.kept.sp == c.r[RSP] && c.kept.sp != 0 {
		c.restoreDead()
	}
	return stJump
}
