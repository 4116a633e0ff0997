package event

import (
	"fmt"
	"strconv"
	"strings"
)

// The C expressions of a print fmt: what follows the format string. They are parsed to a tree of nodes, each compiled to
// one closure; see TP_printk in include/trace/stages/stage3_trace_output.h for the helpers (__print_flags …).

// cType is what C's arithmetic needs of a type.
type cType struct {
	size   int // bytes; 0: a text
	signed bool
	elem   int  // of what it points to, when it is an array of the record
	sign   bool // of the elements
	step   int  // of a pointer to a struct: its size
}

var (
	cInt  = cType{size: 4, signed: true}
	cLong = cType{size: 8, signed: true}
	cULL  = cType{size: 8}
	cText = cType{}
)

// node is an expression. num gives its value, extended to 64 bits by its type; text appends it when it is a text; at is
// where in the record an array is.
type node struct {
	typ   cType
	konst bool
	num   func(d []byte) uint64
	text  func(p *Printer, d []byte)
	at    func(d []byte) []byte
}

// fit cuts x to the type and extends it again.
func (t cType) fit(x uint64) uint64 {
	if t.size == 0 || t.size >= 8 {
		return x
	}
	shift := 64 - 8*t.size
	if t.signed {
		return uint64(int64(x<<shift) >> shift)
	}
	return x << shift >> shift
}

// promote is C's integer promotion.
func (t cType) promote() cType {
	if t.size < 4 {
		return cInt
	}
	return cType{size: t.size, signed: t.signed}
}

// common is C's usual arithmetic conversion.
func (t cType) common(u cType) cType {
	t, u = t.promote(), u.promote()
	switch {
	case t.size > u.size:
		return t
	case u.size > t.size:
		return u
	}
	t.signed = t.signed && u.signed
	return t
}

// PrintError is a print fmt that cannot be evaluated: where, and why.
type PrintError struct {
	Event, Text string
	Pos         int
	Msg         string
}

func (e *PrintError) Error() string {
	return fmt.Sprintf("event %s: print fmt: %s\n  %s\n  %*s^", e.Event, e.Msg, e.Text, e.Pos, "")
}

// exprParser reads a print fmt. It stops by panic with a *PrintError, which CompilePrint catches.
type exprParser struct {
	f  *Format
	s  string
	at int
}

func (p *exprParser) fail(msg string, args ...any) {
	panic(&PrintError{p.f.System + ":" + p.f.Name, p.s, p.at, fmt.Sprintf(msg, args...)})
}

func (p *exprParser) blank() {
	for p.at < len(p.s) && isBlank(p.s[p.at]) {
		p.at++
	}
}

// has passes over a token when it is next.
func (p *exprParser) has(tok string) bool {
	p.blank()
	if strings.HasPrefix(p.s[p.at:], tok) {
		p.at += len(tok)
		return true
	}
	return false
}

func (p *exprParser) want(tok string) {
	if !p.has(tok) {
		p.fail("want %q", tok)
	}
}

// word passes over an identifier; "" when there is none.
func (p *exprParser) word() string {
	p.blank()
	i := p.at
	for i < len(p.s) && (isAlnum(p.s[i]) || p.s[i] == '_') {
		i++
	}
	if i == p.at || p.s[p.at] >= '0' && p.s[p.at] <= '9' {
		return ""
	}
	w := p.s[p.at:i]
	p.at = i
	return w
}

// literal reads adjacent string literals.
func (p *exprParser) literal() string {
	var out strings.Builder
	for p.has(`"`) {
		end := p.at
		for ; ; end++ {
			if end >= len(p.s) {
				p.fail("string without end")
			}
			if p.s[end] == '\\' {
				end++
			} else if p.s[end] == '"' {
				break
			}
		}
		s, err := strconv.Unquote(`"` + strings.ReplaceAll(p.s[p.at:end], "\n", `\n`) + `"`)
		if err != nil {
			p.fail("bad string")
		}
		out.WriteString(s)
		p.at = end + 1
	}
	return out.String()
}

// expr is a conditional expression.
func (p *exprParser) expr() *node {
	cond := p.binary(0)
	if !p.has("?") {
		return cond
	}
	yes := p.expr()
	p.want(":")
	no := p.expr()
	c := cond.truth()
	if yes.typ.size == 0 || no.typ.size == 0 {
		y, n := yes.asText(p), no.asText(p)
		return &node{typ: cText, text: func(p *Printer, d []byte) {
			if c(d) {
				y(p, d)
			} else {
				n(p, d)
			}
		}}
	}
	y, n := yes.num, no.num
	return &node{typ: yes.typ.common(no.typ), konst: cond.konst && yes.konst && no.konst, num: func(d []byte) uint64 {
		if c(d) {
			return y(d)
		}
		return n(d)
	}}
}

