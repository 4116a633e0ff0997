package lang

import (
	"fmt"
	"math/big"
	"strings"

	"go.starlark.net/starlark"
)

// Starlark's % has no widths and its format() no specs (api.md section 0), hence C's printf.

// spec is one conversion: %[flags][width][.prec]verb.
type spec struct {
	flags string
	width int
	prec  int // -1 when absent
	verb  byte
}

// formatter walks a format string and its arguments.
type formatter struct {
	format string
	pos    int
	args   starlark.Tuple
	used   int
	out    strings.Builder
}

// Sprintf formats as C's printf does, with %v and %s for any value, %r for its repr and %p for a 16-digit address.
func Sprintf(format string, args starlark.Tuple) (string, error) {
	f := &formatter{format: format, args: args}
	for {
		i := strings.IndexByte(f.format[f.pos:], '%')
		if i < 0 {
			f.out.WriteString(f.format[f.pos:])
			break
		}
		f.out.WriteString(f.format[f.pos : f.pos+i])
		f.pos += i
		if err := f.conversion(); err != nil {
			return "", err
		}
	}
	if f.used < len(args) {
		return "", Errorf("%d arguments for %d conversions in %q", len(args), f.used, format)
	}
	return f.out.String(), nil
}

// conversion formats the conversion at f.pos and moves past it.
func (f *formatter) conversion() error {
	start := f.pos
	s, err := f.parse()
	if err != nil {
		return err
	}
	if s.verb == '%' {
		f.out.WriteByte('%')
		return nil
	}
	text := f.format[start:f.pos]
	v, err := f.next(text)
	if err != nil {
		return err
	}
	done, err := s.apply(v)
	if err != nil {
		return &Error{Msg: fmt.Sprintf("%s wants %s, got %s %s (argument %d)", text, err, v.Type(), v, f.used), At: text}
	}
	f.out.WriteString(done)
	return nil
}

// next takes an argument.
func (f *formatter) next(text string) (starlark.Value, error) {
	if f.used >= len(f.args) {
		return nil, &Error{Msg: fmt.Sprintf("no argument for %s in %q", text, f.format), At: text}
	}
	f.used++
	return f.args[f.used-1], nil
}

// parse reads one conversion; f.pos is at its %.
func (f *formatter) parse() (spec, error) {
	s := spec{prec: -1}
	start := f.pos
	f.pos++
	for f.pos < len(f.format) && strings.IndexByte("-+ #0", f.format[f.pos]) >= 0 {
		s.flags += f.format[f.pos : f.pos+1]
		f.pos++
	}
	var err error
	if s.width, err = f.number(start); err != nil {
		return s, err
	}
	if s.width < 0 {
		s.flags, s.width = s.flags+"-", -s.width
	}
	if f.pos < len(f.format) && f.format[f.pos] == '.' {
		f.pos++
		if s.prec, err = f.number(start); err != nil {
			return s, err
		}
	}
	for f.pos < len(f.format) && strings.IndexByte("hlzjtL", f.format[f.pos]) >= 0 {
		f.pos++ // C's length modifiers say nothing here: ints have any size
	}
	if f.pos >= len(f.format) {
		return s, &Error{Msg: fmt.Sprintf("%q ends inside a conversion", f.format), At: f.format[start:]}
	}
	s.verb = f.format[f.pos]
	f.pos++
	if strings.IndexByte("diuxXocsrpvfFeEgGb%", s.verb) < 0 {
		text := f.format[start:f.pos]
		return s, &Error{
			Msg:  fmt.Sprintf("unknown conversion %s in %q", text, f.format),
			At:   text,
			Hint: "conversions are %d %i %u %x %X %o %b %c %s %r %v %p %f %e %g %%",
		}
	}
	return s, nil
}

// number reads digits or a *.
func (f *formatter) number(start int) (int, error) {
	if f.pos < len(f.format) && f.format[f.pos] == '*' {
		f.pos++
		v, err := f.next(f.format[start:f.pos])
		if err != nil {
			return 0, err
		}
		n, err := starlark.AsInt32(v)
		if err != nil || n > maxWidth || n < -maxWidth {
			return 0, Errorf("a width of %v: want at most %d", v, maxWidth)
		}
		return n, nil
	}
	from, n := f.pos, 0
	for f.pos < len(f.format) && f.format[f.pos] >= '0' && f.format[f.pos] <= '9' {
		n = min(n*10+int(f.format[f.pos]-'0'), maxWidth+1)
		f.pos++
	}
	if text := f.format[from:f.pos]; n > maxWidth {
		return 0, &Error{Msg: fmt.Sprintf("a width of %s in %q: want at most %d", text, f.format, maxWidth), At: text}
	}
	return n, nil
}

