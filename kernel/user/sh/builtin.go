package sh

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"kscope/kernel"
	"kscope/kernel/user"
)

// builtin is a command that the shell executes itself.
type builtin func(sh *Shell, argv []string) int

// builtins is the table of all of them.
func builtins() map[string]builtin {
	return map[string]builtin{
		":": func(*Shell, []string) int { return 0 }, "true": func(*Shell, []string) int { return 0 },
		"false": func(*Shell, []string) int { return 1 },
		"[":     testBuiltin, "test": testBuiltin, "echo": echoBuiltin, "printf": printfBuiltin, "read": readBuiltin,
		"mapfile": mapfileBuiltin, "readarray": mapfileBuiltin,
		"cd": cdBuiltin, "pwd": pwdBuiltin, "eval": evalBuiltin, ".": sourceBuiltin, "source": sourceBuiltin,
		"set": setBuiltin, "shopt": shoptBuiltin, "shift": shiftBuiltin, "unset": unsetBuiltin,
		"declare": declareWords, "typeset": declareWords, "local": declareWords, "export": declareWords, "readonly": declareWords,
		"break": leaveLoop, "continue": leaveLoop, "return": returnBuiltin, "exit": exitBuiltin, "exec": nil,
		"wait": waitBuiltin, "jobs": jobsBuiltin, "kill": killBuiltin, "trap": trapBuiltin, "disown": disownBuiltin,
		"dirs": dirsBuiltin, "pushd": pushdBuiltin, "popd": popdBuiltin, "fg": foreground, "bg": goOn, "suspend": suspendBuiltin,
		"type": typeBuiltin, "command": commandBuiltin, "builtin": builtinBuiltin, "hash": hashBuiltin,
		"umask": umaskBuiltin, "ulimit": ulimitBuiltin, "times": timesBuiltin, "getopts": getoptsBuiltin, "let": letBuiltin,
		"alias": aliasBuiltin, "unalias": unaliasBuiltin, "caller": callerBuiltin, "enable": enableBuiltin, "history": historyBuiltin, "help": helpBuiltin,
	}
}

func (sh *Shell) runBuiltin(b builtin, argv []string) int {
	line := sh.line
	status := b(sh, argv)
	if sh.flow == flowNone {
		sh.line = line
	}
	return status
}

// usage prints a builtin's usage line.
func (sh *Shell) usage(text string) int {
	sh.s.Write(2, []byte(strings.Fields(text)[0]+": usage: "+text+"\n"))
	return 2
}

func (sh *Shell) badOption(name, opt, usage string) int {
	sh.errorf("%s: %s: invalid option", name, opt)
	return sh.usage(usage)
}

// print writes a builtin's output as bash's stdio does: a line, or 4 KiB, at a time. A line that cannot be written does not
// keep the later ones; the error is reported once.
func (sh *Shell) print(name, text string) int {
	_, e := sh.printLines(text, true, false)
	return sh.wrote(name, e)
}

// wrote reports a write error.
func (sh *Shell) wrote(name string, e kernel.Errno) int {
	if e == 0 {
		return 0
	}
	sh.errorf("%s: write error: %s", name, e.Error())
	return 1
}

// printLines writes the lines of text, and what is behind the last newline if all is set; it returns what is left, and the
// first error. With chars it is written as by putchar: the character that finds the buffer full is lost with it when that cannot be
// written.
func (sh *Shell) printLines(text string, all, chars bool) (rest string, first kernel.Errno) {
	const size = 4096
	for len(text) > 0 {
		n := strings.IndexByte(text, '\n') + 1
		if n == 0 {
			if n = len(text); n < size && !all {
				break
			}
		}
		n = min(n, size)
		_, e := sh.s.Write(1, []byte(text[:n]))
		if e != 0 && first == 0 {
			first = e
		}
		if e != 0 && chars && n == size && n < len(text) {
			n++
		}
		text = text[n:]
	}
	return text, first
}