// truth is the node as a condition.
func (n *node) truth() func(d []byte) bool {
	if n.num == nil { // a text is never NULL here
		return func([]byte) bool { return true }
	}
	num := n.num
	return func(d []byte) bool { return num(d) != 0 }
}

func (n *node) asText(p *exprParser) func(p *Printer, d []byte) {
	if n.text == nil {
		p.fail("want a text")
	}
	return n.text
}

// levels are C's binary operators, the loosest first; the longer come first in a row.
var levels = [...][]string{{"||"}, {"&&"}, {"|"}, {"^"}, {"&"}, {"==", "!="}, {"<=", ">=", "<", ">"}, {"<<", ">>"}, {"+", "-"}, {"*", "/", "%"}}

func (p *exprParser) operator(ops []string) string {
	p.blank()
	rest := p.s[p.at:]
	for _, op := range ops {
		if !strings.HasPrefix(rest, op) {
			continue
		}
		if len(op) == 1 && len(rest) > 1 && (rest[1] == op[0] && strings.Contains("|&<>", op)) {
			continue // "|" is no "||"
		}
		p.at += len(op)
		return op
	}
	return ""
}

func (p *exprParser) binary(level int) *node {
	if level == len(levels) {
		return p.unary()
	}
	a := p.binary(level + 1)
	for {
		op := p.operator(levels[level])
		if op == "" {
			return a
		}
		a = p.combine(op, a, p.binary(level+1))
	}
}

// combine applies a binary operator.
func (p *exprParser) combine(op string, a, b *node) *node {
	if a.num == nil || b.num == nil {
		p.fail("operator %s wants numbers", op)
	}
	x, y := a.num, b.num
	t := a.typ.common(b.typ)
	if step := uint64(a.typ.step); step > 0 && op == "+" {
		return &node{typ: a.typ, num: func(d []byte) uint64 { return x(d) + y(d)*step }}
	}
	out := &node{typ: cInt, konst: a.konst && b.konst}
	switch op {
	case "||":
		out.num = func(d []byte) uint64 { return bit(x(d) != 0 || y(d) != 0) }
	case "&&":
		out.num = func(d []byte) uint64 { return bit(x(d) != 0 && y(d) != 0) }
	case "==":
		out.num = func(d []byte) uint64 { return bit(t.fit(x(d)) == t.fit(y(d))) }
	case "!=":
		out.num = func(d []byte) uint64 { return bit(t.fit(x(d)) != t.fit(y(d))) }
	case "<":
		out.num = func(d []byte) uint64 { return bit(t.less(x(d), y(d))) }
	case ">":
		out.num = func(d []byte) uint64 { return bit(t.less(y(d), x(d))) }
	case "<=":
		out.num = func(d []byte) uint64 { return bit(!t.less(y(d), x(d))) }
	case ">=":
		out.num = func(d []byte) uint64 { return bit(!t.less(x(d), y(d))) }
	default:
		return arithmetic(op, a, b, t)
	}
	return out
}

func arithmetic(op string, a, b *node, t cType) *node {
	x, y := a.num, b.num
	var f func(a, b uint64) uint64
	switch op {
	case "|":
		f = func(a, b uint64) uint64 { return a | b }
	case "^":
		f = func(a, b uint64) uint64 { return a ^ b }
	case "&":
		f = func(a, b uint64) uint64 { return a & b }
	case "+":
		f = func(a, b uint64) uint64 { return a + b }
	case "-":
		f = func(a, b uint64) uint64 { return a - b }
	case "*":
		f = func(a, b uint64) uint64 { return a * b }
	case "<<", ">>":
		t = a.typ.promote()
		f = func(a, b uint64) uint64 {
			b &= uint64(8*t.size - 1)
			switch {
			case op == "<<":
				return a << b
			case t.signed:
				return uint64(int64(a) >> b)
			}
			return a >> b
		}
	default:
		f = func(a, b uint64) uint64 {
			a, b = t.fit(a), t.fit(b)
			switch {
			case b == 0:
				return 0
			case op == "/" && t.signed:
				return uint64(int64(a) / int64(b))
			case op == "/":
				return a / b
			case t.signed:
				return uint64(int64(a) % int64(b))
			}
			return a % b
		}
	}
	if a.konst && b.konst {
		k := t.fit(f(x(nil), y(nil)))
		return &node{typ: t, konst: true, num: func([]byte) uint64 { return k }}
	}
	return &node{typ: t, num: func(d []byte) uint64 { return t.fit(f(x(d), y(d))) }}
}

