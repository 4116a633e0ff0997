package lang

import (
	"slices"
	"strings"

	"github.com/chzyer/readline"
)

// search is a look through the history under way: Ctrl-R back, Ctrl-S forth, as in bash. The line editor's own knows lines only, leaves
// its own on the screen and fails without a history, so block has one: all keys come to it, and the editor is only told what to show,
// the statement that was found with what is looked for below it.
type search struct {
	text   []rune
	at     int // of block.past; its length: none yet
	failed bool
	saved  []rune // what was being typed
	pos    int
}

// label is shown below the statement.
func (s *search) label() []rune {
	if s.failed {
		return []rune("no statement has: " + string(s.text))
	}
	return []rune("search: " + string(s.text))
}

// startSearch begins to look.
func (b *block) startSearch() (rune, bool) {
	b.search = &search{at: len(b.past), saved: slices.Clone(b.line), pos: b.pos}
	return b.edit(b.line, b.pos)
}

// look finds the next statement with the text from entry at on, in steps of by; but not what is shown already.
func (b *block) look(at, by int) (rune, bool) {
	s := b.search
	if s.failed = false; len(s.text) == 0 {
		s.at = len(b.past)
		return b.edit(s.saved, s.pos)
	}
	for ; at >= 0 && at < len(b.past); at += by {
		line := []rune(b.past[at])
		if i := runesIndex(line, s.text); i >= 0 && (at == s.at || !slices.Equal(line, b.line)) {
			s.at = at
			return b.edit(line, i)
		}
	}
	s.failed = true
	return b.edit(b.line, b.pos)
}

// runesIndex is where a text begins in a line, -1: nowhere.
func runesIndex(line, text []rune) int {
	before, _, ok := strings.Cut(string(line), string(text))
	if !ok {
		return -1
	}
	return len([]rune(before))
}

// searching takes a key while a search is under way. b.mu is held.
func (b *block) searching(r rune) (rune, bool) {
	s := b.search
	switch r {
	case readline.CharBckSearch, readline.CharFwdSearch:
		by := -1
		if r == readline.CharFwdSearch {
			by = 1
		}
		if len(s.text) == 0 {
			s.text = slices.Clone(b.sought)
		}
		return b.look(s.at+by, by)
	case readline.CharBackspace, readline.CharCtrlH:
		s.text = s.text[:max(0, len(s.text)-1)]
		return b.look(len(b.past)-1, -1)
	case readline.CharBell:
		b.search = nil
		return b.edit(s.saved, s.pos)
	case readline.CharInterrupt:
		b.endSearch(s.saved)
		return r, true
	case readline.CharEnter, readline.CharCtrlJ:
		b.endSearch(b.line)
		return r, true
	}
	more := []rune{r}
	if r == pieceKey {
		more = []rune(b.piece())
	} else if r < ' ' || r >= filler && r <= deleteKey || r == jointRune { // another key ends it; the statement is there to be edited
		b.sought, b.search, b.whole = s.text, nil, true
		from, to := b.row(b.pos)
		switch r {
		case readline.CharLineStart:
			return b.edit(b.line, from)
		case readline.CharLineEnd:
			return b.edit(b.line, to)
		case readline.CharDelete:
			b.ed.Terminal.KickRead() // the terminal waits behind it, as behind an Enter
		}
		return b.edit(b.line, b.pos)
	}
	s.text = append(s.text, more...)
	if s.at == len(b.past) {
		return b.look(len(b.past)-1, -1)
	}
	return b.look(s.at, -1)
}

// endSearch leaves the editor with a line, for a key that is its own.
func (b *block) endSearch(line []rune) {
	b.sought, b.search, b.whole = b.search.text, nil, true
	b.line, b.pos, b.change = slices.Clone(line), len(line), false
	want, _ := b.padded(b.line, b.pos, max(b.width(), 20))
	b.mu.Unlock() // the editor paints, and writes
	b.ed.Operation.SetBuffer(string(want))
	b.mu.Lock()
}
