package scripts

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"

	"go.starlark.net/syntax"

	"kscope/builtins"
	"kscope/lang"
)

var update = func() *lang.Update {
	u := new(lang.Update)
	flag.BoolFunc("update", "rewrite the .out files and README's blocks; -update=structure accepts any change", u.Set)
	return u
}()

// built is the program, and the directory that it is in.
var built struct {
	once sync.Once
	dir  string
	exe  string
	err  error
}

// TestMain removes what program has built.
func TestMain(m *testing.M) {
	status := m.Run()
	if built.dir != "" {
		os.RemoveAll(built.dir)
	}
	os.Exit(status)
}

// program builds kscope once for all tests: the goldens hold for the program itself, not for parts of it.
func program(t *testing.T) string {
	t.Helper()
	built.once.Do(func() {
		if built.dir, built.err = os.MkdirTemp("", "kscope-scripts"); built.err != nil {
			return
		}
		built.exe = filepath.Join(built.dir, "kscope")
		if runtime.GOOS == "windows" {
			built.exe += ".exe"
		}
		if out, err := exec.Command("go", "build", "-o", built.exe, "..").CombinedOutput(); err != nil {
			built.err = fmt.Errorf("building kscope: %v\n%s", err, out)
		}
	})
	if built.err != nil {
		t.Fatal(built.err)
	}
	return built.exe
}

// TestGoldens runs every golden of this tree on all processors, and some of them in a process that has one processor, twice each; all
// with KSCOPE_TWICE=1.
func TestGoldens(t *testing.T) {
	exe := program(t)
	run := func(procs string, args ...string) {
		cmd := exec.Command(exe, append(append([]string{"test"}, args...), ".")...)
		cmd.Env = append(os.Environ(), "HOME=/nonexistent", "XDG_STATE_HOME=")
		if procs != "" {
			cmd.Env = append(cmd.Env, "GOMAXPROCS="+procs)
		}
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Errorf("GOMAXPROCS=%q: %v\n%s", procs, err, out)
		} else {
			t.Logf("GOMAXPROCS=%q: %s", procs, out)
		}
	}
	some := "^(quickstart|latency|session|typed|agg/|fs/)"
	if os.Getenv("KSCOPE_TWICE") != "" {
		some = ""
	}
	if *update != "" { // one writes, then one compares
		run("", "-update="+string(*update))
		run("1", "-count=2", "-run="+some)
		return
	}
	var wg sync.WaitGroup
	wg.Go(func() { run("", "-count=1") })
	wg.Go(func() { run("1", "-count=2", "-run="+some) })
	wg.Wait()
}

// TestSeeds: other numbers of CPUs and other seeds give the same program, with an empty home directory too.
func TestSeeds(t *testing.T) {
	exe := program(t)
	first := ""
	for i, flags := range []string{"--cpus=1", "--cpus=2 --seed=7", "--cpus=3 --seed=99", "--cpus=4 --seed=12345678901", "--cpus=16 --mem=128M"} {
		cmd := exec.Command(exe, append(strings.Fields(flags), "run", "_path.star")...)
		cmd.Env = append(os.Environ(), "HOME="+t.TempDir(), "XDG_STATE_HOME=")
		out, err := cmd.CombinedOutput()
		if err != nil || !strings.Contains(string(out), `"ksys_read", "vfs_read"`) {
			t.Errorf("%s: %v\n%s", flags, err, out)
		}
		if i == 0 {
			first = string(out)
		} else if string(out) != first {
			t.Errorf("%s: %s", flags, lang.Diff(first, string(out)))
		}
	}
}

// TestSeedCopies: of the documents that kscope reproduces the copies here are equal to the shared ones, and each row of the
// errata names a line.
func TestSeedCopies(t *testing.T) {
	copies, err := filepath.Glob("seeds/*-*.txt")
	if err != nil || len(copies) == 0 {
		t.Fatalf("no seeds: %v", err)
	}
	lines := map[string][]string{}
	for _, c := range copies {
		text, err := os.ReadFile(c)
		if err != nil {
			t.Fatal(err)
		}
		lines[filepath.Base(c)] = strings.Split(string(text), "\n")
		shared, err := os.ReadFile("../../shared/" + filepath.ToSlash(c))
		if err != nil {
			t.Logf("%s: not compared: %v", c, err)
		} else if string(shared) != string(text) {
			t.Errorf("%s differs from the shared seed", c)
		}
	}
	errata, err := os.ReadFile("seeds/errata.txt")
	if err != nil {
		t.Fatal(err)
	}
	row := regexp.MustCompile(`^(\S+) (\d+) +\| (.+?) +\| (.+)$`)
	for i, line := range strings.Split(strings.TrimSpace(string(errata)), "\n") {
		if strings.HasPrefix(line, "#") {
			continue
		}
		m := row.FindStringSubmatch(line)
		if m == nil {
			t.Errorf("errata.txt:%d: want FILE LINE | what 6.1 answers | what kscope does", i+1)
			continue
		}
		n, _ := strconv.Atoi(m[2])
		if doc := lines[m[1]]; n < 1 || n > len(doc) || strings.TrimSpace(doc[n-1]) == "" {
			t.Errorf("errata.txt:%d: %s has no line %d", i+1, m[1], n)
		}
	}
}

