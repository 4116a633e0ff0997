package ftrace

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strings"

	"kscope/ftrace/event"
	"kscope/kernel"
)

// What function_graph shows behind --features: return values, callers and arguments. Their texts are those of 6.15
// (print_graph_retval and print_graph_retaddr in kernel/trace/trace_functions_graph.c, print_function_args in trace_output.c). The
// records are those kernels' (struct ftrace_graph_ent, fgraph_retaddr_ent, ftrace_graph_ret):
//
//	entry   func depth retaddr args[6]     the last two are there when their options were on; depth has eight bytes with the features
//	exit    func retval depth overrun calltime rettime

// maxGraphArgs is FTRACE_REGS_MAX_ARGS.
const maxGraphArgs = 6

const (
	graphExtraAt  = 24 // behind an entry, on a multiple of eight
	graphArgsSize = 8 * maxGraphArgs
)

func (g *graph) entrySize(o options) int {
	if !g.wide {
		return event.GraphEntrySize
	}
	n := graphExtraAt
	if o>>optGraphRetaddr&1 != 0 {
		n += 8
	}
	if o>>optGraphArgs&1 != 0 {
		n += graphArgsSize
	}
	return n
}

// putGraphExtra fills in what is behind an entry; regs is the trampoline's pt_regs, which has the registers of arguments.
func (t *Tracer) putGraphExtra(d []byte, caller, regs uint64) {
	clear(d[event.GraphEntrySize:graphExtraAt])
	at := graphExtraAt
	if t.opt(optGraphRetaddr) {
		binary.LittleEndian.PutUint64(d[at:], caller)
		at += 8
	}
	if t.opt(optGraphArgs) {
		for i, off := range t.lay.args {
			binary.LittleEndian.PutUint64(d[at+8*i:], hot{t.m}.u64(regs+off))
		}
	}
}

// topReturn is where a function will return to: ftrace_graph_top_ret_addr. One that was entered by a jump from a traced function
// returns for it.
func (g *graph) topReturn(s *retStack, r *graphRet) uint64 {
	to := r.ret
	for i := len(s.rets) - 1; i >= 0 && to == g.handler; i-- {
		to = s.rets[i].ret
	}
	return to
}

// graphRetaddr and graphArgs find the parts by the record's length.
func graphRetaddr(d []byte) (addr uint64, ok bool) {
	switch len(d) {
	case graphExtraAt + 8, graphExtraAt + 8 + graphArgsSize:
		return binary.LittleEndian.Uint64(d[graphExtraAt:]), true
	}
	return 0, false
}

func graphArgs(d []byte) (args []byte, ok bool) {
	if len(d) < graphExtraAt+graphArgsSize {
		return nil, false
	}
	return d[len(d)-graphArgsSize:], true
}

// withExtra is the format of an event of function_graph with what the features add: in 6.5 a return value, in 6.13 and 6.15 a depth
// of eight bytes, the caller and arguments.
func (t *Tracer) withExtra(f *event.Format) *event.Format {
	n := *f
	switch {
	case f.ID == event.IDGraphExit && t.feature(featureRetval):
		n.Fields = slices.Insert(slices.Clone(f.Fields), 1, event.Field{Type: "unsigned long", Name: "retval", Offset: 16, Size: 8})
		for i := 2; i < len(n.Fields); i++ {
			n.Fields[i].Offset += 8
		}
		n.Print = strings.Replace(f.Print, `over: %d"`, `over: %d retval: %lx"`, 1) + ", REC->retval"
	case f.ID == event.IDGraphEntry && (t.feature(featureRetaddr) || t.feature(featureArgs)):
		n.Fields = append(slices.Clone(f.Fields[:1]), event.Field{Type: "unsigned long", Name: "depth", Offset: 16, Size: 8})
		at := graphExtraAt
		if t.feature(featureRetaddr) && t.opt(optGraphRetaddr) { // Linux has an event of its own for these, fgraph_retaddr_entry
			n.Fields = append(n.Fields, event.Field{Type: "unsigned long", Name: "retaddr", Offset: at, Size: 8})
			at += 8
		}
		if t.feature(featureArgs) {
			n.Fields = append(n.Fields, event.Field{Type: "unsigned long[]", Name: "args", Offset: at})
		}
		n.Print = strings.Replace(f.Print, "(%d)", "(%u)", 1)
	default:
		return f
	}
	return &n
}

