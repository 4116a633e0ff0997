package user

import (
	"math"
	"strconv"
	"strings"

	"kscope/kernel"
)

// EchoOptions takes echo's options from the front of its arguments: words made of n, e and E alone.
func EchoOptions(args []string) (rest []string, newline, escapes bool) {
	newline = true
	for len(args) > 0 && len(args[0]) > 1 && args[0][0] == '-' && strings.Trim(args[0][1:], "neE") == "" {
		for _, o := range args[0][1:] {
			switch o {
			case 'n':
				newline = false
			case 'e':
				escapes = true
			case 'E':
				escapes = false
			}
		}
		args = args[1:]
	}
	return args, newline, escapes
}

// echo prints its arguments.
func echo(c *cmd) int {
	args, newline, escapes := EchoOptions(c.argv[1:])
	text := strings.Join(args, " ")
	if escapes {
		var stop bool
		if text, stop = unescape(text); stop {
			newline = false
		}
	}
	if newline {
		text += "\n"
	}
	c.print([]byte(text)...)
	return 0
}

// unescape expands echo -e's sequences; stop is true behind \c.
func unescape(s string) (out string, stop bool) {
	var b []byte
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 == len(s) {
			b = append(b, s[i])
			continue
		}
		i++
		if at := strings.IndexByte(`\abefnrtv`, s[i]); at >= 0 {
			b = append(b, "\\\a\b\x1b\f\n\r\t\v"[at])
			continue
		}
		switch s[i] {
		case 'c':
			return string(b), true
		case '0':
			v, n := Digits(s[i+1:], 8, 3)
			b, i = append(b, byte(v)), i+n
		case '1', '2', '3', '4', '5', '6', '7':
			v, n := Digits(s[i:], 8, 3)
			b, i = append(b, byte(v)), i+n-1
		case 'x':
			v, n := Digits(s[i+1:], 16, 2)
			if n == 0 {
				b = append(b, '\\', 'x')
				continue
			}
			b, i = append(b, byte(v)), i+n
		default:
			b = append(b, '\\', s[i])
		}
	}
	return string(b), false
}

// Digits reads at most max digits of a base.
func Digits(s string, base, max int) (v uint64, n int) {
	for n < len(s) && n < max {
		d, err := strconv.ParseUint(s[n:n+1], base, 8)
		if err != nil {
			break
		}
		v = v*uint64(base) + d
		n++
	}
	return v, n
}

// sleep waits for the sum of its arguments.
func sleep(c *cmd) int {
	_, args, status, done := c.parse(nil, 1)
	if done {
		return status
	}
	if len(args) == 0 {
		c.errorf("missing operand")
		return c.tryHelp(1)
	}
	total, bad := 0.0, false
	for _, a := range args {
		v, ok := interval(a)
		if !ok {
			c.errorf("invalid time interval %s", quoted(a))
			bad = true
		}
		total += v
	}
	if bad {
		return c.tryHelp(1)
	}
	const longest, sysPause = 4e9, 34 // the kernel takes half of what its clock can count, 2^62 ns
	for e := kernel.EINTR; total > longest && e == kernel.EINTR; {
		_, e = c.s.Call(sysPause) // as gnulib's xnanosleep does for infinity
	}
	ns := uint64(math.Ceil(total*1e9 - 1e-3))
	e := c.s.sleepFor(ns)
	for e == kernel.EINTR { // stopped and continued: gnulib's xnanosleep begins anew
		e = c.s.sleepFor(ns)
	}
	if e != 0 {
		c.errorf("cannot read realtime clock: %s", e.Error())
		return 1
	}
	return 0
}

// interval parses NUMBER[smhd] to seconds.
func interval(text string) (float64, bool) {
	unit := 1.0
	if n := len(text); n > 1 {
		if u := map[byte]float64{'s': 1, 'm': 60, 'h': 3600, 'd': 86400}[text[n-1]]; u != 0 {
			unit, text = u, text[:n-1]
		}
	}
	if text == "infinity" || text == "inf" {
		return math.Inf(1), true
	}
	if strings.ContainsAny(text, "_nN") {
		return 0, false
	}
	v, err := strconv.ParseFloat(text, 64)
	return v * unit, err == nil && v >= 0
}
