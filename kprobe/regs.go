package kprobe

import (
	"kscope/kernel"
	"kscope/kernel/x86"
)

// Regs are the registers that a handler sees: the CPU's own, or with mem a struct pt_regs that a trampoline has saved.
type Regs struct {
	c     *kernel.VCPU
	mem   uint64
	w     *regWords // what is at mem, when it is known already
	ip    uint64    // what %ip reads
	fix   bool      // ip and sp cannot be changed: the probe is a jump
	moved bool      // it has been: go on there instead of running the instruction
}

// reg is a row of the register table.
type reg struct {
	name string
	off  uint64 // in struct pt_regs, which entry code and ABI fix
	num  int    // of x86; -1: none of the general ones
}

const (
	regFlags = 0x90
	regIP    = 0x80
	regSP    = 0x98
	regOrig  = 0x78
	regsSize = 0xa8 // of struct pt_regs
)

// regTable is regoffset_table of arch/x86/kernel/ptrace.c.
var regTable = [...]reg{
	{"r15", 0x00, x86.R15}, {"r14", 0x08, x86.R14}, {"r13", 0x10, x86.R13}, {"r12", 0x18, x86.R12},
	{"bp", 0x20, x86.RBP}, {"bx", 0x28, x86.RBX}, {"r11", 0x30, x86.R11}, {"r10", 0x38, x86.R10},
	{"r9", 0x40, x86.R9}, {"r8", 0x48, x86.R8}, {"ax", 0x50, x86.RAX}, {"cx", 0x58, x86.RCX},
	{"dx", 0x60, x86.RDX}, {"si", 0x68, x86.RSI}, {"di", 0x70, x86.RDI}, {"orig_ax", regOrig, -1},
	{"ip", regIP, -1}, {"cs", 0x88, -1}, {"flags", regFlags, -1}, {"sp", regSP, x86.RSP}, {"ss", 0xa0, -1},
}

// RegNames are the names that %name takes.
func RegNames() (names []string) {
	for _, r := range regTable {
		names = append(names, r.name)
	}
	return names
}

// findReg gives a register's offset in struct pt_regs (regs_query_register_offset).
func findReg(name string) (uint64, bool) {
	for _, r := range regTable {
		if r.name == name {
			return r.off, true
		}
	}
	return 0, false
}

// at reads the register at an offset of struct pt_regs.
func (r *Regs) at(off uint64) uint64 {
	switch {
	case off < regOrig && r.mem == 0:
		return r.c.CPU.Reg(regNums[off/8])
	case off == regIP:
		return r.ip
	case off == 0x88:
		return uint64(r.c.CPU.Seg(x86.CS))
	case off == 0xa0:
		return uint64(r.c.CPU.Seg(x86.SS))
	case r.w != nil:
		return r.w.words()[off/8]
	case r.mem != 0:
		x, _ := word(r.c.Machine(), r.mem+off)
		return x
	case off == regSP:
		return r.c.CPU.Reg(x86.RSP)
	case off == regFlags:
		return r.c.CPU.Flags()
	case off == regOrig:
		return ^uint64(0)
	}
	return r.c.CPU.Reg(regNums[off/8])
}

// general reads a general register by its x86 number.
func (r *Regs) general(num int) uint64 {
	for _, g := range regTable {
		if g.num == num {
			return r.at(g.off)
		}
	}
	return 0
}

// regNums are the general registers in the order of struct pt_regs.
var regNums = [...]int{x86.R15, x86.R14, x86.R13, x86.R12, x86.RBP, x86.RBX, x86.R11, x86.R10, x86.R9, x86.R8, x86.RAX,
	x86.RCX, x86.RDX, x86.RSI, x86.RDI, 0, 0, 0, 0, x86.RSP, 0}

// Get reads a register by its name ("di"); Set changes it for the probed code.
func (r *Regs) Get(name string) (uint64, bool) {
	off, ok := findReg(name)
	if !ok {
		return 0, false
	}
	return r.at(off), true
}

func (r *Regs) Set(name string, x uint64) error {
	off, ok := findReg(name)
	switch {
	case !ok:
		return kernel.EINVAL
	case off == regIP && !r.fix:
		r.ip, r.moved = x, true
	case off == regIP || off == regSP && (r.fix || r.mem != 0) || off == 0x88 || off == 0xa0 || off == regOrig:
		return kernel.EOPNOTSUPP
	case r.mem != 0:
		return r.c.Machine().PutU64(r.mem+off, x)
	case off == regFlags:
		r.c.CPU.SetFlags(x)
	default:
		r.c.CPU.SetReg(regNums[off/8], x)
	}
	return nil
}

// argOffsets are the registers of SysV arguments in struct pt_regs.
var argOffsets = [...]uint64{0x70, 0x68, 0x60, 0x58, 0x48, 0x40}

// Arg is argument i, from 0, at a function's entry: six in registers, then on the stack behind the return address
// (regs_get_kernel_argument).
func (r *Regs) Arg(i int) uint64 {
	if i < len(argOffsets) {
		return r.at(argOffsets[i])
	}
	x, _ := r.Stack(uint64(i - len(argOffsets) + 1))
	return x
}

// Stack is word n of the stack; 0 outside the stack that the stack pointer is on (regs_get_kernel_stack_nth).
func (r *Regs) Stack(n uint64) (uint64, bool) {
	sp := r.at(regSP)
	va := sp + 8*n
	if sp&^(threadSize-1) != va&^(threadSize-1) {
		return 0, false
	}
	return word(r.c.Machine(), va)
}

// threadSize is THREAD_SIZE, to which stacks are aligned.
const threadSize = 16 << 10
