package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path"
	"path/filepath"
	"strings"

	"github.com/chzyer/readline"

	"kscope/ftrace"
	"kscope/kernel"
	"kscope/kernel/user"
	"kscope/lang"
)

// shell is kscope sh: the guest's shell with the host's standard files. A script is copied to the same path in the guest, a
// relative one to below its root; without one, commands come from standard input.
func (p *program) shell() int {
	g, err := p.boot(p.opts.machine)
	if err != nil {
		fmt.Fprintf(p.stderr, "kscope: %v\n", err)
		return lang.ExitScript
	}
	argv := append([]string{"bash"}, p.opts.args...)
	streams := kernel.Streams{In: p.stdin, Out: p.stdout, Err: p.stderr}
	file, options := scriptOf(p.opts.args)
	var tty *console
	interactive := file == "" && options == "" && isTerminal(p.stdin) && isTerminal(p.stdout)
	if interactive {
		argv = append(argv, "-i")
		c, err := openConsole(g.M, p.stdin, p.stdout)
		if err != nil {
			fmt.Fprintf(p.stderr, "kscope: %v\n", err)
			return lang.ExitScript
		}
		defer c.editor.Close()
		tty, streams = c, kernel.Streams{In: c, Out: c, Err: c}
	}
	if file != "" {
		if err := copyScript(g.M, p.dir, file); err != nil {
			fmt.Fprintf(p.stderr, "kscope: %v\n", err)
			return lang.ExitScript
		}
	}
	if users, ok := kernel.PartOf[*user.Host](g.M); ok && p.opts.given["max-memory"] {
		users.SetMaxHeld(int(p.opts.maxMemory))
	}
	hintEndless(g.M, streams.Err)
	pid, err := g.M.Exec(user.ProgramPath("bash"), argv, streams)
	if err != nil {
		fmt.Fprintf(p.stderr, "kscope: %v\n", err)
		return lang.ExitScript
	}
	if tty != nil {
		tty.shell = pid
	}
	return p.attend(g.M, pid, tty)
}

// attend runs the machine until the shell has ended. Ctrl-C is SIGINT for an interactive shell's tasks, and the end of a script,
// which has no tty.
func (p *program) attend(m *kernel.Machine, pid int, tty *console) int {
	signals := make(chan os.Signal, 4)
	signal.Notify(signals, os.Interrupt)
	defer signal.Stop(signals)
	done, pressed := make(chan struct{}), make(chan struct{}, 1)
	defer close(done)
	go func() {
		for {
			select {
			case <-signals:
				m.Interrupt()
				select {
				case pressed <- struct{}{}:
				default:
				}
			case <-done:
				return
			}
		}
	}()
	const sigINT, sigKILL = 2, 9
	stuckAt := -1 // how much the terminal had been read when nothing could run
	for {
		select {
		case <-pressed:
		default:
		}
		stop := m.Run(kernel.Until{Pid: pid})
		code, exited := m.Exited(pid)
		switch {
		case exited:
			users, ok := kernel.PartOf[*user.Host](m)
			if ok && code == 128+sigKILL && users.OutOfMemory() != "" {
				fmt.Fprintf(p.stderr, "kscope: out of memory: the guest has killed %s (--max-memory=SIZE gives programs more)\n", users.OutOfMemory())
			}
			return code
		case stop.Reason == kernel.StopDeadlock && p.revive(m, stop):
			continue
		case stop.Reason == kernel.StopDeadlock && tty != nil && tty.lines != stuckAt:
			fmt.Fprintf(p.stderr, "kscope: %v\nCtrl-C ends the command\n", stop)
			stuckAt = tty.lines
			<-pressed
		case stop.Reason != kernel.StopInterrupt:
			fmt.Fprintf(p.stderr, "kscope: %v\n", &kernel.StopError{Doing: "running the shell", Stop: stop})
			if stop.Reason == kernel.StopPanic {
				return lang.ExitPanic
			}
			return lang.ExitLimit
		case tty == nil:
			return 128 + sigINT
		}
		for again := true; again; again = tty.resume() {
			if err := m.Kill(-pid, sigINT); err != nil { // the shell leads its own process group
				return 128 + sigINT
			}
		}
	}
}

