package ring

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
)

// TestLinuxNumbers holds the ring to numbers that real Linux 6.1 printed (oracle g-buffer): 1000 trace_marker lines of
// 40 bytes each into a ring of 8 KiB.
func TestLinuxNumbers(t *testing.T) {
	for _, c := range []struct{ ask, got uint64 }{{1408, 1410}, {100, 103}, {1, 7}, {200, 203}, {16, 19}, {8, 11}} {
		if kb := KB(Pages(c.ask)); kb != c.got {
			t.Errorf("size %d rounds to %d, Linux %d", c.ask, kb, c.got)
		}
	}
	fill := func(b *Buffer) {
		for i := 1; i <= 1000; i++ {
			b.Write(uint64(i), make([]byte, 35))
		}
	}
	b := New(Pages(8))
	fill(b)
	if s := b.Stats(); s.Entries != 286 || s.Overrun != 714 || s.Bytes != 11440 || s.Oldest != 715 {
		t.Errorf("overwrite: %+v", s)
	}
	if e, _ := b.Consume(nil); e.TS != 715 || e.Lost != 714 {
		t.Errorf("first after overrun: %d lost %d", e.TS, e.Lost)
	}
	b.Reset()
	b.SetOverwrite(false)
	fill(b)
	if s := b.Stats(); s.Entries != 306 || s.Overrun != 0 || s.Bytes != 12240 || s.Dropped != 694 || s.Oldest != 1 {
		t.Errorf("discard: %+v", s)
	}
	b.Reset()
	for i := 0; i < 10; i++ {
		b.Write(uint64(2000+i), make([]byte, 34))
	}
	for range 10 {
		b.Consume(nil)
	}
	if s := b.Stats(); s.Entries != 0 || s.Bytes != 0 || s.Read != 10 || s.Oldest != 2000 {
		t.Errorf("read: %+v", s)
	}
}

// rec is an event in the model: its id, its time, and where it is.
type rec struct {
	id, ts uint64
	n      int
}

// payload makes bytes that a reader can check: the id, then bytes made from it.
func payload(d []byte, id uint64) {
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], id)
	for i := range d {
		d[i] = b[i%8] + byte(i/8)
	}
}

func check(t *testing.T, what string, e Event, want rec) {
	t.Helper()
	d := make([]byte, want.n)
	payload(d, want.id)
	if e.TS != want.ts || len(e.Data) < want.n || !bytes.Equal(e.Data[:want.n], d) {
		t.Fatalf("%s: ts %d len %d, want ts %d id %d len %d", what, e.TS, len(e.Data), want.ts, want.id, want.n)
	}
}

// TestModel drives a ring with random operations beside the plainest model: a list of the committed events. What was
// overwritten must be the oldest of it but for the reader's page, as many as the ring counts; everything else must come out, in order, by
// the iterator, by Consume and by ReadPage, which an independent decoder reads.
func TestModel(t *testing.T) {
	seeds := uint64(200)
	if raceOn {
		seeds = 10
	}
	for seed := range seeds {
		r := rand.New(rand.NewPCG(seed, 1))
		m := &model{t: t, r: r, b: New(2 + r.IntN(5))}
		m.b.SetOverwrite(seed%3 != 0)
		m.discard = seed%3 == 0
		for range 1500 {
			m.step()
			if t.Failed() {
				t.Fatalf("seed %d", seed)
			}
		}
	}
}

type model struct {
	t       *testing.T
	r       *rand.Rand
	b       *Buffer
	q       []rec // reserved or committed, neither consumed nor overwritten
	next    uint64
	now     uint64
	over    uint64 // overruns already applied to q
	read    uint64
	discard bool
}

func (m *model) step() {
	switch k := m.r.IntN(100); {
	case k < 60:
		m.write(0)
	case k < 80:
		for range m.r.IntN(30) {
			m.consume()
		}
	case k < 85:
		m.page()
	case k < 93:
		m.iterate()
	case k < 95:
		m.b = m.b.Clone()
	case k < 98:
		m.b.Resize(2 + m.r.IntN(7))
		m.sync()
	default:
		m.b.Reset()
		m.q, m.over, m.read = nil, 0, 0
	}
	s := m.b.Stats()
	if s.Entries != uint64(len(m.q)) || s.Read != m.read {
		m.t.Errorf("stats %+v, model has %d, read %d", s, len(m.q), m.read)
	}
}

