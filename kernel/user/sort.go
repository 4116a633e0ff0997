package user

import (
	"bytes"
	"cmp"
	"slices"
	"strconv"
	"strings"
)

var sortOptions = []option{{'b', "ignore-leading-blanks", false, 0}, {'d', "dictionary-order", false, 0}, {'f', "ignore-case", false, 0},
	{'g', "general-numeric-sort", false, 0}, {'h', "human-numeric-sort", false, 0}, {'i', "ignore-nonprinting", false, 0}, {'M', "month-sort", false, 0},
	{'n', "numeric-sort", false, 0}, {'r', "reverse", false, 0}, {'V', "version-sort", false, 0}, {'c', "check?", true, 1}, {'C', "", false, 0}, {'k', "key", true, 0}, {'m', "merge", false, 0},
	{'o', "output", true, 0}, {'s', "stable", false, 0}, {'t', "field-separator", true, 0}, {'u', "unique", false, 0}, {'z', "zero-terminated", false, 0},
	{'R', "random-sort", false, 0}, {'S', "buffer-size", true, 2}, {'T', "temporary-directory", true, 2}, {0, "parallel", true, 2}}

// sortKey is one -k: fields and characters from 0, to < 0 the end of the line.
type sortKey struct {
	field, char     int
	toField, toChar int
	blankLo         bool // b of the start, of the end
	blankHi         bool
	kind            byte // n g h M V or 0
	dict, fold, bad bool
	printing, rev   bool
	any             bool // has options of its own
}

// sortRun is one run of sort in the C locale.
type sortRun struct {
	c      *cmd
	keys   []sortKey
	global sortKey
	tab    int
	unique bool
	stable bool
	end    byte
}

func sortCommand(c *cmd) int {
	// -c takes no value in its short form.
	opts := append([]option{{'c', "", false, 0}}, sortOptions...)
	found, files, status, done := c.parse(opts, 2)
	if done {
		return status
	}
	r := &sortRun{c: c, tab: -1, end: '\n'}
	check, output := byte(0), ""
	for _, o := range found {
		switch o.id {
		case 'c', 'C':
			check = o.id
		case 1:
			if check = 'c'; o.value == "quiet" || o.value == "silent" {
				check = 'C'
			}
		case 2, 'm':
		case 'o':
			output = o.value
		default:
			if !r.option(o) {
				return 2
			}
		}
	}
	for i := range r.keys {
		if k := &r.keys[i]; !k.any { // keys without options take the global ones
			g := r.global
			g.field, g.char, g.toField, g.toChar = k.field, k.char, k.toField, k.toChar
			*k = g
			k.blankLo, k.blankHi = g.blankLo, g.blankLo
		}
	}
	if len(r.keys) == 0 && (r.global.kind != 0 || r.global.dict || r.global.fold || r.global.printing || r.global.blankLo) {
		k := r.global
		k.toField = -1
		r.keys = []sortKey{k}
	}
	if check != 0 {
		return r.check(orStdin(files), check == 'C')
	}
	lines, ok := r.read(orStdin(files))
	if !ok {
		return 2
	}
	slices.SortStableFunc(lines, r.compare)
	c.s.Work(len(lines) * 16)
	if r.unique {
		lines = slices.CompactFunc(lines, func(a, b []byte) bool { return r.compare(a, b) == 0 })
	}
	if output != "" {
		fd, e := c.s.Open(output, oWronly|oCreat|oTrunc, 0o666)
		if e != 0 {
			c.errorf("open failed: %s: %s", output, e.Error())
			return 2
		}
		c.s.Dup2(fd, 1)
		c.s.Close(fd)
	}
	for _, l := range lines {
		c.print(l...)
		c.print(r.end)
	}
	if !c.flush() {
		return 2
	}
	return 0
}

func (r *sortRun) option(o given) bool {
	switch o.id {
	case 'k':
		k, msg := parseSortKey(o.value)
		if msg != "" {
			if !strings.Contains(msg, "invalid count") {
				msg += ": invalid field specification " + quoted(o.value)
			}
			r.c.errorf("%s", msg)
			return false
		}
		r.keys = append(r.keys, k)
	case 't':
		switch {
		case o.value == "":
			r.c.errorf("empty tab")
			return false
		case o.value == `\0`:
			r.tab = 0
		case len(o.value) > 1:
			r.c.errorf("multi-character tab %s", quoted(o.value))
			return false
		default:
			r.tab = int(o.value[0])
		}
	case 's':
		r.stable = true
	case 'u':
		r.unique = true
	case 'z':
		r.end = 0
	case 'R':
		r.c.errorf("option -R is not supported: nothing here is random")
		return false
	default:
		if old := r.global.kind; !r.global.set(o.id) || old != 0 && r.global.kind != old {
			r.c.errorf("options '-%s' are incompatible", string([]byte{min(old, o.id), max(old, o.id)}))
			return false
		}
	}
	return true
}

// set applies one ordering option.
func (k *sortKey) set(o byte) bool {
	switch o {
	case 'b':
		k.blankLo = true
	case 'd':
		k.dict = true
	case 'f':
		k.fold = true
	case 'i':
		k.printing = true
	case 'r':
		k.rev = true
	case 'n', 'g', 'h', 'M', 'V':
		k.kind = o
	default:
		return false
	}
	return true
}

