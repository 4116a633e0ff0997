package event

import (
	"strconv"
	"strings"
)

// CompilePrint makes the text of an event from its print fmt alone: `NAME: ` and the format with its arguments, as the
// kernel's own TP_printk code prints it. The print fmt is parsed once; an error says where it cannot be understood.
//
// The format is cut into parts, plain text and conversions (see format_decode in lib/vsprintf.c), each with the closure of
// its argument (printexpr.go).
func CompilePrint(f *Format) (text func(p *Printer, d []byte), err error) {
	defer func() {
		switch x := recover().(type) {
		case nil:
		case *PrintError:
			err = x
		default:
			panic(x)
		}
	}()
	p := &exprParser{f: f, s: f.Print}
	p.blank()
	if p.at == len(p.s) || p.s[p.at] != '"' {
		p.fail("want a format string")
	}
	parts := p.parts(p.literal())
	if p.blank(); p.at < len(p.s) {
		p.fail("more arguments than conversions")
	}
	name := f.Name + ": "
	return func(p *Printer, d []byte) {
		p.Buf = append(p.Buf, name...)
		for _, part := range parts {
			part(p, d)
		}
		p.Buf = append(p.Buf, '\n')
	}, nil
}

// verb is one conversion of the format.
type verb struct {
	minus, plus, blank, alt, zero bool
	starWidth, starPrec           bool // they are arguments
	width, prec                   int  // -1: none
	size                          int  // of the argument in bytes
	conv                          byte
	ptr                           string // what follows %p
}

// parts takes the format apart and reads the arguments.
func (p *exprParser) parts(format string) (out []func(p *Printer, d []byte)) {
	cut := false
	for format != "" {
		i := strings.IndexByte(format, '%')
		if i < 0 {
			i = len(format)
		}
		if i > 0 {
			plain := format[:i]
			out = append(out, func(p *Printer, _ []byte) { p.Buf = append(p.Buf, plain...) })
			format = format[i:]
			continue
		}
		if strings.HasPrefix(format, "%%") {
			out = append(out, func(p *Printer, _ []byte) { p.Buf = append(p.Buf, '%') })
			format = format[2:]
			continue
		}
		v, rest := p.verb(format[1:])
		part := p.part(v)
		if !cut && v.conv == 's' && !v.minus && !v.plus && !v.blank && !v.alt {
			cut, part = true, firstText(part)
		}
		format = rest
		out = append(out, part)
	}
	return out
}

// firstText is the first %s of a format: with nohash-ptr it prints nothing. (Linux 6.1 then copies the format to make %px of %p, and
// trace_check_vprintf cuts its own copy at the first %s before it has read it.)
func firstText(part func(p *Printer, d []byte)) func(p *Printer, d []byte) {
	return func(p *Printer, d []byte) {
		if !p.NoText {
			part(p, d)
		}
	}
}

// verb reads a conversion behind its %.
func (p *exprParser) verb(s string) (v verb, rest string) {
	v, n, ok := parseVerb(s)
	if !ok || v.starWidth || v.starPrec {
		p.fail("conversion %%%s is not known", s[:min(len(s), n+1)])
	}
	return v, s[n:]
}

// parseVerb reads a conversion behind its % and says how long it is; see format_decode.
func parseVerb(s string) (v verb, i int, ok bool) {
	v.width, v.prec, v.size = -1, -1, 4
	i = v.flags(s)
	number := func(n *int, star *bool) {
		if i < len(s) && s[i] == '*' {
			*star = true
			i++
			return
		}
		for ; i < len(s) && s[i] >= '0' && s[i] <= '9'; i++ {
			*n = min(max(*n, 0)*10+int(s[i]-'0'), maxWidth)
		}
	}
	number(&v.width, &v.starWidth)
	if i < len(s) && s[i] == '.' {
		v.prec = 0
		i++
		number(&v.prec, &v.starPrec)
	}
	for ; i < len(s) && strings.IndexByte("hlLqzt", s[i]) >= 0; i++ {
		switch {
		case s[i] != 'h':
			v.size = 8
		case v.size == 2:
			v.size = 1
		default:
			v.size = 2
		}
	}
	if i == len(s) || strings.IndexByte("diuxXocsp", s[i]) < 0 {
		return v, i, false
	}
	v.conv = s[i]
	i++
	if v.conv == 'p' {
		start := i
		for i < len(s) && isAlnum(s[i]) {
			i++
		}
		v.ptr = s[start:i]
		n := v.pointer()
		i = start + n
		v.ptr = v.ptr[:n]
	}
	return v, i, true
}

