package builtins

import (
	"fmt"
	"strings"

	"go.starlark.net/starlark"

	"kscope/ftrace"
	"kscope/ftrace/event"
	"kscope/ftrace/ring"
	"kscope/lang"
)

// ringMethods are the rows of module tracer for a look into the rings.
func ringMethods() []method {
	return []method{
		{name: "ring", sig: "(cpu) -> Ring", fn: tracerRing,
			doc: "The ring of one CPU as it stands; nothing is consumed. Printing it draws it. .head .commit .tail (numbers of pages), .read\n(bytes consumed of the reader's page), .overwrite, .pages: the reader's first, then the slots: .slot (-1: outside the ring),\n.seq, .roles (\"reader\", \"head\", \"commit\", \"tail\"), .used, .ts of the first event, .bytes committed, .reserved, .events,\n.first (index of its first event since the start), .data (4096 bytes), .items: each with .offset .kind (\"data\", \"padding\",\n\"extend\", \"stamp\") .ts .delta .size .event."},
		{name: "lost", sig: "(keep = None) -> [Lost]", fn: tracerLost,
			doc: "Each record that the rings have lost since tracer.lost(True), in the order in which that was noticed: .ts (when it was or\nwould have been written), .cpu, .pid, .comm, .cause (\"overrun\": overwritten by newer ones; \"dropped\": full and overwrite is\noff; \"commit overrun\"; \"recursion\"), .event, .where, .text and the fields of what was overwritten. The newest 131072 are\nkept; tracer.stats() counts all. tracer.lost(False) ends it."},
	}
}

func tracerRing(c *call) (starlark.Value, error) {
	var cpu starlark.Value
	if err := c.unpack("cpu", &cpu); err != nil {
		return nil, err
	}
	id, err := c.cpuArg(cpu)
	if err != nil {
		return nil, err
	}
	if id < 0 {
		return nil, c.errorf("want a CPU")
	}
	s := c.g.T.Ring(id).Inspect()
	return &record{typ: "Ring", text: ringText(id, &s), fields: []field{
		{"cpu", num(id)}, {"head", unum(s.Head)}, {"commit", unum(s.Commit)}, {"tail", unum(s.Tail)}, {"read", num(s.Read)},
		{"overwrite", starlark.Bool(s.Overwrite)}, {"entries", unum(s.Stats.Entries)}, {"overrun", unum(s.Stats.Overrun)},
		{"dropped", unum(s.Stats.Dropped)}, {"written", unum(s.Stats.Written)}, {"pages", list(s.Pages, c.g.ringPage)},
	}}, nil
}

func (g *Guest) ringPage(p ring.PageState) starlark.Value {
	var items []starlark.Value
	// A page in use has its length in the commit word, as one from trace_pipe_raw has; its errors would be ours.
	_, err := ring.DecodePage(p.Data, func(e ring.Entry) bool {
		name := ""
		if h, ok := event.Parse(e.Data); ok && e.Kind == ring.Data {
			if f := g.T.Events().ByID(h.Type); f != nil {
				name = f.Name
			}
		}
		items = append(items, &record{typ: "Item", fields: []field{{"offset", num(e.Offset)}, {"kind", str(e.Kind.String())},
			{"ts", unum(e.TS)}, {"delta", unum(e.Delta)}, {"size", num(len(e.Data))}, {"event", str(name)}}})
		return true
	})
	if err != nil {
		panic("BUG: builtins: a page of the ring: " + err.Error())
	}
	return &record{typ: "RingPage", text: pageText(&p), fields: []field{
		{"slot", num(p.Slot)}, {"seq", unum(p.Seq)}, {"roles", lang.Strings(p.Roles)}, {"used", starlark.Bool(p.Used)},
		{"ts", unum(p.Time)}, {"bytes", num(p.Commit)}, {"reserved", num(p.Write)}, {"events", num(p.Events)}, {"first", unum(p.First)},
		{"data", starlark.Bytes(p.Data)}, {"items", starlark.NewList(items)},
	}}
}

