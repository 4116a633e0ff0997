package user

import (
	"slices"
	"strconv"
	"strings"

	"kscope/kernel"
)

var xargsOptions = []option{{'0', "null", false, 0}, {'a', "arg-file", true, 0}, {'d', "delimiter", true, 0}, {'I', "", true, 0}, {'i', "replace?", true, 0}, {'L', "max-lines?", true, 0}, {'n', "max-args", true, 0},
	{'P', "max-procs", true, 0}, {'r', "no-run-if-empty", false, 0}, {'s', "max-chars", true, 0}, {'t', "verbose", false, 0}, {'x', "exit", false, 0}}

// xargsRun is what the options of xargs ask for.
type xargsRun struct {
	c       *cmd
	base    []string
	replace string
	max     int
	chars   int
	lines   int
	empty   bool // run with nothing to run it on
	trace   bool
	procs   int // at a time, 0: as many as there are
	running int
	pids    []int
	failed  bool // no more commands
	delim   int  // of the input's words, -1: blanks
	file    string
	status  int
}

// xargs of findutils 4.9.
func xargs(c *cmd) int {
	c.inOrder = true
	found, args, status, done := c.parse(xargsOptions, 1)
	if done {
		return status
	}
	x := &xargsRun{c: c, base: args, chars: 20000, empty: true, procs: 1, delim: -1, file: "-"}
	for _, o := range found {
		if code := x.option(o); code != 0 {
			return code
		}
	}
	if len(x.base) == 0 {
		x.base = []string{"echo"}
	}
	in, e := c.tryInput(x.file)
	if e != 0 {
		c.errorf("Cannot open input file %s: %s", quoted(x.file), e.Error())
		return 1
	}
	text := string(in.all())
	in.close()
	msg := x.all(text)
	for x.running > 0 {
		x.reap()
	}
	if msg != "" {
		c.errorf("%s", msg)
		return 1
	}
	return x.status
}

// option takes one option; a status other than 0 ends xargs.
func (x *xargsRun) option(o given) int {
	c := x.c
	n, err := strconv.Atoi(o.value)
	if strings.IndexByte("nLPs", o.id) >= 0 && (err != nil || n < 1 && o.id != 'P') && o.value != "" {
		if err != nil {
			c.errorf("invalid number \"%s\" for -%c option", o.value, o.id)
		} else {
			c.errorf("value %s for -%c option should be >= 1", o.value, o.id)
		}
		return c.tryHelp(1)
	}
	switch o.id {
	case '0':
		x.delim = 0
	case 'd':
		text, _ := unescape(o.value)
		if len(text) != 1 {
			c.errorf("Invalid input delimiter specification %s: the delimiter must be either a single character or an escape sequence starting with \\.", o.value)
			return 1
		}
		x.delim = int(text[0])
	case 'a':
		x.file = o.value
	case 'I', 'i':
		if x.replace = o.value; o.value == "" {
			x.replace = "{}"
		}
	case 'L':
		x.lines = max(1, n)
	case 'n':
		x.max = n
	case 's':
		x.chars = n
	case 'P':
		x.procs = n
	case 'r':
		x.empty = false
	case 't':
		x.trace = true
	}
	return 0
}

// all runs the commands for an input.
func (x *xargsRun) all(text string) (msg string) {
	switch {
	case x.replace != "":
		return x.perLine(text)
	case x.delim >= 0:
		words := strings.Split(strings.TrimSuffix(text, string(rune(x.delim))), string(rune(x.delim)))
		if text == "" {
			words = nil
		}
		x.batches(words)
	case x.lines > 0:
		for lines := strings.FieldsFunc(text, func(r rune) bool { return r == '\n' }); len(lines) > 0; {
			k := min(x.lines, len(lines))
			words, _ := xargsWords(strings.Join(lines[:k], "\n"))
			if lines = lines[k:]; !x.run(append(append([]string(nil), x.base...), words...)) {
				break
			}
		}
	default:
		words, msg := xargsWords(text)
		if msg != "" {
			return msg
		}
		x.batches(words)
	}
	return ""
}

