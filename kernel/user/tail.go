package user

import (
	"bytes"
	"strings"
)

var tailOptions = []option{{'c', "bytes", true, 0}, {'f', "follow?", true, 0}, {'n', "lines", true, 0}, {'q', "quiet", false, 0}, {0, "silent", false, 'q'},
	{'s', "sleep-interval", true, 0}, {'v', "verbose", false, 0}, {'z', "zero-terminated", false, 0}, {0, "pid", true, 1}, {0, "retry", false, 2}}

// tailWants is what the options ask for: the last count units, or all from unit number count on.
type tailWants struct {
	count     int64
	lines     bool
	fromStart bool
	end       byte
	follow    bool
	every     float64
}

func tail(c *cmd) int {
	if a := c.argv; len(a) > 1 && len(a[1]) > 1 && (a[1][0] == '-' || a[1][0] == '+') && a[1][1] >= '0' && a[1][1] <= '9' {
		if text, ok := strings.CutSuffix(a[1], "c"); ok {
			a[1] = "-c" + strings.TrimPrefix(text, "-")
		} else {
			a[1] = "-n" + strings.TrimPrefix(a[1], "-")
		}
	}
	// -f's short form never takes a value.
	opts := append([]option{{'f', "", false, 0}}, tailOptions...)
	found, files, status, done := c.parse(opts, 1)
	if done {
		return status
	}
	w := tailWants{count: 10, lines: true, end: '\n', every: 1}
	quiet, verbose := false, false
	for _, o := range found {
		switch o.id {
		case 'n', 'c':
			w.lines = o.id == 'n'
			text := strings.TrimPrefix(o.value, "+")
			w.fromStart = text != o.value
			n, ok := sizeOf(strings.TrimPrefix(text, "-"))
			if !ok {
				c.errorf("invalid number of %s: %s", map[bool]string{true: "lines", false: "bytes"}[w.lines], quoted(o.value))
				return 1
			}
			w.count = n
		case 'f':
			if w.follow = true; o.value == "name" {
				c.errorf("option --follow=name is not supported")
				return 1
			}
		case 's':
			var ok bool
			if w.every, ok = interval(o.value); !ok {
				c.errorf("invalid number of seconds: %s", quoted(o.value))
				return 1
			}
		case 'q':
			quiet, verbose = true, false
		case 'v':
			quiet, verbose = false, true
		case 'z':
			w.end = 0
		case 1, 2:
			c.errorf("options --pid and --retry are not supported")
			return 1
		}
	}
	titles := verbose || !quiet && len(files) > 1
	var open []*input
	for i, file := range orStdin(files) {
		in, ok := c.input(file, "cannot open %s for reading: %s")
		if !ok {
			status = 1
			continue
		}
		if titles {
			c.printf("%s==> %s <==\n", map[bool]string{true: "\n"}[i > 0 && c.wrote], tailName(file))
		}
		if !tailOne(c, &w, in) {
			status = 1
		}
		if w.follow {
			open = append(open, in)
			continue
		}
		in.close()
	}
	if len(open) > 0 {
		tailFollow(c, open, titles, w.every)
	}
	return status
}

func tailName(file string) string {
	if file == "-" {
		return "standard input"
	}
	return file
}

func tailOne(c *cmd, w *tailWants, in *input) bool {
	in.size = headBuffer
	if w.fromStart {
		tailFrom(c, w, in)
	} else {
		c.print(w.last(in)...)
	}
	if in.err != 0 {
		c.errorf("error reading %s: %s", quoted(tailName(in.file)), in.err.Error())
	}
	return in.err == 0
}

// tailFrom prints all from line or byte number count on.
func tailFrom(c *cmd, w *tailWants, in *input) {
	skip := max(w.count-1, 0)
	for skip > 0 {
		if w.lines {
			if _, _, ok := in.line(w.end); !ok {
				return
			}
			skip--
			continue
		}
		if len(in.buf) == 0 && !in.fill() {
			return
		}
		n := min(int64(len(in.buf)), skip)
		in.buf = in.buf[n:]
		skip -= n
	}
	for {
		c.print(in.buf...)
		in.buf = nil
		if !in.fill() {
			return
		}
	}
}

// last is the last count units. Regular files are read from their end where a seek there tells that they are long.
func (w *tailWants) last(in *input) []byte {
	var held []byte
	had, most := 0, 1<<16
	for {
		in.c.s.Hold(2 * (len(held) + len(in.buf) - had))
		had = len(held) + len(in.buf)
		held = append(held, in.buf...)
		in.buf = nil
		if len(held) > most {
			held = append([]byte(nil), w.cut(held)...)
			most = max(1<<16, 2*len(held))
		}
		if !in.fill() {
			return w.cut(held)
		}
	}
}

func (w *tailWants) cut(text []byte) []byte {
	if !w.lines {
		return text[max(0, len(text)-int(min(w.count, 1<<40))):]
	}
	if w.count == 0 {
		return nil
	}
	at := len(text)
	if at > 0 && text[at-1] == w.end {
		at--
	}
	for n := w.count; n > 0; n-- {
		if at = bytes.LastIndexByte(text[:at], w.end); at < 0 {
			return text
		}
	}
	return text[at+1:]
}

// tailFollow shows what is added to the files; it ends only when the task is killed or nobody reads.
func tailFollow(c *cmd, open []*input, titles bool, every float64) {
	last := open[len(open)-1]
	for c.flush() {
		for _, in := range open {
			b, e := c.s.Read(in.fd, headBuffer)
			for e == 0 && len(b) > 0 {
				if titles && in != last {
					c.printf("\n==> %s <==\n", tailName(in.file))
				}
				last = in
				c.print(b...)
				b, e = c.s.Read(in.fd, headBuffer)
			}
		}
		if !c.flush() {
			return
		}
		c.s.sleepFor(uint64(every * 1e9))
	}
}
