package event

import (
	"encoding/binary"
	"strconv"
)

// The ids of Linux's own events; see enum trace_type in kernel/trace/trace.h.
const (
	IDFunction    = 1
	IDKernelStack = 4
	IDPrint       = 5
	IDBprint      = 6
	IDGraphExit   = 10
	IDGraphEntry  = 11
	IDUserStack   = 12
	IDBputs       = 14
	IDRawData     = 18
	IDFuncRepeats = 19
)

// FirstDynamicID is the first id of events that are not built in (__TRACE_LAST_TYPE).
const FirstDynamicID = 20

// stackEnd marks the end of a kernel_stack record that is shorter than its room.
const stackEnd = ^uint64(0)

var (
	u64 = binary.LittleEndian.Uint64
	u32 = binary.LittleEndian.Uint32
)

// Core are the events of the tracers themselves. It is never written.
var Core = []Format{
	{
		System: "ftrace", Name: "function", ID: IDFunction,
		Fields: []Field{{"unsigned long", "ip", 8, 8, false}, {"unsigned long", "parent_ip", 16, 8, false}},
		Print:  `" %ps <-- %ps", (void *)REC->ip, (void *)REC->parent_ip`,
		Text: func(p *Printer, d []byte) {
			p.Buf = p.Sym(p.Buf, u64(d[8:]))
			if parent := u64(d[16:]); parent != 0 && !p.NoParent {
				p.Buf = p.Sym(append(p.Buf, " <-"...), parent)
			}
			p.Buf = append(p.Buf, '\n')
		},
		Raw: func(p *Printer, d []byte) {
			p.Num(u64(d[8:]), 8)
			if p.Mode == ModeRaw {
				p.Buf = append(p.Buf, ' ')
			}
			p.Num(u64(d[16:]), 8)
			if p.Mode == ModeRaw {
				p.Buf = append(p.Buf, '\n')
			}
		},
	},
	{
		System: "ftrace", Name: "kernel_stack", ID: IDKernelStack,
		Fields: []Field{{"int", "size", 8, 4, true}, {"unsigned long[8]", "caller", 16, 64, false}},
		Print: `"\t=> %ps\n\t=> %ps\n\t=> %ps\n" "\t=> %ps\n\t=> %ps\n\t=> %ps\n" "\t=> %ps\n\t=> %ps\n", ` +
			`(void *)REC->caller[0], (void *)REC->caller[1], (void *)REC->caller[2], (void *)REC->caller[3], ` +
			`(void *)REC->caller[4], (void *)REC->caller[5], (void *)REC->caller[6], (void *)REC->caller[7]`,
		Text: func(p *Printer, d []byte) {
			p.Buf = append(p.Buf, "<stack trace>\n"...)
			for d = d[16:]; len(d) >= 8 && u64(d) != stackEnd; d = d[8:] {
				p.Buf = append(p.Sym(append(p.Buf, " => "...), u64(d)), '\n')
			}
		},
	},
	{
		System: "ftrace", Name: "user_stack", ID: IDUserStack, Fields: []Field{
			{"unsigned int", "tgid", 8, 4, false},
			{"unsigned long[8]", "caller", 16, 64, false}},
		Print: `"\t=> %ps\n\t=> %ps\n\t=> %ps\n" "\t=> %ps\n\t=> %ps\n\t=> %ps\n" "\t=> %ps\n\t=> %ps\n", (void *)REC->caller[0], (void *)REC->caller[1], (void *)REC->caller[2], (void *)REC->caller[3], (void *)REC->caller[4], (void *)REC->caller[5], (void *)REC->caller[6], (void *)REC->caller[7]`,
		Text: func(p *Printer, d []byte) {
			p.Buf = append(p.Buf, "<user stack trace>\n"...)
			tgid := uint32(u64(d[8:]))
			for d = d[16:]; len(d) >= 8 && u64(d) != 0; d = d[8:] {
				p.Buf = append(p.Buf, " => "...)
				if p.User != nil {
					p.Buf = p.User(p.Buf, tgid, u64(d))
				} else {
					p.Buf = append(p.Buf, " <"...)
					p.hex16(u64(d))
					p.Buf = append(p.Buf, '>')
				}
				p.Buf = append(p.Buf, '\n')
			}
		},
	},
	{
		System: "ftrace", Name: "print", ID: IDPrint,
		Fields: []Field{{"unsigned long", "ip", 8, 8, false}, {"char[]", "buf", 16, 0, true}},
		Print:  `"%ps: %s", (void *)REC->ip, REC->buf`,
		Text: func(p *Printer, d []byte) {
			p.Buf = append(p.Sym(p.Buf, u64(d[8:])), ": "...)
			p.Buf = append(p.Buf, cString(d[16:])...)
		},
		Raw: func(p *Printer, d []byte) {
			if p.Mode == ModeRaw {
				p.Buf = append(strconv.AppendUint(append(p.Buf, "# "...), u64(d[8:]), 16), ' ')
				p.Buf = append(p.Buf, cString(d[16:])...)
				return
			}
			nop(p, IDPrint)
		},
	},
	{
		System: "ftrace", Name: "bprint", ID: IDBprint,
		Fields: []Field{{"unsigned long", "ip", 8, 8, false}, {"const char *", "fmt", 16, 8, false}, {"u32[]", "buf", 24, 0, false}},
		Print:  `"%ps: %s", (void *)REC->ip, REC->fmt`, Text: bprintText, Raw: bprintRaw,
	},
	{
		System: "ftrace", Name: "bputs", ID: IDBputs,
		Fields: []Field{{"unsigned long", "ip", 8, 8, false}, {"const char *", "str", 16, 8, false}},
		Print:  `"%ps: %s", (void *)REC->ip, REC->str`, Text: bprintText, Raw: bprintRaw,
	},
	{
		System: "ftrace", Name: "funcgraph_exit", ID: IDGraphExit,
		Fields: []Field{{"unsigned long", "func", 8, 8, false}, {"int", "depth", 16, 4, true}, {"unsigned int", "overrun", 20, 4, false},
			{"unsigned long long", "calltime", 24, 8, false}, {"unsigned long long", "rettime", 32, 8, false}},
		Print: `"<-- %ps (%d) (start: %llx  end: %llx) over: %d", (void *)REC->func, REC->depth, REC->calltime, REC->rettime, REC->depth`,
		Text: func(p *Printer, d []byte) {
			r, _ := ParseGraph(IDGraphExit, d)
			p.Buf = append(p.indent(uint32(r.Depth)), "}\n"...)
		},
	},
	{
		System: "ftrace", Name: "funcgraph_entry", ID: IDGraphEntry,
		Fields: []Field{{"unsigned long", "func", 8, 8, false}, {"int", "depth", 16, 4, true}},
		Print:  `"--> %ps (%d)", (void *)REC->func, REC->depth`,
		Text: func(p *Printer, d []byte) {
			p.Buf = append(p.Sym(p.indent(u32(d[16:])), u64(d[8:])), "() {\n"...)
		},
	},
	{
		System: "ftrace", Name: "raw_data", ID: IDRawData,
		Fields: []Field{{"unsigned int", "id", 8, 4, false}, {"char[]", "buf", 12, 0, true}},
		Print:  `"id:%04x %08x", REC->id, (int)REC->buf[0]`,
		Text: func(p *Printer, d []byte) {
			p.Buf = append(strconv.AppendUint(append(p.Buf, "# "...), uint64(u32(d[8:])), 16), " buf:"...)
			const hex = "0123456789abcdef"
			for _, c := range d[12:] {
				p.Buf = append(p.Buf, ' ', hex[c>>4], hex[c&15])
			}
			p.Buf = append(p.Buf, '\n')
		},
	},
	{
		System: "ftrace", Name: "func_repeats", ID: IDFuncRepeats,
		Fields: []Field{{"unsigned long", "ip", 8, 8, false}, {"unsigned long", "parent_ip", 16, 8, false}, {"u16", "count", 24, 2, false},
			{"u16", "top_delta_ts", 26, 2, false}, {"u32", "bottom_delta_ts", 28, 4, false}},
		Print: `" %ps <-%ps\t(repeats:%u  delta: -%llu)", (void *)REC->ip, (void *)REC->parent_ip, REC->count, ` +
			`(((u64)(REC)->top_delta_ts << 32) | (REC)->bottom_delta_ts)`,
		Text: func(p *Printer, d []byte) { // without the time of the last one, which only a tracer's line has
			p.Buf = append(p.Sym(append(p.Sym(p.Buf, u64(d[8:])), " <-"...), u64(d[16:])), " (repeats: "...)
			p.Buf = append(strconv.AppendUint(p.Buf, uint64(u32(d[24:])&0xffff), 10), ")\n"...)
		},
		Raw: func(p *Printer, d []byte) {
			if p.Mode != ModeRaw {
				nop(p, IDFuncRepeats)
				return
			}
			r, _ := ParseRepeats(d)
			p.Buf = append(strconv.AppendUint(p.Buf, r.IP, 16), ' ')
			p.Buf = append(strconv.AppendUint(p.Buf, r.Parent, 16), ' ')
			p.Buf = append(strconv.AppendUint(p.Buf, uint64(r.Count), 10), ' ')
			p.Buf = append(strconv.AppendUint(p.Buf, r.Delta, 10), '\n')
		},
	},
}

