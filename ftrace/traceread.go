package ftrace

// traceReader makes the file trace, chunk by chunk: the header, then an event a line. It does not consume, and it follows
// the rings while they grow, so that reading all of it need not end when the reading is traced.
type traceReader struct {
	cpu    int
	p      *printer
	m      *merger
	at     uint64 // bytes read
	begun  bool
	snap   bool   // reads the snapshot
	swaps  uint64 // of the tracer when it was opened
	pauses bool   // tracing is stopped until it is closed
	left   int    // lines until it is told as endless
}

// endlessLines is by how many lines the file trace grows under one reader before OnEndless is told.
const endlessLines = 100_000

func (t *Tracer) newTraceReader(cpu int) *traceReader {
	return &traceReader{cpu: cpu}
}

// fill makes p.Buf hold the next lines, up to size bytes; nothing at the end.
func (r *traceReader) fill(t *Tracer, size int) {
	if r.p == nil {
		r.p, r.m = newPrinter(t), t.merge(r.cpu, r.snap)
		r.p.annotate, r.p.snap = t.overruns(r.snap), r.snap
		r.p.ahead = r.m
	}
	r.p.t = t
	r.m.refresh()
	if !r.begun {
		r.begun = true
		r.p.header(r.cpu)
		n, _ := t.counts(r.cpu, r.snap)
		r.left = int(n) + endlessLines
	}
	for len(r.p.Buf) < size {
		e, ok := r.m.next()
		if !ok {
			return
		}
		r.p.line(&e)
		if r.left--; r.left == 0 {
			t.tellEndless()
		}
	}
}

// tellEndless says once that a reader of trace may never come to the end.
func (t *Tracer) tellEndless() {
	if fn := t.root().endless; fn != nil {
		t.root().endless = nil
		fn()
	}
}

// seek goes to byte pos by making, from the beginning, what stands before it (traverse in fs/seq_file.c).
func (r *traceReader) seek(t *Tracer, pos uint64) {
	if pos < r.at {
		r.p, r.m, r.at, r.begun = nil, nil, 0, false
	}
	for r.at < pos {
		r.fill(t, seqSize)
		n := min(uint64(len(r.p.Buf)), pos-r.at)
		if n == 0 {
			return
		}
		r.p.Buf = append(r.p.Buf[:0], r.p.Buf[n:]...)
		r.at += n
	}
}

// read copies the bytes at pos to buf, as seqRead says.
func (r *traceReader) read(t *Tracer, buf []byte, pos uint64) int {
	if pos != r.at {
		r.seek(t, pos)
	}
	size := min(len(buf), seqSize)
	if r.p == nil || len(r.p.Buf) < size {
		r.fill(t, size)
	}
	b := r.p.Buf
	n := copy(buf, seqRead(b, len(buf)))
	r.p.Buf = append(b[:0], b[n:]...)
	r.at += uint64(n)
	return n
}

// Text is the file trace, of one CPU or, with cpu < 0, of all. Reading it here does not run the guest.
func (t *Tracer) Text(cpu int) string {
	r := t.newTraceReader(cpu)
	r.fill(t, int(^uint(0)>>1))
	return string(r.p.Buf)
}

// pipeReader makes trace_pipe: it consumes.
type pipeReader struct {
	cpu  int
	p    *printer
	data []byte
	read bool // something was read: the end may come
}

func (t *Tracer) newPipeReader(cpu int) *pipeReader { return &pipeReader{cpu: cpu, p: newPrinter(t)} }

// take copies what is there to buf, consuming events, at most a page a time; see tracing_read_pipe.
func (r *pipeReader) take(t *Tracer, buf []byte) int {
	r.p.t = t
	if r.p.ahead == nil {
		r.p.ahead = &consumer{t: t}
	}
	size := min(len(buf), seqSize-1)
	for left := len(r.p.Buf) > 0; !left && len(r.p.Buf) < size; {
		e, ok := t.consume(r.cpu, r.data)
		if !ok {
			break
		}
		r.data = e.Data
		r.p.line(&e)
		r.read = true
	}
	n := copy(buf[:size], r.p.Buf)
	r.p.Buf = append(r.p.Buf[:0], r.p.Buf[n:]...)
	return n
}

// lines fills buf with whole lines, the first perhaps the rest of one that a read began; the next line is kept. found: there was one,
// though it may not fit.
func (r *pipeReader) lines(t *Tracer, buf []byte) (n int, found bool) {
	r.p.t = t
	if r.p.ahead == nil {
		r.p.ahead = &consumer{t: t}
	}
	for {
		if len(r.p.Buf) == 0 {
			e, ok := t.consume(r.cpu, r.data)
			if !ok {
				return n, n > 0
			}
			r.data = e.Data
			r.p.line(&e)
		}
		if n+len(r.p.Buf) > len(buf) {
			return n, true
		}
		n += copy(buf[n:], r.p.Buf)
		r.p.Buf = r.p.Buf[:0]
	}
}

func (r *traceReader) fork(t *Tracer) any {
	n := *r
	if r.p != nil {
		n.p = r.p.fork(t)
		n.m = &merger{cpus: append([]mergeCPU(nil), r.m.cpus...)}
		n.m.refresh()
		n.p.ahead = n.m
		for i := range n.m.cpus {
			c := &n.m.cpus[i]
			if to := t.ringOf(c.cpu, r.snap); to != nil {
				c.it = c.it.On(to)
			}
		}
	}
	return &n
}

func (r *pipeReader) fork(t *Tracer) any {
	return &pipeReader{cpu: r.cpu, p: r.p.fork(t), read: r.read}
}

func (p *printer) fork(t *Tracer) *printer {
	n := newPrinter(t)
	n.Buf = append([]byte(nil), p.Buf...)
	n.annotate, n.snap, n.index, n.started, n.graph = p.annotate, p.snap, p.index, cloneMap(p.started), append([]graphCPU(nil), p.graph...)
	return n
}
