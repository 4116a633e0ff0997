package sh

import (
	"io"
	"path"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"kscope/kernel"
	"kscope/kernel/user"
)

// Programs are the shell's rows for the guest's /bin.
func Programs() []user.Program {
	return []user.Program{
		{Name: "bash", Doc: "run shell commands: [-eufnvxis] [-o option] [-c text [name [arg]...] | file [arg]...]", Main: Main},
		{Name: "sh", Doc: "the same as bash", Main: Main},
	}
}

// Files are the executables of Programs, for user.Initrd.
func Files() (out []user.File) {
	for _, p := range Programs() {
		out = append(out, user.StubFile(p.Name))
	}
	return out
}

// Install makes a Host know the shell.
func Install(h *user.Host) {
	for _, p := range Programs() {
		h.Add(p)
	}
}

// Main is the program sh.
func Main(s *user.Sys, argv []string) int { return mainOn(s, argv, nil) }

// mainOn is Main for a shell whose host may have a line editor.
func mainOn(s *user.Sys, argv []string, t *Terminal) int {
	name := "bash"
	if len(argv) > 0 {
		name = argv[0]
	}
	sh := newShell(s, strings.TrimPrefix(name, "-"))
	sh.terminal = t
	command, args, ok := sh.arguments(argv)
	if !ok {
		return 2
	}
	switch {
	case command:
		text := args[0]
		if args = args[1:]; len(args) > 0 {
			sh.name, args = args[0], args[1:]
		}
		sh.args, sh.fromText = args, true
		return sh.finish(func(sh *Shell) int { return sh.runText("-c: ", text, 0, true) })
	case len(args) > 0 && !sh.stdin:
		return sh.runFile(args[0], args[1:])
	}
	sh.args = args
	return sh.finish((*Shell).runInput)
}

// arguments reads the options; command says that -c was one.
func (sh *Shell) arguments(argv []string) (command bool, args []string, ok bool) {
	if len(argv) > 0 {
		args = argv[1:]
	}
	for len(args) > 0 {
		a := args[0]
		if len(a) < 2 || a[0] != '-' && a[0] != '+' {
			if a == "-" {
				args = args[1:]
			}
			break
		}
		args = args[1:]
		if a == "--" {
			break
		}
		if strings.HasPrefix(a, "--") {
			continue // --norc, --posix …: nothing here differs
		}
		for _, c := range a[1:] {
			switch c {
			case 'c':
				command = true
			case 's':
				sh.stdin = true
			case 'i':
				sh.interactive = true
			case 'l', 'r', 'O':
			case 'o':
				if len(args) == 0 || !sh.setOption(args[0], a[0] == '-') {
					return false, nil, false
				}
				args = args[1:]
			default:
				if p := sh.letter(byte(c)); p != nil {
					*p = a[0] == '-'
					continue
				}
				sh.s.Write(2, []byte(sh.name+": "+a+": invalid option\n"))
				return false, nil, false
			}
		}
	}
	if command && len(args) == 0 {
		sh.s.Write(2, []byte(sh.name+": -c: option requires an argument\n"))
		return false, nil, false
	}
	return command, args, true
}

// runFile runs a script. The file stays open as descriptor 255, as bash has it, so that its readers see the same numbers.
func (sh *Shell) runFile(file string, args []string) int {
	name := file
	fd, e := sh.s.Open(file, oRdonly|oCloexec, 0)
	if e == kernel.ENOENT && !strings.Contains(file, "/") {
		if p := sh.find(file); p != "" {
			file = p
			fd, e = sh.s.Open(file, oRdonly|oCloexec, 0)
		}
	}
	if e != 0 {
		sh.s.Write(2, []byte(sh.name+": "+name+": "+e.Error()+"\n"))
		if e == kernel.ENOENT {
			return 127
		}
		return 126
	}
	if st, e := sh.s.Fstat(fd); e == 0 && st.Mode&modeType == modeDir {
		sh.s.Write(2, []byte(sh.name+": "+name+": Is a directory\n"))
		return 126
	}
	var all []byte
	for {
		b, e := sh.s.Read(fd, 8192)
		if e != 0 || len(b) == 0 {
			break
		}
		all = sh.collect(all, b)
	}
	sh.s.Close(fd)
	text := string(all)
	if IsBinary(text) {
		sh.s.Write(2, []byte(name+": "+name+": cannot execute binary file\n"))
		return 126
	}
	sh.name, sh.args = name, args
	return sh.finish(func(sh *Shell) int { return sh.script(text) })
}

// script runs a file's text.
func (sh *Shell) script(text string) int { return sh.runText("", text, 0, false) }

