package lang

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/chzyer/readline"
	"go.starlark.net/starlark"
)

// Session is an interactive read-eval-print loop, or the same loop over a file of statements.
type Session struct {
	Host    *Host
	In      io.ReadCloser
	Out     io.Writer        // results and errors
	Term    io.Writer        // the line editor's screen; nil: Out
	Begin   func()           // called before each statement; may be nil
	End     func()           // called behind each; may be nil
	Tty     bool             // In is a terminal: prompts, banner, history, completion
	Raw     bool             // false leaves the terminal's mode alone: In is not the process's own terminal
	Echo    bool             // without a terminal, print prompts and lines too, so that a session file is a golden
	Banner  string           // shown first on a terminal
	History string           // the history file, or ""
	Signals <-chan os.Signal // Ctrl-C while a statement runs

	globals starlark.StringDict
	thread  *starlark.Thread
	read    func(prompt string) (string, error)
	pending []string // lines read but not yet used
	editor  *Editor
	failed  bool
	prompt  string // of a statement's first line; "": promptFirst
}

// Prompts of a statement's first and further lines.
const (
	promptFirst = ">>> "
	promptMore  = "... "
)

// Run reads and runs statements until the end of the input. The exit status is that of the last failure when the input is
// not a terminal.
func (s *Session) Run(files ...string) int {
	s.begin()
	defer s.Host.Drop(s.thread)
	for _, f := range files {
		var globals starlark.StringDict
		s.attended(s.Host.Quit, func() (err error) {
			globals, err = s.Host.execFile(f)
			return err
		})
		for name, v := range globals {
			s.globals[name] = v
		}
	}
	if err := s.open(); err != nil {
		return s.Host.Report(s.Out, err)
	}
	defer s.close()
	if s.Tty {
		fmt.Fprint(s.Out, s.Banner)
	}
	for {
		src, err := s.statement()
		if errors.Is(err, readline.ErrInterrupt) {
			s.pending = nil
			continue
		}
		if src != "" {
			s.remember(src)
			s.run(src)
		}
		if err != nil {
			break
		}
	}
	if err := s.Host.Close(); err != nil {
		s.report(err)
	}
	if s.failed && !s.Tty {
		return ExitScript
	}
	return ExitOK
}

// begin makes the session's names and thread.
func (s *Session) begin() {
	s.globals = maps.Clone(s.Host.env)
	s.thread = s.Host.Thread("session")
}

// open sets the line reader up: an editor on a terminal, else plain lines.
func (s *Session) open() error {
	if !s.Tty {
		lines := bufio.NewReader(s.In)
		s.read = func(prompt string) (string, error) {
			line, err := lines.ReadString('\n')
			line = strings.TrimRight(line, "\r\n")
			if err == io.EOF && line != "" {
				err = nil
			}
			if s.Echo && err == nil {
				fmt.Fprintln(s.Out, strings.TrimRight(prompt+line, " "))
			}
			return line, err
		}
		return nil
	}
	screen := s.Term
	if screen == nil {
		screen = s.Out
	}
	e, err := NewEditor(EditorConfig{In: s.In, Screen: screen, Raw: s.Raw, History: s.History, More: promptMore, Indent: 4, Unfinished: unfinished, Complete: s.candidates})
	if err != nil {
		return err
	}
	s.editor, s.read = e, e.block.readline
	return nil
}

func (s *Session) close() {
	if s.editor != nil {
		s.editor.Close()
	}
}

// next gives the next line: a pending one, or a fresh one, in which joints of a recalled statement become line breaks.
func (s *Session) next(prompt string) (string, error) {
	if len(s.pending) == 0 {
		line, err := s.read(prompt)
		if err != nil {
			return "", err
		}
		s.pending = strings.Split(line, joint)
		if len(s.pending) > 1 {
			s.pending = append(s.pending, "") // it is whole: an empty line ends its block
		}
	}
	line := s.pending[0]
	s.pending = s.pending[1:]
	return line, nil
}

