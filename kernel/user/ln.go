package user

import (
	"encoding/binary"
	"strings"

	"kscope/kernel"
)

var lnOptions = []option{{'f', "force", false, 0}, {'n', "no-dereference", false, 0}, {'s', "symbolic", false, 0}, {'t', "target-directory", true, 0},
	{'T', "no-target-directory", false, 0}, {'v', "verbose", false, 0}, {'P', "physical", false, 0}}

func ln(c *cmd) int {
	found, args, status, done := c.parse(lnOptions, 1)
	if done {
		return status
	}
	var on [256]bool
	dir := ""
	for _, o := range found {
		on[o.id] = true
		if o.id == 't' {
			dir = o.value
		}
	}
	if len(args) == 1 && dir == "" && !on['T'] {
		dir = "."
	}
	plain := on['T']
	if on['n'] && len(args) == 2 {
		if st, e := c.s.Lstat(args[1]); e == 0 && st.Mode&modeType == modeLnk {
			plain = true
		}
	}
	from, to, ok := c.targets(args, dir, plain)
	if !ok {
		if to == nil {
			return c.tryHelp(1)
		}
		return 1
	}
	for _, f := range from {
		if !c.lnOne(f, to(f), &on) {
			status = 1
		}
	}
	return status
}

func (c *cmd) lnOne(from, to string, on *[256]bool) bool {
	to = strings.TrimPrefix(to, "./")
	if !on['s'] {
		st, e := c.s.Lstat(from)
		if e == 0 && st.Mode&modeType == modeDir {
			c.errorf("%s: hard link not allowed for directory", shellName(from))
			return false
		}
		if e != 0 {
			c.errorf("failed to access %s: %s", quoted(from), e.Error())
			return false
		}
	}
	call, sign := c.s.Link, "=>"
	if on['s'] {
		call, sign = c.s.Symlink, "->"
	}
	e := call(from, to)
	if e == kernel.EEXIST && on['f'] {
		c.s.Unlink(to)
		e = call(from, to)
	}
	switch {
	case e != 0 && on['s']:
		c.errorf("failed to create symbolic link %s: %s", quoted(to), e.Error())
	case e != 0 && e == kernel.EEXIST:
		c.errorf("failed to create hard link %s: %s", quoted(to), e.Error())
	case e != 0:
		c.errorf("failed to create hard link %s => %s: %s", quoted(to), quoted(from), e.Error())
	case on['v']:
		c.printf("%s %s %s\n", quoted(to), sign, quoted(from))
	}
	return e == 0
}

var touchOptions = []option{{'a', "", false, 0}, {'c', "no-create", false, 0}, {'d', "date", true, 0}, {'f', "", false, 0}, {'m', "", false, 0}, {'r', "reference", true, 0},
	{'t', "", true, 0}, {0, "time", true, 1}}

func touch(c *cmd) int {
	found, files, status, done := c.parse(touchOptions, 1)
	if done {
		return status
	}
	atime, mtime := [2]int64{0, utimeNow}, [2]int64{0, utimeNow}
	create, onlyA, onlyM, given := true, false, false, false
	for _, o := range found {
		switch o.id {
		case 'a':
			onlyA = true
		case 'm':
			onlyM = true
		case 'c':
			create = false
		case 'd':
			ns, ok := c.parseDate(o.value)
			if !ok {
				c.errorf("invalid date format %s", quoted(o.value))
				return 1
			}
			atime, given = [2]int64{ns / 1e9, ns % 1e9}, true
			mtime = atime
		case 'r':
			st, e := c.s.Stat(o.value)
			if e != 0 {
				c.errorf("failed to get attributes of %s: %s", quoted(o.value), e.Error())
				return 1
			}
			atime, mtime, given = [2]int64{st.Atime, 0}, [2]int64{st.Mtime, 0}, true
		case 't', 1:
			c.errorf("options -t and --time are not supported; use -d")
			return 1
		}
	}
	if len(files) == 0 {
		c.errorf("missing file operand")
		return c.tryHelp(1)
	}
	if onlyA && !onlyM {
		mtime[1] = utimeOmit
	}
	if onlyM && !onlyA {
		atime[1] = utimeOmit
	}
	for _, f := range files {
		if !c.touchOne(f, create, given || onlyA || onlyM, atime, mtime) {
			status = 1
		}
	}
	return status
}

// touchOne opens a file as coreutils does, with O_CREAT, and sets the times of the open file.
func (c *cmd) touchOne(file string, create, times bool, atime, mtime [2]int64) bool {
	oe := kernel.Errno(0)
	if create {
		var fd int
		fd, oe = c.s.Open(file, oWronly|oCreat|oNonblock, 0o666)
		if oe == 0 {
			c.s.Close(fd)
		}
	} else if _, e := c.s.Stat(file); e == kernel.ENOENT {
		return true
	}
	e := c.s.Utimensat(file, atime, mtime)
	switch {
	case e == 0:
		return true
	case oe != 0 && oe != kernel.EISDIR:
		c.errorf("cannot touch %s: %s", quoted(file), oe.Error())
	default:
		c.errorf("setting times of %s: %s", quoted(file), e.Error())
	}
	return false
}

