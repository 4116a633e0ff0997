package ftrace

import (
	"fmt"
	"slices"

	"kscope/ftrace/event"
	"kscope/kernel"
)

// trace_printk of guest C (guest/include/trace_printk.h): the guest's functions end in these gates, which write the events
// print, bprint and bputs into the machine's own rings; see __trace_bprintk and its kin in kernel/trace/trace.c and
// trace_printk.c.

func (t *Tracer) printkGates() {
	for _, g := range []struct {
		name string
		fn   kernel.Gate
	}{
		{"trace_vbprintk", t.gateVbprintk},
		{"trace_vprintk", t.gateVprintk},
		{"__trace_bputs", t.gateBputs},
		{"__trace_puts", t.gatePuts},
		{"__ftrace_trace_stack", t.gateTraceStack},
		{"trace_printk_format", t.gatePrintkFormat},
		{"trace_printk_start", t.gatePrintkStart},
		{"tracing_on", func(*kernel.VCPU) uint64 { t.on = true; return 0 }},
		{"tracing_off", func(*kernel.VCPU) uint64 { t.on = false; return 0 }},
		{"tracing_is_on", func(*kernel.VCPU) uint64 { return uint64(b2i(t.on)) }},
	} {
		t.m.RegisterGate(g.name, g.fn)
	}
}

// vaList reads the arguments behind a va_list of the SysV ABI: up to 48 bytes of saved registers, then the stack.
//
//	0 u32 gp_offset   4 u32 fp_offset   8 overflow_arg_area   16 reg_save_area
func (t *Tracer) vaList(c *kernel.VCPU, ap uint64) event.VarArgs {
	m := hot{t.m}
	gp, stack, save := m.u32(ap), m.u64(ap+8), m.u64(ap+16)
	return event.VarArgs{
		Next: func() uint64 {
			if gp < 48 {
				gp += 8
				return m.u64(save + uint64(gp) - 8)
			}
			stack += 8
			return m.u64(stack - 8)
		},
		Str: func(va uint64) string { return t.printkText(c, va) },
	}
}

// printkText is what %s makes of a pointer; see check_pointer_msg in lib/vsprintf.c.
func (t *Tracer) printkText(c *kernel.VCPU, va uint64) string {
	switch {
	case va == 0:
		return "(null)"
	case va < 4096 || va > 1<<64-4096:
		return "(efault)"
	}
	s, err := c.CPU.Str(va, event.MaxPrintk)
	if err != nil {
		return "(efault)"
	}
	return s
}

// printkPrinter prints what cannot wait until the trace is read.
func (t *Tracer) printkPrinter() *event.Printer {
	if t.printks == nil {
		t.printks = newPrinter(t)
	}
	p := &t.printks.Printer
	p.Buf, p.NoHash = p.Buf[:0], !t.opt(optHashPtr)
	return p
}

// gateVbprintk: int trace_vbprintk(unsigned long ip, const char *fmt, va_list args).
func (t *Tracer) gateVbprintk(c *kernel.VCPU) uint64 {
	if !t.opt(optPrintk) || !t.records(&t.cpu[c.ID]) {
		return 0
	}
	format := t.printkText(c, c.Arg(1))
	packed, ok := t.printkPrinter().PackPrintf(format, t.vaList(c, c.Arg(2)))
	if !ok {
		return 0
	}
	t.printk(c, event.IDBprint, event.BprintSize(len(packed)), func(d []byte, h event.Header) {
		event.PutBprint(d, h, c.Arg(0), c.Arg(1), packed)
	})
	return uint64(len(packed) / 4)
}

// gateVprintk: int trace_vprintk(unsigned long ip, const char *fmt, va_list args).
func (t *Tracer) gateVprintk(c *kernel.VCPU) uint64 {
	p := t.printkPrinter()
	p.Vprintf(t.printkText(c, c.Arg(1)), t.vaList(c, c.Arg(2)))
	return t.puts(c, p.Buf[:min(len(p.Buf), event.MaxPrintk)])
}

