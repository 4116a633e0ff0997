package user

import (
	"path"
	"strings"

	"kscope/kernel"
)

// cp and mv.

var cpOptions = []option{{'a', "archive", false, 0}, {'d', "", false, 0}, {'f', "force", false, 0}, {'i', "interactive", false, 0}, {'L', "dereference", false, 0},
	{'n', "no-clobber", false, 0}, {'P', "no-dereference", false, 0}, {'p', "", false, 0}, {0, "preserve?", true, 'p'}, {'R', "recursive", false, 'r'}, {'r', "", false, 0},
	{'t', "target-directory", true, 0}, {'T', "no-target-directory", false, 0}, {'u', "update", false, 0}, {'v', "verbose", false, 0}, {'l', "link", false, 0}, {'s', "symbolic-link", false, 0}}

var mvOptions = []option{{'f', "force", false, 0}, {'i', "interactive", false, 0}, {'n', "no-clobber", false, 0}, {'t', "target-directory", true, 0},
	{'T', "no-target-directory", false, 0}, {'u', "update", false, 0}, {'v', "verbose", false, 0}}

// copyRun is one run of cp or mv.
type copyRun struct {
	c      *cmd
	on     [256]bool
	follow bool // symbolic links below the arguments' level
	bad    bool
}

// targets splits the operands into sources and where each goes; false when the use was wrong.
func (c *cmd) targets(args []string, dir string, plain bool) (from []string, to func(string) string, ok bool) {
	switch {
	case len(args) == 0:
		c.errorf("missing file operand")
	case len(args) == 1 && dir == "":
		c.errorf("missing destination file operand after %s", quoted(args[0]))
	case plain && len(args) > 2:
		c.errorf("extra operand %s", quoted(args[2]))
	default:
		ok = true
	}
	if !ok {
		return nil, nil, false
	}
	last := args[len(args)-1]
	if dir != "" {
		return args, func(f string) string { return joinPath(dir, path.Base(f)) }, true
	}
	from = args[:len(args)-1]
	st, e := c.s.Stat(last)
	if isDir := e == 0 && st.Mode&modeType == modeDir; isDir && !plain {
		return from, func(f string) string { return joinPath(last, path.Base(f)) }, true
	}
	if len(from) > 1 {
		if e == 0 {
			e = kernel.ENOTDIR
		}
		c.errorf("target %s: %s", quoted(last), e.Error())
		return nil, func(string) string { return "" }, false
	}
	return from, func(string) string { return last }, true
}

// nobodyAsked refuses options that would ask.
func (c *cmd) nobodyAsked() int {
	c.errorf("option -i is not supported: nobody is asked here")
	return 1
}

func joinPath(dir, name string) string { return strings.TrimSuffix(dir, "/") + "/" + name }

func cp(c *cmd) int {
	r := &copyRun{c: c, follow: true}
	return r.run(cpOptions, func(id byte) {
		switch id {
		case 'a':
			r.on['r'], r.on['p'], r.follow = true, true, false
		case 'd', 'P':
			r.follow = false
		case 'r':
			r.follow = r.follow && r.on['L']
		case 'L':
			r.follow = true
		}
	}, func(from, to string) {
		r.copy(from, to, r.follow || !r.on['r'] && !r.on['d'] && !r.on['P'])
	})
}

// run is what cp and mv have in common: option hears of each option, one does the work for a source and its target.
func (r *copyRun) run(opts []option, option func(id byte), one func(from, to string)) int {
	found, args, status, done := r.c.parse(opts, 1)
	if done {
		return status
	}
	dir := ""
	for _, o := range found {
		r.on[o.id] = true
		switch o.id {
		case 'i':
			return r.c.nobodyAsked()
		case 't':
			dir = o.value
		}
		option(o.id)
	}
	from, to, ok := r.c.targets(args, dir, r.on['T'])
	if !ok {
		if to == nil {
			return r.c.tryHelp(1)
		}
		return 1
	}
	for _, f := range from {
		one(f, to(f))
	}
	if r.bad {
		return 1
	}
	return 0
}

