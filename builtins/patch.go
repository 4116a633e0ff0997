package builtins

import (
	"fmt"
	"strings"

	"go.starlark.net/starlark"

	"kscope/kernel"
)

// kernelPatches implements kernel.patches.
func kernelPatches(c *call) (starlark.Value, error) {
	if err := c.unpack(); err != nil {
		return nil, err
	}
	return list(c.g.M.Text().Patches(), c.g.patchRecord), nil
}

// patchRecord is one batch of text changes: what was changed, and each moment at which bytes were written.
func (g *Guest) patchRecord(p *kernel.Patch) starlark.Value {
	return &record{typ: "Patch", text: g.patchText(p), fields: []field{
		{"pokes", list(p.Pokes, g.pokeRecord)}, {"skipped", list(p.Skipped, g.pokeRecord)},
		{"steps", list(p.Steps, g.stepRecord)}, {"done", starlark.Bool(p.Done)},
	}}
}

func (g *Guest) pokeRecord(p kernel.Poke) starlark.Value {
	return &record{typ: "Poke", text: fmt.Sprintf("<poke %s: %x -> %x by %s>", g.M.Symbols().Format(p.Addr), p.Old, p.New, p.By),
		fields: []field{
			{"addr", unum(p.Addr)}, {"where", str(g.M.Symbols().Format(p.Addr))},
			{"old", starlark.Bytes(p.Old)}, {"new", starlark.Bytes(p.New)}, {"by", str(p.By)},
		}}
}

func (g *Guest) stepRecord(s kernel.PatchStep) starlark.Value {
	ack := func(a kernel.Ack) starlark.Value {
		return &record{typ: "Ack", text: ackText(a), fields: []field{{"cpu", num(a.CPU)}, {"time", unum(a.Time)}, {"addr", unum(a.Addr)}}}
	}
	write := func(w kernel.PatchWrite) starlark.Value {
		return &record{typ: "Write", fields: []field{{"addr", unum(w.Addr)}, {"old", starlark.Bytes(w.Old)}, {"new", starlark.Bytes(w.New)}}}
	}
	stale := func(w kernel.StaleWindow) starlark.Value {
		return &record{typ: "Stale", fields: []field{{"cpu", num(w.CPU)}, {"addr", unum(w.Addr)}, {"start", unum(w.Start)}, {"end", unum(w.End)}}}
	}
	return &record{typ: "Step", text: stepText(s), fields: []field{
		{"kind", str(s.Kind)}, {"time", unum(s.Time)}, {"cpu", num(s.CPU)},
		{"pid", num(s.Task.Pid)}, {"comm", str(s.Task.Comm)},
		{"writes", list(s.Writes, write)}, {"acks", list(s.Acks, ack)}, {"hits", list(s.Hits, ack)}, {"stale", list(s.Stale, stale)},
	}}
}

func ackText(a kernel.Ack) string { return fmt.Sprintf("cpu%d at %s", a.CPU, seconds(a.Time)) }

// patchText tells the story of one batch.
func (g *Guest) patchText(p *kernel.Patch) string {
	var b strings.Builder
	fmt.Fprintf(&b, "patch of %s\n", plural(len(p.Pokes), "site"))
	for i, poke := range p.Pokes {
		if i == 4 && len(p.Pokes) > 5 {
			fmt.Fprintf(&b, "  and %d more\n", len(p.Pokes)-i)
			break
		}
		fmt.Fprintf(&b, "  %016x %s: % x -> % x by %s\n", poke.Addr, g.M.Symbols().Format(poke.Addr), poke.Old, poke.New, poke.By)
	}
	for _, s := range p.Steps {
		fmt.Fprintf(&b, "  %s\n", stepText(s))
	}
	return strings.TrimRight(b.String(), "\n")
}

func stepText(s kernel.PatchStep) string {
	who := "the host"
	if s.CPU >= 0 {
		who = fmt.Sprintf("cpu%d %s-%d", s.CPU, s.Task.Comm, s.Task.Pid)
	}
	text := fmt.Sprintf("%-7s at %s by %s: %s", s.Kind, seconds(s.Time), who, plural(len(s.Writes), "write"))
	for _, part := range []struct {
		what string
		acks []kernel.Ack
	}{{"synced", s.Acks}, {"int3 hit", s.Hits}} {
		for i, a := range part.acks {
			sep := ", "
			if i == 0 {
				sep = "; " + part.what + ": "
			}
			text += sep + ackText(a)
		}
	}
	for _, w := range s.Stale {
		text += fmt.Sprintf("; cpu%d held %#x", w.CPU, w.Addr)
	}
	return text
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
