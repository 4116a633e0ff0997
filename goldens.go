package main

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"kscope/ftrace"
	"kscope/kernel"
	"kscope/kernel/guest"
	"kscope/kprobe"
	"kscope/lang"
)

// test is kscope test: the goldens of some directories.
func (p *program) test() int {
	here := p.pin()
	g := &lang.Goldens{
		Dirs: p.opts.files, Filter: p.opts.filter, Update: p.opts.update, Out: p.stdout, Exec: p.golden,
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
		CPUs: m.CPUs, Mem: m.Mem >> 20, Seed: m.Seed,
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
	return here
}

// Bounds of one golden when the command line gives none: a script that never ends must fail, not hang the tests.
const (
	goldenInsns = 4e9
	goldenSteps = 1e9
)

// bounded is the program with those bounds. It shares nothing that changes but the snapshots, which may be shared.
func (p *program) bounded() *program {
	b := *p
	if b.opts.machine.MaxInsns == 0 {
		b.opts.machine.MaxInsns = goldenInsns
	}
	if b.opts.maxSteps == 0 {
		b.opts.maxSteps = goldenSteps
	}
	return &b
}

// golden runs one golden from scratch; its errors are part of its output.
func (p *program) golden(r *lang.GoldenRun) int {
	b := p.bounded()
	m := &b.opts.machine
	m.CPUs, m.Mem, m.Seed = r.Pin.CPUs, r.Pin.Mem<<20, r.Pin.Seed
	checks := new(checks)
	b.booted = checks.watch
	h := b.host(r.Out, filepath.Dir(r.Path))
	status := runGolden(h, r.Path, r.Out)
	r.Faults = append(r.Faults, checks.verdicts()...)
	return status
}

func runGolden(h *lang.Host, path string, out io.Writer) int {
	if filepath.Ext(path) != ".in" {
		return runFile(h, path, out)
	}
	in, err := os.Open(path)
	if err != nil {
		return h.Report(out, err)
	}
	s := &lang.Session{Host: h, In: in, Out: out, Echo: true}
	return s.Run()
}
