package mem

import (
	"encoding/binary"
	"fmt"
)

// PhysBits is MAXPHYADDR, which CPUID leaf 0x80000008 must report: higher address bits of an entry are reserved.
const PhysBits = 46

// Bits of a paging-structure entry (Intel SDM vol. 3A, 4.5.5).
const (
	P  = 1 << 0 // present
	RW = 1 << 1 // writable
	US = 1 << 2 // user
	A  = 1 << 5 // accessed
	D  = 1 << 6 // dirty
	PS = 1 << 7 // large page
	G  = 1 << 8 // global
	NX = 1 << 63

	addrMask = (1<<PhysBits - 1) &^ (PageSize - 1)
	highMask = (1<<52 - 1) &^ (1<<PhysBits - 1) // reserved in every entry
	patLarge = 1 << 12                          // PAT of a large page, not an address bit
)

// Access is what an access wants.
type Access uint8

const (
	Read Access = iota
	Write
	Exec
)

// Mode holds the control bits that the rights depend on.
type Mode uint8

const (
	WP   Mode = 1 << iota // CR0.WP: supervisor writes obey RW
	NXE                   // EFER.NXE: bit 63 forbids fetches, else it is reserved
	SMEP                  // CR4.SMEP: no supervisor fetch from user pages
	SMAP                  // CR4.SMAP and not EFLAGS.AC: no supervisor data access to user pages
)

// Bits of a page fault's error code.
const (
	CodeP    = 1 << 0 // the page was present: a matter of rights
	CodeW    = 1 << 1 // write
	CodeU    = 1 << 2 // user mode
	CodeRsvd = 1 << 3 // a reserved bit was set in an entry
	CodeI    = 1 << 4 // instruction fetch
)

// Fault says why an address has no translation. NonCanonical is #GP (or #SS) and has no Code; else it is #PF.
type Fault struct {
	VA           uint64
	Code         uint32
	NonCanonical bool
}

func (f *Fault) Error() string {
	if f.NonCanonical {
		return fmt.Sprintf("non-canonical address %#x", f.VA)
	}
	return fmt.Sprintf("page fault at %#x, error code %#04x", f.VA, f.Code)
}

// Canonical reports whether bits 63..47 of va are equal.
func Canonical(va uint64) bool { return uint64(int64(va)<<16>>16) == va }

// Walk translates va through the four levels of tables at cr3, with 4 KiB, 2 MiB and 1 GiB pages. flags are those of the
// leaf entry, with RW and US cleared and NX set where any level says so, and PS set for a large page. On success the A bit
// of each entry used, and the leaf's D bit on a write, are set in the guest's tables; on a fault nothing is (real CPUs
// differ among themselves here). A table outside memory reads as zeros; pa itself may lie outside memory.
func Walk(p *Phys, cr3, va uint64, acc Access, user bool, mode Mode) (pa, flags uint64, fault *Fault) {
	if !Canonical(va) {
		return 0, 0, &Fault{VA: va, NonCanonical: true}
	}
	var at [4]uint64 // physical addresses of the entries used
	rights := uint64(RW | US)
	table, nx := cr3&addrMask, uint64(0)
	for level := 0; ; level++ {
		shift := 39 - 9*level
		pos := table + va>>shift&511*8
		e := uint64(0)
		if table < p.Size() {
			e = binary.LittleEndian.Uint64(p.frames[pos/PageSize][pos%PageSize:])
		}
		at[level] = pos
		leaf := level == 3 || level > 0 && e&PS != 0
		if e&P == 0 {
			return 0, 0, &Fault{VA: va, Code: code(acc, user, mode)}
		}
		if e&reserved(level, leaf, mode) != 0 {
			return 0, 0, &Fault{VA: va, Code: code(acc, user, mode) | CodeP | CodeRsvd}
		}
		rights &= e
		nx |= e & NX
		if !leaf {
			table = e & addrMask
			continue
		}
		if !allowed(rights, nx, acc, user, mode) {
			return 0, 0, &Fault{VA: va, Code: code(acc, user, mode) | CodeP}
		}
		set := uint64(A)
		if acc == Write {
			set |= D
		}
		for _, pos := range at[:level] {
			p.setBits(pos, A)
		}
		p.setBits(pos, set)
		flags = e&(P|A|D|G) | set | rights | nx
		if level < 3 {
			flags |= PS
		}
		in := uint64(1)<<shift - 1
		return e&addrMask&^in | va&in, flags, nil
	}
}

// reserved returns the bits that must be zero in an entry of the level: 0 is the PML4, 3 the page table.
func reserved(level int, leaf bool, mode Mode) uint64 {
	r := uint64(highMask)
	if mode&NXE == 0 {
		r |= NX
	}
	switch {
	case level == 0:
		r |= PS
	case leaf && level < 3: // the address bits below the large page, but for PAT
		r |= (1<<(39-9*level) - 1) &^ (patLarge<<1 - 1)
	}
	return r
}

func allowed(rights, nx uint64, acc Access, user bool, mode Mode) bool {
	if acc == Exec && nx != 0 {
		return false
	}
	if user {
		return rights&US != 0 && (acc != Write || rights&RW != 0)
	}
	if rights&US != 0 {
		if acc == Exec && mode&SMEP != 0 || acc != Exec && mode&SMAP != 0 {
			return false
		}
	}
	return acc != Write || rights&RW != 0 || mode&WP == 0
}

// code returns the error code without P and RSVD. Bit I exists only where a fetch can fault by itself.
func code(acc Access, user bool, mode Mode) uint32 {
	c := uint32(0)
	if user {
		c |= CodeU
	}
	switch {
	case acc == Write:
		c |= CodeW
	case acc == Exec && mode&(NXE|SMEP) != 0:
		c |= CodeI
	}
	return c
}

// setBits sets bits in the entry at pos. A table in a frame that holds code is odd but legal: its code is invalidated.
func (p *Phys) setBits(pos, bits uint64) {
	pfn, off := pos/PageSize, pos%PageSize
	e := binary.LittleEndian.Uint64(p.frames[pfn][off:])
	if e&bits == bits {
		return
	}
	if p.Code(pfn) {
		p.Bump(pfn)
	}
	binary.LittleEndian.PutUint64(p.PageW(pfn)[off:], e|bits)
}
