package user

import (
	"encoding/binary"
	"math/bits"
	"slices"
	"strconv"
	"strings"

	"kscope/kernel"
)

// The commands that run another one in a changed environment: env nice nohup time timeout chrt taskset.

var envOptions = []option{{'i', "ignore-environment", false, 0}, {'u', "unset", true, 0}, {'0', "null", false, 0}, {'C', "chdir", true, 0}}

func env(c *cmd) int {
	c.inOrder = true
	found, args, status, done := c.parse(envOptions, 125)
	if done {
		return status
	}
	vars := slices.Clone(c.s.Env())
	end, dir := "\n", ""
	unset := func(name string) {
		vars = slices.DeleteFunc(vars, func(kv string) bool { return strings.HasPrefix(kv, name+"=") })
	}
	for _, o := range found {
		switch o.id {
		case 'i':
			vars = nil
		case '0':
			end = "\x00"
		case 'C':
			dir = o.value
		}
	}
	for _, o := range found {
		if o.id == 'u' {
			unset(o.value)
		}
	}
	if len(args) > 0 && args[0] == "-" {
		vars, args = nil, args[1:]
	}
	for len(args) > 0 && strings.Contains(args[0], "=") {
		name, _, _ := strings.Cut(args[0], "=")
		at := slices.IndexFunc(vars, func(kv string) bool { return strings.HasPrefix(kv, name+"=") })
		if at >= 0 {
			vars[at] = args[0]
		} else {
			vars = append(vars, args[0])
		}
		args = args[1:]
	}
	if dir != "" {
		if e := c.s.Chdir(dir); e != 0 {
			c.errorf("cannot change directory to %s: %s", quoted(dir), e.Error())
			return 125
		}
	}
	if len(args) == 0 {
		for _, kv := range vars {
			c.print([]byte(kv + end)...)
		}
		return 0
	}
	return c.replace(args, vars, "%s: %s")
}

var niceOptions = []option{{'n', "adjustment", true, 0}}

func nice(c *cmd) int {
	if a := c.argv; len(a) > 1 && len(a[1]) > 1 && a[1][0] == '-' && strings.Trim(a[1][1:], "-+0123456789") == "" && a[1] != "--" { // -5, --5
		c.argv = append([]string{a[0], "-n", a[1][1:]}, a[2:]...)
	}
	c.inOrder = true
	found, args, status, done := c.parse(niceOptions, 125)
	if done {
		return status
	}
	adjust := 10
	for _, o := range found {
		n, err := strconv.Atoi(strings.TrimPrefix(o.value, "+"))
		if err != nil {
			c.errorf("invalid adjustment %s", quoted(o.value))
			return 125
		}
		adjust = n
	}
	ret, _, e := c.s.named("getpriority", 0, 0)
	if len(args) == 0 {
		if len(found) > 0 {
			c.errorf("a command must be given with an adjustment")
			return c.tryHelp(125)
		}
		if e != 0 {
			c.errorf("cannot get niceness: %s", e.Error())
			return 125
		}
		c.printf("%d\n", 20-ret)
		return 0
	}
	if e == 0 {
		e = c.s.do1("setpriority", 0, 0, max(-20, min(19, int(20-ret)+adjust)))
	}
	if e != 0 {
		c.errorf("cannot set niceness: %s", e.Error())
		if e != kernel.EPERM && e != kernel.EACCES {
			return 125
		}
	}
	return c.replace(args, c.s.Env(), "%s: %s")
}

var timeOptions = []option{{'p', "portability", false, 0}}

