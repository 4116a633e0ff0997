package kernel

import (
	"debug/dwarf"
	"slices"
	"sort"
	"strings"
)

// lineUnit is the line table of one compile unit, in address order.
type lineUnit struct {
	rows []lineRow
}

type lineRow struct {
	addr uint64
	file string
	line int
	stmt bool // a statement begins here
	end  bool
}

// Line returns the source position of an address: "fs/read_write.c", 476. ok is false where the image has none.
func (t *Types) Line(addr uint64) (file string, line int, ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.index() != nil {
		return "", 0, false
	}
	for _, u := range t.units {
		ranges, err := t.data.Ranges(u)
		if err != nil {
			continue
		}
		for _, r := range ranges {
			if addr < r[0] || addr >= r[1] {
				continue
			}
			rows := t.unitLines(u).rows
			i := sort.Search(len(rows), func(i int) bool { return rows[i].addr > addr })
			if i == 0 || rows[i-1].end {
				return "", 0, false
			}
			return rows[i-1].file, rows[i-1].line, true
		}
	}
	return "", 0, false
}

// LineAddrs returns where the code of a source line begins: more than once where it was inlined or moved apart. file is a name or the end of
// a path. A line without code gives none, and near is the next line that has some; 0 when the file has none behind it.
func (t *Types) LineAddrs(file string, line int) (addrs []uint64, near int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.index() != nil {
		return nil, 0
	}
	for _, u := range t.units {
		last := -1 // the line of the row before
		for _, r := range t.unitLines(u).rows {
			here := r.file == file || strings.HasSuffix(r.file, "/"+file)
			switch {
			case r.end || !here:
				last = -1
				continue
			case r.stmt && r.line == line && last != line:
				addrs = append(addrs, r.addr)
			case r.stmt && r.line > line && (near == 0 || r.line < near):
				near = r.line
			}
			last = r.line
		}
	}
	slices.Sort(addrs)
	return slices.Compact(addrs), near
}

// sourceName is a file's name below the source tree, as __FILE__ has it in Linux.
func sourceName(name, dir string) string {
	return strings.TrimPrefix(strings.TrimPrefix(strings.TrimPrefix(name, dir), "/"), "./")
}

func (t *Types) unitLines(u *dwarf.Entry) *lineUnit {
	if l := t.lines[u.Offset]; l != nil {
		return l
	}
	if t.lines == nil {
		t.lines = map[dwarf.Offset]*lineUnit{}
	}
	l := &lineUnit{}
	t.lines[u.Offset] = l
	r, err := t.data.LineReader(u)
	if err != nil || r == nil {
		return l
	}
	dir, _ := u.Val(dwarf.AttrCompDir).(string)
	var e dwarf.LineEntry
	for r.Next(&e) == nil {
		row := lineRow{addr: e.Address, line: e.Line, stmt: e.IsStmt, end: e.EndSequence}
		if e.File != nil {
			row.file = sourceName(e.File.Name, dir)
		}
		l.rows = append(l.rows, row)
	}
	sort.SliceStable(l.rows, func(i, j int) bool {
		if l.rows[i].addr != l.rows[j].addr {
			return l.rows[i].addr < l.rows[j].addr
		}
		return l.rows[i].end && !l.rows[j].end
	})
	return l
}
