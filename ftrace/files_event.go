package ftrace

import (
	"fmt"
	"strings"

	"kscope/ftrace/event"
	"kscope/kernel"
)

// The files below events/, and set_event; see kernel/trace/trace_events.c.

// handleEvent is the event that a file belongs to.
func handleEvent(h *Handle) *TraceEvent {
	p := strings.Split(h.File.Path, "/")
	if p[1] == "ftrace" {
		return h.T.markEvent()
	}
	ev, ok := h.T.TraceEvent(p[1], p[2])
	if !ok {
		return nil
	}
	return ev
}

// systemOf is the system that a file belongs to, "" for events/enable.
func systemOf(h *Handle) string {
	if p := strings.Split(h.File.Path, "/"); len(p) > 2 {
		return p[1]
	}
	return ""
}

func eventEnableText(h *Handle, b []byte) ([]byte, error) {
	ev := handleEvent(h)
	if ev == nil {
		return nil, kernel.ENODEV
	}
	u := h.T.use(ev)
	b = fmt.Appendf(b, "%d", b2i(u.on && !u.asleep))
	if u.soft > 0 {
		b = append(b, '*')
	}
	return append(b, '\n'), nil
}

// parseSwitch is a write to an enable file.
func parseSwitch(p []byte) (bool, error) {
	n, err := parseUint(p, 10)
	if err == nil && n > 1 {
		err = kernel.EINVAL
	}
	return n == 1, err
}

func writeEventEnable(h *Handle, p []byte) (int, error) {
	on, err := parseSwitch(p)
	if err != nil {
		return 0, err
	}
	ev := handleEvent(h)
	if ev == nil {
		return 0, kernel.ENODEV
	}
	return len(p), h.T.EnableEvent(ev, on)
}

func eventFilterText(h *Handle, b []byte) ([]byte, error) {
	ev := handleEvent(h)
	if ev == nil {
		return nil, kernel.ENODEV
	}
	if text := h.T.use(ev).text; text != "" {
		return append(append(b, text...), '\n'), nil
	}
	return append(b, "none\n"...), nil
}

func writeEventFilter(h *Handle, p []byte) (int, error) {
	if len(p) >= 4096 {
		return 0, kernel.EINVAL
	}
	ev := handleEvent(h)
	if ev == nil {
		return 0, kernel.ENODEV
	}
	return len(p), h.T.use(ev).setFilter(h.T.stamp(h.VCPU), untilNul(p))
}

func traceEventFormat(h *Handle, b []byte) ([]byte, error) {
	ev := handleEvent(h)
	if ev == nil {
		return nil, kernel.ENODEV
	}
	return append(b, ev.File()...), nil
}

func traceEventID(h *Handle, b []byte) ([]byte, error) {
	ev := handleEvent(h)
	if ev == nil {
		return nil, kernel.ENODEV
	}
	return fmt.Appendf(b, "%d\n", ev.ID), nil
}

// inSystem lists the events of a system, of all with "".
func (t *Tracer) inSystem(system string) (out []*TraceEvent) {
	for _, ev := range t.root().catalog {
		if system == "" || ev.System == system {
			out = append(out, ev)
		}
	}
	return out
}

func systemEnableText(h *Handle, b []byte) ([]byte, error) {
	seen := [2]bool{}
	for _, ev := range h.T.inSystem(systemOf(h)) {
		seen[b2i(h.T.use(ev).on)] = true
	}
	switch {
	case seen[0] && seen[1]:
		return append(b, "X\n"...), nil
	case seen[1]:
		return append(b, "1\n"...), nil
	case seen[0]:
		return append(b, "0\n"...), nil
	}
	return append(b, "?\n"...), nil
}

func writeSystemEnable(h *Handle, p []byte) (int, error) {
	on, err := parseSwitch(p)
	if err != nil {
		return 0, err
	}
	for _, ev := range h.T.inSystem(systemOf(h)) {
		if err := h.T.EnableEvent(ev, on); err != nil {
			return 0, err
		}
	}
	return len(p), nil
}

