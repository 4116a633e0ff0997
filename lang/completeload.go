package lang

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"go.starlark.net/syntax"
)

// loadFile finds the file of a load statement that is being typed.
var loadFile = regexp.MustCompile(`^\s*["']([^"']*)["']`)

// completeLoad offers what may stand in load("...|: files, those of @std// among them, and behind the first the names that the file has.
func (h *Host) completeLoad(s scan, p Place) []string {
	if p.Arg == 0 {
		return h.loadable(p.Prefix)
	}
	m := loadFile.FindStringSubmatch(s.src[s.opens[len(s.opens)-1].at+1:])
	if m == nil {
		return nil
	}
	path, err := locate(filepath.Join(".", "stdin"), m[1])
	if err != nil {
		return nil
	}
	src, err := h.readSource(path)
	if err != nil {
		return nil
	}
	f, err := h.opts.Parse(path, src, 0)
	if err != nil {
		return nil
	}
	return definedIn(f)
}

// loadable are the scripts and directories whose paths begin with prefix.
func (h *Host) loadable(prefix string) (names []string) {
	if strings.HasPrefix(prefix, stdPrefix) && h.cfg.Std != nil {
		files, _ := fs.Glob(h.cfg.Std, "*.star")
		for _, f := range files {
			if f[0] != '_' {
				names = append(names, stdPrefix+f)
			}
		}
		return names
	}
	dir, _ := filepath.Split(filepath.FromSlash(prefix))
	entries, _ := os.ReadDir(filepath.Join(".", dir))
	if filepath.IsAbs(dir) {
		entries, _ = os.ReadDir(dir)
	}
	for _, e := range entries {
		switch name := filepath.ToSlash(dir) + e.Name(); {
		case e.Name()[0] == '.':
		case e.IsDir():
			names = append(names, name+"/")
		case strings.HasSuffix(name, ".star"):
			names = append(names, name)
		}
	}
	if h.cfg.Std != nil {
		names = append(names, stdPrefix)
	}
	return names
}

// definedIn are the names that a file gives away: its functions and variables, but private ones.
func definedIn(f *syntax.File) (names []string) {
	add := func(id *syntax.Ident) {
		if id.Name[0] != '_' {
			names = append(names, id.Name)
		}
	}
	for _, stmt := range f.Stmts {
		switch stmt := stmt.(type) {
		case *syntax.DefStmt:
			add(stmt.Name)
		case *syntax.AssignStmt:
			if id, ok := stmt.LHS.(*syntax.Ident); ok {
				add(id)
			}
		}
	}
	return names
}
