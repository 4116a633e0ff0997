package ftrace

import (
	"math/bits"
	"strconv"
	"strings"

	"kscope/ftrace/event"
	"kscope/kernel"
)

// histParser makes a histogram of a text. Errors are logged where Linux logs them, at the first place where the command has the
// text in question (errpos).
type histParser struct {
	h   *hist
	log func(msg string, pos int)
	cmd string
	c   *kernel.VCPU
}

// at is errpos: where the command has a text first.
func (p *histParser) at(text string) int { return max(strings.Index(p.cmd, text), 0) }

// fail logs an error about a text.
func (p *histParser) fail(msg, text string) error {
	p.log(msg, p.at(text))
	return kernel.EINVAL
}

// newField is create_hist_field; nil: the field's type is no number that can be counted.
func (p *histParser) newField(f *event.Field, flags histFlags, name string) *histField {
	x := &histField{field: f, varName: name, flags: flags}
	switch {
	case flags&(histExpr|histAlias|histVarRef) != 0:
	case flags&histHitcount != 0:
		x.size, x.typ, x.num = 8, "u64", func(*histHit) uint64 { return 1 }
	case flags&histConst != 0:
		x.size, x.typ, x.num = 8, "u64", func(*histHit) uint64 { return x.constant }
	case flags&histStacktrace != 0:
		x.num = func(*histHit) uint64 { return 0 }
	case flags&(histLog2|histBucket) != 0:
		o := p.newField(f, flags&^(histLog2|histBucket), "")
		if o == nil {
			return nil
		}
		x.ops[0], x.size, x.typ = o, o.size, o.typ
		x.num = func(h *histHit) uint64 { return log2Of(o.value(h)) }
		if flags&histBucket != 0 {
			x.num = func(h *histHit) uint64 { return o.value(h) / x.buckets * x.buckets }
		}
	case flags&histTimestamp != 0:
		x.size, x.typ, x.num = 8, "u64", (*histHit).timestamp
	case flags&histCPU != 0:
		x.size, x.typ, x.num = 4, "unsigned int", func(h *histHit) uint64 { return uint64(h.c.ID) }
	default:
		return x.ofEvent(f)
	}
	return x
}

// ofEvent makes x read a field of the event.
func (x *histField) ofEvent(f *event.Field) *histField {
	x.typ, x.size = f.Type, f.Size
	if text := f.TextOf(); text != nil {
		x.flags |= histString
		x.str = func(h *histHit) []byte { return text(h.d) }
		if f.DataLoc() {
			x.size = histText
		}
		return x
	}
	x.signed = f.Signed
	num := f.Reader()
	if num == nil {
		return nil
	}
	x.num = func(h *histHit) uint64 { return num(h.d) }
	return x
}

// value is the number of a field; a string has none.
func (x *histField) value(h *histHit) uint64 {
	if x.num == nil {
		return 0
	}
	return x.num(h)
}

// timestamp is hist_field_timestamp: the event's, in microseconds when any field wants them and the clock is one of time.
func (x *histHit) timestamp() uint64 {
	if x.h.attrs.usecs && clocks[x.t.clock].ns {
		return (x.ts + 500) / 1000
	}
	return x.ts
}

// field is parse_field: a field's name and its modifier.
func (p *histParser) field(text string, flags *histFlags, buckets *uint64) (*event.Field, error) {
	name, mod, has := strings.Cut(text, ".")
	if has {
		if err := p.modifier(name, mod, flags, buckets); err != nil {
			return nil, err
		}
	}
	switch name {
	case "common_timestamp":
		*flags |= histTimestamp
		p.h.stamps = true
		if *flags&histUsecs != 0 {
			p.h.attrs.usecs = true
		}
		return nil, nil
	case "common_cpu":
		*flags |= histCPU
		return nil, nil
	}
	if f, ok := p.h.u.ev.Field(name); ok && f.Size > 0 {
		return f, nil
	}
	if name == "cpu" || name == "CPU" {
		*flags |= histCPU
		return &event.Field{Name: name}, nil
	}
	return nil, p.fail("Couldn't find field", name)
}

func (p *histParser) modifier(name, mod string, flags *histFlags, buckets *uint64) error {
	const wrong = "Invalid field modifier"
	switch {
	case mod == "hex":
		*flags |= histHex
	case mod == "sym":
		*flags |= histSym
	case mod == "symXoffset":
		*flags |= histSymOffset
	case mod == "execname" && name == "common_pid":
		*flags |= histExecname
	case mod == "syscall":
		*flags |= histSyscall
	case mod == "log2":
		*flags |= histLog2
	case mod == "usecs":
		*flags |= histUsecs
	case strings.HasPrefix(mod, "bucket"):
		rest := strings.TrimPrefix(mod[len("bucket"):], "s")
		number, ok := strings.CutPrefix(rest, "=")
		if !ok {
			return p.fail(wrong, rest)
		}
		n, err := kstrtoul(number, 0)
		if err != nil || n == 0 {
			return p.fail(wrong, number)
		}
		*buckets = n
		*flags |= histBucket
	case strings.HasPrefix(mod, "percent") && *flags&(histVarField|histKey) == 0:
		*flags |= histPercent
	case strings.HasPrefix(mod, "graph") && *flags&(histVarField|histKey) == 0:
		*flags |= histGraph
	default:
		return p.fail(wrong, mod)
	}
	return nil
}

