package re

import "testing"

func TestCompile(t *testing.T) {
	for _, row := range []struct {
		pattern string
		f       Flags
		text    string
		want    string // the match, "-" for none, or "!" and the error
	}{
		{`a*b`, 0, "xaab", "aab"}, {`*a`, 0, "b*a", "*a"}, {`\(ab\)\{2\}`, 0, "xababab", "abab"}, {`a\|b`, 0, "b", "b"}, {`a|b`, 0, "a|b", "a|b"},
		{`a+`, 0, "aa+", "a+"}, {`a\+`, 0, "baa", "aa"}, {`a+?`, Extended, "aab", "aa"}, {`a**`, 0, "aa", "aa"}, {`(a|ab)(c|bcd)`, Extended, "abcd", "abcd"},
		{`[]a]*`, 0, "a]b", "a]"}, {`[^]a]`, 0, "]ab", "b"}, {`[a\]`, 0, `\`, `\`}, {`[[:digit:]]\+`, 0, "a12", "12"}, {`x{2}`, Extended, "xxx", "xx"},
		{`x{`, Extended, "x{", "x{"}, {`a{,2}`, Extended, "aaa", "aa"}, {`^*`, 0, "*", "*"}, {`a^b$c`, 0, "a^b$c", "a^b$c"}, {`\(^a\)`, 0, "ba", "-"},
		{`a$`, 0, "a", "a"}, {`$a`, 0, "$a", "$a"}, {`\<b`, 0, "ab b", "b"}, {`\w\+`, 0, "--ab_1 ", "ab_1"}, {`[a-c]`, Fold, "B", "B"}, {`a.b`, 0, "a\nb", "a\nb"},
		{`a\nb`, Escapes, "a\nb", "a\nb"}, {`[\n]`, Escapes, "\n", "\n"}, {`[\n]`, 0, "n", "n"}, {`a\.b`, 0, "a.b", "a.b"}, {`)`, Extended, ")", ")"},
		{`\(a`, 0, "", "!" + string(errParen)}, {`(a`, Extended, "", "!" + string(errParen)}, {`a\)`, 0, "", "!" + string(errCloses)}, {`[a`, 0, "", "!" + string(errBracket)},
		{`a\{1`, 0, "", "!" + string(errOpenBrace)}, {`a\{2,1\}`, 0, "", "!" + string(errBrace)}, {`[b-a]`, 0, "", "!" + string(errRange)}, {`a\`, 0, "", "!" + string(errBackslash)},
		{`[[:foo:]]`, 0, "", "!" + string(errClass)}, {`\1`, 0, "", "!" + string(errBackRef)}, {`\(a\)\1`, 0, "", "!" + string(errNoBackRef)},
	} {
		r, err := Compile(row.pattern, row.f)
		got := ""
		switch {
		case err != nil:
			got = "!" + err.Error()
		case !r.MatchString(row.text):
			got = "-"
		default:
			got = r.FindString(row.text)
		}
		if got != row.want {
			t.Errorf("%q on %q: %q, want %q", row.pattern, row.text, got, row.want)
		}
	}
}

func FuzzCompile(f *testing.F) {
	f.Add(`\(a*\)[^]x]\{1,2\}`, uint(0))
	f.Add(`(a|b){2}+?*`, uint(1))
	f.Fuzz(func(t *testing.T, pattern string, flags uint) {
		if len(pattern) > 200 {
			return
		}
		if r, err := Compile(pattern, Flags(flags)); err == nil {
			r.MatchString("some text")
		}
	})
}
