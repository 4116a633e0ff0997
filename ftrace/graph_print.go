package ftrace

import (
	"strconv"

	"kscope/ftrace/event"
)

// What function_graph prints; see kernel/trace/trace_functions_graph.c.

// lookahead gives a printer the event that follows on the same CPU, and takes it out when it was printed already.
type lookahead interface {
	peek(cpu int) (data []byte, ok bool)
	drop(cpu int)
	nextTime() (ts uint64, ok bool) // of the next event of all CPUs
}

// graphCPU is what the reader of a graph keeps for each CPU: Linux's fgraph_cpu_data.
type graphCPU struct {
	pid      int32 // of the last line; -1: none
	depth    int32 // comments are indented one level more
	depthIrq int32 // where interrupt code was entered that is not shown; -1: nowhere
	funcs    [maxGraphDepth]uint64
}

// graphLine appends the line of an event; false: it has the form that it has with any tracer. See print_graph_function_flags.
func (p *printer) graphLine(h event.Header, e *entry) bool {
	for len(p.graph) <= e.cpu {
		p.graph = append(p.graph, graphCPU{pid: -1, depthIrq: -1})
	}
	switch h.Type {
	case event.IDGraphEntry, event.IDGraphExit:
		r, ok := event.ParseGraph(h.Type, e.Data)
		if !ok {
			return false
		}
		if h.Type == event.IDGraphEntry {
			p.graphEntry(h, e, r)
		} else {
			p.graphExit(h, e, r)
		}
	case event.IDFunction, event.IDKernelStack:
		return false
	default:
		p.graphComment(h, e)
	}
	return true
}

func (p *printer) graphEntry(h event.Header, e *entry, r event.GraphRecord) {
	c := &p.graph[e.cpu]
	if p.skipsIrq(c, r, false) {
		return
	}
	p.graphPrologue(h, e, r.Func)
	if exit, exitData, ok := p.leaf(h, e, r); ok {
		c.depth = r.Depth - 1
		c.note(r.Depth, 0)
		p.graphDuration(exit.Ret - exit.Call)
		p.graphIndent(r.Depth)
		p.graphCall(r.Func, e.Data)
		p.graphLeafEnd(e.Data, exitData)
		p.graphArrow(h, e, r.Func, "<==========")
		return
	}
	c.depth = r.Depth
	c.note(r.Depth, r.Func)
	p.graphFill("              |  ")
	p.graphIndent(r.Depth)
	p.graphCall(r.Func, e.Data)
	p.graphNestedEnd(e.Data)
}

// leaf finds the exit of an entry when it is the next event of its CPU; see get_return_for_leaf.
func (p *printer) leaf(h event.Header, e *entry, r event.GraphRecord) (exit event.GraphRecord, d []byte, ok bool) {
	if p.ahead == nil {
		return exit, nil, false
	}
	if d, ok = p.ahead.peek(e.cpu); !ok {
		return exit, nil, false
	}
	next, _ := event.Parse(d)
	if next.Type != event.IDGraphExit || next.PID != h.PID {
		return exit, nil, false
	}
	if exit, ok = event.ParseGraph(next.Type, d); !ok || exit.Func != r.Func {
		return exit, nil, false
	}
	p.ahead.drop(e.cpu)
	return exit, d, true
}

func (p *printer) graphExit(h event.Header, e *entry, r event.GraphRecord) {
	c := &p.graph[e.cpu]
	if p.skipsIrq(c, r, true) {
		return
	}
	c.depth = r.Depth - 1
	match := true
	if r.Depth >= 0 && r.Depth < maxGraphDepth {
		match = c.funcs[r.Depth] == r.Func
		c.funcs[r.Depth] = 0
	}
	p.graphPrologue(h, e, 0)
	p.graphDuration(r.Ret - r.Call)
	p.graphIndent(r.Depth)
	if ret, ok := p.retval(e.Data); ok {
		p.Buf = append(append(p.graphSymbol2("} /* ", r.Func), ret...), " */\n"...)
	} else if match && !p.t.opt(optGraphTail) {
		p.Buf = append(p.Buf, "}\n"...)
	} else { // its entry is lost
		p.Buf = append(p.graphSymbol2("} /* ", r.Func), " */\n"...)
	}
	if p.t.opt(optGraphOverrun) {
		p.Buf = append(strconv.AppendUint(append(p.Buf, " (Overruns: "...), uint64(r.Overrun), 10), ")\n"...)
	}
	p.graphArrow(h, e, r.Func, "<==========")
}

