package user

import (
	"strconv"
	"strings"
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
