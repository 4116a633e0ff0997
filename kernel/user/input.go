package user

import (
	"bytes"
	"strings"

	"kscope/kernel"
)

// inputBuffer is what most GNU tools read at a time.
const inputBuffer = 32 << 10

// input reads a file by lines, or whole.
type input struct {
	c    *cmd
	fd   int
	file string // as the command line has it
	buf  []byte
	end  bool
	err  kernel.Errno // of the read that failed; it ends the input
	size int          // of a read
	held int          // what was read and not yet given out, as the ledger has it
}

// input opens a file; "-" is standard input. The message of a failure is printed in format (see openInput).
func (c *cmd) input(file, format string) (*input, bool) {
	fd, ok := c.openInput(file, format)
	return &input{c: c, fd: fd, file: file, size: inputBuffer}, ok
}

// tryInput opens a file and prints nothing.
func (c *cmd) tryInput(file string) (in *input, e kernel.Errno) {
	in = &input{c: c, file: file, size: inputBuffer}
	if file != "-" {
		in.fd, e = c.s.Open(file, oRdonly, 0)
	}
	return in, e
}

func (in *input) close() {
	in.c.s.Hold(-in.held)
	in.held = 0
	in.c.closeInput(in.fd)
}

// hold tells the ledger what the input holds now.
func (in *input) hold(n int) {
	in.c.s.Hold(n - in.held)
	in.held = n
}

func (in *input) fill() bool {
	if in.end {
		return false
	}
	b, e := in.c.s.Read(in.fd, in.size)
	if e != 0 || len(b) == 0 {
		in.err, in.end = e, true
		return false
	}
	in.c.s.Work(len(b))
	in.hold(len(in.buf) + len(b))
	in.buf = append(in.buf, b...)
	return true
}

// line is the next line without its end; whole says that the end was there. ok is false behind the last one.
func (in *input) line(end byte) (text []byte, whole, ok bool) {
	for from := 0; ; {
		if i := bytes.IndexByte(in.buf[from:], end); i >= 0 {
			text, in.buf = in.buf[:from+i:from+i], in.buf[from+i+1:]
			return text, true, true
		}
		from = len(in.buf)
		if !in.fill() {
			text, in.buf = in.buf, nil
			return text, false, len(text) > 0
		}
	}
}

// all is the rest of the input.
func (in *input) all() []byte {
	var parts [][]byte
	whole := 0
	for {
		if len(in.buf) > 0 {
			parts = append(parts, in.buf)
			whole += len(in.buf)
			in.buf = nil
		}
		in.hold(2 * whole) // the parts, and the text that is made of them
		if !in.fill() {
			return bytes.Join(parts, nil)
		}
	}
}

// lineOverhead is what a slice of lines takes for each, at most twice while it grows.
const lineOverhead = 48

// lines is the rest of the input as lines without their ends.
func (in *input) lines(end byte) (out [][]byte) {
	text := in.all()
	in.c.s.Hold(lineOverhead * bytes.Count(text, []byte{end}))
	for len(text) > 0 {
		line, rest, _ := bytes.Cut(text, []byte{end})
		out = append(out, line)
		text = rest
	}
	return out
}

// Read implements io.Reader for libraries; an error of the kernel is an Errno.
func (in *input) Read(b []byte) (int, error) {
	if len(in.buf) == 0 && !in.fill() {
		if in.err != 0 {
			return 0, in.err
		}
		return 0, errEOF
	}
	n := copy(b, in.buf)
	in.buf = in.buf[n:]
	return n, nil
}

// readFile is a whole file for the command's own use, as /etc/passwd.
func (c *cmd) readFile(file string) ([]byte, kernel.Errno) {
	fd, e := c.s.Open(file, oRdonly, 0)
	if e != 0 {
		return nil, e
	}
	in := &input{c: c, fd: fd, file: file, size: 4096}
	text := in.all()
	c.s.Close(fd)
	return text, in.err
}

// writeAll writes to a file descriptor until all is written.
func (c *cmd) writeAll(fd int, data []byte) kernel.Errno {
	c.s.Work(len(data))
	for len(data) > 0 {
		n, e := c.s.Write(fd, data)
		if e != 0 {
			return e
		}
		data = data[n:]
	}
	return 0
}

// orStdin gives "-" where there are none.
func orStdin(files []string) []string {
	if len(files) == 0 {
		return []string{"-"}
	}
	return files
}

// getenv is a variable of the environment.
func (c *cmd) getenv(name string) (string, bool) {
	for _, kv := range c.s.Env() {
		if v, ok := strings.CutPrefix(kv, name+"="); ok {
			return v, true
		}
	}
	return "", false
}
