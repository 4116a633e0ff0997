// Package mem is the guest's memory: physical frames that forks share until one of them writes, the walk of the
// guest's page tables, and the software TLB that keeps both off the hot path.
//
// Main types: [Phys], the frames of one machine; [Fault], what [Walk] reports instead of an address; [TLB], three
// direct-mapped tables (reads, writes, fetches) from page address to host address, of one privilege level.
//
// An access flows so:
//
//  1. The executor probes a TLB table. One compare covers the tag and accesses that cross a page: with e the entry
//     at [Index](va), d := va - e.VA; d > PageSize-size means a miss.
//  2. On a miss it calls [Walk], which checks the rights, sets A and D, and returns a physical address.
//  3. It fills the table with [TLB.FillR], [TLB.FillW] or [TLB.FillX]. FillW makes the frame private first. A frame that
//     holds decoded code never gets a W entry, so that every store to it takes this slow path and is reported.
//  4. When [Phys.Epoch] has moved, [TLB.Sync] re-points the entries at the frames as they now are. An executor does so
//     on entry and after each slow path: between those, nobody but itself can have moved a frame.
//
// Ownership. A frame is either private to one Phys (its bit in owned is set) or shared, and a shared frame is never
// written again, not even by its last holder: a count of holders would have to be atomic on every fork and would save
// one copy per frame and fork. So a Phys and its forks may run in parallel goroutines without locks, and Fork of a Phys
// that has not been written since its last Fork only reads it, so one snapshot may be forked from many goroutines at
// once. Everything else on one Phys belongs to one goroutine at a time.
//
// A page whose frame moves on its first write keeps its TLB entries: they are re-pointed, not dropped, so a guest
// that relies on a stale translation sees the same one before and after a copy.
package mem

import (
	"encoding/binary"
	"fmt"
)

// PageSize is the size of a frame and of the smallest page.
const PageSize = 4096

// Frame is one page of physical memory.
type Frame = [PageSize]byte

// Frames come from slabs that start small, so that a fork which writes a few frames stays cheap, and double up to
// maxSlab. The garbage collector neither scans nor moves them, and frees one when its last frame is forgotten.
const (
	minSlab = 8 * PageSize
	maxSlab = 256 * PageSize
)

// Phys is the physical memory of one machine, from address 0 up to Size.
type Phys struct {
	// Epoch changes whenever the host address of a frame may have: see TLB.Sync.
	Epoch uint64

	// CodeCache is kernel/x86's decoded code of this memory; all CPUs on it share it. Fork leaves it nil.
	CodeCache any

	frames []*Frame
	owned  []uint64 // bitmap: the frame is this Phys's alone and may be written
	code   []uint64 // bitmap: the frame holds decoded code
	gens   []uint32 // how often the code of the frame was invalidated
	dirty  int      // bits set in owned
	forks  uint64   // Forks that took away owned frames
	zero   *Frame   // what every frame is until its first write; shared with all forks
	slab   []byte   // the rest of the current slab, all zero
	next   int      // size of the next slab
}

// NewPhys returns size bytes of zeroed memory; size is a multiple of PageSize. Frames take host memory when first written.
func NewPhys(size uint64) *Phys {
	if size == 0 || size%PageSize != 0 || size > 1<<40 { // frame numbers fit 32 bits with room to spare
		panic(fmt.Sprintf("BUG: memory of %#x bytes", size))
	}
	n := size / PageSize
	p := &Phys{
		frames: make([]*Frame, n),
		owned:  make([]uint64, (n+63)/64),
		code:   make([]uint64, (n+63)/64),
		gens:   make([]uint32, n),
		zero:   new(Frame),
		next:   minSlab,
	}
	for i := range p.frames {
		p.frames[i] = p.zero
	}
	return p
}

// Size returns the memory's size in bytes.
func (p *Phys) Size() uint64 { return uint64(len(p.frames)) * PageSize }

// Contains reports whether pa is an address of this memory.
func (p *Phys) Contains(pa uint64) bool { return pa < p.Size() }

// Fork returns a second memory with the same contents, code marks and generations. From then on each side copies
// a frame when it first writes it.
func (p *Phys) Fork() *Phys {
	if p.dirty != 0 {
		clear(p.owned)
		p.dirty = 0
		p.forks++
		p.Epoch++
	}
	return &Phys{
		Epoch:  p.Epoch + 1,
		frames: append([]*Frame(nil), p.frames...),
		owned:  make([]uint64, len(p.owned)),
		code:   append([]uint64(nil), p.code...),
		gens:   append([]uint32(nil), p.gens...),
		forks:  p.forks + 1,
		zero:   p.zero,
		next:   minSlab,
	}
}

// Page returns a frame to read. It is valid until the next write to the frame, which may move it.
func (p *Phys) Page(pfn uint64) *Frame {
	if pfn >= uint64(len(p.frames)) {
		p.beyond(pfn)
	}
	return p.frames[pfn]
}

