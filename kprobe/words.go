package kprobe

import (
	"unsafe"

	"kscope/kernel"
	"kscope/kernel/x86"
)

// This file has the package's only unsafe. word reads 8 bytes of kernel memory on the path of every hit: kernel.U64 takes four times
// as long and allocates. va is a multiple of 8, so that the word lies in one page.
func word(m *kernel.Machine, va uint64) (uint64, bool) {
	if va&7 != 0 {
		x, err := m.U64(va)
		return x, err == nil
	}
	p := (*uint64)(m.HostPtr(va))
	if p == nil {
		return 0, false
	}
	return *p, true
}

// load reads a number of size bytes, a power of two, at an address of the direct map, all in one page; false: it is another's.
func load(m *kernel.Machine, va uint64, size uint8) (uint64, bool) {
	if va-directMap >= directMapSize || va&4095 > 4096-uint64(size) {
		return 0, false
	}
	p := m.HostPtr(va)
	if p == nil {
		return 0, false
	}
	switch size {
	case 8:
		return *(*uint64)(p), true
	case 4:
		return uint64(*(*uint32)(p)), true
	case 2:
		return uint64(*(*uint16)(p)), true
	}
	return uint64(*(*uint8)(p)), true
}

// words reads the words at va and va+8.
func words(m *kernel.Machine, va uint64) (a, b uint64, ok bool) {
	if va&7 == 0 && va&4095 <= 4096-16 {
		if p := (*[2]uint64)(m.HostPtr(va)); p != nil {
			return p[0], p[1], true
		}
		return 0, 0, false
	}
	a, ok1 := word(m, va)
	b, ok2 := word(m, va+8)
	return a, b, ok1 && ok2
}

// regWords is a struct pt_regs that a trampoline has made on the stack, in words, with the return address of its gate's call below
// and, for ftrace_regs_caller, what its pushfq has pushed above.
type regWords struct {
	from  uint64
	regs  [15]uint64
	orig  uint64
	ip    uint64
	cs    uint64
	flags uint64
	sp    uint64
	ss    uint64
	above uint64
}

// room is where a struct pt_regs goes that begins below bytes below a CPU's stack pointer; nil: see x86.CPU.Below.
func room(c *kernel.VCPU, below uint64) *regWords {
	if sp := c.CPU.Reg(x86.RSP); sp&7 != 0 || sp&4095 == 0 { // above must be in the page too
		return nil
	}
	return (*regWords)(c.CPU.Below(8 + regsSize + below))
}

// over are the two words over a frame with what pushfq has pushed, if they are in the same page: the call's return address and its
// caller's. top is their address.
func (w *regWords) over(top uint64) (a, b uint64, ok bool) {
	if top&4095 == 0 || top&4095 > 4096-16 {
		return 0, 0, false
	}
	p := (*[2]uint64)(unsafe.Add(unsafe.Pointer(w), unsafe.Sizeof(*w)))
	return p[0], p[1], true
}

// save fills in what a trampoline saves, but for what differs between them: ip, sp and orig_ax.
func (w *regWords) save(c *kernel.VCPU) {
	c.CPU.SaveRegs(&w.regs)
	w.cs, w.flags, w.ss = kernelCS, c.CPU.Flags(), kernelDS
}

// load gives a CPU the registers that are there; was are its flags.
func (w *regWords) load(c *kernel.VCPU, was uint64) {
	c.CPU.LoadRegs(&w.regs)
	if w.flags != was {
		c.CPU.SetFlags(w.flags)
	}
}

// words are all of struct pt_regs.
func (w *regWords) words() *[regsSize / 8]uint64 {
	return (*[regsSize / 8]uint64)(unsafe.Pointer(&w.regs))
}

// __KERNEL_CS and __KERNEL_DS.
const kernelCS, kernelDS = 0x10, 0x18
