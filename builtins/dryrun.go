package builtins

import (
	"fmt"
	"sort"
	"strconv"
	"strings"

	"kscope/kprobe"
	"kscope/lang"
)

// A dry run ends where the machine would first run for the script: then it lists what is armed, by the specs of on(), the
// guest's own probes and tracefs, and ends with status 0. What arms a probe does run, in the guest's kthread.

// dry ends a dry run; nil without one.
func (c *call) dry() error {
	e := c.g.env
	if !e.cfg.DryRun {
		return nil
	}
	if !e.listed {
		e.listed = true
		fmt.Fprint(e.host.Stdout(), c.g.armed())
	}
	return lang.Done()
}

// armed lists what would call handlers or record events, one a line.
func (g *Guest) armed() string {
	var b strings.Builder
	for _, h := range g.env.live() {
		if !h.armed {
			continue
		}
		if h.sites == nil {
			fmt.Fprintf(&b, "%s\n", h.spec)
		}
		kind, _, _ := strings.Cut(h.spec, ":")
		for _, s := range h.sites {
			fmt.Fprintf(&b, "%s:%s\n", kind, s)
		}
	}
	if t := g.T.Current(); t != "nop" {
		fmt.Fprintf(&b, "tracer:%s\n", t)
		for _, name := range nonEmptyLines(g.text("set_ftrace_filter")) {
			if !strings.HasPrefix(name, "#") {
				fmt.Fprintf(&b, "tracer:%s:%s\n", t, name)
			}
		}
	}
	for _, name := range nonEmptyLines(g.text("set_event")) {
		fmt.Fprintf(&b, "event:%s\n", name)
	}
	for _, ev := range g.T.TraceEvents() {
		for _, t := range nonEmptyLines(g.text("events/" + ev.System + "/" + ev.Name + "/trigger")) {
			if !strings.HasPrefix(t, "#") {
				fmt.Fprintf(&b, "trigger:%s:%s %s\n", ev.System, ev.Name, t)
			}
		}
	}
	if k, ok := kprobe.Of(g.M); ok {
		for _, e := range k.Events() {
			fmt.Fprintf(&b, "kprobe_event:%s\n", e.Text())
		}
		var lines []string
		for _, line := range nonEmptyLines(k.List()) {
			addr, rest, _ := strings.Cut(line, " ")
			if n, err := strconv.ParseUint(addr, 16, 64); err == nil && g.spots[spotKey{n, false}] == nil && g.spots[spotKey{n, true}] == nil {
				lines = append(lines, "kprobes/list:"+strings.Join(strings.Fields(rest), " ")+"\n")
			}
		}
		sort.Strings(lines) // by name: the list's own order hangs on addresses
		b.WriteString(strings.Join(lines, ""))
	}
	return b.String()
}
