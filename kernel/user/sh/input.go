package sh

import (
	"encoding/binary"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"kscope/kernel"
	"kscope/kernel/user"
)

// readLine reads up to a delimiter. From a file it reads blocks and puts the position back behind the line; from a pipe it
// reads byte by byte, so that the next reader finds the rest (zreadc and zsyncfd in lib/sh/zread.c).
func (sh *Shell) readLine(fd int, delim byte) (line string, ok bool) {
	return sh.readUpTo(fd, delim, -1)
}

// readUpTo is readLine with at most max bytes (-1: any number).
func (sh *Shell) readUpTo(fd int, delim byte, max int) (line string, ok bool) {
	var out []byte
	more := func(c byte) {
		if c != 0 { // bash keeps none
			out = sh.collect(out, []byte{c})
		}
	}
	if _, e := sh.s.Lseek(fd, 0, 1); e == 0 {
		for {
			b, e := sh.s.Read(fd, 4096)
			if e != 0 || len(b) == 0 {
				return string(out), false
			}
			for i, c := range b {
				if c != delim {
					more(c)
				}
				if c == delim || max > 0 && len(out) == max {
					if rest := len(b) - i - 1; rest > 0 {
						sh.s.Lseek(fd, int64(-rest), 1)
					}
					return string(out), true
				}
			}
		}
	}
	for {
		if sh.deadline > 0 && !sh.readable(fd, sh.deadline) {
			return string(out), false
		}
		b, e := sh.s.Read(fd, 1)
		if e == kernel.EINTR {
			if sh.interrupted() {
				return string(out), false
			}
			continue
		}
		if e != 0 || len(b) == 0 {
			sh.readErr = e
			return string(out), false
		}
		if b[0] == delim {
			return string(out), true
		}
		if more(b[0]); max > 0 && len(out) == max {
			return string(out), true
		}
	}
}

// readable waits until a descriptor can be read, or until a time; at that time the deadline is taken away.
func (sh *Shell) readable(fd int, until uint64) bool {
	const pollin = 1
	for {
		left := uint64(0)
		if now, _ := sh.s.ClockGettime(clockMonotonic); now < until {
			left = until - now
		}
		set := binary.LittleEndian.AppendUint16(binary.LittleEndian.AppendUint32(nil, uint32(fd)), pollin)
		n, _, err := sh.s.CallNamed("poll", append(set, 0, 0), 1, int((left+999_999)/1e6))
		switch {
		case err == kernel.EINTR && left > 0:
			if sh.interrupted() {
				return false
			}
		case n > 0 || err != nil && err != kernel.EINTR:
			return true
		case left == 0 || n == 0:
			sh.deadline = 0
			return false
		}
	}
}

// interrupted runs the traps of a signal that has ended a read; true says that the read is over.
func (sh *Shell) interrupted() bool {
	sh.poll()
	if sh.interactive && sh.pending&(1<<(sigINT-1)) != 0 {
		sh.pending &^= 1 << (sigINT - 1)
		sh.status = 130
		return false
	}
	status := sh.status
	sh.runTraps()
	sh.status = status
	return sh.flow != flowNone
}

// readArgs are what read was asked for.
type readArgs struct {
	raw, silent bool
	array       string
	delim       byte
	max, fd     int
	exact       bool
	prompt      string
	timeout     bool
	seconds     float64
	names       []string
}

func (sh *Shell) parseRead(argv []string) (r readArgs, status int) {
	const usage = "read [-ers] [-a array] [-d delim] [-i text] [-n nchars] [-N nchars] [-p prompt] [-t timeout] [-u fd] [name ...]"
	r = readArgs{delim: '\n', max: -1}
	args := argv[1:]
	for len(args) > 0 && len(args[0]) > 1 && args[0][0] == '-' {
		opt := args[0]
		args = args[1:]
		if opt == "--" {
			break
		}
		for i := 1; i < len(opt); i++ {
			c := opt[i]
			if strings.IndexByte("ers", c) >= 0 {
				r.raw = r.raw || c == 'r'
				continue
			}
			if strings.IndexByte("adinNptu", c) < 0 {
				return r, sh.badOption("read", "-"+string(c), usage)
			}
			value := opt[i+1:]
			if value == "" {
				if len(args) == 0 {
					sh.errorf("read: -%c: option requires an argument", c)
					return r, sh.usage(usage)
				}
				value, args = args[0], args[1:]
			}
			if status := sh.readOption(&r, c, value); status != 0 {
				return r, status
			}
			break
		}
	}
	r.names = args
	return r, 0
}