// indent appends two blanks for each level of depth. A tracer's own lines of these events are not made here but in
// package ftrace, which looks ahead for the exit of a leaf.
func (p *Printer) indent(depth uint32) []byte {
	for range min(depth, 50) {
		p.Buf = append(p.Buf, "  "...)
	}
	return p.Buf
}

// nop is what an event without a form of its own prints; see trace_nop_print.
func nop(p *Printer, id uint16) {
	p.Buf = append(strconv.AppendUint(append(p.Buf, "type: "...), uint64(id), 10), '\n')
}

// minSize is the least length of a record of f: its fixed fields.
func (f *Format) minSize() int {
	n := HeaderSize
	for i := range f.Fields {
		if n = max(n, f.Fields[i].Offset); f.ID != IDKernelStack || i == 0 { // caller is as long as the stack is deep
			n = max(n, f.Fields[i].Offset+f.Fields[i].Size)
		}
	}
	return n
}

// Line appends the event's part of a trace line for record d, as p.Mode asks. A record that is too short for its event,
// or of no known event, gives Linux's text for that.
func (s *Set) Line(p *Printer, d []byte) {
	h, ok := Parse(d)
	f := s.byID[h.Type]
	switch {
	case !ok || f == nil:
		p.Buf = append(append(p.Buf, "Unknown type "...), strconv.Itoa(int(h.Type))...)
		p.Buf = append(p.Buf, '\n')
	case len(d) < f.minSize():
		p.Buf = append(p.Buf, "[short record]\n"...)
	case p.Mode == ModeText:
		f.Text(p, d)
	case f.Raw != nil:
		f.Raw(p, d)
	default:
		nop(p, h.Type)
	}
}

