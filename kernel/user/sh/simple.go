package sh

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"kscope/kernel"
)

// call executes a simple command: its words are expanded, then it is a function, a builtin or a file.
func (sh *Shell) call(c *syntax.CallExpr, redirs []*syntax.Redirect, tail bool) int {
	sh.subst = -1
	temps := len(sh.temps)
	defer sh.dropTemps(temps)
	argv := sh.fields(c.Args...)
	line := sh.line
	if len(argv) == 0 {
		return sh.assignOnly(c.Assigns, redirs)
	}
	fn, isFunc := sh.funcs[argv[0]]
	b, isBuiltin := sh.builtin(argv[0])
	switch {
	case isFunc:
		return sh.inShell(c.Assigns, argv, redirs, func() int { return sh.callFunc(fn, argv[1:]) })
	case isBuiltin && argv[0] == "exec":
		return sh.execBuiltin(c.Assigns, argv, redirs)
	case isBuiltin:
		return sh.inShell(c.Assigns, argv, redirs, func() int { return sh.runBuiltin(b, argv) })
	}
	sh.lastArg = argv[len(argv)-1]
	path := sh.find(argv[0])
	if tail && len(sh.traps) == 0 {
		return sh.execFile(c.Assigns, path, argv, redirs)
	}
	pid, e := sh.fork(func(sh *Shell) int { return sh.execFile(c.Assigns, path, argv, redirs) })
	if e != 0 {
		return 254
	}
	sh.line = line
	return sh.waitFor(pid, func() string { return callText(c, redirs) })
}

func callText(c *syntax.CallExpr, redirs []*syntax.Redirect) string {
	return source(&syntax.Stmt{Cmd: c, Redirs: redirs})
}

// source prints a node as one line of shell.
func source(n syntax.Node) string {
	var b strings.Builder
	if syntax.NewPrinter(syntax.SpaceRedirects(true), syntax.SingleLine(true)).Print(&b, n) != nil {
		return ""
	}
	return strings.TrimSpace(b.String())
}

// assignOnly is a command without words: its variables are the shell's.
func (sh *Shell) assignOnly(assigns []*syntax.Assign, redirs []*syntax.Redirect) int {
	if len(redirs) > 0 {
		if status := sh.onlyRedirs(redirs); status != 0 {
			return status
		}
	}
	for _, a := range assigns {
		sh.assign(a, "")
	}
	if sh.subst >= 0 {
		return sh.subst
	}
	return 0
}

// inShell runs a function or builtin in this process: redirections are undone behind it, and so are variables that stand
// in front of it.
func (sh *Shell) inShell(assigns []*syntax.Assign, argv []string, redirs []*syntax.Redirect, run func() int) int {
	var old []savedVar
	for _, a := range assigns {
		old = append(old, savedVar{a.Name.Value, sh.vars[a.Name.Value]})
		if v := sh.vars[a.Name.Value]; v != nil {
			sh.vars[a.Name.Value] = v.clone()
		}
		sh.assign(a, "")
		sh.variable(a.Name.Value).export = true
	}
	defer func() {
		for i := len(old) - 1; i >= 0; i-- {
			sh.putBack(old[i])
		}
	}()
	sh.traceCall(argv)
	saved, ok := sh.redirect(redirs, true)
	defer func() { sh.restore(saved) }()
	if !ok {
		return 1
	}
	last := argv[len(argv)-1]
	status := run()
	sh.lastArg = last
	return status
}

func (sh *Shell) putBack(v savedVar) {
	if v.old == nil {
		delete(sh.vars, v.name)
	} else {
		sh.vars[v.name] = v.old
	}
	if v.name == "PATH" {
		clear(sh.hash)
	}
}

// callFunc calls a function with its own positional parameters and local variables.
func (sh *Shell) callFunc(fn *function, args []string) int {
	if len(sh.frames) >= 1000 {
		sh.fatal(1, "%s: maximum function nesting level exceeded (1000)", fn.name)
	}
	base, src, line, loops := sh.base, sh.src, sh.line, sh.loops
	sh.frames = append(sh.frames, &frame{fn: fn, args: sh.args, line: sh.line})
	sh.args, sh.base, sh.src, sh.loops = args, fn.base, fn.src, 0
	depth := len(sh.frames)
	defer func() {
		for len(sh.frames) >= depth {
			sh.leave()
		}
		sh.base, sh.src, sh.line, sh.loops = base, src, line, loops
	}()
	status := sh.stmt(fn.body, false)
	if sh.flow == flowReturn {
		sh.flow = flowNone
		status = sh.status
	}
	sh.runTrap(trapReturn)
	return status
}

