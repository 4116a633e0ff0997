package ftrace

import (
	"fmt"
	"slices"
	"strings"

	"kscope/kernel"
)

// Function commands are what set_ftrace_filter takes as function:command:count: register_ftrace_function_probe in
// kernel/trace/ftrace.c, with the commands of kernel/trace/trace_functions.c. Each kind (traceon and traceon with a count
// are two) has one op; its functions may have counts that go down.

// commandKind is a row of the commands: Linux's struct ftrace_probe_ops.
type commandKind struct {
	name    string
	counted bool  // it is the form with a count
	fixed   int64 // not 0: the count is always this, whatever is written
	shows   bool  // its functions show their counts
	act     func(t *Tracer, c *kernel.VCPU, count *int64)
	event   bool // it is about an event, which its functions have: eventSwitch
	enable  bool
}

// eventSwitch is what a function of enable_event or disable_event does: event_enable_probe and event_enable_count_probe.
type eventSwitch struct {
	ev    *TraceEvent
	count int64 // -1: unlimited
}

func (s *eventSwitch) act(t *Tracer, enable bool) {
	if u := t.use(s.ev); u.asleep == enable && s.count != 0 {
		if s.count > 0 {
			s.count--
		}
		u.asleep = !enable
	}
}

// spend is update_count: one less of a count that is not used up; nil counts nothing.
func spend(count *int64) bool {
	if count == nil {
		return true
	}
	if *count <= 0 {
		return false
	}
	*count--
	return true
}

// turn is ftrace_traceon and ftrace_traceoff: a change that changes nothing costs no count.
func turn(on bool) func(t *Tracer, c *kernel.VCPU, count *int64) {
	return func(t *Tracer, c *kernel.VCPU, count *int64) {
		if t.on != on && spend(count) {
			t.switchOn(c, on)
		}
	}
}

func stackCommand(t *Tracer, c *kernel.VCPU, count *int64) {
	if !t.on {
		return
	}
	if count != nil {
		if *count == 0 {
			return
		}
		*count--
	}
	t.traceStack(c, 1)
}

func dumpCommand(cpuOnly bool) func(t *Tracer, c *kernel.VCPU, count *int64) {
	return func(t *Tracer, c *kernel.VCPU, count *int64) {
		if spend(count) {
			cpu := -1
			if cpuOnly {
				cpu = c.ID
			}
			t.dump(c, cpu)
		}
	}
}

func snapshotCommand(t *Tracer, c *kernel.VCPU, count *int64) {
	if count == nil || *count > 0 {
		if count != nil {
			*count--
		}
		t.takeSnapshot(c)
	}
}

// commandKinds are the commands.
var commandKinds = [...]commandKind{
	{name: "traceon", act: turn(true)},
	{name: "traceon", counted: true, shows: true, act: turn(true)},
	{name: "traceoff", act: turn(false)},
	{name: "traceoff", counted: true, shows: true, act: turn(false)},
	{name: "stacktrace", act: stackCommand},
	{name: "stacktrace", counted: true, shows: true, act: stackCommand},
	{name: "snapshot", act: snapshotCommand},
	{name: "snapshot", counted: true, shows: true, act: snapshotCommand},
	{name: "enable_event", event: true, enable: true},
	{name: "enable_event", counted: true, event: true, enable: true},
	{name: "disable_event", event: true},
	{name: "disable_event", counted: true, event: true},
	{name: "dump", counted: true, fixed: 1, shows: true, act: dumpCommand(false)},
	{name: "cpudump", counted: true, fixed: 1, act: dumpCommand(true)}, // 6.1 gives it no counter: cpudump_probe_ops
}

// funcProbe is a command kind in use: Linux's struct ftrace_func_probe.
type funcProbe struct {
	kind   *commandKind
	ops    *Ops
	counts map[uint64]*int64       // by site; nil values in kinds that do not show counts
	events map[uint64]*eventSwitch // by site, in kinds of events
}

func (t *Tracer) newFuncProbe(k *commandKind) *funcProbe {
	gate := "function_trace_probe_call"
	if _, ok := t.m.Symbols().Lookup(gate); !ok {
		gate = "function_trace_call"
	}
	p := &funcProbe{kind: k, ops: &Ops{Name: k.name, Gate: gate, Filter: NewHash()}, counts: map[uint64]*int64{}, events: map[uint64]*eventSwitch{}}
	p.bind(t)
	return p
}

