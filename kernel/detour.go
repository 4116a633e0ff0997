package kernel

import (
	"fmt"

	"kscope/kernel/mem"
	"kscope/kernel/x86"
)

// Detours are where jump-optimised probes lead: Linux's kprobe_optinsn_page (arch/x86/kernel/kprobes/opt.c). They have a fixed
// area below the end of the shadow RAM, in slots:
//
//	+0   a gate: whoever called OnDetour runs
//	+16  the instructions that the jump at the probe has overwritten, up to 32 bytes
//	     jmp back to the instruction behind them
//
// The copied instructions are counted text, as the originals were: the budget of a slice and interrupts stop there at the same
// instruction and the same t. Only addresses differ, and DetourOrig maps them back. Gate and jump are shadow text.
const (
	detourSize  = 64
	detourCode  = 16
	detourMax   = 32
	detourSlots = 1 << 14
	detourBase  = shadowBase + shadowSize - mem.PageSize - detourSlots*detourSize
	detourEnd   = detourBase + detourSlots*detourSize
)

// detours is the state of the area; slots that were never used have no entry.
type detours struct {
	slots  []detour
	free   []uint16
	frames []uint64 // where interrupts have stored an address within copied instructions
	fn     Gate
}

// detour is one slot: the copies of n bytes at orig.
type detour struct {
	orig uint64
	n    uint8
}

func (d *detours) fork() detours {
	return detours{slots: append([]detour(nil), d.slots...), free: append([]uint16(nil), d.free...), frames: append([]uint64(nil), d.frames...)}
}

// OnDetour sets what runs at the first byte of every detour. The function sets RIP itself and calls KeepRIP.
func (m *Machine) OnDetour(fn Gate) { m.detours.fn = fn }

// DetourAlloc reserves a detour and gives the address of its gate.
func (m *Machine) DetourAlloc() (uint64, error) {
	d := &m.detours
	if n := len(d.free); n > 0 {
		i := d.free[n-1]
		d.free = d.free[:n-1]
		return detourBase + uint64(i)*detourSize, nil
	}
	if len(d.slots) == detourSlots {
		return 0, fmt.Errorf("allocating a detour: all %d are in use: %w", detourSlots, ENOMEM)
	}
	if len(d.slots)%(mem.PageSize/detourSize) == 0 {
		page := detourBase + uint64(len(d.slots))*detourSize
		m.syms.Add(Sym{Name: "kprobe_optinsn_page", Addr: page, Size: mem.PageSize, Kind: 't', Section: shadowSection, Module: "__builtin__kprobes"})
	}
	d.slots = append(d.slots, detour{})
	return detourBase + uint64(len(d.slots)-1)*detourSize, nil
}

// DetourWrite fills the detour at va with code, copies of the len(code) bytes at orig that run there as they did.
func (m *Machine) DetourWrite(va, orig uint64, code []byte) {
	d := m.detourAt(va)
	if d == nil || len(code) == 0 || len(code) > detourMax {
		panic(fmt.Sprintf("BUG: kernel: DetourWrite(%#x) of %d bytes", va, len(code)))
	}
	d.orig, d.n = orig, uint8(len(code))
	b := make([]byte, detourSize)
	for i := range b {
		b[i] = 0xcc
	}
	copy(b, "\x0f\x0b\xc3") // as every gate
	copy(b[detourCode:], code)
	end := detourCode + len(code)
	b[end] = 0xe9
	to := uint32(orig + uint64(len(code)) - (va + uint64(end) + 5))
	for i := range 4 {
		b[end+1+i] = byte(to >> (8 * i))
	}
	m.ShadowWrite(va, b)
}

// DetourFree gives a detour back. No CPU and no task may be in it.
func (m *Machine) DetourFree(va uint64) {
	d := m.detourAt(va)
	if d == nil || va%detourSize != 0 {
		panic(fmt.Sprintf("BUG: kernel: DetourFree(%#x)", va))
	}
	*d = detour{}
	m.detours.free = append(m.detours.free, uint16((va-detourBase)/detourSize))
}

// DetourCode is the address of the copied instructions of the detour at va.
func DetourCode(va uint64) uint64 { return va + detourCode }

// DetourOf is the detour that holds an address.
func DetourOf(va uint64) (uint64, bool) {
	return va &^ (detourSize - 1), va >= detourBase && va < detourEnd
}

func (m *Machine) detourAt(va uint64) *detour {
	i := (va - detourBase) / detourSize
	if va < detourBase || i >= uint64(len(m.detours.slots)) {
		return nil
	}
	return &m.detours.slots[i]
}

// detourCounted says whether va is a copied instruction of counted text.
func (m *Machine) detourCounted(va uint64) bool {
	d := m.detourAt(va)
	return d != nil && va%detourSize >= detourCode && va%detourSize < detourCode+uint64(d.n) && !m.cold.has(d.orig)
}

// DetourOrig maps an address in a detour to where the probed code would be: its copied instructions, the jump behind them.
// Other addresses stay as they are.
func (m *Machine) DetourOrig(va uint64) uint64 {
	d := m.detourAt(va)
	if d == nil || d.n == 0 {
		return va
	}
	off := max(va%detourSize, detourCode) - detourCode
	return d.orig + min(off, uint64(d.n))
}

// detourGate runs the gate of the detour at RIP.
func (m *Machine) detourGate(v *VCPU) {
	if m.detours.fn == nil || m.detourAt(v.CPU.RIP()).n == 0 {
		m.wildGate(v)
		return
	}
	m.detours.fn(v)
}

// interrupted remembers where an interrupt that was taken at rip has stored it, when that was in a detour: StateHash must not
// see that. The word stays in the stack after the interrupt's return.
func (m *Machine) interrupted(v *VCPU, rip uint64) {
	if rip < detourBase || rip >= detourEnd {
		return
	}
	d := &m.detours
	if len(d.frames) == cap(d.frames) { // before it grows: forget what has been overwritten
		kept := d.frames[:0]
		for _, va := range d.frames {
			if x, err := m.U64(va); err == nil && x >= detourBase && x < detourEnd {
				kept = append(kept, va)
			}
		}
		d.frames = kept
	}
	d.frames = append(d.frames, v.CPU.Reg(x86.RSP))
}

// InDetour lists the detours that an interrupted task will return into, or that a CPU is in.
func (m *Machine) InDetour() map[uint64]bool {
	out := map[uint64]bool{}
	add := func(va uint64) {
		if d, ok := DetourOf(va); ok {
			out[d] = true
		}
	}
	for _, va := range m.detours.frames {
		if x, err := m.U64(va); err == nil {
			add(x)
		}
	}
	for _, v := range m.cpus {
		add(v.CPU.RIP())
	}
	return out
}

// detourDisguise tells StateHash what those words hold without detours.
func (m *Machine) detourDisguise(was func(va, x uint64)) {
	for _, va := range m.detours.frames {
		if x, err := m.U64(va); err == nil && x >= detourBase && x < detourEnd {
			was(va, m.DetourOrig(x))
		}
	}
}
