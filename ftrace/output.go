package ftrace

import (
	"fmt"
	"strconv"
	"strings"

	"kscope/ftrace/event"
	"kscope/kernel"
)

// printer makes trace's lines. It belongs to one reader.
type printer struct {
	t *Tracer
	event.Printer
	annotate bool         // say where a CPU's buffer starts: some events were overwritten
	started  map[int]bool // CPUs that have been named
	index    int          // lines so far
	snap     bool         // of the snapshot
	latency  bool         // always in the latency format
	ahead    lookahead    // nil: none
	graph    []graphCPU   // by CPU
	names    map[uint64]string
	offset   bool // the names are with offsets
}

func newPrinter(t *Tracer) *printer {
	t.freshNames()
	p := &printer{t: t, started: map[int]bool{}}
	p.Sym = p.symbol
	p.Name = func(b []byte, addr uint64, offset bool) []byte {
		if !offset {
			return append(b, t.guest.noOffset(addr)...)
		}
		return append(b, t.guest.symbol(addr, true)...)
	}
	p.Str = t.kernelText
	return p
}

// symbol prints an address as the options want it; see seq_print_ip_sym and trace_seq_print_sym.
func (p *printer) symbol(b []byte, addr uint64) []byte {
	if addr == 0 {
		return append(b, '0')
	}
	if off := p.t.opt(optSymOffset); p.names == nil || off != p.offset {
		p.names, p.offset = map[uint64]string{}, off
	}
	name, ok := p.names[addr]
	if !ok {
		name = p.t.guest.symbol(addr, p.offset)
		p.names[addr] = name
	}
	b = append(b, name...)
	if p.t.opt(optSymAddr) {
		b = append(hex16(append(b, " <"...), addr), '>')
	}
	return b
}

// plainName is %ps of an address, without offset.
func (p *printer) plainName(addr uint64) string { return p.t.guest.symbol(addr, false) }

// symbolText names an address: with offset as %pS, else without offset, size and module.
func symbolText(syms *kernel.Symbols, addr uint64, offset bool) string {
	s, off := syms.At(addr)
	switch {
	case s.Name == "" || s.Name == trampolineName: // 6.1's kallsyms lists trampolines, but %pS does not find them
		return fmt.Sprintf("0x%08x", addr)
	case s.Name == "arch_rethook_trampoline" && off == 0: // of package kprobe; see kretprobed in kernel/trace/trace_output.c
		return "[unknown/kretprobe'd]"
	case offset:
		return syms.Format(addr)
	}
	return s.Name
}

// noOffset is what %ps prints: the name, and the module (sprint_symbol_no_offset).
func (g *guestView) noOffset(addr uint64) string {
	s := g.symbol(addr, true)
	name, rest, ok := strings.Cut(s, "+")
	if !ok {
		return s
	}
	if i := strings.Index(rest, " ["); i >= 0 {
		name += rest[i:]
	}
	return name
}

