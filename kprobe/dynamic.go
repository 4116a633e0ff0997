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
		return k.removeDynamic("-" + line[1:])
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

// removeDynamic is dyn_event_release for all kinds: -:[GROUP/]EVENT.
func (k *Kprobes) removeDynamic(line string) error {
	words := fields(line)
	err := k.remove(words)
	name, ok := strings.CutPrefix(words[0], "-:")
	group, event, slashed := strings.Cut(name, "/")
	if !slashed {
		group, event = "synthetic", name
	}
	gone := func() bool {
		var errno kernel.Errno
		return errors.As(err, &errno) && errno == kernel.ENOENT
	}
	if gone() {
		err = k.removeEprobe(words)
	}
	if ok && group == "synthetic" && gone() {
		err = k.t.DeleteSynth(event)
	}
	return err
}
