package mem

import (
	"math/bits"
	"unsafe"
)

// TLBSize is the number of entries of each table of a TLB.
const TLBSize = 1024

// Index is the place of va in a table.
func Index(va uint64) uint64 { return va / PageSize % TLBSize }

// Entry translates one page. In an empty entry VA is a page that belongs elsewhere in the table, so no probe hits it.
type Entry struct {
	VA uint64         // page address
	P  unsafe.Pointer // host address of the frame
}

// TLB holds translations for data reads, data writes and fetches of one privilege level and one address space. It must be
// flushed before its first use. P is a real pointer, so a stale entry can never show freed memory.
type TLB struct {
	R, W, X [TLBSize]Entry

	pfn          [2][TLBSize]uint32      // frames of R and X
	written      [TLBSize]uint32         // frames of W, with globalW
	shared       [2][TLBSize / 64]uint64 // entries of R and X whose frame was not private when filled: it may move
	epoch, forks uint64                  // of the Phys, when last in step
	empty        bool                    // nothing was filled since Flush: any Phys is in step
	large        bool                    // large pages were entered between largeLo and largeHi
	largeLo      uint64
	largeHi      uint64

	locals [localMax]uint16 // entries filled from pages that are not global: table*TLBSize + index
	nlocal int              // localMax+1 when there were more
}

const globalW = 1 << 31

// localMax bounds the entries that FlushLocal takes one by one; a process rarely has more between two switches.
const localMax = 512

// emptyTable leaves the host addresses alone: storing pointers would cost write barriers.
func emptyTable(t *[TLBSize]Entry) {
	for i := range t {
		t[i].VA = uint64(i^1) * PageSize
	}
}

// FlushLocal drops what is not global, as a write to cr3 does with CR4.PGE set. It costs what was filled since the last.
func (t *TLB) FlushLocal() {
	if t.nlocal > localMax {
		t.Flush()
		return
	}
	for _, n := range t.locals[:t.nlocal] {
		i := uint64(n % TLBSize)
		t.table(n / TLBSize)[i].VA = (i ^ 1) * PageSize
	}
	t.nlocal = 0
}

func (t *TLB) table(n uint16) *[TLBSize]Entry {
	switch n {
	case 0:
		return &t.R
	case 1:
		return &t.W
	}
	return &t.X
}

// note remembers that entry i of table n is not global.
func (t *TLB) note(n uint16, i, flags uint64) {
	if flags&G != 0 || t.nlocal > localMax {
		return
	}
	if t.nlocal < localMax {
		t.locals[t.nlocal] = n*TLBSize + uint16(i)
	}
	t.nlocal++
}

// Flush empties the TLB, global pages too.
func (t *TLB) Flush() {
	t.nlocal, t.empty = 0, true
	emptyTable(&t.R)
	emptyTable(&t.W)
	emptyTable(&t.X)
	t.shared = [2][TLBSize / 64]uint64{}
	t.large = false
}

// FlushPage drops the page of va, as invlpg does. Entries of one large page are not found one by one: an address among
// the large pages empties the TLB.
func (t *TLB) FlushPage(va uint64) {
	if t.large && va >= t.largeLo && va <= t.largeHi {
		t.Flush()
		return
	}
	i := Index(va)
	for _, e := range [...]*Entry{&t.R[i], &t.W[i], &t.X[i]} {
		if e.VA == va&^(PageSize-1) {
			*e = Entry{VA: (i ^ 1) * PageSize}
		}
	}
}

// DropW drops the write entries of a frame at any address: it now holds code.
func (t *TLB) DropW(p *Phys, pfn uint64) {
	host := unsafe.Pointer(p.Page(pfn))
	for i := range t.W {
		if t.W[i].P == host {
			t.W[i] = Entry{VA: uint64(i^1) * PageSize}
		}
	}
}

// FillR enters the page of va for reads. pa and flags are Walk's answer, and pa lies in memory.
func (t *TLB) FillR(p *Phys, va, pa, flags uint64) unsafe.Pointer {
	return t.fill(&t.R, 0, p, va, pa, flags)
}

