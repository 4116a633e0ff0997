package sh

import (
	"math"
	"strconv"
	"strings"

	"kscope/kernel"
	"kscope/kernel/user"

	"mvdan.cc/sh/v3/syntax"
)

// formatter is one run of printf.
type formatter struct {
	sh     *Shell
	out    strings.Builder
	args   []string
	used   bool // an argument was asked for
	status int
	stop   bool
}

// printfBuiltin is printf [-v var] format [arg …]: the format is used again while arguments are left.
func printfBuiltin(sh *Shell, argv []string) int {
	args, target := argv[1:], ""
	for len(args) > 0 && len(args[0]) > 1 && args[0][0] == '-' {
		opt := args[0]
		args = args[1:]
		if opt == "--" {
			break
		}
		if !strings.HasPrefix(opt, "-v") {
			return sh.badOption("printf", opt[:2], "printf [-v var] format [arguments]")
		}
		if target = opt[2:]; target == "" {
			if len(args) == 0 {
				sh.errorf("printf: -v: option requires an argument")
				return sh.usage("printf [-v var] format [arguments]")
			}
			target, args = args[0], args[1:]
		}
		if !validTarget(target) {
			sh.errorf("printf: `%s': not a valid identifier", target)
			return 2
		}
	}
	if len(args) == 0 {
		return sh.usage("printf [-v var] format [arguments]")
	}
	f := &formatter{sh: sh, args: args[1:]}
	e, rest := kernel.Errno(0), ""
	for {
		f.used = false
		f.once(args[0])
		more := !f.stop && len(f.args) > 0 && f.used
		if target == "" { // a write error ends it after the pass through the format in which it came
			sh.s.Work(f.out.Len())
			rest, e = sh.printLines(rest+f.out.String(), !more, true)
			f.out.Reset()
		}
		if !more || e != 0 {
			break
		}
	}
	if target != "" {
		sh.s.Work(f.out.Len())
		sh.setTarget(target, f.out.String())
		return f.status
	}
	return max(f.status, sh.wrote("printf", e))
}

func (f *formatter) next() (string, bool) {
	f.used = true
	if len(f.args) == 0 {
		return "", false
	}
	a := f.args[0]
	f.args = f.args[1:]
	return a, true
}

// once goes through the format one time.
func (f *formatter) once(format string) {
	for i := 0; i < len(format) && !f.stop; i++ {
		switch c := format[i]; {
		case c == '\\' && i+1 < len(format):
			n := escapeLen(format[i:])
			text, stop := unescapeFormat(format[i : i+n])
			f.out.WriteString(text)
			f.stop = stop
			i += n - 1
		case c == '%' && i+1 < len(format) && format[i+1] == '%':
			f.out.WriteByte('%')
			i++
		case c == '%':
			i += f.directive(format[i:]) - 1
		default:
			f.out.WriteByte(c)
		}
	}
}

// directive does one %… and returns its length.
func (f *formatter) directive(s string) int {
	i := 1
	for i < len(s) && strings.IndexByte("#0- +'", s[i]) >= 0 {
		i++
	}
	flags := strings.ReplaceAll(s[1:i], "'", "")
	width, n := f.count(s[i:])
	if i += n; width != nil && *width < 0 {
		flags, *width = flags+"-", -*width
	}
	var prec *int
	if i < len(s) && s[i] == '.' {
		prec, n = f.count(s[i+1:])
		if i += 1 + n; prec == nil {
			prec = new(int)
		}
	}
	if i < len(s) && s[i] == '(' {
		if end := strings.Index(s[i:], ")T"); end > 0 {
			f.out.WriteString(f.pad(f.clock(s[i+1:i+end]), flags, width))
			return i + end + 2
		}
	}
	for i < len(s) && strings.IndexByte("hlLjzt", s[i]) >= 0 {
		i++
	}
	if i >= len(s) {
		f.bad("`%s': missing format character", s)
		f.stop = true
		return len(s)
	}
	f.convert(s[i], flags, width, prec)
	return i + 1
}

// count reads a width or precision: digits or *.
func (f *formatter) count(s string) (*int, int) {
	if strings.HasPrefix(s, "*") {
		a, _ := f.next()
		v := int(f.integer(a))
		return &v, 1
	}
	n := 0
	for n < len(s) && s[n] >= '0' && s[n] <= '9' {
		n++
	}
	if n == 0 {
		return nil, 0
	}
	v, _ := strconv.Atoi(s[:n])
	return &v, n
}

func (f *formatter) bad(format string, args ...any) {
	f.sh.errorf("printf: "+format, args...)
	f.status = 1
}

