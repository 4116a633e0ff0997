// Package builtins is kscope's Starlark surface: the modules kernel, tracer, kprobe, event, awk, fs ..., the function on, and
// the only conversion between Go and Starlark values. Module agg is kscope/lang/agg, which knows no kernels.
//
// Main types: Env (the default machine of one script or session and its rows), Guest (a booted machine with its user programs
// and its tracer), call (one call of a method), record and object (values), hook (a handler of on), probeCtx and moment (what
// handlers see).
//
// How a call goes:
//
//  1. A row of kernelMethods, tracerMethods or fsMethods is both the function `kernel.run` of the module, which acts on the
//     default machine, and the method `run` of the value Machine. The row has the documentation too.
//  2. The module's function takes the default machine, which boots now if nothing has used it before (Env.current).
//  3. The method unpacks its arguments, acts on the guest through the packages below, and converts the result.
//  4. A handler is called at the instruction where its event happens (on.go: the table of specs; onarm.go: how each is armed),
//     in a thread of its own with a budget for each call. It may not drive the machine that it is called by.
//  5. An error of the guest becomes a lang.Error: the errno's text and name, what to point at, and a hint from the names that
//     exist (errors.go).
//
// Ownership: everything belongs to the goroutine that runs Starlark, except Env.Interrupt, which may be called from any.
package builtins

import (
	"io"
	"slices"
	"sync/atomic"
	"time"
	"weak"

	"go.starlark.net/starlark"

	"kscope/kernel"
	"kscope/kernel/user"
	"kscope/lang"
	"kscope/lang/agg"
)

// Config is what main supplies.
type Config struct {
	Boot     func(kernel.Config) (*Guest, error) // makes a booted machine with its parts
	Defaults kernel.Config                       // from the command line
	Stdout   io.Writer
	DryRun   bool   // list what is armed when the machine would first run, and end
	Style    string // that aggregations print in by themselves; "": bpftrace
}

// Env is the kernel side of one script or session.
type Env struct {
	cfg     Config
	host    *lang.Host
	guest   *Guest                         // the default machine; nil until first use
	running atomic.Pointer[kernel.Machine] // what Ctrl-C stops
	aggs    agg.Set
	hooks   []weak.Pointer[hook] // of on(), in order
	hooked  bool                 // on() was used
	ends    []*hook              // those of on("END")
	probes  []*probe             // of kprobe.attach and kprobe.ret, for reset
	listed  bool                 // the dry run has shown what is armed
	ctx     map[string]*ctxRow   // Ctx's attributes by name
	ctxArg  *ctxRow              // one of them
}

// New makes an Env whose tables go into a lang.Host; Attach then ties the two.
func New(cfg Config) *Env {
	e := &Env{cfg: cfg}
	e.aggs.Style = cfg.Style
	return e
}

// Attach tells the Env its host, which makes the threads for callbacks.
func (e *Env) Attach(h *lang.Host) {
	e.host = h
	h.OnEnd(e.end)
}

// Tables are the rows of all modules.
func (e *Env) Tables() []lang.Table {
	return []lang.Table{
		{Title: "to begin with", Rows: []lang.Row{
			{Name: "demo", Sig: "()", Doc: "Shows a first trace, statement by statement.", Fn: e.demo},
			e.resetRow(),
			{Name: "tour", Sig: "(chapter = 0)", Doc: "Shows what kscope can do, chapter by chapter, each on a fresh machine; without a number it lists the chapters.", Fn: e.tour,
				Example: "tour()\ntour(2)"},
			{Name: "sh", Sig: `(text, stdin = "", capture = False) -> int`, Fn: e.onGuest(runShell),
				Doc: "Runs text in the guest's shell, shows what it writes and returns its exit status.\nWith capture it shows nothing and returns struct(code, out, err).\nEvery command is a task of the guest: sh(\"echo function > /sys/kernel/tracing/current_tracer\")."},
		}},
		{Title: "kernel: the machine and its guest kernel", Rows: append(e.bootRows(), e.rows("kernel", kernelMethods())...)},
		{Title: "on: one front door", Rows: append(e.onRows(), momentRows()...)},
		e.aggs.Table(),
		{Title: "awk: patterns and actions", Rows: e.awkRows()},
		{Title: "tracer: ftrace", Rows: e.rows("tracer", tracerMethods())},
		{Title: "kprobe: probes at any instruction", Rows: e.rows("kprobe", kprobeMethods())},
		{Title: "event: trace events", Rows: e.rows("event", slices.Concat(eventMethods(), defineMethods(), joinMethods()))},
		{Title: "export: files of other programs", Rows: e.rows("export", append(exportMethods(), exportTextMethods()...))},
		{Title: "fs: the guest's files", Rows: e.rows("fs", fsMethods())},
		{Title: "objects", Rows: append(objectRows(), kprobeObjectRows()...)},
	}
}