// leave drops the innermost function's frame.
func (sh *Shell) leave() {
	f := sh.frames[len(sh.frames)-1]
	sh.frames = sh.frames[:len(sh.frames)-1]
	sh.args = f.args
	for i := len(f.saved) - 1; i >= 0; i-- {
		sh.putBack(f.saved[i])
	}
}

// find looks a command up in PATH, through the table of those found before. A name with a slash is a path already; "" is
// not found.
func (sh *Shell) find(name string) string {
	if strings.Contains(name, "/") {
		return name
	}
	if h, ok := sh.hash[name]; ok {
		h.hits++
		sh.hash[name] = h
		return h.path
	}
	if list := sh.findAll(name, false); len(list) > 0 {
		sh.hash[name] = hashed{list[0], 1}
		return list[0]
	}
	return ""
}

// findAll lists the files in PATH that a name means. Without one that can be executed, a file that cannot is the result.
func (sh *Shell) findAll(name string, all bool) (out []string) {
	other := ""
	if name == "" {
		return nil
	}
	for _, dir := range strings.Split(sh.get("PATH"), ":") {
		if dir == "" {
			dir = "."
		}
		path := strings.TrimSuffix(dir, "/") + "/" + name
		st, e := sh.s.Stat(path)
		if e != 0 || st.Mode&modeType == modeDir {
			continue
		}
		if st.Mode&0o111 == 0 {
			if other == "" {
				other = path
			}
			continue
		}
		if out = append(out, path); !all {
			return out
		}
	}
	if len(out) == 0 && other != "" {
		return []string{other}
	}
	return out
}

// execFile makes this process the command. It returns only a failure's status.
func (sh *Shell) execFile(assigns []*syntax.Assign, path string, argv []string, redirs []*syntax.Redirect) int {
	for _, a := range assigns {
		sh.assign(a, "")
		sh.variable(a.Name.Value).export = true
	}
	sh.traceCall(argv)
	if _, ok := sh.redirect(redirs, false); !ok {
		return 1
	}
	return sh.exec(path, argv, argv[0], "")
}

// exec is execve and its messages; who is what they name, by the builtin that says so.
func (sh *Shell) exec(path string, argv []string, who, builtin string) int {
	if path == "" {
		if builtin != "" {
			sh.errorf("%s: %s: not found", builtin, who)
		} else {
			sh.errorf("%s: command not found", printable(who))
		}
		return 127
	}
	sh.lastArg = path
	e := sh.s.Exec(path, argv, sh.environ())
	st, statErr := sh.s.Stat(path)
	switch {
	case statErr == 0 && st.Mode&modeType == modeDir:
		e = kernel.EISDIR
	case e == kernel.ENOEXEC:
		return sh.noexec(path, argv)
	case e == kernel.ENOENT && statErr == 0:
		sh.errorf("%s: cannot execute: required file not found", who)
		return 127
	}
	if builtin != "" && e != kernel.ENOENT {
		sh.errorf("%s: %s: cannot execute: %s", builtin, who, e.Error())
	} else if builtin != "" {
		sh.errorf("%s: %s: %s", builtin, who, e.Error())
	}
	if builtin == "" || e == kernel.EACCES {
		sh.errorf("%s: %s", path, e.Error())
	}
	if e == kernel.ENOENT {
		return 127
	}
	return 126
}

// noexec runs a file that no loader of the kernel's takes: a script without its first line.
func (sh *Shell) noexec(path string, argv []string) int {
	text, e := sh.readFile(path)
	if e != 0 {
		sh.errorf("%s: %s", path, e.Error())
		return 126
	}
	if IsBinary(text) {
		sh.errorf("%s: cannot execute binary file: Exec format error", path)
		return 126
	}
	fresh := newShell(sh.s, path)
	fresh.vars = map[string]*variable{}
	for name, v := range sh.vars {
		if v.export || name == "IFS" || name == "OPTIND" || name == "PS4" {
			fresh.vars[name] = v.clone()
		}
	}
	fresh.args = argv[1:]
	fresh.script(text)
	return fresh.exitTrap()
}

