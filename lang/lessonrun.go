package lang

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"

	"github.com/chzyer/readline"
	"go.starlark.net/starlark"
)

// LessonConfig says how a lesson is run.
type LessonConfig struct {
	// Read gives the text of a document that the lesson quotes, and where a reader finds it.
	Read func(file string) (text []byte, where string, err error)
	Ask  bool   // the session's input answers; else the lesson is printed, its answers at the end
	Quiz bool   // printed without answers and solution
	Next string // what is said at the end of one that was done
}

// lessonRun is a lesson under way.
type lessonRun struct {
	*Session
	LessonConfig
	lesson *Lesson

	checker      string // the source of check()
	asked, right int    // questions; those answered right at once
	open         int    // those whose answer was told, or that nobody answered
	done         bool
	left         bool     // the student has left
	answers      []string // of the questions so far
	faults       []string // where the lesson says what is not so
}

// lessonHelp is said before the first question.
const lessonHelp = "At a question, type the answer: a number, a word, or an expression that gives it. Any other line of a session works " +
	"there too, and !cmd runs cmd in the guest's shell. hint says how to find out, answer tells it; Ctrl-D leaves."

// Lesson runs a lesson in the session. A printed one tests itself: it fails where what it says is not so. One whose input is no
// terminal fails unless all was answered and done.
func (s *Session) Lesson(l *Lesson, c LessonConfig) int {
	s.begin()
	defer s.Host.Drop(s.thread)
	r := &lessonRun{Session: s, LessonConfig: c, lesson: l}
	if c.Ask {
		if err := s.open(); err != nil {
			return s.Host.Report(s.Out, err)
		}
		defer s.close()
	}
	fmt.Fprintf(s.Out, "%s\n%s\n", l.Title, strings.Repeat("=", len(l.Title)))
	if c.Ask {
		fmt.Fprintf(s.Out, "\n%s\n", strings.Join(wrapped(lessonHelp, r.width()), "\n"))
	}
	for i := range l.parts {
		r.part(&l.parts[i])
		if r.left {
			break
		}
	}
	r.end()
	if err := s.Host.Close(); err != nil {
		s.report(err)
	}
	for _, f := range r.faults {
		fmt.Fprintf(s.Out, "the lesson is wrong: %s\n", f)
	}
	if len(r.faults) > 0 || c.Ask && !s.Tty && (r.open > 0 || r.left || !r.done) {
		return ExitAssert
	}
	return ExitOK
}

// part shows, runs or asks one part.
func (r *lessonRun) part(p *lessonPart) {
	switch p.kind {
	case partText:
		fmt.Fprintf(r.Out, "\n%s\n", r.prose(p, p.text))
	case partQuote:
		r.quote(p)
	case partStep:
		if p.gap {
			fmt.Fprintln(r.Out)
		}
		r.step(p)
	case partHidden:
		if strings.HasPrefix(p.text, "def check()") {
			r.checker = p.text
		}
		if _, err := r.quiet(p.text); err != nil {
			r.fault(p, "%v", err)
		}
	case partHolds:
		if v, err := r.quiet(p.text); err != nil {
			r.fault(p, "%s: %v", p.text, err)
		} else if !v.Truth() {
			r.fault(p, "%s is %v", p.text, v)
		}
	case partQuestion:
		r.asked++
		fmt.Fprintf(r.Out, "\n%s\n", r.prose(p, fmt.Sprintf("Q%d. %s", r.asked, p.text)))
		r.question(p)
	case partTask:
		fmt.Fprintf(r.Out, "\n%s\nThen type check().\n", r.prose(p, "Task. "+p.text))
		r.task(p)
	}
}

// fault notes that the lesson is wrong; a student may have changed what it speaks of.
func (r *lessonRun) fault(p *lessonPart, format string, args ...any) {
	for i, arg := range args {
		if err, ok := arg.(error); ok {
			args[i] = r.Host.errorValue(err).text
		}
	}
	if !r.Ask {
		r.faults = append(r.faults, fmt.Sprintf("line %d: %s", p.line, fmt.Sprintf(format, args...)))
	}
}

// quiet runs code that is not shown.
func (r *lessonRun) quiet(src string) (v starlark.Value, err error) {
	sink, ok := r.Out.(*Sink)
	if ok {
		defer sink.divert(io.Discard)()
	}
	r.Host.refill(r.thread)
	return r.value(src)
}

var bracedRE = regexp.MustCompile(`\{([^{}\n]+)\}`)

// filled is a text with the values of what stands in braces.
func (r *lessonRun) filled(p *lessonPart, text string) string {
	return bracedRE.ReplaceAllStringFunc(text, func(braced string) string {
		v, err := r.quiet(braced[1 : len(braced)-1])
		if err != nil {
			r.fault(p, "%s: %v", braced, err)
			return braced
		}
		return answerText(v)
	})
}

