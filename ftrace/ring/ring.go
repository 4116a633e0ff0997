// Package ring is one CPU's trace ring in Linux's binary sub-buffer format: 4 KiB pages, each a 16-byte header and
// 4080 bytes of events that a stock trace-cmd can read. It knows no clock, no CPU and no kernel: times are passed in.
//
// Main types: [Buffer] (one per CPU), [Page] (one sub-buffer), [Iter] (reads without consuming), [Event] (what a reader
// gets), [Entry] (what the page decoder gets).
//
// The flow:
//
//  1. The writer calls [Buffer.Reserve], fills the payload in place and calls [Buffer.Commit] or [Buffer.Discard].
//     Between the two it may do the same again, as an interrupt does on hardware: reservations nest, and nothing
//     becomes visible before the outermost one is committed.
//  2. When an event does not fit, the tail moves to the next page; if that holds the oldest events, the page is
//     overwritten and counted as overrun, or, in discard mode, the event is counted as dropped.
//  3. A consumer owns one page that is outside the ring. When it has read it, it swaps it for the oldest page
//     ([Buffer.Consume], [Buffer.ReadPage]).
//
// The ring with N=4 slots. Pages have sequence numbers; the page with number s lives in slot s%N:
//
//	           head=7          commit=8  tail=9
//	slots:  [8]      [9]      [ ]      [7]          reader page: 6 (taken out of slot 2, its spare put there)
//
// Ownership: there is one writer, and it, [Iter], Resize, Reset and Clone belong to the machine's goroutine. Consumers
// may be other goroutines; mu serialises them with each other and with those slow operations, never with Reserve and
// Commit. Writer and consumer meet in four atomic words only (head, commit, each slot, each page's commit field), all in
// atomic.go: the oldest page goes to whoever moves head first.
package ring

import (
	"encoding/binary"
	"sync"
)

const (
	PageSize    = 4096
	HeaderSize  = 16                    // u64 timestamp, u64 commit; see events/header_page
	PayloadSize = PageSize - HeaderSize // BUF_PAGE_SIZE in kernel/trace/ring_buffer.c
	MaxData     = PayloadSize - 8       // the longest payload: BUF_MAX_DATA_SIZE
	MinPages    = 2

	evHeader  = 4       // type_len:5, time_delta:27
	maxSmall  = 28 * 4  // the longest payload whose length fits type_len
	extendLen = 8       // a TIME_EXTEND or TIME_STAMP event
	deltaBits = 27      // bits of time_delta
	maxDelta  = 1 << 27 // the first delta that needs a TIME_EXTEND
	maxNest   = 5       // RB_CTX_MAX: normal, softirq, irq, NMI and one transition
)

// The values of type_len that are not lengths; see events/header_event.
const (
	typePadding   = 29
	typeExtend    = 30
	typeTimeStamp = 31
)

// Pages gives the number of pages of a ring that must hold kb KiB, by Linux's rounding: whole 4080-byte payloads, at
// least two (see ring_buffer_resize).
func Pages(kb uint64) int {
	return max(MinPages, int((kb*1024+PayloadSize-1)/PayloadSize))
}

// KB is the size that buffer_size_kb shows for a ring of n pages.
func KB(n int) uint64 { return uint64(n) * PayloadSize / 1024 }

// Event is one record as a reader sees it.
type Event struct {
	TS   uint64
	Data []byte
	Lost uint64 // events overwritten just before this one (consuming reads only)
}

// open is a reservation that is not committed yet.
type open struct {
	page  *Page
	off   int    // where its first header is, the TIME_EXTEND's if it has one
	size  int    // bytes taken, with the extend
	ext   int    // 8 or 0
	stamp uint64 // the writer's stamp before it
}

