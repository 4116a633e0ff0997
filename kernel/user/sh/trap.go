package sh

import (
	"maps"
	"math/bits"
	"slices"
	"strconv"
	"strings"

	"kscope/kernel/user"
)

// Signals by number (asm/signal.h), with bash's text about a child that one has killed (siglist.c).
var signals = [...]struct{ name, text string }{
	1: {"HUP", "Hangup"}, {"INT", "Interrupt"}, {"QUIT", "Quit"}, {"ILL", "Illegal instruction"}, {"TRAP", "Trace/breakpoint trap"},
	{"ABRT", "Aborted"}, {"BUS", "Bus error"}, {"FPE", "Floating point exception"}, {"KILL", "Killed"}, {"USR1", "User defined signal 1"},
	{"SEGV", "Segmentation fault"}, {"USR2", "User defined signal 2"}, {"PIPE", "Broken pipe"}, {"ALRM", "Alarm clock"},
	{"TERM", "Terminated"}, {"STKFLT", "Stack fault"}, {"CHLD", "Child death or stop"}, {"CONT", "Continue"}, {"STOP", "Stopped (signal)"},
	{"TSTP", "Stopped"}, {"TTIN", "Stopped (tty input)"}, {"TTOU", "Stopped (tty output)"}, {"URG", "Urgent IO condition"},
	{"XCPU", "CPU limit"}, {"XFSZ", "File limit"}, {"VTALRM", "Alarm (virtual)"}, {"PROF", "Alarm (profile)"}, {"WINCH", "Window changed"},
	{"IO", "I/O ready"}, {"PWR", "power failure imminent"}, {"SYS", "Bad system call"},
}

const (
	sigHUP  = 1
	sigINT  = 2
	sigQUIT = 3
	sigKILL = 9
	sigPIPE = 13
	sigALRM = 14
	sigTERM = 15
	sigCHLD = 17
	sigCONT = 18
	sigSTOP = 19
)

// What is trapped besides signals.
const (
	trapExit   = 0
	trapErr    = -1
	trapDebug  = -2
	trapReturn = -3
)

// The real-time signals that programs have: glibc keeps 32 and 33.
const (
	sigRTMin = 34
	sigRTMax = 64
)

func signalName(n int) string {
	switch {
	case n > 0 && n < len(signals):
		return signals[n].name
	case n == sigRTMin:
		return "RTMIN"
	case n == sigRTMax:
		return "RTMAX"
	case n > sigRTMin && n < (sigRTMin+sigRTMax+1)/2+1:
		return "RTMIN+" + strconv.Itoa(n-sigRTMin)
	case n > sigRTMin && n < sigRTMax:
		return "RTMAX-" + strconv.Itoa(sigRTMax-n)
	}
	return strconv.Itoa(n)
}

func signalText(ws int) string {
	sig := ws & 0x7f
	text := sprintf("Unknown Signal #%d", sig)
	switch {
	case sig < len(signals):
		text = signals[sig].text
	case sig >= sigRTMin:
		text = sprintf("Real-time signal %d", sig-sigRTMin)
	}
	if ws&0x80 != 0 {
		text += " (core dumped)"
	}
	return text
}

// signalNumber reads a number or a name with or without SIG.
func signalNumber(spec string) (int, bool) {
	if n, err := strconv.Atoi(spec); err == nil {
		return n, n >= 0 && n <= 64 || n > 128 && n <= 192
	}
	name := strings.TrimPrefix(strings.ToUpper(spec), "SIG")
	for n, s := range signals {
		if s.name == name && name != "" {
			return n, true
		}
	}
	switch name {
	case "EXIT":
		return trapExit, true
	case "CLD":
		return sigCHLD, true
	case "POLL":
		return 29, true
	case "IOT":
		return 6, true
	}
	n := 0
	for _, rt := range [...]struct {
		name, sign string
		base       int
	}{{"RTMIN", "+", sigRTMin}, {"RTMAX", "-", sigRTMax}} {
		rest, ok := strings.CutPrefix(name, rt.name)
		switch off, err := strconv.Atoi(rest); {
		case ok && rest == "":
			n = rt.base
		case ok && err == nil && strings.HasPrefix(rest, rt.sign):
			n = rt.base + off
		}
	}
	return n, n >= sigRTMin && n <= sigRTMax
}

func trapNumber(spec string) (int, bool) {
	switch strings.ToUpper(spec) {
	case "ERR":
		return trapErr, true
	case "DEBUG":
		return trapDebug, true
	case "RETURN":
		return trapReturn, true
	}
	return signalNumber(spec)
}

func trapName(n int) string {
	switch n {
	case trapExit:
		return "EXIT"
	case trapErr:
		return "ERR"
	case trapDebug:
		return "DEBUG"
	case trapReturn:
		return "RETURN"
	}
	return "SIG" + signalName(n)
}

func (sh *Shell) sigaction(sig int, what user.Disposition) { sh.s.Signal(sig, what) }

