package lang

import (
	"bytes"
	"io"
	"strings"
	"sync"
	"unicode/utf8"
)

// Bracketed paste (xterm's DECSET 2004): the terminal puts marks around what is pasted. The line editor knows nothing of them, so
// that a pasted function would be cut at its empty lines and its tabs would ask for completion. paste stands before the editor
// and turns what is pasted into one line with joints, as a statement that is recalled from the history is.
//
// The editor draws all it has anew at each key: a function of 100 lines, key by key, was 9 MB and 20 s. So the editor gets a paste, and what
// is typed faster than it reads, as one key (pieceKey), whose text waits in pieces until block takes it.

const (
	pasteOn    = "\x1b[?2004h" // written to the terminal
	pasteOff   = "\x1b[?2004l"
	pasteBegin = "\x1b[200~" // read from it
	pasteEnd   = "\x1b[201~"
)

// paste filters a terminal's input.
type paste struct {
	io.ReadCloser
	rest   []byte // filtered, not yet read
	raw    []byte // read, not yet filtered: the beginning of a mark
	inside bool
	text   []byte // of the paste under way
	escape bool   // the last read may have ended within the bytes of a key

	mu     sync.Mutex // the editor takes pieces in another goroutine
	pieces []string   // one for each pieceKey
}

// pieceKey stands for a piece.
const pieceKey = '\ue00e'

// give adds a piece.
func (p *paste) give(text string) {
	if text == "" {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.pieces = append(p.pieces, text)
	p.rest = append(p.rest, string(pieceKey)...)
}

// piece takes the next piece.
func (p *paste) piece() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.pieces) == 0 {
		return "" // somebody has typed a pieceKey
	}
	text := p.pieces[0]
	p.pieces = p.pieces[1:]
	return text
}

// typed takes keys: those that come together and are signs are a piece. Where a key of several bytes may be among them none are.
func (p *paste) typed(in []byte) {
	escape := p.escape
	if len(in) > 0 {
		p.escape = bytes.IndexByte(in[max(0, len(in)-8):], 0x1b) >= 0
	}
	keys := keysOf(in)
	if escape || bytes.IndexByte(in, 0x1b) >= 0 {
		p.rest = append(p.rest, keys...)
		return
	}
	const least = 4 // signs
	for len(keys) > 0 {
		n := signs(keys)
		if n < least {
			n = max(n, 1)
			p.rest = append(p.rest, keys[:n]...)
		} else {
			p.give(string(keys[:n]))
		}
		keys = keys[n:]
	}
}

// signs is how many bytes at the begin of text are whole signs that stand for themselves.
func signs(text []byte) (n int) {
	for n < len(text) {
		r, size := utf8.DecodeRune(text[n:])
		if r < ' ' || r == 0x7f || r == utf8.RuneError || r >= filler && r <= deleteKey || r == jointRune {
			break
		}
		n += size
	}
	return n
}

// Read implements io.Reader.
func (p *paste) Read(b []byte) (int, error) {
	for len(p.rest) == 0 {
		buf := make([]byte, 4096)
		n, err := p.ReadCloser.Read(buf)
		p.filter(buf[:n])
		if err != nil {
			p.rest = append(p.rest, p.raw...)
			p.raw = nil
			if len(p.rest) == 0 {
				return 0, err
			}
		}
	}
	n := copy(b, p.rest)
	p.rest = p.rest[n:]
	return n, nil
}

// filter takes what was typed or pasted.
func (p *paste) filter(in []byte) {
	in = append(p.raw, in...)
	p.raw = nil
	for len(in) > 0 {
		mark := pasteBegin
		if p.inside {
			mark = pasteEnd
		}
		i := bytes.Index(in, []byte(mark))
		end := len(in)
		if i >= 0 {
			end = i
		} else if held := heldMark(in, mark, p.inside); held > 0 {
			end = len(in) - held
			p.raw = append([]byte(nil), in[end:]...)
		}
		if p.inside {
			p.text = append(p.text, in[:end]...)
		} else {
			p.typed(in[:end])
		}
		if i < 0 {
			return
		}
		if p.inside {
			p.give(joinPaste(string(p.text)))
			p.text = nil
		}
		p.inside = !p.inside
		in = in[i+len(mark):]
	}
}

// keysOf turns keys that the editor does not know, or takes amiss, into ones that it does: Home and End as tmux and the Linux console
// send them; Delete, which would be Ctrl-D and so leave the session on an empty line; and Ctrl-Space, which would be the end of the input.
func keysOf(in []byte) []byte {
	for _, k := range [...][2]string{
		{"\x1b[1~", "\x01"}, {"\x1b[7~", "\x01"}, {"\x1b[4~", "\x05"}, {"\x1b[8~", "\x05"}, {"\x1b[3~", string(deleteKey)}, {"\x00", ""},
	} {
		in = bytes.ReplaceAll(in, []byte(k[0]), []byte(k[1]))
	}
	return in
}

// heldMark is how many bytes at the end of in may be the beginning of a mark. Outside a paste they are more than an escape and a
// bracket, with which arrow keys begin too.
func heldMark(in []byte, mark string, inside bool) int {
	least := 3
	if inside {
		least = 1
	}
	for n := min(len(in), len(mark)-1); n >= least; n-- {
		if strings.HasPrefix(mark, string(in[len(in)-n:])) {
			return n
		}
	}
	return 0
}

// joinPaste makes one line of pasted text. Empty lines within a block go, because they would end it; tabs become blanks.
func joinPaste(text string) string {
	text = strings.NewReplacer("\r\n", "\n", "\r", "\n", "\t", "        ").Replace(text)
	lines := strings.Split(strings.TrimRight(text, "\n "), "\n")
	var out []string
	for i, line := range lines {
		if strings.TrimSpace(line) == "" {
			next := ""
			for _, l := range lines[i+1:] {
				if strings.TrimSpace(l) != "" {
					next = l
					break
				}
			}
			if strings.HasPrefix(next, " ") {
				continue
			}
		}
		out = append(out, strings.TrimRight(line, " "))
	}
	return strings.Join(out, joint)
}
