package user

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// gawkFuncs are gawk's own functions, as Go functions. match with an array, asort and asorti are awk functions over ksmatch
// and the for-in of awkRewrite.
func (r *awkRun) gawkFuncs(funcs map[string]any) {
	funcs["systime"] = r.now
	funcs["strtonum"], funcs["ksint"] = strtonum, func(s string) float64 { return float64(int64(strtonum(s))) }
	funcs["gensub"] = r.gensub
	funcs["strftime"], funcs["mktime"] = r.strftime, mktime
	funcs["and"] = bitwise(func(a, b uint64) uint64 { return a & b })
	funcs["or"] = bitwise(func(a, b uint64) uint64 { return a | b })
	funcs["xor"] = bitwise(func(a, b uint64) uint64 { return a ^ b })
	funcs["lshift"] = func(a, n float64) float64 { return float64(uint64(a) << uint64(n)) }
	funcs["rshift"] = func(a, n float64) float64 { return float64(uint64(a) >> uint64(n)) }
	funcs["compl"] = func(a float64) float64 { return float64(^uint64(a) & (1<<53 - 1)) }
	funcs["ksmatch"], funcs["ksgroup"] = r.match, r.group
	funcs["ksgstart"], funcs["ksglen"] = func(i int) int { return r.groups[2*i] + 1 }, func(i int) int { return r.groups[2*i+1] - r.groups[2*i] }
}

func bitwise(op func(a, b uint64) uint64) func(float64, ...float64) float64 {
	return func(first float64, rest ...float64) float64 {
		v := uint64(first)
		for _, x := range rest {
			v = op(v, uint64(x))
		}
		return float64(v)
	}
}

// strtonum reads a decimal, 0x or 0 number at a text's begin.
func strtonum(s string) float64 {
	s = strings.TrimLeft(s, " \t\n")
	sign := 1.0
	digits := s
	if digits != "" && (digits[0] == '-' || digits[0] == '+') {
		if digits[0] == '-' {
			sign = -1
		}
		digits = digits[1:]
	}
	prefix := func(text, chars string) string { return text[:len(text)-len(strings.TrimLeft(text, chars))] }
	if len(digits) > 2 && digits[0] == '0' && digits[1]|0x20 == 'x' {
		v, _ := strconv.ParseUint(prefix(digits[2:], "0123456789abcdefABCDEF"), 16, 64)
		return sign * float64(v)
	}
	if len(digits) > 1 && digits[0] == '0' && prefix(digits, "01234567") == prefix(digits, "0123456789.eE") {
		v, _ := strconv.ParseUint(prefix(digits, "01234567"), 8, 64)
		return sign * float64(v)
	}
	for text := prefix(digits, "0123456789.eE+-"); text != ""; text = text[:len(text)-1] {
		if v, err := strconv.ParseFloat(text, 64); err == nil {
			return sign * v
		}
	}
	return 0
}

// compile is a regular expression as goawk reads it. A program has few, so that they are kept.
func (r *awkRun) compile(re string) (*regexp.Regexp, error) {
	if c := r.compiled[re]; c != nil {
		return c, nil
	}
	c, err := regexp.Compile("(?s:" + re + ")")
	if err != nil {
		r.fatal = fmt.Sprintf("invalid regexp: %s: /%s/", err.Error(), re)
		return nil, err
	}
	if len(r.compiled) > 500 {
		clear(r.compiled)
	}
	r.compiled[re] = c
	return c, nil
}

// match implements ksmatch(s, re): the number of groups, the whole one too, or 0; ksgroup, ksgstart and ksglen tell of them.
func (r *awkRun) match(s, re string) (int, error) {
	c, err := r.compile(re)
	if err != nil {
		return 0, err
	}
	r.rec, r.groups = s, c.FindStringSubmatchIndex(s)
	return len(r.groups) / 2, nil
}

func (r *awkRun) group(i int) string {
	if r.groups[2*i] < 0 {
		return ""
	}
	return r.rec[r.groups[2*i]:r.groups[2*i+1]]
}

// gensub implements gensub(re, replacement, how, target).
func (r *awkRun) gensub(re, repl, how, target string) (string, error) {
	c, err := r.compile(re)
	if err != nil {
		return "", err
	}
	which := 0 // all
	if how == "" || how[0]|0x20 != 'g' {
		which = max(1, int(strtonum(how)))
	}
	var out strings.Builder
	at := 0
	for n, m := range c.FindAllStringSubmatchIndex(target, -1) {
		if which != 0 && n+1 != which {
			continue
		}
		out.WriteString(target[at:m[0]])
		for i := 0; i < len(repl); i++ {
			group := -1
			switch {
			case repl[i] == '&':
				group = 0
			case repl[i] == '\\' && i+1 < len(repl):
				if i++; repl[i] >= '0' && repl[i] <= '9' {
					group = int(repl[i] - '0')
				}
			}
			switch {
			case group < 0:
				out.WriteByte(repl[i])
			case 2*group < len(m) && m[2*group] >= 0:
				out.WriteString(target[m[2*group]:m[2*group+1]])
			}
		}
		at = m[1]
	}
	return out.String() + target[at:], nil
}

// strftime implements Strftime([format [, seconds [, utc]]]); the machine's zone is UTC.
func (r *awkRun) strftime(args ...string) string {
	format, ns := "%a %b %e %H:%M:%S %Z %Y", int64(0)
	if len(args) > 0 {
		format = args[0]
	}
	if len(args) > 1 {
		ns = int64(strtonum(args[1])) * 1e9
	} else {
		now, _ := r.c.s.ClockGettime(0)
		ns = int64(now)
	}
	return Strftime(format, ns)
}

// mktime implements mktime("YYYY MM DD HH MM SS").
func mktime(spec string) int {
	var v [6]int
	f := strings.Fields(spec)
	if len(f) < len(v) {
		return -1
	}
	for i := range v {
		v[i] = int(strtonum(strings.TrimLeft(f[i], "0")))
	}
	return int(time.Date(v[0], time.Month(v[1]), v[2], v[3], v[4], v[5], 0, time.UTC).Unix())
}
