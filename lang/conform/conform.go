// Package conform compares what a shell script printed here with what it printed on real Linux.
//
// The comparison is in order and structural: Mask replaces, in each line of both texts, what no two runs share (addresses,
// event ids, pids, times, CPU numbers) and nothing else; Compare lines the masked texts up and returns the places where they
// differ, as Hunks; Rows are the hunks that somebody has accepted, each with its reason, in a file beside the transcript:
//
//	@12 the image has fewer functions      the hunk's first line in the transcript of Linux, and why it differs here
//	-35812                                 the transcript's lines, masked
//	+1134                                  ours, masked
//
// A run conforms when every hunk is accepted and no accepted one is out of date.
package conform

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Hunk is one place where the texts differ: the lines of the transcript from line Line on (1 is the first; the line before
// which ours stand, when Want is empty), and ours in their place.
type Hunk struct {
	Line      int
	Want, Got []string // masked, without newlines
	Reason    string   // of an accepted one
}

// String is the hunk as a row of the file.
func (h Hunk) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "@%d %s\n", h.Line, h.Reason)
	for _, l := range h.Want {
		b.WriteString("-" + l + "\n")
	}
	for _, l := range h.Got {
		b.WriteString("+" + l + "\n")
	}
	return b.String()
}

func (h Hunk) same(o Hunk) bool {
	return h.Line == o.Line && slices.Equal(h.Want, o.Want) && slices.Equal(h.Got, o.Got)
}

// Compare returns where the masked texts differ, in the transcript's order.
func Compare(want, got string) []Hunk { return compare(maskLines(want), maskLines(got)) }

func compare(w, g []string) []Hunk {
	var hunks []Hunk
	for _, s := range diff(w, g) {
		hunks = append(hunks, Hunk{Line: s.a + 1, Want: w[s.a:s.aEnd], Got: g[s.b:s.bEnd]})
	}
	return hunks
}

// Check compares and sorts the hunks: those that no row accepts, and the rows whose hunk has gone.
func Check(want, got string, rows []Hunk) (open, stale []Hunk) {
	used := make([]bool, len(rows))
	for _, h := range Compare(want, got) {
		i := slices.IndexFunc(rows, func(r Hunk) bool { return r.same(h) })
		if i < 0 {
			open = append(open, h)
			continue
		}
		used[i] = true
	}
	for i, r := range rows {
		if !used[i] {
			stale = append(stale, r)
		}
	}
	return open, stale
}

// Update is the file of rows for the present differences: the comment stays, and the reasons of rows at the same line; a new
// difference gets the reason "?", which ParseRows refuses until somebody writes one.
func Update(file, want, got string) string {
	var b strings.Builder
	reasons := map[int]string{}
	for _, line := range splitLines(file) {
		if rest, ok := strings.CutPrefix(line, "@"); ok {
			num, reason, _ := strings.Cut(rest, " ")
			if n, err := strconv.Atoi(num); err == nil {
				reasons[n] = reason
			}
		} else if len(reasons) == 0 {
			b.WriteString(line + "\n")
		}
	}
	for _, h := range Compare(want, got) {
		if h.Reason = reasons[h.Line]; h.Reason == "" {
			h.Reason = "?"
		}
		b.WriteString(h.String())
	}
	return b.String()
}

// RowError is a fault of a file of rows.
type RowError struct {
	Line int
	Msg  string
}

func (e *RowError) Error() string { return fmt.Sprintf("line %d: %s", e.Line, e.Msg) }

// ParseRows reads a file of accepted hunks. Lines before the first "@" are a comment. A row needs a reason.
func ParseRows(text string) ([]Hunk, error) {
	var rows []Hunk
	for i, line := range splitLines(text) {
		if line == "" {
			continue // behind the last line
		}
		mark, rest := line[0], line[1:]
		switch {
		case mark == '@':
			num, reason, _ := strings.Cut(rest, " ")
			n, err := strconv.Atoi(num)
			if err != nil || n < 1 {
				return nil, &RowError{i + 1, fmt.Sprintf("%q is no line of the transcript; want @LINE REASON", num)}
			}
			if reason = strings.TrimSpace(reason); reason == "" || reason == "?" {
				return nil, &RowError{i + 1, "a difference is accepted with its reason; want @LINE REASON"}
			}
			rows = append(rows, Hunk{Line: n, Reason: reason})
		case len(rows) == 0:
		case mark == '-':
			rows[len(rows)-1].Want = append(rows[len(rows)-1].Want, rest)
		case mark == '+':
			rows[len(rows)-1].Got = append(rows[len(rows)-1].Got, rest)
		default:
			return nil, &RowError{i + 1, fmt.Sprintf("want @, - or + at the line's begin, not %q", mark)}
		}
	}
	return rows, nil
}

func maskLines(text string) []string {
	lines := splitLines(text)
	for i, l := range lines {
		lines[i] = Mask(l)
	}
	return lines
}

// splitLines cuts a text into its lines; what follows the last newline counts when it is not empty.
func splitLines(text string) []string {
	if text == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(text, "\n"), "\n")
}
