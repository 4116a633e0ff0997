package ring

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"testing"
)

// TestPut3: a ring into which events of three words come by Put3, where it takes them, is the same to the last byte and counter as one
// that knows only Write: among other events, open and nested ones, steps of time in both directions, full pages and reads.
func TestPut3(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 3))
	for round := range 40 {
		a, b := New(2+round%3), New(2+round%3)
		a.SetOverwrite(round%2 == 0)
		b.SetOverwrite(round%2 == 0)
		ts, taken, left, open := uint64(1000), 0, 0, 0
		for range 2000 {
			switch rnd.IntN(8) {
			case 0:
				ts += rnd.Uint64N(1 << 30)
			case 1:
				ts -= rnd.Uint64N(50)
			default:
				ts += rnd.Uint64N(300)
			}
			var d [24]byte
			for i := range d {
				d[i] = byte(rnd.Uint32())
			}
			switch op := rnd.IntN(40); {
			case op < 30:
				le := binary.LittleEndian
				b.Write(ts, d[:])
				if a.Put3(ts, le.Uint64(d[:]), le.Uint64(d[8:]), le.Uint64(d[16:])) {
					taken++
				} else {
					left++
					a.Write(ts, d[:])
				}
			case op < 33 && open < maxNest:
				n := rnd.IntN(200)
				x, ok := a.Reserve(ts, n)
				y, _ := b.Reserve(ts, n)
				if ok {
					open++
					clear(x)
					clear(y)
				}
			case op < 37 && open > 0:
				if open--; op == 36 {
					a.Discard()
					b.Discard()
				} else {
					a.Commit()
					b.Commit()
				}
			case op == 37:
				x, ok := a.Consume(nil)
				y, _ := b.Consume(nil)
				if ok && (x.TS != y.TS || x.Lost != y.Lost || !bytes.Equal(x.Data, y.Data)) {
					t.Fatalf("round %d: read %v, want %v", round, x, y)
				}
			}
			if x, y := a.Stats(), b.Stats(); x != y || a.stamp != b.stamp || a.depth != b.depth {
				t.Fatalf("round %d: %+v, want %+v", round, x, y)
			}
		}
		for p, q := a.slots, b.slots; len(p) > 0; p, q = p[1:], q[1:] {
			x, y := p[0].Load(), q[0].Load()
			if *x.data != *y.data || x.write != y.write || x.entries != y.entries || x.first != y.first {
				t.Fatalf("round %d: a page differs", round)
			}
		}
		if taken == 0 || left == 0 {
			t.Errorf("round %d: %d events by Put3, %d not", round, taken, left)
		}
	}
}

// BenchmarkPut3 is BenchmarkReserveCommit by Put3.
func BenchmarkPut3(b *testing.B) {
	r, ts := New(Pages(1408)), uint64(0)
	b.ReportAllocs()
	for b.Loop() {
		if ts += 100; !r.Put3(ts, ts, ts, ts) {
			r.Write(ts, make([]byte, 24))
		}
	}
}
