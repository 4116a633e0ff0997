package ftrace

import (
	"fmt"
	"strconv"
	"strings"

	"kscope/ftrace/ring"
	"kscope/kernel"
)

func availableTracers(h *Handle, b []byte) ([]byte, error) {
	for i := range tracers {
		if h.T.mayUse(&tracers[i]) {
			b = append(append(b, tracers[i].name...), ' ')
		}
	}
	b[len(b)-1] = '\n'
	return b, nil
}

func currentTracer(h *Handle, b []byte) ([]byte, error) {
	return append(append(b, h.T.current.name...), '\n'), nil
}

func writeCurrentTracer(h *Handle, p []byte) (int, error) {
	const maxTracerSize = 100
	return len(p), h.T.setTracer(untilNul(p[:min(len(p), maxTracerSize)]))
}

// isOn is tracer_tracing_is_on: not while a reader stops it (pause-on-trace).
func (t *Tracer) isOn() bool { return t.on && t.stops == 0 }

func tracingOn(h *Handle, b []byte) ([]byte, error) {
	return fmt.Appendf(b, "%d\n", b2i(h.T.isOn())), nil
}

func writeTracingOn(h *Handle, p []byte) (int, error) {
	n, err := parseUint(p, 10)
	if err == nil && (n != 0) != h.T.isOn() {
		h.T.switchOn(h.VCPU, n != 0)
	}
	return len(p), err
}

// switchOn is tracing_on.
func (t *Tracer) switchOn(c *kernel.VCPU, on bool) {
	was := t.on
	t.on = on
	if !on {
		t.offs += uint64(b2i(was))
		t.wakeReaders(c) // a reader that has read something ends now
	}
}

func clockText(h *Handle, b []byte) ([]byte, error) { return h.T.clockText(b), nil }

func writeClock(h *Handle, p []byte) (int, error) {
	const maxClock = 63
	if len(p) > maxClock {
		return 0, kernel.EINVAL
	}
	return len(p), h.T.setClock(untilNul(p))
}

// openTrace is tracing_open: O_TRUNC clears; with pause-on-trace, tracing stops while the file is being read.
func openTrace(h *Handle) error {
	if h.Writable() && h.Flags&oTrunc != 0 {
		h.T.started = h.T.stamp(h.VCPU)
		for i := range h.T.cpu {
			if h.CPU < 0 || h.CPU == i {
				h.T.cpu[i].ring.Reset()
			}
		}
	}
	if h.Readable() {
		r := h.T.newTraceReader(h.CPU)
		if r.pauses = h.T.opt(optPauseOnTrace); r.pauses {
			h.T.stops++
		}
		h.T.hold(r, 1)
		h.state = r
	}
	return nil
}

func closeTrace(h *Handle) error {
	if r, ok := h.state.(*traceReader); ok {
		h.T.stops -= b2i(r.pauses)
		h.T.hold(r, -1)
	}
	return nil
}

func readTrace(h *Handle, buf []byte) (int, error) {
	return h.state.(*traceReader).read(h.T, buf, h.pos), nil
}

func openPipe(h *Handle) error {
	mask := uint64(1) << max(h.CPU, 0)
	if h.CPU < 0 {
		mask = ^uint64(0)
	}
	if h.CPU < 0 && h.T.piped != 0 || h.T.piped&mask != 0 {
		return kernel.EBUSY // one reader of a CPU's events: open_pipe_on_cpu
	}
	h.T.piped |= mask
	h.state = h.T.newPipeReader(h.CPU)
	h.T.pipes++
	return nil
}

func closePipe(h *Handle) error {
	h.T.pipes--
	if _, ok := h.state.(*pipeReader); ok && h.CPU < 0 {
		h.T.piped = 0
	} else if ok {
		h.T.piped &^= 1 << h.CPU
	}
	return nil
}

// readPipe is tracing_read_pipe: what is there, else the end when tracing is off and something was read before, else wait.
func readPipe(h *Handle, buf []byte) (int, error) {
	r := h.state.(*pipeReader)
	if n := r.take(h.T, buf); n > 0 || len(buf) == 0 {
		return n, nil
	}
	if !h.T.on && r.read {
		return 0, nil
	}
	if h.Flags&oNonblock == 0 {
		h.T.wait.forNext()
	}
	return 0, kernel.EAGAIN
}

// splicePipe is tracing_splice_read_pipe for one page: whole lines, as many as fit into it and into n bytes.
func splicePipe(h *Handle, page []byte, n uint64, _ bool) (int, error) {
	r := h.state.(*pipeReader)
	if m, found := r.lines(h.T, page[:min(n, seqSize-1)]); found {
		return m, nil
	}
	if !h.T.on && r.read {
		return 0, nil
	}
	return 0, kernel.EAGAIN
}

func pipeReady(h *Handle) bool {
	r := h.state.(*pipeReader)
	return len(r.p.Buf) > 0 || !h.T.empty(r.cpu, false) || !h.T.on && r.read
}

// wakeReaders wakes the guest's sleepers on trace_pipe, so that they look again.
func (t *Tracer) wakeReaders(c *kernel.VCPU) {
	if t.wait.pending && c != nil {
		t.wait = waiters{}
		c.RaiseIRQWork()
	}
}

func writeMarker(h *Handle, p []byte) (int, error) { return h.T.mark(h.VCPU, p) }

func writeMarkerRaw(h *Handle, p []byte) (int, error) { return h.T.markRaw(h.VCPU, p) }

