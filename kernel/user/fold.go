package user

import (
	"strconv"
	"strings"

	"kscope/kernel"
)

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
