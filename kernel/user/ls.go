package user

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"kscope/kernel"
)

var lsOptions = []option{{'1', "", false, 0}, {'a', "all", false, 0}, {'A', "almost-all", false, 0}, {'C', "", false, 0}, {'d', "directory", false, 0},
	{'f', "", false, 0}, {'F', "classify", false, 0}, {'h', "human-readable", false, 0}, {'i', "inode", false, 0}, {'l', "", false, 0},
	{'n', "numeric-uid-gid", false, 0}, {'p', "", false, 0}, {'r', "reverse", false, 0}, {'R', "recursive", false, 0}, {'s', "size", false, 0},
	{'S', "", false, 0}, {'t', "", false, 0}, {'U', "", false, 0}, {'g', "", false, 0}, {'G', "no-group", false, 0}, {'o', "", false, 0},
	{'L', "dereference", false, 0}, {0, "color?", true, 1}, {0, "time-style", true, 2}, {0, "full-time", false, 3}, {0, "sort", true, 4}}

// lsRun is one run of ls. Output is one name a line, as into a pipe, or -l.
type lsRun struct {
	c      *cmd
	on     map[byte]bool
	now    int64
	users  map[uint32]string
	groups map[uint32]string
	status int
	titles bool
	format [2]string // of --time-style: for old files, for recent ones
	any    bool      // something has been printed: a blank line comes first
}

type lsEntry struct {
	name string // to print
	path string
	st   Stat
	bad  bool // no stat
	typ  uint8
	ino  uint64
}

func ls(c *cmd) int {
	found, args, status, done := c.parse(lsOptions, 2)
	if done {
		return status
	}
	l := &lsRun{c: c, on: map[byte]bool{}}
	for _, o := range found {
		l.on[o.id] = true
		switch o.id {
		case 2, 3:
			if !l.timeStyle(o) {
				return 2
			}
		case 1:
			if o.value == "always" || o.value == "yes" || o.value == "force" {
				c.errorf("option --color=%s is not supported", o.value)
				return 2
			}
		case 4:
			letter, ok := map[string]byte{"none": 'U', "size": 'S', "time": 't', "name": 0}[o.value]
			if !ok {
				c.errorf("invalid argument %s for '--sort'", quoted(o.value))
				return c.tryHelp(2)
			}
			l.on[letter] = true
		}
	}
	l.on['l'] = l.on['l'] || l.on['n'] || l.on['g'] || l.on['o'] || l.on[3]
	if l.on['f'] {
		l.on['a'], l.on['U'] = true, true
	}
	if len(args) == 0 {
		args = []string{"."}
	}
	var files, dirs []lsEntry
	for _, a := range args {
		e := lsEntry{name: a, path: a}
		var err kernel.Errno
		if e.st, err = l.statArg(a); err != 0 {
			c.errorf("cannot access %s: %s", quoted(a), err.Error())
			l.status = 2
			continue
		}
		if e.st.Mode&modeType == modeDir && !l.on['d'] {
			dirs = append(dirs, e)
		} else {
			files = append(files, e)
		}
	}
	l.sort(files)
	l.sort(dirs)
	l.list(files)
	l.any = len(files) > 0
	l.titles = len(args) > 1 || l.on['R']
	for _, d := range dirs {
		l.dir(d.path)
	}
	return l.status
}

// timeStyle takes --time-style=+FORMAT or a name, and --full-time.
func (l *lsRun) timeStyle(o given) bool {
	value := o.value
	if o.id == 3 {
		value = "full-iso"
	}
	if format, ok := strings.CutPrefix(value, "+"); ok {
		old, recent, two := strings.Cut(format, "\n")
		if !two {
			recent = old
		}
		l.format = [2]string{old, recent}
		return true
	}
	switch value {
	case "full-iso":
		l.format = [2]string{"%Y-%m-%d %H:%M:%S.%N %z", "%Y-%m-%d %H:%M:%S.%N %z"}
	case "long-iso":
		l.format = [2]string{"%Y-%m-%d %H:%M", "%Y-%m-%d %H:%M"}
	case "iso":
		l.format = [2]string{"%Y-%m-%d ", "%m-%d %H:%M"}
	case "locale":
	default:
		l.c.errorf("invalid argument %s for 'time style'", quoted(value))
		l.c.s.Write(2, []byte("Valid arguments are:\n  - [posix-]full-iso\n  - [posix-]long-iso\n  - [posix-]iso\n  - [posix-]locale\n  - +FORMAT (e.g., +%H:%M) for a 'date'-style format\n"))
		l.c.tryHelp(2)
		return false
	}
	return true
}

// statArg looks through a symbolic link on the command line unless -l, -d or -F forbid it.
func (l *lsRun) statArg(path string) (Stat, kernel.Errno) {
	if (l.on['l'] || l.on['d'] || l.on['F']) && !l.on['L'] {
		return l.c.s.Lstat(path)
	}
	return l.c.s.Stat(path)
}

