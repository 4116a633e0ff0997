package event

import (
	"strconv"
	"strings"
)

// The operands of a print fmt's expressions: fields, numbers, texts and the helpers.

func (p *exprParser) postfix() *node {
	n := p.primary()
	for {
		switch {
		case p.has("["):
			i := p.expr()
			p.want("]")
			n = p.index(n, i)
		default:
			return n
		}
	}
}

// index takes an element of an array of the record.
func (p *exprParser) index(n, i *node) *node {
	if n.at == nil || i.num == nil || n.typ.elem == 0 {
		p.fail("no array")
	}
	at, num, size := n.at, i.num, n.typ.elem
	t := cType{size: size, signed: n.typ.sign}
	return &node{typ: t, num: func(d []byte) uint64 {
		b, k := at(d), num(d)
		if k >= uint64(len(b)/size) {
			return 0
		}
		return number(b[int(k)*size:int(k+1)*size], t.signed)
	}}
}

func (p *exprParser) primary() *node {
	p.blank()
	switch {
	case p.at == len(p.s):
		p.fail("expression ends")
	case p.s[p.at] == '(':
		p.at++
		n := p.expr()
		p.want(")")
		return n
	case p.s[p.at] == '"':
		s := p.literal()
		return &node{typ: cText, konst: true, text: func(p *Printer, _ []byte) { p.Buf = append(p.Buf, s...) }}
	case p.s[p.at] == '\'':
		return p.char()
	case p.s[p.at] >= '0' && p.s[p.at] <= '9':
		return p.integer()
	}
	start := p.at
	switch w := p.word(); w {
	case "REC":
		p.want("->")
		return p.field(p.word())
	case "":
		p.fail("want an expression")
	case "sizeof":
		return p.sizeof()
	case "true", "false", "NULL":
		k := bit(w == "true")
		return &node{typ: cInt, konst: true, num: func([]byte) uint64 { return k }}
	default:
		k, ok := p.f.Names[w]
		if !ok {
			k, ok = constants[w]
		}
		if ok {
			return &node{typ: cULL, konst: true, num: func([]byte) uint64 { return k }}
		}
		help := helper(w)
		if help == nil {
			p.at = start
			p.fail("%s is not known", w)
		}
		p.want("(")
		n := help(p)
		p.want(")")
		return n
	}
	return nil
}

// constants are the names of the kernel that 6.1's formats leave in their text: enum hrtimer_mode and the base of struct page.
var constants = map[string]uint64{
	"HRTIMER_MODE_ABS": 0, "HRTIMER_MODE_REL": 1, "HRTIMER_MODE_ABS_PINNED": 2, "HRTIMER_MODE_REL_PINNED": 3,
	"HRTIMER_MODE_ABS_SOFT": 4, "HRTIMER_MODE_REL_SOFT": 5, "HRTIMER_MODE_ABS_PINNED_SOFT": 6, "HRTIMER_MODE_REL_PINNED_SOFT": 7,
	"HRTIMER_MODE_ABS_HARD": 8, "HRTIMER_MODE_REL_HARD": 9, "HRTIMER_MODE_ABS_PINNED_HARD": 10, "HRTIMER_MODE_REL_PINNED_HARD": 11,
	"vmemmap_base": 0xffffea0000000000,
}

// structPage is sizeof(struct page), by which a pfn becomes a pointer.
const structPage = 64

func (p *exprParser) sizeof() *node {
	t, ok := p.cast()
	if !ok {
		p.fail("want a type")
	}
	k := uint64(t.size)
	return &node{typ: cULL, konst: true, num: func([]byte) uint64 { return k }}
}

func (p *exprParser) char() *node {
	end := strings.IndexByte(p.s[p.at+1:], '\'')
	if end < 0 {
		p.fail("character without end")
	}
	r, _, _, err := strconv.UnquoteChar(p.s[p.at+1:p.at+1+end], '\'')
	if err != nil {
		p.fail("bad character")
	}
	p.at += end + 2
	return &node{typ: cInt, konst: true, num: func([]byte) uint64 { return uint64(r) }}
}