// timeCommand is GNU time with -p: the real time; user and system come from times(2), which counts in ticks.
func timeCommand(c *cmd) int {
	c.inOrder = true
	_, args, status, done := c.parse(timeOptions, 125)
	if done {
		return status
	}
	if len(args) == 0 {
		c.s.Write(2, []byte("Usage: time [-p] COMMAND [ARG]...\n"))
		return 125
	}
	start, _ := c.s.ClockGettime(1)
	pid, e := c.s.Fork(func(s *Sys) int {
		e := s.execvp(args, s.Env())
		s.Write(2, []byte("time: cannot run "+args[0]+": "+e.Error()+"\n"))
		return execStatus(e)
	})
	if e != 0 {
		c.errorf("cannot fork: %s", e.Error())
		return 125
	}
	_, ws, _ := c.s.Wait4(pid, 0)
	stop, _ := c.s.ClockGettime(1)
	var ticks [2]uint64
	if _, out, e := c.s.named("times", Out(32)); e == 0 {
		for i := range ticks {
			for k := range 8 {
				ticks[i] |= uint64(out[0][16+8*i+k]) << (8 * k)
			}
		}
	}
	cs := (stop - start) / 1e7
	text := []byte("real " + hundredths(cs) + "\nuser " + hundredths(ticks[0]) + "\nsys " + hundredths(ticks[1]) + "\n")
	if ws&0x7f != 0 {
		text = append([]byte("Command terminated by signal "+strconv.Itoa(ws&0x7f)+"\n"), text...)
	} else if ws != 0 {
		text = append([]byte("Command exited with non-zero status "+strconv.Itoa(ws>>8)+"\n"), text...)
	}
	c.s.Write(2, text)
	return exitStatus(ws)
}

func hundredths(n uint64) string {
	return strconv.FormatUint(n/100, 10) + "." + strconv.FormatUint(100+n%100, 10)[1:]
}

var timeoutOptions = []option{{'k', "kill-after", true, 0}, {'s', "signal", true, 0}, {0, "foreground", false, 1}, {0, "preserve-status", false, 2}, {'v', "verbose", false, 0}}

// timeout runs a command and kills it, and the rest of its process group, when it takes too long.
func timeout(c *cmd) int {
	c.inOrder = true
	found, args, status, done := c.parse(timeoutOptions, 125)
	if done {
		return status
	}
	sig, preserve, verbose, foreground, kill := sigTerm, false, false, false, 0.0
	for _, o := range found {
		ok := true
		switch o.id {
		case 's':
			if sig, ok = signalNumber(o.value); !ok {
				c.errorf("%s: invalid signal", quoted(o.value))
				return c.tryHelp(125)
			}
		case 'k':
			if kill, ok = interval(o.value); !ok {
				c.errorf("invalid time interval %s", quoted(o.value))
				return c.tryHelp(125)
			}
		case 1:
			foreground = true
		case 2:
			preserve = true
		case 'v':
			verbose = true
		}
	}
	if len(args) < 2 {
		return c.tryHelp(125)
	}
	limit, ok := interval(args[0])
	if !ok {
		c.errorf("invalid time interval %s", quoted(args[0]))
		return c.tryHelp(125)
	}
	w := &watch{c: c, sig: sig, kill: kill, verbose: verbose, foreground: foreground, command: args[1]}
	ws, e := w.run(args[1:], limit)
	if e != 0 {
		c.errorf("fork system call failed: %s", e.Error())
		return 125
	}
	if w.late && !preserve {
		return 124
	}
	return exitStatus(ws)
}

// watch is timeout's work on its child.
type watch struct {
	c          *cmd
	pid, sig   int
	kill       float64 // seconds after sig until SIGKILL; 0: never
	verbose    bool
	foreground bool
	command    string
	late       bool
}

// run starts the command and waits for it, as coreutils' timeout.c: the clock's SIGALRM and the signals that would end timeout
// itself are caught and lead to cleanup; they come in nowhere but in rt_sigsuspend.
func (w *watch) run(args []string, limit float64) (ws int, e kernel.Errno) {
	s := w.c.s
	if !w.foreground {
		s.do1("setpgid", 0, 0)
	}
	caught := []int{sigAlrm, sigInt, sigQuit, sigHup, sigTerm, w.sig, sigChld}
	for _, sig := range caught {
		if sig != sigKill {
			s.Signal(sig, Catch)
		}
	}
	s.Signal(sigTtin, Ignore)
	s.Signal(sigTtou, Ignore)
	w.pid, e = s.Fork(func(s *Sys) int {
		s.Signal(sigTtin, Default)
		s.Signal(sigTtou, Default)
		e := s.execvp(args, s.Env())
		s.Write(2, []byte("timeout: failed to run command "+quoted(args[0])+": "+e.Error()+"\n"))
		return execStatus(e)
	})
	if e != 0 {
		return 0, e
	}
	w.clock(limit)
	var mask uint64
	for _, sig := range caught {
		mask |= 1 << (sig - 1)
	}
	_, out, _ := s.named("rt_sigprocmask", 0, binary.LittleEndian.AppendUint64(nil, mask), Out(8), 8)
	for {
		for came := s.Caught() &^ (1 << (sigChld - 1)); came != 0; came &= came - 1 {
			w.cleanup(bits.TrailingZeros64(came) + 1)
		}
		const wnohang = 1
		if child, ws, e := s.Wait4(w.pid, wnohang); child == w.pid || e != 0 && e != kernel.EINTR {
			return ws, 0
		}
		if s.do1("rt_sigsuspend", out[0], 8) != kernel.EINTR { // a kernel that cannot wait so
			_, ws, _ := s.Wait4(w.pid, 0)
			return ws, 0
		}
	}
}

