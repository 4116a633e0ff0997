package builtins

import (
	"strings"

	"go.starlark.net/starlark"
	"go.starlark.net/starlarkstruct"
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
	return starlark.None, c.fail(err, name, nil)
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
	return starlark.None, c.fail(err, name, c.loadedModules)
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
