package lang

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
)

const testLesson = `Lab 1: sums

> doc.txt 2-3
A sum of {n} numbers.
It has two lines.

| n = 2
>>> x = 1 + n
>>> x
... 
>>> fail("no")
error: ^fail: no

Q. How much is x?
= x
A. It is {x}.
holds: x == 3

Q. Which is greater, x or n?
= ["x", "the x"] if x > n else "n"
how: x > n

| def check():
|     return "done: x = %d" % x if x == 5 else "x is %d" % x

Do. Make x five.

Solution.
>>> x = 5
`

// lessonOutput runs a lesson; input, when there is some, answers.
func lessonOutput(t *testing.T, text, input string, c LessonConfig) (string, int) {
	t.Helper()
	l, err := ParseLesson(text)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	sink := &Sink{W: &out}
	c.Read = func(string) ([]byte, string, error) { return []byte("1\n2\n3\n4\n"), "docs/doc.txt", nil }
	c.Ask = input != ""
	s := &Session{Host: New(Config{Stdout: sink}), In: io.NopCloser(strings.NewReader(input)), Out: sink, Echo: true}
	status := s.Lesson(l, c)
	return out.String(), status
}

// Printed, a lesson shows all, its answers at the end, and is right.
func TestLessonPrinted(t *testing.T) {
	const sheet = `Lab 1: sums
===========

  | 2
  | 3
  (docs/doc.txt 2-3)

A sum of {n} numbers. It has two lines.

>>> x = 1 + n
>>> x
...
3
>>> fail("no")
error: fail: no
  fail("no")
      ^

Q1. How much is x?

Q2. Which is greater, x or n?

Task. Make x five.
Then type check().
`
	const answers = `
Answers
-------

A1. 3
It is 3.
>>> x

A2. x
>>> x > n
True

The task, done:

>>> x = 5
>>> check()
done: x = 5
`
	text := strings.Replace(testLesson, "{n}", "2", 1) // n comes later
	for _, c := range []struct {
		quiz bool
		want string
	}{{false, sheet + answers}, {true, sheet}} {
		got, status := lessonOutput(t, text, "", LessonConfig{Quiz: c.quiz})
		if want := strings.Replace(c.want, "{n}", "2", 1); got != want || status != ExitOK {
			t.Errorf("status %d\n%s", status, Diff(want, got))
		}
	}
	for _, c := range []struct{ old, wrong, fault string }{
		{"A sum of 2", "A sum of {n}", "line 4: {n}: "},
		{"x == 3\n", "x == 4\n", "line 17: x == 4 is False"},
		{"^fail: no", "yes", "line 11: fail: no: want an error like yes"},
		{">>> x = 5", ">>> x = 6", "behind the solution check() says \"x is 6\""},
		{"if x == 5", "if x < 6", "before anything is done check() says"},
		{"= x\n", "= [y]\n", "undefined: y"},
		{"doc.txt 2-3", "doc.txt 2-9", "line 3: doc.txt 2-9: it has 5 lines"},
	} {
		got, status := lessonOutput(t, strings.Replace(text, c.old, c.wrong, 1), "", LessonConfig{})
		if status != ExitAssert || !strings.Contains(got, "the lesson is wrong: ") || !strings.Contains(got, c.fault) {
			t.Errorf("%q: status %d, want %q\n%s", c.wrong, status, c.fault, got)
		}
	}
}

// What a student types is an answer, or a line of the session.
func TestLessonAnswers(t *testing.T) {
	for _, c := range []struct {
		typed  string
		want   string // one after the other
		status int
	}{
		{"3\nX.\nx = 5\ncheck()\n", "Q1> 3\nRight: 3\nIt is 3.\nSee it yourself:\n>>> x\n|Q2> X.\nRight: x\n|Do> x = 5\nDo> check()\ndone: x = 5\n\n2 of 2|the task is done\nnext", 0},
		{"x\nthe X)\ncheck\nx = 5\ncheck()\n", "Q1> x\n3\nRight: 3|Right|x is 3\n|done", 0},
		{"3 of them\n'x'\nanswer\n", "Right|Right|>>> x = 5\n>>> check()\ndone: x = 5\n\n2 of 2|the task was shown", 3},
		{"4\nn\nthree\n0x3\n", "Q1> 4\nThat is not it.|Q1> n\n2\nThat is not it.\nThis tells:\n>>> x\nQ1> three\nThat is not it.\n|Q1> 0x3\nRight|Q2. |0 of 2", 3},
		{"hint\nanswer\n", "Q1> hint\nThis tells:\n>>> x\n|Q1> answer\n3\nIt is 3.\nSee", 3},
		{"y = 7\ny?\ny\n[x]\nboom(\n", "Q1> y = 7\n|That is not it.|Q1> [x]\n[3]\nQ1> boom(\nerror: ", 3},
		{"x = 7\n3\nx\n", "Right: 3|Q2> x\nRight: x", 3}, // the answer is what was so when it was asked
		{"n = None\n3\nx\n", "Q1> n = None\nQ1> 3\nRight|Q2. |This has no answer any more: |check().", 3},
		{"hint = 3\nhint\n", "Q1> hint = 3\nQ1> hint\n3\nRight", 3},
	} {
		text := strings.Replace(testLesson, "{n}", "2", 1)
		got, status := lessonOutput(t, text, c.typed, LessonConfig{Next: "next"})
		rest := got
		for _, want := range strings.Split(c.want, "|") {
			_, behind, ok := strings.Cut(rest, want)
			if !ok {
				t.Errorf("%q: never %q\n%s", c.typed, want, got)
				break
			}
			rest = behind
		}
		if status != c.status {
			t.Errorf("%q: status %d, want %d\n%s", c.typed, status, c.status, got)
		}
	}
}

func TestLessonErrors(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"", "line 1: want the lesson's title"},
		{"t\n> doc 5-4", "line 2: want > FILE FROM-TO"},
		{"t\n... x", "line 2: ... goes on with no >>>"},
		{"t\nerror: x", "line 2: error: stands behind no >>>"},
		{"t\n= x", "line 2: there is no question here"},
		{"t\nQ. a\nb", "line 2: the question has no answer: = EXPR"},
		{"t\nSolution.", "line 2: a solution stands behind its task"},
	} {
		var e *Error
		if _, err := ParseLesson(c.text); !errors.As(err, &e) || e.Msg != c.want {
			t.Errorf("%q: %v, want %q", c.text, err, c.want)
		}
	}
}

// FuzzLesson: whatever is typed at a question, the lesson neither panics nor hangs.
func FuzzLesson(f *testing.F) {
	for _, s := range []string{"3", "x\n", "-\n!\n%\n?\n", "(3)", "0x\n1,2,3\n.\n", "x = None\nx\n", "check()\ncheck = 3\ncheck()", "'\n\"\"\"\n", "3 of\xff", "def f():\n  return 3\nf()\n"} {
		f.Add(s)
	}
	text := strings.Replace(testLesson, "{n}", "2", 1)
	f.Fuzz(func(t *testing.T, typed string) {
		l, err := ParseLesson(text)
		if err != nil {
			t.Fatal(err)
		}
		sink := &Sink{W: io.Discard}
		s := &Session{Host: New(Config{Stdout: sink, MaxSteps: 10000}), In: io.NopCloser(strings.NewReader(typed)), Out: sink, Echo: true}
		s.Lesson(l, LessonConfig{Ask: true, Read: func(string) ([]byte, string, error) { return []byte("1\n2\n3\n"), "doc", nil }})
	})
}
