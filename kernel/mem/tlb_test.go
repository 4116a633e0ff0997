package mem

import (
	"math/rand/v2"
	"testing"
	"unsafe"
)

// probe is the executor's one compare.
func probe(tab *[TLBSize]Entry, va, size uint64) (unsafe.Pointer, bool) {
	e := &tab[Index(va)]
	d := va - e.VA
	if d > PageSize-size {
		return nil, false
	}
	return unsafe.Add(e.P, d), true
}

func newTLB() *TLB {
	t := new(TLB)
	t.Flush()
	return t
}

func TestTLBEmpty(t *testing.T) {
	tlb := newTLB()
	for _, va := range []uint64{0, 1, 4095, 4096, 8191, 1 << 22, 1<<22 - 1, 1 << 63, 1<<63 - 1, ^uint64(0), 0xffffffff81000000} {
		for _, size := range []uint64{1, 8} {
			if _, ok := probe(&tlb.R, va, size); ok {
				t.Errorf("empty TLB hits at %#x", va)
			}
		}
	}
}

func TestTLBProbe(t *testing.T) {
	p := NewPhys(16 * PageSize)
	p.PutU8(3*PageSize+5, 0x77)
	tlb := newTLB()
	va := uint64(0xffffffff81234000)
	tlb.FillR(p, va+0x123, 3*PageSize+0x123, P)
	if h, ok := probe(&tlb.R, va+5, 1); !ok || *(*byte)(h) != 0x77 {
		t.Error("no hit on the filled page")
	}
	for _, c := range []struct {
		va, size uint64
		hit      bool
	}{{va, 8, true}, {va + 4088, 8, true}, {va + 4089, 8, false}, {va + 4095, 1, true}, {va + 4095, 2, false},
		{va - 1, 1, false}, {va - 1, 2, false}, {va + 4096, 1, false}, {va + TLBSize*PageSize, 1, false}, {va &^ (1 << 63), 1, false}} {
		if _, ok := probe(&tlb.R, c.va, c.size); ok != c.hit {
			t.Errorf("probe(%#x, %d) hit=%v", c.va, c.size, ok)
		}
	}
	if _, ok := probe(&tlb.W, va, 1); ok {
		t.Error("a read entry serves writes")
	}
}

func TestTLBFlushPage(t *testing.T) {
	p := NewPhys(16 * PageSize)
	tlb := newTLB()
	tlb.FillR(p, 0x1000, 0, P)
	tlb.FillX(p, 0x1000, 0, P)
	tlb.FillR(p, 0x2000, 0, P)
	tlb.FlushPage(0x1fff + TLBSize*PageSize) // another page of the same place
	if _, ok := probe(&tlb.R, 0x1000, 1); !ok {
		t.Error("invlpg of another page dropped this one")
	}
	tlb.FlushPage(0x1fff)
	_, r := probe(&tlb.R, 0x1000, 1)
	_, x := probe(&tlb.X, 0x1000, 1)
	_, other := probe(&tlb.R, 0x2000, 1)
	if r || x || !other {
		t.Errorf("after FlushPage: R %v X %v neighbour %v", r, x, other)
	}
	// Two pieces of one 2 MiB page: invlpg anywhere in it drops both.
	big := uint64(0xffff888000200000)
	tlb.FillR(p, big, 0, P|PS)
	tlb.FillR(p, big+0x5000, 0x5000, P|PS)
	tlb.FlushPage(big + 0x1ff000)
	if _, ok := probe(&tlb.R, big+0x5000, 1); ok {
		t.Error("a piece of a large page survived invlpg")
	}
}

func TestTLBCode(t *testing.T) {
	p := NewPhys(16 * PageSize)
	tlb := newTLB()
	tlb.FillW(p, 0x1000, 0x3000, P|RW)
	tlb.FillW(p, 0x9000, 0x3000, P|RW)
	tlb.FillW(p, 0x2000, 0x4000, P|RW)
	p.MarkCode(3)
	tlb.DropW(p, 3)
	_, a := probe(&tlb.W, 0x1000, 1)
	_, b := probe(&tlb.W, 0x9000, 1)
	_, c := probe(&tlb.W, 0x2000, 1)
	if a || b || !c {
		t.Errorf("after DropW: aliases %v %v, other frame %v", a, b, c)
	}
	tlb.FillW(p, 0x1000, 0x3000, P|RW)
	if _, ok := probe(&tlb.W, 0x1000, 1); ok {
		t.Error("a code frame got a W entry")
	}
}

