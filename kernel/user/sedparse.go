package user

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"kscope/kernel/user/re"
)

// sedAddr is one address.
type sedAddr struct {
	kind byte // 0 none, 'n' line, '$' last, '/' regex, '~' first~step, '+' so many lines on, 'm' up to a multiple
	n, m int
	rx   *regexp.Regexp // nil with '/': the last one used
}

// sedCmd is one command of a script.
type sedCmd struct {
	a1, a2 sedAddr
	not    bool
	name   byte
	text   string // of a i c, label, file name
	num    int    // q Q L exit code; s number
	jump   int    // b t T: index of the target; { : of its }
	rx     *regexp.Regexp
	repl   []sedPart
	global bool
	print  bool
	from   []byte // y: a table of 256
	file   string // w
	active bool   // a range is open
	until  int    // its last line, for 'n' '+' 'm'
}

// sedPart is a piece of s's replacement: text, a group (n >= 0), or a change of case.
type sedPart struct {
	text  string
	group int
	mode  byte // L U l u E
}

// sedError is a position in an -e expression or a file, and GNU sed 4.9's text (sed/compile.c).
type sedError struct{ where, msg string }

func (e *sedError) Error() string { return e.where + ": " + e.msg }

type sedParser struct {
	text   string
	i      int
	where  func(at int) string
	flags  re.Flags
	cmds   []sedCmd
	blocks []int
}

func (p *sedParser) fail(format string, args ...any) error {
	return &sedError{p.where(p.i), fmt.Sprintf(format, args...)}
}

func (p *sedParser) peek() byte {
	if p.i < len(p.text) {
		return p.text[p.i]
	}
	return 0
}

func (p *sedParser) spaces(set string) {
	for p.i < len(p.text) && strings.IndexByte(set, p.text[p.i]) >= 0 {
		p.i++
	}
}

func (p *sedParser) parse() error {
	for {
		p.spaces(" \t\n;")
		if p.i >= len(p.text) {
			return nil
		}
		if p.peek() == '#' {
			p.line()
			continue
		}
		if err := p.command(); err != nil {
			return err
		}
	}
}

// line is the rest of the line.
func (p *sedParser) line() string {
	rest := p.text[p.i:]
	line, _, _ := strings.Cut(rest, "\n")
	p.i += len(line)
	return line
}

func (p *sedParser) number() int {
	at := p.i
	for p.peek() >= '0' && p.peek() <= '9' && p.i < len(p.text) {
		p.i++
	}
	n, _ := strconv.Atoi(p.text[at:p.i])
	return n
}

func (p *sedParser) address() (a sedAddr, err error) {
	switch c := p.peek(); {
	case c >= '0' && c <= '9':
		a.kind, a.n = 'n', p.number()
		if p.peek() == '~' {
			p.i++
			a.kind, a.m = '~', p.number()
		}
	case c == '$':
		p.i++
		a.kind = '$'
	case c == '/' || c == '\\':
		if c == '\\' {
			p.i++
		}
		delim := p.peek()
		p.i++
		text, ok := p.delimited(delim, true)
		if !ok {
			return a, p.fail("unterminated address regex")
		}
		f := p.flags
		for strings.IndexByte("IM", p.peek()) >= 0 && p.i < len(p.text) {
			f |= map[byte]re.Flags{'I': re.Fold, 'M': re.Lines}[p.peek()]
			p.i++
		}
		a.kind = '/'
		if text != "" {
			if a.rx, err = re.Compile(text, f); err != nil {
				return a, p.fail("%s", err.Error())
			}
		}
	}
	return a, nil
}

// delimited reads up to an unescaped delim; inside brackets of a regex it does not count.
func (p *sedParser) delimited(delim byte, regex bool) (string, bool) {
	var b []byte
	for p.i < len(p.text) {
		c := p.text[p.i]
		p.i++
		switch {
		case c == delim:
			return string(b), true
		case c == '\n' && regex:
			return "", false
		case c == '\\' && p.i < len(p.text):
			n := p.text[p.i]
			p.i++
			switch {
			case n == delim && regex:
				if strings.IndexByte("|+?(){}", n) < 0 { // those would change their meaning
					b = append(b, n)
					if strings.IndexByte(".*[]^$", n) >= 0 {
						b = append(b[:len(b)-1], '\\', n)
					}
					continue
				}
				b = append(b, n)
			case n == delim:
				if n == '&' {
					b = append(b, '\\')
				}
				b = append(b, n)
			default:
				b = append(b, c, n)
			}
		case c == '[' && regex:
			end := bracketEnd(p.text[p.i:])
			b = append(b, c)
			b = append(b, p.text[p.i:p.i+end]...)
			p.i += end
		default:
			b = append(b, c)
		}
	}
	return "", false
}

