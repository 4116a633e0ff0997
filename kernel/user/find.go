package user

import (
	"fmt"
	"path"
	"regexp"
	"strconv"
	"strings"

	"kscope/kernel/user/re"
)

// findTest is a test or an action: it gets the file and says whether the expression goes on.
type findTest func(f *findFile) bool

// findFile is the file that is being looked at.
type findFile struct {
	path  string
	start string // the starting point it is below
	depth int
	st    Stat
	r     *findRun
}

// findRun is one run of find, an expression compiled to closures.
type findRun struct {
	c        *cmd
	args     []string
	i        int
	min, max int
	depth    bool // contents before the directory
	follow   bool // symbolic links
	xdev     bool

	dev        uint64
	followArgs bool // symbolic links on the command line
	prune      bool // set by -prune for the current file
	quit       bool
	action     bool // the expression prints or does something itself
	status     int
	batches    []*findBatch
	end        func()
}

// findBatch is the files of an -exec … +.
type findBatch struct {
	argv, files []string
}

// findError is a wrong use.
type findError string

func find(c *cmd) (status int) {
	r := &findRun{c: c, args: c.argv[1:], max: -1}
	defer func() {
		switch e := recover().(type) {
		case nil:
		case findError:
			c.errorf("%s", string(e))
			status = 1
		default:
			panic(e)
		}
	}()
	for len(r.args) > 0 && (r.args[0] == "-L" || r.args[0] == "-P" || r.args[0] == "-H") {
		r.follow, r.followArgs = r.args[0] == "-L", r.args[0] == "-H"
		r.args = r.args[1:]
	}
	var starts []string
	for r.i < len(r.args) && !strings.HasPrefix(r.args[r.i], "-") && r.args[r.i] != "(" && r.args[r.i] != "!" {
		starts = append(starts, r.args[r.i])
		r.i++
	}
	test := func(*findFile) bool { return true }
	if r.i < len(r.args) {
		test = r.or()
		if r.i < len(r.args) {
			if r.args[r.i] == ")" {
				r.fail("invalid expression; you have too many ')'")
			}
			r.fail("paths must precede expression: `%s'", r.args[r.i])
		}
	}
	if len(starts) == 0 {
		starts = []string{"."}
	}
	for _, s := range starts {
		if r.quit {
			break
		}
		r.walk(&findFile{path: s, start: s, r: r}, test)
	}
	for _, b := range r.batches {
		if len(b.files) > 0 && !r.exec(append(append([]string(nil), b.argv...), b.files...)) {
			r.status = 1
		}
	}
	return r.status
}

func (r *findRun) fail(format string, args ...any) { panic(findError(fmt.Sprintf(format, args...))) }

func (r *findRun) walk(f *findFile, test findTest) {
	if r.quit {
		return
	}
	st, e := r.c.s.Lstat(f.path)
	if (r.follow || r.followArgs && f.depth == 0) && e == 0 && st.Mode&modeType == modeLnk {
		if to, e := r.c.s.Stat(f.path); e == 0 {
			st = to
		}
	}
	if e != 0 {
		r.c.errorf("%s: %s", quoted(f.path), e.Error())
		r.status = 1
		return
	}
	f.st, r.prune = st, false
	if f.depth == 0 {
		r.dev = st.Dev
	}
	visit := func() {
		if f.depth >= r.min && test(f) && !r.action && !r.quit {
			r.c.printf("%s\n", f.path)
		}
	}
	if !r.depth {
		visit()
	}
	pruned := r.prune
	if st.Mode&modeType == modeDir && !pruned && !(r.xdev && st.Dev != r.dev) && (r.max < 0 || f.depth < r.max) {
		names, e := r.c.s.ReadDir(f.path)
		if e != 0 {
			r.c.errorf("%s: %s", quoted(f.path), e.Error())
			r.status = 1
		}
		for _, n := range names {
			if n.Name != "." && n.Name != ".." {
				r.walk(&findFile{path: joinPath(f.path, n.Name), start: f.start, depth: f.depth + 1, r: r}, test)
			}
		}
	}
	if r.depth && !r.quit {
		visit()
	}
}

