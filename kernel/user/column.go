package user

import (
	"strings"
)

var columnOptions = []option{{'t', "table", false, 0}, {'s', "separator", true, 0}, {'o', "output-separator", true, 0}}

// column makes a table of the lines' fields; without -t it is not here.
func column(c *cmd) int {
	found, files, status, done := c.parse(columnOptions, 1)
	if done {
		return status
	}
	table, sep, out := false, "", "  "
	for _, o := range found {
		switch o.id {
		case 't':
			table = true
		case 's':
			sep = o.value
		case 'o':
			out = o.value
		}
	}
	if !table {
		c.errorf("only tables (-t) are supported")
		return 1
	}
	var rows [][]string
	var widths []int
	status = c.eachLine(files, func(line []byte, _ bool) {
		text := string(line)
		if strings.TrimSpace(text) == "" {
			return
		}
		row := strings.Fields(text)
		if sep != "" {
			row = strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(sep, r) })
		}
		for i, cell := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], len([]rune(cell)))
		}
		rows = append(rows, row)
	})
	for _, row := range rows {
		for i := range widths {
			cell := ""
			if i < len(row) {
				cell = row[i]
			}
			if i == len(widths)-1 {
				c.printf("%s", cell)
			} else {
				c.printf("%-*s%s", widths[i], cell, out)
			}
		}
		c.print('\n')
	}
	return status
}