func (r *copyRun) fail(format string, args ...any) {
	r.bad = true
	r.c.errorf(format, args...)
}

// copy makes to a copy of from, recursively with -r.
func (r *copyRun) copy(from, to string, follow bool) bool {
	s := r.c.s
	st, e := s.Lstat(from)
	if follow {
		st, e = s.Stat(from)
	}
	if e != 0 {
		r.fail("cannot stat %s: %s", quoted(from), e.Error())
		return false
	}
	old, oe := s.Stat(to)
	switch {
	case oe == 0 && r.on['n']:
		return true
	case oe == 0 && r.on['u'] && old.Mtime >= st.Mtime:
		return true
	case oe == 0 && old.Ino == st.Ino && old.Dev == st.Dev:
		r.fail("%s and %s are the same file", quoted(from), quoted(to))
		return false
	case st.Mode&modeType == modeDir:
		return r.copyDir(from, to, st, old, oe)
	case oe == 0 && old.Mode&modeType == modeDir:
		r.fail("cannot overwrite directory %s with non-directory", quoted(to))
		return false
	}
	if r.on['v'] {
		r.c.printf("%s -> %s\n", quoted(from), quoted(to))
	}
	switch {
	case r.on['l'], r.on['s']:
		call := s.Link
		if r.on['s'] {
			call = s.Symlink
		}
		if e := call(from, to); e != 0 {
			r.fail("cannot create %s link %s to %s: %s", map[bool]string{true: "symbolic", false: "hard"}[r.on['s']], quoted(to), quoted(from), e.Error())
			return false
		}
		return true
	case st.Mode&modeType == modeLnk:
		text, e := s.Readlink(from)
		if e == 0 {
			if oe == 0 {
				s.Unlink(to)
			}
			e = s.Symlink(text, to)
		}
		if e != 0 {
			r.fail("cannot create symbolic link %s: %s", quoted(to), e.Error())
		}
		return e == 0
	case st.Mode&modeType != modeReg && r.on['r']:
		if e := s.do1("mknod", to, int(st.Mode), st.Rdev); e != 0 {
			r.fail("cannot create special file %s: %s", quoted(to), e.Error())
			return false
		}
		return true
	}
	return r.data(from, to, st, oe != 0)
}

// data copies bytes with 128 KiB calls, as coreutils does; the bytes stay in the guest's memory.
func (r *copyRun) data(from, to string, st Stat, fresh bool) bool {
	s := r.c.s
	in, e := s.Open(from, oRdonly, 0)
	if e != 0 {
		r.fail("cannot open %s for reading: %s", quoted(from), e.Error())
		return false
	}
	defer s.Close(in)
	flags := oWronly | oTrunc
	if fresh {
		flags = oWronly | oCreat | oExcl
	}
	out, e := s.Open(to, flags, st.Mode&0o777)
	if e != 0 && r.on['f'] && !fresh {
		s.Unlink(to)
		out, e = s.Open(to, oWronly|oCreat|oExcl, st.Mode&0o777)
	}
	if e != 0 {
		r.fail("cannot create regular file %s: %s", quoted(to), e.Error())
		return false
	}
	buf, e := s.Mmap(catBuffer)
	if e != 0 {
		r.fail("memory exhausted")
		return false
	}
	defer s.Munmap(buf)
	for {
		n, e := s.ReadInto(in, buf)
		if e != 0 {
			r.fail("error reading %s: %s", quoted(from), e.Error())
			return false
		}
		if n == 0 {
			break
		}
		for done := 0; done < n; {
			k, e := s.WriteFrom(out, Buf{buf.Addr + uint64(done), buf.Size - done}, n-done)
			if e != 0 {
				r.fail("error writing %s: %s", quoted(to), e.Error())
				return false
			}
			done += k
		}
	}
	if e := s.Close(out); e != 0 {
		r.fail("failed to close %s: %s", quoted(to), e.Error())
		return false
	}
	r.attributes(to, st)
	return true
}

