package user

import (
	"fmt"
	"strings"

	"kscope/kernel"
)

// cmd is one run of a command: buffered standard output and messages in the style of error(3).
type cmd struct {
	s        *Sys
	name     string
	argv     []string
	buf      []byte
	wrote    bool
	wroteBad bool

	inOrder bool   // options end at the first operand: what follows is another command's
	usage   string // printed by tryHelp first, where the command does so
}

// stdioSize is the buffer of a stdio stream that is no terminal: st_blksize.
const stdioSize = 4096

// print appends to standard output; like stdio it writes whole buffers, and the rest at exit.
func (c *cmd) print(b ...byte) {
	if !c.wrote {
		c.wrote = true
		c.s.Fstat(1) // stdio asks for the buffer's size
	}
	c.s.Work(len(b))
	c.buf = append(c.buf, b...)
	for len(c.buf) > stdioSize { // a full buffer waits for the next byte
		if !c.write(c.buf[:stdioSize], false) {
			panic(exited{writeErrorOf(c.name).status})
		}
		c.buf = c.buf[stdioSize:]
	}
}

func (c *cmd) printf(format string, args ...any) { c.print([]byte(fmt.Sprintf(format, args...))...) }

// write writes to standard output; the message of a failure is the command's own.
func (c *cmd) write(b []byte, end bool) bool {
	_, e := c.s.Write(1, b)
	if e == 0 {
		return true
	}
	if !c.wroteBad {
		c.wroteBad, c.buf = true, nil
		row := writeErrorOf(c.name)
		lines := row.middle
		if end {
			lines = row.end
		}
		for _, l := range strings.Split(lines, "\n") {
			c.errorf("%s", strings.ReplaceAll(l, "%s", e.Error()))
		}
	}
	return false
}

// flush writes what is left; false when standard output has failed.
func (c *cmd) flush() bool {
	if len(c.buf) > 0 && !c.wroteBad {
		c.write(c.buf, true)
		c.buf = nil
	}
	return !c.wroteBad
}

// exited ends a command in the middle, as exit(3) does; command recovers it.
type exited struct{ status int }

// writeError is what a command says when standard output fails, in the middle and at its end, and its status then.
type writeError struct {
	middle, end string
	status      int
}

// writeErrors are those that differ from coreutils' close_stdout. Read-only.
var writeErrors = map[string]writeError{
	"awk":       {"fatal: print to \"standard output\" failed: %s", "warning: error writing standard output: %s", 2},
	"diff":      {"standard output: %s", "standard output: %s", 2},
	"env":       {"write error: %s", "write error: %s", 125},
	"expr":      {"write error: %s", "write error: %s", 3},
	"find":      {"'standard output': %s\nwrite error", "'standard output': %s\nwrite error", 1},
	"grep":      {"write error: %s", "write error: %s", 2},
	"head":      {"error writing 'standard output': %s", "write error: %s", 1},
	"hexdump":   {"write error", "write error: %s", 1},
	"ls":        {"write error: %s", "write error: %s", 2},
	"md5sum":    {"write error", "write error", 1},
	"sha256sum": {"write error", "write error", 1},
	"od":        {"write error\nwrite error: %s", "write error: %s", 1},
	"paste":     {"write error: %s\nwrite error", "write error: %s", 1},
	"printf":    {"write error", "write error: %s", 1},
	"rev":       {"write error", "write error: %s", 1},
	"sed":       {"couldn't write items to stdout: %s", "couldn't flush stdout: %s", sedPanic},
	"sort":      {"write failed: 'standard output': %s\nwrite error", "fflush failed: 'standard output': %s\nwrite error", 2},
	"tac":       {"write error", "write error: %s", 1},
	"tail":      {"error writing 'standard output': %s", "write error: %s", 1},
	"tr":        {"write error: %s\nwrite error", "write error: %s", 1},
	"wc":        {"write error", "write error", 1},
}

func writeErrorOf(name string) writeError {
	if row, ok := writeErrors[name]; ok {
		return row
	}
	return writeError{"write error: %s", "write error: %s", 1}
}

// errorf prints "name: message" on standard error, behind what standard output holds.
func (c *cmd) errorf(format string, args ...any) {
	c.flush()
	c.s.Write(2, []byte(c.name+": "+fmt.Sprintf(format, args...)+"\n"))
}

// fail reports a failed system call on a file.
func (c *cmd) fail(file string, e kernel.Errno) { c.errorf("%s: %s", shellName(file), e.Error()) }

// tryHelp ends a wrong use.
func (c *cmd) tryHelp(status int) int {
	c.flush()
	c.s.Write(2, []byte(c.usage+"Try '"+c.name+" --help' for more information.\n"))
	return status
}

// shellName quotes a file name as gnulib's quotef does: only when the shell would need it (quotearg.c, shell style).
func shellName(name string) string {
	special := name == "" || name == "{" || name == "}" || name[0] == '#' || name[0] == '~' ||
		strings.ContainsAny(name, " \t\n!\"$&()*;<=>[^`|?\\'")
	if !special {
		return name
	}
	return quoted(name)
}