// TestTLBModel runs two CPUs' TLBs over one memory that is written, forked and forked from, and requires of each hit that
// it shows what memory holds, and that a write through a W entry reaches this memory alone.
func TestTLBModel(t *testing.T) {
	const frames = 12
	rnd := rand.New(rand.NewPCG(5, 6))
	p := NewPhys(frames * PageSize)
	tlbs := []*TLB{newTLB(), newTLB()}
	var snaps []*Phys
	var sums [][frames]uint64
	sumAll := func(p *Phys) (s [frames]uint64) {
		for i := range s {
			s[i] = Sum(p.Page(uint64(i)))
		}
		return s
	}
	hits := 0
	for step := range 20000 {
		tlb := tlbs[rnd.IntN(2)]
		tlb.Sync(p)
		pfn := rnd.Uint64N(frames)
		va := (pfn + frames*rnd.Uint64N(3)) * PageSize // three aliases of each frame
		off := rnd.Uint64N(PageSize)
		switch rnd.IntN(40) {
		case 0:
			snaps, sums = append(snaps, p.Fork()), append(sums, sumAll(p))
		case 1:
			child := p.Fork() // carry on in the child, with the TLBs as they are
			snaps, sums = append(snaps, p), append(sums, sumAll(p))
			p = child
		case 2:
			p.PutU8(pfn*PageSize+off, byte(step)) // the host writes
		default:
			if h, ok := probe(&tlb.R, va+off, 1); !ok {
				tlb.FillR(p, va, pfn*PageSize, P)
			} else if hits++; *(*byte)(h) != p.U8(pfn*PageSize+off) {
				t.Fatalf("step %d: a read entry shows another frame", step)
			}
			if h, ok := probe(&tlb.X, va+off, 1); !ok {
				tlb.FillX(p, va, pfn*PageSize, P)
			} else if *(*byte)(h) != p.U8(pfn*PageSize+off) {
				t.Fatalf("step %d: a fetch entry shows another frame", step)
			}
			h, ok := probe(&tlb.W, va+off, 1)
			if !ok {
				h = unsafe.Add(tlb.FillW(p, va, pfn*PageSize, P), off)
			}
			*(*byte)(h) = byte(step)
			if p.U8(pfn*PageSize+off) != byte(step) {
				t.Fatalf("step %d: a write entry leads elsewhere", step)
			}
		}
	}
	for i := range snaps {
		if sumAll(snaps[i]) != sums[i] {
			t.Errorf("snapshot %d changed", i)
		}
	}
	if hits < 10000 || len(snaps) < 100 {
		t.Errorf("only %d hits, %d snapshots", hits, len(snaps))
	}
}

func BenchmarkTLBSync(b *testing.B) {
	p := NewPhys(4096 * PageSize)
	p.PutU8(0, 1)
	tlb := newTLB()
	for i := range uint64(200) {
		tlb.FillR(p, i*PageSize, i*PageSize, P)
	}
	tlb.Sync(p)
	for b.Loop() {
		p.Epoch++
		tlb.Sync(p)
	}
}

func TestFlushLocal(t *testing.T) {
	p := NewPhys(2048 * PageSize)
	for _, n := range []uint64{10, 600} {
		var l TLB
		l.Flush()
		l.Sync(p)
		for i := range n {
			l.FillR(p, i*PageSize, i*PageSize, 0)
			l.FillW(p, i*PageSize, i*PageSize, 0)
		}
		const global = 700 * PageSize
		l.FillR(p, global, global, G)
		l.FlushLocal()
		for i := range n {
			if l.R[i].VA == i*PageSize || l.W[i].VA == i*PageSize {
				t.Fatalf("of %d pages, %d is still there", n, i)
			}
		}
		if (l.R[700].VA == global) != (n == 10) {
			t.Errorf("of %d pages: global page kept: %v", n, l.R[700].VA == global)
		}
	}
}

// TestTLBOneFrame: who reads a page that has an entry for writes has its frame, whatever the tables say now, as on hardware, where one
// entry serves both; and the entry is global, and follows a fork, as that one does.
func TestTLBOneFrame(t *testing.T) {
	p := NewPhys(16 * PageSize)
	tlb := newTLB()
	tlb.FillR(p, 0x1000, 0x3000, P)
	p.PutU8(0x4000, 4)
	tlb.FillW(p, 0x1000, 0x4000, P|RW) // remapped, and not flushed
	if _, ok := probe(&tlb.R, 0x1000, 1); ok {
		t.Error("R has another frame than W")
	}
	host, ok := tlb.ReadWritten(0x1fff)
	if got, hit := probe(&tlb.R, 0x1000, 1); !ok || !hit || got != host || (*Frame)(host)[0] != 4 {
		t.Errorf("by ReadWritten %v: %v %v, want %v", ok, got, hit, host)
	}
	if _, ok := tlb.ReadWritten(0x2000); ok {
		t.Error("a page that was never written")
	}
	f := p.Fork()
	p.PutU8(0x4000, 5) // the frame moves
	tlb.Sync(p)
	if got, hit := probe(&tlb.R, 0x1000, 1); !hit || (*Frame)(got)[0] != 5 || f.U8(0x4000) != 4 {
		t.Errorf("after a fork: %v %v", got, hit)
	}
	tlb.FillW(p, 0x1000, 0x4000, P|RW)
	tlb.FillW(p, 0x2000, 0x5000, P|RW|G)
	tlb.R[Index(0x1000)], tlb.R[Index(0x2000)] = Entry{}, Entry{}
	tlb.ReadWritten(0x1000)
	tlb.ReadWritten(0x2000)
	tlb.FlushLocal()
	_, local := probe(&tlb.R, 0x1000, 1)
	_, global := probe(&tlb.R, 0x2000, 1)
	if local || !global {
		t.Errorf("after a write to cr3: %v, and a global page %v", local, global)
	}
}
