package lang

import (
	"fmt"
	"math"
	"strings"

	"go.starlark.net/lib/json"
	"go.starlark.net/starlark"
	"go.starlark.net/starlarkstruct"
	"go.starlark.net/syntax"
)

// One operation of Starlark may ask for more memory than a host has: [0] * (1 << 29), list(range(1 << 40)), str() of a list that
// holds itself a thousand times over. starlark-go has no hook on allocations, and Go ends the process when there is none left. So
// what can make much out of little is looked at before it is done (guards); what grows by and by, after (Host.watch in budget.go).
//
// Functions are replaced by ones that look first. The operators * and %, and the methods of strings that can grow, are calls in
// disguise: the parsed file is changed to call the functions "*", "%" and "." below, names that no script can write, and so is what is taken apart as a whole ("#").

// maxDepth is how deep a value may be nested that is to be written as text. starlark-go looks for cycles in time quadratic in the depth.
const maxDepth = 10_000

// guards are the functions behind the operators, and the ones of Starlark's own that are replaced.
func (h *Host) guards() starlark.StringDict {
	d := starlark.StringDict{
		"*": starlark.NewBuiltin("*", h.product),
		"%": starlark.NewBuiltin("%", h.percent),
		".": starlark.NewBuiltin(".", h.method),
	}
	for _, name := range []string{"list", "tuple", "sorted", "reversed", "set", "dict", "enumerate", "zip", "bytes"} {
		d[name] = h.looking(name, starlark.Universe[name], h.sizeOf)
	}
	for _, name := range []string{"any", "all", "min", "max"} {
		d[name] = h.looking(name, starlark.Universe[name], h.stepsOf)
	}
	d["#"] = starlark.NewBuiltin("#", h.spread)
	for _, name := range []string{"str", "repr", "fail"} {
		d[name] = h.looking(name, starlark.Universe[name], h.textSize)
	}
	d["print"] = h.looking("print", starlark.NewBuiltin("print", h.print), h.textSize)
	return d
}

// json is Starlark's module behind the same looks.
func (h *Host) json() starlark.Value {
	members := starlark.StringDict{}
	for name, fn := range json.Module.Members {
		members[name] = h.looking("json."+name, fn, h.textSize)
	}
	return &starlarkstruct.Module{Name: "json", Members: members}
}

// looking is fn behind a look at the size of what it makes of its arguments.
func (h *Host) looking(name string, fn starlark.Value, size func(v starlark.Value) (uint64, error)) starlark.Value {
	return starlark.NewBuiltin(name, func(t *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
		total := uint64(0)
		for _, v := range args {
			n, err := size(v)
			if err != nil {
				return nil, inCall(b, err)
			}
			total += n
		}
		if err := h.room(total); err != nil {
			return nil, inCall(b, err)
		}
		return fn.(starlark.Callable).CallInternal(t, args, kwargs)
	})
}

func inCall(b *starlark.Builtin, err error) error {
	if e, ok := err.(*Error); ok {
		e.Msg = b.Name() + ": " + e.Msg
	}
	return err
}

// room is the error for n bytes that the memory budget has no room for.
func (h *Host) room(n uint64) error {
	if h.cfg.MaxMemory == 0 || n < 1<<20 {
		return nil
	}
	if used := heap(); n > h.cfg.MaxMemory || used+n > 2*h.cfg.MaxMemory { // the heap has dead values too: the watchdog looks closer
		return &Error{
			Msg:  fmt.Sprintf("%s more would be more than %s of memory (--max-memory)", mebi(n), mebi(h.cfg.MaxMemory)),
			Exit: ExitLimit,
		}
	}
	return nil
}

func mebi(n uint64) string { return fmt.Sprintf("%d MiB", (n+1<<19)>>20) }

// Sizes of values in bytes, as Go has them on 64 bits: an element of a list is an interface, of a dict an entry of its table.
const (
	elemSize  = 16
	entrySize = 64
)

// sizeOf is about what a copy of v's elements takes; 0 for what has none.
func (h *Host) sizeOf(v starlark.Value) (uint64, error) {
	switch v := v.(type) {
	case starlark.String, starlark.Bytes:
		return uint64(starlark.Len(v)), nil
	case *starlark.Dict, *starlark.Set:
		return uint64(starlark.Len(v)) * entrySize, nil
	}
	if n := starlark.Len(v); n > 0 {
		return product(uint64(n), elemSize), nil
	}
	return 0, nil
}

// maxSteps is how many elements of a range one step may go through: nothing else interrupts it.
const maxSteps = 1 << 26

// stepsOf refuses what any() would need minutes for; it takes no memory.
func (h *Host) stepsOf(v starlark.Value) (uint64, error) {
	if n := starlark.Len(v); n > maxSteps {
		return 0, &Error{Msg: fmt.Sprintf("%d elements in one step: want at most %d", n, maxSteps), Exit: ExitLimit}
	}
	return 0, nil
}