func (r *findRun) at(words ...string) bool { return r.i < len(r.args) && has(words, r.args[r.i]) }

func (r *findRun) or() findTest {
	l := r.and()
	for r.at("-o", "-or") {
		r.i++
		a, b := l, r.and()
		l = func(f *findFile) bool { return a(f) || b(f) }
	}
	return l
}

func (r *findRun) and() findTest {
	l := r.not()
	for r.i < len(r.args) && !r.at("-o", "-or", ")", ",") {
		if r.at("-a", "-and") {
			r.i++
		}
		a, b := l, r.not()
		l = func(f *findFile) bool { return a(f) && b(f) }
	}
	return l
}

func (r *findRun) not() findTest {
	if r.at("!", "-not") {
		r.i++
		t := r.not()
		return func(f *findFile) bool { return !t(f) }
	}
	if r.at("(") {
		r.i++
		if r.at(")") {
			r.fail("invalid expression; empty parentheses are not allowed.")
		}
		t := r.or()
		if !r.at(")") {
			r.fail("invalid expression; I was expecting to find a ')' somewhere but did not see one.")
		}
		r.i++
		return t
	}
	if r.i >= len(r.args) {
		r.fail("expected an expression after `%s'", r.args[len(r.args)-1])
	}
	r.i++
	return r.primary(r.args[r.i-1])
}

// value is the argument of a predicate.
func (r *findRun) value() string {
	if r.i >= len(r.args) {
		r.fail("missing argument to `%s'", r.args[r.i-1])
	}
	r.i++
	return r.args[r.i-1]
}

func (r *findRun) primary(name string) findTest {
	yes := func(*findFile) bool { return true }
	switch name {
	case "-maxdepth", "-mindepth":
		text := r.value()
		n, err := strconv.Atoi(text)
		if err != nil || n < 0 {
			r.fail("Expected a positive decimal integer argument to %s, but got %s", name, quoted(text))
		}
		if name == "-maxdepth" {
			r.max = n
		} else {
			r.min = n
		}
		return yes
	case "-depth", "-d":
		r.depth = true
		return yes
	case "-xdev", "-mount", "-noleaf", "-follow":
		r.follow = r.follow || name == "-follow"
		r.xdev = r.xdev || name == "-xdev" || name == "-mount"
		return yes
	case "-true":
		return yes
	case "-false":
		return func(*findFile) bool { return false }
	case "-name", "-iname", "-path", "-wholename", "-ipath":
		return findGlob(name, r.value())
	case "-regex", "-iregex":
		return r.regex(name, r.value())
	case "-type":
		return r.types(r.value())
	case "-size", "-mtime", "-mmin", "-links", "-inum", "-uid", "-gid":
		return r.numeric(name, r.value())
	case "-empty":
		return func(f *findFile) bool {
			if f.st.Mode&modeType == modeDir {
				names, e := r.c.s.ReadDir(f.path)
				return e == 0 && len(names) <= 2
			}
			return f.st.Mode&modeType == modeReg && f.st.Size == 0
		}
	case "-newer":
		ref := r.value()
		st, e := r.c.s.Stat(ref)
		if e != 0 {
			r.fail("%s: %s", quoted(ref), e.Error())
		}
		return func(f *findFile) bool { return f.st.Mtime > st.Mtime }
	case "-perm":
		return r.perm(r.value())
	case "-executable", "-readable", "-writable":
		mode := map[string]int{"-executable": 1, "-writable": 2, "-readable": 4}[name]
		return func(f *findFile) bool { return r.c.s.do1("access", f.path, mode) == 0 }
	}
	return r.act(name)
}

