package main

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"

	"kscope/ftrace"
	"kscope/kernel"
	"kscope/kernel/guest"
	"kscope/kprobe"
	"kscope/lang"
)

// test is kscope test: the goldens of some directories.
func (p *program) test() int {
	here := p.pin()
	var signals chan os.Signal
	if !p.nested {
		signals = make(chan os.Signal, 1)
		signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
		defer signal.Stop(signals)
		p.nested = true // what runs in the goldens leaves signals alone
	}
	g := &lang.Goldens{
		Signals: signals, Progress: p.testProgress(),
		Dirs: p.opts.files, Filter: p.opts.filter, Update: p.opts.update, Out: p.stdout, Exec: p.golden, Command: p.command,
		Seeds: p.opts.seeds, Count: p.opts.count, Jobs: p.opts.jobs, JSON: p.opts.json, JUnit: p.opts.junit,
		Pin: func(own lang.Pin) lang.Pin { return p.opts.settle(here, own) },
	}
	return g.Run()
}

// pin is what this program's goldens hang on.
func (p *program) pin() lang.Pin {
	image := p.opts.machine.Image
	if image == nil {
		image = guest.Kernel()
	}
	var table strings.Builder
	for _, c := range costs() {
		fmt.Fprintln(&table, c)
	}
	m := p.opts.machine
	return lang.Pin{
		Image: digest(image)[:12], Costs: digest([]byte(table.String()))[:8],
		CPUs: m.CPUs, Mem: m.Mem >> 20, Seed: m.Seed, Features: m.Features,
	}
}