// echoBuiltin is echo with -n, -e and -E.
func echoBuiltin(sh *Shell, argv []string) int {
	args, newline, escapes := user.EchoOptions(argv[1:])
	text := strings.Join(args, " ")
	if escapes {
		var stop bool
		if text, stop = unescapeEcho(text, true); stop {
			newline = false
		}
	}
	if newline {
		text += "\n"
	}
	return sh.print("echo", text)
}

func cdBuiltin(sh *Shell, argv []string) int {
	args, physical := argv[1:], false
	for len(args) > 0 && len(args[0]) > 1 && args[0][0] == '-' {
		opt := args[0]
		args = args[1:]
		if opt == "--" {
			break
		}
		switch opt {
		case "-L", "-e", "-@":
			physical = false
		case "-P":
			physical = true
		default:
			return sh.badOption("cd", opt, "cd [-L|[-P [-e]] [-@]] [dir]")
		}
	}
	dir, show := "", false
	switch {
	case len(args) > 1:
		sh.errorf("cd: too many arguments")
		return 1
	case len(args) == 0:
		home, ok := sh.lookup("HOME")
		if !ok {
			sh.errorf("cd: HOME not set")
			return 1
		}
		dir = home
	case args[0] == "-":
		old, ok := sh.lookup("OLDPWD")
		if !ok {
			sh.errorf("cd: OLDPWD not set")
			return 1
		}
		dir, show = old, true
	default:
		dir = args[0]
	}
	if dir == "" {
		return 0
	}
	to := dir
	if !physical && to[0] != '/' {
		to = sh.get("PWD") + "/" + to
	}
	if !physical {
		to = cleanPath(to)
	}
	if e := sh.s.Chdir(to); e != 0 {
		sh.errorf("%s: %s: %s", argv[0], dir, e.Error())
		return 1
	}
	if physical {
		to, _ = sh.s.Getcwd()
	}
	sh.set("OLDPWD", sh.get("PWD"))
	sh.set("PWD", to)
	sh.vars["PWD"].export, sh.vars["OLDPWD"].export = true, true
	if show {
		return sh.print("cd", to+"\n")
	}
	return 0
}

// cleanPath takes . and .. out of a path.
func cleanPath(p string) string {
	var out []string
	for _, c := range strings.Split(p, "/") {
		switch c {
		case "", ".":
		case "..":
			if len(out) > 0 {
				out = out[:len(out)-1]
			}
		default:
			out = append(out, c)
		}
	}
	return "/" + strings.Join(out, "/")
}

func pwdBuiltin(sh *Shell, argv []string) int {
	dir := sh.get("PWD")
	if len(argv) > 1 && argv[1] == "-P" || dir == "" {
		var e kernel.Errno
		if dir, e = sh.s.Getcwd(); e != 0 {
			sh.errorf("pwd: error retrieving current directory: getcwd: cannot access parent directories: %s", e.Error())
			return 1
		}
	}
	return sh.print("pwd", dir+"\n")
}

func evalBuiltin(sh *Shell, argv []string) int {
	args := argv[1:]
	if len(args) > 0 && args[0] == "--" {
		args = args[1:]
	}
	return sh.eval(strings.Join(args, " "), sh.line)
}

func sourceBuiltin(sh *Shell, argv []string) int {
	args := argv[1:]
	if len(args) > 0 && args[0] == "--" {
		args = args[1:]
	}
	if len(args) == 0 {
		sh.errorf("%s: filename argument required", argv[0])
		return sh.usage(argv[0] + " filename [arguments]")
	}
	file := args[0]
	if !strings.Contains(file, "/") {
		if p := sh.find(file); p != "" {
			file = p
		}
	}
	text, e := sh.readFile(file)
	if e != 0 {
		sh.errorf("%s: %s", args[0], e.Error())
		return 1
	}
	name, old, line := sh.name, sh.args, sh.line
	if len(args) > 1 {
		sh.args = args[1:]
	}
	if sh.nested >= maxNesting {
		sh.fatal(1, "%s: maximum source nesting level exceeded (%d)", argv[0], maxNesting)
	}
	sh.name = file
	sh.sourcing++
	sh.nested++
	defer func() {
		sh.sourcing--
		sh.nested--
		sh.name, sh.line = name, line
		if len(args) > 1 {
			sh.args = old
		}
	}()
	sh.status = 0
	status := sh.runText("", text, 0, false)
	if sh.flow == flowReturn {
		sh.flow = flowNone
		status = sh.status
	}
	return status
}