// spread is x where all its elements are taken at once: f(*x), list += x.
func (h *Host) spread(_ *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, _ []starlark.Tuple) (starlark.Value, error) {
	if _, ok := args[0].(starlark.Iterable); ok {
		size, err := h.sizeOf(args[0])
		if err == nil {
			err = h.room(size)
		}
		if err != nil {
			return nil, err
		}
	}
	return args[0], nil
}

func product(a, b uint64) uint64 {
	if b != 0 && a > math.MaxUint64/2/b {
		return math.MaxUint64 / 2
	}
	return a * b
}

// product is x * y.
func (h *Host) product(_ *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, _ []starlark.Tuple) (starlark.Value, error) {
	x, y := args[0], args[1]
	n, ok := x.(starlark.Int)
	seq := y
	if !ok {
		n, ok = y.(starlark.Int)
		seq = x
	}
	if ok {
		if m, both := seq.(starlark.Int); both {
			if _, small := n.Int64(); small {
				return n.Mul(m), nil
			}
			if bits := n.BigInt().BitLen() + m.BigInt().BitLen(); bits > 1<<24 {
				return nil, &Error{Msg: fmt.Sprintf("an int of %d bits is too large", bits), Exit: ExitLimit}
			}
			return n.Mul(m), nil
		}
		times, small := n.Uint64()
		if size, err := h.sizeOf(seq); err == nil && size > 0 && small {
			if err := h.room(product(size, times)); err != nil {
				return nil, err
			}
		}
	}
	return starlark.Binary(syntax.STAR, x, y)
}

// percent is x % y.
func (h *Host) percent(_ *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, _ []starlark.Tuple) (starlark.Value, error) {
	if _, ok := args[0].(starlark.String); ok {
		size, err := h.textSize(args[1])
		if err == nil {
			err = h.room(size)
		}
		if err != nil {
			return nil, err
		}
	}
	return starlark.Binary(syntax.PERCENT, args[0], args[1])
}

// growing are the methods of strings whose result may be much longer than what they are given, each with a bound of it.
func (h *Host) growing(s string, name string, args starlark.Tuple) (size uint64, err error) {
	switch name {
	case "join":
		if len(args) == 1 {
			if list, ok := args[0].(starlark.Iterable); ok && starlark.Len(list) >= 0 {
				it := list.Iterate()
				defer it.Done()
				var v starlark.Value
				for it.Next(&v) {
					size += uint64(len(s) + max(0, starlark.Len(v)))
				}
			}
		}
	case "replace":
		if len(args) >= 2 {
			size = product(uint64(len(s)+1), uint64(max(0, starlark.Len(args[1]))))
			if old, ok := starlark.AsString(args[0]); ok && size > 1<<20 { // now it is worth counting
				size = product(uint64(strings.Count(s, old)), uint64(max(0, starlark.Len(args[1]))))
			}
		}
	case "format":
		for _, v := range args {
			n, err := h.textSize(v)
			if err != nil {
				return 0, err
			}
			size += product(n, uint64(strings.Count(s, "{")))
		}
	}
	return size, nil
}

// method is x.name for the names that growing knows.
func (h *Host) method(_ *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, _ []starlark.Tuple) (starlark.Value, error) {
	name := string(args[1].(starlark.String))
	x, ok := args[0].(starlark.HasAttrs)
	if !ok {
		return nil, fmt.Errorf("%s has no .%s field or method", args[0].Type(), name)
	}
	v, err := x.Attr(name)
	if _, missing := err.(starlark.NoSuchAttrError); err == nil && v == nil || missing {
		return nil, fmt.Errorf("%s has no .%s field or method", args[0].Type(), name)
	}
	if list, ok := x.(*starlark.List); ok && name == "extend" && err == nil {
		return h.looking(name, v, h.sizeOf).(*starlark.Builtin).BindReceiver(list), nil
	}
	s, ok := x.(starlark.String)
	if err != nil || !ok {
		return v, err
	}
	return starlark.NewBuiltin(name, func(t *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
		size, err := h.growing(string(s), name, args)
		if err == nil {
			err = h.room(size)
		}
		if err != nil {
			return nil, err
		}
		return v.(starlark.Callable).CallInternal(t, args, kwargs)
	}).BindReceiver(s), nil
}

// guard makes a parsed file call the guards.
func guard(f *syntax.File) {
	syntax.Walk(f, func(n syntax.Node) bool {
		for _, e := range slots(n) {
			*e = guarded(*e)
		}
		switch n := n.(type) {
		case *syntax.AssignStmt:
			guardAssign(n)
		case *syntax.CallExpr:
			for _, arg := range n.Args {
				if star, ok := arg.(*syntax.UnaryExpr); ok && star.Op == syntax.STAR {
					star.X = callOf("#", star.OpPos, star.X)
				}
			}
		}
		return true
	})
}

// operators are the guarded ones.
func operator(op syntax.Token) (string, bool) {
	switch op {
	case syntax.STAR, syntax.STAR_EQ:
		return "*", true
	case syntax.PERCENT, syntax.PERCENT_EQ:
		return "%", true
	}
	return "", false
}