// pageText is one page in a line.
func pageText(p *ring.PageState) string {
	where := fmt.Sprintf("slot %d", p.Slot)
	if p.Slot < 0 {
		where = "reader"
	}
	if !p.Used {
		return fmt.Sprintf("%-8s free", where)
	}
	roles := ""
	if p.Slot >= 0 && len(p.Roles) > 0 {
		roles = "  <- " + strings.Join(p.Roles, ", ")
	}
	bar := strings.Repeat("#", (p.Commit*20+ring.PayloadSize-1)/ring.PayloadSize)
	events := "no events"
	if p.Events > 0 {
		events = fmt.Sprintf("events %d to %d", p.First, int(p.First)+p.Events-1)
	}
	return fmt.Sprintf("%-8s page %-4d [%-20s] %4d bytes, %s, from %s%s", where, p.Seq, bar, p.Commit, events, nanos(p.Time), roles)
}

// ringText draws a ring; slots that wait for their first turn are one line.
func ringText(cpu int, s *ring.State) string {
	mode := "overwrite"
	if !s.Overwrite {
		mode = "discard"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "ring of cpu%d: %d pages and the reader's, %s; %d events written, %d to read, %d overwritten, %d dropped\n", cpu,
		len(s.Pages)-1, mode, s.Stats.Written, s.Stats.Entries, s.Stats.Overrun, s.Stats.Dropped)
	free := 0
	flush := func() {
		if free > 1 {
			fmt.Fprintf(&b, "  and %d free\n", free-1)
		}
		free = 0
	}
	for i := range s.Pages {
		p := &s.Pages[i]
		if !p.Used && p.Slot >= 0 {
			if free++; free > 1 {
				continue
			}
		} else {
			flush()
		}
		fmt.Fprintf(&b, "  %s\n", pageText(p))
	}
	flush()
	return strings.TrimRight(b.String(), "\n")
}

func tracerLost(c *call) (starlark.Value, error) {
	var keep starlark.Value
	if err := c.unpack("keep?", &keep); err != nil {
		return nil, err
	}
	if keep != nil && keep != starlark.None {
		on, ok := keep.(starlark.Bool)
		if !ok {
			return nil, &lang.Error{Msg: fmt.Sprintf("%s: keep is %s, want bool", c.name, keep.Type()), At: "keep"}
		}
		c.g.T.KeepLosses(bool(on))
		return starlark.NewList(nil), nil
	}
	if !c.g.T.KeepsLosses() {
		e := c.errorf("losses are not kept")
		e.Hint = "tracer.lost(True) keeps them from then on"
		return nil, e
	}
	return list(c.g.T.Lost(), c.g.lostRecord), nil
}

func (g *Guest) lostRecord(l ftrace.Lost) starlark.Value {
	name, where := fmt.Sprintf("type %d", l.Type), starlark.Value(starlark.None)
	if l.Format != nil {
		name = l.Format.Name
	}
	if l.IP != 0 {
		where = str(g.placeName(l.IP))
	}
	text := strings.TrimSpace(l.Text)
	r := &record{typ: "Lost", fields: []field{
		{"ts", unum(l.TS)}, {"cpu", num(l.CPU)}, {"pid", num(l.PID)}, {"comm", str(l.Comm)}, {"cause", str(l.Cause)},
		{"event", str(name)}, {"where", where}, {"text", str(text)},
	}}
	r.text = fmt.Sprintf("%s cpu%d %s-%d %s: %s %s", nanos(l.TS), l.CPU, l.Comm, l.PID, l.Cause, name, text)
	if text == "" && l.IP != 0 {
		r.text += g.placeName(l.IP)
	}
	if l.Format != nil && len(l.Data) > 0 {
		for i := range l.Format.Fields {
			if v, ok := l.Format.Fields[i].Decode(l.Data); ok {
				r.fields = append(r.fields, field{l.Format.Fields[i].Name, fieldValue(v)})
			}
		}
	}
	return r
}
