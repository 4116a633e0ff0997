package user

import (
	"fmt"
	"strconv"
	"strings"

	"kscope/kernel"
)

var dmesgOptions = []option{{'c', "read-clear", false, 0}, {'C', "clear", false, 0}, {'k', "kernel", false, 0}, {'l', "level", true, 0}, {'f', "facility", true, 0}, {'n', "console-level", true, 0},
	{'r', "raw", false, 0}, {'t', "notime", false, 0}, {'T', "ctime", false, 0}, {'w', "follow", false, 0}, {'W', "follow-new", false, 0}, {'x', "decode", false, 0},
	{'d', "show-delta", false, 0}, {'H', "human", false, 0}, {'P', "nopager", false, 0}, {'S', "syslog", false, 0}, {'L', "color?", true, 0}}

// Actions of syslog(2) (include/linux/syslog.h).
const (
	syslogRead      = 2
	syslogReadAll   = 3
	syslogReadClear = 4
	syslogClear     = 5
	syslogConsole   = 8
)

// dmesgLevels are the names of printk's levels by number.
var dmesgLevels = [...]string{"emerg", "alert", "crit", "err", "warn", "notice", "info", "debug"}

// dmesgRun is what the options of dmesg ask for.
type dmesgRun struct {
	c      *cmd
	on     [256]bool
	levels map[string]bool // nil: all
	last   int64           // µs of the record before
	boot   int64           // wall clock ns at boot
}

// dmesgRecord is one line of the log.
type dmesgRecord struct {
	prio int
	usec int64
	text string
}

// dmesg reads /dev/kmsg as util-linux does, and syslog(2) where there is none.
func dmesg(c *cmd) int {
	found, args, status, done := c.parse(dmesgOptions, 1)
	if done {
		return status
	}
	d := &dmesgRun{c: c}
	for _, o := range found {
		d.on[o.id] = true
		switch o.id {
		case 'l':
			d.levels = map[string]bool{}
			for _, l := range strings.Split(o.value, ",") {
				if !has(dmesgLevels[:], l) {
					c.errorf("unknown level '%s'", l)
					return 1
				}
				d.levels[l] = true
			}
		case 'n':
			n, err := strconv.Atoi(o.value)
			for i, l := range dmesgLevels {
				if l == o.value {
					n, err = i+1, nil
				}
			}
			if err != nil {
				c.errorf("unknown level '%s'", o.value)
				return 1
			}
			return d.syslog("klogctl failed", syslogConsole, n)
		case 'H', 'd', 'f':
			c.errorf("option -%c is not supported", o.id)
			return 1
		}
	}
	if len(args) > 0 {
		c.errorf("bad usage")
		return c.tryHelp(1)
	}
	wall, _ := c.s.ClockGettime(0)
	mono, _ := c.s.ClockGettime(1)
	d.boot = int64(wall) - int64(mono)
	if d.on['C'] {
		return d.syslog("klogctl failed", syslogClear, 0)
	}
	return d.run()
}

func (d *dmesgRun) syslog(what string, action, n int) int {
	if e := d.c.s.do1("syslog", action, 0, n); e != 0 {
		d.c.errorf("%s: %s", what, e.Error())
		return 1
	}
	return 0
}

func (d *dmesgRun) run() int {
	c := d.c
	follow := d.on['w'] || d.on['W']
	fd, e := -1, kernel.ENOENT
	if !d.on['S'] {
		fd, e = c.s.Open("/dev/kmsg", oRdonly|oNonblock, 0)
	}
	if e != 0 {
		return d.old(follow)
	}
	if d.on['W'] {
		c.s.Lseek(fd, 0, 2)
	} else {
		c.s.Lseek(fd, 0, 3) // SEEK_DATA: behind the last -C
	}
	for {
		b, e := c.s.Read(fd, 8192)
		if e == kernel.EAGAIN && follow {
			return d.follow(fd)
		}
		if e == kernel.EPIPE { // overwritten meanwhile: the next read goes on behind it
			continue
		}
		if e != 0 && e != kernel.EAGAIN {
			c.errorf("read kernel buffer failed: %s", e.Error())
			return 1
		}
		if e != 0 || len(b) == 0 {
			break
		}
		if r, ok := parseKmsg(string(b)); ok {
			d.show(r)
		}
	}
	c.s.Close(fd)
	if d.on['c'] {
		return d.syslog("klogctl failed", syslogClear, 0)
	}
	return 0
}

