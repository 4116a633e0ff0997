package user

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/benhoyt/goawk/lexer"
)

// awkFilename is the variable that stands in for FILENAME, which goawk sets to "-".
const awkFilename = "ksfilename"

// awkToken is a token and where it stands in the source.
type awkToken struct {
	tok    lexer.Token
	text   string
	at, to int
}

// awkTokens scans a program that parses. A slash starts a regular expression where no operand has just ended.
func awkTokens(source string) (out []awkToken) {
	starts := []int{0}
	for i := range len(source) {
		if source[i] == '\n' {
			starts = append(starts, i+1)
		}
	}
	offset := func(p lexer.Position) int { return min(starts[min(p.Line, len(starts))-1]+p.Column-1, len(source)) }
	lex := lexer.NewLexer([]byte(source))
	last := lexer.NEWLINE
	for {
		pos, tok, text := lex.Scan()
		at := offset(pos)
		if len(out) > 0 {
			out[len(out)-1].to = at
		}
		if tok == lexer.EOF || tok == lexer.ILLEGAL {
			return out
		}
		if (tok == lexer.DIV || tok == lexer.DIV_ASSIGN) && !endsOperand(last) {
			_, tok, text = lex.ScanRegex()
		}
		out = append(out, awkToken{tok, text, at, len(source)})
		last = tok
	}
}

func endsOperand(t lexer.Token) bool {
	switch t {
	case lexer.NAME, lexer.NUMBER, lexer.STRING, lexer.REGEX, lexer.RPAREN, lexer.RBRACKET, lexer.DOLLAR, lexer.INCR, lexer.DECR, lexer.F_LENGTH,
		lexer.GETLINE:
		return true
	}
	return false
}

// awkRewrite changes what goawk would take from the host or from Go's maps:
//
//	for (k in a)   ->  for (ksN = kskeysN(a); ksmore(ksN) && ((k = ksnext(ksN)) || 1);)    keys in sorted order
//	srand()        ->  srand(ksnow())                                                     the virtual clock
//	FILENAME       ->  ksfilename                                                         set by an operand in front of "-"
//
// ksN is one more local of the function around it, so that recursion works.
func awkRewrite(source string) string {
	toks := awkTokens(source)
	type edit struct {
		at, to int
		text   string
	}
	var edits []edit
	loops := 0
	is := func(i int, kinds ...lexer.Token) bool {
		for k, t := range kinds {
			if i+k >= len(toks) || toks[i+k].tok != t {
				return false
			}
		}
		return true
	}
	depth, params, inFunc := 0, -1, false // params: the index of the function's )
	var locals []string
	for i := range toks {
		t := &toks[i]
		switch {
		case t.tok == lexer.FUNCTION:
			inFunc, locals, params = true, nil, -1
		case t.tok == lexer.RPAREN && inFunc && params < 0:
			params = i
		case t.tok == lexer.LBRACE:
			depth++
		case t.tok == lexer.RBRACE:
			if depth--; depth == 0 && inFunc {
				inFunc = false
				if len(locals) > 0 {
					sep := ""
					if toks[params-1].tok != lexer.LPAREN {
						sep = ", "
					}
					edits = append(edits, edit{toks[params].at, toks[params].at, sep + strings.Join(locals, ", ")})
				}
			}
		case is(i, lexer.FOR, lexer.LPAREN, lexer.NAME, lexer.IN, lexer.NAME, lexer.RPAREN):
			loops++
			v := fmt.Sprintf("ks%d", loops)
			if inFunc {
				locals = append(locals, v)
			}
			edits = append(edits, edit{toks[i+2].at, toks[i+5].at, fmt.Sprintf("%[1]s = kskeys%[4]d(%[3]s); ksmore(%[1]s) && ((%[2]s = ksnext(%[1]s)) || 1);",
				v, toks[i+2].text, toks[i+4].text, loops)})
		case is(i, lexer.F_SRAND, lexer.LPAREN, lexer.RPAREN):
			edits = append(edits, edit{toks[i+2].at, toks[i+2].at, "ksnow()"})
		case t.tok == lexer.NAME && t.text == "FILENAME":
			edits = append(edits, edit{t.at, t.at + len("FILENAME"), awkFilename})
		}
	}
	slices.SortStableFunc(edits, func(a, b edit) int { return cmp.Compare(a.at, b.at) })
	var out strings.Builder
	at := 0
	for _, e := range edits {
		out.WriteString(source[at:e.at] + e.text)
		at = e.to
	}
	out.WriteString(source[at:])
	values, mode := "", ""
	if slices.ContainsFunc(toks, func(t awkToken) bool { return t.tok == lexer.NAME && t.text == "PROCINFO" }) {
		values, mode = ", a[k]", `, PROCINFO["sorted_in"]`
	}
	for i := 1; i <= loops; i++ { // one function each: goawk types an array parameter by its calls
		fmt.Fprintf(&out, "\nfunction kskeys%d(a, k, n) { n = ksnew(); for (k in a) ksput(n, k%s); return kssort(n%s) }", i, values, mode)
	}
	return out.String() + "\n"
}

// sortAwk puts items in the order of a PROCINFO["sorted_in"], @ind_num_asc and the like; without one (a function's name is none
// here) by awkOrder of their keys.
func sortAwk(items []awkItem, mode string) {
	of := func(it awkItem) string { return it.key }
	if strings.HasPrefix(mode, "@val") {
		of = func(it awkItem) string { return it.value }
	}
	order := awkOrder
	if strings.HasPrefix(mode, "@ind_str") || strings.HasPrefix(mode, "@val_str") {
		order = strings.Compare
	}
	sign := 1
	if strings.HasSuffix(mode, "_desc") {
		sign = -1
	}
	slices.SortFunc(items, func(a, b awkItem) int {
		return cmp.Or(sign*order(of(a), of(b)), sign*awkOrder(a.key, b.key))
	})
}

// awkOrder puts numbers first, by value, then the other strings.
func awkOrder(a, b string) int {
	x, err := strconv.ParseFloat(a, 64)
	y, err2 := strconv.ParseFloat(b, 64)
	switch {
	case err == nil && err2 == nil:
		return cmp.Or(cmp.Compare(x, y), strings.Compare(a, b))
	case err == nil:
		return -1
	case err2 == nil:
		return 1
	}
	return strings.Compare(a, b)
}
