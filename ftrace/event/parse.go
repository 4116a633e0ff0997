package event

import (
	"fmt"
	"strconv"
	"strings"
)

// ParseFormat reads a format file back into a descriptor: of a trace.dat, or of another kernel. Its text is compiled from its
// print fmt; when that cannot be understood the descriptor is good but for Text, and err tells.
func ParseFormat(system, text string) (f *Format, err error) {
	f = &Format{System: system}
	const mark = "\nprint fmt: " // to the end: a text may hold newlines
	if i := strings.Index(text, mark); i >= 0 {
		text, f.Print = text[:i], strings.TrimRight(text[i+len(mark):], "\n")
	}
	for n, line := range strings.Split(text, "\n") {
		key, rest, ok := strings.Cut(strings.TrimLeft(line, " \t"), ":")
		rest = strings.TrimPrefix(rest, " ")
		if !ok {
			continue
		}
		switch key {
		case "name":
			f.Name = rest
		case "ID":
			id, err := strconv.ParseUint(rest, 10, 16)
			if err != nil {
				return nil, fmt.Errorf("format of %s: line %d: ID %q", f.Name, n+1, rest)
			}
			f.ID = uint16(id)
		case "field":
			x, err := parseField(rest)
			if err != nil {
				return nil, fmt.Errorf("format of %s: line %d: %w", f.Name, n+1, err)
			}
			if x.Offset >= HeaderSize {
				f.Fields = append(f.Fields, x)
			}
		}
	}
	if f.Name == "" || f.ID == 0 {
		return nil, fmt.Errorf("format: no name or ID in %q", text[:min(len(text), 40)])
	}
	f.Text, err = CompilePrint(f)
	return f, err
}

// parseField reads "TYPE NAME[N];	offset:O;	size:S;	signed:G;".
func parseField(row string) (x Field, err error) {
	part := strings.Split(row, ";")
	if len(part) < 4 {
		return x, fmt.Errorf("field %q", row)
	}
	for i, p := range []*int{&x.Offset, &x.Size} {
		_, num, _ := strings.Cut(part[i+1], ":")
		if *p, err = strconv.Atoi(num); err != nil || *p < 0 {
			return x, fmt.Errorf("field %q", row)
		}
	}
	x.Signed = strings.HasSuffix(part[3], ":1")
	decl, brackets := part[0], ""
	if i := strings.LastIndexByte(decl, '['); i >= 0 && !strings.HasPrefix(decl, "__data_loc ") {
		decl, brackets = decl[:i], decl[i:]
	}
	i := strings.LastIndexByte(decl, ' ')
	if i < 0 {
		return x, fmt.Errorf("field %q", row)
	}
	x.Type, x.Name = decl[:i]+brackets, decl[i+1:]
	return x, nil
}
