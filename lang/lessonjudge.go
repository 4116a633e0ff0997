package lang

import (
	"math"
	"math/big"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"
)

// verdict is what a line that was typed at a question is.
type verdict int

const (
	isNeither verdict = iota // a line that looks or changes something
	isRight
	isWrong
)

// judge takes a line for an answer, or runs it: an expression may give the answer.
func (r *lessonRun) judge(src string, right []starlark.Value) verdict {
	for _, want := range right {
		if answers(src, want) {
			return isRight
		}
	}
	if r.isGuess(src) {
		return isWrong
	}
	var v starlark.Value
	r.Host.uncancel()
	r.Host.refill(r.thread)
	r.attended(r.Host.Interrupt, func() (err error) {
		v, err = r.evalValue(src)
		return err
	})
	verdict := isNeither
	for _, want := range right {
		if v == nil || v.Type() != want.Type() {
			continue
		}
		if same, err := starlark.Equal(v, want); err == nil && same || answers(answerText(v), want) {
			return isRight
		}
		verdict = isWrong
	}
	return verdict
}

// rightAnswers are the values of an answer that a line can be compared with.
func rightAnswers(v starlark.Value) []starlark.Value {
	list, ok := v.(*starlark.List)
	if !ok {
		list = starlark.NewList([]starlark.Value{v})
	}
	var all []starlark.Value
	for i := range list.Len() {
		switch list.Index(i).(type) {
		case starlark.Int, starlark.String, starlark.Bool:
			all = append(all, list.Index(i))
		}
	}
	return all
}

// answerText is a value as a person writes it.
func answerText(v starlark.Value) string {
	switch v := v.(type) {
	case starlark.String:
		return string(v)
	case starlark.Bool:
		if v {
			return "yes"
		}
		return "no"
	}
	return v.String()
}

var articleRE = regexp.MustCompile(`^(the|a|an) `)

// words are a text's words without what does not count.
func words(text string) string {
	return articleRE.ReplaceAllString(strings.ToLower(strings.Join(strings.Fields(text), " ")), "")
}

var numberRE = regexp.MustCompile(`^(-?(?:0x[0-9a-f]+|[0-9][0-9,_]*))(?: *[a-z]+)*$`)

// answers tells that a line, as a person writes, says what is right: case, quotes, articles, commas in numbers and units do not count.
func answers(src string, want starlark.Value) bool {
	text := words(strings.Trim(strings.TrimRight(strings.TrimSpace(src), ".!)"), `"'`))
	switch want := want.(type) {
	case starlark.String:
		return text == words(string(want))
	case starlark.Bool:
		if want {
			return slices.Contains([]string{"yes", "y", "true"}, text)
		}
		return slices.Contains([]string{"no", "n", "false"}, text)
	case starlark.Int:
		m := numberRE.FindStringSubmatch(text)
		if m == nil {
			f, err := strconv.ParseFloat(text, 64) // 9.1 where 9 is right
			n, exact := want.Int64()
			return err == nil && exact && (math.Floor(f) == float64(n) || math.Round(f) == float64(n))
		}
		n, ok := new(big.Int).SetString(strings.NewReplacer(",", "", "_", "").Replace(m[1]), 0)
		return ok && n.Cmp(want.BigInt()) == 0
	}
	return false
}

var wordsRE = regexp.MustCompile(`^[\pL\pN_ .,;'"!-]+$`)

// isGuess tells that a line can be nothing but an answer: a literal, a name that nothing has, words.
func (r *lessonRun) isGuess(src string) bool {
	text := strings.TrimSpace(src)
	if text[0] == '!' || text[0] == '%' || text[0] == '?' || strings.HasSuffix(text, "?") {
		return false
	}
	f, err := r.Host.opts.Parse("answer", src, 0)
	if err != nil {
		return !strings.Contains(text, "\n") && wordsRE.MatchString(text)
	}
	if len(f.Stmts) != 1 {
		return false
	}
	stmt, ok := f.Stmts[0].(*syntax.ExprStmt)
	return ok && r.plain(stmt.X)
}

func (r *lessonRun) plain(x syntax.Expr) bool {
	switch x := x.(type) {
	case *syntax.Literal:
		return true
	case *syntax.UnaryExpr:
		return x.X != nil && r.plain(x.X)
	case *syntax.ParenExpr:
		return r.plain(x.X)
	case *syntax.Ident:
		return r.globals[x.Name] == nil && starlark.Universe[x.Name] == nil || x.Name == "True" || x.Name == "False"
	}
	return false
}
