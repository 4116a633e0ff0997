package kernel

import (
	"fmt"

	"kscope/kernel/mem"
)

// Bits of a page-table entry: Intel SDM volume 3A, section 4.5.
const (
	ptePresent = 1
	pteLarge   = 1 << 7
	pteFrame   = 1<<52 - mem.PageSize
)

// ReadAs reads memory by the page table at the kernel address pgd, such as mm->pgd, without a trace: no accessed bit is set, and what is
// not mapped is EFAULT.
func (m *Machine) ReadAs(pgd, va uint64, b []byte) error {
	for len(b) > 0 {
		pa, ok := m.translateBy(pgd, va)
		if !ok {
			return fmt.Errorf("address %#x: %w", va, EFAULT)
		}
		n := min(len(b), int(mem.PageSize-va%mem.PageSize))
		m.phys.ReadAt(pa, b[:n])
		va, b = va+uint64(n), b[n:]
	}
	return nil
}

func (m *Machine) translateBy(table, va uint64) (pa uint64, ok bool) {
	for shift := 39; ; shift -= 9 {
		e, err := m.U64(table + va>>shift&511*8)
		if err != nil || e&ptePresent == 0 {
			return 0, false
		}
		if shift == 12 || e&pteLarge != 0 && shift < 39 {
			pa = e&pteFrame&^(1<<shift-1) | va&(1<<shift-1)
			return pa, m.phys.Contains(pa)
		}
		table = directMap + e&pteFrame
	}
}

// ReadPhys reads physical memory.
func (m *Machine) ReadPhys(pa uint64, b []byte) error {
	if len(b) > 0 && (!m.phys.Contains(pa) || !m.phys.Contains(pa+uint64(len(b))-1) || pa+uint64(len(b)) < pa) {
		return fmt.Errorf("physical address %#x: %w", pa, EFAULT)
	}
	m.phys.ReadAt(pa, b)
	return nil
}
