package lang

import (
	"fmt"
	"regexp"

	"go.starlark.net/starlark"
)

// Regexp is the value of re("..."): Go's RE2 syntax, so no pattern can take exponential time.
type Regexp struct{ re *regexp.Regexp }

var (
	_ starlark.Value    = (*Regexp)(nil)
	_ starlark.HasAttrs = (*Regexp)(nil)
)

func (r *Regexp) String() string        { return fmt.Sprintf("re(%q)", r.re.String()) }
func (r *Regexp) Type() string          { return "Regexp" }
func (r *Regexp) Freeze()               {}
func (r *Regexp) Truth() starlark.Bool  { return true }
func (r *Regexp) Hash() (uint32, error) { return starlark.String(r.re.String()).Hash() }
func (r *Regexp) AttrNames() []string   { return []string{"findall", "match", "pattern", "split", "sub"} }

// Regexp lets other packages use the pattern.
func (r *Regexp) Regexp() *regexp.Regexp { return r.re }

func (r *Regexp) Attr(name string) (starlark.Value, error) {
	switch name {
	case "pattern":
		return starlark.String(r.re.String()), nil
	case "match":
		return Bind("Regexp.match", r, r.match), nil
	case "findall":
		return Bind("Regexp.findall", r, r.findall), nil
	case "split":
		return Bind("Regexp.split", r, r.split), nil
	case "sub":
		return Bind("Regexp.sub", r, r.sub), nil
	}
	return nil, nil
}

// compile implements re(pattern).
func compile(_ *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	var pattern string
	if err := starlark.UnpackArgs(b.Name(), args, kwargs, "pattern", &pattern); err != nil {
		return nil, err
	}
	re, err := regexp.Compile(pattern)
	if err != nil {
		return nil, &Error{Msg: "re: " + err.Error(), At: pattern}
	}
	return &Regexp{re}, nil
}

// match gives the tuple of the first match and its groups, or None; a group that took no part is None.
func (r *Regexp) match(_ *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	var s string
	if err := starlark.UnpackArgs(b.Name(), args, kwargs, "text", &s); err != nil {
		return nil, err
	}
	loc := r.re.FindStringSubmatchIndex(s)
	if loc == nil {
		return starlark.None, nil
	}
	return groups(s, loc), nil
}

func groups(s string, loc []int) starlark.Tuple {
	var t starlark.Tuple
	for i := 0; i < len(loc); i += 2 {
		if loc[i] < 0 {
			t = append(t, starlark.None)
		} else {
			t = append(t, starlark.String(s[loc[i]:loc[i+1]]))
		}
	}
	return t
}

// findall gives all matches: strings, or tuples of the groups when the pattern has groups.
func (r *Regexp) findall(_ *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	var s string
	if err := starlark.UnpackArgs(b.Name(), args, kwargs, "text", &s); err != nil {
		return nil, err
	}
	var out []starlark.Value
	for _, loc := range r.re.FindAllStringSubmatchIndex(s, -1) {
		if t := groups(s, loc); len(t) > 1 {
			out = append(out, t[1:])
		} else {
			out = append(out, t[0])
		}
	}
	return starlark.NewList(out), nil
}

func (r *Regexp) split(_ *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	var s string
	if err := starlark.UnpackArgs(b.Name(), args, kwargs, "text", &s); err != nil {
		return nil, err
	}
	return Strings(r.re.Split(s, -1)), nil
}

func (r *Regexp) sub(_ *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	var repl, s string
	if err := starlark.UnpackArgs(b.Name(), args, kwargs, "repl", &repl, "text", &s); err != nil {
		return nil, err
	}
	const most = 1 << 28 // bytes; what is longer is no text that anybody wants
	if len(repl)*(len(s)+1) > most {
		if n := most / len(repl); len(r.re.FindAllStringIndex(s, n+1)) > n {
			return nil, &Error{Msg: fmt.Sprintf("%s: more than %d replacements by %d bytes are too much", b.Name(), n, len(repl)), Exit: ExitLimit}
		}
	}
	return starlark.String(r.re.ReplaceAllString(s, repl)), nil
}

// Strings makes a list of strings.
func Strings(list []string) *starlark.List {
	vals := make([]starlark.Value, len(list))
	for i, s := range list {
		vals[i] = starlark.String(s)
	}
	return starlark.NewList(vals)
}