func shiftBuiltin(sh *Shell, argv []string) int {
	n := 1
	if len(argv) > 1 {
		v, err := strconv.Atoi(argv[1])
		if err != nil {
			sh.errorf("shift: %s: numeric argument required", argv[1])
			return 1
		}
		if n = v; n < 0 {
			sh.errorf("shift: %s: shift count out of range", argv[1])
			return 1
		}
	}
	if n > len(sh.args) {
		return 1
	}
	sh.args = sh.args[n:]
	return 0
}

// leaveLoop is break and continue.
func leaveLoop(sh *Shell, argv []string) int {
	if sh.loops == 0 {
		sh.errorf("%s: only meaningful in a `for', `while', or `until' loop", argv[0])
		return 0
	}
	n := 1
	if len(argv) > 1 {
		v, err := strconv.Atoi(argv[1])
		if err != nil {
			sh.errorf("%s: %s: numeric argument required", argv[0], argv[1])
			panic(abort{128, true})
		}
		if n = v; n < 1 {
			sh.errorf("%s: %s: loop count out of range", argv[0], argv[1])
			sh.flow, sh.depth = flowBreak, sh.loops
			return 1
		}
	}
	sh.depth = min(n, sh.loops)
	sh.flow = flowBreak
	if argv[0] == "continue" {
		sh.flow = flowContinue
	}
	return 0
}

// exitCode reads the argument of return and exit.
func (sh *Shell) exitCode(argv []string) (int, bool) {
	args := argv[1:]
	if len(args) > 0 && args[0] == "--" {
		args = args[1:]
	}
	if len(args) == 0 {
		return sh.status, true
	}
	n, err := strconv.ParseInt(strings.TrimSpace(args[0]), 10, 64)
	if err != nil {
		sh.errorf("%s: %s: numeric argument required", argv[0], args[0])
		return 2, true
	}
	if len(args) > 1 {
		sh.errorf("%s: too many arguments", argv[0])
		return 1, false
	}
	return int(n & 0xff), true
}

func returnBuiltin(sh *Shell, argv []string) int {
	if len(sh.frames) == 0 && sh.sourcing == 0 {
		sh.errorf("return: can only `return' from a function or sourced script")
		return 2
	}
	code, ok := sh.exitCode(argv)
	if ok {
		sh.status, sh.flow = code, flowReturn
	}
	return code
}

func exitBuiltin(sh *Shell, argv []string) int {
	if sh.interactive && sh.sub == 0 {
		sh.s.Write(2, []byte("exit\n"))
	}
	code, ok := sh.exitCode(argv)
	if ok {
		sh.status, sh.flow = code, flowExit
	}
	return code
}

// typeBuiltin is type [-atpP] name …
func typeBuiltin(sh *Shell, argv []string) int {
	args, mode, all := argv[1:], "", false
	for len(args) > 0 && len(args[0]) > 1 && args[0][0] == '-' {
		for _, c := range args[0][1:] {
			switch c {
			case 't', 'p', 'P':
				mode = string(c)
			case 'a':
				all = true
			case 'f':
			default:
				return sh.badOption("type", "-"+string(c), "type [-afptP] name [name ...]")
			}
		}
		args = args[1:]
	}
	status := 0
	var out strings.Builder
	for _, name := range args {
		text := sh.describe(name, mode, all)
		if text == "" {
			if mode == "" {
				sh.print("type", out.String())
				out.Reset()
				sh.errorf("type: %s: not found", name)
			}
			status = 1
		}
		out.WriteString(text)
	}
	return max(status, sh.print("type", out.String()))
}