var mktempOptions = []option{{'d', "directory", false, 0}, {'u', "dry-run", false, 0}, {'q', "quiet", false, 0}, {'p', "tmpdir?", true, 0}, {'t', "", false, 0}, {0, "suffix", true, 1}}

// mktemp takes its random letters from getrandom(2).
func mktemp(c *cmd) int {
	for i, a := range c.argv { // -p DIR takes a value, --tmpdir only behind =
		if a == "-p" && i+1 < len(c.argv) {
			c.argv = append(append(append([]string(nil), c.argv[:i]...), "--tmpdir="+c.argv[i+1]), c.argv[i+2:]...)
			break
		}
	}
	found, args, status, done := c.parse(mktempOptions, 1)
	if done {
		return status
	}
	var on [256]bool
	dir, suffix := "", ""
	for _, o := range found {
		on[o.id] = true
		switch o.id {
		case 'p':
			dir = o.value
		case 1:
			suffix = o.value
		}
	}
	if len(args) > 1 {
		c.errorf("too many templates")
		return c.tryHelp(1)
	}
	if dir == "" && (len(args) == 0 || on['p'] || on['t']) {
		if dir, _ = c.getenv("TMPDIR"); dir == "" {
			dir = "/tmp"
		}
	}
	template := "tmp.XXXXXXXXXX"
	if len(args) == 1 {
		template = args[0]
	}
	end := strings.LastIndexByte(template, 'X') + 1
	start := end
	for start > 0 && template[start-1] == 'X' {
		start--
	}
	if suffix == "" {
		suffix = template[end:]
	} else if end != len(template) {
		c.errorf("with --suffix, template %s must end in X", quoted(template))
		return 1
	}
	if end-start < 3 {
		c.errorf("too few X's in template %s", quoted(template))
		return 1
	}
	if strings.Contains(suffix, "/") {
		c.errorf("invalid suffix %s, contains directory separator", quoted(suffix))
		return 1
	}
	prefix := template[:start]
	if dir != "" {
		prefix = joinPath(dir, prefix)
	}
	return c.mktempMake(prefix, suffix, end-start, &on, dir, template)
}

func (c *cmd) mktempMake(prefix, suffix string, n int, on *[256]bool, dir, template string) int {
	for range 100 {
		name := prefix + c.randomName(n) + suffix
		var e kernel.Errno
		switch {
		case on['u']:
			if _, e = c.s.Lstat(name); e == kernel.ENOENT {
				e = 0
			}
		case on['d']:
			e = c.s.Mkdir(name, 0o700)
		default:
			var fd int
			if fd, e = c.s.Open(name, oRdwr|oCreat|oExcl, 0o600); e == 0 {
				c.s.Close(fd)
			}
		}
		if e == 0 {
			c.printf("%s\n", name)
			return 0
		}
		if e != kernel.EEXIST {
			if !on['q'] {
				full := template
				if dir != "" {
					full = joinPath(dir, template)
				}
				c.errorf("failed to create %s via template %s: %s", map[bool]string{true: "directory", false: "file"}[on['d']], quoted(full), e.Error())
			}
			return 1
		}
	}
	c.errorf("failed to create file: %s", kernel.EEXIST.Error())
	return 1
}

// randomName is n random letters and digits; where the kernel has no getrandom, from the clock and the pid, as glibc
// once did.
func (c *cmd) randomName(n int) string {
	const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
	var seed uint64
	if _, out, e := c.s.named("getrandom", Out(8), 8, 0); e == 0 {
		seed = binary.LittleEndian.Uint64(out[0])
	} else {
		ns, _ := c.s.ClockGettime(0)
		seed = ns ^ uint64(c.s.Pid())<<32
	}
	out := make([]byte, n)
	for i := range out {
		seed = seed*6364136223846793005 + 1442695040888963407
		out[i] = letters[(seed>>33)%uint64(len(letters))]
	}
	return string(out)
}

func mkfifo(c *cmd) int {
	found, names, status, done := c.parse([]option{{'m', "mode", true, 0}}, 1)
	if done {
		return status
	}
	mode := uint32(0o666)
	for _, o := range found {
		m, ok := parseMode(o.value, mode)
		if !ok {
			c.errorf("invalid mode")
			return 1
		}
		mode = m
	}
	if len(names) == 0 {
		c.errorf("missing operand")
		return c.tryHelp(1)
	}
	for _, name := range names {
		if e := c.s.do1("mknod", name, int(modeFIFO|mode), 0); e != 0 {
			c.errorf("cannot create fifo %s: %s", quoted(name), e.Error())
			status = 1
		} else if len(found) > 0 {
			c.s.Chmod(name, mode)
		}
	}
	return status
}
