package user

import (
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"

	"github.com/benhoyt/goawk/interp"
	"github.com/benhoyt/goawk/parser"

	"kscope/kernel"
)

var awkOptions = []option{{'F', "field-separator", true, 0}, {'f', "file", true, 0}, {'v', "assign", true, 0}, {'e', "source", true, 0}, {'b', "characters-as-bytes", false, 0},
	{'S', "sandbox", false, 0}, {'n', "non-decimal-data", false, 0}, {'r', "re-interval", false, 0}, {'P', "posix", false, 0}}

const awkUsage = "Usage: awk [POSIX or GNU style options] -f progfile [--] file ...\n" +
	"Usage: awk [POSIX or GNU style options] [--] 'program' file ...\n"

// awkRun connects goawk's interpreter to the task's files: it sees only readers and writers over Sys. See awkRewrite for
// how FILENAME, srand() and the order of for-in are made ours.
type awkRun struct {
	c     *cmd
	files []string // still to be read
	cur   *input
	fatal string
	iters []awkIter

	streams  []*awkStream // open redirections
	ending   bool
	out      *awkStream // where the next output goes; nil: standard output
	rec      string     // ksrec(), or what ksmatch looked at
	stat     int
	groups   []int
	compiled map[string]*regexp.Regexp
}

// awkIter is the keys of one for-in loop that are still to come.
type awkIter struct{ items []awkItem }

type awkItem struct{ key, value string }

func awk(c *cmd) int {
	c.inOrder = true
	found, args, status, done := c.parse(awkOptions, 2)
	if done {
		return status
	}
	var vars []string
	var source []string
	hex := false
	for _, o := range found {
		switch o.id {
		case 'n':
			hex = true
		case 'F':
			if o.value == "t" {
				o.value = "\t"
			}
			vars = append(vars, "FS", awkUnescape(o.value))
		case 'v':
			name, value, ok := strings.Cut(o.value, "=")
			if !ok {
				c.errorf("fatal: `%s' is not a legal variable name", o.value)
				return 2
			}
			vars = append(vars, name, awkUnescape(value))
		case 'f':
			in, ok := &input{c: c, file: o.value, size: inputBuffer}, o.value == "-"
			if !ok {
				fd, e := c.s.Open(o.value, oRdonly, 0)
				if in.fd = fd; e != 0 {
					c.errorf("fatal: cannot open source file `%s' for reading: %s", o.value, e.Error())
					return 2
				}
			}
			source = append(source, string(in.all()))
			in.close()
		case 'e':
			source = append(source, o.value)
		}
	}
	if len(source) == 0 {
		if len(args) == 0 {
			c.s.Write(2, []byte(awkUsage))
			return 1
		}
		source, args = args[:1], args[1:]
	}
	return awkExec(c, strings.Join(source, "\n"), hex, vars, args)
}

func awkUnescape(text string) string {
	out, err := strconv.Unquote(`"` + strings.ReplaceAll(text, `"`, `\"`) + `"`)
	if err != nil {
		return text
	}
	return out
}

