package user

import (
	"fmt"
	"path"
	"strings"

	"kscope/kernel"
)

// rm, rmdir, mkdir, mktemp, touch, ln, chmod.

var rmOptions = []option{{'d', "dir", false, 0}, {'f', "force", false, 0}, {'i', "", false, 0}, {'I', "", false, 0}, {'r', "recursive", false, 0}, {'R', "", false, 'r'},
	{'v', "verbose", false, 0}, {0, "no-preserve-root", false, 2}, {0, "preserve-root", false, 3}}

// rmRun is what the options of rm ask for.
type rmRun struct {
	c                              *cmd
	recursive, force, dir, verbose bool
	bad                            bool
}

func rm(c *cmd) int {
	found, files, status, done := c.parse(rmOptions, 1)
	if done {
		return status
	}
	r := &rmRun{c: c}
	root := true // is preserved
	for _, o := range found {
		switch o.id {
		case 'd':
			r.dir = true
		case 'f':
			r.force = true
		case 'r':
			r.recursive = true
		case 'v':
			r.verbose = true
		case 'i', 'I':
			return c.nobodyAsked()
		case 2:
			root = false
		}
	}
	if len(files) == 0 && !r.force {
		c.errorf("missing operand")
		return c.tryHelp(1)
	}
	for _, f := range files {
		base := path.Base(strings.TrimRight(f, "/"))
		switch {
		case r.recursive && (base == "." || base == "..") && f != "/":
			c.errorf("refusing to remove '.' or '..' directory: skipping %s", quoted(f))
			r.bad = true
		case r.recursive && path.Clean(f) == "/" && root:
			c.errorf("it is dangerous to operate recursively on '/'")
			c.errorf("use --no-preserve-root to override this failsafe")
			r.bad = true
		default:
			r.remove(f)
		}
	}
	if r.bad {
		return 1
	}
	return 0
}

func (r *rmRun) fail(file string, e kernel.Errno) bool {
	r.c.errorf("cannot remove %s: %s", quoted(file), e.Error())
	r.bad = true
	return false
}

func (r *rmRun) remove(file string) bool {
	s := r.c.s
	st, e := s.Lstat(file)
	if e != 0 {
		if r.force && (e == kernel.ENOENT || e == kernel.ENOTDIR) {
			return true
		}
		return r.fail(file, e)
	}
	if st.Mode&modeType != modeDir {
		if e := s.do1("unlinkat", atFDCWD, file, 0); e != 0 {
			return r.fail(file, e)
		}
		if r.verbose {
			r.c.printf("removed %s\n", quoted(file))
		}
		return true
	}
	if !r.recursive && !r.dir {
		return r.fail(file, kernel.EISDIR)
	}
	if r.recursive {
		names, e := s.ReadDir(file)
		if e != 0 {
			return r.fail(file, e)
		}
		ok := true
		for _, n := range names {
			if n.Name != "." && n.Name != ".." {
				ok = r.remove(joinPath(file, n.Name)) && ok
			}
		}
		if !ok {
			return false
		}
	}
	if e := s.do1("unlinkat", atFDCWD, file, atRemovedir); e != 0 {
		return r.fail(file, e)
	}
	if r.verbose {
		r.c.printf("removed directory %s\n", quoted(file))
	}
	return true
}

var rmdirOptions = []option{{'p', "parents", false, 0}, {'v', "verbose", false, 0}, {0, "ignore-fail-on-non-empty", false, 1}}

func rmdir(c *cmd) int {
	found, dirs, status, done := c.parse(rmdirOptions, 1)
	if done {
		return status
	}
	var on [256]bool
	for _, o := range found {
		on[o.id] = true
	}
	if len(dirs) == 0 {
		c.errorf("missing operand")
		return c.tryHelp(1)
	}
	for _, d := range dirs {
		for what := ""; ; what = "directory " {
			if on['v'] {
				c.printf("rmdir: removing directory, %s\n", quoted(d))
			}
			if e := c.s.Rmdir(d); e != 0 {
				if on[1] && (e == kernel.ENOTEMPTY || e == kernel.EEXIST) {
					break
				}
				c.errorf("failed to remove %s%s: %s", what, quoted(d), e.Error())
				status = 1
				break
			}
			d = strings.TrimRight(d, "/")
			i := strings.LastIndexByte(d, '/')
			if !on['p'] || i <= 0 {
				break
			}
			d = strings.TrimRight(d[:i], "/")
		}
	}
	return status
}

var mkdirOptions = []option{{'m', "mode", true, 0}, {'p', "parents", false, 0}, {'v', "verbose", false, 0}}