// The makers below give the payload length and fill the record; n is what ring.Reserve is asked for.

// FunctionSize is the length of a function record.
const FunctionSize = 24

// PutFunction fills a function record.
func PutFunction(d []byte, h Header, ip, parent uint64) {
	_ = d[23]
	h.Put(d)
	binary.LittleEndian.PutUint64(d[8:], ip)
	binary.LittleEndian.PutUint64(d[16:], parent)
}

// GraphEntrySize and GraphExitSize are the lengths of function_graph's records, GraphRetvalSize that of an exit with what the
// function returned: since 6.5 that stands behind the function (struct ftrace_graph_ret).
const (
	GraphEntrySize  = 20
	GraphExitSize   = 40
	GraphRetvalSize = GraphExitSize + 8
)

// PutGraphEntry fills a funcgraph_entry record.
func PutGraphEntry(d []byte, h Header, fn uint64, depth uint32) {
	_ = d[19]
	h.Put(d)
	binary.LittleEndian.PutUint64(d[8:], fn)
	binary.LittleEndian.PutUint32(d[16:], depth)
}

// PutGraphExit fills a funcgraph_exit record.
func PutGraphExit(d []byte, h Header, fn uint64, depth, overrun uint32, call, ret uint64) {
	_ = d[39]
	h.Put(d)
	binary.LittleEndian.PutUint64(d[8:], fn)
	binary.LittleEndian.PutUint32(d[16:], depth)
	binary.LittleEndian.PutUint32(d[20:], overrun)
	binary.LittleEndian.PutUint64(d[24:], call)
	binary.LittleEndian.PutUint64(d[32:], ret)
}

