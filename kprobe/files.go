package kprobe

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"kscope/ftrace"
	"kscope/kernel"
)

const (
	oTrunc   = 0o1000
	writeBuf = 4096 // WRITE_BUFSIZE
)

// files are the rows of tracefs (oracle: c-kprobe, d-kprobe-errors), added to ftrace's table.
var files = [...]ftrace.File{
	{Path: "dynamic_events", Mode: 0o640, Open: openEvents, Text: eventsText, Write: writeEvents,
		Doc: "as kprobe_events", Partial: "no uprobes, eprobes and synthetic events: EINVAL"},
	{Path: "kprobe_events", Mode: 0o640, Open: openEvents, Text: eventsText, Write: writeEvents,
		Doc:     "probes as events: p[:[GRP/][EVENT]] SYM[+offs]|ADDR [ARGS], r[MAXACTIVE]..., -:[GRP/]EVENT",
		Partial: "events have no filter, trigger and hist files"},
	{Path: "kprobe_profile", Mode: 0o440, Text: profileText, Doc: "event, hits, missed hits"},
}

// groupFiles are in the directory of a group of events, eventFiles in that of an event.
var groupFiles = [...]ftrace.File{
	{Path: "enable", Mode: 0o640, Text: groupEnabled, Write: writeGroup, Doc: "all events of the group: 0, 1 or X"},
}

var eventFiles = [...]ftrace.File{
	{Path: "enable", Mode: 0o640, Text: enabledText, Write: writeEnabled, Doc: "whether the event is recorded: 0 or 1"},
	{Path: "format", Mode: 0o440, Text: formatText, Doc: "fields of a record of this event"},
	{Path: "id", Mode: 0o440, Text: idText, Doc: "number of this event in records"},
}

// of finds the kprobes of an open file's machine.
func of(h *ftrace.Handle) *Kprobes {
	k, ok := Of(h.T.Machine())
	if !ok {
		panic("BUG: kprobe: a file of kprobes on a machine without")
	}
	return k
}

// addFiles makes the directory of a new event.
func (k *Kprobes) addFiles(system, name string) {
	add := func(rows []ftrace.File, dir string) {
		for i := range rows {
			f := rows[i]
			f.Path = dir + "/" + f.Path
			k.t.FS().AddFile(&f)
		}
	}
	if _, err := k.t.FS().List("events/" + system); err != nil {
		add(groupFiles[:], "events/"+system)
	}
	add(eventFiles[:], "events/"+system+"/"+name)
}

// removeFiles removes it again, and the group's with its last event.
func (k *Kprobes) removeFiles(system, name string) {
	dir := "events/" + system
	for _, g := range k.groups {
		if g.format.System == system {
			dir += "/" + name
			break
		}
	}
	if err := k.t.FS().Remove(dir); err != nil {
		panic("BUG: kprobe: " + dir + " has no directory")
	}
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
			k.warn("Line length is too long: Should be less than 4094")
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
		k.t.LogError(h.VCPU.Now(), "trace_kprobe", e.Msg, e.Command, e.Pos)
	}
}

// groupOf finds the event that a file belongs to by its path: events/SYSTEM/NAME/FILE.
func groupOf(h *ftrace.Handle) (*group, error) {
	part := strings.Split(h.File.Path, "/")
	if g := of(h).findGroup(part[1], part[2]); g != nil {
		return g, nil
	}
	return nil, kernel.ENODEV // the event is gone, the file still open
}

func enabledText(h *ftrace.Handle, b []byte) ([]byte, error) {
	g, err := groupOf(h)
	if err != nil {
		return nil, err
	}
	return append(b, "01"[b2i(g.on)], '\n'), nil
}

func writeEnabled(h *ftrace.Handle, p []byte) (int, error) {
	on, err := parseBool(p)
	if err != nil {
		return 0, err
	}
	g, err := groupOf(h)
	if err != nil {
		return 0, err
	}
	return len(p), of(h).SetOn(g.list[0], on)
}

// parseBool wants 0 or 1 (event_enable_write).
func parseBool(p []byte) (bool, error) {
	n, ok := parseUnsigned(strings.TrimSuffix(string(p), "\n"), 10)
	if !ok || n > 1 {
		return false, kernel.EINVAL
	}
	return n == 1, nil
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

func formatText(h *ftrace.Handle, b []byte) ([]byte, error) {
	g, err := groupOf(h)
	if err != nil {
		return nil, err
	}
	return append(b, g.format.File()...), nil
}

func idText(h *ftrace.Handle, b []byte) ([]byte, error) {
	g, err := groupOf(h)
	if err != nil {
		return nil, err
	}
	return fmt.Appendf(b, "%d\n", g.format.ID), nil
}

// system gives the groups of events of one system.
func system(h *ftrace.Handle) (out []*group) {
	name := strings.Split(h.File.Path, "/")[1]
	for _, g := range of(h).groups {
		if g.format.System == name {
			out = append(out, g)
		}
	}
	return out
}

func groupEnabled(h *ftrace.Handle, b []byte) ([]byte, error) {
	on, off := false, false
	for _, g := range system(h) {
		on, off = on || g.on, off || !g.on
	}
	switch {
	case on && off:
		return append(b, "X\n"...), nil
	case on:
		return append(b, "1\n"...), nil
	}
	return append(b, "0\n"...), nil
}

func writeGroup(h *ftrace.Handle, p []byte) (int, error) {
	on, err := parseBool(p)
	if err != nil {
		return 0, err
	}
	for _, g := range system(h) {
		if err := of(h).SetOn(g.list[0], on); err != nil {
			return 0, err
		}
	}
	return len(p), nil
}