func mkdir(c *cmd) int {
	found, dirs, status, done := c.parse(mkdirOptions, 1)
	if done {
		return status
	}
	mode, set, parents, verbose := uint32(0o777), false, false, false
	for _, o := range found {
		switch o.id {
		case 'm':
			m, ok := parseMode(o.value, 0o777)
			if !ok {
				c.errorf("invalid mode %s", quoted(o.value))
				return 1
			}
			mode, set = m, true
		case 'p':
			parents = true
		case 'v':
			verbose = true
		}
	}
	if len(dirs) == 0 {
		c.errorf("missing operand")
		return c.tryHelp(1)
	}
	for _, d := range dirs {
		if !c.mkdirOne(d, mode, parents, verbose) {
			status = 1
		} else if set {
			c.s.Chmod(d, mode)
		}
	}
	return status
}

func (c *cmd) mkdirOne(dir string, mode uint32, parents, verbose bool) bool {
	var steps []string
	if parents {
		for i := 1; i < len(dir); i++ {
			if dir[i] == '/' && dir[i-1] != '/' {
				steps = append(steps, dir[:i])
			}
		}
	}
	for _, step := range append(steps, dir) {
		m := mode
		if step != dir {
			m = 0o777
		}
		e := c.s.Mkdir(step, m)
		if e == 0 && verbose {
			c.printf("mkdir: created directory %s\n", quoted(step))
		}
		if e != 0 && parents {
			if st, e2 := c.s.Stat(step); e2 == 0 && st.Mode&modeType == modeDir {
				continue
			}
		}
		if e == kernel.EEXIST && step != dir {
			e = kernel.ENOTDIR
		}
		if e != 0 {
			c.errorf("cannot create directory %s: %s", quoted(step), e.Error())
			return false
		}
	}
	return true
}

// parseMode reads 755 or u+rwx,go-w; old is what a change starts from.
func parseMode(text string, old uint32) (uint32, bool) {
	var n uint32
	if text != "" && strings.Trim(text, "01234567") == "" {
		_, err := fmt.Sscanf(text, "%o", &n)
		return n, err == nil && n <= 0o7777
	}
	for _, part := range strings.Split(text, ",") {
		i := strings.IndexAny(part, "+-=")
		if i < 0 || strings.Trim(part[:i], "ugoa") != "" {
			return 0, false
		}
		who := uint32(0)
		for _, w := range part[:i] {
			who |= map[rune]uint32{'u': 0o4700, 'g': 0o2070, 'o': 0o1007, 'a': 0o7777}[w]
		}
		if i == 0 {
			who = 0o7755 // as with the umask 022
			if part[0] == '-' || strings.IndexByte(part, 'w') < 0 {
				who = 0o7777
			}
		}
		bits := uint32(0)
		for _, p := range part[i+1:] {
			switch p {
			case 'r', 'w', 'x':
				bits |= map[rune]uint32{'r': 0o444, 'w': 0o222, 'x': 0o111}[p]
			case 'X':
				if old&0o111 != 0 || old&modeType == modeDir {
					bits |= 0o111
				}
			case 's':
				bits |= 0o6000
			case 't':
				bits |= 0o1000
			default:
				return 0, false
			}
		}
		switch part[i] {
		case '+':
			old |= bits & who
		case '-':
			old &^= bits & who
		default:
			old = old&^(who&0o777) | bits&who
		}
	}
	return old & 0o7777, true
}

func chmod(c *cmd) int {
	c.inOrder = true
	args := c.argv[1:]
	recursive := false
	for len(args) > 0 && (args[0] == "-R" || args[0] == "-f" || args[0] == "-v" || args[0] == "--") {
		recursive = recursive || args[0] == "-R"
		args = args[1:]
	}
	if len(args) < 2 {
		if len(args) == 0 {
			c.errorf("missing operand")
		} else {
			c.errorf("missing operand after %s", quoted(args[0]))
		}
		return c.tryHelp(1)
	}
	if _, ok := parseMode(args[0], 0); !ok {
		c.errorf("invalid mode: %s", quoted(args[0]))
		return c.tryHelp(1)
	}
	status := 0
	for _, f := range args[1:] {
		if !c.chmodOne(f, args[0], recursive) {
			status = 1
		}
	}
	return status
}

func (c *cmd) chmodOne(file, mode string, recursive bool) bool {
	st, e := c.s.Stat(file)
	if e != 0 {
		c.errorf("cannot access %s: %s", quoted(file), e.Error())
		return false
	}
	m, _ := parseMode(mode, st.Mode)
	if e := c.s.Chmod(file, m); e != 0 {
		c.errorf("changing permissions of %s: %s", quoted(file), e.Error())
		return false
	}
	ok := true
	if recursive && st.Mode&modeType == modeDir {
		names, _ := c.s.ReadDir(file)
		for _, n := range names {
			if n.Name != "." && n.Name != ".." {
				ok = c.chmodOne(joinPath(file, n.Name), mode, true) && ok
			}
		}
	}
	return ok
}
