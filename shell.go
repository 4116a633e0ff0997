package main

import (
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path"
	"path/filepath"
	"strings"

	"kscope/ftrace"
	"kscope/kernel"
	"kscope/kernel/user"
	"kscope/lang"
)

const shellUsage = `usage: kscope [flags] sh [-eufnvx] [-o option] [-c text [name [arg]...] | -s | file [arg]...]
runs a script of the host, or a session, in the guest's shell: bash 5.2's language, with the guest's commands and files.
What it reads and writes are the host's standard files. In a session: help, help cd, ls /usr/bin; tracefs is /sys/kernel/tracing.
`

// shell is kscope sh: the guest's shell with the host's standard files. A script is copied to the same path in the guest, a
// relative one to below its root; without one, commands come from standard input.
func (p *program) shell() int {
	if len(p.opts.args) > 0 && p.opts.args[0] == "--help" {
		fmt.Fprint(p.stdout, shellUsage)
		return lang.ExitOK
	}
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
		c, err := openConsole(g, p.stdin, p.stdout)
		if err != nil {
			fmt.Fprintf(p.stderr, "kscope: %v\n", err)
			return lang.ExitScript
		}
		defer c.editor.Close()
		tty, streams = c, c.streams()
		fmt.Fprintln(p.stdout, "The guest's shell; tracefs is in /sys/kernel/tracing. Tab completes, help lists, Ctrl-C ends a command, Ctrl-D leaves.")
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
	return p.attend(g.M, pid, tty)
}

// attend runs the machine until the shell has ended, and reads the terminal for it. Ctrl-C is SIGINT for an interactive shell's
// tasks, and the end of a script, which has no tty.
func (p *program) attend(m *kernel.Machine, pid int, tty *console) int {
	signals := p.interrupts()
	defer signal.Stop(signals)
	done, pressed := make(chan struct{}), make(chan struct{}, 1)
	defer close(done)
	go func() {
		for {
			select {
			case <-signals:
				select {
				case pressed <- struct{}{}:
				default:
				}
				m.Interrupt()
			case <-done:
				return
			}
		}
	}()
	const sigINT, sigKILL = 2, 9
	stuckAt, stuckFor := -1, 0 // how much the terminal had been read when nothing could run, and how often since then
	for {
		interrupt := tty != nil && tty.wanted() && !tty.serve(pressed)
		if !interrupt {
			stop := m.Run(kernel.Until{Pid: pid, Time: tty.until()})
			code, exited := m.Exited(pid)
			stuck := stop.Reason == kernel.StopDeadlock
			switch {
			case exited:
				users, ok := kernel.PartOf[*user.Host](m)
				if ok && code == 128+sigKILL && users.OutOfMemory() != "" {
					fmt.Fprintf(p.stderr, "kscope: out of memory: the guest has killed %s (--max-memory=SIZE gives programs more)\n", users.OutOfMemory())
				}
				return code
			case (stuck || stop.Reason == kernel.StopDone) && tty.until() > 0:
				tty.again()
			case stuck && (tty == nil || tty.revivals() < 3) && p.revive(m, stop):
			case stuck && tty != nil && (tty.lines != stuckAt || stuckFor < 5):
				fmt.Fprintf(p.stderr, "kscope: %v\nCtrl-C ends the command\n", stop)
				if stuckFor++; tty.lines != stuckAt {
					stuckAt, stuckFor = tty.lines, 1
				}
				<-pressed
				interrupt = true
			case stop.Reason != kernel.StopInterrupt:
				fmt.Fprintf(p.stderr, "kscope: %v\n", &kernel.StopError{Doing: "running the shell", Stop: stop})
				if stop.Reason == kernel.StopPanic {
					return lang.ExitPanic
				}
				return lang.ExitLimit
			case tty == nil:
				return 128 + sigINT
			default:
				interrupt = isPressed(pressed)
			}
		}
		if interrupt && tty.kill(pid, sigINT) != nil {
			return 128 + sigINT
		}
	}
}

func isPressed(pressed <-chan struct{}) bool {
	select {
	case <-pressed:
		return true
	default:
		return false
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
