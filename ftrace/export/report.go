package export

import (
	"bytes"
	"fmt"
	"io"
	"sort"
	"strconv"
	"strings"

	"kscope/ftrace/event"
)

// symbols are a Dat's kallsyms by address.
type symbols struct {
	addr  []uint64
	names []string
}

func (d *Dat) symbols() *symbols {
	s := &symbols{}
	for _, line := range split(d.Kallsyms) {
		w := strings.Fields(line)
		if len(w) < 3 {
			continue
		}
		a, err := strconv.ParseUint(w[0], 16, 64)
		if err != nil {
			continue
		}
		name := w[2]
		if len(w) > 3 {
			name += " " + w[3]
		}
		s.addr, s.names = append(s.addr, a), append(s.names, name)
	}
	sort.Stable(s)
	return s
}

func (s *symbols) Len() int           { return len(s.addr) }
func (s *symbols) Less(i, j int) bool { return s.addr[i] < s.addr[j] }
func (s *symbols) Swap(i, j int) {
	s.addr[i], s.addr[j] = s.addr[j], s.addr[i]
	s.names[i], s.names[j] = s.names[j], s.names[i]
}

// name appends an address as its symbol; a trace.dat tells no sizes.
func (s *symbols) name(b []byte, a uint64, offset bool) []byte {
	i := sort.Search(len(s.addr), func(i int) bool { return s.addr[i] > a }) - 1
	if i < 0 {
		return fmt.Appendf(b, "0x%x", a)
	}
	for i > 0 && s.addr[i-1] == s.addr[i] {
		i--
	}
	b = append(b, s.names[i]...)
	if offset && a != s.addr[i] {
		b = fmt.Appendf(b, "+0x%x", a-s.addr[i])
	}
	return b
}

// Report prints the events, a line each: task, CPU, flags, time in seconds, the event's name and its text by its print fmt. It is the
// layout of trace-cmd report, with the flags; the two records of a call that function_graph saw without calls of its own are one line.
func (d *Dat) Report(w io.Writer) error {
	recs, err := d.Records()
	if err != nil {
		return err
	}
	syms, formats := d.symbols(), d.printkFormats()
	p := &event.Printer{Name: syms.name, NoHash: true}
	p.Sym = func(b []byte, a uint64) []byte { return syms.name(b, a, false) }
	p.Str = func(va uint64) string { return formats[va] }
	fmt.Fprintf(w, "cpus=%d\n", len(d.Pages))
	leaf := false // the record before was the entry of a leaf: this is its exit
	for i := range recs {
		r := &recs[i]
		switch {
		case r.Lost > 0:
			fmt.Fprintf(w, "CPU:%d [%d EVENTS DROPPED]\n", r.CPU, r.Lost)
		case r.Lost < 0:
			fmt.Fprintf(w, "CPU:%d [EVENTS DROPPED]\n", r.CPU)
		}
		if leaf {
			leaf = false
			continue
		}
		us := (r.TS + 500) / 1000 // as trace-cmd and the kernel round
		flags := r.Header.Latency()
		fmt.Fprintf(w, "%16s-%-7d [%03d] %s %5d.%06d: ", r.Comm, r.Header.PID, r.CPU, flags[:], us/1e6, us%1e6)
		text, ok := r.graph(p)
		if leaf = ok && i+1 < len(recs) && recs[i+1].ends(r); leaf {
			text = recs[i+1].leaf(p, r)
		}
		name := ""
		if ok {
			name = r.Format.Name
		} else {
			name, text, _ = strings.Cut(string(r.text(p)), ":")
			text = strings.TrimPrefix(text, " ")
		}
		fmt.Fprintf(w, "%-21s %s", name+":", text)
	}
	return nil
}

// isGraph tells records of function_graph, an entry or an exit.
func (r *Record) isGraph(id uint16) bool {
	return r.Format != nil && r.Format.System == "ftrace" && r.Format.ID == id
}

