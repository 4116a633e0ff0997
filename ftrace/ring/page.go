package ring

import (
	"encoding/binary"
	"errors"
	"fmt"
)

func (p *Page) put32(at int, v uint32) { binary.LittleEndian.PutUint32(p.data[HeaderSize+at:], v) }
func (p *Page) get32(at int) uint32    { return binary.LittleEndian.Uint32(p.data[HeaderSize+at:]) }
func (p *Page) time() uint64           { return binary.LittleEndian.Uint64(p.data[:]) }
func (p *Page) setTime(ts uint64)      { binary.LittleEndian.PutUint64(p.data[:], ts) }

// step is one event of a page as the readers inside the ring walk it: kind is its type_len, next the offset behind it.
// It trusts the page; DecodePage does not.
type step struct {
	kind  uint32
	delta uint64
	data  []byte
	next  int
}

func (p *Page) step(at int) step {
	h := p.get32(at)
	s := step{kind: h & 31, delta: uint64(h >> 5)}
	body, n := at+evHeader, 0
	switch s.kind {
	case 0:
		n = int(p.get32(body)) - 4
		body += 4
	case typePadding:
		n = int(p.get32(body))
	case typeExtend, typeTimeStamp:
		s.delta |= uint64(p.get32(body)) << deltaBits
		n = 4
	default:
		n = int(s.kind) * 4
	}
	s.next = body + n
	s.data = p.data[HeaderSize+body : HeaderSize+s.next : HeaderSize+s.next]
	return s
}

// advance gives the time after an event, given the time before it. Padding counts too: a discarded event keeps its
// delta, or the next one would be early. (6.1's own reader ignores it.)
func (s *step) advance(ts uint64) uint64 {
	if s.kind == typeTimeStamp {
		return ts&^(1<<59-1) | s.delta
	}
	return ts + s.delta
}

// Entry is one item of a page, for DecodePage.
type Entry struct {
	Offset int // from the start of the page
	Kind   Kind
	TS     uint64
	Delta  uint64
	Data   []byte // the payload of Data; what Padding skips
}

// Kind says what an Entry is.
type Kind int

const (
	Data Kind = iota
	Padding
	TimeExtend
	TimeStamp
)

func (k Kind) String() string { return [...]string{"data", "padding", "extend", "stamp"}[k] }

// ErrPage is wrapped by every error of DecodePage.
var ErrPage = errors.New("bad ring page")

// The flags beside the length in a page's commit word, in pages that leave the ring; see ring_buffer_read_page.
const (
	missedEvents = 1 << 31
	missedStored = 1 << 30
)

// DecodePage walks a page in the format of events/header_page and header_event, from any source, and calls f for each
// item until f returns false. missed is the number of events lost before the page: -1 when the page does not say it.
// It shares no code with the ring's own readers, which tests hold against it.
func DecodePage(page []byte, f func(Entry) bool) (missed int64, err error) {
	fail := func(at int, format string, args ...any) error {
		return fmt.Errorf("%w: at %d: %s", ErrPage, at, fmt.Sprintf(format, args...))
	}
	if len(page) < HeaderSize {
		return 0, fail(len(page), "no header")
	}
	le := binary.LittleEndian
	ts, commit := le.Uint64(page), le.Uint64(page[8:])
	end := HeaderSize + int(commit&(1<<20-1))
	switch {
	case end > len(page):
		return 0, fail(8, "commit %d in a page of %d bytes", end-HeaderSize, len(page))
	case commit&missedEvents == 0:
	case commit&missedStored == 0:
		missed = -1
	case end+8 > len(page):
		return 0, fail(8, "no room for the count of lost events")
	default:
		missed = int64(le.Uint64(page[end:]))
	}
	for at := HeaderSize; at < end; {
		if end-at < 4 {
			return missed, fail(at, "%d trailing bytes", end-at)
		}
		h := le.Uint32(page[at:])
		e := Entry{Offset: at, Delta: uint64(h >> 5)}
		kind, body, n := h&31, at+4, 0
		word := func() (int, bool) {
			if end-body < 4 {
				return 0, false
			}
			return int(int32(le.Uint32(page[body:]))), true
		}
		switch {
		case kind == 0 || kind == typePadding:
			if kind == typePadding && e.Delta == 0 { // the end of the page
				e.Kind, e.Data = Padding, page[at+4:end]
				f(e)
				return missed, nil
			}
			var ok bool
			if n, ok = word(); !ok {
				return missed, fail(at, "no length word")
			}
			if kind == typePadding {
				e.Kind = Padding
			}
			body, n = body+4, n-4 // it counts itself
			if n < 0 || n&3 != 0 {
				return missed, fail(at, "length %d", n)
			}
		case kind == typeExtend || kind == typeTimeStamp:
			hi, ok := word()
			if !ok {
				return missed, fail(at, "no upper delta")
			}
			e.Delta |= uint64(uint32(hi)) << 27
			e.Kind, n = TimeExtend, 4
			if kind == typeTimeStamp {
				e.Kind = TimeStamp
			}
		default:
			n = int(kind) * 4
		}
		if n > end-body {
			return missed, fail(at, "event of %d bytes, %d left", n, end-body)
		}
		if e.Kind == TimeStamp {
			ts = ts&^(1<<59-1) | e.Delta
		} else {
			ts += e.Delta
		}
		e.TS, e.Data = ts, page[body:body+n]
		if !f(e) {
			return missed, nil
		}
		at = body + n
	}
	return missed, nil
}
