package user

import (
	"fmt"
	"strconv"
	"strings"
)

// testRun evaluates an expression of test(1): the numbers of arguments decide up to four, then a grammar with -a and -o
// (src/test.c).
type testRun struct {
	c    *cmd
	args []string
	i    int
}

// testError is a syntax error: status 2.
type testError string

func test(c *cmd) (status int) {
	args := c.argv[1:]
	if c.name == "[" {
		if len(args) == 1 && args[0] == "--help" {
			c.help()
			return 0
		}
		if len(args) == 0 || args[len(args)-1] != "]" {
			c.errorf("missing ']'")
			return 2
		}
		args = args[:len(args)-1]
	}
	t := &testRun{c: c, args: args}
	defer func() {
		switch r := recover().(type) {
		case nil:
		case testError:
			c.errorf("%s", string(r))
			status = 2
		default:
			panic(r)
		}
	}()
	if t.posix(args) {
		return 0
	}
	return 1
}

func (t *testRun) fail(format string, args ...any) { panic(testError(fmt.Sprintf(format, args...))) }

func (t *testRun) posix(args []string) bool {
	switch len(args) {
	case 0:
		return false
	case 1:
		return args[0] != ""
	case 2:
		if args[0] == "!" {
			return args[1] == ""
		}
		if isUnary(args[0]) {
			return t.unary(args[0], args[1])
		}
		if len(args[0]) == 2 && args[0][0] == '-' {
			t.fail("%s: unary operator expected", quoted(args[0]))
		}
		t.fail("missing argument after %s", quoted(args[1]))
	case 3:
		switch {
		case isBinary(args[1]):
			return t.binary(args[0], args[1], args[2])
		case args[0] == "!":
			return !t.posix(args[1:])
		case args[0] == "(" && args[2] == ")":
			return args[1] != ""
		case args[1] == "-a" || args[1] == "-o":
		default:
			t.fail("%s: binary operator expected", quoted(args[1]))
		}
	case 4:
		switch {
		case args[0] == "!":
			return !t.posix(args[1:])
		case args[0] == "(" && args[3] == ")":
			return t.posix(args[1:3])
		}
	}
	t.i = 0
	v := t.or()
	if t.i < len(t.args) {
		t.fail("extra argument %s", quoted(t.args[t.i]))
	}
	return v
}

func (t *testRun) more() string {
	if t.i >= len(t.args) {
		t.fail("missing argument after %s", quoted(t.args[len(t.args)-1]))
	}
	t.i++
	return t.args[t.i-1]
}

func (t *testRun) at(word string) bool { return t.i < len(t.args) && t.args[t.i] == word }

func (t *testRun) or() bool {
	v := t.and()
	for t.at("-o") {
		t.i++
		w := t.and()
		v = v || w
	}
	return v
}

func (t *testRun) and() bool {
	v := t.term()
	for t.at("-a") {
		t.i++
		w := t.term()
		v = v && w
	}
	return v
}

func (t *testRun) term() bool {
	if t.at("!") {
		t.i++
		return !t.term()
	}
	if t.at("(") {
		t.i++
		v := t.or()
		if !t.at(")") {
			if t.i < len(t.args) {
				t.fail("')' expected, found %s", t.args[t.i])
			}
			t.fail("')' expected")
		}
		t.i++
		return v
	}
	if t.i+2 < len(t.args) && isBinary(t.args[t.i+1]) {
		a, op, b := t.args[t.i], t.args[t.i+1], t.args[t.i+2]
		t.i += 3
		return t.binary(a, op, b)
	}
	word := t.more()
	if isUnary(word) && t.i < len(t.args) {
		return t.unary(word, t.more())
	}
	return word != ""
}

func isUnary(op string) bool {
	return len(op) == 2 && op[0] == '-' && strings.IndexByte("bcdefgGhkLnNOprsStuwxz", op[1]) >= 0
}

func isBinary(op string) bool {
	return has([]string{"=", "==", "!=", "<", ">", "-eq", "-ne", "-lt", "-le", "-gt", "-ge", "-nt", "-ot", "-ef"}, op)
}

func (t *testRun) unary(op, arg string) bool {
	switch op[1] {
	case 'n':
		return arg != ""
	case 'z':
		return arg == ""
	case 't':
		return false // nothing here is a terminal
	case 'r', 'w', 'x':
		mode := map[byte]int{'r': 4, 'w': 2, 'x': 1}[op[1]]
		_, _, e := t.c.s.named("access", arg, mode)
		return e == 0
	}
	st, e := t.c.s.Stat(arg)
	if op[1] == 'h' || op[1] == 'L' {
		st, e = t.c.s.Lstat(arg)
	}
	if e != 0 {
		return false
	}
	typ := st.Mode & modeType
	switch op[1] {
	case 'e':
		return true
	case 's':
		return st.Size > 0
	case 'N':
		return st.Mtime > st.Atime
	case 'O':
		id, _, _ := t.c.s.named("geteuid")
		return id == int64(st.UID)
	case 'G':
		id, _, _ := t.c.s.named("getegid")
		return id == int64(st.GID)
	case 'u', 'g', 'k':
		return st.Mode&map[byte]uint32{'u': 0o4000, 'g': 0o2000, 'k': 0o1000}[op[1]] != 0
	}
	return typ == map[byte]uint32{'b': modeBlk, 'c': modeChr, 'd': modeDir, 'f': modeReg, 'h': modeLnk, 'L': modeLnk, 'p': modeFIFO, 'S': modeSock}[op[1]]
}

func (t *testRun) binary(a, op, b string) bool {
	if holds, known := t.c.s.BinaryTest(a, op, b); known {
		return holds
	}
	return CompareInts(op, t.integer(a), t.integer(b))
}

// BinaryTest is what test, [ and [[ say of two strings, or of two files: "=", "<", "-nt" … For other operators, which are those of
// CompareInts, known is false.
func (s *Sys) BinaryTest(a, op, b string) (holds, known bool) {
	switch op {
	case "=", "==":
		return a == b, true
	case "!=":
		return a != b, true
	case "<":
		return a < b, true
	case ">":
		return a > b, true
	case "-nt", "-ot", "-ef":
		x, e := s.Stat(a)
		y, e2 := s.Stat(b)
		switch op {
		case "-nt":
			return e == 0 && (e2 != 0 || x.Mtime > y.Mtime), true
		case "-ot":
			return e2 == 0 && (e != 0 || x.Mtime < y.Mtime), true
		}
		return e == 0 && e2 == 0 && x.Dev == y.Dev && x.Ino == y.Ino, true
	}
	return false, false
}

// CompareInts is test's -eq, -ne, -lt, -le, -gt and -ge.
func CompareInts(op string, a, b int64) bool {
	switch op {
	case "-eq":
		return a == b
	case "-ne":
		return a != b
	case "-lt":
		return a < b
	case "-le":
		return a <= b
	case "-gt":
		return a > b
	}
	return a >= b
}

func (t *testRun) integer(text string) int64 {
	v, err := strconv.ParseInt(strings.TrimLeft(strings.Trim(text, " \t"), "+"), 10, 64)
	if err != nil {
		t.fail("invalid integer %s", quoted(text))
	}
	return v
}
