package builtins

import (
	"fmt"

	"go.starlark.net/starlark"

	"kscope/kernel"
	"kscope/kernel/user"
	"kscope/lang"
)

// kernelSpawn implements kernel.spawn.
func kernelSpawn(c *call) (starlark.Value, error) {
	var prog, cpu starlark.Value
	var list starlark.Iterable
	stdin, name := "", ""
	if err := c.unpack("prog", &prog, "args?", &list, "stdin?", &stdin, "cpu?", &cpu, "name?", &name); err != nil {
		return nil, err
	}
	if err := c.ready(); err != nil {
		return nil, err
	}
	on, err := c.cpu(cpu)
	if err != nil {
		return nil, err
	}
	path, isPath := starlark.AsString(prog)
	fn, isFn := prog.(starlark.Callable)
	if !isPath && !isFn {
		return nil, c.errorf("got %s, want a program's name or a function fn(sys)", prog.Type())
	}
	argv, err := c.argv(path, list)
	if err != nil {
		return nil, err
	}
	if isFn {
		if err := c.takes("prog", fn, programArgs(fn)...); err != nil {
			return nil, err
		}
	}
	var p *process
	switch {
	case isFn:
		p, err = c.g.spawn(c, on, c.program(fn, name), argv[1:], stdin)
	case name != "":
		p, err = c.g.spawn(c, on, launcher(path, name), argv[1:], stdin)
	default:
		p, err = c.g.start(c, on, path, argv, stdin)
	}
	if err != nil {
		return nil, err
	}
	c.g.procs[p.pid] = p
	return &task{c.g, p.pid, 0, p}, nil
}

// cpu is the CPU that an argument names.
func (c *call) cpu(cpu starlark.Value) (int, error) {
	if cpu == nil || cpu == starlark.None {
		return kernel.AnyCPU, nil
	}
	id, err := starlark.AsInt32(cpu)
	if err != nil || id < 0 || id >= c.g.M.NumCPU() {
		return 0, c.errorf("cpu = %s: the machine has CPUs 0 to %d", cpu, c.g.M.NumCPU()-1)
	}
	return id, nil
}

// launcher is a program that has a name and becomes the program at path.
func launcher(path, name string) user.Program {
	file := binPath(path)
	return user.Program{Name: name, Main: func(s *user.Sys, argv []string) int {
		e := s.Exec(file, append([]string{path}, argv[1:]...), s.Env())
		s.Write(2, fmt.Appendf(nil, "%s: %v\n", path, e))
		return 127
	}}
}

// program makes a program of a Starlark function fn(sys) or fn(sys, argv).
func (c *call) program(fn starlark.Callable, name string) user.Program {
	g, given := c.g, lang.Given(c.thread)
	if name == "" {
		name = fn.Name()
	}
	if name == "lambda" {
		name = "starlark"
	}
	return user.Program{Name: name, Doc: "a Starlark function", Main: func(s *user.Sys, argv []string) int {
		return g.runProgram(s, fn, argv, given)
	}}
}

// programArgs are the arguments that a program's function is called with.
func programArgs(fn starlark.Callable) []string {
	if f, ok := fn.(*starlark.Function); ok && f.NumParams() > 1 {
		return []string{"sys", "argv"}
	}
	return []string{"sys"}
}

// runProgram calls fn in a thread of its own, inside the coroutine of its task. When fn fails the machine stops, and the run
// that was under way reports the error with fn's own backtrace. While the calls of a forked machine's programs are replayed,
// what fn prints is muted; what it does to Starlark values is done again.
func (g *Guest) runProgram(s *user.Sys, fn starlark.Callable, argv []string, given lang.Origin) int {
	t := g.env.host.Thread(fmt.Sprintf("%s-%d", fn.Name(), s.Pid()))
	defer g.env.host.Drop(t)
	g.env.host.Mute(t, s.Replaying)
	args := starlark.Tuple{&sys{g: g, s: s}}
	if len(programArgs(fn)) > 1 {
		args = append(args, list(argv, str))
	}
	v, err := starlark.Call(t, fn, args, nil)
	if err != nil {
		if g.err == nil {
			g.err = given.Blame(err)
		}
		g.M.RequestStop("a program failed")
		return 1
	}
	if code, err := starlark.AsInt32(v); err == nil {
		return code & 0xff
	}
	return 0
}

// spawn starts a Go or Starlark program that has no file.
func (g *Guest) spawn(c *call, cpu int, prog user.Program, argv []string, stdin string) (*process, error) {
	users, ok := kernel.PartOf[*user.Host](g.M)
	if !ok {
		return nil, c.errorf("this machine has no user programs")
	}
	if err := c.dry(); err != nil {
		return nil, err
	}
	p := &process{}
	err := g.guard(func() (err error) {
		p.pid, err = users.SpawnOn(cpu, prog, argv, p.streams(stdin))
		return err
	})
	return p, c.fail(err, "", nil)
}