// clock sets the timer; 0 seconds: none.
func (w *watch) clock(seconds float64) {
	if seconds <= 0 || seconds > 1e9 {
		return
	}
	us := uint64(max(1, seconds*1e6))
	var it []byte
	for _, v := range [4]uint64{0, 0, us / 1e6, us % 1e6} {
		it = binary.LittleEndian.AppendUint64(it, v)
	}
	w.c.s.do1("setitimer", 0, it, nil)
}

// cleanup sends the signal to the command and to the process group.
func (w *watch) cleanup(sig int) {
	if sig == sigAlrm {
		w.late = true
		sig = w.sig
	}
	if w.verbose {
		w.c.errorf("sending signal %s to command %s", signals[sig], quoted(w.command))
	}
	if w.kill > 0 {
		w.sig = sigKill
		w.clock(w.kill)
		w.kill = 0
	}
	s := w.c.s
	s.Kill(w.pid, sig)
	if w.foreground {
		return
	}
	if sig != sigKill { // not a loop
		s.Signal(sig, Ignore)
	}
	s.Kill(0, sig)
	if sig != sigKill && sig != sigCont {
		s.Kill(w.pid, sigCont)
		s.Signal(sigCont, Ignore)
		s.Kill(0, sigCont)
	}
}

func printenv(c *cmd) int {
	found, names, status, done := c.parse([]option{{'0', "null", false, 0}}, 2)
	if done {
		return status
	}
	end := "\n"
	if len(found) > 0 {
		end = "\x00"
	}
	if len(names) == 0 {
		for _, kv := range c.s.Env() {
			c.printf("%s%s", kv, end)
		}
		return 0
	}
	for _, name := range names {
		has := false
		for _, kv := range c.s.Env() {
			if v, ok := strings.CutPrefix(kv, name+"="); ok && !has {
				c.printf("%s%s", v, end)
				has = true
			}
		}
		if !has {
			status = 1
		}
	}
	return status
}

const sysGetpgrp = 111

// setsid runs a command in a session of its own; as the leader of a group it forks first.
func setsid(c *cmd) int {
	c.inOrder = true
	found, args, status, done := c.parse([]option{{'c', "ctty", false, 0}, {'f', "fork", false, 1}, {'w', "wait", false, 2}}, 1)
	if done {
		return status
	}
	if len(args) == 0 {
		c.errorf("no command specified")
		return c.tryHelp(1)
	}
	fork, wait := false, false
	for _, o := range found {
		fork, wait = fork || o.id == 1, wait || o.id == 2
	}
	run := func(s *Sys) int {
		s.do1("setsid")
		e := s.execvp(args, s.Env())
		s.Write(2, []byte("setsid: failed to execute "+args[0]+": "+e.Error()+"\n"))
		return execStatus(e)
	}
	if group, e := c.s.Call(sysGetpgrp); !fork && (e != 0 || int(group) != c.s.Getpid()) {
		return run(c.s)
	}
	pid, e := c.s.Fork(run)
	if e != 0 {
		c.errorf("fork: %s", e.Error())
		return 1
	}
	if !wait {
		return 0
	}
	_, ws, _ := c.s.Wait4(pid, 0)
	return exitStatus(ws)
}

// nohup runs a command that SIGHUP does not reach. Nothing here is a terminal, so nothing is redirected.
func nohup(c *cmd) int {
	c.inOrder = true
	_, args, status, done := c.parse(nil, 125)
	if done {
		return status
	}
	if len(args) == 0 {
		c.errorf("missing operand")
		return c.tryHelp(125)
	}
	c.s.Signal(sigHup, Ignore)
	return c.replace(args, c.s.Env(), "failed to run command %s: %s")
}