// revive ends who waits for a trace in a machine where nothing can ever run again: the rest of the shell's commands may go on.
func (p *program) revive(m *kernel.Machine, stop kernel.Stop) bool {
	t, ok := ftrace.Of(m)
	if !ok || !t.EndReaders() {
		return false
	}
	fmt.Fprintf(p.stderr, "kscope: trace_pipe ends: %v\n", stop)
	return true
}

// scriptOf finds the script among the shell's arguments; options is -c or -s when one of them stands before it.
func scriptOf(args []string) (file, options string) {
	for i := 0; i < len(args); i++ {
		a := args[i]
		switch {
		case a == "-" || a == "--":
			if i+1 < len(args) {
				return args[i+1], ""
			}
			return "", ""
		case a == "" || a[0] != '-' && a[0] != '+':
			return a, ""
		case strings.HasPrefix(a, "--"):
		case strings.ContainsAny(a, "cs"):
			return "", a
		case strings.Contains(a, "o"):
			i++
		}
	}
	return "", ""
}

// copyScript copies a file of the host into the guest. One that the host does not have may be the guest's own.
func copyScript(m *kernel.Machine, dir, file string) error {
	text, err := os.ReadFile(inDir(dir, file))
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	to := path.Clean("/" + filepath.ToSlash(file))
	dir = ""
	for _, name := range strings.Split(path.Dir(to), "/") {
		if dir = path.Join(dir, "/", name); dir != "/" {
			if err := m.Mkdir(dir); err != nil && err != kernel.EEXIST {
				return fmt.Errorf("copying %s: %w", file, err)
			}
		}
	}
	if err := m.WriteFile(to, text, false); err != nil {
		return fmt.Errorf("copying %s: %w", file, err)
	}
	return nil
}

// console gives an interactive shell a line editor. What the guest has written since the last newline is the prompt, so
// that PS1, PS2 and read -p need nothing of their own.
type console struct {
	m       *kernel.Machine
	out     io.Writer
	editor  *readline.Instance
	partial []byte
	rest    []byte // of a line that was read
	shell   int    // its pid, once known
	lines   int    // how often it was read
	waits   int    // the pid of a command whose read Ctrl-C ends; 0: none
}

func openConsole(m *kernel.Machine, in *os.File, out io.Writer) (*console, error) {
	history := lang.HistoryPath(os.Getenv)
	if history != "" {
		history = filepath.Join(filepath.Dir(history), "sh_history")
		if os.MkdirAll(filepath.Dir(history), 0o700) != nil {
			history = ""
		}
	}
	editor, err := readline.NewEx(&readline.Config{Stdin: in, Stdout: out, Stderr: out, HistoryFile: history, InterruptPrompt: "^C", EOFPrompt: ""})
	return &console{m: m, out: out, editor: editor}, err
}

// resume lets who still waits behind a Ctrl-C read again, after what the signal takes to end the others; true: meanwhile there was
// another Ctrl-C.
func (c *console) resume() (again bool) {
	who := c.waits
	if who == 0 {
		return false
	}
	const handled = 1e6 // ns
	stop := c.m.Run(kernel.Until{Time: c.m.Now() + handled})
	if stop.Reason == kernel.StopInterrupt {
		return true
	}
	c.waits = 0
	if !c.m.Dead() {
		c.m.VCPU(0).RaiseIRQWork()
	}
	return false
}

func (c *console) Write(b []byte) (int, error) {
	if i := bytes.LastIndexByte(b, '\n'); i >= 0 {
		c.partial = append([]byte(nil), b[i+1:]...)
	} else {
		c.partial = append(c.partial, b...)
	}
	return c.out.Write(b)
}

func (c *console) Read(b []byte) (int, error) {
	reader := c.m.Running().CurrentPid()
	if reader == c.waits {
		return 0, kernel.EAGAIN
	}
	c.lines++
	if len(c.rest) == 0 {
		c.editor.SetPrompt(string(c.partial))
		line, err := c.editor.Readline()
		c.partial = nil
		switch {
		case errors.Is(err, readline.ErrInterrupt) && c.shell != 0 && reader != c.shell:
			c.waits = reader
			c.m.Interrupt()
			return 0, kernel.EAGAIN // it sleeps until the signal comes
		case errors.Is(err, readline.ErrInterrupt):
			return 0, err // EIO, which the shell takes for the end of the command, not of the input
		case err != nil:
			return 0, io.EOF
		}
		c.rest = []byte(line + "\n")
	}
	n := copy(b, c.rest)
	c.rest = c.rest[n:]
	return n, nil
}
