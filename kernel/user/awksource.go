package user

import (
	"fmt"
	"strings"

	"github.com/benhoyt/goawk/lexer"
)

// awkSource rewrites what goawk would do with the host's files and commands, and what only gawk knows, into calls of the Go
// functions of awkio.go and awkgawk.go:
//
//	print X > F            ->  print X > ksto(">", F, line)     which returns goawk's name of standard output; awkOut sends X to F
//	print X | CMD          ->  print X > ksto("|", CMD, LINE)
//	print X                ->  print X > ksto("")           where the program has redirections
//	getline V < F          ->  (ksread(F, RS) > 0 ? ksone(V = ksval()) : ksstat())
//	CMD | getline V        ->  (ksrun(CMD, RS) > 0 ? ksone(V = ksval()) : ksstat())
//	system close fflush    ->  kssystem ksclose ksflush
//	match(S, R, A)         ->  ksmatchN(S, R, A), an awk function over ksmatch
//	gensub(/re/, …)        ->  gensub("re", …, $0)
//	asort(A, B)            ->  ksasortN(A, B)
//	V = A B                ->  V = ksbig(A B)               which looks at the length, as after return and
//	gsub(R, S, V)          ->  ksnum(gsub(R, S, V), V)
//
// ksval gives a record the type of input: a number where it looks like one. Each pass makes one change, for one may stand
// within another.
type awkSource struct {
	text  string
	toks  []awkToken
	n     int      // of functions made
	funcs []string // to be put behind the program
	hex   bool     // --non-decimal-data
}

// awkIO is the program with everything rewritten.
func awkIO(source string, hex bool) string {
	a := &awkSource{text: source, hex: hex}
	a.scan()
	a.prints()
	for _, pass := range []func() bool{a.getlineFile, a.getlineCommand, a.call} {
		for a.scan(); pass(); a.scan() {
		}
	}
	a.scan()
	a.grown()
	if len(a.funcs) > 0 {
		a.text += "\n" + strings.Join(a.funcs, "\n") + "\n"
	}
	return a.text
}

func (a *awkSource) scan() { a.toks = awkTokens(a.text) }

func (a *awkSource) tok(i int) lexer.Token {
	if i < 0 || i >= len(a.toks) {
		return lexer.EOF
	}
	return a.toks[i].tok
}

// end is where token i ends, without the blanks and the comment behind it.
func (a *awkSource) end(i int) int {
	t := a.toks[i]
	text := a.text[t.at:t.to]
	switch t.tok {
	case lexer.STRING, lexer.REGEX:
		for k := 1; k < len(text); k++ {
			switch text[k] {
			case '\\':
				k++
			case text[0]:
				return t.at + k + 1
			}
		}
		return t.to
	case lexer.NEWLINE:
		return t.at
	}
	if k := strings.IndexByte(text, '#'); k >= 0 {
		text = text[:k]
	}
	return t.at + len(strings.TrimRight(text, " \t\r\n\\"))
}

// slice is the source of tokens from to to-1.
func (a *awkSource) slice(from, to int) string {
	if from >= to {
		return ""
	}
	return a.text[a.toks[from].at:a.end(to-1)]
}

// replace puts text in the place of tokens from to to-1.
func (a *awkSource) replace(from, to int, text string) {
	a.text = a.text[:a.toks[from].at] + text + a.text[a.end(to-1):]
}

