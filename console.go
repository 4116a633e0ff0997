package main

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/chzyer/readline"

	"kscope/builtins"
	"kscope/kernel"
	"kscope/kernel/user"
	"kscope/kernel/user/sh"
	"kscope/lang"
)

// console is the terminal of an interactive shell of the guest. At the shell's prompt it has the line editor of sessions; what
// any other program reads, or the shell by its command read, is the host's terminal as it is, with its Ctrl-D and Ctrl-C.
//
// A read that finds nothing sleeps (EAGAIN) and stops the machine: attend reads the terminal between two runs, so that Tab may
// look into a copy of the machine, and raises an irq_work for who sleeps.
//
// What the guest has written since the last newline is the prompt, so that PS1, PS2 and read -p need nothing of their own.
type console struct {
	guest   *builtins.Guest
	m       *kernel.Machine
	out     io.Writer
	shell   sh.Terminal
	keys    *keyboard
	editor  *lang.Editor
	partial []byte
	rest    []byte // of what was read
	end     error  // what the next read of process asked ends with, when rest is empty
	asked   int    // the pid of a read that sleeps; 0: none
	lines   int    // how often the terminal was read
	revived int    // how often since then a trace ended because nothing could run
	typed   string // the statement so far

	killing bool   // a Ctrl-C is being sent
	wake    uint64 // who still waits behind a Ctrl-C reads again then; until then the shell alone does. 0: there was none
}

func openConsole(g *builtins.Guest, in *os.File, out io.Writer) (*console, error) {
	history := lang.HistoryPath(os.Getenv)
	if history != "" {
		history = filepath.Join(filepath.Dir(history), "sh_history")
	}
	c := &console{guest: g, m: g.M, out: out, keys: newKeyboard(in, out)}
	if users, ok := kernel.PartOf[*user.Host](g.M); ok {
		sh.InstallOn(users, &c.shell)
	}
	var err error
	c.editor, err = lang.NewEditor(lang.EditorConfig{
		In: c.keys, Screen: out, Raw: true, History: history, More: "> ", Unfinished: sh.Unfinished,
		Complete: func(before string) ([]string, int) {
			return c.shell.Complete(before, sh.Offers{List: c.list, Words: g.TraceWords})
		},
	})
	return c, err
}

// streams are the shell's. In a copy of the machine, as Tab makes it, nobody reads or writes the terminal.
func (c *console) streams() kernel.Streams {
	return kernel.Streams{In: c, Out: c, Err: c, Fork: func() kernel.Streams { return kernel.Streams{In: silent{}} }}
}

// fewKeys is how much of a line must fit beside what was written before the prompt.
const fewKeys = 20

type silent struct{}

func (silent) Read([]byte) (int, error) { return 0, kernel.EAGAIN }

// list lists a directory in a copy of the machine: Tab must not move the machine itself.
func (c *console) list(dir string) []kernel.DirEntry {
	m := c.m.Copy()
	if users, ok := kernel.PartOf[*user.Host](m); ok {
		defer users.Close()
	}
	entries, err := m.ListDir(dir)
	if err != nil {
		return nil
	}
	return append(make([]kernel.DirEntry, 0, 1), entries...) // empty is not absent
}

func (c *console) Write(b []byte) (int, error) {
	if len(c.rest) > 0 && c.shell.IsPrompt(string(b)) {
		return len(b), nil // of lines that stand there already
	}
	if c.shell.IsPrompt(string(b)) && len(c.partial) > 0 && len(c.partial)+len(b)+fewKeys > readline.GetScreenWidth() {
		io.WriteString(c.out, "\n") // the editor draws its prompt again with each key: what is before it has to leave room
		c.partial = nil
	}
	c.shown(b)
	return c.out.Write(b)
}

// shown notes what stands on the screen's last line.
func (c *console) shown(b []byte) {
	if i := bytes.LastIndexByte(b, '\n'); i >= 0 {
		c.partial = append([]byte(nil), b[i+1:]...)
	} else {
		c.partial = append(c.partial, b...)
	}
}

func (c *console) Read(b []byte) (int, error) {
	reader := c.m.Running().CurrentPid()
	if len(c.rest) > 0 {
		n := copy(b, c.rest)
		c.rest = c.rest[n:]
		return n, nil
	}
	if err := c.end; err != nil {
		c.end = nil
		return 0, err
	}
	if c.asked = reader; !c.killing {
		c.m.Interrupt()
	}
	return 0, kernel.EAGAIN
}

// wanted tells that the terminal is to be read now.
func (c *console) wanted() bool { return c.asked != 0 && (c.wake == 0 || c.prompts()) }

// kill sends a signal to all tasks of the shell, which leads its own process group. Some may live on and still wait for the
// terminal: until tells when the others have ended, and again lets them read.
func (c *console) kill(shell, sig int) error {
	const handled = 1e6 // ns
	c.asked, c.killing = 0, true
	err := c.m.Kill(-shell, sig)
	c.killing, c.wake = false, c.m.Now()+handled
	return err
}

// revivals counts: a loop around a read of an empty trace would go on for ever.
func (c *console) revivals() int {
	c.revived++
	return c.revived
}

func (c *console) until() uint64 {
	if c == nil {
		return 0
	}
	return c.wake
}

func (c *console) again() {
	c.asked, c.wake = 0, 0
	c.m.VCPU(0).RaiseIRQWork()
}

// serve reads the terminal for the process that asked; false: Ctrl-C came instead, and is a signal.
func (c *console) serve(pressed <-chan struct{}) bool {
	c.lines++
	c.revived = 0
	if c.prompts() {
		c.edit()
	} else if c.rest, c.end = c.keys.line(pressed); c.end == errPressed {
		c.end = nil
		return false
	}
	c.shown(c.rest)
	c.asked = 0
	c.m.VCPU(0).RaiseIRQWork()
	return true
}

// prompts tells that the shell asked, at its prompt.
func (c *console) prompts() bool {
	pid, ok := c.shell.Asks()
	return ok && pid == c.asked
}

// edit reads a statement, or another line of one, by the editor.
func (c *console) edit() {
	c.keys.raw.Store(true)
	line, err := c.editor.Read(string(c.partial))
	c.keys.raw.Store(false)
	if c.shell.First() {
		c.typed = ""
	}
	switch {
	case errors.Is(err, readline.ErrInterrupt):
		c.shown([]byte{'\n'})
		c.end = err // EIO, which the shell takes for the end of the command, not of the input
	case err != nil:
		c.shown([]byte{'\n'})
		c.end = io.EOF
	default:
		c.rest = []byte(line + "\n")
		if c.typed += "\n" + line; strings.TrimSpace(line) != "" {
			c.editor.Remember(strings.Trim(c.typed, "\n"))
		}
	}
}