// maxWidth keeps a wrong width from eating the host's memory.
const maxWidth = 1 << 16

// apply formats one value. Its error says what the verb wants.
func (s spec) apply(v starlark.Value) (string, error) {
	switch s.verb {
	case 's', 'v', 'r':
		text := v.String()
		if str, ok := starlark.AsString(v); ok && s.verb != 'r' {
			text = str
		}
		if s.prec >= 0 {
			text = cut(text, s.prec)
		}
		return s.pad(text), nil
	case 'c':
		return s.char(v)
	case 'f', 'F', 'e', 'E', 'g', 'G':
		x, ok := starlark.AsFloat(v)
		if !ok {
			return "", fmt.Errorf("a number")
		}
		return fmt.Sprintf(s.goFormat(s.verb), x), nil
	case 'p':
		n, err := asBig(v)
		if err != nil {
			return "", err
		}
		return s.pad(fmt.Sprintf("%016x", wrap64(n))), nil
	}
	return s.integer(v)
}

// integer formats the verbs of whole numbers, and bytes in %x. A negative number in %x, %o and %u is its 64-bit two's complement, as in C.
func (s spec) integer(v starlark.Value) (string, error) {
	if b, ok := v.(starlark.Bytes); ok && (s.verb == 'x' || s.verb == 'X') {
		return fmt.Sprintf(s.goFormat(s.verb), string(b)), nil
	}
	n, err := asBig(v)
	if err != nil {
		return "", err
	}
	switch s.verb {
	case 'i', 'd':
		return fmt.Sprintf(s.goFormat('d'), n), nil
	case 'u':
		return fmt.Sprintf(s.goFormat('d'), wrap64(n)), nil
	}
	return fmt.Sprintf(s.goFormat(s.verb), wrap64(n)), nil
}

// char formats %c: a code point or a one-character string.
func (s spec) char(v starlark.Value) (string, error) {
	if str, ok := starlark.AsString(v); ok && len([]rune(str)) == 1 {
		return s.pad(str), nil
	}
	n, err := starlark.AsInt32(v)
	if err != nil {
		return "", fmt.Errorf("an int or a one-character string")
	}
	return s.pad(string(rune(n))), nil
}

// goFormat is the same conversion for package fmt, which agrees with C for these verbs.
func (s spec) goFormat(verb byte) string {
	out := "%" + s.flags
	if s.width > 0 {
		out += fmt.Sprint(s.width)
	}
	if s.prec >= 0 {
		out += fmt.Sprintf(".%d", s.prec)
	}
	return out + string(verb)
}

// pad fills text up to the width, counted in runes.
func (s spec) pad(text string) string {
	fill := s.width - len([]rune(text))
	if fill <= 0 {
		return text
	}
	if strings.Contains(s.flags, "-") {
		return text + strings.Repeat(" ", fill)
	}
	return strings.Repeat(" ", fill) + text
}

// cut keeps the first n runes.
func cut(text string, n int) string {
	r := []rune(text)
	return string(r[:min(n, len(r))])
}

// asBig takes ints, and floats and bools that are whole numbers.
func asBig(v starlark.Value) (*big.Int, error) {
	switch v := v.(type) {
	case starlark.Int:
		return v.BigInt(), nil
	case starlark.Bool:
		if v {
			return big.NewInt(1), nil
		}
		return new(big.Int), nil
	case starlark.Float:
		if n, err := starlark.NumberToInt(v); err == nil {
			return n.BigInt(), nil
		}
	}
	return nil, fmt.Errorf("an int")
}

// wrap64 maps negative numbers of 64 bits to their two's complement.
func wrap64(n *big.Int) *big.Int {
	if n.Sign() >= 0 || n.BitLen() > 64 {
		return n
	}
	return new(big.Int).Add(n, new(big.Int).Lsh(big.NewInt(1), 64))
}
