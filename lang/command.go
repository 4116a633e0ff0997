package lang

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"sort"
	"strconv"
	"strings"

	"go.starlark.net/starlark"
)

// A session's commands: a function command_top is run by
//
//	%top 5 comm            its parameters are the words, numbers as ints; a parameter named args takes the list of all
//	%top 5 | sort -n       what it prints goes to a command of the host
//	%top 5 > top.txt       or to a file of the host; >> appends
//
// % alone lists them, %top? shows the docstring.

const commandPrefix = "command_"

// commandNames are the commands that the globals define, sorted.
func commandNames(globals starlark.StringDict) []string {
	var names []string
	for name, v := range globals {
		if _, ok := v.(starlark.Callable); ok && strings.HasPrefix(name, commandPrefix) {
			names = append(names, strings.TrimPrefix(name, commandPrefix))
		}
	}
	sort.Strings(names)
	return names
}

// commandLine is a parsed line.
type commandLine struct {
	words  []string
	pipe   string // a host command, or ""
	file   string // a host file, or ""
	append bool
}

// parseCommand splits a line behind its %.
func parseCommand(line string) (commandLine, error) {
	var c commandLine
	in := rune(0)
	at := len(line)
scan:
	for i, r := range line {
		switch {
		case in != 0:
			if r == in {
				in = 0
			}
		case r == '\'':
			in = r
		case r == '|' || r == '>':
			at = i
			break scan
		}
	}
	words, err := splitWords(line[:at])
	if err != nil {
		return c, Errorf("%v", err)
	}
	c.words = words
	rest := line[at:]
	switch {
	case rest == "":
		return c, nil
	case strings.HasPrefix(rest, ">>"):
		c.file, c.append = strings.TrimSpace(rest[2:]), true
	case rest[0] == '>':
		c.file = strings.TrimSpace(rest[1:])
	default:
		c.pipe = strings.TrimSpace(rest[1:])
	}
	if c.file == "" && c.pipe == "" {
		return c, &Error{Msg: "nothing behind " + strings.TrimSpace(rest), At: rest, Hint: "%name args | host command, %name args > file"}
	}
	return c, nil
}

// command runs a line that begins with %.
func (s *Session) command(line string) error {
	c, err := parseCommand(strings.TrimSpace(line)[1:])
	if err != nil {
		return err
	}
	names := commandNames(s.globals)
	if len(c.words) == 0 {
		return s.listCommands(names)
	}
	name, question := strings.CutSuffix(c.words[0], "?")
	fn, ok := s.globals[commandPrefix+name].(starlark.Callable)
	if !ok {
		e := Unknown(name, "no command %%%s: define command_"+name+"(args)", names)
		return e
	}
	if question {
		return s.Host.showHelp(s.Out, fn)
	}
	args, err := commandArgs(fn, name, c.words[1:])
	if err != nil {
		return err
	}
	finish, err := s.redirect(c)
	if err != nil {
		return err
	}
	v, err := starlark.Call(s.thread, fn, args, nil)
	if err == nil && v != starlark.None {
		err = s.Host.show(s.Out, v)
	}
	if ferr := finish(); err == nil {
		err = ferr
	}
	return err
}

// commandArgs are the call's arguments.
func commandArgs(fn starlark.Callable, name string, words []string) (starlark.Tuple, error) {
	var args starlark.Tuple
	for _, w := range words {
		var v starlark.Value = starlark.String(w)
		if n, err := strconv.ParseInt(w, 0, 64); err == nil {
			v = starlark.MakeInt64(n)
		}
		args = append(args, v)
	}
	f, ok := fn.(*starlark.Function)
	if !ok {
		return args, nil
	}
	n := f.NumParams()
	if n == 1 && !f.HasVarargs() {
		if p, _ := f.Param(0); p == "args" {
			return starlark.Tuple{Strings(words)}, nil
		}
	}
	if len(words) > n && !f.HasVarargs() {
		return nil, &Error{Msg: fmt.Sprintf("%%%s takes %s, got %d", name, plural(n, "word"), len(words)), Hint: "usage: " + usageOf(f, name)}
	}
	return args, nil
}

// usageOf shows a command's words: %top [n] [key].
func usageOf(f *starlark.Function, name string) string {
	text := "%" + name
	for i := range f.NumParams() {
		p, _ := f.Param(i)
		if f.ParamDefault(i) != nil {
			p = "[" + p + "]"
		}
		text += " " + p
	}
	return text
}

func (s *Session) listCommands(names []string) error {
	if len(names) == 0 {
		io.WriteString(s.Out, "no commands: a function command_top(n) is run by %top 5\n")
		return nil
	}
	for _, name := range names {
		usage, doc := "%"+name, ""
		if f, ok := s.globals[commandPrefix+name].(*starlark.Function); ok {
			usage, doc = usageOf(f, name), firstLine(strings.TrimSpace(f.Doc()))
		}
		fmt.Fprintf(s.Out, "%-24s %s\n", usage, doc)
	}
	return nil
}

// redirect sends what is printed to where the line says; finish ends that, and waits for a host command.
func (s *Session) redirect(c commandLine) (finish func() error, err error) {
	if c.file == "" && c.pipe == "" {
		return func() error { return nil }, nil
	}
	sink, ok := s.Host.cfg.Stdout.(*Sink)
	if !ok {
		return nil, Errorf("output cannot be redirected here")
	}
	var buf bytes.Buffer
	outer := s.Out
	restore := sink.divert(&buf)
	s.Out = sink
	return func() error {
		restore()
		s.Out = outer
		if c.pipe != "" {
			return hostPipe(c.pipe, &buf, sink)
		}
		mode := os.O_CREATE | os.O_WRONLY | os.O_TRUNC
		if c.append {
			mode = os.O_CREATE | os.O_WRONLY | os.O_APPEND
		}
		f, err := os.OpenFile(c.file, mode, 0o644)
		if err != nil {
			return readError(c.file, err)
		}
		if _, err := f.Write(buf.Bytes()); err != nil {
			f.Close()
			return readError(c.file, err)
		}
		return f.Close()
	}, nil
}

// hostPipe runs a command of the host's shell on text.
func hostPipe(command string, in io.Reader, out io.Writer) error {
	shell := []string{"sh", "-c"}
	if runtime.GOOS == "windows" {
		shell = []string{"cmd", "/c"}
	}
	cmd := exec.Command(shell[0], shell[1], command)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = in, out, out
	if err := cmd.Run(); err != nil {
		return &Error{Msg: fmt.Sprintf("| %s: %v", command, err), At: command}
	}
	return nil
}
