package user

import (
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

// timeout runs a command and kills it when it takes too long. The clock is a second child that sleeps: there are no
// handlers in a program that a timer's signal could run.
func timeout(c *cmd) int {
	c.inOrder = true
	found, args, status, done := c.parse(timeoutOptions, 125)
	if done {
		return status
	}
	sig, preserve, verbose, kill := sigTerm, false, false, 0.0
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
	args = args[1:]
	pid, e := c.s.Fork(func(s *Sys) int {
		e := s.execvp(args, s.Env())
		s.Write(2, []byte("timeout: failed to run command "+quoted(args[0])+": "+e.Error()+"\n"))
		return execStatus(e)
	})
	if e != 0 {
		c.errorf("fork system call failed: %s", e.Error())
		return 125
	}
	ws, late := c.waitFor(pid, limit)
	for wait := kill; late && ws < 0; wait = 0 {
		if verbose {
			c.errorf("sending signal %s to command %s", signals[sig], quoted(args[0]))
		}
		c.s.Kill(pid, sig)
		c.s.Kill(pid, sigCont)
		if ws, _ = c.waitFor(pid, wait); ws < 0 {
			sig = sigKill
		}
	}
	if late && !preserve {
		if sig == sigKill { // GNU kills its whole group, itself too
			c.s.Kill(c.s.Getpid(), sigKill)
		}
		return 124
	}
	return exitStatus(ws)
}

// waitFor waits for a child, at most some seconds (0: for ever); ws is -1 when that time is over.
func (c *cmd) waitFor(pid int, seconds float64) (ws int, late bool) {
	clock := -1
	if seconds > 0 && seconds < 9e9 {
		clock, _ = c.s.Fork(func(s *Sys) int {
			s.sleepFor(uint64(seconds * 1e9))
			return 0
		})
	}
	for {
		child, ws, e := c.s.Wait4(-1, 0)
		switch {
		case e == kernel.EINTR:
		case e != 0:
			return -1, true
		case child == pid:
			if clock > 0 {
				c.s.Kill(clock, sigKill)
				c.s.Wait4(clock, 0)
			}
			return ws, false
		case child == clock:
			return -1, true
		}
	}
}
