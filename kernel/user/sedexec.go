package user

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"
)

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// script runs the commands on the current line. act says how the cycle ends: 0 normally, d without printing, D again with
// what is left, q and Q at once.
func (r *sedRun) script() (code int, act byte) {
	for pc := 0; pc < len(r.cmds); pc++ {
		x := &r.cmds[pc]
		r.c.s.Work(10)
		if r.selected(x) == x.not {
			if x.name == '{' {
				pc = x.jump
			}
			continue
		}
		switch x.name {
		case 'b':
			pc = x.jump - 1
		case 't':
			if r.substituted {
				r.substituted = false
				pc = x.jump - 1
			}
		case 'T':
			if !r.substituted {
				pc = x.jump - 1
			}
			r.substituted = false
		case 'q', 'Q':
			return max(x.num, 0), x.name
		case 'd':
			return 0, 'd'
		case 'D':
			i := bytes.IndexByte(r.space, '\n')
			if i < 0 {
				return 0, 'd'
			}
			r.space = r.space[i+1:]
			return 0, 'D'
		case 'c':
			if x.a2.kind == 0 || x.not || !x.active {
				r.out([]byte(x.text))
			}
			return 0, 'd'
		case 'n', 'N':
			if !r.hasNext {
				return 0, 'q' // GNU prints the pattern space when there is no next line
			}
			r.nextLine(x.name == 'N')
		default:
			r.simple(x)
		}
	}
	return 0, 0
}

// nextLine is n, or N with join.
func (r *sedRun) nextLine(join bool) {
	old := r.space
	if !join && !r.quiet {
		r.put(old)
	}
	r.endCycle()
	r.cycle()
	if join {
		r.room(len(old))
		r.space = append(append(old, '\n'), r.space...)
	}
}

// room asks for the memory of what may grow next: both spaces once more, and n bytes.
func (r *sedRun) room(n int) { r.c.s.Room(2 * (len(r.space) + len(r.hold) + n)) }

// simple is the commands that only change the spaces or print.
func (r *sedRun) simple(x *sedCmd) {
	switch x.name {
	case '=':
		r.out([]byte(fmt.Sprintf("%d\n", r.line)))
	case 'a':
		r.queue = append(r.queue, sedLater{text: []byte(x.text)})
	case 'i':
		r.out([]byte(x.text))
	case 'F':
		r.out([]byte(r.in.file + "\n"))
	case 'g':
		r.space = bytes.Clone(r.hold)
	case 'G':
		r.room(0)
		r.space = append(append(r.space, '\n'), r.hold...)
	case 'h':
		r.hold = bytes.Clone(r.space)
	case 'H':
		r.room(0)
		r.hold = append(append(r.hold, '\n'), r.space...)
	case 'x':
		r.space, r.hold = r.hold, r.space
	case 'l', 'L':
		n := x.num
		if n < 0 {
			n = r.wrap
		}
		r.out(sedList(r.space, n))
	case 'p':
		r.put(r.space)
	case 'P':
		first, _, _ := bytes.Cut(r.space, []byte("\n"))
		r.out(append(bytes.Clone(first), '\n'))
	case 'z':
		r.space = nil
	case 'r':
		r.queue = append(r.queue, sedLater{file: x.file})
	case 'R':
		r.readLine(x.file)
	case 'w', 'W':
		text := r.space
		if x.name == 'W' {
			text, _, _ = bytes.Cut(r.space, []byte("\n"))
		}
		r.write(x.file, append(bytes.Clone(text), '\n'))
	case 'y':
		for i, b := range r.space {
			r.space[i] = x.from[b]
		}
	case 's':
		r.subst(x)
	}
}

func (r *sedRun) write(file string, text []byte) {
	if fd := r.outs[file]; fd == 1 {
		r.c.print(text...)
	} else {
		r.c.writeAll(fd, text)
	}
}

func (r *sedRun) readLine(file string) {
	in := r.readers[file]
	if in == nil {
		fd, e := r.c.s.Open(file, oRdonly, 0)
		in = &input{c: r.c, fd: fd, file: file, size: 4096, end: e != 0}
		r.readers[file] = in
	}
	if text, _, ok := in.line('\n'); ok {
		r.queue = append(r.queue, sedLater{text: append(bytes.Clone(text), '\n')})
	}
}

func (r *sedRun) subst(x *sedCmd) {
	rx := x.rx
	if rx == nil {
		rx = r.lastRegex.rx
	} else {
		r.lastRegex.rx = rx
	}
	if rx == nil {
		return
	}
	r.c.s.Work(len(r.space))
	var out []byte
	at, count, done := 0, 0, false
	for _, m := range rx.FindAllSubmatchIndex(r.space, -1) {
		count++
		if count < max(x.num, 1) {
			continue
		}
		if len(out) > 1<<20 {
			r.room(len(out))
		}
		out = append(out, r.space[at:m[0]]...)
		out = sedExpand(out, x.repl, r.space, m)
		at, done = m[1], true
		if !x.global {
			break
		}
	}
	if !done {
		return
	}
	r.space = append(out, r.space[at:]...)
	r.substituted = true
	if x.print {
		r.put(r.space)
	}
	if x.file != "" {
		r.write(x.file, append(bytes.Clone(r.space), '\n'))
	}
}

// sedExpand appends a replacement; \u and \l count for one character, \U and \L until \E.
func sedExpand(out []byte, repl []sedPart, space []byte, m []int) []byte {
	var mode, once byte
	for _, p := range repl {
		if p.mode != 0 {
			switch p.mode {
			case 'u', 'l':
				once = p.mode
			case 'E':
				mode = 0
			default:
				mode = p.mode
			}
			continue
		}
		text := p.text
		if p.group >= 0 {
			if text = ""; 2*p.group+1 < len(m) && m[2*p.group] >= 0 {
				text = string(space[m[2*p.group]:m[2*p.group+1]])
			}
		}
		switch mode {
		case 'U':
			text = strings.ToUpper(text)
		case 'L':
			text = strings.ToLower(text)
		}
		if once != 0 && text != "" {
			head := map[byte]func(string) string{'u': strings.ToUpper, 'l': strings.ToLower}[once](text[:1])
			text, once = head+text[1:], 0
		}
		out = append(out, text...)
	}
	return out
}

// sedList is the l command: escapes, a $ at the end, lines of wrap columns (0 and 1: one line).
func sedList(text []byte, wrap int) []byte {
	var out []byte
	width := 0
	for _, b := range text {
		var s string
		switch at := strings.IndexByte("\\\a\b\f\n\r\t\v", b); {
		case at >= 0:
			s = `\` + `\abfnrtv`[at:at+1]
		case b < 32 || b > 126:
			s = fmt.Sprintf("\\%03o", b)
		default:
			s = string(rune(b))
		}
		if wrap > 1 && width+len(s) > wrap-1 {
			out = append(out, "\\\n"...)
			width = 0
		}
		out = append(out, s...)
		width += len(s)
	}
	return append(out, "$\n"...)
}
