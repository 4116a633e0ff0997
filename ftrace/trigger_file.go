package ftrace

import (
	"fmt"
	"strings"

	"kscope/ftrace/event"
	"kscope/kernel"
)

// The files events/SYSTEM/EVENT/trigger and hist.

// triggerText lists the triggers, or what there could be.
func triggerText(h *Handle, b []byte) ([]byte, error) {
	ev := handleEvent(h)
	if ev == nil {
		return nil, kernel.ENODEV
	}
	n := len(b)
	for _, x := range h.T.use(ev).triggers() {
		if x.probe == nil {
			b = x.line(b)
		}
	}
	if len(b) > n {
		return b, nil
	}
	b = append(b, "# Available triggers:\n#"...)
	for i := range triggerKinds {
		b = append(append(b, ' '), triggerKinds[i].name...)
	}
	return append(b, '\n'), nil
}

// line appends a trigger's line: the print functions of struct event_trigger_ops.
func (x *trigger) line(b []byte) []byte {
	if x.hist != nil {
		return x.histSpec(b)
	}
	b = append(b, x.kind.name...)
	if x.target != nil {
		b = append(append(b, ':'), x.target.ev.Key()...)
	}
	if x.count == -1 {
		b = append(b, ":unlimited"...)
	} else {
		b = fmt.Appendf(b, ":count=%d", x.count)
	}
	if x.text != "" {
		b = append(append(b, " if "...), x.text...)
	}
	return append(b, '\n')
}

// openTrigger: O_TRUNC takes the histograms away, and what switches them, but nothing else: only they have unreg_all.
func openTrigger(h *Handle) error {
	ev := handleEvent(h)
	if ev == nil {
		return kernel.ENODEV
	}
	if !h.Writable() || h.Flags&oTrunc == 0 {
		return nil
	}
	u := h.T.use(ev)
	refs := u.varsReferenced()
	for _, x := range u.triggers() {
		if x.kind.family == familyHistSwitch || x.hist != nil && !refs {
			if err := u.dropTrigger(x); err != nil {
				return err
			}
		}
	}
	return nil
}

func writeTrigger(h *Handle, p []byte) (int, error) {
	switch {
	case len(p) == 0:
		return 0, nil
	case len(p) >= 4096:
		return 0, kernel.EINVAL
	}
	ev := handleEvent(h)
	if ev == nil {
		return 0, kernel.ENODEV
	}
	text, _, _ := strings.Cut(string(p), "\x00")
	return len(p), h.T.use(ev).command(h.VCPU, trimBlanks(text))
}

// blanks are what isspace() takes.
const blanks = " \t\n\v\f\r"

func trimBlanks(s string) string { return strings.Trim(s, blanks) }

// command is trigger_process_regex: a command, what separates it, and its parameters.
func (u *eventUse) command(c *kernel.VCPU, text string) error {
	name, param := text, ""
	if i := strings.IndexAny(text, ": \t"); i >= 0 {
		name, param = text[:i], strings.TrimLeft(text[i+1:], blanks)
	}
	name, remove := strings.CutPrefix(name, "!")
	for i := range triggerKinds {
		switch k := &triggerKinds[i]; {
		case k.name != name:
		case k.family == familyHist:
			return u.histCommand(c, param, remove)
		default:
			return u.plainCommand(k, param, remove)
		}
	}
	return kernel.EINVAL
}

// plainCommand is event_trigger_parse and event_enable_trigger_parse.
func (u *eventUse) plainCommand(k *triggerKind, param string, remove bool) error {
	x := &trigger{kind: k, use: u, count: -1}
	filter, number, counted := param, "", false
	if k.target {
		spec, rest := cutBlank(param)
		filter = rest
		part := strings.SplitN(spec, ":", 4)
		if len(part) < 2 {
			return kernel.EINVAL
		}
		ev, ok := u.t.TraceEvent(part[0], part[1])
		if !ok {
			return kernel.EINVAL
		}
		x.target = u.t.use(ev)
		if counted = len(part) > 2; counted {
			number = part[2]
		}
	} else if param != "" && param[0] >= '0' && param[0] <= '9' {
		spec, rest := cutBlank(param)
		filter, counted = rest, true
		number, _, _ = strings.Cut(spec, ":")
	}
	same := u.sameTrigger(x)
	if remove {
		if same != nil {
			return u.dropTrigger(same)
		}
		return nil
	}
	if counted {
		n, err := kstrtoul(number, 0)
		if err != nil {
			return err
		}
		x.count = int64(n)
	}
	if filter != "" {
		if err := x.setFilter(filter); err != nil {
			return err
		}
	}
	if k.family == familySnapshot {
		if err := u.t.snapshotRings(); err != nil {
			return kernel.ENOENT
		}
	}
	if same != nil {
		return kernel.EEXIST
	}
	if x.target != nil {
		if err := x.target.enable(true, true); err != nil {
			return err
		}
	}
	return u.addTrigger(x, false)
}

// sameTrigger finds the trigger that x may not stand beside: one of its family, with its target.
func (u *eventUse) sameTrigger(x *trigger) *trigger {
	for _, y := range u.triggers() {
		if y.kind.family == x.kind.family && y.target == x.target {
			return y
		}
	}
	return nil
}

// setFilter is set_trigger_filter: "if", and a filter on the event whose trigger it is. Its errors are not logged.
func (x *trigger) setFilter(text string) error {
	i := strings.IndexAny(text, " \t")
	if i < 0 || text[:i] != "if" {
		return kernel.EINVAL
	}
	x.text = text[i+1:]
	f, err := event.ParseFilter(x.use.ev.Format, x.text, x.use.t.filterEnv())
	if err != nil {
		return kernel.Errno(err.Errno)
	}
	x.filter = f
	return nil
}

// cutBlank cuts s at its first blank.
func cutBlank(s string) (word, rest string) {
	if i := strings.IndexAny(s, " \t"); i >= 0 {
		return s[:i], strings.TrimLeft(s[i+1:], blanks)
	}
	return s, ""
}
