package x86

import (
	"golang.org/x/arch/x86/x86asm"

	"kscope/kernel/mem"
)

// maxBlock is the number of instructions after which a block ends at the next 64-byte line. It must end at a line: a
// fetch window starts anew there, so blocks cut anywhere else would make windows depend on blocks.
const maxBlock = 32

// inst is a decoded instruction.
type inst struct {
	x86asm.Inst
	gap gap  // what x86asm lacks; if set, only Len counts
	rep byte // the last of f2 and f3, or 0

	locked bool // see ordered.go
	hooked bool // see hook.go
}

// gap names an instruction that x86asm does not decode, or decodes wrongly.
type gap uint8

const (
	gapNone gap = iota
	gapNop
	gapUD
	gapVMCALL
	gapRDPID
	gapLong // more than 15 bytes: #GP
	gapIO   // in, out, ins, outs, and other instructions that #GP above CPL 0
)

// truncated says that the instruction needs more bytes than given.
const truncated = -1

// prefixes returns the length of the legacy and REX prefixes, and the last repeat prefix.
func prefixes(b []byte) (n int, rep byte) {
	for ; n < len(b); n++ {
		switch b[n] {
		case 0xf2, 0xf3:
			rep = b[n]
		case 0x66, 0x67, 0x2e, 0x36, 0x3e, 0x26, 0x64, 0x65, 0xf0:
		default:
			if b[n]&0xf0 == 0x40 {
				n++
			}
			return n, rep
		}
	}
	return n, rep
}

// decodeInst decodes one instruction. Whatever is no instruction is gapUD; Len is truncated when b is too short.
func decodeInst(b []byte) inst {
	if len(b) > 15 {
		b = b[:15]
	}
	n, rep := prefixes(b)
	if n == len(b) {
		if n == 15 {
			return inst{Inst: x86asm.Inst{Len: 15}, gap: gapLong}
		}
		return inst{Inst: x86asm.Inst{Len: truncated}}
	}
	if n > 0 && b[n-1]&0xf0 == 0x40 && isPrefix(b[n]) { // a REX that is not last means nothing
		in := decodeInst(append(append(make([]byte, 0, 15), b[:n-1]...), b[n:]...))
		switch {
		case in.Len != truncated:
			in.Len++
		case len(b) == 15:
			return inst{Inst: x86asm.Inst{Len: 1}, gap: gapLong}
		}
		return in
	}
	if n < len(b) {
		if op := b[n]; n+1 < len(b) && (op&0xfe == 0xc0 || op&0xfc == 0xd0) && b[n+1]>>3&7 == 6 { // x86asm lacks /6, which is shl
			b = append([]byte(nil), b...)
			b[n+1] &^= 2 << 3
		}
		if g, size := gapOf(b[n:], rep); g != gapNone {
			in := inst{gap: g}
			in.Len = n + size
			if in.Len > len(b) {
				in.Len = truncated
			}
			return in
		}
	}
	in, err := x86asm.Decode(b, 64)
	if err != nil || in.Op == 0 {
		switch {
		case len(b) < 15 && x86asmWantsMore(b):
			return inst{Inst: x86asm.Inst{Len: truncated}}
		case err == x86asm.ErrTruncated:
			return inst{Inst: x86asm.Inst{Len: 15}, gap: gapLong}
		}
		return inst{Inst: x86asm.Inst{Len: 1}, gap: gapUD}
	}
	lock := hasLock(b[:n])
	if lock && !lockable(&in) {
		return inst{Inst: x86asm.Inst{Len: 1}, gap: gapUD}
	}
	out := inst{Inst: in, rep: rep}
	out.locked = out.isLocked(lock)
	return out
}

// x86asmWantsMore reports whether b may be the start of a longer instruction: with some modrm byte behind it, it is one.
func x86asmWantsMore(b []byte) bool {
	for reg := range byte(8) {
		var full [15]byte
		for i := copy(full[:], b); i < len(full); i++ {
			full[i] = reg << 3
		}
		in, err := x86asm.Decode(full[:], 64)
		if err == nil && in.Op != 0 && in.Len > len(b) || decodeGapLen(full[:]) > len(b) {
			return true
		}
	}
	return false
}

func decodeGapLen(b []byte) int {
	n, rep := prefixes(b)
	if n+2 >= len(b) {
		return 0
	}
	if g, size := gapOf(b[n:], rep); g != gapNone {
		return n + size
	}
	return 0
}

func isPrefix(b byte) bool {
	switch b {
	case 0xf2, 0xf3, 0x66, 0x67, 0x2e, 0x36, 0x3e, 0x26, 0x64, 0x65, 0xf0:
		return true
	}
	return b&0xf0 == 0x40
}

func hasLock(b []byte) bool {
	for _, p := range b {
		if p == 0xf0 {
			return true
		}
	}
	return false
}

// lockable reports whether a lock prefix is allowed.
func lockable(in *x86asm.Inst) bool {
	switch in.Op {
	case x86asm.ADD, x86asm.ADC, x86asm.AND, x86asm.BTC, x86asm.BTR, x86asm.BTS, x86asm.CMPXCHG, x86asm.CMPXCHG8B, x86asm.CMPXCHG16B,
		x86asm.DEC, x86asm.INC, x86asm.NEG, x86asm.NOT, x86asm.OR, x86asm.SBB, x86asm.SUB, x86asm.XOR, x86asm.XADD, x86asm.XCHG:
		return isMem(in.Args[0]) || in.Op == x86asm.XCHG && isMem(in.Args[1])
	}
	return false
}