// write reserves one event, perhaps nests others in it, and commits or discards it.
func (m *model) write(depth int) {
	m.now += uint64(m.r.IntN(1000))
	if m.r.IntN(20) == 0 {
		m.now += m.r.Uint64N(1 << 31)
	}
	n := m.r.IntN(60)
	switch m.r.IntN(30) {
	case 0:
		n = m.r.IntN(MaxData + 1)
	case 1:
		n = 100 + m.r.IntN(30)
	}
	before := m.b.Stats()
	d, ok := m.b.Reserve(m.now, n)
	if !ok {
		s := m.b.Stats()
		if s.Dropped+s.CommitOverrun != before.Dropped+before.CommitOverrun+1 || s.Dropped != before.Dropped && !m.discard {
			m.t.Errorf("refused: %+v after %+v", s, before)
		}
		return
	}
	m.next++
	id := m.next
	payload(d, id)
	at := len(m.q)
	m.q = append(m.q, rec{id, m.now, n})
	m.sync()
	at = len(m.q) - 1
	if depth < maxNest-1 && m.r.IntN(4) == 0 {
		for range 1 + m.r.IntN(3) {
			if m.r.IntN(30) == 0 && depth == 0 {
				m.storm()
			}
			m.write(depth + 1)
		}
		for at = len(m.q) - 1; m.q[at].id != id; at-- {
		}
	}
	if m.r.IntN(6) == 0 {
		m.drop(at)
		return
	}
	m.b.Commit()
	m.sync()
}

// storm nests so many events that the ring fills behind the open one.
func (m *model) storm() {
	for range 400 {
		m.write(maxNest - 1)
	}
}

// drop discards the event at m.q[at]. A discarded event with followers and no delta of its own pushes those on its page
// 1 ns later: the model reads the ring's own word for it.
func (m *model) drop(at int) {
	e := m.b.nest[m.b.depth-1]
	last := e.page.write == e.off+e.size && e.page == m.b.tail
	bump := !last && e.off > 0 && e.ext == 0 && e.page.get32(e.off)>>5 == 0
	entries := e.page.entries
	m.b.Discard()
	m.q = append(m.q[:at], m.q[at+1:]...)
	if bump {
		// Followers on the same page.
		first := e.page.first
		count := 0
		for i := range m.q {
			if idx := m.b.reserved - uint64(len(m.q)) + uint64(i); idx >= first && idx < first+uint64(entries-1) && i >= at {
				m.q[i].ts++
				count++
			}
		}
	}
	m.sync()
}

// sync takes what the ring has overwritten out of the model: the oldest events but for those on the reader's page.
func (m *model) sync() {
	b, keep := m.b, uint64(0)
	if b.readerSeq != noSeq && b.reader.entries > 0 {
		keep = b.reader.first + uint64(b.reader.entries) - max(b.expect, b.reader.first)
	}
	if n := b.Stats().Overrun - m.over; n > 0 {
		m.q = append(m.q[:keep:keep], m.q[keep+n:]...)
		m.over += n
	}
}

func (m *model) consume() {
	e, ok := m.b.Consume(nil)
	if ok != (len(m.q) > 0) {
		m.t.Fatalf("consume: %v, model has %d", ok, len(m.q))
	}
	if ok {
		check(m.t, "consume", e, m.q[0])
		m.q = m.q[1:]
		m.read++
	}
}

func (m *model) page() {
	var pg [PageSize]byte
	if _, ok := m.b.ReadPage(&pg); !ok {
		if len(m.q) != 0 {
			m.t.Fatalf("no page, model has %d", len(m.q))
		}
		return
	}
	roundTrip(m.t, pg[:])
	if _, err := DecodePage(pg[:], func(e Entry) bool {
		if e.Kind == Data {
			check(m.t, "page", Event{TS: e.TS, Data: e.Data}, m.q[0])
			m.q = m.q[1:]
			m.read++
		}
		return true
	}); err != nil {
		m.t.Fatal(err)
	}
}

