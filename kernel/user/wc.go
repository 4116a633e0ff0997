package user

import (
	"fmt"
	"strconv"
	"strings"
)

var wcOptions = []option{{'c', "bytes", false, 0}, {'m', "chars", false, 0}, {'l', "lines", false, 0}, {'L', "max-line-length", false, 0},
	{'w', "words", false, 0}}

// wcCounts are the columns in the order in which wc prints them. In the C locale characters are bytes.
type wcCounts struct{ lines, words, chars, bytes, longest uint64 }

// wcShow says which columns.
type wcShow struct{ lines, words, chars, bytes, longest bool }

func wc(c *cmd) int {
	found, files, status, done := c.parse(wcOptions, 1)
	if done {
		return status
	}
	var show wcShow
	for _, o := range found {
		show.lines = show.lines || o.id == 'l'
		show.words = show.words || o.id == 'w'
		show.chars = show.chars || o.id == 'm'
		show.bytes = show.bytes || o.id == 'c'
		show.longest = show.longest || o.id == 'L'
	}
	if show == (wcShow{}) {
		show = wcShow{lines: true, words: true, bytes: true}
	}
	stdin := len(files) == 0
	if stdin {
		files = []string{"-"}
	}
	width := wcWidth(c, files, show)
	var total wcCounts
	for _, file := range files {
		n, ok, opened := wcFile(c, file, show)
		if !ok {
			status = 1
		}
		if !opened {
			continue
		}
		label := file
		if stdin {
			label = ""
		}
		wcPrint(c, n, show, width, label)
		total = wcCounts{total.lines + n.lines, total.words + n.words, total.chars + n.chars, total.bytes + n.bytes, max(total.longest, n.longest)}
	}
	if len(files) > 1 {
		wcPrint(c, total, show, width, "total")
	}
	return status
}

// wcWidth is compute_number_width(): as wide as the sum of the files' sizes, at least 7 where a size is unknown.
func wcWidth(c *cmd, files []string, show wcShow) int {
	columns := 0
	for _, on := range []bool{show.lines, show.words, show.chars, show.bytes, show.longest} {
		if on {
			columns++
		}
	}
	if len(files) == 1 && columns == 1 {
		return 1
	}
	width, total := 1, int64(0)
	for _, file := range files {
		st, e := c.s.Stat(file)
		if file == "-" {
			st, e = c.s.Fstat(0)
		}
		switch {
		case e != 0:
		case st.Mode&modeType == modeReg:
			total += st.Size
		default:
			width = 7
		}
	}
	return max(width, len(strconv.FormatInt(total, 10)))
}

// wcBuffer is BUFFER_SIZE of coreutils' src/wc.c.
const wcBuffer = 16 << 10

func wcFile(c *cmd, file string, show wcShow) (n wcCounts, ok, opened bool) {
	fd, ok := c.openInput(file, "")
	if !ok {
		return n, false, false
	}
	defer c.closeInput(fd)
	buf, e := c.s.Alloc(wcBuffer)
	if e != 0 {
		c.errorf("memory exhausted")
		return n, false, true
	}
	var line uint64
	inWord := false
	for {
		data, e := c.s.ReadData(fd, buf)
		if e != 0 {
			c.fail(file, e)
			return n, false, true
		}
		if len(data) == 0 {
			break
		}
		c.s.Work(len(data))
		n.bytes += uint64(len(data))
		n.chars += uint64(len(data))
		for _, b := range data {
			line, inWord = n.count(b, line, inWord)
		}
	}
	n.longest = max(n.longest, line)
	if inWord {
		n.words++
	}
	return n, true, true
}

// count takes one byte; only printable ones make words (wc() in src/wc.c for single-byte locales).
func (n *wcCounts) count(b byte, line uint64, inWord bool) (uint64, bool) {
	switch {
	case b == '\n' || b == '\r' || b == '\f':
		n.longest = max(n.longest, line)
		line = 0
		if b == '\n' {
			n.lines++
		}
	case b == '\t':
		line += 8 - line%8
	case b == ' ':
		line++
	case b == '\v':
	default:
		if b > ' ' && b < 0x7f {
			return line + 1, true
		}
		return line, inWord
	}
	if inWord {
		n.words++
	}
	return line, false
}

func wcPrint(c *cmd, n wcCounts, show wcShow, width int, label string) {
	var cols []string
	for _, col := range []struct {
		on bool
		v  uint64
	}{{show.lines, n.lines}, {show.words, n.words}, {show.chars, n.chars}, {show.bytes, n.bytes}, {show.longest, n.longest}} {
		if col.on {
			cols = append(cols, fmt.Sprintf("%*d", width, col.v))
		}
	}
	if label != "" {
		cols = append(cols, label)
	}
	c.printf("%s\n", strings.Join(cols, " "))
}
