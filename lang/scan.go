package lang

import (
	"slices"
	"strings"
)

// scan is what a statement read so far leaves open. A session needs it to know whether more lines follow, and completion to
// know what the cursor is in; the real scanner of starlark-go can be asked neither.
type scan struct {
	src    string
	opens  []open // brackets not yet closed, outermost first
	quote  string // the delimiter of an unclosed string, or ""
	text   int    // where the unclosed string's text begins
	joined bool   // the last line ends in a backslash
}

// open is an unclosed bracket.
type open struct {
	at   int // its offset
	args int // commas seen directly inside
	arg  int // where the current argument begins
}

// scanOpen reads src to its end.
func scanOpen(src string) scan {
	s := scan{src: src}
	for i := 0; i < len(src); {
		i = s.step(i)
	}
	s.joined = s.quote == "" && strings.HasSuffix(strings.TrimRight(src, "\n"), "\\")
	return s
}

// step consumes what begins at i and returns where to go on.
func (s *scan) step(i int) int {
	switch c := s.src[i]; c {
	case '#':
		if n := strings.IndexByte(s.src[i:], '\n'); n >= 0 {
			return i + n
		}
		return len(s.src)
	case '"', '\'':
		return s.stringAt(i)
	case '(', '[', '{':
		s.opens = append(s.opens, open{at: i, arg: i + 1})
	case ')', ']', '}':
		if n := len(s.opens); n > 0 {
			s.opens = s.opens[:n-1]
		}
	case ',':
		if n := len(s.opens); n > 0 {
			s.opens[n-1].args++
			s.opens[n-1].arg = i + 1
		}
	}
	return i + 1
}

// stringAt skips the string literal at i. When it does not end, s.quote says so: a short string ends with its line.
func (s *scan) stringAt(i int) int {
	quote := s.src[i : i+1]
	if strings.HasPrefix(s.src[i:], strings.Repeat(quote, 3)) {
		quote = s.src[i : i+3]
	}
	for j := i + len(quote); j < len(s.src); j++ {
		switch {
		case s.src[j] == '\\':
			j++
		case strings.HasPrefix(s.src[j:], quote):
			return j + len(quote)
		case s.src[j] == '\n' && len(quote) == 1:
			return j
		}
	}
	s.quote, s.text = quote, i+len(quote)
	return len(s.src)
}

// complete tells whether the lines read so far are a whole statement that needs no more lines.
func complete(src string) bool {
	s := scanOpen(src)
	if len(s.quote) == 3 || len(s.opens) > 0 || s.joined {
		return false
	}
	return !compound(src)
}

// compound tells whether the statement has a block, so that only an empty line or the next statement ends it.
func compound(src string) bool {
	word, _ := leadingWord(src)
	switch word {
	case "def", "if", "for", "while":
		return true
	}
	return false
}

// foreign tells that a line begins a block of Python's that there is none of here.
func foreign(line string) bool {
	word, _ := leadingWord(line)
	return strings.HasSuffix(strings.TrimSpace(line), ":") && slices.Contains([]string{"try", "class", "with", "match", "async"}, word)
}

// continues tells whether a line at column 0 still belongs to the block before it.
func continues(line string) bool {
	word, _ := leadingWord(line)
	return word == "else" || word == "elif" || line == "" ||
		line[0] == ' ' || line[0] == '\t' || line[0] == '#' || line[0] == ')' || line[0] == ']' || line[0] == '}'
}

// leadingWord splits off the identifier that a line begins with.
func leadingWord(line string) (word, rest string) {
	i := 0
	for i < len(line) && isIdent(line[i]) {
		i++
	}
	return line[:i], line[i:]
}

func isIdent(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80
}
