package sh

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// stmts executes a list. tail says that the process ends behind it.
func (sh *Shell) stmts(list []*syntax.Stmt, tail bool) int {
	for i, st := range list {
		sh.status = sh.stmt(st, tail && i == len(list)-1)
		if sh.flow != flowNone {
			break
		}
	}
	return sh.status
}

// stmt executes one statement and applies what follows each: traps and set -e.
func (sh *Shell) stmt(st *syntax.Stmt, tail bool) int {
	if sh.opts.noexec && !sh.interactive {
		return sh.status
	}
	sh.setLine(lineOf(st))
	sh.compute()
	if st.Background {
		return sh.background(st)
	}
	line := sh.line
	if st.Negated {
		sh.quiet++
		sh.status = sh.command(st, false)
		sh.quiet--
		if sh.status == 0 {
			sh.status = 1
		} else {
			sh.status = 0
		}
		sh.runTraps()
		return sh.status
	}
	sh.status = sh.command(st, tail && len(sh.traps) == 0)
	if sh.caught {
		sh.runTraps()
	}
	if sh.status != 0 && sh.quiet == 0 && sh.flow == flowNone && counts(st.Cmd) {
		if _, ok := sh.traps[trapErr]; ok && len(sh.frames) == 0 {
			sh.line = line
			sh.runTrap(trapErr)
		}
		if sh.opts.errexit && sh.flow == flowNone {
			sh.flow = flowExit
		}
	}
	return sh.status
}

// perStatement is what a statement costs besides its system calls, in ns: about what bash takes for a builtin.
const perStatement = 700

// compute charges a statement's time. A loop without system calls gets its signals here.
func (sh *Shell) compute() {
	sh.s.Work(perStatement)
	if sh.interactive && sh.sub == 0 && sh.flow == flowNone {
		if sh.ticks++; sh.ticks%64 == 0 {
			sh.poll()
		}
		if sh.pending&(1<<(sigINT-1)) != 0 {
			sh.pending &^= 1 << (sigINT - 1)
			if sh.status != 128+sigINT { // else died has written it
				sh.s.Write(2, []byte("\n"))
			}
			panic(abort{128 + sigINT, false})
		}
	}
}

// counts says that a failure of this command is one for set -e; of compound commands their parts have counted already.
func counts(c syntax.Command) bool {
	switch c := c.(type) {
	case *syntax.CallExpr, *syntax.DeclClause, *syntax.Subshell, *syntax.TestClause, *syntax.ArithmCmd, *syntax.LetClause, nil:
		return true
	case *syntax.BinaryCmd:
		return c.Op == syntax.Pipe || c.Op == syntax.PipeAll
	}
	return false
}

// command executes a statement's command with its redirections.
func (sh *Shell) command(st *syntax.Stmt, tail bool) int {
	switch c := st.Cmd.(type) {
	case nil:
		return sh.onlyRedirs(st.Redirs)
	case *syntax.CallExpr:
		return sh.call(c, st.Redirs, tail)
	case *syntax.Subshell:
		return sh.subshell(st, c, tail)
	}
	if len(st.Redirs) == 0 {
		return sh.compound(st.Cmd, tail)
	}
	saved, ok := sh.redirectThere(st.Redirs, !tail)
	status := 1
	if ok {
		status = sh.compound(st.Cmd, false)
	}
	sh.restore(saved)
	return status
}

// redirectThere is redirect for a compound command, whose redirections stand at its end: messages have their line.
func (sh *Shell) redirectThere(redirs []*syntax.Redirect, save bool) (saved []savedFd, ok bool) {
	line := sh.line
	if len(redirs) > 0 {
		sh.setLine(redirs[0].Pos())
	}
	saved, ok = sh.redirect(redirs, save)
	sh.line = line
	return saved, ok
}

