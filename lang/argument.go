package lang

import (
	"regexp"
	"strconv"
	"strings"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"
)

// Wrong arguments. Built-in functions unpack theirs with starlark.UnpackArgs, whose errors are bare texts; here they get what the
// function's row and the source know: which argument it is, what may stand there, the signature. That is done when an error is
// reported, so that a call costs no more for it.

// Param is a parameter of a signature.
type Param struct {
	Name     string // without stars
	Optional bool
	Stars    int  // 1 of *args, 2 of **kwargs
	Named    bool // it stands behind *args: by its name only
}

// Params takes a row's signature apart. ok is false when the row is no function or its signature leaves something out ("...").
func Params(sig string) (params []Param, ok bool) {
	if !strings.HasPrefix(sig, "(") || strings.HasPrefix(sig, "(...") {
		return nil, false
	}
	depth, from, quote := 0, 1, byte(0)
	named := false
	add := func(text string) {
		text = strings.TrimSpace(text)
		if text == "" {
			return
		}
		name, _, optional := strings.Cut(text, " = ")
		p := Param{Name: strings.TrimLeft(name, "*"), Optional: optional, Named: named}
		p.Stars = len(name) - len(p.Name)
		named = named || p.Stars == 1
		params = append(params, p)
	}
	for i := range len(sig) {
		switch c := sig[i]; {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '"':
			quote = c
		case c == '(' || c == '[':
			depth++
		case c == ',' && depth == 1:
			add(sig[from:i])
			from = i + 1
		case c == ')' || c == ']':
			if depth--; depth == 0 {
				add(sig[from:i])
				return params, true
			}
		}
	}
	return nil, false
}

// names are the parameters that may be named in a call.
func paramNames(params []Param) (names []string) {
	for _, p := range params {
		if p.Stars == 0 {
			names = append(names, p.Name)
		}
	}
	return names
}

// usage is how a function is called: its name and its signature without the result.
func usage(name, sig string) string {
	if i := strings.Index(sig, ") ->"); i >= 0 {
		sig = sig[:i+1]
	}
	return name + sig
}

// How starlark.UnpackArgs words what is wrong.
var (
	unexpectedArg = regexp.MustCompile(`unexpected keyword argument "?(\w+)"?`)
	missingArg    = regexp.MustCompile(`^missing argument for "?(\w+)"?$`)
	wrongArg      = regexp.MustCompile(`^for parameter "?(\w+)"?: (.*)$`)
	twiceArg      = regexp.MustCompile(`^got multiple values for keyword argument "?(\w+)"?$`)
	manyArgs      = regexp.MustCompile(`^got (\d+) arguments?, want (?:at most |at least )?(\d+)$`)
	ofParam       = regexp.MustCompile(`^(\w+)( = | is |: )`) // our own errors: "limit = 0: want a positive int"
)

// argument words and places an error of a built-in function's arguments: nil when it is none.
func (h *Host) argument(name, msg string) *Error {
	name, text, ok := ownText(name, msg)
	if !ok {
		return nil
	}
	text, hint := splitHint(text)
	var params []Param
	use := ""
	if r := h.function(name); r != nil {
		if params, ok = Params(r.Sig); ok {
			use = usage(name, r.Sig)
		}
	}
	e := &Error{Msg: name + ": " + text, Hint: use}
	switch {
	case unexpectedArg.MatchString(text):
		e.Arg = unexpectedArg.FindStringSubmatch(text)[1]
		if params != nil {
			if hint = DidYouMean(e.Arg, paramNames(params)); hint != "" {
				hint += " "
			}
			e.Hint = hint + takes(name, params)
		} else {
			e.Hint = hint
		}
	case missingArg.MatchString(text), manyArgs.MatchString(text):
		if m := manyArgs.FindStringSubmatch(text); m != nil {
			got, _ := strconv.Atoi(m[1])
			if want, _ := strconv.Atoi(m[2]); got > want {
				e.nth = want + 1 // the first that is too many
			}
		}
	case wrongArg.MatchString(text):
		m := wrongArg.FindStringSubmatch(text)
		e.Arg, e.Msg, e.Hint = m[1], name+": "+m[1]+": "+plainTypes(m[2]), ""
		if n, err := strconv.Atoi(m[1]); err == nil { // starlark.UnpackPositionalArgs has no names
			e.Arg, e.nth, e.Msg = "", n, name+": argument "+m[1]+": "+plainTypes(m[2])
		}
	case twiceArg.MatchString(text):
		e.Arg = twiceArg.FindStringSubmatch(text)[1]
	default:
		return nil
	}
	return e
}

