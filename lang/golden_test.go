package lang

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
)

// tree writes files below a fresh directory.
func tree(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, name)
		os.MkdirAll(filepath.Dir(path), 0o755)
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// runTree runs goldens in dir, whose name is cut out of the output.
func runTree(dir string, g *Goldens) (int, string) {
	var out bytes.Buffer
	g.Dirs, g.Out = []string{dir}, &out
	if g.Exec == nil {
		g.Exec = execGolden
	}
	status := g.Run()
	return status, strings.ReplaceAll(out.String(), dir+string(filepath.Separator), "")
}

// Scripts in chunks: each ### names an error that must come, and no other may.
func TestChunks(t *testing.T) {
	exec := func(r *GoldenRun) int {
		text, err := os.ReadFile(r.Path)
		if err != nil {
			return ExitUsage
		}
		r.Faults, _ = RunChunks(r.Path, string(text), func() *Host { return New(Config{Stdout: r.Out, Dir: filepath.Dir(r.Path)}) })
		return ExitOK
	}
	dir := tree(t, map[string]string{
		"good.star": "print(1)\nfail('no') ### \"^fail: no$\"\n---\nx = undefined_one ### `undefined`\n---\n1 + ### \"got newline\"\n---\nprint(2)\n",
		"good.out":  "",
		"none.star": "x = 1 ### \"never\"\n", "none.out": "",
		"other.star": "fail('x') ### \"y\"\n", "other.out": "",
	})
	if status, got := runTree(dir, &Goldens{Update: UpdateStructure, Exec: exec}); status != ExitAssert ||
		!strings.Contains(got, "FAIL none.star: line 1: no error that matches \"never\"\n") ||
		!strings.Contains(got, "FAIL other.star: line 1: an error that no ### expects: fail: x\nline 1: no error that matches \"y\"\n") {
		t.Errorf("status %d\n%s", status, got)
	}
	text, _ := os.ReadFile(filepath.Join(dir, "good.out"))
	want := "1\nerror: fail: no\n  good.star:2:5:\n    fail('no') ### \"^fail: no$\"\n        ^\nerror: undefined: undefined_one\n  good.star:4:5:\n" +
		"    x = undefined_one ### `undefined`\n        ^\nerror: got newline, want primary expression\n  good.star:6:22:\n    1 + ### \"got newline\"\n                         ^\n2\n"
	if string(text) != want {
		t.Errorf("%s", Diff(want, string(text)))
	}
}

// fakeKscope is a command for archives: it prints what its file says.
func fakeKscope(c *Command) int {
	if c.Args[0] != "run" {
		c.Stderr.WriteString("kscope: unknown command\n")
		return ExitUsage
	}
	h := New(Config{Stdout: &c.Stdout, Dir: c.Dir, Args: c.Args[3:]})
	c.Stdout.Write(c.Stdin)
	return h.Run(filepath.Join(c.Dir, c.Args[1]), &c.Stderr)
}

