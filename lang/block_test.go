package lang

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"
)

// Fillers put each line of a statement on a row of its own, and go again.
func TestPadding(t *testing.T) {
	b := newBlock(nil, promptMore, unfinished)
	b.first = len(promptFirst)
	for _, src := range []string{"", "1", "for x in y:\n    f(x)", "a\n\nb", "x = [\n1,\n2]\n", strings.Repeat("w", 90) + "\n" + strings.Repeat("v", 36) + "\n", strings.Repeat("u", 35) + "\nq"} {
		const width = 40
		line := []rune(strings.ReplaceAll(src, "\n", joint))
		for pos := range len(line) + 1 {
			out, at := b.padded(line, pos, width)
			if back, p := plain(out, at); string(back) != string(line) || p != pos {
				t.Fatalf("%q at %d: back came %q at %d", src, pos, string(back), p)
			}
			shown := promptFirst + string(b.painted(out))
			want := ""
			rows := strings.Split(src, "\n")
			for i, row := range rows {
				row = map[bool]string{true: promptFirst, false: promptMore}[i == 0] + row
				if n := len(row) + 1; i < len(rows)-1 { // the joint takes a cell, too
					row += strings.Repeat(" ", 1+(width-n%width)%width)
				}
				want += row
			}
			if shown != want {
				t.Fatalf("%q:\n got %q\nwant %q", src, shown, want)
			}
		}
	}
}

func TestUnfinished(t *testing.T) {
	for src, want := range map[string]bool{
		"": false, "1": false, "# def": false, "%cmd [": false, "def f():": true, "def f():\n  1": true, "def f():\n  1\n": false, "x = [": true, "x = [\n": false,
		"x = [1]": false, "x = '''a\n": true, "x = '''a\n\n'''": false, "1 + \\": true, "if x: y": true, "if x: y\n": false,
	} {
		if got := unfinished(src); got != want {
			t.Errorf("%q: %v", src, got)
		}
	}
}

// A statement is edited as the lines that it has: up and down within it, joined by a backspace, split by an Enter.
func TestBlockEditing(t *testing.T) {
	const up, down, left = "\x1b[A", "\x1b[B", "\x1b[D"
	for _, c := range []struct{ typ, want string }{
		{"x = [\r1,\r2]\r", "[1, 2]"},
		{"x = [\r1,\r2]" + up + "\x0510," + down + "\r", "[1, 10, 2]"}, // ^E, more, and down to the last line
		{"x = [\r7\x7f\x7f8]\r", "[8]"},                                // backspace joins
		{"x = [\r7]" + "\x01" + left + "1, " + down + "\r", "[1, 7]"},  // from a line's begin to the end of the line before
		{"x = [\r7]\r\x10" + left + ", 9" + "\r", "[7, 9]"},            // recalled, changed, run
		{"x = [\r7]\x15" + "5]\r", "[5]"},                              // ^U kills this line only
		{"def x():\r  return 1\r\r", "<function x>"},
		{"x = [\r\t7,\r\t\t\x7f8]\r", "[7, 8]"}, // Tab indents, backspace takes it back
		{"def x():\r\treturn 1\r\rx = x()\r", "1"},
		{"x = [\r7]\rx = 8\r\x127]\r", "[7]"},                // ^R finds it, Enter runs it
		{"x = 71\rx = 72\rx = 8\r\x12x = 7\x12\r", "71"},     // the one before that
		{"x = 71\rx = 72\rx = 8\r\x12x = 7\x12\x13\r", "72"}, // and back
		{"x = 71\rx = 8\r\x12nothing\x07x = 9\r", "9"},       // ^G leaves what was typed
		{"x = 71\rx = 8\rx = \x12nothing\x0710\r", "10"},
		{"x = 71\rx = 8\r\x12= 7\x05 + 1\r", "72"}, // ^E ends it, to edit
		{"x = 71\rx = 8\r\x12= 9\x7f7\r", "71"},    // another letter
		{"x = 71\rx = 8\r\x12= 7\x03x = 11\r", "11"},
	} {
		term, done := session(t, Config{}, nil, "")
		term.wait(t, promptFirst)
		for _, key := range strings.SplitAfter(c.typ, "\r") {
			term.typ(key)
		}
		term.typ("\rprint('x is', x)\r")
		term.wait(t, "x is "+c.want)
		term.typ("\x04")
		<-done
	}
}

// Whatever keys are pressed, the session neither panics nor hangs, and Ctrl-C, Ctrl-D still leave it.
func TestRandomKeys(t *testing.T) {
	keys := []string{
		"\x1b[A", "\x1b[B", "\x1b[C", "\x1b[D", "\x1b[1~", "\x1b[4~", "\x1b[3~", "\x1bb", "\x1bf", "\x1bd", "\x1b\x7f", "\x1b", "\x01", "\x02", "\x03", "\x05", "\x06", "\x08", "\x0b",
		"\x0c", "\x0e", "\x10", "\x14", "\x15", "\x17", "\x19", "\x12", "\x13", "\x07", "\t", "\t\t", "\r", "\r", "\n", "\x7f", "\x7f", joint, string(filler), "é", "漢", "\x00",
		"x", "=", "(", ")", "[", "]", "'", "\"", "def f():", "  ", "return 1", "for i in range(3):", "f(", "%c", "?", "print", "json.", "1 + 1", ":", "#", "\\",
		pasteBegin + "if 1:\n\n\tprint(2)\n" + pasteEnd, pasteBegin, pasteEnd,
	}
	for seed := range uint64(30) {
		rng := rand.New(rand.NewPCG(seed, 3))
		term, done := session(t, Config{MaxSteps: 5000}, nil, "")
		go func() { // nobody reads what is shown
			for range 300 {
				term.typ(keys[rng.IntN(len(keys))])
			}
			for range 200 {
				term.typ(pasteEnd + "\x07\x03\x04")
				time.Sleep(5 * time.Millisecond)
			}
		}()
		select {
		case <-done:
		case <-time.After(20 * time.Second):
			t.Fatalf("seed %d: the session does not end; it has shown %q", seed, term.shown()[max(0, len(term.shown())-300):])
		}
	}
}
