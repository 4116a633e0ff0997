package sh

import (
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"kscope/kernel/user"
)

// frag is a piece of a word after expansion.
type frag struct {
	s      string
	quoted bool // its characters are no patterns and never split
	split  bool // the result of an expansion: IFS splits it
	brk    bool // no text: here one field ends and the next begins ("$@")
}

// fields expands words to the arguments of a command: braces, then everything else, splitting, and file names.
func (sh *Shell) fields(words ...*syntax.Word) []string {
	var out []string
	for _, w := range words {
		if lit, ok := plainWord(w); ok {
			out = append(out, lit)
			continue
		}
		for _, b := range sh.braces(w) {
			frags := sh.frags(b)
			sh.grow(fragsSize(frags))
			for _, f := range sh.splitFrags(frags) {
				out = append(out, sh.glob(f)...)
			}
		}
	}
	return out
}

// plainWord is a word of ordinary letters, the usual case.
func plainWord(w *syntax.Word) (string, bool) {
	if len(w.Parts) != 1 {
		return "", false
	}
	lit, ok := w.Parts[0].(*syntax.Lit)
	if !ok || strings.ContainsAny(lit.Value, "\\~{*?[") {
		return "", false
	}
	return lit.Value, true
}

// frags expands a word's parts, with a tilde in front.
func (sh *Shell) frags(w *syntax.Word) []frag {
	parts := w.Parts
	var out []frag
	if len(parts) > 0 {
		if lit, ok := parts[0].(*syntax.Lit); ok && strings.HasPrefix(lit.Value, "~") {
			home, rest, ok := sh.tilde(lit.Value, len(parts) == 1, "/")
			if ok {
				out = append(out, frag{s: home, quoted: true})
				out = append(out, litFrags(rest)...)
				parts = parts[1:]
			}
		} else if ok {
			if name, value, isAssign := strings.Cut(lit.Value, "="); isAssign && strings.HasPrefix(value, "~") && syntax.ValidName(name) {
				if home, rest, ok := sh.tilde(value, len(parts) == 1, "/:"); ok { // words like dd's if=~/x
					out = append(out, frag{s: name + "=" + home, quoted: true})
					out = append(out, litFrags(rest)...)
					parts = parts[1:]
				}
			}
		}
	}
	for _, p := range parts {
		out = append(out, sh.part(p)...)
	}
	return out
}

// tilde expands ~ and ~user at the start of text up to one of the characters of ends.
func (sh *Shell) tilde(text string, whole bool, ends string) (home, rest string, ok bool) {
	name := text[1:]
	if i := strings.IndexAny(name, ends); i >= 0 {
		name, rest = name[:i], name[i:]
	} else if !whole {
		return "", "", false
	}
	switch name {
	case "":
		home, ok = sh.lookup("HOME")
		if !ok {
			home, ok = "/root", true
		}
	case "+":
		home, ok = sh.lookup("PWD")
	case "-":
		home, ok = sh.lookup("OLDPWD")
	default:
		home, ok = sh.homeOf(name)
	}
	return home, rest, ok
}

// homeOf reads a user's directory from /etc/passwd.
func (sh *Shell) homeOf(user string) (string, bool) {
	if strings.ContainsAny(user, `\"'$`) {
		return "", false
	}
	text, _ := sh.readFile("/etc/passwd")
	for _, line := range strings.Split(text, "\n") {
		if f := strings.Split(line, ":"); len(f) > 5 && f[0] == user {
			return f[5], true
		}
	}
	return "", false
}

// litFrags takes an unquoted literal's backslashes out; what they quote is a fragment of its own.
func litFrags(s string) (out []frag) {
	for {
		i := strings.IndexByte(s, '\\')
		if i < 0 || i+1 >= len(s) {
			if s != "" {
				out = append(out, frag{s: s})
			}
			return out
		}
		if i > 0 {
			out = append(out, frag{s: s[:i]})
		}
		if s[i+1] != '\n' {
			out = append(out, frag{s: s[i+1 : i+2], quoted: true})
		}
		s = s[i+2:]
	}
}

// part expands one part of an unquoted word.
func (sh *Shell) part(p syntax.WordPart) []frag {
	switch p := p.(type) {
	case *syntax.Lit:
		return litFrags(p.Value)
	case *syntax.SglQuoted:
		if p.Dollar {
			return []frag{{s: ansiC(p.Value), quoted: true}}
		}
		return []frag{{s: p.Value, quoted: true}}
	case *syntax.DblQuoted:
		return sh.quotedParts(p.Parts, false)
	case *syntax.ParamExp:
		return sh.param(p, false)
	case *syntax.CmdSubst:
		return []frag{{s: sh.capture(p.Stmts), split: true}}
	case *syntax.ArithmExp:
		return []frag{{s: strconv.FormatInt(sh.arithTop(p.X), 10), split: true}}
	case *syntax.ProcSubst:
		return []frag{{s: sh.procSubst(p), quoted: true}}
	case *syntax.ExtGlob:
		return []frag{{s: p.Op.String() + p.Pattern.Value + ")"}}
	}
	sh.errorf("%s: not supported", strings.TrimPrefix(sprintf("%T", p), "*syntax."))
	panic(abort{2, false})
}