func TestArchives(t *testing.T) {
	pin := Pin{Image: "aa", Costs: "11", CPUs: 4, Mem: 64}
	good := pin.String() + "# two commands\nstdin in\nkscope run a.star -- 'x y'\ncmp stdout want\n! kscope rnu\nstatus 2\nstderr 'unknown c'\n! stderr hint\n" +
		"-- a.star --\nprint(flag.args)\n-- in --\nhello\n-- want --\nhello\n[\"x y\"]\n"
	cases := []struct{ name, text, want string }{
		{"good", good, ""},
		{"differs", strings.Replace(good, "-- want --\nhello\n", "-- want --\nhullo\n", 1), "line 5: cmp stdout want:\n-want +got\n@@ line 15\n-hullo\n+hello\n"},
		{"unseen", strings.Replace(good, "cmp stdout want\n", "", 1), "nothing looks at its output"},
		{"fails", strings.Replace(good, "! kscope rnu\nstatus 2", "kscope rnu", 1), "line 6: kscope rnu: exit status 2\nkscope: unknown command\n"},
		{"succeeds", strings.Replace(good, "kscope run", "! kscope run", 1), "succeeded"},
		{"status", strings.Replace(good, "status 2", "status 3", 1), "exit status 2"},
		{"cause", strings.Replace(good, "kscope run a", "kscope rnu a", 1), "line 4: kscope rnu a.star -- 'x y': exit status 2\nkscope: unknown command\nline 5: cmp stdout want:\n-want"},
		{"why", strings.Replace(strings.Replace(good, "kscope run a", "kscope rnu a", 1), "cmp stdout want", "stdout x", 1), "stdout x: stdout is\nexit status 2, stderr is\nkscope: unknown command\n"},
		{"gone", strings.Replace(good, "-- a.star --", "-- b.star --", 1), "exit status 1\nerror: a.star: no such file or directory\n"},
		{"match", strings.Replace(good, "! stderr hint", "stderr hint", 1), "stderr is\nkscope: unknown command\n"},
		{"verb", strings.Replace(good, "stdin in", "skip", 1), "want one of cmp, kscope, status, stderr, stdin, stdout"},
		{"outside", strings.Replace(good, "-- in --", "-- ../in --", 1), "not below the archive's directory"},
		{"double", strings.Replace(good, "'x y'", "\"x y\"", 1), "line 4: kscope run a.star -- \"x y\": words with blanks stand in '…'"},
		{"twice", strings.Replace(good, "-- in --", "-- want --", 1), "line 14: -- want --: there is one in line 12"},
		{"quote", strings.Replace(good, "'x y'", "'x y", 1), "a ' without an end"},
	}
	for _, c := range cases {
		dir := tree(t, map[string]string{c.name + ".txtar": c.text})
		status, got := runTree(dir, &Goldens{Command: fakeKscope, Pin: func(Pin) Pin { return pin }})
		if (status == ExitOK) != (c.want == "") || !strings.Contains(got, c.want) {
			t.Errorf("%s: status %d\n%s", c.name, status, got)
		}
	}
	// Another machine's archive is of the one line; -update writes pin and output.
	dir := tree(t, map[string]string{"x.txtar": strings.Replace(cases[1].text, "image aa", "image bb", 1)})
	g := func(u Update) *Goldens {
		return &Goldens{Command: fakeKscope, Update: u, Pin: func(Pin) Pin { return pin }}
	}
	if status, got := runTree(dir, g("")); status != ExitAssert || !strings.Contains(got, "\n1 golden was made with image bb, costs 11; this is image aa, costs 11: 1 failed and differs in structure (x.txtar)") {
		t.Errorf("other image: %d %s", status, got)
	}
	if status, got := runTree(dir, g(UpdateStructure)); status != ExitOK || got != "x.txtar: updated\nok: 1 golden\n" {
		t.Errorf("update: %d %s", status, got)
	}
	if text, _ := os.ReadFile(filepath.Join(dir, "x.txtar")); string(text) != good {
		t.Errorf("%s", Diff(good, string(text)))
	}
}

// The first difference is explained when it is an event.
func TestExplain(t *testing.T) {
	ev := func(pid, cpu, t, text string) string {
		return "  cat-" + pid + "  [00" + cpu + "] ..... " + t + ": " + text + "\n"
	}
	a := ev("100", "0", "1.000036", "vfs_open <-x") + ev("100", "0", "1.000040", "vfs_read <-y") + ev("100", "0", "1.000050", "vfs_write <-y")
	for _, c := range []struct{ got, want string }{
		{strings.Replace(a, "1.000040", "1.000043", 1), "first difference, line 2: 3.000 us later (cat-100 cpu0 1.000040 vfs_read <-y)\n"},
		{strings.Replace(a, "[000] ..... 1.000036", "[002] d.... 1.000035", 1), "line 1: CPU 002 instead of 000, flags d.... instead of ....., 1.000 us earlier"},
		{ev("100", "0", "1.000040", "vfs_read <-y") + ev("100", "0", "1.000050", "vfs_write <-y"), "line 1: 1 event missing before cat-100 cpu0 1.000040 vfs_read <-y, the first is cat-100 cpu0 1.000036 vfs_open"},
		{ev("7", "1", "1.000001", "new") + a, "line 1: 1 event more before cat-100 cpu0 1.000036 vfs_open <-x, the first is cat-7 cpu1"},
		{a + ev("7", "1", "1.000001", "new"), "line 4: an event more: cat-7 cpu1 1.000001 new"},
		{"hello\n" + a, ""},
	} {
		if got := Explain(a, c.got); !strings.Contains(got, c.want) || c.want == "" && strings.Contains(got, "first difference") {
			t.Errorf("want %q in\n%s", c.want, got)
		}
	}
	for _, c := range []struct{ a, b, want string }{
		{" 0)   0.512 us    |    f();\n", " 0)   0.600 us    |    f();\n", "f(); took 0.600 us instead of 0.512 us"},
		{" 0)               |    f() {\n", " 1)               |    f() {\n", "f() { on CPU 1 instead of 0"},
		{" 0)               |    f() {\n", " 0)               |      f() {\n", "f() { at depth 3 instead of 2"},
		{" 0)               |    f() {\n", " 0)               |    g() {\n", "g() { instead of f() {"},
	} {
		if got := Explain(c.a, c.b); !strings.Contains(got, c.want) {
			t.Errorf("want %q in\n%s", c.want, got)
		}
	}
}