// describe is type's text about a name; mode "t" gives one word, "p" and "P" a path, "v" what command -v prints.
func (sh *Shell) describe(name, mode string, all bool) string {
	var out strings.Builder
	add := func(t, v, long string) bool {
		switch mode {
		case "":
			out.WriteString(long + "\n")
		case "t":
			out.WriteString(t + "\n")
		case "v":
			out.WriteString(v + "\n")
		}
		return !all && out.Len() > 0
	}
	if mode != "P" {
		if value, ok := sh.aliases[name]; ok && (sh.interactive || sh.opts.aliases) {
			if add("alias", strings.TrimSuffix(sh.aliasLine(name), "\n"), name+" is aliased to `"+value+"'") {
				return out.String()
			}
		}
		if isReserved(name) && add("keyword", name, name+" is a shell keyword") {
			return out.String()
		}
		if fn := sh.funcs[name]; fn != nil && add("function", name, name+" is a function\n"+funcText(fn)) {
			return out.String()
		}
		if _, ok := sh.builtin(name); ok && add("builtin", name, name+" is a shell builtin") {
			return out.String()
		}
	}
	if strings.Contains(name, "/") {
		if st, e := sh.s.Stat(name); e == 0 && st.Mode&0o111 != 0 && st.Mode&modeType != modeDir {
			add("file", name, name+" is "+name)
			if mode == "p" || mode == "P" {
				out.WriteString(name + "\n")
			}
		}
		return out.String()
	}
	if h, ok := sh.hash[name]; ok && !all && mode == "" {
		return out.String() + name + " is hashed (" + h.path + ")\n"
	}
	for _, path := range sh.findAll(name, all) {
		if mode == "p" || mode == "P" {
			out.WriteString(path + "\n")
		} else {
			add("file", path, name+" is "+path)
		}
	}
	return out.String()
}

func isReserved(name string) bool {
	return slices.Contains([]string{"!", "[[", "]]", "case", "coproc", "do", "done", "elif", "else", "esac", "fi", "for", "function",
		"if", "in", "select", "then", "time", "until", "while", "{", "}"}, name)
}

// commandBuiltin is command [-pvV] name [arg …].
func commandBuiltin(sh *Shell, argv []string) int {
	args, mode := argv[1:], byte(0)
	for len(args) > 0 && len(args[0]) > 1 && args[0][0] == '-' {
		opt := args[0]
		args = args[1:]
		if opt == "--" {
			break
		}
		for _, c := range opt[1:] {
			switch c {
			case 'v', 'V':
				mode = byte(c)
			case 'p':
			default:
				return sh.badOption("command", "-"+string(c), "command [-pVv] command [arg ...]")
			}
		}
	}
	if len(args) == 0 {
		return 0
	}
	if mode != 0 {
		status := 1
		var out strings.Builder
		for _, name := range args {
			text := sh.describe(name, map[byte]string{'v': "v", 'V': ""}[mode], false)
			if text == "" && mode == 'V' {
				sh.errorf("command: %s: not found", name)
			}
			if text != "" {
				status = 0
			}
			out.WriteString(text)
		}
		sh.print("command", out.String())
		return status
	}
	return sh.runWords(args)
}

// runWords executes words that are a builtin or a file, never a function.
func (sh *Shell) runWords(args []string) int {
	if b, ok := sh.builtin(args[0]); ok && b != nil {
		return b(sh, args)
	}
	path := sh.find(args[0])
	pid, e := sh.fork(func(sh *Shell) int { return sh.exec(path, args, args[0], "") })
	if e != 0 {
		return 254
	}
	return sh.waitFor(pid, func() string { return strings.Join(args, " ") })
}

func builtinBuiltin(sh *Shell, argv []string) int {
	if len(argv) < 2 {
		return 0
	}
	b := sh.builtins[argv[1]]
	if b == nil {
		sh.errorf("builtin: %s: not a shell builtin", argv[1])
		return 1
	}
	return b(sh, argv[1:])
}