func (sh *Shell) readOption(r *readArgs, c byte, value string) int {
	switch c {
	case 'a':
		r.array = value
	case 'd':
		r.delim = 0
		if value != "" {
			r.delim = value[0]
		}
	case 'p':
		r.prompt = value
	case 't':
		n, err := strconv.ParseFloat(value, 64)
		if err != nil || n < 0 {
			sh.errorf("read: %s: invalid timeout specification", value)
			return 1
		}
		r.timeout, r.seconds = true, n
	case 'n', 'N', 'u':
		n, err := strconv.Atoi(value)
		if err != nil || n < 0 {
			what := map[byte]string{'u': "invalid file descriptor specification"}[c]
			if what == "" {
				what = "invalid number"
			}
			sh.errorf("read: %s: %s", value, what)
			return 1
		}
		if c == 'u' {
			r.fd = n
		} else {
			r.max, r.exact = n, c == 'N'
		}
	}
	return 0
}

func readBuiltin(sh *Shell, argv []string) int {
	r, status := sh.parseRead(argv)
	if status != 0 {
		return status
	}
	for _, name := range r.names {
		if !validTarget(name) {
			sh.errorf("read: `%s': not a valid identifier", name)
			return 1
		}
	}
	if _, e := sh.fcntl(r.fd, fGetfd, 0); e != 0 {
		sh.errorf("read: %d: invalid file descriptor: %s", r.fd, e.Error())
		return 1
	}
	if r.prompt != "" && sh.interactive {
		sh.s.Write(2, []byte(r.prompt))
	}
	if r.timeout && r.seconds == 0 {
		if sh.readable(r.fd, 0) {
			return 0
		}
		return 1
	}
	if r.timeout {
		now, _ := sh.s.ClockGettime(clockMonotonic)
		sh.deadline = now + uint64(r.seconds*1e9)
		defer func() { sh.deadline = 0 }()
	}
	line, ok := "", true
	if r.max != 0 {
		delim := r.delim
		line, ok = sh.readUpTo(r.fd, delim, r.max)
		for !r.raw && ok && trailingBackslash(line) && r.delim == '\n' && r.max < 0 {
			var more string
			more, ok = sh.readUpTo(r.fd, delim, r.max)
			line = line[:len(line)-1] + more
		}
	}
	line = strings.ReplaceAll(line, "\x00", "")
	sh.assignRead(&r, line)
	if !ok {
		if r.timeout && sh.deadline == 0 {
			return 128 + sigALRM
		}
		return 1
	}
	return 0
}

func validTarget(name string) bool {
	base, _, _ := strings.Cut(name, "[")
	return syntax.ValidName(base)
}

func trailingBackslash(s string) bool {
	n := 0
	for n < len(s) && s[len(s)-1-n] == '\\' {
		n++
	}
	return n%2 == 1
}

