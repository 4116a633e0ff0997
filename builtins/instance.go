package builtins

import (
	"go.starlark.net/starlark"

	"kscope/ftrace"
	"kscope/lang"
)

// tracerInstance finds an instance or makes it.
func tracerInstance(c *call) (starlark.Value, error) {
	var name string
	if err := c.unpack("name", &name); err != nil {
		return nil, err
	}
	t, ok := c.g.T.Instance(name)
	if !ok {
		if err := c.ready(); err != nil {
			return nil, err
		}
		err := c.g.guard(func() (err error) {
			t, err = c.g.T.MakeInstance(name)
			return err
		})
		if err != nil {
			return nil, c.fail(err, name, nil)
		}
	}
	return &namespace{"tracer", tracerMethods(), c.g.instance(t)}, nil
}

func (g *Guest) instanceNames() []string {
	var names []string
	for _, t := range g.T.Instances() {
		names = append(names, t.Name())
	}
	return names
}

func tracerInstances(c *call) (starlark.Value, error) {
	if err := c.unpack(); err != nil {
		return nil, err
	}
	return list(c.g.T.Instances(), func(t *ftrace.Tracer) starlark.Value { return str(t.Name()) }), nil
}

func tracerRemove(c *call) (starlark.Value, error) {
	var name string
	if err := c.unpack("name", &name); err != nil {
		return nil, err
	}
	if err := c.ready(); err != nil {
		return nil, err
	}
	err := c.g.guard(func() error { return c.g.T.RemoveInstance(name) })
	e := c.fail(err, name, c.g.instanceNames)
	if le, ok := e.(*lang.Error); ok && le.Code == "ENOENT" {
		le.Msg = c.name + ": " + name + ": no such instance"
	}
	return starlark.None, e
}
