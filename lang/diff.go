package lang

import (
	"fmt"
	"strings"
)

// diffContext is how many equal lines surround a difference.
const diffContext = 3

// diffMax is how many lines of a difference are shown: a changed image must not flood the terminal.
const diffMax = 60

// Diff shows how got differs from want, line by line: "-" lines are wanted, "+" lines were printed. It is "" when they are
// equal.
func Diff(want, got string) string { return diffAt(want, got, 0) }

// diffAt is Diff of texts that stand below so many other lines of their file.
func diffAt(want, got string, above int) string {
	if want == got {
		return ""
	}
	a, b := lines(want), lines(got)
	ops := edits(a, b)
	var out strings.Builder
	out.WriteString("-want +got\n")
	shown, skipped := 0, false
	for i, op := range ops {
		if op.kind == ' ' && !near(ops, i) {
			skipped = true
			continue
		}
		if skipped || i == 0 {
			fmt.Fprintf(&out, "@@ line %d\n", above+op.line)
			skipped = false
		}
		if shown++; shown > diffMax {
			fmt.Fprintf(&out, "... and more\n")
			break
		}
		text := strings.TrimSuffix(op.text, "\n")
		out.WriteString(strings.TrimRight(string(op.kind)+text, " ") + "\n")
		if op.kind != ' ' && !strings.HasSuffix(op.text, "\n") && op.text != "" {
			out.WriteString("\\ no newline at the end\n")
		}
	}
	return out.String()
}

// lines splits text into lines that keep their ends.
func lines(text string) []string {
	list := strings.SplitAfter(text, "\n")
	if list[len(list)-1] == "" {
		list = list[:len(list)-1]
	}
	return list
}

// edit is one line of a difference.
type edit struct {
	kind byte // ' ', '-', '+'
	text string
	line int // in want, from 1
}

// near tells whether a difference is within the context of line i.
func near(ops []edit, i int) bool {
	for j := max(0, i-diffContext); j <= min(len(ops)-1, i+diffContext); j++ {
		if ops[j].kind != ' ' {
			return true
		}
	}
	return false
}

// edits is a shortest edit script by the table of longest common subsequences, after the common head and tail are cut off.
// Middles of more than diffTable lines are taken as replaced whole.
func edits(a, b []string) []edit {
	const diffTable = 2000
	var ops []edit
	head := 0
	for head < len(a) && head < len(b) && a[head] == b[head] {
		ops = append(ops, edit{' ', a[head], head + 1})
		head++
	}
	tail := 0
	for tail < len(a)-head && tail < len(b)-head && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	x, y := a[head:len(a)-tail], b[head:len(b)-tail]
	if len(x) > diffTable || len(y) > diffTable {
		for i, line := range x {
			ops = append(ops, edit{'-', line, head + i + 1})
		}
		for _, line := range y {
			ops = append(ops, edit{'+', line, head + len(x) + 1})
		}
	} else {
		ops = append(ops, lcsEdits(x, y, head)...)
	}
	for i := len(a) - tail; i < len(a); i++ {
		ops = append(ops, edit{' ', a[i], i + 1})
	}
	return ops
}

func lcsEdits(x, y []string, head int) []edit {
	n := make([][]int, len(x)+1)
	for i := range n {
		n[i] = make([]int, len(y)+1)
	}
	for i := len(x) - 1; i >= 0; i-- {
		for j := len(y) - 1; j >= 0; j-- {
			if x[i] == y[j] {
				n[i][j] = n[i+1][j+1] + 1
			} else {
				n[i][j] = max(n[i+1][j], n[i][j+1])
			}
		}
	}
	var ops []edit
	i, j := 0, 0
	for i < len(x) || j < len(y) {
		switch {
		case i < len(x) && j < len(y) && x[i] == y[j]:
			ops = append(ops, edit{' ', x[i], head + i + 1})
			i, j = i+1, j+1
		case j == len(y) || i < len(x) && n[i+1][j] >= n[i][j+1]:
			ops = append(ops, edit{'-', x[i], head + i + 1})
			i++
		default:
			ops = append(ops, edit{'+', y[j], head + i + 1})
			j++
		}
	}
	return ops
}
