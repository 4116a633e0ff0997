// Kscope traces a deterministic, emulated multi-core x86-64 kernel from Starlark, as ftrace traces Linux.
//
// This file is the table of contents: it reads the command line and builds everything in one visible order. README.md has
// the map of the directories and a reading order.
package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"go.starlark.net/starlark"

	"kscope/builtins"
	"kscope/ftrace"
	"kscope/kernel"
	"kscope/kernel/user"
	"kscope/kernel/user/sh"
	"kscope/kprobe"
	"kscope/lang"
	"kscope/scripts"
)

func main() { os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) }

// run is the whole program; it returns the exit status.
func run(args []string, stdin *os.File, stdout, stderr io.Writer) int {
	return runOn(newMachines(), args, stdin, stdout, stderr)
}

func runOn(snaps *machines, args []string, stdin *os.File, stdout, stderr io.Writer) int {
	opts, err := parseArgs(args)
	if err != nil {
		fmt.Fprintf(stderr, "kscope: %v\n", err)
		return lang.ExitUsage
	}
	out := &output{w: stdout}
	p := &program{opts: opts, stdin: stdin, stdout: out, stderr: stderr, snaps: snaps, checks: machineChecks()}
	status := p.dispatch()
	if out.err != nil && status == lang.ExitOK {
		fmt.Fprintf(stderr, "error: %v\n", out.err)
		return lang.ExitScript
	}
	return status
}

// output is standard output; it keeps the first error, such as a full disk's, which nobody may have looked at.
type output struct {
	w   io.Writer
	err error
}

func (o *output) Write(b []byte) (int, error) {
	n, err := o.w.Write(b)
	if err != nil && o.err == nil {
		o.err = err
	}
	return n, err
}

// dispatch does what the command line asks for.
func (p *program) dispatch() int {
	opts := p.opts
	switch opts.command {
	case "help":
		fmt.Fprint(p.stdout, usage())
		return lang.ExitOK
	case "version":
		return p.version()
	case "run":
		return p.batch(func(h *lang.Host, errw io.Writer) int { return runFile(h, opts.files[0], errw) })
	case "sh":
		return p.shell()
	case "conform":
		return p.conform()
	case "test":
		return p.test()
	case "image":
		return p.exportImage()
	case "record":
		return p.record()
	case "report":
		return p.report()
	case "convert":
		return p.convert()
	case "list":
		return p.list()
	case "doc":
		return p.doc()
	case "lab":
		return p.lab()
	}
	if opts.eval != "" {
		return p.batch(func(h *lang.Host, errw io.Writer) int {
			status := h.Report(errw, h.Eval(opts.eval))
			return max(status, h.Report(errw, h.Close()))
		})
	}
	return p.session()
}

// program is one run of kscope. Machines that it boots are forks of a few booted snapshots.
type program struct {
	opts           options
	stdin          *os.File
	stdout, stderr io.Writer
	snaps          *machines
	dir            string                  // that files are shown relative to; "" shows them as given
	booted         func(m *kernel.Machine) // told of each machine; may be nil
	checks         []machineCheck          // of each golden's machines
	seeds          int                     // of test.seeds; 0: as the script says
	handled        func() uint64           // how often handlers were called; nil: there is no script yet
	nested         bool                    // it runs in a golden: signals are not for it
	elapsed        func() uint64           // see lang.Config; may be nil
	begin          func()                  // called before each statement of a session; may be nil
}

// machines are the booted machines of a process, and the root file system of those to which no files are brought.
type machines struct {
	kernel.Snapshots
	initrd func() []byte
}

func newMachines() *machines {
	return &machines{initrd: sync.OnceValue(func() []byte { return user.Initrd(sh.Files()...) })}
}

// host builds everything for one script or session: the machine's maker, the modules on top of it, the language on top of
// them.
func (p *program) host(out io.Writer, dir string) *lang.Host {
	host, _ := p.build(out, dir)
	return host
}

