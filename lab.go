package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"

	"kscope/lang"
	"kscope/scripts"
)

// lab is kscope lab: the list of lessons, or one of them, by its number or a file of one's own. On a terminal it asks, and with -echo
// wherever its input comes from; else it prints.
func (p *program) lab() int {
	if len(p.opts.files) == 0 {
		return p.listLessons()
	}
	c := lang.LessonConfig{Quiz: p.opts.quiz}
	tty := isTerminal(p.stdin) && isTerminal(p.stdout)
	c.Ask = !c.Quiz && (tty || p.opts.echo)
	lesson, err := p.lesson(p.opts.files[0], &c)
	if err != nil {
		fmt.Fprintf(p.stderr, "kscope: lab: %v\n", err)
		return lang.ExitUsage
	}
	signals := p.interrupts()
	defer signal.Stop(signals)
	sink := &lang.Sink{W: p.coloured(p.stdout, p.stdout)}
	end := p.showProgress(sink)
	defer end()
	s := &lang.Session{
		Host: p.host(sink, p.dir), In: p.stdin, Out: sink, Term: p.stdout, Begin: p.begin, End: end, Tty: tty, Raw: true, Echo: p.opts.echo,
		History: lang.HistoryPath(os.Getenv), Signals: signals,
	}
	return s.Lesson(lesson, c)
}

// lesson finds a lesson, and says in c what comes behind it and where its documents are.
func (p *program) lesson(name string, c *lang.LessonConfig) (*lang.Lesson, error) {
	all := lessonFiles()
	n, err := strconv.Atoi(name)
	if err != nil {
		return readLesson(inDir(p.dir, name), c)
	}
	if n < 1 || n > len(all) {
		return nil, fmt.Errorf("there are lessons 1 to %d; kscope lab lists them", len(all))
	}
	if n < len(all) {
		next, err := parseLesson(all[n])
		if err != nil {
			return nil, err
		}
		c.Next = fmt.Sprintf("Next: kscope lab %d (%s)", n+1, strings.TrimPrefix(next.Title, fmt.Sprintf("Lab %d: ", n+1)))
	}
	c.Read = seed
	return parseLesson(all[n-1])
}

// lessonFiles are the lessons inside the program, in their order.
func lessonFiles() []string {
	files, err := fs.Glob(scripts.Course(), "lab/*.lab")
	if err != nil {
		panic("BUG: " + err.Error())
	}
	return files
}

func parseLesson(file string) (*lang.Lesson, error) {
	text, err := fs.ReadFile(scripts.Course(), file)
	if err != nil {
		return nil, err
	}
	return lang.ParseLesson(string(text))
}

// seed reads one of the documents that the lessons are about.
func seed(name string) ([]byte, string, error) {
	text, err := fs.ReadFile(scripts.Course(), "seeds/"+name)
	return text, "scripts/seeds/" + name, err
}

// readLesson reads a lesson that is a file of the host. It may quote files beside it, and what the program's own quote.
func readLesson(file string, c *lang.LessonConfig) (*lang.Lesson, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		var pe *fs.PathError
		if errors.As(err, &pe) {
			err = pe.Err
		}
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	c.Read = func(name string) ([]byte, string, error) {
		text, err := os.ReadFile(filepath.Join(filepath.Dir(file), name))
		if err != nil {
			return seed(name)
		}
		return text, name, nil
	}
	l, err := lang.ParseLesson(string(text))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return l, nil
}

// runLesson prints a lesson for a golden.
func (p *program) runLesson(file string, out *lang.Sink, dir string) int {
	var c lang.LessonConfig
	h := p.host(out, dir)
	l, err := readLesson(file, &c)
	if err != nil {
		return h.Report(out, err)
	}
	return (&lang.Session{Host: h, Out: out}).Lesson(l, c)
}

func (p *program) listLessons() int {
	fmt.Fprint(p.stdout, "kscope lab N does lesson N: text, steps that are really run, questions that wait for your answer, and a task.\n"+
		"kscope lab N | less prints it, the answers at the end; -quiz leaves them out. kscope lab N -echo < FILE takes FILE's answers.\n\n")
	for _, file := range lessonFiles() {
		l, err := parseLesson(file)
		if err != nil {
			fmt.Fprintf(p.stderr, "kscope: lab: %s: %v\n", file, err)
			return lang.ExitScript
		}
		n, name, _ := strings.Cut(strings.TrimPrefix(l.Title, "Lab "), ": ")
		fmt.Fprintf(p.stdout, "%3s  %s\n", n, name)
		var cites []string
		for _, q := range l.Quotes {
			if cite := q.String(); len(cites) > 0 && strings.HasPrefix(cites[len(cites)-1], q.File) {
				cites[len(cites)-1] += ", " + strings.TrimPrefix(cite, q.File+" ")
			} else {
				cites = append(cites, cite)
			}
		}
		fmt.Fprintf(p.stdout, "       %s\n", strings.Join(cites, "; "))
	}
	fmt.Fprint(p.stdout, "\nThe lines are those of the documents in scripts/seeds/ that a lesson is about; it quotes them. A lesson of your own is a text\n"+
		"as scripts/lab/*.lab are: kscope lab mine.lab does it, and kscope test holds it to what it says.\n")
	return lang.ExitOK
}
