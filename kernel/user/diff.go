package user

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"kscope/kernel"
)

var diffOptions = []option{{'u', "", false, 0}, {'U', "unified?", true, 0}, {'q', "brief", false, 0}, {'r', "recursive", false, 0}, {'N', "new-file", false, 0},
	{'s', "report-identical-files", false, 0}, {'i', "ignore-case", false, 0}, {'b', "ignore-space-change", false, 0}, {'w', "ignore-all-space", false, 0},
	{'B', "ignore-blank-lines", false, 0}, {'a', "text", false, 0}, {'L', "label", true, 0}, {'d', "minimal", false, 0}, {0, "normal", false, 1}, {0, "color?", true, 2},
	{0, "strip-trailing-cr", false, 3}, {'c', "", false, 0}, {'e', "ed", false, 0}, {'y', "side-by-side", false, 0}}

// diffRun is one run of diff: normal or unified output.
type diffRun struct {
	c       *cmd
	on      [256]bool
	unified bool
	context int
	labels  []string
	opts    string // as they stood on the command line, for the headings of -r
	status  int
}

// diffSide is one file: its lines with their ends, what they are compared by, and what heads it.
type diffSide struct {
	name  string
	st    Stat
	lines [][]byte
	keys  []string
	open  bool // the last line has no end
	empty bool // not there: -N
}

func diff(c *cmd) int {
	r := &diffRun{c: c, context: 3}
	for i, a := range c.argv[1:] { // -U takes the next word
		if a == "-U" && i+2 < len(c.argv) {
			c.argv = append(append(append([]string(nil), c.argv[:i+1]...), "--unified="+c.argv[i+2]), c.argv[i+3:]...)
			break
		}
	}
	c.usage = "diff: "
	found, files, status, done := c.parse(diffOptions, 2)
	if done {
		return status
	}
	for _, o := range found {
		r.on[o.id] = true
		switch o.id {
		case 'u':
			r.unified = true
		case 'U':
			r.unified = true
			if o.value != "" {
				n, err := strconv.Atoi(o.value)
				if err != nil || n < 0 {
					c.errorf("invalid context length %s", quoted(o.value))
					return c.tryHelp(2)
				}
				r.context = n
			}
		case 'L':
			r.labels = append(r.labels, o.value)
		case 'c', 'e', 'y':
			c.errorf("output format -%c is not supported: only the normal and the unified one are", o.id)
			return 2
		}
	}
	words := slices.Clone(c.argv[1:])
	for _, f := range files {
		if i := slices.Index(words, f); i >= 0 && len(files) == 2 {
			words = slices.Delete(words, i, i+1)
		}
	}
	r.opts = strings.Join(append([]string{"diff"}, words...), " ")
	if len(files) < 2 {
		c.errorf("missing operand after %s", quoted(append([]string{"diff"}, files...)[len(files)]))
		return c.tryHelp(2)
	}
	if len(files) > 2 {
		c.errorf("extra operand %s", quoted(files[2]))
		return c.tryHelp(2)
	}
	r.compare(files[0], files[1], true)
	return r.status
}

func (r *diffRun) trouble(file string, e kernel.Errno) {
	r.c.errorf("%s: %s", file, e.Error())
	r.status = 2
}

func (r *diffRun) stat(file string) (Stat, kernel.Errno) {
	if file == "-" {
		return r.c.s.Fstat(0)
	}
	return r.c.s.Stat(file)
}

func (r *diffRun) differ() { r.status = max(r.status, 1) }

