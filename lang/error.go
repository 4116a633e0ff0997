package lang

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"go.starlark.net/resolve"
	"go.starlark.net/starlark"
	"go.starlark.net/syntax"
)

// Error is an error of the user's making: what is wrong, where to point, and what to try instead.
type Error struct {
	Msg   string // one or more lines; the first says it all
	Hint  string // "did you mean vfs_read?", or empty
	Arg   string // the parameter whose argument is wrong; empty when Msg begins with it: "limit = 0: want a positive int"
	At    string // text of the argument, or of the source line, to point at; empty points at the argument, or at the call
	Off   int    // byte offset inside At
	Code  string // the errno's name when there is one ("EINVAL")
	Exit  int    // exit status; 0 means ExitScript
	Cause error
	Bare  bool // no place in the source is shown: it is the command line's

	nth int // the argument's number from 1, where it has no name
}

func (e *Error) Error() string { return e.Msg }
func (e *Error) Unwrap() error { return e.Cause }

// Errorf makes an Error that points at the call.
func Errorf(format string, args ...any) *Error { return &Error{Msg: fmt.Sprintf(format, args...)} }

// Unknown makes the error for a name that is not there, with its hint.
func Unknown(name, format string, candidates []string) *Error {
	return &Error{Msg: fmt.Sprintf(format, name), At: name, Hint: DidYouMean(name, candidates)}
}

// placed is an error of something that the guest called, with where the guest was.
type placed struct {
	err   error
	where string
}

func (p *placed) Error() string { return p.err.Error() }
func (p *placed) Unwrap() error { return p.err }

// At says where the guest was when err happened; Report shows it.
func At(err error, where string) error { return &placed{err, where} }

// cancelled is how the interpreter words a cancellation; users see only the reason.
const cancelled = "Starlark computation cancelled: "

// Report prints err for a person and returns the exit status that it stands for.
func (h *Host) Report(w io.Writer, err error) int {
	if err == nil || errors.Is(err, errDone) {
		return ExitOK
	}
	out, ok := h.cfg.Stdout.(*Output)
	if !ok {
		return h.report(w, err)
	}
	var text bytes.Buffer
	status := h.report(&text, err)
	out.fail(text.String(), status)
	w.Write(text.Bytes())
	return status
}

func (h *Host) report(w io.Writer, err error) int {
	var at *placed
	if errors.As(err, &at) {
		defer fmt.Fprintf(w, "  guest: %s\n", at.where)
	}
	var over *overBudget
	if status := h.reportCause(w, err); !errors.As(err, &over) {
		return status
	}
	printHint(w, "a handler stops the machine while it runs: let it note what it sees, and work behind the run")
	return ExitLimit
}

func (h *Host) reportCause(w io.Writer, err error) int {
	// The innermost cause tells most: load() wraps what went wrong inside the loaded file.
	var calls starlark.CallStack
	var ee *starlark.EvalError
	for rest := err; errors.As(rest, &ee); rest = ee.Unwrap() {
		if calls = ee.CallStack; ee.Unwrap() == nil {
			break
		}
		err = ee
	}
	var se syntax.Error
	var rl resolve.ErrorList
	switch {
	case errors.As(err, &rl):
		for _, e := range rl {
			if h.reportAt(w, e.Msg, e.Pos) == shellHint {
				break // the other words of a command
			}
		}
		h.printCalls(w, calls)
		return ExitScript
	case errors.As(err, &se):
		h.reportAt(w, se.Msg, se.Pos)
		h.printCalls(w, calls)
		return ExitScript
	case ee != nil:
		return h.reportEval(w, ee)
	}
	fmt.Fprintf(w, "error: %s\n", err)
	var e *Error
	if errors.As(err, &e) {
		printHint(w, e.Hint)
		if e.Exit != 0 {
			return e.Exit
		}
	}
	return ExitScript
}