// PutGraphRetval fills a funcgraph_exit record with a return value.
func PutGraphRetval(d []byte, h Header, fn, retval uint64, depth, overrun uint32, call, ret uint64) {
	PutGraphExit(d[8:], h, retval, depth, overrun, call, ret)
	h.Put(d)
	binary.LittleEndian.PutUint64(d[8:], fn)
	binary.LittleEndian.PutUint64(d[16:], retval)
}

// GraphRecord is a decoded funcgraph_entry or funcgraph_exit.
type GraphRecord struct {
	Func      uint64
	Depth     int32
	Overrun   uint32
	Call, Ret uint64 // of an exit
	Retval    uint64 // of an exit that has one
	HasRetval bool
}

// ParseGraph decodes one; ok is false when it is too short.
func ParseGraph(id uint16, d []byte) (r GraphRecord, ok bool) {
	if len(d) < GraphEntrySize || id == IDGraphExit && len(d) < GraphExitSize {
		return r, false
	}
	r.Func = u64(d[8:])
	if r.HasRetval = id == IDGraphExit && len(d) >= GraphRetvalSize; r.HasRetval {
		r.Retval = u64(d[16:])
		d = d[8:]
	}
	r.Depth = int32(u32(d[16:]))
	if id == IDGraphExit {
		r.Overrun, r.Call, r.Ret = u32(d[20:]), u64(d[24:]), u64(d[32:])
	}
	return r, true
}

// RepeatsSize is the length of a func_repeats record.
const RepeatsSize = 32

// Repeats is a decoded func_repeats record: calls that were the same as the one before; Delta is how long before the record
// the last one was.
type Repeats struct {
	IP, Parent uint64
	Count      uint16
	Delta      uint64 // 48 bits
}

// PutRepeats fills a func_repeats record.
func PutRepeats(d []byte, h Header, r Repeats) {
	_ = d[31]
	h.Put(d)
	binary.LittleEndian.PutUint64(d[8:], r.IP)
	binary.LittleEndian.PutUint64(d[16:], r.Parent)
	binary.LittleEndian.PutUint16(d[24:], r.Count)
	binary.LittleEndian.PutUint16(d[26:], uint16(r.Delta>>32))
	binary.LittleEndian.PutUint32(d[28:], uint32(r.Delta))
}

// ParseRepeats decodes one; ok is false when it is too short.
func ParseRepeats(d []byte) (r Repeats, ok bool) {
	if len(d) < RepeatsSize {
		return r, false
	}
	return Repeats{u64(d[8:]), u64(d[16:]), uint16(u32(d[24:])), uint64(binary.LittleEndian.Uint16(d[26:]))<<32 | uint64(u32(d[28:]))}, true
}

// PrintSize is the length that Linux reserves for a print record of n bytes of text: room for "\n\0", and for the word
// that a faulting write leaves (tracing_mark_write).
func PrintSize(n int) int { return 16 + max(n, len("<faulted>")) + 2 }

// PutPrint fills a print record: text ends in a newline, added when missing, and NUL.
func PutPrint(d []byte, h Header, ip uint64, text []byte) {
	h.Put(d)
	binary.LittleEndian.PutUint64(d[8:], ip)
	n := 16 + copy(d[16:], text)
	if len(text) == 0 || text[len(text)-1] != '\n' {
		d[n] = '\n'
		n++
	}
	clear(d[n:])
}

// StackSize is the length of a kernel_stack record of n addresses.
func StackSize(n int) int { return 16 + 8*n }

// PutStack fills a kernel_stack record.
func PutStack(d []byte, h Header, stack []uint64) {
	h.Put(d)
	binary.LittleEndian.PutUint64(d[8:], uint64(uint32(len(stack))))
	for i, a := range stack {
		binary.LittleEndian.PutUint64(d[16+8*i:], a)
	}
}

// HeaderPage and HeaderEvent are events/header_page and events/header_event, for the ring's 4 KiB pages.
const HeaderPage = "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n" +
	"\tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;\n" +
	"\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n" +
	"\tfield: char data;\toffset:16;\tsize:4080;\tsigned:1;\n"

const HeaderEvent = "# compressed entry header\n\ttype_len    :    5 bits\n\ttime_delta  :   27 bits\n\tarray       :   32 bits\n\n" +
	"\tpadding     : type == 29\n\ttime_extend : type == 30\n\ttime_stamp : type == 31\n\tdata max type_len  == 28\n"
