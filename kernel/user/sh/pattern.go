package sh

import "strings"

// match matches a whole string with a pattern: * ? [ ] and, always, the extended ?( ) *( ) +( ) @( ) !( ).
func (sh *Shell) match(pat, s string) bool {
	if sh.opts.nocasematch {
		pat, s = strings.ToLower(pat), strings.ToLower(s)
	}
	if !strings.ContainsAny(pat, `*?[\(`) {
		return pat == s
	}
	return match(pat, s)
}

func match(pat, s string) bool {
	for len(pat) > 0 {
		if len(pat) > 1 && pat[1] == '(' && strings.IndexByte("?*+@!", pat[0]) >= 0 {
			if alts, rest, ok := alternatives(pat); ok {
				return matchExt(pat[0], alts, rest, s)
			}
		}
		switch pat[0] {
		case '*':
			for len(pat) > 1 && pat[1] == '*' && !(len(pat) > 2 && pat[2] == '(') {
				pat = pat[1:]
			}
			if len(pat) == 1 {
				return true
			}
			for i := 0; i <= len(s); i++ {
				if match(pat[1:], s[i:]) {
					return true
				}
			}
			return false
		case '?':
			if s == "" {
				return false
			}
			pat, s = pat[1:], s[1:]
		case '[':
			if s == "" {
				return false
			}
			in, rest, ok := bracket(pat, s[0])
			if !ok {
				if s[0] != '[' {
					return false
				}
				pat, s = pat[1:], s[1:]
				continue
			}
			if !in {
				return false
			}
			pat, s = rest, s[1:]
		case '\\':
			if len(pat) > 1 {
				pat = pat[1:]
			}
			fallthrough
		default:
			if s == "" || s[0] != pat[0] {
				return false
			}
			pat, s = pat[1:], s[1:]
		}
	}
	return s == ""
}

// classes are the [:name:] of the C locale.
func class(name string, c byte) bool {
	lower, upper, digit := c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9'
	switch name {
	case "alpha":
		return lower || upper
	case "digit":
		return digit
	case "alnum":
		return lower || upper || digit
	case "lower":
		return lower
	case "upper":
		return upper
	case "word":
		return lower || upper || digit || c == '_'
	case "space":
		return c == ' ' || c >= 9 && c <= 13
	case "blank":
		return c == ' ' || c == '\t'
	case "xdigit":
		return digit || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F'
	case "cntrl":
		return c < 32 || c == 127
	case "print":
		return c >= 32 && c < 127
	case "graph":
		return c > 32 && c < 127
	case "punct":
		return c > 32 && c < 127 && !lower && !upper && !digit
	}
	return false
}

// bracket matches c with the [ … ] in front of pat; ok is false when there is no closing bracket.
func bracket(pat string, c byte) (in bool, rest string, ok bool) {
	i := 1
	not := i < len(pat) && (pat[i] == '!' || pat[i] == '^')
	if not {
		i++
	}
	for first := true; ; first = false {
		if i >= len(pat) {
			return false, "", false
		}
		if pat[i] == ']' && !first {
			return in != not, pat[i+1:], true
		}
		if strings.HasPrefix(pat[i:], "[:") {
			if end := strings.Index(pat[i:], ":]"); end > 0 {
				in = in || class(pat[i+2:i+end], c)
				i += end + 2
				continue
			}
		}
		lo, n := bracketChar(pat[i:])
		i += n
		hi := lo
		if i+1 < len(pat) && pat[i] == '-' && pat[i+1] != ']' {
			hi, n = bracketChar(pat[i+1:])
			i += 1 + n
		}
		in = in || c >= lo && c <= hi
	}
}

func bracketChar(pat string) (byte, int) {
	if pat[0] == '\\' && len(pat) > 1 {
		return pat[1], 2
	}
	return pat[0], 1
}

// alternatives splits X(a|b)rest.
func alternatives(pat string) (alts []string, rest string, ok bool) {
	depth, start := 0, 2
	for i := 2; i < len(pat); i++ {
		switch pat[i] {
		case '\\':
			i++
		case '(':
			depth++
		case ')':
			if depth == 0 {
				return append(alts, pat[start:i]), pat[i+1:], true
			}
			depth--
		case '|':
			if depth == 0 {
				alts = append(alts, pat[start:i])
				start = i + 1
			}
		}
	}
	return nil, "", false
}

func matchAny(alts []string, s string) bool {
	for _, a := range alts {
		if match(a, s) {
			return true
		}
	}
	return false
}

func matchExt(op byte, alts []string, rest, s string) bool {
	if (op == '?' || op == '*') && match(rest, s) {
		return true
	}
	for i := 0; i <= len(s); i++ {
		hit := matchAny(alts, s[:i])
		switch op {
		case '!':
			if !hit && match(rest, s[i:]) {
				return true
			}
		case '@', '?':
			if hit && match(rest, s[i:]) {
				return true
			}
		default: // + and *: one, then any number
			if hit && (match(rest, s[i:]) || i > 0 && matchExt('*', alts, rest, s[i:])) {
				return true
			}
		}
	}
	return false
}
