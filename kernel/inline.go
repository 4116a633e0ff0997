package kernel

import (
	"debug/dwarf"
	"slices"
	"strings"
)

// InlineSite is one place into which the compiler put a function's body instead of a call.
type InlineSite struct {
	Caller string // the function that holds it, or the inlined function that does
	Addr   uint64 // its first instruction; 0 where the optimiser left none
	File   string // of the call that it replaces
	Line   int64
}

// Inlined returns the places where a function was inlined, by address; a tracer sees none of those calls. The first call
// reads every entry of the DWARF.
func (t *Types) Inlined(name string) []InlineSite {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.index() != nil {
		return nil
	}
	if t.inlines == nil {
		t.inlines = map[string][]InlineSite{}
		for _, u := range t.units {
			t.unitInlines(u)
		}
		for _, sites := range t.inlines {
			slices.SortStableFunc(sites, func(a, b InlineSite) int {
				if a.Addr != b.Addr {
					return int(int64(a.Addr>>1) - int64(b.Addr>>1))
				}
				return strings.Compare(a.Caller, b.Caller)
			})
		}
	}
	return t.inlines[name]
}

// unitInlines walks one compile unit. names[d] is the function around entries at depth d.
func (t *Types) unitInlines(u *dwarf.Entry) {
	r := t.data.Reader()
	r.Seek(u.Offset)
	if _, err := r.Next(); err != nil {
		return
	}
	files := t.unitFiles(u)
	origin := map[dwarf.Offset]string{}
	names := []string{""}
	for len(names) > 0 {
		e, err := r.Next()
		if err != nil || e == nil {
			return
		}
		if e.Tag == 0 {
			names = names[:len(names)-1]
			continue
		}
		around := names[len(names)-1]
		switch e.Tag {
		case dwarf.TagSubprogram, dwarf.TagInlinedSubroutine:
			name := t.entryName(e, origin)
			if e.Tag == dwarf.TagInlinedSubroutine && name != "" {
				t.inlines[name] = append(t.inlines[name], t.inlineSite(e, around, files))
			}
			around = name
		}
		if e.Children {
			names = append(names, around)
		}
	}
}

func (t *Types) entryName(e *dwarf.Entry, origin map[dwarf.Offset]string) string {
	if name, ok := e.Val(dwarf.AttrName).(string); ok {
		return name
	}
	off, ok := e.Val(dwarf.AttrAbstractOrigin).(dwarf.Offset)
	if !ok {
		return ""
	}
	name, ok := origin[off]
	if !ok {
		name = t.nameAt(off)
		origin[off] = name
	}
	return name
}

func (t *Types) inlineSite(e *dwarf.Entry, caller string, files []string) InlineSite {
	s := InlineSite{Caller: caller}
	s.Line, _ = e.Val(dwarf.AttrCallLine).(int64)
	if i, ok := e.Val(dwarf.AttrCallFile).(int64); ok && int(i) < len(files) {
		s.File = files[i]
	}
	if pc, ok := e.Val(dwarf.AttrEntrypc).(uint64); ok {
		s.Addr = pc
	} else if ranges, err := t.data.Ranges(e); err == nil && len(ranges) > 0 {
		s.Addr = ranges[0][0]
	}
	return s
}

// unitFiles is the unit's file table.
func (t *Types) unitFiles(u *dwarf.Entry) (out []string) {
	r, err := t.data.LineReader(u)
	if err != nil || r == nil {
		return nil
	}
	dir, _ := u.Val(dwarf.AttrCompDir).(string)
	for _, f := range r.Files() {
		name := ""
		if f != nil {
			name = sourceName(f.Name, dir)
		}
		out = append(out, name)
	}
	return out
}
