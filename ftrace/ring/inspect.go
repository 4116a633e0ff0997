package ring

// State is a ring as it stands, for those who look inside: nothing is consumed and nothing shared.
//
//	slots:  [8]   [9]   [ ]   [7]      reader: page 6, Read bytes of it consumed
//	      commit  tail        head
type State struct {
	Head, Commit, Tail uint64 // numbers of pages
	Read               int    // bytes of the reader's page that are consumed
	Overwrite          bool
	Stats              Stats
	Pages              []PageState // the reader's first, then the slots in order
}

// PageState is one sub-buffer.
type PageState struct {
	Slot   int    // -1: the reader's, outside the ring
	Seq    uint64 // the page's number since the start; it lives in slot Seq%N
	Used   bool   // it holds, or held, events of this pass; false: it waits for its turn
	Roles  []string
	Time   uint64 // of its first event
	Commit int    // bytes of committed events
	Write  int    // bytes reserved
	Events int
	First  uint64 // index of its first event since the start
	Data   []byte // the whole page, as trace_pipe_raw has it
}

// Inspect describes the ring. Machine's goroutine.
func (b *Buffer) Inspect() State {
	stats := b.Stats()
	b.mu.Lock()
	defer b.mu.Unlock()
	s := State{Head: b.headWord().seq(), Commit: b.committed(), Tail: b.tailSeq, Read: b.read, Overwrite: !b.discard, Stats: stats}
	reader := describe(-1, b.reader)
	reader.Used = b.readerSeq != noSeq
	reader.Roles = append(reader.Roles, "reader")
	s.Pages = append(s.Pages, reader)
	for i := range b.slots {
		p := describe(i, b.slots[i].Load())
		p.Used = p.Seq%uint64(len(b.slots)) == uint64(i) && p.Seq >= s.Head && p.Seq <= s.Tail
		if p.Used {
			for _, r := range []struct {
				seq  uint64
				name string
			}{{s.Head, "head"}, {s.Commit, "commit"}, {s.Tail, "tail"}} {
				if p.Seq == r.seq {
					p.Roles = append(p.Roles, r.name)
				}
			}
		}
		s.Pages = append(s.Pages, p)
	}
	return s
}

func describe(slot int, p *Page) PageState {
	return PageState{Slot: slot, Seq: p.seq, Time: p.time(), Commit: p.size(), Write: p.write, Events: p.entries, First: p.first,
		Data: append([]byte(nil), p.data[:]...)}
}

// Dirty is the number of pages that are full and not read yet: ring_buffer_nr_dirty_pages. The writer's own is none of them.
func (b *Buffer) Dirty() uint64 {
	if h := b.headWord().seq(); h < b.tailSeq {
		return b.tailSeq - h
	}
	return 0
}
