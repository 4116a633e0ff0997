package ftrace

import (
	"slices"
	"strings"

	"kscope/ftrace/ring"
	"kscope/kernel"
)

// Instances are the directories below instances/: tracers with rings, options, filters and a current tracer of their own,
// on the machine's one set of call sites. What Linux keeps once is shared: names of tasks, event formats, function_graph
// (which an instance cannot use), and whether the rings have been used at all.

// maxInstance is the longest name of a directory.
const maxInstance = 255

// newInstance is trace_array_create.
func (t *Tracer) newInstance(name string) *Tracer {
	n := &Tracer{
		m: t.m, sites: t.sites, events: t.events, lay: t.lay, guest: t.guest, graph: t.graph, stack: t.stack, cmdline: t.cmdline, fs: t.fs,
		markIP: t.markIP, top: t, name: name, on: true, current: &tracers[nopTracer], percent: defaultPercent,
		options: t.options &^ (1<<optEventFork | 1<<optFunctionFork),
		cpu:     make([]cpuState, len(t.cpu)),
		ops:     &Ops{Name: "function", Gate: "function_trace_call"},
	}
	for i := range n.cpu {
		n.cpu[i].ring = ring.New(ring.Pages(defaultKB))
		n.cpu[i].ring.SetOverwrite(n.opt(optOverwrite))
	}
	n.bind(n.ops)
	n.grapher, n.prof = n.graph.newUser(n, "function_graph", nil), t.prof
	return n
}

// forkInstance copies an instance for the fork top of its tracer.
func (t *Tracer) forkInstance(top *Tracer) *Tracer {
	n := &Tracer{}
	*n = *t
	n.m, n.guest, n.events, n.sites, n.graph, n.cmdline, n.fs, n.top = top.m, top.guest, top.events, top.sites, top.graph, top.cmdline, top.fs, top
	n.stack, n.prof, n.grapher = top.stack, top.prof, t.grapher.fork(top.graph, n, nil)
	n.copyOwn(t)
	return n
}

// copyOwn copies what a tracer does not share, from t to its fork n.
func (n *Tracer) copyOwn(t *Tracer) {
	n.cpu = append([]cpuState(nil), t.cpu...)
	for i := range n.cpu {
		n.cpu[i].ring = t.cpu[i].ring.Clone()
		if t.cpu[i].snap != nil {
			n.cpu[i].snap = t.cpu[i].snap.Clone()
		}
	}
	n.ops = n.sites.ForkOf(t.ops)
	n.bind(n.ops)
	n.probes = nil
	for _, p := range t.probes {
		n.probes = append(n.probes, p.fork(n))
	}
	n.mods = [2][]pendingMod{slices.Clone(t.mods[0]), slices.Clone(t.mods[1])}
	n.errs, n.pids, n.eventPids = t.errs.fork(), t.pids.fork(), t.eventPids.fork()
	n.wait.full = slices.Clone(t.wait.full)
	n.lost, n.losses = nil, nil
}

// root is the tracer that instances belong to: the one of the machine.
func (t *Tracer) root() *Tracer {
	if t.top != nil {
		return t.top
	}
	return t
}

// Name is an instance's name, "" for the machine's tracer.
func (t *Tracer) Name() string { return t.name }

// Instances lists the instances in order of name.
func (t *Tracer) Instances() []*Tracer { return append([]*Tracer(nil), t.root().instances...) }

// Instance finds an instance by name.
func (t *Tracer) Instance(name string) (*Tracer, bool) {
	for _, n := range t.root().instances {
		if n.name == name {
			return n, true
		}
	}
	return nil, false
}

// MakeInstance does mkdir instances/NAME.
func (t *Tracer) MakeInstance(name string) (n *Tracer, err error) {
	err = t.m.Do("making instance "+name, func(*kernel.VCPU) (err error) {
		n, err = t.root().mkdir(name)
		return err
	})
	return n, err
}

// RemoveInstance does rmdir instances/NAME.
func (t *Tracer) RemoveInstance(name string) error {
	return t.m.Do("removing instance "+name, func(*kernel.VCPU) error { return t.root().rmdir(name) })
}

func (t *Tracer) mkdir(name string) (*Tracer, error) {
	switch _, exists := t.Instance(name); {
	case exists:
		return nil, kernel.EEXIST
	case name == "" || len(name) > maxInstance || strings.ContainsAny(name, "/\x00"):
		return nil, kernel.EINVAL
	}
	n := t.newInstance(name)
	at, _ := slices.BinarySearchFunc(t.instances, name, func(x *Tracer, name string) int { return strings.Compare(x.name, name) })
	t.instances = slices.Insert(t.instances, at, n)
	t.fs.addInstance(n)
	return n, nil
}

// rmdir is __remove_instance: busy while a file of it is open.
func (t *Tracer) rmdir(name string) error {
	n, ok := t.Instance(name)
	switch {
	case !ok:
		return kernel.ENOENT
	case n.opens > 0:
		return kernel.EBUSY
	}
	for _, o := range []option{optFunctionFork, optEventFork} {
		if err := n.setOption(o, false); err != nil {
			return err
		}
	}
	for _, step := range []func() error{n.resetEvents, n.dropProbes, n.resetTracer} {
		if err := step(); err != nil {
			return err
		}
	}
	t.instances = slices.DeleteFunc(slices.Clone(t.instances), func(x *Tracer) bool { return x == n })
	return t.fs.Remove("instances/" + name)
}

// gateMkdir: long tracefs_mkdir(u64 dir, const char *name). Only instances/ takes directories.
func (fs *FS) gateMkdir(c *kernel.VCPU) uint64 {
	name, err := fs.instanceName(c)
	if err == nil {
		_, err = fs.t.mkdir(name)
	}
	return ret(err)
}

// gateRmdir: long tracefs_rmdir(u64 dir, const char *name).
func (fs *FS) gateRmdir(c *kernel.VCPU) uint64 {
	name, err := fs.instanceName(c)
	if err == nil {
		err = fs.t.rmdir(name)
	}
	return ret(err)
}

func (fs *FS) instanceName(c *kernel.VCPU) (string, error) {
	if dir := fs.nodes[c.Arg(0)]; dir == nil || dir != fs.find("instances") {
		return "", kernel.EPERM
	}
	name, err := fs.t.m.Str(c.Arg(1), maxInstance+1)
	if err != nil {
		return "", kernel.EFAULT
	}
	return name, nil
}