// statement reads one whole statement. A block ends at an empty line or, for pasted and piped text, where the next statement
// begins in column 0.
func (s *Session) statement() (string, error) {
	src, err := s.next(cmp.Or(s.prompt, promptFirst))
	if err != nil {
		return "", err
	}
	if text := strings.TrimSpace(src); text == "" || text[0] == '#' {
		return "", nil
	} else if text[0] == '%' || text[0] == '!' {
		return src, nil // a command has one line
	}
	if foreign(src) && (!s.Tty || len(s.pending) > 0) {
		return s.foreignBlock(src)
	}
	for !complete(src) {
		line, err := s.next(promptMore)
		if err == io.EOF {
			return src, err // run what there is: the parser says what is missing
		}
		if err != nil {
			return "", err
		}
		open := scanOpen(src)
		inBlock := open.quote == "" && len(open.opens) == 0 && !open.joined
		if strings.TrimSpace(line) == "" && (inBlock || s.Tty && len(open.quote) != 3) {
			break // on a terminal an empty line also leaves an open bracket: the parser says what is missing
		}
		if inBlock && !continues(line) {
			if strings.HasSuffix(strings.TrimSpace(src), ":") {
				src += "\n" + line // the parser says that it is not indented
				break
			}
			s.pending = append([]string{line}, s.pending...)
			break
		}
		src += "\n" + line
	}
	return src, nil
}

// foreignBlock reads what belongs to a block that the language has not, so that one mistake is told once.
func (s *Session) foreignBlock(src string) (string, error) {
	for {
		line, err := s.next(promptMore)
		if err != nil {
			return src, err
		}
		word, _ := leadingWord(line)
		if line == "" || line[0] != ' ' && line[0] != '\t' && !slices.Contains([]string{"except", "finally", "else"}, word) {
			s.pending = append([]string{line}, s.pending...)
			return src, nil
		}
		src += "\n" + line
	}
}

// Transcript runs source statement by statement in thread t, showing each as if it were typed; it ends at the first error.
func (h *Host) Transcript(t *starlark.Thread, src string) error {
	in := io.NopCloser(strings.NewReader(src))
	s := &Session{Host: h, In: in, Out: h.cfg.Stdout, Echo: true, thread: t, globals: starlark.StringDict{}}
	for name, v := range h.env {
		s.globals[name] = v
	}
	if err := s.open(); err != nil {
		return err
	}
	for {
		src, err := s.statement()
		if src != "" {
			if err := s.eval(src); err != nil {
				return err
			}
		}
		if err != nil {
			return nil // the end of src
		}
	}
}

// remember puts a statement into the history.
func (s *Session) remember(src string) {
	if s.editor != nil {
		s.editor.Remember(src)
	}
}

// run runs one statement.
func (s *Session) run(src string) {
	s.Host.uncancel()
	s.Host.refill(s.thread)
	s.attended(s.Host.Interrupt, func() error { return s.eval(src) })
}

// attended does fn and reports its error; a Ctrl-C calls interrupt meanwhile.
func (s *Session) attended(interrupt func(), fn func() error) {
	done := make(chan struct{})
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		for {
			select {
			case <-s.Signals:
				interrupt()
			case <-done:
				return
			}
		}
	}()
	if s.Begin != nil {
		s.Begin()
	}
	end := s.Host.watch()
	err := fn()
	end()
	if w, ok := s.Out.(interface{ FreshLine() }); ok && (s.Tty || s.Echo) {
		w.FreshLine()
	}
	s.report(err)
	if s.End != nil {
		s.End()
	}
	close(done)
	<-stopped
}

// eval evaluates one statement, keeps an expression's value as _ and shows it.
func (s *Session) eval(src string) error {
	_, err := s.evalValue(src)
	return err
}

// evalValue is eval that also gives the value of an expression, else None.
func (s *Session) evalValue(src string) (starlark.Value, error) {
	text := strings.TrimSpace(src)
	if strings.HasPrefix(text, "%") {
		return starlark.None, s.command(src)
	}
	if name, ok := strings.CutPrefix(text, "?"); ok && name != "" {
		text = name + "?"
	}
	if strings.HasPrefix(text, "!") {
		return starlark.None, s.shellLine(strings.TrimSpace(text[1:]))
	}
	if text == "?" {
		return starlark.None, s.Host.showHelp(s.Out, nil)
	}
	if name, ok := strings.CutSuffix(text, "?"); ok && name != "" && !strings.ContainsAny(name, "\"'#") {
		return starlark.None, s.question(name)
	}
	v, err := s.value(src)
	if err == nil && v != starlark.None {
		s.globals["_"] = v
		err = s.typed(v)
	}
	return v, err
}

