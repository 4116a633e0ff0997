package builtins

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"go.starlark.net/starlark"
	"go.starlark.net/starlarkstruct"

	"kscope/kernel"
	"kscope/kernel/user"
	"kscope/lang"
)

// kernelRun implements kernel.run.
func kernelRun(c *call) (starlark.Value, error) {
	var insns, ns, until starlark.Value
	if err := c.unpack("insns?", &insns, "time?", &ns, "until?", &until); err != nil {
		return nil, err
	}
	var u kernel.Until
	var err error
	if u.Insns, err = c.positive("insns", insns); err != nil {
		return nil, err
	}
	if u.Time, err = c.positive("time", ns); err != nil {
		return nil, err
	}
	if u.Time != 0 {
		u.Time += c.g.M.Now()
	}
	var failed error
	switch v := until.(type) {
	case nil, starlark.NoneType:
	case starlark.Callable:
		if err := c.takes("until", v, "machine"); err != nil {
			return nil, err
		}
		t, given := c.g.env.host.Thread("until"), lang.Given(c.thread)
		defer c.g.env.host.Drop(t)
		args := starlark.Tuple{&machine{c.g}}
		u.Cond = func() bool {
			got, err := starlark.Call(t, v, args, nil)
			failed = given.Blame(err)
			return err != nil || bool(got.Truth())
		}
	case starlark.String:
		remove, err := c.until(string(v))
		if err != nil {
			return nil, err
		}
		defer remove()
	default:
		return nil, c.errorf("until is %s, want a function of the machine, a place or a spec of on()", until.Type())
	}
	stop, err := c.g.run(c, u)
	if err == nil {
		err = failed
	}
	if err != nil {
		return nil, err
	}
	return stopRecord(c.g, stop), nil
}

// until stops the machine at a place, which is only watched, or when a spec of on() happens.
func (c *call) until(text string) (remove func(), err error) {
	stop := func(c *kernel.VCPU) { c.Machine().RequestStop("reached " + text) }
	kind, _, isSpec := strings.Cut(text, ":")
	if !isSpec || !slices.Contains(kindNames(), kind) {
		addr, err := c.address(str(text))
		if err != nil {
			return nil, err
		}
		if err := c.boundary(addr, text); err != nil {
			return nil, err
		}
		remove, err := c.g.M.Hook(addr, stop)
		return remove, c.fail(err, text, nil)
	}
	fn := starlark.NewBuiltin("until", func(*starlark.Thread, *starlark.Builtin, starlark.Tuple, []starlark.Tuple) (starlark.Value, error) {
		stop(c.g.M.Running())
		return starlark.None, nil
	})
	h := &hook{c: c, g: c.g, spec: text, onError: "stop", limit: 1, fn: c.g.env.host.Handler(nil, "until "+text, fn)}
	if err := h.attach(); err != nil {
		return nil, err
	}
	return func() { _ = h.detach(false) }, nil
}

// boundary refuses a place within an instruction, which would never be reached.
func (c *call) boundary(addr uint64, text string) error {
	k, err := c.kprobes()
	if err != nil {
		return err
	}
	sym, off := c.g.M.Symbols().At(addr)
	bounds := k.Boundaries(sym)
	if len(bounds) == 0 || slices.ContainsFunc(bounds, func(b uint16) bool { return uint64(b) == off }) {
		return nil
	}
	e := c.errorf("%s: not the beginning of an instruction", text)
	e.At, e.Code = text, "EILSEQ"
	for _, b := range bounds {
		if uint64(b)+16 >= off && uint64(b) <= off+16 {
			e.Hint += fmt.Sprintf(" +%#x", b)
		}
	}
	e.Hint = "instructions begin at" + e.Hint
	return e
}

