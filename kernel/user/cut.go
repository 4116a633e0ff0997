package user

import (
	"bytes"
	"math"
	"strconv"
	"strings"
)

var cutOptions = []option{{'b', "bytes", true, 0}, {'c', "characters", true, 0}, {'f', "fields", true, 0}, {'d', "delimiter", true, 0}, {'n', "", false, 0},
	{'s', "only-delimited", false, 0}, {'z', "zero-terminated", false, 0}, {0, "complement", false, 1}, {0, "output-delimiter", true, 2}}

// cutRange is columns from lo to hi, from 1.
type cutRange struct{ lo, hi int }

// cutRun is what the options ask for. Characters are bytes, as in coreutils.
type cutRun struct {
	c          *cmd
	fields     bool
	ranges     []cutRange
	complement bool
	delim      byte
	out        string
	outSet     bool
	only       bool
	end        byte
}

func cut(c *cmd) int {
	found, files, status, done := c.parse(cutOptions, 1)
	if done {
		return status
	}
	r := &cutRun{c: c, delim: '\t', end: '\n'}
	lists, delimSet, list := 0, false, ""
	for _, o := range found {
		switch o.id {
		case 'b', 'c', 'f':
			lists++
			r.fields, list = o.id == 'f', o.value
		case 'd':
			if len(o.value) > 1 {
				c.errorf("the delimiter must be a single character")
				return c.tryHelp(1)
			}
			delimSet, r.delim = true, append([]byte(o.value), 0)[0]
		case 's':
			r.only = true
		case 'z':
			r.end = 0
		case 1:
			r.complement = true
		case 2:
			r.out, r.outSet = o.value, true
		}
	}
	msg := ""
	switch {
	case lists == 0:
		msg = "you must specify a list of bytes, characters, or fields"
	case lists > 1:
		msg = "only one list may be specified"
	case delimSet && !r.fields:
		msg = "an input delimiter may be specified only when operating on fields"
	case r.only && !r.fields:
		msg = "suppressing non-delimited lines makes sense\n\tonly when operating on fields"
	default:
		msg = r.parse(list)
	}
	if msg != "" {
		c.errorf("%s", msg)
		return c.tryHelp(1)
	}
	if !r.outSet && r.fields {
		r.out = string(r.delim)
	}
	for _, file := range orStdin(files) {
		in, ok := c.input(file, "")
		if !ok {
			status = 1
			continue
		}
		for {
			text, _, ok := in.line(r.end)
			if !ok {
				break
			}
			r.line(text)
		}
		if in.err != 0 {
			c.fail(file, in.err)
			status = 1
		}
		in.close()
	}
	return status
}

// parse reads a list like 1,3-5,7-; the messages are those of set_fields() in src/set-fields.c.
func (r *cutRun) parse(list string) string {
	what := map[bool][2]string{false: {"byte/character positions are numbered from 1", "invalid byte or character range"},
		true: {"fields are numbered from 1", "invalid field range"}}[r.fields]
	for _, part := range strings.FieldsFunc(list, func(c rune) bool { return c == ',' || c == ' ' || c == '\t' }) {
		lo, hi, isRange := strings.Cut(part, "-")
		if strings.Trim(lo+hi, "0123456789") != "" {
			if r.fields {
				return "invalid field value " + quoted(part)
			}
			return "invalid byte/character position " + quoted(part)
		}
		if lo == "" && hi == "" {
			return "invalid range with no endpoint: -"
		}
		a, b := 1, math.MaxInt
		if lo != "" {
			a, _ = strconv.Atoi(lo)
		}
		if hi != "" {
			b, _ = strconv.Atoi(hi)
		}
		if !isRange {
			b = a
		}
		if a == 0 || b == 0 {
			return what[0]
		}
		if b < a {
			return "invalid decreasing range"
		}
		r.ranges = append(r.ranges, cutRange{a, b})
	}
	if len(r.ranges) == 0 {
		return what[0]
	}
	return ""
}

func (r *cutRun) wants(n int) bool {
	for _, x := range r.ranges {
		if n >= x.lo && n <= x.hi {
			return !r.complement
		}
	}
	return r.complement
}

func (r *cutRun) line(text []byte) {
	var out []byte
	if !r.fields {
		gap := false
		for i, b := range text {
			if !r.wants(i + 1) {
				gap = len(out) > 0
				continue
			}
			if gap {
				out = append(out, r.out...)
				gap = false
			}
			out = append(out, b)
		}
		r.c.print(append(out, r.end)...)
		return
	}
	fields := bytes.Split(text, []byte{r.delim})
	if len(fields) == 1 {
		if !r.only {
			r.c.print(text...)
			r.c.print(r.end)
		}
		return
	}
	any := false
	for i, f := range fields {
		if r.wants(i + 1) {
			if any {
				out = append(out, r.out...)
			}
			out = append(out, f...)
			any = true
		}
	}
	r.c.print(append(out, r.end)...)
}

var pasteOptions = []option{{'d', "delimiters", true, 0}, {'s', "serial", false, 0}, {'z', "zero-terminated", false, 0}}

func paste(c *cmd) int {
	found, files, status, done := c.parse(pasteOptions, 1)
	if done {
		return status
	}
	delims, serial, end := "\t", false, byte('\n')
	for _, o := range found {
		switch o.id {
		case 'd':
			delims, _ = unescape(o.value)
		case 's':
			serial = true
		case 'z':
			end = 0
		}
	}
	between := func(i int) []byte {
		if delims == "" || delims[i%len(delims)] == 0 {
			return nil
		}
		return []byte{delims[i%len(delims)]}
	}
	var ins []*input
	var stdin *input
	for _, file := range orStdin(files) {
		if file == "-" && stdin != nil {
			ins = append(ins, stdin)
			continue
		}
		in, ok := c.input(file, "")
		if !ok {
			status = 1
			if serial {
				continue
			}
			return status
		}
		ins = append(ins, in)
		if file == "-" {
			stdin = in
		}
	}
	if serial {
		for _, in := range ins {
			c.print(bytes.Join(interleave(in.lines(end), between), nil)...)
			c.print(end)
		}
		return status
	}
	for {
		row, any := make([][]byte, len(ins)), false
		for i, in := range ins {
			text, _, ok := in.line(end)
			row[i], any = text, any || ok
		}
		if !any {
			return status
		}
		c.print(bytes.Join(interleave(row, between), nil)...)
		c.print(end)
	}
}

// interleave puts separators between the cells.
func interleave(cells [][]byte, between func(int) []byte) (out [][]byte) {
	for i, cell := range cells {
		if i > 0 {
			out = append(out, between(i-1))
		}
		out = append(out, cell)
	}
	return out
}