func hashBuiltin(sh *Shell, argv []string) int {
	args, mode := argv[1:], byte(0)
	for len(args) > 0 && len(args[0]) > 1 && args[0][0] == '-' {
		switch args[0] {
		case "-r":
			clear(sh.hash)
			if len(args) == 1 {
				return 0
			}
		case "-d", "-l", "-t":
			mode = args[0][1]
		default:
			return sh.badOption("hash", args[0][:2], "hash [-lr] [-p pathname] [-dt] [name ...]")
		}
		args = args[1:]
	}
	if len(args) == 0 {
		return sh.hashTable(mode == 'l')
	}
	status := 0
	for _, name := range args {
		h, known := sh.hash[name]
		switch {
		case mode == 't' && known:
			sh.print("hash", h.path+"\n")
		case mode == 'd' && known:
			delete(sh.hash, name)
		case mode != 0 || sh.builtins[name] == nil && sh.find(name) == "":
			sh.errorf("hash: %s: not found", name)
			status = 1
		case sh.builtins[name] == nil:
			h = sh.hash[name]
			sh.hash[name] = hashed{path: h.path}
		}
	}
	return status
}

// hashTable is hash without names; the order is that of bash's table of strings.
func (sh *Shell) hashTable(commands bool) int {
	if len(sh.hash) == 0 {
		return sh.print("hash", "hash: hash table empty\n")
	}
	out := ""
	if !commands {
		out = "hits\tcommand\n"
	}
	for _, name := range slices.Sorted(maps.Keys(sh.hash)) {
		if h := sh.hash[name]; commands {
			out += sprintf("builtin hash -p %s %s\n", h.path, name)
		} else {
			out += sprintf("%4d\t%s\n", h.hits, h.path)
		}
	}
	return sh.print("hash", out)
}

func umaskBuiltin(sh *Shell, argv []string) int {
	const sysUmask = 95
	if len(argv) > 1 && argv[1] != "-S" && argv[1] != "-p" {
		v, err := strconv.ParseUint(argv[1], 8, 12)
		if err != nil {
			if strings.ContainsAny(argv[1], "89") {
				sh.errorf("umask: %s: octal number out of range", argv[1])
			} else {
				sh.errorf("umask: `%s': invalid symbolic mode operator", argv[1][:1])
			}
			return 1
		}
		sh.s.Call(sysUmask, v)
		return 0
	}
	old, e := sh.s.Call(sysUmask, 0o22)
	if e == 0 {
		sh.s.Call(sysUmask, uint64(old))
	}
	if len(argv) > 1 && argv[1] == "-S" {
		bits := func(m int64) string {
			return map[bool]string{true: "r"}[m&4 == 0] + map[bool]string{true: "w"}[m&2 == 0] + map[bool]string{true: "x"}[m&1 == 0]
		}
		return sh.print("umask", "u="+bits(old>>6)+",g="+bits(old>>3)+",o="+bits(old)+"\n")
	}
	return sh.print("umask", sprintf("%04o\n", old))
}

// times is the user and system time of this shell and its children in ns.
func (sh *Shell) times() (user, sys uint64) {
	t := sh.tms()
	return (t[0] + t[2]) * 1e7, (t[1] + t[3]) * 1e7
}

func timesBuiltin(sh *Shell, argv []string) int {
	t := sh.tms()
	f := func(ticks uint64) string { return sprintf("%dm%d.%03ds", ticks/6000, ticks/100%60, ticks%100*10) }
	return sh.print("times", f(t[0])+" "+f(t[1])+"\n"+f(t[2])+" "+f(t[3])+"\n")
}

func callerBuiltin(sh *Shell, argv []string) int {
	if len(sh.frames) == 0 {
		return 1
	}
	f := sh.frames[len(sh.frames)-1]
	return sh.print("caller", sprintf("%d %s\n", f.line, sh.name))
}