// maxWidth bounds a width or precision.
const maxWidth = 1024

// flags reads the flags of a conversion and says how long they are.
func (v *verb) flags(s string) int {
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '-':
			v.minus = true
		case '+':
			v.plus = true
		case ' ':
			v.blank = true
		case '#':
			v.alt = true
		case '0':
			v.zero = true
		default:
			return i
		}
	}
	return len(s)
}

// pointerKinds are the extensions of %p that exist here, the longer first.
var pointerKinds = [...]string{"SR", "S", "s", "B", "x", "K", "M", "I4", "U"}

// pointer says how much of what follows %p belongs to it.
func (v *verb) pointer() int {
	for _, k := range pointerKinds {
		if strings.HasPrefix(v.ptr, k) {
			return len(k)
		}
	}
	return 0
}

// part reads the argument of a conversion and gives the code for it.
func (p *exprParser) part(v verb) func(p *Printer, d []byte) {
	p.want(",")
	n := p.expr()
	switch {
	case v.conv == 's':
		text := n.asText(p)
		if v.width < 0 && v.prec < 0 {
			return text
		}
		return func(p *Printer, d []byte) {
			start := len(p.Buf)
			text(p, d)
			if v.prec >= 0 {
				p.Buf = p.Buf[:min(len(p.Buf), start+v.prec)]
			}
			p.pad(start, v)
		}
	case v.conv == 'p' && (v.ptr == "M" || v.ptr == "I4" || v.ptr == "U"):
		if n.at == nil {
			p.fail("%%p%s wants an array", v.ptr)
		}
		return func(p *Printer, d []byte) { p.address(v, n.at(d)) }
	case n.num == nil:
		p.fail("want a number for %%%c", v.conv)
	case v.conv == 'p':
		return func(p *Printer, d []byte) {
			start := len(p.Buf)
			p.pointer(v.ptr, n.num(d))
			p.pad(start, v)
		}
	case v == (verb{width: -1, prec: -1, size: v.size, conv: v.conv}) && v.conv != 'c':
		return plainNumber(v, n)
	}
	return func(p *Printer, d []byte) { p.integer(v, n.num(d)) }
}

// plainNumber is a conversion without flags, width and precision.
func plainNumber(v verb, n *node) func(p *Printer, d []byte) {
	num, t := n.num, cType{size: v.size, signed: v.conv == 'd' || v.conv == 'i'}
	switch base := v.base(); {
	case v.conv == 'X':
		return func(p *Printer, d []byte) { p.integer(v, num(d)) }
	case t.signed:
		return func(p *Printer, d []byte) { p.Buf = strconv.AppendInt(p.Buf, int64(t.fit(num(d))), 10) }
	default:
		return func(p *Printer, d []byte) { p.Buf = strconv.AppendUint(p.Buf, t.fit(num(d)), base) }
	}
}

func (v verb) base() int {
	switch v.conv {
	case 'x', 'X':
		return 16
	case 'o':
		return 8
	}
	return 10
}

