package lang

import (
	"strings"

	"go.starlark.net/starlark"
)

// tableText lays rows out in columns two spaces apart: numbers to the right, the rest to the left, no blanks at line ends.
func tableText(rows starlark.Iterable, cols []string) (string, error) {
	var cells [][]string
	var right []bool
	it := rows.Iterate()
	defer it.Done()
	var row starlark.Value
	for it.Next(&row) {
		vals, err := rowCells(row, cols)
		if err != nil {
			return "", err
		}
		line := make([]string, len(vals))
		for i, v := range vals {
			if i == len(right) {
				right = append(right, true)
			}
			line[i] = cellText(v)
			right[i] = right[i] && isNumber(v)
		}
		cells = append(cells, line)
	}
	if len(cols) > 0 {
		cells = append([][]string{cols}, cells...)
	}
	return alignColumns(cells, right), nil
}

// rowCells takes a row's values: a list or tuple as it is, an object or dict by the column names.
func rowCells(row starlark.Value, cols []string) ([]starlark.Value, error) {
	if list, ok := row.(starlark.Iterable); ok {
		if m, isDict := row.(*starlark.Dict); !isDict {
			var vals []starlark.Value
			it := list.Iterate()
			defer it.Done()
			var v starlark.Value
			for it.Next(&v) {
				vals = append(vals, v)
			}
			return vals, nil
		} else if len(cols) > 0 {
			vals := make([]starlark.Value, len(cols))
			for i, c := range cols {
				v, _, err := m.Get(starlark.String(c))
				if err != nil {
					return nil, err
				}
				vals[i] = v
			}
			return vals, nil
		}
	}
	obj, ok := row.(starlark.HasAttrs)
	if !ok || len(cols) == 0 {
		return nil, &Error{
			Msg:  "table: a row is " + row.Type() + ", want a list or tuple",
			Hint: "with cols = [...] rows may also be dicts or objects with those attributes",
		}
	}
	vals := make([]starlark.Value, len(cols))
	for i, c := range cols {
		v, err := obj.Attr(c)
		if err != nil || v == nil {
			return nil, &Error{
				Msg: "table: " + row.Type() + " has no ." + c, At: c,
				Hint: DidYouMean(c, obj.AttrNames()),
			}
		}
		vals[i] = v
	}
	return vals, nil
}

func cellText(v starlark.Value) string {
	if v == nil || v == starlark.None {
		return "-"
	}
	if s, ok := starlark.AsString(v); ok {
		return s
	}
	return v.String()
}

func isNumber(v starlark.Value) bool {
	switch v.(type) {
	case starlark.Int, starlark.Float, starlark.NoneType, nil:
		return true
	}
	return false
}

// alignColumns pads cells to the widest of their column.
func alignColumns(cells [][]string, right []bool) string {
	var width []int
	for _, line := range cells {
		for i, c := range line {
			if i == len(width) {
				width = append(width, 0)
			}
			width[i] = max(width[i], len([]rune(c)))
		}
	}
	var out strings.Builder
	for _, line := range cells {
		var b strings.Builder
		for i, c := range line {
			if i > 0 {
				b.WriteString("  ")
			}
			s := spec{width: width[i]}
			if i >= len(right) || !right[i] {
				s.flags = "-"
			}
			b.WriteString(s.pad(c))
		}
		out.WriteString(strings.TrimRight(b.String(), " "))
		out.WriteByte('\n')
	}
	return out.String()
}
