package kprobe

import (
	"bytes"

	"kscope/kernel"
	"kscope/kernel/x86"
)

// Mem reads memory as the probed task sees it, without effect on the guest.
func (h *Hit) Mem(va uint64, b []byte) error {
	f := fetcher{k: h.K, c: h.C}
	if !f.read(va, b, false) {
		return kernel.EFAULT
	}
	return nil
}

// Str reads a C string of at most max bytes.
func (h *Hit) Str(va uint64, max int) (string, error) {
	var out []byte
	for len(out) < max {
		b := make([]byte, min(max-len(out), int(64-va%64)))
		if err := h.Mem(va, b); err != nil {
			return "", err
		}
		if i := bytes.IndexByte(b, 0); i >= 0 {
			return string(append(out, b[:i]...)), nil
		}
		out, va = append(out, b...), va+uint64(len(b))
	}
	return string(out), nil
}

// Addr is the probed address.
func (h *Hit) Addr() uint64 {
	if h.Ret != nil && h.Probe == nil {
		return h.Ret.Probe.Addr
	}
	return h.Probe.Addr
}

// The parts of __preempt_count that tell the context; see include/linux/preempt.h.
const (
	preemptMask   = 0xff
	softirqOffset = 0x100
	hardirqMask   = 0xf0000
)

// Preempt is the preemption depth of the probed code, HardIRQ and SoftIRQ whether it serves an interrupt, IRQsOff whether it has
// interrupts off.
func (h *Hit) Preempt() int  { return int(h.count() & preemptMask) }
func (h *Hit) HardIRQ() bool { return h.count()&hardirqMask != 0 }
func (h *Hit) SoftIRQ() bool { return h.count()&softirqOffset != 0 }

func (h *Hit) IRQsOff() bool {
	if h.added != 0 {
		return h.Regs.at(regFlags)&x86.FlagIF == 0
	}
	return h.C.CPU.Flags()&x86.FlagIF == 0
}

// count is __preempt_count without what handlers in guest code, which run around this one, have added.
func (h *Hit) count() uint32 { return h.C.PreemptCount() - h.added }

// Context is what a handler in guest code finds at such a hit: what irqs_disabled(), in_nmi(), in_hardirq(), in_serving_softirq() and
// the depth in preempt_count() say.
type Context struct {
	IRQsOff, NMI, HardIRQ, SoftIRQ bool
	Preempt                        int
}

// Context is an NMI's behind an int3. Through ftrace, a jump or a return preemption is off and the rest is as in the probed code.
func (h *Hit) Context() Context {
	c := Context{h.IRQsOff(), false, h.HardIRQ(), h.SoftIRQ(), h.Preempt()}
	if h.Int3 {
		c.IRQsOff, c.NMI, c.HardIRQ = true, true, true
	} else {
		c.Preempt++
	}
	return c
}

// Stack names the functions of the probed task, innermost first.
func (h *Hit) Stack(max int) (out []string) {
	_ = h.walk(func(pc uint64) bool {
		if s, _ := h.K.m.Symbols().At(pc); s.Name != "" {
			out = append(out, s.Name)
		}
		return len(out) < max
	})
	return out
}

// StackAt are the addresses of the activations instead.
func (h *Hit) StackAt(max int) (out []uint64) {
	_ = h.walk(func(pc uint64) bool {
		out = append(out, pc)
		return len(out) < max
	})
	return out
}

// walk calls fn with the addresses of the probed code's activations: from its registers on, where these are all known, else from the
// trampoline on.
func (h *Hit) walk(fn func(pc uint64) bool) error {
	if !h.partial {
		// The numbers of DWARF's registers: System V ABI, AMD64 supplement, figure 3.36.
		f := kernel.Frame{}.Regs
		for i, num := range [...]int{x86.RAX, x86.RDX, x86.RCX, x86.RBX, x86.RSI, x86.RDI, x86.RBP, x86.RSP} {
			f[i] = h.Regs.general(num)
		}
		for i := x86.R8; i <= x86.R15; i++ {
			f[i] = h.Regs.general(i)
		}
		if f[16] = h.Regs.ip; h.Probe != nil && !h.behind && h.Regs.ip == h.Addr()+1 {
			f[16]-- // as behind an int3
		}
		return h.K.m.Unwinder().Walk(h.C.CPU, kernel.Start(f), func(f *kernel.Frame) bool { return fn(f.PC) })
	}
	syms, inside := h.K.m.Symbols(), false
	return h.C.Walk(func(f *kernel.Frame) bool {
		s, _ := syms.At(f.PC)
		if !inside && (s.Section == ".shadow" || s.Section == ".gates" || h.C.Gate(f.PC)) {
			return true
		}
		inside = true
		return fn(f.PC)
	})
}

// BytesAt are n bytes of text as a debugger would see them now.
func (k *Kprobes) BytesAt(addr uint64, n int) []byte {
	b := make([]byte, n)
	if k.m.Read(addr, b) != nil {
		return nil
	}
	return b
}

// Bytes are the text at the probe as a debugger would see it now.
func (p *Probe) Bytes(n int) []byte {
	b := make([]byte, n)
	if p.k == nil || p.k.m.Read(p.Addr, b) != nil {
		return nil
	}
	return b
}
