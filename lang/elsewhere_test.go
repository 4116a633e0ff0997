package lang

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
)

// Goldens of another image pass when they print the same. Of those that differ the numbers are one line, and a few differences in
// structure are shown; other settings of the command line are named as the cause.
func TestElsewhere(t *testing.T) {
	here := Pin{Image: "bbb", Costs: "11", CPUs: 4, Mem: 64}
	there, seeded := here, here
	there.Image, seeded.Seed = "aaa", 3
	exec := func(r *GoldenRun) int {
		fmt.Fprintf(r.Out, "t = 12\nopen by %s\n", filepath.Base(r.Path))
		return ExitOK
	}
	const same, numbers, structure = "t = 12\nopen by NAME\n", "t = 11\nopen by NAME\n", "t = 12\nread by NAME\n"
	const head = " made with image aaa, costs 11; this is image bbb, costs 11: "
	shown := func(name string) string {
		return "FAIL " + name + ": -want +got\n@@ line 2\n t = 12\n-read by " + name + "\n+open by " + name + "\n"
	}
	for _, c := range []struct {
		pin    Pin
		bodies []string
		want   string // but for the last line
		last   string
	}{
		{there, []string{same}, "1 golden was" + head + "1 passed with the same output; kscope test -update renews their pins; --image FILE runs them on their image\n", "ok: 1 golden\n"},
		{there, []string{same, numbers, structure}, shown("c.star") + "3 goldens were" + head + "1 passed with the same output, 1 failed and differs in numbers only (b.star), " +
			"1 failed and differs in structure (c.star); kscope test -update renews them, but for those of other structure; --image FILE runs them on their image\n",
			"FAIL: 2 of 3 goldens failed\n"},
		{there, []string{structure, structure, structure, structure}, "4 goldens were" + head + "4 failed and differ in structure (a.star b.star c.star d.star); " +
			"kscope test -update renews them, but for those of other structure; --image FILE runs them on their image\n", "FAIL: 4 of 4 goldens failed\n"},
		{seeded, []string{same, structure}, "2 goldens were pinned to seed 3, the command line says seed 0: 1 passed with the same output, 1 failed and differs in structure (b.star); " +
			"without the flag each runs as it is pinned; kscope test -update with it renews them, but for those of other structure\n", "FAIL: 1 of 2 goldens failed\n"},
	} {
		files := map[string]string{}
		for i, body := range c.bodies {
			name := string(rune('a'+i)) + ".star"
			files[name] = ""
			files[goldenPath(name)] = c.pin.String() + strings.ReplaceAll(body, "NAME", name)
		}
		_, got := runTree(tree(t, files), &Goldens{Exec: exec, Pin: func(Pin) Pin { return here }})
		if want := c.want + c.last; got != want {
			t.Error(Diff(want, got))
		}
	}
	dir := tree(t, map[string]string{"a.star": "", "a.out": there.String() + strings.ReplaceAll(structure, "NAME", "a.star")})
	_, got := runTree(dir, &Goldens{Exec: exec, JSON: true, Pin: func(Pin) Pin { return here }})
	var r jsonResult
	if err := json.Unmarshal([]byte(got), &r); err != nil || r.Outcome != outcomeElsewhere || r.Pin != strings.TrimSpace(there.String()) || !strings.Contains(r.Report, "\n-read by") {
		t.Errorf("%v %s", err, got)
	}
}

// A signal ends a run at once: it says who ran, reports the others, and leaves no files behind.
func TestSignalEndsRun(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	signals, begun := make(chan os.Signal, 1), make(chan bool)
	exec := func(r *GoldenRun) int {
		if filepath.Base(r.Path) == "b.star" {
			close(begun)
			select {}
		}
		return ExitOK
	}
	go func() {
		<-begun
		signals <- syscall.SIGTERM
	}()
	dir := tree(t, map[string]string{"a.star": "", "a.out": "", "b.star": "", "b.out": "", "c.star": "", "c.out": "", "d.star": ""})
	xml := filepath.Join(dir, "junit.xml")
	var last, end Progress
	g := &Goldens{Exec: exec, Signals: signals, Jobs: 1, JUnit: xml, Progress: func(p Progress) { last, end = end, p }}
	status, got := runTree(dir, g)
	want := "FAIL: terminated: running: b.star; 2 not run; 0 of 4 goldens failed\n"
	if status != 128+15 || got != want {
		t.Errorf("status %d\n%s", status, Diff(want, got))
	}
	if end.Total != 0 || last.Done != 1 || last.Total != 4 || last.Failed != 0 || len(last.Running) != 1 || filepath.Base(last.Running[0]) != "b.star" {
		t.Errorf("%+v", last)
	}
	text, err := os.ReadFile(xml)
	for _, want := range []string{`tests="4" failures="0" errors="1" skipped="2"`, `<error message="it was running when a signal`, `<skipped message="not run: a signal`} {
		if err != nil || !strings.Contains(string(text), want) {
			t.Errorf("no %s: %v\n%s", want, err, text)
		}
	}
	if left, err := os.ReadDir(os.Getenv("TMPDIR")); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v %v", left, err)
	}
}

