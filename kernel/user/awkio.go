package user

import (
	"bytes"
	"fmt"
	"regexp"

	"kscope/kernel"
)

// awkStream is a redirection of an awk program: a file or a command that is written to or read from.
type awkStream struct {
	name string
	fd   int
	pid  int // of a command
	out  []byte
	in   *input // nil: written to
}

// stream finds an open redirection.
func (r *awkRun) stream(name string) *awkStream {
	for _, st := range r.streams {
		if st.name == name {
			return st
		}
	}
	return nil
}

// to implements ksto(mode, name, line), the destination of a rewritten print: what awkOut is given next goes there. mode is ">", ">>"
// or "|"; "" is standard output. The result is goawk's name of standard output.
func (r *awkRun) to(mode, name string, line int) (string, error) {
	r.out = nil
	if mode == "" || mode != "|" && (name == "-" || name == "/dev/stdout") {
		return "-", nil
	}
	if name == "" {
		r.fatal = fmt.Sprintf("cmd. line:%d: fatal: expression for `%s' redirection has null string value", line, mode)
		return "", kernel.EINVAL
	}
	if r.out = r.stream(name); r.out != nil {
		return "-", nil
	}
	st := &awkStream{name: name, fd: 2}
	if mode == "|" {
		r.c.flush()
		var e kernel.Errno
		if st.fd, st.pid, e = r.command(name, 0); e != 0 {
			r.fatal = fmt.Sprintf("cmd. line:%d: fatal: cannot open pipe `%s' for output: %s", line, name, e.Error())
			return "", e
		}
	} else if name != "/dev/stderr" {
		flags := oWronly | oCreat | oTrunc
		if mode == ">>" {
			flags = oWronly | oCreat | oAppend
		}
		fd, e := r.c.s.Open(name, flags, 0o666)
		if st.fd = fd; e != 0 {
			r.fatal = fmt.Sprintf("cmd. line:%d: fatal: cannot redirect to `%s': %s", line, name, e.Error())
			return "", e
		}
	}
	r.streams = append(r.streams, st)
	r.out = st
	return "-", nil
}

// command starts a shell command whose standard input (end 0) or output (end 1) is a pipe; fd is the other end.
func (r *awkRun) command(text string, end int) (fd, pid int, e kernel.Errno) {
	c := r.c
	rd, wr, e := c.s.Pipe()
	if e != 0 {
		return -1, 0, e
	}
	theirs, ours := rd, wr
	if end == 1 {
		theirs, ours = wr, rd
	}
	open := []int{ours}
	for _, st := range r.streams {
		if st.fd > 2 {
			open = append(open, st.fd)
		}
	}
	pid, e = c.s.Fork(func(s *Sys) int {
		for _, fd := range open {
			s.Close(fd)
		}
		s.Dup2(theirs, end)
		s.Close(theirs)
		return shell(s, text)
	})
	c.s.Close(theirs)
	if e != 0 {
		c.s.Close(ours)
		return -1, 0, e
	}
	return ours, pid, 0
}

// shell replaces a child by a shell that runs text.
func shell(s *Sys, text string) int {
	return execStatus(s.Exec("/bin/sh", []string{"sh", "-c", text}, s.Env()))
}

// write appends to a stream; whole buffers are written, and everything to standard error.
func (r *awkRun) write(st *awkStream, b []byte) error {
	r.c.s.Work(len(b))
	st.out = append(st.out, b...)
	if len(st.out) >= stdioSize || st.fd == 2 {
		return r.flushStream(st, "print to")
	}
	return nil
}

func (r *awkRun) flushStream(st *awkStream, doing string) error {
	if len(st.out) == 0 {
		return nil
	}
	_, e := r.c.s.Write(st.fd, st.out)
	st.out = nil
	if e != 0 {
		r.fatal = fmt.Sprintf("%s \"%s\" failed: %s", doing, st.name, e.Error())
		return e
	}
	return nil
}

// flushAll implements fflush(), and what comes before a command is started. One name is not told from another.
func (r *awkRun) flushAll(...string) (int, error) {
	r.c.flush()
	for _, st := range r.streams {
		if err := r.flushStream(st, "flush to"); err != nil {
			return -1, err
		}
	}
	return 0, nil
}

// system implements system(): the exit status, or 256 and the signal that killed it.
func (r *awkRun) system(text string) (int, error) {
	if _, err := r.flushAll(); err != nil || text == "" {
		return 0, err
	}
	pid, e := r.c.s.Fork(func(s *Sys) int { return shell(s, text) })
	if e != 0 {
		return -1, nil
	}
	return r.status(pid), nil
}