func awkExec(c *cmd, source string, hex bool, vars, args []string) int {
	r := &awkRun{c: c, compiled: map[string]*regexp.Regexp{}}
	funcs := map[string]any{"ksnew": r.newIter, "ksput": r.put, "ksmore": r.more, "ksnext": r.next, "kssort": r.sort, "ksnow": r.now}
	r.ioFuncs(funcs)
	r.gawkFuncs(funcs)
	conf := &parser.ParserConfig{Funcs: funcs}
	if line := TooDeep(source); line > 0 {
		c.errorf("cmd. line:%d: nested too deeply", line)
		return 1
	}
	rewritten := awkIO(source, hex)
	if _, err := parser.ParseProgram([]byte(rewritten), conf); err != nil {
		if _, raw := parser.ParseProgram([]byte(source), conf); raw != nil && sameLine(raw, err) {
			err = raw // which has the column as it was written
		}
		return awkSyntax(c, source, err)
	}
	prog, err := parser.ParseProgram([]byte(awkRewrite(rewritten)), conf)
	if err != nil { // names that awkRewrite uses itself, such as ks1
		c.errorf("fatal: the program cannot be run here: %s", err.Error())
		return 2
	}
	cfg := &interp.Config{Stdin: r, Output: awkOut{c, r}, Error: awkErr{c}, Argv0: "awk", Funcs: funcs, NoExec: true, NoFileWrites: true,
		NoFileReads: true, Environ: []string{}, Vars: vars}
	for _, kv := range c.s.Env() {
		k, v, _ := strings.Cut(kv, "=")
		cfg.Environ = append(cfg.Environ, k, v)
	}
	for _, a := range args {
		if k, _, ok := strings.Cut(a, "="); ok && awkName(k) {
			cfg.Args = append(cfg.Args, a)
			continue
		}
		r.files = append(r.files, a)
		cfg.Args = append(cfg.Args, awkFilename+"="+strings.ReplaceAll(a, `\`, `\\`), "-")
	}
	if len(r.files) == 0 {
		r.files = []string{"-"}
	}
	in, err := interp.New(prog)
	if err != nil {
		panic("BUG: user: awk: " + err.Error())
	}
	ended := make(chan struct{})
	close(ended)
	code, err := in.ExecuteContext(awkContext{context.Background(), c.s, &heapWatch{s: c.s}, ended}, cfg)
	if r.cur != nil {
		r.cur.close()
	}
	if closing := r.closeAll(); err == nil {
		err = closing
	}
	if err != nil {
		return awkFailed(c, r, err)
	}
	return code & 0xff
}

func awkFailed(c *cmd, r *awkRun, err error) int {
	var e kernel.Errno
	switch text := err.Error(); {
	case c.wroteBad:
	case strings.HasPrefix(r.fatal, "cmd. line:"):
		c.errorf("%s", r.fatal)
	case r.fatal != "":
		c.errorf("fatal: %s", r.fatal)
	case errors.As(err, &e):
		c.errorf("fatal: %s", e.Error())
	case strings.Contains(text, " due to No"):
		what, _, _ := strings.Cut(text, " due to ")
		c.errorf("fatal: %s: not supported here: only the command line's files and standard output", what)
	default:
		c.errorf("cmd. line:1: fatal: %s", text)
	}
	return 2
}

// awkSyntax prints gawk's three-part message: the line, a caret, what is wrong.
func awkSyntax(c *cmd, source string, err error) int {
	var pe *parser.ParseError
	if !errors.As(err, &pe) {
		c.errorf("%s", err.Error())
		return 1
	}
	lines := strings.Split(source, "\n")
	text := ""
	if n := pe.Position.Line; n >= 1 && n <= len(lines) {
		text = lines[n-1]
	}
	where := fmt.Sprintf("cmd. line:%d: ", pe.Position.Line)
	c.errorf("%s%s", where, text)
	c.errorf("%s%s^ %s", where, strings.Repeat(" ", max(0, pe.Position.Column-1)), pe.Message)
	return 1
}

func sameLine(a, b error) bool {
	var x, y *parser.ParseError
	return errors.As(a, &x) && errors.As(b, &y) && x.Position.Line == y.Position.Line
}

func awkName(text string) bool {
	for i := range len(text) {
		if !wordByte(text[i]) || i == 0 && text[i] >= '0' && text[i] <= '9' {
			return false
		}
	}
	return text != ""
}

// Read implements io.Reader: one file until its end, then the next, as goawk asks for each operand by a "-".
func (r *awkRun) Read(b []byte) (int, error) {
	if r.cur == nil {
		if len(r.files) == 0 {
			return 0, io.EOF
		}
		file := r.files[0]
		r.files = r.files[1:]
		r.cur = &input{c: r.c, file: file, size: inputBuffer}
		if file != "-" && file != "/dev/stdin" {
			fd, e := r.c.s.Open(file, oRdonly, 0)
			if e != 0 {
				r.cur = nil
				r.fatal = fmt.Sprintf("cannot open file `%s' for reading: %s", file, e.Error())
				return 0, e
			}
			r.cur.fd = fd
		}
	}
	n, err := r.cur.Read(b)
	if err != nil {
		if err != io.EOF {
			r.fatal = fmt.Sprintf("error reading input file `%s': %s", r.cur.file, err.Error())
		}
		r.cur.close()
		r.cur = nil
	}
	return n, err
}

// The functions behind a rewritten for-in. Handles are numbers; a loop's keys come in the order of sortAwk.
func (r *awkRun) newIter() int {
	r.iters = append(r.iters, awkIter{})
	return len(r.iters) - 1
}

func (r *awkRun) put(n int, key, value string) {
	r.iters[n].items = append(r.iters[n].items, awkItem{key, value})
}

func (r *awkRun) sort(n int, mode string) int {
	sortAwk(r.iters[n].items, mode)
	return n
}

func (r *awkRun) more(n int) bool { return n < len(r.iters) && len(r.iters[n].items) > 0 }

func (r *awkRun) next(n int) string {
	it := &r.iters[n]
	key := it.items[0].key
	it.items = it.items[1:]
	return key
}

func (r *awkRun) now() int {
	ns, _ := r.c.s.ClockGettime(0)
	return int(ns / 1e9)
}

// awkContext is how a program that only computes lets others run: it looks as if it had ended, so that goawk asks Err every
// thousand operations, and says no.
type awkContext struct {
	context.Context
	s     *Sys
	heap  *heapWatch
	ended chan struct{}
}

func (a awkContext) Done() <-chan struct{} { return a.ended }

func (a awkContext) Err() error {
	a.s.Work(1000 * awkOp)
	a.heap.worked(1000)
	return nil
}

// awkOp is the cost of one of goawk's operations.
const awkOp = 20

// awkOut is standard output, or the redirection that ksto has chosen; a failed write ends the program.
type awkOut struct {
	c *cmd
	r *awkRun
}

func (w awkOut) Write(b []byte) (int, error) {
	if st := w.r.out; st != nil {
		return len(b), w.r.write(st, b)
	}
	w.c.print(b...)
	if w.c.wroteBad {
		return 0, kernel.EIO
	}
	return len(b), nil
}

// Flush does nothing: goawk calls it at the end, when the redirections are still to be closed.
func (w awkOut) Flush() error { return nil }

type awkErr struct{ c *cmd }

func (w awkErr) Write(b []byte) (int, error) {
	w.c.s.Write(2, b)
	return len(b), nil
}