// dropTraps makes the signals that a parent catches default again: a child has none of its traps. What is ignored stays so.
func (sh *Shell) dropTraps() {
	if sh.caught {
		sh.s.Caught() // what the parent's handler noted is in the memory that the child was born with
	}
	for _, n := range slices.Sorted(maps.Keys(sh.traps)) {
		if n > 0 && sh.traps[n] == "" {
			continue
		}
		if n > 0 {
			sh.sigaction(n, user.Default)
		}
		delete(sh.traps, n)
	}
	sh.caught, sh.trapping, sh.pending = false, false, 0
	if sh.interactive {
		sh.sigaction(sigINT, user.Default)
	}
}

// poll fetches the signals that have come.
func (sh *Shell) poll() {
	sh.pending |= sh.s.Caught()
}

// dropInterrupt forgets a Ctrl-C that was for the line before: it came while a command ran that has ended since.
func (sh *Shell) dropInterrupt() {
	sh.poll()
	if sh.traps[sigINT] == "" {
		sh.pending &^= 1 << (sigINT - 1)
	}
}

// firstPending is a fetched signal that has a trap.
func (sh *Shell) firstPending() int {
	for p := sh.pending; p != 0; p &= p - 1 {
		n := bits.TrailingZeros64(p) + 1
		if sh.traps[n] != "" {
			return n
		}
	}
	return 0
}

// runTraps runs the traps of signals that have come.
func (sh *Shell) runTraps() {
	if !sh.caught || sh.trapping {
		return
	}
	sh.poll()
	for sh.flow == flowNone {
		n := sh.firstPending()
		if n == 0 {
			break
		}
		sh.pending &^= 1 << (n - 1)
		sh.runTrap(n)
	}
}

// runTrap runs one trap's text; $? is unchanged behind it.
func (sh *Shell) runTrap(n int) {
	text := sh.traps[n]
	if text == "" || sh.trapping {
		return
	}
	status, line := sh.status, sh.line
	base := line
	if n >= 0 {
		base = 1 // lines are those of the trap's text
	}
	sh.trapping = true
	sh.eval(text, base)
	sh.trapping = false
	sh.line = line
	if sh.flow != flowExit {
		sh.status = status
	}
}

// exitTrap runs the trap of EXIT once and gives the process's status.
func (sh *Shell) exitTrap() int {
	text, ok := sh.traps[trapExit]
	delete(sh.traps, trapExit)
	if !ok || text == "" {
		return sh.status
	}
	sh.flow, sh.trapping = flowNone, true
	status := sh.status
	sh.protect(func() int { return sh.eval(text, 1) })
	if sh.flow == flowExit {
		return sh.status
	}
	return status
}

// trapBuiltin is trap [-lp] [[action] signal …].
func trapBuiltin(sh *Shell, argv []string) int {
	args := argv[1:]
	if len(args) > 0 && args[0] == "--" {
		args = args[1:]
	}
	if len(args) > 0 && args[0] == "-l" {
		return sh.killList(nil)
	}
	if len(args) == 0 || args[0] == "-p" {
		return sh.showTraps(args)
	}
	action, reset := args[0], args[0] == "-"
	if _, isSig := trapNumber(args[0]); len(args) == 1 || isSig && isDigits(args[0]) {
		reset = true
		if len(args) == 1 && !isSig {
			sh.s.Write(2, []byte("trap: usage: trap [-lp] [[arg] signal_spec ...]\n"))
			return 2
		}
	} else {
		args = args[1:]
	}
	status := 0
	for _, a := range args {
		n, ok := trapNumber(a)
		if !ok {
			sh.errorf("trap: %s: invalid signal specification", a)
			status = 1
			continue
		}
		sh.setTrap(n, action, reset)
	}
	return status
}

func (sh *Shell) setTrap(n int, action string, reset bool) {
	what := user.Catch
	switch {
	case reset:
		what = user.Default
		delete(sh.traps, n)
	case action == "":
		what = user.Ignore
		sh.traps[n] = ""
	default:
		sh.traps[n] = action
	}
	if n > 0 && n != sigKILL && n != sigSTOP {
		sh.sigaction(n, what)
	}
	sh.caught = false
	for n, text := range sh.traps {
		sh.caught = sh.caught || n > 0 && text != ""
	}
}

func (sh *Shell) showTraps(args []string) int {
	var only []int
	if len(args) > 1 {
		for _, a := range args[1:] {
			if n, ok := trapNumber(a); ok {
				only = append(only, n)
			}
		}
	}
	keys := slices.Sorted(maps.Keys(sh.traps))
	slices.SortStableFunc(keys, func(a, b int) int { return order(a) - order(b) })
	var out strings.Builder
	for _, n := range keys {
		if only == nil || slices.Contains(only, n) {
			out.WriteString("trap -- " + singleQuoted(sh.traps[n]) + " " + trapName(n) + "\n")
		}
	}
	return sh.print("trap", out.String())
}

// order puts DEBUG, ERR and RETURN behind the signals, as bash numbers them.
func order(n int) int {
	if n < 0 {
		return 100 - n
	}
	return n
}

func singleQuoted(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }
