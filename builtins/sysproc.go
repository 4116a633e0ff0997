package builtins

import (
	"go.starlark.net/starlark"

	"kscope/kernel/user"
	"kscope/lang"
)

// The calls of sys that concern processes, time and memory; files are in sys.go.

func sysGetcwd(s *sys, c *call) (starlark.Value, error) {
	if err := c.unpack(); err != nil {
		return nil, err
	}
	dir, e := s.s.Getcwd()
	return str(dir), c.errno(e, "")
}

// sysFork really clones the task; the child's stub then asks for its function by pid, and gets fn with a sys of its own.
func sysFork(s *sys, c *call) (starlark.Value, error) {
	var fn starlark.Callable
	if err := c.unpack("fn", &fn); err != nil {
		return nil, err
	}
	if err := c.takes("fn", fn, programArgs(fn)...); err != nil {
		return nil, err
	}
	given := lang.Given(c.thread)
	pid, e := s.s.Fork(func(child *user.Sys) int { return s.g.runProgram(child, fn, nil, given) })
	return num(pid), c.errno(e, "")
}

func sysExecve(s *sys, c *call) (starlark.Value, error) {
	var path string
	var argv, env starlark.Value
	if err := c.unpack("path", &path, "argv?", &argv, "env?", &env); err != nil {
		return nil, err
	}
	args, err := c.strings(argv, []string{path})
	if err != nil {
		return nil, about("argv", err)
	}
	vars, err := c.strings(env, s.s.Env())
	if err != nil {
		return nil, about("env", err)
	}
	return nil, c.errno(s.s.Exec(path, args, vars), path)
}

// strings takes a list of strings, or the default when it is absent.
func (c *call) strings(v starlark.Value, absent []string) ([]string, error) {
	if v == nil || v == starlark.None {
		return absent, nil
	}
	seq, ok := v.(starlark.Iterable)
	if !ok {
		return nil, c.errorf("got %s, want a list of strings", v.Type())
	}
	list, err := c.argv("", seq)
	if err != nil {
		return nil, err
	}
	return list[1:], nil
}

func sysExit(s *sys, c *call) (starlark.Value, error) {
	code := 0
	if err := c.unpack("code?", &code); err != nil {
		return nil, err
	}
	s.s.ExitGroup(code)
	return starlark.None, nil
}

func sysWait4(s *sys, c *call) (starlark.Value, error) {
	pid, options := -1, 0
	if err := c.unpack("pid?", &pid, "options?", &options); err != nil {
		return nil, err
	}
	child, status, e := s.s.Wait4(pid, options)
	return starlark.Tuple{num(child), num(status)}, c.errno(e, "")
}

func sysKill(s *sys, c *call) (starlark.Value, error) {
	var pid, sig int
	if err := c.unpack("pid", &pid, "sig", &sig); err != nil {
		return nil, err
	}
	return starlark.None, c.errno(s.s.Kill(pid, sig), "")
}

func sysNanosleep(s *sys, c *call) (starlark.Value, error) {
	var v starlark.Value
	if err := c.unpack("ns", &v); err != nil {
		return nil, err
	}
	var ns uint64
	if err := starlark.AsInt(v, &ns); err != nil {
		return nil, c.errorf("ns = %s: want an int of ns, such as 10 * ms", v)
	}
	return starlark.None, c.errno(s.s.Nanosleep(ns), "")
}

func sysClock(s *sys, c *call) (starlark.Value, error) {
	clock := 1
	if err := c.unpack("clock?", &clock); err != nil {
		return nil, err
	}
	ns, e := s.s.ClockGettime(clock)
	return unum(ns), c.errno(e, "")
}

func sysAffinity(s *sys, c *call) (starlark.Value, error) {
	var v starlark.Value
	if err := c.unpack("mask", &v); err != nil {
		return nil, err
	}
	mask, err := c.positive("mask", v)
	if err != nil {
		return nil, err
	}
	return starlark.None, c.errno(s.s.SetAffinity(mask), "")
}

func sysSetName(s *sys, c *call) (starlark.Value, error) {
	var name string
	if err := c.unpack("name", &name); err != nil {
		return nil, err
	}
	return starlark.None, c.errno(s.s.SetName(name), "")
}

func sysBrk(s *sys, c *call) (starlark.Value, error) {
	var addr int64
	if err := c.unpack("addr?", &addr); err != nil {
		return nil, err
	}
	return unum(s.s.Brk(uint64(addr))), nil
}

func sysMmap(s *sys, c *call) (starlark.Value, error) {
	var n int
	if err := c.unpack("n", &n); err != nil {
		return nil, err
	}
	b, e := s.s.Mmap(n)
	return unum(b.Addr), c.errno(e, "")
}

func sysMunmap(s *sys, c *call) (starlark.Value, error) {
	var addr int64
	var n int
	if err := c.unpack("addr", &addr, "n", &n); err != nil {
		return nil, err
	}
	return starlark.None, c.errno(s.s.Munmap(user.Buf{Addr: uint64(addr), Size: n}), "")
}

// sysAny does any call that package user knows by name.
func sysAny(s *sys, c *call) (starlark.Value, error) {
	args := c.args
	if len(args) == 0 || len(c.kwargs) > 0 {
		var name string
		return nil, c.unpack("name", &name)
	}
	name, ok := starlark.AsString(args[0])
	if !ok {
		return nil, c.errorf("name: got %s, want string", args[0].Type())
	}
	var values []any
	for _, v := range args[1:] {
		x, err := c.sysArg(v)
		if err != nil {
			return nil, err
		}
		values = append(values, x)
	}
	ret, _, err := s.s.CallNamed(name, values...)
	return num(ret), c.fail(err, "", nil)
}

// sysArg converts one argument of a system call.
func (c *call) sysArg(v starlark.Value) (any, error) {
	switch v := v.(type) {
	case starlark.NoneType:
		return nil, nil
	case starlark.Bool:
		return bool(v), nil
	case starlark.String:
		return string(v), nil
	case starlark.Bytes:
		return []byte(v), nil
	case starlark.Int:
		if n, ok := v.Int64(); ok {
			return n, nil
		}
		if n, ok := v.Uint64(); ok {
			return n, nil
		}
		return nil, c.errorf("%s is too large", v)
	case starlark.Iterable:
		return c.strings(v, nil)
	}
	return nil, about("args", c.errorf("%s is no argument of a system call", v.Type()))
}
