package sh

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// trace prints a line of set -x: PS4, its first character once for each level of evaluation.
func (sh *Shell) trace(text string) {
	sh.opts.xtrace = false
	ps4 := sh.expandPrompt(sh.get("PS4"))
	sh.opts.xtrace = true
	if ps4 != "" {
		ps4 = strings.Repeat(ps4[:1], sh.nested) + ps4
	}
	sh.s.Write(2, []byte(ps4+text+"\n"))
}

// traceCall prints a simple command's words.
func (sh *Shell) traceCall(argv []string) {
	if sh.opts.xtrace {
		sh.trace(sh.quoteAll(argv))
	}
}

func (sh *Shell) quoteAll(words []string) string {
	var out []string
	for _, w := range words {
		out = append(out, xquote(w))
	}
	return strings.Join(out, " ")
}

func (sh *Shell) traceAssign(a *syntax.Assign, name string) {
	switch {
	case a.Array != nil:
		var out []string
		for _, e := range a.Array.Elems {
			out = append(out, sh.original(e))
		}
		sh.trace(name + "=(" + strings.Join(out, " ") + ")")
	case a.Index != nil:
		sh.trace(name + "[" + sh.original(a.Index) + "]=" + xquote(sh.quietText(a.Value)))
	case a.Append:
		sh.trace(name + "+=" + xquote(sh.quietText(a.Value)))
	default:
		text := ""
		if v := sh.vars[name]; v != nil {
			text, _ = v.scalar()
		}
		if text != "" {
			text = xquote(text)
		}
		sh.trace(name + "=" + text)
	}
}

// quietText is a word's text for the trace when expanding it twice does no harm, else its source.
func (sh *Shell) quietText(w *syntax.Word) string {
	if w == nil {
		return ""
	}
	if lit, ok := plainWord(w); ok {
		return lit
	}
	return sh.original(w)
}

// xquote quotes a word where the shell would need it, as set -x shows it.
func xquote(s string) string {
	if s == "" {
		return "''"
	}
	return shellQuote(s)
}

// shellQuote is sh_contains_shell_metas with sh_single_quote, and $'…' for what cannot be printed.
func shellQuote(s string) string {
	special := false
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c < 32 && c != '\t' && c != '\n' || c == 127 || c == '\n' || c == '\t' {
			return ansiQuoted(s)
		}
		switch {
		case strings.IndexByte(" '\"\\|&;()<>!{}*[]?^$`", c) >= 0:
			special = true
		case c == '~' && (i == 0 || s[i-1] == '=' || s[i-1] == ':'), c == '#' && i == 0:
			special = true
		}
	}
	if special {
		return singleQuoted(s)
	}
	return s
}

// printable is a file's name as messages have it (printable_filename).
func printable(s string) string {
	if strings.ContainsFunc(s, func(r rune) bool { return r < 32 || r >= 127 }) {
		return ansiQuoted(s)
	}
	return s
}

// ansiQuoted is ansic_quote: $'…'.
func ansiQuoted(s string) string {
	var b strings.Builder
	b.WriteString("$'")
	for i := 0; i < len(s); i++ {
		c := s[i]
		if at := strings.IndexByte("\a\b\x1b\f\n\r\t\v\\'", c); at >= 0 {
			b.WriteString(`\` + `abEfnrtv\'`[at:at+1])
			continue
		}
		if c < 32 || c >= 127 {
			b.WriteString(sprintf(`\%03o`, c))
			continue
		}
		b.WriteByte(c)
	}
	return b.String() + "'"
}

// xpattern is a pattern as set -x shows it: quoted characters with a backslash.
func xpattern(p string) string { return p }
