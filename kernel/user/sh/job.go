package sh

import (
	"slices"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"kscope/kernel"
	"kscope/kernel/user"
)

// job is what X & has started.
type job struct {
	id      int
	pids    []int
	text    string
	parts   []string // of a pipeline, its stages
	done    bool
	code    int
	stopped bool
	quiet   bool // a process substitution: no number
}

// pid is the one that $! gave.
func (j *job) pid() int { return j.pids[len(j.pids)-1] }

func (sh *Shell) addJob(j *job) {
	if !j.quiet {
		for _, o := range sh.jobs {
			j.id = max(j.id, o.id)
		}
		j.id++
	}
	sh.jobs = append(sh.jobs, j)
}

// background starts X & and prints its number when somebody is there to read it.
func (sh *Shell) background(st *syntax.Stmt) int {
	plain := *st
	plain.Background = false
	stdin := -1
	if !sh.interactive && !readsInput(&plain) {
		if fd, e := sh.s.Open("/dev/null", oRdonly, 0); e == 0 {
			stdin = fd
		}
	}
	j := &job{text: source(&plain)}
	if c, ok := pipeOf(&plain); ok {
		j.pids, _ = sh.startStages(c, stdin, true)
		var all []bool
		for _, st := range stages(nil, c, &all) {
			j.parts = append(j.parts, source(st))
		}
	} else {
		pid, e := sh.fork(func(sh *Shell) int {
			if stdin >= 0 {
				sh.s.Dup2(stdin, 0)
				sh.s.Close(stdin)
			}
			sh.detach()
			sh.loops = 0
			return sh.stmts([]*syntax.Stmt{&plain}, true)
		})
		if e == 0 {
			j.pids = []int{pid}
		}
	}
	if stdin >= 0 {
		sh.s.Close(stdin)
	}
	if len(j.pids) == 0 {
		return 254
	}
	sh.addJob(j)
	sh.lastJob = j.pid()
	if sh.interactive {
		sh.s.Write(2, []byte(sprintf("[%d] %d\n", j.id, j.pid())))
	}
	return 0
}

// detach keeps Ctrl-C from a job: it ignores the signal, or, in an interactive shell, is in a process group of its own.
func (sh *Shell) detach() {
	if !sh.interactive {
		sh.sigaction(sigINT, user.Ignore)
		sh.sigaction(sigQUIT, user.Ignore)
		return
	}
	const sysSetpgid = 109
	sh.s.Call(sysSetpgid, 0, 0)
}

// readsInput says that a statement redirects its own standard input.
func readsInput(st *syntax.Stmt) bool {
	for _, r := range st.Redirs {
		if fd, _ := target(r); fd == 0 {
			return true
		}
	}
	return false
}

// statusOf is a wait status as $? shows it.
func statusOf(ws int) int {
	if sig := ws & 0x7f; sig != 0 {
		return 128 + sig
	}
	return ws >> 8 & 0xff
}

// waitFor waits for one child; others that end meanwhile are noted. text is the command for the message about a signal.
func (sh *Shell) waitFor(pid int, text func() string) int {
	ws, ok := sh.waitStatus(pid)
	if !ok {
		return 127
	}
	if ws&0x7f != 0 {
		sh.died([]int{pid}, []int{ws}, ws, func() []string {
			if text == nil {
				return nil
			}
			return []string{text()}
		})
	}
	return statusOf(ws)
}

func (sh *Shell) waitStatus(pid int) (ws int, ok bool) {
	for {
		if ws, ok := sh.exits[pid]; ok {
			delete(sh.exits, pid)
			return ws, true
		}
		got, ws, e := sh.s.Wait4(-1, 0)
		switch {
		case e == kernel.EINTR:
			sh.poll()
		case e != 0:
			return 0, false
		case got > 0:
			sh.note(got, ws)
		}
	}
}