// A sweep names the seed that ends differently, and where its schedule parts.
func TestSweep(t *testing.T) {
	exec := func(r *GoldenRun) int {
		io.WriteString(r.Out, "x\n")
		status := ExitOK
		seed := r.Pin.Seed
		if r.Seeds > 4 {
			seed = 4
			io.WriteString(r.Out, "error: seed 4: wrong\n")
		}
		if seed == 4 {
			status = ExitAssert
		}
		if r.Record {
			r.Schedules = map[uint64][]Switch{
				0: {{1000, 0, "swapper/0-0", "cat-100"}, {2000, 1, "swapper/1-0", "sh-1"}},
				4: {{1001, 0, "swapper/0-0", "cat-100"}, {1900, 1, "swapper/1-0", "wc-2"}},
			}
		}
		return status
	}
	const parts = "first scheduling difference:\n  seed 0   0.000002000 cpu1 swapper/1-0 -> sh-1\n  seed 4   0.000001900 cpu1 swapper/1-0 -> wc-2\n"
	dir := tree(t, map[string]string{"a.star": "", "a.out": "x\n", "b.star": "test.seeds(3, f)", "b.out": "x\n"})
	pinned := func(own Pin) Pin { return own }
	status, got := runTree(dir, &Goldens{Seeds: 6, Exec: exec, Pin: pinned})
	const status3 = "[exit status 3]\n"
	want := "FAIL a.star: seed 4: exit status 3 instead of 0\nx\n" + status3 + parts +
		"FAIL b.star: seed 4: exit status 3 instead of 0\nx\nerror: seed 4: wrong\n" + status3 + parts +
		"FAIL: 2 of 2 goldens failed\n"
	if status != ExitAssert || got != want {
		t.Errorf("%d\n%s", status, Diff(want, got))
	}
	if status, got := runTree(dir, &Goldens{Seeds: 4, Exec: exec, Pin: pinned}); status != ExitOK {
		t.Errorf("%d %s", status, got)
	}
	same := []Switch{{1, 0, "a", "b"}}
	for _, c := range []struct {
		b    []Switch
		want string
	}{{same, "equal for 1 switches"}, {[]Switch{{2, 0, "a", "b"}}, "first other time"}, {nil, "no schedules"}} {
		if got := FirstSwitch(0, same, 1, c.b); !strings.Contains(got, c.want) {
			t.Errorf("%q in %q", c.want, got)
		}
	}
}

// Beyond the exit status a sweep compares the error, the outcomes of cases and the faults.
func TestSweepDiffers(t *testing.T) {
	run := func(status int, cases ...CaseResult) *GoldenRun { return &GoldenRun{status: status, Cases: cases} }
	pass, fail := CaseResult{Name: "a", Outcome: "pass"}, CaseResult{Name: "a", Outcome: "fail"}
	for _, c := range []struct {
		base    *GoldenRun
		printed string
		r       *GoldenRun
		out     string
		want    string
	}{
		{run(0), "x", run(0), "y", ""},
		{run(0), "x", run(1), "x", "exit status 1 instead of 0"},
		{run(1), "x\nerror: at 0x12 no\n  a.star", run(1), "error: at 0x345 no\n", ""},
		{run(1), "error: no\n", run(1), "error: yes\n", "another error: error: yes\ninstead of error: no"},
		{run(3, fail), "", run(3, pass), "", "case \"a\": pass instead of fail"},
		{run(0, pass), "", run(0), "", "no case \"a\""},
		{run(0), "", run(0, pass), "", "a case \"a\" that there was not before"},
		{run(0), "", &GoldenRun{Faults: []string{"order"}}, "", "a fault"},
	} {
		if got := differs(c.base, c.printed, c.r, c.out); got != c.want {
			t.Errorf("%q: %q", c.want, got)
		}
	}
}