// shown are the blocks of README that the goldens keep true: how each begins, and the parts that it is made of.
var shown = []struct {
	begins *regexp.Regexp
	parts  []struct{ prompt, file string }
}{
	{regexp.MustCompile("(?s)```\n\\$ cat scripts/quickstart.star\n.*?```\n"), []struct{ prompt, file string }{
		{"$ cat scripts/quickstart.star\n", "quickstart.star"}, {"$ go run . run scripts/quickstart.star\n", "quickstart.out"},
	}},
	{regexp.MustCompile("(?s)```\n\\$ cat scripts/latency.star\n.*?```\n"), []struct{ prompt, file string }{
		{"$ cat scripts/latency.star\n", "latency.star"}, {"$ go run . run scripts/latency.star\n", "latency.out"},
	}},
	{regexp.MustCompile("(?s)```\n>>> .*?```\n"), []struct{ prompt, file string }{{"", "tour.out"}}},
}

// TestReadme: README opens with what the quickstart prints, and its session is a golden.
func TestReadme(t *testing.T) {
	readme, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, block := range shown {
		want := "```\n"
		for _, part := range block.parts {
			text, err := os.ReadFile(part.file)
			if err != nil {
				t.Fatal(err)
			}
			want += part.prompt + lang.GoldenBody(string(text))
		}
		want += "```\n"
		if *update != "" {
			readme = block.begins.ReplaceAllLiteral(readme, []byte(want))
		} else if got := string(block.begins.Find(readme)); got != want {
			t.Errorf("README.md differs (go test ./scripts -update):\n%s", lang.Diff(want, got))
		}
	}
	if *update != "" {
		if err := os.WriteFile("../README.md", readme, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// source is the text of all scripts.
func source(t *testing.T) string {
	var all strings.Builder
	err := filepath.WalkDir(".", func(path string, d os.DirEntry, err error) error {
		if ext := filepath.Ext(path); err == nil && (ext == ".star" || ext == ".in" || ext == ".sh" || ext == ".lab" || ext == ".txtar") {
			var text []byte
			text, err = os.ReadFile(path)
			all.Write(text)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all.String()
}

// TestEveryBuiltinIsTouched: each documented name is used in the code of some golden. Methods and attributes of objects count
// when the name follows a dot.
func TestEveryBuiltinIsTouched(t *testing.T) {
	used := map[string]bool{} // kernel.run, print; .comm
	opts := syntax.FileOptions{Set: true, While: true, TopLevelControl: true, GlobalReassign: true, Recursion: true}
	for _, src := range scripts(t) {
		f, err := opts.Parse("x", src, 0)
		if err != nil {
			used["command_NAME"] = used["command_NAME"] || strings.HasPrefix(src, "def command_")
			continue // a script of the shell, a line of a block in a session
		}
		syntax.Walk(f, func(n syntax.Node) bool {
			switch n := n.(type) {
			case *syntax.Ident:
				used[n.Name] = true
			case *syntax.DotExpr:
				used["."+n.Name.Name] = true
				if mod, ok := n.X.(*syntax.Ident); ok {
					used[mod.Name+"."+n.Name.Name] = true
				}
			}
			return true
		})
	}
	h := lang.New(lang.Config{Tables: builtins.New(builtins.Config{}).Tables()})
	for _, r := range h.Rows() {
		name := r.Name
		if typ, attr, ok := strings.Cut(name, "."); ok && typ[0] >= 'A' && typ[0] <= 'Z' {
			name = "." + attr
		}
		if !used[name] {
			t.Errorf("no script uses %s", r.Name)
		}
	}
}

// TestEveryTracefsFileIsTouched: each file that tracefs/all.star finds is used by some other script. The files of other CPUs
// and the plain options count by their kind: tracer/options.star prints them all.
func TestEveryTracefsFileIsTouched(t *testing.T) {
	files, err := os.ReadFile("tracefs/all.out")
	if err != nil {
		t.Fatal(err)
	}
	text := source(t)
	event := regexp.MustCompile(`^events/(\w+/)+`)
	for _, line := range strings.Split(lang.GoldenBody(string(files)), "\n") {
		file, _, _ := strings.Cut(line, " ")
		switch {
		case !strings.Contains(line, " ") || file == "True" || strings.HasPrefix(file, "options/"):
			continue
		case strings.HasPrefix(file, "per_cpu/"):
			file = filepath.Base(file)
		case event.MatchString(file): // events have the same files, which are attributes of the value Event too
			if regexp.MustCompile(`(events/(\w+/)+|\.)` + filepath.Base(file) + `\b`).MatchString(text) {
				continue
			}
		}
		if !strings.Contains(text, file) {
			t.Errorf("no script uses %s", file)
		}
	}
}

// TestRowsAreDocumented: every row has a signature and a doc whose first line is a sentence.
func TestRowsAreDocumented(t *testing.T) {
	for _, table := range builtins.New(builtins.Config{}).Tables() {
		for _, r := range table.Rows {
			first, _, _ := strings.Cut(r.Doc, "\n")
			if r.Sig == "" || first == "" || !strings.HasSuffix(strings.TrimSpace(r.Doc), ".") {
				t.Errorf("%s: signature %q, doc %q", r.Name, r.Sig, r.Doc)
			}
			if len(first) > 160 {
				t.Errorf("%s: the first line of its doc has %d characters", r.Name, len(first))
			}
		}
	}
}