// compare is one pair; a directory beside a file means the file of that name in it.
func (r *diffRun) compare(a, b string, top bool) {
	sa, ea := r.stat(a)
	sb, eb := r.stat(b)
	if top && ea == 0 && eb == 0 && (sa.Mode&modeType == modeDir) != (sb.Mode&modeType == modeDir) {
		if sa.Mode&modeType == modeDir {
			a = joinPath(a, b[strings.LastIndexByte(b, '/')+1:])
			sa, ea = r.stat(a)
		} else {
			b = joinPath(b, a[strings.LastIndexByte(a, '/')+1:])
			sb, eb = r.stat(b)
		}
	}
	absent := func(e kernel.Errno) bool { return e == kernel.ENOENT && r.on['N'] }
	if ea != 0 && !absent(ea) {
		r.trouble(a, ea)
	}
	if eb != 0 && !absent(eb) {
		r.trouble(b, eb)
	}
	if ea != 0 && !absent(ea) || eb != 0 && !absent(eb) || ea != 0 && eb != 0 {
		if ea != 0 && eb != 0 && absent(ea) {
			r.trouble(a, ea)
			r.trouble(b, eb)
		}
		return
	}
	dirA, dirB := ea == 0 && sa.Mode&modeType == modeDir, eb == 0 && sb.Mode&modeType == modeDir
	switch {
	case dirA && dirB:
		if top || r.on['r'] {
			r.dirs(a, b)
		} else {
			r.c.printf("Common subdirectories: %s and %s\n", a, b)
		}
		return
	case dirA != dirB && ea == 0 && eb == 0:
		r.c.printf("File %s is a %s while file %s is a %s\n", a, fileType(&sa), b, fileType(&sb))
		r.differ()
		return
	}
	x, ok := r.read(a, sa, ea != 0)
	y, ok2 := r.read(b, sb, eb != 0)
	if ok && ok2 {
		r.files(x, y, top)
	}
}

func (r *diffRun) dirs(a, b string) {
	na, ea := r.c.s.ReadDir(a)
	nb, eb := r.c.s.ReadDir(b)
	if ea != 0 || eb != 0 {
		r.trouble(map[bool]string{true: a, false: b}[ea != 0], max(ea, eb))
		return
	}
	in := [2]map[string]bool{{}, {}}
	var names []string
	for i, list := range [][]Dirent{na, nb} {
		for _, n := range list {
			if n.Name != "." && n.Name != ".." {
				in[i][n.Name] = true
				names = append(names, n.Name)
			}
		}
	}
	slices.Sort(names)
	for _, n := range slices.Compact(names) {
		switch {
		case in[0][n] && in[1][n] || r.on['N']:
			r.compare(joinPath(a, n), joinPath(b, n), false)
		default:
			r.c.printf("Only in %s: %s\n", map[bool]string{true: a, false: b}[in[0][n]], n)
			r.differ()
		}
	}
}

func (r *diffRun) read(file string, st Stat, empty bool) (*diffSide, bool) {
	side := &diffSide{name: file, st: st, empty: empty}
	if empty {
		return side, true
	}
	in, e := r.c.tryInput(file)
	if e == 0 {
		text := in.all()
		in.close()
		e = in.err
		side.lines = bytes.SplitAfter(text, []byte("\n"))
		if len(side.lines[len(side.lines)-1]) == 0 {
			side.lines = side.lines[:len(side.lines)-1]
		} else {
			side.open = true
		}
	}
	if e != 0 {
		r.trouble(file, e)
		return nil, false
	}
	for _, l := range side.lines {
		side.keys = append(side.keys, r.key(string(l)))
	}
	return side, true
}

// key is what of a line counts.
func (r *diffRun) key(line string) string {
	if r.on[3] {
		line = strings.Replace(line, "\r\n", "\n", 1)
	}
	switch {
	case r.on['w']:
		line = strings.Join(strings.Fields(line), "")
	case r.on['b']:
		lead := strings.TrimLeft(line, " \t") != line
		line = strings.Join(strings.Fields(line), " ")
		if lead {
			line = " " + line
		}
	}
	if r.on['i'] {
		line = strings.ToLower(line)
	}
	return line
}

func (r *diffRun) binary(s *diffSide) bool {
	for _, l := range s.lines {
		if bytes.IndexByte(l, 0) >= 0 {
			return !r.on['a']
		}
	}
	return false
}

