package kprobe

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"

	"kscope/ftrace/event"
)

// format is the descriptor of an event: fields, print fmt (__set_print_fmt), text.
func (e *Event) format(id uint16) *event.Format {
	f := &event.Format{System: e.Group, Name: e.Name, ID: id}
	ulong := func(name string, off int) {
		f.Fields = append(f.Fields, event.Field{Type: "unsigned long", Name: name, Offset: off, Size: 8})
	}
	if e.Return {
		ulong(fieldFunc, 8)
		ulong(fieldRetIP, 16)
	} else {
		ulong(fieldIP, 8)
	}
	for _, a := range e.Args {
		typ := a.Type.Field
		if a.Count > 0 {
			typ += "[]"
		}
		f.Fields = append(f.Fields, event.Field{Type: typ, Name: a.Name, Offset: a.offset, Size: a.size(), Signed: a.Type.Signed})
	}
	f.Print = e.printFormat()
	f.Text = e.print
	return f
}

func (e *Event) printFormat() string {
	format, args := "(%lx)", "REC->"+fieldIP
	if e.Return {
		format, args = "(%lx <- %lx)", "REC->"+fieldFunc+", REC->"+fieldRetIP
	}
	var f, a strings.Builder
	for _, p := range e.Args {
		get := "REC->%s"
		if p.Type.str {
			get = "__get_str(%s)"
		}
		if p.Count == 0 {
			fmt.Fprintf(&f, " %s=%s", p.Name, p.Type.Format)
			fmt.Fprintf(&a, ", "+get, p.Name)
			continue
		}
		fmt.Fprintf(&f, " %s={%s%s}", p.Name, p.Type.Format, strings.Repeat(","+p.Type.Format, p.Count-1))
		for i := range p.Count {
			fmt.Fprintf(&a, ", "+get, p.Name+"["+strconv.Itoa(i)+"]")
		}
	}
	return `"` + format + f.String() + `", ` + args + a.String()
}

// print is print_kprobe_event and print_kretprobe_event.
func (e *Event) print(p *event.Printer, d []byte) {
	syms := e.k.m.Symbols()
	u64 := binary.LittleEndian.Uint64
	p.Buf = append(append(p.Buf, e.Name...), ": ("...)
	if e.Return {
		if from := u64(d[16:]); from == e.k.tramp { // see kretprobed in kernel/trace/trace_output.c
			p.Buf = append(p.Buf, "[unknown/kretprobe'd]"...)
		} else {
			p.Buf = symAddr(p, append(p.Buf, syms.Format(from)...), from)
		}
		p.Buf = append(p.Buf, " <- "...)
		p.Buf = symAddr(p, append(p.Buf, syms.Name(u64(d[8:]))...), u64(d[8:]))
	} else {
		p.Buf = symAddr(p, append(p.Buf, syms.Format(u64(d[8:]))...), u64(d[8:]))
	}
	p.Buf = append(p.Buf, ')')
	e.printArgs(p, d)
}

// printArgs is print_probe_args, and the end of the line.
func (e *Event) printArgs(p *event.Printer, d []byte) {
	for _, a := range e.Args {
		p.Buf = append(append(append(p.Buf, ' '), a.Name...), '=')
		if a.Count == 0 {
			p.Buf = e.printArg(p.Buf, a, d, a.offset)
			continue
		}
		for i := range a.Count {
			p.Buf = append(p.Buf, "{,"[min(i, 1)])
			p.Buf = e.printArg(p.Buf, a, d, a.offset+i*a.Type.Size)
		}
		p.Buf = append(p.Buf, '}')
	}
	p.Buf = append(p.Buf, '\n')
}

// symAddr adds the address to its name, with option sym-addr; sym-offset makes no difference here.
func symAddr(p *event.Printer, b []byte, addr uint64) []byte {
	if !p.SymAddr {
		return b
	}
	return fmt.Appendf(b, " <%016x>", addr)
}

func (e *Event) printArg(b []byte, a *Program, d []byte, at int) []byte {
	x := getNum(d[at:][:a.Type.Size])
	switch {
	case a.Type.str:
		off, n := int(x&0xffff), int(x>>16)
		if n == 0 || off+n > len(d) {
			return append(b, "(fault)"...)
		}
		s := d[off : off+n-1]
		if a.Type.Name == "symstr" {
			s, _, _ = bytes.Cut(d[off:], []byte{0})
		}
		return append(append(append(b, '"'), s...), '"')
	case a.Type.sym:
		return append(b, e.k.m.Symbols().Format(x)...)
	case a.Type.Signed:
		shift := 64 - 8*a.Type.Size
		return strconv.AppendInt(b, int64(x<<shift)>>shift, 10)
	case strings.HasPrefix(a.Type.Format, "0x"):
		return strconv.AppendUint(append(b, "0x"...), x, 16)
	}
	return strconv.AppendUint(b, x, 10)
}
