package user

import (
	"fmt"
	"strconv"
	"strings"
)

var statOptions = []option{{'c', "format", true, 0}, {'f', "file-system", false, 0}, {'L', "dereference", false, 0}, {'t', "terse", false, 0}, {0, "printf", true, 1}}

// statDefault is the human-readable form of src/stat.c, in pieces: the first line differs for links, the third for devices.
const (
	statHead   = "  File: %n\n  Size: %-10s\tBlocks: %-10b IO Block: %-6o %F\n"
	statPlace  = "Device: %Hd,%Ld\tInode: %-10i  Links: %h\n"
	statDevice = "Device: %Hd,%Ld\tInode: %-10i  Links: %-5h Device type: %Hr,%Lr\n"
	statTail   = "Access: (%04a/%10.10A)  Uid: (%5u/%8U)   Gid: (%5g/%8G)\nAccess: %x\nModify: %y\nChange: %z\n Birth: %w\n"
	statTerse  = "%n %s %b %f %u %g %D %i %h %t %T %X %Y %Z %W %o\n"
)

func stat(c *cmd) int {
	found, files, status, done := c.parse(statOptions, 1)
	if done {
		return status
	}
	format, set, follow := "", false, false
	for _, o := range found {
		switch o.id {
		case 'c':
			format, set = o.value+"\n", true
		case 1:
			format, _ = unescape(o.value)
			set = true
		case 'L':
			follow = true
		case 't':
			format, set = statTerse, true
		case 'f':
			c.errorf("option -f is not supported")
			return 1
		}
	}
	if len(files) == 0 {
		c.errorf("missing operand")
		return c.tryHelp(1)
	}
	names := &lsRun{c: c, on: map[byte]bool{}}
	for _, f := range files {
		st, e := c.s.Lstat(f)
		if follow {
			st, e = c.s.Stat(f)
		}
		if f == "-" {
			st, e = c.s.Fstat(0)
		}
		if e != 0 {
			c.errorf("cannot statx %s: %s", quoted(f), e.Error())
			status = 1
			continue
		}
		layout := format
		if !set {
			layout = statHead + statPlace + statTail
			if _, _, dev := st.device(); dev {
				layout = statHead + statDevice + statTail
			}
			if st.Mode&modeType == modeLnk {
				to, _ := c.s.Readlink(f)
				layout = strings.Replace(layout, "%n", "%n -> "+strings.ReplaceAll(to, "%", "%%"), 1)
			}
		}
		text, bad := statFormat(c, layout, f, &st, names)
		c.print([]byte(text)...)
		if bad != "" {
			c.errorf("%s: invalid directive", quoted(bad))
			return 1
		}
	}
	return status
}

// statFormat expands the directives; bad is one that there is not.
func statFormat(c *cmd, format, file string, st *Stat, names *lsRun) (text, bad string) {
	var out strings.Builder
	for i := 0; i < len(format); i++ {
		if format[i] != '%' {
			out.WriteByte(format[i])
			continue
		}
		at := i
		i++
		for i < len(format) && strings.IndexByte("-+ #0.123456789", format[i]) >= 0 {
			i++
		}
		if i == len(format) {
			return out.String(), format[at:]
		}
		spec, code := format[at:i], format[i]
		if code == '%' || code == '\n' {
			out.WriteString("%")
			if code == '\n' {
				i--
			}
			continue
		}
		if (code == 'H' || code == 'L') && i+1 < len(format) && (format[i+1] == 'd' || format[i+1] == 'r') {
			i++
			dev := st.Dev
			if format[i] == 'r' {
				dev = st.Rdev
			}
			n := dev >> 8 & 0xfff
			if code == 'L' {
				n = dev&0xff | dev>>12&0xfff00
			}
			fmt.Fprintf(&out, spec+"d", n)
			continue
		}
		if v, verb, ok := statNumber(st, code); ok {
			fmt.Fprintf(&out, spec+verb, v)
			continue
		}
		v, ok := statText(c, code, file, st, names)
		if !ok {
			v = "?"
		}
		fmt.Fprintf(&out, strings.ReplaceAll(spec, "0", map[bool]string{true: "0", false: ""}[strings.IndexByte(spec, '.') >= 0 || strings.ContainsAny(spec, "123456789")])+"s", v)
	}
	return out.String(), ""
}

func statNumber(st *Stat, code byte) (v any, verb string, ok bool) {
	switch code {
	case 'a':
		return st.Mode & 0o7777, "o", true
	case 'b':
		return st.Blocks, "d", true
	case 'B':
		return 512, "d", true
	case 'd':
		return st.Dev, "d", true
	case 'D':
		return st.Dev, "x", true
	case 'f':
		return st.Mode, "x", true
	case 'g':
		return st.GID, "d", true
	case 'h':
		return st.Nlink, "d", true
	case 'i':
		return st.Ino, "d", true
	case 'o':
		return st.Blksize, "d", true
	case 'r':
		return st.Rdev, "d", true
	case 'R':
		return st.Rdev, "x", true
	case 's':
		return st.Size, "d", true
	case 't':
		return st.Rdev >> 8 & 0xfff, "x", true
	case 'T':
		return st.Rdev&0xff | st.Rdev>>12&0xfff00, "x", true
	case 'u':
		return st.UID, "d", true
	case 'W':
		return 0, "d", true
	}
	return nil, "", false
}

func statText(c *cmd, code byte, file string, st *Stat, names *lsRun) (string, bool) {
	stamp := func(sec, ns int64) string { return Strftime("%Y-%m-%d %H:%M:%S.%N %z", sec*1e9+ns) }
	epoch := func(sec, ns int64) string { return strconv.FormatInt(sec, 10) }
	switch code {
	case 'A':
		return modeString(st.Mode), true
	case 'F':
		return fileType(st), true
	case 'G':
		return nameOr(names.group(st.GID), "UNKNOWN"), true
	case 'U':
		return nameOr(names.owner(st.UID), "UNKNOWN"), true
	case 'n':
		return file, true
	case 'N':
		text := quoted(file)
		if st.Mode&modeType == modeLnk {
			to, _ := c.s.Readlink(file)
			text += " -> " + quoted(to)
		}
		return text, true
	case 'm':
		return "/", true
	case 'w':
		return "-", true
	case 'x':
		return stamp(st.Atime, st.AtimeNsec), true
	case 'y':
		return stamp(st.Mtime, st.MtimeNsec), true
	case 'z':
		return stamp(st.Ctime, st.CtimeNsec), true
	case 'X':
		return epoch(st.Atime, st.AtimeNsec), true
	case 'Y':
		return epoch(st.Mtime, st.MtimeNsec), true
	case 'Z':
		return epoch(st.Ctime, st.CtimeNsec), true
	}
	return "", false
}

// fileType is file_type() of gnulib.
func fileType(st *Stat) string {
	switch st.Mode & modeType {
	case modeReg:
		if st.Size == 0 {
			return "regular empty file"
		}
		return "regular file"
	case modeDir:
		return "directory"
	case modeLnk:
		return "symbolic link"
	case modeChr:
		return "character special file"
	case modeBlk:
		return "block special file"
	case modeFIFO:
		return "fifo"
	case modeSock:
		return "socket"
	}
	return "weird file"
}
