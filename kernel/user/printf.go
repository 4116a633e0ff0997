package user

import (
	"bytes"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// printfRun is one run of printf: the format is used again while arguments are left.
type printfRun struct {
	c    *cmd
	args []string
	out  []byte
	bad  bool
	stop bool // \c
}

func printfCommand(c *cmd) int {
	args := c.argv[1:]
	if len(args) > 0 && args[0] == "--" {
		args = args[1:]
	} else if len(args) == 1 && args[0] == "--help" {
		c.help()
		return 0
	}
	if len(args) == 0 {
		c.errorf("missing operand")
		return c.tryHelp(1)
	}
	p := &printfRun{c: c, args: args[1:]}
	for {
		before := len(p.args)
		if msg := p.format(args[0]); msg != "" {
			c.print(p.out...)
			c.errorf("%s", msg)
			return 1
		}
		if p.stop || len(p.args) == 0 {
			break
		}
		if len(p.args) == before {
			c.errorf("warning: ignoring excess arguments, starting with %s", quoted(p.args[0]))
			break
		}
	}
	c.print(p.out...)
	if p.bad {
		return 1
	}
	return 0
}

func (p *printfRun) arg() (string, bool) {
	if len(p.args) == 0 {
		return "", false
	}
	a := p.args[0]
	p.args = p.args[1:]
	return a, true
}

// format goes once through the format; it returns the message of a wrong directive.
func (p *printfRun) format(f string) string {
	for i := 0; i < len(f) && !p.stop; i++ {
		switch f[i] {
		case '\\':
			text, n, stop := escapeAt(f[i:], false)
			p.out, p.stop = append(p.out, text...), stop
			i += n - 1
		case '%':
			if i+1 < len(f) && f[i+1] == '%' {
				p.out = append(p.out, '%')
				i++
				continue
			}
			n, msg := p.directive(f[i:])
			if msg != "" {
				return msg
			}
			i += n - 1
		default:
			p.out = append(p.out, f[i])
		}
	}
	return ""
}

// directive prints one argument as text, which starts with %, says; n is its length.
func (p *printfRun) directive(text string) (n int, msg string) {
	i := 1
	spec := "%"
	for i < len(text) && strings.IndexByte("-+ #0'I", text[i]) >= 0 {
		if text[i] != '\'' && text[i] != 'I' {
			spec += text[i : i+1]
		}
		i++
	}
	number := func() {
		if i < len(text) && text[i] == '*' {
			a, _ := p.arg()
			spec += strconv.FormatInt(p.integer(a), 10)
			i++
			return
		}
		for i < len(text) && text[i] >= '0' && text[i] <= '9' {
			spec += text[i : i+1]
			i++
		}
	}
	number()
	if i < len(text) && text[i] == '.' {
		spec += "."
		i++
		number()
	}
	for i < len(text) && strings.IndexByte("hlLjzt", text[i]) >= 0 {
		i++
	}
	if i == len(text) {
		return 0, text + ": missing conversion specifier"
	}
	verb := text[i]
	i++
	spec, width, left := p.wide(spec)
	at := len(p.out)
	defer func() {
		if n := width - (len(p.out) - at); n > 0 {
			fill := bytes.Repeat([]byte{' '}, n)
			if left {
				p.out = append(p.out, fill...)
			} else {
				p.out = append(p.out[:at:at], append(fill, p.out[at:]...)...)
			}
		}
	}()
	switch verb {
	case 'b', 's', 'q', 'c':
		a, _ := p.arg()
		p.text(spec, verb, a)
	case 'd', 'i', 'u', 'o', 'x', 'X':
		a, ok := p.arg()
		v := int64(0)
		if ok {
			v = p.integer(a)
		}
		p.out = append(p.out, formatInt(spec, verb, v)...)
	case 'e', 'E', 'f', 'F', 'g', 'G':
		a, ok := p.arg()
		v := 0.0
		if ok {
			v = p.float(a)
		}
		p.out = fmt.Appendf(p.out, spec+string(verb), v)
	default:
		return 0, text[:i] + ": invalid conversion specification"
	}
	return i, ""
}

// wide takes a width out of spec that Go's fmt finds too large, and asks for the memory; a precision that large counts as the
// largest that fmt takes.
func (p *printfRun) wide(spec string) (rest string, width int, left bool) {
	const most = 1e6
	flags := spec[:len(spec)-len(strings.TrimLeft(spec, "%-+ #0"))]
	w, prec, dot := strings.Cut(spec[len(flags):], ".")
	if n, err := strconv.Atoi(prec); err == nil && n > most {
		prec = strconv.Itoa(most)
	}
	if dot {
		prec = "." + prec
	}
	n, err := strconv.Atoi(w)
	if err != nil && w != "" {
		n = math.MaxInt32
	}
	if n <= most {
		return flags + w + prec, 0, false
	}
	p.c.s.Room(3 * n)
	return flags + prec, n, strings.Contains(flags, "-")
}

// formatInt is C's integer conversion; Go lacks u and the precision of zero-padded numbers differs little.
func formatInt(spec string, verb byte, v int64) string {
	switch verb {
	case 'd', 'i':
		return fmt.Sprintf(spec+"d", v)
	case 'u':
		return fmt.Sprintf(spec+"d", uint64(v))
	}
	if v == 0 {
		spec = strings.Replace(spec, "#", "", 1)
	}
	return fmt.Sprintf(spec+string(verb), uint64(v))
}

func (p *printfRun) text(spec string, verb byte, a string) {
	switch verb {
	case 'b':
		var b []byte
		for i := 0; i < len(a) && !p.stop; {
			text, n, stop := a[i:i+1], 1, false
			if a[i] == '\\' {
				text, n, stop = escapeAt(a[i:], true)
			}
			b, p.stop = append(b, text...), stop
			i += n
		}
		a = string(b)
	case 'q':
		a = shellName(a)
	case 'c':
		if a != "" {
			a = a[:1]
		}
	}
	p.out = append(p.out, pad8(spec, a)...)
}

// pad8 is %s with width and precision in bytes.
func pad8(spec, text string) string {
	var b strings.Builder
	for _, c := range []byte(text) { // one rune for each byte, so that Go counts as C does
		b.WriteRune(rune(c))
	}
	out := fmt.Sprintf(strings.ReplaceAll(strings.ReplaceAll(spec, "#", ""), "+", "")+"s", b.String())
	raw := make([]byte, 0, len(out))
	for _, r := range out {
		raw = append(raw, byte(r))
	}
	return string(raw)
}

// integer parses as strtoimax(…, 0); 'c is the code of c.
func (p *printfRun) integer(a string) int64 {
	if len(a) > 1 && (a[0] == '\'' || a[0] == '"') {
		return int64(a[1])
	}
	text := strings.TrimLeft(a, " \t")
	for n := len(text); n > 0; n-- {
		if strings.Contains(text[:n], "_") {
			continue
		}
		low := strings.ToLower(strings.TrimLeft(text[:n], "+-"))
		if strings.HasPrefix(low, "0b") || strings.HasPrefix(low, "0o") {
			continue
		}
		v, err := strconv.ParseInt(text[:n], 0, 64)
		if err != nil {
			u, err := strconv.ParseUint(text[:n], 0, 64)
			if err != nil {
				continue
			}
			v = int64(u)
		}
		if n < len(text) {
			p.complain(a, "value not completely converted")
		}
		return v
	}
	p.complain(a, "expected a numeric value")
	return 0
}

func (p *printfRun) float(a string) float64 {
	if len(a) > 1 && (a[0] == '\'' || a[0] == '"') {
		return float64(a[1])
	}
	text := strings.TrimLeft(a, " \t")
	for n := len(text); n > 0; n-- {
		v, err := strconv.ParseFloat(text[:n], 64)
		if err != nil || strings.Contains(text[:n], "_") {
			continue
		}
		if n < len(text) {
			p.complain(a, "value not completely converted")
		}
		return v
	}
	p.complain(a, "expected a numeric value")
	return 0
}

func (p *printfRun) complain(a, what string) {
	p.bad = true
	p.c.print(p.out...)
	p.out = nil
	p.c.errorf("%s: %s", quoted(a), what)
}

// escapeAt is the escape at the start of s, its length, and whether it is \c. In %b octal numbers start with \0.
func escapeAt(s string, inB bool) (text string, n int, stop bool) {
	if len(s) == 1 {
		return `\`, 1, false
	}
	switch c := s[1]; {
	case strings.IndexByte(`\abefnrtv"`, c) >= 0:
		return "\\\a\b\x1b\f\n\r\t\v\""[strings.IndexByte(`\abefnrtv"`, c):][:1], 2, false
	case c == 'c':
		return "", 2, true
	case c == 'x':
		if v, k := Digits(s[2:], 16, 2); k > 0 {
			return string([]byte{byte(v)}), 2 + k, false
		}
	case c == 'u' || c == 'U':
		if v, k := Digits(s[2:], 16, map[byte]int{'u': 4, 'U': 8}[c]); k > 0 {
			return string(rune(v)), 2 + k, false
		}
	case c >= '0' && c <= '7':
		at := 1
		if inB && c == '0' {
			at = 2
		}
		v, k := Digits(s[at:], 8, 3)
		return string([]byte{byte(v)}), at + k, false
	}
	return s[:2], 2, false
}
