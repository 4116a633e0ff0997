package user

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"

	"kscope/kernel/user/re"
)

var sedOptions = []option{{'n', "quiet", false, 0}, {0, "silent", false, 'n'}, {'e', "expression", true, 0}, {'f', "file", true, 0}, {'E', "regexp-extended", false, 0},
	{'r', "", false, 'E'}, {'s', "separate", false, 0}, {'i', "in-place?", true, 0}, {'u', "unbuffered", false, 0}, {'z', "null-data", false, 0}, {'l', "line-length", true, 0}}

// sedPanic is EXIT_PANIC: an error at run time.
const sedPanic = 4

const sedUsage = "Usage: sed [OPTION]... {script-only-if-no-other-script} [input-file]...\n\n"

// sedRun is one run of sed: the script's commands and the two spaces.
type sedRun struct {
	c        *cmd
	cmds     []sedCmd
	quiet    bool
	separate bool
	inPlace  bool

	unbuffered bool
	suffix     string
	end        byte
	wrap       int

	files   []string
	in      *input
	next    []byte // the line after the current one, to know the last
	nextEnd bool
	hasNext bool
	nextIn  *input // where it is from

	space, hold []byte
	whole       bool // the current line had its end
	missing     bool // what was printed last lacks its end
	line        int
	lastRx      *sedCmd
	lastRegex   sedAddr
	queue       []sedLater // what a, r, R and i put out at the end of the cycle
	substituted bool
	outFd       int
	outs        map[string]int
	readers     map[string]*input
	status      int
}

// sedLater is text, or a file's contents.
type sedLater struct {
	text []byte
	file string
}

func sed(c *cmd) int {
	c.usage = sedUsage
	found, files, status, done := c.parse(sedOptions, 1)
	if done {
		return status
	}
	r := &sedRun{c: c, end: '\n', outFd: 1, outs: map[string]int{"/dev/stdout": 1, "/dev/stderr": 2}, readers: map[string]*input{}, wrap: 70}
	var scripts [][2]string // where it is from ("" for -e), text
	flags := re.Escapes
	for _, o := range found {
		switch o.id {
		case 'n':
			r.quiet = true
		case 'e':
			scripts = append(scripts, [2]string{"", o.value})
		case 'f':
			in, e := c.tryInput(o.value)
			if e != 0 {
				c.errorf("couldn't open file %s: %s", o.value, e.Error())
				return sedPanic
			}
			text := string(in.all())
			in.close()
			if strings.HasPrefix(text, "#n\n") {
				r.quiet = true
			}
			scripts = append(scripts, [2]string{o.value, text})
		case 'E':
			flags |= re.Extended
		case 's':
			r.separate = true
		case 'i':
			r.separate, r.inPlace, r.suffix = true, true, o.value
		case 'z':
			r.end = 0
		case 'u':
			r.unbuffered = true
		case 'l':
			n, err := strconv.Atoi(o.value)
			if err != nil || n < 0 {
				c.errorf("invalid line length: %s", o.value)
				return 1
			}
			r.wrap = n
		}
	}
	if len(scripts) == 0 {
		if len(files) == 0 {
			c.s.Write(2, []byte(sedUsage))
			return 1
		}
		scripts, files = [][2]string{{"", files[0]}}, files[1:]
	}
	if err := r.compile(scripts, flags); err != nil {
		c.errorf("%s", err.Error())
		if _, ok := err.(*sedError); ok {
			return 1
		}
		return sedPanic
	}
	r.files = orStdin(files)
	code := r.run()
	for _, w := range sortedKeys(r.outs) {
		if fd := r.outs[w]; fd > 2 {
			c.s.Close(fd)
		}
	}
	return max(code, r.status)
}