// kernelStep implements kernel.step.
func kernelStep(c *call) (starlark.Value, error) {
	var cpu, count starlark.Value = num(0), starlark.None
	if err := c.unpack("cpu?", &cpu, "n?", &count); err != nil {
		return nil, err
	}
	id, err := c.cpuArg(cpu)
	if err != nil {
		return nil, err
	}
	n, err := c.positive("n", count)
	if err != nil {
		return nil, err
	}
	if err := c.ready(); err != nil {
		return nil, err
	}
	if err := c.dry(); err != nil {
		return nil, err
	}
	var stop kernel.Stop
	err = c.g.guard(func() (err error) {
		stop, err = c.g.M.Step(max(id, 0), max(n, 1))
		return err
	})
	if err == nil && (stop.Reason == kernel.StopPanic || stop.Reason == kernel.StopLimit) {
		err = c.stopped(stop, "stepping")
	}
	if err != nil {
		return nil, c.fail(err, "", nil)
	}
	return stopRecord(c.g, stop), nil
}

// kernelStop implements kernel.stop.
func kernelStop(c *call) (starlark.Value, error) {
	reason := ""
	if err := c.unpack("reason?", &reason); err != nil {
		return nil, err
	}
	if !c.g.busy {
		e := c.errorf("the machine is not running")
		e.Hint = "it is for handlers and programs"
		return nil, e
	}
	c.g.M.RequestStop(reason)
	return starlark.None, nil
}

// positive unpacks an optional count; absent is 0.
func (c *call) positive(what string, v starlark.Value) (uint64, error) {
	if v == nil || v == starlark.None {
		return 0, nil
	}
	var n uint64
	if err := starlark.AsInt(v, &n); err != nil || n == 0 {
		e := &lang.Error{Msg: fmt.Sprintf("%s: %s = %s: want a positive int", c.name, what, v), At: what}
		if what == "time" {
			e.Hint = "times are ints in ns: 10 * ms"
		} else if _, text := starlark.AsString(v); text && c.name == "kernel.run" {
			e.Hint = "kernel.run(time = 10 * ms) runs for a time, kernel.run(until = \"vfs_read\") to a place"
		}
		return 0, e
	}
	return n, nil
}

// run drives the machine; a panic, a limit and a failed user program are errors, other stops are results.
func (g *Guest) run(c *call, u kernel.Until) (kernel.Stop, error) {
	if err := c.ready(); err != nil {
		return kernel.Stop{}, err
	}
	if err := c.dry(); err != nil {
		return kernel.Stop{}, err
	}
	var stop kernel.Stop
	err := g.guard(func() (err error) {
		if stop, err = g.runKept(u); err != nil {
			return err
		}
		return g.programError()
	})
	if stop.Reason != kernel.StopPanic && g.env.guest != nil && g.env.guest.shared == g.shared && !g.env.host.Shell {
		g.oopsed()
	}
	if err == nil && (stop.Reason == kernel.StopPanic || stop.Reason == kernel.StopLimit) {
		err = c.stopped(stop, "running")
	}
	return stop, err
}

// oopsed says that the guest of the script has faulted since the last time: a program that goes on would hide it.
func (g *Guest) oopsed() {
	var news []*kernel.OopsRecord
	list := g.M.Oopses()
	for _, o := range list[min(g.oops, len(list)):] {
		if o.Die && len(o.Line) > 0 {
			news = append(news, o)
		}
	}
	if g.oops = len(list); len(news) == 0 {
		return
	}
	o, more := news[0], ""
	what := o.Line[0]
	if strings.HasPrefix(what, "----") && len(o.Line) > 1 { // cut here
		what = o.Line[1]
	}
	if len(news) > 1 {
		more = fmt.Sprintf(", and %d more", len(news)-1)
	}
	fmt.Fprintf(g.env.host.Stdout(), "oops: %s (%s-%d, cpu%d)%s; kernel.dmesg() has the report\n", what, o.Task.Comm, o.Task.Pid, o.CPU, more)
}

// stopRecord is the result of kernel.run.
func stopRecord(g *Guest, s kernel.Stop) starlark.Value {
	text := fmt.Sprintf("<stop: %s, cpu%d at %s, %s, %d insns>", s.Reason, s.CPU, seconds(s.Time), g.M.Symbols().Format(s.PC), s.Insns)
	if s.Text != "" {
		text += "\n" + strings.TrimRight(s.Text, "\n")
	}
	return &record{typ: "Stop", text: text, fields: []field{
		{"reason", str(string(s.Reason))}, {"cpu", num(s.CPU)}, {"pc", unum(s.PC)}, {"time", unum(s.Time)},
		{"insns", unum(s.Insns)}, {"text", str(s.Text)},
	}}
}

