package kernel

import (
	"bytes"
	"slices"
	"strings"

	"golang.org/x/arch/x86/x86asm"
)

// Access is what an instruction does with memory.
type Access struct {
	Addr        uint64
	Size        int
	Read, Write bool
}

// Overlaps tells that it touches some of n bytes at addr.
func (a Access) Overlaps(addr uint64, n int) bool {
	return a.Addr < addr+uint64(n) && addr < a.Addr+uint64(a.Size)
}

// Accesses finds what the kernel's instructions are about to do with memory. It remembers what it has decoded.
type Accesses struct {
	known map[uint64]decodedAccess
	list  []Access
}

type decodedAccess struct {
	code []byte
	inst x86asm.Inst
}

// NewAccesses makes one.
func NewAccesses() *Accesses { return &Accesses{known: map[uint64]decodedAccess{}} }

// Next is what the instruction that v executes next does with memory, by its operands and its stack, and where the one behind it is: a
// CPU that is elsewhere next has not executed it, but for jumps (jumps) and the iterations of rep. User code gives none. The list is good until
// the next call.
func (a *Accesses) Next(v *VCPU) (list []Access, behind uint64, jumps bool) {
	pc := v.CPU.RIP()
	a.list = a.list[:0]
	if pc < 1<<47 {
		return nil, 0, false
	}
	var buf [15]byte
	n := len(buf)
	if v.CPU.Read(pc, buf[:]) != nil {
		if n = int(-pc & 4095); n > len(buf) || v.CPU.Read(pc, buf[:n]) != nil {
			return nil, 0, false
		}
	}
	d, ok := a.known[pc]
	if !ok || !bytes.HasPrefix(buf[:n], d.code) {
		inst, err := x86asm.Decode(buf[:n], 64)
		if err != nil {
			return nil, 0, false
		}
		d = decodedAccess{slices.Clone(buf[:inst.Len]), inst}
		a.known[pc] = d
	}
	in := &d.inst
	a.operands(v, in, pc)
	a.implicit(v, in)
	jumps = slices.Contains([]x86asm.Op{x86asm.CALL, x86asm.RET, x86asm.JMP, x86asm.IRETQ, x86asm.SYSRET}, in.Op)
	return a.list, pc + uint64(in.Len), jumps
}

// What instructions do with the memory that their first operand is; all others read it and write it back. Behind it operands are read.
var (
	onlyRead  = []x86asm.Op{x86asm.CMP, x86asm.TEST, x86asm.PUSH, x86asm.JMP, x86asm.CALL, x86asm.BT, x86asm.MUL, x86asm.DIV, x86asm.IDIV, x86asm.LGDT, x86asm.LIDT, x86asm.LTR, x86asm.FXRSTOR64}
	onlyWrite = []x86asm.Op{x86asm.MOV, x86asm.POP, x86asm.MOVNTI, x86asm.FXSAVE64, x86asm.SGDT, x86asm.SIDT, x86asm.MOVUPS, x86asm.MOVAPS, x86asm.MOVDQU, x86asm.MOVDQA}
	neither   = []x86asm.Op{x86asm.LEA, x86asm.NOP, x86asm.INVLPG, x86asm.PREFETCHNTA, x86asm.PREFETCHT0, x86asm.PREFETCHT1, x86asm.PREFETCHT2, x86asm.PREFETCHW}
)

// operands adds the operand that is memory, if there is one. String instructions have theirs in implicit.
func (a *Accesses) operands(v *VCPU, in *x86asm.Inst, pc uint64) {
	if slices.Contains(neither, in.Op) || stringOp(in.Op) != "" {
		return
	}
	for i, arg := range in.Args {
		m, ok := arg.(x86asm.Mem)
		if !ok {
			continue
		}
		addr := uint64(m.Disp)
		switch {
		case m.Base == x86asm.RIP:
			addr += pc + uint64(in.Len)
		case m.Base >= x86asm.RAX && m.Base <= x86asm.R15:
			addr += v.CPU.Reg(int(m.Base - x86asm.RAX))
		}
		if m.Index >= x86asm.RAX && m.Index <= x86asm.R15 {
			addr += v.CPU.Reg(int(m.Index-x86asm.RAX)) * uint64(m.Scale)
		}
		if m.Segment == x86asm.GS {
			addr += v.CPU.GSBase()
		}
		x := Access{Addr: addr, Size: max(in.MemBytes, 1), Read: true, Write: i == 0}
		switch {
		case i > 0:
			x.Write = in.Op == x86asm.XCHG
		case slices.Contains(onlyRead, in.Op) || in.Op == x86asm.IMUL && in.Args[1] == nil:
			x.Write = false
		case slices.Contains(onlyWrite, in.Op) || strings.HasPrefix(in.Op.String(), "SET"):
			x.Read = false
		}
		a.list = append(a.list, x)
		return
	}
}

// stringOp is the name of a string instruction without its size; "" of any other.
func stringOp(op x86asm.Op) string {
	name := op.String()
	for _, s := range []string{"MOVS", "STOS", "LODS", "SCAS", "CMPS"} {
		if len(name) == 5 && strings.HasPrefix(name, s) && strings.ContainsRune("BWDQ", rune(name[4])) {
			return s
		}
	}
	return ""
}

// implicit adds what an instruction does with the stack, or with what rsi and rdi point at.
func (a *Accesses) implicit(v *VCPU, in *x86asm.Inst) {
	const sp, bp, si, di = 4, 5, 6, 7
	add := func(addr uint64, size int, read, write bool) {
		a.list = append(a.list, Access{addr, size, read, write})
	}
	switch in.Op {
	case x86asm.PUSH, x86asm.CALL, x86asm.PUSHFQ:
		add(v.CPU.Reg(sp)-8, 8, false, true)
	case x86asm.POP, x86asm.RET, x86asm.POPFQ:
		add(v.CPU.Reg(sp), 8, true, false)
	case x86asm.LEAVE:
		add(v.CPU.Reg(bp), 8, true, false)
	case x86asm.IRETQ:
		add(v.CPU.Reg(sp), 40, true, false)
	}
	kind := stringOp(in.Op)
	if kind == "" {
		return
	}
	size := map[byte]int{'B': 1, 'W': 2, 'D': 4, 'Q': 8}[in.Op.String()[4]]
	switch kind {
	case "MOVS":
		add(v.CPU.Reg(si), size, true, false)
		add(v.CPU.Reg(di), size, false, true)
	case "STOS":
		add(v.CPU.Reg(di), size, false, true)
	case "LODS":
		add(v.CPU.Reg(si), size, true, false)
	case "SCAS":
		add(v.CPU.Reg(di), size, true, false)
	case "CMPS":
		add(v.CPU.Reg(si), size, true, false)
		add(v.CPU.Reg(di), size, true, false)
	}
}
