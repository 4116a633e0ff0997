package kprobe

import (
	"fmt"
	"slices"
	"strings"

	"kscope/ftrace"
	"kscope/ftrace/event"
	"kscope/kernel"
)

// Event probes: events whose arguments are fetched from the fields of another event, "e[:[GRP/][EVENT]] SYSTEM.EVENT [ARGS] [if FILTER]"
// in dynamic_events; see kernel/trace/trace_eprobe.c.

const eprobeGroup = "eprobes"

// eprobe is struct trace_eprobe.
type eprobe struct {
	k       *Kprobes
	event   *ftrace.TraceEvent
	target  *ftrace.TraceEvent
	args    []*Program
	filter  *event.Filter
	fixed   int // bytes of a record without strings
	seq     uint64
	fetcher fetcher
	fill    func(d []byte)
}

// text is the event's line of dynamic_events: without its filter, as in 6.1.
func (e *eprobe) text() string {
	l := Line{Args: e.args}
	return fmt.Sprintf("e:%s/%s %s.%s%s", e.event.System, e.event.Name, e.target.System, e.target.Name, l.argsText())
}

// defineEprobe is __trace_eprobe_create.
func (k *Kprobes) defineEprobe(command string) error {
	words := fields(command)
	src := source{words}
	if len(words) < 2 {
		return src.silent(kernel.EINVAL)
	}
	l := &Line{Group: eprobeGroup, src: src}
	if i := strings.IndexByte(words[0], ':'); i >= 0 {
		if err := l.eventName(words[0][i+1:], i+1); err != nil {
			return err
		}
	}
	system, name, ok := strings.Cut(words[1], ".")
	if !ok {
		system, name, ok = strings.Cut(words[1], "/")
	}
	if !ok || system == "" || name == "" {
		return src.fail(1, 0, msgNoEventInfo, kernel.EINVAL)
	}
	if l.Name == "" {
		l.Name = name
	}
	target, ok := k.t.TraceEvent(system, name)
	if !ok || k.findGroup(system, name) != nil || k.findEprobe(system, name) != nil {
		return src.fail(1, 0, msgBadAttach, kernel.ENODEV)
	}
	e := &eprobe{k: k, target: target, seq: k.t.NextDynamic()}
	if err := e.parse(src); err != nil {
		return err
	}
	for _, f := range k.t.Events().All() {
		if f.System == l.Group && f.Name == l.Name {
			return src.fail(0, 0, msgEventExists, kernel.EEXIST)
		}
	}
	e.event = &ftrace.TraceEvent{Format: e.format(l.Group, l.Name, k.t.NextEventID())}
	e.bind()
	k.t.AddEvent(e.event)
	target.Hold(true)
	k.eprobes = append(k.eprobes, e)
	return nil
}

// parse reads the arguments and the filter.
func (e *eprobe) parse(src source) error {
	words := src.words
	flags := argFlags{target: e.target.Format}
	e.fixed = event.HeaderSize
	for i := 2; i < len(words); i++ {
		if words[i] == "if" {
			if i+1 == len(words) {
				return src.fail(i, 0, msgNoFilter, kernel.EINVAL)
			}
			f, err := e.k.t.CompileFilter(e.target, strings.Join(words[i+1:], " "))
			if err != nil {
				return src.silent(kernel.Errno(err.Errno))
			}
			e.filter = f
			break
		}
		if len(e.args) == maxArgs {
			continue
		}
		p, err := parseArg(src, i, i-2, flags, e.args)
		if err != nil {
			return err
		}
		if err := p.resolve(e.k.m.Symbols()); err != nil {
			return src.silent(kernel.ENOENT)
		}
		p.offset = e.fixed
		e.fixed += p.size()
		e.args = append(e.args, p)
	}
	return nil
}

// eventField is trace_eprobe_tp_arg_update: $FIELD of the event, or $comm of the task.
func (a *argParser) eventField(name string) *SyntaxError {
	p := a.prog
	for i := range a.flags.target.Fields {
		f := &a.flags.target.Fields[i]
		if f.Name == name {
			p.src, p.num, p.str = srcField, f.Reader(), f.TextOf()
			if p.str != nil {
				p.num = nil
			}
			return nil
		}
	}
	if name == "comm" || name == "COMM" {
		p.src = srcComm
		return nil
	}
	return a.src.fail(a.word, 0, msgBadAttachArg, kernel.ENOENT)
}

