package sh

import (
	"regexp"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"kscope/kernel/user"
)

// testClause is [[ … ]].
func (sh *Shell) testClause(c *syntax.TestClause) int {
	v, msg := sh.cond(c.X)
	switch {
	case msg != "":
		sh.errorf("[[: %s", msg)
		return 1
	case v:
		return 0
	}
	return 1
}

func (sh *Shell) cond(x syntax.TestExpr) (bool, string) {
	switch x := x.(type) {
	case *syntax.Word:
		text := sh.text(x)
		if sh.opts.xtrace {
			sh.trace("[[ -n " + xquote(text) + " ]]")
		}
		return text != "", ""
	case *syntax.ParenTest:
		return sh.cond(x.X)
	case *syntax.UnaryTest:
		if x.Op == syntax.TsNot {
			v, msg := sh.cond(x.X)
			return !v && msg == "", msg
		}
		arg := ""
		if w, ok := x.X.(*syntax.Word); ok {
			arg = sh.text(w)
		}
		if sh.opts.xtrace {
			sh.trace("[[ " + x.Op.String() + " " + xquote(arg) + " ]]")
		}
		return sh.unaryTest(x.Op.String(), arg), ""
	case *syntax.BinaryTest:
		return sh.condBinary(x)
	}
	return false, "syntax error"
}

func (sh *Shell) condBinary(x *syntax.BinaryTest) (bool, string) {
	switch x.Op {
	case syntax.AndTest:
		v, msg := sh.cond(x.X)
		if !v || msg != "" {
			return false, msg
		}
		return sh.cond(x.Y)
	case syntax.OrTest:
		v, msg := sh.cond(x.X)
		if v || msg != "" {
			return v, msg
		}
		return sh.cond(x.Y)
	}
	wx, ok1 := x.X.(*syntax.Word)
	wy, ok2 := x.Y.(*syntax.Word)
	if !ok1 || !ok2 {
		return false, "syntax error"
	}
	left := sh.text(wx)
	switch x.Op {
	case syntax.TsMatch, syntax.TsMatchShort, syntax.TsNoMatch:
		pat := sh.pattern(wy)
		if sh.opts.xtrace {
			sh.trace("[[ " + xquote(left) + " " + x.Op.String() + " " + xpattern(pat) + " ]]")
		}
		return sh.match(pat, left) == (x.Op != syntax.TsNoMatch), ""
	case syntax.TsReMatch:
		return sh.regexMatch(left, wy)
	}
	right := sh.text(wy)
	if sh.opts.xtrace {
		sh.trace("[[ " + xquote(left) + " " + x.Op.String() + " " + xquote(right) + " ]]")
	}
	switch x.Op {
	case syntax.TsEql, syntax.TsNeq, syntax.TsLeq, syntax.TsGeq, syntax.TsLss, syntax.TsGtr:
		a, msg := sh.condNumber(left)
		if msg != "" {
			return false, msg
		}
		b, msg := sh.condNumber(right)
		return msg == "" && user.CompareInts(x.Op.String(), a, b), msg
	}
	holds, _ := sh.s.BinaryTest(left, x.Op.String(), right)
	return holds, ""
}

// condNumber: the numbers of [[ are expressions.
func (sh *Shell) condNumber(text string) (int64, string) {
	return sh.catchArith(text, syntax.Pos{}, func() int64 { return sh.inner(text, 0) })
}

// regexMatch is =~ with BASH_REMATCH. Quoted text is literal.
func (sh *Shell) regexMatch(s string, w *syntax.Word) (bool, string) {
	var b strings.Builder
	for _, f := range sh.frags(w) {
		if f.quoted {
			b.WriteString(regexp.QuoteMeta(f.s))
		} else {
			b.WriteString(f.s)
		}
	}
	text := b.String()
	if sh.opts.nocasematch {
		text = "(?i)" + text
	}
	re, err := regexp.CompilePOSIX(text)
	if err != nil {
		if re, err = regexp.Compile(text); err != nil {
			return false, ""
		}
	}
	v := &variable{list: map[int]string{}, set: true}
	m := re.FindStringSubmatch(s)
	for i, g := range m {
		v.list[i] = g
	}
	sh.vars["BASH_REMATCH"] = v
	return m != nil, ""
}

// unaryTest is one of test's questions about a string or file.
func (sh *Shell) unaryTest(op, arg string) bool {
	switch op {
	case "-n":
		return arg != ""
	case "-z":
		return arg == ""
	case "-v":
		name, key, ok := strings.Cut(arg, "[")
		if ok {
			return sh.element(name, strings.TrimSuffix(key, "]")).set
		}
		return sh.value(arg, nil).set
	case "-o":
		p := sh.option(arg)
		return p != nil && *p
	case "-R":
		v := sh.vars[arg]
		return v != nil && v.isRef
	case "-t":
		fd, err := strconv.Atoi(arg)
		if err != nil {
			return false
		}
		const sysIoctl, tcgets = 16, 0x5401
		b, e := sh.s.Alloc(64)
		if e != 0 {
			return false
		}
		_, e = sh.s.Call(sysIoctl, uint64(fd), tcgets, b.Addr)
		return e == 0
	case "-r", "-w", "-x":
		const sysFaccessat = 269
		_, _, err := sh.s.CallNamed("faccessat", -100, arg, map[string]int{"-r": 4, "-w": 2, "-x": 1}[op])
		return err == nil
	}
	st, e := sh.s.Stat(arg)
	if op == "-L" || op == "-h" {
		st, e = sh.s.Lstat(arg)
	}
	if e != 0 {
		return false
	}
	if want, ok := map[string]uint32{"-f": modeReg, "-d": modeDir, "-c": modeChr, "-b": modeBlk, "-p": modeFIFO, "-S": modeSock, "-L": modeLnk, "-h": modeLnk}[op]; ok {
		return st.Mode&modeType == want
	}
	switch op {
	case "-s":
		return st.Size > 0
	case "-u":
		return st.Mode&0o4000 != 0
	case "-g":
		return st.Mode&0o2000 != 0
	case "-k":
		return st.Mode&0o1000 != 0
	case "-O":
		return st.UID == 0
	case "-G":
		return st.GID == 0
	case "-N":
		return st.Mtime > st.Atime
	}
	return true // -e, -a
}