// parseSortKey reads F[.C][OPTS][,F[.C][OPTS]]; msg is one of key_init's in src/sort.c.
func parseSortKey(text string) (k sortKey, msg string) {
	start, end, two := strings.Cut(text, ",")
	k.toField = -1
	number := func(s *string, what string) int {
		i := 0
		for i < len(*s) && (*s)[i] >= '0' && (*s)[i] <= '9' {
			i++
		}
		n, err := strconv.Atoi((*s)[:i])
		if err != nil {
			msg = "invalid number " + what
			return 0
		}
		*s = (*s)[i:]
		return n
	}
	opts := func(s string, hi bool) {
		for i := range len(s) {
			k.any = true
			if s[i] == 'b' && hi {
				k.blankHi = true
			} else if !k.set(s[i]) && msg == "" {
				msg = "stray character in field spec"
			}
		}
	}
	k.field = number(&start, "at field start")
	if k.field == 0 {
		if msg == "" {
			msg = "field number is zero"
		} else {
			msg += ": invalid count at start of " + quoted(text)
		}
		return k, msg
	}
	k.field--
	if rest, ok := strings.CutPrefix(start, "."); ok {
		start = rest
		if k.char = number(&start, "after '.'"); k.char == 0 && msg == "" {
			return k, "character offset is zero"
		}
		k.char--
	}
	opts(start, false)
	if two && msg == "" {
		k.toField = number(&end, "after ','")
		if k.toField == 0 && msg == "" {
			return k, "field number is zero"
		}
		k.toField--
		if rest, ok := strings.CutPrefix(end, "."); ok {
			end = rest
			k.toChar = number(&end, "after '.'")
		}
		opts(end, true)
	}
	return k, msg
}

func (r *sortRun) read(files []string) (lines [][]byte, ok bool) {
	for _, file := range files {
		in, e := r.c.tryInput(file)
		if e != 0 {
			r.c.errorf("cannot read: %s: %s", shellName(file), e.Error())
			return nil, false
		}
		lines = append(lines, in.lines(r.end)...)
		in.close()
		if in.err != 0 {
			r.c.errorf("read failed: %s: %s", shellName(file), in.err.Error())
			return nil, false
		}
	}
	return lines, true
}

// check is -c and -C: the first line that is out of order ends it.
func (r *sortRun) check(files []string, quiet bool) int {
	if len(files) > 1 {
		r.c.errorf("extra operand %s not allowed with -c", quoted(files[1]))
		return 2
	}
	lines, ok := r.read(files)
	if !ok {
		return 2
	}
	for i := 1; i < len(lines); i++ {
		if d := r.compare(lines[i-1], lines[i]); d > 0 || d == 0 && r.unique {
			if !quiet {
				r.c.errorf("%s:%d: disorder: %s", files[0], i+1, lines[i])
			}
			return 1
		}
	}
	return 0
}

func (r *sortRun) compare(a, b []byte) int {
	for i := range r.keys {
		k := &r.keys[i]
		d := k.compare(r.slice(a, k), r.slice(b, k))
		if d != 0 {
			if k.rev {
				return -d
			}
			return d
		}
	}
	if len(r.keys) > 0 && (r.stable || r.unique) {
		return 0
	}
	d := bytes.Compare(a, b)
	if r.global.rev {
		d = -d
	}
	return d
}

func blank(b byte) bool { return b == ' ' || b == '\t' || b == '\n' }

// field gives the bounds of field n of a line; without -t a field starts with the blanks in front of it.
func (r *sortRun) field(line []byte, n int) (lo, hi int) {
	for i := 0; ; i++ {
		hi = lo
		if r.tab >= 0 {
			for hi < len(line) && int(line[hi]) != r.tab {
				hi++
			}
		} else {
			for hi < len(line) && blank(line[hi]) {
				hi++
			}
			for hi < len(line) && !blank(line[hi]) {
				hi++
			}
		}
		if i == n || hi >= len(line) {
			if i < n {
				return len(line), len(line)
			}
			return lo, hi
		}
		lo = hi
		if r.tab >= 0 {
			lo++
		}
	}
}

// slice is the part of a line that a key compares (begfield and limfield in src/sort.c).
func (r *sortRun) slice(line []byte, k *sortKey) []byte {
	lo, _ := r.field(line, k.field)
	if k.blankLo {
		for lo < len(line) && blank(line[lo]) {
			lo++
		}
	}
	lo = min(lo+k.char, len(line))
	hi := len(line)
	if k.toField >= 0 {
		from, end := r.field(line, k.toField)
		hi = end
		if k.toChar > 0 {
			if k.blankHi {
				for from < len(line) && blank(line[from]) {
					from++
				}
			}
			hi = min(from+k.toChar, len(line))
		}
	}
	if hi < lo {
		return nil
	}
	return line[lo:hi]
}

func (k *sortKey) compare(a, b []byte) int {
	switch k.kind {
	case 'n':
		return compareDecimal(a, b)
	case 'g':
		return cmp.Compare(leadingFloat(a), leadingFloat(b))
	case 'h':
		x, y := humanOrder(a), humanOrder(b)
		if x != y {
			return cmp.Compare(x, y)
		}
		return compareDecimal(a, b)
	case 'M':
		return cmp.Compare(monthOf(a), monthOf(b))
	case 'V':
		return compareVersion(string(a), string(b))
	}
	return bytes.Compare(k.filter(a), k.filter(b))
}

// filter applies -d, -f and -i.
func (k *sortKey) filter(s []byte) []byte {
	if !k.dict && !k.fold && !k.printing {
		return s
	}
	var out []byte
	for _, b := range s {
		if k.dict && !blank(b) && (!wordByte(b) || b == '_') || k.printing && (b < 32 || b > 126) {
			continue
		}
		if k.fold && b >= 'a' && b <= 'z' {
			b -= 32
		}
		out = append(out, b)
	}
	return out
}
