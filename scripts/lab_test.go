package scripts

import (
	"io/fs"
	"path"
	"slices"
	"strings"
	"testing"

	"go.starlark.net/syntax"

	"kscope/lang"
)

// lessons are those of the course, by file name.
func lessons(t *testing.T) map[string]*lang.Lesson {
	t.Helper()
	files, err := fs.Glob(Course(), "lab/*.lab")
	if err != nil || len(files) == 0 {
		t.Fatal(err, files)
	}
	all := map[string]*lang.Lesson{}
	for _, f := range files {
		text, err := fs.ReadFile(Course(), f)
		if err != nil {
			t.Fatal(err)
		}
		if all[path.Base(f)], err = lang.ParseLesson(string(text)); err != nil {
			t.Fatalf("%s: %v", f, err)
		}
	}
	return all
}

// quotes tells that a lesson quotes a line of a document.
func quotes(t *testing.T, lesson, file string, line int) bool {
	l := lessons(t)[lesson]
	if l == nil {
		return false
	}
	for _, q := range l.Quotes {
		if q.File == file && q.From <= line && line <= q.To {
			return true
		}
	}
	return false
}

// TestLessonsAreTypeable: what a lesson shows as typed needs nothing that it does not show. (That it runs, its golden tells.)
func TestLessonsAreTypeable(t *testing.T) {
	opts := syntax.FileOptions{Set: true, While: true, TopLevelControl: true, GlobalReassign: true, Recursion: true}
	for name, l := range lessons(t) {
		hidden := map[string]bool{}
		for _, src := range l.Hidden() {
			f, err := opts.Parse(name, src, 0)
			if err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			for _, s := range f.Stmts {
				switch s := s.(type) {
				case *syntax.DefStmt:
					hidden[s.Name.Name] = true
				case *syntax.AssignStmt:
					if id, ok := s.LHS.(*syntax.Ident); ok {
						hidden[id.Name] = true
					}
				}
			}
		}
		for _, src := range l.Typed() {
			if strings.HasPrefix(src, "!") || strings.HasPrefix(src, "%") || strings.HasSuffix(src, "?") {
				continue
			}
			f, err := opts.Parse(name, src, 0)
			if err != nil {
				t.Errorf("%s: %s: %v", name, src, err)
				continue
			}
			syntax.Walk(f, func(n syntax.Node) bool {
				if id, ok := n.(*syntax.Ident); ok && hidden[id.Name] {
					t.Errorf("%s: %s: a student does not see what %s is", name, src, id.Name)
				}
				return true
			})
		}
	}
}

// covered are the parts of the documents whose every line a lesson is about: compile time to trampolines, the case studies, the
// pitfalls.
var covered = []struct {
	file string
	span
}{
	{"dynamic-kernel-tracing.txt", span{21, 42}},
	{"ftrace-and-kprobe.txt", span{274, 276}},
	{"ftrace-and-kprobe.txt", span{288, 358}},
}

// headings stand in those parts, and say nothing.
var headings = []string{
	"Trampolines and Execution Flow", "Case Study 2: Kernel Module Memory Access Error", "Performance Overhead & Pitfalls", "Overhead Mitigation",
	"Recursion Hazard", "Symbol Resolution Issues", "Probe Placement Restrictions", "kretprobe maxactive Sizing",
}

// TestLessonsCoverSeeds: each line of these parts that is no heading is quoted by a lesson.
func TestLessonsCoverSeeds(t *testing.T) {
	all := lessons(t)
	for _, part := range covered {
		text, err := fs.ReadFile(Course(), "seeds/"+part.file)
		if err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(string(text), "\n")
		for n := part.from; n <= part.to; n++ {
			line := lines[n-1]
			if line == "" || slices.Contains(headings, line) {
				continue
			}
			found := false
			for _, l := range all {
				for _, q := range l.Quotes {
					found = found || q.File == part.file && q.From <= n && n <= q.To
				}
			}
			if !found {
				t.Errorf("%s %d is in no lesson: %s", part.file, n, line)
			}
		}
	}
}