// value runs a piece of source and gives the value of a sole expression, else None.
func (s *Session) value(src string) (starlark.Value, error) {
	f, name, err := s.Host.parseChunk(src)
	if err != nil {
		return nil, err
	}
	return s.Host.runChunk(s.thread, f, name, s.globals)
}

// shellLine runs !text in the guest's shell: what builtin sh does. It shows an exit status that is not 0.
func (s *Session) shellLine(text string) error {
	sh, ok := s.Host.env["sh"]
	if !ok || text == "" {
		return &Error{Msg: "! has no command behind it", At: "!", Hint: "!cat /etc/hostname is sh(\"cat /etc/hostname\")"}
	}
	v, err := starlark.Call(s.thread, sh, starlark.Tuple{starlark.String(text)}, nil)
	if err != nil {
		return err
	}
	if status, err := starlark.AsInt32(v); err != nil || status != 0 {
		fmt.Fprintf(s.Out, "[exit status %v]\n", v)
	}
	return nil
}

// show prints a statement's value.
func (h *Host) show(w io.Writer, v starlark.Value) error {
	err := h.showable(v)
	if err == nil {
		show(w, v)
	}
	return err
}

// show prints a value that is fit to be shown: a text of several lines as it is, anything else as Starlark writes it.
func show(w io.Writer, v starlark.Value) {
	if text, ok := starlark.AsString(v); ok && strings.Contains(text, "\n") {
		fmt.Fprintln(w, strings.TrimSuffix(text, "\n"))
		return
	}
	if x, ok := v.(interface{ Show() string }); ok { // a value that has more to show than its name
		fmt.Fprintln(w, x.Show())
		return
	}
	if list, ok := v.(*starlark.List); ok && ofObjects(list) {
		const most = 100
		fmt.Fprintln(w, "[")
		for i := range min(list.Len(), most) {
			fmt.Fprintf(w, "  %s,\n", strings.ReplaceAll(list.Index(i).String(), "\n", "\n  "))
		}
		if more := list.Len() - most; more > 0 {
			fmt.Fprintf(w, "  ... and %d more\n", more)
		}
		fmt.Fprintln(w, "]")
		return
	}
	fmt.Fprintln(w, v)
}

// ofObjects tells that a list reads better with one value in each line: it has several, which are no plain data, and is long.
func ofObjects(list *starlark.List) bool {
	const width = 100
	if list.Len() < 2 {
		return false
	}
	for i := range list.Len() {
		switch list.Index(i).(type) {
		case starlark.String, starlark.Int, starlark.Float, starlark.Bool, starlark.NoneType, starlark.Bytes:
			return false
		}
	}
	return len(list.String()) > width
}

// question is x?: help for a documented name, else for the value of x.
func (s *Session) question(x string) error {
	if v := s.globals[x]; s.Host.rowOf(x) != nil && (v == nil || v == s.Host.env[x]) {
		return s.Host.helpName(s.Out, x)
	}
	v, err := s.value(x)
	if err != nil {
		return err
	}
	return s.Host.showHelp(s.Out, v)
}

func (s *Session) report(err error) {
	if err == nil {
		return
	}
	s.failed = true
	s.Host.Report(s.Out, err)
	var at *placed
	if s.Tty && errors.As(err, &at) {
		printHint(s.Out, "the handler is still there: .close() takes it off, reset() takes all off")
	}
}

// candidates are what Tab offers.
func (s *Session) candidates(before string) (names []string, replace int) {
	name, ok := strings.CutPrefix(before, "%")
	if !ok || strings.Contains(name, " ") {
		return s.Host.Complete(before, s.globals)
	}
	for _, n := range commandNames(s.globals) {
		if strings.HasPrefix(n, name) {
			names = append(names, n+" ")
		}
	}
	return names, len(name)
}

// IsTerminal tells whether a file is a terminal.
func IsTerminal(f *os.File) bool { return readline.IsTerminal(int(f.Fd())) }