// group is the index behind the bracket that closes the one at i.
func (a *awkSource) group(i int) int {
	for depth := 0; i < len(a.toks); i++ {
		switch a.tok(i) {
		case lexer.LPAREN, lexer.LBRACKET:
			depth++
		case lexer.RPAREN, lexer.RBRACKET:
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return i
}

// prints gives every print statement a destination, when one of them has one.
func (a *awkSource) prints() {
	type edit struct{ print, at, end int }
	var edits []edit
	any := false
	for i := range a.toks {
		if t := a.tok(i); t != lexer.PRINT && t != lexer.PRINTF {
			continue
		}
		e := edit{print: i, at: -1}
		k := i + 1
		for depth := 0; k < len(a.toks); k++ {
			t := a.tok(k)
			if t == lexer.LPAREN || t == lexer.LBRACKET {
				depth++
			} else if t == lexer.RPAREN || t == lexer.RBRACKET {
				depth--
			}
			prev := a.tok(k - 1)
			ends := t == lexer.NEWLINE && prev != lexer.COMMA && prev != lexer.AND && prev != lexer.OR
			if depth < 0 || depth == 0 && (ends || t == lexer.SEMICOLON || t == lexer.RBRACE) {
				break
			}
			if depth == 0 && e.at < 0 && (t == lexer.GREATER || t == lexer.APPEND || t == lexer.PIPE && a.tok(k+1) != lexer.GETLINE) {
				e.at, any = k, true
			}
		}
		e.end = k - 1
		edits = append(edits, e)
	}
	if !any {
		return
	}
	var out strings.Builder
	at := 0
	for _, e := range edits {
		if e.at < 0 {
			end := a.end(e.end)
			out.WriteString(a.text[at:end] + ` > ksto("")`)
			at = end
			continue
		}
		mode := map[lexer.Token]string{lexer.GREATER: ">", lexer.APPEND: ">>", lexer.PIPE: "|"}[a.tok(e.at)]
		fmt.Fprintf(&out, "%s> ksto(%q, %s, %d)", a.text[at:a.toks[e.at].at], mode, a.slice(e.at+1, e.end+1), 1+strings.Count(a.text[:a.toks[e.print].at], "\n"))
		at = a.end(e.end)
	}
	a.text = out.String() + a.text[at:]
}

// lvalue is the index behind the variable that may stand at i.
func (a *awkSource) lvalue(i int) int {
	switch {
	case a.tok(i) == lexer.DOLLAR:
		return a.primary(i + 1)
	case a.tok(i) == lexer.NAME && a.tok(i+1) == lexer.LBRACKET:
		return a.group(i + 1)
	case a.tok(i) == lexer.NAME:
		return i + 1
	}
	return i
}

// primary is the index behind the operand at i.
func (a *awkSource) primary(i int) int {
	switch t := a.tok(i); {
	case t == lexer.DOLLAR || t == lexer.INCR || t == lexer.DECR || t == lexer.SUB:
		return a.primary(i + 1)
	case t == lexer.LPAREN:
		return a.group(i)
	case a.tok(i+1) == lexer.LPAREN && (t == lexer.NAME || t >= lexer.FIRST_FUNC && t <= lexer.LAST_FUNC):
		return a.group(i + 1)
	case a.tok(i+1) == lexer.LBRACKET:
		return a.group(i + 1)
	}
	return i + 1
}

// value is the assignment of a record to the variable of tokens from to to-1, $0 when there is none.
func (a *awkSource) value(from, to int) string {
	if from == to {
		return "$0 = ksrec()"
	}
	return a.slice(from, to) + " = ksval()"
}

func (a *awkSource) needVal() {
	const fn = "function ksval(a) { split(ksrec(), a, \"\\001\"); return a[1] }"
	for _, f := range a.funcs {
		if f == fn {
			return
		}
	}
	a.funcs = append(a.funcs, fn)
}

func (a *awkSource) getlineFile() bool {
	for i := range a.toks {
		if a.tok(i) != lexer.GETLINE || a.tok(i-1) == lexer.PIPE {
			continue
		}
		v := a.lvalue(i + 1)
		if a.tok(v) != lexer.LESS || a.tok(v+1) == lexer.STRING && a.toks[v+1].text == "-" {
			continue
		}
		to := a.primary(v + 1)
		a.needVal()
		a.replace(i, to, fmt.Sprintf("(ksread(%s, RS) > 0 ? ksone(%s) : ksstat())", a.slice(v+1, to), a.value(i+1, v)))
		return true
	}
	return false
}

func (a *awkSource) getlineCommand() bool {
	for i := range a.toks {
		if a.tok(i) != lexer.PIPE || a.tok(i+1) != lexer.GETLINE {
			continue
		}
		from, v := a.operand(i), a.lvalue(i+2)
		a.needVal()
		a.replace(from, v, fmt.Sprintf("(ksrun(%s, RS) > 0 ? ksone(%s) : ksstat())", a.slice(from, i), a.value(i+2, v)))
		return true
	}
	return false
}

// operand is the begin of the concatenation that ends in front of i.
func (a *awkSource) operand(i int) int {
	for i > 0 {
		switch t := a.tok(i - 1); t {
		case lexer.RPAREN, lexer.RBRACKET:
			open := i - 1
			for depth := 0; open >= 0; open-- {
				if t := a.tok(open); t == lexer.RPAREN || t == lexer.RBRACKET {
					depth++
				} else if t == lexer.LPAREN || t == lexer.LBRACKET {
					if depth--; depth == 0 {
						break
					}
				}
			}
			if k := a.tok(open - 1); k == lexer.WHILE || k == lexer.IF || k == lexer.FOR {
				return i
			}
			i = open
		case lexer.STRING, lexer.NAME, lexer.NUMBER, lexer.DOLLAR, lexer.ADD, lexer.SUB, lexer.MUL, lexer.DIV, lexer.INCR, lexer.DECR:
			i--
		default:
			if t < lexer.FIRST_FUNC || t > lexer.LAST_FUNC {
				return i
			}
			i--
		}
	}
	return i
}

// arguments are the token ranges of a call's arguments; i is its opening bracket.
func (a *awkSource) arguments(i int) (args [][2]int, end int) {
	end = a.group(i)
	from := i + 1
	for k, depth := i, 0; k < end; k++ {
		switch a.tok(k) {
		case lexer.LPAREN, lexer.LBRACKET:
			depth++
		case lexer.RPAREN, lexer.RBRACKET:
			depth--
		}
		if (depth == 1 && a.tok(k) == lexer.COMMA || k == end-1) && k > from {
			args = append(args, [2]int{from, k})
			from = k + 1
		}
	}
	return args, end
}

// re is an argument that is a regular expression, as a string.
func (a *awkSource) re(arg [2]int) string {
	if arg[1] == arg[0]+1 && a.tok(arg[0]) == lexer.REGEX {
		return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(a.toks[arg[0]].text) + `"`
	}
	return a.slice(arg[0], arg[1])
}

// call rewrites one call of a function that goawk has otherwise or not.
func (a *awkSource) call() bool {
	for i, t := range a.toks {
		name := t.text
		switch {
		case t.tok == lexer.F_SYSTEM || t.tok == lexer.F_CLOSE || t.tok == lexer.F_FFLUSH:
			name = map[lexer.Token]string{lexer.F_SYSTEM: "kssystem", lexer.F_CLOSE: "ksclose", lexer.F_FFLUSH: "ksflush"}[t.tok]
			if a.tok(i+1) != lexer.LPAREN {
				name += "()"
			}
			a.replace(i, i+1, name)
			return true
		case t.tok == lexer.F_INT && a.hex:
			a.replace(i, i+1, "ksint")
			return true
		case t.tok == lexer.NAME && name == "func" && a.tok(i+1) == lexer.NAME && a.tok(i+2) == lexer.LPAREN:
			a.replace(i, i+1, "function")
			return true
		case a.tok(i+1) != lexer.LPAREN:
		case t.tok == lexer.F_MATCH:
			if args, end := a.arguments(i + 1); len(args) == 3 {
				a.n++
				a.funcs = append(a.funcs, fmt.Sprintf(matchFunc, a.n))
				a.replace(i, end, fmt.Sprintf("ksmatch%d(%s, %s, %s)", a.n, a.slice(args[0][0], args[0][1]), a.re(args[1]), a.slice(args[2][0], args[2][1])))
				return true
			}
		case t.tok == lexer.NAME && name == "gensub":
			args, end := a.arguments(i + 1)
			if len(args) == 3 || len(args) == 4 && a.tok(args[0][0]) == lexer.REGEX {
				target := "$0"
				if len(args) == 4 {
					target = a.slice(args[3][0], args[3][1])
				}
				a.replace(i, end, fmt.Sprintf("gensub(%s, %s, %s, %s)", a.re(args[0]), a.slice(args[1][0], args[1][1]), a.slice(args[2][0], args[2][1]), target))
				return true
			}
		case t.tok == lexer.NAME && (name == "asort" || name == "asorti"):
			args, end := a.arguments(i + 1)
			if len(args) == 1 {
				args = append(args, args[0])
			}
			if len(args) != 2 {
				continue
			}
			a.n++
			what := map[string]string{"asort": "a[k]", "asorti": "k"}[name]
			a.funcs = append(a.funcs, fmt.Sprintf(sortFunc, a.n, what))
			a.replace(i, end, fmt.Sprintf("kssort%d(%s, %s)", a.n, a.slice(args[0][0], args[0][1]), a.slice(args[1][0], args[1][1])))
			return true
		}
	}
	return false
}

const matchFunc = `function ksmatch%d(s, r, a, i, n) {
	split("", a)
	n = ksmatch(s, r)
	for (i = 0; i < n; i++) {
		a[i] = ksgroup(i)
		if (ksglen(i) > 0 || ksgstart(i) > 0) { a[i, "start"] = ksgstart(i); a[i, "length"] = ksglen(i) }
	}
	return match(s, r)
}`

const sortFunc = `function kssort%d(a, d, i, k, n) {
	n = ksnew()
	for (k in a) ksput(n, %s)
	kssort(n)
	split("", d)
	while (ksmore(n)) d[++i] = ksnext(n)
	return i + 0
}`