// integer is number() of lib/vsprintf.c.
func (p *Printer) integer(v verb, x uint64) {
	start := len(p.Buf)
	if v.conv == 'c' {
		p.Buf = append(p.Buf, byte(x))
		p.pad(start, verb{width: v.width, minus: v.minus})
		return
	}
	t := cType{size: v.size, signed: v.conv == 'd' || v.conv == 'i'}
	x = t.fit(x)
	sign := ""
	if t.signed {
		switch {
		case int64(x) < 0:
			sign, x = "-", -x
		case v.plus:
			sign = "+"
		case v.blank:
			sign = " "
		}
	}
	if v.alt && v.conv != 'd' {
		switch v.base() {
		case 16:
			sign = "0" + string(v.conv)
		case 8:
			sign = "0"
		}
	}
	digits := strconv.FormatUint(x, v.base())
	if v.conv == 'X' {
		digits = strings.ToUpper(digits)
	}
	fill := v.prec - len(digits)
	if v.prec < 0 && v.zero && !v.minus {
		fill = v.width - len(sign) - len(digits)
	}
	p.Buf = append(p.Buf, sign...)
	for ; fill > 0; fill-- {
		p.Buf = append(p.Buf, '0')
	}
	p.Buf = append(p.Buf, digits...)
	p.pad(start, v)
}

// pad fills what was appended since start with blanks up to the width.
func (p *Printer) pad(start int, v verb) {
	n := v.width - (len(p.Buf) - start)
	if n <= 0 {
		return
	}
	for range n {
		p.Buf = append(p.Buf, ' ')
	}
	if !v.minus {
		copy(p.Buf[start+n:], p.Buf[start:len(p.Buf)-n])
		for i := range n {
			p.Buf[start+i] = ' '
		}
	}
}

// pointer prints a pointer; see pointer() of lib/vsprintf.c.
func (p *Printer) pointer(kind string, va uint64) {
	switch kind {
	case "s":
		p.name(va, false)
	case "S", "SR", "B":
		p.name(va, true)
	case "x":
		p.hex16(va)
	default:
		if va > 0xfffffffffffff000 || va == 0 || p.NoHash { // an error or NULL is no secret
			p.hex16(va)
			return
		}
		p.hex16(uint64(HashPointer(va)))
	}
}

func (p *Printer) name(va uint64, offset bool) {
	switch {
	case p.Name != nil:
		p.Buf = p.Name(p.Buf, va, offset)
	case p.Sym != nil:
		p.Buf = p.Sym(p.Buf, va)
	default:
		p.hex16(va)
	}
}

func (p *Printer) hex16(x uint64) {
	const hex = "0123456789abcdef"
	for i := 60; i >= 0; i -= 4 {
		p.Buf = append(p.Buf, hex[x>>i&15])
	}
}

// HashPointer is what %p shows of a kernel address: 32 bits that tell nothing of it but equality. Linux keys its hash by the
// boot's randomness; here it is the same in every run, as all else, and the same as the guest's (ptr_to_hashval in lib/vsprintf.c), so
// that log and trace can be compared.
func HashPointer(va uint64) uint32 {
	h := va ^ 0x6b73636f70653631
	h = (h ^ h>>30) * 0xbf58476d1ce4e5b9
	h = (h ^ h>>27) * 0x94d049bb133111eb
	return uint32(h ^ h>>31)
}

// address prints a hardware or network address, or a UUID.
func (p *Printer) address(v verb, b []byte) {
	const hex = "0123456789abcdef"
	switch v.ptr {
	case "I4":
		for i, c := range b[:min(len(b), 4)] {
			if i > 0 {
				p.Buf = append(p.Buf, '.')
			}
			p.Buf = strconv.AppendUint(p.Buf, uint64(c), 10)
		}
	case "M":
		for i, c := range b[:min(len(b), 6)] {
			if i > 0 {
				p.Buf = append(p.Buf, ':')
			}
			p.Buf = append(p.Buf, hex[c>>4], hex[c&15])
		}
	default:
		for i, c := range b[:min(len(b), 16)] {
			if i == 4 || i == 6 || i == 8 || i == 10 {
				p.Buf = append(p.Buf, '-')
			}
			p.Buf = append(p.Buf, hex[c>>4], hex[c&15])
		}
	}
}
