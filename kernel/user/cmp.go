package user

import (
	"bytes"
	"strconv"
)

// cmpCommand is cmp of diffutils': the first difference of two files, or all of them.
func cmpCommand(c *cmd) int {
	c.usage = "cmp: "
	found, args, status, done := c.parse([]option{{'s', "quiet", false, 0}, {0, "silent", false, 's'}, {'l', "verbose", false, 0}, {'b', "print-bytes", false, 0}, {'n', "bytes", true, 0}}, 2)
	if done {
		return status
	}
	silent, verbose, limit := false, false, -1
	for _, o := range found {
		switch o.id {
		case 's':
			silent = true
		case 'l':
			verbose = true
		case 'b':
			c.errorf("-b is not supported")
			return 2
		case 'n':
			n, err := strconv.Atoi(o.value)
			if err != nil || n < 0 {
				c.errorf("invalid --bytes value '%s'", o.value)
				return 2
			}
			limit = n
		}
	}
	if len(args) == 0 {
		c.errorf("missing operand after '%s'", c.argv[0])
		return c.tryHelp(2)
	}
	if len(args) > 2 {
		c.errorf("extra operand '%s'", args[2])
		return c.tryHelp(2)
	}
	names := [2]string{args[0], "-"}
	if len(args) == 2 {
		names[1] = args[1]
	}
	text, ok := c.cmpFiles(names, limit, silent)
	if !ok {
		return 2
	}
	a, b := text[0], text[1]
	c.s.Work(len(a))
	n := min(len(a), len(b))
	differ := 0
	for i := 0; i < n; i++ {
		if a[i] == b[i] {
			continue
		}
		differ = 1
		if verbose && !silent {
			c.printf("%*d %3o %3o\n", len(strconv.Itoa(max(len(a), len(b)))), i+1, a[i], b[i])
			continue
		}
		if !silent {
			c.printf("%s %s differ: byte %d, line %d\n", names[0], names[1], i+1, 1+bytes.Count(a[:i], []byte("\n")))
		}
		return 1
	}
	if len(a) == len(b) {
		return differ
	}
	if !silent {
		short, at := names[0], a
		if len(b) < len(a) {
			short, at = names[1], b
		}
		c.cmpEnd(short, at, verbose)
	}
	return 1
}

// cmpEnd says where the shorter file ends.
func (c *cmd) cmpEnd(short string, at []byte, verbose bool) {
	switch lines := bytes.Count(at, []byte("\n")); {
	case len(at) == 0:
		c.errorf("EOF on %s which is empty", short)
	case verbose:
		c.errorf("EOF on %s after byte %d", short, len(at))
	case at[len(at)-1] == '\n':
		c.errorf("EOF on %s after byte %d, line %d", short, len(at), lines)
	default:
		c.errorf("EOF on %s after byte %d, in line %d", short, len(at), lines+1)
	}
}

// cmpFiles reads both files, as far as they are to be compared.
func (c *cmd) cmpFiles(names [2]string, limit int, silent bool) (text [2][]byte, ok bool) {
	for i, name := range names {
		b, e := c.readFile(map[bool]string{true: "/dev/stdin", false: name}[name == "-"])
		if e != 0 {
			if !silent {
				c.errorf("%s: %s", name, e.Error())
			}
			return text, false
		}
		if limit >= 0 {
			b = b[:min(limit, len(b))]
		}
		text[i] = b
	}
	return text, true
}