func digest(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// costs is the whole table of costs.
func costs() []kernel.Cost {
	all := kernel.Costs()
	all = append(all, ftrace.Costs()...)
	return append(all, kprobe.Costs()...)
}

// settle gives the pin that a golden runs with: the settings of its own pin, where the command line does not say otherwise.
func (o *options) settle(here, own lang.Pin) lang.Pin {
	if own == (lang.Pin{}) {
		return here
	}
	if !o.given["cpus"] {
		here.CPUs = own.CPUs
	}
	if !o.given["mem"] {
		here.Mem = own.Mem
	}
	if !o.given["seed"] {
		here.Seed = own.Seed
	}
	if !o.given["features"] {
		here.Features = own.Features
	}
	return here
}

// Bounds of one golden when the command line gives none: a script that never ends must fail, not hang the tests. They are half a
// minute on a slow host, and forty times what the goldens of this repository need.
const (
	goldenInsns = 4e9
	goldenSteps = 1e8
)

// testProgress shows on a terminal how many goldens have run, and which run. Without one it is nil.
func (p *program) testProgress() func(lang.Progress) {
	if p.opts.json || !isTerminal(p.stdout) || !isTerminal(p.stderr) {
		return nil
	}
	const columns = 79
	return func(now lang.Progress) {
		line := []rune(fmt.Sprintf("%d of %d goldens, %d failed; running %s", now.Done, now.Total, now.Failed, strings.Join(now.Running, " ")))
		if len(line) > columns {
			line = append(line[:columns-1], '…')
		}
		if now.Total == 0 {
			line = nil // what is printed next begins there
		}
		fmt.Fprintf(p.stderr, "%s%s", eraseLine, string(line))
	}
}

// bounded is the program with those bounds. It shares nothing that changes but the snapshots, which may be shared.
func (p *program) bounded() *program {
	b := *p
	if !b.opts.given["max-insns"] {
		b.opts.machine.MaxInsns = goldenInsns
	}
	if !b.opts.given["max-steps"] {
		b.opts.maxSteps = goldenSteps
	}
	if b.opts.jobs == 0 {
		b.opts.jobs = runtime.GOMAXPROCS(0) // scripts that share one heap
	}
	return &b
}

// under is the bounded program with the machine of a pin.
func (p *program) under(pin lang.Pin) *program {
	b := p.bounded()
	m := &b.opts.machine
	m.CPUs, m.Mem, m.Seed, m.Features = pin.CPUs, pin.Mem<<20, pin.Seed, pin.Features
	return b
}

// golden runs one golden from scratch; its errors are part of its output.
func (p *program) golden(r *lang.GoldenRun) int {
	b := p.under(r.Pin)
	b.seeds = r.Seeds
	checks, rec, clocks := &checks{rows: p.checks}, &recorder{schedules: map[uint64][]lang.Switch{}}, &clocks{}
	b.elapsed = clocks.elapsed
	b.booted = func(m *kernel.Machine) {
		checks.watch(m)
		clocks.watch(m)
		if r.Record {
			rec.watch(m)
		}
	}
	status := b.runGolden(r)
	r.Faults = append(r.Faults, checks.verdicts()...)
	r.Schedules, r.Time = rec.schedules, clocks.elapsed()
	return status
}

// runGolden runs the golden's script. Its cases must have come to an end, and passed: a golden that keeps a failure is no test.
func (p *program) runGolden(r *lang.GoldenRun) int {
	dir := filepath.Dir(r.Path)
	switch filepath.Ext(r.Path) {
	case ".star":
		text, err := os.ReadFile(r.Path)
		if err != nil {
			break // runFile says so
		}
		faults, ok := lang.RunChunks(r.Path, string(text), func() *lang.Host { return p.host(r.Out, dir) })
		if ok {
			r.Faults = append(r.Faults, faults...)
			return lang.ExitOK
		}
	case ".lab":
		status := p.runLesson(r.Path, &lang.Sink{W: r.Out}, dir)
		if status != lang.ExitOK {
			r.Faults = append(r.Faults, fmt.Sprintf("the lesson fails, status %d: kscope lab %s says where", status, r.Path))
		}
		return status
	case ".in":
		out := &lang.Sink{W: r.Out}
		h := p.host(out, dir)
		in, err := os.Open(r.Path)
		if err != nil {
			return h.Report(r.Out, err)
		}
		s := &lang.Session{Host: h, In: in, Out: out, Echo: true}
		return s.Run()
	}
	h := p.host(r.Out, dir)
	status := runFile(h, r.Path, r.Out)
	r.Cases, r.Texts = h.Cases(), h.Texts()
	r.Faults = append(r.Faults, h.CaseFaults()...)
	return status
}

// command runs one kscope command of a .txtar golden.
func (p *program) command(c *lang.Command) int {
	opts, err := parseArgsIn(c.Dir, c.Args)
	if err != nil {
		fmt.Fprintf(&c.Stderr, "kscope: %v\n", err)
		return lang.ExitUsage
	}
	for i, file := range opts.files {
		if !strings.HasPrefix(file, "@std//") && opts.command != "lab" { // which looks there itself
			opts.files[i] = inDir(c.Dir, file)
		}
	}
	for i, f := range opts.bring {
		opts.bring[i].host = inDir(c.Dir, f.host)
	}
	opts.output, opts.junit = inDir(c.Dir, opts.output), inDir(c.Dir, opts.junit)
	stdin, err := stdinOf(c.Stdin)
	if err != nil {
		fmt.Fprintf(&c.Stderr, "kscope: %v\n", err)
		return lang.ExitScript
	}
	defer func() {
		stdin.Close()
		os.Remove(stdin.Name())
	}()
	given, image := opts.given, opts.machine.Image
	here := lang.Pin{CPUs: opts.machine.CPUs, Mem: opts.machine.Mem >> 20, Seed: opts.machine.Seed, Features: opts.machine.Features}
	if image == nil {
		image = p.opts.machine.Image
	}
	checks, clocks := &checks{rows: p.checks}, &clocks{}
	b := &program{opts: opts, stdin: stdin, stdout: &c.Stdout, stderr: &c.Stderr, snaps: p.snaps, dir: c.Dir, nested: true, elapsed: clocks.elapsed}
	b.booted = func(m *kernel.Machine) {
		checks.watch(m)
		clocks.watch(m)
	}
	b.opts.machine.Image = image
	if b.opts.modules == nil {
		b.opts.modules = p.opts.modules
	}
	if b.opts.given = given; opts.command == "test" {
		b.opts.jobs = 1 // as a golden of a golden, it shares its parent's processors
	} else {
		b = b.under(b.opts.settle(here, c.Pin))
	}
	status := b.dispatch()
	c.Faults, c.Time = append(c.Faults, checks.verdicts()...), clocks.elapsed()
	return status
}

// inDir is a file's name as it is for one who is in dir.
func inDir(dir, file string) string {
	if file == "" || filepath.IsAbs(file) {
		return file
	}
	return filepath.Join(dir, file)
}

// stdinOf is a file with that text: standard input is a file to the program.
func stdinOf(text []byte) (*os.File, error) {
	f, err := os.CreateTemp("", "kscope-stdin")
	if err != nil {
		return nil, err
	}
	if _, err := f.Write(text); err != nil {
		return nil, err
	}
	_, err = f.Seek(0, io.SeekStart)
	return f, err
}

// clocks are those of the machines of a golden.
type clocks struct {
	machines []*kernel.Machine
	begun    []uint64
}

func (c *clocks) watch(m *kernel.Machine) {
	c.machines, c.begun = append(c.machines, m), append(c.begun, m.Now())
}

// elapsed is the virtual time that has passed in all of them since their boot.
func (c *clocks) elapsed() uint64 {
	sum := uint64(0)
	for i, m := range c.machines {
		sum += max(m.Now(), c.begun[i]) - c.begun[i]
	}
	return sum
}

// recorder keeps the schedules of machines: what `kscope test -seeds` explains a failure with.
type recorder struct{ schedules map[uint64][]lang.Switch }

// watch records the switches of a machine from now on. It hooks an instruction, which costs the machine nothing.
func (r *recorder) watch(m *kernel.Machine) {
	seed := m.Config().Seed
	if r.schedules[seed] != nil {
		return
	}
	r.schedules[seed] = []lang.Switch{}
	va, ok := m.Symbols().Lookup("__switch_to_asm")
	if !ok {
		return
	}
	name := func(addr uint64) string {
		t := m.TaskAt(addr)
		return fmt.Sprintf("%s-%d", t.Comm, t.Pid)
	}
	_, _ = m.Hook(va, func(v *kernel.VCPU) {
		s := lang.Switch{T: v.Now(), CPU: v.ID, Prev: name(v.Arg(0)), Next: name(v.Arg(1))}
		r.schedules[seed] = append(r.schedules[seed], s)
	})
}