// attributes is what -p keeps.
func (r *copyRun) attributes(to string, st Stat) {
	if r.on['p'] {
		r.c.s.Utimensat(to, [2]int64{st.Atime, 0}, [2]int64{st.Mtime, 0})
		r.c.s.Chmod(to, st.Mode&0o7777)
	}
}

func (r *copyRun) copyDir(from, to string, st, old Stat, oe kernel.Errno) bool {
	s := r.c.s
	if !r.on['r'] {
		r.fail("-r not specified; omitting directory %s", quoted(from))
		return false
	}
	if strings.HasPrefix(path.Clean(to)+"/", path.Clean(from)+"/") {
		r.fail("cannot copy a directory, %s, into itself, %s", quoted(from), quoted(to))
		return false
	}
	if oe == 0 && old.Mode&modeType != modeDir {
		r.fail("cannot overwrite non-directory %s with directory %s", quoted(to), quoted(from))
		return false
	}
	if r.on['v'] && oe != 0 {
		r.c.printf("%s -> %s\n", quoted(from), quoted(to))
	}
	if oe != 0 {
		if e := s.Mkdir(to, st.Mode&0o777|0o700); e != 0 {
			r.fail("cannot create directory %s: %s", quoted(to), e.Error())
			return false
		}
	}
	names, e := s.ReadDir(from)
	if e != 0 {
		r.fail("cannot access %s: %s", quoted(from), e.Error())
		return false
	}
	ok := true
	for _, n := range names {
		if n.Name != "." && n.Name != ".." {
			ok = r.copy(joinPath(from, n.Name), joinPath(to, n.Name), r.follow) && ok
		}
	}
	r.attributes(to, st)
	return ok
}

func mv(c *cmd) int {
	r := &copyRun{c: c}
	return r.run(mvOptions, func(byte) {}, r.move)
}

func (r *copyRun) move(from, to string) {
	s := r.c.s
	st, e := s.Lstat(from)
	if e != 0 {
		r.fail("cannot stat %s: %s", quoted(from), e.Error())
		return
	}
	old, oe := s.Lstat(to)
	switch {
	case oe == 0 && (r.on['n'] || r.on['u'] && old.Mtime >= st.Mtime):
		return
	case oe == 0 && old.Ino == st.Ino && old.Dev == st.Dev && path.Clean(from) == path.Clean(to):
		r.fail("%s and %s are the same file", quoted(from), quoted(to))
		return
	case oe == 0 && old.Mode&modeType == modeDir && st.Mode&modeType != modeDir:
		r.fail("cannot overwrite directory %s with non-directory", quoted(to))
		return
	case oe == 0 && old.Mode&modeType != modeDir && st.Mode&modeType == modeDir:
		r.fail("cannot overwrite non-directory %s with directory %s", quoted(to), quoted(from))
		return
	case st.Mode&modeType == modeDir && strings.HasPrefix(path.Clean(to)+"/", path.Clean(from)+"/"):
		r.fail("cannot move %s to a subdirectory of itself, %s", quoted(from), quoted(to))
		return
	}
	e = s.Rename(from, to)
	if e == kernel.EXDEV { // another file system: copy and remove
		r.on['r'], r.on['p'], r.follow = true, true, false
		if r.copy(from, to, false) {
			rm := &rmRun{c: r.c, recursive: true, force: true}
			rm.remove(from)
		}
		e = 0
	}
	if e != 0 {
		r.fail("cannot move %s to %s: %s", quoted(from), quoted(to), e.Error())
		return
	}
	if r.on['v'] {
		r.c.printf("renamed %s -> %s\n", quoted(from), quoted(to))
	}
}
