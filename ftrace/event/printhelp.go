package event

import "strconv"

// The helpers of TP_printk; see kernel/trace/trace_output.c and include/trace/stages/stage3_trace_output.h.

// helper finds one by name: it parses the arguments.
func helper(name string) func(p *exprParser) *node {
	switch name {
	case "__get_str", "__get_dynamic_array", "__get_rel_str", "__get_rel_dynamic_array":
		return (*exprParser).dynamicArg
	case "__get_dynamic_array_len", "__get_rel_dynamic_array_len":
		return helpDynamicLen
	case "__get_bitmask", "__get_cpumask", "__get_rel_bitmask", "__get_rel_cpumask":
		return helpBitmask
	case "__print_flags", "__print_flags_u64":
		return func(p *exprParser) *node { return helpFlags(p) }
	case "__print_symbolic", "__print_symbolic_u64":
		return func(p *exprParser) *node { return helpSymbolic(p) }
	case "__print_hex":
		return func(p *exprParser) *node { return helpHex(p, true) }
	case "__print_hex_str":
		return func(p *exprParser) *node { return helpHex(p, false) }
	case "__print_array":
		return helpArray
	case "__builtin_constant_p":
		return func(p *exprParser) *node {
			p.expr()
			return &node{typ: cInt, konst: true, num: func([]byte) uint64 { return 0 }}
		}
	}
	return nil
}

// locField is the __data_loc field that a helper names.
func (p *exprParser) locField() *Field {
	name := p.word()
	f, ok := p.f.Field(name)
	if !ok || !f.DataLoc() {
		p.fail("the record has no dynamic field %q", name)
	}
	return f
}

func (p *exprParser) dynamicArg() *node { return p.dynamic(p.locField()) }

func helpDynamicLen(p *exprParser) *node {
	f := p.locField()
	return &node{typ: cInt, num: func(d []byte) uint64 { return uint64(len(f.located(d))) }}
}

// helpBitmask prints a bit mask as %*pb does: 32-bit words in hexadecimal, the highest first.
func helpBitmask(p *exprParser) *node {
	f := p.locField()
	return &node{typ: cText, text: func(p *Printer, d []byte) {
		b := f.located(d)
		const hex = "0123456789abcdef"
		for i := len(b) - 1; i >= 0; i-- {
			p.Buf = append(p.Buf, hex[b[i]>>4], hex[b[i]&15])
			if i%4 == 0 && i > 0 {
				p.Buf = append(p.Buf, ',')
			}
		}
	}}
}

// nameRow is one { value, "NAME" } of a helper's list.
type nameRow struct {
	value uint64
	name  string
}

// rows reads ", { value, "NAME" } …", a trailing comma and { -1, NULL } included.
func (p *exprParser) rows() (out []nameRow) {
	for p.has(",") {
		if !p.has("{") {
			break
		}
		v := p.expr()
		if !v.konst || v.num == nil {
			p.fail("want a constant")
		}
		p.want(",")
		p.blank()
		if p.s[p.at] != '"' { // NULL: the end
			p.expr()
			p.want("}")
			continue
		}
		out = append(out, nameRow{v.num(nil), p.literal()})
		p.want("}")
	}
	return out
}

// helpFlags is trace_print_flags_seq.
func helpFlags(p *exprParser) *node {
	v := p.expr()
	p.want(",")
	p.blank()
	delim := p.literal()
	rows, num := p.rows(), v.num
	if num == nil {
		p.fail("want a number")
	}
	return &node{typ: cText, text: func(p *Printer, d []byte) {
		flags, first := num(d), true
		for i := range rows {
			if flags == 0 {
				break
			}
			if m := rows[i].value; flags&m == m {
				flags &^= m
				if !first {
					p.Buf = append(p.Buf, delim...)
				}
				p.Buf, first = append(p.Buf, rows[i].name...), false
			}
		}
		if flags != 0 {
			if !first {
				p.Buf = append(p.Buf, delim...)
			}
			p.Buf = strconv.AppendUint(append(p.Buf, "0x"...), flags, 16)
		}
	}}
}

// helpSymbolic is trace_print_symbols_seq.
func helpSymbolic(p *exprParser) *node {
	v := p.expr()
	rows, num := p.rows(), v.num
	if num == nil {
		p.fail("want a number")
	}
	return &node{typ: cText, text: func(p *Printer, d []byte) {
		x := num(d)
		for i := range rows {
			if rows[i].value == x {
				p.Buf = append(p.Buf, rows[i].name...)
				return
			}
		}
		p.Buf = strconv.AppendUint(append(p.Buf, "0x"...), x, 16)
	}}
}

// helpHex is trace_print_hex_seq: bytes, with blanks between them when spaced.
func helpHex(p *exprParser, spaced bool) *node {
	b := p.expr()
	p.want(",")
	n := p.expr()
	if b.at == nil || n.num == nil {
		p.fail("want an array and a number")
	}
	at, num := b.at, n.num
	return &node{typ: cText, text: func(p *Printer, d []byte) {
		const hex = "0123456789abcdef"
		b := at(d)
		for i, c := range b[:min(uint64(len(b)), num(d))] {
			if i > 0 && spaced {
				p.Buf = append(p.Buf, ' ')
			}
			p.Buf = append(p.Buf, hex[c>>4], hex[c&15])
		}
	}}
}

// helpArray is trace_print_array_seq: {0x1,0x2}.
func helpArray(p *exprParser) *node {
	b := p.expr()
	p.want(",")
	n := p.expr()
	p.want(",")
	size := p.expr()
	if b.at == nil || n.num == nil || size.num == nil {
		p.fail("want an array and two numbers")
	}
	at, num, el := b.at, n.num, int(size.num(nil))
	return &node{typ: cText, text: func(p *Printer, d []byte) {
		b := at(d)
		p.Buf = append(p.Buf, '{')
		for i := range num(d) {
			if el <= 0 || len(b) < el {
				break
			}
			if i > 0 {
				p.Buf = append(p.Buf, ',')
			}
			p.Buf = strconv.AppendUint(append(p.Buf, "0x"...), number(b[:el], false), 16)
			b = b[el:]
		}
		p.Buf = append(p.Buf, '}')
	}}
}