// quoted is gnulib's quoteaf in the C locale: always in quotes.
func quoted(name string) string {
	if strings.Contains(name, "'") && !strings.ContainsAny(name, "\"$`\\") {
		return `"` + name + `"`
	}
	return "'" + strings.ReplaceAll(name, "'", `'\''`) + "'"
}

// option is one that a command knows. arg says that a value follows.
type option struct {
	short byte   // 0: long only; then id counts
	long  string // with ? behind it the value may be absent, and must be attached
	arg   bool
	id    byte // what parse reports; 0: short
}

// given is one option of the command line.
type given struct {
	id    byte
	value string
}

// parse splits the arguments as GNU getopt_long does: options anywhere until --, long ones by any unique prefix. When
// done is true the command ends with status (a wrong use, --help, --version).
func (c *cmd) parse(opts []option, bad int) (found []given, operands []string, status int, done bool) {
	args := c.argv[1:]
	for i := 0; i < len(args); i++ {
		a := args[i]
		switch {
		case a == "--":
			return found, append(operands, args[i+1:]...), 0, false
		case strings.HasPrefix(a, "--"):
			g, used, ok, end := c.long(opts, a[2:], args[i+1:])
			if !ok {
				return nil, nil, c.tryHelp(bad), true
			}
			if end {
				return nil, nil, 0, true
			}
			found = append(found, g)
			i += used
		case len(a) > 1 && a[0] == '-':
			gs, used, ok := c.short(opts, a[1:], args[i+1:])
			if !ok {
				return nil, nil, c.tryHelp(bad), true
			}
			found = append(found, gs...)
			i += used
		case c.inOrder:
			return found, args[i:], 0, false
		default:
			operands = append(operands, a)
		}
	}
	return found, operands, 0, false
}

func (c *cmd) short(opts []option, letters string, rest []string) (found []given, used int, ok bool) {
	for j := 0; j < len(letters); j++ {
		o := findOption(opts, letters[j])
		if o == nil {
			c.errorf("invalid option -- '%c'", letters[j])
			return nil, 0, false
		}
		g := given{id: o.key()}
		if o.arg {
			switch {
			case j+1 < len(letters):
				g.value = letters[j+1:]
			case o.optional():
			case len(rest) > 0:
				g.value, used = rest[0], 1
			default:
				c.errorf("option requires an argument -- '%c'", letters[j])
				return nil, 0, false
			}
			return append(found, g), used, true
		}
		found = append(found, g)
	}
	return found, 0, true
}

func (c *cmd) long(opts []option, text string, rest []string) (g given, used int, ok, end bool) {
	name, value, hasValue := strings.Cut(text, "=")
	opts = append(opts[:len(opts):len(opts)], option{long: "help"}, option{long: "version"})
	var match []option
	for _, o := range opts {
		if o.name() == name {
			match = []option{o}
			break
		}
		if o.long != "" && strings.HasPrefix(o.name(), name) {
			match = append(match, o)
		}
	}
	switch len(match) {
	case 0:
		c.errorf("unrecognized option '--%s'", text)
		return g, 0, false, false
	case 1:
	default:
		var all []string
		for _, o := range match {
			all = append(all, "'--"+o.name()+"'")
		}
		c.errorf("option '--%s' is ambiguous; possibilities: %s", name, strings.Join(all, " "))
		return g, 0, false, false
	}
	o := match[0]
	switch {
	case o.arg && hasValue:
		return given{o.key(), value}, 0, true, false
	case o.optional():
		return given{id: o.key()}, 0, true, false
	case o.arg && len(rest) > 0:
		return given{o.key(), rest[0]}, 1, true, false
	case o.arg:
		c.errorf("option '--%s' requires an argument", o.long)
		return g, 0, false, false
	case hasValue:
		c.errorf("option '--%s' doesn't allow an argument", o.long)
		return g, 0, false, false
	case o.long == "help":
		c.help()
		return g, 0, true, true
	case o.long == "version":
		c.printf("%s (kscope, after GNU coreutils 9.1)\n", c.name)
		return g, 0, true, true
	}
	return given{id: o.key()}, 0, true, false
}

func (c *cmd) help() {
	for _, p := range Commands() {
		if p.Name == c.name {
			c.printf("Usage: %s [OPTION]... [FILE]...\n%s\n", c.name, p.Doc)
		}
	}
}

func (o *option) optional() bool { return strings.HasSuffix(o.long, "?") }
func (o *option) name() string   { return strings.TrimSuffix(o.long, "?") }

func (o *option) key() byte {
	if o.id != 0 {
		return o.id
	}
	return o.short
}

func findOption(opts []option, short byte) *option {
	for i := range opts {
		if opts[i].short == short {
			return &opts[i]
		}
	}
	return nil
}

// openInput opens a file for reading; "-" is standard input. The message of a failure is printed.
func (c *cmd) openInput(file, format string) (fd int, ok bool) {
	if file == "-" {
		return 0, true
	}
	fd, e := c.s.Open(file, oRdonly, 0)
	if e != 0 {
		if format == "" {
			c.fail(file, e)
		} else {
			c.errorf(format, quoted(file), e.Error())
		}
		return -1, false
	}
	return fd, true
}

func (c *cmd) closeInput(fd int) {
	if fd > 0 {
		c.s.Close(fd)
	}
}
