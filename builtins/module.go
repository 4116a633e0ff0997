package builtins

import (
	"bytes"
	"debug/elf"
	"errors"
	"fmt"
	"slices"
	"strings"

	"go.starlark.net/starlark"
	"go.starlark.net/starlarkstruct"

	"kscope/kernel"
	"kscope/kernel/guest"
	"kscope/lang"
)

// moduleMethods are the rows of module kernel about the guest's loadable modules.
func moduleMethods() []method {
	return []method{
		{name: "load_module", sig: `(name, args = "")`, fn: kernelLoadModule,
			doc: "Loads a module as modprobe does, by a name of /lib/modules/*/modules.dep or, with a slash in it, by the path of a guest file.\nargs are its parameters: \"count=4 name=x\". What the kernel says goes to kernel.dmesg."},
		{name: "unload_module", sig: "(name)", fn: kernelUnloadModule,
			doc: "Unloads a module as rmmod does."},
		{name: "modules", sig: "-> [struct]", get: kernelModules,
			doc: "The loaded modules, newest first: .name, .size, .refs, .used_by, .state, .base, .taints."},
	}
}

func kernelLoadModule(c *call) (starlark.Value, error) {
	var name, args string
	if err := c.unpack("name", &name, "args?", &args); err != nil {
		return nil, err
	}
	if err := c.moduleName(name); err != nil {
		return nil, err
	}
	if strings.Contains(args, "\x00") {
		return nil, c.errorf("args: %q has a NUL byte", args)
	}
	err := c.g.guard(func() error { return c.g.M.LoadModule(name, args) })
	err = c.fail(err, name, nil)
	var e *lang.Error
	if errors.As(err, &e) && e.Hint == "" && e.Code == "ENOENT" && !strings.Contains(name, "/") {
		if e.Hint = lang.DidYouMean(name, guest.Modules()); e.Hint == "" {
			e.Hint = "there are " + strings.Join(guest.Modules(), ", ")
		}
	}
	return starlark.None, err
}

func kernelUnloadModule(c *call) (starlark.Value, error) {
	var name string
	if err := c.unpack("name", &name); err != nil {
		return nil, err
	}
	if err := c.moduleName(name); err != nil {
		return nil, err
	}
	err := c.g.guard(func() error { return c.g.M.UnloadModule(name) })
	err = c.fail(err, name, c.loadedModules)
	var e *lang.Error
	if _, loaded := c.g.M.Module(name); !loaded && errors.As(err, &e) && e.Hint == "" {
		e.Hint = "it is not loaded: kernel.modules lists what is"
	}
	return starlark.None, err
}

func (c *call) moduleName(name string) error {
	if name == "" || strings.Contains(name, "\x00") {
		return c.errorf("%q is no name of a module", name)
	}
	return c.ready()
}

func (c *call) loadedModules() (names []string) {
	for _, m := range c.g.M.Modules() {
		names = append(names, m.Name)
	}
	return names
}

func kernelModules(g *Guest) (starlark.Value, error) {
	var out []starlark.Value
	for _, m := range g.M.Modules() {
		var users []starlark.Value
		for _, u := range m.UsedBy {
			users = append(users, str(u))
		}
		out = append(out, starlarkstruct.FromStringDict(starlark.String("module"), starlark.StringDict{
			"name": str(m.Name), "size": unum(m.Size), "refs": starlark.MakeInt(m.Refs), "used_by": starlark.NewList(users),
			"state": str(m.State.String()), "base": unum(m.Base), "taints": str(m.Taints),
		}))
	}
	return starlark.NewList(out), nil
}

// withModule says which modules that are not loaded have functions, or are the system of events, that a glob matches: who lists ext4_* may not know that it is one.
func (g *Guest) withModule(glob string) string {
	if bare := strings.Trim(glob, "*?"); len(bare) < 3 {
		return ""
	}
	system, event, isEvent := strings.Cut(glob, ":")
	if isEvent && event == "" {
		return ""
	}
	var names []string
	for _, name := range guest.Modules() {
		if _, loaded := g.M.Module(name); !loaded && (isEvent && name == system || !isEvent && defines(guest.Module(name), glob)) {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return ""
	}
	return fmt.Sprintf("it is of module %s, which is not loaded: kernel.load_module(%q), or modprobe %s in the guest's shell",
		strings.Join(names, ", "), names[0], names[0])
}

// defines tells that a module's file has a function that a glob matches.
func defines(ko []byte, glob string) bool {
	f, err := elf.NewFile(bytes.NewReader(ko))
	if err != nil {
		return false
	}
	syms, err := f.Symbols()
	return err == nil && slices.ContainsFunc(syms, func(s elf.Symbol) bool {
		return elf.ST_TYPE(s.Info) == elf.STT_FUNC && s.Section != elf.SHN_UNDEF && kernel.Glob(glob, s.Name)
	})
}