// Buffer is the ring of one CPU.
type Buffer struct {
	shared // what a consumer on another goroutine may touch; see atomic.go

	// The writer's.
	tail     *Page
	tailSeq  uint64
	comPage  *Page
	stamp    uint64 // time of the last reserved event
	depth    int
	nest     [maxNest]open
	discard  bool   // overwrite=0: drop new events when full
	reserved uint64 // events reserved and not discarded since Reset
	entries  uint64 // events committed
	overrun  uint64
	comOver  uint64
	dropped  uint64
	bytes    uint64 // reserved bytes, padding included
	lost     uint64 // bytes of overwritten pages
	onLost   func(e Event)

	// The consumer's, under mu.
	mu        sync.Mutex
	reader    *Page
	readerSeq uint64 // noSeq: the reader page has never been in the ring
	read      int    // bytes of the reader page that are consumed
	readStamp uint64
	expect    uint64 // index of the next event if none is lost
	readCount uint64
	readBytes uint64
	anchor    int // the slot where Reset starts; see Reset
}

const noSeq = ^uint64(0)

// New makes a ring of n pages (at least two) plus the reader's, in overwrite mode.
func New(n int) *Buffer {
	b := &Buffer{}
	b.init(max(n, MinPages))
	return b
}

func (b *Buffer) init(n int) {
	pages := newPages(n + 1)
	b.slots = make([]slot, n)
	for i := range b.slots {
		b.slots[i].Store(pages[i])
	}
	b.reader, b.readerSeq = pages[n], noSeq
	b.tail, b.comPage = pages[0], pages[0]
}

// Len is the number of pages, without the reader's.
func (b *Buffer) Len() int { return len(b.slots) }

// SetOverwrite chooses what a full ring loses: the oldest events (true) or the newest.
func (b *Buffer) SetOverwrite(on bool) { b.discard = !on }

// eventLen is the room that an event of n payload bytes takes; see rb_calculate_event_length. An event of exactly 8
// bytes is made 12, so that a discarded one can always become a TIME_EXTEND's size of padding.
func eventLen(n int) int {
	if n == 0 {
		n = 1
	}
	if n > maxSmall {
		n += 4
	}
	n = (n + evHeader + 3) &^ 3
	if n == extendLen {
		n += 4
	}
	return n
}

// Reserve opens an event of n payload bytes at time ts and returns the payload to fill. It fails when the event is too
// long, when the ring is full in discard mode (dropped), when nested events have filled the whole ring (commit overrun)
// and when events nest deeper than Linux's five contexts. The payload may hold old bytes. See rb_reserve_next_event.
//
// Here is what most events are: short, behind another one on their page, with a delta that fits their header.
func (b *Buffer) Reserve(ts uint64, n int) ([]byte, bool) {
	p, size, depth := b.tail, eventLen(n), uint(b.depth)
	w, delta := uint(p.write), ts-b.stamp
	if depth >= maxNest || n > maxSmall || delta >= maxDelta || w-1 >= PayloadSize-uint(size) {
		return b.reserve(ts, n)
	}
	e := &b.nest[depth] // filled in place: as a whole it would be made aside and copied
	e.off, e.size, e.ext, e.stamp = int(w), size, 0, b.stamp
	if e.page != p {
		e.page = p
	}
	b.depth++
	b.stamp = ts
	p.write = int(w) + size
	p.entries++
	b.reserved++
	b.bytes += uint64(size)
	d := p.data[HeaderSize+w:]
	binary.LittleEndian.PutUint32(d, uint32(delta<<5)|uint32(size-evHeader)/4)
	return d[evHeader : evHeader+n : evHeader+n], true
}

