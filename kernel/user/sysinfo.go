package user

import (
	"fmt"
	"strconv"
	"strings"

	"kscope/kernel"
)

// uname, hostname, id, sync, kill, sysctl, ping.

var unameOptions = []option{{'a', "all", false, 0}, {'s', "kernel-name", false, 0}, {'n', "nodename", false, 0}, {'r', "kernel-release", false, 0}, {'v', "kernel-version", false, 0},
	{'m', "machine", false, 0}, {'p', "processor", false, 0}, {'i', "hardware-platform", false, 0}, {'o', "operating-system", false, 0}}

func uname(c *cmd) int {
	found, args, status, done := c.parse(unameOptions, 1)
	if done {
		return status
	}
	if len(args) > 0 {
		c.errorf("extra operand %s", quoted(args[0]))
		return c.tryHelp(1)
	}
	f, e := c.s.Uname()
	if e != 0 {
		c.errorf("cannot get system name: %s", e.Error())
		return 1
	}
	want := map[byte]bool{}
	for _, o := range found {
		want[o.id] = true
		if o.id == 'a' {
			for _, w := range []byte("snrvmo") {
				want[w] = true
			}
		}
	}
	if len(want) == 0 {
		want['s'] = true
	}
	values := map[byte]string{'s': f[0], 'n': f[1], 'r': f[2], 'v': f[3], 'm': f[4], 'p': "unknown", 'i': "unknown", 'o': "GNU/Linux"}
	var out []string
	for _, w := range []byte("snrvmpio") {
		if want[w] {
			out = append(out, values[w])
		}
	}
	c.printf("%s\n", strings.Join(out, " "))
	return 0
}

func hostname(c *cmd) int {
	found, args, status, done := c.parse([]option{{'s', "short", false, 0}, {'f', "fqdn", false, 0}, {'F', "file", true, 0}}, 255)
	if done {
		return status
	}
	short, name := false, ""
	for _, o := range found {
		short = short || o.id == 's'
		if o.id == 'F' {
			text, e := c.readFile(o.value)
			if e != 0 {
				c.errorf("can't open `%s'", o.value)
				return 1
			}
			name = strings.TrimSpace(string(text))
		}
	}
	if len(args) > 0 {
		name = args[0]
	}
	if name != "" {
		if e := c.s.do1("sethostname", name, len(name)); e != 0 {
			if e == kernel.EPERM {
				c.errorf("you must be root to change the host name")
			} else {
				c.errorf("sethostname: %s", e.Error())
			}
			return 1
		}
		return 0
	}
	f, e := c.s.Uname()
	if e != 0 {
		c.errorf("gethostname: %s", e.Error())
		return 1
	}
	name = f[1]
	if short {
		name, _, _ = strings.Cut(name, ".")
	}
	c.printf("%s\n", name)
	return 0
}

var idOptions = []option{{'a', "", false, 0}, {'g', "group", false, 0}, {'G', "groups", false, 0}, {'n', "name", false, 0}, {'r', "real", false, 0}, {'u', "user", false, 0}}

func id(c *cmd) int {
	found, args, status, done := c.parse(idOptions, 1)
	if done {
		return status
	}
	var on [256]bool
	for _, o := range found {
		on[o.id] = true
	}
	names := &lsRun{c: c, on: map[byte]bool{}}
	call := func(name string) uint32 {
		n, _, _ := c.s.named(name)
		return uint32(n)
	}
	uid, gid := call("geteuid"), call("getegid")
	if on['r'] {
		uid, gid = call("getuid"), call("getgid")
	}
	if len(args) > 0 {
		row, ok := c.passwd(args[0])
		if !ok {
			c.errorf("%s: no such user", quoted(args[0]))
			return 1
		}
		uid, gid = row[0], row[1]
	}
	show := func(n uint32, name string) string {
		if on['n'] {
			return name
		}
		return fmt.Sprint(n)
	}
	switch {
	case on['n'] && !on['u'] && !on['g'] && !on['G']:
		c.errorf("cannot print only names or real IDs in default format")
		return 1
	case on['u']:
		c.printf("%s\n", show(uid, names.owner(uid)))
	case on['g'], on['G']:
		c.printf("%s\n", show(gid, names.group(gid)))
	default:
		c.printf("uid=%d(%s) gid=%d(%s) groups=%d(%s)\n", uid, names.owner(uid), gid, names.group(gid), gid, names.group(gid))
	}
	return 0
}

