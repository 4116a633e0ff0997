package user

import (
	"bytes"
	"fmt"
	"path"
	"regexp"
	"strconv"
	"strings"

	"kscope/kernel"
	"kscope/kernel/user/re"
)

var grepOptions = []option{{'E', "extended-regexp", false, 0}, {'F', "fixed-strings", false, 0}, {'G', "basic-regexp", false, 0}, {'P', "perl-regexp", false, 0},
	{'e', "regexp", true, 0}, {'f', "file", true, 0}, {'i', "ignore-case", false, 0}, {'y', "", false, 'i'}, {0, "no-ignore-case", false, 1}, {'v', "invert-match", false, 0},
	{'w', "word-regexp", false, 0}, {'x', "line-regexp", false, 0}, {'c', "count", false, 0}, {'l', "files-with-matches", false, 0}, {'L', "files-without-match", false, 0},
	{'q', "quiet", false, 0}, {0, "silent", false, 'q'}, {'s', "no-messages", false, 0}, {'o', "only-matching", false, 0}, {'n', "line-number", false, 0},
	{'b', "byte-offset", false, 0}, {'H', "with-filename", false, 0}, {'h', "no-filename", false, 0}, {'r', "recursive", false, 0}, {'R', "dereference-recursive", false, 0},
	{'A', "after-context", true, 0}, {'B', "before-context", true, 0}, {'C', "context", true, 0}, {'m', "max-count", true, 0}, {'a', "text", false, 0},
	{'z', "null-data", false, 0}, {'Z', "null", false, 0}, {'I', "", false, 0}, {0, "color?", true, 2}, {0, "colour?", true, 2}, {0, "include", true, 3},
	{0, "exclude", true, 4}, {0, "exclude-dir", true, 5}, {0, "line-buffered", false, 6}, {'T', "initial-tab", false, 0}, {0, "label", true, 7}}

const grepUsage = "Usage: grep [OPTION]... PATTERNS [FILE]...\n"

// grepRun is one run of grep.
type grepRun struct {
	c             *cmd
	on            [256]bool
	kind          byte // E, F, G
	patterns      []string
	rx            *regexp.Regexp
	perl          perlPattern
	literal       []byte // instead of rx, for one fixed string
	before, after int
	max           int
	names         bool
	label         string
	include       []string
	exclude       []string
	excludeDir    []string
	end           byte
	matched, bad  bool
	anyOut        bool // context: a group has been printed
}

func grep(c *cmd) int {
	c.usage = grepUsage
	g := &grepRun{c: c, kind: 'G', max: -1, before: -1, after: -1, end: '\n', label: "(standard input)"}
	switch path.Base(c.name) {
	case "egrep":
		g.kind = 'E'
	case "fgrep":
		g.kind = 'F'
	}
	context := grepContext(c.argv)
	found, files, status, done := c.parse(grepOptions, 2)
	if done {
		return status
	}
	have := false
	for _, o := range found {
		ok := true
		have, ok = g.option(o, have)
		if !ok {
			return 2
		}
	}
	for _, side := range []*int{&g.before, &g.after} {
		if *side < 0 {
			*side = context
		}
	}
	if !have {
		if len(files) == 0 {
			c.s.Write(2, []byte(grepUsage+"Try 'grep --help' for more information.\n"))
			return 2
		}
		g.patterns, files = strings.Split(files[0], "\n"), files[1:]
	}
	compile := g.compile
	if g.kind == 'P' {
		compile = g.compilePerl
	}
	if err := compile(); err != nil {
		c.errorf("%s", err.Error())
		return 2
	}
	g.on['r'] = g.on['r'] || g.on['R']
	g.names = (len(files) > 1 || g.on['r'] || g.on['H']) && !g.on['h']
	if len(files) == 0 {
		files = []string{"-"}
		if g.on['r'] {
			files = []string{"."}
		}
	}
	for i, f := range files {
		if g.on['q'] && g.matched {
			break
		}
		if g.on['r'] && len(files) == 1 && f == "." && i == 0 && !has(c.argv[1:], ".") {
			g.walk("", ".")
			continue
		}
		g.walk(f, f)
	}
	switch {
	case g.bad && !(g.on['q'] && g.matched):
		return 2
	case g.matched:
		return 0
	}
	return 1
}

func has(list []string, word string) bool {
	for _, w := range list {
		if w == word {
			return true
		}
	}
	return false
}

// grepContext takes -NUM out of the arguments.
func grepContext(argv []string) int {
	n := 0
	for i, a := range argv {
		if a == "--" {
			break
		}
		if len(a) > 1 && a[0] == '-' && strings.Trim(a[1:], "0123456789") == "" {
			n, _ = strconv.Atoi(a[1:])
			argv[i] = "-s"
			if i > 0 && has([]string{"-e", "-f", "-A", "-B", "-C", "-m"}, argv[i-1]) {
				argv[i] = a
				n = 0
			}
		}
	}
	return n
}

