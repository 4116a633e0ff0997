package lang

import (
	"encoding/json"
	"encoding/xml"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// Outcomes of a golden, as -json names them.
const (
	outcomePass      = "pass"
	outcomeFail      = "fail"
	outcomeUpdated   = "updated"
	outcomeElsewhere = "other-machine" // made with another image, costs or settings: not compared
)

// CaseResult is one test.case of a golden.
type CaseResult struct {
	Name    string `json:"name"`
	Outcome string `json:"outcome"` // "pass", "fail", "skip" or "no end"
	Text    string `json:"text,omitempty"`
}

// jsonResult is a line of -json.
type jsonResult struct {
	Path    string       `json:"path"`
	Outcome string       `json:"outcome"`
	Report  string       `json:"report,omitempty"`
	Pin     string       `json:"pin,omitempty"`
	Cases   []CaseResult `json:"cases,omitempty"`
}

func (r *Result) outcome() string {
	switch {
	case r.from != r.to:
		return outcomeElsewhere
	case r.Failed:
		return outcomeFail
	case r.Report != "":
		return outcomeUpdated
	}
	return outcomePass
}

// report prints what failed, in the format that was asked for, and gives the exit status.
func (g *Goldens) report(results []Result) int {
	failed := 0
	var others elsewhere
	for i := range results {
		r := &results[i]
		switch r.outcome() {
		case outcomeElsewhere:
			others.add(r.Path, r.from, r.to, r.want, r.got)
			failed++
		case outcomeFail:
			failed++
			g.text("FAIL %s: %s", r.Path, r.Report)
		case outcomeUpdated:
			g.text("%s: %s", r.Path, r.Report)
		}
	}
	if others.total > 0 {
		g.text("%s", others.String())
	}
	if g.JSON {
		writeJSON(g.Out, results)
	}
	if g.JUnit != "" {
		if err := writeJUnit(g.JUnit, results, failed); err != nil {
			fmt.Fprintf(g.Out, "kscope test: %v\n", err)
			return ExitUsage
		}
	}
	if failed > 0 {
		g.text("FAIL: %d of %d goldens failed\n", failed, len(results))
		return ExitAssert
	}
	g.text("ok: %d goldens\n", len(results))
	return ExitOK
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
	for _, r := range results {
		line := jsonResult{Path: filepath.ToSlash(r.Path), Outcome: r.outcome(), Report: r.Report, Cases: r.Cases}
		if line.Outcome == outcomeElsewhere {
			line.Pin = strings.TrimSpace(r.from.String())
		}
		if err := enc.Encode(line); err != nil {
			panic("BUG: " + err.Error())
		}
	}
}

// JUnit's XML, as far as CI services read it: https://github.com/testmoapp/junitxml.
type (
	junitSuites struct {
		XMLName  xml.Name     `xml:"testsuites"`
		Tests    int          `xml:"tests,attr"`
		Failures int          `xml:"failures,attr"`
		Suites   []junitSuite `xml:"testsuite"`
	}
	junitSuite struct {
		Name     string      `xml:"name,attr"`
		Tests    int         `xml:"tests,attr"`
		Failures int         `xml:"failures,attr"`
		Cases    []junitCase `xml:"testcase"`
	}
	junitCase struct {
		Class   string        `xml:"classname,attr"`
		Name    string        `xml:"name,attr"`
		File    string        `xml:"file,attr,omitempty"`
		Failure *junitFailure `xml:"failure"`
	}
	junitFailure struct {
		Message string `xml:"message,attr"`
		Text    string `xml:",chardata"`
	}
)

// writeJUnit writes one suite per directory; a golden is a case, and so is each test.case in it.
func writeJUnit(path string, results []Result, failed int) error {
	all := junitSuites{Tests: len(results), Failures: failed}
	index := map[string]int{}
	for i := range results {
		r := &results[i]
		dir, file := filepath.Split(filepath.ToSlash(r.Path))
		dir = strings.TrimSuffix(dir, "/")
		n, ok := index[dir]
		if !ok {
			n = len(all.Suites)
			index[dir] = n
			all.Suites = append(all.Suites, junitSuite{Name: dir})
		}
		s := &all.Suites[n]
		c := junitCase{Class: dir, Name: file, File: filepath.ToSlash(r.Path)}
		switch r.outcome() {
		case outcomeElsewhere:
			c.Failure = &junitFailure{"made with " + r.from.program() + ", " + r.from.settings(), ""}
		case outcomeFail:
			first, _, _ := strings.Cut(r.Report, "\n")
			c.Failure = &junitFailure{first, printable(r.Report)}
		}
		s.add(c)
		for _, tc := range r.Cases {
			c := junitCase{Class: dir + "/" + file, Name: tc.Name, File: filepath.ToSlash(r.Path)}
			if tc.Outcome != outcomePass {
				c.Failure = &junitFailure{tc.Outcome, printable(tc.Text)}
			}
			s.add(c)
		}
	}
	data, err := xml.MarshalIndent(all, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(path, append([]byte(xml.Header), append(data, '\n')...), 0o644)
}

func (s *junitSuite) add(c junitCase) {
	s.Cases = append(s.Cases, c)
	s.Tests++
	if c.Failure != nil {
		s.Failures++
	}
}

// printable takes out what XML cannot hold.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' && r != '\n' && r != '\t' {
			return '?'
		}
		return r
	}, text)
}
