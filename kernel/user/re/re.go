// Package re turns POSIX basic and extended regular expressions, with GNU's additions, into Go's: what grep, sed, expr, find
// and the shell's =~ share. Matches are leftmost-longest, as POSIX wants them. Two things of glibc's regex are not there:
// back references in a pattern (an error says so), and \< and \> are both Go's \b.
package re

import (
	"fmt"
	"regexp"
	"strings"
)

// Flags choose the language and how it is matched.
type Flags uint

const (
	Extended Flags = 1 << iota // ERE; else BRE
	Fold                       // letters match in both cases
	Escapes                    // \n, \t and the like are control characters, as in sed
	Lines                      // ^ and $ match at every line (sed's M)
)

// Error is the text of regerror in glibc 2.36 (posix/regcomp.c, __re_error_msgid).
type Error string

func (e Error) Error() string { return string(e) }

const (
	errParen     Error = `Unmatched ( or \(`
	errCloses    Error = `Unmatched ) or \)`
	errBracket   Error = "Unmatched [, [^, [:, [., or [="
	errBrace     Error = `Invalid content of \{\}`
	errOpenBrace Error = `Unmatched \{`
	errRange     Error = "Invalid range end"
	errClass     Error = "Invalid character class name"
	errBackslash Error = "Trailing backslash"
	errBackRef   Error = "Invalid back reference"
	errNoBackRef Error = "Back references in a pattern are not supported"
)

// Compile parses a pattern.
func Compile(pattern string, f Flags) (*regexp.Regexp, error) {
	text, err := Translate(pattern, f)
	if err != nil {
		return nil, err
	}
	mode := "(?s"
	if f&Fold != 0 {
		mode += "i"
	}
	if f&Lines != 0 {
		mode += "m"
	}
	r, err := regexp.Compile(mode + ")" + text)
	if err != nil {
		return nil, Error(fmt.Sprintf("Invalid regular expression: %s", strings.TrimPrefix(err.Error(), "error parsing regexp: ")))
	}
	r.Longest()
	return r, nil
}

// Quote makes a pattern, of Go's syntax, that matches text as it is.
func Quote(text string) string { return regexp.QuoteMeta(text) }

// Translate gives a pattern in Go's syntax, without the mode.
func Translate(pattern string, f Flags) (string, error) {
	t := &translator{in: pattern, f: f, atom: -1}
	for t.i < len(t.in) {
		if err := t.next(); err != nil {
			return "", err
		}
	}
	if len(t.open) > 0 {
		return "", errParen
	}
	return string(t.out), nil
}

type translator struct {
	in     string
	i      int
	f      Flags
	out    []byte
	atom   int   // where in out the last atom starts; -1: nothing that can be repeated
	dup    bool  // the last atom is already repeated
	open   []int // where in out each open group starts
	groups int
}

func (t *translator) ere() bool { return t.f&Extended != 0 }

// start is true where a branch starts: an operator has nothing to repeat there.
func (t *translator) start() bool { return t.atom < 0 }

func (t *translator) emit(text string) {
	t.atom, t.dup = len(t.out), false
	t.out = append(t.out, text...)
}

// mark adds something that is no atom.
func (t *translator) mark(text string) {
	t.out = append(t.out, text...)
	t.atom, t.dup = -1, false
}

func (t *translator) literal(c byte) {
	if c < 0x80 {
		t.emit(regexp.QuoteMeta(string(rune(c))))
		return
	}
	n := 1
	for t.i < len(t.in) && t.in[t.i]&0xc0 == 0x80 { // the rest of a UTF-8 sequence
		t.i++
		n++
	}
	t.emit(regexp.QuoteMeta(t.in[t.i-n : t.i]))
}

func (t *translator) next() error {
	c := t.in[t.i]
	t.i++
	switch c {
	case '\\':
		return t.escape()
	case '[':
		return t.bracket()
	case '.':
		t.emit(".")
	case '*':
		t.repeat("*")
	case '^':
		if t.ere() || t.start() && (len(t.out) == 0 || t.out[len(t.out)-1] == '(' || t.out[len(t.out)-1] == '|') {
			t.mark("^")
			return nil
		}
		t.literal(c)
	case '$':
		rest := t.in[t.i:]
		if t.ere() || rest == "" || strings.HasPrefix(rest, `\)`) || strings.HasPrefix(rest, `\|`) {
			t.mark("$")
			return nil
		}
		t.literal(c)
	case '(', ')', '|', '+', '?', '{':
		if !t.ere() {
			t.literal(c)
			return nil
		}
		return t.operator(c)
	case '\n': // grep: another pattern
		t.mark("\n")
	default:
		t.literal(c)
	}
	return nil
}

// operator is one of ( ) | + ? { where it is special.
func (t *translator) operator(c byte) error {
	switch c {
	case '(':
		t.open = append(t.open, len(t.out))
		t.groups++
		t.mark("(")
	case ')':
		if len(t.open) == 0 {
			if t.ere() {
				t.literal(c)
				return nil
			}
			return errCloses
		}
		at := t.open[len(t.open)-1]
		t.open = t.open[:len(t.open)-1]
		t.mark(")")
		t.atom = at
	case '|':
		t.mark("|")
	case '{':
		return t.interval()
	default:
		t.repeat(string(c))
	}
	return nil
}

