package user

import (
	"strconv"
	"strings"

	"kscope/kernel"
)

var nlOptions = []option{{'b', "body-numbering", true, 0}, {'i', "line-increment", true, 0}, {'n', "number-format", true, 0}, {'s', "number-separator", true, 0},
	{'v', "starting-line-number", true, 0}, {'w', "number-width", true, 0}}

// nl numbers lines, those that are not empty unless -b says otherwise. Logical pages are not looked for.
func nl(c *cmd) int {
	found, files, status, done := c.parse(nlOptions, 1)
	if done {
		return status
	}
	body, sep, number, step, width, format := "t", "\t", 1, 1, 6, "%*d"
	for _, o := range found {
		n, err := strconv.Atoi(o.value)
		switch o.id {
		case 'b':
			if body = o.value; body != "a" && body != "t" && body != "n" {
				c.errorf("invalid body numbering style: %s", quoted(body))
				return c.tryHelp(1)
			}
		case 'n':
			formats := map[string]string{"ln": "%-*d", "rn": "%*d", "rz": "%0*d"}
			if format = formats[o.value]; format == "" {
				c.errorf("invalid line numbering format: %s", quoted(o.value))
				return c.tryHelp(1)
			}
		case 's':
			sep = o.value
		default:
			if err != nil || o.id == 'w' && n < 1 {
				c.errorf("invalid %s: %s", map[byte]string{'i': "line number increment", 'v': "starting line number", 'w': "line number field width"}[o.id], quoted(o.value))
				return 1
			}
			*map[byte]*int{'i': &step, 'v': &number, 'w': &width}[o.id] = n
		}
	}
	return c.eachLine(files, func(line []byte, whole bool) {
		if body == "a" || body == "t" && len(line) > 0 {
			c.printf(format+"%s", width, number, sep)
			number += step
		} else {
			c.print([]byte(strings.Repeat(" ", width+len(sep)))...)
		}
		c.print(append(line, '\n')...)
	})
}

// eachLine gives fn the lines of files; whole is false for a last one without a newline.
func (c *cmd) eachLine(files []string, fn func(line []byte, whole bool)) (status int) {
	for _, file := range orStdin(files) {
		in, e := c.tryInput(file)
		for e == 0 {
			text, whole, ok := in.line('\n')
			if !ok {
				break
			}
			fn(text, whole)
		}
		if e == 0 {
			in.close()
			e = in.err
		}
		if e != 0 {
			c.fail(file, e)
			status = 1
		}
	}
	return status
}

var foldOptions = []option{{'b', "bytes", false, 0}, {'s', "spaces", false, 0}, {'w', "width", true, 0}}

// fold breaks lines that are wider than -w columns.
func fold(c *cmd) int {
	found, files, status, done := c.parse(foldOptions, 1)
	if done {
		return status
	}
	var on [256]bool
	width := 80
	for _, o := range found {
		if on[o.id] = true; o.id == 'w' {
			n, err := strconv.Atoi(o.value)
			if err != nil || n < 1 {
				tooSmall := ""
				if err == nil {
					tooSmall = ": " + kernel.ERANGE.Error()
				}
				c.errorf("invalid number of columns: %s%s", quoted(o.value), tooSmall)
				return 1
			}
			width = n
		}
	}
	after := func(column int, b byte) int {
		switch {
		case on['b']:
		case b == '\b':
			return max(0, column-1)
		case b == '\r':
			return 0
		case b == '\t':
			return column + 8 - column%8
		}
		return column + 1
	}
	return c.eachLine(files, func(line []byte, whole bool) {
		column, start := 0, 0
		for i := 0; i < len(line); i++ {
			if next := after(column, line[i]); next <= width || i == start {
				column = next
				continue
			}
			end := i
			if blank := strings.LastIndexAny(string(line[start:i]), " \t"); on['s'] && blank >= 0 {
				end = start + blank + 1
			}
			c.print(append(line[start:end:end], '\n')...)
			start, column = end, 0
			i = end - 1
		}
		c.print(line[start:]...)
		if whole {
			c.print('\n')
		}
	})
}

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
