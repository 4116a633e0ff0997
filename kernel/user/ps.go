package user

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// psTask is what /proc tells of a process.
type psTask struct {
	pid     int
	comm    string
	stat    []string // fields of /proc/PID/stat behind the comm; [0] is the state
	uid     uint32
	args    string
	run     *psRun
	threads int
}

// field is field n of /proc/PID/stat as proc(5) numbers them, from 3.
func (t *psTask) field(n int) int64 {
	if n-3 >= len(t.stat) {
		return 0
	}
	v, _ := strconv.ParseInt(t.stat[n-3], 10, 64)
	return v
}

// psColumn is one column: its heading, its least width (negative: to the left), and a task's cell.
type psColumn struct {
	key, head string
	width     int
	cell      func(t *psTask) string
}

// psRun is one run of ps.
type psRun struct {
	c     *cmd
	names *lsRun
	now   int64 // ticks since boot
	hz    int64
}

func psColumns() []psColumn {
	num := func(n int) func(t *psTask) string {
		return func(t *psTask) string { return strconv.FormatInt(t.field(n), 10) }
	}
	user := func(t *psTask) string { return t.run.names.owner(t.uid) }
	comm := func(t *psTask) string { return t.comm }
	args := func(t *psTask) string { return t.args }
	pid := func(t *psTask) string { return strconv.Itoa(t.pid) }
	rows := []psColumn{
		{"pid", "PID", 7, pid}, {"tid", "TID", 7, pid}, {"lwp", "LWP", 7, pid}, {"spid", "SPID", 7, pid}, {"ppid", "PPID", 7, num(4)}, {"pgid", "PGID", 7, num(5)}, {"pgrp", "PGRP", 7, num(5)},
		{"sid", "SID", 7, num(6)}, {"sess", "SESS", 7, num(6)}, {"user", "USER", -8, user}, {"euser", "EUSER", -8, user}, {"uname", "USER", -8, user}, {"uid", "UID", 5, func(t *psTask) string { return fmt.Sprint(t.uid) }},
		{"euid", "EUID", 5, func(t *psTask) string { return fmt.Sprint(t.uid) }}, {"comm", "COMMAND", -15, comm}, {"ucmd", "CMD", -15, comm}, {"ucomm", "COMMAND", -15, comm},
		{"args", "COMMAND", -27, args}, {"cmd", "CMD", -27, args}, {"command", "COMMAND", -27, args}, {"s", "S", -1, func(t *psTask) string { return t.stat[0] }},
		{"state", "S", -1, func(t *psTask) string { return t.stat[0] }}, {"stat", "STAT", -4, (*psTask).state}, {"ni", "NI", 3, num(19)}, {"nice", "NI", 3, num(19)},
		{"pri", "PRI", 3, func(t *psTask) string { return strconv.FormatInt(39-t.field(18), 10) }}, {"rtprio", "RTPRIO", 6, (*psTask).rtprio}, {"psr", "PSR", 3, num(39)},
		{"cls", "CLS", 3, (*psTask).class}, {"class", "CLS", 3, (*psTask).class}, {"policy", "POL", 3, (*psTask).class}, {"tty", "TT", -8, func(*psTask) string { return "?" }},
		{"tt", "TT", -8, func(*psTask) string { return "?" }}, {"tname", "TTY", -8, func(*psTask) string { return "?" }}, {"time", "TIME", 8, (*psTask).cpuTime}, {"cputime", "TIME", 8, (*psTask).cpuTime},
		{"etime", "ELAPSED", 11, (*psTask).elapsed}, {"etimes", "ELAPSED", 7, func(t *psTask) string { return strconv.FormatInt(t.age(), 10) }}, {"wchan", "WCHAN", -6, (*psTask).wchan},
		{"vsz", "VSZ", 6, func(t *psTask) string { return strconv.FormatInt(t.field(23)/1024, 10) }}, {"rss", "RSS", 5, func(t *psTask) string { return strconv.FormatInt(t.field(24)*4, 10) }},
		{"nlwp", "NLWP", 4, num(20)}, {"thcount", "THCNT", 5, num(20)}, {"c", "C", 2, func(t *psTask) string { return strconv.FormatInt(t.percent()/10, 10) }},
		{"pcpu", "%CPU", 4, (*psTask).pcpu}, {"%cpu", "%CPU", 4, (*psTask).pcpu}, {"pmem", "%MEM", 4, func(*psTask) string { return "0.0" }},
		{"stime", "STIME", 5, (*psTask).start}, {"start", "STARTED", 8, (*psTask).start}, {"bsdtime", "TIME", 6, (*psTask).bsdTime}, {"bsdstart", "START", 6, (*psTask).start},
	}
	return rows
}

