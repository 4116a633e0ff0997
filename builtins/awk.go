package builtins

import (
	"fmt"
	"regexp"
	"sort"
	"strings"

	"go.starlark.net/starlark"

	"kscope/ftrace"
	"kscope/kernel"
	"kscope/lang"
)

// awk.run is awk's loop over records: patterns and actions, NR and fields, over records of the trace, the live pipe, or text.

func (e *Env) awkRows() []lang.Row {
	return []lang.Row{
		{Name: "awk.run", Sig: "(begin = None, rules = [], end = None, source = tracer.pipe, fs = None, limit = None, time = None) -> int",
			Fn: e.onGuest(awkRun),
			Doc: "Runs rules (pattern, action) over each record, as awk does, and returns how many records there were.\n" +
				"A pattern is None, a glob of events such as \"sched:sched_switch\", re(\"...\") that is searched for in the line, a function\n" +
				"of r, or (from, to): the records from one that matches to the next that does. An action is a function of r; None prints\n" +
				"the line. begin() and end() are called before and after.\n" +
				"source is a list of records, text, or tracer.pipe (also an instance's): the machine runs for time ns, or until limit\n" +
				"records have come. fs separates fields as awk's FS does: None by blanks, one character by itself, else a regular expression.",
			Example: "event.enable(\"sched:sched_switch\")\nkernel.run(time = 2 * ms)\nn = awk.run(rules = [(\"sched:sched_switch\", lambda r: print(r.nr, r.prev_comm, r.f[1]))], source = tracer.records(), limit = 3)"},
		{Name: "Line.nr", Sig: "-> int", Doc: "The record's number, from 1: awk's NR.\nA Line is what awk.run's patterns and actions get; it has the attributes of the record too."},
		{Name: "Line.nf", Sig: "-> int", Doc: "How many fields it has: NF."},
		{Name: "Line.f", Sig: "-> [string]", Doc: "Its fields: f[0] is the whole line, f[1] awk's $1. A field that is not there is \"\"."},
		{Name: "Line.line", Sig: "-> string", Doc: "The line, as f[0]."},
	}
}

// awkLine is the value Line.
type awkLine struct {
	nr     int
	line   string
	rec    *record // nil: text
	key    string  // SYSTEM:EVENT
	fields fieldList
	split  func(line string) []string
}

var (
	_ starlark.HasAttrs = (*awkLine)(nil)
	_ starlark.Mapping  = (*awkLine)(nil)
)

func (l *awkLine) String() string        { return l.line }
func (l *awkLine) Type() string          { return "Line" }
func (l *awkLine) Freeze()               {}
func (l *awkLine) Truth() starlark.Bool  { return true }
func (l *awkLine) Hash() (uint32, error) { return starlark.String(l.line).Hash() }

func (l *awkLine) Attr(name string) (starlark.Value, error) {
	switch name {
	case "nr":
		return num(l.nr), nil
	case "line":
		return str(l.line), nil
	case "f", "nf":
		if l.fields == nil {
			l.fields = append(fieldList{str(l.line)}, stringValues(l.split(l.line))...)
		}
		if name == "nf" {
			return num(len(l.fields) - 1), nil
		}
		return l.fields, nil
	}
	if l.rec != nil {
		for _, f := range l.rec.fields {
			if f.name == name {
				return f.value, nil
			}
		}
	}
	return nil, noAttr("Line", name, l.AttrNames())
}

// Get makes r["field"] work.
func (l *awkLine) Get(key starlark.Value) (starlark.Value, bool, error) {
	name, ok := starlark.AsString(key)
	if !ok {
		return nil, false, lang.Errorf("r[%s]: want a field's name; r.f[1] is awk's $1", key)
	}
	v, err := l.Attr(name)
	return v, err == nil, err
}

func (l *awkLine) AttrNames() []string {
	names := []string{"f", "line", "nf", "nr"}
	if l.rec != nil {
		names = append(names, l.rec.AttrNames()...)
	}
	sort.Strings(names)
	return compact(names)
}

// fieldList is r.f: a list whose elements beyond the end are "", as in awk.
type fieldList []starlark.Value

var (
	_ starlark.Mapping  = fieldList(nil)
	_ starlark.Sequence = fieldList(nil)
)

func (f fieldList) String() string             { return starlark.NewList(f).String() }
func (f fieldList) Type() string               { return "fields" }
func (f fieldList) Freeze()                    {}
func (f fieldList) Truth() starlark.Bool       { return len(f) > 0 }
func (f fieldList) Hash() (uint32, error)      { return 0, fmt.Errorf("unhashable: fields") }
func (f fieldList) Len() int                   { return len(f) }
func (f fieldList) Iterate() starlark.Iterator { return starlark.NewList(f).Iterate() }

func (f fieldList) Get(key starlark.Value) (starlark.Value, bool, error) {
	i, err := starlark.AsInt32(key)
	if err != nil {
		return nil, false, lang.Errorf("r.f[%s]: want a field's number", key)
	}
	if i < 0 {
		i += len(f)
	}
	if i < 0 || i >= len(f) {
		return str(""), true, nil
	}
	return f[i], true, nil
}

