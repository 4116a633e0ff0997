package user

import (
	"path"
	"strings"

	"kscope/kernel"
)

// basename, dirname, readlink, realpath, which, pwd.

var basenameOptions = []option{{'a', "multiple", false, 0}, {'s', "suffix", true, 0}, {'z', "zero", false, 0}}

func basename(c *cmd) int {
	c.inOrder = true
	found, args, status, done := c.parse(basenameOptions, 1)
	if done {
		return status
	}
	suffix, many, end := "", false, "\n"
	for _, o := range found {
		switch o.id {
		case 'a':
			many = true
		case 's':
			suffix, many = o.value, true
		case 'z':
			end = "\x00"
		}
	}
	switch {
	case len(args) == 0:
		c.errorf("missing operand")
		return c.tryHelp(1)
	case !many && len(args) > 2:
		c.errorf("extra operand %s", quoted(args[2]))
		return c.tryHelp(1)
	case !many && len(args) == 2:
		suffix, args = args[1], args[:1]
	}
	for _, a := range args {
		base := path.Base(a)
		if a == "" {
			base = ""
		}
		if base != suffix {
			base = strings.TrimSuffix(base, suffix)
		}
		c.print([]byte(base + end)...)
	}
	return 0
}

func dirname(c *cmd) int {
	found, args, status, done := c.parse([]option{{'z', "zero", false, 0}}, 1)
	if done {
		return status
	}
	if len(args) == 0 {
		c.errorf("missing operand")
		return c.tryHelp(1)
	}
	end := "\n"
	if len(found) > 0 {
		end = "\x00"
	}
	for _, a := range args {
		a = strings.TrimRight(a, "/") + map[bool]string{true: "/"}[a != "" && strings.Trim(a, "/") == ""]
		dir := "."
		if i := strings.LastIndexByte(a, '/'); i >= 0 {
			if dir = strings.TrimRight(a[:i], "/"); dir == "" {
				dir = "/"
			}
		}
		c.print([]byte(dir + end)...)
	}
	return 0
}

// canonical modes: what may be missing.
const (
	canonAll  = 'e' // nothing
	canonLast = 'f' // the last component
	canonAny  = 'm' // all
)

// canonical resolves a path to one without symbolic links, . and ..
func (c *cmd) canonical(file string, mode byte) (string, kernel.Errno) {
	if file == "" {
		return "", kernel.ENOENT
	}
	out := ""
	if file[0] != '/' {
		cwd, e := c.s.Getcwd()
		if e != 0 {
			return "", e
		}
		if out = cwd; out == "/" {
			out = ""
		}
	}
	rest := strings.Split(file, "/")
	for links := 0; len(rest) > 0; {
		name := rest[0]
		rest = rest[1:]
		switch name {
		case "", ".":
			continue
		case "..":
			out = out[:max(0, strings.LastIndexByte(out, '/'))]
			continue
		}
		at := out + "/" + name
		st, e := c.s.Lstat(at)
		last := strings.Trim(strings.Join(rest, "/"), "/") == ""
		switch {
		case e == kernel.ENOENT && (mode == canonAny || mode == canonLast && last):
		case e == kernel.ENOTDIR && mode == canonAny:
		case e != 0:
			return "", e
		case st.Mode&modeType == modeLnk:
			text, e := c.s.Readlink(at)
			if links++; links > 40 {
				e = kernel.ELOOP
			}
			if e != 0 {
				return "", e
			}
			if strings.HasPrefix(text, "/") {
				out = ""
			}
			rest = append(strings.Split(text, "/"), rest...)
			continue
		case st.Mode&modeType != modeDir && len(rest) > 0 && mode != canonAny:
			return "", kernel.ENOTDIR
		}
		out = at
	}
	if out == "" {
		out = "/"
	}
	return out, 0
}

var readlinkOptions = []option{{'f', "canonicalize", false, 0}, {'e', "canonicalize-existing", false, 0}, {'m', "canonicalize-missing", false, 0}, {'n', "no-newline", false, 0},
	{'q', "quiet", false, 0}, {'s', "silent", false, 'q'}, {'v', "verbose", false, 0}, {'z', "zero", false, 0}}

func readlink(c *cmd) int {
	found, files, status, done := c.parse(readlinkOptions, 1)
	if done {
		return status
	}
	mode, end, verbose := byte(0), "\n", false
	for _, o := range found {
		switch o.id {
		case 'f', 'e', 'm':
			mode = o.id
		case 'n':
			end = ""
		case 'z':
			end = "\x00"
		case 'v':
			verbose = true
		}
	}
	if len(files) == 0 {
		c.errorf("missing operand")
		return c.tryHelp(1)
	}
	for _, f := range files {
		var text string
		var e kernel.Errno
		if mode != 0 {
			text, e = c.canonical(f, mode)
		} else {
			text, e = c.s.Readlink(f)
		}
		if e != 0 {
			status = 1
			if verbose {
				c.fail(f, e)
			}
			continue
		}
		c.print([]byte(text + end)...)
	}
	return status
}

var realpathOptions = []option{{'e', "canonicalize-existing", false, 0}, {'m', "canonicalize-missing", false, 0}, {'q', "quiet", false, 0}, {'z', "zero", false, 0},
	{'P', "physical", false, 0}}

func realpath(c *cmd) int {
	found, files, status, done := c.parse(realpathOptions, 1)
	if done {
		return status
	}
	mode, end, quiet := byte(canonLast), "\n", false
	for _, o := range found {
		switch o.id {
		case 'e', 'm':
			mode = o.id
		case 'q':
			quiet = true
		case 'z':
			end = "\x00"
		}
	}
	if len(files) == 0 {
		c.errorf("missing operand")
		return c.tryHelp(1)
	}
	for _, f := range files {
		text, e := c.canonical(f, mode)
		if e != 0 {
			if status = 1; !quiet {
				c.fail(f, e)
			}
			continue
		}
		c.print([]byte(text + end)...)
	}
	return status
}

// which is debianutils': no message for what is not there.
func which(c *cmd) int {
	found, names, status, done := c.parse([]option{{'a', "", false, 0}, {'s', "", false, 0}}, 2)
	if done {
		return status
	}
	all, silent := false, false
	for _, o := range found {
		all = all || o.id == 'a'
		silent = silent || o.id == 's'
	}
	search, _ := c.getenv("PATH")
	if len(names) == 0 {
		return 1
	}
	for _, n := range names {
		hit := false
		for _, dir := range strings.Split(search, ":") {
			file := joinPath(dir, n)
			if strings.Contains(n, "/") {
				file = n
			}
			st, e := c.s.Stat(file)
			if e != 0 || st.Mode&modeType != modeReg || st.Mode&0o111 == 0 {
				continue
			}
			if !silent {
				c.printf("%s\n", file)
			}
			if hit = true; !all || file == n {
				break
			}
		}
		if !hit {
			status = 1
		}
	}
	return status
}

func pwd(c *cmd) int {
	if _, _, status, done := c.parse([]option{{'L', "logical", false, 0}, {'P', "physical", false, 0}}, 1); done {
		return status
	}
	dir, e := c.s.Getcwd()
	if e != 0 {
		c.errorf("error retrieving current directory: getcwd: cannot access parent directories: %s", e.Error())
		return 1
	}
	c.printf("%s\n", dir)
	return 0
}
