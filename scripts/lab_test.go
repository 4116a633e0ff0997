package scripts

import (
	"io/fs"
	"path"
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
