package kprobe

import (
	"golang.org/x/arch/x86/x86asm"

	"kscope/kernel"
	"kscope/kernel/x86"
)

// emulate does what the probed instruction does, when its kind is one that 6.1 emulates (prepare_emulation in
// arch/x86/kernel/kprobes/core.c): near returns, calls and jumps, conditional ones, loops, and what changes or shows IF. false: it
// must run from its copy. Beyond 6.1, which refuses them with EOPNOTSUPP, calls and jumps through memory are done too.
func (k *Kprobes) emulate(c *kernel.VCPU, s *site) bool {
	in := &s.insn
	next := s.addr + uint64(in.size)
	b := in.bytes[:in.size]
	switch {
	case in.kind == nearRet:
		return k.emulateRet(c, s)
	case in.kind == relCall:
		return k.emulateCall(c, next, next+in.rel())
	case in.kind == relative:
		if taken, ok := in.taken(c); !ok {
			return false
		} else if taken {
			next += in.rel()
		}
		c.CPU.SetRIP(next)
		return true
	case in.kind == indirect || in.kind == indCall:
		to, ok := k.target(c, s)
		if !ok {
			return false // its copy faults as the original would
		}
		if in.kind == indCall {
			return k.emulateCall(c, next, to)
		}
		c.CPU.SetRIP(to)
		return true
	case len(b) != 1:
		return false
	}
	switch sp := c.CPU.Reg(x86.RSP); b[0] {
	case 0xfa: // cli
		c.CPU.SetFlags(c.CPU.Flags() &^ x86.FlagIF)
	case 0xfb: // sti
		if c.CPU.Flags()&x86.FlagIF == 0 {
			c.CPU.SetInterruptShadow()
		}
		c.CPU.SetFlags(c.CPU.Flags() | x86.FlagIF)
	case 0x9c: // pushf
		if c.CPU.PutU64(sp-8, c.CPU.Flags()) != nil {
			return false
		}
		c.CPU.SetReg(x86.RSP, sp-8)
	default:
		return false
	}
	c.CPU.SetRIP(next)
	return true
}

// emulateCall does a near call; false when the stack cannot be written.
func (k *Kprobes) emulateCall(c *kernel.VCPU, next, to uint64) bool {
	sp := c.CPU.Reg(x86.RSP) - 8
	if c.CPU.PutU64(sp, next) != nil {
		return false
	}
	c.CPU.SetReg(x86.RSP, sp)
	c.CPU.SetRIP(to)
	return true
}

// emulateRet does a near return; false when its stack cannot be read, and the copy then faults as the original would.
func (k *Kprobes) emulateRet(c *kernel.VCPU, s *site) bool {
	sp := c.CPU.Reg(x86.RSP)
	to, ok := word(k.m, sp)
	if !ok {
		return false
	}
	sp += 8
	if b := s.insn.bytes[:s.insn.size]; b[len(b)-1] != 0xc3 { // ret n
		sp += uint64(b[len(b)-2]) | uint64(b[len(b)-1])<<8
	}
	c.CPU.SetReg(x86.RSP, sp)
	c.CPU.SetRIP(to)
	return true
}

// target is where an indirect call or jump goes.
func (k *Kprobes) target(c *kernel.VCPU, s *site) (uint64, bool) {
	b := s.insn.bytes[:s.insn.size]
	i := 0
	for i < len(b) && b[i] != 0xff {
		i++
	}
	if i+1 >= len(b) {
		return 0, false
	}
	if b[i+1]>>6 == 3 { // a register
		r := int(b[i+1] & 7)
		if i > 0 && b[i-1]&0xf1 == 0x41 {
			r += 8
		}
		return c.CPU.Reg(r), true
	}
	to, err := c.CPU.U64(s.insn.address(c, s.addr))
	return to, err == nil
}

// rel is the displacement of a relative jump or call, its last 1 or 4 bytes.
func (in *insn) rel() uint64 {
	b := in.bytes[:in.size]
	if op := b[0]; op == 0xe8 || op == 0xe9 || op == 0x0f || len(b) >= 6 {
		n := len(b)
		return uint64(int64(int32(uint32(b[n-4]) | uint32(b[n-3])<<8 | uint32(b[n-2])<<16 | uint32(b[n-1])<<24)))
	}
	return uint64(int64(int8(b[len(b)-1])))
}

// taken says whether a relative jump is taken; ok is false for forms that are left to the copy.
func (in *insn) taken(c *kernel.VCPU) (taken, ok bool) {
	f := c.CPU.Flags()
	b := in.bytes[:in.size]
	switch {
	case in.op == x86asm.JMP:
		return true, true
	case b[0]&0xf0 == 0x70:
		return condition(b[0]&15, f), true
	case b[0] == 0x0f && b[1]&0xf0 == 0x80:
		return condition(b[1]&15, f), true
	case b[0] == 0xe3: // jrcxz
		return c.CPU.Reg(x86.RCX) == 0, true
	case b[0] >= 0xe0 && b[0] <= 0xe2: // loopne, loope, loop
		n := c.CPU.Reg(x86.RCX) - 1
		c.CPU.SetReg(x86.RCX, n)
		zf := f&x86.FlagZF != 0
		return n != 0 && (b[0] == 0xe2 || zf == (b[0] == 0xe1)), true
	}
	return false, false
}

// condition evaluates a condition code: Intel's manual, volume 1, appendix B.
func condition(cc byte, f uint64) bool {
	is := func(flag uint64) bool { return f&flag != 0 }
	var x bool
	switch cc >> 1 {
	case 0:
		x = is(x86.FlagOF)
	case 1:
		x = is(x86.FlagCF)
	case 2:
		x = is(x86.FlagZF)
	case 3:
		x = is(x86.FlagCF) || is(x86.FlagZF)
	case 4:
		x = is(x86.FlagSF)
	case 5:
		x = is(x86.FlagPF)
	case 6:
		x = is(x86.FlagSF) != is(x86.FlagOF)
	case 7:
		x = is(x86.FlagZF) || is(x86.FlagSF) != is(x86.FlagOF)
	}
	return x != (cc&1 != 0)
}