// died tells of a foreground pipeline that ends by a signal: as an interactive shell does, in one word, also of SIGTERM and of a signal
// that the shell traps. bash is silent about SIGINT and SIGPIPE, and about what a substitution runs. See notify_of_job_status in jobs.c.
func (sh *Shell) died(pids, statuses []int, last int, parts func() []string) {
	sig := last & 0x7f
	list := parts()
	if sig == sigINT || sig == sigPIPE || list == nil {
		if sig == sigINT && sh.interactive {
			sh.poll() // the wait for the child need not have been what the shell's own signal has ended
			sh.s.Write(2, []byte("\n"))
		}
		return
	}
	if _, trapped := sh.traps[sig]; sh.interactive || sig == sigTERM || trapped {
		sh.s.Write(2, []byte(signalText(last)+"\n"))
		return
	}
	sh.deadLines(pids, statuses, list)
}

// deadLines are a line for each process of a pipeline: what became of it, unless that is what became of the first.
func (sh *Shell) deadLines(pids, statuses []int, parts []string) {
	var out strings.Builder
	for i, pid := range pids {
		ws := statuses[i]
		state := signalText(ws)
		switch {
		case i > 0 && ws == statuses[0]:
			state = ""
		case ws&0x7f == 0 && ws == 0:
			state = "Done"
		case ws&0x7f == 0:
			state = sprintf("Exit %d", statusOf(ws))
		}
		if i > 0 {
			out.WriteString("\n     ")
			parts[i] = "| " + parts[i]
		}
		if i > 0 && state == "" {
			out.WriteString(sprintf("%5d %-22s%s", pid, state, parts[i])) // see print_pipeline
		} else {
			out.WriteString(sprintf("%5d %-24s%s", pid, state, parts[i]))
		}
	}
	sh.errorf("%s", out.String())
}

// note keeps a child's status: its job's, or for who waits later.
func (sh *Shell) note(pid, ws int) {
	sh.exits[pid] = ws
	for _, j := range sh.jobs {
		done := true
		for _, p := range j.pids {
			_, ended := sh.exits[p]
			done = done && ended
		}
		if done && !j.done {
			j.done, j.code = true, statusOf(sh.exits[j.pid()])
			if j.quiet {
				sh.forget(j)
				return
			}
			sh.killedLine(j)
		}
	}
}

// forget drops a job whose end has been told.
func (sh *Shell) forget(j *job) {
	for i, o := range sh.jobs {
		if o == j {
			sh.jobs = append(sh.jobs[:i:i], sh.jobs[i+1:]...)
			break
		}
	}
	for _, p := range j.pids {
		delete(sh.exits, p)
	}
}

// reap collects children that have ended, without waiting, and in an interactive shell tells of jobs that are done.
func (sh *Shell) reap(tell bool) {
	for len(sh.jobs) > 0 {
		options := wNohang
		if sh.interactive {
			options |= wUntraced | wContinued
		}
		got, ws, e := sh.s.Wait4(-1, options)
		if e != 0 || got <= 0 {
			break
		}
		if !sh.stops(got, ws) {
			sh.note(got, ws)
		}
	}
	for _, j := range append([]*job(nil), sh.jobs...) {
		if j.done && tell {
			sh.s.Write(2, []byte(sh.jobLine(j, false)+"\n"))
			sh.forget(j)
		}
	}
}

const wNohang = 1

// jobLine is a job as jobs shows it.
func (sh *Shell) jobLine(j *job, long bool) string {
	mark := sh.mark(j)
	state, text := "Running", j.text+" &"
	if j.stopped {
		state, text = "Stopped", j.text
	}
	if j.done {
		text = j.text
		state = "Done"
		if ws := sh.exits[j.pid()]; ws&0x7f != 0 {
			state = signalText(ws)
		} else if j.code != 0 {
			state = sprintf("Exit %d", j.code)
		}
	}
	pid := ""
	if long {
		pid = sprintf("%5d ", j.pid())
	}
	return sprintf("[%d]%c  %s%-24s%s", j.id, mark, pid, state, text)
}