// follow waits for records from now on, without end.
func (d *dmesgRun) follow(fd int) int {
	const fSetfl = 4
	if !d.c.flush() {
		return 1
	}
	e := d.c.s.do1("fcntl", fd, fSetfl, oRdonly)
	for e == 0 || e == kernel.EPIPE || e == kernel.EINTR {
		var b []byte
		if b, e = d.c.s.Read(fd, 8192); e == 0 {
			if r, ok := parseKmsg(string(b)); ok {
				d.show(r)
			}
			if !d.c.flush() {
				return 1
			}
		}
	}
	d.c.errorf("read kernel buffer failed: %s", e.Error())
	return 1
}

// old is the way by syslog(2).
func (d *dmesgRun) old(follow bool) int {
	const size = 256 << 10
	action := syslogReadAll
	if d.on['c'] {
		action = syslogReadClear
	}
	buf, e := d.c.s.Alloc(size)
	for first := true; e == 0; first = false {
		resp, err := d.c.s.call(&request{nr: sysSyslog, args: [6]uint64{u64(action), buf.Addr, size}, out: []span{{buf.Addr, size, true}}})
		if e = err; e != 0 {
			break
		}
		if !first || !d.on['W'] {
			for _, l := range strings.Split(strings.TrimSuffix(string(resp.data(0)), "\n"), "\n") {
				if r, ok := parseSyslog(l); ok {
					d.show(r)
				}
			}
		}
		if !follow {
			return 0
		}
		if !d.c.flush() {
			return 1
		}
		action = syslogRead
	}
	d.c.errorf("read kernel buffer failed: %s", e.Error())
	return 1
}

// parseKmsg reads PRIO,SEQ,USEC,FLAGS;TEXT (Documentation/ABI/testing/dev-kmsg).
func parseKmsg(record string) (r dmesgRecord, ok bool) {
	head, text, ok := strings.Cut(record, ";")
	f := strings.Split(head, ",")
	if !ok || len(f) < 3 {
		return r, false
	}
	r.prio, _ = strconv.Atoi(f[0])
	r.usec, _ = strconv.ParseInt(f[2], 10, 64)
	r.text, _, _ = strings.Cut(text, "\n")
	return r, true
}

// parseSyslog reads <PRIO>[SEC.USEC] TEXT.
func parseSyslog(line string) (r dmesgRecord, ok bool) {
	rest, ok := strings.CutPrefix(line, "<")
	if !ok {
		return r, false
	}
	prio, rest, _ := strings.Cut(rest, ">")
	r.prio, _ = strconv.Atoi(prio)
	if strings.HasPrefix(rest, "[") {
		stamp, text, _ := strings.Cut(rest[1:], "] ")
		sec, frac, _ := strings.Cut(strings.TrimSpace(stamp), ".")
		s, _ := strconv.ParseInt(sec, 10, 64)
		u, _ := strconv.ParseInt(frac, 10, 64)
		r.usec, rest = s*1e6+u, text
	}
	r.text = rest
	return r, true
}

func (d *dmesgRun) show(r dmesgRecord) {
	level := dmesgLevels[r.prio&7]
	if d.levels != nil && !d.levels[level] {
		return
	}
	text := r.text
	switch {
	case d.on['t']:
	case d.on['T']:
		text = "[" + Strftime("%a %b %e %H:%M:%S %Y", d.boot+r.usec*1000) + "] " + text
	default:
		text = fmt.Sprintf("[%5d.%06d] %s", r.usec/1e6, r.usec%1e6, text)
	}
	switch {
	case d.on['r']:
		text = fmt.Sprintf("<%d>[%5d.%06d] %s", r.prio, r.usec/1e6, r.usec%1e6, r.text)
	case d.on['x']:
		text = fmt.Sprintf("%-6s:%-6s: %s", map[bool]string{true: "kern", false: "user"}[r.prio>>3 == 0], level, text)
	}
	d.c.printf("%s\n", text)
}
