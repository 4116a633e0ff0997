package kernel

import (
	"crypto/sha256"
	"encoding/binary"
	"hash"

	"kscope/kernel/mem"
	"kscope/kernel/x86"
)

// StateHash covers what the guest can see: every frame outside the shadow RAM that is not zero, with patched text mapped
// back and the words that Disguise names; each CPU's registers, pending interrupts and t; injections still to come. Flipping any of these bits
// changes it. Dead stack, the 512 bytes below each CPU's and each sleeping task's stack pointer, is left out: trampolines
// write there.
func (m *Machine) StateHash() uint64 {
	h := sha256.New()
	m.hashRAM(h)
	m.virtio.hash(h)
	for _, v := range m.cpus {
		v.hash(h)
	}
	m.rules.hash(h)
	return binary.LittleEndian.Uint64(h.Sum(nil))
}

func (m *Machine) hashRAM(h hash.Hash) {
	dead, disguised := m.deadStack(), m.disguised()
	end := (m.phys.Size() - shadowSize) / mem.PageSize
	for pfn := uint64(0); pfn < end; pfn++ {
		if m.phys.IsZero(pfn) {
			continue
		}
		page := m.phys.Page(pfn)
		if orig, gone, words := m.text.orig[pfn], dead[pfn], disguised[pfn]; len(orig) > 0 || gone != nil || words != nil {
			clean := *page
			for _, w := range words {
				binary.LittleEndian.PutUint64(clean[w.off:], w.x)
			}
			for off, b := range orig {
				clean[off] = b
			}
			for _, r := range gone {
				clear(clean[r[0]:r[1]])
			}
			page = &clean
		}
		if *page == (mem.Frame{}) {
			continue // a frame once written and zero again is no different from one never touched
		}
		put(h, pfn, mem.Sum(page))
	}
}

// Disguise adds a function that tells StateHash which words of guest memory a tracer has replaced, and what the guest would
// have there: hijacked return addresses. Their addresses are multiples of 8. A fork starts without.
func (m *Machine) Disguise(fn func(was func(va, x uint64))) { m.disguise = append(m.disguise, fn) }

type disguisedWord struct {
	off uint16
	x   uint64
}

// disguised lists those words by frame.
func (m *Machine) disguised() map[uint64][]disguisedWord {
	out := map[uint64][]disguisedWord{}
	for _, fn := range append([]func(func(va, x uint64)){m.detourDisguise}, m.disguise...) {
		fn(func(va, x uint64) {
			if pa, ok := m.Translate(va); ok && va%8 == 0 {
				out[pa/mem.PageSize] = append(out[pa/mem.PageSize], disguisedWord{uint16(pa % mem.PageSize), x})
			}
		})
	}
	return out
}

// deadStack lists, by frame, the byte ranges just below the stack pointers.
func (m *Machine) deadStack() map[uint64][][2]uint16 {
	out := map[uint64][][2]uint16{}
	add := func(sp uint64) {
		for va := sp - 512; va < sp; {
			n := min(sp-va, mem.PageSize-va%mem.PageSize)
			if pa, ok := m.linear(va); ok {
				off := uint16(pa % mem.PageSize)
				out[pa/mem.PageSize] = append(out[pa/mem.PageSize], [2]uint16{off, off + uint16(n)})
			}
			va += n
		}
	}
	for _, v := range m.cpus {
		add(v.CPU.Reg(x86.RSP))
	}
	if m.lay.taskSP != 0 && m.booted {
		for _, t := range m.Tasks() {
			if sp, err := m.U64(t.Addr + m.lay.taskSP); err == nil && sp > directMap {
				add(sp)
			}
		}
	}
	return out
}

// hash covers one CPU.
func (v *VCPU) hash(h hash.Hash) {
	c := v.CPU
	put(h, uint64(v.ID), uint64(v.state), v.Now())
	for r := range 16 {
		put(h, c.Reg(r))
	}
	words := c.ArchWords()
	words[0] = v.m.DetourOrig(words[0]) // RIP
	put(h, words...)
	a := &v.apic
	put(h, a.irr[:]...)
	put(h, a.isr[:]...)
	put(h, a.deadline, uint64(a.lvt), uint64(a.svr), uint64(a.tpr))
	if a.nmi {
		put(h, 1)
	}
	for _, p := range a.posts {
		put(h, p.due, uint64(p.mode), uint64(p.vec))
	}
}

func put(h hash.Hash, xs ...uint64) {
	var b [8]byte
	for _, x := range xs {
		binary.LittleEndian.PutUint64(b[:], x)
		h.Write(b[:])
	}
}
