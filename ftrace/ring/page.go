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
	if len(page) < HeaderSize {
		return 0, badPage(len(page), "no header")
	}
	le := binary.LittleEndian
	ts, commit := le.Uint64(page), le.Uint64(page[8:])
	end := HeaderSize + int(commit&(1<<20-1))
	switch {
	case end > len(page):
		return 0, badPage(8, "commit %d in a page of %d bytes", end-HeaderSize, len(page))
	case commit&missedEvents == 0:
	case commit&missedStored == 0:
		missed = -1
	case end+8 > len(page):
		return 0, badPage(8, "no room for the count of lost events")
	default:
		missed = int64(le.Uint64(page[end:]))
	}
	for at := HeaderSize; at < end; {
		e, next, err := decodeEntry(page[:end], at)
		if err != nil {
			return missed, err
		}
		if e.Kind == TimeStamp {
			ts = ts&^(1<<59-1) | e.Delta
		} else {
			ts += e.Delta
		}
		if e.TS = ts; !f(e) {
			break
		}
		at = next
	}
	return missed, nil
}

func badPage(at int, format string, args ...any) error {
	return fmt.Errorf("%w: at %d: %s", ErrPage, at, fmt.Sprintf(format, args...))
}

// decodeEntry reads the item at an offset of a page that is cut behind its last event.
func decodeEntry(page []byte, at int) (e Entry, next int, err error) {
	le, left := binary.LittleEndian, len(page)-at
	if left < 4 {
		return e, 0, badPage(at, "%d trailing bytes", left)
	}
	h := le.Uint32(page[at:])
	kind, body, n := h&31, at+4, 0
	e = Entry{Offset: at, Delta: uint64(h >> 5)}
	switch kind {
	case typePadding:
		e.Kind = Padding
		if e.Delta == 0 { // the end of the page
			e.Data = page[body:]
			return e, len(page), nil
		}
		fallthrough
	case 0, typeExtend, typeTimeStamp:
		if left < 8 {
			return e, 0, badPage(at, "no second word")
		}
		n = int(int32(le.Uint32(page[body:])))
	}
	switch kind {
	case 0, typePadding:
		body, n = body+4, n-4 // the length counts itself
		if n < 0 || n&3 != 0 {
			return e, 0, badPage(at, "length %d", n)
		}
	case typeExtend, typeTimeStamp:
		e.Delta |= uint64(uint32(n)) << 27
		e.Kind, n = TimeExtend, 4
		if kind == typeTimeStamp {
			e.Kind = TimeStamp
		}
	default:
		n = int(kind) * 4
	}
	if n > len(page)-body {
		return e, 0, badPage(at, "event of %d bytes, %d left", n, len(page)-body)
	}
	e.Data = page[body : body+n]
	return e, body + n, nil
}