// repeat puts an operator behind the last atom. In front of everything a BRE's is a character, an ERE's is ignored
// (parse_expression in glibc's posix/regcomp.c).
func (t *translator) repeat(op string) {
	if t.start() {
		if !t.ere() {
			t.emit(regexp.QuoteMeta(op))
		}
		return
	}
	if t.dup {
		t.out = append(t.out[:t.atom], "(?:"+string(t.out[t.atom:])+")"...)
	}
	t.out = append(t.out, op...)
	t.dup = true
}

// interval is what follows { or \{.
func (t *translator) interval() error {
	closing := `\}`
	if t.ere() {
		closing = "}"
	}
	end := strings.Index(t.in[t.i:], closing)
	if end < 0 {
		if t.ere() {
			t.literal('{')
			return nil
		}
		return errOpenBrace
	}
	text := t.in[t.i : t.i+end]
	lo, hi, comma := strings.Cut(text, ",")
	if strings.Trim(lo+hi, "0123456789") != "" || text == "" {
		if t.ere() {
			t.literal('{')
			return nil
		}
		return errBrace
	}
	t.i += end + len(closing)
	switch {
	case lo == "":
		text = "0," + hi
	case comma && hi != "" && (len(hi) < len(lo) || len(hi) == len(lo) && hi < lo):
		return errBrace
	}
	t.repeat("{" + text + "}")
	return nil
}

func (t *translator) escape() error {
	if t.i == len(t.in) {
		return errBackslash
	}
	c := t.in[t.i]
	t.i++
	switch c {
	case '(', ')', '|', '+', '?', '{':
		if t.ere() {
			t.literal(c)
			return nil
		}
		return t.operator(c)
	case 'w', 'W':
		t.emit(`\` + string(c))
	case 's':
		t.emit("[[:space:]]")
	case 'S':
		t.emit("[^[:space:]]")
	case 'b', 'B':
		t.mark(`\` + string(c))
	case '<', '>':
		t.mark(`\b`)
	case '`':
		t.mark(`\A`)
	case '\'':
		t.mark(`\z`)
	case '1', '2', '3', '4', '5', '6', '7', '8', '9':
		if int(c-'0') > t.groups {
			return errBackRef
		}
		return errNoBackRef
	default:
		if k := strings.IndexByte("ntafvr", c); k >= 0 && t.f&Escapes != 0 {
			c = "\n\t\a\f\v\r"[k]
		}
		t.literal(c)
	}
	return nil
}

// bracket is what follows [.
func (t *translator) bracket() error {
	class := []byte("[")
	i := t.i
	if i < len(t.in) && t.in[i] == '^' {
		class = append(class, '^')
		i++
	}
	for first := true; ; first = false {
		if i >= len(t.in) {
			return errBracket
		}
		if t.in[i] == ']' && !first {
			break
		}
		lo, n, err := t.element(t.in[i:])
		if err != nil {
			return err
		}
		i += n
		if len(lo) > 1 && lo[0] == '[' { // a class
			class = append(class, lo...)
			continue
		}
		class = append(class, quoteInClass(lo)...)
		if i+1 < len(t.in) && t.in[i] == '-' && t.in[i+1] != ']' {
			hi, n, err := t.element(t.in[i+1:])
			if err != nil {
				return err
			}
			if hi < lo {
				return errRange
			}
			i += 1 + n
			class = append(append(class, '-'), quoteInClass(hi)...)
		}
	}
	t.i = i + 1
	t.emit(string(append(class, ']')))
	return nil
}

func quoteInClass(c string) string {
	if strings.Contains(`\[]^-&~`, c) {
		return `\` + c
	}
	return c
}

// element is one character, [.x.], [=x=] or [:class:] inside brackets, and its length.
func (t *translator) element(s string) (text string, n int, err error) {
	if len(s) > 1 && s[0] == '[' && strings.IndexByte(":.=", s[1]) >= 0 {
		end := strings.Index(s[2:], string(s[1])+"]")
		if end < 0 {
			return "", 0, errBracket
		}
		name := s[2 : 2+end]
		if s[1] != ':' {
			return name, end + 4, nil
		}
		if !strings.Contains(" alpha digit alnum upper lower space blank punct print graph cntrl xdigit ", " "+name+" ") {
			return "", 0, errClass
		}
		return "[:" + name + ":]", end + 4, nil
	}
	if s[0] == '\\' && len(s) > 1 && t.f&Escapes != 0 {
		if k := strings.IndexByte("nt]", s[1]); k >= 0 && s[1] != ']' {
			return "\n\t"[k : k+1], 2, nil
		}
	}
	n = 1
	for s[0] >= 0xc0 && n < len(s) && s[n]&0xc0 == 0x80 {
		n++
	}
	return s[:n], n, nil
}