// reserve is Reserve for all events.
func (b *Buffer) reserve(ts uint64, n int) ([]byte, bool) {
	if n > MaxData || b.depth == maxNest {
		return nil, false
	}
	if ts < b.stamp {
		ts = b.stamp // a clock that steps back is held, as Linux's warning path does in effect
	}
	p, size, ext := b.tail, eventLen(n), 0
	w, delta := p.write, ts-b.stamp
	if w == 0 {
		delta = 0 // the first event's time is the page's
	} else if delta >= maxDelta {
		ext = extendLen
	}
	if w+size+ext > PayloadSize {
		if !b.moveTail(w) {
			return nil, false
		}
		p, w, delta, ext = b.tail, 0, 0, 0
	}
	b.nest[b.depth] = open{p, w, size + ext, ext, b.stamp}
	b.depth++
	b.stamp = ts
	p.write = w + size + ext
	p.entries++
	b.reserved++
	b.bytes += uint64(size + ext)
	if w == 0 {
		p.setTime(ts)
	}
	if ext != 0 {
		p.put32(w, uint32(delta<<5)|typeExtend)
		p.put32(w+4, uint32(delta>>deltaBits))
		w, delta = w+ext, 0
	}
	size -= evHeader
	if size > maxSmall {
		p.put32(w, uint32(delta<<5))
		p.put32(w+evHeader, uint32(size))
		w += 4
	} else {
		p.put32(w, uint32(delta<<5)|uint32(size/4))
	}
	w += HeaderSize + evHeader
	return p.data[w : w+n : w+n], true
}

// Commit closes the last reserved event. The outermost commit publishes all of them.
func (b *Buffer) Commit() {
	p := b.comPage
	if b.depth != 1 || p != b.tail {
		b.commitMore()
		return
	}
	b.depth = 0
	b.entries++
	p.release(uint64(p.write))
}

// commitMore is Commit of a nested event, or of more pages than one.
func (b *Buffer) commitMore() {
	if b.depth == 0 {
		panic("BUG: ring: commit without reserve")
	}
	b.depth--
	b.entries++
	if b.depth == 0 {
		b.publish()
	}
}

// Put3 is Reserve, a payload of three words, and Commit in one, for the common case that nothing is open and the event fits behind the
// last one as it is: half of their time. False: it is another case, and nothing has been done.
func (b *Buffer) Put3(ts, x, y, z uint64) bool {
	const size = evHeader + 24
	p := b.tail
	w, delta := p.write, ts-b.stamp
	if uint(w-1) > PayloadSize-size-1 || delta >= maxDelta || b.depth != 0 || b.comPage != p {
		return false
	}
	b.stamp = ts
	b.reserved++
	b.entries++
	b.bytes += size
	p.entries++
	p.write = w + size
	d := p.data[HeaderSize+w:][:size]
	binary.LittleEndian.PutUint32(d, uint32(delta<<5)|24/4)
	binary.LittleEndian.PutUint64(d[4:], x)
	binary.LittleEndian.PutUint64(d[12:], y)
	binary.LittleEndian.PutUint64(d[20:], z)
	p.release(uint64(w + size))
	return true
}

// Discard takes the last reserved event back. When nested events follow it, it becomes padding, with at least 1 ns of
// delta, since a padding of delta 0 would mean the end of the page (see rb_event_discard): two events of the same time,
// the second discarded, make the rest of the page 1 ns late.
func (b *Buffer) Discard() {
	if b.depth == 0 {
		panic("BUG: ring: discard without reserve")
	}
	b.depth--
	e := &b.nest[b.depth]
	e.page.entries--
	b.reserved--
	if e.page == b.tail && e.page.write == e.off+e.size {
		e.page.write = e.off
		b.stamp = e.stamp
		b.bytes -= uint64(e.size)
	} else {
		at := e.off + e.ext
		h := e.page.get32(at)&^31 | typePadding
		if h>>5 == 0 { // borrow the 1 ns from what comes before: its extend or the page's time, else what follows is late
			h |= 1 << 5
			switch {
			case e.ext != 0:
				d := (uint64(e.page.get32(e.off)>>5) | uint64(e.page.get32(e.off+4))<<deltaBits) - 1
				e.page.put32(e.off, uint32(d<<5)|typeExtend)
				e.page.put32(e.off+4, uint32(d>>deltaBits))
			case e.off == 0:
				e.page.setTime(e.page.time() - 1)
			case e.page == b.tail:
				b.stamp++
			}
		}
		e.page.put32(at, h)
		e.page.put32(at+evHeader, uint32(e.size-e.ext-evHeader))
		for s := e.page.seq; s != b.tailSeq; { // later pages are not published yet
			s++
			b.slots[s%uint64(len(b.slots))].Load().first--
		}
	}
	if b.depth == 0 {
		b.publish()
	}
}

