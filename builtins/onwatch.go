package builtins

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"kscope/kernel"
)

// watched is a piece of memory that "watch:" looks at.
type watched struct {
	addr uint64
	name string
	cpu  int // whose copy of a per-CPU variable it is; -1: of none
	old  []byte
}

// armWatch looks at memory behind each instruction of the guest, as a debugger does that has no debug registers left: no write is missed,
// whoever does it and by which address, and the guest cannot tell. The price is the emulator's speed, which is some tenth of what it is.
// With a mode it looks at each instruction before as well, for what it is about to do: writes of the same value and reads change nothing.
func armWatch(h *hook, rest string) error {
	rest, mode, err := h.watchMode(rest)
	if err != nil {
		return err
	}
	list, err := h.watchedAt(rest)
	if err != nil {
		return err
	}
	if mode != "" {
		h.watchAccesses(list, strings.Contains(mode, "r"), strings.Contains(mode, "w"))
		return nil
	}
	m := h.g.M
	next := make([]uint64, m.NumCPU()) // where each CPU's next instruction was
	for i := range next {
		next[i] = m.VCPU(i).CPU.RIP()
	}
	now := make([]byte, 8)
	h.removed(m.EveryInsns(1, func(c *kernel.VCPU) {
		by := next[c.ID]
		next[c.ID] = c.CPU.RIP()
		for i := range list {
			w := &list[i]
			now := now[:len(w.old)]
			if m.Read(w.addr, now) != nil || string(now) == string(w.old) {
				continue
			}
			h.fireWatch(c, w, "w", now, by)
		}
	}))
	return nil
}

// fireWatch calls the handler: memory has become now.
func (h *hook) fireWatch(c *kernel.VCPU, w *watched, access string, now []byte, by uint64) {
	x := &moment{kind: "watch", fields: []field{
		{"addr", unum(w.addr)}, {"name", str(w.name)}, {"of", num(w.cpu)}, {"size", num(len(w.old))},
		{"old", unum(littleEndian(w.old))}, {"new", unum(littleEndian(now))}, {"where", str(h.g.placeName(by))}, {"access", str(access)},
	}}
	copy(w.old, now)
	h.fireMoment(c, x)
}

// coming is what a CPU is about to do.
type coming struct {
	pc, behind uint64
	jumps      bool
	touched    []string // by index of the list of what is watched: "", "r", "w" or "rw"
	any        bool
}

// watchAccesses arms a watch of the kernel's instructions that read or write memory.
func (h *hook) watchAccesses(list []watched, reads, writes bool) {
	m, accesses := h.g.M, kernel.NewAccesses()
	cpus := make([]coming, m.NumCPU())
	look := func(c *kernel.VCPU) {
		next := &cpus[c.ID]
		next.any, next.pc = false, c.CPU.RIP()
		if next.touched == nil {
			next.touched = make([]string, len(list))
		}
		found, behind, jumps := accesses.Next(c)
		if next.behind, next.jumps = behind, jumps; len(found) == 0 {
			return
		}
		for i := range list {
			how := ""
			for _, a := range found {
				if !a.Overlaps(list[i].addr, len(list[i].old)) {
					continue
				}
				if a.Read && reads && !strings.Contains(how, "r") {
					how = "r" + how
				}
				if a.Write && writes && !strings.Contains(how, "w") {
					how += "w"
				}
			}
			next.touched[i] = how
			next.any = next.any || how != ""
		}
	}
	for i := range cpus {
		look(m.VCPU(i))
	}
	now := make([]byte, 8)
	h.removed(m.EveryInsns(1, func(c *kernel.VCPU) {
		was := &cpus[c.ID]
		if at := c.CPU.RIP(); was.any && (at == was.behind || at == was.pc || was.jumps) { // else an interrupt came first, or it faulted
			for i, how := range was.touched {
				if w := &list[i]; how != "" && m.Read(w.addr, now[:len(w.old)]) == nil {
					h.fireWatch(c, w, how, now[:len(w.old)], was.pc)
				}
			}
		}
		look(c)
	}))
}

// watchMode parts the mode from a spec's end.
func (h *hook) watchMode(rest string) (place, mode string, err error) {
	i := strings.LastIndexByte(rest, ':')
	if i < 0 || rest[i+1:] == "" || strings.Trim(rest[i+1:], "0123456789") == "" || strings.HasPrefix(rest, "percpu:") && i == len("percpu") {
		return rest, "", nil
	}
	if mode = rest[i+1:]; !slices.Contains([]string{"r", "w", "rw"}, mode) {
		return "", "", h.bad(rest, len(h.spec)-len(rest)+i+1, "a mode of %q: want r, w or rw", mode)
	}
	return rest[:i], mode, nil
}

func littleEndian(b []byte) uint64 {
	var x [8]byte
	copy(x[:], b)
	return binary.LittleEndian.Uint64(x[:])
}

// watchedAt is the memory that a spec means: SYMBOL, SYMBOL+OFFSET or an address, with a size behind another colon. A per-CPU variable is
// watched on all CPUs.
func (h *hook) watchedAt(rest string) ([]watched, error) {
	name, size, offset := strings.TrimPrefix(rest, "percpu:"), 0, uint64(0)
	if i := strings.LastIndexByte(name, ':'); i >= 0 {
		if n, err := strconv.Atoi(name[i+1:]); err == nil {
			name, size = name[:i], n
			if !slices.Contains([]int{1, 2, 4, 8}, size) {
				return nil, h.bad(rest, len(h.spec)-len(rest)+i+1, "a size of %d: want 1, 2, 4 or 8 bytes", size)
			}
		}
	}
	base, plus, _ := strings.Cut(name, "+")
	if plus != "" {
		offset, _ = strconv.ParseUint(plus, 0, 64)
	}
	list := []watched{{name: name, cpu: -1}}
	syms := h.g.M.Symbols().ByName(base)
	switch {
	case len(syms) == 1 && syms[0].PerCPU():
		list = nil
		for cpu := range h.g.M.NumCPU() {
			list = append(list, watched{addr: h.g.M.PerCPU(base, cpu) + offset, name: name, cpu: cpu})
		}
	default:
		addr, err := h.c.address(str(name))
		if err != nil {
			return nil, err
		}
		list[0].addr = addr
	}
	if size == 0 {
		if size = 8; len(syms) == 1 && offset == 0 && slices.Contains([]uint64{1, 2, 4}, syms[0].Size) {
			size = int(syms[0].Size)
		}
	}
	for i := range list {
		list[i].old = make([]byte, size)
		if err := h.g.M.Read(list[i].addr, list[i].old); err != nil {
			return nil, h.c.fail(err, name, nil)
		}
		h.sites = append(h.sites, list[i].name)
	}
	return list, nil
}

// watchable are the guest's variables.
func (g *Guest) watchable(prefix string) []string {
	names := g.symbolNames("dDbBrRaAvV", prefix)
	slices.Sort(names)
	return slices.Compact(names)
}

// variableType is the type of a variable that has one.
func (g *Guest) variableType(name string) string {
	obj, err := g.variable(name, 0)
	if err != nil {
		return ""
	}
	return fmt.Sprintf("    %s %s;\n", obj.Type, name)
}