func (m *model) iterate() {
	it := m.b.Iterate()
	for i := range m.q {
		e, ok := it.Next()
		if !ok {
			m.t.Fatalf("iterator ends at %d of %d", i, len(m.q))
		}
		check(m.t, "iterate", e, m.q[i])
	}
	if e, ok := it.Next(); ok {
		m.t.Fatalf("iterator: extra event ts %d", e.TS)
	}
}

func roundTrip(t *testing.T, pg []byte) {
	t.Helper()
	text, err := Text(pg)
	if err != nil {
		t.Fatal(err)
	}
	back, err := ParseText(text)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(back, pg[:len(back)]) {
		t.Fatalf("page and its text differ:\n%.2000s", text)
	}
}

// TestIterLive reads while the writer goes on, within one goroutine: every event once and in order, and when the writer
// overtakes the iterator, that is said.
func TestIterLive(t *testing.T) {
	b := New(4)
	it := b.Iterate()
	next, missed := uint64(1), 0
	for i := uint64(1); i <= 5000; i++ {
		d, _ := b.Reserve(i, 20)
		payload(d, i)
		b.Commit()
		if i%3 == 0 && i%1000 < 200 { // then it sleeps and is overtaken
			for {
				e, ok := it.Next()
				if !ok {
					break
				}
				if it.Missed() {
					missed++
				} else if e.TS != next {
					t.Fatalf("got %d, want %d", e.TS, next)
				}
				next = e.TS + 1
			}
		}
	}
	if missed != 4 {
		t.Errorf("missed %d times", missed)
	}
}

// TestHammer has the writer nest, overwrite and drop while other goroutines consume. Ids come out strictly rising, and
// what is lost is exactly what the reader is told: events read + lost + left = events written.
func TestHammer(t *testing.T) {
	for _, pages := range []int{2, 3, 16} {
		for _, overwrite := range []bool{true, false} {
			t.Run(fmt.Sprint(pages, overwrite), func(t *testing.T) { hammer(t, pages, overwrite) })
		}
	}
}

func hammer(t *testing.T, pages int, overwrite bool) {
	b := New(pages)
	b.SetOverwrite(overwrite)
	var done atomic.Bool
	var wg sync.WaitGroup
	var mu sync.Mutex // two consumers, so that both the swap and the sharing are tried
	var last, read, lost uint64
	eat := func(single bool) {
		mu.Lock()
		defer mu.Unlock()
		take := func(id, n uint64) {
			if id <= last {
				t.Errorf("id %d after %d", id, last)
			}
			last = id
			read++
			lost += n
		}
		if single {
			e, ok := b.Consume(nil)
			if !ok {
				runtime.Gosched()
				return
			}
			take(binary.LittleEndian.Uint64(e.Data), e.Lost)
			return
		}
		var pg [PageSize]byte
		gone, ok := b.ReadPage(&pg)
		if !ok {
			return
		}
		lost += gone
		n, err := DecodePage(pg[:], func(e Entry) bool {
			if e.Kind == Data {
				take(binary.LittleEndian.Uint64(e.Data), 0)
			}
			return true
		})
		if err != nil {
			t.Error(err)
		}
		if n != int64(gone) && (n != -1 || gone == 0) { // -1: a full page has no room for the count
			t.Errorf("page says %d lost, ring %d", n, gone)
		}
	}
	for i := range 2 {
		wg.Go(func() {
			for !done.Load() {
				eat(i == 0)
			}
		})
	}
	r := rand.New(rand.NewPCG(uint64(pages), 2))
	var id, written uint64
	var write func(depth int)
	write = func(depth int) {
		d, ok := b.Reserve(id, 32)
		if !ok {
			return
		}
		id++
		written++
		binary.LittleEndian.PutUint64(d, id)
		if depth < 3 && r.IntN(3) == 0 {
			for range r.IntN(3) {
				write(depth + 1)
			}
		}
		if r.IntN(10) == 0 {
			b.Discard()
			written--
		} else {
			b.Commit()
		}
	}
	n := 100_000
	if raceOn {
		n = 20_000
	}
	for i := range n {
		write(0)
		if i%64 == 0 {
			runtime.Gosched()
		}
	}
	done.Store(true)
	wg.Wait()
	for {
		e, ok := b.Consume(nil)
		if !ok {
			break
		}
		read++
		lost += e.Lost
	}
	s := b.Stats()
	if s.Entries != 0 || s.Written != written || s.Read != read || s.Overrun != lost || read+lost != written || s.Bytes != 0 {
		t.Errorf("written %d read %d lost %d: %+v", written, read, lost, s)
	}
	if overwrite && s.Dropped != 0 || !overwrite && s.Overrun != 0 {
		t.Errorf("wrong loss: %+v", s)
	}
}