func (t *psTask) state() string {
	s := t.stat[0]
	if ni := t.field(19); ni < 0 {
		s += "<"
	} else if ni > 0 {
		s += "N"
	}
	if t.field(6) == int64(t.pid) {
		s += "s"
	}
	if t.field(20) > 1 {
		s += "l"
	}
	return s
}

func (t *psTask) rtprio() string {
	if p := t.field(40); p > 0 {
		return strconv.FormatInt(p, 10)
	}
	return "-"
}

func (t *psTask) class() string {
	if p := t.field(41); p >= 0 && p < 7 {
		return [...]string{"TS", "FF", "RR", "B", "ISO", "IDL", "DLN"}[p]
	}
	return "?"
}

func (t *psTask) used() int64 { return (t.field(14) + t.field(15)) / t.run.hz }
func (t *psTask) age() int64  { return max(0, (t.run.now-t.field(22))/t.run.hz) }

// percent is the share of a CPU since the start, in tenths of a percent.
func (t *psTask) percent() int64 {
	if age := t.run.now - t.field(22); age > 0 {
		return min(999, (t.field(14)+t.field(15))*1000/age)
	}
	return 0
}

func (t *psTask) pcpu() string { p := t.percent(); return fmt.Sprintf("%d.%d", p/10, p%10) }

func (t *psTask) cpuTime() string {
	s := t.used()
	return fmt.Sprintf("%02d:%02d:%02d", s/3600, s/60%60, s%60)
}

func (t *psTask) bsdTime() string {
	s := t.used()
	return fmt.Sprintf("%d:%02d", s/60, s%60)
}

func (t *psTask) elapsed() string {
	s := t.age()
	text := fmt.Sprintf("%02d:%02d", s/60%60, s%60)
	if s >= 3600 {
		text = fmt.Sprintf("%02d:", s/3600%24) + text
	}
	if s >= 86400 {
		text = fmt.Sprintf("%d-", s/86400) + text
	}
	return text
}

func (t *psTask) start() string {
	ns, _ := t.run.c.s.ClockGettime(0)
	return Strftime("%H:%M", int64(ns)-t.age()*1e9)
}

func (t *psTask) wchan() string {
	text, e := t.run.c.readFile(fmt.Sprintf("/proc/%d/wchan", t.pid))
	if e != 0 || len(text) == 0 || string(text) == "0" {
		return "-"
	}
	return string(text)
}

// psLayouts are the columns of -f, -l, aux and none of them. Read-only.
var psLayouts = map[string]string{"": "pid,tname,time,ucmd", "f": "user=UID,pid,ppid,c,stime,tname,time,cmd", "u": "user,pid,pcpu,pmem,vsz,rss,tname=TTY,stat,bsdstart,bsdtime,args",
	"l": "s,uid,pid,ppid,c,pri,ni,wchan,tname,time,ucmd", "x": "pid,tname=TTY,stat,bsdtime,args"}

func ps(c *cmd) int {
	if _, e := c.s.Stat("/proc/self/stat"); e != 0 {
		c.s.Write(2, []byte("Error: /proc must be mounted\n  To mount /proc at boot you need an /etc/fstab line like:\n      proc   /proc   proc    defaults\n"+
			"  In the meantime, run \"mount proc /proc -t proc\"\n"))
		return 1
	}
	a := &psArgs{headers: true, args: slices.Clone(c.argv[1:])}
	if !a.parse() {
		c.s.Write(2, []byte("error: unsupported SysV option\n"+psUsage))
		return 1
	}
	if a.columns == nil {
		a.columns = strings.Split(psLayouts[a.layout], ",")
	}
	r := &psRun{c: c, names: &lsRun{c: c, on: map[byte]bool{}}, hz: 100}
	mono, _ := c.s.ClockGettime(1)
	r.now = int64(mono / 1e7)
	return r.print(a.columns, a.headers, func(t *psTask) bool {
		switch {
		case a.all:
			return true
		case a.pids != nil || a.comms != nil:
			return has(a.pids, strconv.Itoa(t.pid)) || has(a.comms, t.comm)
		}
		return t.field(23) > 0 // no terminals: the user's own programs
	})
}

const psUsage = "\nUsage:\n ps [options]\n\n Try 'ps --help <simple|list|output|threads|misc|all>'\n  or 'ps --help <s|l|o|t|m|a>'\n" +
	" for additional help text.\n\nFor more details see ps(1).\n"

// psArgs is what the command line asks for.
type psArgs struct {
	args                 []string // still to be parsed
	layout               string
	all, headers         bool
	columns, pids, comms []string
}

