package lang

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// A lesson is a text x.lab: what a student reads, steps that are really run, questions, and a task. Its first line is the title;
// each later line says what it is by how it begins:
//
//	Some words, with {expr}     text; what stands in braces is evaluated in the lesson's machine
//	> FILE 12-15                lines of a document, quoted
//	>>> x = 1                   a step, run as it stands; "... " goes on
//	error: RE                   the step must fail so
//	| y = 2                     code that is not shown
//	holds: EXPR                 what must be true here, if the lesson tells the truth; not shown
//	Q. How many?                a question, up to the answer
//	= EXPR                      its answer, or a list of those that are right: an int, a string or a bool
//	how: EXPR                   how to see it oneself, when that is not the answer's EXPR itself
//	A. Because.                 why it is so, up to an empty line
//	Do. Make it so.             the task; the code before has defined check(), which says "done…" or what is missing
//	Solution.                   the steps behind it do the task
//
// All of it runs in one session (lessonrun.go), so that what is shown can be typed, and an answer is what the machine says.

// Lesson is a parsed x.lab.
type Lesson struct {
	Title  string
	Quotes []Quote // in the lesson's order
	parts  []lessonPart
}

// Quote names lines of a document.
type Quote struct {
	File     string
	From, To int
}

type partKind int

const (
	partText partKind = iota
	partQuote
	partStep
	partHidden
	partHolds
	partQuestion
	partTask
	partSolution // a step of the task's solution
)

// lessonPart is a paragraph, a step, a question …
type lessonPart struct {
	kind  partKind
	line  int
	text  string
	quote Quote
	gap   bool // an empty line precedes a step

	fails            *regexp.Regexp // of a step
	answer, how, why string         // of a question
}

var quoteRE = regexp.MustCompile(`^(\S+) (\d+)(?:-(\d+))?$`)

// ParseLesson reads an x.lab.
func ParseLesson(src string) (*Lesson, error) {
	title, rest, _ := strings.Cut(src, "\n")
	p := lessonParser{lesson: &Lesson{Title: strings.TrimSpace(title)}, line: 1}
	if p.lesson.Title == "" {
		return nil, Errorf("line 1: want the lesson's title")
	}
	for _, line := range strings.Split(strings.TrimRight(rest, "\n"), "\n") {
		p.line++
		if err := p.take(strings.TrimRight(line, " \r")); err != nil {
			return nil, Errorf("line %d: %v", p.line, err)
		}
	}
	for _, part := range p.lesson.parts {
		if part.kind == partQuestion && part.answer == "" {
			return nil, Errorf("line %d: the question has no answer: = EXPR", part.line)
		}
	}
	return p.lesson, nil
}

// lessonParser reads line by line.
type lessonParser struct {
	lesson *Lesson
	line   int
	blank  bool    // the line before, of those that are shown, was empty
	open   *string // the text that a line without a mark goes on with; nil: a new paragraph
	solves bool    // behind Solution.
}

// marks are how lines begin that are no text, with what they do.
func (p *lessonParser) marks() []struct {
	mark string
	take func(text string) error
} {
	return []struct {
		mark string
		take func(text string) error
	}{
		{">>> ", p.step},
		{"... ", p.more},
		{"...", p.more},
		{"> ", p.quoted},
		{"error: ", p.fails},
		{"| ", p.hidden},
		{"|", p.hidden},
		{"holds: ", func(text string) error { return p.add(partHolds, text, false) }},
		{"Q. ", func(text string) error { return p.add(partQuestion, text, true) }},
		{"= ", func(text string) error { return p.ofQuestion(text, func(q *lessonPart) *string { return &q.answer }) }},
		{"how: ", func(text string) error { return p.ofQuestion(text, func(q *lessonPart) *string { return &q.how }) }},
		{"A. ", p.because},
		{"Do. ", func(text string) error { return p.add(partTask, text, true) }},
		{"Solution.", p.solution},
	}
}

func (p *lessonParser) take(line string) error {
	defer func() {
		p.blank = line == "" || p.blank && (strings.HasPrefix(line, "|") || strings.HasPrefix(line, "holds: "))
	}()
	for _, m := range p.marks() {
		if text, ok := strings.CutPrefix(line, m.mark); ok {
			return m.take(text)
		}
	}
	switch {
	case line == "":
		p.open = nil
	case p.open != nil:
		*p.open += "\n" + line
	default:
		return p.add(partText, line, true)
	}
	return nil
}

