package kprobe

import (
	"cmp"
	"errors"
	"slices"
	"strings"

	"kscope/ftrace"
	"kscope/kernel"
)

// The file dynamic_events: all kinds of dynamic events, in the order of their making; see kernel/trace/trace_dynevent.c.

// openDynamic is dyn_event_open: O_TRUNC takes all away, unless one is in use.
func openDynamic(h *ftrace.Handle) error {
	if !h.Writable() || h.Flags&oTrunc == 0 {
		return nil
	}
	k := of(h)
	for _, e := range k.events {
		if e.On() {
			return kernel.EBUSY
		}
	}
	for _, e := range k.eprobes {
		if e.event.Used() {
			return kernel.EBUSY
		}
	}
	for _, e := range slices.Clone(k.eprobes) {
		if err := k.deleteEprobe(e); err != nil {
			return err
		}
	}
	if err := k.t.DeleteSynths(); err != nil {
		return err
	}
	return k.DeleteAll()
}

func dynamicText(h *ftrace.Handle, b []byte) ([]byte, error) {
	k := of(h)
	lines := k.t.SynthLines()
	for _, e := range k.events {
		lines = append(lines, ftrace.DynamicLine{Seq: e.seq, Text: e.Text()})
	}
	for _, e := range k.eprobes {
		lines = append(lines, ftrace.DynamicLine{Seq: e.seq, Text: e.text()})
	}
	slices.SortStableFunc(lines, func(x, y ftrace.DynamicLine) int { return cmp.Compare(x.Seq, y.Seq) })
	for _, l := range lines {
		b = append(append(b, l.Text...), '\n')
	}
	return b, nil
}

// writeDynamic is create_dyn_event, a command a line.
func writeDynamic(h *ftrace.Handle, p []byte) (int, error) {
	k := of(h)
	return ftrace.RunCommands(p, func(line string) error {
		err := k.dynamicCommand(h.VCPU, line)
		if err == nil {
			return nil
		}
		k.logError(h, err)
		var errno kernel.Errno
		if !errors.As(err, &errno) {
			panic("BUG: kprobe: an error without errno: " + err.Error())
		}
		return errno
	})
}

func (k *Kprobes) dynamicCommand(c *kernel.VCPU, line string) error {
	line = strings.TrimLeft(line, " \t\n\v\f\r")
	switch {
	case line == "":
		return nil
	case line[0] == '-' || line[0] == '!':
		return k.undefine(fields(line), true)
	}
	if ok, err := k.t.SynthDynamic(c, line); ok {
		return err
	}
	if line[0] == 'e' {
		return k.defineEprobe(line)
	}
	_, err := k.Define(line)
	return err
}

// undefine is dyn_event_release: "-:[GROUP/][EVENT] [PLACE [ARGS]]", or with ! and anything before the colon. GROUP/ alone is all of a
// group. all: of all kinds of dynamic events, not of kprobes alone.
func (k *Kprobes) undefine(words []string, all bool) error {
	src := source{words}
	head, name, ok := strings.Cut(words[0], ":")
	group, event, slashed := strings.Cut(name, "/")
	if !slashed {
		group, event = "", name
	}
	if !ok || head[0] == '-' && head != "-" || !slashed && event == "" {
		return src.silent(kernel.EINVAL)
	}
	wanted := func(system, name string) bool { return (event == "" || name == event) && (!slashed || system == group) }
	type one struct {
		seq    uint64
		remove func() error
	}
	var list []one
	for _, e := range k.events {
		if wanted(e.Group, e.Name) && e.matches(words[1:]) {
			list = append(list, one{e.seq, func() error { return k.Delete(e) }})
		}
	}
	if all {
		for _, e := range k.eprobes {
			if wanted(e.event.System, e.event.Name) && e.matches(words[1:]) {
				list = append(list, one{e.seq, func() error { return k.deleteEprobe(e) }})
			}
		}
		for _, s := range k.t.SynthLines() {
			if s.Name == event && wanted("synthetic", s.Name) {
				list = append(list, one{s.Seq, func() error { return k.t.DeleteSynth(s.Name) }})
			}
		}
	}
	if len(list) == 0 {
		return src.silent(kernel.ENOENT)
	}
	slices.SortFunc(list, func(x, y one) int { return cmp.Compare(x.seq, y.seq) })
	for _, x := range list {
		if err := x.remove(); err != nil {
			return err
		}
	}
	k.t.ClearStale()
	return nil
}