// Write appends one event with payload p.
func (b *Buffer) Write(ts uint64, p []byte) bool {
	d, ok := b.Reserve(ts, len(p))
	if ok {
		copy(d, p)
		b.Commit()
	}
	return ok
}

// moveTail closes the tail page at byte w and moves on to the next page. See rb_move_tail.
func (b *Buffer) moveTail(w int) bool {
	next, n := b.tailSeq+1, uint64(len(b.slots))
	var p *Page
	for p == nil {
		head := b.headWord()
		if h := head.seq(); next == h+n {
			// The next slot holds the oldest page. It may not go while an open event keeps the commit page there, or
			// on the reader page behind it.
			if c := b.committed(); c <= h {
				b.comOver++
				break
			}
			if b.discard {
				b.dropped++
				break
			}
			old := b.slots[next%n].Load()
			if !b.moveHead(head) {
				continue // a consumer took it just now
			}
			b.forget(old)
			p = old
		} else {
			p = b.free(next)
		}
	}
	b.close(w)
	if p != nil {
		p.reset(next, b.reserved)
		b.tail, b.tailSeq = p, next
	}
	if b.depth == 0 {
		b.publish()
	}
	return p != nil
}

// forget counts the events of a page that is overwritten, and shows each to the hook.
func (b *Buffer) forget(p *Page) {
	b.overrun += uint64(p.entries)
	b.lost += uint64(p.size())
	if b.onLost == nil {
		return
	}
	ts, size := p.time(), p.size()
	for at := 0; at < size; {
		s := p.step(at)
		ts, at = s.advance(ts), s.next
		if s.kind <= 28 {
			b.onLost(Event{TS: ts, Data: s.data})
		}
	}
}

// OnLost has fn called for each event that is overwritten; nil ends that. A clone has no hook.
func (b *Buffer) OnLost(fn func(e Event)) { b.onLost = fn }

// close fills the tail page from byte w with padding, when there is room for an event; see rb_reset_tail.
func (b *Buffer) close(w int) {
	p, room := b.tail, PayloadSize-w
	switch {
	case room >= 8:
		p.put32(w, 1<<5|typePadding)
		p.put32(w+evHeader, uint32(room-evHeader))
		p.write = PayloadSize
		b.bytes += uint64(room)
	case room > 0:
		p.put32(w, typePadding)
	}
}

// Stats are the counters of a ring, as in per_cpu/cpuN/stats.
type Stats struct {
	Entries       uint64 // events that can still be read
	Overrun       uint64 // events overwritten
	CommitOverrun uint64
	Bytes         uint64 // bytes that can still be read
	Oldest        uint64 // time stamp of the oldest page; stale when the ring is empty, as Linux's
	Dropped       uint64
	Read          uint64
	Written       uint64 // events committed since Reset
}

// Stats gives the counters. Machine's goroutine.
func (b *Buffer) Stats() Stats {
	b.mu.Lock()
	defer b.mu.Unlock()
	oldest := b.reader
	if b.tail != b.reader {
		oldest = b.slots[b.headWord().seq()%uint64(len(b.slots))].Load()
	}
	return Stats{
		Entries: b.entries - b.overrun - b.readCount, Overrun: b.overrun, CommitOverrun: b.comOver,
		Bytes: b.bytes - b.lost - b.readBytes, Oldest: oldest.time(), Dropped: b.dropped, Read: b.readCount, Written: b.entries,
	}
}
