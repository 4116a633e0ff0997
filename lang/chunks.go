package lang

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"go.starlark.net/resolve"
	"go.starlark.net/starlark"
	"go.starlark.net/syntax"
)

// A script may be a list of chunks between lines "---", each run from scratch, in which a comment names the error that its
// line must give (the habit of go.starlark.net's own tests):
//
//	kprobe.attach("vfs_raed")  ### "no such symbol"
//
// An expected error does not fail the script; its report is printed as ever.

// expectation is one ### "re".
type expectation struct {
	line int
	re   *regexp.Regexp
}

var expectRE = regexp.MustCompile(`### +("(?:[^"\\]|\\.)*"|` + "`[^`]*`" + `)`)

// chunk is a piece of a script with its expected errors. Its source keeps the file's line numbers.
type chunk struct {
	src    string
	expect []expectation
}

// parseChunks gives nil for a script that expects no errors.
func parseChunks(text string) ([]chunk, error) {
	if !expectRE.MatchString(text) {
		return nil, nil
	}
	var chunks []chunk
	var c chunk
	for i, line := range lines(text) {
		if strings.TrimSpace(line) == "---" {
			chunks = append(chunks, c)
			c = chunk{src: strings.Repeat("\n", i+1)}
			continue
		}
		c.src += line
		if m := expectRE.FindStringSubmatch(line); m != nil {
			pattern, err := strconv.Unquote(m[1])
			if err != nil {
				return nil, fmt.Errorf("line %d: %s: %w", i+1, m[0], err)
			}
			re, err := regexp.Compile(pattern)
			if err != nil {
				return nil, fmt.Errorf("line %d: %w", i+1, err)
			}
			c.expect = append(c.expect, expectation{i + 1, re})
		}
	}
	return append(chunks, c), nil
}

// Failure is where a script went wrong.
type Failure struct {
	Line int
	Msg  string
}

// Failures takes an error apart: the places in the file called name, one for a failed run, several for wrong syntax or names.
func (h *Host) Failures(err error, name string) []Failure {
	var list resolve.ErrorList
	var se syntax.Error
	var ee *starlark.EvalError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &list):
		var fs []Failure
		for _, e := range list {
			fs = append(fs, Failure{int(e.Pos.Line), e.Msg})
		}
		return fs
	case errors.As(err, &se):
		return []Failure{{int(se.Pos.Line), se.Msg}}
	case errors.As(err, &ee):
		v := h.errorValue(err)
		f := Failure{Msg: v.text}
		for _, fr := range ee.CallStack {
			if fr.Pos.Filename() == name && fr.Pos.Line > 0 {
				f.Line = int(fr.Pos.Line) // the innermost in this file
			}
		}
		return []Failure{f}
	}
	return []Failure{{Msg: err.Error()}}
}

// check compares a chunk's expectations with what happened; the result is the faults.
func (c *chunk) check(failures []Failure) []string {
	var faults []string
	met := make([]bool, len(c.expect))
	for _, f := range failures {
		found := false
		for i, e := range c.expect {
			if e.line == f.Line && e.re.MatchString(f.Msg) {
				met[i], found = true, true
			}
		}
		if !found {
			faults = append(faults, fmt.Sprintf("line %d: an error that no ### expects: %s", f.Line, f.Msg))
		}
	}
	for i, e := range c.expect {
		if !met[i] {
			faults = append(faults, fmt.Sprintf("line %d: no error that matches %q", e.line, e.re))
		}
	}
	return faults
}

// RunChunks runs a script that expects errors, each chunk in a host of its own. ok is false when the script expects none
// and is to be run as a whole.
func RunChunks(path, text string, newHost func() *Host) (faults []string, ok bool) {
	chunks, err := parseChunks(text)
	if err != nil {
		return []string{err.Error()}, true
	}
	for i := range chunks {
		h := newHost()
		_, err := h.execSource(path, []byte(chunks[i].src))
		h.Report(h.Stdout(), err)
		cerr := h.Close()
		h.Report(h.Stdout(), cerr)
		if err == nil {
			err = cerr
		}
		faults = append(faults, chunks[i].check(h.Failures(err, h.display(path)))...)
	}
	return faults, chunks != nil
}
