package lang

import (
	"fmt"
	"maps"
	"sort"
	"strings"

	"go.starlark.net/starlark"
)

// Func is the Go side of a built-in function.
type Func = func(*starlark.Thread, *starlark.Builtin, starlark.Tuple, []starlark.Tuple) (starlark.Value, error)

// Row is one documented name. Exactly one of Fn, Get and Value is set, except for the methods and attributes of objects
// ("Task.comm"), which their types dispatch and which are rows for help and completion.
type Row struct {
	Name  string // "printf", "kernel.boot", "Task.comm"
	Sig   string // "(cpus = 4, seed = 0) -> Machine"; starts with "(" for functions, with "->" or ":" for attributes
	Doc   string // the first line says what it does; the rest gives units, errors and defaults
	Fn    Func
	Get   func(*Host) (starlark.Value, error) // an attribute that is computed at each use: tracer.current
	Value starlark.Value                      // a constant

	// Example is statements as typed in a session, which print what they show: the reference runs them on a machine of its own.
	Example string
}

// Table is a group of rows; the order is the order of help().
type Table struct {
	Title string // "kernel: the machine and its guest kernel"
	Rows  []Row
}

// isType tells that the name before the dot is a type of objects, not a module.
func isType(name string) bool { return name != "" && name[0] >= 'A' && name[0] <= 'Z' }

// Module is a namespace made of rows.
type Module struct {
	name  string
	host  *Host
	rows  map[string]Row
	names []string
	fns   starlark.StringDict
}

var (
	_ starlark.Value    = (*Module)(nil)
	_ starlark.HasAttrs = (*Module)(nil)
)

func (m *Module) String() string        { return fmt.Sprintf("<module %s>", m.name) }
func (m *Module) Type() string          { return "module" }
func (m *Module) Freeze()               {}
func (m *Module) Truth() starlark.Bool  { return true }
func (m *Module) Hash() (uint32, error) { return starlark.String(m.name).Hash() }
func (m *Module) AttrNames() []string   { return m.names }

// Attr looks a name up; an unknown one gives the error with its hint.
func (m *Module) Attr(name string) (starlark.Value, error) {
	if v := m.fns[name]; v != nil {
		return v, nil
	}
	r, ok := m.rows[name]
	if !ok {
		return nil, &Error{
			Msg: fmt.Sprintf("%s has no .%s", m.name, name), At: "." + name, Off: 1,
			Hint: m.hint(name),
		}
	}
	return r.Get(m.host)
}

// hint names what a module has in place of a name that it has not.
func (m *Module) hint(name string) string {
	if hint := DidYouMean(name, m.names); hint != "" {
		return hint
	}
	if len(m.names) > 24 {
		return fmt.Sprintf("help(%s) lists what it has", m.name)
	}
	return m.name + " has " + strings.Join(m.names, ", ")
}

// buildEnv makes the global names from tables.
func (h *Host) buildEnv(tables []Table) {
	h.env = starlark.StringDict{}
	seen := map[string]bool{}
	for _, t := range tables {
		for _, r := range t.Rows {
			if seen[r.Name] {
				panic("BUG: two rows for " + r.Name)
			}
			seen[r.Name] = true
			h.rows = append(h.rows, r)
			h.addRow(r)
		}
	}
	maps.Copy(h.env, h.guards())
	for _, v := range h.env {
		if m, ok := v.(*Module); ok {
			sort.Strings(m.names)
		}
	}
}

// addRow puts one row into the environment.
func (h *Host) addRow(r Row) {
	mod, name, dotted := strings.Cut(r.Name, ".")
	if !dotted {
		if v := r.value(); v != nil {
			h.env[r.Name] = v
		}
		return
	}
	if isType(mod) {
		return
	}
	m, _ := h.env[mod].(*Module)
	if m == nil {
		m = &Module{name: mod, host: h, rows: map[string]Row{}, fns: starlark.StringDict{}}
		h.env[mod] = m
	}
	m.names = append(m.names, name)
	m.rows[name] = r
	if v := r.value(); v != nil {
		m.fns[name] = v
	} else if r.Get == nil {
		panic("BUG: nothing behind " + r.Name)
	}
}

// value is the row's constant or function, or nil when it is computed.
func (r Row) value() starlark.Value {
	if r.Fn != nil {
		return starlark.NewBuiltin(r.Name, r.Fn)
	}
	return r.Value
}

// Bind makes a method value: the row's name and code for one receiver, so that errors and help know it as "Task.kill".
func Bind(name string, recv starlark.Value, fn Func) starlark.Value {
	return starlark.NewBuiltin(name, fn).BindReceiver(recv)
}
