package user

import (
	"strconv"
	"strings"

	"kscope/kernel"
	"kscope/kernel/user/re"
)

// Small commands that scripts around tracing use.

func mkfifo(c *cmd) int {
	found, names, status, done := c.parse([]option{{'m', "mode", true, 0}}, 1)
	if done {
		return status
	}
	mode := uint32(0o666)
	for _, o := range found {
		m, ok := parseMode(o.value, mode)
		if !ok {
			c.errorf("invalid mode")
			return 1
		}
		mode = m
	}
	if len(names) == 0 {
		c.errorf("missing operand")
		return c.tryHelp(1)
	}
	for _, name := range names {
		if e := c.s.do1("mknod", name, int(modeFIFO|mode), 0); e != 0 {
			c.errorf("cannot create fifo %s: %s", quoted(name), e.Error())
			status = 1
		} else if len(found) > 0 {
			c.s.Chmod(name, mode)
		}
	}
	return status
}

func whoami(c *cmd) int {
	_, rest, status, done := c.parse(nil, 1)
	if done {
		return status
	}
	if len(rest) > 0 {
		c.errorf("extra operand %s", quoted(rest[0]))
		return c.tryHelp(1)
	}
	c.printf("root\n")
	return 0
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

const sysGetpgrp = 111

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

// truncate sets files' sizes.
func truncate(c *cmd) int {
	found, files, status, done := c.parse([]option{{'s', "size", true, 0}, {'c', "no-create", false, 1}}, 1)
	if done {
		return status
	}
	size, create, given := int64(0), true, false
	rel := byte(0)
	for _, o := range found {
		if o.id == 1 {
			create = false
			continue
		}
		text := o.value
		if text != "" && (text[0] == '+' || text[0] == '-') {
			rel, text = text[0], text[1:]
		}
		n, ok := sizeOf(text)
		if !ok {
			c.errorf("Invalid number: %s", quoted(o.value))
			return 1
		}
		size, given = n, true
	}
	switch {
	case !given:
		c.errorf("you must specify either %s or %s", quoted("--size"), quoted("--reference"))
		return c.tryHelp(1)
	case len(files) == 0:
		c.errorf("missing file operand")
		return c.tryHelp(1)
	}
	flags := oWronly
	if create {
		flags |= oCreat
	}
	for _, f := range files {
		fd, e := c.s.Open(f, flags|oNonblock, 0o666)
		if e == kernel.ENOENT && !create {
			continue
		}
		if e != 0 {
			c.errorf("cannot open %s for writing: %s", quoted(f), e.Error())
			status = 1
			continue
		}
		want := size
		if rel != 0 {
			st, _ := c.s.Fstat(fd)
			if want = int64(st.Size) + size; rel == '-' {
				want = max(0, int64(st.Size)-size)
			}
		}
		if e := c.s.do1("ftruncate", fd, int(want)); e != 0 {
			c.errorf("failed to truncate %s at %d bytes: %s", quoted(f), want, e.Error())
			status = 1
		}
		c.s.Close(fd)
	}
	return status
}

// pgrep is pgrep, pkill and pidof: processes by name, to print or to signal.
func pgrep(c *cmd) int {
	sig, args := sigTerm, c.argv[1:]
	if c.name == "pkill" && len(args) > 0 && len(args[0]) > 1 && args[0][0] == '-' {
		if n, ok := signalNumber(args[0][1:]); ok {
			sig = n
			c.argv = append([]string{c.argv[0]}, args[1:]...)
		}
	}
	found, words, status, done := c.parse([]option{{'f', "full", false, 0}, {'x', "exact", false, 0}, {'l', "list-name", false, 0}, {'a', "list-full", false, 0},
		{'n', "newest", false, 0}, {'o', "oldest", false, 0}, {'c', "count", false, 0}, {'v', "inverse", false, 0}, {'P', "parent", true, 0}, {'d', "delimiter", true, 0},
		{0, "signal", true, 1}, {'e', "echo", false, 0}}, 2)
	if done {
		return status
	}
	on := map[int]bool{}
	parent, delim := "", "\n"
	for _, o := range found {
		on[int(o.id)] = true
		switch o.id {
		case 'P':
			parent = o.value
		case 'd':
			delim = o.value
		case 1:
			n, ok := signalNumber(o.value)
			if !ok {
				c.errorf("Unknown signal \"%s\".", o.value)
				return 2
			}
			sig = n
		}
	}
	if len(words) == 0 && parent == "" || len(words) > 1 {
		msg := "no matching criteria specified"
		if len(words) > 1 {
			msg = "only one pattern can be provided"
		}
		c.errorf("%s", msg)
		c.s.Write(2, []byte("Try `"+c.name+" --help' for more information.\n"))
		return 2
	}
	pattern := ""
	if len(words) > 0 {
		pattern = words[0]
	}
	tasks, err := c.matching(on, pattern, parent)
	if err != nil {
		c.errorf("%s", err.Error())
		return 2
	}
	return c.tell(on, tasks, sig, delim)
}

// matching are the tasks that pgrep's options and pattern choose.
func (c *cmd) matching(on map[int]bool, pattern, parent string) (tasks []*psTask, err error) {
	rx, err := re.Compile(pattern, re.Extended)
	if err != nil {
		return nil, err
	}
	for _, t := range (&psRun{c: c}).tasks() {
		name := t.comm
		if on['f'] {
			name = t.args
		}
		ok := parent == "" || strconv.FormatInt(t.field(4), 10) == parent
		if pattern != "" && ok {
			at := rx.FindStringIndex(name)
			ok = at != nil && (!on['x'] || at[1]-at[0] == len(name))
		}
		if ok != on['v'] && t.pid != c.s.Pid() {
			tasks = append(tasks, t)
		}
	}
	switch {
	case len(tasks) > 1 && on['n']:
		tasks = tasks[len(tasks)-1:]
	case len(tasks) > 1 && on['o']:
		tasks = tasks[:1]
	}
	return tasks, nil
}

// tell prints the tasks, or sends them pkill's signal.
func (c *cmd) tell(on map[int]bool, tasks []*psTask, sig int, delim string) (status int) {
	if on['c'] {
		c.printf("%d\n", len(tasks))
	}
	status = 1
	for i, t := range tasks {
		switch {
		case c.name == "pkill":
			if e := c.s.Kill(t.pid, sig); e != 0 {
				c.errorf("killing pid %d failed: %s", t.pid, e.Error())
				continue
			}
			if on['e'] {
				c.printf("%s killed (pid %d)\n", t.comm, t.pid)
			}
		case on['c']:
		default:
			if i > 0 {
				c.printf("%s", delim)
			}
			c.printf("%d", t.pid)
			if on['a'] {
				c.printf(" %s", t.args)
			} else if on['l'] {
				c.printf(" %s", t.comm)
			}
		}
		status = 0
	}
	if c.name != "pkill" && !on['c'] && len(tasks) > 0 {
		c.printf("\n")
	}
	return status
}

// pidof is the processes whose program has one of the names, the newest first.
func pidof(c *cmd) int {
	found, names, status, done := c.parse([]option{{'s', "single-shot", false, 0}, {'x', "scripts-too", false, 0}, {'c', "check-root", false, 0}, {'q', "quiet", false, 0}}, 1)
	if done {
		return status
	}
	on := map[int]bool{}
	for _, o := range found {
		on[int(o.id)] = true
	}
	var out []string
	tasks := (&psRun{c: c}).tasks()
	for _, name := range names {
		for i := len(tasks) - 1; i >= 0; i-- {
			first, _, _ := strings.Cut(tasks[i].args, " ")
			if tasks[i].pid != c.s.Pid() && (tasks[i].comm == name || first == name || strings.HasSuffix(first, "/"+name)) {
				out = append(out, strconv.Itoa(tasks[i].pid))
				if on['s'] {
					break
				}
			}
		}
	}
	if len(out) == 0 {
		return 1
	}
	if !on['q'] {
		c.printf("%s\n", strings.Join(out, " "))
	}
	return 0
}