// clock is %(…)T: a time in seconds, without one or with -1 now, with -2 the shell's start.
func (f *formatter) clock(format string) string {
	arg, given := f.next()
	sec := int64(-1)
	if given {
		sec = f.integer(arg)
	}
	ns := sec * 1e9
	if sec == -1 || sec == -2 {
		now, _ := f.sh.s.ClockGettime(0)
		if ns = int64(now); sec == -2 {
			mono, _ := f.sh.s.ClockGettime(clockMonotonic)
			ns -= int64(mono - f.sh.started)
		}
	}
	if format == "" {
		format = "%X"
	}
	return user.Strftime(format, ns)
}

func (f *formatter) convert(c byte, flags string, width, prec *int) {
	arg, given := f.next()
	switch c {
	case 's', 'b', 'q', 'Q':
		if c == 'b' {
			arg, f.stop = unescapeEcho(arg, false)
		}
		if c == 'q' || c == 'Q' {
			arg = backslashQuoted(arg)
		}
		if prec != nil && *prec >= 0 && *prec < len(arg) {
			arg = arg[:*prec]
		}
		f.out.WriteString(f.pad(arg, strings.ReplaceAll(flags, "0", ""), width))
	case 'c':
		if arg == "" {
			arg = "\x00"
		}
		arg = arg[:1]
		f.out.WriteString(f.pad(arg, flags, width))
	case 'd', 'i', 'u', 'o', 'x', 'X':
		v := int64(0)
		if given {
			v = f.integer(arg)
		}
		f.out.WriteString(f.pad(intText(c, v, flags, prec), noZero(flags, prec), width))
	case 'e', 'E', 'f', 'F', 'g', 'G', 'a', 'A':
		v := f.float(arg, given)
		p := "6"
		if prec != nil {
			p = strconv.Itoa(*prec)
		}
		text := sprintf("%"+strings.Map(sharpPlus, flags)+"."+p+string(c), v)
		f.out.WriteString(f.pad(text, flags, width))
	case 'n':
		f.sh.setTarget(arg, strconv.Itoa(f.out.Len()))
	default:
		f.bad("`%c': invalid format character", c)
		f.stop = true
	}
}

func sharpPlus(r rune) rune {
	if r == '#' || r == '+' || r == ' ' {
		return r
	}
	return -1
}

// noZero: with a precision the flag 0 does not count.
func noZero(flags string, prec *int) string {
	if prec != nil {
		return strings.ReplaceAll(flags, "0", "")
	}
	return flags
}

func intText(c byte, v int64, flags string, prec *int) string {
	var digits string
	neg := false
	switch c {
	case 'd', 'i':
		if neg = v < 0; neg {
			digits = strconv.FormatUint(-uint64(v), 10)
		} else {
			digits = strconv.FormatInt(v, 10)
		}
	case 'u':
		digits = strconv.FormatUint(uint64(v), 10)
	case 'o':
		digits = strconv.FormatUint(uint64(v), 8)
	default:
		digits = strconv.FormatUint(uint64(v), 16)
	}
	if prec != nil {
		if *prec == 0 && v == 0 {
			digits = ""
		}
		digits = strings.Repeat("0", max(0, min(*prec, maxPrecision)-len(digits))) + digits
	}
	if strings.Contains(flags, "#") && v != 0 {
		switch c {
		case 'x', 'X':
			digits = "0x" + digits
		case 'o':
			digits = "0" + digits
		}
	}
	if c == 'X' {
		digits = strings.ToUpper(digits)
	}
	switch {
	case neg:
		return "-" + digits
	case c != 'd' && c != 'i':
	case strings.Contains(flags, "+"):
		return "+" + digits
	case strings.Contains(flags, " "):
		return " " + digits
	}
	return digits
}

// maxPrecision is what a larger precision of an integer counts as.
const maxPrecision = 1 << 20

// pad fills to a width: on the left, with - on the right, with 0 behind the sign.
func (f *formatter) pad(text, flags string, width *int) string {
	if width == nil || len(text) >= *width {
		return text
	}
	fill := *width - len(text)
	f.sh.s.Room(3 * fill)
	switch {
	case strings.Contains(flags, "-"):
		return text + strings.Repeat(" ", fill)
	case strings.Contains(flags, "0"):
		sign := 0
		if text != "" && strings.IndexByte("+- ", text[0]) >= 0 {
			sign = 1
		}
		if strings.HasPrefix(strings.ToLower(text[sign:]), "0x") {
			sign += 2
		}
		return text[:sign] + strings.Repeat("0", fill) + text[sign:]
	}
	return strings.Repeat(" ", fill) + text
}

