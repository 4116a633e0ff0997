package user

import (
	"strconv"
	"strings"

	"kscope/kernel"
)

// execvp executes a command as execvp(3) does: by PATH unless it has a slash. It returns only when that fails.
func (s *Sys) execvp(argv, env []string) kernel.Errno {
	if strings.Contains(argv[0], "/") {
		return s.Exec(argv[0], argv, env)
	}
	path := "/bin:/usr/bin"
	for _, kv := range env {
		if v, ok := strings.CutPrefix(kv, "PATH="); ok {
			path = v
		}
	}
	last := kernel.ENOENT
	for _, dir := range strings.Split(path, ":") {
		file := argv[0]
		if dir != "" {
			file = dir + "/" + file
		}
		if e := s.Exec(file, argv, env); e != kernel.ENOENT && e != kernel.ENOTDIR {
			last = e
			if e != kernel.EACCES {
				return e
			}
		}
	}
	return last
}

// replace ends a command by executing another; format (name, error) is the message when it cannot be.
func (c *cmd) replace(argv, env []string, format string) int {
	c.flush()
	e := c.s.execvp(argv, env)
	c.errorf(format, quoted(argv[0]), e.Error())
	return execStatus(e)
}

// execStatus is 127 for a command that is not there, 126 for one that cannot be executed.
func execStatus(e kernel.Errno) int {
	if e == kernel.ENOENT {
		return 127
	}
	return 126
}

// exitStatus is $? of a wait status.
func exitStatus(status int) int {
	if sig := status & 0x7f; sig != 0 {
		return 128 + sig
	}
	return status >> 8 & 0xff
}

// signals are the names of x86's signals by number (arch/x86/include/uapi/asm/signal.h).
var signals = [...]string{1: "HUP", "INT", "QUIT", "ILL", "TRAP", "ABRT", "BUS", "FPE", "KILL", "USR1", "SEGV", "USR2", "PIPE", "ALRM", "TERM",
	"STKFLT", "CHLD", "CONT", "STOP", "TSTP", "TTIN", "TTOU", "URG", "XCPU", "XFSZ", "VTALRM", "PROF", "WINCH", "POLL", "PWR", "SYS"}

// signalNumber parses 9, KILL or SIGKILL; 0 and EXIT are 0.
func signalNumber(text string) (int, bool) {
	if n, err := strconv.Atoi(text); err == nil {
		return n, n >= 0 && n <= 64
	}
	name := strings.TrimPrefix(strings.ToUpper(text), "SIG")
	for i, s := range signals {
		if s == name && s != "" {
			return i, true
		}
	}
	return 0, name == "EXIT"
}

const (
	sigHup  = 1
	sigInt  = 2
	sigQuit = 3
	sigKill = 9
	sigPipe = 13
	sigAlrm = 14
	sigTerm = 15
	sigChld = 17
	sigCont = 18
	sigTtin = 21
	sigTtou = 22
)