// graph is the text of a record of function_graph, as trace-cmd prints it: overhead, duration, "|", and the call at its depth. ok is
// false for any other record.
func (r *Record) graph(p *event.Printer) (text string, ok bool) {
	exit := r.isGraph(event.IDGraphExit)
	if !exit && !r.isGraph(event.IDGraphEntry) {
		return "", false
	}
	g, ok := event.ParseGraph(r.Format.ID, r.Data)
	switch {
	case !ok:
		return "", false
	case exit:
		return graphTime(g.Ret-g.Call) + graphIndent(g) + "}\n", true
	}
	return fmt.Sprintf("  %-10s |  %s%s() {\n", "", graphIndent(g), p.Sym(nil, g.Func)), true
}

// ends tells that r is the end of the call that entry began. trace-cmd takes it for that of a leaf when no record of any CPU is between.
func (r *Record) ends(entry *Record) bool {
	if !r.isGraph(event.IDGraphExit) || !entry.isGraph(event.IDGraphEntry) || r.Header.PID != entry.Header.PID || r.Lost != 0 {
		return false
	}
	x, ok1 := event.ParseGraph(event.IDGraphExit, r.Data)
	e, ok2 := event.ParseGraph(event.IDGraphEntry, entry.Data)
	return ok1 && ok2 && x.Func == e.Func
}

// leaf is the line of a call that entry began and r ended.
func (r *Record) leaf(p *event.Printer, entry *Record) string {
	x, _ := event.ParseGraph(event.IDGraphExit, r.Data)
	e, _ := event.ParseGraph(event.IDGraphEntry, entry.Data)
	return fmt.Sprintf("%s%s%s();\n", graphTime(x.Ret-x.Call), graphIndent(e), p.Sym(nil, e.Func))
}

func graphIndent(g event.GraphRecord) string {
	const most = 50 // of the kernel's shadow stack
	return strings.Repeat("  ", int(max(0, min(g.Depth, most))))
}

// graphTime is a duration in ns behind the mark of a long one; see print_graph_overhead in tracecmd/trace-ftrace.c of trace-cmd.
func graphTime(ns uint64) string {
	mark := ' '
	switch {
	case ns > 1e9:
		mark = '$'
	case ns > 1e6:
		mark = '#'
	case ns > 1e5:
		mark = '!'
	case ns > 1e4:
		mark = '+'
	}
	us := strconv.FormatUint(ns/1000, 10)
	if len(us) < 7 {
		us += fmt.Sprintf(".%03d", ns%1000)
	}
	return fmt.Sprintf("%c %-10s |  ", mark, us+" us")
}

// text is "NAME: TEXT\n".
func (r *Record) text(p *event.Printer) []byte {
	p.Buf = p.Buf[:0]
	switch {
	case r.Format == nil:
		p.Buf = fmt.Appendf(p.Buf, "unknown event %d\n", r.Header.Type)
	case r.Format.Text != nil:
		if r.Format.System == "ftrace" { // the kernel prints these without their names
			p.Buf = append(append(p.Buf, r.Format.Name...), ": "...)
		}
		if r.Format.Text(p, r.Data); !bytes.HasSuffix(p.Buf, []byte("\n")) {
			p.Buf = append(p.Buf, '\n')
		}
	default: // a print fmt that is not understood: the fields
		p.Buf = append(append(p.Buf, r.Format.Name...), ':')
		for i := range r.Format.Fields {
			f := &r.Format.Fields[i]
			switch v, ok := f.Decode(r.Data); {
			case !ok:
			case v.Text != "":
				p.Buf = fmt.Appendf(p.Buf, " %s=%s", f.Name, v.Text)
			case f.Signed:
				p.Buf = fmt.Appendf(p.Buf, " %s=%d", f.Name, int64(v.Num))
			default:
				p.Buf = fmt.Appendf(p.Buf, " %s=0x%x", f.Name, v.Num)
			}
		}
		p.Buf = append(p.Buf, '\n')
	}
	return p.Buf
}

// printkFormats are the strings of printk_formats by address.
func (d *Dat) printkFormats() map[uint64]string {
	out := map[uint64]string{}
	for _, line := range split(d.Printk) {
		addr, text, ok := strings.Cut(line, " : ")
		a, err := strconv.ParseUint(strings.TrimPrefix(addr, "0x"), 16, 64)
		if s, uerr := strconv.Unquote(text); ok && err == nil && uerr == nil {
			out[a] = s
		}
	}
	return out
}