// bracketEnd is the length of a bracket expression behind its [, 0 when it does not end.
func bracketEnd(s string) int {
	i := 0
	if i < len(s) && s[i] == '^' {
		i++
	}
	if i < len(s) && s[i] == ']' {
		i++
	}
	for i < len(s) && s[i] != ']' {
		if s[i] == '[' && i+1 < len(s) && strings.IndexByte(":.=", s[i+1]) >= 0 {
			if end := strings.Index(s[i+2:], string(s[i+1])+"]"); end >= 0 {
				i += end + 4
				continue
			}
		}
		i++
	}
	if i >= len(s) {
		return 0
	}
	return i + 1
}

func (p *sedParser) command() (err error) {
	var x sedCmd
	if x.a1, err = p.address(); err != nil {
		return err
	}
	if x.a1.kind != 0 {
		p.spaces(" \t")
		if p.peek() == ',' {
			p.i++
			p.spaces(" \t")
			switch p.peek() {
			case '+', '~':
				x.a2.kind = map[byte]byte{'+': '+', '~': 'm'}[p.peek()]
				p.i++
				x.a2.n = p.number()
			default:
				if x.a2, err = p.address(); err != nil {
					return err
				}
				if x.a2.kind == 0 {
					return p.fail("unexpected `,'")
				}
			}
		}
		if x.a1.kind == 'n' && x.a1.n == 0 && x.a2.kind != '/' {
			return p.fail("invalid usage of line address 0")
		}
	}
	p.spaces(" \t")
	for p.peek() == '!' {
		p.i++
		x.not = true
		p.spaces(" \t!")
	}
	if p.i >= len(p.text) {
		return p.fail("missing command")
	}
	x.name = p.text[p.i]
	p.i++
	return p.body(&x)
}

// body reads what belongs to a command behind its letter.
func (p *sedParser) body(x *sedCmd) error {
	end := true // only ; } or the end of the line may follow
	switch x.name {
	case '{':
		p.blocks = append(p.blocks, len(p.cmds))
		end = false
	case '}':
		if len(p.blocks) == 0 {
			return p.fail("unexpected `}'")
		}
		if x.a1.kind != 0 {
			return p.fail("} doesn't want any addresses")
		}
		p.cmds[p.blocks[len(p.blocks)-1]].jump = len(p.cmds)
		p.blocks = p.blocks[:len(p.blocks)-1]
	case '=', 'd', 'D', 'F', 'g', 'G', 'h', 'H', 'n', 'N', 'p', 'P', 'x', 'z':
	case 'a', 'i', 'c':
		end = false
		p.spaces(" \t")
		if p.i >= len(p.text) {
			return p.fail("expected \\ after `a', `c' or `i'")
		}
		x.text = p.textLines()
	case ':':
		end = false
		if x.a1.kind != 0 {
			return p.fail(": doesn't want any addresses")
		}
		p.spaces(" \t")
		x.text = p.word("\n; \t")
		if x.text == "" {
			return p.fail("\":\" lacks a label")
		}
	case 'b', 't', 'T':
		p.spaces(" \t")
		x.text = p.word("\n;} \t")
	case 'q', 'Q', 'l', 'L':
		if x.a2.kind != 0 && (x.name == 'q' || x.name == 'Q') {
			return p.fail("command only uses one address")
		}
		p.spaces(" \t")
		x.num = -1
		if c := p.peek(); c >= '0' && c <= '9' {
			x.num = p.number()
		}
	case 'r', 'R', 'w', 'W':
		end = false
		p.spaces(" \t")
		if x.file = p.line(); x.file == "" {
			return p.fail("missing filename in r/R/w/W commands")
		}
	case 's':
		if err := p.substitute(x); err != nil {
			return err
		}
		end = x.file == ""
	case 'y':
		if err := p.transliterate(x); err != nil {
			return err
		}
	case 'e', 'v':
		return p.fail("the command `%c' is not supported", x.name)
	default:
		return p.fail("unknown command: `%c'", x.name)
	}
	p.cmds = append(p.cmds, *x)
	if end {
		p.spaces(" \t")
		if c := p.peek(); p.i < len(p.text) && c != ';' && c != '\n' && c != '}' && c != '#' {
			p.i++
			return p.fail("%s", map[bool]string{true: "unknown option to `s'", false: "extra characters after command"}[x.name == 's'])
		}
	}
	return nil
}

