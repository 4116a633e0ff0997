package lang

import (
	"io"
	"slices"
	"strings"

	"github.com/chzyer/readline"
)

// Editor edits statements of one line or several (see block.go) on a terminal, with completion, history and bracketed paste.
// Sessions have one, and so has the guest's shell.
type Editor struct {
	ed     *readline.Instance
	screen io.Writer
	block  *block
	hist   *history
}

// EditorConfig says what an editor works with.
type EditorConfig struct {
	In      io.ReadCloser
	Screen  io.Writer
	Raw     bool   // false leaves the terminal's mode alone: In is not the process's own terminal
	History string // the file of the history; "" keeps none
	More    string // the prompt of a statement's further lines, at most maxMore runes
	Indent  int    // by which a Tab indents a further line that is blank so far; 0: it completes there too

	// Unfinished tells that an Enter behind src goes on to another line of the statement.
	Unfinished func(src string) bool

	// Complete gives the candidates for the text before the cursor and how many of its last bytes each begins with.
	Complete func(before string) (candidates []string, replace int)
}

// NewEditor prepares a terminal; Close leaves it.
func NewEditor(c EditorConfig) (*Editor, error) {
	in := &paste{ReadCloser: c.In}
	b := newBlock(readline.GetScreenWidth, c.More, c.Unfinished)
	b.piece = in.piece
	cfg := &readline.Config{
		Stdin: in, Stdout: rewrap{c.Screen, b}, Stderr: c.Screen,
		HistoryLimit:           historyMax,
		DisableAutoSaveHistory: true,
		InterruptPrompt:        "^C",
		EOFPrompt:              "\n",
		Listener:               b,
		Painter:                b,
		FuncFilterInputRune:    b.filter,
	}
	if !c.Raw {
		cfg.ForceUseInteractive = true
		cfg.FuncIsTerminal = func() bool { return true }
		cfg.FuncMakeRaw = func() error { return nil }
		cfg.FuncExitRaw = func() error { return nil }
		cfg.FuncGetWidth = func() int { return 120 }
		b.width = cfg.FuncGetWidth
		cfg.FuncOnWidthChanged = func(func()) {}
	}
	cfg.AutoComplete = completer{c.Complete, b}
	rl, err := readline.NewEx(cfg)
	if err != nil {
		return nil, err
	}
	b.ed = rl
	io.WriteString(c.Screen, pasteOn)
	e := &Editor{ed: rl, screen: c.Screen, block: b, hist: openHistory(c.History)}
	b.indent, b.past = c.Indent, slices.Clone(e.hist.items)
	for _, line := range e.hist.items {
		rl.SaveHistory(line)
	}
	return e, nil
}

// Read reads one statement. An ErrInterrupt of package readline is a Ctrl-C, io.EOF a Ctrl-D.
func (e *Editor) Read(prompt string) (string, error) {
	line, err := e.block.readline(prompt)
	return strings.ReplaceAll(line, joint, "\n"), err
}

// Remember puts a statement into the history.
func (e *Editor) Remember(stmt string) {
	if line := e.hist.add(stmt); line != "" {
		e.block.remember(line)
	}
}

// Close gives the terminal back.
func (e *Editor) Close() {
	io.WriteString(e.screen, pasteOff)
	go e.ed.Close() // it waits for ever when more was typed than was read
}

// completer is Tab for the editor, which wants the candidates' remainders.
type completer struct {
	candidates func(before string) ([]string, int)
	b          *block
}

func (c completer) Do(line []rune, pos int) ([][]rune, int) {
	typed, _ := plain(line[:pos], 0)
	before := strings.ReplaceAll(string(typed), joint, "\n")
	names, replace := c.candidates(before)
	var rest [][]rune
	for _, name := range names {
		rest = append(rest, []rune(name[replace:]))
	}
	return fitting(rest, replace, c.b.width()), len([]rune(before[len(before)-replace:]))
}

// fitting are the candidates that the editor can show: it divides by the number of columns that the longest leaves room for.
func fitting(rest [][]rune, prefix, width int) [][]rune {
	if len(rest) < 2 {
		return rest
	}
	return slices.DeleteFunc(rest, func(r []rune) bool { return prefix+len(r)+2 > width })
}
