package user

import (
	"bytes"
	"strconv"
	"strings"
)

var headOptions = []option{{'c', "bytes", true, 0}, {'n', "lines", true, 0}, {'q', "quiet", false, 0}, {0, "silent", false, 'q'},
	{'v', "verbose", false, 0}, {'z', "zero-terminated", false, 0}}

// headWants is what the options ask for: count units from the start, or all but the last count.
type headWants struct {
	count   int64
	lines   bool
	butLast bool
	end     byte
}

func head(c *cmd) int {
	obsoleteCount(c.argv)
	found, files, status, done := c.parse(headOptions, 1)
	if done {
		return status
	}
	w := headWants{count: 10, lines: true, end: '\n'}
	quiet, verbose := false, false
	for _, o := range found {
		switch o.id {
		case 'n', 'c':
			w.lines = o.id == 'n'
			text := strings.TrimPrefix(o.value, "-")
			w.butLast = text != o.value
			n, ok := sizeOf(strings.TrimPrefix(text, "+"))
			if !ok {
				c.errorf("invalid number of %s: %s", map[bool]string{true: "lines", false: "bytes"}[w.lines], quoted(text))
				return 1
			}
			w.count = n
		case 'q':
			quiet, verbose = true, false
		case 'v':
			quiet, verbose = false, true
		case 'z':
			w.end = 0
		}
	}
	if len(files) == 0 {
		files = []string{"-"}
	}
	titles := verbose || !quiet && len(files) > 1
	firstFile := true
	for _, file := range files {
		fd, ok := c.openInput(file, "cannot open %s for reading: %s")
		if !ok {
			status = 1
			continue
		}
		if titles {
			gap := "\n"
			if firstFile {
				gap = ""
			}
			name := file
			if file == "-" {
				name = "standard input"
			}
			c.printf("%s==> %s <==\n", gap, name)
		}
		firstFile = false
		if !headOne(c, &w, fd, file) {
			status = 1
		}
		c.closeInput(fd)
	}
	return status
}

// obsoleteCount turns head -5 into head -n5.
func obsoleteCount(argv []string) {
	if len(argv) > 1 && len(argv[1]) > 1 && argv[1][0] == '-' && argv[1][1] >= '0' && argv[1][1] <= '9' {
		argv[1] = "-n" + argv[1][1:]
	}
}

// headBuffer is BUFSIZ of glibc.
const headBuffer = 8192

func headOne(c *cmd, w *headWants, fd int, file string) bool {
	left := w.count
	var held []byte // with butLast: what may still turn out to be the end
	for w.butLast || left > 0 {
		n := headBuffer
		if !w.lines && !w.butLast {
			n = int(min(left, headBuffer))
		}
		data, e := c.s.Read(fd, n)
		if e != 0 {
			if file == "-" {
				file = "standard input"
			}
			c.errorf("error reading %s: %s", quoted(file), e.Error())
			return false
		}
		if len(data) == 0 {
			return true
		}
		c.s.Work(len(data))
		switch {
		case w.butLast:
			c.s.Room(2 * (len(held) + len(data)))
			held = append(held, data...)
			keep := w.keep(held)
			c.print(held[:keep]...)
			held = held[keep:]
		case w.lines:
			used := 0
			for left > 0 {
				i := bytes.IndexByte(data[used:], w.end)
				if i < 0 {
					used = len(data)
					break
				}
				used += i + 1
				left--
			}
			if used < len(data) { // give back what was read too much, where that can be, before the output
				c.giveBack(fd, file, used-len(data))
			}
			c.print(data[:used]...)
		default:
			c.print(data...)
			left -= int64(len(data))
		}
	}
	return true
}

// giveBack seeks back; that a regular file cannot (as trace_pipe) is worth a message.
func (c *cmd) giveBack(fd int, file string, off int) {
	_, e := c.s.Lseek(fd, int64(off), 1)
	if e == 0 {
		return
	}
	if st, e2 := c.s.Fstat(fd); e2 != 0 || st.Mode&modeType == modeReg {
		c.errorf("%s: cannot seek to relative offset %d: %s", shellName(file), off, e.Error())
	}
}

// keep is how many bytes of held are certainly not among the last count.
func (w *headWants) keep(held []byte) int {
	if !w.lines {
		return max(0, len(held)-int(w.count))
	}
	lines := int64(bytes.Count(held, []byte{w.end}))
	if len(held) > 0 && held[len(held)-1] != w.end {
		lines++ // an unfinished line counts when the file ends here
	}
	at := 0
	for ; lines > w.count; lines-- {
		i := bytes.IndexByte(held[at:], w.end)
		if i < 0 {
			break
		}
		at += i + 1
	}
	return at
}

// sizeOf parses coreutils' sizes: a number with b, kB, K, MB, M … behind it.
func sizeOf(text string) (int64, bool) {
	i := 0
	for i < len(text) && text[i] >= '0' && text[i] <= '9' {
		i++
	}
	n, err := strconv.ParseInt(text[:i], 10, 64)
	if err != nil {
		return 0, false
	}
	unit, ok := sizeUnits[text[i:]]
	if !ok || n > (1<<62)/unit {
		return 0, false
	}
	return n * unit, true
}

// sizeUnits are the suffixes of coreutils' xstrtoumax. Read-only.
var sizeUnits = map[string]int64{"": 1, "c": 1, "w": 2, "b": 512, "kB": 1e3, "K": 1 << 10, "k": 1 << 10, "KiB": 1 << 10, "MB": 1e6, "M": 1 << 20,
	"MiB": 1 << 20, "GB": 1e9, "G": 1 << 30, "GiB": 1 << 30, "TB": 1e12, "T": 1 << 40, "TiB": 1 << 40}