// status waits for a command.
func (r *awkRun) status(pid int) int {
	for {
		_, ws, e := r.c.s.Wait4(pid, 0)
		switch {
		case e == kernel.EINTR:
			continue
		case e != 0:
			return -1
		case ws&0x7f != 0:
			return 256 + ws&0x7f
		}
		return ws >> 8 & 0xff
	}
}

// close implements close(): 0, or a command's status; -1 when nothing of that name is open.
func (r *awkRun) close(name string) (int, error) {
	for i, st := range r.streams {
		if st.name != name {
			continue
		}
		if !r.ending && st.pid != 0 {
			r.c.flush()
		}
		err := r.flushStream(st, "flush to")
		if st.fd > 2 {
			r.c.s.Close(st.fd)
		}
		r.streams = append(r.streams[:i:i], r.streams[i+1:]...)
		if r.out == st {
			r.out = nil
		}
		if st.pid != 0 {
			return r.status(st.pid), err
		}
		return 0, err
	}
	return -1, nil
}

// closeAll ends the redirections, the last opened first and before standard output, as gawk does.
func (r *awkRun) closeAll() error {
	var first error
	r.ending = true
	for len(r.streams) > 0 {
		if _, err := r.close(r.streams[len(r.streams)-1].name); first == nil {
			first = err
		}
	}
	return first
}

// read implements ksread(file, RS): 1 and a record for ksrec(), 0 at the end, -1 for an error.
func (r *awkRun) read(name, rs string) int {
	st := r.stream(name)
	if st == nil {
		fd, e := r.c.s.Open(name, oRdonly, 0)
		if r.stat = -1; e != 0 {
			return -1
		}
		st = r.reader(name, fd, 0)
	}
	return r.record(st, rs)
}

// run implements ksrun(command, RS), as read.
func (r *awkRun) run(name, rs string) (int, error) {
	st := r.stream(name)
	if st == nil {
		if _, err := r.flushAll(); err != nil {
			return -1, err
		}
		fd, pid, e := r.command(name, 1)
		if e != 0 {
			r.fatal = fmt.Sprintf("cannot open pipe `%s' for input: %s", name, e.Error())
			return -1, e
		}
		st = r.reader(name, fd, pid)
	}
	return r.record(st, rs), nil
}

func (r *awkRun) reader(name string, fd, pid int) *awkStream {
	st := &awkStream{name: name, fd: fd, pid: pid, in: &input{c: r.c, fd: fd, file: name, size: inputBuffer}}
	r.streams = append(r.streams, st)
	return st
}

func (r *awkRun) record(st *awkStream, rs string) int {
	r.stat = -1
	if st.in == nil {
		return r.stat
	}
	text, ok := []byte(nil), false
	if len(rs) == 1 {
		text, _, ok = st.in.line(rs[0])
	} else {
		text, ok = st.in.separated(rs)
	}
	switch {
	case ok:
		r.rec, r.stat = string(text), 1
	case st.in.err == 0:
		r.stat = 0
	}
	return r.stat
}

// separated is the next record of an RS that is a regular expression, or "": paragraphs.
func (in *input) separated(rs string) (text []byte, ok bool) {
	paragraphs := rs == ""
	if paragraphs {
		rs = "\n\n+"
	}
	re, err := regexp.Compile("(?s:" + rs + ")")
	if err != nil {
		return nil, false
	}
	for {
		for paragraphs && len(in.buf) > 0 && in.buf[0] == '\n' {
			in.buf = in.buf[1:]
		}
		// A match that reaches the buffer's end may go on behind it.
		if at := re.FindIndex(in.buf); at != nil && at[1] > at[0] && (at[1] < len(in.buf) || in.end) {
			text, in.buf = in.buf[:at[0]], in.buf[at[1]:]
			return text, true
		}
		if !in.fill() {
			text, in.buf = in.buf, nil
			if paragraphs {
				text = bytes.TrimSuffix(text, []byte("\n"))
			}
			return text, len(text) > 0
		}
	}
}

// funcs are the Go functions behind what awkIO has rewritten.
func (r *awkRun) ioFuncs(funcs map[string]any) {
	funcs["ksto"], funcs["ksread"], funcs["ksrun"] = r.to, r.read, r.run
	funcs["ksrec"], funcs["ksstat"] = func() string { return r.rec }, func() int { return r.stat }
	funcs["ksone"] = func(...string) int { return 1 }
	funcs["ksbig"] = func(text string) string { // a text that was just put together, with room to be put together once more
		if len(text) > 1<<20 {
			r.c.s.Room(2 * len(text))
		}
		return text
	}
	funcs["ksnum"] = func(n float64, text string) float64 { // of a substitution, which may make much more of it next time
		if len(text) > 1<<20 {
			r.c.s.Room(8 * len(text))
		}
		return n
	}
	funcs["kssystem"], funcs["ksclose"], funcs["ksflush"] = r.system, r.close, r.flushAll
}
