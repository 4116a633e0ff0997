package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"strconv"
	"strings"
	"testing"
)

// TestCosts: each constant that is named cost… (or …Delay) is a row of the table that goldens pin, with its value.
func TestCosts(t *testing.T) {
	table := map[string]uint64{}
	for _, c := range costs() {
		if _, twice := table[c.Name]; twice || c.What == "" {
			t.Errorf("%s: twice, or says nothing", c.Name)
		}
		table[c.Name] = c.NS
	}
	found := 0
	sourceFiles(t, func(file string, src []byte) {
		switch path.Dir(file) {
		case "kernel", "ftrace", "kprobe":
		default:
			return
		}
		f, err := parser.ParseFile(token.NewFileSet(), file, src, 0)
		if err != nil || strings.HasSuffix(file, "_test.go") {
			return // what does not parse is the compiler's to report
		}
		ast.Inspect(f, func(n ast.Node) bool {
			spec, ok := n.(*ast.ValueSpec)
			if !ok || len(spec.Values) != len(spec.Names) {
				return true
			}
			for i, name := range spec.Names {
				lit, ok := spec.Values[i].(*ast.BasicLit)
				isCost := strings.HasPrefix(name.Name, "cost") || strings.HasSuffix(name.Name, "Delay")
				if !ok || !isCost || lit.Kind != token.INT {
					continue
				}
				found++
				if ns, err := strconv.ParseUint(strings.ReplaceAll(lit.Value, "_", ""), 0, 64); err != nil || table[name.Name] != ns {
					t.Errorf("%s: %s = %s, the table of costs has %d", file, name.Name, lit.Value, table[name.Name])
				}
			}
			return true
		})
	})
	if found != len(table) {
		t.Errorf("%d rows, %d constants", len(table), found)
	}
}