// integer reads a number with its suffix; it has the first of C's types that holds it.
func (p *exprParser) integer() *node {
	start := p.at
	for p.at < len(p.s) && isAlnum(p.s[p.at]) {
		p.at++
	}
	text := strings.ToLower(p.s[start:p.at])
	digits := strings.TrimRight(text, "ul")
	x, err := strconv.ParseUint(digits, 0, 64)
	if err != nil {
		p.at = start
		p.fail("bad number")
	}
	suffix := text[len(digits):]
	t := cType{size: 4, signed: !strings.Contains(suffix, "u")}
	radix := len(digits) > 1 && digits[0] == '0'
	switch {
	case strings.Contains(suffix, "l") || x > 1<<32-1 || t.signed && !radix && x > 1<<31-1:
		t.size = 8
	case t.signed && x > 1<<31-1:
		t.signed = false
	}
	return &node{typ: t, konst: true, num: func([]byte) uint64 { return x }}
}

// field is a field of the record.
func (p *exprParser) field(name string) *node {
	f, ok := p.f.Field(name)
	if !ok {
		p.fail("the record has no field %q", name)
	}
	switch {
	case f.DataLoc():
		return p.dynamic(f)
	case strings.HasPrefix(f.Type, "char["):
		at := f.bytes
		return &node{typ: cType{elem: 1, sign: f.Signed}, at: at, text: func(p *Printer, d []byte) {
			p.Buf = appendText(p.Buf, at(d))
		}}
	case strings.Contains(f.Type, "["):
		return &node{typ: cType{elem: f.Elem(), sign: f.Signed}, at: f.bytes}
	}
	t := cType{size: min(f.Size, 8), signed: f.Signed}
	n := &node{typ: t, num: f.reader()}
	if strings.HasSuffix(f.Type, "char *") {
		num := n.num
		n.text = func(p *Printer, d []byte) { p.kernelText(num(d)) }
	}
	return n
}

// kernelText appends the string at a pointer of the record; see trace_check_vprintf in kernel/trace/trace.c.
func (p *Printer) kernelText(va uint64) {
	switch {
	case va == 0:
		p.Buf = append(p.Buf, "(null)"...)
	case p.Str == nil:
		p.Buf = append(strconv.AppendUint(append(p.Buf, "(0x"...), va, 16), ')')
	default:
		p.Buf = append(p.Buf, p.Str(va)...)
	}
}

// dynamic is what a __data_loc field tells of.
func (p *exprParser) dynamic(f *Field) *node {
	at := f.located
	elem := Field{Type: strings.TrimPrefix(f.Type, "__data_loc "), Signed: f.Signed}
	return &node{typ: cType{elem: elem.Elem(), sign: f.Signed}, at: at, text: func(p *Printer, d []byte) {
		p.Buf = appendText(p.Buf, at(d))
	}}
}

// bytes are the field's bytes in record d.
func (x *Field) bytes(d []byte) []byte {
	if x.Offset > len(d) {
		return nil
	}
	end := x.Offset + x.Size
	if x.Size == 0 || end > len(d) {
		end = len(d)
	}
	return d[x.Offset:end]
}

// located are the bytes that a __data_loc field tells of.
func (x *Field) located(d []byte) []byte {
	if x.Offset+4 > len(d) {
		return nil
	}
	loc := u32(d[x.Offset:])
	if at, n := int(loc&0xffff), int(loc>>16); at+n <= len(d) {
		return d[at : at+n]
	}
	return nil
}

// reader gives a function that reads a number without allocation; a record too short has 0 there.
func (x *Field) reader() func(d []byte) uint64 {
	at, end, t := x.Offset, x.Offset+x.Size, cType{size: min(x.Size, 8), signed: x.Signed}
	switch {
	case x.Size == 8:
		return func(d []byte) uint64 {
			if len(d) < end {
				return 0
			}
			return u64(d[at:])
		}
	case x.Size == 4 && x.Signed:
		return func(d []byte) uint64 {
			if len(d) < end {
				return 0
			}
			return uint64(int64(int32(u32(d[at:]))))
		}
	case x.Size == 4:
		return func(d []byte) uint64 {
			if len(d) < end {
				return 0
			}
			return uint64(u32(d[at:]))
		}
	}
	return func(d []byte) uint64 {
		if len(d) < end || end < at {
			return 0
		}
		return number(d[at:min(end, at+8)], t.signed)
	}
}

// appendText appends bytes up to their NUL.
func appendText(b, s []byte) []byte {
	for i, c := range s {
		if c == 0 {
			return append(b, s[:i]...)
		}
	}
	return append(b, s...)
}
