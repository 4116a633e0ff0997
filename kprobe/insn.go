package kprobe

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"

	"golang.org/x/arch/x86/x86asm"

	"kscope/kernel"
	"kscope/kernel/x86"
)

const int3 = 0xcc

// insn is a probed instruction: its bytes, and what must be mended when they run elsewhere. See resume_execution and
// prepare_emulation in arch/x86/kernel/kprobes/core.c.
type insn struct {
	bytes  [15]byte
	size   uint8
	kind   kind
	rep    bool // a string instruction with a repeat prefix: a trap after each iteration
	locked bool // ordered by the machine; see kernel/order.go
	disp   uint8
	mem    x86asm.Mem
	op     x86asm.Op
}

// kind is how an instruction depends on where it stands.
type kind uint8

const (
	plain     kind = iota // RIP moves by its length
	relative              // jmp, jcc, loop, jrcxz: RIP is off by the distance to the slot
	relCall               // call rel: so is RIP, and the return address
	indirect              // jmp *: RIP is right
	indCall               // call *: RIP is right, the return address is not
	nearRet               // done here: see step.go
	pushFlags             // TF must not be seen
	refused               // not probed: int3, int n, iret, far transfers, ud2
)

// decode reads the instruction at addr as it is without probes.
func (k *Kprobes) decode(addr uint64) (insn, error) {
	var in insn
	if err := k.original(addr, in.bytes[:]); err != nil {
		return in, err
	}
	_, n, err := x86.Disasm(in.bytes[:], addr, nil)
	if err != nil {
		return in, fmt.Errorf("no instruction at %#x: %w", addr, kernel.EILSEQ)
	}
	in.size = uint8(n)
	clear(in.bytes[n:])
	d, err := x86asm.Decode(in.bytes[:n], 64)
	if err != nil || d.Len != n { // one that x86asm lacks: none of them depends on its place
		return in, nil
	}
	in.op = d.Op
	in.classify(&d)
	return in, nil
}

func (in *insn) classify(d *x86asm.Inst) {
	for _, a := range d.Args {
		if m, ok := a.(x86asm.Mem); ok {
			in.mem = m
			if m.Base == x86asm.RIP {
				in.disp = dispOffset(in.bytes[:in.size])
			}
		}
	}
	lock, f3 := false, false
	for _, p := range d.Prefix {
		switch p & 0xff {
		case 0xf0:
			lock = true
		case 0xf2, 0xf3:
			in.rep, f3 = isString(d.Op), p&0xff == 0xf3
		}
	}
	_, isMem := d.Args[0].(x86asm.Mem)
	if !isMem {
		_, isMem = d.Args[1].(x86asm.Mem)
	}
	release := d.Op == x86asm.MOV && (f3 || in.bytes[0] == 0xf3 || in.bytes[0] == 0x66 && in.bytes[1] == 0xf3) // xrelease
	in.locked = isMem && (lock || d.Op == x86asm.XCHG || release)
	_, rel := d.Args[0].(x86asm.Rel)
	switch d.Op {
	case x86asm.CALL:
		in.kind = indCall
		if rel {
			in.kind = relCall
		}
	case x86asm.JMP:
		in.kind = indirect
		if rel {
			in.kind = relative
		}
	case x86asm.RET:
		in.kind = nearRet
	case x86asm.PUSHF, x86asm.PUSHFD, x86asm.PUSHFQ:
		in.kind = pushFlags
	case x86asm.INT, x86asm.INTO, x86asm.IRET, x86asm.IRETD, x86asm.IRETQ, x86asm.LCALL, x86asm.LJMP, x86asm.LRET,
		x86asm.UD2, x86asm.SYSRET, x86asm.SYSCALL, x86asm.SYSENTER, x86asm.SYSEXIT:
		in.kind = refused
	default:
		if rel {
			in.kind = relative
		}
	}
}