func TestNoAlloc(t *testing.T) {
	b, ts := New(8), uint64(0)
	if n := testing.AllocsPerRun(5000, func() {
		ts += 100
		d, _ := b.Reserve(ts, 24)
		d[0] = 1
		b.Commit()
	}); n != 0 {
		t.Errorf("%v allocations per event", n)
	}
}

func FuzzDecodePage(f *testing.F) {
	b := New(4)
	for i := range 300 {
		b.Write(uint64(i)<<uint(i%30), make([]byte, i%200))
	}
	var pg [PageSize]byte
	for {
		if _, ok := b.ReadPage(&pg); !ok {
			break
		}
		f.Add(append([]byte(nil), pg[:]...))
	}
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, page []byte) {
		at := HeaderSize
		_, err := DecodePage(page, func(e Entry) bool {
			if e.Offset != at && e.Kind != Padding {
				t.Fatalf("item at %d, expected %d", e.Offset, at)
			}
			at = e.Offset + 4 + len(e.Data)
			if e.Kind != TimeExtend && e.Kind != TimeStamp && (e.Kind == Padding && e.Delta != 0 || e.Kind == Data && page[e.Offset]&31 == 0) {
				at += 4
			}
			return true
		})
		if err == nil {
			if _, err := Text(page); err != nil {
				t.Fatal(err)
			}
		}
	})
}

func FuzzParseText(f *testing.F) {
	f.Add("page 5 lost 3\ndata +1 01020304\nextend +200000000\npadding +1 00000000\npadding +0 \n")
	f.Fuzz(func(t *testing.T, text string) {
		pg, err := ParseText(text)
		if err != nil {
			return
		}
		if again, err := Text(pg); err == nil && len(pg) <= PageSize {
			if back, err := ParseText(again); err != nil || !bytes.Equal(back, pg) {
				t.Fatalf("%q -> %q", text, again)
			}
		}
	})
}

func BenchmarkReserveCommit(b *testing.B) {
	r, ts := New(Pages(1408)), uint64(0)
	b.ReportAllocs()
	for b.Loop() {
		ts += 100
		d, _ := r.Reserve(ts, 24)
		d[23] = 1
		r.Commit()
	}
}

