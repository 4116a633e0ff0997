package ftrace

import (
	"fmt"
	"slices"

	"kscope/ftrace/ring"
	"kscope/kernel"
)

func percentText(h *Handle, b []byte) ([]byte, error) {
	return fmt.Appendf(b, "%d\n", h.T.percent), nil
}

func writePercent(h *Handle, p []byte) (int, error) {
	n, err := parseUint(p, 10)
	if err == nil && n > 100 {
		err = kernel.EINVAL
	}
	if err == nil {
		h.T.percent = n
	}
	return len(p), err
}

func maxLatencyText(h *Handle, b []byte) ([]byte, error) {
	return fmt.Appendf(b, "%d\n", h.T.maxLat/1000), nil
}

func writeMaxLatency(h *Handle, p []byte) (int, error) {
	n, err := parseUint(p, 10)
	if err == nil {
		h.T.maxLat = n * 1000 // and what does not fit is lost: tracing_nsecs_write
	}
	return len(p), err
}

// closeFree is tracing_free_buffer_release.
func closeFree(h *Handle) error {
	t := h.T
	if t.opt(optDisableOnFree) {
		t.switchOn(h.VCPU, false)
	}
	t.root().expanded = true
	for i := range t.cpu {
		if t.cpu[i].readers[0] > 0 {
			return nil // a reader of trace holds the rings
		}
	}
	for i := range t.cpu {
		t.cpu[i].ring.Resize(ring.MinPages)
	}
	return nil
}

// dump is ftrace_dump: tracing goes off, and the events of one CPU or of all go to the log in the latency format, by the next interrupt.
func (t *Tracer) dump(c *kernel.VCPU, cpu int) {
	t.switchOn(c, false)
	r := t.root()
	say := func(text string) { r.dumped = append(slices.Clip(r.dumped), text) }
	say("Dumping ftrace buffer:")
	p := newPrinter(t)
	p.ahead, p.latency = &consumer{t: t}, true
	var data []byte
	n := 0
	for {
		e, ok := t.consume(cpu, data)
		if !ok {
			break
		}
		data = e.Data
		if n++; n == 1 {
			say("---------------------------------")
		}
		p.Buf = p.Buf[:0]
		p.line(&e)
		for _, l := range lines(p.Buf) {
			say(l)
		}
	}
	if n == 0 {
		say("   (ftrace buffer empty)")
	} else {
		say("---------------------------------")
	}
	c.RaiseIRQWork()
}

// gateDumpLine: long tracefs_dump_line(char *line, u64 size): the next line of a dump, for the guest's log; 0: there is none.
func (t *Tracer) gateDumpLine(c *kernel.VCPU) uint64 {
	if len(t.dumped) == 0 {
		return 0
	}
	line := t.dumped[0]
	t.dumped = t.dumped[1:]
	line = line[:min(len(line), int(c.Arg(1))-1)]
	if err := t.m.Write(c.Arg(0), append([]byte(line), 0)); err != nil {
		return ret(err)
	}
	return uint64(len(line) + 1)
}

// lines splits text at its newlines.
func lines(b []byte) (out []string) {
	for len(b) > 0 {
		n := nul(b)
		for i, c := range b {
			if c == '\n' {
				n = i
				break
			}
		}
		out = append(out, string(b[:n]))
		b = b[min(n+1, len(b)):]
	}
	return out
}