// atom is parse_atom: a number, a reference to a variable, or a field.
func (p *histParser) atom(text string, flags histFlags, name string) (*histField, error) {
	if text != "" && text[0] >= '0' && text[0] <= '9' {
		n, err := kstrtoul(text, 0)
		if err != nil {
			return nil, p.fail("Expecting numeric literal", text)
		}
		x := p.newField(nil, flags|histConst, name)
		x.constant = n
		return x, nil
	}
	system, ev, ref := "", "", text
	if part := strings.SplitN(text, ".", 3); len(part) == 3 {
		system, ev, ref = part[0], part[1], part[2]
		text = ref
	}
	if local, ok := p.localVar(system, ev, ref); ok {
		text = local
	} else if x := p.varRef(system, ev, ref); x != nil {
		if name != "" {
			x = p.alias(x, name)
		}
		return x, nil
	}
	buckets := uint64(0)
	f, err := p.field(text, &flags, &buckets)
	if err != nil {
		return nil, err
	}
	x := p.newField(f, flags, name)
	if x == nil {
		return nil, kernel.ENOMEM
	}
	x.buckets = buckets
	return x, nil
}

// maxSubexprs is how many operators an expression may have.
const maxSubexprs = 3

// expr is parse_expr.
func (p *histParser) expr(text string, flags histFlags, name string, subs *int) (*histField, error) {
	if *subs > maxSubexprs {
		return nil, p.fail("Too many subexpressions (3 max)", text)
	}
	op, at := rootOperator(text)
	switch {
	case op == 0:
		return p.atom(text, flags, name)
	case at == 0 && op == '-':
		return p.unary(text, flags, name, subs)
	}
	*subs++
	left, right := text[:at], text[at+1:]
	if left == "" || right == "" {
		return nil, kernel.EINVAL
	}
	a, err := p.operand(left, subs)
	if err != nil {
		return nil, err
	}
	b, err := p.operand(right, subs)
	if err != nil {
		return nil, err
	}
	return p.binary(op, a, b, right, flags, name)
}

func (p *histParser) operand(text string, subs *int) (*histField, error) {
	x, err := p.expr(text, 0, "", subs)
	if err == nil && x.flags&histString != 0 {
		return nil, p.fail("String type can not be an operand in expression", text)
	}
	return x, err
}

// rootOperator is contains_operator: the operator that is evaluated last, 0 when there is none. A minus in front comes before all.
func rootOperator(text string) (op byte, at int) {
	minus, plus := strings.LastIndexByte(text, '-'), strings.LastIndexByte(text, '+')
	if minus == 0 {
		return '-', 0
	}
	if at = max(minus, plus); at >= 0 {
		return text[at], at
	}
	if at = max(strings.LastIndexByte(text, '/'), strings.LastIndexByte(text, '*')); at >= 0 {
		return text[at], at
	}
	return 0, -1
}

// unary is parse_unary: -(EXPR).
func (p *histParser) unary(text string, flags histFlags, name string, subs *int) (*histField, error) {
	if *subs++; *subs > maxSubexprs {
		return nil, p.fail("Too many subexpressions (3 max)", text)
	}
	text = text[1:]
	if !strings.Contains(text, "(") {
		return nil, kernel.EINVAL
	}
	text = text[1:]
	end := strings.LastIndexByte(text, ')')
	switch {
	case end < 0:
		return nil, kernel.EINVAL
	case end != len(text)-1:
		return nil, p.fail("Unary minus not supported in sub-expressions", text)
	}
	a, err := p.operand(text[:end], subs)
	if err != nil {
		return nil, err
	}
	x := p.newField(nil, flags|histExpr, name)
	x.flags |= a.flags & (histTimestamp | histUsecs)
	x.num = func(h *histHit) uint64 { return -a.value(h) }
	x.ops[0], x.size, x.signed, x.typ, x.op = a, a.size, a.signed, a.typ, '_'
	x.name = x.exprText(0)
	return x, nil
}

