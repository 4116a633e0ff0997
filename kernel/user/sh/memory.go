package sh

import "mvdan.cc/sh/v3/syntax"

// What a shell holds of the host's memory (see user.Sys.Hold) are its variables and the words of the commands that run. They are
// not counted at each assignment, but summed up whenever measureEvery bytes have been put together.

const (
	measureEvery = 8 << 20
	wordSize     = 80 // of a word or an element of an array, beside its text
)

// grow notes n bytes that have been put together, or are about to be.
func (sh *Shell) grow(n int) {
	if sh.grown += n; sh.grown < measureEvery {
		return
	}
	held := sh.size()
	sh.s.Hold(held + sh.grown - sh.held)
	sh.s.Hold(-sh.grown)
	sh.grown, sh.held = 0, held
}

// collect appends to a text that may have no end.
func (sh *Shell) collect(out, b []byte) []byte {
	sh.grow(2 * len(b))
	if len(out)+len(b) > cap(out) && len(out) > measureEvery {
		sh.s.Room(3 * len(out))
	}
	return append(out, b...)
}

// size is what the variables and arguments take.
func (sh *Shell) size() (n int) {
	for _, v := range sh.vars {
		n += v.size()
	}
	n += wordsSize(sh.args)
	for _, f := range sh.frames {
		n += wordsSize(f.args)
		for _, s := range f.saved {
			n += s.old.size()
		}
	}
	return n
}

func (v *variable) size() int {
	if v == nil {
		return 0
	}
	n := len(v.value) + wordSize
	for _, s := range v.list {
		n += len(s) + wordSize
	}
	for k, s := range v.dict {
		n += len(k) + len(s) + wordSize
	}
	return n
}

func wordsSize(words []string) (n int) {
	for _, w := range words {
		n += len(w) + wordSize
	}
	return n
}

func fragsSize(frags []frag) (n int) {
	for _, f := range frags {
		n += len(f.s) + wordSize
	}
	return n
}

// bracesSize is about what the words of a brace expansion take.
func bracesSize(w *syntax.Word) int {
	const most = 1 << 40
	n := 1
	for _, p := range w.Parts {
		b, ok := p.(*syntax.BraceExp)
		if !ok {
			continue
		}
		elems := 0
		if b.Sequence {
			lo, hi, step, _, _, _ := braceRange(b)
			elems = int(min(uint64(max(lo, hi))-uint64(min(lo, hi)), most))/step + 1
		} else {
			for _, el := range b.Elems {
				elems += bracesSize(el) / braceWord
			}
		}
		n = min(n*max(min(elems, most), 1), most)
	}
	return n * braceWord
}

// braceWord is what one word of a brace expansion takes while it is made.
const braceWord = 3 * wordSize