// reportAt prints an error of the parser or resolver, and gives its hint.
func (h *Host) reportAt(w io.Writer, msg string, pos syntax.Position) string {
	msg, hint := splitHint(msg)
	at := ""
	if name, ok := strings.CutPrefix(msg, "undefined: "); ok {
		at = name
		if better := DidYouMean(name, append(h.names(), starlark.Universe.Keys()...)); better != "" {
			hint = better
		}
		if there := h.guestName(name); there != "" {
			hint = there
		}
	}
	if better := hintFor(msg, h.sourceLine(pos)); better != "" {
		hint = better
	}
	fmt.Fprintf(w, "error: %s\n", msg)
	h.printPlace(w, pos, "", pos, at, 0)
	printHint(w, hint)
	return hint
}

// splitHint takes starlark-go's own spelling hint out of a message.
func splitHint(msg string) (string, string) {
	i := strings.LastIndex(msg, " (did you mean ")
	if i < 0 || !strings.HasSuffix(msg, "?)") {
		return msg, ""
	}
	return msg[:i], msg[i+2 : len(msg)-1]
}

// reportEval prints a run-time error: the message, then the innermost place with its source line and a caret, then the
// calls that led there.
func (h *Host) reportEval(w io.Writer, ee *starlark.EvalError) int {
	msg, hint := splitHint(strings.TrimPrefix(ee.Msg, cancelled))
	status, at, off := ExitScript, "", 0
	stack := ee.CallStack
	e := h.errorOf(ee)
	var arg syntax.Position
	if e != nil {
		arg, _ = h.blame(stack, e)
		msg, at, off = e.Msg, e.At, e.Off
		if e.Hint != "" {
			hint = e.Hint
		}
		if e.Exit != 0 {
			status = e.Exit
		}
	}
	if h.limited.Load() {
		status = ExitLimit
	}
	if reason := h.exhausted.Load(); reason != nil {
		msg, hint = *reason, "what it holds: lists and dicts that grow, keys of aggregations, records; --max-memory=4G allows more"
	}
	if hint == "" && strings.Contains(msg, "frozen") {
		hint = "a loaded file's globals are frozen when load() returns; keep changing state in the script that runs, or return it from a function"
	}
	if better := hintFor(msg, ""); hint == "" {
		hint = better
	}
	fmt.Fprintf(w, "error: %s\n", msg)
	if n := len(stack); n > 1 && strings.HasPrefix(msg, "function "+stack[n-1].Name+" ") {
		stack = stack[:n-1] // wrong arguments are the caller's mistake
	}
	if e == nil || !e.Bare {
		h.printStack(w, stack, arg, at, off)
	}
	printHint(w, hint)
	return status
}

// errorOf is what an evaluation's error says of itself: nil of one of the interpreter's own.
func (h *Host) errorOf(ee *starlark.EvalError) *Error {
	var e *Error
	if errors.As(ee, &e) {
		return e
	}
	n := len(ee.CallStack)
	if m := notInModule.FindStringSubmatch(ee.Msg); m != nil {
		return &Error{Msg: "load: " + m[2] + " has no " + m[1], At: m[1], Hint: h.inModule(m[2], m[1])}
	}
	switch {
	case n == 0:
	case ee.CallStack[n-1].Pos.Line == 0:
		return h.argument(ee.CallStack[n-1].Name, ee.Msg)
	case strings.HasPrefix(ee.Msg, "function "+ee.CallStack[n-1].Name+" "):
		return h.ownArgument(ee.CallStack[n-1], ee.Msg)
	}
	return nil
}

// printStack prints the Starlark frames of a call stack, innermost first, with the source line of the innermost. Frames of
// built-in functions have no source. arg, when it has a line, is the argument that is wrong.
func (h *Host) printStack(w io.Writer, stack starlark.CallStack, arg syntax.Position, at string, off int) {
	i := len(stack) - 1
	for i > 0 && stack[i].Pos.Line == 0 {
		i--
	}
	if i < 0 {
		return
	}
	h.printPlace(w, stack[i].Pos, stack[i].Name, arg, at, off)
	h.printCalls(w, stack[:i])
}

