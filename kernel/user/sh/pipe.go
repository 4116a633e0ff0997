package sh

import (
	"mvdan.cc/sh/v3/syntax"

	"kscope/kernel"
)

// stages are a pipeline's statements from left to right; all[i] says that |& follows stage i.
func stages(st *syntax.Stmt, c *syntax.BinaryCmd, all *[]bool) []*syntax.Stmt {
	var left []*syntax.Stmt
	if x, ok := pipeOf(c.X); ok {
		left = stages(c.X, x, all)
	} else {
		left = []*syntax.Stmt{c.X}
	}
	*all = append(*all, c.Op == syntax.PipeAll)
	if y, ok := pipeOf(c.Y); ok {
		return append(left, stages(c.Y, y, all)...)
	}
	return append(left, c.Y)
}

// pipeOf is a statement's pipeline when it is nothing else.
func pipeOf(st *syntax.Stmt) (*syntax.BinaryCmd, bool) {
	c, ok := st.Cmd.(*syntax.BinaryCmd)
	return c, ok && (c.Op == syntax.Pipe || c.Op == syntax.PipeAll) && len(st.Redirs) == 0 && !st.Negated && !st.Background
}

// pipeline runs its stages as children and waits for all of them.
func (sh *Shell) pipeline(c *syntax.BinaryCmd) int {
	line := sh.line
	pids, e := sh.startStages(c, -1, false)
	if e != 0 {
		return 254
	}
	var all []bool
	list := stages(nil, c, &all)
	sh.line = line
	sh.pipes = nil
	last, failed := 0, 0
	var waits, statuses []int
	for _, pid := range pids {
		ws, ok := sh.waitStatus(pid)
		if !ok {
			ws = 127 << 8
		}
		waits, statuses = append(waits, ws), append(statuses, statusOf(ws))
		if last = ws; ws != 0 {
			failed = ws
		}
	}
	sh.pipes = statuses
	if sh.opts.pipefail {
		last = failed
	}
	if last&0x7f != 0 {
		sh.died(pids, waits, last, func() (parts []string) {
			for _, st := range list {
				parts = append(parts, source(st))
			}
			return parts
		})
	}
	return statusOf(last)
}

// startStages forks a pipeline's stages. stdin >= 0 is the first one's standard input; away says that they are a job.
func (sh *Shell) startStages(c *syntax.BinaryCmd, stdin int, away bool) (pids []int, e kernel.Errno) {
	var all []bool
	list := stages(nil, c, &all)
	in := stdin
	for i, st := range list {
		r, w := -1, -1
		if i < len(list)-1 {
			if r, w, e = sh.s.Pipe(); e != 0 {
				sh.errorf("pipe error: %s", e.Error())
				break
			}
		}
		from, both := in, i < len(all) && all[i]
		pid, err := sh.fork(func(sh *Shell) int {
			if away {
				sh.detach()
			}
			return sh.stage(st, from, r, w, both)
		})
		if in >= 0 && in != stdin {
			sh.s.Close(in)
		}
		if w >= 0 {
			sh.s.Close(w)
		}
		in = r
		if e = err; e != 0 {
			break
		}
		pids = append(pids, pid)
	}
	if e != 0 {
		if in >= 0 && in != stdin {
			sh.s.Close(in)
		}
		for _, pid := range pids {
			sh.waitFor(pid, nil)
		}
	}
	return pids, e
}

// stage is the child of one stage: in and w become its standard files, r is the next one's.
func (sh *Shell) stage(st *syntax.Stmt, in, r, w int, both bool) int {
	if r >= 0 {
		sh.s.Close(r)
	}
	if in > 0 {
		sh.s.Dup2(in, 0)
		sh.s.Close(in)
	}
	if w >= 0 && w != 1 {
		sh.s.Dup2(w, 1)
		sh.s.Close(w)
	}
	if both {
		sh.s.Dup2(1, 2)
	}
	sh.loops = 0
	return sh.stmts([]*syntax.Stmt{st}, true)
}

// capture is $( … ): what the child writes, without newlines at the end.
func (sh *Shell) capture(stmts []*syntax.Stmt) string {
	if text, ok := sh.captureFile(stmts); ok {
		return text
	}
	r, w, e := sh.s.Pipe()
	if e != 0 {
		sh.discard("cannot make pipe for command substitution: %s", e.Error())
	}
	line := sh.line
	pid, e := sh.fork(func(sh *Shell) int {
		sh.s.Close(r)
		if w != 1 {
			sh.s.Dup2(w, 1)
			sh.s.Close(w)
		}
		sh.loops = 0
		sh.nested++
		sh.opts.errexit = false // as bash does unless inherit_errexit is set
		return sh.stmts(stmts, true)
	})
	sh.s.Close(w)
	if e != 0 {
		sh.s.Close(r)
		panic(abort{254, false})
	}
	text := sh.readAll(r)
	sh.s.Close(r)
	sh.subst = sh.waitFor(pid, nil)
	sh.status = sh.subst
	sh.line = line
	return trimOutput(sh, text)
}