func TestReports(t *testing.T) {
	dir := tree(t, map[string]string{"d/a.star": "print(1)", "d/a.out": "1\n", "b.star": "print('\\x01<')", "b.out": "2\n"})
	xmlFile := filepath.Join(dir, "junit.xml")
	exec := func(r *GoldenRun) int {
		r.Time = 1500
		r.Cases = []CaseResult{{Name: "first", Outcome: "pass", Time: 1000}, {Name: "second", Outcome: "skip", Text: "why"}}
		return execGolden(r)
	}
	status, got := runTree(dir, &Goldens{JSON: true, JUnit: xmlFile, Exec: exec, Jobs: 1})
	if status != ExitAssert {
		t.Errorf("status %d", status)
	}
	var outcomes []string
	for _, line := range strings.Split(strings.TrimSpace(got), "\n") {
		var r jsonResult
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		outcomes = append(outcomes, string(r.Outcome)+" "+r.Cases[1].Outcome)
	}
	if strings.Join(outcomes, ",") != "fail skip,skip skip" {
		t.Errorf("%q", outcomes)
	}
	var suites junitSuites
	data, err := os.ReadFile(xmlFile)
	if err == nil {
		err = xml.Unmarshal(data, &suites)
	}
	if err != nil || len(suites.Suites) != 2 {
		t.Fatalf("%v\n%s", err, data)
	}
	var sum junitCounts
	for _, s := range suites.Suites {
		sum.Tests, sum.Failures, sum.Skipped = sum.Tests+s.Tests, sum.Failures+s.Failures, sum.Skipped+s.Skipped
	}
	a, b := suites.Suites[0], suites.Suites[1]
	if sum.Tests != 6 || suites.Tests != 6 || suites.Failures != 1 || sum.Failures != 1 || suites.Skipped != 3 || sum.Skipped != 3 || suites.Time != "0.000003000" ||
		len(a.Cases) != 3 || a.Cases[0].Failure == nil || a.Cases[2].Skipped == nil || a.Cases[2].Skipped.Message != "why" || b.Cases[0].Skipped == nil ||
		a.Cases[0].Time != "0.000001500" || a.Cases[1].Time != "0.000001000" {
		t.Errorf("%s", data)
	}
}

// -count N runs each golden N times: 1 trusts it, more look for what differs now and then.
func TestCount(t *testing.T) {
	dir := tree(t, map[string]string{"a.star": "", "a.out": "same\n", "b.txtar": "kscope run a.star\ncmp stdout want\n-- a.star --\n-- want --\n"})
	for count, want := range map[int]int32{0: 2, 1: 1, 5: 5} {
		var runs, commands atomic.Int32
		exec := func(r *GoldenRun) int { runs.Add(1); io.WriteString(r.Out, "same\n"); return ExitOK }
		command := func(c *Command) int { commands.Add(1); return ExitOK }
		if status, got := runTree(dir, &Goldens{Count: count, Exec: exec, Command: command}); status != ExitOK || runs.Load() != want || commands.Load() != want {
			t.Errorf("-count %d: %d and %d runs, status %d\n%s", count, runs.Load(), commands.Load(), status, got)
		}
	}
	n := int32(0)
	exec := func(r *GoldenRun) int {
		n++
		io.WriteString(r.Out, map[bool]string{true: "other\n", false: "same\n"}[n == 4])
		return ExitOK
	}
	dir = tree(t, map[string]string{"a.star": "", "a.out": "same\n"})
	if status, got := runTree(dir, &Goldens{Count: 4, Exec: exec}); status != ExitAssert || !strings.Contains(got, "two runs differ") {
		t.Errorf("the fourth run: %d\n%s", status, got)
	}
}