func (r *diffRun) files(a, b *diffSide, top bool) {
	c := r.c
	if slices.Equal(a.keys, b.keys) {
		if r.on['s'] {
			c.printf("Files %s and %s are identical\n", a.name, b.name)
		}
		return
	}
	hunks := diffLines(a.keys, b.keys)
	if r.on['B'] {
		hunks = slices.DeleteFunc(hunks, func(h diffHunk) bool {
			blank := func(l []byte) bool { return len(bytes.TrimRight(l, "\n")) == 0 }
			return !slices.ContainsFunc(a.lines[h.a0:h.a1], func(l []byte) bool { return !blank(l) }) &&
				!slices.ContainsFunc(b.lines[h.b0:h.b1], func(l []byte) bool { return !blank(l) })
		})
		if len(hunks) == 0 {
			return
		}
	}
	r.differ()
	switch {
	case r.binary(a) || r.binary(b):
		c.printf("Binary files %s and %s differ\n", a.name, b.name)
		r.status = max(r.status, 2)
		return
	case r.on['q']:
		c.printf("Files %s and %s differ\n", a.name, b.name)
		return
	}
	if !top {
		names := []string{a.name, b.name}
		copy(names, r.labels)
		c.printf("%s %s\n", r.opts, strings.Join(names, " "))
	}
	if r.unified {
		r.unifiedOut(a, b, hunks)
		return
	}
	for _, h := range hunks {
		r.normal(a, b, h)
	}
}

func (r *diffRun) lines(mark string, s *diffSide, lo, hi int) {
	for i := lo; i < hi; i++ {
		r.c.print([]byte(mark)...)
		r.c.print(s.lines[i]...)
		if i == len(s.lines)-1 && s.open {
			r.c.print([]byte("\n\\ No newline at end of file\n")...)
		}
	}
}

// normal prints one change: 3c4,5 and the lines.
func (r *diffRun) normal(a, b *diffSide, h diffHunk) {
	span := func(lo, hi int) string {
		if hi-lo > 1 {
			return fmt.Sprintf("%d,%d", lo+1, hi)
		}
		return strconv.Itoa(hi)
	}
	letter := "c"
	if h.a0 == h.a1 {
		letter = "a"
	} else if h.b0 == h.b1 {
		letter = "d"
	}
	r.c.printf("%s%s%s\n", span(h.a0, h.a1), letter, span(h.b0, h.b1))
	r.lines("< ", a, h.a0, h.a1)
	if letter == "c" {
		r.c.print([]byte("---\n")...)
	}
	r.lines("> ", b, h.b0, h.b1)
}

func (r *diffRun) unifiedOut(a, b *diffSide, hunks []diffHunk) {
	for i, s := range []*diffSide{a, b} {
		label := s.name + "\t" + Strftime("%Y-%m-%d %H:%M:%S.%N %z", s.st.Mtime*1e9+s.st.MtimeNsec)
		if s.empty {
			label = s.name + "\t" + Strftime("%Y-%m-%d %H:%M:%S.%N %z", 0)
		}
		if i < len(r.labels) {
			label = r.labels[i]
		}
		r.c.printf("%s %s\n", [2]string{"---", "+++"}[i], label)
	}
	for i := 0; i < len(hunks); {
		j := i + 1
		for j < len(hunks) && hunks[j].a0-hunks[j-1].a1 <= 2*r.context {
			j++
		}
		first, last := hunks[i], hunks[j-1]
		lo := max(0, first.a0-r.context)
		hi := min(len(a.lines), last.a1+r.context)
		lob, hib := first.b0-(first.a0-lo), last.b1+(hi-last.a1)
		span := func(lo, hi int) string {
			switch hi - lo {
			case 1:
				return strconv.Itoa(hi)
			case 0:
				return fmt.Sprintf("%d,0", lo)
			}
			return fmt.Sprintf("%d,%d", lo+1, hi-lo)
		}
		r.c.printf("@@ -%s +%s @@\n", span(lo, hi), span(lob, hib))
		at := lo
		for _, h := range hunks[i:j] {
			r.lines(" ", a, at, h.a0)
			r.lines("-", a, h.a0, h.a1)
			r.lines("+", b, h.b0, h.b1)
			at = h.a1
		}
		r.lines(" ", a, at, hi)
		i = j
	}
}
