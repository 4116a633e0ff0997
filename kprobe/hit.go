package kprobe

import (
	"bytes"

	"kscope/kernel"
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

// Preempt is the preemption depth of the probed code, HardIRQ and SoftIRQ whether it serves an interrupt.
func (h *Hit) Preempt() int  { return int(h.C.PreemptCount() & preemptMask) }
func (h *Hit) HardIRQ() bool { return h.C.PreemptCount()&hardirqMask != 0 }
func (h *Hit) SoftIRQ() bool { return h.C.PreemptCount()&softirqOffset != 0 }

// Stack names the functions of the probed task, innermost first.
func (h *Hit) Stack(max int) (out []string) {
	syms := h.K.m.Symbols()
	inside := h.Int3 || h.Ret != nil && h.Probe == nil // no frames of a trampoline in front
	_ = h.C.Walk(func(f *kernel.Frame) bool {
		s, _ := syms.At(f.PC)
		if !inside && (s.Section == ".shadow" || s.Section == ".gates" || h.C.Gate(f.PC)) {
			return true
		}
		inside = true
		if s.Name != "" {
			out = append(out, s.Name)
		}
		return len(out) < max
	})
	return out
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
