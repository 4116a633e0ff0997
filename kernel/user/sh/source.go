package sh

import (
	"io"
	"iter"
	"regexp"
	"strings"
	"unicode/utf8"

	"mvdan.cc/sh/v3/syntax"
)

// The parser knows UTF-8 alone, and one ! in front of a pipeline. bash takes any bytes and any number of them, so a text is
// changed before it is parsed: a byte that is no UTF-8 stands as a private character, which decode takes out of the tree and of
// what is printed of the text; and "! !" is blanked.

// byteRune is the private character (of plane 16) of byte 0.
const byteRune = 0x10f700

// encode makes UTF-8 of a text of any bytes.
func encode(text string) string {
	if utf8.ValidString(text) {
		return text
	}
	var b strings.Builder
	for len(text) > 0 {
		r, n := utf8.DecodeRuneInString(text)
		if r == utf8.RuneError && n == 1 {
			r = byteRune + rune(text[0])
		}
		b.WriteRune(r)
		text = text[n:]
	}
	return b.String()
}

// decode gives the bytes back.
func decode(text string) string {
	if !strings.Contains(text, "\xf4\x8f") {
		return text
	}
	var b strings.Builder
	for _, r := range text {
		if r >= byteRune+0x80 && r <= byteRune+0xff {
			b.WriteByte(byte(r - byteRune))
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// decodeTree decodes what a node holds.
func decodeTree(n syntax.Node) {
	syntax.Walk(n, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.Lit:
			n.Value = decode(n.Value)
		case *syntax.SglQuoted:
			n.Value = decode(n.Value)
		}
		return true
	})
}

func newParser() *syntax.Parser { return syntax.NewParser(syntax.Variant(syntax.LangBash)) }

var twoNots = regexp.MustCompile(`![ \t]+!`)

// nots blanks each "! !" that the parser stumbles over: together they do nothing, in bash too.
func nots(src string) string {
	if !twoNots.MatchString(src) {
		return src
	}
	text := []byte(src)
	for range 1000 {
		_, err := newParser().Parse(strings.NewReader(string(text)), "")
		e, ok := err.(syntax.ParseError)
		if !ok {
			break
		}
		from := min(int(e.Pos.Offset()), len(text))
		m := twoNots.FindIndex(text[from:])
		if m == nil || m[0] != 0 || !strings.Contains(e.Text, "negate") {
			break
		}
		for i := from + m[0]; i < from+m[1]; i++ {
			text[i] = ' '
		}
	}
	return string(text)
}

// prepare is a text as the parser gets it.
func prepare(text string) string { return nots(encode(text)) }

// statements parses text line by line, as bash does, so that what stands before an error is executed.
func statements(p *syntax.Parser, src io.Reader) iter.Seq2[[]*syntax.Stmt, error] {
	return func(yield func([]*syntax.Stmt, error) bool) {
		for list, err := range p.InteractiveSeq(src) {
			if err == nil && !p.Incomplete() {
				for _, st := range list {
					decodeTree(st)
				}
			}
			if !yield(list, err) {
				return
			}
		}
	}
}