// readFrags is the line with its backslashes taken out unless -r: what they quote is not split.
func readFrags(line string, raw bool) []frag {
	if raw || !strings.Contains(line, `\`) {
		return []frag{{s: line, split: true}}
	}
	var out []frag
	for {
		i := strings.IndexByte(line, '\\')
		if i < 0 {
			return append(out, frag{s: line, split: true})
		}
		out = append(out, frag{s: line[:i], split: true})
		if i+1 < len(line) {
			out = append(out, frag{s: line[i+1 : i+2], quoted: true})
		}
		line = line[min(i+2, len(line)):]
	}
}

// assignRead splits the line among the names; the last one gets what is left with its inner delimiters.
func (sh *Shell) assignRead(r *readArgs, line string) {
	if r.array != "" {
		v := sh.variable(r.array)
		v.list, v.value, v.set = map[int]string{}, "", true
		for i, f := range sh.splitFrags(readFrags(line, r.raw)) {
			v.list[i] = sh.join([]frag(f), "")
		}
		return
	}
	if len(r.names) == 0 {
		sh.set("REPLY", sh.join(readFrags(line, r.raw), ""))
		return
	}
	if r.exact {
		sh.setTarget(r.names[0], line)
		for _, name := range r.names[1:] {
			sh.setTarget(name, "")
		}
		return
	}
	chars := flatten(readFrags(line, r.raw))
	ifs := sh.get("IFS")
	if _, ok := sh.lookup("IFS"); !ok {
		ifs = " \t\n"
	}
	for i, name := range r.names {
		var text string
		text, chars = nextField(chars, ifs, i == len(r.names)-1)
		sh.setTarget(name, text)
	}
}

// setTarget assigns to name or name[key].
func (sh *Shell) setTarget(name, value string) {
	base, key, ok := strings.Cut(name, "[")
	if ok {
		sh.setIndex(base, strings.TrimSuffix(key, "]"), value, false)
		return
	}
	sh.set(name, value)
}

// char is one character of a line that is being split.
type char struct {
	c      byte
	quoted bool
}

func flatten(frags []frag) (out []char) {
	for _, f := range frags {
		for i := 0; i < len(f.s); i++ {
			out = append(out, char{f.s[i], f.quoted})
		}
	}
	return out
}

// nextField takes one field off the front; the last one takes everything, without IFS white space around it (and without
// one delimiter at its end, when that is the only one).
func nextField(chars []char, ifs string, last bool) (string, []char) {
	sep := func(c char) bool { return !c.quoted && strings.IndexByte(ifs, c.c) >= 0 }
	white := func(c char) bool { return sep(c) && strings.IndexByte(" \t\n", c.c) >= 0 }
	for len(chars) > 0 && white(chars[0]) {
		chars = chars[1:]
	}
	n := 0
	for n < len(chars) && !sep(chars[n]) {
		n++
	}
	rest := n
	for rest < len(chars) && white(chars[rest]) {
		rest++
	}
	if rest < len(chars) && sep(chars[rest]) && !white(chars[rest]) {
		rest++
		for rest < len(chars) && white(chars[rest]) {
			rest++
		}
	}
	if last && rest < len(chars) {
		n = len(chars)
		for n > 0 && white(chars[n-1]) {
			n--
		}
	}
	b := make([]byte, n)
	for i := range b {
		b[i] = chars[i].c
	}
	return string(b), chars[min(rest, len(chars)):]
}

// mapfileBuiltin is mapfile [-t] [-n count] [-u fd] [array].
func mapfileBuiltin(sh *Shell, argv []string) int {
	args, trim, max, fd := argv[1:], false, 0, 0
	for len(args) > 0 && len(args[0]) > 1 && args[0][0] == '-' {
		opt := args[0]
		args = args[1:]
		switch {
		case opt == "-t":
			trim = true
		case (opt == "-n" || opt == "-u") && len(args) > 0:
			n, _ := strconv.Atoi(args[0])
			if opt == "-n" {
				max = n
			} else {
				fd = n
			}
			args = args[1:]
		default:
			return sh.badOption(argv[0], opt, argv[0]+" [-d delim] [-n count] [-O origin] [-s count] [-t] [-u fd] [-C callback] [-c quantum] [array]")
		}
	}
	name := "MAPFILE"
	if len(args) > 0 {
		name = args[0]
	}
	v := sh.variable(name)
	v.list, v.value, v.set = map[int]string{}, "", true
	for max == 0 || len(v.list) < max {
		line, ok := sh.readLine(fd, '\n')
		if !ok && line == "" {
			break
		}
		if ok && !trim {
			line += "\n"
		}
		v.list[len(v.list)] = line
	}
	return 0
}

// tms is struct tms of times(2): user, system, children's user and system, in ticks of 10 ms.
func (sh *Shell) tms() (t [4]uint64) {
	_, out, err := sh.s.CallNamed("times", user.Out(32))
	if err == nil && len(out) == 1 && len(out[0]) == 32 {
		for i := range t {
			t[i] = binary.LittleEndian.Uint64(out[0][8*i:])
		}
	}
	return t
}
