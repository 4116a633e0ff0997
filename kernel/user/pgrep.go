package user

import (
	"strconv"
	"strings"

	"kscope/kernel/user/re"
)

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
