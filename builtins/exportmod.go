package builtins

import (
	"bytes"
	"cmp"
	"fmt"
	"os"
	"slices"
	"strings"

	"go.starlark.net/starlark"

	"kscope/ftrace"
	"kscope/ftrace/export"
	"kscope/kernel"
	"kscope/lang"
)

// exportMethods are the rows of module export: what the rings hold as files of other programs.
func exportMethods() []method {
	return []method{
		{name: "trace_dat", sig: "(path = None) -> struct(path, size, events, cpus) or bytes", fn: exportTraceDat,
			doc: "Writes a trace.dat of version 6, as trace-cmd and KernelShark read it: the rings' own pages, those of instances too, with\nformats, symbols, names of tasks and trace_printk's formats. The rings keep their events. path is a file of the host;\nwithout one the file's bytes are the result."},
		{name: "report", sig: "(data) -> string", fn: exportReport,
			doc: "The events of a trace.dat (bytes, or the path of a host's file), of this kernel or another, a line each."},
	}
}

// dat collects the trace.dat of the machine's tracer.
func (g *Guest) dat() *export.Dat {
	d := &export.Dat{
		HeaderPage: g.text("events/header_page"), HeaderEvent: g.text("events/header_event"),
		Cmdlines: g.text("saved_cmdlines"), Clock: g.text("trace_clock"), Printk: g.text("printk_formats"),
		Kallsyms: g.kallsyms(), Uname: g.uname(),
	}
	for _, name := range g.traceNames("events/ftrace") {
		if text := g.text("events/ftrace/" + name + "/format"); text != "" {
			d.Ftrace = append(d.Ftrace, text)
		}
	}
	systems := map[string]int{}
	for _, ev := range g.T.TraceEvents() {
		i, ok := systems[ev.System]
		if !ok {
			i = len(d.Systems)
			systems[ev.System] = i
			d.Systems = append(d.Systems, export.System{Name: ev.System})
		}
		d.Systems[i].Formats = append(d.Systems[i].Formats, ev.File())
	}
	slices.SortFunc(d.Systems, func(a, b export.System) int { return cmp.Compare(a.Name, b.Name) })
	for cpu := range g.M.NumCPU() {
		d.Stats = append(d.Stats, fmt.Sprintf("CPU: %d\n%s", cpu, g.text(fmt.Sprintf("per_cpu/cpu%d/stats", cpu))))
	}
	d.Pages = g.ringPages(g.T)
	for _, x := range g.T.Instances() {
		d.Instances = append(d.Instances, export.Instance{Name: x.Name(), Pages: g.ringPages(x)})
	}
	return d
}

// uname is what the guest's uname(2) says: system, node, release, version, machine.
func (g *Guest) uname() string {
	var words []string
	for _, part := range []string{"sysname", "nodename", "release", "version", "machine"} {
		o, err := g.variable("init_uts", 0)
		if err == nil {
			o, err = o.Path(part)
		}
		if err == nil {
			text, _ := o.Text()
			words = append(words, text)
		}
	}
	return strings.Join(words, " ")
}

func (g *Guest) ringPages(t *ftrace.Tracer) (out [][]byte) {
	for cpu := range g.M.NumCPU() {
		out = append(out, export.RingPages(t.Ring(cpu)))
	}
	return out
}

// kallsyms are the symbols by address, as /proc/kallsyms has them.
func (g *Guest) kallsyms() string {
	syms := slices.Clone(g.M.Symbols().All())
	slices.SortStableFunc(syms, func(a, b kernel.Sym) int { return cmp.Compare(a.Addr, b.Addr) })
	var b []byte
	for _, s := range syms {
		if !s.PerCPU() {
			b = export.KernelSymbol(b, s.Addr, s.Kind, s.Name, s.Module)
		}
	}
	return string(b)
}

func exportTraceDat(c *call) (starlark.Value, error) {
	var path starlark.Value
	if err := c.unpack("path?", &path); err != nil {
		return nil, err
	}
	d := c.g.dat()
	var file bytes.Buffer
	if err := d.Write(&file); err != nil {
		return nil, c.errorf("%v", err)
	}
	if path == nil || path == starlark.None {
		return starlark.Bytes(file.String()), nil
	}
	name, ok := starlark.AsString(path)
	if !ok {
		return nil, &lang.Error{Msg: fmt.Sprintf("%s: path is %s, want string", c.name, path.Type()), At: "path"}
	}
	if err := os.WriteFile(name, file.Bytes(), 0o644); err != nil {
		return nil, c.errorf("%v", err)
	}
	recs, err := d.Records()
	if err != nil {
		return nil, c.errorf("%v", err)
	}
	return &record{typ: "TraceDat", fields: []field{{"path", str(name)}, {"size", num(file.Len())}, {"events", num(len(recs))},
		{"cpus", num(len(d.Pages))}}}, nil
}

func exportReport(c *call) (starlark.Value, error) {
	var data starlark.Value
	if err := c.unpack("data", &data); err != nil {
		return nil, err
	}
	var raw []byte
	switch x := data.(type) {
	case starlark.Bytes:
		raw = []byte(x)
	case starlark.String:
		var err error
		if raw, err = os.ReadFile(string(x)); err != nil {
			return nil, c.errorf("%v", err)
		}
	default:
		return nil, &lang.Error{Msg: fmt.Sprintf("%s: data is %s, want bytes or the path of a file", c.name, data.Type()), At: "data"}
	}
	d, err := export.ReadDat(raw)
	if err != nil {
		return nil, c.errorf("%v", err)
	}
	var text strings.Builder
	if err := d.Report(&text); err != nil {
		return nil, c.errorf("%v", err)
	}
	return str(text.String()), nil
}
