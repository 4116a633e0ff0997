package lang

import (
	"io"
	"strings"
	"testing"
)

// FuzzSession: whatever is typed, a session neither panics nor hangs, and the scanner agrees that its statements end.
func FuzzSession(f *testing.F) {
	for _, s := range []string{
		"1+1\n_", "def f(x):\n  return f(x)\nf(1)\n", "x = [1,\n2]\n", "\"\"\"a\nb\"\"\"", "while True: pass\n\n",
		"printf('%*d', 99, 1)", "re('(').match('x')", "help?\nx?\n?", "load('a', 'b')", "table([[1],[2,3]])", "\\\n\\", "if", "(\x00",
		"attempt(attempt, attempt)", "sprintf('%s%r%v%c%p%x', 1, 2, 3, 4, 5, 6)", "json.decode('[')", "test.eq([], {})", "'\xff'", "x = '⏎'",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, src string) {
		if strings.Contains(src, "load") || strings.Contains(src, "*") && len(src) > 200 {
			return // files of the host; numbers that grow without steps
		}
		h := New(Config{MaxSteps: 5000})
		s := &Session{Host: h, In: io.NopCloser(strings.NewReader(src)), Out: io.Discard, Echo: true}
		s.Run()
		h.Complete(src, h.env)
	})
}