func bufferSize(h *Handle, b []byte) ([]byte, error) {
	t, n := h.T, h.T.cpu[0].ring.Len()
	for i := range t.cpu {
		if t.cpu[i].ring.Len() != n {
			return append(b, "X\n"...), nil
		}
	}
	if !t.root().expanded {
		return fmt.Appendf(b, "%d (expanded: %d)\n", ring.KB(n), defaultKB), nil
	}
	return fmt.Appendf(b, "%d\n", ring.KB(n)), nil
}

func cpuBufferSize(h *Handle, b []byte) ([]byte, error) {
	return fmt.Appendf(b, "%d\n", ring.KB(h.T.cpu[h.CPU].ring.Len())), nil
}

func bufferTotal(h *Handle, b []byte) ([]byte, error) {
	t, sum := h.T, uint64(0)
	for i := range t.cpu {
		sum += ring.KB(t.cpu[i].ring.Len())
	}
	if !t.root().expanded {
		return fmt.Appendf(b, "%d (expanded: %d)\n", sum, defaultKB*len(t.cpu)), nil
	}
	return fmt.Appendf(b, "%d\n", sum), nil
}

func writeBufferSize(h *Handle, p []byte) (int, error) {
	n, err := parseUint(p, 10)
	if err == nil {
		if err = h.T.resize(n, h.CPU); err == kernel.EBUSY {
			err = kernel.ENOMEM // tracing_resize_ring_buffer
		}
	}
	return len(p), err
}

// cpuStats is tracing_stats_read.
func cpuStats(h *Handle, b []byte) ([]byte, error) {
	t, s := h.T, h.T.cpu[h.CPU].ring.Stats()
	b = fmt.Appendf(b, "entries: %d\noverrun: %d\ncommit overrun: %d\nbytes: %d\n", s.Entries, s.Overrun, s.CommitOverrun, s.Bytes)
	now := t.now(h.VCPU)
	if clocks[t.clock].ns {
		stamp := func(name string, ts uint64) {
			us := (ts + 500) / 1000
			b = fmt.Appendf(b, "%s event ts: %5d.%06d\n", name, us/1e6, us%1e6)
		}
		stamp("oldest", s.Oldest)
		us := (now + 500) / 1000
		b = fmt.Appendf(b, "now ts: %5d.%06d\n", us/1e6, us%1e6)
	} else {
		b = fmt.Appendf(b, "oldest event ts: %d\nnow ts: %d\n", s.Oldest, now)
	}
	return fmt.Appendf(b, "dropped events: %d\nread events: %d\n", s.Dropped, s.Read), nil
}

func optionIndex(name string) option {
	for i := range optionRows {
		if optionRows[i].name == name {
			return option(i)
		}
	}
	panic("BUG: ftrace: no option " + name)
}

func optionText(h *Handle, b []byte) ([]byte, error) {
	return fmt.Appendf(b, "%d\n", b2i(h.T.opt(optionIndex(h.Arg)))), nil
}

func writeOption(h *Handle, p []byte) (int, error) {
	n, err := parseUint(p, 10)
	if err == nil && n > 1 {
		err = kernel.EINVAL
	}
	if err == nil {
		err = h.T.setOption(optionIndex(h.Arg), n == 1)
	}
	return len(p), err
}

func optionsFile(h *Handle, b []byte) ([]byte, error) { return h.T.optionsText(b), nil }

func writeOptions(h *Handle, p []byte) (int, error) {
	const maxOption = 63
	if len(p) > maxOption {
		return 0, kernel.EINVAL
	}
	return len(p), h.T.setOptionWord(untilNul(p))
}

// cpumaskText prints a mask as %*pb does: hexadecimal, 32 bits a group.
func cpumaskText(h *Handle, b []byte) ([]byte, error) {
	n := len(h.T.cpu)
	mask := uint64(0)
	for i := range n {
		mask |= uint64(b2i(!h.T.cpu[i].off)) << i
	}
	if n > 32 {
		b = fmt.Appendf(b, "%0*x,%08x\n", (n-32+3)/4, mask>>32, uint32(mask))
	} else {
		b = fmt.Appendf(b, "%0*x\n", (n+3)/4, mask)
	}
	return b, nil
}

// writeCpumask takes groups of up to eight hexadecimal digits, from the last, with blanks and commas between them; nothing is no CPU. See
// bitmap_parse.
func writeCpumask(h *Handle, p []byte) (int, error) {
	line, _, _ := strings.Cut(untilNul(p), "\n")
	groups := strings.FieldsFunc(line, func(c rune) bool { return c == ',' || strings.ContainsRune(" \t\v\f\r", c) })
	n, mask := len(h.T.cpu), uint64(0)
	for i := range groups {
		if i == (n+31)/32 {
			return 0, kernel.EOVERFLOW
		}
		g := groups[len(groups)-1-i]
		x, err := strconv.ParseUint(g[max(0, len(g)-8):], 16, 32)
		switch {
		case err != nil || len(g) > 8 && !isHex(g[len(g)-9]):
			return 0, kernel.EINVAL
		case len(g) > 8:
			return 0, kernel.EOVERFLOW
		}
		mask |= x << (32 * i)
	}
	if n < 64 && mask>>n != 0 {
		return 0, kernel.EOVERFLOW
	}
	for i := range h.T.cpu {
		h.T.cpu[i].off = mask>>i&1 == 0
	}
	return len(p), nil
}

func isHex(c byte) bool { return c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'f' }