func stringValues(texts []string) (out []starlark.Value) {
	for _, s := range texts {
		out = append(out, str(s))
	}
	return out
}

// pattern tells whether a record is meant.
type pattern func(t *starlark.Thread, l *awkLine) (bool, error)

// awkPattern compiles a pattern of a rule.
func (c *call) awkPattern(v starlark.Value) (pattern, error) {
	switch v := v.(type) {
	case starlark.NoneType:
		return func(*starlark.Thread, *awkLine) (bool, error) { return true, nil }, nil
	case starlark.String:
		glob := string(v)
		if strings.HasPrefix(glob, "/") && strings.HasSuffix(glob, "/") && len(glob) > 1 {
			e := c.errorf("pattern %q: a string is a glob of events", glob)
			e.At = glob
			e.Hint = fmt.Sprintf("write re(%q)", glob[1:len(glob)-1])
			return nil, e
		}
		if !strings.Contains(glob, ":") {
			glob = "*:" + glob
		}
		return func(_ *starlark.Thread, l *awkLine) (bool, error) { return kernel.Glob(glob, l.key), nil }, nil
	case *lang.Regexp:
		return func(_ *starlark.Thread, l *awkLine) (bool, error) { return v.Regexp().MatchString(l.line), nil }, nil
	case starlark.Callable:
		if err := c.takes("rules", v, "r"); err != nil {
			return nil, err
		}
		return func(t *starlark.Thread, l *awkLine) (bool, error) {
			got, err := starlark.Call(t, v, starlark.Tuple{l}, nil)
			return err == nil && bool(got.Truth()), err
		}, nil
	case starlark.Tuple:
		if len(v) == 2 {
			return c.awkRange(v[0], v[1])
		}
	}
	return nil, c.errorf("rules: a pattern is %s, want None, a glob of events, re(...), a function of r or (from, to)", v.Type())
}

// awkRange is true from a record that matches one pattern to the next, or the same, that matches the other.
func (c *call) awkRange(from, to starlark.Value) (pattern, error) {
	first, err := c.awkPattern(from)
	if err != nil {
		return nil, err
	}
	last, err := c.awkPattern(to)
	if err != nil {
		return nil, err
	}
	inside := false
	return func(t *starlark.Thread, l *awkLine) (bool, error) {
		if !inside {
			ok, err := first(t, l)
			if !ok || err != nil {
				return false, err
			}
		}
		end, err := last(t, l)
		inside = !end
		return true, err
	}, nil
}

// rule is a compiled rule.
type awkRule struct {
	when   pattern
	action starlark.Callable // nil: print the line
}

// awkProgram is a run of awk.run.
type awkProgram struct {
	c     *call
	rules []awkRule
	split func(line string) []string
	nr    int
	limit int
}

// one runs the rules on a line.
func (p *awkProgram) one(l *awkLine) error {
	p.nr++
	l.nr, l.split = p.nr, p.split
	for _, r := range p.rules {
		ok, err := r.when(p.c.thread, l)
		if err != nil {
			return err
		}
		if !ok {
			continue
		}
		if r.action == nil {
			p.c.thread.Print(p.c.thread, l.line)
		} else if _, err := starlark.Call(p.c.thread, r.action, starlark.Tuple{l}, nil); err != nil {
			return err
		}
	}
	return nil
}

// full tells that the limit is reached.
func (p *awkProgram) full() bool { return p.limit > 0 && p.nr >= p.limit }

// awkRun implements awk.run.
func awkRun(c *call) (starlark.Value, error) {
	var begin, end, source, fs, limit, ns starlark.Value
	var rules starlark.Iterable
	if err := c.unpack("begin?", &begin, "rules?", &rules, "end?", &end, "source?", &source, "fs?", &fs, "limit?", &limit, "time?", &ns); err != nil {
		return nil, err
	}
	p := &awkProgram{c: c}
	most, err := c.positive("limit", limit)
	if err != nil {
		return nil, err
	}
	p.limit = int(min(most, 1<<40))
	duration, err := c.positive("time", ns)
	if err != nil {
		return nil, err
	}
	if p.split, err = c.fieldSplitter(fs); err != nil {
		return nil, err
	}
	if err := p.compile(rules); err != nil {
		return nil, err
	}
	first, err := c.maybe("begin", begin)
	if err != nil {
		return nil, err
	}
	last, err := c.maybe("end", end)
	if err != nil {
		return nil, err
	}
	if err := first(); err != nil {
		return nil, err
	}
	if err := p.read(source, duration); err != nil {
		return nil, err
	}
	return num(p.nr), last()
}

// maybe makes the call of an optional function without arguments.
func (c *call) maybe(name string, v starlark.Value) (func() error, error) {
	if v == nil || v == starlark.None {
		return func() error { return nil }, nil
	}
	fn, ok := v.(starlark.Callable)
	if !ok {
		return nil, c.errorf("%s: got %s, want a function", name, v.Type())
	}
	return func() error {
		_, err := starlark.Call(c.thread, fn, nil, nil)
		return err
	}, c.takes(name, fn)
}