func (t cType) less(a, b uint64) bool {
	if a, b = t.fit(a), t.fit(b); t.signed {
		return int64(a) < int64(b)
	}
	return a < b
}

func bit(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}

func (p *exprParser) unary() *node {
	p.blank()
	switch {
	case p.has("!"):
		n := p.unary()
		x := n.truth()
		return &node{typ: cInt, konst: n.konst, num: func(d []byte) uint64 { return bit(!x(d)) }}
	case p.has("~"):
		return p.negate(func(x uint64) uint64 { return ^x })
	case p.has("-"):
		return p.negate(func(x uint64) uint64 { return -x })
	case p.has("+"):
		return p.unary()
	case p.at < len(p.s) && p.s[p.at] == '(':
		if t, ok := p.cast(); ok {
			return p.unary().cast(t)
		}
	}
	return p.postfix()
}

func (p *exprParser) negate(f func(uint64) uint64) *node {
	n := p.unary()
	if n.num == nil {
		p.fail("want a number")
	}
	x, t := n.num, n.typ.promote()
	return &node{typ: t, konst: n.konst, num: func(d []byte) uint64 { return t.fit(f(x(d))) }}
}

// cast converts a node; a text or an array that is cast to a pointer stays what it is.
func (n *node) cast(t cType) *node {
	if n.num == nil {
		return &node{typ: n.typ, text: n.text, at: n.at}
	}
	x := n.num
	return &node{typ: t, konst: n.konst, num: func(d []byte) uint64 { return t.fit(x(d)) }}
}

// cast passes over "(type)".
func (p *exprParser) cast() (cType, bool) {
	start := p.at
	p.want("(")
	var words []string
	for w := p.word(); w != ""; w = p.word() {
		words = append(words, w)
	}
	stars := 0
	for p.has("*") {
		stars++
	}
	if t, ok := typeOf(words); ok && p.has(")") {
		if stars > 0 {
			t = cULL
			if stars == 1 && contains(words, "page") {
				t.step = structPage
			}
		}
		return t, true
	}
	p.at = start
	return cType{}, false
}

// baseTypes are the sizes of the types that Linux's formats cast to; negative: signed.
var baseTypes = map[string]int{
	"char": -1, "short": -2, "int": -4, "long": -8, "void": -8, "bool": 1, "_Bool": 1,
	"u8": 1, "u16": 2, "u32": 4, "u64": 8, "s8": -1, "s16": -2, "s32": -4, "s64": -8,
	"__u8": 1, "__u16": 2, "__u32": 4, "__u64": 8, "__s8": -1, "__s16": -2, "__s32": -4, "__s64": -8,
	"size_t": 8, "ssize_t": -8, "loff_t": -8, "off_t": -8, "pid_t": -4, "dev_t": 4, "gfp_t": 4, "umode_t": 2,
	"sector_t": 8, "uid_t": 4, "gid_t": 4, "ino_t": 8, "pgoff_t": 8, "uintptr_t": 8, "intptr_t": -8, "ptrdiff_t": -8,
	"ext4_fsblk_t": 8, "ext4_lblk_t": 4, "ext4_group_t": 4, "ext4_grpblk_t": -4, "tid_t": 4, "blk_opf_t": 4, "clockid_t": -4,
	"ktime_t": -8, "vm_fault_t": 4, "fmode_t": 4, "pte_t": 8, "isolate_mode_t": 4, "key_t": -4, "cpumask_t": 8,
}

// typeOf understands a type's words; false: they are none.
func typeOf(words []string) (t cType, ok bool) {
	t = cInt
	for i, w := range words {
		switch w {
		case "const", "volatile", "signed":
			ok = true
		case "unsigned":
			t.signed, ok = false, true
		case "struct", "union":
			return cULL, len(words) > i+1
		case "enum":
			return cType{size: 4}, len(words) > i+1
		default:
			n, known := baseTypes[w]
			if !known {
				return t, false
			}
			signed := n < 0 && !(len(words) > 1 && contains(words, "unsigned"))
			if w == "int" && i > 0 && t.size != 4 { // "long int", "short int"
				n = t.size
			}
			t, ok = cType{size: max(n, -n), signed: signed}, true
		}
	}
	return t, ok
}

func contains(words []string, w string) bool {
	for _, x := range words {
		if x == w {
			return true
		}
	}
	return false
}
