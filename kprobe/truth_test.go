package kprobe

import (
	"errors"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"kscope/kernel"
)

// differs are the rows of d-kprobe-errors.out that this guest answers differently, with the reason.
var differs = map[string]string{
	"45": "the guest's handler of int3 has another name",
	"50": "the guest has no t_show",
	"51": "the guest has no t_show",
}

// row is one command of the transcript, with what followed it.
type row struct{ num, command, answer string }

// rows reads a transcript of d-kprobe-errors.sh up to its shell part. Set-up commands are rows without a number.
func rows(t testing.TB) (out []row) {
	text, err := os.ReadFile("testdata/d-kprobe-errors.out")
	if err != nil {
		t.Fatal(err)
	}
	head := regexp.MustCompile(`^\[(\d+)\] > (.*)$`)
	for _, line := range strings.Split(string(text), "\n") {
		switch m := head.FindStringSubmatch(line); {
		case m != nil:
			out = append(out, row{num: m[1], command: m[2]})
		case strings.HasPrefix(line, "= "):
			out = append(out, row{command: line[2:]})
		case strings.HasPrefix(line, "--- "):
			return out
		case strings.HasPrefix(line, "#"):
		case len(out) > 0:
			out[len(out)-1].answer += line + "\n"
		}
	}
	return out
}

var (
	stamp = regexp.MustCompile(`\[ *\d+\.\d{6}\]`)
	hash  = regexp.MustCompile(`0x00000000[0-9a-f]{8}`)
)

func norm(s string) string {
	return hash.ReplaceAllString(stamp.ReplaceAllString(s, "[T]"), "0xHASH")
}

// answer runs a command as the script does and says what the script would print.
func (k *Kprobes) answer(t *testing.T, command string) string {
	must(t, k.t.WriteFile("error_log", "", false))
	before := k.EventsText()
	var s strings.Builder
	if err := k.t.WriteFile("kprobe_events", command+"\n", true); err != nil {
		var errno kernel.Errno
		if !errors.As(err, &errno) {
			t.Fatal(err)
		}
		fmt.Fprintf(&s, "    %v\n", errno)
	}
	log, err := k.t.ReadFile("error_log")
	must(t, err)
	s.WriteString(log)
	after := k.EventsText()
	if before == after {
		return s.String()
	}
	s.WriteString("    ACCEPTED:\n")
	for _, l := range strings.SplitAfter(before, "\n") {
		if l == "" && before != "" {
			continue
		}
		if l == "" {
			s.WriteString("< \n") // diff of an empty echo
		} else if !strings.Contains(after, l) {
			s.WriteString("< " + l)
		}
	}
	for _, l := range strings.SplitAfter(after, "\n") {
		if l != "" && !strings.Contains(before, l) {
			s.WriteString("> " + l)
		}
	}
	return s.String()
}

// TestTruth holds the parser against every row of the real kernel's transcript.
func TestTruth(t *testing.T) {
	k := boot(t, kernel.Config{})
	keep, same := false, 0
	for _, r := range rows(t) {
		if r.num == "" {
			keep = strings.HasPrefix(r.command, "keep=1")
			if _, line, ok := strings.Cut(r.command, "echo '"); ok {
				line, _, _ = strings.Cut(line, "'")
				must(t, k.t.WriteFile("kprobe_events", line+"\n", false))
			} else {
				must(t, k.t.WriteFile("kprobe_events", "\n", false))
			}
			continue
		}
		got, want := norm(k.answer(t, r.command)), norm(r.answer)
		switch why := differs[r.num]; {
		case got == want && why != "":
			t.Errorf("[%s] %s: is as on Linux now: take the row out of differs (%s)", r.num, r.command, why)
		case got == want:
			same++
		case why == "":
			t.Errorf("[%s] > %s\n%swant\n%s", r.num, r.command, got, want)
		}
		if !keep {
			must(t, k.t.WriteFile("kprobe_events", "\n", false))
		}
	}
	t.Logf("%d rows are Linux's, %d differ with a reason", same, len(differs))
}