func BenchmarkIterate(b *testing.B) {
	r := New(Pages(1408))
	for i := range 60000 {
		r.Write(uint64(i), make([]byte, 24))
	}
	n := 0
	for b.Loop() {
		it := r.Iterate()
		for n = 0; ; n++ {
			if _, ok := it.Next(); !ok {
				break
			}
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/event")
}

// TestHelp stops a consumer in the middle of its swap, where the hammer seldom catches it: it has moved head, and its spare
// is not in the slot yet. The writer that comes round to that slot puts it there; another slot is none of its business.
func TestHelp(t *testing.T) {
	b := New(3)
	for i := range uint64(400) { // pages 0 to 2 hold events
		b.Write(i, make([]byte, 24))
	}
	h, spare := b.headWord(), b.reader
	taken, other := b.slots[0].Load(), b.slots[1].Load()
	b.spare.Store(spare)
	b.claim.Store(h.seq())
	b.head.Store(uint64(h) + 2 | 1)
	if p := b.free(h.seq() + 4); p != other || b.slots[0].Load() != taken {
		t.Error("the writer helps with the wrong slot")
	}
	if p := b.free(h.seq() + 3); p != spare || b.slots[0].Load() != spare {
		t.Error("the writer takes the consumer's page")
	}
	b.slots[0].Store(spare) // the consumer goes on
	b.head.Store(uint64(h) + 2)
	if p := b.free(h.seq() + 3); p != spare {
		t.Error("the spare is gone")
	}

	// take itself: it claims before it moves head.
	b = New(3)
	for i := range uint64(400) {
		b.Write(i, make([]byte, 24))
	}
	taken, spare = b.slots[0].Load(), b.reader
	if p := b.take(b.headWord(), spare); p != taken || b.slots[0].Load() != spare || b.claim.Load() != 0 || b.headWord().pending() || b.headWord().seq() != 1 {
		t.Errorf("take: claim %d, head %x", b.claim.Load(), b.headWord())
	}
	if b.take(0, taken) != nil {
		t.Error("take with a head that has moved")
	}
}

// TestHammerSlow has the machine's goroutine do its slow operations (stats, iteration, resize, reset, clone) while another
// goroutine consumes: ids still rise, and the race detector is content.
func TestHammerSlow(t *testing.T) {
	b := New(4)
	var done atomic.Bool
	var wg sync.WaitGroup
	wg.Go(func() {
		last := uint64(0)
		var pg [PageSize]byte
		for !done.Load() {
			if e, ok := b.Consume(nil); ok {
				if id := binary.LittleEndian.Uint64(e.Data); id <= last {
					t.Errorf("id %d after %d", id, last)
				} else {
					last = id
				}
			} else {
				runtime.Gosched()
			}
			if last%7 == 0 {
				if _, ok := b.ReadPage(&pg); ok {
					DecodePage(pg[:], func(e Entry) bool {
						if e.Kind == Data {
							last = binary.LittleEndian.Uint64(e.Data)
						}
						return true
					})
				}
			}
		}
	})
	r := rand.New(rand.NewPCG(5, 5))
	var it Iter
	seen := uint64(0)
	for id := uint64(1); id < 30_000; id++ {
		var d [24]byte
		binary.LittleEndian.PutUint64(d[:], id)
		b.Write(id, d[:])
		switch r.IntN(200) {
		case 0:
			b.Reset()
			it, seen = b.Iterate(), 0
		case 1:
			b.Resize(2 + r.IntN(6))
			it, seen = b.Iterate(), 0
		case 2:
			b.Stats()
		case 3:
			it, seen = b.Iterate(), 0
		case 4:
			c := b.Clone()
			c.Write(id, d[:])
		case 5:
			runtime.Gosched()
		}
		if it.b == b && r.IntN(3) == 0 {
			if e, ok := it.Next(); ok {
				if id := binary.LittleEndian.Uint64(e.Data); id < seen {
					t.Fatalf("iterator: id %d after %d", id, seen)
				} else {
					seen = id
				}
			}
		}
	}
	done.Store(true)
	wg.Wait()
}

// TestReadPart: a reader of few bytes gets the events that fit, whole; a splice gets pages that nobody writes to any more.
func TestReadPart(t *testing.T) {
	b := New(Pages(16))
	put := func(n int) {
		for range n {
			d, ok := b.Reserve(100, 100)
			if !ok {
				t.Fatal("no room")
			}
			d[0] = 7
			b.Commit()
		}
	}
	var pg [PageSize]byte
	if _, ok := b.ReadPart(&pg, PageSize, false); ok || b.Whole() {
		t.Error("something in an empty ring")
	}
	put(10)
	if _, ok := b.ReadPart(&pg, PageSize, true); ok || b.Whole() {
		t.Error("the page that is written to was given out")
	}
	for _, c := range []struct{ size, events int }{{100, 0}, {HeaderSize + 104, 1}, {HeaderSize + 104*3 + 50, 3}, {PageSize, 6}} {
		_, ok := b.ReadPart(&pg, c.size, false)
		got := 0
		if ok {
			if _, err := DecodePage(pg[:], func(e Entry) bool {
				if len(e.Data) > 0 {
					got++
				}
				return true
			}); err != nil {
				t.Fatal(err)
			}
		}
		if got != c.events {
			t.Errorf("a read of %d bytes gets %d events, want %d", c.size, got, c.events)
		}
	}
	put(100) // more than two pages
	pages := 0
	for ; b.Whole(); pages++ {
		if _, ok := b.ReadPart(&pg, PageSize, true); !ok {
			t.Fatal("there is a whole page, and it was not read")
		}
	}
	if _, ok := b.ReadPart(&pg, PageSize, true); ok || pages != 2 {
		t.Errorf("%d pages, then %v", pages, ok)
	}
	if _, ok := b.ReadPart(&pg, PageSize, false); !ok {
		t.Error("the rest is gone")
	}
}