func (p *awkProgram) compile(rules starlark.Iterable) error {
	if rules == nil {
		return nil
	}
	it := rules.Iterate()
	defer it.Done()
	var v starlark.Value
	for it.Next(&v) {
		t, ok := v.(starlark.Tuple)
		if !ok || len(t) != 2 {
			return p.c.errorf("rules: a rule is %s, want (pattern, action)", v.Type())
		}
		when, err := p.c.awkPattern(t[0])
		if err != nil {
			return err
		}
		r := awkRule{when: when}
		if t[1] != starlark.None {
			if r.action, ok = t[1].(starlark.Callable); !ok {
				return p.c.errorf("rules: an action is %s, want a function of r, or None to print the line", t[1].Type())
			}
			if err := p.c.takes("rules", r.action, "r"); err != nil {
				return err
			}
		}
		p.rules = append(p.rules, r)
	}
	return nil
}

// fieldSplitter is awk's FS.
func (c *call) fieldSplitter(fs starlark.Value) (func(line string) []string, error) {
	if fs == nil || fs == starlark.None {
		return strings.Fields, nil
	}
	if r, ok := fs.(*lang.Regexp); ok {
		return splitBy(r.Regexp()), nil
	}
	sep, ok := starlark.AsString(fs)
	switch {
	case !ok:
		return nil, c.errorf("fs: got %s, want a string or re(...)", fs.Type())
	case sep == " ":
		return strings.Fields, nil
	case len(sep) == 1:
		return func(line string) []string {
			if line == "" {
				return nil
			}
			return strings.Split(line, sep)
		}, nil
	}
	r, err := regexp.Compile(sep)
	if err != nil {
		return nil, &lang.Error{Msg: fmt.Sprintf("%s: fs: %v", c.name, err), At: sep}
	}
	return splitBy(r), nil
}

func splitBy(r *regexp.Regexp) func(line string) []string {
	return func(line string) []string {
		if line == "" {
			return nil
		}
		return r.Split(line, -1)
	}
}

// read gives the program the lines of its source.
func (p *awkProgram) read(source starlark.Value, duration uint64) error {
	c := p.c
	switch v := source.(type) {
	case starlark.String:
		for _, line := range textLines(string(v)) {
			if err := p.one(&awkLine{line: line}); err != nil || p.full() {
				return err
			}
		}
		return nil
	case nil, starlark.NoneType:
		return p.live(c.g, duration)
	case *starlark.Builtin:
		if v.Name() == "tracer.pipe" {
			g := c.g
			if n, ok := v.Receiver().(*namespace); ok {
				g = n.g
			}
			return p.live(g, duration)
		}
	case starlark.Iterable:
		it := v.Iterate()
		defer it.Done()
		var x starlark.Value
		for it.Next(&x) {
			l := &awkLine{}
			if rec, ok := x.(*record); ok {
				l.rec, l.line, l.key = rec, rec.String(), recordKey(rec)
			} else if s, ok := starlark.AsString(x); ok {
				l.line = s
			} else {
				return c.errorf("source: it has a %s, want records or strings", x.Type())
			}
			if err := p.one(l); err != nil || p.full() {
				return err
			}
		}
		return nil
	}
	return c.errorf("source: got %s, want text, a list of records or lines, or tracer.pipe", source.Type())
}

func textLines(text string) []string {
	if text == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(text, "\n"), "\n")
}

// recordKey is SYSTEM:EVENT of a Record.
func recordKey(r *record) string {
	var system, name string
	for _, f := range r.fields {
		switch f.name {
		case "system":
			system, _ = starlark.AsString(f.value)
		case "event":
			name, _ = starlark.AsString(f.value)
		}
	}
	return system + ":" + name
}

// pollEvery is how often a live run looks into the rings, in ns of virtual time.
const pollEvery = 100_000

// live runs the machine and takes records out of the rings as they come. Actions cannot drive the machine: it runs.
func (p *awkProgram) live(g *Guest, duration uint64) error {
	if duration == 0 && p.limit == 0 {
		return &lang.Error{Msg: p.c.name + ": the live pipe never ends", Hint: "give time = 10 * ms or limit = 100, or source = tracer.records()"}
	}
	var failed error
	take := func() bool {
		for failed == nil && !p.full() {
			recs := g.T.Pipe(-1, 1)
			if len(recs) == 0 {
				return false
			}
			failed = p.record(g, &recs[0])
		}
		return true
	}
	u := kernel.Until{}
	if duration > 0 {
		u.Time = g.M.Now() + duration
	}
	done := false
	defer g.M.Every(pollEvery, false, func(*kernel.VCPU) {
		if done = done || take(); done {
			g.M.RequestStop("")
		}
	})()
	_, err := g.run(p.c, u)
	if failed != nil {
		return failed
	}
	if err == nil && !done {
		take()
	}
	if failed != nil {
		return failed
	}
	return err
}

func (p *awkProgram) record(g *Guest, r *ftrace.Rec) error {
	rec := g.eventRecord(r, p.nr)
	return p.one(&awkLine{rec: rec, line: r.Line, key: recordKey(rec)})
}