func (r *sedRun) compile(scripts [][2]string, flags re.Flags) error {
	// -e pieces are lines of one script: a\ may go on in the next.
	var joined []string
	starts := []int{0}
	for _, s := range scripts {
		joined = append(joined, strings.TrimSuffix(s[1], "\n"))
		starts = append(starts, starts[len(starts)-1]+len(joined[len(joined)-1])+1)
	}
	text := strings.Join(joined, "\n")
	p := &sedParser{text: text, flags: flags}
	p.where = func(at int) string {
		k := 0
		for k+1 < len(scripts) && at > starts[k+1]-1 {
			k++
		}
		if scripts[k][0] == "" {
			n := 0
			for i := range k + 1 {
				if scripts[i][0] == "" {
					n++
				}
			}
			return fmt.Sprintf("-e expression #%d, char %d", n, at-starts[k])
		}
		return fmt.Sprintf("file %s line %d", scripts[k][0], 1+strings.Count(text[starts[k]:min(at, len(text))], "\n"))
	}
	if err := p.parse(); err != nil {
		return err
	}
	if len(p.blocks) > 0 {
		p.i = 0
		return &sedError{p.where(0), "unmatched `{'"}
	}
	labels := map[string]int{}
	for i, x := range p.cmds {
		if x.name == ':' {
			labels[x.text] = i
		}
	}
	for i := range p.cmds {
		x := &p.cmds[i]
		if strings.IndexByte("btT", x.name) >= 0 {
			x.jump = len(p.cmds)
			if at, ok := labels[x.text]; ok {
				x.jump = at
			} else if x.text != "" {
				return fmt.Errorf("can't find label for jump to `%s'", x.text)
			}
		}
		if x.file != "" && x.name != 'r' && x.name != 'R' {
			if _, ok := r.outs[x.file]; !ok {
				fd, e := r.c.s.Open(x.file, oWronly|oCreat|oTrunc, 0o666)
				if e != 0 {
					return fmt.Errorf("couldn't open file %s: %s", x.file, e.Error())
				}
				r.outs[x.file] = fd
			}
		}
	}
	r.cmds = p.cmds
	return nil
}

// advance reads the line behind the current one, from the next file where one ends.
func (r *sedRun) advance() {
	r.hasNext = false
	for {
		if r.nextIn != nil {
			text, whole, ok := r.nextIn.line(r.end)
			if ok {
				r.next, r.nextEnd, r.hasNext = text, whole, true
				return
			}
			if e := r.nextIn.err; e != 0 {
				r.c.errorf("read error on %s: %s", r.nextIn.file, e.Error())
				r.status = sedPanic
				return
			}
			if r.separate && r.in == r.nextIn { // the current line is this file's last
				return
			}
			r.nextIn.close()
			r.nextIn = nil
		}
		if len(r.files) == 0 {
			return
		}
		file := r.files[0]
		r.files = r.files[1:]
		fd := 0
		if file != "-" || r.inPlace {
			if st, e := r.c.s.Stat(file); r.inPlace && e == 0 && st.Mode&modeType != modeReg {
				r.c.errorf("couldn't edit %s: not a regular file", file)
				r.status = sedPanic
				continue
			}
			n, e := r.c.s.Open(file, oRdonly, 0)
			if fd = n; e != 0 {
				r.c.errorf("can't read %s: %s", file, e.Error())
				r.status = max(r.status, 2)
				continue
			}
		}
		r.nextIn = &input{c: r.c, fd: fd, file: file, size: 4096}
	}
}

// cycle makes the next line the current one.
func (r *sedRun) cycle() bool {
	if !r.hasNext && r.separate && r.nextIn != nil {
		r.closeOutput()
		r.nextIn.close()
		r.nextIn, r.in = nil, nil
		r.advance()
		if !r.inPlace && r.hasNext {
			r.line = 0
		}
	}
	if !r.hasNext {
		return false
	}
	if r.in != r.nextIn {
		r.in = r.nextIn
		if r.separate {
			r.line = 0
		}
		if r.inPlace && !r.openOutput() {
			return false
		}
	}
	r.space, r.whole = append([]byte(nil), r.next...), r.nextEnd
	r.line++
	r.substituted = false
	r.advance()
	return true
}

func (r *sedRun) openOutput() bool {
	fd, e := r.c.s.Open(r.in.file+".sedtmp", oWronly|oCreat|oTrunc, 0o600)
	if e != 0 {
		r.c.errorf("couldn't open temporary file %s: %s", r.in.file+".sedtmp", e.Error())
		r.status = 4
		return false
	}
	r.outFd = fd
	return true
}