// binary makes an expression of two operands.
func (p *histParser) binary(op byte, a, b *histField, right string, flags histFlags, name string) (*histField, error) {
	va, err := a.variable()
	if err != nil {
		return nil, err
	}
	vb, err := b.variable()
	if err != nil {
		return nil, err
	}
	if (va.flags^vb.flags)&histUsecs != 0 {
		p.log("Timestamp units in expression don't match", 0)
		return nil, kernel.EINVAL
	}
	both := va.flags&vb.flags&histConst != 0
	if flags |= a.flags & (histTimestamp | histUsecs); both {
		flags |= histConst
	} else {
		flags |= histExpr
	}
	x := p.newField(nil, flags, name)
	a.once, b.once = true, true
	x.ops = [2]*histField{a, b}
	fn := operate(op, a, b)
	if op == '/' && vb.flags&histConst != 0 {
		b.constant = vb.constant
		if vb.constant == 0 {
			p.log("Division by zero", p.at(right))
			return nil, kernel.EDOM
		}
		fn = divideBy(a, vb.constant)
	}
	if both {
		ca, cb := &histField{constant: va.constant}, &histField{constant: vb.constant}
		ca.num = func(*histHit) uint64 { return ca.constant }
		cb.num = func(*histHit) uint64 { return cb.constant }
		if fn = operate(op, ca, cb); op == '/' {
			fn = divideBy(ca, vb.constant)
		}
		x.constant, x.ops = fn(nil), [2]*histField{}
		x.name = x.exprText(0)
		return x, nil
	}
	x.num, x.size, x.signed, x.op, x.typ = fn, a.size, a.signed, op, a.typ
	x.name = x.exprText(0)
	return x, nil
}

// variable is what a reference or an alias refers to, else the field itself.
func (x *histField) variable() (*histField, error) {
	if x.flags&(histVarRef|histAlias) == 0 {
		return x, nil
	}
	if v := x.varOf.varField(x.name); v != nil {
		return v, nil
	}
	return nil, kernel.EINVAL
}

func operate(op byte, a, b *histField) func(h *histHit) uint64 {
	switch op {
	case '-':
		return func(h *histHit) uint64 { return a.value(h) - b.value(h) }
	case '+':
		return func(h *histHit) uint64 { return a.value(h) + b.value(h) }
	case '*':
		return func(h *histHit) uint64 { return a.value(h) * b.value(h) }
	}
	return func(h *histHit) uint64 {
		n, by := a.value(h), b.value(h)
		if by == 0 {
			return ^uint64(0)
		}
		return n / by
	}
}

// divideBy is hist_field_get_div_fn. Small numbers are multiplied and shifted, which can be one too many, as in Linux.
func divideBy(a *histField, by uint64) func(h *histHit) uint64 {
	const shift = 20 // HIST_DIV_SHIFT
	switch {
	case by&(by-1) == 0:
		n := bits.TrailingZeros64(by)
		return func(h *histHit) uint64 { return a.value(h) >> n }
	case by > 1<<shift:
		return func(h *histHit) uint64 { return a.value(h) / by }
	}
	mult := 1 << shift / by
	return func(h *histHit) uint64 {
		if n := a.value(h); n < 1<<shift {
			return (n*mult + 1<<shift - 1) >> shift
		} else {
			return n / by
		}
	}
}

// exprText is expr_str: the text of an expression, of which only one level is looked into.
func (x *histField) exprText(level int) string {
	switch {
	case level > 1:
		return ""
	case x.ops[0] == nil:
		return x.operandText()
	case x.op == '_':
		return "-(" + x.ops[0].exprText(level+1) + ")"
	}
	return x.ops[0].operandText() + string(x.op) + x.ops[1].operandText()
}

// operandText is expr_field_str.
func (x *histField) operandText() string {
	s := ""
	if x.flags&histVarRef != 0 {
		s = "$"
	} else if x.flags&histConst != 0 {
		s = strconv.FormatUint(x.constant, 10)
	}
	s += x.label(0)
	if m := x.flags.modifier(); m != "" && x.flags&histVarRef == 0 {
		s += "." + m
	}
	return s
}

// label is hist_field_name.
func (x *histField) label(level int) string {
	switch {
	case level > 1:
		return ""
	case x.field != nil:
		return x.field.Name
	case x.flags&(histLog2|histAlias|histBucket) != 0:
		return x.ops[0].label(level + 1)
	case x.flags&histCPU != 0:
		return "common_cpu"
	case x.flags&(histExpr|histVarRef) != 0:
		if x.system != "" {
			return x.system + "." + x.event + "." + x.name
		}
		return x.name
	case x.flags&histTimestamp != 0:
		return "common_timestamp"
	}
	return ""
}

// modifier is get_hist_field_flags.
func (f histFlags) modifier() string {
	for _, m := range [...]struct {
		flag histFlags
		name string
	}{{histHex, "hex"}, {histSym, "sym"}, {histSymOffset, "sym-offset"}, {histExecname, "execname"}, {histSyscall, "syscall"}, {histLog2, "log2"},
		{histBucket, "buckets"}, {histUsecs, "usecs"}, {histPercent, "percent"}, {histGraph, "graph"}} {
		if f&m.flag != 0 {
			return m.name
		}
	}
	return ""
}
