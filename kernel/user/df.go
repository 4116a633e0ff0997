package user

import (
	"fmt"
	"strconv"
	"strings"
)

// df is coreutils' for the file systems that say how large they are.
func df(c *cmd) int {
	found, args, status, done := c.parse([]option{{'a', "all", false, 0}, {'h', "human-readable", false, 0}, {'k', "", false, 0}, {'T', "print-type", false, 0}, {'P', "portability", false, 0}}, 1)
	if done {
		return status
	}
	all, human, types := false, false, false
	for _, o := range found {
		all = all || o.id == 'a'
		human = human || o.id == 'h'
		types = types || o.id == 'T'
	}
	text, e := c.readFile("/proc/self/mounts")
	if e != 0 {
		c.errorf("cannot read table of mounted file systems: %s", e.Error())
		return 1
	}
	var mounts [][]string
	for _, l := range strings.Split(string(text), "\n") {
		if f := strings.Fields(l); len(f) >= 4 {
			mounts = append(mounts, f)
		}
	}
	rows := [][]string{dfHeader(types, human)}
	if len(args) == 0 {
		for _, m := range mounts {
			if row := c.dfRow(m, m[1], all, types, human); row != nil {
				rows = append(rows, row)
			}
		}
	}
	for _, arg := range args {
		if _, e := c.s.Stat(arg); e != 0 {
			c.errorf("%s: %s", arg, e.Error())
			status = 1
			continue
		}
		path := c.absolute(arg)
		best := []string{"none", "/", "none", ""}
		for _, m := range mounts {
			if under := m[1] == "/" || path == m[1] || strings.HasPrefix(path, m[1]+"/"); under && len(m[1]) >= len(best[1]) {
				best = m
			}
		}
		rows = append(rows, c.dfRow(best, arg, true, types, human))
	}
	if len(rows) == 1 {
		if len(args) == 0 {
			c.errorf("no file systems processed")
		}
		return 1
	}
	c.dfPrint(rows, types)
	return status
}

func dfHeader(types, human bool) []string {
	row := []string{"Filesystem", "1K-blocks", "Used", "Available", "Use%", "Mounted on"}
	if human {
		row[1], row[3] = "Size", "Avail"
	}
	if types {
		row = append(row[:1], append([]string{"Type"}, row[1:]...)...)
	}
	return row
}

// dfRow is a mount's row; nil when it has no blocks and all is not set.
func (c *cmd) dfRow(m []string, path string, all, types, human bool) []string {
	_, out, e := c.s.named("statfs", path, Out(120))
	if e != 0 {
		c.errorf("%s: %s", path, e.Error())
		return nil
	}
	word := func(i int) uint64 { return le64(out[0], 8*i) }
	size, total, free, avail := word(1), word(2), word(3), word(4)
	if total == 0 && !all {
		return nil
	}
	show := func(blocks uint64) string {
		if human {
			return humanSize(blocks * size)
		}
		return strconv.FormatUint(blocks*size/1024, 10)
	}
	used, percent := total-free, "-"
	if used+avail > 0 {
		percent = fmt.Sprintf("%d%%", (used*100+used+avail-1)/(used+avail))
	}
	row := []string{m[0], show(total), show(used), show(avail), percent, m[1]}
	if types {
		row = append(row[:1], append([]string{m[2]}, row[1:]...)...)
	}
	return row
}

func (c *cmd) dfPrint(rows [][]string, types bool) {
	width := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, f := range row {
			width[i] = max(width[i], len(f))
		}
	}
	width[0] = max(width[0], 14)
	for i := 1; i < len(width)-1; i++ {
		width[i] = max(width[i], 5)
	}
	for _, row := range rows {
		for i, f := range row {
			switch {
			case i == 0 || types && i == 1:
				c.printf("%-*s ", width[i], f)
			case i == len(row)-1:
				c.printf("%s\n", f)
			case strings.HasSuffix(rows[0][i], "%"):
				c.printf("%*s ", len(rows[0][i]), f)
			default:
				c.printf("%*s ", width[i], f)
			}
		}
	}
}

// humanSize writes bytes as coreutils' -h does: rounded up, one digit after the point below 10.
func humanSize(n uint64) string {
	if n < 1024 {
		return strconv.FormatUint(n, 10)
	}
	unit, f := -1, float64(n)
	for f >= 1024 && unit < 5 {
		f /= 1024
		unit++
	}
	if tenth := ceil(f * 10); tenth < 100 {
		return fmt.Sprintf("%d.%d%c", tenth/10, tenth%10, "KMGTPE"[unit])
	}
	return fmt.Sprintf("%d%c", ceil(f), "KMGTPE"[unit])
}

func ceil(f float64) uint64 {
	n := uint64(f)
	if float64(n) < f {
		n++
	}
	return n
}

func le64(b []byte, at int) (v uint64) {
	for i := range 8 {
		v |= uint64(b[at+i]) << (8 * i)
	}
	return v
}

func (c *cmd) absolute(path string) string {
	if !strings.HasPrefix(path, "/") {
		if dir, e := c.s.Getcwd(); e == 0 {
			path = strings.TrimSuffix(dir, "/") + "/" + path
		}
	}
	return path
}
