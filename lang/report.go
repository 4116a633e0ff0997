package lang

import (
	"encoding/json"
	"encoding/xml"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// Outcome is what became of a golden, as -json names it.
type Outcome string

const (
	outcomePass        Outcome = "pass"
	outcomeFail        Outcome = "fail"
	outcomeSkip        Outcome = "skip" // it passed but for cases that were skipped
	outcomeUpdated     Outcome = "updated"
	outcomeElsewhere   Outcome = "other-machine" // it differs, and was made with another image, costs or settings
	outcomeInterrupted Outcome = "interrupted"   // it ran when a signal came
	outcomeNotRun      Outcome = "not-run"       // its turn had not come then
)

// fails tells that an outcome fails the run.
func (o Outcome) fails() bool { return o != outcomePass && o != outcomeUpdated }

// CaseResult is one test.case of a golden.
type CaseResult struct {
	Name    string `json:"name"`
	Outcome string `json:"outcome"` // "pass", "fail", "skip" or "no end"
	Text    string `json:"text,omitempty"`
	Time    uint64 `json:"ns,omitempty"` // of virtual time
}

// jsonResult is a line of -json.
type jsonResult struct {
	Path    string       `json:"path"`
	Outcome Outcome      `json:"outcome"`
	Time    uint64       `json:"ns"` // of virtual time
	Report  string       `json:"report,omitempty"`
	Pin     string       `json:"pin,omitempty"` // its own, when it ran with another
	Seeds   *SeedCount   `json:"seeds,omitempty"`
	Cases   []CaseResult `json:"cases,omitempty"`
}

// report prints what failed, in the format that was asked for, and gives the exit status.
func (g *Goldens) report(results []Result, sig os.Signal) int {
	count := map[Outcome]int{}
	failed := 0
	for i := range results {
		r := &results[i]
		count[r.Outcome]++
		switch r.Outcome {
		case outcomeElsewhere:
			failed++
		case outcomeFail:
			failed++
			g.text("FAIL %s: %s", r.Path, r.Report)
		case outcomeSkip:
			g.text("SKIP %s: %s", r.Path, r.Report)
		case outcomeUpdated:
			g.text("%s: %s", r.Path, r.Report)
		}
	}
	g.notes(results)
	if g.JSON {
		writeJSON(g.Out, results)
	}
	if g.JUnit != "" {
		if err := writeJUnit(g.JUnit, results); err != nil {
			fmt.Fprintf(g.Out, "kscope test: %v\n", err)
			return ExitUsage
		}
	}
	total := plural(len(results), "golden")
	summary := fmt.Sprintf("%d of %s failed", failed, total)
	switch n := count[outcomeSkip]; {
	case failed > 0 && n > 0:
		summary += fmt.Sprintf(", %d skipped cases, which fails the run too", n)
	case n > 0:
		summary = fmt.Sprintf("%d of %s skipped cases, which fails the run", n, total)
	}
	switch {
	case sig != nil:
		return g.interrupted(results, sig, summary)
	case failed+count[outcomeSkip] > 0:
		g.text("FAIL: %s\n", summary)
		return ExitAssert
	}
	g.text("ok: %s\n", total)
	return ExitOK
}

// notes are what is said of many goldens together.
func (g *Goldens) notes(results []Result) {
	program, settings, bare := sorted(results)
	program.report(g.text)
	settings.report(g.text)
	if len(bare) > 0 {
		g.text("%s no pin, which tells another image from another output: kscope test -update writes it (%s)\n", has(len(bare)), strings.Join(bare, " "))
	}
	var list []string
	for i := range results {
		if s := results[i].Seeds; s != nil && s.Differ > 0 {
			list = append(list, fmt.Sprintf("%s (%d of %d)", results[i].Path, s.Differ, s.Of))
		}
	}
	if len(list) > 0 {
		g.text("what is printed depends on the seed, which -seeds does not compare: %s\n", strings.Join(list, ", "))
	}
}

func has(n int) string {
	if n == 1 {
		return "1 golden has"
	}
	return fmt.Sprintf("%d goldens have", n)
}

// interrupted says what a signal has stopped; the status is that of a shell's command that the signal has ended.
func (g *Goldens) interrupted(results []Result, sig os.Signal, summary string) int {
	var running []string
	waiting := 0
	for i := range results {
		switch results[i].Outcome {
		case outcomeInterrupted:
			running = append(running, results[i].Path)
		case outcomeNotRun:
			waiting++
		}
	}
	g.text("FAIL: %s: running: %s; %d not run; %s\n", sig, strings.Join(running, " "), waiting, summary)
	if s, ok := sig.(syscall.Signal); ok {
		return 128 + int(s)
	}
	return ExitAssert
}

// text prints for a person; with -json it prints nothing.
func (g *Goldens) text(format string, args ...any) {
	if !g.JSON {
		fmt.Fprintf(g.Out, format, args...)
	}
}

func writeJSON(w io.Writer, results []Result) {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	for i := range results {
		r := &results[i]
		line := jsonResult{Path: filepath.ToSlash(r.Path), Outcome: r.Outcome, Time: r.Time, Report: r.detail(), Seeds: r.Seeds, Cases: r.Cases}
		if r.own != r.pin {
			line.Pin = strings.TrimSpace(r.own.String())
		}
		if err := enc.Encode(line); err != nil {
			panic("BUG: " + err.Error())
		}
	}
}

// detail is a result's report, which for one of another machine says how it differs: programs read it, of whom none is flooded.
func (r *Result) detail() string {
	if r.Outcome != outcomeElsewhere {
		return r.Report
	}
	return fmt.Sprintf("%s; made with %s, %s; this is %s, %s\n%s", r.differs(), r.own.program(), r.own.settings(), r.pin.program(), r.pin.settings(), r.Report)
}

// JUnit's XML, as far as CI services read it: https://github.com/testmoapp/junitxml. Times are virtual, so that the file is the same
// every time.
type (
	junitCounts struct {
		Tests    int    `xml:"tests,attr"`
		Failures int    `xml:"failures,attr"`
		Errors   int    `xml:"errors,attr"`
		Skipped  int    `xml:"skipped,attr"`
		Time     string `xml:"time,attr"` // s
		ns       uint64
	}
	junitSuites struct {
		XMLName xml.Name `xml:"testsuites"`
		Name    string   `xml:"name,attr"`
		junitCounts
		Suites []junitSuite `xml:"testsuite"`
	}
	junitSuite struct {
		Name string `xml:"name,attr"`
		junitCounts
		Cases []junitCase `xml:"testcase"`
	}
	junitCase struct {
		Class   string     `xml:"classname,attr"`
		Name    string     `xml:"name,attr"`
		File    string     `xml:"file,attr,omitempty"`
		Time    string     `xml:"time,attr"`
		Failure *junitText `xml:"failure"`
		Error   *junitText `xml:"error"` // it did not run to its end
		Skipped *junitText `xml:"skipped"`
	}
	junitText struct {
		Message string `xml:"message,attr"`
		Text    string `xml:",chardata"`
	}
)

// writeJUnit writes one suite per directory; a golden is a case, and so is each test.case in it.
func writeJUnit(path string, results []Result) error {
	all := junitSuites{Name: "kscope test"}
	index := map[string]int{}
	for i := range results {
		r := &results[i]
		dir, file := filepath.Split(filepath.ToSlash(r.Path))
		if dir = strings.TrimSuffix(dir, "/"); dir == "" {
			dir = "."
		}
		n, ok := index[dir]
		if !ok {
			n = len(all.Suites)
			index[dir] = n
			all.Suites = append(all.Suites, junitSuite{Name: dir})
		}
		s := &all.Suites[n]
		s.add(junitOf(r.Outcome, r.detail(), junitCase{Class: dir, Name: file, File: filepath.ToSlash(r.Path)}), r.Time)
		for _, tc := range r.Cases {
			if tc.Name != file { // test.skip outside a case: the golden itself
				s.add(junitOf(Outcome(tc.Outcome), tc.Text, junitCase{Class: strings.TrimPrefix(dir+"/", "./") + file, Name: tc.Name, File: filepath.ToSlash(r.Path)}), tc.Time)
			}
		}
	}
	for i := range all.Suites {
		s := &all.Suites[i]
		all.Tests, all.Failures, all.Errors, all.Skipped = all.Tests+s.Tests, all.Failures+s.Failures, all.Errors+s.Errors, all.Skipped+s.Skipped
		all.ns += s.ns
		s.Time = seconds(s.ns)
	}
	all.Time = seconds(all.ns)
	data, err := xml.MarshalIndent(all, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(path, append([]byte(xml.Header), append(data, '\n')...), 0o644)
}

// junitOf gives a case its outcome.
func junitOf(o Outcome, text string, c junitCase) junitCase {
	first, _, _ := strings.Cut(text, "\n")
	switch o {
	case outcomePass, outcomeUpdated:
	case outcomeSkip:
		c.Skipped = &junitText{Message: printable(first)}
	case outcomeNotRun:
		c.Skipped = &junitText{Message: "not run: a signal ended the run"}
	case outcomeInterrupted:
		c.Error = &junitText{Message: "it was running when a signal ended the run"}
	case "no end":
		c.Error = &junitText{Message: "it did not come to its end"}
	default:
		c.Failure = &junitText{printable(first), printable(text)}
	}
	return c
}

// add counts a case that took ns.
func (s *junitSuite) add(c junitCase, ns uint64) {
	c.Time = seconds(ns)
	s.Cases = append(s.Cases, c)
	s.Tests++
	switch {
	case c.Failure != nil:
		s.Failures++
	case c.Error != nil:
		s.Errors++
	case c.Skipped != nil:
		s.Skipped++
	}
	if c.Class == s.Name { // what a golden's cases took is in its own
		s.ns += ns
	}
}

func seconds(ns uint64) string { return fmt.Sprintf("%d.%09d", ns/1e9, ns%1e9) }

// printable takes out what XML cannot hold.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' && r != '\n' && r != '\t' {
			return '?'
		}
		return r
	}, text)
}
