package ftrace

import (
	"strconv"
	"strings"

	"kscope/kernel"
)

// words splits what is written to a file into blank-separated words, over several writes: the last word of a write is
// kept until a blank follows or the file is closed. See trace_get_user in kernel/trace/trace.c.
type words struct {
	buf []byte
}

// maxWord is the longest word (FTRACE_BUFF_MAX - 2: the longest symbol with module and offset).
const maxWord = 660

// write calls f for each whole word. It stops at the first error, as Linux does: what came before has happened.
func (w *words) write(p []byte, f func(word string) error) error {
	for _, c := range p {
		if c != 0 && !isSpace(c) {
			if len(w.buf) == maxWord {
				w.buf = w.buf[:0]
				return kernel.EINVAL
			}
			w.buf = append(w.buf, c)
			continue
		}
		if len(w.buf) > 0 {
			word := string(w.buf)
			w.buf = w.buf[:0]
			if err := f(word); err != nil {
				return err
			}
		}
	}
	return nil
}

// rest is the word that was not finished.
func (w *words) rest() string {
	s := string(w.buf)
	w.buf = w.buf[:0]
	return s
}

// isSpace is the kernel's isspace.
func isSpace(c byte) bool { return c == ' ' || c >= 9 && c <= 13 || c == 0xa0 }

// parseUint is kstrtoul_from_user: kstrtoul of what stands before a NUL.
func parseUint(p []byte, base int) (uint64, error) {
	const limit = 66 // of the copy that Linux makes
	return kstrtoul(untilNul(p[:min(len(p), limit)]), base)
}

// untilNul is what the kernel takes for the string in written bytes: it ends at the first NUL.
func untilNul(p []byte) string { return string(p[:nul(p)]) }

// simpleStrtoul reads the number that s begins with, in octal behind a 0 and hexadecimal behind 0x; 0 when there is none. What does not
// fit is lost.
func simpleStrtoul(s string) (n uint64) {
	base := uint64(10)
	if len(s) > 2 && s[0] == '0' && s[1]|0x20 == 'x' && isHex(s[2]) {
		s, base = s[2:], 16
	} else if s != "" && s[0] == '0' {
		base = 8
	}
	for i := range len(s) {
		d, err := strconv.ParseUint(s[i:i+1], int(base), 8)
		if err != nil {
			break
		}
		n = n*base + d
	}
	return n
}

// stripEnd is what strstrip leaves of a text whose beginning is still used: the blanks in front stay.
func stripEnd(s string) string { return strings.TrimRight(s, " \t\n\v\f\r") }

// kstrtoul reads a number as Linux's does: in the given base, or with base 0 in octal behind a 0 and hexadecimal behind 0x; a plus sign
// may stand in front, one newline behind. EINVAL when it is none, ERANGE when it does not fit.
func kstrtoul(s string, base int) (uint64, error) {
	s = strings.TrimPrefix(strings.TrimSuffix(s, "\n"), "+")
	if base == 0 {
		base = 10
		if len(s) > 2 && s[0] == '0' && s[1]|0x20 == 'x' {
			s, base = s[2:], 16
		} else if s != "" && s[0] == '0' {
			base = 8
		}
	}
	n, err := strconv.ParseUint(s, base, 64)
	if ne, ok := err.(*strconv.NumError); ok && ne.Err == strconv.ErrRange {
		return 0, kernel.ERANGE
	} else if err != nil {
		return 0, kernel.EINVAL
	}
	return n, nil
}
