package conform

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestMask(t *testing.T) {
	for _, c := range []struct{ a, b string }{ // two runs' lines that must be one
		{"            bash-101     [000] .....     3.382064: vfs_statx <-vfs_fstatat", "            bash-9871    [003] .....    13.000001: vfs_statx <-vfs_fstatat"},
		{"      dd-106       1..... 39064us#: vfs_read <-ksys_read", "      dd-7         0.....     1us : vfs_read <-ksys_read"},
		{" 0) ! 683.850 us  |  mutex_unlock();", " 1)   0.150 us    |  mutex_unlock();"},
		{" 0)   script-99    =>    cat-121    ", " 3)   script-100   =>    cat-7      "},
		{"    9.743607 |   0) ! 683.850 us  |  mutex_unlock();", "   19.743607 |   2)   3.850 us    |  mutex_unlock();"},
		{"vfs_read (1) R    \ttramp: 0xffffffffc021f000 (f+0x0/0x1b0) ->f+0x0/0x1b0", "vfs_read (1) R    \ttramp: 0xffffffffc0200000 (f+0x0/0x10) ->f+0x0/0x10"},
		{"ID: 682", "ID: 17"},
		{"[   12.345678] trace_kprobe: error: Invalid probed address", "[    1.000001] trace_kprobe: error: Invalid probed address"},
	} {
		if a, b := Mask(c.a), Mask(c.b); a != b {
			t.Errorf("%q\n  masks as %q\n%q\n  masks as %q", c.a, a, c.b, b)
		}
	}
	for _, l := range []string{ // nothing of these is masked
		"35812", "[exit 1]", "entries: 13", "buffer_size_kb 1408", "#### all functions enabled ####", "             ^",
		"$ echo 100 > buffer_size_kb", "-rw-r----- 1 root root 0 T trace", "# entries-in-buffer/entries-written: 52/52   #P:2",
	} {
		if Mask(l) != l {
			t.Errorf("%q masks as %q", l, Mask(l))
		}
	}
	if Mask("  cat-1  [000] d.h1.     1.000000: f <-g") == Mask("  cat-1  [000] ..s1.     1.000000: f <-g") {
		t.Error("the flags column is masked")
	}
	if Mask("  cat-1  [000] .....     1.000000: f <-g") == Mask("  dd-1  [000] .....     1.000000: f <-g") {
		t.Error("the task's name is masked")
	}
}

func TestRows(t *testing.T) {
	const want, got = "a\nb\nc\nd\n", "a\nx\nc\nd\ne\n"
	hunks := Compare(want, got)
	text := "the comment\n"
	for i := range hunks {
		hunks[i].Reason = "because"
		text += hunks[i].String()
	}
	rows, err := ParseRows(text)
	if err != nil || len(rows) != 2 {
		t.Fatalf("%v %v", rows, err)
	}
	if open, stale := Check(want, got, rows); len(open)+len(stale) > 0 {
		t.Errorf("open %v, stale %v", open, stale)
	}
	if open, stale := Check(want, "a\nx\nc\nd\n", rows); len(open) != 0 || len(stale) != 1 {
		t.Errorf("open %v, stale %v", open, stale)
	}
	if open, _ := Check(want, "a\ny\nc\nd\ne\n", rows); len(open) != 1 {
		t.Errorf("another line in an accepted place is accepted: %v", open)
	}
	updated := Update(text, "a\nb\nc\nz\nd\n", "a\nx\nc\nd\n")
	if updated != "the comment\n@2 because\n-b\n+x\n@4 ?\n-z\n" {
		t.Errorf("updated:\n%s", updated)
	}
	for _, bad := range []string{"@x why\n", "@0 why\n", "@3\n", "@3 ?\n", "@3 why\n?\n"} {
		if _, err := ParseRows(bad); err == nil {
			t.Errorf("%q is accepted", bad)
		}
	}
}

// TestDiff: the spans turn a into b, on random texts.
func TestDiff(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		a, b := randomLines(r), randomLines(r)
		var out []string
		at, changed := 0, 0
		for _, s := range diff(a, b) {
			out = append(append(out, a[at:s.a]...), b[s.b:s.bEnd]...)
			changed += s.aEnd - s.a + s.bEnd - s.b
			at = s.aEnd
		}
		out = append(out, a[at:]...)
		if strings.Join(out, "\n") != strings.Join(b, "\n") {
			t.Fatalf("%v -> %v: %v", a, b, diff(a, b))
		}
		if least := len(a) + len(b) - 2*lcs(a, b); changed != least {
			t.Fatalf("%v -> %v: %d lines changed, %d suffice", a, b, changed, least)
		}
	}
}

