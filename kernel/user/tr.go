package user

import (
	"fmt"
	"strconv"
	"strings"
)

var trOptions = []option{{'c', "complement", false, 0}, {'C', "", false, 'c'}, {'d', "delete", false, 0}, {'s', "squeeze-repeats", false, 0}, {'t', "truncate-set1", false, 0}}

func tr(c *cmd) int {
	c.inOrder = true
	found, sets, status, done := c.parse(trOptions, 1)
	if done {
		return status
	}
	var on [256]bool
	for _, o := range found {
		on[o.id] = true
	}
	want := 2
	if on['d'] != on['s'] {
		want = 1
	}
	switch {
	case len(sets) == 0:
		c.errorf("missing operand")
		return c.tryHelp(1)
	case len(sets) < want && !(on['s'] && !on['d'] && len(sets) == 1):
		c.errorf("missing operand after %s", quoted(sets[0]))
		c.s.Write(2, []byte(map[bool]string{true: "Two strings must be given when both deleting and squeezing repeats.\n",
			false: "Two strings must be given when translating.\n"}[on['d']]))
		return c.tryHelp(1)
	case len(sets) > 2, on['d'] && !on['s'] && len(sets) > 1:
		c.errorf("extra operand %s", quoted(sets[min(2, map[bool]int{true: 1, false: 2}[on['d'] && !on['s']])]))
		if on['d'] && !on['s'] && len(sets) == 2 {
			c.s.Write(2, []byte("Only one string may be given when deleting without squeezing repeats.\n"))
		}
		return c.tryHelp(1)
	}
	set1, _, err := trSet(sets[0], -1)
	if err != nil {
		c.errorf("%s", err.Error())
		return 1
	}
	if on['c'] {
		set1 = complement(set1)
	}
	var set2 []byte
	if len(sets) == 2 {
		var classes bool
		if set2, classes, err = trSet(sets[1], len(set1)); err != nil {
			c.errorf("%s", err.Error())
			return 1
		}
		if classes && !on['d'] {
			c.errorf("when translating, the only character classes that may appear in\nstring2 are 'upper' and 'lower'")
			return 1
		}
	}
	return trRun(c, &on, set1, set2, len(sets))
}

func complement(set []byte) (out []byte) {
	var in [256]bool
	for _, b := range set {
		in[b] = true
	}
	for i := range 256 {
		if !in[i] {
			out = append(out, byte(i))
		}
	}
	return out
}

func trRun(c *cmd, on *[256]bool, set1, set2 []byte, sets int) int {
	var drop, squeeze [256]bool
	var to [256]byte
	for i := range to {
		to[i] = byte(i)
	}
	squeezed := set1
	if sets == 2 {
		squeezed = set2
	}
	switch {
	case on['d']:
		for _, b := range set1 {
			drop[b] = true
		}
	case sets == 2:
		if len(set2) == 0 && !on['t'] && len(set1) > 0 {
			c.errorf("when not truncating set1, string2 must be non-empty")
			return 1
		}
		for i, b := range set1 {
			if i < len(set2) {
				to[b] = set2[i]
			} else if !on['t'] {
				to[b] = set2[len(set2)-1]
			}
		}
	}
	if on['s'] {
		for _, b := range squeezed {
			squeeze[b] = true
		}
	}
	last := -1
	for {
		data, e := c.s.Read(0, 8192)
		if e != 0 {
			c.errorf("read error: %s", e.Error())
			return 1
		}
		if len(data) == 0 {
			return 0
		}
		c.s.Work(len(data))
		out := make([]byte, 0, len(data))
		for _, b := range data {
			if drop[b] {
				continue
			}
			b = to[b]
			if squeeze[b] && last == int(b) {
				continue
			}
			last = int(b)
			out = append(out, b)
		}
		c.print(out...)
	}
}