// integer reads an argument as strtoimax does: 0x, 0, and 'c for a character.
func (f *formatter) integer(arg string) int64 {
	if arg == "" {
		return 0
	}
	if arg[0] == '\'' || arg[0] == '"' {
		if len(arg) > 1 {
			return int64(arg[1])
		}
		return 0
	}
	text := strings.TrimLeft(arg, " \t\n")
	neg := strings.HasPrefix(text, "-")
	body := strings.TrimLeft(text, "+-")
	base, digits10 := 10, body
	switch {
	case strings.HasPrefix(body, "0x") || strings.HasPrefix(body, "0X"):
		base, digits10 = 16, body[2:]
	case len(body) > 1 && body[0] == '0':
		base, digits10 = 8, body[1:]
	}
	n := 0
	for n < len(digits10) && digitValue(digits10[n]) < base {
		n++
	}
	if n < len(digits10) || n == 0 && base != 8 {
		f.bad("%s: invalid number", arg)
	}
	v, err := strconv.ParseUint("0"+digits10[:n], base, 64)
	if err != nil || !neg && v > math.MaxInt64 && base == 10 {
		f.sh.errorf("printf: warning: %s: Numerical result out of range", arg)
		v = math.MaxInt64
	}
	if neg {
		return -int64(v)
	}
	return int64(v)
}

func digitValue(c byte) int {
	switch {
	case c >= '0' && c <= '9':
		return int(c - '0')
	case c >= 'a' && c <= 'f':
		return int(c-'a') + 10
	case c >= 'A' && c <= 'F':
		return int(c-'A') + 10
	}
	return 99
}

func (f *formatter) float(arg string, given bool) float64 {
	if !given || arg == "" {
		return 0
	}
	if arg[0] == '\'' || arg[0] == '"' {
		return float64(f.integer(arg))
	}
	v, err := strconv.ParseFloat(strings.TrimSpace(arg), 64)
	if err != nil {
		n := len(arg)
		for n > 0 && err != nil {
			n--
			v, err = strconv.ParseFloat(arg[:n], 64)
		}
		f.bad("%s: invalid number", arg)
	}
	return v
}

// backslashQuoted is printf %q: sh_backslash_quote, or $'…' for what cannot be printed.
func backslashQuoted(s string) string {
	if s == "" {
		return "''"
	}
	if q, err := syntax.Quote(s, syntax.LangBash); err == nil && strings.HasPrefix(q, "$'") {
		return ansiQuoted(s)
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if strings.IndexByte(" \t'\"\\|&;()<>!{}*[]?^$`,", s[i]) >= 0 || i == 0 && (s[i] == '~' || s[i] == '#') {
			b.WriteByte('\\')
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// escapeLen is the length of the escape at the start of s.
func escapeLen(s string) int {
	if len(s) < 2 {
		return len(s)
	}
	switch c := s[1]; {
	case c >= '0' && c <= '7':
		_, n := user.Digits(s[1:], 8, 3)
		return 1 + n
	case c == 'x':
		_, n := user.Digits(s[2:], 16, 2)
		return 2 + n
	case c == 'u':
		_, n := user.Digits(s[2:], 16, 4)
		return 2 + n
	case c == 'U':
		_, n := user.Digits(s[2:], 16, 8)
		return 2 + n
	}
	return 2
}

// unescapeFormat expands one escape of printf's format (bexpand's rules differ in \0nnn and \c).
func unescapeFormat(s string) (string, bool) {
	if len(s) == 2 && s[1] == 'c' {
		return "", true
	}
	if len(s) >= 2 && s[1] >= '0' && s[1] <= '7' {
		v, _ := user.Digits(s[1:], 8, 3)
		return string([]byte{byte(v)}), false
	}
	if len(s) > 2 && s[1] == 'x' {
		v, _ := user.Digits(s[2:], 16, 2)
		return string([]byte{byte(v)}), false
	}
	return ansiC(s), false
}

// unescapeEcho expands the escapes of echo -e and, with strict unset, of printf %b. stop is true behind \c.
func unescapeEcho(s string, strict bool) (out string, stop bool) {
	var b []byte
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 == len(s) {
			b = append(b, s[i])
			continue
		}
		i++
		if at := strings.IndexByte(`abeEfnrtv\`, s[i]); at >= 0 {
			b = append(b, "\a\b\x1b\x1b\f\n\r\t\v\\"[at])
			continue
		}
		switch c := s[i]; {
		case c == 'c':
			return string(b), true
		case c == '0':
			v, n := user.Digits(s[i+1:], 8, 3)
			b, i = append(b, byte(v)), i+n
		case c >= '1' && c <= '7' && !strict:
			v, n := user.Digits(s[i:], 8, 3)
			b, i = append(b, byte(v)), i+n-1
		case c == 'x':
			v, n := user.Digits(s[i+1:], 16, 2)
			if n == 0 {
				b = append(b, '\\', 'x')
				continue
			}
			b, i = append(b, byte(v)), i+n
		case c == 'u' || c == 'U':
			v, n := user.Digits(s[i+1:], 16, map[byte]int{'u': 4, 'U': 8}[c])
			b, i = append(b, unicodeText(v)...), i+n
		case (c == '"' || c == '\'' || c == '?') && !strict:
			b = append(b, c)
		default:
			b = append(b, '\\', c)
		}
	}
	return string(b), false
}