// IsBinary tells that a file's first line holds a NUL, so that it is no script (check_binary_file in general.c).
func IsBinary(text string) bool {
	if len(text) > 80 {
		text = text[:80]
	}
	line, _, _ := strings.Cut(text, "\n")
	return strings.Contains(line, "\x00")
}

// execBuiltin is exec: with words it replaces the shell, without them its redirections stay.
func (sh *Shell) execBuiltin(assigns []*syntax.Assign, argv []string, redirs []*syntax.Redirect) int {
	sh.traceCall(argv)
	if _, ok := sh.redirect(redirs, false); !ok {
		return 1
	}
	for _, a := range assigns {
		sh.assign(a, "")
	}
	args, arg0, clean := argv[1:], "", false
	for len(args) > 0 && len(args[0]) > 1 && args[0][0] == '-' {
		opt := args[0]
		args = args[1:]
		if opt == "--" {
			break
		}
		switch {
		case opt == "-a" && len(args) > 0:
			arg0, args = args[0], args[1:]
		case opt == "-c":
			clean = true
		case opt == "-l":
		default:
			return sh.badOption("exec", opt, "exec [-cl] [-a name] [command [argument ...]] [redirection ...]")
		}
	}
	if len(args) == 0 {
		return 0
	}
	if clean {
		for _, v := range sh.vars {
			v.export = false
		}
	}
	words := append([]string(nil), args...)
	if arg0 != "" {
		words[0] = arg0
	}
	status := sh.exec(sh.find(args[0]), words, args[0], "exec")
	if !sh.interactive {
		sh.status = status
		sh.flow = flowExit
	}
	return status
}

// assign does one assignment. flags are declare's letters, for the array it may have to make.
func (sh *Shell) assign(a *syntax.Assign, flags string) {
	name := a.Name.Value
	if sh.opts.xtrace {
		defer func() { sh.traceAssign(a, name) }()
	}
	if a.Array != nil {
		sh.assignArray(name, a, flags)
		return
	}
	value := ""
	if a.Value != nil {
		value = sh.assignText(a.Value)
	}
	v := sh.variable(name)
	if a.Index != nil {
		key := sh.subscript(v, a.Index)
		if key == "" && v.dict != nil {
			sh.discard("%s[%s]: bad array subscript", name, sh.original(a.Index))
		}
		sh.setIndex(name, key, value, a.Append)
		return
	}
	if a.Append {
		old, _ := v.scalar()
		if v.integer {
			value = old + "+" + value
		} else {
			value = old + value
		}
	}
	sh.set(name, value)
}

// subscript is the text of an index: a key as it is, an expression still to evaluate.
func (sh *Shell) subscript(v *variable, x syntax.ArithmExpr) string {
	if w, ok := x.(*syntax.Word); ok {
		return sh.text(w)
	}
	if v != nil && v.dict != nil {
		return sh.original(x)
	}
	return sprintf("%d", sh.arith(x))
}

func (sh *Shell) assignArray(name string, a *syntax.Assign, flags string) {
	type elem struct{ key, value string }
	v := sh.variable(name)
	isDict := v.dict != nil || strings.Contains(flags, "A")
	var elems []elem
	next := 0
	if a.Append && !isDict {
		for k := range v.list {
			next = max(next, k+1)
		}
		if v.list == nil && v.set {
			next = 1
		}
	}
	for _, el := range a.Array.Elems {
		if el.Index != nil {
			key := sh.subscript(v, el.Index)
			value := ""
			if el.Value != nil {
				value = sh.assignText(el.Value)
			}
			if !isDict {
				next = int(sh.arithText(key))
				key = sprintf("%d", next)
				next++
			}
			elems = append(elems, elem{key, value})
			continue
		}
		for _, f := range sh.fields(el.Value) {
			elems = append(elems, elem{sprintf("%d", next), f})
			next++
		}
	}
	switch {
	case isDict && !a.Append || isDict && v.dict == nil:
		v.dict = map[string]string{}
	case !isDict && a.Append:
		v.toList()
	case !isDict:
		v.list, v.value = map[int]string{}, ""
	}
	v.set = true
	if isDict && len(elems) > 1 && len(a.Array.Elems) > 0 && a.Array.Elems[0].Index == nil { // pairs
		for i := 0; i < len(elems); i += 2 {
			value := ""
			if i+1 < len(elems) {
				value = elems[i+1].value
			}
			v.dict[elems[i].value] = sh.convert(v, value)
		}
		return
	}
	for _, el := range elems {
		sh.setIndex(name, el.key, el.value, false)
	}
}