// findJob finds %n, %%, %+, %- or %text.
func (sh *Shell) findJob(spec string) *job {
	spec = strings.TrimPrefix(spec, "%")
	var real []*job
	for _, j := range sh.jobs {
		if !j.quiet {
			real = append(real, j)
		}
	}
	n := len(real)
	switch {
	case n > 0 && (spec == "" || spec == "%" || spec == "+"):
		return real[n-1]
	case n > 1 && spec == "-":
		return real[n-2]
	}
	for _, j := range real {
		if spec == strconv.Itoa(j.id) || !isDigits(spec) && strings.HasPrefix(j.text, spec) {
			return j
		}
	}
	return nil
}

// waitBuiltin is wait [-n] [id …].
func waitBuiltin(sh *Shell, argv []string) int {
	args := argv[1:]
	if len(args) > 0 && args[0] == "-n" {
		return sh.waitNext()
	}
	if len(args) == 0 {
		for len(sh.jobs) > 0 {
			for _, j := range append([]*job(nil), sh.jobs...) {
				if j.done {
					sh.forget(j)
				}
			}
			if len(sh.jobs) == 0 {
				break
			}
			if status, ok := sh.waitOnce(); !ok {
				return status
			}
		}
		return 0
	}
	status := 0
	for _, a := range args {
		status = sh.waitSpec(a)
		if sh.flow != flowNone {
			break
		}
	}
	return status
}

// waitOnce blocks for any child; ok is false when there is none, or a trapped signal came.
func (sh *Shell) waitOnce() (status int, ok bool) {
	got, ws, e := sh.s.Wait4(-1, 0)
	switch {
	case e == kernel.EINTR:
		sh.poll()
		if sig := sh.firstPending(); sig != 0 {
			return 128 + sig, false
		}
		return 0, true
	case e != 0:
		sh.jobs = nil
		return 0, false
	}
	sh.note(got, ws)
	return 0, true
}

func (sh *Shell) waitNext() int {
	for {
		for _, j := range sh.jobs {
			if j.done && !j.quiet {
				code := j.code
				sh.forget(j)
				return code
			}
		}
		if len(sh.jobs) == 0 {
			return 127
		}
		if status, ok := sh.waitOnce(); !ok {
			return status
		}
	}
}

func (sh *Shell) waitSpec(spec string) int {
	var j *job
	pid := 0
	if strings.HasPrefix(spec, "%") {
		if j = sh.findJob(spec); j == nil {
			sh.errorf("wait: %s: no such job", spec)
			return 127
		}
	} else {
		n, err := strconv.Atoi(spec)
		if err != nil {
			sh.errorf("wait: `%s': not a pid or valid job spec", spec)
			return 1
		}
		pid = n
		for _, o := range sh.jobs {
			for _, p := range o.pids {
				if p == pid {
					j = o
				}
			}
		}
		if ws, ok := sh.exits[pid]; ok {
			if j != nil && j.pid() == pid && j.done {
				sh.forget(j)
			}
			return statusOf(ws)
		}
		if j == nil {
			sh.errorf("wait: pid %d is not a child of this shell", pid)
			return 127
		}
	}
	for {
		if j.done {
			ws := sh.exits[j.pid()]
			sh.forget(j)
			return statusOf(ws)
		}
		if ws, ok := sh.exits[pid]; ok && pid != 0 {
			return statusOf(ws)
		}
		if status, ok := sh.waitOnce(); !ok {
			return status
		}
	}
}

// killedLine tells of a job that a signal has ended.
func (sh *Shell) killedLine(j *job) {
	sig := sh.exits[j.pid()] & 0x7f
	if _, trapped := sh.traps[sig]; sig == 0 || sig == sigINT || sig == sigPIPE || sig == sigTERM || trapped || sh.interactive {
		return
	}
	parts := j.parts
	if len(parts) != len(j.pids) {
		parts = []string{j.text}
	}
	statuses := make([]int, len(j.pids))
	for i, p := range j.pids {
		statuses[i] = sh.exits[p]
	}
	sh.deadLines(j.pids, statuses, slices.Clone(parts))
}