// current is the default machine, booted at its first use.
func (e *Env) current() (*Guest, error) {
	if e.guest == nil {
		g, err := e.boot(e.cfg.Defaults)
		if err != nil {
			return nil, err
		}
		e.guest = g
	}
	return e.guest, nil
}

// boot makes a machine and adopts it.
func (e *Env) boot(cfg kernel.Config) (*Guest, error) {
	g, err := e.cfg.Boot(cfg)
	if err != nil {
		return nil, &lang.Error{Msg: err.Error()}
	}
	e.adopt(g)
	return g, nil
}

// adopt ties a machine to the script: at the script's end the coroutines of its programs stop. Until then only a machine
// whose programs live is kept: a sweep over thousands of forks must not hold them all.
func (e *Env) adopt(g *Guest) {
	g.env = e
	users, ok := kernel.PartOf[*user.Host](g.M)
	if !ok {
		return
	}
	ref := weak.Make(users)
	e.host.OnClose(func() error {
		if users := ref.Value(); users != nil {
			users.Close()
		}
		return nil
	})
}

// Now is the machine's virtual wall clock, for time.now(): the time that the guest was booted at, and its t.
func (e *Env) Now() time.Time {
	g, err := e.current()
	if err != nil {
		return time.Unix(0, 0).UTC()
	}
	boot, err := g.variable("boot_params", 0)
	if err == nil {
		boot, err = boot.Field("boot_time_s")
	}
	var secs uint64
	if err == nil {
		secs, _ = boot.Uint()
	}
	return time.Unix(int64(secs), int64(g.M.Now())).UTC()
}

// Interrupt stops the run of a guest, whose state stays; false when none runs.
func (e *Env) Interrupt() bool {
	m := e.running.Load()
	if m != nil {
		m.Interrupt()
	}
	return m != nil
}

// method is a row for both a module's function and an object's method.
type method struct {
	name, sig, doc string
	fn             func(c *call) (starlark.Value, error)  // a function
	get            func(g *Guest) (starlark.Value, error) // or an attribute
}

// call is one call of a method.
type call struct {
	g      *Guest
	thread *starlark.Thread
	name   string
	args   starlark.Tuple
	kwargs []starlark.Tuple
	event  *traceEvent // the receiver of an Event's methods
}

// unpack is starlark.UnpackArgs with the method's name.
func (c *call) unpack(pairs ...any) error {
	return starlark.UnpackArgs(c.name, c.args, c.kwargs, pairs...)
}

// rows makes a module's rows from methods.
func (e *Env) rows(module string, methods []method) []lang.Row {
	var rows []lang.Row
	for _, m := range methods {
		r := lang.Row{Name: module + "." + m.name, Sig: m.sig, Doc: m.doc}
		if m.fn != nil {
			r.Fn = e.onGuest(m.fn)
		} else {
			r.Get = func(*lang.Host) (starlark.Value, error) {
				g, err := e.current()
				if err != nil {
					return nil, err
				}
				return m.get(g)
			}
		}
		rows = append(rows, r)
	}
	return rows
}

// onGuest makes a function that acts on the default machine.
func (e *Env) onGuest(fn func(c *call) (starlark.Value, error)) lang.Func {
	return func(t *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
		g, err := e.current()
		if err != nil {
			return nil, err
		}
		return fn(&call{g: g, thread: t, name: b.Name(), args: args, kwargs: kwargs})
	}
}

// bound makes the attribute of an object from its method's row.
func (m method) bound(typ string, recv starlark.Value, g *Guest) (starlark.Value, error) {
	if m.get != nil {
		return m.get(g)
	}
	fn := func(t *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
		return m.fn(&call{g: g, thread: t, name: b.Name(), args: args, kwargs: kwargs})
	}
	return lang.Bind(typ+"."+m.name, recv, fn), nil
}

// find looks a method up by name.
func find(methods []method, name string) (method, bool) {
	for _, m := range methods {
		if m.name == name {
			return m, true
		}
	}
	return method{}, false
}