// runText runs text line by line. label is what messages about its syntax say behind the name, base is added to line
// numbers, tail says that the process ends behind the text.
func (sh *Shell) runText(label, text string, base int, tail bool) int {
	old, oldSrc := sh.base, sh.src
	defer func() { sh.base, sh.src = old, oldSrc }()
	lines := strings.Count(strings.TrimRight(text, "\n"), "\n") + 1
	p := newParser()
	src := prepare(text)
	if !strings.HasSuffix(src, "\n") {
		src += "\n"
	}
	sh.base, sh.src = base, src
	if sh.tooDeep(label, src) {
		return 2
	}
	for list, err := range statements(p, sh.lines(src)) {
		if err != nil {
			return sh.syntaxError(label, src, err)
		}
		if p.Incomplete() || len(list) == 0 {
			continue
		}
		if sh.opts.noexec {
			continue
		}
		last := tail && int(list[len(list)-1].End().Line()) >= lines
		sh.line1(list, last)
		if sh.flow != flowNone {
			break
		}
	}
	return sh.status
}

// line1 runs the statements of one line.
func (sh *Shell) line1(list []*syntax.Stmt, tail bool) {
	sh.status = sh.protect(func() int { return sh.stmts(list, tail) })
}

// maxNesting is how deep eval and source may nest; real bash has no limit, but its stack has.
const maxNesting = 1000

// tooDeep refuses a text that the parser's recursion does not bear.
func (sh *Shell) tooDeep(label, src string) bool {
	line := user.TooDeep(src)
	if line > 0 {
		sh.s.Write(2, []byte(sprintf("%s: %sline %d: syntax error: nested too deeply\n", sh.name, label, line+sh.base)))
		sh.status = 2
	}
	return line > 0
}

// eval runs text in this shell, as eval, traps and source do.
func (sh *Shell) eval(text string, line int) int {
	if sh.nested >= maxNesting {
		sh.fatal(1, "eval: maximum eval nesting level exceeded (%d)", maxNesting)
	}
	sh.nested++
	defer func() { sh.nested-- }()
	if strings.TrimSpace(text) == "" {
		return 0
	}
	old, oldSrc := sh.base, sh.src
	defer func() { sh.base, sh.src = old, oldSrc }()
	src := prepare(text + "\n")
	sh.base, sh.src = line-1, src
	if sh.tooDeep("eval: ", src) {
		return 2
	}
	p := newParser()
	for list, err := range statements(p, strings.NewReader(src)) {
		if err != nil {
			sh.status = sh.syntaxError("eval: ", src, err)
			return sh.status
		}
		if p.Incomplete() || len(list) == 0 {
			continue
		}
		if sh.status = sh.stmts(list, false); sh.flow != flowNone {
			break
		}
	}
	return sh.status
}

// syntaxError prints bash's words for a parser's error.
func (sh *Shell) syntaxError(label, src string, err error) int {
	pos, msg := syntax.Pos{}, err.Error()
	incomplete := false
	switch e := err.(type) {
	case syntax.ParseError:
		pos, msg, incomplete = e.Pos, e.Text, e.Incomplete
	case syntax.LangError:
		pos, msg = e.Pos, "syntax error: "+e.Feature
	}
	lines := strings.Split(strings.TrimRight(src, "\n"), "\n")
	line := min(int(pos.Line()), len(lines))
	text := ""
	if line > 0 {
		text = lines[line-1]
	}
	say := func(line int, format string, args ...any) {
		where := sprintf("line %d: ", line+sh.base)
		if sh.interactive && sh.sub == 0 {
			where = ""
		}
		sh.s.Write(2, []byte(sh.name+": "+label+where+decode(sprintf(format, args...))+"\n"))
	}
	if q := unclosed(msg); q != "" {
		say(line, "unexpected EOF while looking for matching `%s'", q)
	} else if tok := tokenAt(src, int(pos.Offset()), msg); tok == "" || incomplete {
		say(len(lines)+1, "syntax error: unexpected end of file")
	} else {
		say(line, "syntax error near unexpected token `%s'", tok)
		say(line, "`%s'", text)
	}
	sh.status = 2
	return 2
}

// unclosed is the closing quote that the parser has missed.
func unclosed(msg string) string {
	_, rest, ok := strings.Cut(msg, "reached EOF without closing quote ")
	if ok {
		return strings.Trim(rest, "`")
	}
	if _, rest, ok = strings.Cut(msg, "reached EOF without matching "); !ok {
		return ""
	}
	if _, with, ok := strings.Cut(rest, " with "); ok {
		open := strings.Trim(strings.Split(rest, " ")[0], "`")
		if open == "(" || open == "{" {
			return ""
		}
		return strings.Trim(with, "`")
	}
	return ""
}

// tokenAt is the token that stands where the parser stopped, or that its message is about.
func tokenAt(src string, at int, msg string) string {
	if strings.HasPrefix(msg, "`") {
		if tok, rest, ok := strings.Cut(msg[1:], "` "); ok && strings.HasPrefix(rest, "can only") || strings.HasPrefix(rest, "is not a valid") {
			return tok
		}
	}
	if strings.Contains(msg, "must be followed by") || strings.Contains(msg, "must be ended with") {
		// What stands behind the word in question.
		for at < len(src) && strings.IndexByte(" \t\n;&|()<>", src[at]) < 0 {
			at++
		}
	}
	for at < len(src) && (src[at] == ' ' || src[at] == '\t') {
		at++
	}
	if at >= len(src) {
		return ""
	}
	if src[at] == '\n' {
		if strings.TrimSpace(src[at:]) == "" {
			return ""
		}
		return "newline"
	}
	for _, op := range []string{";;", "&&", "||", "<<", ">>"} {
		if strings.HasPrefix(src[at:], op) {
			return op
		}
	}
	end := at + 1
	if strings.IndexByte(";&|()<>", src[at]) < 0 {
		for end < len(src) && strings.IndexByte(" \t\n;&|()<>", src[end]) < 0 {
			end++
		}
	}
	return src[at:end]
}

