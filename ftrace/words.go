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

// parseUint is kstrtoul_from_user: a number in the given base, one newline allowed behind it, a plus sign in front.
func parseUint(p []byte, base int) (uint64, error) {
	const limit = 66 // of the copy that Linux makes
	s := string(p[:min(len(p), limit)])
	if i := strings.IndexByte(s, 0); i >= 0 {
		s = s[:i]
	}
	s = strings.TrimSuffix(s, "\n")
	s = strings.TrimPrefix(s, "+")
	if strings.ContainsAny(s, "_+-") {
		return 0, kernel.EINVAL
	}
	n, err := strconv.ParseUint(s, base, 64)
	if err != nil {
		if ne, ok := err.(*strconv.NumError); ok && ne.Err == strconv.ErrRange {
			return 0, kernel.ERANGE
		}
		return 0, kernel.EINVAL
	}
	return n, nil
}
