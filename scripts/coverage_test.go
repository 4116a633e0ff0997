package scripts

import (
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"kscope/lang"
)

// span is a range of lines of a document.
type span struct{ from, to int }

func (s span) has(n int) bool { return s.from <= n && n <= s.to }

// commandLine finds the lines of the documents that are commands of a shell.
var commandLine = regexp.MustCompile(`^(echo|cat|cd|ls|mount|mkdir|rmdir|sleep|zcat|trace-cmd|kernelshark|grep|debugfs) `)

// TestSeedCoverage: seeds/coverage.txt accounts for each block of the documents. Every command stands in a row, and each row
// tells the truth: a golden runs the lines, the errata have a row, a lesson cites the lines.
func TestSeedCoverage(t *testing.T) {
	docs := map[string][]string{}
	files, _ := filepath.Glob("seeds/*-*.txt")
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		docs[filepath.Base(f)] = strings.Split(string(text), "\n")
	}
	read := func(file string) string {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Error(err)
		}
		return string(text)
	}
	table, errata := read("seeds/coverage.txt"), read("seeds/errata.txt")
	covered := map[string][]span{}
	row := regexp.MustCompile(`^(\S+) (\d+)-(\d+) +\| (golden|lab|errata) (\S+) +\| (.+)$`)
	for i, line := range strings.Split(strings.TrimSpace(table), "\n") {
		if strings.HasPrefix(line, "#") {
			continue
		}
		m := row.FindStringSubmatch(line)
		if m == nil {
			t.Errorf("coverage.txt:%d: want FILE FROM-TO | golden|lab|errata NAME | about", i+1)
			continue
		}
		from, _ := strconv.Atoi(m[2])
		to, _ := strconv.Atoi(m[3])
		doc := docs[m[1]]
		if from < 1 || to < from || to > len(doc) {
			t.Errorf("coverage.txt:%d: %s has %d lines", i+1, m[1], len(doc))
			continue
		}
		covered[m[1]] = append(covered[m[1]], span{from, to})
		switch m[4] {
		case "golden":
			checkGolden(t, read("seeds/"+m[5]), m[5], m[1], doc, span{from, to})
		case "lab":
			if !quotes(t, m[5], m[1], from) {
				t.Errorf("coverage.txt:%d: %s does not quote %s %s", i+1, m[5], m[1], m[2])
			}
		case "errata":
			if !strings.Contains(errata, m[1]+" "+m[5]+" ") {
				t.Errorf("coverage.txt:%d: the errata have no row %s %s", i+1, m[1], m[5])
			}
		}
	}
	for name, doc := range docs {
		for i, line := range doc {
			if commandLine.MatchString(line) && !inSpans(covered[name], i+1) {
				t.Errorf("%s %d stands in no row: %s", name, i+1, line)
			}
		}
	}
}

func inSpans(spans []span, n int) bool {
	for _, s := range spans {
		if s.has(n) {
			return true
		}
	}
	return false
}

// checkGolden: each command of a document's lines is taken from there by a #lines of the golden; lines of prose or of output
// may be named in a comment instead.
func checkGolden(t *testing.T, script, golden, doc string, lines []string, want span) {
	t.Helper()
	var ran []span
	for _, m := range regexp.MustCompile(`(?m)^#lines (\S+) (\d+)-(\d+)$`).FindAllStringSubmatch(script, -1) {
		from, _ := strconv.Atoi(m[2])
		to, _ := strconv.Atoi(m[3])
		if m[1] == doc {
			ran = append(ran, span{from, to})
		}
	}
	commands := 0
	for n := want.from; n <= want.to; n++ {
		line := lines[n-1]
		if !commandLine.MatchString(line) {
			continue
		}
		commands++
		if !inSpans(ran, n) && !strings.Contains(line, ": grep ") {
			t.Errorf("%s does not run %s %d: %s", golden, doc, n, line)
		}
	}
	if commands == 0 && !strings.Contains(script, doc) {
		t.Errorf("%s has nothing of %s", golden, doc)
	}
}

// TestSeedModule: module kprobe_example is the document's, with the \n of its strings back.
func TestSeedModule(t *testing.T) {
	doc, err := os.ReadFile("seeds/ftrace-and-kprobe.txt")
	if err != nil {
		t.Fatal(err)
	}
	source, err := os.ReadFile("../kernel/guest/modules/kprobe_example.c")
	if err != nil {
		t.Fatal(err)
	}
	listing := strings.Join(strings.Split(string(doc), "\n")[68:157], "\n") + "\n"
	if want := strings.ReplaceAll(listing, "\n\"", `\n"`); want != string(source) {
		t.Errorf("kprobe_example.c is not the document's:\n%s", lang.Diff(want, string(source)))
	}
}

// TestConformanceIsMarked: a script of conform/ has rows, if only an empty file of them: kscope test takes it for a golden else.
func TestConformanceIsMarked(t *testing.T) {
	files, err := filepath.Glob("conform/*.sh")
	if err != nil || len(files) == 0 {
		t.Fatal(err, files)
	}
	for _, f := range files {
		rows := strings.TrimSuffix(f, ".sh") + ".rows"
		if _, err := os.Stat(rows); err != nil {
			t.Errorf("no %s: an empty one says that nothing differs", rows)
		}
	}
}
