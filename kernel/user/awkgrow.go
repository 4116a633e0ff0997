package user

import (
	"cmp"
	"slices"
	"strings"

	"github.com/benhoyt/goawk/lexer"
)

// insert is text to be put into a program.
type insert struct {
	at   int
	text string
}

// grown has the length of every text looked at that the program puts together and keeps: nobody sees what goawk allocates, and a
// text that is put together with itself doubles.
func (a *awkSource) grown() {
	var ins []insert
	for i := range a.toks {
		switch a.tok(i) {
		case lexer.ASSIGN, lexer.RETURN:
			if to := a.concatenation(i + 1); to > 0 {
				ins = append(ins, insert{a.toks[i+1].at, "ksbig("}, insert{a.end(to - 1), ")"})
			}
		case lexer.F_SUB, lexer.F_GSUB:
			args, end := a.arguments(i + 1)
			target := "$0"
			if len(args) == 3 {
				target = a.slice(args[2][0], args[2][1])
			}
			if a.tok(i+1) == lexer.LPAREN && !strings.ContainsAny(target, "(+-") {
				ins = append(ins, insert{a.toks[i].at, "ksnum("}, insert{a.end(end - 1), ", " + target + ")"})
			}
		}
	}
	slices.SortStableFunc(ins, func(x, y insert) int { return cmp.Compare(x.at, y.at) })
	var out strings.Builder
	at := 0
	for _, x := range ins {
		out.WriteString(a.text[at:x.at] + x.text)
		at = x.at
	}
	a.text = out.String() + a.text[at:]
}

// concatenation is the index behind the expression at i when that is a concatenation, 0 when it is something else.
func (a *awkSource) concatenation(i int) int {
	joined := false
	for k, depth := i, 0; k < len(a.toks); k++ {
		t := a.tok(k)
		if depth == 0 {
			switch t {
			case lexer.NEWLINE, lexer.SEMICOLON, lexer.RBRACE, lexer.RPAREN, lexer.RBRACKET, lexer.COMMA:
				if joined {
					return k
				}
				return 0
			case lexer.ASSIGN, lexer.QUESTION, lexer.COLON, lexer.AND, lexer.OR, lexer.IN, lexer.MATCH, lexer.NOT_MATCH, lexer.EQUALS, lexer.NOT_EQUALS,
				lexer.LESS, lexer.LTE, lexer.GREATER, lexer.GTE, lexer.PIPE, lexer.GETLINE, lexer.ADD_ASSIGN, lexer.SUB_ASSIGN, lexer.MUL_ASSIGN,
				lexer.DIV_ASSIGN, lexer.MOD_ASSIGN, lexer.POW_ASSIGN:
				return 0
			}
			joined = joined || k > i && a.adjacent(k)
		}
		switch t {
		case lexer.LPAREN, lexer.LBRACKET:
			depth++
		case lexer.RPAREN, lexer.RBRACKET:
			depth--
		}
	}
	return 0
}

// adjacent tells that token k begins an operand right behind another one.
func (a *awkSource) adjacent(k int) bool {
	switch a.tok(k - 1) {
	case lexer.NAME, lexer.NUMBER, lexer.STRING, lexer.RPAREN, lexer.RBRACKET:
	default:
		return false
	}
	t := a.tok(k)
	switch t {
	case lexer.NAME, lexer.NUMBER, lexer.STRING, lexer.DOLLAR:
		return true
	case lexer.LPAREN:
		return a.tok(k-1) != lexer.NAME
	}
	return t >= lexer.FIRST_FUNC && t <= lexer.LAST_FUNC
}