// trClass gives the members of [:name:], in order.
func trClass(name string) (out []byte, ok bool) {
	test, ok := map[string]func(b int) bool{
		"alpha": func(b int) bool { return b|32 >= 'a' && b|32 <= 'z' }, "digit": func(b int) bool { return b >= '0' && b <= '9' },
		"upper": func(b int) bool { return b >= 'A' && b <= 'Z' }, "lower": func(b int) bool { return b >= 'a' && b <= 'z' },
		"alnum": func(b int) bool { return b|32 >= 'a' && b|32 <= 'z' || b >= '0' && b <= '9' },
		"space": func(b int) bool { return b == ' ' || b >= 9 && b <= 13 }, "blank": func(b int) bool { return b == ' ' || b == '\t' },
		"punct": func(b int) bool { return b > 32 && b < 127 && !wordByte(byte(b)) || b == '_' },
		"print": func(b int) bool { return b >= 32 && b < 127 }, "graph": func(b int) bool { return b > 32 && b < 127 },
		"cntrl":  func(b int) bool { return b < 32 || b == 127 },
		"xdigit": func(b int) bool { return b >= '0' && b <= '9' || b|32 >= 'a' && b|32 <= 'f' },
	}[name]
	for b := 0; ok && b < 256; b++ {
		if test(b) {
			out = append(out, byte(b))
		}
	}
	return out, ok
}

// trSet expands a SET. size is the length of the first one, to which [x*] fills up; -1 for the first itself. classes
// says that a class other than upper and lower is there.
func trSet(text string, size int) (set []byte, classes bool, err error) {
	fill, fillAt := byte(0), -1
	for i := 0; i < len(text); {
		if text[i] == '[' {
			part, n, other, star := trBracket(text[i:], size)
			if n > 0 {
				if part == nil && star < 0 {
					return nil, false, fmt.Errorf("invalid character class %s", quoted(text[i+2:i+n-2]))
				}
				if star >= 0 {
					if size < 0 {
						return nil, false, fmt.Errorf("the [c*] repeat construct may not appear in string1")
					}
					fill, fillAt = byte(star), len(set)
				}
				set, classes = append(set, part...), classes || other
				i += n
				continue
			}
		}
		lo, n := trChar(text[i:])
		i += n
		if i+1 < len(text) && text[i] == '-' {
			hi, n := trChar(text[i+1:])
			if hi < lo {
				return nil, false, fmt.Errorf("range-endpoints of '%s-%s' are in reverse collating sequence order", trShow(lo), trShow(hi))
			}
			i += 1 + n
			for b := int(lo); b <= int(hi); b++ {
				set = append(set, byte(b))
			}
			continue
		}
		set = append(set, lo)
	}
	if n := size - len(set); fillAt >= 0 && n > 0 {
		set = append(set[:fillAt], append([]byte(strings.Repeat(string([]byte{fill}), n)), set[fillAt:]...)...)
	}
	return set, classes, nil
}

func trShow(b byte) string {
	if b < 32 || b > 126 {
		return fmt.Sprintf("\\%03o", b)
	}
	return string(rune(b))
}

// maxRepeat bounds a [c*n]: a longer one is as good as endless.
const maxRepeat = 1 << 20

// trBracket is [:class:], [=c=] or [c*n] at the start of text; n is its length, 0 for none of them. star >= 0 is the
// character of a [c*] that fills up.
func trBracket(text string, size int) (part []byte, n int, other bool, star int) {
	if strings.HasPrefix(text, "[:") {
		if end := strings.Index(text[2:], ":]"); end >= 0 {
			name := text[2 : 2+end]
			set, _ := trClass(name)
			return set, end + 4, name != "upper" && name != "lower", -1
		}
	}
	if len(text) >= 5 && strings.HasPrefix(text, "[=") && text[3:5] == "=]" {
		return []byte{text[2]}, 5, true, -1
	}
	if len(text) > 3 {
		ch, k := trChar(text[1:])
		rest := text[1+k:]
		if end := strings.IndexByte(rest, ']'); end > 0 && rest[0] == '*' && strings.Trim(rest[1:end], "0123456789") == "" {
			count, _ := strconv.ParseInt(rest[1:end], 0, 32)
			if count == 0 {
				return nil, 1 + k + end + 1, false, int(ch)
			}
			return []byte(strings.Repeat(string([]byte{ch}), int(min(count, maxRepeat)))), 1 + k + end + 1, false, -1
		}
	}
	return nil, 0, false, -1
}

// trChar is one character, which may be an escape, and its length.
func trChar(text string) (b byte, n int) {
	if text[0] != '\\' || len(text) == 1 {
		return text[0], 1
	}
	if at := strings.IndexByte(`\abfnrtv`, text[1]); at >= 0 {
		return "\\\a\b\f\n\r\t\v"[at], 2
	}
	if v, n := Digits(text[1:], 8, 3); n > 0 {
		return byte(v), 1 + n
	}
	return text[1], 2
}
