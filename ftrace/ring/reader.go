package ring

import "encoding/binary"

// swap gives the consumer a page with something to read: its own, or the oldest of the ring in exchange for it. It says
// how many events were lost between what was read last and that page. mu is held. See rb_get_reader_page.
func (b *Buffer) swap() bool {
	for {
		// commit first: once it is past the page, the page's size is final.
		c := b.committed()
		if b.read < b.reader.size() {
			return true
		}
		h := b.headWord()
		if h.seq() > c { // the commit page is the reader's
			return false
		}
		if h.seq() == c && b.slots[c%uint64(len(b.slots))].Load().size() == 0 {
			return false
		}
		p := b.take(h, b.reader)
		if p == nil {
			continue
		}
		b.reader, b.readerSeq, b.read = p, h.seq(), 0
		b.anchor = int((h.seq() + uint64(len(b.slots)) - 1) % uint64(len(b.slots)))
	}
}

// next finds the next data event for the consumer and leaves read at it. mu is held.
func (b *Buffer) next() (s step, ts, lost uint64, ok bool) {
	for b.swap() {
		if b.read == 0 {
			b.readStamp = b.reader.time()
		}
		for size := b.reader.size(); b.read < size; {
			s = b.reader.step(b.read)
			ts = s.advance(b.readStamp)
			if s.kind <= 28 {
				return s, ts, b.gap(), true
			}
			b.skip(&s, ts)
		}
	}
	return s, 0, 0, false
}

// gap is the number of events lost before the next one. The page knows the index of its first event, so this is exact
// whatever the writer does meanwhile.
func (b *Buffer) gap() uint64 {
	if b.expect < b.reader.first {
		return b.reader.first - b.expect
	}
	return 0
}

func (b *Buffer) skip(s *step, ts uint64) {
	b.readBytes += uint64(s.next - b.read)
	b.read, b.readStamp = s.next, ts
}

// Peek gives the time of the next event that Consume would return, and how many were lost before it.
func (b *Buffer) Peek() (ts, lost uint64, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	_, ts, lost, ok = b.next()
	return
}

// PeekEvent is Peek with the event's data, appended to buf[:0].
func (b *Buffer) PeekEvent(buf []byte) (Event, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	s, ts, lost, ok := b.next()
	if !ok {
		return Event{}, false
	}
	return Event{ts, append(buf[:0], s.data...), lost}, true
}

// Consume takes the oldest event out of the ring; its data is appended to buf[:0]. Any goroutine.
func (b *Buffer) Consume(buf []byte) (Event, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	s, ts, lost, ok := b.next()
	if !ok {
		return Event{}, false
	}
	b.took(&s, ts, lost)
	return Event{ts, append(buf[:0], s.data...), lost}, true
}

func (b *Buffer) took(s *step, ts, lost uint64) {
	b.expect += lost + 1
	b.readCount++
	b.skip(s, ts)
}

// ReadPage takes what is left of the oldest page out of the ring, as a page in the format of trace_pipe_raw: when events
// were lost, the commit word says so and their number follows the data if there is room; it is returned too. Any goroutine.
// See ring_buffer_read_page.
func (b *Buffer) ReadPage(dst *[PageSize]byte) (lost uint64, ok bool) {
	return b.ReadPart(dst, PageSize, false)
}

// ReadPart is ReadPage for a reader that takes n bytes: only the events that fit into so many, header included; none: not ok. With
// whole, the page that is written to is not given out.
func (b *Buffer) ReadPart(dst *[PageSize]byte, n int, whole bool) (lost uint64, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	c := b.committed() // before the page's size: once it is past the page, that is final
	s, first, lost, ok := b.next()
	if !ok || whole && b.readerSeq >= c {
		return 0, false
	}
	// A page that is read from its middle begins with a data event whose delta is in the page's time.
	size := b.fitting(b.reader.size(), n-HeaderSize) // once: the writer may be adding to this page
	if size == b.read {
		return 0, false
	}
	n = copy(dst[HeaderSize:], b.reader.data[HeaderSize+b.read:HeaderSize+size])
	binary.LittleEndian.PutUint64(dst[:], first)
	binary.LittleEndian.PutUint32(dst[HeaderSize:], binary.LittleEndian.Uint32(dst[HeaderSize:])&31)
	commit := uint64(n)
	if lost > 0 {
		commit |= missedEvents
		if PayloadSize-n >= 8 {
			commit |= missedStored
			binary.LittleEndian.PutUint64(dst[HeaderSize+n:], lost)
			n += 8
		}
	}
	binary.LittleEndian.PutUint64(dst[8:], commit)
	clear(dst[HeaderSize+n:])
	b.took(&s, first, lost)
	for b.read < size {
		s = b.reader.step(b.read)
		ts := s.advance(b.readStamp)
		if s.kind <= 28 {
			b.took(&s, ts, 0)
		} else {
			b.skip(&s, ts)
		}
	}
	return lost, true
}