// tester evaluates the arguments of test and [ by their number, as POSIX defines it.
type tester struct {
	sh   *Shell
	args []string
	msg  string
}

func testBuiltin(sh *Shell, argv []string) int {
	args := argv[1:]
	if argv[0] == "[" {
		if len(args) == 0 || args[len(args)-1] != "]" {
			sh.errorf("[: missing `]'")
			return 2
		}
		args = args[:len(args)-1]
	}
	t := &tester{sh: sh, args: args}
	v := t.all()
	switch {
	case t.msg != "":
		sh.errorf("%s: %s", argv[0], t.msg)
		return 2
	case v:
		return 0
	}
	return 1
}

const (
	unaryOps  = " -a -b -c -d -e -f -g -h -k -n -o -p -r -s -t -u -v -w -x -z -G -L -N -O -R -S "
	binaryOps = " = == != < > -eq -ne -lt -le -gt -ge -nt -ot -ef "
)

func isUnary(s string) bool { return strings.Contains(unaryOps, " "+s+" ") && s != "" }
func isBinary(s string) bool {
	return strings.Contains(binaryOps, " "+s+" ") && s != "" && !strings.Contains(s, " ")
}

func (t *tester) all() bool {
	a := t.args
	switch len(a) {
	case 0:
		return false
	case 1:
		return a[0] != ""
	case 2:
		return t.two(a)
	case 3:
		return t.three(a)
	case 4:
		if a[0] == "!" {
			return !t.three(a[1:])
		}
		if a[0] == "(" && a[3] == ")" {
			return t.two(a[1:3])
		}
	}
	v := t.or()
	if t.msg == "" && len(t.args) > 0 {
		t.msg = "too many arguments"
	}
	return v
}

func (t *tester) two(a []string) bool {
	switch {
	case a[0] == "!":
		return a[1] == ""
	case isUnary(a[0]):
		return t.unary(a[0], a[1])
	}
	t.msg = a[0] + ": unary operator expected"
	return false
}

func (t *tester) three(a []string) bool {
	switch {
	case isBinary(a[1]):
		return t.binary(a[0], a[1], a[2])
	case a[1] == "-a":
		return a[0] != "" && a[2] != ""
	case a[1] == "-o":
		return a[0] != "" || a[2] != ""
	case a[0] == "!":
		return !t.two(a[1:])
	case a[0] == "(" && a[2] == ")":
		return a[1] != ""
	}
	t.msg = a[1] + ": binary operator expected"
	return false
}

func (t *tester) or() bool {
	v := t.and()
	for len(t.args) > 0 && t.args[0] == "-o" && t.msg == "" {
		t.args = t.args[1:]
		w := t.and()
		v = v || w
	}
	return v
}

func (t *tester) and() bool {
	v := t.term()
	for len(t.args) > 0 && t.args[0] == "-a" && t.msg == "" {
		t.args = t.args[1:]
		w := t.term()
		v = v && w
	}
	return v
}

func (t *tester) term() bool {
	if len(t.args) == 0 {
		if t.msg == "" {
			t.msg = "argument expected"
		}
		return false
	}
	a := t.args
	switch {
	case a[0] == "!":
		t.args = a[1:]
		return !t.term()
	case a[0] == "(":
		t.args = a[1:]
		v := t.or()
		if len(t.args) == 0 || t.args[0] != ")" {
			t.msg = "`)' expected"
			return false
		}
		t.args = t.args[1:]
		return v
	case len(a) > 2 && isBinary(a[1]):
		t.args = a[3:]
		return t.binary(a[0], a[1], a[2])
	case len(a) > 1 && isUnary(a[0]):
		t.args = a[2:]
		return t.unary(a[0], a[1])
	}
	t.args = a[1:]
	return a[0] != ""
}

func (t *tester) unary(op, arg string) bool {
	if op == "-t" {
		if _, ok := integer(arg); !ok {
			t.msg = arg + ": integer expression expected"
			return false
		}
	}
	return t.sh.unaryTest(op, arg)
}

func (t *tester) binary(a, op, b string) bool {
	switch op {
	case "-eq", "-ne", "-lt", "-le", "-gt", "-ge":
		x, ok := integer(a)
		if !ok {
			t.msg = a + ": integer expression expected"
			return false
		}
		y, ok := integer(b)
		if !ok {
			t.msg = b + ": integer expression expected"
			return false
		}
		return user.CompareInts(op, x, y)
	}
	holds, _ := t.sh.s.BinaryTest(a, op, b)
	return holds
}

// integer is legal_number(): decimal, with blanks around it.
func integer(s string) (int64, bool) {
	n, err := strconv.ParseInt(strings.TrimPrefix(strings.TrimSpace(s), "+"), 10, 64)
	return n, err == nil
}