// word reads up to one of stop.
func (p *sedParser) word(stop string) string {
	at := p.i
	for p.i < len(p.text) && strings.IndexByte(stop, p.text[p.i]) < 0 {
		p.i++
	}
	return p.text[at:p.i]
}

// textLines is the text of a, i and c: on the line itself, or behind a backslash at its end.
func (p *sedParser) textLines() string {
	if p.peek() == '\\' {
		p.i++
		p.spaces(" \t")
		if p.peek() == '\n' {
			p.i++
		}
	}
	var b []byte
	for p.i < len(p.text) {
		c := p.text[p.i]
		p.i++
		if c == '\n' {
			break
		}
		if c == '\\' && p.i < len(p.text) {
			c = p.text[p.i]
			p.i++
			if c == 't' {
				c = '\t'
			}
		}
		b = append(b, c)
	}
	return string(b) + "\n"
}

func (p *sedParser) substitute(x *sedCmd) error {
	delim := p.peek()
	p.i++
	pattern, ok := p.delimited(delim, true)
	if !ok {
		return p.fail("unterminated `s' command")
	}
	repl, ok := p.delimited(delim, false)
	if !ok {
		return p.fail("unterminated `s' command")
	}
	f := p.flags
	for p.i < len(p.text) {
		c := p.peek()
		switch {
		case c == 'g':
			x.global = true
		case c == 'p':
			x.print = true
		case c == 'i' || c == 'I':
			f |= re.Fold
		case c == 'm' || c == 'M':
			f |= re.Lines
		case c >= '1' && c <= '9':
			x.num = p.number()
			continue
		case c == 'w':
			p.i++
			p.spaces(" \t")
			x.file = p.line()
			if x.file == "" {
				return p.fail("missing filename in r/R/w/W commands")
			}
			continue
		case c == 'e':
			p.i++
			return p.fail("the flag `e' of `s' is not supported")
		case c == '0':
			p.i++
			return p.fail("number option to `s' command may not be zero")
		default:
			return p.finishSubst(x, pattern, repl, f)
		}
		p.i++
	}
	return p.finishSubst(x, pattern, repl, f)
}

func (p *sedParser) finishSubst(x *sedCmd, pattern, repl string, f re.Flags) (err error) {
	if pattern != "" {
		if x.rx, err = re.Compile(pattern, f); err != nil {
			return p.fail("%s", err.Error())
		}
	}
	x.repl = sedReplacement(repl)
	for _, part := range x.repl {
		if x.rx != nil && part.group > x.rx.NumSubexp() {
			return p.fail("invalid reference \\%d on `s' command's RHS", part.group)
		}
	}
	return nil
}

func sedReplacement(text string) (out []sedPart) {
	var b []byte
	flush := func(part sedPart) {
		if len(b) > 0 {
			out = append(out, sedPart{text: string(b), group: -1})
			b = nil
		}
		out = append(out, part)
	}
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case c == '&':
			flush(sedPart{group: 0})
			continue
		case c != '\\' || i+1 == len(text):
			b = append(b, c)
			continue
		}
		i++
		switch c = text[i]; {
		case c >= '0' && c <= '9':
			flush(sedPart{group: int(c - '0')})
		case strings.IndexByte("LUluE", c) >= 0:
			flush(sedPart{group: -1, mode: c})
		case strings.IndexByte("ntafvr", c) >= 0:
			b = append(b, "\n\t\a\f\v\r"[strings.IndexByte("ntafvr", c)])
		default:
			b = append(b, c)
		}
	}
	if len(b) > 0 {
		out = append(out, sedPart{text: string(b), group: -1})
	}
	return out
}

func (p *sedParser) transliterate(x *sedCmd) error {
	delim := p.peek()
	p.i++
	from, ok := p.delimited(delim, false)
	to, ok2 := "", false
	if ok {
		to, ok2 = p.delimited(delim, false)
	}
	if !ok || !ok2 {
		return p.fail("unterminated `y' command")
	}
	unescaped := func(s string) string {
		return strings.NewReplacer(`\\`, `\`, `\n`, "\n", `\t`, "\t").Replace(s)
	}
	from, to = unescaped(from), unescaped(to)
	if len(from) != len(to) {
		return p.fail("strings for `y' command are different lengths")
	}
	x.from = make([]byte, 256)
	for i := range x.from {
		x.from[i] = byte(i)
	}
	for i := range len(from) {
		x.from[from[i]] = to[i]
	}
	return nil
}