// What is wrong with a golden is told as what it is: line ends that git has changed, mistakes in a new archive, nothing to run.
func TestGoldenMistakes(t *testing.T) {
	here := Pin{Image: "aaaa", Costs: "bbbb", CPUs: 4, Mem: 64}
	g := func() *Goldens {
		exec := func(r *GoldenRun) int {
			if text, _ := os.ReadFile(r.Path); string(text) == "panic\n" {
				panic("BUG: here")
			}
			r.Texts = []string{strings.TrimSuffix(r.Path, ".star") + ".golden"}
			return execGolden(r)
		}
		return &Goldens{Exec: exec, Command: func(c *Command) int { c.Stdout.WriteString("1\n"); return ExitOK }, Pin: func(Pin) Pin { return here }, Jobs: 1}
	}
	for _, c := range []struct {
		files  map[string]string
		filter string
		status int
		want   string
	}{
		{map[string]string{"a.star": "print(1)\n", "a.out": strings.ReplaceAll(here.String()+"1\n", "\n", "\r\n")}, "", ExitAssert, "FAIL a.star: a.out: its lines end in CR LF: git's autocrlf"},
		{map[string]string{"a.txtar": "kscope run a.star\r\n"}, "", ExitAssert, "FAIL a.txtar: its lines end in CR LF: git's autocrlf"},
		{map[string]string{"a.star": "", "a.out": "<<<<<<< HEAD\n" + here.String()}, "", ExitAssert, "FAIL a.star: a.out: it begins with a merge that was not resolved"},
		{map[string]string{"a.star": "panic\n", "a.out": here.String(), "b.star": "", "b.out": here.String()}, "", ExitAssert, "FAIL a.star: panic: BUG: here\nThis is a bug of kscope;"},
		{map[string]string{"a.star": "", "a.out": here.String(), "a.golden": "", "a.old.golden": ""}, "", ExitAssert, "FAIL a.star: no test.golden reads a.old.golden\n"},
		{map[string]string{"a.txtar": "frob\n"}, "", ExitAssert, "FAIL a.txtar: line 1: frob"},
		{map[string]string{"a.txtar": "kscope run a.star\ncmp stdout want\n-- a.star --\n-- want --\n"}, "", ExitAssert, "FAIL a.txtar: line 2: cmp stdout want:\n-want +got\n@@ line 5\n+1\n(its .out has no pin"},
		{map[string]string{"a.txtar": "kscope run a.star\ncmp stdout want\n-- a.star --\n-- want --\n1\n"}, "", ExitOK, "1 golden has no pin, which tells another image from another output: kscope test -update writes it (a.txtar)\nok: 1 golden\n"},
		{map[string]string{"a.star": "print(1)\n", "a.out": "1\n"}, "", ExitOK, "1 golden has no pin, which tells another image from another output: kscope test -update writes it (a.star)\nok: 1 golden\n"},
		{map[string]string{"a.star": "print(1)\n", "a.out": "2\n"}, "", ExitAssert, "FAIL a.star: -want +got\n@@ line 1\n-2\n+1\n(its .out has no pin"},
		{map[string]string{"a.star": "print(1)\n", "a.out": here.String() + "2\n"}, "", ExitAssert, "FAIL a.star: -want +got\n@@ line 2\n-2\n+1\nFAIL: 1 of 1 golden failed\n"},
		{map[string]string{"a.star": "", "a.sh": "", "a.out": ""}, "", ExitAssert, "FAIL a.sh: a.sh and a.star share one golden, a.out: rename all but one\nFAIL a.star: a.sh and"},
		{map[string]string{"a.star": "", "a.txtar": "kscope run a\nstdout 1\n", "a.out": ""}, "", ExitOK, "2 goldens have no pin"},
		{map[string]string{"a.star": ""}, "zz", ExitUsage, "kscope test: no script matches -run \"zz\" in "},
		{map[string]string{"a.sh": "", "a.out": "", "a.rows": ""}, "", ExitUsage, "kscope test: no scripts in "},
	} {
		dir := tree(t, c.files)
		x := g()
		if c.filter != "" {
			x.Filter = regexp.MustCompile(c.filter)
		}
		if status, got := runTree(dir, x); status != c.status || !strings.HasPrefix(got, c.want) {
			t.Errorf("%v: %d %s", c.files, status, got)
		}
	}
	dir := tree(t, map[string]string{"a.sh": "", "a.out": "", "a.rows": "", "_lib.star": ""})
	var out bytes.Buffer
	for _, name := range []string{"a.sh", "none", "_lib.star", "-junit"} {
		x := g()
		if name == "-junit" { // it is told before the goldens run
			name, x.JUnit = "a.sh", filepath.Join(dir, "no", "j.xml")
			os.Remove(filepath.Join(dir, "a.rows"))
		}
		x.Dirs, x.Out = []string{filepath.Join(dir, name)}, &out
		if status := x.Run(); status != ExitUsage {
			t.Errorf("%s: %d", name, status)
		}
	}
	want := "kscope test: no scripts in " + filepath.Join(dir, "a.sh") + "\nkscope test: " + filepath.Join(dir, "none") + ": no such file or directory\n" +
		"kscope test: a name that begins with _ is that of a library for load(): no scripts in " + filepath.Join(dir, "_lib.star") + "\n" +
		"kscope test: -junit: open " + filepath.Join(dir, "no", "j.xml") + ": no such file or directory\n"
	if runtime.GOOS == "linux" && out.String() != want {
		t.Errorf("%s", Diff(want, out.String()))
	}
}