// passwd is a user's uid and gid in /etc/passwd.
func (c *cmd) passwd(name string) (ids [2]uint32, ok bool) {
	text, _ := c.readFile("/etc/passwd")
	for _, l := range strings.Split(string(text), "\n") {
		f := strings.Split(l, ":")
		if len(f) < 4 || f[0] != name {
			continue
		}
		for i := range ids {
			n, err := strconv.ParseUint(f[2+i], 10, 32)
			if err != nil {
				return ids, false
			}
			ids[i] = uint32(n)
		}
		return ids, true
	}
	return ids, false
}

// syncCommand writes everything back; operands would be synced one by one.
func syncCommand(c *cmd) int {
	_, files, status, done := c.parse(nil, 1)
	if done {
		return status
	}
	if len(files) == 0 {
		if e := c.s.do1("sync"); e != 0 {
			c.errorf("%s", e.Error())
			return 1
		}
		return 0
	}
	for _, f := range files {
		fd, e := c.s.Open(f, oRdonly|oNonblock, 0)
		if e != 0 {
			c.errorf("error opening %s: %s", quoted(f), e.Error())
			status = 1
			continue
		}
		if e := c.s.do1("fsync", fd); e != 0 {
			c.errorf("error syncing %s: %s", quoted(f), e.Error())
			status = 1
		}
		c.s.Close(fd)
	}
	return status
}

// kill is procps's /bin/kill.
func kill(c *cmd) int {
	args := c.argv[1:]
	sig := sigTerm
	usage := func() int {
		c.s.Write(2, []byte("\nUsage:\n kill [options] <pid> [...]\n\nOptions:\n <pid> [...]            send signal to every <pid> listed\n"+
			" -<signal>, -s, --signal <signal>\n                        specify the <signal> to be sent\n"+
			" -l, --list=[<signal>]  list all signal names, or convert one to a name\n\nFor more details see kill(1).\n"))
		return 1
	}
	if len(args) > 0 && (args[0] == "-l" || args[0] == "--list") {
		if len(args) > 1 {
			n, ok := signalNumber(args[1])
			if !ok || n >= len(signals) {
				c.errorf("unknown signal name %s", args[1])
				return 1
			}
			if _, err := strconv.Atoi(args[1]); err == nil {
				c.printf("%s\n", signals[n])
			} else {
				c.printf("%d\n", n)
			}
			return 0
		}
		c.printf("%s\n", strings.Join(signals[1:], " "))
		return 0
	}
	name := ""
	switch {
	case len(args) > 1 && (args[0] == "-s" || args[0] == "--signal" || args[0] == "-n"):
		name, args = args[1], args[2:]
	case len(args) > 0 && args[0] == "--":
		args = args[1:]
	case len(args) > 0 && len(args[0]) > 1 && args[0][0] == '-' && len(args) > 1:
		name, args = args[0][1:], args[1:]
	}
	if name != "" {
		n, ok := signalNumber(name)
		if !ok {
			c.errorf("unknown signal %s", name)
			return 1
		}
		sig = n
	}
	if len(args) == 0 {
		return usage()
	}
	status := 0
	for _, a := range args {
		pid, err := strconv.Atoi(a)
		if err != nil {
			c.errorf("failed to parse argument: '%s'", a)
			return 1
		}
		if e := c.s.Kill(pid, sig); e != 0 {
			c.errorf("(%d): %s", pid, e.Error())
			status = 1
		}
	}
	return status
}

var sysctlOptions = []option{{'a', "all", false, 0}, {'n', "values", false, 0}, {'N', "names", false, 0}, {'e', "ignore", false, 0}, {'q', "quiet", false, 0}, {'w', "write", false, 0}}