// format is the event's descriptor; eprobe events have no fields but their arguments.
func (e *eprobe) format(group, name string, id uint16) *event.Format {
	l := &Event{Line: &Line{Args: e.args}, k: e.k}
	f := l.format(id)
	f.System, f.Name = group, name
	f.Fields = f.Fields[1:] // no __probe_ip
	format, args, _ := strings.Cut(f.Print[1:], `", `)
	_, args, more := strings.Cut(args, ", ")
	if f.Print = `"` + strings.TrimPrefix(format, "(%lx)") + `"`; more {
		f.Print += ", " + args
	}
	head := fmt.Sprintf("%s: (%s.%s)", name, e.target.System, e.target.Name)
	f.Text = func(p *event.Printer, d []byte) {
		p.Buf = append(p.Buf, head...)
		l.printArgs(p, d)
	}
	return f
}

// bind gives the event what arms it and records it.
func (e *eprobe) bind() {
	e.event.SwitchIn = func(t *ftrace.Tracer, on bool) error {
		if on {
			return t.Probe(e.target, e.event, e.filter)
		}
		return t.Unprobe(e.target, e.event)
	}
	e.event.Record, e.fill = e.hit, e.record
}

// hit is __eprobe_trace_func: d is a record of the target.
func (e *eprobe) hit(t *ftrace.Tracer, c *kernel.VCPU, d []byte) {
	f := &e.fetcher
	f.k, f.c, f.rec, f.text, f.locs, f.tail = e.k, c, d, f.text[:0], f.locs[:0], 0
	for _, a := range e.args {
		if a.store == storeString {
			f.strings(a)
		}
	}
	f.end = e.fixed + len(f.text) + f.tail
	e.event.FireIn(t, c, (f.end+3)&^3, e.fill)
	f.rec = nil
}

func (e *eprobe) record(d []byte) {
	f := &e.fetcher
	clear(d[min(event.HeaderSize, len(d)):])
	dyn, locs := e.fixed, f.locs
	for _, a := range e.args {
		dyn, locs = f.put(a, d, dyn, locs)
	}
	copy(d[e.fixed:], f.text)
}

func (k *Kprobes) findEprobe(system, name string) *eprobe {
	for _, e := range k.eprobes {
		if e.event.System == system && e.event.Name == name {
			return e
		}
	}
	return nil
}

// matches is eprobe_dyn_event_match: words are SYSTEM.EVENT and arguments, or nothing.
func (e *eprobe) matches(words []string) bool {
	if len(words) == 0 {
		return true
	}
	list := append([]string{"e:" + e.event.System + "/" + e.event.Name, strings.Replace(words[0], "/", ".", 1)}, words[1:]...)
	return strings.HasPrefix(e.text()+" ", strings.Join(list, " ")+" ")
}

func (k *Kprobes) deleteEprobe(e *eprobe) error {
	if err := k.t.RemoveEvent(e.event); err != nil {
		return err
	}
	if err := k.t.UnprobeAll(e.target, e.event); err != nil { // 6.1 leaves a pointer to what it frees
		return err
	}
	e.target.Hold(false)
	k.eprobes = slices.DeleteFunc(slices.Clone(k.eprobes), func(x *eprobe) bool { return x == e })
	return nil
}

// forkEprobes copies the event probes for a fork.
func (k *Kprobes) forkEprobes(from *Kprobes) {
	k.eprobes = nil
	for _, e := range from.eprobes {
		n := &eprobe{k: k, event: k.t.ForkEvent(e.event), target: k.t.ForkEvent(e.target), args: e.args, filter: e.filter, fixed: e.fixed, seq: e.seq}
		k.t.Events().Remove(n.event.Format) // its text names symbols of the other machine
		n.event.Format = n.format(e.event.System, e.event.Name, e.event.ID)
		k.t.Events().Add(n.event.Format)
		n.bind()
		k.eprobes = append(k.eprobes, n)
	}
}