func (sh *Shell) compound(cmd syntax.Command, tail bool) int {
	switch c := cmd.(type) {
	case *syntax.BinaryCmd:
		return sh.binary(c, tail)
	case *syntax.Block:
		return sh.stmts(c.Stmts, tail)
	case *syntax.IfClause:
		return sh.ifClause(c, tail)
	case *syntax.WhileClause:
		return sh.whileClause(c)
	case *syntax.ForClause:
		return sh.forClause(c)
	case *syntax.CaseClause:
		return sh.caseClause(c, tail)
	case *syntax.FuncDecl:
		if v := sh.funcs[c.Name.Value]; v == nil || v.body != c.Body {
			sh.funcs[c.Name.Value] = &function{name: c.Name.Value, body: c.Body, base: sh.base, src: sh.src}
		}
		return 0
	case *syntax.ArithmCmd:
		return sh.arithStatus("((", c.X, sh.between(c.Left, c.Right)[2:])
	case *syntax.LetClause:
		status := 0
		for _, x := range c.Exprs {
			status = sh.arithStatus("let", x, sh.original(x))
		}
		return status
	case *syntax.TestClause:
		return sh.testClause(c)
	case *syntax.DeclClause:
		return sh.declClause(c)
	case *syntax.TimeClause:
		return sh.timeClause(c)
	}
	sh.errorf("%s: not supported", strings.TrimPrefix(sprintf("%T", cmd), "*syntax."))
	return 2
}

func (sh *Shell) binary(c *syntax.BinaryCmd, tail bool) int {
	if c.Op == syntax.Pipe || c.Op == syntax.PipeAll {
		return sh.pipeline(c)
	}
	sh.quiet++
	sh.status = sh.stmt(c.X, false)
	sh.quiet--
	if sh.flow != flowNone || (c.Op == syntax.AndStmt) != (sh.status == 0) {
		return sh.status
	}
	return sh.stmt(c.Y, tail)
}

// condition runs a list whose failure is no failure.
func (sh *Shell) condition(list []*syntax.Stmt) bool {
	sh.quiet++
	defer func() { sh.quiet-- }()
	return sh.stmts(list, false) == 0 && sh.flow == flowNone
}

func (sh *Shell) ifClause(c *syntax.IfClause, tail bool) int {
	for ; c != nil; c = c.Else {
		if len(c.Cond) == 0 || sh.condition(c.Cond) {
			return sh.stmts(c.Then, tail)
		}
		if sh.flow != flowNone {
			return sh.status
		}
	}
	return 0
}

// again handles break and continue behind a loop's body; false leaves the loop.
func (sh *Shell) again() bool {
	switch sh.flow {
	case flowNone:
		return true
	case flowBreak, flowContinue:
		if sh.depth--; sh.depth > 0 {
			return false
		}
		more := sh.flow == flowContinue
		sh.flow = flowNone
		return more
	}
	return false
}

func (sh *Shell) whileClause(c *syntax.WhileClause) int {
	sh.loops++
	defer func() { sh.loops-- }()
	status := 0
	for {
		ok := sh.condition(c.Cond)
		if sh.flow != flowNone {
			if sh.again() {
				continue
			}
			return status
		}
		if ok == c.Until {
			return status
		}
		sh.status = sh.stmts(c.Do, false)
		status = sh.status
		if !sh.again() {
			return sh.status
		}
	}
}

func (sh *Shell) forClause(c *syntax.ForClause) int {
	if loop, ok := c.Loop.(*syntax.CStyleLoop); ok {
		return sh.cStyle(c, loop)
	}
	loop := c.Loop.(*syntax.WordIter)
	if c.Select {
		return sh.selectClause(c, loop)
	}
	items := sh.args
	if loop.InPos.IsValid() {
		items = sh.fields(loop.Items...)
	}
	sh.loops++
	defer func() { sh.loops-- }()
	status := 0
	for _, item := range items {
		if sh.opts.xtrace {
			sh.trace("for " + loop.Name.Value + " in " + sh.quoteAll(items))
		}
		sh.set(loop.Name.Value, item)
		status = sh.stmts(c.Do, false)
		if !sh.again() {
			return sh.status
		}
	}
	return status
}

func (sh *Shell) cStyle(c *syntax.ForClause, loop *syntax.CStyleLoop) int {
	sh.loops++
	defer func() { sh.loops-- }()
	status := 0
	eval := func(x syntax.ArithmExpr) int64 {
		if x == nil {
			return 1
		}
		return sh.arith(x)
	}
	for eval(loop.Init); eval(loop.Cond) != 0; eval(loop.Post) {
		status = sh.stmts(c.Do, false)
		if !sh.again() {
			return sh.status
		}
	}
	return status
}

