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

func readRaw(h *Handle, buf []byte) (int, error) {
	r := h.state.(*rawReader)
	if r.read == ring.PageSize {
		from := h.T.ringOf(h.CPU, r.snap)
		if from == nil {
			return 0, nil
		}
		if _, ok := from.ReadPage(&r.page); !ok {
			if r.snap {
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

func rawReady(h *Handle) bool {
	return h.state.(*rawReader).read < ring.PageSize || !h.T.empty(h.CPU, h.state.(*rawReader).snap)
}