// ReadWritten enters the page of va for reads as W has it; false: it has not.
func (t *TLB) ReadWritten(va uint64) (unsafe.Pointer, bool) {
	i := Index(va)
	w := t.W[i]
	if va-w.VA >= PageSize {
		return nil, false
	}
	t.R[i] = w
	t.pfn[0][i] = t.written[i] &^ globalW
	t.shared[0][i/64] &^= 1 << (i % 64) // to write to it made it private
	if t.written[i]&globalW == 0 {
		t.note(0, i, 0)
	}
	return w.P, true
}

// FillX enters the page of va for fetches.
func (t *TLB) FillX(p *Phys, va, pa, flags uint64) unsafe.Pointer {
	return t.fill(&t.X, 1, p, va, pa, flags)
}

func (t *TLB) fill(tab *[TLBSize]Entry, k int, p *Phys, va, pa, flags uint64) unsafe.Pointer {
	i, pfn := Index(va), pa/PageSize
	host := unsafe.Pointer(p.Page(pfn))
	t.empty = false
	tab[i] = Entry{VA: va &^ (PageSize - 1), P: host}
	t.note(uint16(2*k), i, flags)
	t.pfn[k][i] = uint32(pfn)
	if p.Owned(pfn) {
		t.shared[k][i/64] &^= 1 << (i % 64)
	} else {
		t.shared[k][i/64] |= 1 << (i % 64)
	}
	t.noteLarge(va, flags)
	return host
}

// FillW makes the frame of pa private and enters the page of va for writes, unless the frame holds code: that write is
// the caller's to report. It returns the host address to write to. The frame may have moved: it ends with Sync.
//
// Where there is an entry in W, R has none of another frame, so that who writes and reads a page by the same entry (a group of accesses
// in host code) and who does not see the same of tables that were changed without a flush. On hardware there is one entry for both.
func (t *TLB) FillW(p *Phys, va, pa, flags uint64) unsafe.Pointer {
	pfn := pa / PageSize
	host := unsafe.Pointer(p.PageW(pfn))
	t.Sync(p)
	if !p.Code(pfn) {
		t.empty = false
		i := Index(va)
		t.W[i] = Entry{VA: va &^ (PageSize - 1), P: host}
		if r := &t.R[i]; r.VA == t.W[i].VA && r.P != host {
			r.VA = (i ^ 1) * PageSize
		}
		t.written[i] = uint32(pfn)
		if flags&G != 0 {
			t.written[i] |= globalW
		}
		t.note(1, i, flags)
		t.noteLarge(va, flags)
	}
	return host
}

func (t *TLB) noteLarge(va, flags uint64) {
	if flags&PS == 0 {
		return
	}
	const in = 1<<30 - 1 // whichever large page it is, it lies within this gigabyte
	lo, hi := va&^in, va|in
	if !t.large {
		t.large, t.largeLo, t.largeHi = true, lo, hi
		return
	}
	t.largeLo, t.largeHi = min(t.largeLo, lo), max(t.largeHi, hi)
}

// Sync brings the TLB in step with p: R and X entries follow their frames, and after a Fork the W entries go. It is cheap
// to call when nothing changed.
func (t *TLB) Sync(p *Phys) {
	if t.epoch != p.Epoch || t.forks != p.forks {
		t.follow(p)
	}
}

// follow is apart, so that the compiler puts Sync into its callers.
func (t *TLB) follow(p *Phys) {
	if t.empty {
		t.epoch, t.forks = p.Epoch, p.forks
		return
	}
	if t.forks != p.forks {
		emptyTable(&t.W)
		for k := range t.shared {
			for i := range t.shared[k] {
				t.shared[k][i] = ^uint64(0)
			}
		}
	}
	t.epoch, t.forks = p.Epoch, p.forks
	t.repoint(&t.R, 0, p)
	t.repoint(&t.X, 1, p)
}

func (t *TLB) repoint(tab *[TLBSize]Entry, k int, p *Phys) {
	for w, set := range t.shared[k] {
		for ; set != 0; set &= set - 1 {
			i := w*64 + bits.TrailingZeros64(set)
			e, pfn := &tab[i], uint64(t.pfn[k][i])
			if Index(e.VA) != uint64(i) {
				t.shared[k][w] &^= 1 << (i % 64) // empty
				continue
			}
			if host := unsafe.Pointer(p.frames[pfn]); e.P != host {
				e.P = host
			}
			if p.Owned(pfn) {
				t.shared[k][w] &^= 1 << (i % 64)
			}
		}
	}
}