func (p *program) build(out io.Writer, dir string) (*lang.Host, *builtins.Env) {
	cfg := builtins.Config{Boot: p.boot, Defaults: p.opts.machine, Stdout: out, DryRun: p.opts.dryRun}
	if p.opts.format != "" && p.opts.format != "text" {
		cfg.Style = "json"
	}
	env := builtins.New(cfg)
	host := lang.New(lang.Config{
		Stdout:    out,
		Tables:    env.Tables(),
		Strings:   env.Strings,
		Symbol:    env.Symbol,
		Guest:     env.GuestName,
		Interrupt: env.Interrupt,
		Now:       env.Now,
		Elapsed:   p.elapsed,
		MaxSteps:  p.opts.maxSteps,
		MaxMemory: p.opts.memory(max(p.opts.jobs, 1)),
		Args:      p.opts.args,
		Dir:       dir,
		Seeds:     p.seeds,
		Update:    p.opts.update,
		Std:       scripts.Std(),
	})
	env.Attach(host)
	p.handled = env.Handled
	return host, env
}

// parts hangs on a new machine what is no kernel: user programs, tracing, probes.
func parts(m *kernel.Machine) error {
	users, err := user.New(m)
	if err != nil {
		return err
	}
	sh.Install(users)
	if _, err := ftrace.New(m); err != nil {
		return err
	}
	_, err = kprobe.New(m)
	return err
}

// boot makes a booted machine: the kernel, then what hangs off it.
func (p *program) boot(cfg kernel.Config) (*builtins.Guest, error) {
	brought, err := guestFiles(p.opts.bring)
	if err != nil {
		return nil, err
	}
	if extra := slices.Concat(p.opts.modules, brought); len(extra) > 0 {
		cfg.Initrd = user.Initrd(slices.Concat(sh.Files(), extra)...)
	} else {
		cfg.Initrd = p.snaps.initrd()
	}
	m, err := p.snaps.Machine(cfg, parts)
	if err != nil {
		return nil, err
	}
	if p.booted != nil {
		p.booted(m)
	}
	return builtins.NewGuest(m)
}

// batch runs a script or an expression. Output to a file or pipe is buffered, and flushed before an error is reported.
func (p *program) batch(fn func(h *lang.Host, errw io.Writer) int) int {
	out := bufio.NewWriterSize(p.stdout, 64<<10)
	defer out.Flush()
	sink := &lang.Sink{W: out}
	if isTerminal(p.stdout) {
		sink.W = p.stdout
	}
	sink.W = p.coloured(sink.W, p.stdout)
	end := p.showProgress(sink)
	defer end()
	var to io.Writer = sink
	if o := lang.NewOutput(out, p.opts.format); o != nil {
		to = o
		defer o.Finish()
	}
	h := p.host(to, p.dir)
	signals := p.interrupts()
	defer close(signals) // the goroutine below would keep the machine, in tests that of each golden
	defer signal.Stop(signals)
	go func() {
		for range signals {
			h.Quit()
		}
	}()
	return fn(h, writerFunc(func(b []byte) (int, error) {
		end()
		out.Flush()
		return p.coloured(p.stderr, p.stderr).Write(b)
	}))
}

// interrupts are the Ctrl-C's of a person.
func (p *program) interrupts() chan os.Signal {
	signals := make(chan os.Signal, 4)
	if !p.nested {
		signal.Notify(signals, os.Interrupt)
	}
	return signals
}

// coloured wraps w in colours when they are wanted; to is where it ends up.
func (p *program) coloured(w, to io.Writer) io.Writer {
	if p.opts.color == "always" || p.opts.color != "never" && isTerminal(to) && os.Getenv("NO_COLOR") == "" {
		return &lang.Colour{W: w}
	}
	return w
}

// showProgress begins to show the progress of long runs when a person watches; end takes it off the screen.
func (p *program) showProgress(sink *lang.Sink) (end func()) {
	if !isTerminal(p.stdout) || !isTerminal(p.stderr) {
		return func() {}
	}
	bar := &progress{out: p.stderr, calls: func() uint64 {
		if p.handled == nil {
			return 0
		}
		return p.handled()
	}}
	bar.begin()
	p.booted, p.begin = bar.watch, bar.begin
	sink.Before = bar.clear
	return bar.clear
}

