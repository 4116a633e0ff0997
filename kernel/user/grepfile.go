package user

import (
	"bytes"
	"strconv"
)

// grepFile is the search of one file.
type grepFile struct {
	g       *grepRun
	name    string
	held    [][]byte // lines before a match that may have to be shown
	line    int
	offset  int
	after   int // lines still to show behind a match
	last    int // number of the last line shown
	count   int
	binary  bool
	stopped bool
}

func (g *grepRun) file(show, file string) {
	in, ok := &input{c: g.c, file: file, size: inputBuffer}, true
	if file != "-" {
		fd, e := g.c.s.Open(file, oRdonly, 0)
		if in.fd = fd; e != 0 {
			g.fail(file, e)
			return
		}
	} else {
		show = g.label
	}
	defer in.close()
	f := &grepFile{g: g, name: show}
	in.fill()
	f.binary = !g.on['a'] && g.end == '\n' && bytes.IndexByte(in.buf, 0) >= 0
	if f.binary && g.on['I'] {
		return
	}
	var text []byte
	for ok && !f.stopped && g.max != 0 {
		if text, _, ok = in.line(g.end); ok {
			f.take(text)
		}
	}
	if in.err != 0 {
		g.fail(file, in.err)
	}
	f.finish()
}

// quiet says that no lines are printed.
func (g *grepRun) quiet() bool { return g.on['q'] || g.on['c'] || g.on['l'] || g.on['L'] }

func (f *grepFile) take(text []byte) {
	g := f.g
	f.line++
	offset := f.offset
	f.offset += len(text) + 1
	hit := len(g.spans(text, false)) > 0 != g.on['v']
	if !hit {
		switch {
		case f.after > 0:
			f.after--
			f.show(text, '-', f.line, offset)
		case g.before > 0 && !g.quiet():
			if f.held = append(f.held, text); len(f.held) > g.before {
				f.held = f.held[1:]
			}
		}
		f.stopped = g.max > 0 && f.count >= g.max && f.after == 0
		return
	}
	if g.max > 0 && f.count >= g.max {
		f.stopped = true
		return
	}
	f.count++
	g.matched = g.matched || !g.on['L']
	if g.on['q'] || g.on['l'] || g.on['L'] || f.binary && !g.on['c'] {
		f.stopped = true
		return
	}
	if g.quiet() {
		f.stopped = g.max > 0 && f.count >= g.max
		return
	}
	if g.before > 0 || g.after > 0 {
		if first := f.line - len(f.held); g.anyOut && first > f.last+1 {
			g.c.print([]byte("--\n")...)
		}
	}
	for i, l := range f.held {
		f.show(l, '-', f.line-len(f.held)+i, offset)
	}
	f.held = nil
	f.show(text, ':', f.line, offset)
	f.after = g.after
	f.stopped = g.max > 0 && f.count >= g.max && f.after == 0
}

// show prints one line with what the options put in front.
func (f *grepFile) show(text []byte, sep byte, number, offset int) {
	g := f.g
	g.anyOut, f.last = true, number
	prefix := func(at int) {
		var b []byte
		if g.names {
			b = append(b, f.name...)
			if g.on['Z'] {
				b = append(b, 0)
			} else {
				b = append(b, sep)
			}
		}
		if g.on['n'] {
			b = append(strconv.AppendInt(b, int64(number), 10), sep)
		}
		if g.on['b'] {
			b = append(strconv.AppendInt(b, int64(offset+at), 10), sep)
		}
		if g.on['T'] && len(b) > 0 {
			b = append(b, '\t')
		}
		g.c.print(b...)
	}
	defer func() {
		if g.on[6] { // --line-buffered
			g.c.flush()
		}
	}()
	if !g.on['o'] {
		prefix(0)
		g.c.print(text...)
		g.c.print(g.end)
		return
	}
	if sep == '-' || g.on['v'] {
		return
	}
	for _, m := range g.spans(text, true) {
		if m[0] < m[1] {
			prefix(m[0])
			g.c.print(text[m[0]:m[1]]...)
			g.c.print(g.end)
		}
	}
}

func (f *grepFile) finish() {
	g := f.g
	end := byte('\n')
	if g.on['Z'] {
		end = 0
	}
	switch {
	case g.on['q']:
	case g.on['c']:
		if g.names {
			sep := byte(':')
			if g.on['Z'] {
				sep = 0
			}
			g.c.print(append([]byte(f.name), sep)...)
		}
		g.c.printf("%d\n", f.count)
	}
	switch {
	case g.on['q']:
	case g.on['l'] && f.count > 0:
		g.c.print(append([]byte(f.name), end)...)
	case g.on['L'] && f.count == 0:
		g.matched = true
		g.c.print(append([]byte(f.name), end)...)
	case f.binary && f.count > 0 && !g.quiet():
		g.c.errorf("%s: binary file matches", f.name)
	}
}
