package kernel

import (
	"encoding/binary"
	"fmt"

	"kscope/kernel/mem"
	"kscope/kernel/x86"
)

// Detours are where jump-optimised probes lead: Linux's kprobe_optinsn_page (arch/x86/kernel/kprobes/opt.c). They have a fixed
// area below the end of the shadow RAM, in slots:
//
//	+0   a copy of the guest's optprobe_template: saves all registers, calls the gate optimized_callback, loads them again
//	+96  the instructions that the jump at the probe has overwritten, up to 27 bytes
//	     jmp back to the instruction behind them
//
// A CPU that comes to the first byte runs whatever called OnDetour as a gate, which does what the template's 45 instructions do in
// one step; with ExecuteDetours they run. Package kprobe's TestDetourBytes holds the two ways against each other.
//
// The copied instructions are counted text, as the originals were: the budget of a slice and interrupts stop there at the same
// instruction and the same t. Only addresses differ, and DetourOrig maps them back. Template and jump are shadow text.
const (
	detourSize  = 128
	detourCode  = 96
	detourMax   = detourSize - detourCode - jmpSize
	detourSlots = 1 << 14
	detourBase  = shadowBase + shadowSize - mem.PageSize - detourSlots*detourSize
	detourEnd   = detourBase + detourSlots*detourSize

	jmpSize = 5
)

// detourTemplate is the guest's optprobe_template: its bytes, and where its operands are.
type detourTemplate struct {
	code         [detourCode]byte
	addr         uint64
	ip, val, dst int // offsets of 4-byte operands: the probe's ip, the slot's address, the distance of the call
	gate         uint64
}

// detourTemplate reads the template; nil: the image has none, or another one.
func (m *Machine) detourTemplate() *detourTemplate {
	if t := m.detours.template; t != nil {
		return t
	}
	var at [5]uint64
	for i, name := range [...]string{"optprobe_template_entry", "optprobe_template_ip", "optprobe_template_val", "optprobe_template_call", "optprobe_template_end"} {
		var ok bool
		if at[i], ok = m.syms.Lookup(name); !ok {
			return nil
		}
	}
	gate, ok := m.img.gates["optimized_callback"]
	t := &detourTemplate{addr: at[0], ip: int(at[1]-at[0]) + 1, val: int(at[2]-at[0]) + 3, dst: int(at[3]-at[0]) + 1, gate: gate}
	if !ok || at[4]-at[0] != detourCode || t.dst+4 > detourCode || m.Read(at[0], t.code[:]) != nil {
		return nil
	}
	m.detours.template = t
	return t
}

// HasDetours says whether the image has the template that detours are made of.
func (m *Machine) HasDetours() bool { return m.detourTemplate() != nil }

// ExecuteDetours has the bytes of detours executed, not done in one step.
func (m *Machine) ExecuteDetours() {
	m.detours.execute = true
	for i := range m.detours.slots {
		m.rehook(detourBase + uint64(i)*detourSize)
	}
}

// DetourGate is where the template of the detour at va calls its gate, and where it goes on then.
func (m *Machine) DetourGate(va uint64) (gate, from uint64) {
	t := m.detours.template
	return t.gate, va + uint64(t.dst) + 4
}

// detours is the state of the area; slots that were never used have no entry.
type detours struct {
	slots  []detour
	free   []uint16
	frames []uint64 // where interrupts have stored an address within copied instructions
	fn     Gate

	template *detourTemplate
	execute  bool
}

// detour is one slot: the copies of n bytes at orig.
type detour struct {
	orig uint64
	n    uint8
}

func (d *detours) fork() detours {
	return detours{slots: append([]detour(nil), d.slots...), free: append([]uint16(nil), d.free...), frames: append([]uint64(nil), d.frames...),
		template: d.template, execute: d.execute}
}

// OnDetour sets what runs, as a gate, at the first byte of every detour. The function sets RIP itself and calls KeepRIP.
func (m *Machine) OnDetour(fn Gate) { m.detours.fn = fn }

// DetourAlloc reserves a detour and gives the address of its gate.
func (m *Machine) DetourAlloc() (uint64, error) {
	d := &m.detours
	if m.detourTemplate() == nil {
		return 0, fmt.Errorf("the image has no optprobe_template: %w", ENODEV)
	}
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
	t := m.detours.template
	b := make([]byte, detourSize)
	for i := copy(b, t.code[:]); i < len(b); i++ {
		b[i] = 0xcc
	}
	put := func(at int, x uint64) { binary.LittleEndian.PutUint32(b[at:], uint32(x)) }
	put(t.ip, orig+1) // as behind an int3: handlers see no difference
	put(t.val, va)
	put(t.dst, t.gate-(va+uint64(t.dst)+4))
	copy(b[detourCode:], code)
	end := detourCode + len(code)
	b[end] = 0xe9
	put(end+1, orig+uint64(len(code))-(va+uint64(end)+jmpSize))
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

// DetourIndex numbers the detour at va: 0, 1, ... .
func DetourIndex(va uint64) int { return int((va - detourBase) / detourSize) }

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

// detourGateAt says whether a gate is at va, the first byte of a detour.
func (m *Machine) detourGateAt(va uint64) bool {
	return va-detourBase < detourEnd-detourBase && va%detourSize == 0 && !m.detours.execute
}

// inTemplate maps an address in a detour, behind its first instruction, to the template.
func (m *Machine) inTemplate(va uint64) (uint64, bool) {
	off := va % detourSize
	return m.detours.template.addr + off, off != 0 && off < detourCode
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