func (p *funcProbe) bind(t *Tracer) {
	p.ops.Call = func(c *kernel.VCPU, ip, _, _ uint64) {
		if s := p.events[ip]; s != nil {
			s.act(t, p.kind.enable)
		} else if p.kind.act != nil {
			p.kind.act(t, c, p.counts[ip])
		}
	}
}

func (p *funcProbe) fork(t *Tracer) *funcProbe {
	n := &funcProbe{kind: p.kind, ops: t.sites.ForkOf(p.ops), counts: make(map[uint64]*int64, len(p.counts))}
	for ip, c := range p.counts {
		if c != nil {
			x := *c
			n.counts[ip] = &x
		} else {
			n.counts[ip] = nil
		}
	}
	n.events = make(map[uint64]*eventSwitch, len(p.events))
	for ip, s := range p.events {
		n.events[ip] = &eventSwitch{t.ForkEvent(s.ev), s.count}
	}
	n.bind(t)
	return n
}

// command does what a word with a ':' in set_ftrace_filter or set_ftrace_notrace says; see ftrace_process_regex.
func (t *Tracer) command(s *filterState, word string, enable bool) error {
	fn, rest, _ := strings.Cut(word, ":")
	name, param, hasParam := strings.Cut(rest, ":")
	if name == "mod" {
		return t.modCommand(s, fn, param, hasParam)
	}
	for i := range commandKinds {
		k := &commandKinds[i]
		if k.name == name && k.event {
			return t.eventCommand(name, fn, param, enable)
		}
		if k.name != name || k.counted != (hasParam || k.fixed != 0) {
			continue
		}
		if !enable {
			return kernel.EINVAL // only set_ftrace_filter takes commands
		}
		if pattern, not := strings.CutPrefix(fn, "!"); not {
			return t.removeCommand(k, pattern)
		}
		return t.addCommand(k, fn, param)
	}
	return kernel.EINVAL
}

func (t *Tracer) addCommand(k *commandKind, fn, param string) error {
	count := int64(-1)
	if number, _, _ := strings.Cut(param, ":"); k.fixed != 0 {
		count = k.fixed
	} else if k.counted && number != "" {
		n, err := kstrtoul(number, 0)
		if err != nil {
			return err
		}
		count = int64(n)
	}
	if k.name == "snapshot" {
		if err := t.allocSnapshot(); err != nil {
			return err
		}
	}
	var p *funcProbe
	for _, q := range t.probes {
		if q.kind == k {
			p = q
		}
	}
	return t.addFunctions(k, p, fn, func(p *funcProbe, ip uint64) error {
		p.counts[ip] = nil
		if k.shows {
			n := count
			p.counts[ip] = &n
		}
		return nil
	})
}

// eventCommand is event_enable_func: SYSTEM:EVENT and a count behind the command's name.
func (t *Tracer) eventCommand(name, fn, param string, enable bool) error {
	part := strings.Split(param, ":")
	if !enable || len(part) < 2 {
		return kernel.EINVAL
	}
	ev, ok := t.TraceEvent(part[0], part[1])
	if !ok {
		return kernel.EINVAL
	}
	var k *commandKind
	for i := range commandKinds {
		if commandKinds[i].name == name && commandKinds[i].counted == (len(part) > 2) {
			k = &commandKinds[i]
		}
	}
	if pattern, not := strings.CutPrefix(fn, "!"); not {
		return t.removeCommand(k, pattern)
	}
	count := int64(-1)
	if k.counted {
		n, err := kstrtoul(part[2], 0)
		if err != nil {
			return err
		}
		count = int64(n)
	}
	var p *funcProbe
	for _, q := range t.probes {
		if q.kind == k {
			p = q
		}
	}
	return t.addFunctions(k, p, fn, func(p *funcProbe, ip uint64) error {
		p.events[ip] = &eventSwitch{ev, count}
		return t.use(ev).enable(true, true)
	})
}

// addFunctions adds the functions that fn matches to a command, p when it is in use already; put gives each new one its data.
func (t *Tracer) addFunctions(k *commandKind, p *funcProbe, fn string, put func(p *funcProbe, ip uint64) error) error {
	h := NewHash()
	if fn == "" || !t.sites.enter(h, fn) {
		return kernel.EINVAL
	}
	if p != nil && h.within(p.ops.Filter) {
		return kernel.EINVAL // all have it already
	}
	if p == nil {
		p = t.newFuncProbe(k)
		t.probes = append([]*funcProbe{p}, t.probes...)
	}
	for ip := range h.ips {
		if p.ops.Filter.Has(ip) {
			continue // it keeps its count
		}
		p.ops.Filter.Add(ip)
		if err := put(p, ip); err != nil {
			return err
		}
	}
	if !p.ops.Registered() {
		return t.sites.Register(p.ops)
	}
	return t.sites.Update(k.name)
}