// runFile runs a script: Starlark, or x.sh in the guest's shell, whose exit status is then the result.
func runFile(h *lang.Host, path string, errw io.Writer) int {
	if filepath.Ext(path) != ".sh" {
		return h.Run(path, errw)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return h.Report(errw, err)
	}
	if sh.IsBinary(string(text)) {
		fmt.Fprintf(errw, "%s: %s: cannot execute binary file\n", path, path)
		return 126
	}
	text, err = includeLines(text, filepath.Dir(path))
	if err != nil {
		return h.Report(errw, err)
	}
	h.Shell = true
	v, err := h.ValueWith("sh(script)", starlark.StringDict{"script": starlark.String(text)})
	var e *lang.Error
	if errors.As(err, &e) && e.Code == "E2BIG" {
		e.Hint = fmt.Sprintf("the script has %d bytes, sh -c takes 128 KiB: kscope sh %s takes any", len(text), path)
	}
	status := h.Report(errw, err)
	if err == nil {
		status, _ = starlark.AsInt32(v)
	}
	return max(status, h.Report(errw, h.Close()))
}

// includeLines replaces each line "#lines FILE FROM-TO" of a shell script by those lines of a file beside it: a golden may so
// run the commands of a document from the document itself.
func includeLines(text []byte, dir string) ([]byte, error) {
	lines := strings.SplitAfter(string(text), "\n")
	for i, line := range lines {
		if !strings.HasPrefix(line, "#lines ") {
			continue
		}
		var file string
		var from, to int
		if _, err := fmt.Sscanf(line, "#lines %s %d-%d", &file, &from, &to); err != nil {
			return nil, fmt.Errorf("line %d: want #lines FILE FROM-TO", i+1)
		}
		doc, err := os.ReadFile(filepath.Join(dir, file))
		if err != nil {
			return nil, err
		}
		body := strings.SplitAfter(string(doc), "\n")
		if from < 1 || to < from || to > len(body) {
			return nil, fmt.Errorf("line %d: %s has %d lines", i+1, file, len(body))
		}
		lines[i] = strings.Join(body[from-1:to], "")
	}
	return []byte(strings.Join(lines, "")), nil
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(b []byte) (int, error) { return f(b) }

// session reads statements from the terminal, or from a file or pipe.
func (p *program) session() int {
	signals := p.interrupts()
	defer signal.Stop(signals)
	tty := isTerminal(p.stdin) && isTerminal(p.stdout)
	sink := &lang.Sink{W: p.coloured(p.stdout, p.stdout)}
	end := p.showProgress(sink)
	s := &lang.Session{
		Host: p.host(sink, p.dir), In: p.stdin, Out: sink, Term: p.stdout, Begin: p.begin, End: end, Tty: tty, Raw: true, Echo: p.opts.echo,
		Banner: p.banner(), History: lang.HistoryPath(os.Getenv), Signals: signals,
	}
	return s.Run(p.opts.files...)
}

// banner says what a session starts with, in four lines.
func (p *program) banner() string {
	cpus, mem := max(p.opts.machine.CPUs, 1), p.opts.machine.Mem>>20
	return strings.Join([]string{
		"kscope: ftrace on an emulated kernel, the same every time",
		fmt.Sprintf("machine: %d CPUs, %d MiB, seed %d, boots at first use (kernel.boot() for another)", cpus, mem, p.opts.machine.Seed),
		"demo() shows a first trace, tour() the rest, chapter by chapter",
		"help() lists what there is, x? explains x, Tab completes, Ctrl-D leaves",
	}, "\n") + "\n"
}

func isTerminal(f any) bool {
	if o, ok := f.(*output); ok {
		f = o.w
	}
	file, ok := f.(*os.File)
	return ok && lang.IsTerminal(file)
}