// graphCall appends a function with its arguments.
func (p *printer) graphCall(fn uint64, d []byte) {
	p.Buf = append(p.graphSymbol(fn), '(')
	if args, ok := graphArgs(d); ok && p.t.root().opt(optGraphArgs) {
		p.graphArgs(fn, args)
	}
	p.Buf = append(p.Buf, ')')
}

func (p *printer) graphArgs(fn uint64, args []byte) {
	f, ok := p.t.m.Types().Func(p.plainName(fn), fn)
	if !ok {
		return
	}
	for i, q := range f.Params {
		if i > 0 {
			p.Buf = append(p.Buf, ", "...)
		}
		if i == maxGraphArgs {
			p.Buf = append(p.Buf, "..."...)
			return
		}
		p.Buf = append(append(p.Buf, q.Name...), '=')
		p.Buf = appendArg(p.Buf, q.Type, binary.LittleEndian.Uint64(args[8*i:]))
	}
}

// appendArg prints a register by the type of its parameter: signed numbers and enums in decimal, all else in hexadecimal. Of a
// narrow type only its bits are meant; Linux prints the whole register.
func appendArg(b []byte, t *kernel.Type, x uint64) []byte {
	if t == nil {
		return fmt.Appendf(b, "0x%x", x)
	}
	if t.Size > 0 && t.Size < 8 {
		shift := 64 - 8*uint(t.Size)
		if x = x << shift >> shift; t.Kind != kernel.KindUint && t.Kind != kernel.KindBool {
			x = uint64(int64(x<<shift) >> shift)
		}
	}
	switch t.Kind {
	case kernel.KindInt, kernel.KindChar, kernel.KindEnum:
		return fmt.Appendf(b, "%d", int64(x))
	}
	return fmt.Appendf(b, "0x%x", x)
}

// graphLeafEnd ends the line of a leaf.
func (p *printer) graphLeafEnd(entry, exit []byte) {
	p.Buf = append(p.Buf, ';')
	ret, hasRet := p.retval(exit)
	addr, hasAddr := graphRetaddr(entry)
	hasAddr = hasAddr && p.t.root().opt(optGraphRetaddr)
	if hasRet || hasAddr {
		p.Buf = append(p.Buf, " /*"...)
		if hasAddr {
			p.Buf = append(append(p.Buf, " <-"...), p.t.guest.symbol(addr, true)...)
		}
		p.Buf = append(append(p.Buf, ret...), " */"...)
	}
	p.Buf = append(p.Buf, '\n')
}

func (p *printer) graphNestedEnd(entry []byte) {
	p.Buf = append(p.Buf, " {"...)
	if addr, ok := graphRetaddr(entry); ok && p.t.root().opt(optGraphRetaddr) {
		p.Buf = append(append(append(p.Buf, " /* <-"...), p.t.guest.symbol(addr, true)...), " */"...)
	}
	p.Buf = append(p.Buf, '\n')
}

// retval is the text of an exit's return value: an errno as a negative number, whether it is in 32 bits or in 64.
func (p *printer) retval(d []byte) (text string, ok bool) {
	t := p.t.root()
	r, _ := event.ParseGraph(event.IDGraphExit, d)
	if !t.opt(optGraphRetval) || !r.HasRetval {
		return "", false
	}
	x := r.Retval
	code := int64(x)
	if x>>31 == 1 {
		code = int64(int32(x))
	}
	if t.opt(optGraphRetvalHex) || code >= 0 || code < -4095 {
		return fmt.Sprintf(" ret=0x%x", x), true
	}
	return fmt.Sprintf(" ret=%d", code), true
}