// add begins a part; lines without a mark go on with an open one.
func (p *lessonParser) add(kind partKind, text string, open bool) error {
	parts := append(p.lesson.parts, lessonPart{kind: kind, line: p.line, text: text, gap: p.blank})
	p.lesson.parts, p.open = parts, nil
	if open {
		p.open = &parts[len(parts)-1].text
	}
	return nil
}

// last is the part before, if it is of that kind.
func (p *lessonParser) last(kinds ...partKind) *lessonPart {
	if n := len(p.lesson.parts); n > 0 {
		for _, kind := range kinds {
			if part := &p.lesson.parts[n-1]; part.kind == kind {
				return part
			}
		}
	}
	return nil
}

func (p *lessonParser) step(text string) error {
	if p.solves {
		return p.add(partSolution, text, false)
	}
	return p.add(partStep, text, false)
}

func (p *lessonParser) more(text string) error {
	s := p.last(partStep, partSolution)
	if s == nil {
		return fmt.Errorf("... goes on with no >>>")
	}
	s.text += "\n" + text
	return nil
}

func (p *lessonParser) quoted(text string) error {
	q, ok := quoteOf(text)
	if !ok {
		return fmt.Errorf("want > FILE FROM-TO")
	}
	p.lesson.Quotes = append(p.lesson.Quotes, q)
	p.lesson.parts, p.open = append(p.lesson.parts, lessonPart{kind: partQuote, line: p.line, quote: q}), nil
	return nil
}

func (p *lessonParser) fails(text string) (err error) {
	s := p.last(partStep, partSolution)
	if s == nil {
		return fmt.Errorf("error: stands behind no >>>")
	}
	s.fails, err = regexp.Compile(text)
	return err
}

func (p *lessonParser) hidden(text string) error {
	if h := p.last(partHidden); h != nil && h.line+strings.Count(h.text, "\n")+1 == p.line {
		h.text += "\n" + text
		return nil
	}
	return p.add(partHidden, text, false)
}

func (p *lessonParser) ofQuestion(text string, field func(q *lessonPart) *string) error {
	q := p.last(partQuestion)
	if q == nil {
		return fmt.Errorf("there is no question here")
	}
	p.open = nil
	*field(q) = text
	return nil
}

func (p *lessonParser) because(text string) error {
	err := p.ofQuestion(text, func(q *lessonPart) *string { return &q.why })
	if err == nil {
		p.open = &p.lesson.parts[len(p.lesson.parts)-1].why
	}
	return err
}

func (p *lessonParser) solution(string) error {
	if p.last(partTask) == nil {
		return fmt.Errorf("a solution stands behind its task")
	}
	p.solves, p.open = true, nil
	return nil
}

// quoteOf reads the words behind ">".
func quoteOf(line string) (q Quote, ok bool) {
	m := quoteRE.FindStringSubmatch(line)
	if m == nil {
		return q, false
	}
	q.File = m[1]
	q.From, _ = strconv.Atoi(m[2])
	if q.To = q.From; m[3] != "" {
		q.To, _ = strconv.Atoi(m[3])
	}
	return q, q.From > 0 && q.From <= q.To
}

func (q Quote) String() string {
	if q.From == q.To {
		return fmt.Sprintf("%s %d", q.File, q.From)
	}
	return fmt.Sprintf("%s %d-%d", q.File, q.From, q.To)
}

// Typed are the statements that a lesson shows: its steps, how its answers can be seen, and the task's solution.
func (l *Lesson) Typed() (all []string) {
	for _, p := range l.parts {
		switch p.kind {
		case partStep, partSolution:
			all = append(all, p.text)
		case partQuestion:
			all = append(all, p.see())
		}
	}
	return all
}

// Hidden is the code that a lesson runs and does not show.
func (l *Lesson) Hidden() (all []string) {
	for _, p := range l.parts {
		if p.kind == partHidden {
			all = append(all, p.text)
		}
	}
	return all
}

// see is what a student types to see a question's answer.
func (p *lessonPart) see() string {
	if p.how != "" {
		return p.how
	}
	return p.answer
}