// fitting is where the reader's page must be cut so that at most n bytes from b.read on are taken, behind a data event. mu is held.
func (b *Buffer) fitting(size, n int) int {
	if size-b.read <= n {
		return size
	}
	end := b.read
	for at := b.read; at < size; {
		s := b.reader.step(at)
		if s.next-b.read > n {
			break
		}
		if at = s.next; s.kind <= 28 {
			end = at
		}
	}
	return end
}

// Whole says whether a page can be read that is not written to any more. Any goroutine.
func (b *Buffer) Whole() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	c := b.committed()
	return b.read < b.reader.size() && b.readerSeq < c || b.headWord().seq() < c
}

// Iter reads a ring without consuming: first the rest of the reader's page, then the ring up to the last committed
// event. It may be used while events are added; when they overtake it, or a consumer moves the reader's page, it goes
// on at the oldest event. Machine's goroutine.
type Iter struct {
	b      *Buffer
	seq    uint64
	at     int
	ts     uint64
	missed bool
	prev   struct {
		seq uint64
		at  int
		ts  uint64
	}
}

// Iterate starts at the oldest event.
func (b *Buffer) Iterate() Iter {
	it := Iter{b: b}
	b.mu.Lock()
	defer b.mu.Unlock()
	it.reset()
	return it
}

func (it *Iter) reset() {
	b := it.b
	if b.readerSeq != noSeq && (b.read < b.reader.size() || b.readerSeq == b.committed()) {
		it.seq, it.at, it.ts = b.readerSeq, b.read, b.readStamp
		return
	}
	it.seq, it.at = b.headWord().seq(), 0
}

// Next gives the next event; its Data is valid until the ring is written. It may be called again after it returned
// false: new events then follow.
func (it *Iter) Next() (Event, bool) {
	b := it.b
	b.mu.Lock()
	defer b.mu.Unlock()
	it.prev.seq, it.prev.at, it.prev.ts = it.seq, it.at, it.ts
	for {
		h, c := b.headWord().seq(), b.committed()
		var p *Page
		switch {
		case it.seq == b.readerSeq:
			p = b.reader
			if it.at < b.read {
				it.at, it.ts = b.read, b.readStamp
			}
		case it.seq > c:
			return Event{}, false // the oldest page is not there yet
		case it.seq < h:
			it.missed = b.readerSeq == noSeq || b.readerSeq < it.seq // else a consumer took it
			it.reset()
			continue
		default:
			p = b.slots[it.seq%uint64(len(b.slots))].Load()
		}
		if it.at == 0 {
			it.ts = p.time()
		}
		for size := p.size(); it.at < size; {
			s := p.step(it.at)
			it.ts = s.advance(it.ts)
			it.at = s.next
			if s.kind <= 28 {
				return Event{TS: it.ts, Data: s.data}, true
			}
		}
		if it.seq == c {
			return Event{}, false
		}
		it.seq, it.at = it.seq+1, 0
		if b.readerSeq != noSeq && it.seq == b.readerSeq+1 && h > it.seq {
			it.seq = h // between the reader's page and the ring: overwritten, not missed by this iterator
		}
	}
}

// Back un-reads the event that Next gave last: Next gives it again, from the ring as it then is. Only once per Next.
func (it *Iter) Back() { it.seq, it.at, it.ts = it.prev.seq, it.prev.at, it.prev.ts }

// On is the same place in a clone of the ring.
func (it Iter) On(b *Buffer) Iter {
	it.b = b
	return it
}

// Missed reports, once, whether events were overwritten under the iterator.
func (it *Iter) Missed() bool {
	m := it.missed
	it.missed = false
	return m
}
