package sh

import (
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// selectClause is select NAME [in WORD …]: a menu on standard error, a line for REPLY, the body, until break or the end of the input.
func (sh *Shell) selectClause(c *syntax.ForClause, loop *syntax.WordIter) int {
	items := sh.args
	if loop.InPos.IsValid() {
		items = sh.fields(loop.Items...)
	}
	if len(items) == 0 {
		return 0
	}
	sh.loops++
	defer func() { sh.loops-- }()
	for menu := true; ; {
		if menu {
			sh.s.Write(2, []byte(sh.menu(items)))
		}
		ps3, ok := sh.lookup("PS3")
		if !ok {
			ps3 = "#? "
		}
		sh.s.Write(2, []byte(ps3))
		line, ok := sh.readLine(0, '\n')
		if !ok {
			sh.print("select", "\n")
			return 1
		}
		line = strings.Trim(line, " \t")
		sh.set("REPLY", line)
		if menu = line == ""; menu {
			continue
		}
		choice := ""
		if n, err := strconv.Atoi(line); err == nil && n >= 1 && n <= len(items) {
			choice = items[n-1]
		}
		sh.set(loop.Name.Value, choice)
		sh.status = sh.stmts(c.Do, false)
		if !sh.again() {
			return sh.status
		}
	}
}

// menu lays the items out in columns as bash does (print_select_list in execute_cmd.c), for a line of 80 characters.
func (sh *Shell) menu(items []string) string {
	cols, tabs := 80, 8
	if n, err := strconv.Atoi(sh.get("COLUMNS")); err == nil && n > 0 {
		cols = n
	}
	longest := 0
	for _, it := range items {
		longest = max(longest, len(it))
	}
	digits := len(strconv.Itoa(len(items)))
	longest += digits + 2 + 2 // ") " and two blanks
	columns := max(1, cols/longest)
	rows := (len(items) + columns - 1) / columns
	if columns = (len(items) + rows - 1) / rows; rows == 1 {
		rows, columns = len(items), 1
	}
	first := digits
	if columns > 1 {
		first = len(strconv.Itoa(rows))
	}
	var b strings.Builder
	for r := range rows {
		pos := 0
		for i := r; i < len(items); i += rows {
			w := digits
			if pos == 0 {
				w = first
			}
			b.WriteString(sprintf("%*d) %s", w, i+1, items[i]))
			n := w + 2 + len(items[i])
			if i+rows >= len(items) {
				break
			}
			for from, to := pos+n, pos+longest; from < to; { // indent
				if to/tabs > from/tabs {
					b.WriteByte('\t')
					from += tabs - from%tabs
				} else {
					b.WriteByte(' ')
					from++
				}
			}
			pos += longest
		}
		b.WriteByte('\n')
	}
	return b.String()
}
