package user

import (
	"fmt"
	"path"
	"strconv"
	"strings"

	"kscope/kernel/user/re"
)

func (r *findRun) regex(name, pattern string) findTest {
	f := re.Flags(0)
	if name == "-iregex" {
		f = re.Fold
	}
	// emacs's syntax: + and ? are operators, the rest a BRE.
	pattern = strings.NewReplacer(`\+`, `+`, `\?`, `?`, `+`, `\+`, `?`, `\?`).Replace(pattern)
	rx, err := re.Compile(`^\(`+pattern+`\)$`, f)
	if err != nil {
		r.fail("%s", err.Error())
	}
	return func(f *findFile) bool { return rx.MatchString(f.path) }
}

// findTypes are the letters of -type. Read-only.
var findTypes = map[byte]uint32{'f': modeReg, 'd': modeDir, 'l': modeLnk, 'b': modeBlk, 'c': modeChr, 'p': modeFIFO, 's': modeSock}

func (r *findRun) types(list string) findTest {
	var want []uint32
	for _, t := range strings.Split(list, ",") {
		if len(t) != 1 || findTypes[t[0]] == 0 {
			r.fail("Unknown argument to -type: %s", t)
		}
		want = append(want, findTypes[t[0]])
	}
	return func(f *findFile) bool {
		for _, t := range want {
			if f.st.Mode&modeType == t {
				return true
			}
		}
		return false
	}
}

// numeric is a test with +N, -N or N; sizes and times are rounded as find does.
func (r *findRun) numeric(name, text string) findTest {
	num, sign := text, byte('=')
	if text != "" && (text[0] == '+' || text[0] == '-') {
		sign, num = text[0], text[1:]
	}
	unit := int64(512)
	if name == "-size" && num != "" {
		if u, ok := map[byte]int64{'c': 1, 'w': 2, 'b': 512, 'k': 1 << 10, 'M': 1 << 20, 'G': 1 << 30}[num[len(num)-1]]; ok {
			unit, num = u, num[:len(num)-1]
		}
	}
	n, err := strconv.ParseInt(num, 10, 64)
	if err != nil {
		if name == "-size" && num != "" && strings.IndexByte("0123456789", num[len(num)-1]) < 0 {
			r.fail("invalid -size type `%c'", num[len(num)-1])
		}
		r.fail("invalid argument `%s' to `%s'", text, name)
	}
	ns, _ := r.c.s.ClockGettime(0)
	now := int64(ns / 1e9)
	get := map[string]func(f *findFile) int64{
		"-size":  func(f *findFile) int64 { return (f.st.Size + unit - 1) / unit },
		"-mtime": func(f *findFile) int64 { return (now - f.st.Mtime) / 86400 },
		"-mmin":  func(f *findFile) int64 { return (now - f.st.Mtime + 59) / 60 },
		"-links": func(f *findFile) int64 { return int64(f.st.Nlink) }, "-inum": func(f *findFile) int64 { return int64(f.st.Ino) },
		"-uid": func(f *findFile) int64 { return int64(f.st.UID) }, "-gid": func(f *findFile) int64 { return int64(f.st.GID) },
	}[name]
	return func(f *findFile) bool {
		v := get(f)
		return sign == '+' && v > n || sign == '-' && v < n || sign == '=' && v == n
	}
}

func (r *findRun) perm(text string) findTest {
	how := byte(0)
	if text != "" && (text[0] == '-' || text[0] == '/') {
		how, text = text[0], text[1:]
	}
	want, ok := parseMode(text, 0)
	if !ok {
		r.fail("invalid mode %s", quoted(text))
	}
	return func(f *findFile) bool {
		have := f.st.Mode & 0o7777
		switch how {
		case '-':
			return have&want == want
		case '/':
			return want == 0 || have&want != 0
		}
		return have == want
	}
}

// printf is -printf's format, as far as the Doc says.
func (f *findFile) printf(format string) string {
	var out strings.Builder
	for i := 0; i < len(format); i++ {
		if format[i] == '\\' {
			text, n, _ := escapeAt(format[i:], true)
			out.WriteString(text)
			i += n - 1
			continue
		}
		if format[i] != '%' || i+1 == len(format) {
			out.WriteByte(format[i])
			continue
		}
		i++
		at := i
		for i+1 < len(format) && strings.IndexByte("-0123456789.", format[i]) >= 0 {
			i++
		}
		fmt.Fprintf(&out, "%"+format[at:i]+"s", f.field(format[i]))
	}
	return out.String()
}

func (f *findFile) field(code byte) string {
	switch code {
	case '%':
		return "%"
	case 'p':
		return f.path
	case 'f':
		return path.Base(f.path)
	case 'h':
		if i := strings.LastIndexByte(f.path, '/'); i >= 0 {
			return f.path[:i]
		}
		return "."
	case 'P':
		return strings.TrimPrefix(strings.TrimPrefix(f.path, f.start), "/")
	case 'H':
		return f.start
	case 'd':
		return strconv.Itoa(f.depth)
	case 's':
		return strconv.FormatInt(f.st.Size, 10)
	case 'm':
		return strconv.FormatUint(uint64(f.st.Mode&0o7777), 8)
	case 'M':
		return modeString(f.st.Mode)
	case 'i':
		return strconv.FormatUint(f.st.Ino, 10)
	case 'n':
		return strconv.FormatUint(f.st.Nlink, 10)
	case 'U':
		return strconv.FormatUint(uint64(f.st.UID), 10)
	case 'G':
		return strconv.FormatUint(uint64(f.st.GID), 10)
	case 'y':
		for _, t := range []byte("fdlbcps") {
			if findTypes[t] == f.st.Mode&modeType {
				return string(t)
			}
		}
	case 'l':
		to, _ := f.r.c.s.Readlink(f.path)
		return to
	}
	f.r.fail("-printf: directive `%%%c' is not supported", code)
	return ""
}
