package lang

import (
	"bytes"
	"io"
	"slices"
	"strings"
	"sync"

	"github.com/chzyer/readline"
)

// A statement of several lines is edited as such, though the line editor knows one line only: block keeps the whole statement in
// the editor's buffer, its lines apart by joints. Behind a joint stand fillers, up to the end of the screen's row and over the
// prompt of the next line, so that the editor's own wrapping of long lines shows the lines where they belong:
//
//	>>> for t in kernel.tasks():⏎∙∙∙∙∙∙∙∙∙∙∙∙∙∙∙|   ∙ and ...␣ are fillers, shown as blanks and the prompt
//	... ␣   print(t)
//
// block is the editor's listener: behind each key it takes the fillers out, and puts them where they belong now. As the editor's filter
// it gives keys another meaning: Enter begins a new line while the statement is open or the cursor is not in its last line, the
// arrows go up and down within a block before they go through the history.
//
// It is the editor's gatekeeper as well. The editor handles keys in a goroutine of its own, without a lock: those typed ahead of a prompt while
// the session's goroutine draws the prompt, and what is left to do behind an Enter while the session runs the statement. So the
// filter, which sees each key first, waits until a prompt has been drawn, and the session waits until an Enter has been dealt with.
type block struct {
	mu    sync.Mutex // the editor calls from two goroutines
	drawn sync.Cond  // on mu, of prompt
	ended chan bool  // an Enter or Ctrl-C has been dealt with
	ed    *readline.Instance
	width func() int
	piece func() string // what a pieceKey stands for

	first      int    // how wide the prompt is
	more       []rune // the prompt of further lines
	unfinished func(src string) bool

	line  []rune // without fillers, as of the last key
	pos   int
	whole bool // recalled or pasted: an Enter in its last line runs it

	prompt promptState

	history []string // not yet the editor's: its own goroutine alone may touch that
	past    []string // all of it
	search  *search  // nil: none is under way
	sought  []rune   // what the one before looked for
	indent  int      // blanks that a Tab begins a further line with; 0: it completes there too

	next    []rune // what the key under way makes of line, when that is no business of the editor's
	nextPos int
	change  bool
}

// Fillers are private runes of Unicode; those from fillerPrompt on are the prompt "... ".
const (
	filler       = '\ue000'
	fillerPrompt = '\ue001'
	lastFiller   = fillerPrompt + maxMore - 1
	maxMore      = 13
)

// promptState is how far the session's goroutine has got with a prompt.
type promptState int

const (
	promptNone    promptState = iota // a statement runs
	promptAsked                      // Readline was called
	promptPainted                    // what it writes next is the prompt
	promptDrawn                      // keys are welcome
)

func newBlock(width func() int, more string, unfinished func(src string) bool) *block {
	runes := []rune(more)
	b := &block{width: width, more: runes[:min(len(runes), maxMore)], unfinished: unfinished, ended: make(chan bool, 1)}
	b.drawn.L = &b.mu
	return b
}

// readline reads a line by the editor.
func (b *block) readline(prompt string) (string, error) {
	b.mu.Lock()
	var runes readline.Runes
	b.first = runes.WidthAll(runes.ColorFilter([]rune(prompt)))
	b.mu.Unlock()
	b.ed.SetPrompt(prompt)
	line, err := b.ed.Readline()
	if err == nil || err == readline.ErrInterrupt {
		<-b.ended
	}
	text, _ := plain([]rune(line), 0)
	return string(text), err
}

// wrote is called when something was written to the screen.
func (b *block) wrote() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.prompt == promptPainted {
		b.prompt = promptDrawn
		b.drawn.Broadcast()
	}
}

// deleteKey is the key Delete (keysOf).
const deleteKey = '\ue00f'

func isFiller(r rune) bool { return r >= filler && r <= lastFiller }

var jointRune = []rune(joint)[0]

// plain is a line without fillers, and where the cursor is in it.
func plain(line []rune, pos int) ([]rune, int) {
	var out []rune
	at := 0
	for i, r := range line {
		if isFiller(r) {
			continue
		}
		if i < pos {
			at++
		}
		out = append(out, r)
	}
	return out, at
}