// act is the actions.
func (r *findRun) act(name string) findTest {
	switch name {
	case "-prune":
		return func(*findFile) bool { r.prune = true; return true }
	case "-quit":
		return func(*findFile) bool { r.quit = true; return true }
	case "-print", "-print0":
		r.action = true
		end := map[string]string{"-print": "\n", "-print0": "\x00"}[name]
		return func(f *findFile) bool { r.c.print([]byte(f.path + end)...); return true }
	case "-printf":
		r.action = true
		format := r.value()
		return func(f *findFile) bool { r.c.print([]byte(f.printf(format))...); return true }
	case "-delete":
		r.action, r.depth = true, true
		return func(f *findFile) bool {
			flag := 0
			if f.st.Mode&modeType == modeDir {
				flag = atRemovedir
			}
			e := r.c.s.do1("unlinkat", atFDCWD, f.path, flag)
			if e != 0 {
				r.c.errorf("cannot delete %s: %s", quoted(f.path), e.Error())
				r.status = 1
			}
			return e == 0
		}
	case "-exec", "-execdir", "-ok":
		if name == "-ok" {
			r.fail("-ok is not supported: nobody is asked here")
		}
		r.action = true
		return r.execTest(name)
	}
	if !strings.HasPrefix(name, "-") {
		r.fail("paths must precede expression: `%s'", name)
	}
	r.fail("unknown predicate `%s'", name)
	return nil
}

func (r *findRun) execTest(name string) findTest {
	var argv []string
	for {
		if r.i >= len(r.args) {
			r.fail("missing argument to `%s'", name)
		}
		w := r.args[r.i]
		r.i++
		if w == ";" {
			break
		}
		if w == "+" && len(argv) > 0 && argv[len(argv)-1] == "{}" {
			b := &findBatch{argv: argv[:len(argv)-1]}
			r.batches = append(r.batches, b)
			return func(f *findFile) bool { b.files = append(b.files, f.path); return true }
		}
		argv = append(argv, w)
	}
	if len(argv) == 0 {
		r.fail("invalid argument `;' to `%s'", name)
	}
	return func(f *findFile) bool {
		var words []string
		for _, w := range argv {
			words = append(words, strings.ReplaceAll(w, "{}", f.path))
		}
		return r.exec(words)
	}
}

func (r *findRun) exec(argv []string) bool {
	r.c.flush()
	pid, e := r.c.s.Fork(func(s *Sys) int {
		e := s.execvp(argv, s.Env())
		s.Write(2, []byte("find: "+quoted(argv[0])+": "+e.Error()+"\n"))
		return 1
	})
	if e != 0 {
		r.c.errorf("cannot fork: %s", e.Error())
		r.status = 1
		return false
	}
	_, ws, _ := r.c.s.Wait4(pid, 0)
	return ws == 0
}

func findGlob(name, pattern string) findTest {
	fold := strings.HasPrefix(name, "-i")
	whole := strings.HasSuffix(name, "path") || name == "-wholename"
	if fold {
		pattern = strings.ToLower(pattern)
	}
	rx := globPattern(pattern)
	return func(f *findFile) bool {
		text := f.path
		if !whole {
			if text = path.Base(f.path); f.path == "/" {
				text = "/"
			}
		}
		if fold {
			text = strings.ToLower(text)
		}
		return rx.MatchString(text)
	}
}

// globPattern compiles fnmatch(3)'s language without flags: * and ? match slashes.
func globPattern(pattern string) *regexp.Regexp {
	out := `(?s)\A`
	for i := 0; i < len(pattern); i++ {
		switch c := pattern[i]; c {
		case '*':
			out += ".*"
		case '?':
			out += "."
		case '\\':
			if i+1 < len(pattern) {
				i++
			}
			out += re.Quote(pattern[i : i+1])
		case '[':
			inner := pattern[i+1:]
			if strings.HasPrefix(inner, "!") {
				inner = "^" + inner[1:]
			}
			if n := bracketEnd(inner); n > 0 {
				if text, err := re.Translate("["+inner[:n], 0); err == nil {
					out += text
					i += n
					continue
				}
			}
			out += `\[`
		default:
			out += re.Quote(string([]byte{c}))
		}
	}
	rx, err := regexp.Compile(out + `\z`)
	if err != nil {
		return regexp.MustCompile(`\A` + re.Quote(pattern) + `\z`)
	}
	return rx
}