func (l *lsRun) needStat() bool {
	return l.on['l'] || l.on['F'] || l.on['S'] || l.on['t'] || l.on['s']
}

func (l *lsRun) dir(path string) {
	names, e := l.c.s.ReadDir(path)
	if e != 0 {
		l.c.errorf("cannot open directory %s: %s", quoted(path), e.Error())
		l.status = 2
		return
	}
	if l.titles {
		if l.any {
			l.c.print('\n')
		}
		l.c.printf("%s:\n", path)
	}
	l.any = true
	var list []lsEntry
	for _, n := range names {
		hidden := strings.HasPrefix(n.Name, ".")
		if hidden && !l.on['a'] && (!l.on['A'] || n.Name == "." || n.Name == "..") {
			continue
		}
		ent := lsEntry{name: n.Name, path: strings.TrimSuffix(path, "/") + "/" + n.Name, typ: n.Type, ino: n.Ino}
		if l.needStat() || l.on['p'] && n.Type == 0 || l.on['R'] && n.Type == 0 {
			ent.st, e = l.c.s.Lstat(ent.path)
			if l.on['L'] {
				ent.st, e = l.c.s.Stat(ent.path)
			}
			if e != 0 {
				l.c.errorf("cannot access %s: %s", quoted(ent.path), e.Error())
				l.status = max(l.status, 1)
				ent.bad = true
			}
		}
		list = append(list, ent)
	}
	l.sort(list)
	if l.on['l'] || l.on['s'] {
		blocks := int64(0)
		for _, e := range list {
			blocks += e.st.Blocks
		}
		l.c.printf("total %s\n", l.size((blocks+1)/2, blocks*512))
	}
	l.list(list)
	if l.on['R'] {
		for _, e := range list {
			if (e.typ == 4 || e.st.Mode&modeType == modeDir) && e.name != "." && e.name != ".." {
				l.dir(e.path)
			}
		}
	}
}

// size prints n, or with -h the bytes in the shortest form.
func (l *lsRun) size(n, bytes int64) string {
	if !l.on['h'] {
		return fmt.Sprint(n)
	}
	if bytes < 1024 {
		return fmt.Sprint(bytes)
	}
	v, i := float64(bytes), 0
	for v >= 1024 && i < 6 {
		v, i = v/1024, i+1
	}
	up := func(x float64) float64 { // -h rounds up
		if t := float64(int64(x)); t < x {
			return t + 1
		}
		return x
	}
	if t := up(v*10) / 10; t < 10 {
		return fmt.Sprintf("%.1f%c", t, "BKMGTPE"[i])
	}
	return fmt.Sprintf("%.0f%c", up(v), "BKMGTPE"[i])
}

func (l *lsRun) sort(list []lsEntry) {
	if l.on['U'] {
		return
	}
	slices.SortStableFunc(list, func(a, b lsEntry) int {
		d := 0
		switch {
		case l.on['S']:
			d = cmp.Compare(b.st.Size, a.st.Size)
		case l.on['t']:
			d = cmp.Compare(b.st.Mtime, a.st.Mtime)
		}
		if d == 0 {
			d = strings.Compare(a.name, b.name)
		}
		if l.on['r'] {
			d = -d
		}
		return d
	})
	l.c.s.Work(len(list) * 16)
}

func (l *lsRun) list(list []lsEntry) {
	if !l.on['l'] {
		for _, e := range list {
			if l.on['i'] {
				l.c.printf("%d ", max(e.ino, e.st.Ino))
			}
			if l.on['s'] {
				l.c.printf("%s ", l.size((e.st.Blocks+1)/2, e.st.Blocks*512))
			}
			l.c.printf("%s%s\n", e.name, l.mark(e))
		}
		return
	}
	if len(list) > 0 {
		l.long(list)
	}
}

// mark is -F's and -p's letter behind a name.
func (l *lsRun) mark(e lsEntry) string {
	dir := e.st.Mode&modeType == modeDir || e.st.Mode == 0 && e.typ == 4
	switch {
	case dir && (l.on['F'] || l.on['p']):
		return "/"
	case !l.on['F']:
		return ""
	}
	switch e.st.Mode & modeType {
	case modeLnk:
		if l.on['l'] {
			return ""
		}
		return "@"
	case modeFIFO:
		return "|"
	case modeSock:
		return "="
	case modeReg:
		if e.st.Mode&0o111 != 0 {
			return "*"
		}
	}
	return ""
}