// padded is a line with its fillers.
func (b *block) padded(line []rune, pos, width int) ([]rune, int) {
	var out []rune
	at := 0
	for i, r := range line {
		if i == pos {
			at = len(out)
		}
		if out = append(out, r); r != jointRune {
			continue
		}
		for (b.first+len(out))%width != 0 {
			out = append(out, filler)
		}
		for i := range b.more {
			out = append(out, fillerPrompt+rune(i))
		}
	}
	if pos >= len(line) {
		at = len(out)
	}
	return out, at
}

// below adds a row without a prompt.
func (b *block) below(line, text []rune, width int) []rune {
	line = append(line, filler) // as a joint would be
	for (b.first+len(line))%width != 0 {
		line = append(line, filler)
	}
	return append(line, text[:min(len(text), width-1)]...)
}

// Paint implements readline.Painter: fillers are what they stand for.
func (b *block) Paint(line []rune, _ int) []rune {
	b.mu.Lock()
	if b.prompt == promptAsked {
		b.prompt = promptPainted
	}
	b.mu.Unlock()
	return b.painted(line)
}

func (b *block) painted(line []rune) []rune {
	out := slices.Clone(line)
	for i, r := range line {
		switch {
		case r == filler || r == jointRune && i+1 < len(line) && isFiller(line[i+1]):
			out[i] = ' '
		case isFiller(r):
			out[i] = b.more[r-fillerPrompt]
		}
	}
	return out
}

// OnChange implements readline.Listener: it is called behind each key, and before the first with nothing.
func (b *block) OnChange(line []rune, pos int, key rune) ([]rune, int, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch key {
	case 0:
		b.line, b.pos, b.whole, b.change = nil, 0, false, false
		b.prompt = promptAsked
		return nil, 0, false
	case readline.CharEnter, readline.CharCtrlJ, readline.CharInterrupt: // Readline has returned
		b.line, b.pos, b.change = nil, 0, false
		b.prompt = promptNone
		b.ended <- true
		return nil, 0, false
	}
	switch {
	case b.change:
		b.line, b.pos = b.next, b.nextPos
	default:
		inside := pos < len(line) && isFiller(line[pos])
		if b.line, b.pos = plain(line, pos); inside && key == readline.CharBackward {
			b.pos-- // from a line's begin to the end of the one before
		}
	}
	b.change = false
	width := max(b.width(), 20)
	want, at := b.padded(b.line, b.pos, width)
	if b.search != nil {
		want = b.below(want, b.search.label(), width)
	}
	if at == pos && slices.Equal(want, line) {
		return nil, 0, false
	}
	return want, at, true
}

// remember puts a statement into the editor's history.
func (b *block) remember(line string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.history, b.past = append(b.history, line), append(b.past, line)
}

// filter implements readline's FuncFilterInputRune.
func (b *block) filter(r rune) (rune, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for b.prompt != promptDrawn {
		b.drawn.Wait()
	}
	for _, line := range b.history {
		b.ed.SaveHistory(line)
	}
	b.history = nil
	op := b.ed.Operation
	if (r == readline.CharInterrupt || r == readline.CharKill) && op.IsInCompleteMode() {
		op.ExitCompleteMode(true) // and on with the line itself
	}
	if b.search != nil {
		return b.searching(r)
	}
	if r == pieceKey && op.IsInCompleteMode() {
		op.ExitCompleteMode(true)
	}
	if op.IsInCompleteSelectMode() {
		if r == readline.CharTranspose || r == readline.MetaTranspose {
			r = readline.CharLineEnd // the editor's own leaves its line
		}
		return r, true
	}
	from, to := b.row(b.pos)
	switch r {
	case deleteKey:
		return b.edit(slices.Delete(slices.Clone(b.line), b.pos, min(b.pos+1, len(b.line))), b.pos)
	case readline.CharTranspose, readline.MetaTranspose:
		line, p := slices.Clone(b.line), min(b.pos, len(b.line)-1)
		if p < 1 {
			return b.edit(line, b.pos)
		}
		line[p-1], line[p] = line[p], line[p-1]
		return b.edit(line, p+1)
	case readline.CharCtrlW: // up to a blank, as in bash; the editor's own stops at each sign
		p := wordBegin(b.line, from, b.pos)
		return b.edit(slices.Delete(slices.Clone(b.line), p, b.pos), p)
	case pieceKey:
		text := []rune(b.piece())
		b.whole = b.whole || slices.Contains(text, jointRune)
		return b.edit(slices.Insert(slices.Clone(b.line), b.pos, text...), b.pos+len(text))
	case jointRune:
		b.whole = true
	case readline.CharEnter, readline.CharCtrlJ:
		if to == len(b.line) && (b.whole || !b.unfinished(strings.ReplaceAll(string(b.line), joint, "\n"))) {
			return r, true
		}
		b.ed.Terminal.KickRead() // which the editor does when it has taken an Enter
		return b.edit(slices.Insert(slices.Clone(b.line), b.pos, jointRune), b.pos+1)
	case readline.CharPrev:
		if b.whole = true; from > 0 {
			start, _ := b.row(from - 1)
			return b.edit(b.line, min(start+b.pos-from, from-1))
		}
	case readline.CharNext:
		if b.whole = true; to < len(b.line) {
			_, end := b.row(to + 1)
			return b.edit(b.line, min(to+1+b.pos-from, end))
		}
	case readline.CharBckSearch, readline.CharFwdSearch:
		return b.startSearch()
	case readline.CharTab:
		if n := b.blanks(from); b.indent > 0 && n >= 0 {
			more := b.indent - n%b.indent
			return b.edit(slices.Insert(slices.Clone(b.line), b.pos, []rune(strings.Repeat(" ", more))...), b.pos+more)
		}
	}
	if from == 0 && to == len(b.line) {
		return r, true // a statement of one line is the editor's
	}
	return b.within(r, from, to)
}

