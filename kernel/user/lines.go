package user

import (
	"bytes"
	"slices"
	"strconv"
	"strings"

	"kscope/kernel"
)

// The small filters of lines: tac, rev, uniq, comm, paste, tee, yes, seq is elsewhere.

var tacOptions = []option{{'b', "before", false, 0}, {'r', "regex", false, 0}, {'s', "separator", true, 0}}

func tac(c *cmd) int {
	found, files, status, done := c.parse(tacOptions, 1)
	if done {
		return status
	}
	sep, before := "\n", false
	for _, o := range found {
		switch o.id {
		case 'b':
			before = true
		case 's':
			if sep = o.value; sep == "" {
				c.errorf("separator cannot be empty")
				return 1
			}
		case 'r':
			c.errorf("option -r is not supported")
			return 1
		}
	}
	for _, file := range orStdin(files) {
		in, ok := c.input(file, "failed to open %s for reading: %s")
		if !ok {
			status = 1
			continue
		}
		text := in.all()
		if in.err != 0 {
			c.errorf("%s: read error: %s", shellName(file), in.err.Error())
			status = 1
		}
		c.s.Hold(len(text) + lineOverhead*strings.Count(string(text), sep))
		in.close()
		var parts []string
		if before {
			parts = strings.SplitAfter(string(text), sep)
			for i, p := range parts { // the separator belongs to what follows it
				p = strings.TrimSuffix(p, sep)
				if i > 0 {
					p = sep + p
				}
				parts[i] = p
			}
		} else {
			parts = strings.SplitAfter(string(text), sep)
		}
		slices.Reverse(parts)
		c.print([]byte(strings.Join(parts, ""))...)
	}
	return status
}

func rev(c *cmd) int {
	_, files, status, done := c.parse(nil, 1)
	if done {
		return status
	}
	for _, file := range orStdin(files) {
		in, e := c.tryInput(file)
		if e != 0 {
			c.errorf("cannot open %s: %s", file, e.Error())
			status = 1
			continue
		}
		for {
			text, whole, ok := in.line('\n')
			if !ok {
				break
			}
			out := []rune(string(text))
			slices.Reverse(out)
			c.print([]byte(string(out))...)
			if whole {
				c.print('\n')
			}
		}
		in.close()
	}
	return status
}

var uniqOptions = []option{{'c', "count", false, 0}, {'d', "repeated", false, 0}, {'D', "", false, 0}, {'f', "skip-fields", true, 0}, {'i', "ignore-case", false, 0},
	{'s', "skip-chars", true, 0}, {'u', "unique", false, 0}, {'w', "check-chars", true, 0}, {'z', "zero-terminated", false, 0}}

// uniqRun is what the options of uniq ask for.
type uniqRun struct {
	c                      *cmd
	count, dup, all, only  bool
	fold                   bool
	fields, chars, compare int
	end                    byte
}

func uniq(c *cmd) int {
	found, files, status, done := c.parse(uniqOptions, 1)
	if done {
		return status
	}
	u := &uniqRun{c: c, compare: -1, end: '\n'}
	for _, o := range found {
		n, err := strconv.Atoi(o.value)
		if o.value != "" && (err != nil || n < 0) {
			what := map[byte]string{'f': "fields to skip", 's': "bytes to skip", 'w': "bytes to compare"}[o.id]
			c.errorf("%s: invalid number of %s", shellName(o.value), what)
			return 1
		}
		switch o.id {
		case 'c':
			u.count = true
		case 'd':
			u.dup = true
		case 'D':
			u.all, u.dup = true, true
		case 'u':
			u.only = true
		case 'i':
			u.fold = true
		case 'f':
			u.fields = n
		case 's':
			u.chars = n
		case 'w':
			u.compare = n
		case 'z':
			u.end = 0
		}
	}
	if u.count && u.all {
		c.errorf("printing all duplicated lines and repeat counts is meaningless")
		return c.tryHelp(1)
	}
	if len(files) > 2 {
		c.errorf("extra operand %s", quoted(files[2]))
		return c.tryHelp(1)
	}
	in, ok := c.input(orStdin(files)[0], "")
	if !ok {
		return 1
	}
	defer in.close()
	if len(files) == 2 && files[1] != "-" {
		fd, e := c.s.Open(files[1], oWronly|oCreat|oTrunc, 0o666)
		if e != 0 {
			c.fail(files[1], e)
			return 1
		}
		c.s.Dup2(fd, 1)
		c.s.Close(fd)
	}
	u.run(in)
	if in.err != 0 {
		c.errorf("error reading %s", quoted(in.file))
		return 1
	}
	return 0
}

func (u *uniqRun) run(in *input) {
	var group [][]byte
	for {
		text, _, ok := in.line(u.end)
		if ok && len(group) > 0 && u.same(group[0], text) {
			group = append(group, text)
			continue
		}
		u.flush(group)
		if !ok {
			return
		}
		group = [][]byte{text}
	}
}

func (u *uniqRun) flush(group [][]byte) {
	n := len(group)
	if n == 0 || u.dup && n == 1 || u.only && n > 1 {
		return
	}
	if !u.all {
		group = group[:1]
	}
	for _, l := range group {
		if u.count {
			u.c.printf("%7d ", n)
		}
		u.c.print(l...)
		u.c.print(u.end)
	}
}

func (u *uniqRun) same(a, b []byte) bool {
	a, b = u.key(a), u.key(b)
	if u.fold {
		return bytes.EqualFold(a, b)
	}
	return bytes.Equal(a, b)
}

