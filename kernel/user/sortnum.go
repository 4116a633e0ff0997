package user

import (
	"bytes"
	"cmp"
	"math"
	"strconv"
	"strings"
)

// decimal splits the number at the start of s as sort -n reads it: blanks, a minus, digits, a point, digits.
func decimal(s []byte) (neg bool, whole, frac string) {
	s = bytes.TrimLeft(s, " \t\n")
	if len(s) > 0 && s[0] == '-' {
		neg, s = true, s[1:]
	}
	i := 0
	for i < len(s) && s[i] >= '0' && s[i] <= '9' {
		i++
	}
	whole = strings.TrimLeft(string(s[:i]), "0")
	if i < len(s) && s[i] == '.' {
		j := i + 1
		for j < len(s) && s[j] >= '0' && s[j] <= '9' {
			j++
		}
		frac = strings.TrimRight(string(s[i+1:j]), "0")
	}
	return neg && whole+frac != "", whole, frac
}

// compareDecimal compares numbers of any length.
func compareDecimal(a, b []byte) int {
	an, aw, af := decimal(a)
	bn, bw, bf := decimal(b)
	if an != bn {
		if an {
			return -1
		}
		return 1
	}
	d := cmp.Compare(len(aw), len(bw))
	if d == 0 {
		d = cmp.Or(strings.Compare(aw, bw), strings.Compare(af, bf))
	}
	if an {
		return -d
	}
	return d
}

// leadingFloat is sort -g's strtold; what is no number is less than all.
func leadingFloat(s []byte) float64 {
	text := strings.TrimLeft(string(s), " \t")
	for n := len(text); n > 0; n-- {
		if v, err := strconv.ParseFloat(text[:n], 64); err == nil {
			return v
		}
	}
	return math.Inf(-1)
}

// humanOrder is the sign and unit of sort -h's numbers.
func humanOrder(s []byte) int {
	neg, whole, frac := decimal(s)
	t := strings.TrimLeft(strings.TrimLeft(string(s), " \t\n"), "-0123456789.")
	unit := 0
	if t != "" && whole+frac != "" {
		unit = strings.IndexByte("KMGTPEZY", t[0]&^32) + 1
	}
	if neg {
		return -unit
	}
	return unit
}

func monthOf(s []byte) int {
	t := strings.ToUpper(strings.TrimLeft(string(s), " \t"))
	if len(t) < 3 {
		return 0
	}
	if i := strings.Index("JANFEBMARAPRMAYJUNJULAUGSEPOCTNOVDEC", t[:3]); i >= 0 && i%3 == 0 {
		return i/3 + 1
	}
	return 0
}

// compareVersion is filevercmp without its rules for file suffixes: runs of digits as numbers, ~ before everything,
// letters before the rest.
func compareVersion(a, b string) int {
	order := func(s string) int {
		switch {
		case s == "" || s[0] >= '0' && s[0] <= '9':
			return 0
		case s[0] == '~':
			return -1
		case s[0]|32 >= 'a' && s[0]|32 <= 'z':
			return int(s[0])
		}
		return int(s[0]) + 256
	}
	digit := func(s string) bool { return s != "" && s[0] >= '0' && s[0] <= '9' }
	for a != "" || b != "" {
		for a != "" && !digit(a) || b != "" && !digit(b) {
			if d := cmp.Compare(order(a), order(b)); d != 0 {
				return d
			}
			if a != "" {
				a = a[1:]
			}
			if b != "" {
				b = b[1:]
			}
		}
		n, m := 0, 0
		for n < len(a) && digit(a[n:]) {
			n++
		}
		for m < len(b) && digit(b[m:]) {
			m++
		}
		if d := compareDecimal([]byte(a[:n]), []byte(b[:m])); d != 0 {
			return d
		}
		a, b = a[n:], b[m:]
	}
	return 0
}
