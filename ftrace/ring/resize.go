package ring

// Reset empties the ring and zeroes its counters. The page where it starts again is the one before that of the last
// swap, so that the stale "oldest event ts" is Linux's (cpu_buffer->pages; see rb_reset_cpu). No event may be open.
func (b *Buffer) Reset() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.idle("reset")
	n := uint64(len(b.slots))
	seq := b.tailSeq + 1
	seq += (uint64(b.anchor) + n - seq%n) % n
	b.head.Store(seq << 1)
	b.commit.Store(seq)
	for i := range b.slots {
		b.slots[i].Load().reset(seq, 0)
	}
	b.reader.reset(0, 0)
	b.tail, b.tailSeq = b.slots[b.anchor].Load(), seq
	b.comPage = b.tail
	b.stamp, b.reserved, b.entries, b.overrun, b.comOver, b.dropped, b.bytes, b.lost = 0, 0, 0, 0, 0, 0, 0, 0
	b.readerSeq, b.read, b.readStamp, b.expect, b.readCount, b.readBytes = noSeq, 0, 0, 0, 0, 0
}

func (b *Buffer) idle(what string) {
	if b.depth != 0 {
		panic("BUG: ring: " + what + " with an open event")
	}
}

// Resize changes the number of pages and keeps the events, the newest ones when not all fit (the others count as
// overrun, as in rb_remove_pages). The reader's page stays. No event may be open.
func (b *Buffer) Resize(n int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.idle("resize")
	n = max(n, MinPages)
	old := uint64(len(b.slots))
	if uint64(n) == old {
		return
	}
	head := b.headWord().seq()
	for ; head <= b.tailSeq && b.tailSeq-head >= uint64(n); head++ {
		b.forget(b.slots[head%old].Load())
	}
	slots := make([]slot, n)
	fresh := newPages(n)
	for i := range slots {
		slots[i].Store(fresh[i])
	}
	for s := head; s <= b.tailSeq; s++ {
		slots[s%uint64(n)].Store(b.slots[s%old].Load())
	}
	b.slots = slots
	b.head.Store(head << 1)
	b.anchor = int(head % uint64(n))
}

// Clone copies a ring, for a fork of the machine. No event may be open and no consumer may be active.
func (b *Buffer) Clone() *Buffer {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.idle("clone")
	n := len(b.slots)
	pages := newPages(n + 1)
	c := &Buffer{
		tailSeq: b.tailSeq, stamp: b.stamp, discard: b.discard, reserved: b.reserved, entries: b.entries, overrun: b.overrun,
		comOver: b.comOver, dropped: b.dropped, bytes: b.bytes, lost: b.lost,
		readerSeq: b.readerSeq, read: b.read, readStamp: b.readStamp, expect: b.expect, readCount: b.readCount,
		readBytes: b.readBytes, anchor: b.anchor,
	}
	c.slots = make([]slot, n)
	c.head.Store(b.head.Load())
	c.commit.Store(b.commit.Load())
	dup := func(to, from *Page) *Page {
		to.write, to.entries, to.first, to.seq = from.write, from.entries, from.first, from.seq
		if from.write != 0 || from.time() != 0 { // leave the host's zero pages alone
			copy(to.data[:HeaderSize+from.write], from.data[:HeaderSize+from.write])
		}
		if from == b.tail {
			c.tail, c.comPage = to, to
		}
		return to
	}
	for i := range c.slots {
		c.slots[i].Store(dup(pages[i], b.slots[i].Load()))
	}
	c.reader = dup(pages[n], b.reader)
	return c
}