// beyond is apart, so that the compiler puts Page into its callers.
//
//go:noinline
func (p *Phys) beyond(pfn uint64) {
	panic(fmt.Sprintf("BUG: frame %#x beyond memory of %#x bytes", pfn, p.Size()))
}

// PageW returns a frame to write, private to p; it is valid until the next Fork. When Code(pfn) is set, the caller has
// reported the write to the block caches.
func (p *Phys) PageW(pfn uint64) *Frame {
	f := p.Page(pfn)
	if p.Owned(pfn) {
		return f
	}
	return p.own(pfn, f)
}

// own makes the frame f private.
func (p *Phys) own(pfn uint64, f *Frame) *Frame {
	n := p.newFrame()
	if f != p.zero {
		*n = *f
	}
	p.frames[pfn] = n
	p.owned[pfn/64] |= 1 << (pfn % 64)
	p.dirty++
	p.Epoch++
	return n
}

// Owned reports whether the frame is private, so that PageW would not move it.
func (p *Phys) Owned(pfn uint64) bool { return p.owned[pfn/64]>>(pfn%64)&1 != 0 }

func (p *Phys) newFrame() *Frame {
	if len(p.slab) == 0 {
		p.slab = make([]byte, p.next)
		p.next = min(2*p.next, maxSlab)
	}
	f := (*Frame)(p.slab)
	p.slab = p.slab[PageSize:]
	return f
}

// Private returns how many frames p has copied or first written since it was made or last forked.
func (p *Phys) Private() int { return p.dirty }

// SharedWith reports whether p and o hold the very same frame, so that code decoded from one is true of the other.
func (p *Phys) SharedWith(o *Phys, pfn uint64) bool { return p.Page(pfn) == o.Page(pfn) }

// MarkCode records that the frame holds decoded code: writers must report first, and no W entry is made for it.
// The caller drops W entries that exist (TLB.DropW) on every CPU.
func (p *Phys) MarkCode(pfn uint64) { p.code[pfn/64] |= 1 << (pfn % 64) }

// Code reports whether the frame holds decoded code.
func (p *Phys) Code(pfn uint64) bool { return p.code[pfn/64]>>(pfn%64)&1 != 0 }

// Gen returns the generation of the code in the frame.
func (p *Phys) Gen(pfn uint64) uint32 { return p.gens[pfn] }

// Bump invalidates the code in the frame: its generation changes and its mark goes.
func (p *Phys) Bump(pfn uint64) {
	p.gens[pfn]++
	p.code[pfn/64] &^= 1 << (pfn % 64)
}

// ReadAt fills b from pa on.
func (p *Phys) ReadAt(pa uint64, b []byte) {
	for len(b) > 0 {
		n := copy(b, p.Page(pa / PageSize)[pa%PageSize:])
		b, pa = b[n:], pa+uint64(n)
	}
}

// WriteAt stores b from pa on. Frames that hold code have been reported by the caller, as for PageW.
func (p *Phys) WriteAt(pa uint64, b []byte) {
	for len(b) > 0 {
		n := copy(p.PageW(pa / PageSize)[pa%PageSize:], b)
		b, pa = b[n:], pa+uint64(n)
	}
}

// U8, U16, U32 and U64 read a little-endian number at pa, which need not be aligned.
func (p *Phys) U8(pa uint64) uint8   { return p.Page(pa / PageSize)[pa%PageSize] }
func (p *Phys) U16(pa uint64) uint16 { return uint16(p.load(pa, 2)) }
func (p *Phys) U32(pa uint64) uint32 {
	if pa%PageSize <= PageSize-4 {
		return binary.LittleEndian.Uint32(p.Page(pa / PageSize)[pa%PageSize:])
	}
	return uint32(p.load(pa, 4))
}
func (p *Phys) U64(pa uint64) uint64 {
	if pa%PageSize <= PageSize-8 {
		return binary.LittleEndian.Uint64(p.Page(pa / PageSize)[pa%PageSize:])
	}
	return p.load(pa, 8)
}

// PutU8, PutU16, PutU32 and PutU64 store a little-endian number at pa, under WriteAt's rule for code.
func (p *Phys) PutU8(pa uint64, v uint8)   { p.PageW(pa / PageSize)[pa%PageSize] = v }
func (p *Phys) PutU16(pa uint64, v uint16) { p.store(pa, uint64(v), 2) }
func (p *Phys) PutU32(pa uint64, v uint32) { p.store(pa, uint64(v), 4) }
func (p *Phys) PutU64(pa uint64, v uint64) {
	if pa%PageSize <= PageSize-8 {
		binary.LittleEndian.PutUint64(p.PageW(pa / PageSize)[pa%PageSize:], v)
		return
	}
	p.store(pa, v, 8)
}

func (p *Phys) load(pa uint64, n int) uint64 {
	var b [8]byte
	p.ReadAt(pa, b[:n])
	return binary.LittleEndian.Uint64(b[:])
}

func (p *Phys) store(pa, v uint64, n int) {
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], v)
	p.WriteAt(pa, b[:n])
}