func psSplit(s string) []string {
	return strings.FieldsFunc(s, func(r rune) bool { return r == ',' || r == ' ' })
}

// value is an option's value: attached to it, or the next word.
func (a *psArgs) value(attached string) []string {
	if attached == "" && len(a.args) > 0 {
		attached, a.args = a.args[0], a.args[1:]
	}
	return psSplit(attached)
}

func (a *psArgs) parse() bool {
	if len(a.args) > 0 && !strings.HasPrefix(a.args[0], "-") && strings.Trim(a.args[0], "auxwfe") == "" { // BSD's letters
		a.layout = "x"
		if strings.Contains(a.args[0], "u") {
			a.layout = "u"
		}
		a.all, a.args = true, a.args[1:]
	}
	for len(a.args) > 0 {
		w := a.args[0]
		a.args = a.args[1:]
		switch {
		case w == "--no-headers" || w == "--no-heading" || w == "h":
			a.headers = false
		case w == "--pid" || strings.HasPrefix(w, "--pid="):
			a.pids = append(a.pids, a.value(strings.TrimPrefix(strings.TrimPrefix(w, "--pid"), "="))...)
		case strings.HasPrefix(w, "-") && len(w) > 1 && w[1] != '-':
			if !a.letters(w) {
				return false
			}
		case w != "" && strings.Trim(w, "0123456789,") == "":
			a.pids = append(a.pids, psSplit(w)...)
		default:
			return false
		}
	}
	return true
}

func (a *psArgs) letters(w string) bool {
	for i := 1; i < len(w); i++ {
		switch w[i] {
		case 'e', 'A':
			a.all = true
		case 'f', 'l':
			a.layout = w[i : i+1]
		case 'w':
		case 'o':
			a.columns = append(a.columns, a.value(w[i+1:])...)
			return true
		case 'p':
			a.pids = append(a.pids, a.value(w[i+1:])...)
			return true
		case 'C':
			a.comms = append(a.comms, a.value(w[i+1:])...)
			return true
		default:
			return false
		}
	}
	return true
}

func (r *psRun) tasks() (out []*psTask) {
	names, _ := r.c.s.ReadDir("/proc")
	for _, n := range names {
		pid, err := strconv.Atoi(n.Name)
		if err != nil {
			continue
		}
		text, e := r.c.readFile("/proc/" + n.Name + "/stat")
		open, end := strings.IndexByte(string(text), '('), strings.LastIndexByte(string(text), ')')
		if e != 0 || open < 0 || end < open || end+2 > len(text) {
			continue // gone meanwhile
		}
		t := &psTask{pid: pid, comm: string(text[open+1 : end]), stat: strings.Fields(string(text[end+1:])), run: r}
		if len(t.stat) == 0 {
			continue
		}
		if st, e := r.c.s.Stat("/proc/" + n.Name); e == 0 {
			t.uid = st.UID
		}
		line, _ := r.c.readFile("/proc/" + n.Name + "/cmdline")
		t.args = strings.ReplaceAll(strings.TrimRight(string(line), "\x00"), "\x00", " ")
		if t.args == "" {
			t.args = "[" + t.comm + "]"
			if t.stat[0] == "Z" {
				t.args += " <defunct>"
			}
		}
		out = append(out, t)
	}
	slices.SortFunc(out, func(a, b *psTask) int { return a.pid - b.pid })
	return out
}

func (r *psRun) print(keys []string, headers bool, want func(*psTask) bool) int {
	table := psColumns()
	var cols []psColumn
	blank := true
	for _, k := range keys {
		key, head, renamed := strings.Cut(k, "=")
		i := slices.IndexFunc(table, func(c psColumn) bool { return c.key == key })
		if i < 0 {
			r.c.s.Write(2, []byte("error: unknown user-defined format specifier \""+key+"\"\n"+psUsage))
			return 1
		}
		col := table[i]
		if renamed {
			col.head = head
		}
		blank = blank && col.head == ""
		cols = append(cols, col)
	}
	status := 1
	line := func(cell func(c psColumn) string) {
		text := ""
		for i, c := range cols {
			if i > 0 {
				text += " "
			}
			v := cell(c)
			if c.width < 0 && i == len(cols)-1 {
				text += v
				continue
			}
			if c.width < 0 && len(v) > -c.width { // only the last column is as long as it is
				v = v[:-c.width]
			}
			text += fmt.Sprintf("%*s", c.width, v)
		}
		r.c.printf("%s\n", strings.TrimRight(text, " "))
	}
	if headers && !blank {
		line(func(c psColumn) string { return c.head })
	}
	for _, t := range r.tasks() {
		if want(t) {
			status = 0
			line(func(c psColumn) string { return c.cell(t) })
		}
	}
	return status
}