// graphComment shows any other event as a comment at the depth of the last line.
func (p *printer) graphComment(h event.Header, e *entry) {
	c := &p.graph[e.cpu]
	p.graphPrologue(h, e, 0)
	p.graphFill("              |  ")
	if c.depth > 0 {
		p.graphIndent(c.depth + 1)
	}
	p.Buf = append(p.Buf, "/* "...)
	p.Mode = event.ModeText
	switch h.Type {
	case event.IDPrint, event.IDBprint, event.IDBputs:
		p.Message(e.Data)
	default:
		p.t.events.Line(&p.Printer, e.Data)
	}
	if n := len(p.Buf); p.Buf[n-1] == '\n' {
		p.Buf = p.Buf[:n-1]
	}
	p.Buf = append(p.Buf, " */\n"...)
}

// skipsIrq hides what interrupts do, with nofuncgraph-irqs: check_irq_entry, check_irq_return.
func (p *printer) skipsIrq(c *graphCPU, r event.GraphRecord, exit bool) bool {
	switch {
	case p.t.opt(optGraphIrqs):
		return false
	case c.depthIrq >= 0:
		if exit && c.depthIrq >= r.Depth {
			c.depthIrq = -1
		}
		return true
	case exit || !p.t.guest.irqEntry(r.Func):
		return false
	}
	c.depthIrq = r.Depth
	return true
}

func (c *graphCPU) note(depth int32, fn uint64) {
	if depth >= 0 && depth < maxGraphDepth {
		c.funcs[depth] = fn
	}
}

// graphPrologue appends what is in front of the duration; fn is the function of an entry, else 0.
func (p *printer) graphPrologue(h event.Header, e *entry, fn uint64) {
	c := &p.graph[e.cpu]
	if c.pid != h.PID {
		was := c.pid
		c.pid = h.PID
		if was != -1 {
			p.Buf = append(p.Buf, " ------------------------------------------\n"...)
			p.graphCPU(e.cpu)
			p.graphTask(was)
			p.Buf = append(p.Buf, " => "...)
			p.graphTask(h.PID)
			p.Buf = append(p.Buf, "\n ------------------------------------------\n\n"...)
		}
	}
	if fn != 0 {
		p.graphArrow(h, e, fn, "==========>")
	}
	p.graphContext(h, e)
}

func (p *printer) graphContext(h event.Header, e *entry) {
	t := p.t
	if !t.opt(optContextInfo) {
		return
	}
	if t.opt(optGraphAbstime) {
		p.Buf = padNum(p.Buf, e.TS/1e9, 5, ' ')
		p.Buf = append(padNum(append(p.Buf, '.'), e.TS%1e9/1000, 6, '0'), " |  "...)
	}
	if t.opt(optGraphCPU) {
		p.graphCPU(e.cpu)
	}
	if t.opt(optGraphProc) {
		p.graphTask(h.PID)
		p.Buf = append(p.Buf, " | "...)
	}
	if t.opt(optLatencyFmt) {
		c := h.Latency()
		p.Buf = append(append(append(p.Buf, ' '), c[:]...), " | "...)
	}
}

// graphArrow tells that an interrupt's handler begins or ends: print_graph_irq. As in 6.1 on x86, only functions of the
// section .irqentry.text count, and the entry code that is there is not traced.
func (p *printer) graphArrow(h event.Header, e *entry, fn uint64, arrow string) {
	if !p.t.guest.irqEntry(fn) {
		return
	}
	p.graphContext(h, e)
	p.graphFill("  ")
	p.Buf = append(p.Buf, arrow...)
	p.graphFill(" |")
	p.Buf = append(p.Buf, '\n')
}

func (p *printer) graphCPU(cpu int) {
	width := len(strconv.Itoa(len(p.t.cpu) - 1))
	p.Buf = append(padNum(append(p.Buf, ' '), uint64(cpu), width, ' '), ") "...)
}