func randomLines(r *rand.Rand) []string {
	l := make([]string, r.IntN(12))
	for i := range l {
		l[i] = string(rune('a' + r.IntN(4)))
	}
	return l
}

// lcs is the length of a longest common subsequence, by the book.
func lcs(a, b []string) int {
	t := make([][]int, len(a)+1)
	for i := range t {
		t[i] = make([]int, len(b)+1)
	}
	for i := range a {
		for j := range b {
			if a[i] == b[j] {
				t[i+1][j+1] = t[i][j] + 1
			} else {
				t[i+1][j+1] = max(t[i][j+1], t[i+1][j])
			}
		}
	}
	return t[len(a)][len(b)]
}

var errnoTexts = []string{
	"Invalid argument", "No such file or directory", "Device or resource busy", "File exists", "Permission denied",
	"No such device", "Operation not permitted", "Bad file descriptor", "No such process",
}

// mutate changes one thing in lines: two lines swapped, another errno, a moved caret, or a line dropped. ok is false when
// the kind does not apply to the file.
func mutate(r *rand.Rand, lines []string, kind int) (out []string, ok bool) {
	out = append([]string(nil), lines...)
	var at []int
	for i, l := range lines {
		switch kind {
		case 0:
			if i+1 < len(lines) && l != lines[i+1] {
				at = append(at, i)
			}
		case 1:
			for _, e := range errnoTexts {
				if strings.Contains(l, e) {
					at = append(at, i)
					break
				}
			}
		case 2:
			if strings.TrimSpace(l) == "^" {
				at = append(at, i)
			}
		case 3:
			at = append(at, i)
		}
	}
	if len(at) == 0 {
		return nil, false
	}
	i := at[r.IntN(len(at))]
	switch kind {
	case 0:
		out[i], out[i+1] = out[i+1], out[i]
	case 1:
		for n, e := range errnoTexts {
			if strings.Contains(out[i], e) {
				out[i] = strings.Replace(out[i], e, errnoTexts[(n+1+r.IntN(len(errnoTexts)-1))%len(errnoTexts)], 1)
				break
			}
		}
	case 2:
		out[i] = " " + out[i]
	case 3:
		out = append(out[:i], out[i+1:]...)
	}
	return out, true
}

// TestMutations: of 200 random changes of each transcript of real Linux, at least 95 % are noticed. What is not are swaps
// of lines that differ in masked numbers alone.
func TestMutations(t *testing.T) {
	files, _ := filepath.Glob("../../scripts/conform/*.out")
	if len(files) < 12 {
		t.Fatalf("%d transcripts in scripts/conform", len(files))
	}
	truth, _ := filepath.Glob("../../../shared/oracle/truth/*.out") // as they were first recorded, where somebody has them
	files = append(files, truth...)
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		lines := splitLines(string(text))
		if open, _ := Check(string(text), string(text), nil); len(open) > 0 {
			t.Errorf("%s differs from itself", f)
		}
		masked := maskLines(string(text))
		r := rand.New(rand.NewPCG(7, uint64(len(text))))
		missed := map[string]int{}
		for n := 0; n < 200; {
			kind := r.IntN(4)
			m, ok := mutate(r, lines, kind)
			if !ok {
				continue
			}
			n++
			for i, l := range m { // only what changed is masked again
				switch {
				case i < len(lines) && l == lines[i]:
					m[i] = masked[i]
				case len(m) < len(lines) && l == lines[i+1]:
					m[i] = masked[i+1]
				default:
					m[i] = Mask(l)
				}
			}
			if len(compare(masked, m)) == 0 {
				missed[[]string{"swap", "errno", "caret", "drop"}[kind]]++
			}
		}
		total := 0
		for _, n := range missed {
			total += n
		}
		t.Logf("%s: %d of 200 missed %s", filepath.Base(f), total, fmt.Sprint(missed))
		if total > 10 || missed["errno"]+missed["caret"]+missed["drop"] > 0 {
			t.Errorf("%s: %d of 200 mutations were not noticed: %v", filepath.Base(f), total, missed)
		}
	}
}