// quotedParts expands what stands in double quotes or a here-document.
func (sh *Shell) quotedParts(parts []syntax.WordPart, here bool) []frag {
	var out []frag
	list := false // an empty "$@" makes no field
	for _, p := range parts {
		switch p := p.(type) {
		case *syntax.Lit:
			out = append(out, frag{s: unescapeQuoted(p.Value, here), quoted: true})
		case *syntax.ParamExp:
			fs := sh.param(p, true)
			list = list || len(fs) == 0
			out = append(out, fs...)
		case *syntax.CmdSubst:
			out = append(out, frag{s: sh.capture(p.Stmts), quoted: true})
		case *syntax.ArithmExp:
			out = append(out, frag{s: strconv.FormatInt(sh.arithTop(p.X), 10), quoted: true})
		default:
			for _, f := range sh.part(p) {
				f.quoted, f.split = true, false
				out = append(out, f)
			}
		}
	}
	if len(out) == 0 && !list {
		out = []frag{{quoted: true}}
	}
	return out
}

// unescapeQuoted takes the backslashes out that count in double quotes; in a here-document \" stays.
func unescapeQuoted(s string, here bool) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) {
			switch c := s[i+1]; {
			case c == '\n':
				i++
				continue
			case c == '$' || c == '`' || c == '\\' || c == '"' && !here:
				i++
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// field is one word for a command, still as fragments.
type field []frag

// splitFrags cuts fragments into fields at IFS and at the breaks of "$@".
func (sh *Shell) splitFrags(frags []frag) (out []field) {
	ifs, ok := sh.lookup("IFS")
	if !ok {
		ifs = " \t\n"
	}
	var cur field
	has, closed := false, false // closed: IFS white space has just ended a field, and one other delimiter may follow
	end := func() {
		out = append(out, cur)
		cur, has = nil, false
	}
	for _, f := range frags {
		if f.brk {
			if has {
				end()
			}
			closed = false
			continue
		}
		if !f.split {
			if f.quoted || f.s != "" {
				cur, has, closed = append(cur, f), true, false
			}
			continue
		}
		if len(f.s) > measureEvery/wordSize {
			words := 0
			for i := range len(ifs) {
				words += strings.Count(f.s, ifs[i:i+1])
			}
			sh.grow(2 * wordSize * words)
		}
		start := 0
		for i := 0; i < len(f.s); i++ {
			if strings.IndexByte(ifs, f.s[i]) < 0 {
				continue
			}
			if i > start {
				cur, has, closed = append(cur, frag{s: f.s[start:i]}), true, false
			}
			start = i + 1
			white := strings.IndexByte(" \t\n", f.s[i]) >= 0
			switch {
			case has:
				end()
				closed = white
			case white:
			case closed:
				closed = false
			default:
				end() // two delimiters in a row: an empty field
			}
		}
		if start < len(f.s) {
			cur, has, closed = append(cur, frag{s: f.s[start:]}), true, false
		}
	}
	if has {
		end()
	}
	return out
}

// join is a word's text without splitting; the fields of "$@" are joined by sep.
func (sh *Shell) join(frags []frag, sep string) string {
	if len(frags) == 1 && !frags[0].brk {
		return frags[0].s
	}
	sh.grow(2 * fragsSize(frags))
	var b strings.Builder
	for _, f := range frags {
		if f.brk {
			b.WriteString(sep)
		}
		b.WriteString(f.s)
	}
	return b.String()
}

// text expands a word to one string, as the word of case or a here-string.
func (sh *Shell) text(w *syntax.Word) string {
	if w == nil {
		return ""
	}
	return sh.join(sh.frags(w), " ")
}

// assignText is text with tildes behind = and : too.
func (sh *Shell) assignText(w *syntax.Word) string {
	var out []frag
	for i, p := range w.Parts {
		lit, ok := p.(*syntax.Lit)
		if !ok || !strings.Contains(lit.Value, "~") {
			out = append(out, sh.part(p)...)
			continue
		}
		for j, piece := range strings.SplitAfter(lit.Value, ":") {
			if strings.HasPrefix(piece, "~") && (i == 0 || j > 0) {
				if home, rest, ok := sh.tilde(piece, i == len(w.Parts)-1, "/:"); ok {
					out = append(out, frag{s: home, quoted: true})
					piece = rest
				}
			}
			out = append(out, litFrags(piece)...)
		}
	}
	return sh.join(out, " ")
}

// pattern expands a word to a pattern: what was quoted is escaped.
func (sh *Shell) pattern(w *syntax.Word) string {
	if w == nil {
		return ""
	}
	return patternOf(sh.frags(w), " ")
}

func patternOf(frags []frag, sep string) string {
	var b strings.Builder
	for _, f := range frags {
		switch {
		case f.brk:
			b.WriteString(sep)
		case f.quoted:
			b.WriteString(escapePattern(f.s))
		default:
			b.WriteString(f.s)
		}
	}
	return b.String()
}

func escapePattern(s string) string {
	if !strings.ContainsAny(s, `*?[]\!-^+@()|`) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if strings.IndexByte(`*?[]\!-^+@()|`, s[i]) >= 0 {
			b.WriteByte('\\')
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// braces expands {a,b} and {1..3}; a word without them is itself.
func (sh *Shell) braces(w *syntax.Word) []*syntax.Word {
	has := false
	for _, p := range w.Parts {
		if lit, ok := p.(*syntax.Lit); ok && strings.Contains(lit.Value, "{") {
			has = true
		}
	}
	if !has {
		return []*syntax.Word{w}
	}
	c := &syntax.Word{Parts: append([]syntax.WordPart(nil), w.Parts...)}
	if !syntax.SplitBraces(c) {
		return []*syntax.Word{w}
	}
	sh.grow(bracesSize(c))
	return braceWords(c)
}

func braceWords(w *syntax.Word) []*syntax.Word {
	for i, p := range w.Parts {
		b, ok := p.(*syntax.BraceExp)
		if !ok {
			continue
		}
		left, right := w.Parts[:i:i], w.Parts[i+1:]
		var out []*syntax.Word
		for _, el := range braceElems(b) {
			parts := append(append(left[:i:i], el.Parts...), right...)
			out = append(out, braceWords(&syntax.Word{Parts: parts})...)
		}
		return out
	}
	return []*syntax.Word{w}
}

// braceRange reads a sequence; width > 0 asks for leading zeros. ok is false when it is none.
func braceRange(b *syntax.BraceExp) (lo, hi, step, width int, chars, ok bool) {
	lit := func(i int) string {
		if i < len(b.Elems) {
			return b.Elems[i].Lit()
		}
		return ""
	}
	from, to := lit(0), lit(1)
	step, _ = strconv.Atoi(lit(2))
	lo, err1 := strconv.Atoi(from)
	hi, err2 := strconv.Atoi(to)
	if chars = err1 != nil || err2 != nil; chars {
		if len(from) != 1 || len(to) != 1 {
			return 0, 0, 1, 0, true, false
		}
		lo, hi = int(from[0]), int(to[0])
	}
	if step < 0 {
		step = -step
	}
	if padded(from) || padded(to) {
		width = max(len(from), len(to))
	}
	return lo, hi, max(step, 1), width, chars, true
}

// braceElems are the words of one brace expression.
func braceElems(b *syntax.BraceExp) []*syntax.Word {
	if !b.Sequence {
		return b.Elems
	}
	word := func(s string) *syntax.Word { return &syntax.Word{Parts: []syntax.WordPart{&syntax.Lit{Value: s}}} }
	lo, hi, step, width, chars, ok := braceRange(b)
	if !ok {
		return []*syntax.Word{word("{" + b.Elems[0].Lit() + ".." + b.Elems[1].Lit() + "}")}
	}
	var out []*syntax.Word
	for n := 0; ; n++ {
		v := lo + n*step
		if lo > hi {
			v = lo - n*step
		}
		if lo <= hi && v > hi || lo > hi && v < hi {
			return out
		}
		if chars {
			out = append(out, word(string(rune(v))))
		} else {
			out = append(out, word(sprintf("%0*d", width, v)))
		}
	}
}

// padded tells that a number of a sequence asks for leading zeros.
func padded(s string) bool {
	s = strings.TrimPrefix(s, "-")
	return len(s) > 1 && s[0] == '0'
}

// ansiC expands the escapes of $'…' (ansicstr in lib/sh/strtrans.c).
func ansiC(s string) string {
	var b []byte
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 == len(s) {
			b = append(b, s[i])
			continue
		}
		i++
		if at := strings.IndexByte(`abefnrtvE\'"?`, s[i]); at >= 0 {
			b = append(b, "\a\b\x1b\f\n\r\t\v\x1b\\'\"?"[at])
			continue
		}
		switch s[i] {
		case '0', '1', '2', '3', '4', '5', '6', '7':
			v, n := user.Digits(s[i:], 8, 3)
			if b, i = append(b, byte(v)), i+n-1; v == 0 {
				return string(b[:len(b)-1])
			}
		case 'x':
			v, n := user.Digits(s[i+1:], 16, 2)
			if n == 0 {
				b = append(b, '\\', 'x')
				continue
			}
			if b, i = append(b, byte(v)), i+n; v == 0 {
				return string(b[:len(b)-1])
			}
		case 'u', 'U':
			v, n := user.Digits(s[i+1:], 16, map[byte]int{'u': 4, 'U': 8}[s[i]])
			if n == 0 {
				b = append(b, '\\', s[i])
				continue
			}
			b, i = append(b, unicodeText(v)...), i+n
		case 'c':
			if i+1 < len(s) {
				i++
				b = append(b, s[i]&0x1f)
			}
		default:
			b = append(b, '\\', s[i])
		}
	}
	return string(b)
}

// unicodeText is a character of the C locale, which has ASCII's alone; of another one, how it may be written.
func unicodeText(v uint64) string {
	switch {
	case v < 0x80:
		return string(rune(v))
	case v < 0x10000:
		return sprintf("\\u%04X", v)
	}
	return sprintf("\\U%08X", v)
}
