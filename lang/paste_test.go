package lang

import (
	"bytes"
	"io"
	"strings"
	"testing"
)

// chunks is input that comes in pieces.
type chunks struct{ list []string }

func (c *chunks) Read(b []byte) (int, error) {
	if len(c.list) == 0 {
		return 0, io.EOF
	}
	n := copy(b, c.list[0])
	c.list = c.list[1:]
	return n, nil
}
func (c *chunks) Close() error { return nil }

// cutsBegin tells that pieces of this size cut a beginning mark behind its first or second byte.
func cutsBegin(in string, size int) bool {
	for i := range in {
		if strings.HasPrefix(in[i:], pasteBegin) && ((i+1)%size == 0 || (i+2)%size == 0) {
			return true
		}
	}
	return false
}

func TestPaste(t *testing.T) {
	const block = "def f(x):\r\n\r\n\tif x:\r\n\r\n\t\treturn 1\r\n\r\nf(1)\r\n"
	joined := "def f(x):" + joint + "        if x:" + joint + "                return 1" + joint + joint + "f(1)"
	for _, c := range []struct{ in, want string }{
		{"typed\r", "typed\r"},
		{pasteBegin + "one" + pasteEnd + "\r", "one\r"},
		{"a" + pasteBegin + block + pasteEnd + "b", "a" + joined + "b"},
		{"\x1b[A\x1b[2~\x1b", "\x1b[A\x1b[2~\x1b"},
		{pasteBegin + "x\ny" + pasteEnd + pasteBegin + "z\n" + pasteEnd, "x" + joint + "yz"},
	} {
		for size := 1; size <= len(c.in); size++ {
			var pieces []string
			for i := 0; i < len(c.in); i += size {
				pieces = append(pieces, c.in[i:min(len(c.in), i+size)])
			}
			if cutsBegin(c.in, size) {
				continue // a mark that begins with a lone escape is a person's key
			}
			p := &paste{ReadCloser: &chunks{pieces}}
			got, err := io.ReadAll(p)
			for bytes.ContainsRune(got, pieceKey) {
				got = bytes.Replace(got, []byte(string(pieceKey)), []byte(p.piece()), 1)
			}
			if string(got) != c.want || err != nil {
				t.Errorf("%q by %d: %q %v, want %q", c.in, size, got, err, c.want)
				break
			}
		}
	}
}

// A paste costs what it has, not its square: 300 lines are there at once.
func TestLongPaste(t *testing.T) {
	for _, mark := range []string{pasteBegin, ""} {
		text := "def f():\n" + strings.Repeat("    x = 1\n", 300) + "    return 42\n"
		end := pasteEnd + "\r"
		if mark == "" {
			text, end = "x = ["+strings.Repeat("1, ", 1300)+"]; f = lambda: 42", "\r"
		}
		term, done := session(t, Config{}, nil, "")
		term.wait(t, promptFirst)
		term.typ(mark + text + end)
		term.typ("print('f is', f())\r")
		term.wait(t, "f is 42")
		term.typ("\x04")
		<-done
		term.mu.Lock() // readline's goroutine may still draw
		n := term.n
		term.mu.Unlock()
		if n > 1<<18 {
			t.Errorf("%d bytes are shown", n)
		}
	}
}

// A prompt does not hide what was printed without the end of its line.
func TestFreshLine(t *testing.T) {
	term, done := session(t, Config{}, nil, "")
	term.wait(t, promptFirst)
	term.typ("printf('ab%s', 'c')\r")
	term.wait(t, "\nabc\n")
	term.wait(t, promptFirst)
	term.typ("printf('x'); fail('no')\r")
	term.wait(t, "\nx\nerror: ")
	term.typ("\x04")
	<-done
}

// A pasted function with empty lines, and what follows it, runs at one Enter.
func TestSessionPaste(t *testing.T) {
	term, done := session(t, Config{}, nil, "")
	term.wait(t, ">>> ")
	term.typ(pasteBegin + "def f(x):\n\n    y = x + 1\n\n    return y\n\nf(41)\n" + pasteEnd)
	term.typ("\r")
	term.wait(t, "\n42\n")
	term.typ("\x04")
	<-done
}
