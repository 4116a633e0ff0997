package ftrace

import (
	"kscope/ftrace/ring"
	"kscope/kernel"
)

// rawReader is an open trace_pipe_raw: pages leave the ring whole and are read out in pieces (tracing_buffers_read).
type rawReader struct {
	page [ring.PageSize]byte
	snap bool
	read int // of page; at the end when it is used up

	fromEmpty bool   // a splice waits since the ring was empty
	stops     uint64 // tracing had been switched off so often when it began to wait
}

func (r *rawReader) fork(*Tracer) any {
	n := *r
	return &n
}

func openRaw(h *Handle) error {
	h.state = &rawReader{read: ring.PageSize}
	h.T.pipes++
	return nil
}

// readRaw is tracing_buffers_read: a read of less than a page gets the events that fit into so much, and the rest of the page's bytes
// with the next ones.
func readRaw(h *Handle, buf []byte) (int, error) {
	r := h.state.(*rawReader)
	if r.read == ring.PageSize {
		from := h.T.ringOf(h.CPU, r.snap)
		if from == nil {
			return 0, nil
		}
		if _, ok := from.ReadPart(&r.page, len(buf), false); !ok {
			if r.snap || !h.T.empty(h.CPU, false) { // there is something: too long for buf
				return 0, nil
			}
			if h.Flags&oNonblock == 0 {
				h.T.wait.forNext()
			}
			return 0, kernel.EAGAIN
		}
		r.read = 0
	}
	n := copy(buf, r.page[r.read:])
	r.read += n
	return n, nil
}

// spliceRaw is tracing_buffers_splice_read for one page: pages that are written to stay. It has slept until buffer_percent was reached;
// if tracing was switched off meanwhile, it ends with what it has.
func spliceRaw(h *Handle, page []byte, n uint64, waited bool) (int, error) {
	r, from := h.state.(*rawReader), h.T.ringOf(h.CPU, h.state.(*rawReader).snap)
	if waited && !h.T.on || from == nil {
		return 0, nil
	}
	if n < ring.PageSize {
		return 0, kernel.EINVAL
	}
	if _, ok := from.ReadPart((*[ring.PageSize]byte)(page), ring.PageSize, true); ok {
		return ring.PageSize, nil
	}
	r.fromEmpty, r.stops = h.T.empty(h.CPU, r.snap), h.T.offs
	return 0, kernel.EAGAIN
}

// rawSpliceReady is ring_buffer_wait as 6.1 has it (rb_watermark_hit): a wait that began with an empty ring has no watermark, and ends
// with the first page.
func rawSpliceReady(h *Handle) bool {
	r, percent := h.state.(*rawReader), h.T.percent
	from := h.T.ringOf(h.CPU, r.snap)
	if r.stops != h.T.offs || from == nil {
		return true
	}
	if percent == 0 || r.fromEmpty {
		if from.Whole() {
			return true
		}
		percent = anyPage
	} else if from.Whole() && h.T.fullHit(h.CPU, percent, r.snap) {
		return true
	}
	h.T.wait.forFull(len(h.T.cpu), h.CPU, percent)
	return false
}

func rawReady(h *Handle) bool {
	return h.state.(*rawReader).read < ring.PageSize || !h.T.empty(h.CPU, h.state.(*rawReader).snap)
}
