package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"go.starlark.net/starlark"

	"kscope/lang"
	"kscope/lang/conform"
)

// conformCPUs is what the transcripts of real Linux were recorded on (oracle.sh's default), where the command line says nothing.
const conformCPUs = 2

// conform runs a shell script here, as /oracle/script, and compares its output with the transcript of real Linux. Accepted
// differences stand in the third file, or in the transcript's name with .rows; -update adds what is not accepted yet, with
// the reason to be written in.
func (p *program) conform() int {
	script, transcript := p.opts.files[0], p.opts.files[1]
	rowsFile := strings.TrimSuffix(transcript, ".out") + ".rows"
	if len(p.opts.files) == 3 {
		rowsFile = p.opts.files[2]
	}
	fail := func(err error) int {
		fmt.Fprintf(p.stderr, "kscope conform: %v\n", err)
		return lang.ExitUsage
	}
	want, err := os.ReadFile(transcript)
	if err != nil {
		return fail(err)
	}
	text, err := os.ReadFile(rowsFile)
	if err != nil && (!errors.Is(err, fs.ErrNotExist) || len(p.opts.files) == 3 && p.opts.update == "") {
		return fail(err)
	}
	rows, err := conform.ParseRows(string(text))
	if err != nil && p.opts.update == "" {
		return fail(fmt.Errorf("%s: %w", rowsFile, err))
	}
	got, status := p.transcript(script)
	if status != lang.ExitOK {
		return status
	}
	open, stale := conform.Check(string(want), got, rows)
	if p.opts.update != "" {
		if err := os.WriteFile(rowsFile, []byte(conform.Update(string(text), string(want), got)), 0o644); err != nil {
			return fail(err)
		}
	}
	for _, h := range open {
		fmt.Fprintf(p.stdout, "%s:%d: not as Linux, and no row accepts it\n%s", transcript, h.Line, h)
	}
	for _, h := range stale {
		fmt.Fprintf(p.stdout, "%s: out of date: @%d %s\n", rowsFile, h.Line, h.Reason)
	}
	fmt.Fprintf(p.stdout, "%s: %d lines, %d differences accepted, %d not, %d rows out of date\n",
		script, strings.Count(string(want), "\n"), len(rows)-len(stale), len(open), len(stale))
	if len(open)+len(stale) > 0 {
		return lang.ExitAssert
	}
	return lang.ExitOK
}

// transcript is what the script prints in a machine of its own.
func (p *program) transcript(script string) (string, int) {
	text, err := os.ReadFile(script)
	if err != nil {
		fmt.Fprintf(p.stderr, "kscope conform: %v\n", err)
		return "", lang.ExitUsage
	}
	bounded := p.bounded()
	if !p.opts.given["cpus"] {
		bounded.opts.machine.CPUs = conformCPUs
	}
	h := bounded.host(p.stdout, "")
	v, err := h.Value(fmt.Sprintf(`[fs.mkdir("/oracle"), fs.mkdir("/work"), fs.write("/oracle/script", %s), kernel.exec("sh",
		["-c", "chmod 755 /oracle/script; cd /work; exec /oracle/script"], timeout = 0)][-1]`, starlark.String(text)))
	if status := h.Report(p.stderr, err); status != lang.ExitOK {
		return "", status
	}
	defer h.Close()
	attr := func(name string) string {
		a, err := v.(starlark.HasAttrs).Attr(name)
		if err != nil {
			panic("BUG: kernel.exec gives no " + name)
		}
		s, _ := starlark.AsString(a)
		return s
	}
	fmt.Fprint(p.stderr, attr("err"))
	return attr("out"), lang.ExitOK
}
