package main

import (
	"bufio"
	"fmt"
	"io"
	"os"

	"go.starlark.net/starlark"

	"kscope/ftrace/export"
	"kscope/lang"
)

// record is kscope record: a script, then what its rings hold as a trace.dat.
func (p *program) record() int {
	return p.batch(func(h *lang.Host, errw io.Writer) int {
		h.OnEnd(func() error {
			v, err := h.Value("export.trace_dat(" + starlark.String(p.opts.output).String() + ")")
			if err == nil {
				fmt.Fprintf(errw, "%s\n", v)
			}
			return err
		})
		return runFile(h, p.opts.files[0], errw)
	})
}

// report is kscope report: the events of a trace.dat as text.
func (p *program) report() int {
	fail := func(err error) int {
		fmt.Fprintf(p.stderr, "error: %s: %v\n", p.opts.files[0], err)
		return lang.ExitScript
	}
	data, err := os.ReadFile(p.opts.files[0])
	if err != nil {
		return fail(err)
	}
	dat, err := export.ReadDat(data)
	if err != nil {
		return fail(err)
	}
	out := bufio.NewWriter(p.stdout)
	if err := dat.Report(out); err != nil {
		return fail(err)
	}
	if err := out.Flush(); err != nil {
		return fail(err)
	}
	return lang.ExitOK
}
