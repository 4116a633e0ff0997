package user

import (
	"fmt"
	"strings"

	"kscope/kernel"
)

var mountOptions = []option{{'a', "all", false, 0}, {'B', "bind", false, 0}, {'n', "no-mtab", false, 0}, {'o', "options", true, 0}, {'r', "read-only", false, 0},
	{'t', "types", true, 0}, {'v', "verbose", false, 0}, {'w', "rw", false, 0}, {0, "make-private", false, 1}, {0, "make-rprivate", false, 2}}

// msPropagation are the flags of --make-shared and its kin, of which there is but --make-[r]private.
const msPropagation = 1<<17 | 1<<18 | 1<<19 | 1<<20

// mountStatus is MNT_EX_FAIL of util-linux.
const mountStatus = 32

// mountFlags are the options that are flags of mount(2); the rest goes to the file system. Read-only.
var mountFlags = map[string]int{"ro": msRdonly, "nosuid": msNosuid, "nodev": msNodev, "noexec": msNoexec, "remount": msRemount, "bind": msBind, "rw": 0, "defaults": 0, "suid": 0,
	"dev": 0, "exec": 0, "relatime": 1 << 21, "noatime": 1 << 10, "noauto": 0, "auto": 0, "nouser": 0}

// mount is util-linux's: without operands it lists /proc/mounts.
func mount(c *cmd) int {
	found, args, status, done := c.parse(mountOptions, 1)
	if done {
		return status
	}
	typ, flags, opts := "", 0, []string(nil)
	all, verbose := false, false
	for _, o := range found {
		switch o.id {
		case 'v':
			verbose = true
		case 't':
			typ = o.value
		case 'o':
			opts = append(opts, strings.Split(o.value, ",")...)
		case 'r':
			flags |= msRdonly
		case 'B':
			flags |= msBind
		case 'a':
			all = true
		case 1, 2:
			flags |= 1<<18 | map[byte]int{2: 1 << 14}[o.id]
		}
	}
	switch {
	case all:
		return c.mountAll()
	case len(args) == 0:
		return c.mountList(typ)
	case len(args) == 1 && flags&(1<<18) != 0:
		args = []string{"none", args[0]}
	case len(args) == 1:
		row, ok := c.fstab(args[0])
		if !ok {
			if !has(opts, "remount") {
				c.errorf("%s: can't find in /etc/fstab.", args[0])
				return 1
			}
			row = []string{"none", args[0], "none", ""}
		}
		if args = row[:2]; typ == "" {
			typ = row[2]
		}
		opts = append(strings.Split(row[3], ","), opts...)
	case len(args) > 2:
		c.errorf("bad usage")
		return c.tryHelp(1)
	}
	if !c.mountOne(args[0], args[1], typ, flags, opts) {
		return mountStatus
	}
	if verbose {
		c.printf("mount: %s mounted on %s.\n", args[0], args[1])
	}
	return 0
}

func (c *cmd) mountOne(source, dir, typ string, flags int, opts []string) bool {
	var data []string
	for _, o := range opts {
		if f, ok := mountFlags[o]; ok {
			flags |= f
		} else if o != "" {
			data = append(data, o)
		}
	}
	if _, e := c.s.Stat(dir); e != 0 && (e == kernel.ENOENT || e == kernel.ENOTDIR) {
		c.mountFailed("%s: mount point does not exist.", dir)
		return false
	}
	if typ == "" {
		typ = "none"
		if flags&(msBind|msRemount|msPropagation) == 0 {
			c.mountFailed("%s: no file system type specified: -t is needed here.", dir)
			return false
		}
	}
	var options any
	if len(data) > 0 {
		options = strings.Join(data, ",")
	}
	e := c.s.do1("mount", source, dir, typ, flags, options)
	switch e {
	case 0:
		return true
	case kernel.ENODEV:
		c.mountFailed("%s: unknown filesystem type '%s'.", dir, typ)
	case kernel.EBUSY:
		if flags&msRemount != 0 {
			c.mountFailed("%s: mount point is busy.", dir)
		} else {
			c.mountFailed("%s: %s already mounted on %s.", dir, source, dir)
		}
	case kernel.EPERM, kernel.EACCES:
		c.mountFailed("%s: permission denied.", dir)
	case kernel.EINVAL:
		switch {
		case flags&msRemount != 0:
			c.mountFailed("%s: mount point not mounted or bad option.", dir)
		case flags&msPropagation != 0:
			c.mountFailed("%s: not mount point or bad option.", dir)
		default:
			c.mountFailed("%s: wrong fs type, bad option, bad superblock on %s, missing codepage or helper program, or other error.", dir, source)
		}
	case kernel.ENOTBLK:
		c.mountFailed("%s: %s is not a block device.", dir, source)
	case kernel.ENOTDIR:
		if st, _ := c.s.Stat(dir); st.Mode&modeType == modeDir {
			c.mountFailed("%s: mount(2) system call failed: %s.", dir, e.Error())
		} else {
			c.mountFailed("%s: mount point is not a directory.", dir)
		}
	case kernel.ENOENT:
		c.mountFailed("%s: special device %s does not exist.", dir, source)
	default:
		c.mountFailed("%s: mount(2) system call failed: %s.", dir, e.Error())
	}
	return false
}

