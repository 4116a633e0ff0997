package event

import (
	"encoding/binary"
	"strings"
)

// trace_printk's events: bprint keeps the format's address and the arguments in binary, as vbin_printf packs them, and its
// text is made by the reader (bstr_printf); see lib/vsprintf.c and kernel/trace/trace.c.

// VarArgs are the arguments of a printf in the guest: Next takes the next one from its va_list, and Str reads a string.
type VarArgs struct {
	Next func() uint64
	Str  func(va uint64) string
}

// MaxPrintk is TRACE_BUF_SIZE: the most bytes of arguments, or of text, of one event.
const MaxPrintk = 1024

// savedPointers are the kinds of %p whose value is kept; those of the others are printed at once.
const savedPointers = "SsxKe"

// PackPrintf packs the arguments of a format; false when they are longer than an event may be. p prints what cannot wait.
func (p *Printer) PackPrintf(format string, args VarArgs) ([]byte, bool) {
	w := packer{}
	for format != "" {
		i := strings.IndexByte(format, '%')
		if i < 0 || i+1 == len(format) {
			break
		}
		format = format[i+1:]
		if format[0] == '%' {
			format = format[1:]
			continue
		}
		v, n, ok := parseVerb(format)
		if !ok {
			break // the kernel stops at what it does not know, too
		}
		format = format[n:]
		if v.starWidth {
			w.put(args.Next(), 4)
		}
		if v.starPrec {
			w.put(args.Next(), 4)
		}
		x := args.Next()
		switch {
		case v.conv == 's':
			w.b = append(append(w.b, args.Str(x)...), 0)
		case v.conv == 'c':
			w.put(x, 1)
		case v.conv == 'p' && v.ptr != "" && !strings.Contains(savedPointers, v.ptr[:1]):
			q := Printer{Name: p.Name, Sym: p.Sym, Str: p.Str, NoHash: p.NoHash}
			q.pointer(v.ptr, x)
			w.b = append(append(w.b, q.Buf...), 0)
		case v.conv == 'p':
			w.put(x, 8)
		default:
			w.put(x, v.size)
		}
	}
	w.align(4)
	return w.b, len(w.b) <= MaxPrintk
}

// packer and unpacker are save_arg and get_arg: a value lies at a multiple of its size, eight bytes at one of four.
type packer struct{ b []byte }

func (w *packer) align(n int) {
	for len(w.b)%min(n, 4) != 0 {
		w.b = append(w.b, 0)
	}
}

func (w *packer) put(x uint64, size int) {
	w.align(size)
	for i := range size {
		w.b = append(w.b, byte(x>>(8*i)))
	}
}

type unpacker struct {
	b  []byte
	at int
}

func (r *unpacker) num(size int) uint64 {
	if a := min(size, 4); r.at%a != 0 {
		r.at += a - r.at%a
	}
	if r.at+size > len(r.b) {
		r.at = len(r.b)
		return 0
	}
	x := number(r.b[r.at:r.at+size], false)
	r.at += size
	return x
}

func (r *unpacker) text() []byte {
	s := untilNUL(r.b[min(r.at, len(r.b)):])
	r.at += len(s) + 1
	return s
}

// source is where the text of a format takes its arguments from: packed bytes, or a va_list.
type source interface {
	num(size int) uint64
	text() []byte
}

func (a VarArgs) num(int) uint64 { return a.Next() }
func (a VarArgs) text() []byte   { return []byte(a.Str(a.Next())) }

// Vprintf appends a format's text with the arguments of a va_list.
func (p *Printer) Vprintf(format string, args VarArgs) { p.printf(format, args) }

// Bprintf appends a format's text with arguments that PackPrintf has packed.
func (p *Printer) Bprintf(format string, packed []byte) { p.printf(format, &unpacker{b: packed}) }

func (p *Printer) printf(format string, args source) {
	_, live := args.(VarArgs)
	for format != "" {
		i := strings.IndexByte(format, '%')
		if i < 0 {
			i = len(format)
		}
		p.Buf = append(p.Buf, format[:i]...)
		if format = format[i:]; format == "" {
			return
		}
		if strings.HasPrefix(format, "%%") {
			p.Buf, format = append(p.Buf, '%'), format[2:]
			continue
		}
		v, n, ok := parseVerb(format[1:])
		if !ok {
			return
		}
		format = format[1+n:]
		if v.starWidth {
			if v.width = int(int32(args.num(4))); v.width < 0 {
				v.width, v.minus = -v.width, true
			}
			v.width = min(v.width, maxWidth)
		}
		if v.starPrec {
			v.prec = min(max(int(int32(args.num(4))), 0), maxWidth)
		}
		p.convert(v, args, live)
	}
}

// convert prints one argument; live: it is not packed.
func (p *Printer) convert(v verb, args source, live bool) {
	start := len(p.Buf)
	switch {
	case v.conv == 's':
		s := args.text()
		if v.prec >= 0 {
			s = s[:min(len(s), v.prec)]
		}
		p.Buf = append(p.Buf, s...)
	case v.conv == 'p' && v.ptr != "" && !strings.Contains(savedPointers, v.ptr[:1]) && !live:
		p.Buf = append(p.Buf, args.text()...)
	case v.conv == 'p':
		p.pointer(v.ptr, args.num(8))
	case v.conv == 'c':
		p.integer(v, args.num(1))
		return
	default:
		p.integer(v, args.num(v.size))
		return
	}
	p.pad(start, v)
}

// BprintSize is the length of a bprint record with n packed bytes, BputsSize that of a bputs.
func BprintSize(n int) int { return 24 + n }

const BputsSize = 24

// PutBprint fills a bprint record.
func PutBprint(d []byte, h Header, ip, format uint64, packed []byte) {
	h.Put(d)
	binary.LittleEndian.PutUint64(d[8:], ip)
	binary.LittleEndian.PutUint64(d[16:], format)
	copy(d[24:], packed)
}

// PutBputs fills a bputs record.
func PutBputs(d []byte, h Header, ip, text uint64) {
	h.Put(d)
	binary.LittleEndian.PutUint64(d[8:], ip)
	binary.LittleEndian.PutUint64(d[16:], text)
}

func bprintText(p *Printer, d []byte) {
	p.Buf = append(p.Sym(p.Buf, u64(d[8:])), ": "...)
	p.Message(d)
}

// Message appends the text of a print, bprint or bputs record alone, as option printk-msg-only wants it.
func (p *Printer) Message(d []byte) {
	h, ok := Parse(d)
	switch {
	case !ok || len(d) < 16:
	case h.Type == IDPrint:
		p.Buf = append(p.Buf, cString(d[16:])...)
	case len(d) < 24 || p.Str == nil:
	case h.Type == IDBprint:
		p.Bprintf(p.Str(u64(d[16:])), d[24:])
	case h.Type == IDBputs:
		p.Buf = append(p.Buf, p.Str(u64(d[16:]))...)
	}
}

// bprintRaw is trace_bprint_raw and trace_bputs_raw.
func bprintRaw(p *Printer, d []byte) {
	if p.Mode != ModeRaw {
		h, _ := Parse(d)
		nop(p, h.Type)
		return
	}
	p.Buf = append(p.Buf, ": "...)
	p.Num(u64(d[8:]), 8)
	p.Buf = append(p.Buf, " : "...)
	p.Message(d)
}
