package lang

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// Explain is a difference, headed by a line that says how the first differing line differs when it is an event of a trace: a
// time, a CPU, a task, or an event that came or went. The first difference is the cause more often than not; the others follow.
func Explain(want, got string) string { return explainAt(want, got, 0) }

// explainAt is Explain of texts that stand below so many other lines of their file.
func explainAt(want, got string, above int) string {
	d := diffAt(want, got, above)
	if d == "" {
		return ""
	}
	a, b := lines(want), lines(got)
	i := 0
	for i < len(a) && i < len(b) && a[i] == b[i] {
		i++
	}
	text := explainLine(a, b, i)
	if text == "" {
		return d
	}
	return fmt.Sprintf("first difference, line %d: %s\n%s", above+i+1, text, d)
}

// traceLine is an event as the trace prints it.
type traceLine struct {
	comm, pid, cpu, flags string
	ns                    int64
	text                  string
}

var (
	eventRE = regexp.MustCompile(`^\s*(\S.*)-(\d+)\s+(?:\([-\d ]+\)\s+)?\[(\d+)\]\s+(?:(\S{4,5})\s+)?(\d+)\.(\d+): (.*)$`)
	graphRE = regexp.MustCompile(`^\s*(\d+)\)\s+(?:[^|]*\|)?\s*([!+#*@$]? ?[\d.]+ us)?\s*\|(\s*)(\S.*)$`)
)

func parseTraceLine(line string) (traceLine, bool) {
	m := eventRE.FindStringSubmatch(strings.TrimRight(line, "\n"))
	if m == nil {
		return traceLine{}, false
	}
	s, _ := strconv.ParseInt(m[5], 10, 64)
	frac, _ := strconv.ParseInt((m[6] + "000000000")[:9], 10, 64)
	return traceLine{m[1], m[2], m[3], m[4], s*1e9 + frac, m[7]}, true
}

// explainLine compares the lines at i; "" when nothing can be said about them.
func explainLine(a, b []string, i int) string {
	at := func(l []string) string {
		if i < len(l) {
			return l[i]
		}
		return ""
	}
	if g := explainGraph(at(a), at(b)); g != "" {
		return g
	}
	want, ok1 := parseTraceLine(at(a))
	got, ok2 := parseTraceLine(at(b))
	switch {
	case ok1 && at(b) == "":
		return "the event is missing: " + want.String()
	case ok2 && at(a) == "":
		return "an event more: " + got.String()
	case !ok1 || !ok2:
		return ""
	}
	if want.text != got.text || want.pid != got.pid {
		if n := ahead(a, i, got); n > 0 {
			return fmt.Sprintf("%s missing before %s, the first is %s", plural(n, "event"), got, want)
		}
		if n := ahead(b, i, want); n > 0 {
			return fmt.Sprintf("%s more before %s, the first is %s", plural(n, "event"), want, got)
		}
	}
	var parts []string
	for _, f := range []struct{ name, want, got string }{
		{"task", want.comm + "-" + want.pid, got.comm + "-" + got.pid}, {"CPU", want.cpu, got.cpu}, {"flags", want.flags, got.flags}, {"event", want.text, got.text},
	} {
		if f.want != f.got {
			parts = append(parts, fmt.Sprintf("%s %s instead of %s", f.name, f.got, f.want))
		}
	}
	if d := got.ns - want.ns; d > 0 {
		parts = append(parts, fmt.Sprintf("%d.%03d us later", d/1000, d%1000))
	} else if d < 0 {
		parts = append(parts, fmt.Sprintf("%d.%03d us earlier", -d/1000, -d%1000))
	}
	if len(parts) == 0 {
		return ""
	}
	return strings.Join(parts, ", ") + " (" + want.String() + ")"
}

func (t traceLine) String() string {
	return fmt.Sprintf("%s-%s cpu%s %d.%06d %s", t.comm, t.pid, strings.TrimLeft(t.cpu[:len(t.cpu)-1], "0")+t.cpu[len(t.cpu)-1:], t.ns/1e9, t.ns%1e9/1e3, t.text)
}

// ahead tells how many lines behind i the event x comes in l, 0 if not soon.
func ahead(l []string, i int, x traceLine) int {
	const most = 200
	for j := i + 1; j < len(l) && j < i+most; j++ {
		if y, ok := parseTraceLine(l[j]); ok && y.text == x.text && y.pid == x.pid && y.cpu == x.cpu {
			return j - i
		}
	}
	return 0
}

// explainGraph compares two lines of function_graph.
func explainGraph(want, got string) string {
	m, n := graphRE.FindStringSubmatch(strings.TrimRight(want, "\n")), graphRE.FindStringSubmatch(strings.TrimRight(got, "\n"))
	if m == nil || n == nil {
		return ""
	}
	switch {
	case m[4] != n[4]:
		return fmt.Sprintf("%s instead of %s", n[4], m[4])
	case m[1] != n[1]:
		return fmt.Sprintf("%s on CPU %s instead of %s", m[4], n[1], m[1])
	case len(m[3]) != len(n[3]):
		return fmt.Sprintf("%s at depth %d instead of %d", m[4], len(n[3])/2, len(m[3])/2)
	case m[2] != n[2]:
		return fmt.Sprintf("%s took %s instead of %s", m[4], strings.TrimSpace(n[2]), strings.TrimSpace(m[2]))
	}
	return ""
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