func isString(op x86asm.Op) bool {
	switch op {
	case x86asm.MOVSB, x86asm.MOVSW, x86asm.MOVSD, x86asm.MOVSQ, x86asm.STOSB, x86asm.STOSW, x86asm.STOSD, x86asm.STOSQ,
		x86asm.LODSB, x86asm.LODSW, x86asm.LODSD, x86asm.LODSQ, x86asm.SCASB, x86asm.SCASW, x86asm.SCASD, x86asm.SCASQ,
		x86asm.CMPSB, x86asm.CMPSW, x86asm.CMPSD, x86asm.CMPSQ, x86asm.INSB, x86asm.INSW, x86asm.INSD,
		x86asm.OUTSB, x86asm.OUTSW, x86asm.OUTSD:
		return true
	}
	return false
}

// dispOffset finds the 32-bit displacement of a RIP-relative operand: behind prefixes, opcode and ModRM.
func dispOffset(b []byte) uint8 {
	i := 0
	for ; i < len(b); i++ {
		switch b[i] {
		case 0x66, 0x67, 0xf0, 0xf2, 0xf3, 0x2e, 0x36, 0x3e, 0x26, 0x64, 0x65:
			continue
		}
		break
	}
	if i < len(b) && b[i]&0xf0 == 0x40 {
		i++
	}
	if i+1 < len(b) && b[i] == 0x0f {
		if i++; b[i] == 0x38 || b[i] == 0x3a {
			i++
		}
	}
	if i++; i+5 > len(b) || b[i]&0xc7 != 0x05 {
		panic(fmt.Sprintf("BUG: kprobe: no RIP-relative operand in % x", b))
	}
	return uint8(i + 1)
}

// probeable refuses what Linux refuses, with its errno.
func (in *insn) probeable(addr uint64) error {
	if in.kind != refused {
		return nil
	}
	err := kernel.EOPNOTSUPP
	switch {
	case in.bytes[0] == int3:
		err = kernel.EILSEQ
	case in.op == x86asm.UD2:
		err = kernel.EINVAL // a BUG() or WARN(): find_bug
	}
	return fmt.Errorf("%v at %#x cannot run out of line: %w", in.op, addr, err)
}

// copyTo makes the bytes for a slot: the instruction with its displacement mended, and int3 behind it, which ends the step of
// an instruction that takes no single-step trap.
func (in *insn) copyTo(addr, slot uint64) ([]byte, error) {
	code, err := in.moved(addr, slot)
	if err != nil {
		return nil, err
	}
	b := bytes.Repeat([]byte{int3}, slotSize)
	copy(b, code)
	return b, nil
}

// moved makes the instruction at addr run at another place.
func (in *insn) moved(addr, to uint64) ([]byte, error) {
	b := slices.Clone(in.bytes[:in.size])
	if in.disp != 0 {
		d := int64(int32(binary.LittleEndian.Uint32(b[in.disp:]))) + int64(addr-to)
		if d != int64(int32(d)) {
			return nil, fmt.Errorf("the operand of %v at %#x is out of reach: %w", in.op, addr, kernel.EINVAL)
		}
		binary.LittleEndian.PutUint32(b[in.disp:], uint32(d))
	}
	return b, nil
}

// address is the effective address of the memory operand.
func (in *insn) address(c *kernel.VCPU, at uint64) uint64 {
	m := &in.mem
	va := uint64(m.Disp)
	if m.Base == x86asm.RIP {
		va += at + uint64(in.size)
	} else if m.Base != 0 {
		va += register(c, m.Base)
	}
	if m.Index != 0 {
		va += register(c, m.Index) * uint64(m.Scale)
	}
	switch m.Segment {
	case x86asm.GS:
		va += c.CPU.GSBase()
	case x86asm.FS:
		va += c.CPU.FSBase()
	}
	return va
}

// register reads a register of an address.
func register(c *kernel.VCPU, r x86asm.Reg) uint64 {
	switch {
	case r >= x86asm.RAX && r <= x86asm.R15:
		return c.CPU.Reg(int(r - x86asm.RAX))
	case r >= x86asm.EAX && r <= x86asm.R15L:
		return uint64(uint32(c.CPU.Reg(int(r - x86asm.EAX))))
	}
	return 0
}
