package ring

import (
	"sync/atomic"
	"unsafe"
)

// slot is a place of the ring. Only two parties store to it: a consumer that has taken its page (the spare goes in) and
// the writer that helps it to finish.
type slot = atomic.Pointer[Page]

// shared is all that the writer and a consumer on another goroutine both touch.
type shared struct {
	slots  []slot
	head   atomic.Uint64        // headWord: the oldest page's number and the pending bit
	commit atomic.Uint64        // number of the page with the last committed event
	claim  atomic.Uint64        // while pending: the page number that was taken
	spare  atomic.Pointer[Page] // while pending: what belongs into its slot
}

// headWord packs the number of the oldest page and a bit that says "a consumer has taken page `claim`, but its slot may
// not show it yet". Both change in one compare-and-swap, so that writer and consumer never both own a page, and the
// writer never waits: it finishes the swap itself (free). Linux keeps this bit in the list pointers (RB_PAGE_HEAD).
type headWord uint64

func (h headWord) seq() uint64       { return uint64(h) >> 1 }
func (h headWord) pending() bool     { return h&1 != 0 }
func (s *shared) headWord() headWord { return headWord(s.head.Load()) }
func (s *shared) committed() uint64  { return s.commit.Load() }
func (s *shared) moveHead(h headWord) bool { // the writer drops the oldest page
	return s.head.CompareAndSwap(uint64(h), uint64(h)+2)
}

// take claims the oldest page for the consumer, which gives its spare for it; nil when the writer was faster. The
// consumer holds mu.
func (s *shared) take(h headWord, spare *Page) *Page {
	at := &s.slots[h.seq()%uint64(len(s.slots))]
	p := at.Load()
	s.spare.Store(spare)
	s.claim.Store(h.seq())
	if !s.head.CompareAndSwap(uint64(h), uint64(h)+2|1) {
		return nil
	}
	at.Store(spare)
	for w := s.head.Load(); !s.head.CompareAndSwap(w, w&^1); {
		w = s.head.Load()
	}
	return p
}

// free gives the page of a slot that holds no events. If the consumer that emptied it has not stored its spare yet, the
// writer does so; claim and spare belong to the head word that was read before and after them.
func (s *shared) free(seq uint64) *Page {
	at := &s.slots[seq%uint64(len(s.slots))]
	for {
		h := s.headWord()
		if !h.pending() {
			return at.Load()
		}
		claim, spare := s.claim.Load(), s.spare.Load()
		if s.headWord() != h {
			continue
		}
		if (seq-claim)%uint64(len(s.slots)) != 0 {
			return at.Load()
		}
		at.Store(spare)
		return spare
	}
}

// Page is one sub-buffer:
//
//	0  u64 time of the first event     8  u64 commit: bytes of committed events     16  events
//
// The fields below data belong to the writer while the page is in the ring.
type Page struct {
	data    *[PageSize]byte // 8-byte aligned: it is carved from []uint64
	write   int             // bytes reserved
	entries int             // data events reserved
	first   uint64          // index (since Reset) of its first event
	seq     uint64
}

// newPages makes n empty pages in one slab, which the garbage collector does not scan and the host zeroes on first use.
func newPages(n int) []*Page {
	slab, pages, out := make([]uint64, n*PageSize/8), make([]Page, n), make([]*Page, n)
	for i := range pages {
		pages[i].data = (*[PageSize]byte)(unsafe.Pointer(&slab[i*PageSize/8]))
		out[i] = &pages[i]
	}
	return out
}

func (p *Page) commitWord() *atomic.Uint64 { return (*atomic.Uint64)(unsafe.Pointer(&p.data[8])) }
func (p *Page) size() int                  { return int(p.commitWord().Load()) }

// reset makes p the empty page number seq. Its time stays the old one until the first event, as in Linux.
func (p *Page) reset(seq, first uint64) {
	p.write, p.entries, p.first, p.seq = 0, 0, first, seq
	p.commitWord().Store(0)
}

// publish makes all that is reserved readable: the pages up to the tail, each before the number that says so. The page
// that follows the commit page cannot be taken before the number moves, so its slot is stable. See
// rb_set_commit_to_write.
func (b *Buffer) publish() {
	p := b.comPage
	for p != b.tail {
		p.commitWord().Store(uint64(p.write))
		seq := p.seq + 1
		p = b.slots[seq%uint64(len(b.slots))].Load()
		b.commit.Store(seq)
	}
	if b.comPage != p {
		b.comPage = p
	}
	p.release(uint64(p.write))
}
