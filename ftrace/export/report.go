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

// Report prints the events, a line each: task, CPU, flags, time in seconds, the event's name and its text by its print fmt.
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
	for i := range recs {
		r := &recs[i]
		switch {
		case r.Lost > 0:
			fmt.Fprintf(w, "CPU:%d [%d EVENTS DROPPED]\n", r.CPU, r.Lost)
		case r.Lost < 0:
			fmt.Fprintf(w, "CPU:%d [EVENTS DROPPED]\n", r.CPU)
		}
		us := (r.TS + 500) / 1000 // as trace-cmd and the kernel round
		flags := r.Header.Latency()
		fmt.Fprintf(w, "%16s-%-7d [%03d] %s %5d.%06d: %s", r.Comm, r.Header.PID, r.CPU, flags[:], us/1e6, us%1e6, r.text(p))
	}
	return nil
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
