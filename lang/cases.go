package lang

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"go.starlark.net/starlark"
)

// Cases of a script: test.case runs a function, keeps its failure and goes on, so that one report shows all that fails. A case
// that was skipped fails a run of goldens, and so does one that never came to its end: a test that does not run must be seen.

// errDone ends a script without a complaint.
var errDone = errors.New("done")

// Done is the error that ends a script quietly, with status ExitOK.
func Done() error { return errDone }

// skipped is the error of test.skip.
type skipped struct{ why string }

func (s *skipped) Error() string { return "skipped: " + s.why }

// Cases are the cases so far, with their outcomes; one that runs has "no end".
func (h *Host) Cases() []CaseResult { return h.cases }

// CaseFaults is what a golden must not have, whatever it prints: cases that failed or did not end.
func (h *Host) CaseFaults() []string {
	var out []string
	for _, c := range h.cases {
		switch c.Outcome {
		case "fail":
			out = append(out, fmt.Sprintf("case %q failed\n%s", c.Name, c.Text))
		case "no end":
			out = append(out, fmt.Sprintf("case %q has no end", c.Name))
		}
	}
	return out
}

// Texts are the files of test.golden that the script has asked for; never nil.
func (h *Host) Texts() []string { return append([]string{}, h.texts...) }

// skips says which cases were skipped, a line each.
func skips(cases []CaseResult) string {
	var out strings.Builder
	for _, c := range cases {
		if c.Outcome == "skip" {
			fmt.Fprintf(&out, "case %q is skipped: %s\n", c.Name, c.Text)
		}
	}
	return out.String()
}

// caseStatus is ExitAssert when a case failed.
func (h *Host) caseStatus() int {
	for _, c := range h.cases {
		if c.Outcome == "fail" {
			return ExitAssert
		}
	}
	return ExitOK
}

func (h *Host) caseRows() []Row {
	return []Row{
		{Name: "test.case", Sig: "(name, fn)", Fn: h.testCase,
			Doc:     "Runs fn(), shows its failure and goes on; the script's exit status is then 3.\nkscope test fails when a case fails, is skipped or does not end.",
			Example: "test.case(\"one and one\", lambda: test.eq(1 + 1, 2))"},
		{Name: "test.skip", Sig: "(why)", Fn: h.testSkip,
			Doc:     "Ends the case, or the script outside a case, as skipped: no failure of kscope run, but one of kscope test.\nThere the golden is a SKIP, which -json and -junit say too, and the exit status is 3: a test that does not run must be seen.",
			Example: "test.case(\"not here\", lambda: test.skip(\"needs a network\"))"},
		{Name: "test.seeds", Sig: "(n, fn)", Fn: h.testSeeds,
			Doc:     "Calls fn(seed) for the seeds 0 to n-1; a failure says which.\nWhat fn returns, if anything, must not depend on the seed; what it prints may. kscope test -seeds N makes n at least N.",
			Example: "test.seeds(3, lambda seed: kernel.boot(seed = seed).exec(\"cat\", [\"/etc/hostname\"]).out)"},
		{Name: "test.golden", Sig: "(text, name = None)", Fn: h.testGolden,
			Doc: "Fails unless text is what SCRIPT.golden, or SCRIPT.NAME.golden, beside the script holds; kscope test -update writes it."},
	}
}

func (h *Host) testCase(t *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	var name string
	var fn starlark.Callable
	if err := starlark.UnpackArgs(b.Name(), args, kwargs, "name", &name, "fn", &fn); err != nil {
		return nil, err
	}
	if err := h.Takes(b.Name(), "fn", fn); err != nil {
		return nil, err
	}
	for _, c := range h.cases {
		if c.Name == name {
			return nil, &Error{Msg: fmt.Sprintf("%s: there is a case %q already", b.Name(), name), At: name}
		}
	}
	i := len(h.cases)
	h.cases = append(h.cases, CaseResult{Name: name, Outcome: "no end"})
	begin := h.elapsed()
	_, err := starlark.Call(t, fn, nil, nil)
	if end := h.elapsed(); end > begin { // kernel.rewind goes back
		h.cases[i].Time = end - begin
	}
	var skip *skipped
	switch {
	case err == nil:
		h.cases[i].Outcome = "pass"
	case errors.As(err, &skip):
		h.cases[i].Outcome, h.cases[i].Text = "skip", skip.why
		fmt.Fprintf(h.out(t), "skip %s: %s\n", name, skip.why)
	case h.cancelled(err):
		return nil, err // Ctrl-C and the step budget end the script
	default:
		var text strings.Builder
		h.report(&text, err)
		h.cases[i].Outcome, h.cases[i].Text = "fail", strings.TrimRight(text.String(), "\n")
		fmt.Fprintf(h.out(t), "FAIL %s: %s", name, text.String())
	}
	return starlark.None, nil
}

