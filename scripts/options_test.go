package scripts

import (
	"os"
	"path/filepath"
	"regexp"
	"sort"
	"strings"
	"testing"

	"go.starlark.net/syntax"

	"kscope/builtins"
	"kscope/lang"
)

// uses is what the scripts do with one function: by which names they pass arguments, and how many without a name.
type uses struct {
	named map[string]bool
	plain int
}

// callsOf finds every call in Starlark source: by the function's dotted name and by its last part alone, for methods.
func callsOf(f *syntax.File, into map[string]*uses) {
	syntax.Walk(f, func(n syntax.Node) bool {
		call, ok := n.(*syntax.CallExpr)
		if !ok {
			return true
		}
		var names []string
		args := call.Args
		switch fn := call.Fn.(type) {
		case *syntax.Ident:
			names = []string{fn.Name}
		case *syntax.DotExpr:
			names = []string{"." + fn.Name.Name}
			if mod, ok := fn.X.(*syntax.Ident); ok {
				names = append(names, mod.Name+"."+fn.Name.Name)
			}
		}
		if id, ok := call.Fn.(*syntax.Ident); ok && (id.Name == "attempt" || id.Name == "test.fails") && len(args) > 0 { // attempt(f, args)
			switch fn := args[0].(type) {
			case *syntax.Ident:
				names = []string{fn.Name}
			case *syntax.DotExpr:
				names = []string{"." + fn.Name.Name}
				if mod, ok := fn.X.(*syntax.Ident); ok {
					names = append(names, mod.Name+"."+fn.Name.Name)
				}
			}
			args = args[1:]
		}
		for _, name := range names {
			u := into[name]
			if u == nil {
				u = &uses{named: map[string]bool{}}
				into[name] = u
			}
			plain := 0
			for _, a := range args {
				if kw, ok := a.(*syntax.BinaryExpr); ok && kw.Op == syntax.EQ {
					u.named[kw.X.(*syntax.Ident).Name] = true
				} else {
					plain++
				}
			}
			u.plain = max(u.plain, plain)
		}
		return true
	})
}

// sources gives every piece of Starlark that a test runs: scripts, sessions, archives, the examples of the reference.
func sources(t *testing.T) (all []string) {
	all = scripts(t)
	env := builtins.New(builtins.Config{})
	for _, r := range lang.New(lang.Config{Tables: env.Tables()}).Rows() {
		text := builtins.Example(r)
		all = append(all, text)
		all = append(all, strings.Split(text, "\n")...)
	}
	return all
}

// scripts gives every piece of Starlark in the goldens.
func scripts(t *testing.T) (all []string) {
	err := filepath.WalkDir(".", func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		switch filepath.Ext(path) {
		case ".star":
			for _, chunk := range strings.Split(string(text), "\n---\n") {
				all = append(all, chunk)
			}
		case ".lab":
			l, err := lang.ParseLesson(string(text))
			if err != nil {
				return err
			}
			all = append(all, append(l.Typed(), l.Hidden()...)...)
		case ".in":
			all = append(all, strings.Split(string(text), "\n")...)
		case ".txtar":
			for _, part := range regexp.MustCompile(`(?m)^-- .* --\n`).Split(string(text), -1) {
				all = append(all, part)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// optional finds the parameters of a signature that have defaults, each with its position.
var optional = regexp.MustCompile(`(\*?\w+)(?: = ("[^"]*"|\([^)]*\)|\[[^\]]*\]|[^,()]+))?(?:, |\)$|$)`)

func optionsOf(sig string) map[string]int {
	out := map[string]int{}
	sig, ok := strings.CutPrefix(sig, "(")
	if !ok {
		return out
	}
	sig, _, _ = strings.Cut(sig, ") ->")
	sig = strings.TrimSuffix(sig, ")")
	behind := false // a *args: the rest go by name only
	for i, m := range optional.FindAllStringSubmatch(sig, -1) {
		switch {
		case strings.HasPrefix(m[1], "*"):
			behind = true
		case m[2] != "" && behind:
			out[m[1]] = 1 << 30
		case m[2] != "":
			out[m[1]] = i
		}
	}
	return out
}

// unused are options that no script gives by itself, each with its reason.
var unused = map[string]string{"Sys.splice off_out": "tracefs/splice.star gives it through a function of its own"}

// TestEveryOptionIsUsed: each optional parameter of each function and method is given by some script or example.
func TestEveryOptionIsUsed(t *testing.T) {
	opts := syntax.FileOptions{Set: true, While: true, TopLevelControl: true, GlobalReassign: true, Recursion: true}
	used := map[string]*uses{}
	for _, src := range sources(t) {
		if f, err := opts.Parse("x", src, 0); err == nil {
			callsOf(f, used)
		}
	}
	var missing []string
	for _, r := range lang.New(lang.Config{Tables: builtins.New(builtins.Config{}).Tables()}).Rows() {
		name := r.Name
		if typ, attr, ok := strings.Cut(name, "."); ok && typ[0] >= 'A' && typ[0] <= 'Z' {
			name = "." + attr
		}
		for option, at := range optionsOf(r.Sig) {
			key := r.Name + " " + option
			u, method := used[name], used["."+name[strings.LastIndex(name, ".")+1:]] // methods of machines and instances
			ok := u != nil && (u.named[option] || u.plain > at) || method != nil && strings.Contains(name, ".") && (method.named[option] || method.plain > at)
			if ok == (unused[key] != "") {
				missing = append(missing, key)
			}
		}
	}
	sort.Strings(missing)
	if len(missing) > 0 {
		t.Errorf("no script gives these options, or they stand in unused although one does:\n%s", strings.Join(missing, "\n"))
	}
}

// TestEveryToolHasAGolden: each tool that the library has is run by a golden of its own and, from the library, with each of its options.
func TestEveryToolHasAGolden(t *testing.T) {
	tools, err := filepath.Glob("tools/[a-z]*.star")
	if err != nil || len(tools) < 15 {
		t.Fatal(err, tools)
	}
	var commands []string
	for _, file := range []string{"tools/flags.txtar", "tools/options.txtar"} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		head, _, _ := strings.Cut(string(text), "\n-- ")
		commands = append(commands, regexp.MustCompile(`(?m)^(?:! )?kscope run @std//.*$`).FindAllString(head, -1)...)
	}
	options := 0
	for _, tool := range tools {
		text, err := os.ReadFile(tool)
		if err != nil {
			t.Fatal(err)
		}
		if out, err := os.ReadFile(strings.TrimSuffix(tool, ".star") + ".out"); err != nil || len(out) == 0 {
			t.Errorf("%s: no golden: %v", tool, err)
		}
		for _, m := range regexp.MustCompile(`flag\.(?:string|int|bool|duration)\("(\w+)"`).FindAllStringSubmatch(string(text), -1) {
			options++
			with := regexp.MustCompile(`@std//` + filepath.Base(tool) + ` -- .*--` + m[1] + `\b`)
			if !with.MatchString(strings.Join(commands, "\n")) {
				t.Errorf("%s: no golden gives --%s", tool, m[1])
			}
		}
	}
	if options < 30 {
		t.Errorf("only %d options were found", options)
	}
}
