package sh

import (
	"strings"

	"kscope/kernel"
)

// Job control as far as it goes without a terminal of the guest's own: jobs of an interactive shell are process groups, fg and bg let
// them go on, and Ctrl-C, which comes to the shell's group, is handed to the one that fg waits for. No key stops a job;
// kill -STOP does.

const (
	wUntraced  = 2
	wContinued = 8
	stopped    = 0x7f   // the low byte of the wait status of a stopped child, whose signal stands above
	continued  = 0xffff // the wait status of one that goes on
)

// stops notes that a job's process has stopped or goes on; false for any other wait status.
func (sh *Shell) stops(pid, ws int) bool {
	if ws&0xff != stopped && ws != continued {
		return false
	}
	for _, j := range sh.jobs {
		for _, p := range j.pids {
			if p == pid {
				j.stopped = ws != continued
			}
		}
	}
	return true
}

// signal sends a signal to a job: to its group, in an interactive shell, else to its processes.
func (sh *Shell) signal(j *job, sig int) kernel.Errno {
	if sh.interactive {
		return sh.s.Kill(-j.pids[0], sig)
	}
	var first kernel.Errno
	for _, p := range j.pids {
		if e := sh.s.Kill(p, sig); e != 0 && first == 0 {
			first = e
		}
	}
	return first
}

// theJob is the job of fg, bg and disown: the argument's, or the current one.
func (sh *Shell) theJob(name string, args []string) *job {
	spec := "%+"
	if len(args) > 0 {
		spec = args[0]
	}
	sh.reap(false)
	j := sh.findJob(spec)
	if j == nil && len(args) == 0 {
		spec = "current"
	}
	if j == nil {
		sh.errorf("%s: %s: no such job", name, spec)
	}
	return j
}

// foreground is fg [job].
func foreground(sh *Shell, argv []string) int {
	if !sh.interactive {
		sh.errorf("fg: no job control")
		return 1
	}
	j := sh.theJob("fg", argv[1:])
	if j == nil {
		return 1
	}
	sh.print("fg", j.text+"\n")
	if j.done {
		code := j.code
		sh.forget(j)
		return code
	}
	if j.stopped {
		j.stopped = false
		sh.signal(j, sigCONT)
	}
	for !j.done {
		got, ws, e := sh.s.Wait4(-1, wUntraced)
		switch {
		case e == kernel.EINTR:
			sh.poll()
			if sh.pending&(1<<(sigINT-1)) != 0 {
				sh.pending &^= 1 << (sigINT - 1)
				sh.signal(j, sigINT)
			}
			continue
		case e != 0:
			sh.forget(j)
			return 127
		case sh.stops(got, ws):
		default:
			sh.note(got, ws)
		}
		if j.stopped {
			sh.s.Write(2, []byte("\n"+sh.jobLine(j, false)+"\n"))
			return 128 + ws>>8
		}
	}
	code, ws := j.code, sh.exits[j.pid()]
	sh.forget(j)
	if sig := ws & 0x7f; sig != 0 {
		sh.died(j.pids, []int{ws}, ws, func() []string { return []string{j.text} })
	}
	return code
}

// goOn is bg [job …].
func goOn(sh *Shell, argv []string) int {
	if !sh.interactive {
		sh.errorf("bg: no job control")
		return 1
	}
	args, status := argv[1:], 0
	for first := true; first || len(args) > 0; first = false {
		j := sh.theJob("bg", args)
		switch {
		case j == nil:
			status = 1
		case !j.stopped:
			sh.errorf("bg: job %d already in background", j.id)
		default:
			sh.print("bg", sprintf("[%d]%c %s &\n", j.id, sh.mark(j), j.text))
			j.stopped = false
			sh.signal(j, sigCONT)
		}
		args = args[min(1, len(args)):]
	}
	return status
}

// disownBuiltin is disown [-h] [-ar] [job … | pid …].
func disownBuiltin(sh *Shell, argv []string) int {
	args, all := argv[1:], false
	for len(args) > 0 && strings.HasPrefix(args[0], "-") {
		switch args[0] {
		case "-a", "-r", "-ar", "-ra":
			all = true
		case "-h":
			return 0 // nothing here sends SIGHUP
		case "--":
		default:
			return sh.badOption("disown", args[0], "disown [-h] [-ar] [jobspec ... | pid ...]")
		}
		args = args[1:]
	}
	if all {
		sh.jobs = nil
		return 0
	}
	status := 0
	for first := true; first || len(args) > 0; first = false {
		j := (*job)(nil)
		if len(args) > 0 && isDigits(args[0]) {
			for _, o := range sh.jobs {
				if sprintf("%d", o.pid()) == args[0] {
					j = o
				}
			}
			if j == nil {
				sh.errorf("disown: %s: no such job", args[0])
			}
		} else {
			j = sh.theJob("disown", args)
		}
		if j == nil {
			status = 1
		} else {
			sh.forget(j)
		}
		args = args[min(1, len(args)):]
	}
	return status
}

// mark is + for the current job, - for the one before.
func (sh *Shell) mark(j *job) byte {
	if n := len(sh.jobs); sh.jobs[n-1] == j {
		return '+'
	} else if n > 1 && sh.jobs[n-2] == j {
		return '-'
	}
	return ' '
}

// suspendBuiltin: a shell that nobody could continue is not stopped.
func suspendBuiltin(sh *Shell, argv []string) int {
	if !sh.interactive {
		sh.errorf("suspend: cannot suspend: no job control")
	} else {
		sh.errorf("suspend: cannot suspend a login shell")
	}
	return 1
}