// elapsed is the virtual time that has passed in all machines.
func (h *Host) elapsed() uint64 {
	if h.cfg.Elapsed == nil {
		return 0
	}
	return h.cfg.Elapsed()
}

// cancelled tells that an error is no failure of what was called, but the end of all.
func (h *Host) cancelled(err error) bool {
	return h.limited.Load() || strings.Contains(err.Error(), cancelled) || h.interrupted()
}

func (h *Host) testSkip(_ *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	why := ""
	if err := starlark.UnpackArgs(b.Name(), args, kwargs, "why", &why); err != nil {
		return nil, err
	}
	for _, c := range h.cases {
		if c.Outcome == "no end" {
			return nil, &skipped{why}
		}
	}
	h.cases = append(h.cases, CaseResult{Name: filepath.Base(h.script), Outcome: "skip", Text: why})
	return nil, errDone
}

func (h *Host) testSeeds(t *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	n := 0
	var fn starlark.Callable
	if err := starlark.UnpackArgs(b.Name(), args, kwargs, "n", &n, "fn", &fn); err != nil {
		return nil, err
	}
	if err := h.Takes(b.Name(), "fn", fn, "seed"); err != nil {
		return nil, err
	}
	if n < 1 {
		return nil, &Error{Msg: fmt.Sprintf("%s: n = %d: want at least 1", b.Name(), n), At: "n"}
	}
	var first starlark.Value
	for seed := range max(n, h.cfg.Seeds) {
		v, err := starlark.Call(t, fn, starlark.Tuple{starlark.MakeInt(seed)}, nil)
		if err == nil && seed > 0 {
			var same bool
			if same, err = starlark.Equal(v, first); err == nil && !same {
				return nil, assertion(b, "", "seed %d: got %s, with seed 0 %s", seed, v, first)
			}
		}
		if seed == 0 {
			first = v
		}
		var e *Error
		if err != nil && errors.As(err, &e) {
			e.Msg = fmt.Sprintf("seed %d: %s", seed, e.Msg) // in place: the error keeps its own position
		}
		if err != nil {
			return nil, err
		}
	}
	return starlark.None, nil
}

func (h *Host) testGolden(_ *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	text, name := "", starlark.Value(starlark.None)
	if err := starlark.UnpackArgs(b.Name(), args, kwargs, "text", &text, "name?", &name); err != nil {
		return nil, err
	}
	if _, ok := starlark.AsString(name); !ok && name != starlark.None {
		return nil, Errorf("%s: name: got %s, want string", b.Name(), name.Type())
	}
	if h.script == "" {
		return nil, &Error{Msg: b.Name() + ": no script runs: a golden file stands beside one"}
	}
	path := strings.TrimSuffix(h.script, filepath.Ext(h.script))
	if s, ok := starlark.AsString(name); ok {
		if s == "" || strings.ContainsAny(s, `/\`) {
			return nil, &Error{Msg: fmt.Sprintf("%s: %q is no name of a file", b.Name(), s), At: s}
		}
		path += "." + s
	}
	path += ".golden"
	h.texts = append(h.texts, filepath.Clean(path))
	want, err := os.ReadFile(path)
	switch {
	case h.cfg.Update != "" && (err != nil || string(want) != text):
		return starlark.None, os.WriteFile(path, []byte(text), 0o644)
	case err != nil:
		return nil, &Error{Msg: fmt.Sprintf("%s: no file %s", b.Name(), h.display(path)), Hint: "kscope test -update writes it", Exit: ExitAssert}
	case string(want) != text:
		return nil, assertion(b, "", "%s\n%s", h.display(path), Diff(string(want), text))
	}
	return starlark.None, nil
}