// guarded is the expression that stands for e.
func guarded(e syntax.Expr) syntax.Expr {
	switch e := e.(type) {
	case *syntax.BinaryExpr:
		if name, ok := operator(e.Op); ok && !(numeral(e.X) && numeral(e.Y)) {
			return callOf(name, e.OpPos, e.X, e.Y)
		}
	case *syntax.DotExpr:
		switch name := e.Name.Name; name {
		case "join", "replace", "format", "extend":
			return callOf(".", e.Dot, e.X, &syntax.Literal{Token: syntax.STRING, TokenPos: e.NamePos, Raw: `"` + name + `"`, Value: name})
		}
	}
	return e
}

func numeral(e syntax.Expr) bool {
	l, ok := e.(*syntax.Literal)
	return ok && (l.Token == syntax.INT || l.Token == syntax.FLOAT)
}

func callOf(name string, pos syntax.Position, args ...syntax.Expr) *syntax.CallExpr {
	return &syntax.CallExpr{Fn: &syntax.Ident{NamePos: pos, Name: name}, Lparen: pos, Args: args, Rparen: pos}
}

// guardAssign makes x *= y what x = x * y is. Where x must be evaluated but once (f()[g()] *= y), it is left alone.
func guardAssign(a *syntax.AssignStmt) {
	if _, call := a.RHS.(*syntax.CallExpr); call && a.Op == syntax.PLUS_EQ {
		a.RHS = callOf("#", a.OpPos, a.RHS) // list += range(n)
		return
	}
	name, ok := operator(a.Op)
	if !ok {
		return
	}
	if again := repeated(a.LHS); again != nil {
		a.Op, a.RHS = syntax.EQ, callOf(name, a.OpPos, again, a.RHS)
	}
}

// repeated is a copy of an expression that may be evaluated twice; nil of any other.
func repeated(e syntax.Expr) syntax.Expr {
	switch e := e.(type) {
	case *syntax.Ident:
		return &syntax.Ident{NamePos: e.NamePos, Name: e.Name}
	case *syntax.Literal:
		return e
	case *syntax.ParenExpr:
		return repeated(e.X)
	case *syntax.DotExpr:
		if x := repeated(e.X); x != nil {
			return &syntax.DotExpr{X: x, Dot: e.Dot, NamePos: e.NamePos, Name: &syntax.Ident{NamePos: e.Name.NamePos, Name: e.Name.Name}}
		}
	case *syntax.IndexExpr:
		if x, y := repeated(e.X), repeated(e.Y); x != nil && y != nil {
			return &syntax.IndexExpr{X: x, Lbrack: e.Lbrack, Y: y, Rbrack: e.Rbrack}
		}
	}
	return nil
}

// slots are the places of a node's expressions, but for what is assigned to.
func slots(n syntax.Node) []*syntax.Expr {
	list := func(l []syntax.Expr) []*syntax.Expr {
		out := make([]*syntax.Expr, len(l))
		for i := range l {
			out[i] = &l[i]
		}
		return out
	}
	switch n := n.(type) {
	case *syntax.AssignStmt:
		return []*syntax.Expr{&n.RHS}
	case *syntax.ExprStmt:
		return []*syntax.Expr{&n.X}
	case *syntax.IfStmt:
		return []*syntax.Expr{&n.Cond}
	case *syntax.ForStmt:
		return []*syntax.Expr{&n.X}
	case *syntax.WhileStmt:
		return []*syntax.Expr{&n.Cond}
	case *syntax.ReturnStmt:
		return []*syntax.Expr{&n.Result}
	case *syntax.CallExpr:
		return append(list(n.Args), &n.Fn)
	case *syntax.Comprehension:
		return []*syntax.Expr{&n.Body}
	case *syntax.ForClause:
		return []*syntax.Expr{&n.X}
	case *syntax.IfClause:
		return []*syntax.Expr{&n.Cond}
	case *syntax.CondExpr:
		return []*syntax.Expr{&n.Cond, &n.True, &n.False}
	case *syntax.DictEntry:
		return []*syntax.Expr{&n.Key, &n.Value}
	case *syntax.DotExpr:
		return []*syntax.Expr{&n.X}
	case *syntax.IndexExpr:
		return []*syntax.Expr{&n.X, &n.Y}
	case *syntax.SliceExpr:
		return []*syntax.Expr{&n.X, &n.Lo, &n.Hi, &n.Step}
	case *syntax.ListExpr:
		return list(n.List)
	case *syntax.TupleExpr:
		return list(n.List)
	case *syntax.ParenExpr:
		return []*syntax.Expr{&n.X}
	case *syntax.UnaryExpr:
		return []*syntax.Expr{&n.X}
	case *syntax.LambdaExpr:
		return []*syntax.Expr{&n.Body}
	case *syntax.BinaryExpr:
		return []*syntax.Expr{&n.X, &n.Y} // f(x = e) and a parameter's default are one too
	}
	return nil
}
