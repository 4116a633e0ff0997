package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
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

// readDat reads the trace.dat of the command line and has fn write something of it.
func (p *program) readDat(fn func(dat *export.Dat, w io.Writer) error) int {
	data, err := os.ReadFile(p.opts.files[0])
	out := bufio.NewWriter(p.stdout)
	var dat *export.Dat
	if err == nil {
		dat, err = export.ReadDat(data)
	}
	if err == nil {
		err = fn(dat, out)
	}
	if err == nil {
		err = out.Flush()
	}
	if err != nil {
		var pe *fs.PathError
		if errors.As(err, &pe) && pe.Path == p.opts.files[0] {
			err = pe.Err
		}
		fmt.Fprintf(p.stderr, "error: %s: %v\n", p.opts.files[0], err)
		return lang.ExitScript
	}
	return lang.ExitOK
}

// report is kscope report: the events of a trace.dat as text.
func (p *program) report() int {
	return p.readDat(func(dat *export.Dat, w io.Writer) error { return dat.Report(w) })
}

// convert is kscope convert: a trace.dat, of this kernel or another, for other programs.
func (p *program) convert() int {
	return p.readDat(func(dat *export.Dat, w io.Writer) error {
		events, err := dat.Events()
		if err != nil {
			return err
		}
		text := ""
		switch p.opts.to {
		case "chrome":
			text, err = export.Chrome(events)
		case "flame":
			text = export.Flame(export.Fold(events), p.opts.files[0], "ns")
		case "folded":
			text = export.Folded(export.Fold(events))
		}
		if err == nil {
			_, err = io.WriteString(w, text)
		}
		return err
	})
}
