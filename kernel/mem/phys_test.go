package mem

import (
	"bytes"
	"hash/fnv"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
)

func TestPhysReadWrite(t *testing.T) {
	p := NewPhys(4 * PageSize)
	p.PutU64(PageSize-3, 0x1122334455667788)
	if got := p.U64(PageSize - 3); got != 0x1122334455667788 {
		t.Errorf("U64 across frames = %#x", got)
	}
	if got := p.U16(PageSize - 1); got != 0x5566 {
		t.Errorf("U16 across frames = %#x", got)
	}
	p.PutU8(0, 0xab)
	p.PutU16(1, 0xcdef)
	p.PutU32(3, 0x01234567)
	b := make([]byte, 7)
	p.ReadAt(0, b)
	if want := []byte{0xab, 0xef, 0xcd, 0x67, 0x45, 0x23, 0x01}; !bytes.Equal(b, want) {
		t.Errorf("bytes % x, want % x", b, want)
	}
	if p.U8(0) != 0xab || p.U32(3) != 0x01234567 {
		t.Error("U8 or U32 differ from what was put")
	}
	if !p.Contains(p.Size()-1) || p.Contains(p.Size()) {
		t.Error("Contains is wrong at the end")
	}
}

func TestPhysBugs(t *testing.T) {
	p := NewPhys(2 * PageSize)
	for name, f := range map[string]func(){
		"page":  func() { p.Page(2) },
		"read":  func() { p.ReadAt(2*PageSize-1, make([]byte, 2)) },
		"write": func() { p.WriteAt(1<<63, make([]byte, 1)) },
		"size":  func() { NewPhys(100) },
	} {
		func() {
			defer func() {
				if r := recover(); r == nil || !strings.HasPrefix(r.(string), "BUG: ") {
					t.Errorf("%s: recovered %v, want a BUG", name, r)
				}
			}()
			f()
		}()
	}
}

// TestForkModel drives a family of forks with random writes against plain byte slices.
func TestForkModel(t *testing.T) {
	const frames = 6
	rnd := rand.New(rand.NewPCG(1, 2))
	ps := []*Phys{NewPhys(frames * PageSize)}
	models := [][]byte{make([]byte, frames*PageSize)}
	for step := range 3000 {
		i := rnd.IntN(len(ps))
		switch k := rnd.IntN(20); {
		case k == 0 && len(ps) < 12:
			ps = append(ps, ps[i].Fork())
			models = append(models, bytes.Clone(models[i]))
		case k < 3:
			b := make([]byte, rnd.IntN(2*PageSize))
			for j := range b {
				b[j] = byte(rnd.Uint32())
			}
			pa := rnd.IntN(frames*PageSize - len(b))
			ps[i].WriteAt(uint64(pa), b)
			copy(models[i][pa:], b)
		default:
			pa := rnd.IntN(frames*PageSize - 1)
			ps[i].PutU16(uint64(pa), uint16(step))
			models[i][pa], models[i][pa+1] = byte(step), byte(step>>8)
		}
		if step%100 == 0 || step == 2999 {
			for j := range ps {
				got := make([]byte, frames*PageSize)
				ps[j].ReadAt(0, got)
				if !bytes.Equal(got, models[j]) {
					t.Fatalf("step %d: memory %d differs from its model", step, j)
				}
			}
		}
	}
}

// TestForkParallel forks one snapshot from many goroutines and writes to each fork; it is for -race.
func TestForkParallel(t *testing.T) {
	snap := NewPhys(64 * PageSize)
	for i := range uint64(32) {
		snap.PutU64(i*PageSize, i)
	}
	snap = snap.Fork()
	var wg sync.WaitGroup
	for g := range uint64(8) {
		wg.Go(func() {
			p := snap.Fork()
			for i := range uint64(64) {
				p.PutU64(i*PageSize+8, g)
				q := p.Fork()
				q.PutU64(i*PageSize, ^uint64(0))
			}
			for i := range uint64(64) {
				want := i
				if i >= 32 {
					want = 0
				}
				if p.U64(i*PageSize) != want || p.U64(i*PageSize+8) != g {
					t.Errorf("goroutine %d: frame %d has foreign contents", g, i)
				}
			}
		})
	}
	wg.Wait()
	if snap.U64(8) != 0 || snap.Private() != 0 {
		t.Error("a fork wrote to its snapshot")
	}
}

func TestSharing(t *testing.T) {
	p := NewPhys(4 * PageSize)
	p.PutU8(0, 1)
	e := p.Epoch
	q := p.Fork()
	if p.Epoch == e || p.Owned(0) || q.Owned(0) || !p.SharedWith(q, 0) || !p.SharedWith(q, 1) {
		t.Error("after Fork: both sides share every frame, and TLBs must notice")
	}
	e = p.Epoch
	p.Fork()
	if p.Epoch != e {
		t.Error("Fork of an unwritten memory wrote to it")
	}
	p.PutU8(0, 2)
	if p.SharedWith(q, 0) || !p.SharedWith(q, 1) || q.U8(0) != 1 || p.Private() != 1 {
		t.Error("a write did not part exactly its own frame")
	}
	if q.IsZero(0) || !q.IsZero(1) {
		t.Error("IsZero")
	}
}

func TestCodeMarks(t *testing.T) {
	p := NewPhys(128 * PageSize)
	p.MarkCode(70)
	q := p.Fork()
	p.Bump(70)
	if p.Code(70) || p.Gen(70) != 1 || !q.Code(70) || q.Gen(70) != 0 || q.Code(71) {
		t.Error("marks and generations are not kept per machine")
	}
}

func TestSum(t *testing.T) {
	f := new(Frame)
	seen := map[uint64]int{Sum(f): -1}
	for bit := range PageSize * 8 { // every one-bit frame sums differently
		f[bit/8] ^= 1 << (bit % 8)
		s := Sum(f)
		if was, dup := seen[s]; dup {
			t.Fatalf("bits %d and %d sum alike", was, bit)
		}
		seen[s] = bit
		f[bit/8] ^= 1 << (bit % 8)
	}
	p := NewPhys(2 * PageSize)
	hash := func() uint64 {
		h := fnv.New64a()
		p.HashFrame(h, 1)
		return h.Sum64()
	}
	before := hash()
	p.PutU8(PageSize, 0)
	if hash() != before {
		t.Error("a frame of written zeros hashes differently from an unwritten one")
	}
	p.PutU8(PageSize+4095, 0x80)
	if hash() == before {
		t.Error("a flipped bit does not show")
	}
}

func BenchmarkFork64MiB(b *testing.B) {
	p := NewPhys(64 << 20)
	for pfn := range uint64(4096) {
		p.PutU8(pfn*PageSize, 1)
	}
	b.ReportAllocs()
	for b.Loop() {
		p.PutU8(0, 1) // so that each Fork has something to share
		p.Fork()
	}
}

// BenchmarkForkWrite is a fork that then writes 100 frames.
func BenchmarkForkWrite(b *testing.B) {
	p := NewPhys(64 << 20)
	for pfn := range uint64(4096) {
		p.PutU8(pfn*PageSize, 1)
	}
	for b.Loop() {
		q := p.Fork()
		for pfn := range uint64(100) {
			q.PutU8(pfn*PageSize, 2)
		}
	}
}

func BenchmarkSum(b *testing.B) {
	f := new(Frame)
	b.SetBytes(PageSize)
	for b.Loop() {
		Sum(f)
	}
}