// ownText cuts a function's name off its error. sys is a value: its methods call themselves by its name.
func ownText(name, msg string) (as, text string, ok bool) {
	if text, ok = strings.CutPrefix(msg, name+": "); ok {
		return name, text, true
	}
	as = strings.Replace(name, "Sys.", "sys.", 1)
	text, ok = strings.CutPrefix(msg, as+": ")
	return as, text, ok
}

// ownArgument is the same of a function of the script.
func (h *Host) ownArgument(fr starlark.CallFrame, msg string) *Error {
	msg, _ = splitHint(msg)
	e := &Error{Msg: msg}
	if m := unexpectedArg.FindStringSubmatch(msg); m != nil {
		e.Arg = m[1]
	}
	if f := h.trees[fr.Pos.Filename()]; f != nil {
		syntax.Walk(f, func(n syntax.Node) bool {
			if d, ok := n.(*syntax.DefStmt); ok && d.Name.Name == fr.Name && e.Hint == "" {
				e.Hint = h.head(d)
			}
			return true
		})
	}
	return e
}

// head is the first line of a definition, as written.
func (h *Host) head(d *syntax.DefStmt) string {
	head, _, _ := strings.Cut(strings.TrimSpace(h.sourceLine(d.Def)), "):")
	return strings.TrimPrefix(head, "def ") + ")"
}

// takes lists what may be named in a call.
func takes(name string, params []Param) string {
	names := paramNames(params)
	if len(names) == 0 {
		return name + " takes no arguments by name"
	}
	return name + " takes " + strings.Join(names, ", ")
}

// plainTypes words types as the language's documents do.
func plainTypes(text string) string {
	text = strings.Replace(text, "want callable", "want a function", 1)
	return strings.Replace(text, "want iterable", "want a list", 1)
}

// function is the row of a function by the name that it calls itself. Machines have kernel's methods beside their own.
func (h *Host) function(name string) *Row {
	if r := h.rowOf(name); r != nil {
		return r
	}
	typ, method, _ := strings.Cut(name, ".")
	switch typ {
	case "Machine":
		return h.rowOf("kernel." + method)
	case "sys":
		return h.rowOf("Sys." + method)
	}
	return nil
}

// about finds the parameter that an Error of a function is about, when it does not say so itself: by what it points at, or by
// its first word.
func (h *Host) about(e *Error, name string) string {
	r := h.function(name)
	if r == nil || e.Arg != "" {
		return e.Arg
	}
	params, _ := Params(r.Sig)
	word := e.At
	if _, text, ok := ownText(name, e.Msg); ok && word == "" {
		if m := ofParam.FindStringSubmatch(text); m != nil {
			word = m[1]
		}
	}
	for _, p := range params {
		if p.Name == word {
			return word
		}
	}
	return ""
}

// argPlace finds where an argument stands: of the call at pos, by the function called name, what e is about.
func (h *Host) argPlace(pos syntax.Position, name string, direct bool, e *Error) (syntax.Position, bool) {
	call := callAt(h.trees[pos.Filename()], pos)
	if call == nil {
		return pos, false
	}
	plain := []syntax.Expr{}
	for _, a := range call.Args {
		if kw, ok := a.(*syntax.BinaryExpr); ok && kw.Op == syntax.EQ {
			if id, ok := kw.X.(*syntax.Ident); ok && id.Name == e.Arg {
				if unexpectedArg.MatchString(e.Msg) {
					return syntax.Start(kw.X), true
				}
				return start(kw.Y), true
			}
			continue
		}
		plain = append(plain, a)
	}
	if !direct && len(plain) > 0 {
		plain = plain[1:] // attempt(fn, args...)
	}
	nth := e.nth - 1
	if r := h.function(name); r != nil && e.Arg != "" {
		params, _ := Params(r.Sig)
		for i, p := range params {
			if p.Name == e.Arg && !p.Named && p.Stars < 2 {
				nth = i
			}
		}
	}
	if e.Arg == "" && nth < 0 && len(plain) == 1 && len(call.Args) == 1 && strings.Contains(e.Msg, ", want ") {
		nth = 0 // what is wrong can only be this one
	}
	if nth >= 0 && nth < len(plain) {
		return start(plain[nth]), true
	}
	return literalWith(call, e.At)
}

