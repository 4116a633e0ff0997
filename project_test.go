package main

import (
	"bytes"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"testing"
)

// The project's habits as tests: who may import whom, gofmt, and how long files and functions may be.

// lattice is design.md section 1 as an order: a package may import what is below it, directly or through others, beyond
// the standard library. Packages of kscope are written from the module's root.
var lattice = map[string][]string{
	"kernel/mem":       {},
	"kernel/guest":     {},
	"kernel/guest/gen": {"kernel/guest"},
	"kernel/x86":       {"kernel/mem", "golang.org/x/arch"},
	"kernel/x86/gen":   {},
	"kernel":           {"kernel/x86", "kernel/guest"},
	"kernel/user":      {"kernel", "kernel/user/re", "github.com/benhoyt/goawk"},
	"kernel/user/re":   {},
	"kernel/user/sh":   {"kernel/user", "mvdan.cc/sh/v3"},
	"ftrace/ring":      {},
	"ftrace/event":     {},
	"ftrace":           {"kernel", "ftrace/ring", "ftrace/event"},
	"ftrace/export":    {"ftrace/ring", "ftrace/event"},
	"kprobe":           {"ftrace"},
	"lang":             {"go.starlark.net", "github.com/chzyer/readline"},
	"lang/agg":         {"lang"},
	"lang/conform":     {},
	// builtins takes its rows, errors and hints from lang, which knows no kernel.
	"builtins": {"kernel/user", "kernel/user/sh", "ftrace", "ftrace/export", "kprobe", "lang", "lang/agg"},
	".":        {"builtins", "lang", "scripts", "lang/conform", "go.starlark.net"},
	"scripts":  {},

	"internal/cputime": {}, // of benchmarks
}

// testOnly are imports that only the tests of a package need.
var testOnly = map[string][]string{
	"kernel/x86":   {"kernel/guest"},                // the decoder is held against the image
	"kernel/guest": {"kernel", "golang.org/x/arch"}, // callpaths.txt is held against the code
	"kernel":       {"kernel/user"},
	"kernel/user":  {"internal/cputime"},
	"ftrace":       {"kernel/user", "internal/cputime"},
	"kprobe":       {"kernel/user", "internal/cputime"},
	"builtins":     {"internal/cputime"},
	"scripts":      {"builtins", "lang", "go.starlark.net"},
}

// below tells whether name is below one of the packages in may.
func below(may []string, name string) bool {
	for _, m := range may {
		if name == m || strings.Contains(m, ".") && strings.HasPrefix(name, m+"/") || below(lattice[m], name) {
			return true
		}
	}
	return false
}

// sourceFiles calls fn for every Go file of the module.
func sourceFiles(t *testing.T, fn func(path string, src []byte)) {
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && path != "." && (strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata" || d.Name() == "dist") {
			return fs.SkipDir
		}
		if filepath.Ext(path) != ".go" {
			return nil
		}
		src, err := os.ReadFile(path)
		if err == nil {
			fn(filepath.ToSlash(path), src)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestImports(t *testing.T) {
	sourceFiles(t, func(path string, src []byte) {
		pkg := filepath.ToSlash(filepath.Dir(path))
		may, known := lattice[pkg]
		if !known {
			t.Errorf("%s: package %s is not in the lattice", path, pkg)
			return
		}
		f, err := parser.ParseFile(token.NewFileSet(), path, src, parser.ImportsOnly)
		if err != nil {
			t.Error(err)
			return
		}
		for _, imp := range f.Imports {
			name := strings.Trim(imp.Path.Value, `"`)
			if local, ok := strings.CutPrefix(name, "kscope/"); ok {
				name = local
			} else if !strings.Contains(strings.Split(name, "/")[0], ".") {
				continue // the standard library
			}
			inTest := strings.HasSuffix(path, "_test.go") && (name == pkg || below(testOnly[pkg], name))
			if !below(may, name) && !inTest {
				t.Errorf("%s imports %s: not in the lattice", path, name)
			}
		}
	})
}

func TestGofmt(t *testing.T) {
	sourceFiles(t, func(path string, src []byte) {
		if got, err := format.Source(src); err != nil || !bytes.Equal(got, src) {
			t.Errorf("%s: not as gofmt writes it (%v)", path, err)
		}
	})
}

// Sizes of style.md, principle 3: files not over about 700 lines, functions not over 80. Excepted are generated files, tables
// of literals, the one dispatch loop, and the functions of tests.
const (
	maxFile = 700
	maxFunc = 80
)

// longFuncs are the excepted functions, each with its reason.
var longFuncs = map[string]string{}

func TestSizes(t *testing.T) {
	sourceFiles(t, func(path string, src []byte) {
		if bytes.Contains(src, []byte("// Code generated ")) {
			return
		}
		if n := bytes.Count(src, []byte("\n")); n > maxFile {
			t.Errorf("%s: %d lines", path, n)
		}
		set := token.NewFileSet()
		f, err := parser.ParseFile(set, path, src, 0)
		if err != nil {
			t.Error(err)
			return
		}
		for _, d := range f.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || fn.Body == nil || strings.HasSuffix(path, "_test.go") {
				continue
			}
			n := set.Position(fn.End()).Line - set.Position(fn.Pos()).Line + 1
			key := filepath.ToSlash(filepath.Dir(path)) + "." + fn.Name.Name
			if n > maxFunc && longFuncs[key] == "" && !isTable(set, fn) {
				t.Errorf("%s: func %s has %d lines", set.Position(fn.Pos()), fn.Name.Name, n)
			}
		}
	})
}

// isTable tells that a function's bulk is one composite literal: a table, or a test's cases.
func isTable(set *token.FileSet, fn *ast.FuncDecl) bool {
	table := 0
	ast.Inspect(fn.Body, func(n ast.Node) bool {
		lit, ok := n.(*ast.CompositeLit)
		if ok {
			table += set.Position(lit.End()).Line - set.Position(lit.Pos()).Line
		}
		return !ok
	})
	total := set.Position(fn.End()).Line - set.Position(fn.Pos()).Line + 1
	return total-table <= maxFunc/2
}

// Every dependency has a line of reason in go.mod.
func TestDependenciesHaveReasons(t *testing.T) {
	src, err := os.ReadFile("go.mod")
	if err != nil {
		t.Fatal(err)
	}
	var bare []string
	for _, line := range strings.Split(string(src), "\n") {
		if strings.HasPrefix(line, "\t") && !strings.Contains(line, "// ") {
			bare = append(bare, strings.TrimSpace(line))
		}
	}
	sort.Strings(bare)
	if len(bare) > 0 {
		t.Errorf("no reason for %q", bare)
	}
}
