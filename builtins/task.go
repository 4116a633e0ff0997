package builtins

import (
	"fmt"
	"sort"
	"strings"

	"go.starlark.net/starlark"

	"kscope/kernel"
	"kscope/lang"
)

// task is a task of the guest: the fields of its task_struct, and what can be done with it.
type task struct {
	g    *Guest
	pid  int
	addr uint64   // of task_struct; the memory is the guest's again once the task is gone
	proc *process // when the host started it
}

var (
	_ starlark.Value      = (*task)(nil)
	_ starlark.HasAttrs   = (*task)(nil)
	_ starlark.Comparable = (*task)(nil)
)

func (t *task) Type() string          { return "Task" }
func (t *task) Freeze()               {}
func (t *task) Truth() starlark.Bool  { return true }
func (t *task) Hash() (uint32, error) { return uint32(t.pid), nil }

func (t *task) String() string {
	k, ok := t.find()
	if !ok {
		return fmt.Sprintf("<task %d: gone>", t.pid)
	}
	return fmt.Sprintf("<task %d: %s, %c>", k.Pid, k.Comm, k.StateChar())
}

func (t *task) CompareSameType(op syntaxToken, y starlark.Value, _ int) (bool, error) {
	o := y.(*task)
	return equality(op, t.g == o.g && t.pid == o.pid, "Task")
}

// find looks the task up among the living.
func (t *task) find() (kernel.Task, bool) {
	for _, k := range t.g.M.Tasks() {
		if k.Pid == t.pid && (t.addr == 0 || k.Addr == t.addr) {
			k.State |= t.g.exitState(k.Addr)
			return k, true
		}
	}
	return kernel.Task{}, false
}

// exitState is task_struct.exit_state: a dead task that its parent has not asked for is a zombie.
func (g *Guest) exitState(task uint64) uint32 {
	typ, err := g.M.Types().ByName("struct task_struct")
	if err != nil {
		return 0
	}
	f, err := kernel.NewObj(g.M, typ, task).Field("exit_state")
	if err != nil {
		return 0
	}
	n, _ := f.Uint()
	return uint32(n)
}

// object is the task_struct.
func (t *task) object() (*object, error) {
	k, ok := t.find()
	if !ok {
		return nil, &lang.Error{Msg: fmt.Sprintf("task %d is gone", t.pid), Code: "ESRCH"}
	}
	typ, err := t.g.M.Types().ByName("struct task_struct")
	if err != nil {
		return nil, err
	}
	return &object{t.g, kernel.NewObj(t.g.M, typ, k.Addr)}, nil
}

// taskMethods are what a Task has beyond the fields of task_struct.
func taskMethods() []method {
	return []method{
		{name: "kill", sig: "(sig = 15)", doc: "Sends a signal."},
		{name: "wait", sig: "(timeout = 0) -> struct(code, out, err)", doc: "Runs the machine until the task has ended; out and err are what a program of kernel.spawn wrote."},
		{name: "stack", sig: "(n = 32, offsets = True) -> [string]", doc: "Where a sleeping task sleeps, innermost first, or what a running one runs."},
		{name: "pid", sig: "-> int", doc: "Its number; known even when the task is gone."},
		{name: "state", sig: "-> string", doc: "The letter that ps shows: R S D T t X Z P I; \"gone\" when it has ended and was waited for."},
		{name: "out", sig: "-> string", doc: "What a program of kernel.spawn has written to its standard output so far."},
		{name: "err", sig: "-> string", doc: "The same for its standard error."},
	}
}

func (t *task) Attr(name string) (starlark.Value, error) {
	switch name {
	case "pid":
		return num(t.pid), nil
	case "state":
		if k, ok := t.find(); ok {
			return str(string(k.StateChar())), nil
		}
		return str("gone"), nil
	case "out", "err":
		if t.proc == nil {
			return nil, lang.Errorf("task %d was not started by kernel.spawn: its output is not kept", t.pid)
		}
		if name == "out" {
			return str(t.proc.out.String()), nil
		}
		return str(t.proc.err.String()), nil
	case "kill":
		return t.method(name, t.kill), nil
	case "wait":
		return t.method(name, t.wait), nil
	case "stack":
		return t.method(name, t.stack), nil
	}
	o, err := t.object()
	if err != nil {
		return nil, err
	}
	return o.Attr(name)
}