// literalWith finds the text that an error points at within the arguments of a call, which may stand on several lines.
func literalWith(call *syntax.CallExpr, text string) (at syntax.Position, found bool) {
	if text == "" {
		return at, false
	}
	for _, a := range call.Args {
		syntax.Walk(a, func(n syntax.Node) bool {
			if l, ok := n.(*syntax.Literal); ok && !found && strings.Contains(l.Raw, text) {
				at, found = l.TokenPos, true
			}
			return !found
		})
	}
	return at, found
}

// givenPlace finds where a built-in function is given away as an argument of the call at pos.
func (h *Host) givenPlace(pos syntax.Position, name string) (syntax.Position, bool) {
	call := callAt(h.trees[pos.Filename()], pos)
	if call == nil {
		return pos, false
	}
	_, short, dotted := strings.Cut(name, ".")
	at, found := pos, false
	for _, a := range call.Args {
		if kw, ok := a.(*syntax.BinaryExpr); ok && kw.Op == syntax.EQ {
			a = kw.Y
		}
		syntax.Walk(a, func(n syntax.Node) bool {
			switch n := n.(type) {
			case *syntax.LambdaExpr:
				return false
			case *syntax.Ident:
				if !found && n.Name == name {
					at, found = syntax.Start(n), true
				}
			case *syntax.DotExpr:
				if !found && dotted && n.Name.Name == short {
					at, found = syntax.Start(n), true
				}
			}
			return !found
		})
	}
	return at, found
}

// start is where an expression begins in the source: of a guarded operator that is its first operand.
func start(e syntax.Expr) syntax.Position {
	if c, ok := e.(*syntax.CallExpr); ok && c.Rparen == c.Lparen && len(c.Args) > 0 {
		return start(c.Args[0])
	}
	return syntax.Start(e)
}

// callAt finds the call whose parenthesis opens at pos.
func callAt(f *syntax.File, pos syntax.Position) (found *syntax.CallExpr) {
	if f == nil {
		return nil
	}
	syntax.Walk(f, func(n syntax.Node) bool {
		if c, ok := n.(*syntax.CallExpr); ok && c.Lparen.Line == pos.Line && c.Lparen.Col == pos.Col && c.Rparen != c.Lparen {
			found = c
		}
		return found == nil
	})
	return found
}

// blame finds the argument that an error is about, in the source of the script's innermost call. stack ends with the built-in
// function that failed.
func (h *Host) blame(stack starlark.CallStack, e *Error) (at syntax.Position, ok bool) {
	i := len(stack) - 1
	if i < 1 {
		return at, false
	}
	name := stack[i].Name
	if stack[i].Pos.Line != 0 {
		if e.Arg == "" || !strings.HasPrefix(e.Msg, "function "+name+" ") {
			return at, false
		}
		e.At = ""
	}
	if e.Arg = h.about(e, name); e.Arg == e.At {
		e.At, e.Off = "", 0
	}
	for i--; i > 0 && stack[i].Pos.Line == 0; i-- {
		if stack[i].Name != "attempt" { // a function that called another one, whose arguments are not the script's
			for i--; i > 0 && stack[i].Pos.Line == 0; i-- {
			}
			return h.givenPlace(stack[i].Pos, name)
		}
	}
	direct := stack[i+1].Name == name
	return h.argPlace(stack[i].Pos, name, direct, e)
}