// gapOf recognises the instructions that x86asm v0.33 lacks or names wrongly; b starts at the opcode.
func gapOf(b []byte, rep byte) (g gap, n int) {
	switch b[0] {
	case 0xc4, 0xc5, 0x62: // VEX and EVEX: CPUID reports neither
		return gapUD, 1
	case 0x6c, 0x6d, 0x6e, 0x6f, 0xec, 0xed, 0xee, 0xef:
		return gapIO, 1
	case 0xe4, 0xe5, 0xe6, 0xe7:
		return gapIO, 2
	case 0x0f:
	default:
		return gapNone, 0
	}
	if len(b) < 3 {
		return gapNone, 0
	}
	modrm := b[2]
	reg, direct := modrm>>3&7, modrm >= 0xc0
	switch b[1] {
	case 0x01:
		switch modrm {
		case 0xc1, 0xd9:
			return gapVMCALL, 3
		case 0xca, 0xcb: // clac, stac: SMAP is not reported
			return gapNop, 3
		case 0xe8: // serialize
			return gapUD, 3
		}
		if reg == 6 { // lmsw
			return gapIO, 2 + modrmLen(b[2:])
		}
	case 0x18, 0x19, 0x1a, 0x1b, 0x1c, 0x1d, 0x1e, 0x1f: // hints: endbr64, rdssp without CET, prefetches, nops
		return gapNop, 2 + modrmLen(b[2:])
	case 0x0d: // prefetchw
		if !direct {
			return gapNop, 2 + modrmLen(b[2:])
		}
	case 0xae:
		if !direct && reg >= 6 { // clflush, clflushopt, clwb
			return gapNop, 2 + modrmLen(b[2:])
		}
		if direct && rep == 0xf3 && reg == 5 { // incssp
			return gapUD, 3
		}
	case 0xc7:
		if direct && reg == 7 && rep == 0xf3 {
			return gapRDPID, 3
		}
		if direct {
			return gapUD, 3
		}
	case 0xb9, 0xff:
		return gapUD, 3
	case 0x38:
		if modrm == 0xf6 {
			return gapUD, 3
		}
	}
	return gapNone, 0
}

// modrmLen returns the bytes of a modrm operand with its sib and displacement.
func modrmLen(b []byte) int {
	mod, rm := b[0]>>6, b[0]&7
	if mod == 3 {
		return 1
	}
	n := 1
	base := rm
	if rm == 4 {
		n++
		if len(b) < 2 {
			return 16 // truncated
		}
		base = b[1] & 7
	}
	switch {
	case mod == 1:
		n++
	case mod == 2, mod == 0 && (rm == 5 || rm == 4 && base == 5):
		n += 4
	}
	return n
}

// decode reads the block at va, whose page is frame pfn. nil: c.Exc says why its first instruction cannot be fetched.
func (c *CPU) decode(va, pfn uint64) *code {
	co := &code{va: va, pfn: pfn, pfn2: pfn, shadow: c.env.Shadow(va)}
	if n := c.gateAt(va); n != 0 {
		co.gate, co.size, co.shadow = true, uint16(n), true
		co.fast = []uop{{op: o_gate}}
		co.precise = co.fast
		return co
	}
	l := &c.cache.low
	l.reset(co)
	page := c.phys.Page(pfn)
	off := va % mem.PageSize
	for at := off; at < mem.PageSize; {
		pc := va + at - off
		if at > off && (c.env.Gate(pc) || c.env.Shadow(pc) != co.shadow || c.env.EntryCounter(pc) != nil) {
			break
		}
		if len(l.insts) >= maxBlock && crossedLine(pc, uint64(l.insts[len(l.insts)-1].Len)) {
			break
		}
		in := decodeInst(page[at:])
		if in.Len == truncated {
			if at > off {
				break
			}
			var ok bool
			if in, ok = c.decodeCross(co, page[at:]); !ok {
				return nil
			}
			in.hooked = c.hooks != nil && c.hooks.Hooked(pc)
			l.add(in)
			break
		}
		in.hooked = c.hooks != nil && c.hooks.Hooked(pc)
		l.add(in)
		if l.ends(&in) {
			break
		}
		at += uint64(in.Len)
	}
	l.lower(c.env.EntryCounter(va) != nil)
	co.toGate = co.precise[len(co.precise)-1].op == o_call && c.gateAt(co.tva) != 0
	return co
}

// gateAt says how many bytes the gate at va stands for; 0: there is none.
func (c *CPU) gateAt(va uint64) int {
	switch {
	case c.env.Gate(va):
		return 1
	case c.gater != nil:
		return c.gater.GateText(va)
	}
	return 0
}

// crossedLine reports whether an instruction boundary at pc is the first in its 64-byte line, the last instruction being
// n bytes long.
func crossedLine(pc, n uint64) bool { return pc>>6 != (pc-n)>>6 }

// decodeCross decodes an instruction that continues on the next page.
func (c *CPU) decodeCross(co *code, head []byte) (inst, bool) {
	next := (co.va | (mem.PageSize - 1)) + 1
	pfn, ok := c.fetchPFN(next)
	if !ok {
		return inst{}, false
	}
	b := append(append(make([]byte, 0, 32), head...), c.phys.Page(pfn)[:16]...)
	in := decodeInst(b)
	if in.Len == truncated {
		panic("BUG: instruction needs more than 15 bytes")
	}
	if in.Len > len(head) {
		co.pfn2 = pfn
	}
	return in, true
}
