package kernel

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"unsafe"

	"kscope/kernel/mem"
)

// The kernel's fixed addresses (Linux's without KASLR, Documentation/arch/x86/x86_64/mm.rst).
const (
	directMap  = 0xffff888000000000
	kernelBase = 0xffffffff80000000 // virt = phys + kernelBase inside the image
	kernelText = 0xffffffff81000000
	kernelEnd  = 0xffffffffc0000000
)

// linear translates the addresses that boot maps once and for all: direct map, image, shadow RAM.
func (m *Machine) linear(va uint64) (pa uint64, ok bool) {
	size := m.phys.Size()
	switch {
	case va >= directMap && va < directMap+size-shadowSize:
		return va - directMap, true
	case va >= kernelBase && va < kernelEnd:
		return va - kernelBase, va-kernelBase < size-shadowSize
	case va >= shadowBase && va < shadowBase+shadowSize:
		return m.shadowPhys(va), true
	}
	return 0, false
}

// Translate gives the physical address of a kernel address, by boot's page table.
func (m *Machine) Translate(va uint64) (pa uint64, ok bool) {
	if pa, ok = m.linear(va); ok {
		return pa, true
	}
	pa, _, fault := mem.Walk(m.phys, m.initPGT, va, mem.Read, false, mem.WP|mem.NXE)
	return pa, fault == nil && m.phys.Contains(pa)
}

// each calls fn for each page of [va, va+n).
func (m *Machine) each(va uint64, b []byte, fn func(pa uint64, b []byte)) error {
	for len(b) > 0 {
		pa, ok := m.Translate(va)
		if !ok {
			return fmt.Errorf("kernel address %#x: %w", va, EFAULT)
		}
		n := min(len(b), int(mem.PageSize-va%mem.PageSize))
		fn(pa, b[:n])
		va, b = va+uint64(n), b[n:]
	}
	return nil
}

// Read reads kernel memory; an unmapped address is EFAULT.
func (m *Machine) Read(va uint64, b []byte) error { return m.each(va, b, m.phys.ReadAt) }

// Write writes kernel memory at one instant, as a debugger would; protection is ignored. Code is seen new by every CPU.
func (m *Machine) Write(va uint64, b []byte) error { return m.each(va, b, m.writeCode) }

// writeCode writes physical memory that may hold code, without holding any fetch window.
func (m *Machine) writeCode(pa uint64, b []byte) {
	for len(b) > 0 {
		n := min(len(b), int(mem.PageSize-pa%mem.PageSize))
		isCode := m.phys.Code(pa / mem.PageSize)
		m.phys.WriteAt(pa, b[:n])
		if isCode {
			m.cpus[0].CPU.InvalidateCode(pa, n) // all CPUs share the cache
		}
		pa, b = pa+uint64(n), b[n:]
	}
}

// U8 to U64 read an integer of kernel memory.
func (m *Machine) U8(va uint64) (uint8, error) {
	var b [1]byte
	err := m.Read(va, b[:])
	return b[0], err
}

func (m *Machine) U16(va uint64) (uint16, error) {
	var b [2]byte
	err := m.Read(va, b[:])
	return binary.LittleEndian.Uint16(b[:]), err
}

func (m *Machine) U32(va uint64) (uint32, error) {
	var b [4]byte
	err := m.Read(va, b[:])
	return binary.LittleEndian.Uint32(b[:]), err
}

func (m *Machine) U64(va uint64) (uint64, error) {
	if off := va - directMap; off < m.phys.Size()-shadowSize && va%8 == 0 {
		return m.phys.U64(off), nil
	}
	var b [8]byte
	err := m.Read(va, b[:])
	return binary.LittleEndian.Uint64(b[:]), err
}

// PutU32 and PutU64 write one integer of kernel memory.
func (m *Machine) PutU32(va uint64, x uint32) error {
	return m.Write(va, binary.LittleEndian.AppendUint32(nil, x))
}

func (m *Machine) PutU64(va uint64, x uint64) error {
	if off := va - directMap; off < m.phys.Size()-shadowSize && va%8 == 0 && !m.phys.Code(off/mem.PageSize) { // what function_graph does twice a call
		m.phys.PutU64(off, x)
		return nil
	}
	if pa, ok := m.linear(va); ok && va%8 == 0 && !m.phys.Code(pa/mem.PageSize) {
		m.phys.PutU64(pa, x)
		return nil
	}
	return m.Write(va, binary.LittleEndian.AppendUint64(nil, x))
}

// Str reads a C string of at most max bytes.
func (m *Machine) Str(va uint64, max int) (string, error) {
	var out []byte
	for len(out) < max {
		n := min(max-len(out), int(mem.PageSize-va%mem.PageSize))
		b := make([]byte, n)
		if err := m.Read(va, b); err != nil {
			return string(out), err
		}
		if i := bytes.IndexByte(b, 0); i >= 0 {
			return string(append(out, b[:i]...)), nil
		}
		out, va = append(out, b...), va+uint64(n)
	}
	return string(out), nil
}

// HostPtr is the host address of a kernel address, for reading only and only until the guest runs or the host writes.
// nil when unmapped.
func (m *Machine) HostPtr(va uint64) unsafe.Pointer {
	if off := va - directMap; off < m.phys.Size()-shadowSize { // most are: stacks and tasks
		return unsafe.Pointer(&m.phys.Page(off / mem.PageSize)[off%mem.PageSize])
	}
	pa, ok := m.Translate(va)
	if !ok {
		return nil
	}
	return unsafe.Pointer(&m.phys.Page(pa / mem.PageSize)[pa%mem.PageSize])
}

// PerCPU is the address of the per-CPU variable sym on cpu; 0 when there is no such variable or no per-CPU area yet.
func (m *Machine) PerCPU(sym string, cpu int) uint64 {
	if cpu < 0 || cpu >= len(m.cpus) {
		return 0
	}
	off, ok := m.img.lookup(sym)
	if !ok || off >= m.img.perCPUSize {
		return 0
	}
	base := m.perCPUBase(cpu)
	if base == 0 {
		return 0
	}
	return base + off
}

// perCPUBase is __per_cpu_offset[cpu].
func (m *Machine) perCPUBase(cpu int) uint64 {
	return m.phys.U64(m.lay.perCPUOffset + uint64(cpu)*8)
}

// SymAddr is the address of a symbol that must be unique; ok false when the image has none.
func (m *Machine) SymAddr(name string) (uint64, bool) { return m.img.lookup(name) }
