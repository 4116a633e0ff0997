package ftrace

import (
	"encoding/binary"
	"math/bits"

	"kscope/kernel/x86"
)

// insn is one of the few forms of instructions that ftrace_caller has before and behind its call.
type insn struct {
	op        byte // 0x89 and 0x8b: movq; 0x8d: leaq; 0xc7: movq $imm
	reg, base byte
	reg2      bool   // base is a register, not memory
	rip       bool   // memory relative to rip
	off       uint64 // sign-extended
	imm       uint32
	len       int
}

// decodeInsn reads one of 64 bits; false when it is of another form.
func decodeInsn(b []byte) (in insn, ok bool) {
	if len(b) < 3 || b[0]&^5 != 0x48 {
		return in, false
	}
	rex, mod := b[0], b[2]
	in.op, in.reg, in.base, in.len = b[1], mod>>3&7|rex&4<<1, mod&7|rex&1<<3, 3
	switch {
	case mod>>6 == 3:
		in.reg2 = true
	case mod&7 == 5 && mod>>6 == 0:
		in.rip, in.len = true, 7
	case mod&7 == 4:
		if len(b) < 4 || b[3] != 0x24 || rex&1 != 0 {
			return in, false
		}
		in.len = 4
	}
	if !in.reg2 && !in.rip {
		switch mod >> 6 {
		case 1:
			if len(b) <= in.len {
				return in, false
			}
			in.off = uint64(int64(int8(b[in.len])))
			in.len++
		case 2:
			if len(b) < in.len+4 {
				return in, false
			}
			in.off = uint64(int64(int32(binary.LittleEndian.Uint32(b[in.len:]))))
			in.len += 4
		}
	}
	if in.op == 0xc7 {
		if len(b) < in.len+4 {
			return in, false
		}
		in.imm = binary.LittleEndian.Uint32(b[in.len:])
		in.len += 4
	}
	return in, len(b) >= in.len && (in.op == 0x89 || in.op == 0x8b || in.op == 0x8d || in.op == 0xc7)
}

// prologue reads SAVE_CALLER_REGS and what stands between it and the call; nil when it does anything but what x86.Trampoline says.
func prologue(code []byte) *x86.Trampoline {
	in, ok := decodeInsn(code)
	if !ok || in.op != 0x8d || in.reg != x86.RSP || in.base != x86.RSP || in.reg2 || -in.off >= 256-16 || in.off%8 != 0 {
		return nil
	}
	p := &x86.Trampoline{Frame: -in.off, Lea: uint64(in.len)}
	const (
		own    = iota // a register has its own value still
		ip            // the word behind the frame
		site          // less Back
		parent        // the word above
		frame         // the stack pointer
		above         // what it was before the site's call
		op
	)
	var holds [16]int
	done, saved := 0, 0
	for code = code[in.len:]; len(code) > 0; code = code[in.len:] {
		if in, ok = decodeInsn(code); !ok {
			return nil
		}
		onStack := in.base == x86.RSP && !in.reg2 && !in.rip
		if in.op != 0x8d && onStack && (in.off%8 != 0 || in.off > p.Frame+8 || in.op != 0x8b && in.off >= p.Frame) {
			return nil
		}
		switch {
		case in.op == 0x89 && onStack && holds[in.reg] == own && in.reg != x86.RSP:
			if off, ok := x86.FrameReg(in.reg); !ok || off != in.off {
				return nil
			}
			saved |= 1 << in.reg
		case in.op == 0x89 && onStack && holds[in.reg] == ip && in.off == x86.FrameIP:
			done |= 1
		case in.op == 0x89 && onStack && holds[in.reg] == above && in.off == x86.FrameSP:
			done |= 2
		case in.op == 0xc7 && onStack && in.imm == 0 && in.off == x86.FrameCS:
			done |= 4
		case in.op == 0x8b && onStack && in.off == p.Frame:
			holds[in.reg] = ip
		case in.op == 0x8b && onStack && in.off == p.Frame+8:
			holds[in.reg] = parent
		case in.op == 0x8b && in.rip:
			holds[in.reg] = op
		case in.op == 0x8d && onStack && in.off == p.Frame+8:
			holds[in.reg] = above
		case in.op == 0x8d && !in.rip && !in.reg2 && in.base == in.reg && holds[in.reg] == ip:
			holds[in.reg], p.Back = site, -in.off
		case in.op == 0x89 && in.reg2 && in.reg == x86.RSP:
			holds[in.base] = frame
		default:
			return nil
		}
	}
	if done != 7 || bits.OnesCount(uint(saved)) != x86.FrameRegs || holds[x86.RDI] != site || holds[x86.RSI] != parent || holds[x86.RDX] != op || holds[x86.RCX] != frame {
		return nil
	}
	for r, h := range holds {
		if h != own && r != x86.RDI && r != x86.RSI && r != x86.RDX && r != x86.RCX {
			return nil
		}
	}
	return p
}