// process is what the host keeps of a program that it started.
type process struct {
	pid      int
	in       *strings.Reader
	out, err bytes.Buffer
	copy     *process // in the machine that is being forked just now
}

// streams are the program's standard files. A fork of the machine gets copies: what its program reads and writes is its own.
func (p *process) streams(stdin string) kernel.Streams {
	p.in = strings.NewReader(stdin)
	return kernel.Streams{In: p.in, Out: &p.out, Err: &p.err, Fork: func() kernel.Streams {
		rest := stdin[len(stdin)-p.in.Len():]
		c := &process{pid: p.pid}
		c.out.WriteString(p.out.String())
		c.err.WriteString(p.err.String())
		p.copy = c
		return c.streams(rest)
	}}
}

// binPath is the file of a program: a name without a slash is in /usr/bin or /usr/sbin.
func binPath(prog string) string {
	if strings.Contains(prog, "/") {
		return prog
	}
	return user.ProgramPath(prog)
}

// defaultTimeout is the virtual time that kernel.exec gives a program, in ns.
const defaultTimeout = 1_000_000_000

// kernelExec implements kernel.exec.
func kernelExec(c *call) (starlark.Value, error) {
	prog, argv, stdin, timeout := "", []string(nil), "", int64(defaultTimeout)
	var list starlark.Iterable
	if err := c.unpack("prog", &prog, "args?", &list, "stdin?", &stdin, "timeout?", &timeout); err != nil {
		return nil, err
	}
	argv, err := c.argv(prog, list)
	if err != nil {
		return nil, err
	}
	if err := c.timeout(timeout); err != nil {
		return nil, err
	}
	p, err := c.g.start(c, kernel.AnyCPU, prog, argv, stdin)
	if err != nil {
		return nil, err
	}
	return c.g.wait(c, p, prog, timeout)
}

// timeout checks one.
func (c *call) timeout(ns int64) error {
	if ns >= 0 {
		return nil
	}
	e := c.errorf("timeout = %d: want 0 or a positive int", ns)
	e.Hint = "times are ints in ns: 10 * ms; 0 waits as long as it takes"
	return e
}

// argv makes a program's arguments: strings, or values printed as such.
func (c *call) argv(prog string, list starlark.Iterable) ([]string, error) {
	argv := []string{prog}
	if list == nil {
		return argv, nil
	}
	it := list.Iterate()
	defer it.Done()
	var v starlark.Value
	for it.Next(&v) {
		switch v := v.(type) {
		case starlark.String:
			if strings.Contains(string(v), "\x00") {
				return nil, c.errorf("the argument %q has a NUL byte", string(v))
			}
			argv = append(argv, string(v))
		case starlark.Int:
			argv = append(argv, v.String())
		default:
			return nil, c.errorf("an argument is %s, want string or int", v.Type())
		}
	}
	return argv, nil
}

// start starts a program of the guest.
func (g *Guest) start(c *call, cpu int, prog string, argv []string, stdin string) (*process, error) {
	if err := c.ready(); err != nil {
		return nil, err
	}
	if err := c.dry(); err != nil {
		return nil, err
	}
	p := &process{}
	err := g.guard(func() (err error) {
		if prog == "" {
			return kernel.ENOENT
		}
		p.pid, err = g.M.ExecOn(cpu, binPath(prog), argv, p.streams(stdin))
		return err
	})
	if err != nil {
		var errno kernel.Errno
		e := c.fail(err, prog, func() []string { return g.programs() })
		var le *lang.Error
		if errors.As(err, &errno) && errno == kernel.ENOENT && errors.As(e, &le) {
			le.Msg = fmt.Sprintf("%s: %s: no such program", c.name, prog)
			if words := strings.Fields(prog); len(words) > 1 {
				le.Hint = fmt.Sprintf("arguments are a list: %s(%q, %v); sh(%q) takes a line", c.name, words[0], lang.Strings(words[1:]), prog)
			}
		}
		return nil, e
	}
	return p, nil
}