const globalFilter = `### global filter ###
# Use this to set filters for multiple events.
# Only events with the given fields will be affected.
# If no events are modified, an error message will be displayed here
`

func systemFilterText(_ *Handle, b []byte) ([]byte, error) { return append(b, globalFilter...), nil }

// writeSystemFilter is apply_subsystem_event_filter: events that the filter does not fit show an error in its place, and each
// of them logs one. In 6.1 it never fails (process_system_preds), and the system's own file keeps its text.
func writeSystemFilter(h *Handle, p []byte) (int, error) {
	if len(p) >= 4096 {
		return 0, kernel.EINVAL
	}
	t, text := h.T, stripEnd(untilNul(p))
	bad := &event.FilterError{Msg: event.ErrSubsystem}
	for _, ev := range t.inSystem(systemOf(h)) {
		u := t.use(ev)
		if strings.TrimSpace(text) == "0" {
			u.filter, u.text = nil, ""
			continue
		}
		f, err := event.ParseFilter(ev.Format, text, t.filterEnv())
		if u.filter, u.text = f, text; err != nil {
			u.text = bad.Report(text)
			t.LogError(t.stamp(h.VCPU), "event filter parse error", bad.Msg, text, 0)
		}
	}
	return len(p), nil
}

func availableEvents(h *Handle, b []byte) ([]byte, error) {
	for _, ev := range h.T.root().catalog {
		b = append(append(b, ev.Key()...), '\n')
	}
	return b, nil
}

func setEventText(h *Handle, b []byte) ([]byte, error) {
	for _, ev := range h.T.root().catalog {
		if h.T.use(ev).on {
			b = append(append(b, ev.Key()...), '\n')
		}
	}
	return b, nil
}

// openSetEvent: O_TRUNC switches all events off.
func openSetEvent(h *Handle) error {
	if h.Writable() && h.Flags&oTrunc != 0 {
		for _, ev := range h.T.root().catalog {
			if err := h.T.EnableEvent(ev, false); err != nil {
				return err
			}
		}
	}
	return nil
}

// eventWord is the longest word that set_event takes (EVENT_BUF_SIZE).
const eventWord = 127

// writeSetEvent is ftrace_event_write: a write takes one word and says how far it came, so that one with several words is
// repeated by its writer, and a bad word does not stop those behind it.
func writeSetEvent(h *Handle, p []byte) (int, error) {
	blank := func(c byte) bool { return c == ' ' || c >= 9 && c <= 13 }
	i := 0
	for i < len(p) && blank(p[i]) {
		i++
	}
	start := i
	for i < len(p) && !blank(p[i]) && p[i] != 0 {
		i++
	}
	if i-start > eventWord {
		return 0, kernel.EINVAL
	}
	if start < i {
		if err := h.T.setEvents(string(p[start:i])); err != nil {
			return 0, err
		}
	}
	return min(i+1, len(p)), nil
}

// setEvents is ftrace_set_clr_event: [!]SYSTEM:EVENT, SYSTEM:, SYSTEM, EVENT. Where there is a colon a part may be *, or empty,
// for any; 6.1 knows no other globs here.
func (t *Tracer) setEvents(word string) error {
	word, off := strings.CutPrefix(word, "!")
	system, name, both := strings.Cut(word, ":")
	is := func(want, have string) bool { return want == "" || want == "*" || want == have }
	found := false
	for _, ev := range t.root().catalog {
		switch {
		case both && is(system, ev.System) && is(name, ev.Name):
		case !both && (system == ev.System || system == ev.Name):
		default:
			continue
		}
		found = true
		if err := t.EnableEvent(ev, !off); err != nil {
			return err
		}
	}
	if !found {
		return kernel.EINVAL
	}
	return nil
}
