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
	text := c.g.M.Text()
	nr := text.PatchesDropped()
	return list(text.Patches(), func(p *kernel.Patch) starlark.Value {
		nr++
		return c.g.patchRecord(p, nr-1)
	}), nil
}

// patchRecord is one batch of text changes: what was changed, and each moment at which bytes were written.
func (g *Guest) patchRecord(p *kernel.Patch, nr uint64) starlark.Value {
	return &record{typ: "Patch", text: g.patchText(p), fields: []field{
		{"nr", unum(nr)}, {"pokes", list(p.Pokes, g.pokeRecord)}, {"skipped", list(p.Skipped, g.pokeRecord)},
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
	return &record{typ: "Step", text: g.stepText(s), fields: []field{
		{"kind", str(s.Kind)}, {"time", unum(s.Time)}, {"cpu", num(s.CPU)},
		{"pid", num(s.Task.Pid)}, {"comm", str(s.Task.Comm)},
		{"writes", list(s.Writes, write)}, {"acks", list(s.Acks, ack)}, {"hits", list(s.Hits, ack)}, {"stale", list(s.Stale, stale)},
	}}
}

func ackText(a kernel.Ack) string { return fmt.Sprintf("cpu%d %s", a.CPU, nanos(a.Time)) }

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
		fmt.Fprintf(&b, "  %s\n", g.stepText(s))
	}
	return strings.TrimRight(b.String(), "\n")
}

// stepText is one moment of a patch: who wrote what, and who saw it.
func (g *Guest) stepText(s kernel.PatchStep) string {
	who := "the host"
	if s.CPU >= 0 {
		who = fmt.Sprintf("cpu%d %s-%d", s.CPU, s.Task.Comm, s.Task.Pid)
	}
	what := plural(len(s.Writes), "write")
	if len(s.Writes) == 1 {
		w := s.Writes[0]
		what = fmt.Sprintf("% x -> % x at %s", w.Old, w.New, g.M.Symbols().Format(w.Addr))
	}
	text := fmt.Sprintf("%-7s %s by %s: %s", s.Kind, nanos(s.Time), who, what)
	for i, a := range s.Acks {
		text += lead(i, "synced") + ackText(a)
	}
	for i, h := range foldHits(s.Hits) {
		text += lead(i, "int3 hit") + h
	}
	for i, w := range s.Stale {
		text += lead(i, "old bytes held") + fmt.Sprintf("cpu%d", w.CPU)
	}
	return text
}

// lead is what stands before item i of a list with a title.
func lead(i int, title string) string {
	if i == 0 {
		return "; " + title + ": "
	}
	return ", "
}

// foldHits counts the hits of each CPU, in the order of the first.
func foldHits(hits []kernel.Ack) []string {
	times := map[int]int{}
	var order []kernel.Ack
	for _, h := range hits {
		if times[h.CPU]++; times[h.CPU] == 1 {
			order = append(order, h)
		}
	}
	var out []string
	for _, h := range order {
		out = append(out, fmt.Sprintf("cpu%d %s from %s", h.CPU, plural(times[h.CPU], "time"), nanos(h.Time)))
	}
	return out
}

// nanos prints ns with all nine digits: the steps of a patch are closer than a microsecond.
func nanos(ns uint64) string { return fmt.Sprintf("%d.%09d", ns/1e9, ns%1e9) }

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