func (u *uniqRun) key(l []byte) []byte {
	for range u.fields {
		l = bytes.TrimLeft(l, " \t")
		i := bytes.IndexAny(l, " \t")
		if i < 0 {
			return nil
		}
		l = l[i:]
	}
	l = l[min(u.chars, len(l)):]
	if u.compare >= 0 {
		l = l[:min(u.compare, len(l))]
	}
	return l
}

var commOptions = []option{{'1', "", false, 0}, {'2', "", false, 0}, {'3', "", false, 0}, {0, "check-order", false, 4}, {0, "nocheck-order", false, 5},
	{0, "output-delimiter", true, 6}, {0, "total", false, 7}, {'z', "zero-terminated", false, 0}}

func comm(c *cmd) int {
	found, files, status, done := c.parse(commOptions, 1)
	if done {
		return status
	}
	var hide [256]bool
	delim, end := "\t", byte('\n')
	for _, o := range found {
		hide[o.id] = true
		switch o.id {
		case 6:
			delim = o.value
		case 'z':
			end = 0
		}
	}
	if len(files) < 2 {
		c.errorf(map[int]string{0: "missing operand", 1: "missing operand after %s"}[len(files)], anys(files)...)
		return c.tryHelp(1)
	}
	if len(files) > 2 {
		c.errorf("extra operand %s", quoted(files[2]))
		return c.tryHelp(1)
	}
	var in [2]*input
	for i := range in {
		var ok bool
		if in[i], ok = c.input(files[i], ""); !ok {
			return 1
		}
		defer in[i].close()
	}
	total := [3]int{}
	put := func(col int, text []byte) {
		total[col]++
		if hide['1'+col] {
			return
		}
		for k := range col {
			if !hide['1'+k] {
				c.print([]byte(delim)...)
			}
		}
		c.print(text...)
		c.print(end)
	}
	sorted := commMerge(in, end, put, func(i int) { c.errorf("file %d is not in sorted order", i+1) }, !hide[5])
	if hide[7] {
		c.printf("%d%s%d%s%d%stotal\n", total[0], delim, total[1], delim, total[2], delim)
	}
	if !sorted && !hide[5] {
		if !hide[4] {
			c.errorf("input is not in sorted order")
		}
		return 1
	}
	return 0
}

func anys(files []string) (out []any) {
	for _, f := range files {
		out = append(out, quoted(f))
	}
	return out
}

// commMerge walks both inputs; it reports whether each was in order.
func commMerge(in [2]*input, end byte, put func(int, []byte), warn func(int), check bool) bool {
	var line, prev [2][]byte
	var ok, warned [2]bool
	unpaired := false
	next := func(i int) {
		prev[i] = line[i]
		line[i], _, ok[i] = in[i].line(end)
		if ok[i] && prev[i] != nil && bytes.Compare(prev[i], line[i]) > 0 && !warned[i] && check && unpaired {
			warned[i] = true
			warn(i)
		}
	}
	next(0)
	next(1)
	for ok[0] || ok[1] {
		d := 0
		switch {
		case !ok[0]:
			d = 1
		case !ok[1]:
			d = -1
		default:
			d = bytes.Compare(line[0], line[1])
		}
		unpaired = unpaired || d != 0
		switch {
		case d < 0:
			put(0, line[0])
			next(0)
		case d > 0:
			put(1, line[1])
			next(1)
		default:
			put(2, line[0])
			next(0)
			next(1)
		}
	}
	return !warned[0] && !warned[1]
}

var teeOptions = []option{{'a', "append", false, 0}, {'i', "ignore-interrupts", false, 0}, {'p', "output-error?", true, 0}}

func tee(c *cmd) int {
	found, files, status, done := c.parse(teeOptions, 1)
	if done {
		return status
	}
	flags := oWronly | oCreat | oTrunc
	for _, o := range found {
		switch o.id {
		case 'a':
			flags = oWronly | oCreat | oAppend
		case 'i':
			c.s.Signal(sigInt, Ignore)
		case 'p':
			c.s.Signal(sigPipe, Ignore)
		}
	}
	type output struct {
		fd   int
		name string
	}
	outs := []output{{1, "standard output"}}
	for _, f := range files {
		if f == "-" {
			outs = append(outs, output{1, "standard output"})
			continue
		}
		fd, e := c.s.Open(f, flags, 0o666)
		if e != 0 {
			c.fail(f, e)
			status = 1
			continue
		}
		outs = append(outs, output{fd, f})
	}
	for len(outs) > 0 {
		b, e := c.s.Read(0, 8192)
		if e != 0 {
			c.errorf("read error: %s", e.Error())
			return 1
		}
		if len(b) == 0 {
			break
		}
		outs = slices.DeleteFunc(outs, func(o output) bool {
			e := c.writeAll(o.fd, b)
			if e != 0 && !(o.fd == 1 && e == kernel.EPIPE) {
				c.fail(o.name, e)
				status = 1
			}
			return e != 0
		})
	}
	for _, o := range outs {
		if o.fd != 1 {
			if e := c.s.Close(o.fd); e != 0 {
				c.fail(o.name, e)
				status = 1
			}
		}
	}
	return status
}

func yes(c *cmd) int {
	_, words, status, done := c.parse(nil, 1)
	if done {
		return status
	}
	if len(words) == 0 {
		words = []string{"y"}
	}
	line := strings.Join(words, " ") + "\n"
	block := []byte(strings.Repeat(line, max(1, 8192/len(line))))
	for {
		if e := c.writeAll(1, block); e != 0 {
			c.errorf("standard output: %s", e.Error())
			return 1
		}
	}
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