// graphTask appends name and pid in the middle of 14 columns; the name is cut to 7 characters.
func (p *printer) graphTask(pid int32) {
	const width = 14
	name := p.t.cmdline.find(pid)
	id := strconv.Itoa(int(pid))
	name = name[:min(len(name), 7)]
	blanks := max(width-len(name)-1-len(id), 0)
	for range blanks / 2 {
		p.Buf = append(p.Buf, ' ')
	}
	p.Buf = append(append(append(p.Buf, name...), '-'), id...)
	for range blanks - blanks/2 {
		p.Buf = append(p.Buf, ' ')
	}
}

func (p *printer) graphIndent(depth int32) {
	for range depth {
		p.Buf = append(p.Buf, "  "...)
	}
}

// graphSymbol appends %ps of fn: the options of symbols do not count here.
func (p *printer) graphSymbol(fn uint64) []byte { return append(p.Buf, p.plainName(fn)...) }

func (p *printer) graphSymbol2(before string, fn uint64) []byte {
	return append(append(p.Buf, before...), p.plainName(fn)...)
}

// graphFill appends a piece of the duration's column that holds no duration.
func (p *printer) graphFill(s string) {
	if p.t.opt(optGraphDuration) && p.t.opt(optContextInfo) {
		p.Buf = append(p.Buf, s...)
	}
}

// graphMarks says that a duration is long; see trace_find_mark in kernel/trace/trace_output.c.
var graphMarks = [...]struct {
	over uint64
	mark byte
}{{1e9, '$'}, {1e8, '@'}, {1e7, '*'}, {1e6, '#'}, {1e5, '!'}, {1e4, '+'}}

func graphMark(ns uint64) byte {
	for _, m := range graphMarks {
		if ns > m.over {
			return m.mark
		}
	}
	return ' '
}

// graphDuration appends the column of the duration, with its mark.
func (p *printer) graphDuration(ns uint64) {
	if !p.t.opt(optGraphDuration) || !p.t.opt(optContextInfo) {
		return
	}
	if p.t.opt(optGraphOverhead) {
		p.Buf = append(p.Buf, graphMark(ns), ' ')
	} else {
		p.Buf = append(p.Buf, "  "...)
	}
	p.Buf = append(appendDuration(p.Buf, ns), "|  "...)
}

// appendDuration is trace_print_graph_duration: microseconds in at most seven digits, of which three behind the point when they
// fit, in 12 columns.
func appendDuration(b []byte, ns uint64) []byte {
	at := len(b)
	b = strconv.AppendUint(b, ns/1000, 10)
	if n := len(b) - at; n < 7 {
		rest := padNum(nil, ns%1000, 3, '0')
		b = append(append(b, '.'), rest[:min(3, 7-n)]...)
	}
	n := len(b) - at
	b = append(b, " us "...)
	for ; n < 8; n++ {
		b = append(b, ' ')
	}
	return b
}

// graphHeader appends the comment lines in front; see print_graph_headers_flags.
func (p *printer) graphHeader(cpu int) {
	t := p.t
	if !t.opt(optContextInfo) {
		return
	}
	if t.opt(optLatencyFmt) {
		if t.empty(cpu, p.snap) {
			return
		}
		p.latencyTitle(cpu)
		p.graphLatencyHeader()
	}
	column := func(o option, first, second string) [2]string {
		if t.opt(o) {
			return [2]string{first, second}
		}
		return [2]string{}
	}
	columns := [][2]string{
		{"#", "#"},
		column(optGraphAbstime, "     TIME       ", "      |         "),
		column(optGraphCPU, " CPU", " |  "),
		column(optGraphProc, "  TASK/PID       ", "   |    |        "),
		column(optLatencyFmt, "||||   ", "||||   "),
		column(optGraphDuration, "  DURATION   ", "   |   |      "),
		{"               FUNCTION CALLS\n", "               |   |   |   |\n"},
	}
	for line := range 2 {
		for _, c := range columns {
			p.Buf = append(p.Buf, c[line]...)
		}
	}
}

func (p *printer) graphLatencyHeader() {
	t, size := p.t, 0
	if t.opt(optGraphAbstime) {
		size += 16
	}
	if t.opt(optGraphCPU) {
		size += 4
	}
	if t.opt(optGraphProc) {
		size += 17
	}
	for _, s := range []string{"  _-----=> irqs-off        \n", " / _----=> need-resched    \n", "| / _---=> hardirq/softirq \n",
		"|| / _--=> preempt-depth   \n", "||| /                      \n"} {
		p.Buf = append(padLeft(append(p.Buf, '#'), "", size), s...)
	}
}