// closeOutput puts the edited file in the place of the old one.
func (r *sedRun) closeOutput() {
	if !r.inPlace || r.outFd == 1 || r.in == nil {
		return
	}
	file := r.in.file
	r.c.s.Close(r.outFd)
	r.outFd = 1
	if st, e := r.c.s.Stat(file); e == 0 {
		r.c.s.Chmod(file+".sedtmp", st.Mode&0o7777)
	}
	if r.suffix != "" {
		r.c.s.Rename(file, file+r.suffix)
	}
	if e := r.c.s.Rename(file+".sedtmp", file); e != 0 {
		r.c.errorf("cannot rename %s: %s", file+".sedtmp", e.Error())
		r.status = 4
	}
}

func (r *sedRun) out(data []byte) {
	if r.missing {
		r.missing = false
		r.out([]byte{r.end})
	}
	if r.outFd == 1 {
		r.c.print(data...)
		return
	}
	r.c.writeAll(r.outFd, data)
}

// put prints a line; the last of a file that has no end gets one only when more is printed.
func (r *sedRun) put(text []byte) {
	r.out(text)
	if r.whole || r.hasNext {
		r.out([]byte{r.end})
	} else {
		r.missing = true
	}
}

// endCycle prints what the commands have put off.
func (r *sedRun) endCycle() {
	for _, q := range r.queue {
		if q.file == "" {
			r.out(q.text)
			continue
		}
		if text, e := r.c.readFile(q.file); e == 0 {
			r.out(text)
		}
	}
	r.queue = r.queue[:0]
}

func (r *sedRun) matches(a *sedAddr) bool {
	switch a.kind {
	case 'n':
		return r.line == a.n
	case '$':
		return !r.hasNext
	case '~':
		return a.m <= 0 && r.line == a.n || a.m > 0 && r.line >= a.n && (r.line-a.n)%a.m == 0
	case '/':
		if a.rx == nil {
			a = &r.lastRegex
		}
		r.lastRegex = *a
		return a.rx != nil && a.rx.Match(r.space)
	}
	return false
}

// selected says whether a command's addresses choose the current line (match_address_p in sed/execute.c).
func (r *sedRun) selected(x *sedCmd) bool {
	switch {
	case x.a1.kind == 0:
		return true
	case x.a2.kind == 0:
		return r.matches(&x.a1)
	}
	if !x.active {
		if x.a1.kind == 'n' && x.a1.n == 0 { // 0,/re/
			if r.line != 1 {
				return false
			}
			x.active = !r.matches(&x.a2)
			return true
		}
		if !r.matches(&x.a1) {
			return false
		}
		switch x.a2.kind {
		case 'n':
			x.until = x.a2.n
		case '+':
			x.until = r.line + x.a2.n
		case 'm':
			x.until = r.line
			if x.a2.n > 0 {
				x.until = r.line - r.line%x.a2.n + x.a2.n
			}
		case '$', '/':
			x.active = true
			return true
		}
		x.active = x.until > r.line
		return true
	}
	switch x.a2.kind {
	case '$', '/':
		x.active = !r.matches(&x.a2)
	default:
		x.active = r.line < x.until
		if r.line > x.until { // the end was passed by n or N
			return r.matches(&x.a1)
		}
	}
	return true
}

func (r *sedRun) run() int {
	r.advance()
	for r.cycle() {
		for again := true; again; {
			again = false
			code, act := r.script()
			switch act {
			case 'D':
				again = true
				r.endCycle()
				continue
			case 'Q':
				r.closeOutput()
				return code
			}
			if act != 'd' && !r.quiet {
				r.put(r.space)
			}
			r.endCycle()
			if act == 'q' {
				if r.inPlace {
					for _, l := range r.rest() {
						r.out(l)
					}
				}
				r.closeOutput()
				return code
			}
		}
		if r.unbuffered {
			r.c.flush()
		}
		if r.c.wroteBad {
			return sedPanic
		}
	}
	r.closeOutput()
	return 0
}

// rest is what is left of the file that is edited in place.
func (r *sedRun) rest() (out [][]byte) {
	if r.hasNext && r.in == r.nextIn {
		out = append(out, append(bytes.Clone(r.next), r.end), r.in.all())
	}
	return out
}