func (sh *Shell) caseClause(c *syntax.CaseClause, tail bool) int {
	word := sh.text(c.Word)
	if sh.opts.xtrace {
		sh.trace("case " + xquote(word) + " in")
	}
	status, through := 0, false
	for _, item := range c.Items {
		hit := through
		for _, p := range item.Patterns {
			if hit {
				break
			}
			hit = sh.match(sh.pattern(p), word)
		}
		if !hit {
			continue
		}
		last := item.Op == syntax.Break
		status = 0
		if len(item.Stmts) > 0 {
			status = sh.stmts(item.Stmts, tail && last)
		}
		if last || sh.flow != flowNone {
			return status
		}
		through = item.Op == syntax.Fallthrough
	}
	return status
}

// subshell is ( … ): a child, or this process itself when it has nothing else to do.
func (sh *Shell) subshell(st *syntax.Stmt, c *syntax.Subshell, tail bool) int {
	pid, e := sh.fork(func(sh *Shell) int {
		if _, ok := sh.redirectThere(st.Redirs, false); !ok {
			return 1
		}
		sh.loops = 0
		return sh.stmts(c.Stmts, true)
	})
	if e != 0 {
		return 254
	}
	return sh.waitFor(pid, func() string {
		var inner []string
		for _, s := range c.Stmts {
			inner = append(inner, source(s))
		}
		return strings.Replace(source(st), source(c), "( "+strings.Join(inner, "; ")+" )", 1)
	})
}

// onlyRedirs is a command that is nothing but redirections.
func (sh *Shell) onlyRedirs(redirs []*syntax.Redirect) int {
	saved, ok := sh.redirect(redirs, true)
	sh.restore(saved)
	if !ok {
		return 1
	}
	return 0
}

// timeClause is the reserved word time, with bash's default TIMEFORMAT or POSIX's of -p.
func (sh *Shell) timeClause(c *syntax.TimeClause) int {
	start, _ := sh.s.ClockGettime(clockMonotonic)
	user, sys := sh.times()
	status := 0
	if c.Stmt != nil {
		status = sh.stmt(c.Stmt, false)
	}
	end, _ := sh.s.ClockGettime(clockMonotonic)
	user2, sys2 := sh.times()
	format := "\nreal\t%3lR\nuser\t%3lU\nsys\t%3lS"
	if c.PosixFormat {
		format = "real %2R\nuser %2U\nsys %2S"
	} else if v, ok := sh.lookup("TIMEFORMAT"); ok {
		format = v
	}
	if format != "" {
		sh.s.Write(2, []byte(timeText(format, end-start, user2-user, sys2-sys)+"\n"))
	}
	return status
}

// timeText expands TIMEFORMAT: %[p][l]R, U and S, and %P.
func timeText(format string, real, user, sys uint64) string {
	var b strings.Builder
	for i := 0; i < len(format); i++ {
		if format[i] != '%' || i+1 == len(format) {
			b.WriteByte(format[i])
			continue
		}
		i++
		prec, long := 3, false
		if format[i] >= '0' && format[i] <= '9' && i+1 < len(format) {
			prec = min(int(format[i]-'0'), 3)
			i++
		}
		if format[i] == 'l' && i+1 < len(format) {
			long = true
			i++
		}
		ns := uint64(0)
		switch format[i] {
		case 'R':
			ns = real
		case 'U':
			ns = user
		case 'S':
			ns = sys
		case 'P':
			b.WriteString(sprintf("%.2f", float64(user+sys)*100/float64(max(real, 1))))
			continue
		default:
			b.WriteByte(format[i])
			continue
		}
		ms := ns / 1e6
		frac := ""
		if prec > 0 {
			frac = "." + sprintf("%03d", ms%1000)[:prec]
		}
		if long {
			b.WriteString(sprintf("%dm%d%ss", ms/60000, ms/1000%60, frac))
		} else {
			b.WriteString(sprintf("%d%s", ms/1000, frac))
		}
	}
	return b.String()
}