// removeCommand is unregister_ftrace_function_probe_func.
func (t *Tracer) removeCommand(k *commandKind, fn string) error {
	at := slices.IndexFunc(t.probes, func(p *funcProbe) bool { return p.kind == k })
	if at < 0 {
		return kernel.ENODEV
	}
	p, pat, n := t.probes[at], parsePattern(fn), 0
	for i := range t.sites.recs {
		r := &t.sites.recs[i]
		if p.ops.Filter.Has(r.IP) && (fn == "" || fn == "*" || pat.match(r.Name)) {
			p.ops.Filter.Remove(r.IP)
			delete(p.counts, r.IP)
			if s := p.events[r.IP]; s != nil {
				delete(p.events, r.IP)
				if err := t.use(s.ev).enable(false, true); err != nil {
					return err
				}
			}
			n++
		}
	}
	switch {
	case n == 0:
		return kernel.EINVAL
	case p.ops.Filter.Len() > 0:
		return t.sites.Update(k.name)
	}
	t.probes = slices.Delete(t.probes, at, at+1)
	return t.sites.Unregister(p.ops)
}

// commandsText lists the commands, the kind that was used first at the end.
func (t *Tracer) commandsText(b []byte) []byte {
	for _, p := range t.probes {
		for i := range t.sites.recs {
			r := &t.sites.recs[i]
			if !p.ops.Filter.Has(r.IP) {
				continue
			}
			b = append(append(append(append(b, r.Name...), ':'), p.kind.name...), ':')
			if s := p.events[r.IP]; s != nil {
				b = append(append(b, s.ev.Key()...), ':')
				if s.count < 0 {
					b = append(b, "unlimited\n"...)
				} else {
					b = fmt.Appendf(b, "count=%d\n", s.count)
				}
			} else if n := p.counts[r.IP]; n != nil {
				b = fmt.Appendf(b, "count=%d\n", *n)
			} else {
				b = append(b, "unlimited\n"...)
			}
		}
	}
	return b
}

// pendingMod is a function:mod:module that matched nothing when it was written: ftrace_mod_load.
type pendingMod struct{ fn, module string }

// modCommand is ftrace_mod_callback: the functions of a module; !module means of all others, and one without a name any module. What
// matches nothing is kept, and listed, for when such a module is loaded (cache_mod). named: there was a ':' behind "mod".
func (t *Tracer) modCommand(s *filterState, fn, module string, named bool) error {
	if t.sites.enterMod(s.hash, fn, module, named) {
		return nil
	}
	if fn, not := strings.CutPrefix(fn, "!"); not {
		n := len(s.mods)
		s.mods = slices.DeleteFunc(slices.Clone(s.mods), func(m pendingMod) bool { return m.module == module && (fn == "*" || fn == m.fn) })
		if len(s.mods) == n {
			return kernel.EINVAL
		}
		return nil
	}
	if t.sites.hasModule(module) {
		return kernel.EINVAL // it has come already, without such a function
	}
	s.mods = slices.Insert(s.mods, 0, pendingMod{fn, module}) // the newest is listed first
	return nil
}

// hasModule says whether a module of that name has call sites.
func (s *Sites) hasModule(name string) bool {
	return name != "" && slices.ContainsFunc(s.recs, func(r Record) bool { return r.Module == name })
}

// enterMod is match_records with a module; not named: of any text.
func (s *Sites) enterMod(h *Hash, fn, module string, named bool) bool {
	p, mod, found := parsePattern(fn), parsePattern(module), false
	if !named || p.kind == matchIndex {
		return s.enter(h, fn)
	}
	if p.text == "" {
		p.kind = matchEnd // nothing is every function
	}
	for i := range s.recs {
		r := &s.recs[i]
		if mod.text == "" {
			if (r.Module != "") == mod.not {
				continue
			}
		} else if (r.Module != "" && mod.match(r.Module)) == mod.not {
			continue
		}
		if !p.match(r.Name) {
			continue
		}
		found = true
		if p.not {
			h.Remove(r.IP)
		} else {
			h.Add(r.IP)
		}
	}
	return found
}
