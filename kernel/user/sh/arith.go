package sh

import (
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// maxArith bounds the recursion of expressions in variables, as bash's EXPR_NEST_MAX does.
const maxArith = 1024

// arithAbort unwinds an expression. expr is the text that it was about, when that came out of a variable; at is where the
// token stands that the message ends with.
type arithAbort struct {
	msg, expr string
	at        syntax.Pos
}

func arithFail(format string, args ...any) { panic(arithAbort{msg: sprintf(format, args...)}) }

// catchArith runs fn and gives the message of a failure: "expression: what is wrong". text is the whole expression and end
// its end.
func (sh *Shell) catchArith(text string, end syntax.Pos, fn func() int64) (v int64, msg string) {
	defer func() {
		switch r := recover().(type) {
		case nil:
		case arithAbort:
			if r.expr != "" {
				text = r.expr
			}
			if r.at.IsValid() {
				r.msg += " (error token is \"" + sh.between(r.at, end) + "\")"
			}
			msg = strings.TrimLeft(text, " ") + ": " + r.msg
		default:
			panic(r)
		}
	}()
	return fn(), ""
}

// arith evaluates an expression of an expansion; an error gives the line up.
func (sh *Shell) arith(x syntax.ArithmExpr) int64 {
	v, msg := sh.catchArith(sh.original(x), x.End(), func() int64 { return sh.eval64(x, 0) })
	if msg != "" {
		sh.discard("%s", msg)
	}
	return v
}

func (sh *Shell) arithTop(x syntax.ArithmExpr) int64 {
	if x == nil {
		return 0
	}
	return sh.arith(x)
}

// arithText evaluates text, as the value of an integer variable or a subscript.
func (sh *Shell) arithText(text string) int64 {
	v, msg := sh.catchArith(text, syntax.Pos{}, func() int64 { return sh.evalText(text, 0) })
	if msg != "" {
		sh.discard("%s", msg)
	}
	return v
}

// arithStatus is (( … )) and let: 0 when the value is not zero.
func (sh *Shell) arithStatus(name string, x syntax.ArithmExpr, text string) int {
	if sh.opts.xtrace && name == "((" {
		sh.trace("(( " + text + " ))")
	}
	v, msg := sh.catchArith(text, x.End(), func() int64 { return sh.eval64(x, 0) })
	switch {
	case msg != "":
		sh.errorf("%s: %s", name, msg)
		return 1
	case v == 0:
		return 1
	}
	return 0
}

// inner evaluates the text of a variable; a failure is about that text.
func (sh *Shell) inner(text string, depth int) int64 {
	defer func() {
		switch r := recover().(type) {
		case nil:
		case arithAbort:
			if r.expr == "" {
				r.expr = text
			}
			panic(r)
		default:
			panic(r)
		}
	}()
	if text == "" || isDigits(text) && text[0] != '0' {
		return sh.evalText(text, depth)
	}
	src := sh.src
	defer func() { sh.src = src }()
	sh.src = text
	return sh.evalText(text, depth)
}

// evalText parses text and evaluates it.
func (sh *Shell) evalText(text string, depth int) int64 {
	text = strings.TrimSpace(text)
	if text == "" {
		return 0
	}
	if depth > maxArith {
		arithFail("expression recursion level exceeded (error token is \"%s\")", text)
	}
	if text[0] >= '0' && text[0] <= '9' && strings.IndexFunc(text, notNumber) < 0 {
		return number(text)
	}
	if syntax.ValidName(text) {
		return sh.evalName(text, depth)
	}
	x, err := newParser().Arithmetic(strings.NewReader(text))
	if err != nil {
		arithFail("%s", syntaxToken(text))
	}
	if x == nil {
		return 0
	}
	return sh.eval64(x, depth+1)
}

// syntaxToken is bash's message about an expression that does not parse: with what is left at the place of the error.
func syntaxToken(text string) string {
	ops := strings.TrimRight(text, " ")
	i := len(ops)
	for i > 0 && strings.IndexByte("+-*/%<>=!&|^~(,?: ", ops[i-1]) >= 0 {
		i--
	}
	if tok := strings.TrimSpace(ops[i:]); tok != "" {
		return sprintf("syntax error: operand expected (error token is \"%s\")", tok)
	}
	words := strings.Fields(text)
	if len(words) > 1 {
		return sprintf("syntax error in expression (error token is \"%s\")", strings.Join(words[1:], " "))
	}
	i = strings.IndexFunc(text, func(r rune) bool { return notNumber(r) && r != '-' && r != '+' })
	if i > 0 {
		return sprintf("syntax error: invalid arithmetic operator (error token is \"%s\")", text[i:])
	}
	return sprintf("syntax error: operand expected (error token is \"%s\")", text)
}

func notNumber(r rune) bool {
	return (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && r != '#' && r != '@' && r != '_'
}

func (sh *Shell) evalName(name string, depth int) int64 {
	v := sh.value(name, nil)
	if !v.set {
		if sh.opts.nounset {
			sh.fatal(sh.failure(), "%s: unbound variable", name)
		}
		return 0
	}
	return sh.inner(v.one(), depth+1)
}

// number reads a constant: 10, 0x1f, 017, 2#101.
func number(text string) int64 {
	base, digitsText := 10, text
	if b, rest, ok := strings.Cut(text, "#"); ok {
		n, err := strconv.Atoi(b)
		if err != nil || n < 2 || n > 64 {
			arithFail("invalid arithmetic base (error token is \"%s\")", text)
		}
		if rest == "" {
			arithFail("invalid integer constant (error token is \"%s\")", text)
		}
		base, digitsText = n, rest
	} else if len(text) > 1 && text[0] == '0' {
		base, digitsText = 8, text[1:]
		if text[1] == 'x' || text[1] == 'X' {
			base, digitsText = 16, text[2:]
		}
	}
	v := int64(0)
	for _, c := range digitsText {
		d := 99
		switch {
		case c >= '0' && c <= '9':
			d = int(c - '0')
		case c >= 'a' && c <= 'z':
			d = int(c-'a') + 10
		case c >= 'A' && c <= 'Z' && base <= 36:
			d = int(c-'A') + 10
		case c >= 'A' && c <= 'Z':
			d = int(c-'A') + 36
		case c == '@':
			d = 62
		case c == '_':
			d = 63
		}
		if d >= base {
			arithFail("value too great for base (error token is \"%s\")", text)
		}
		v = v*int64(base) + int64(d)
	}
	return v
}

// place is something that an expression can assign to.
type place struct {
	name string
	key  string
	sub  bool
}

func (sh *Shell) placeOf(x syntax.ArithmExpr) place {
	w, ok := x.(*syntax.Word)
	if ok && len(w.Parts) == 1 {
		if p, ok := w.Parts[0].(*syntax.ParamExp); ok && p.Index != nil && p.Short {
			return place{p.Param.Value, sh.subscript(sh.arrayOf(p.Param.Value), p.Index), true}
		}
	}
	if ok {
		if name := sh.text(w); syntax.ValidName(name) {
			return place{name: name}
		}
	}
	arithFail("attempted assignment to non-variable (error token is \"%s\")", sh.original(x))
	return place{}
}

func (sh *Shell) load(p place, depth int) int64 {
	if !p.sub {
		return sh.evalName(p.name, depth)
	}
	return sh.inner(sh.element(p.name, p.key).one(), depth+1)
}

func (sh *Shell) store(p place, v int64) int64 {
	text := strconv.FormatInt(v, 10)
	if p.sub {
		sh.setIndex(p.name, p.key, text, false)
	} else {
		sh.set(p.name, text)
	}
	return v
}

func (sh *Shell) eval64(x syntax.ArithmExpr, depth int) int64 {
	switch x := x.(type) {
	case *syntax.Word:
		if len(x.Parts) == 1 {
			if p, ok := x.Parts[0].(*syntax.ParamExp); ok && p.Short && p.Index != nil && !p.Dollar.IsValid() {
				return sh.load(sh.placeOf(x), depth)
			}
		}
		return sh.evalText(sh.text(x), depth)
	case *syntax.ParenArithm:
		return sh.eval64(x.X, depth)
	case *syntax.UnaryArithm:
		return sh.unary(x, depth)
	case *syntax.BinaryArithm:
		return sh.binary64(x, depth)
	}
	arithFail("syntax error")
	return 0
}

func (sh *Shell) unary(x *syntax.UnaryArithm, depth int) int64 {
	if x.Op == syntax.Inc || x.Op == syntax.Dec {
		p := sh.placeOf(x.X)
		old := sh.load(p, depth)
		d := int64(1)
		if x.Op == syntax.Dec {
			d = -1
		}
		if v := sh.store(p, old+d); !x.Post {
			return v
		}
		return old
	}
	v := sh.eval64(x.X, depth)
	switch x.Op {
	case syntax.Not:
		return truth(v == 0)
	case syntax.BitNegation:
		return ^v
	case syntax.Minus:
		return -v
	}
	return v
}

func truth(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

// assignOps are the operators behind += and its kin.
var assignOps = map[syntax.BinAritOperator]syntax.BinAritOperator{
	syntax.AddAssgn: syntax.Add, syntax.SubAssgn: syntax.Sub, syntax.MulAssgn: syntax.Mul, syntax.QuoAssgn: syntax.Quo,
	syntax.RemAssgn: syntax.Rem, syntax.AndAssgn: syntax.And, syntax.OrAssgn: syntax.Or, syntax.XorAssgn: syntax.Xor,
	syntax.ShlAssgn: syntax.Shl, syntax.ShrAssgn: syntax.Shr,
}

func (sh *Shell) binary64(x *syntax.BinaryArithm, depth int) int64 {
	switch x.Op {
	case syntax.Assgn:
		p := sh.placeOf(x.X)
		return sh.store(p, sh.eval64(x.Y, depth))
	case syntax.AndArit:
		return truth(sh.eval64(x.X, depth) != 0 && sh.eval64(x.Y, depth) != 0)
	case syntax.OrArit:
		return truth(sh.eval64(x.X, depth) != 0 || sh.eval64(x.Y, depth) != 0)
	case syntax.TernQuest:
		c, ok := x.Y.(*syntax.BinaryArithm)
		if !ok || c.Op != syntax.TernColon {
			arithFail("`:' expected for conditional expression")
		}
		if sh.eval64(x.X, depth) != 0 {
			return sh.eval64(c.X, depth)
		}
		return sh.eval64(c.Y, depth)
	case syntax.Comma:
		sh.eval64(x.X, depth)
		return sh.eval64(x.Y, depth)
	}
	if op, ok := assignOps[x.Op]; ok {
		p := sh.placeOf(x.X)
		old := sh.load(p, depth)
		return sh.store(p, operate(op, old, sh.eval64(x.Y, depth), x.Y))
	}
	a := sh.eval64(x.X, depth)
	return operate(x.Op, a, sh.eval64(x.Y, depth), x.Y)
}

func operate(op syntax.BinAritOperator, a, b int64, y syntax.ArithmExpr) int64 {
	switch op {
	case syntax.Add:
		return a + b
	case syntax.Sub:
		return a - b
	case syntax.Mul:
		return a * b
	case syntax.Quo, syntax.Rem:
		switch {
		case b == 0:
			panic(arithAbort{msg: "division by 0", at: y.Pos()})
		case b == -1 && op == syntax.Quo:
			return -a
		case b == -1:
			return 0
		case op == syntax.Quo:
			return a / b
		}
		return a % b
	case syntax.Pow:
		return power(a, b, y)
	case syntax.Eql:
		return truth(a == b)
	case syntax.Neq:
		return truth(a != b)
	case syntax.Lss:
		return truth(a < b)
	case syntax.Gtr:
		return truth(a > b)
	case syntax.Leq:
		return truth(a <= b)
	case syntax.Geq:
		return truth(a >= b)
	case syntax.And:
		return a & b
	case syntax.Or:
		return a | b
	case syntax.Xor:
		return a ^ b
	case syntax.Shl:
		return a << (uint64(b) & 63)
	case syntax.Shr:
		return a >> (uint64(b) & 63)
	}
	arithFail("syntax error: invalid arithmetic operator (error token is \"%s\")", op)
	return 0
}

func power(a, b int64, y syntax.ArithmExpr) int64 {
	if b < 0 {
		panic(arithAbort{msg: "exponent less than 0", at: y.Pos()})
	}
	v := int64(1)
	for ; b > 0; b >>= 1 {
		if b&1 != 0 {
			v *= a
		}
		a *= a
	}
	return v
}