// runInput runs what standard input gives, a line at a time, so that commands can read what follows.
func (sh *Shell) runInput() int {
	if sh.interactive {
		const sysSetsid = 112
		sh.s.Call(sysSetsid) // Ctrl-C is for this shell and its children
		sh.sigaction(sigINT, user.Catch)
		if sh.vars["PS1"] == nil {
			sh.set("PS1", `\s-\v\$ `)
		}
		sh.set("PS2", "> ")
	}
	in := &input{sh: sh}
	for {
		again := sh.runLines(in)
		if !again || in.eof {
			break
		}
	}
	if sh.interactive && in.eof && sh.flow == flowNone {
		sh.s.Write(2, []byte("exit\n"))
	}
	return sh.status
}

// runLines parses and runs lines until the end, or an error after which a new parser has to begin.
func (sh *Shell) runLines(in *input) (again bool) {
	p := newParser()
	in.p, in.first = p, true
	in.text = ""
	base := in.lines
	old, oldSrc := sh.base, sh.src
	sh.base = base
	defer func() { sh.base, sh.src = old, oldSrc }()
	for list, err := range statements(p, in) {
		sh.src = in.text
		if err != nil && in.broken {
			break
		}
		if err != nil {
			sh.syntaxError("", in.text, err)
			return sh.interactive && !in.eof
		}
		if p.Incomplete() {
			in.first = false
			continue
		}
		in.first = true
		if len(list) == 0 || sh.opts.noexec {
			continue
		}
		sh.line1(list, false)
		if sh.flow == flowExit || sh.flow != flowNone && !sh.interactive {
			return false
		}
		sh.flow = flowNone
	}
	broken := in.broken
	in.broken = false
	return broken
}

// input reads lines of standard input for the parser.
type input struct {
	sh    *Shell
	p     *syntax.Parser
	first bool
	eof   bool
	lines int

	broken bool // by Ctrl-C
	text   string
	rest   []byte
}

func (in *input) Read(b []byte) (int, error) {
	if len(in.rest) == 0 {
		if in.eof {
			return 0, io.EOF
		}
		if in.sh.interactive {
			in.sh.dropInterrupt()
			in.sh.prompt(in.first)
		}
		in.sh.readErr = 0
		line, ok := in.sh.readLine(0, '\n')
		in.sh.terminal.done(in.sh)
		if !ok && in.sh.readErr == kernel.EIO && in.sh.interactive { // Ctrl-C in the line editor: the command is given up
			in.sh.status, in.broken = 130, true
			return 0, io.EOF
		}
		if !ok {
			in.eof = true
			if line == "" {
				return 0, io.EOF
			}
		}
		in.lines++
		if in.sh.interactive {
			in.sh.remember(line, in.first)
			line = in.sh.expandAliases(in.text, line)
		}
		line = encode(line)
		in.text += line + "\n"
		in.rest = []byte(line + "\n")
	}
	n := copy(b, in.rest)
	in.rest = in.rest[n:]
	return n, nil
}

// prompt tells of jobs that are done and shows PS1 or PS2.
func (sh *Shell) prompt(first bool) {
	name := "PS2"
	if first {
		name = "PS1"
		sh.reap(true)
	}
	text := sh.expandPrompt(sh.get(name))
	if sh.sub == 0 {
		sh.terminal.ask(sh, text, first)
	}
	sh.s.Write(2, []byte(text))
}

// expandPrompt expands a prompt's escapes.
func (sh *Shell) expandPrompt(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 == len(s) {
			b.WriteByte(s[i])
			continue
		}
		i++
		switch s[i] {
		case 'u':
			b.WriteString("root")
		case 'h', 'H':
			b.WriteString("kscope")
		case 'w', 'W':
			dir := sh.get("PWD")
			if home := sh.get("HOME"); home != "" && (dir == home || strings.HasPrefix(dir, home+"/")) {
				dir = "~" + dir[len(home):]
			}
			if s[i] == 'W' && dir != "/" {
				dir = path.Base(dir)
			}
			b.WriteString(dir)
		case 's':
			b.WriteString(path.Base(sh.name))
		case 'v', 'V':
			b.WriteString("5.2")
		case '$':
			b.WriteByte('#')
		case 'n':
			b.WriteByte('\n')
		case '[', ']':
		default:
			b.WriteString(ansiC(s[i-1 : i+1]))
		}
	}
	w, err := newParser().Document(strings.NewReader(encode(b.String())))
	if err != nil || w == nil {
		return b.String()
	}
	decodeTree(w)
	trace := sh.opts.xtrace
	sh.opts.xtrace = false
	defer func() { sh.opts.xtrace = trace }()
	return sh.join(sh.quotedParts(w.Parts, false), " ")
}
