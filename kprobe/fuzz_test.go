package kprobe

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"kscope/kernel"
)

// grammar makes lines of kprobe_events at random, most of them right.
type grammar struct{ *rand.Rand }

func (g grammar) one(list ...string) string { return list[g.IntN(len(list))] }

func (g grammar) num() string {
	return g.one("0", "1", "8", "0x10", "010", "4096", "+4", "-1", "0x", "99999999999999999999", "18446744073709551615", "")
}

func (g grammar) fetch(depth int) string {
	if depth > 0 && g.IntN(2) == 0 {
		return g.one("+", "-", "+u", "-u", "") + g.num() + g.one("(", "(", "(", "((", "") + g.fetch(depth-1) + g.one(")", ")", ")", "))", "")
	}
	return g.one("%di", "%ax", "%ip", "%flags", "%x0", "%", "$retval", "$stack", "$stack3", "$stack4096", "$arg1", "$arg0", "$arg9", "$comm", "$COMM", "$nosuch",
		"@jiffies", "@jiffies+4", "@0xffffffff81000000", "@+5", "@", "\\5", "\\-1", "\\x", "\\\"text\"", "\\\"open", "dfd", "op->open_flag", "op->nosuch", "pathname->name", "file->f_path.dentry",
		"op.x", "op-x", "$arg*", "")
}

func (g grammar) arg() string {
	name := g.one("", "", "a=", "b=", "a=", "a_very_long_name_of_an_argument_indeed=", "1x=", "=", "common_pid=", "x.y=")
	return name + g.fetch(3) + g.one("", "", ":u8", ":s64", ":x32", ":string", ":ustring", ":symbol", ":symstr", ":b4@4/32", ":b33@0/32", ":b0@0/8", ":u7", ":", ":x64[4]", ":string[2]",
		":u8[0]", ":u8[65]", ":u8[", ":u8[1]x")
}

func (g grammar) line() string {
	var s strings.Builder
	s.WriteString(g.one("p", "p", "p", "r", "r8", "r0", "r5000", "p5", "x"))
	s.WriteString(g.one("", "", ":e", ":g/e", ":g/", ":/e", ":", ":1e", ":g.e", ":g/e/f", ":a-b"))
	s.WriteString(" " + g.one("do_filp_open", "do_filp_open", "vfs_read", "do_filp_open+5", "do_filp_open+0x5", "do_filp_open%return", "vfs_read%retur", "nosuch", "0xffffffff81000000",
		"ext4:foo", "vfs_read-4", "vfs_read+x", "ftrace_caller", "/bin/cat:0x10", ""))
	for range g.IntN(5) {
		s.WriteString(g.one(" ", " ", "  ", "\t") + g.arg())
	}
	return s.String()
}

// fuzzLine: a line that is taken lists as a line that is taken, makes the same programs and lists the same; an error's caret is within
// the command or just behind it.
func fuzzLine(f *testing.F, features string) {
	for _, r := range rows(f) {
		f.Add(r.command)
	}
	g := grammar{rand.New(rand.NewPCG(1, 2))}
	for range 600 {
		f.Add(g.line())
	}
	base := boot(f, kernel.Config{Features: features})
	f.Fuzz(func(t *testing.T, line string) {
		words := fields(line)
		if len(words) == 0 || strings.ContainsAny(line, "\n#\x00") || line[0] == '-' {
			return
		}
		l, err := base.parseLine(words)
		if err != nil {
			if err.Pos < 0 || err.Pos > len(err.Command) || err.Err == 0 {
				t.Fatalf("%q: caret at %d: %v", line, err.Pos, err)
			}
			return
		}
		if l.Symbol == "" || !isName(l.Name) {
			return // listed as a hash; or named by Linux, with no check, after a symbol of a module that is not there
		}
		e := &Event{Line: l, ret: &Ret{MaxActive: max(l.MaxActive, minActive)}, placed: true}
		e.lay()
		again, err := base.parseLine(fields(e.Text()))
		if err != nil {
			t.Fatalf("%q is listed as %q: %v", line, e.Text(), err)
		}
		n := &Event{Line: again, ret: e.ret, placed: true}
		if n.lay(); n.Text() != e.Text() {
			t.Fatalf("%q is listed as %q and then as %q", line, e.Text(), n.Text())
		}
		for i := range l.Args {
			if !reflect.DeepEqual(l.Args[i], again.Args[i]) {
				t.Fatalf("%q: argument %d is %+v, and as listed %+v", line, i, *l.Args[i], *again.Args[i])
			}
		}
		if f := e.format(1); f.Print == "" || strings.Count(f.Print, "REC->")+strings.Count(f.Print, "__get_str(") < len(l.Args)+1 {
			t.Fatalf("%q: %s", line, f.Print)
		}
	})
}

func FuzzLine(f *testing.F) { fuzzLine(f, "") }

// FuzzByName is FuzzLine with arguments by name.
func FuzzByName(f *testing.F) { fuzzLine(f, featureProbeArgs) }

// TestGrammar: the generator of lines reaches most messages and makes lines that are taken.
func TestGrammar(t *testing.T) {
	k := boot(t, kernel.Config{Features: featureProbeArgs})
	g := grammar{rand.New(rand.NewPCG(3, 4))}
	taken, said := 0, map[string]bool{}
	for range 20_000 {
		words := fields(g.line())
		if len(words) == 0 {
			continue
		}
		if _, err := k.parseLine(words); err == nil {
			taken++
		} else {
			said[err.Msg] = true
		}
	}
	if len(said) < 30 || taken < 500 {
		t.Errorf("%d lines are taken, %d messages: %v", taken, len(said), fmt.Sprint(said))
	}
	t.Logf("%d lines are taken, %d messages", taken, len(said))
}
