package builtins

import (
	"fmt"
	"slices"
	"sort"
	"strings"

	"go.starlark.net/starlark"

	"kscope/ftrace"
	"kscope/kernel"
	"kscope/kprobe"
	"kscope/lang"
)

// machine is the value that kernel.boot and kernel.fork return. Its methods are the rows of module kernel.
type machine struct{ g *Guest }

var (
	_ starlark.Value    = (*machine)(nil)
	_ starlark.HasAttrs = (*machine)(nil)
)

func (m *machine) Type() string          { return "Machine" }
func (m *machine) Freeze()               {}
func (m *machine) Truth() starlark.Bool  { return true }
func (m *machine) Hash() (uint32, error) { return 0, fmt.Errorf("unhashable: Machine") }

func (m *machine) String() string {
	cfg := m.g.M.Config()
	return fmt.Sprintf("<machine: %d cpus, seed %d, t = %s, %d insns>", cfg.CPUs, cfg.Seed, seconds(m.g.M.Now()), m.g.M.Insns())
}

// seconds prints ns as the trace does.
func seconds(ns uint64) string { return fmt.Sprintf("%d.%06d", ns/1e9, ns%1e9/1e3) }

func (m *machine) Attr(name string) (starlark.Value, error) {
	if row, ok := find(kernelMethods(), name); ok {
		return row.bound("kernel", m, m.g)
	}
	switch name {
	case "on":
		return method{name: "on", fn: onFn}.bound("Machine", m, m.g)
	case "tracer":
		return &namespace{"tracer", tracerMethods(), m.g}, nil
	case "kprobe":
		return &namespace{"kprobe", kprobeMethods(), m.g}, nil
	case "event":
		return &namespace{"event", eventMethods(), m.g}, nil
	case "fs":
		return &namespace{"fs", fsMethods(), m.g}, nil
	}
	return nil, noAttr("Machine", name, m.AttrNames())
}

func (m *machine) AttrNames() []string {
	return append(methodNames(kernelMethods()), "event", "fs", "kprobe", "on", "tracer")
}

func methodNames(methods []method) []string {
	var names []string
	for _, m := range methods {
		names = append(names, m.name)
	}
	sort.Strings(names)
	return names
}

// namespace is the tracer or the files of one machine: m.tracer.set(...).
type namespace struct {
	name    string
	methods []method
	g       *Guest
}

func (n *namespace) String() string {
	return fmt.Sprintf("<%s of %s>", n.name, (&machine{n.g}).String())
}
func (n *namespace) Type() string          { return n.name }
func (n *namespace) Freeze()               {}
func (n *namespace) Truth() starlark.Bool  { return true }
func (n *namespace) Hash() (uint32, error) { return 0, fmt.Errorf("unhashable: %s", n.name) }
func (n *namespace) AttrNames() []string   { return methodNames(n.methods) }

func (n *namespace) Attr(name string) (starlark.Value, error) {
	if row, ok := find(n.methods, name); ok {
		return row.bound(n.name, n, n.g)
	}
	return nil, noAttr(n.name, name, n.AttrNames())
}

// bootRows are the rows that make a machine rather than use one.
func (e *Env) bootRows() []lang.Row {
	return []lang.Row{{
		Name: "kernel.boot",
		Sig:  `(cpus = 4, mem = 64 * MiB, seed = 0, cmdline = "", overhead = "model", features = "") -> Machine`,
		Doc: "Boots a machine and makes it the one that kernel.*, tracer.* and fs.* act on.\n" +
			"Without it the first use boots one by the command line's flags. mem is in bytes; other seeds give other\n" +
			"interleavings. overhead = \"none\" makes tracing cost no virtual time and patches atomic.\n" +
			"features is a comma-separated list of what later kernels than 6.1 have (kscope help lists them).",
		Fn: e.bootFn,
	}}
}

func (e *Env) bootFn(t *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	cfg := e.cfg.Defaults
	c := &call{thread: t, name: b.Name(), args: args, kwargs: kwargs}
	var seed starlark.Value
	var mem int64
	overhead := "model"
	if err := c.unpack("cpus?", &cfg.CPUs, "mem?", &mem, "seed?", &seed, "cmdline?", &cfg.Cmdline, "overhead?", &overhead, "features?", &cfg.Features); err != nil {
		return nil, err
	}
	if seed != nil {
		if err := starlark.AsInt(seed, &cfg.Seed); err != nil {
			return nil, c.errorf("seed: %v", err)
		}
	}
	if mem < 0 {
		return nil, c.errorf("mem = %d: want bytes, such as 64 * MiB", mem)
	}
	if mem > 0 {
		cfg.Mem = uint64(mem)
	}
	var err error
	wanted := strings.FieldsFunc(cfg.Features, func(r rune) bool { return r == ',' })
	if cfg.Features, err = kernel.ParseFeatures(cfg.Features, append(ftrace.Features(), kprobe.Features()...)); err != nil {
		e := c.errorf("%v", err)
		for _, w := range wanted {
			if !slices.Contains(featureNames(), w) {
				e.Hint = lang.DidYouMean(w, featureNames())
				break
			}
		}
		return nil, about("features", e)
	}
	if strings.Contains(cfg.Cmdline, "\x00") {
		return nil, c.errorf("cmdline: %q has a NUL byte", cfg.Cmdline)
	}
	if err := c.choice("overhead", overhead, "model", "none"); err != nil {
		return nil, err
	}
	cfg.Overhead = kernel.OverheadModel
	if overhead == "none" {
		cfg.Overhead = kernel.OverheadNone
	}
	if hasKwarg(kwargs, "cpus") && cfg.CPUs == 0 {
		return nil, about("cpus", c.errorf("0 CPUs: must be 1 to 64"))
	}
	if c.g = e.guest; c.g != nil {
		if err := c.ready(); err != nil { // which machine would the handler's caller go on with?
			return nil, err
		}
	}
	g, err := e.boot(cfg)
	if err != nil {
		for word, param := range map[string]string{" CPUs: ": "cpus", " of RAM: ": "mem", "command line of ": "cmdline"} { // at most one is in it
			if strings.Contains(err.Error(), word) {
				_ = about(param, err)
			}
		}
		return nil, err
	}
	e.guest = g
	return &machine{g}, nil
}

func hasKwarg(kwargs []starlark.Tuple, name string) bool {
	for _, kv := range kwargs {
		if kv[0] == starlark.String(name) {
			return true
		}
	}
	return false
}