// quote prints lines of a document.
func (r *lessonRun) quote(p *lessonPart) {
	text, where, err := r.Read(p.quote.File)
	lines := strings.Split(string(text), "\n")
	if err == nil && p.quote.To > len(lines) {
		err = fmt.Errorf("it has %d lines", len(lines))
	}
	if err != nil {
		r.fault(p, "%s: %v", p.quote, err)
		return
	}
	fmt.Fprintln(r.Out)
	for _, line := range lines[p.quote.From-1 : p.quote.To] {
		for _, row := range wrapped(strings.TrimRight(line, "\r"), r.width()-4) {
			fmt.Fprintln(r.Out, strings.TrimRight("  | "+row, " "))
		}
	}
	fmt.Fprintf(r.Out, "  (%s%s)\n", where, strings.TrimPrefix(p.quote.String(), p.quote.File))
}

// width is that of text: what a page has, or less on a narrow screen.
func (r *lessonRun) width() int {
	const page, least = 114, 40
	if !r.Tty {
		return page
	}
	return min(page, max(least, readline.GetScreenWidth()-1))
}

var choiceRE = regexp.MustCompile(`^[a-z]\) `)

// prose is text with the values of what stands in braces, its lines as long as the page has them. Choices, a) …, begin lines.
func (r *lessonRun) prose(p *lessonPart, text string) string {
	var lines []string
	for _, line := range strings.Split(r.filled(p, text), "\n") {
		if n := len(lines); n > 0 && !choiceRE.MatchString(line) {
			lines[n-1] += " " + line
		} else {
			lines = append(lines, line)
		}
	}
	var rows []string
	for _, line := range lines {
		rows = append(rows, wrapped(line, r.width())...)
	}
	return strings.Join(rows, "\n")
}

// wrapped breaks a line at blanks.
func wrapped(line string, width int) (rows []string) {
	for len(line) > width {
		at := strings.LastIndexByte(line[:width], ' ')
		if at <= 0 {
			break
		}
		rows, line = append(rows, line[:at]), line[at+1:]
	}
	return append(rows, line)
}

// step shows a statement as it is typed, and runs it.
func (r *lessonRun) step(p *lessonPart) {
	fmt.Fprintln(r.Out, typedAs(p.text))
	err := r.runStep(p.text)
	switch {
	case p.fails == nil && err != nil:
		r.fault(p, "%v", err)
	case p.fails != nil && (err == nil || !p.fails.MatchString(r.Host.errorValue(err).text)):
		r.fault(p, "%v: want an error like %s", err, p.fails)
	}
}