func trimOutput(sh *Shell, text []byte) string {
	n, nuls := 0, false
	for _, c := range text {
		if c == 0 {
			nuls = true
			continue
		}
		text[n] = c
		n++
	}
	if nuls {
		sh.errorf("warning: command substitution: ignored null byte in input")
	}
	for n > 0 && text[n-1] == '\n' {
		n--
	}
	return string(text[:n])
}

// captureFile is $(< file), which needs no child's command.
func (sh *Shell) captureFile(stmts []*syntax.Stmt) (string, bool) {
	if len(stmts) != 1 || stmts[0].Cmd != nil || len(stmts[0].Redirs) != 1 || stmts[0].Redirs[0].Op != syntax.RdrIn || stmts[0].Redirs[0].N != nil {
		return "", false
	}
	path := sh.text(stmts[0].Redirs[0].Word)
	text, e := sh.readFile(path)
	if e != 0 {
		sh.errorf("%s: %s", path, e.Error())
		sh.subst = 1
		return "", true
	}
	sh.subst = 0
	return trimOutput(sh, []byte(text)), true
}

// readAll reads a descriptor to its end, 4 KiB at a time as bash does.
func (sh *Shell) readAll(fd int) (out []byte) {
	for {
		b, e := sh.s.Read(fd, 4096)
		if e == kernel.EINTR {
			continue
		}
		if e != 0 || len(b) == 0 {
			return out
		}
		sh.s.Work(len(b))
		out = sh.collect(out, b)
	}
}

// readFile is a file's text.
func (sh *Shell) readFile(path string) (string, kernel.Errno) {
	fd, e := sh.s.Open(path, oRdonly|oCloexec, 0)
	if e != 0 {
		return "", e
	}
	defer sh.s.Close(fd)
	var out []byte
	for {
		b, e := sh.s.Read(fd, 8192)
		if e != 0 || len(b) == 0 {
			return string(out), e
		}
		out = sh.collect(out, b)
	}
}

// procSubst is <( … ) or >( … ): a name in /dev/fd where the guest has that, else a FIFO, as bash does without /dev/fd.
func (sh *Shell) procSubst(p *syntax.ProcSubst) string {
	out := p.Op == syntax.CmdOut // the command reads what we write
	if _, e := sh.s.Stat("/dev/fd"); e == 0 {
		return sh.procPipe(p, out)
	}
	path := sh.tempName("sh-np")
	const sysMknod = 133
	if _, _, err := sh.s.CallNamed("mknod", path, modeFIFO|0o600, 0); err != nil {
		sh.discard("cannot make pipe for process substitution: %s", err.Error())
	}
	pid, e := sh.fork(func(sh *Shell) int {
		flags, std := oWronly, 1
		if out {
			flags, std = oRdonly, 0
		}
		fd, e := sh.s.Open(path, flags, 0)
		if e != 0 {
			sh.errorf("cannot open named pipe %s for %s: %s", path, map[bool]string{true: "reading", false: "writing"}[out], e.Error())
			return 127
		}
		return sh.substChild(p, fd, std)
	})
	if e == 0 {
		sh.lastJob = pid
		sh.addJob(&job{pids: []int{pid}, quiet: true})
	}
	sh.temps = append(sh.temps, temp{path: path})
	return path
}

func (sh *Shell) substChild(p *syntax.ProcSubst, fd, std int) int {
	if fd != std {
		sh.s.Dup2(fd, std)
		sh.s.Close(fd)
	}
	sh.loops = 0
	return sh.stmts(p.Stmts, true)
}

func (sh *Shell) procPipe(p *syntax.ProcSubst, out bool) string {
	r, w, e := sh.s.Pipe()
	if e != 0 {
		sh.discard("cannot make pipe for process substitution: %s", e.Error())
	}
	mine, theirs, std := r, w, 1
	if out {
		mine, theirs, std = w, r, 0
	}
	pid, e := sh.fork(func(sh *Shell) int {
		sh.s.Close(mine)
		return sh.substChild(p, theirs, std)
	})
	sh.s.Close(theirs)
	if e == 0 {
		sh.lastJob = pid
		sh.addJob(&job{pids: []int{pid}, quiet: true})
	}
	if fd, e := sh.fcntl(mine, fDupfd, 63-len(sh.temps)); e == 0 { // the highest ones, out of the script's way
		sh.s.Close(mine)
		mine = fd
	}
	sh.temps = append(sh.temps, temp{fd: mine})
	return sprintf("/dev/fd/%d", mine)
}
