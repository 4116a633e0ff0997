package lang

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"go.starlark.net/starlark"
)

// terminal is an in-memory terminal: what is typed goes in, what is shown accumulates.
type terminal struct {
	io.Reader
	w   *io.PipeWriter
	mu  sync.Mutex
	out bytes.Buffer
	n   int // bytes shown in all
}

func newTerminal() *terminal {
	r, w := io.Pipe()
	return &terminal{Reader: r, w: w}
}

func (t *terminal) Close() error { return nil }

func (t *terminal) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.n += len(p)
	return t.out.Write(p)
}

func (t *terminal) shown() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.out.String()
}

// wait waits until text is shown and forgets everything up to it.
func (t *terminal) wait(tb testing.TB, text string) {
	tb.Helper()
	for range 1000 {
		t.mu.Lock()
		i := strings.Index(t.out.String(), text)
		if i >= 0 {
			t.out.Next(i + len(text))
		}
		t.mu.Unlock()
		if i >= 0 {
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
	tb.Fatalf("never showed %q; the rest is %q", text, t.shown())
}

func (t *terminal) typ(s string) { io.WriteString(t.w, s) }

// session starts a session on an in-memory terminal.
func session(t *testing.T, cfg Config, signals chan os.Signal, hist string) (*terminal, chan int) {
	term := newTerminal()
	sink := &Sink{W: term}
	cfg.Stdout = sink
	s := &Session{Host: New(cfg), In: term, Out: sink, Term: term, Tty: true, Banner: "welcome\n", History: hist, Signals: signals}
	done := make(chan int)
	go func() { done <- s.Run() }()
	return term, done
}

func TestSessionOnATerminal(t *testing.T) {
	hist := filepath.Join(t.TempDir(), "state", "kscope", "history")
	strs := func(p Place) []string {
		if p.Call == "help" && p.Arg == 0 {
			return []string{"vfs_read", "printf"}
		}
		return nil
	}
	term, done := session(t, Config{Strings: strs}, nil, hist)
	term.wait(t, "welcome")
	term.wait(t, ">>> ")
	term.typ("6 * 7\r")
	term.wait(t, "\n42\n")
	term.typ("def f(x):\r")
	term.wait(t, "... ")
	term.typ("    return x + _\r")
	term.wait(t, "... ")
	term.typ("\r")
	term.wait(t, ">>> ")
	term.typ("f(1)\r")
	term.wait(t, "\n43\n")
	term.typ("help(\"vf\t")
	term.wait(t, "vfs_read")
	term.typ("\x03") // Ctrl-C drops the line
	term.wait(t, ">>> ")
	term.typ("\x10\x10\r") // up, up: the whole definition again
	term.wait(t, joint)
	term.wait(t, ">>> ")
	term.typ("f(\r")
	term.wait(t, "... ")
	term.typ("\r") // an empty line leaves an open bracket
	term.wait(t, "error: got end of file")
	term.wait(t, ">>> ")
	term.typ("f(2)\r")
	term.wait(t, "\n45\n")
	term.typ("\x04")
	if status := <-done; status != ExitOK {
		t.Errorf("status %d", status)
	}
	data, err := os.ReadFile(hist)
	want := "6 * 7\ndef f(x):" + joint + "    return x + _\nf(1)\ndef f(x):" + joint + "    return x + _\nf(\nf(2)\n"
	if err != nil || string(data) != want {
		t.Errorf("history: %v\n%s", err, Diff(want, string(data)))
	}
}

// The first Ctrl-C stops what the modules run and keeps the session; one with nothing running cancels the statement.
func TestSessionInterrupt(t *testing.T) {
	signals := make(chan os.Signal)
	running := make(chan bool, 1)
	stop := make(chan bool)
	tables := []Table{{Title: "test", Rows: []Row{{Name: "guest", Sig: "()", Doc: "Runs until stopped.", Fn: func(*starlark.Thread, *starlark.Builtin, starlark.Tuple, []starlark.Tuple) (starlark.Value, error) {
		running <- true
		<-stop
		return starlark.String("stopped"), nil
	}}}}}
	interrupt := func() bool {
		select {
		case <-running:
			stop <- true
			return true
		default:
			return false
		}
	}
	term, done := session(t, Config{Tables: tables, Interrupt: interrupt}, signals, "")
	term.wait(t, ">>> ")
	term.typ("x = guest(); print(x, 'and on')\r")
	for len(running) == 0 {
		time.Sleep(time.Millisecond)
	}
	signals <- os.Interrupt
	term.wait(t, "stopped and on")
	term.typ("print('go')\r")
	term.wait(t, "go\n")
	term.typ("while True: pass\r\r")
	term.wait(t, "... ")
	signals <- os.Interrupt
	term.wait(t, "error: interrupted")
	term.typ("x\r")
	term.wait(t, "\"stopped\"")
	term.typ("\x04")
	<-done
}

// Ctrl-C ends the script that a session begins with, and the prompt comes.
func TestSessionFileInterrupt(t *testing.T) {
	file := filepath.Join(t.TempDir(), "a.star")
	os.WriteFile(file, []byte("begun()\nwhile True: pass\n"), 0o644)
	signals, begun := make(chan os.Signal), make(chan bool)
	tables := []Table{{Title: "test", Rows: []Row{{Name: "begun", Sig: "()", Doc: "Tells the test.", Fn: func(*starlark.Thread, *starlark.Builtin, starlark.Tuple, []starlark.Tuple) (starlark.Value, error) {
		close(begun)
		return starlark.None, nil
	}}}}}
	go func() {
		<-begun
		signals <- os.Interrupt
	}()
	var out strings.Builder
	s := &Session{Host: New(Config{Tables: tables, Stdout: &out}), In: io.NopCloser(strings.NewReader("40 + 2\n")), Out: &out, Signals: signals}
	status := s.Run(file)
	if got := out.String(); status != ExitScript || !strings.HasPrefix(got, "error: interrupted\n") || !strings.HasSuffix(got, "^\n42\n") {
		t.Errorf("status %d, %s", status, got)
	}
}

// Of a line that no screen has room for, the part around the caret is shown, in whole characters.
func TestExcerpt(t *testing.T) {
	long := strings.Repeat("é", 5000)
	for _, c := range []struct{ line, word string }{{"x = 1", "="}, {"@" + long, "@"}, {long + "@" + long, "@"}, {"a" + long + "@", "@"}} {
		line, col := excerpt(c.line, strings.Index(c.line, c.word))
		if !strings.HasPrefix(line[col:], c.word) || len(line) > 410 || !utf8.ValidString(line) {
			t.Errorf("excerpt is %q, %d", line, col)
		}
	}
	if line, col := excerpt(long, len(long)); col != len(line) {
		t.Errorf("at its end: %d of %d", col, len(line))
	}
}

// A home directory that is missing, or a file, must not matter.
func TestHistoryNowhere(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	os.WriteFile(file, nil, 0o644)
	for _, env := range []map[string]string{{}, {"HOME": file}, {"XDG_STATE_HOME": file}} {
		h := openHistory(HistoryPath(func(k string) string { return env[k] }))
		if got := h.add("def f():\n  x\n"); got != "def f():"+joint+"  x" {
			t.Errorf("%v: %q", env, got)
		}
	}
	if got := HistoryPath(func(string) string { return "" }); got != "" {
		t.Errorf("no home: %q", got)
	}
}

func TestComplete(t *testing.T) {
	h := New(Config{Strings: func(p Place) []string {
		return []string{p.Call + "/" + p.Key + "/" + p.Prefix, p.Prefix + "x"}
	}})
	globals := starlark.StringDict{}
	for k, v := range h.env {
		globals[k] = v
	}
	for _, c := range []struct {
		before, want string
		n            int
	}{
		{"prin", "print( printf(", 4},
		{"x = tab", "table(", 3},
		{"json.enc", "encode( encode_indent(", 3},
		{"flag.", "arg( args bool( duration( error( int( string(", 0},
		{"fla", "flag.", 3},
		{"table(rows, co", "cols =  continue", 2},
		{"whi", "while", 3},
		{"nothing.x", "", 0},
		{"help('pri", "prix", 3},
		{"f(1, key = \"ab", "abx", 2},
		{"f(1)", "", 0},
	} {
		got, n := h.Complete(c.before, globals)
		if strings.Join(got, " ") != c.want || n != c.n {
			t.Errorf("%q: %q %d, want %q %d", c.before, got, n, c.want, c.n)
		}
	}
	var got Place
	h.cfg.Strings = func(p Place) []string { got = p; return nil }
	h.Complete("kernel.exec(\"cat\", [\"/etc\", '/us", nil)
	if want := (Place{Call: "kernel.exec", Arg: 1, Prefix: "/us"}); got != want {
		t.Errorf("list argument: %+v", got)
	}
	h.Complete("tracer.filter('a', mode = 's", nil)
	if want := (Place{Call: "tracer.filter", Arg: 1, Key: "mode", Prefix: "s"}); got != want {
		t.Errorf("keyword: %+v", got)
	}
}