// typedAs is a statement with its prompts.
func typedAs(src string) string {
	lines := strings.Split(promptFirst+strings.ReplaceAll(src, "\n", "\n"+promptMore), "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return strings.Join(lines, "\n")
}

// runStep runs a statement as if it had been typed.
func (r *lessonRun) runStep(src string) (err error) {
	r.Host.uncancel()
	r.Host.refill(r.thread)
	r.attended(r.Host.Interrupt, func() error {
		err = r.eval(src)
		return err
	})
	return err
}

// question asks, or notes the answer for the end.
func (r *lessonRun) question(p *lessonPart) {
	v, err := r.quiet(p.answer)
	if err != nil {
		r.fault(p, "= %s: %v", p.answer, err)
		if r.Ask { // the student has changed what it asks about
			fmt.Fprintf(r.Out, "This has no answer any more: %s\n", r.Host.errorValue(err).text)
			r.open++
		}
		return
	}
	right := rightAnswers(v)
	if len(right) == 0 {
		r.fault(p, "= %s gives %v: want an int, a string, a bool, or a list of them", p.answer, v)
		return
	}
	why := r.prose(p, p.why)
	if r.Ask {
		r.ask(p, right, why)
		return
	}
	see := typedAs(p.see())
	if p.how != "" {
		out, err := r.captured(p.how)
		if err != nil {
			r.fault(p, "how: %s: %v", p.how, err)
		}
		see += "\n" + strings.TrimRight(out, "\n")
	}
	text := answerText(right[0])
	if why != "" {
		text += "\n" + why
	}
	r.answers = append(r.answers, text+"\n"+strings.TrimRight(see, "\n"))
}

// captured is what a statement prints.
func (r *lessonRun) captured(src string) (string, error) {
	var buf bytes.Buffer
	sink, ok := r.Out.(*Sink)
	if !ok {
		return "", errors.New("BUG: a lesson's output is no Sink")
	}
	defer sink.divert(&buf)()
	err := r.runStep(src)
	return buf.String(), err
}

// ask reads lines until the question is answered, given up, or left.
func (r *lessonRun) ask(p *lessonPart, right []starlark.Value, why string) {
	const patience = 2 // wrong answers before the hint comes unasked
	tell := func() {
		if why != "" {
			fmt.Fprintln(r.Out, why)
		}
		fmt.Fprintf(r.Out, "See it yourself:\n%s\n", typedAs(p.see()))
	}
	for wrong := 0; ; {
		src, ok := r.line(fmt.Sprintf("Q%d> ", r.asked))
		switch {
		case !ok:
			r.open++
			return
		case r.means(src, "exit") || r.means(src, "quit"):
			r.left = true
			r.open++
			return
		case r.means(src, "hint"):
			fmt.Fprintf(r.Out, "This tells:\n%s\n", typedAs(p.see()))
			continue
		case r.means(src, "answer"):
			fmt.Fprintln(r.Out, answerText(right[0]))
			tell()
			r.open++
			return
		}
		switch r.judge(src, right) {
		case isRight:
			if wrong == 0 {
				r.right++
			}
			fmt.Fprintf(r.Out, "Right: %s\n", answerText(right[0]))
			tell()
			return
		case isWrong:
			fmt.Fprintln(r.Out, "That is not it.")
			if wrong++; wrong == patience {
				fmt.Fprintf(r.Out, "This tells:\n%s\n", typedAs(p.see()))
			}
		}
	}
}

// line reads a statement at a prompt of the lesson's; false: the student has left.
func (r *lessonRun) line(prompt string) (string, bool) {
	r.prompt = prompt
	defer func() { r.prompt = "" }()
	for {
		src, err := r.statement()
		if errors.Is(err, readline.ErrInterrupt) {
			r.pending = nil
			continue
		}
		if src != "" {
			r.remember(src)
			return src, true
		}
		if err != nil {
			r.left = true
			return "", false
		}
	}
}

// means tells that a line is a word of the lesson's, unless the student has given it another meaning.
func (r *lessonRun) means(src, word string) bool {
	return strings.TrimSpace(src) == word && r.globals[word] == nil
}

// task reads lines until check() says that it is done. A printed lesson does the task itself: before that, check() must miss something.
func (r *lessonRun) task(p *lessonPart) {
	if !r.Ask {
		if text := r.check(); strings.HasPrefix(text, "done") {
			r.fault(p, "before anything is done check() says %q", text)
		}
		return
	}
	for {
		src, ok := r.line("Do> ")
		switch {
		case !ok:
			return
		case r.means(src, "exit") || r.means(src, "quit"):
			r.left = true
			return
		case r.means(src, "hint"):
			fmt.Fprintln(r.Out, "check() says what is missing; answer shows a way")
		case r.means(src, "answer"):
			r.solve()
			return
		case checks(src):
			text := r.check()
			fmt.Fprintln(r.Out, text)
			if r.done = strings.HasPrefix(text, "done"); r.done {
				return
			}
		default:
			_ = r.runStep(src) // its error was shown
		}
	}
}

// checks tells that a line asks whether the task is done.
func checks(src string) bool {
	text := strings.TrimSpace(src)
	return text == "check()" || text == "check"
}

// check is what check() says. It is defined anew, because a function sees the names as they were when it was defined.
func (r *lessonRun) check() string {
	r.Host.uncancel()
	var v starlark.Value
	_, err := r.quiet(r.checker)
	if err == nil {
		v, err = r.quiet("check()")
	}
	if err != nil {
		return r.Host.errorValue(err).text
	}
	return answerText(v)
}

// solve does the task as the lesson would.
func (r *lessonRun) solve() {
	for i := range r.lesson.parts {
		if p := &r.lesson.parts[i]; p.kind == partSolution {
			r.step(p)
		}
	}
	text := r.check()
	fmt.Fprintf(r.Out, "%s\n%s\n", typedAs("check()"), text)
	if !strings.HasPrefix(text, "done") {
		r.fault(&r.lesson.parts[len(r.lesson.parts)-1], "behind the solution check() says %q", text)
	}
}

// count is how many parts of a kind a lesson has.
func (l *Lesson) count(kind partKind) (n int) {
	for _, p := range l.parts {
		if p.kind == kind {
			n++
		}
	}
	return n
}

// end says how it went, or gives the answers of a printed lesson.
func (r *lessonRun) end() {
	task := r.lesson.count(partTask) > 0
	switch {
	case r.Ask:
		text := fmt.Sprintf("\n%d of %d questions answered at the first try", r.right, r.lesson.count(partQuestion))
		switch {
		case !task:
			r.done = true
		case r.done:
			text += "; the task is done"
		case !r.left:
			text += "; the task was shown"
		}
		fmt.Fprintln(r.Out, text)
		if !r.left && r.Next != "" {
			fmt.Fprintln(r.Out, r.Next)
		}
	case !r.Quiz:
		fmt.Fprint(r.Out, "\nAnswers\n-------\n")
		for i, text := range r.answers {
			fmt.Fprintf(r.Out, "\nA%d. %s\n", i+1, text)
		}
		if task {
			fmt.Fprint(r.Out, "\nThe task, done:\n\n")
			r.solve()
		}
	}
}