// kernelText reads a string of the kernel for %s of a pointer in a record, as trace_check_vprintf lets it.
func (t *Tracer) kernelText(va uint64) string {
	if t.m == nil {
		return "(null)"
	}
	s, err := t.m.Str(va, 256)
	if err != nil {
		return fmt.Sprintf("(0x%x)[UNSAFE-MEMORY]", va)
	}
	return s
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

func hex16(b []byte, x uint64) []byte {
	const hex = "0123456789abcdef"
	for i := 60; i >= 0; i -= 4 {
		b = append(b, hex[x>>i&15])
	}
	return b
}

// line appends one event's text; see print_trace_line in kernel/trace/trace.c.
func (p *printer) line(e *entry) {
	t := p.t
	p.index++
	if e.missed {
		p.Buf = append(strconv.AppendInt(append(p.Buf, "CPU:"...), int64(e.cpu), 10), " [LOST EVENTS]\n"...)
	} else if e.Lost > 0 {
		p.Buf = append(strconv.AppendInt(append(p.Buf, "CPU:"...), int64(e.cpu), 10), " [LOST "...)
		p.Buf = append(strconv.AppendUint(p.Buf, e.Lost, 10), " EVENTS]\n"...)
	}
	h, _ := event.Parse(e.Data)
	if t.current == &tracers[graphTracer] && p.graphLine(h, e) {
		return
	}
	p.NoText = !t.opt(optHashPtr)
	p.NoParent, p.NoHash, p.SymAddr = !t.opt(optPrintParent), !t.opt(optHashPtr), t.opt(optSymAddr)
	if p.User = nil; t.opt(optSymUserobj) && t.m != nil {
		p.User = p.userPlace
	}
	if (h.Type == event.IDPrint || h.Type == event.IDBprint || h.Type == event.IDBputs) && t.opt(optPrintk) && t.opt(optPrintkMsgOnly) {
		p.Message(e.Data)
		return
	}
	info := t.opt(optContextInfo)
	switch {
	case t.opt(optBin):
		p.Mode = event.ModeBin
		p.prefix(info, uint64(uint32(h.PID)), uint64(e.cpu), e.TS)
	case t.opt(optHex):
		p.Mode = event.ModeHex
		p.prefix(info, uint64(uint32(h.PID)), uint64(e.cpu), e.TS)
	case t.opt(optRaw):
		p.Mode = event.ModeRaw
		if info {
			p.Buf = append(strconv.AppendInt(p.Buf, int64(h.PID), 10), ' ')
			p.Buf = append(strconv.AppendInt(p.Buf, int64(e.cpu), 10), ' ')
			p.Buf = append(strconv.AppendUint(p.Buf, e.TS, 10), ' ')
		}
	default:
		p.Mode = event.ModeText
		p.start(e.cpu)
		switch {
		case info && (p.latency || t.opt(optLatencyFmt)):
			p.latencyContext(h, e)
		case info:
			p.context(h, e)
		}
		if h.Type == event.IDFuncRepeats {
			p.repeats(e)
			return
		}
	}
	t.events.Line(&p.Printer, e.Data)
	if p.Mode == event.ModeHex {
		p.Buf = append(p.Buf, '\n')
	}
}

func (p *printer) prefix(info bool, pid, cpu, ts uint64) {
	if info {
		p.Num(pid, 4)
		p.Num(cpu, 4)
		p.Num(ts, 8)
	}
}

func nul(b []byte) int {
	for i, c := range b {
		if c == 0 {
			return i
		}
	}
	return len(b)
}

// start says once where a CPU's events begin, when events were overwritten; see test_cpu_buff_start.
func (p *printer) start(cpu int) {
	if !p.annotate || !p.t.opt(optAnnotate) || p.started[cpu] {
		return
	}
	p.started[cpu] = true
	if p.index > 1 {
		p.Buf = append(strconv.AppendInt(append(p.Buf, "##### CPU "...), int64(cpu), 10), " buffer started ####\n"...)
	}
}

// context appends task, CPU, flags and time; see trace_print_context in kernel/trace/trace_output.c.
func (p *printer) context(h event.Header, e *entry) {
	t := p.t
	p.Buf = padLeft(p.Buf, t.cmdline.find(h.PID), 16)
	p.Buf = append(p.Buf, '-')
	p.Buf = append(padRight(p.Buf, int64(h.PID), 7), ' ')
	if t.opt(optRecordTgid) {
		if tgid := t.cmdline.tgids[h.PID]; tgid == 0 {
			p.Buf = append(p.Buf, "(-------) "...)
		} else {
			p.Buf = append(padNum(append(p.Buf, '('), uint64(tgid), 7, ' '), ") "...)
		}
	}
	p.Buf = append(padNum(append(p.Buf, '['), uint64(e.cpu), 3, '0'), "] "...)
	if t.opt(optIrqInfo) {
		c := h.Latency()
		p.Buf = append(p.Buf, c[:]...)
	}
	p.Buf = append(t.appendTime(append(p.Buf, ' '), e.TS), ": "...)
}

// appendTime prints a time stamp as the clock wants it: seconds rounded to microseconds, or a number.
func (t *Tracer) appendTime(b []byte, ts uint64) []byte {
	if !clocks[t.clock].ns {
		return padNum(b, ts, 12, ' ')
	}
	us := (ts + 500) / 1000
	return padNum(append(padNum(b, us/1e6, 5, ' '), '.'), us%1e6, 6, '0')
}

func padLeft(b []byte, s string, n int) []byte {
	for i := len(s); i < n; i++ {
		b = append(b, ' ')
	}
	return append(b, s...)
}

func padRight(b []byte, x int64, n int) []byte {
	at := len(b)
	b = strconv.AppendInt(b, x, 10)
	for len(b)-at < n {
		b = append(b, ' ')
	}
	return b
}

func padNum(b []byte, x uint64, n int, fill byte) []byte {
	digits := 1
	for y := x; y >= 10; y /= 10 {
		digits++
	}
	for ; digits < n; n-- {
		b = append(b, fill)
	}
	return strconv.AppendUint(b, x, 10)
}

// header appends the comment lines in front of the events; see trace_default_header and print_func_help_header_irq.
func (p *printer) header(cpu int) {
	t := p.t
	p.Buf = append(append(append(p.Buf, "# tracer: "...), t.current.name...), "\n#\n"...)
	switch {
	case p.snap && t.empty(cpu, true):
		p.snapshotHeader(cpu)
		return
	case t.current == &tracers[graphTracer]:
		p.graphHeader(cpu)
		return
	case t.opt(optContextInfo) && t.opt(optLatencyFmt):
		p.latencyHeader(cpu)
		return
	}
	if !t.opt(optContextInfo) || t.opt(optVerbose) {
		return
	}
	entries, total := t.counts(-1, p.snap) // of all CPUs, in one CPU's file too: print_event_info
	p.Buf = append(strconv.AppendUint(append(p.Buf, "# entries-in-buffer/entries-written: "...), entries, 10), '/')
	p.Buf = append(strconv.AppendUint(p.Buf, total, 10), "   #P:"...)
	p.Buf = append(strconv.AppendInt(p.Buf, int64(t.guest.online()), 10), "\n#\n"...)
	pad, tgid, bar := "  ", "  ", "  "
	if t.opt(optRecordTgid) {
		pad, tgid, bar = "            ", "     TGID   ", "       |    "
	}
	rows := []string{
		"#                            " + pad + "  _-----=> irqs-off/BH-disabled\n",
		"#                            " + pad + " / _----=> need-resched\n",
		"#                            " + pad + "| / _---=> hardirq/softirq\n",
		"#                            " + pad + "|| / _--=> preempt-depth\n",
		"#                            " + pad + "||| / _-=> migrate-disable\n",
		"#                            " + pad + "|||| /     delay\n",
		"#           TASK-PID  " + tgid + " CPU#  |||||  TIMESTAMP  FUNCTION\n",
		"#              | |    " + bar + "   |   |||||     |         |\n",
	}
	if !t.opt(optIrqInfo) {
		rows = []string{
			"#           TASK-PID  " + tgid + " CPU#     TIMESTAMP  FUNCTION\n",
			"#              | |    " + bar + "   |         |         |\n",
		}
	}
	for _, r := range rows {
		p.Buf = append(p.Buf, r...)
	}
}