func (g *grepRun) option(o given, have bool) (bool, bool) {
	c := g.c
	switch o.id {
	case 'E', 'F', 'G', 'P':
		g.kind = o.id
	case 'e':
		g.patterns = append(g.patterns, strings.Split(o.value, "\n")...)
		return true, true
	case 'f':
		in, ok := c.input(o.value, "")
		if !ok {
			return have, false
		}
		for _, l := range in.lines('\n') {
			g.patterns = append(g.patterns, string(l))
		}
		in.close()
		return true, true
	case 'A', 'B', 'C', 'm':
		n, err := strconv.Atoi(o.value)
		if o.id == 'm' {
			if g.max = n; err != nil {
				c.errorf("invalid max count")
				return have, false
			}
			return have, true
		}
		if err != nil || n < 0 {
			c.errorf("%s: invalid context length argument", o.value)
			return have, false
		}
		if o.id != 'A' {
			g.before = n
		}
		if o.id != 'B' {
			g.after = n
		}
	case 'z':
		g.end = 0
	case 2:
		if o.value == "always" {
			c.errorf("option --color=always is not supported")
			return have, false
		}
	case 1:
		g.on['i'] = false
	case 3:
		g.include = append(g.include, o.value)
	case 4:
		g.exclude = append(g.exclude, o.value)
	case 5:
		g.excludeDir = append(g.excludeDir, o.value)
	case 7:
		g.label = o.value
	default:
		g.on[o.id] = true
	}
	return have, true
}

func (g *grepRun) compile() error {
	var parts []string
	for _, p := range g.patterns {
		f := re.Flags(0)
		if g.kind == 'E' {
			f |= re.Extended
		}
		text := re.Quote(p)
		if g.kind != 'F' {
			var err error
			if text, err = re.Translate(p, f); err != nil {
				return err
			}
		}
		if g.on['x'] {
			text = "^(?:" + text + ")$"
		}
		parts = append(parts, "(?:"+text+")")
	}
	if len(parts) == 0 { // -f of an empty file
		parts = []string{`[^\x00-\x{10FFFF}]`}
	}
	plain := len(g.patterns) == 1 && parts[0] == "(?:"+g.patterns[0]+")" && re.Quote(g.patterns[0]) == g.patterns[0]
	if plain && !g.on['i'] && !g.on['w'] {
		g.literal = []byte(g.patterns[0])
	}
	mode := "(?s)"
	if g.on['i'] {
		mode = "(?si)"
	}
	rx, err := regexp.Compile(mode + strings.Join(parts, "|"))
	if err != nil {
		return fmt.Errorf("Invalid regular expression: %w", err)
	}
	rx.Longest()
	g.rx = rx
	return nil
}

// walk searches a file, with -r all below it. show is the name as it is printed.
func (g *grepRun) walk(show, file string) {
	c := g.c
	st, e := c.s.Stat(file)
	if file == "-" && !g.on['r'] {
		st, e = c.s.Fstat(0)
	}
	if e != 0 {
		g.fail(file, e)
		return
	}
	if st.Mode&modeType != modeDir {
		if globbed(g.exclude, file) || len(g.include) > 0 && !globbed(g.include, file) {
			return
		}
		g.file(show, file)
		return
	}
	if !g.on['r'] {
		c.errorf("%s: Is a directory", file)
		if g.bad = true; g.on['L'] {
			c.printf("%s\n", show)
		}
		return
	}
	if show != "" && globbed(g.excludeDir, file) {
		return
	}
	names, e := c.s.ReadDir(file)
	if e != 0 {
		g.fail(file, e)
		return
	}
	for _, n := range names {
		if n.Name == "." || n.Name == ".." {
			continue
		}
		at := strings.TrimSuffix(file, "/") + "/" + n.Name
		if st, e := c.s.Lstat(at); e == 0 && st.Mode&modeType == modeLnk && !g.on['R'] {
			continue
		}
		if show == "" {
			g.walk(n.Name, n.Name)
		} else {
			g.walk(at, at)
		}
	}
}

func globbed(patterns []string, file string) bool {
	for _, p := range patterns {
		if ok, _ := path.Match(p, path.Base(file)); ok {
			return true
		}
	}
	return false
}

func (g *grepRun) fail(file string, e kernel.Errno) {
	g.bad = true
	if !g.on['s'] {
		g.c.errorf("%s: %s", file, e.Error())
	}
}

// spans are the matches in a line, only the first unless all.
func (g *grepRun) spans(line []byte, all bool) (out [][2]int) {
	if g.literal != nil && !all {
		switch {
		case g.on['x'] && bytes.Equal(line, g.literal), !g.on['x'] && bytes.Contains(line, g.literal):
			return [][2]int{{0, len(line)}}
		}
		return nil
	}
	for at := 0; at <= len(line); {
		m := g.match(line, at)
		if m == nil {
			break
		}
		lo, hi := m[0], m[1]
		if at > 0 && len(g.patterns) == 1 && strings.HasPrefix(g.patterns[0], "^") && g.kind != 'F' && g.kind != 'P' {
			break
		}
		if g.on['w'] && !wordBounded(line, lo, hi) {
			// A shorter match at the same place may be a word; then one further on.
			for hi--; hi > lo; hi-- {
				if k := g.rx.FindIndex(line[lo:hi]); k != nil && k[0] == 0 && k[1] == hi-lo && wordBounded(line, lo, hi) {
					break
				}
			}
			if hi <= lo {
				at = lo + 1
				continue
			}
		}
		out = append(out, [2]int{lo, hi})
		if !all {
			break
		}
		at = max(hi, lo+1)
	}
	return out
}

func wordByte(b byte) bool {
	return b == '_' || b >= '0' && b <= '9' || b|32 >= 'a' && b|32 <= 'z'
}

func wordBounded(line []byte, lo, hi int) bool {
	return (lo == 0 || !wordByte(line[lo-1])) && (hi == len(line) || !wordByte(line[hi]))
}
