package kprobe

import (
	"fmt"

	"kscope/kernel"
)

// Parsed is what a line of kprobe_events would make.
type Parsed struct {
	Line  *Line
	Addr  uint64
	Where string
	How   string // "ftrace", "int3" or "optimized"
	Why   string // no jump
	Text  string // as kprobe_events would list it
}

// Parse checks a line of kprobe_events as Define does, its place included, and makes nothing.
func (k *Kprobes) Parse(line string) (*Parsed, error) {
	words := fields(line)
	if len(words) == 0 {
		return nil, kernel.EINVAL
	}
	if words[0][0] == '-' {
		return nil, (&source{words}).silent(kernel.EINVAL)
	}
	l, bad := k.parseLine(words)
	if bad != nil {
		return nil, bad
	}
	p := &Parsed{Line: l, Addr: l.Addr}
	if l.Symbol != "" {
		sym, ok := k.m.Symbols().Lookup(l.Symbol)
		if !ok {
			return nil, l.src.fail(1, 0, msgBadProbeAddr, kernel.ENOENT)
		}
		p.Addr = sym + l.Offset
	}
	if err := k.check(p.Addr); err != nil {
		return nil, l.placeError(err)
	}
	if k.notrace(p.Addr) {
		return nil, l.src.fail(1, 0, msgFailed, kernel.EINVAL)
	}
	for _, a := range l.Args {
		if err := a.resolve(k.m.Symbols()); err != nil {
			return nil, err
		}
	}
	if l.Return && l.MaxActive == 0 {
		l.MaxActive = max(minActive, 2*k.m.NumCPU())
	}
	e := &Event{Line: l, ret: &Ret{MaxActive: l.MaxActive}, placed: true}
	p.Text, p.Where = e.Text(), k.m.Symbols().Format(p.Addr)
	if _, p.How = "", "int3"; k.ftraced(p.Addr) {
		p.How = "ftrace"
	} else if _, p.Why = k.optimizable(p.Addr); p.Why == "" && !k.noOpt {
		p.How = "optimized"
	}
	return p, nil
}

func (k *Kprobes) ftraced(addr uint64) bool {
	_, ok := k.t.Sites().At(addr)
	return ok
}

// TypeText is the argument's type as in a line: "u32", "string[4]".
func (p *Program) TypeText() string {
	if p.Count > 0 {
		return fmt.Sprintf("%s[%d]", p.Type.Name, p.Count)
	}
	return p.Type.Name
}

// Size is what the argument takes in the fixed part of a record, in bytes.
func (p *Program) Size() int { return p.size() }