// long prints -l's columns, each as wide as its widest cell.
func (l *lsRun) long(list []lsEntry) {
	if l.now == 0 {
		ns, _ := l.c.s.ClockGettime(0)
		l.now = int64(ns / 1e9)
	}
	var rows [][]string
	var width [5]int
	var dev [2]int // of the numbers of devices
	for _, e := range list {
		if major, minor, ok := e.st.device(); ok {
			dev = [2]int{max(dev[0], len(major)), max(dev[1], len(minor))}
		}
	}
	for _, e := range list {
		row := l.row(e, dev)
		for i := range width {
			width[i] = max(width[i], len(row[i+1]))
		}
		rows = append(rows, row)
	}
	for _, r := range rows {
		if width[0] > 0 { // -i
			l.c.printf("%*s ", width[0], r[1])
		}
		l.c.printf("%s %*s ", r[0], width[1], r[2])
		if !l.on['g'] {
			l.c.printf("%-*s ", width[2], r[3])
		}
		if !l.on['o'] && !l.on['G'] {
			l.c.printf("%-*s ", width[3], r[4])
		}
		l.c.printf("%*s %s %s\n", width[4], r[5], r[6], r[7])
	}
}

// device is the numbers of a device node.
func (st *Stat) device() (major, minor string, ok bool) {
	t := st.Mode & modeType
	return fmt.Sprint(st.Rdev >> 8 & 0xfff), fmt.Sprint(st.Rdev&0xff | st.Rdev>>12&0xfff00), t == modeChr || t == modeBlk
}

// row is mode, inode ("" without -i), links, owner, group, size, date, name.
func (l *lsRun) row(e lsEntry, dev [2]int) []string {
	st := &e.st
	if e.bad {
		return []string{"??????????", "", "?", "?", "?", "?", "           ?", e.name}
	}
	ino := ""
	if l.on['i'] {
		ino = fmt.Sprint(st.Ino)
	}
	size := l.size(st.Size, st.Size)
	if major, minor, ok := st.device(); ok {
		size = fmt.Sprintf("%*s, %*s", dev[0], major, dev[1], minor)
	}
	name := e.name + l.mark(e)
	if st.Mode&modeType == modeLnk {
		if to, err := l.c.s.Readlink(e.path); err == 0 {
			name += " -> " + to
		}
	}
	return []string{modeString(st.Mode), ino, fmt.Sprint(st.Nlink), l.owner(st.UID), l.group(st.GID), size, l.date(st.Mtime, st.MtimeNsec), name}
}

// date is the time in the C locale: with the hour when it is within half a year back, else with the year.
func (l *lsRun) date(sec, ns int64) string {
	if l.format[0] != "" {
		format := l.format[1]
		if sec <= l.now-31556952/2 || sec > l.now {
			format = l.format[0]
		}
		return Strftime(format, sec*1e9+ns)
	}
	t := time.Unix(sec, 0).UTC()
	const halfYear = 31556952 / 2
	if sec > l.now-halfYear && sec <= l.now {
		return t.Format("Jan _2 15:04")
	}
	return t.Format("Jan _2  2006")
}

func (l *lsRun) owner(id uint32) string {
	if l.on['n'] {
		return fmt.Sprint(id)
	}
	if l.users == nil {
		l.users = l.names("/etc/passwd")
	}
	return nameOr(l.users[id], fmt.Sprint(id))
}

func (l *lsRun) group(id uint32) string {
	if l.on['n'] {
		return fmt.Sprint(id)
	}
	if l.groups == nil {
		l.groups = l.names("/etc/group")
	}
	return nameOr(l.groups[id], fmt.Sprint(id))
}

// names reads name:…:id: lines.
func (l *lsRun) names(file string) map[uint32]string {
	out := map[uint32]string{}
	fd, e := l.c.s.Open(file, oRdonly, 0)
	if e != 0 {
		return out
	}
	defer l.c.s.Close(fd)
	var text []byte
	for {
		b, e := l.c.s.Read(fd, 4096)
		if e != 0 || len(b) == 0 {
			break
		}
		text = append(text, b...)
	}
	for _, line := range strings.Split(string(text), "\n") {
		f := strings.Split(line, ":")
		var id uint32
		if len(f) < 3 {
			continue
		}
		if _, err := fmt.Sscan(f[2], &id); err == nil && out[id] == "" {
			out[id] = f[0]
		}
	}
	return out
}

// modeString is filemodestring() of gnulib.
func modeString(mode uint32) string {
	b := []byte("?rwxrwxrwx")
	for i, t := range []uint32{modeReg, modeDir, modeLnk, modeChr, modeBlk, modeFIFO, modeSock} {
		if mode&modeType == t {
			b[0] = "-dlcbps"[i]
		}
	}
	for i := range 9 {
		if mode>>(8-i)&1 == 0 {
			b[i+1] = '-'
		}
	}
	for _, s := range []struct {
		bit  uint32
		at   int
		with byte
	}{{0o4000, 3, 's'}, {0o2000, 6, 's'}, {0o1000, 9, 't'}} {
		if mode&s.bit != 0 {
			if b[s.at] == '-' {
				s.with -= 'a' - 'A'
			}
			b[s.at] = s.with
		}
	}
	return string(b)
}
