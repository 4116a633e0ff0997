package user

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"

	"kscope/kernel"
)

// cmp, df, free, renice.

// cmpCommand is cmp of diffutils': the first difference of two files, or all of them.
func cmpCommand(c *cmd) int {
	c.usage = "cmp: "
	found, args, status, done := c.parse([]option{{'s', "quiet", false, 0}, {0, "silent", false, 's'}, {'l', "verbose", false, 0}, {'b', "print-bytes", false, 0}, {'n', "bytes", true, 0}}, 2)
	if done {
		return status
	}
	silent, verbose, limit := false, false, -1
	for _, o := range found {
		switch o.id {
		case 's':
			silent = true
		case 'l':
			verbose = true
		case 'b':
			c.errorf("-b is not supported")
			return 2
		case 'n':
			n, err := strconv.Atoi(o.value)
			if err != nil || n < 0 {
				c.errorf("invalid --bytes value '%s'", o.value)
				return 2
			}
			limit = n
		}
	}
	if len(args) == 0 {
		c.errorf("missing operand after '%s'", c.argv[0])
		return c.tryHelp(2)
	}
	if len(args) > 2 {
		c.errorf("extra operand '%s'", args[2])
		return c.tryHelp(2)
	}
	names := [2]string{args[0], "-"}
	if len(args) == 2 {
		names[1] = args[1]
	}
	text, ok := c.cmpFiles(names, limit, silent)
	if !ok {
		return 2
	}
	a, b := text[0], text[1]
	c.s.Work(len(a))
	n := min(len(a), len(b))
	differ := 0
	for i := 0; i < n; i++ {
		if a[i] == b[i] {
			continue
		}
		differ = 1
		if verbose && !silent {
			c.printf("%*d %3o %3o\n", len(strconv.Itoa(max(len(a), len(b)))), i+1, a[i], b[i])
			continue
		}
		if !silent {
			c.printf("%s %s differ: byte %d, line %d\n", names[0], names[1], i+1, 1+bytes.Count(a[:i], []byte("\n")))
		}
		return 1
	}
	if len(a) == len(b) {
		return differ
	}
	if !silent {
		short, at := names[0], a
		if len(b) < len(a) {
			short, at = names[1], b
		}
		c.cmpEnd(short, at, verbose)
	}
	return 1
}

// cmpEnd says where the shorter file ends.
func (c *cmd) cmpEnd(short string, at []byte, verbose bool) {
	switch lines := bytes.Count(at, []byte("\n")); {
	case len(at) == 0:
		c.errorf("EOF on %s which is empty", short)
	case verbose:
		c.errorf("EOF on %s after byte %d", short, len(at))
	case at[len(at)-1] == '\n':
		c.errorf("EOF on %s after byte %d, line %d", short, len(at), lines)
	default:
		c.errorf("EOF on %s after byte %d, in line %d", short, len(at), lines+1)
	}
}

// cmpFiles reads both files, as far as they are to be compared.
func (c *cmd) cmpFiles(names [2]string, limit int, silent bool) (text [2][]byte, ok bool) {
	for i, name := range names {
		b, e := c.readFile(map[bool]string{true: "/dev/stdin", false: name}[name == "-"])
		if e != 0 {
			if !silent {
				c.errorf("%s: %s", name, e.Error())
			}
			return text, false
		}
		if limit >= 0 {
			b = b[:min(limit, len(b))]
		}
		text[i] = b
	}
	return text, true
}

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

// free is procps' first two lines, from /proc/meminfo. There is no swap.
func free(c *cmd) int {
	found, args, status, done := c.parse([]option{{'b', "bytes", false, 0}, {'k', "kibi", false, 0}, {'m', "mebi", false, 0}}, 1)
	if done {
		return status
	}
	if len(args) > 0 {
		return c.tryHelp(1)
	}
	mul, div := uint64(1), uint64(1)
	for _, o := range found {
		switch o.id {
		case 'b':
			mul, div = 1024, 1
		case 'm':
			mul, div = 1, 1024
		case 'k':
			mul, div = 1, 1
		}
	}
	text, e := c.readFile("/proc/meminfo")
	if e != 0 {
		c.errorf("cannot open file /proc/meminfo: %s", e.Error())
		return 1
	}
	kb := map[string]uint64{}
	for _, l := range strings.Split(string(text), "\n") {
		if f := strings.Fields(l); len(f) >= 2 {
			kb[f[0]], _ = strconv.ParseUint(f[1], 10, 64)
		}
	}
	show := func(name string) uint64 { return kb[name+":"] * mul / div }
	total, unused, cache := show("MemTotal"), show("MemFree"), show("Buffers")+show("Cached")
	c.printf("%7s%12s%12s%12s%12s%12s%12s\n", "", "total", "used", "free", "shared", "buff/cache", "available")
	c.printf("%-7s%12d%12d%12d%12d%12d%12d\n", "Mem:", total, total-unused-cache, unused, show("Shmem"), cache, show("MemAvailable"))
	c.printf("%-7s%12d%12d%12d\n", "Swap:", 0, 0, 0)
	return 0
}

var reniceOptions = []option{{'n', "priority", true, 0}, {'p', "pid", false, 0}, {'g', "pgrp", false, 0}, {'u', "user", false, 0}}

// renice is util-linux': renice [-n] N [-p|-g] ID…
func renice(c *cmd) int {
	words := c.argv[1:]
	if len(words) > 0 && (strings.HasPrefix(words[0], "-n") || words[0] == "--priority") {
		if words[0] == "-n" || words[0] == "--priority" {
			words = words[1:]
		} else {
			words = append([]string{words[0][2:]}, words[1:]...)
		}
	}
	if len(words) > 0 && words[0] == "--help" {
		_, _, status, _ := c.parse(reniceOptions, 1)
		return status
	}
	if len(words) < 2 {
		c.errorf("not enough arguments")
		return c.tryHelp(1)
	}
	prio, err := strconv.Atoi(words[0])
	if err != nil {
		c.errorf("invalid priority '%s'", words[0])
		return c.tryHelp(1)
	}
	kinds := [...]string{"process ID", "process group ID", "user ID"}
	which, status := 0, 0
	for _, w := range words[1:] {
		switch w {
		case "-p", "--pid":
			which = 0
			continue
		case "-g", "--pgrp":
			which = 1
			continue
		case "-u", "--user":
			which = 2
			continue
		}
		who, err := strconv.Atoi(w)
		if which == 2 && w == "root" {
			who, err = 0, nil
		}
		if err != nil || who < 0 {
			c.errorf("bad %s value: %s", kinds[which], w)
			status = 1
			continue
		}
		if !c.reniceOne(which, who, prio, kinds[which]) {
			status = 1
		}
	}
	return status
}

func (c *cmd) reniceOne(which, who, prio int, kind string) bool {
	get := func() (int, kernel.Errno) {
		n, _, e := c.s.named("getpriority", which, who)
		return 20 - int(n), e
	}
	old, e := get()
	if e != 0 {
		c.errorf("failed to get priority for %d (%s): %s", who, kind, e.Error())
		return false
	}
	if e := c.s.do1("setpriority", which, who, prio); e != 0 {
		c.errorf("failed to set priority for %d (%s): %s", who, kind, e.Error())
		return false
	}
	now, e := get()
	if e != 0 {
		c.errorf("failed to get priority for %d (%s): %s", who, kind, e.Error())
		return false
	}
	c.printf("%d (%s) old priority %d, new priority %d\n", who, kind, old, now)
	return true
}
