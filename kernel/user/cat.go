package user

import "fmt"

// catBuffer is io_blksize() of coreutils' src/ioblksize.h.
const catBuffer = 128 << 10

// catFormat is what the options ask of the text.
type catFormat struct {
	number, nonBlank, squeeze, ends, tabs, visible bool

	line  int
	blank int  // empty lines in a row
	mid   bool // in the middle of a line
}

// catOptions are in the order in which messages about ambiguous prefixes list them.
var catOptions = []option{{'b', "number-nonblank", false, 0}, {'n', "number", false, 0}, {'s', "squeeze-blank", false, 0},
	{'v', "show-nonprinting", false, 0}, {'E', "show-ends", false, 0}, {'T', "show-tabs", false, 0}, {'A', "show-all", false, 0},
	{'e', "", false, 0}, {'t', "", false, 0}, {'u', "", false, 0}}

func cat(c *cmd) int {
	found, files, status, done := c.parse(catOptions, 1)
	if done {
		return status
	}
	f := &catFormat{}
	for _, o := range found {
		f.number = f.number || o.id == 'n' || o.id == 'b'
		f.nonBlank = f.nonBlank || o.id == 'b'
		f.squeeze = f.squeeze || o.id == 's'
		f.ends = f.ends || o.id == 'E' || o.id == 'e' || o.id == 'A'
		f.tabs = f.tabs || o.id == 'T' || o.id == 't' || o.id == 'A'
		f.visible = f.visible || o.id == 'v' || o.id == 'e' || o.id == 't' || o.id == 'A'
	}
	if len(files) == 0 {
		files = []string{"-"}
	}
	out, e := c.s.Fstat(1)
	if e != 0 {
		c.errorf("standard output: %s", e.Error())
		return 1
	}
	for _, file := range files {
		fd, ok := c.openInput(file, "")
		if !ok {
			status = 1
			continue
		}
		if !catOne(c, f, fd, file, out) {
			status = 1
		}
		c.closeInput(fd)
	}
	return status
}

func catOne(c *cmd, f *catFormat, fd int, file string, out Stat) bool {
	st, e := c.s.Fstat(fd)
	if e != 0 {
		c.fail(file, e)
		return false
	}
	if out.Mode&modeType == modeReg && st.Dev == out.Dev && st.Ino == out.Ino && st.Size > 0 {
		c.errorf("%s: input file is output file", shellName(file))
		return false
	}
	buf, e := c.s.Mmap(catBuffer)
	if e != 0 {
		if buf, e = c.s.Alloc(16 << 10); e != 0 {
			c.errorf("memory exhausted")
			return false
		}
	} else {
		defer c.s.Munmap(buf)
	}
	plain := !f.number && !f.squeeze && !f.ends && !f.tabs && !f.visible
	for {
		if plain {
			n, e := c.s.ReadInto(fd, buf)
			if e != 0 {
				c.fail(file, e)
				return false
			}
			if n == 0 {
				return true
			}
			if !catWrite(c, buf, n) {
				return false
			}
			continue
		}
		data, e := c.s.ReadData(fd, buf)
		if e != 0 {
			c.fail(file, e)
			return false
		}
		if len(data) == 0 {
			return true
		}
		c.print(f.format(data)...)
	}
}

// catWrite is full_write() of the first n bytes of buf.
func catWrite(c *cmd, buf Buf, n int) bool {
	c.wrote = true
	for done := 0; done < n; {
		k, e := c.s.WriteFrom(1, Buf{buf.Addr + uint64(done), buf.Size - done}, n-done)
		if e != 0 {
			c.errorf("write error: %s", e.Error())
			c.wroteBad = true
			return false
		}
		done += k
	}
	return true
}

func (f *catFormat) format(data []byte) (out []byte) {
	for _, b := range data {
		if !f.mid {
			if b == '\n' {
				f.blank++
				if f.squeeze && f.blank > 1 {
					continue
				}
			} else {
				f.blank = 0
			}
			if f.number && (b != '\n' || !f.nonBlank) {
				f.line++
				out = fmt.Appendf(out, "%6d\t", f.line)
			}
		}
		f.mid = b != '\n'
		out = f.visibleByte(out, b)
	}
	return out
}

func (f *catFormat) visibleByte(out []byte, b byte) []byte {
	switch {
	case b == '\n' && f.ends:
		return append(out, '$', '\n')
	case b == '\n', b == '\t' && !f.tabs, !f.visible && b != '\t':
		return append(out, b)
	}
	if b >= 128 {
		out = append(out, 'M', '-')
		b -= 128
	}
	switch {
	case b < 32:
		return append(out, '^', b+64)
	case b == 127:
		return append(out, '^', '?')
	}
	return append(out, b)
}