// A golden that runs into a limit says so, runs once, and is not made a golden by mistake.
func TestGoldenLimit(t *testing.T) {
	runs := 0
	exec := func(r *GoldenRun) int { runs++; io.WriteString(r.Out, "x\n"); return ExitLimit }
	dir := tree(t, map[string]string{"a.star": "", "a.out": "x\n"})
	status, got := runTree(dir, &Goldens{Exec: exec})
	if status != ExitAssert || runs != 1 || !strings.HasPrefix(got, "FAIL a.star: it ran into a limit, which each golden has: -max-insns") || !strings.Contains(got, "\n+[exit status 5]\n") {
		t.Errorf("%d, %d runs\n%s", status, runs, got)
	}
	if status, got := runTree(dir, &Goldens{Exec: exec, Update: UpdateNumbers}); status != ExitAssert || !strings.Contains(got, "not written (kscope test -update=structure accepts it)\nx\n") {
		t.Errorf("-update: %d\n%s", status, got)
	}
	if status, got := runTree(dir, &Goldens{Exec: exec, Update: UpdateStructure}); status != ExitOK || got != "a.star: updated: structure changed (exit status 5)\nok: 1 golden\n" {
		t.Errorf("-update=structure: %d\n%s", status, got)
	}
	if status, got := runTree(dir, &Goldens{Exec: exec}); status != ExitOK {
		t.Errorf("then: %d\n%s", status, got)
	}
}

// A skip fails the run and is told from a failure; -update writes nevertheless.
func TestGoldenSkip(t *testing.T) {
	exec := func(r *GoldenRun) int {
		io.WriteString(r.Out, "skip x: why\n")
		r.Cases = []CaseResult{{Name: "x", Outcome: "skip", Text: "why"}}
		return ExitOK
	}
	dir := tree(t, map[string]string{"a.star": ""})
	const skip = "SKIP a.star: case \"x\" is skipped: why\n"
	if status, got := runTree(dir, &Goldens{Exec: exec, Update: UpdateNumbers}); status != ExitAssert || got != skip+"written\nFAIL: 1 of 1 golden skipped cases, which fails the run\n" {
		t.Errorf("-update: %d\n%s", status, got)
	}
	if status, got := runTree(dir, &Goldens{Exec: exec}); status != ExitAssert || got != skip+"FAIL: 1 of 1 golden skipped cases, which fails the run\n" {
		t.Errorf("%d\n%s", status, got)
	}
	os.WriteFile(filepath.Join(dir, "a.out"), []byte("other\n"), 0o644)
	if status, got := runTree(dir, &Goldens{Exec: exec}); status != ExitAssert || !strings.HasPrefix(got, "FAIL a.star: -want +got\n") {
		t.Errorf("%d\n%s", status, got)
	}
}

// What is printed may depend on the seed, but -seeds counts it, in archives too; an archive's other lines must hold.
func TestSweepCounts(t *testing.T) {
	exec := func(r *GoldenRun) int { fmt.Fprintln(r.Out, r.Pin.Seed%3); return ExitOK }
	command := func(c *Command) int { fmt.Fprintln(&c.Stdout, c.Pin.Seed/4); return ExitOK }
	dir := tree(t, map[string]string{
		"a.star": "", "a.out": "0\n",
		"b.txtar": "kscope run a.star\ncmp stdout want\n-- want --\n0\n",
		"c.txtar": "kscope run a.star\nstdout '0'\n",
	})
	g := func(re string, seeds int) *Goldens {
		return &Goldens{Filter: regexp.MustCompile(re), Exec: exec, Command: command, Seeds: seeds, Pin: func(own Pin) Pin { return own }}
	}
	if status, got := runTree(dir, g("", 4)); status != ExitOK || got != "what is printed depends on the seed, which -seeds does not compare: a.star (2 of 4)\nok: 3 goldens\n" {
		t.Errorf("%d\n%s", status, got)
	}
	want := "FAIL c.txtar: seed 4: line 2: stdout '0': stdout is\n1\n" +
		"what is printed depends on the seed, which -seeds does not compare: a.star (3 of 5), b.txtar (1 of 5)\nFAIL: 1 of 3 goldens failed\n"
	if status, got := runTree(dir, g("", 5)); status != ExitAssert || got != want {
		t.Errorf("%d\n%s", status, Diff(want, got))
	}
}