// gatePuts: int __trace_puts(unsigned long ip, const char *str, int size).
func (t *Tracer) gatePuts(c *kernel.VCPU) uint64 {
	text := t.printkText(c, c.Arg(1))
	return t.puts(c, []byte(text)[:min(len(text), int(int32(c.Arg(2))))])
}

func (t *Tracer) puts(c *kernel.VCPU, text []byte) uint64 {
	if !t.opt(optPrintk) {
		return 0
	}
	if !t.printk(c, event.IDPrint, event.PrintSize(len(text)), func(d []byte, h event.Header) { event.PutPrint(d, h, c.Arg(0), text) }) {
		return 0
	}
	return uint64(len(text))
}

// gateBputs: int __trace_bputs(unsigned long ip, const char *str).
func (t *Tracer) gateBputs(c *kernel.VCPU) uint64 {
	if !t.opt(optPrintk) {
		return 0
	}
	return uint64(b2i(t.printk(c, event.IDBputs, event.BputsSize, func(d []byte, h event.Header) { event.PutBputs(d, h, c.Arg(0), c.Arg(1)) })))
}

// printk writes one of the events.
func (t *Tracer) printk(c *kernel.VCPU, id uint16, n int, fill func(d []byte, h event.Header)) bool {
	d, ok := t.reserve(c, id, n)
	if !ok {
		return false
	}
	w := t.running(c)
	fill(d, t.header(c, id, w))
	t.commit(c, w)
	c.Charge(costEvent)
	t.afterEvent(c, 0, func() { t.TraceStack(c) })
	return true
}

// gateTraceStack: void __ftrace_trace_stack(int skip), trace_dump_stack's: the stack begins with itself.
func (t *Tracer) gateTraceStack(c *kernel.VCPU) uint64 {
	if t.on {
		t.traceStack(c, int(int32(c.Arg(0))))
	}
	return 0
}

// gatePrintkFormat: void trace_printk_format(const char *fmt), for a format that a module has brought along.
func (t *Tracer) gatePrintkFormat(c *kernel.VCPU) uint64 {
	t.formats = append(slices.Clip(t.formats), c.Arg(0))
	return 0
}

// gatePrintkStart: void trace_printk_start(void): the first module that uses trace_printk, or an image that does.
// From then on the names of tasks are kept.
func (t *Tracer) gatePrintkStart(*kernel.VCPU) uint64 {
	t.printkUsed = true
	return ret(t.expand())
}

// printkFormats is printk_formats: the addresses that bprint and bputs records hold, and their texts; see t_show in
// kernel/trace/trace_printk.c.
func printkFormats(h *Handle, b []byte) ([]byte, error) {
	t := h.T.root()
	for _, va := range slices.Concat(t.imageFormats(), t.formats) {
		s, err := t.m.Str(va, event.MaxPrintk)
		if err != nil {
			continue
		}
		b = fmt.Appendf(b, "0x%x : \"", va)
		for i := range len(s) {
			switch c := s[i]; c {
			case '\n':
				b = append(b, `\n`...)
			case '\t':
				b = append(b, `\t`...)
			case '\\', '"':
				b = append(b, '\\', c)
			default:
				b = append(b, c)
			}
		}
		b = append(b, "\"\n"...)
	}
	return b, nil
}

// imageFormats are the rows of the image's own sections: formats of trace_printk, and strings of tracepoints.
func (t *Tracer) imageFormats() (out []uint64) {
	for _, section := range []string{"__trace_printk_fmt", "__tracepoint_str"} {
		at, ok1 := t.m.Symbols().Lookup("__start_" + section)
		end, ok2 := t.m.Symbols().Lookup("__stop_" + section)
		for ; ok1 && ok2 && at < end; at += 8 {
			if va, err := t.m.U64(at); err == nil && va != 0 {
				out = append(out, va)
			}
		}
	}
	return out
}
