package kprobe

import (
	"bytes"
	"errors"
	"fmt"

	"kscope/ftrace"
	"kscope/kernel"
)

const (
	oTrunc   = 0o1000
	writeBuf = 4096 // WRITE_BUFSIZE
)

// files are the rows of tracefs (oracle: c-kprobe, d-kprobe-errors), added to ftrace's table. The directories of events are
// ftrace's: see ftrace.TraceEvent.
var files = [...]ftrace.File{
	{Path: "dynamic_events", Mode: 0o640, Open: openDynamic, Text: dynamicText, Write: writeDynamic,
		Doc:     "as kprobe_events, with synthetic events, s:[synthetic/]NAME TYPE FIELD[; …], and probes of events, e[:[GRP/][EVENT]] SYSTEM.EVENT [ARGS] [if FILTER]",
		Partial: "no uprobes: EINVAL"},
	{Path: "kprobe_events", Mode: 0o640, Open: openEvents, Text: eventsText, Write: writeEvents,
		Doc: "probes as events: p[:[GRP/][EVENT]] SYM[+offs]|ADDR [ARGS], r[MAXACTIVE]..., -:[GRP/]EVENT"},
	{Path: "kprobe_profile", Mode: 0o440, Text: profileText, Doc: "event, hits, missed hits"},
}

// debugFiles are the rows of debugfs, in /sys/kernel/debug.
var debugFiles = [...]ftrace.File{
	{Path: "kprobes/blacklist", Mode: 0o400, Doc: "functions that take no probes", Text: debugText((*Kprobes).Blocked)},
	{Path: "kprobes/enabled", Mode: 0o600, Doc: "0 disarms every probe", Text: debugText((*Kprobes).enabledText), Write: writeEnabled},
	{Path: "kprobes/list", Mode: 0o400, Doc: "every probe: address, k or r, place, flags", Text: debugText((*Kprobes).List)},
}

func debugText(text func(k *Kprobes) string) func(h *ftrace.Handle, b []byte) ([]byte, error) {
	return func(h *ftrace.Handle, b []byte) ([]byte, error) { return append(b, text(of(h))...), nil }
}

func (k *Kprobes) enabledText() string {
	if k.off {
		return "0\n"
	}
	return "1\n"
}

// writeEnabled is write_enabled_file_bool.
func writeEnabled(h *ftrace.Handle, p []byte) (int, error) {
	on, ok := truth(string(p))
	if !ok {
		return 0, kernel.EINVAL
	}
	return len(p), of(h).SetArmed(on)
}

// of finds the kprobes of an open file's machine.
func of(h *ftrace.Handle) *Kprobes {
	k, ok := Of(h.T.Machine())
	if !ok {
		panic("BUG: kprobe: a file of kprobes on a machine without")
	}
	return k
}

func openEvents(h *ftrace.Handle) error {
	if h.Writable() && h.Flags&oTrunc != 0 {
		return of(h).DeleteAll()
	}
	return nil
}

func eventsText(h *ftrace.Handle, b []byte) ([]byte, error) {
	return append(b, of(h).EventsText()...), nil
}

// profileText is probes_profile_seq_show.
func profileText(h *ftrace.Handle, b []byte) ([]byte, error) {
	for _, e := range of(h).events {
		b = fmt.Appendf(b, "  %-44s %15d %15d\n", e.Name, e.Hits, e.Missed())
	}
	return b, nil
}

// writeEvents is trace_parse_run_command: a command a line, comments cut off. The first bad line ends it; those before stay.
func writeEvents(h *ftrace.Handle, p []byte) (int, error) {
	k, done := of(h), 0
	for done < len(p) {
		line := p[done:]
		chunk := min(len(line), writeBuf-1)
		next := bytes.IndexByte(line[:chunk], '\n')
		switch {
		case next >= 0:
			line, done = line[:next], done+next+1
		case chunk < len(line):
			k.log(4, "Line length is too long: Should be less than 4094")
			return 0, kernel.EINVAL
		default:
			done = len(p)
		}
		line, _, _ = bytes.Cut(line, []byte{0})
		line, _, _ = bytes.Cut(line, []byte{'#'})
		if _, err := k.Define(string(line)); err != nil {
			k.logError(h, err)
			var errno kernel.Errno
			if !errors.As(err, &errno) {
				panic("BUG: kprobe: an error without errno: " + err.Error())
			}
			return 0, errno
		}
	}
	return done, nil
}

func (k *Kprobes) logError(h *ftrace.Handle, err error) {
	var e *SyntaxError
	if errors.As(err, &e) && e.Msg != "" {
		loc := "trace_kprobe"
		if e.Command[0] == 'e' {
			loc = "event_probe"
		}
		if e.Also != "" {
			k.t.LogError(h.VCPU.Now(), loc, e.Also, e.Command, e.Pos)
		}
		k.t.LogError(h.VCPU.Now(), loc, e.Msg, e.Command, e.Pos)
	}
}