// sysctl is procps's, over /proc/sys.
func sysctl(c *cmd) int {
	found, args, status, done := c.parse(sysctlOptions, 1)
	if done {
		return status
	}
	var on [256]bool
	for _, o := range found {
		on[o.id] = true
	}
	if on['a'] {
		return c.sysctlAll("/proc/sys", &on)
	}
	if len(args) == 0 {
		c.errorf("no variables specified")
		return c.tryHelp(1)
	}
	for _, a := range args {
		name, value, set := strings.Cut(a, "=")
		name = strings.TrimSpace(name)
		if on['w'] && !set {
			c.errorf("\"%s\" must be of the form name=value", a)
			status = 1
			continue
		}
		path := "/proc/sys/" + strings.ReplaceAll(name, ".", "/")
		if strings.Contains(name, "/") {
			path, name = "/proc/sys/"+name, strings.ReplaceAll(name, "/", ".")
		}
		st, e := c.s.Stat(path)
		switch {
		case e != 0:
			if !on['e'] {
				c.errorf("cannot stat %s: %s", path, e.Error())
				status = 1
			}
			continue
		case st.Mode&modeType == modeDir && !set:
			status = max(status, c.sysctlAll(path, &on))
			continue
		case set:
			value = strings.TrimSpace(value)
			fd, e := c.s.Open(path, oWronly|oCreat|oTrunc, 0o666)
			if e == 0 {
				e = c.writeAll(fd, []byte(value+"\n"))
				if e2 := c.s.Close(fd); e == 0 {
					e = e2
				}
			}
			if e != 0 {
				c.errorf("setting key \"%s\": %s", name, e.Error())
				status = 1
				continue
			}
			if !on['q'] {
				c.sysctlShow(name, value, &on)
			}
			continue
		}
		status = max(status, c.sysctlRead(path, name, &on))
	}
	return status
}

func (c *cmd) sysctlShow(name, value string, on *[256]bool) {
	switch {
	case on['N']:
		c.printf("%s\n", name)
	case on['n']:
		c.printf("%s\n", value)
	default:
		c.printf("%s = %s\n", name, value)
	}
}

func (c *cmd) sysctlRead(path, name string, on *[256]bool) int {
	text, e := c.readFile(path)
	if e != 0 {
		c.errorf("reading key \"%s\": %s", name, e.Error())
		return 1
	}
	for _, l := range strings.Split(strings.TrimSuffix(string(text), "\n"), "\n") {
		c.sysctlShow(name, l, on)
	}
	return 0
}

func (c *cmd) sysctlAll(dir string, on *[256]bool) (status int) {
	names, e := c.s.ReadDir(dir)
	if e != 0 {
		c.errorf("unable to open directory \"%s/\"", dir)
		return 1
	}
	byName := map[string]Dirent{}
	for _, n := range names {
		if n.Name != "." && n.Name != ".." {
			byName[n.Name] = n
		}
	}
	for _, n := range sortedKeys(byName) {
		path := dir + "/" + n
		st, e := c.s.Stat(path)
		switch {
		case e != 0:
		case st.Mode&modeType == modeDir:
			status = max(status, c.sysctlAll(path, on))
		case st.Mode&0o444 != 0:
			status = max(status, c.sysctlRead(path, strings.ReplaceAll(strings.TrimPrefix(path, "/proc/sys/"), "/", "."), on))
		}
	}
	return status
}

// ping opens a socket as iputils does. There is no network: at the best it says so.
func ping(c *cmd) int {
	found, args, status, done := c.parse([]option{{'c', "", true, 0}, {'i', "", true, 0}, {'W', "", true, 0}, {'w', "", true, 0}, {'s', "", true, 0}, {'q', "", false, 0}, {'n', "", false, 0},
		{'4', "", false, 0}, {'6', "", false, 0}}, 2)
	if done {
		return status
	}
	_ = found
	if len(args) == 0 {
		c.errorf("usage error: Destination address required")
		return 1
	}
	const afInet, sockDgram, protoICMP = 2, 2, 1
	fd, _, e := c.s.named("socket", afInet, sockDgram, protoICMP)
	if e == 0 {
		c.s.Close(int(fd))
	}
	c.errorf("connect: Network is unreachable")
	return 2
}

func whoami(c *cmd) int {
	_, rest, status, done := c.parse(nil, 1)
	if done {
		return status
	}
	if len(rest) > 0 {
		c.errorf("extra operand %s", quoted(rest[0]))
		return c.tryHelp(1)
	}
	c.printf("root\n")
	return 0
}