func (t *task) method(name string, fn func(c *call) (starlark.Value, error)) starlark.Value {
	v, _ := method{name: name, fn: fn}.bound("Task", t, t.g)
	return v
}

func (t *task) AttrNames() []string {
	names := methodNames(taskMethods())
	if o, err := t.object(); err == nil {
		names = append(names, o.AttrNames()...)
	}
	sort.Strings(names)
	return compact(names)
}

func compact(names []string) []string {
	out := names[:0]
	for i, n := range names {
		if i == 0 || n != names[i-1] {
			out = append(out, n)
		}
	}
	return out
}

func (t *task) kill(c *call) (starlark.Value, error) {
	sig := 15
	if err := c.unpack("sig?", &sig); err != nil {
		return nil, err
	}
	if err := c.ready(); err != nil {
		return nil, err
	}
	err := t.g.guard(func() error { return t.g.M.Kill(t.pid, sig) })
	return starlark.None, c.fail(err, "", nil)
}

func (t *task) wait(c *call) (starlark.Value, error) {
	timeout := int64(0)
	if err := c.unpack("timeout?", &timeout); err != nil {
		return nil, err
	}
	if err := c.timeout(timeout); err != nil {
		return nil, err
	}
	p := t.proc
	if p == nil {
		p = &process{pid: t.pid}
	}
	return t.g.wait(c, p, fmt.Sprintf("task %d", t.pid), timeout)
}

// stack walks the task's kernel stack; functions of the scheduler itself are shown too, as they are on the stack.
func (t *task) stack(c *call) (starlark.Value, error) {
	n, offsets := 32, true
	if err := c.unpack("n?", &n, "offsets?", &offsets); err != nil {
		return nil, err
	}
	k, ok := t.find()
	if !ok {
		return nil, &lang.Error{Msg: fmt.Sprintf("%s: task %d is gone", c.name, t.pid), Code: "ESRCH"}
	}
	var frames []starlark.Value
	show := func(f *kernel.Frame) bool {
		if len(frames) < n {
			frames = append(frames, str(t.g.frameName(f, offsets)))
		}
		return len(frames) < n
	}
	err := error(nil)
	if v := t.g.onCPU(k.Addr); v != nil {
		err = v.Walk(show)
	} else {
		err = t.g.M.WalkTask(k.Addr, show)
	}
	if err != nil && len(frames) == 0 {
		return nil, c.fail(err, "", nil)
	}
	return starlark.NewList(frames), nil
}

// frameName names a frame as the kernel's stack dumps do.
func (g *Guest) frameName(f *kernel.Frame, offsets bool) string {
	text := g.M.Symbols().FormatReturn(f.PC)
	if f.Exact {
		text = g.M.Symbols().Format(f.PC)
	}
	if !offsets {
		text, _, _ = strings.Cut(text, "+")
	}
	return text
}

// onCPU is the CPU that runs a task now, or nil.
func (g *Guest) onCPU(task uint64) *kernel.VCPU {
	for id := range g.M.NumCPU() {
		if v := g.M.VCPU(id); g.M.Online(id) && v.CurrentAddr() == task {
			return v
		}
	}
	return nil
}

func kernelTasks(c *call) (starlark.Value, error) {
	if err := c.unpack(); err != nil {
		return nil, err
	}
	return list(c.g.M.Tasks(), func(k kernel.Task) starlark.Value {
		return &task{c.g, k.Pid, k.Addr, c.g.procs[k.Pid]}
	}), nil
}

// first is the first argument, when it is a string.
func (c *call) first() (string, bool) {
	if len(c.args) == 0 {
		return "", false
	}
	return starlark.AsString(c.args[0])
}

func kernelTask(c *call) (starlark.Value, error) {
	var pid int
	if err := c.unpack("pid", &pid); err != nil {
		if name, ok := c.first(); ok {
			e := c.errorf("pid: got string, want int")
			e.At, e.Hint = name, fmt.Sprintf("[t for t in kernel.tasks() if t.comm == %q] has tasks of a name", name)
			return nil, e
		}
		return nil, err
	}
	for _, k := range c.g.M.Tasks() {
		if k.Pid == pid {
			return &task{c.g, pid, k.Addr, c.g.procs[pid]}, nil
		}
	}
	e := c.errorf("no task has pid %d", pid)
	e.Code, e.Hint = "ESRCH", "kernel.tasks() lists them"
	return nil, e
}