// wait runs the machine until the program has ended, and takes its result.
func (g *Guest) wait(c *call, p *process, prog string, timeout int64) (starlark.Value, error) {
	u := kernel.Until{Pid: p.pid}
	if timeout > 0 {
		u.Time = g.M.Now() + uint64(timeout)
	}
	stop, err := g.run(c, u)
	if err != nil {
		return nil, err
	}
	code, exited := g.M.Exited(p.pid)
	if !exited {
		if stop.Reason == kernel.StopDone {
			return nil, &lang.Error{
				Msg:  fmt.Sprintf("%s: %s (pid %d) is still running after %s s of virtual time", c.name, prog, p.pid, seconds(uint64(timeout))),
				Hint: "timeout = 0 waits as long as it takes", Code: "ETIMEDOUT",
			}
		}
		err := c.stopped(stop, "waiting for "+prog)
		var e *lang.Error
		if stop.Reason == kernel.StopInterrupt && errors.As(err, &e) {
			e.Hint = fmt.Sprintf("it is still there: kernel.task(%d).kill() ends it, kernel.run() goes on", p.pid)
		}
		return nil, err
	}
	return starlarkstruct.FromStringDict(starlarkstruct.Default, starlark.StringDict{
		"code": num(code), "out": str(p.out.String()), "err": str(p.err.String()),
	}), nil
}

// kernelHot implements kernel.hot.
func kernelHot(c *call) (starlark.Value, error) {
	var list starlark.Iterable
	var calls starlark.Value
	if err := c.unpack("cpus", &list, "calls?", &calls); err != nil {
		return nil, err
	}
	n, err := c.positive("calls", calls)
	if err != nil {
		return nil, err
	}
	if err := c.ready(); err != nil {
		return nil, err
	}
	var mask uint64
	it := list.Iterate()
	defer it.Done()
	var v starlark.Value
	for it.Next(&v) {
		cpu, err := c.cpu(v)
		if err != nil {
			return nil, err
		}
		if cpu != kernel.AnyCPU {
			mask |= 1 << cpu
		}
	}
	err = c.g.guard(func() error { return c.g.M.Hot(mask, n) })
	return starlark.None, c.fail(err, "", nil)
}

// guestOut is what the guest's programs write to; behind the script's end it is nobody's.
type guestOut struct{ e *Env }

func (o guestOut) Write(b []byte) (int, error) {
	if o.e.host.Closing() {
		return len(b), nil
	}
	return o.e.cfg.Stdout.Write(b)
}

// runShell implements sh: what the shell and its commands write is shown as it comes, or returned.
func runShell(c *call) (starlark.Value, error) {
	text, stdin, capture := "", "", false
	if err := c.unpack("text", &text, "stdin?", &stdin, "capture?", &capture); err != nil {
		return nil, err
	}
	if strings.Contains(text, "\x00") {
		return nil, about("text", c.errorf("the text has a NUL byte"))
	}
	if err := c.ready(); err != nil {
		return nil, err
	}
	if err := c.dry(); err != nil {
		return nil, err
	}
	out := guestOut{c.g.env}
	streams := kernel.Streams{In: strings.NewReader(stdin), Out: out, Err: out, Fork: func() kernel.Streams { return kernel.Streams{} }}
	p := &process{}
	if capture {
		streams = p.streams(stdin)
	}
	err := c.g.guard(func() (err error) {
		p.pid, err = c.g.M.Exec(user.ProgramPath("sh"), []string{"sh", "-c", text}, streams)
		return err
	})
	if err != nil {
		return nil, c.fail(err, "", nil)
	}
	stop, err := c.g.run(c, kernel.Until{Pid: p.pid})
	if err != nil {
		return nil, err
	}
	code, exited := c.g.M.Exited(p.pid)
	if !exited {
		return nil, c.broken(stop, "waiting for the shell", p.pid)
	}
	if capture {
		return starlarkstruct.FromStringDict(starlarkstruct.Default, starlark.StringDict{
			"code": num(code), "out": str(p.out.String()), "err": str(p.err.String()),
		}), nil
	}
	return num(code), nil
}
