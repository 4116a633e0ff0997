package user

import (
	"fmt"
	"math/big"
	"strconv"
	"strings"

	"kscope/kernel/user/re"
)

// exprRun parses and evaluates expr's arguments by precedence: | & comparisons + - * / % : and the words.
type exprRun struct {
	args []string
	i    int
}

// exprError ends the evaluation with a status: 2 a syntax error, 3 another.
type exprError struct {
	status int
	msg    string
}

func expr(c *cmd) (status int) {
	args := c.argv[1:]
	if len(args) > 0 && args[0] == "--" {
		args = args[1:]
	}
	if len(args) == 0 {
		c.errorf("missing operand")
		return c.tryHelp(2)
	}
	x := &exprRun{args: args}
	defer func() {
		switch r := recover().(type) {
		case nil:
		case exprError:
			c.errorf("%s", r.msg)
			status = r.status
		default:
			panic(r)
		}
	}()
	v := x.or(true)
	if x.i < len(args) {
		x.fail("syntax error: unexpected argument %s", quoted(args[x.i]))
	}
	c.printf("%s\n", v)
	if exprNull(v) {
		return 1
	}
	return 0
}

func (x *exprRun) fail(format string, args ...any) {
	panic(exprError{2, fmt.Sprintf(format, args...)})
}

// exprNull is true for "", 0, -0 and 00.
func exprNull(v string) bool {
	return v == "" || v != "-" && strings.Trim(strings.TrimPrefix(v, "-"), "0") == ""
}

func (x *exprRun) next(words ...string) (string, bool) {
	if x.i < len(x.args) && has(words, x.args[x.i]) {
		x.i++
		return x.args[x.i-1], true
	}
	return "", false
}

// or, and: the right side is parsed without being evaluated where the left one decides.
func (x *exprRun) or(eval bool) string {
	l := x.and(eval)
	for {
		if _, ok := x.next("|"); !ok {
			return l
		}
		r := x.and(eval && exprNull(l))
		if exprNull(l) {
			if l = r; exprNull(r) {
				l = "0"
			}
		}
	}
}

func (x *exprRun) and(eval bool) string {
	l := x.compare(eval)
	for {
		if _, ok := x.next("&"); !ok {
			return l
		}
		r := x.compare(eval && !exprNull(l))
		if exprNull(l) || exprNull(r) {
			l = "0"
		}
	}
}

func (x *exprRun) compare(eval bool) string {
	l := x.sum(eval)
	for {
		op, ok := x.next("<", "<=", "=", "==", "!=", ">=", ">")
		if !ok {
			return l
		}
		r := x.sum(eval)
		a, ok1 := new(big.Int).SetString(l, 10)
		b, ok2 := new(big.Int).SetString(r, 10)
		d := strings.Compare(l, r)
		if ok1 && ok2 {
			d = a.Cmp(b)
		}
		l = "0"
		if op == "<" && d < 0 || op == "<=" && d <= 0 || (op == "=" || op == "==") && d == 0 || op == "!=" && d != 0 || op == ">=" && d >= 0 || op == ">" && d > 0 {
			l = "1"
		}
	}
}

func (x *exprRun) sum(eval bool) string {
	l := x.product(eval)
	for {
		op, ok := x.next("+", "-")
		if !ok {
			return l
		}
		r := x.product(eval)
		if eval {
			a, b := exprInt(l), exprInt(r)
			if op == "-" {
				b.Neg(b)
			}
			l = a.Add(a, b).String()
		}
	}
}

func (x *exprRun) product(eval bool) string {
	l := x.match(eval)
	for {
		op, ok := x.next("*", "/", "%")
		if !ok {
			return l
		}
		r := x.match(eval)
		if !eval {
			continue
		}
		a, b := exprInt(l), exprInt(r)
		if op != "*" && b.Sign() == 0 {
			x.fail("division by zero")
		}
		switch op {
		case "*":
			a.Mul(a, b)
		case "/":
			a.Quo(a, b)
		default:
			a.Rem(a, b)
		}
		l = a.String()
	}
}

func exprInt(text string) *big.Int {
	v, ok := new(big.Int).SetString(text, 10)
	if !ok || strings.HasPrefix(text, "+") {
		panic(exprError{2, "non-integer argument"})
	}
	return v
}

func (x *exprRun) match(eval bool) string {
	l := x.word(eval)
	for {
		if _, ok := x.next(":"); !ok {
			return l
		}
		r := x.word(eval)
		if eval {
			l = exprMatch(l, r)
		}
	}
}

// exprMatch is the anchored match of a BRE: the first group, or the match's length.
func exprMatch(text, pattern string) string {
	rx, err := re.Compile(`\`+"`"+strings.TrimPrefix(pattern, "^"), 0)
	if err != nil {
		panic(exprError{2, err.Error()})
	}
	m := rx.FindStringSubmatchIndex(text)
	switch {
	case rx.NumSubexp() > 0 && m != nil && m[2] >= 0:
		return text[m[2]:m[3]]
	case rx.NumSubexp() > 0:
		return ""
	case m != nil:
		return strconv.Itoa(m[1])
	}
	return "0"
}

func (x *exprRun) operand() string {
	if x.i >= len(x.args) {
		x.fail("syntax error: missing argument after %s", quoted(x.args[len(x.args)-1]))
	}
	x.i++
	return x.args[x.i-1]
}

func (x *exprRun) word(eval bool) string {
	switch w := x.operand(); w {
	case "(":
		v := x.or(eval)
		if _, ok := x.next(")"); !ok {
			if x.i < len(x.args) {
				x.fail("syntax error: expecting ')' instead of %s", quoted(x.args[x.i]))
			}
			x.fail("syntax error: expecting ')' after %s", quoted(x.args[len(x.args)-1]))
		}
		return v
	case ")":
		x.fail("syntax error: unexpected ')'")
	case "+":
		return x.operand()
	case "length":
		return strconv.Itoa(len(x.word(eval)))
	case "match":
		l := x.word(eval)
		return exprMatch(l, x.word(eval))
	case "index":
		l := x.word(eval)
		return strconv.Itoa(strings.IndexAny(l, x.word(eval)) + 1)
	case "substr":
		s := x.word(eval)
		pos, err := strconv.Atoi(x.word(eval))
		n, err2 := strconv.Atoi(x.word(eval))
		if err != nil || err2 != nil || pos < 1 || pos > len(s) || n < 1 {
			return ""
		}
		return s[pos-1 : min(pos-1+n, len(s))]
	default:
		return w
	}
	return ""
}
