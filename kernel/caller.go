package kernel

import (
	"encoding/binary"

	"kscope/kernel/mem"
	"kscope/kernel/x86"
)

// Caller is the return address of the function that has called the running gate: what a walk of two frames would find, for a
// tenth of its time. False: that function's frame has no fixed size here, and only a walk finds it.
func (v *VCPU) Caller() (pc uint64, ok bool) {
	sp := v.CPU.Reg(x86.RSP)
	ret, err := v.word(sp)
	if err != nil {
		return 0, false
	}
	last := &v.caller[ret/2%uint64(len(v.caller))]
	if last.ret != ret {
		r := v.m.Unwinder().row(ret - 1)
		if !r.ok || r.signal || r.cfaExpr != nil || r.cfaReg != dwRSP || r.effect != (stackEffect{}) || r.regs[dwRIP].kind != ruleOffset {
			return 0, false
		}
		*last = callerAt{ret, uint64(r.cfaOff + r.regs[dwRIP].n)}
		if ret >= kernelEnd { // which come and go
			last.ret = 0
		}
	}
	at := sp + 8 + last.off
	if pc, err = v.word(at); err != nil {
		return 0, false
	}
	if pc-shadowBase < shadowSize { // who hijacks a slot puts an address of shadow text there
		if u := v.m.Unwinder(); u.RetAddr != nil {
			pc = u.RetAddr(pc, at)
		}
	}
	return pc, true
}

// callerAt says, for a return address into the kernel's own text, where above the stack pointer that function's own is.
type callerAt struct{ ret, off uint64 }

// word reads a word of a stack: the CPU has just used it, or those of the kernel are in the direct map.
func (v *VCPU) word(va uint64) (uint64, error) {
	if x, ok := v.CPU.Near(va); ok {
		return x, nil
	}
	if pa := va - directMap; pa < v.m.phys.Size()-shadowSize && pa%mem.PageSize <= mem.PageSize-8 {
		return binary.LittleEndian.Uint64(v.m.phys.Page(pa / mem.PageSize)[pa%mem.PageSize:]), nil
	}
	return v.CPU.U64(va)
}