func (c *cmd) mountFailed(format string, args ...any) {
	c.errorf(format, args...)
	c.s.Write(2, []byte("       dmesg(1) may have more information after failed mount system call.\n"))
}

// mountList prints /proc/mounts in mount's way.
func (c *cmd) mountList(typ string) int {
	text, e := c.readFile("/proc/self/mounts")
	if e == kernel.ENOENT {
		text, e = c.readFile("/proc/mounts")
	}
	if e != 0 {
		c.errorf("failed to read mtab: %s", e.Error())
		return 1
	}
	for _, l := range strings.Split(string(text), "\n") {
		if f := strings.Fields(l); len(f) >= 4 && (typ == "" || f[2] == typ) {
			c.printf("%s on %s type %s (%s)\n", f[0], f[1], f[2], f[3])
		}
	}
	return 0
}

func (c *cmd) fstabRows() (rows [][]string) {
	text, _ := c.readFile("/etc/fstab")
	for _, l := range strings.Split(string(text), "\n") {
		if f := strings.Fields(l); len(f) >= 4 && !strings.HasPrefix(f[0], "#") {
			rows = append(rows, f[:4])
		}
	}
	return rows
}

func (c *cmd) fstab(name string) ([]string, bool) {
	for _, f := range c.fstabRows() {
		if f[1] == name || f[0] == name {
			return f, true
		}
	}
	return nil, false
}

func (c *cmd) mountAll() int {
	text, _ := c.readFile("/proc/mounts")
	status := 0
	for _, f := range c.fstabRows() {
		if opts := strings.Split(f[3], ","); !has(opts, "noauto") && !strings.Contains(string(text), " "+f[1]+" "+f[2]+" ") && !c.mountOne(f[0], f[1], f[2], 0, opts) {
			status = mountStatus
		}
	}
	return status
}

var umountOptions = []option{{'f', "force", false, 0}, {'l', "lazy", false, 0}, {'n', "no-mtab", false, 0}, {'v', "verbose", false, 0}, {'q', "quiet", false, 0}}

func umount(c *cmd) int {
	found, args, status, done := c.parse(umountOptions, 1)
	if done {
		return status
	}
	flags, verbose := 0, false
	for _, o := range found {
		flags |= map[byte]int{'f': 1, 'l': 2}[o.id]
		verbose = verbose || o.id == 'v'
	}
	if len(args) == 0 {
		c.errorf("bad usage")
		return c.tryHelp(1)
	}
	for _, dir := range args {
		msg := ""
		switch e := c.s.do1("umount2", dir, flags); e {
		case 0:
			if verbose {
				c.printf("umount: %s unmounted\n", dir)
			}
			continue
		case kernel.EINVAL:
			msg = "not mounted."
		case kernel.ENOENT:
			msg = "no mount point specified."
		case kernel.EBUSY:
			msg = "target is busy."
		case kernel.EPERM:
			msg = "must be superuser to unmount."
		default:
			msg = fmt.Sprintf("umount failed: %s.", e.Error())
		}
		c.errorf("%s: %s", dir, msg)
		status = mountStatus
	}
	return status
}