// within takes a key in the line from:to of a statement of several.
func (b *block) within(r rune, from, to int) (rune, bool) {
	switch r {
	case readline.CharLineStart:
		return b.edit(b.line, from)
	case readline.CharLineEnd:
		return b.edit(b.line, to)
	case readline.CharKill:
		return b.edit(slices.Delete(slices.Clone(b.line), b.pos, to), b.pos)
	case readline.CharCtrlU:
		return b.edit(slices.Delete(slices.Clone(b.line), from, b.pos), from)
	case readline.CharBackspace, readline.CharCtrlH:
		if n := b.blanks(from); b.indent > 0 && n > 0 {
			less := (n-1)%b.indent + 1
			return b.edit(slices.Delete(slices.Clone(b.line), b.pos-less, b.pos), b.pos-less)
		}
		if b.pos == from && from > 0 {
			return b.edit(slices.Delete(slices.Clone(b.line), from-1, from), from-1)
		}
	}
	return r, true
}

// wordBegin is where the word before pos begins, in a row that begins at from.
func wordBegin(line []rune, from, pos int) int {
	for pos > from && line[pos-1] == ' ' {
		pos--
	}
	for pos > from && line[pos-1] != ' ' {
		pos--
	}
	return pos
}

// blanks are how many blanks, and nothing else, a further line of a statement has before the cursor; -1: it has more.
func (b *block) blanks(from int) int {
	for _, r := range b.line[from:b.pos] {
		if r != ' ' {
			return -1
		}
	}
	if from == 0 {
		return -1
	}
	return b.pos - from
}

// row is where the line that holds pos begins and ends.
func (b *block) row(pos int) (from, to int) {
	for from = pos; from > 0 && b.line[from-1] != jointRune; {
		from--
	}
	for to = pos; to < len(b.line) && b.line[to] != jointRune; {
		to++
	}
	return from, to
}

// edit has OnChange make line of what there is, behind a key that does nothing of note.
func (b *block) edit(line []rune, pos int) (rune, bool) {
	b.next, b.nextPos, b.change = line, pos, true
	return readline.CharLineEnd, true
}

// rewrap is the screen as the editor takes it to be: where a backspace at the begin of a row does nothing. tmux and others go to the
// row before, if that was wrapped, and the editor's own step up would be one too many.
type rewrap struct {
	io.Writer
	b *block
}

func (r rewrap) Write(b []byte) (int, error) {
	_, err := r.Writer.Write(bytes.ReplaceAll(b, []byte("\b\x1b[A\r"), []byte("\x1b[A\r")))
	r.b.wrote()
	return len(b), err
}

// unfinished tells that more lines of a statement are to come: that it is open, and no empty line ends it.
func unfinished(src string) bool {
	text := strings.TrimSpace(src)
	if text == "" || text[0] == '#' || text[0] == '%' || text[0] == '!' {
		return false
	}
	if i := strings.LastIndexByte(src, '\n'); i >= 0 && strings.TrimSpace(src[i:]) == "" {
		open := scanOpen(src[:i])
		return len(open.quote) == 3
	}
	return !complete(src)
}