// perLine is -I: one command for each line, without the blanks in front of it.
func (x *xargsRun) perLine(text string) (msg string) {
	end := max(x.delim, 0)
	if x.delim < 0 {
		end = '\n'
	}
	for _, line := range strings.FieldsFunc(text, func(r rune) bool { return int(r) == end }) {
		if line = strings.TrimLeft(line, " \t"); line == "" {
			continue
		}
		if x.delim < 0 {
			words, msg := xargsWords(strings.NewReplacer(" ", "\\ ", "\t", "\\\t").Replace(line))
			if msg != "" {
				return msg
			}
			line = strings.Join(words, " ")
		}
		var argv []string
		for _, w := range x.base {
			argv = append(argv, strings.ReplaceAll(w, x.replace, line))
		}
		if !x.run(argv) {
			break
		}
	}
	return ""
}

// xargsWords splits at blanks; quotes and backslashes protect.
func xargsWords(text string) (words []string, msg string) {
	var word []byte
	in, quote := false, byte(0)
	for i := 0; i < len(text); i++ {
		b := text[i]
		switch {
		case quote != 0 && b == '\n':
			return words, "unmatched " + map[byte]string{'"': "double", '\'': "single"}[quote] + " quote; by default quotes are special to xargs unless you use the -0 option"
		case quote != 0:
			if b == quote {
				quote = 0
			} else {
				word = append(word, b)
			}
		case b == '"' || b == '\'':
			in, quote = true, b
		case b == '\\' && i+1 < len(text):
			i++
			in, word = true, append(word, text[i])
		case b == ' ' || b == '\t' || b == '\n':
			if in {
				words = append(words, string(word))
			}
			in, word = false, nil
		default:
			in, word = true, append(word, b)
		}
	}
	if quote != 0 {
		return words, "unmatched " + map[byte]string{'"': "double", '\'': "single"}[quote] + " quote; by default quotes are special to xargs unless you use the -0 option"
	}
	if in {
		words = append(words, string(word))
	}
	return words, ""
}

func (x *xargsRun) batches(words []string) {
	if len(words) == 0 && !x.empty {
		return
	}
	for first := true; first || len(words) > 0; first = false {
		argv := append([]string(nil), x.base...)
		size := 0
		for _, w := range argv {
			size += len(w) + 1
		}
		for n := 0; len(words) > 0 && (x.max == 0 || n < x.max) && (size+len(words[0])+1 <= x.chars || n == 0); n++ {
			size += len(words[0]) + 1
			argv, words = append(argv, words[0]), words[1:]
		}
		if !x.run(argv) {
			return
		}
	}
}

// run executes one command line; false ends xargs.
func (x *xargsRun) run(argv []string) bool {
	c := x.c
	c.flush()
	if x.trace {
		c.s.Write(2, []byte(strings.Join(argv, " ")+"\n"))
	}
	pid, e := c.s.Fork(func(s *Sys) int {
		if fd, e := s.Open("/dev/null", oRdonly, 0); e == 0 { // the input is xargs's own
			s.Dup2(fd, 0)
			s.Close(fd)
		}
		e := s.execvp(argv, s.Env())
		s.Write(2, []byte("xargs: "+argv[0]+": "+e.Error()+"\n"))
		return execStatus(e)
	})
	if e != 0 {
		c.errorf("cannot fork: %s", e.Error())
		x.status = 1
		return false
	}
	x.pids = append(x.pids, pid)
	x.running++
	for x.running > 0 && (x.procs > 0 && x.running >= x.procs) {
		x.reap()
	}
	return !x.failed
}

// reap waits for one of the commands; some statuses end xargs.
func (x *xargsRun) reap() {
	c := x.c
	pid, ws, e := c.s.Wait4(-1, 0)
	if e == kernel.EINTR {
		return
	}
	i := slices.Index(x.pids, pid)
	if e != 0 || i < 0 {
		x.running = 0
		return
	}
	x.pids = slices.Delete(x.pids, i, i+1)
	name := x.base[0]
	x.running--
	switch code := exitStatus(ws); {
	case ws&0x7f != 0:
		c.errorf("%s: terminated by signal %d", name, ws&0x7f)
		x.status, x.failed = 125, true
	case code == 255:
		c.errorf("%s: exited with status 255; aborting", name)
		x.status, x.failed = 124, true
	case code == 126 || code == 127:
		x.status, x.failed = code, true
	case code != 0:
		x.status = 123
	}
}