// printCalls prints the calls that led to an error, innermost first; a deep recursion is folded.
func (h *Host) printCalls(w io.Writer, stack starlark.CallStack) {
	const most = 12
	shown := 0
	for i := len(stack) - 1; i >= 0; i-- {
		fr := stack[i]
		if fr.Pos.Line == 0 || atPrompt(fr.Pos.Filename(), fr.Name) {
			continue
		}
		if shown++; shown > most {
			fmt.Fprintf(w, "  ... %d more calls\n", i+1)
			return
		}
		times := 1
		for i > 0 && stack[i-1].Pos == fr.Pos {
			i, times = i-1, times+1
		}
		where := "called in " + fr.Name
		if fr.Name == "<toplevel>" {
			where = "called at top level"
		}
		if times > 1 {
			where += fmt.Sprintf(" (%d times)", times)
		}
		fmt.Fprintf(w, "  %s:%d:%d: %s\n", fr.Pos.Filename(), fr.Pos.Line, fr.Pos.Col, where)
	}
}

// atPrompt tells that a place is what was just typed, which needs no name.
func atPrompt(file, fn string) bool {
	return strings.HasPrefix(file, "<stdin") && (fn == "" || fn == "<toplevel>" || fn == "<expr>")
}

// printPlace prints where an error is: position, source line, caret: at arg when that has a line, and within it at the text at.
func (h *Host) printPlace(w io.Writer, pos syntax.Position, fn string, arg syntax.Position, at string, off int) {
	if arg.Line == 0 {
		arg = pos
	} else if arg.Line != pos.Line {
		pos = arg
	}
	name, indent := pos.Filename(), "    "
	if atPrompt(name, fn) {
		indent = "  "
	} else if fn == "" || fn == "<toplevel>" {
		fmt.Fprintf(w, "  %s:%d:%d:\n", name, pos.Line, pos.Col)
	} else {
		fmt.Fprintf(w, "  %s:%d:%d: in %s\n", name, pos.Line, pos.Col, fn)
	}
	line := h.sourceLine(pos)
	if strings.TrimSpace(line) == "" {
		return
	}
	col := byteCol(line, int(arg.Col))
	if i := strings.Index(line[col:], at); i >= 0 {
		col += i + min(off, len(at))
	} else if i := strings.Index(line, at); i >= 0 && !isWordPart(line, i, len(at)) {
		col = i + min(off, len(at))
	}
	line, col = excerpt(line, col)
	fmt.Fprintf(w, "%s%s\n%s%s^\n", indent, line, indent, blanks(line[:col]))
}

// isWordPart tells that line[i:i+n] is cut out of a longer name.
func isWordPart(line string, i, n int) bool {
	return i > 0 && isIdent(line[i-1]) && isIdent(line[i]) || i+n < len(line) && isIdent(line[i+n-1]) && isIdent(line[i+n])
}

// excerpt is what is shown of a line that no screen has room for, and where its byte col then is.
func excerpt(line string, col int) (string, int) {
	const most, before = 400, 100
	if len(line) <= most {
		return line, col
	}
	from := 0
	if col > most/2 {
		for from = col - before; !utf8.RuneStart(line[from]); from-- {
		}
	}
	to := min(from+most, len(line))
	for to < len(line) && !utf8.RuneStart(line[to]) {
		to--
	}
	head, tail := "", ""
	if from > 0 {
		head = "..."
	}
	if to < len(line) {
		tail = "..."
	}
	return head + line[from:to] + tail, col - from + len(head)
}

// sourceLine is the line at pos, "" when it is not known.
func (h *Host) sourceLine(pos syntax.Position) string {
	lines := h.sources[pos.Filename()]
	if pos.Line < 1 || int(pos.Line) > len(lines) {
		return ""
	}
	return lines[pos.Line-1]
}

// byteCol turns a 1-based column in runes into a byte offset.
func byteCol(line string, col int) int {
	i := 0
	for n := 1; n < col && i < len(line); n++ {
		_, size := utf8.DecodeRuneInString(line[i:])
		i += size
	}
	return i
}

// blanks is as wide as s, tabs kept.
func blanks(s string) string {
	return strings.Map(func(r rune) rune {
		if r == '\t' {
			return r
		}
		return ' '
	}, s)
}

func printHint(w io.Writer, hint string) {
	if hint != "" {
		fmt.Fprintf(w, "  hint: %s\n", hint)
	}
}