func jobsBuiltin(sh *Shell, argv []string) int {
	long, pids := false, false
	for _, a := range argv[1:] {
		long = long || a == "-l"
		pids = pids || a == "-p"
	}
	sh.reap(false)
	var out strings.Builder
	for _, j := range append([]*job(nil), sh.jobs...) {
		switch {
		case j.quiet:
		case pids:
			out.WriteString(strconv.Itoa(j.pid()) + "\n")
		default:
			out.WriteString(sh.jobLine(j, long) + "\n")
			if j.done {
				sh.forget(j)
			}
		}
	}
	return sh.print("jobs", out.String())
}

// killBuiltin is kill [-s SIG | -SIG] pid … and kill -l.
func killBuiltin(sh *Shell, argv []string) int {
	const usage = "kill: usage: kill [-s sigspec | -n signum | -sigspec] pid | jobspec ... or kill -l [sigspec]"
	args := argv[1:]
	if len(args) == 0 {
		sh.s.Write(2, []byte(usage+"\n"))
		return 2
	}
	sig := sigTERM
	if a := args[0]; len(a) > 1 && a[0] == '-' && a != "--" {
		spec := a[1:]
		args = args[1:]
		switch {
		case spec == "l" || spec == "L":
			return sh.killList(args)
		case (spec == "s" || spec == "n") && len(args) > 0:
			spec, args = args[0], args[1:]
		}
		n, ok := signalNumber(spec)
		if !ok {
			sh.errorf("kill: %s: invalid signal specification", spec)
			return 1
		}
		sig = n
	}
	if len(args) > 0 && args[0] == "--" {
		args = args[1:]
	}
	if len(args) == 0 {
		sh.s.Write(2, []byte(usage+"\n"))
		return 2
	}
	status := 0
	for _, a := range args {
		if !sh.killOne(a, sig) {
			status = 1
		}
	}
	return status
}

func (sh *Shell) killOne(spec string, sig int) bool {
	pids := []int{}
	if strings.HasPrefix(spec, "%") {
		j := sh.findJob(spec)
		if j == nil {
			sh.errorf("kill: %s: no such job", spec)
			return false
		}
		pids = j.pids
	} else {
		n, err := strconv.Atoi(spec)
		if err != nil {
			sh.errorf("kill: %s: arguments must be process or job IDs", spec)
			return false
		}
		pids = []int{n}
	}
	for _, pid := range pids {
		if e := sh.s.Kill(pid, sig); e != 0 {
			sh.errorf("kill: (%d) - %s", pid, e.Error())
			return false
		}
	}
	return true
}

func (sh *Shell) killList(args []string) int {
	var out strings.Builder
	status := 0
	for _, a := range args {
		n, ok := signalNumber(a)
		if isDigits(a) && n > 128 {
			n -= 128
		}
		switch _, err := strconv.Atoi(signalName(n)); {
		case !ok || n > sigRTMax || a == "128":
			sh.errorf("kill: %s: invalid signal specification", a)
			status = 1
		case !isDigits(a):
			out.WriteString(strconv.Itoa(n) + "\n")
		case err != nil: // 32 and 33 have no names
			out.WriteString(signalName(n) + "\n")
		case n == 0:
			out.WriteString("EXIT\n")
		}
	}
	if len(args) == 0 {
		k := 0
		for n := 1; n <= sigRTMax; n++ {
			if n >= len(signals) && n < sigRTMin {
				continue
			}
			end := "\t"
			if k++; k%5 == 0 {
				end = "\n"
			}
			out.WriteString(sprintf("%2d) SIG%s%s", n, signalName(n), end))
		}
		out.WriteString("\n")
	}
	return max(sh.print("kill", out.String()), status)
}
