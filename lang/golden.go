package lang

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
)

// A golden is a script x.star beside x.out: its pin (Pin), then the exact bytes that it prints: standard output, the error
// report, and a last line with the exit status when it is not 0. x.in, a session file, x.sh, a shell script of the guest, or x.lab,
// a lesson, may take the script's place; x.txtar is a golden in one file (archive). Files whose names begin with "_" are libraries
// for load().

// Goldens runs the goldens of a directory tree.
type Goldens struct {
	Dirs   []string // directories or single scripts
	Filter *regexp.Regexp
	Update Update
	Seeds  int    // what each golden that passes asserts must hold with the seeds 0 to Seeds-1
	Count  int    // how often each is run; 0: twice, because equal bytes every time are half of what a golden promises
	Jobs   int    // goldens that run at once; 0: as many as there are processors
	JSON   bool   // one object per golden instead of text
	JUnit  string // a file for JUnit's XML, too
	Out    io.Writer
	// Pin gives what a golden runs with here, from its own pin, which is zero for a new one; nil leaves goldens without pins.
	Pin func(own Pin) Pin
	// Exec runs one golden from scratch and returns its exit status. It is called from several goroutines at once, each
	// with its own machine.
	Exec func(r *GoldenRun) int
	// Command runs one kscope command of an archive, as Exec runs goldens.
	Command func(c *Command) int
	// Progress is told how far the run is, whenever a golden begins or ends; nil: nobody asks.
	Progress func(p Progress)
	// Signals ends the run: what has run is reported, and who was running.
	Signals <-chan os.Signal

	scratch string              // the directory of the archives' files
	texts   map[string][]string // the files of test.golden by the .out of their script
}

// GoldenRun is one run of one golden.
type GoldenRun struct {
	Path   string
	Pin    Pin
	Seeds  int       // what test.seeds sweeps over, when not 0
	Out    io.Writer // its output, error reports included
	Record bool      // Exec is to fill in Schedules

	Faults    []string // what makes it fail whatever it prints: a broken invariant of the machine, an expected error that did not come
	Cases     []CaseResult
	Texts     []string            // the files of test.golden that it has read; nil: this is not known
	Time      uint64              // ns of virtual time that passed in its machines
	Schedules map[uint64][]Switch // by seed, of the first machine with that seed

	status int
}

// Update says which .out files are rewritten. The zero value rewrites none.
type Update string

const (
	UpdateNumbers   Update = "true"      // missing ones, and those in which only addresses, times and other numbers changed
	UpdateStructure Update = "structure" // all
)

// Set makes an Update a boolean flag that may also be given as -update=structure.
func (u *Update) Set(text string) error {
	switch *u = Update(text); *u {
	case UpdateNumbers, UpdateStructure:
		return nil
	case "false":
		*u = ""
		return nil
	}
	return fmt.Errorf("want -update or -update=structure")
}

// numbers are what another image or cost changes without changing what a golden says: decimal and hexadecimal numbers, bytes of
// code, and the blanks that pad them.
var numbers = regexp.MustCompile(`0x[0-9a-f]+|\b[0-9a-f]{2}\b|\b[0-9a-f]*[0-9][0-9a-f]*(\.[0-9]+)?`)

// SameStructure tells whether two texts differ in numbers only, as another image changes them.
func SameStructure(a, b string) bool { return sameStructure(a, b) }

// sameStructure tells whether two outputs differ in numbers only.
func sameStructure(a, b string) bool {
	plain := func(s string) string { return strings.Join(strings.Fields(numbers.ReplaceAllString(s, " # ")), " ") }
	return plain(a) == plain(b)
}

// Result is what became of one golden.
type Result struct {
	Path    string
	Outcome Outcome
	Report  string // the difference, or what was updated
	Cases   []CaseResult
	Time    uint64     // ns of virtual time, of all its machines together
	Seeds   *SeedCount // of a sweep

	own, pin  Pin    // its pin, and what it ran with
	want, got string // its bodies
}

// SeedCount says with how many of the seeds of a sweep a golden prints something else than with its own.
type SeedCount struct {
	Differ int `json:"differ"`
	Of     int `json:"of"`
}

func (r *Result) fail(format string, args ...any) {
	r.Outcome, r.Report = outcomeFail, fmt.Sprintf(format, args...)
}

// Run runs them and prints what failed; the status is ExitOK, ExitAssert, ExitUsage, or 128 and the number of a signal.
func (g *Goldens) Run() int {
	found, err := g.find()
	if err != nil {
		var pe *fs.PathError
		if errors.As(err, &pe) {
			err = fmt.Errorf("%s: %w", pe.Path, pe.Err)
		}
		fmt.Fprintf(g.Out, "kscope test: %v\n", err)
		return ExitUsage
	}
	if len(found.scripts)+len(found.faults) == 0 {
		what := "no scripts"
		if g.Filter != nil {
			what = fmt.Sprintf("no script matches -run %q", g.Filter)
		} else if len(g.Dirs) == 1 && strings.HasPrefix(filepath.Base(g.Dirs[0]), "_") {
			what = "a name that begins with _ is that of a library for load(): no scripts"
		}
		fmt.Fprintf(g.Out, "kscope test: %s in %s\n", what, strings.Join(g.Dirs, " "))
		return ExitUsage
	}
	if g.scratch, err = os.MkdirTemp("", "kscope-test"); err != nil {
		fmt.Fprintf(g.Out, "kscope test: %v\n", err)
		return ExitUsage
	}
	defer os.RemoveAll(g.scratch)
	if g.JUnit != "" { // before the goldens have run for minutes
		f, err := os.OpenFile(g.JUnit, os.O_CREATE|os.O_WRONLY, 0o644)
		if err != nil {
			fmt.Fprintf(g.Out, "kscope test: -junit: %v\n", err)
			return ExitUsage
		}
		f.Close()
	}
	results, sig := g.runAll(found.scripts)
	results = append(results, found.faults...)
	slices.SortStableFunc(results, func(a, b Result) int { return strings.Compare(a.Path, b.Path) })
	return g.report(results, sig)
}

// runAll runs the goldens, so many at once; results come in the order of paths. A signal ends it at once: who still runs is
// abandoned, because a program that is being stopped has no time to wait for a script that may never end.
func (g *Goldens) runAll(paths []string) ([]Result, os.Signal) {
	results := make([]Result, len(paths))
	for i, path := range paths {
		results[i] = Result{Path: path, Outcome: outcomeNotRun}
	}
	type end struct {
		i      int
		result Result
	}
	ends := make(chan end, len(paths))
	workers := g.Jobs
	if workers <= 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	now := Progress{Total: len(paths)}
	for next := 0; now.Done < len(paths); {
		for ; next < len(paths) && len(now.Running) < workers; next++ {
			results[next].Outcome = outcomeInterrupted // until it ends
			now.Running = append(now.Running, paths[next])
			go func(i int) { ends <- end{i, g.runSafely(paths[i])} }(next)
		}
		if g.Progress != nil {
			g.Progress(now)
		}
		select {
		case e := <-ends:
			results[e.i] = e.result
			now.Done++
			if e.result.Outcome.fails() {
				now.Failed++
			}
			now.Running = slices.DeleteFunc(now.Running, func(path string) bool { return path == e.result.Path })
		case sig := <-g.Signals:
			if g.Progress != nil {
				g.Progress(Progress{})
			}
			return results, sig
		}
	}
	if g.Progress != nil {
		g.Progress(Progress{})
	}
	return results, nil
}

// Progress is how far a run of goldens is; the zero value is its end.
type Progress struct {
	Done, Failed, Total int
	Running             []string // paths
}

// output is everything that one run of a golden prints, its exit status included.
func (g *Goldens) output(path string, pin Pin) (string, *GoldenRun) {
	return g.runWith(GoldenRun{Path: path, Pin: pin})
}

// runWith is output of a run with more to it.
func (g *Goldens) runWith(r GoldenRun) (string, *GoldenRun) {
	var out bytes.Buffer
	r.Out = &out
	if r.status = g.Exec(&r); r.status != ExitOK {
		fmt.Fprintf(&out, "[exit status %d]\n", r.status)
	}
	return out.String(), &r
}

// settle is the pin that a golden with this own pin runs with.
func (g *Goldens) settle(own Pin) Pin {
	if g.Pin == nil {
		return Pin{}
	}
	return g.Pin(own)
}

// again is how often a golden is run once more.
func (g *Goldens) again() int {
	if g.Count == 0 {
		return 1
	}
	return g.Count - 1
}

// runSafely runs a golden; a bug of ours that it meets fails it, and the others go on.
func (g *Goldens) runSafely(path string) (res Result) {
	defer func() {
		if bug := recover(); bug != nil {
			res = Result{Path: path}
			res.fail("panic: %v\nThis is a bug of kscope; please report it with the script and this:\n%s", bug, debug.Stack())
		}
	}()
	return g.runOne(path)
}

// runOne runs a golden, several times.
func (g *Goldens) runOne(path string) Result {
	if filepath.Ext(path) == ".txtar" {
		return g.runArchive(path)
	}
	res := Result{Path: path, Outcome: outcomePass}
	outPath := goldenPath(path)
	text, readErr := os.ReadFile(outPath)
	if readErr != nil && !errors.Is(readErr, fs.ErrNotExist) {
		res.fail("%v\n", readErr)
		return res
	}
	own, want, err := splitPin(string(text))
	if err != nil && g.Update == "" {
		res.fail("%s: %v\n", filepath.Base(outPath), err)
		return res
	}
	pin := g.settle(own)
	got, run := g.output(path, pin)
	res.Cases, res.Time, res.own, res.pin, res.want, res.got = run.Cases, run.Time, own, pin, want, got
	for range g.again() {
		if run.status == ExitLimit {
			break // of what never ends one run is enough
		}
		if again, _ := g.output(path, pin); again != got {
			res.fail("two runs differ (want is the first)\n%s", Explain(got, again))
			return res
		}
	}
	switch {
	case len(run.Faults) > 0:
		res.fail("%s\n%s", strings.Join(run.Faults, "\n"), skips(run.Cases))
		return res
	case len(g.unread(path, run)) > 0:
		res.fail("no test.golden reads %s\n", strings.Join(g.unread(path, run), " "))
		return res
	case g.Update != "":
		g.rewrite(&res, outPath, string(text), run, readErr == nil)
	case readErr != nil:
		res.fail("no .out file (kscope test -update writes it%s)\n", libraryRule(path))
	default:
		g.compare(&res, run)
	}
	if text := skips(run.Cases); text != "" && res.Outcome != outcomeFail && res.Outcome != outcomeElsewhere {
		res.Outcome, res.Report = outcomeSkip, text+res.Report
	}
	return res
}

// unread are the files of test.golden beside a script that has run to its end and not asked for them: what they hold goes stale unseen.
func (g *Goldens) unread(path string, run *GoldenRun) []string {
	var names []string
	for _, text := range g.texts[goldenPath(path)] {
		if run.Texts != nil && run.status == ExitOK && skips(run.Cases) == "" && !slices.Contains(run.Texts, text) {
			names = append(names, filepath.Base(text))
		}
	}
	return names
}

// libraryRule is said of a script that has no .out: it may be none.
func libraryRule(path string) string {
	if filepath.Ext(path) != ".star" {
		return ""
	}
	return "; a file only for load() is named _" + filepath.Base(path)
}

// compare holds what was printed against the .out file.
func (g *Goldens) compare(res *Result, run *GoldenRun) {
	switch {
	case res.want == res.got:
	case res.own != res.pin && res.own != (Pin{}) && limitNote(run, res.want) == "":
		res.Outcome, res.Report = outcomeElsewhere, explainAt(res.want, res.got, res.own.lines())
		return
	default:
		res.fail("%s%s%s", limitNote(run, res.want), explainAt(res.want, res.got, res.own.lines()), unpinnedNote(res))
		return
	}
	if g.Seeds > 0 {
		source, _ := os.ReadFile(res.Path)
		var text string
		if text, res.Seeds = g.sweep(res.Path, res.pin, run, res.got, string(source)); text != "" {
			res.fail("%s", text)
		}
	}
}

// limitNote explains the end of a golden that ran into a limit.
func limitNote(run *GoldenRun, want string) string {
	if run.status != ExitLimit || strings.HasSuffix(want, fmt.Sprintf("[exit status %d]\n", ExitLimit)) {
		return ""
	}
	return "it ran into a limit, which each golden has: -max-insns, -max-steps and -max-memory change it (0: none)\n"
}

// unpinnedNote stands behind the difference of a golden whose image nobody knows.
func unpinnedNote(res *Result) string {
	if res.own == (Pin{}) && res.pin != res.own {
		return "(its .out has no pin, so it may be of another image or machine; kscope test -update gives it one)\n"
	}
	return ""
}

// rewrite updates an .out file, and says how much of it changed.
func (g *Goldens) rewrite(res *Result, path, text string, run *GoldenRun, exists bool) {
	fresh := res.pin.String() + res.got
	res.Outcome = outcomeUpdated
	switch {
	case exists && text == fresh:
		res.Outcome = outcomePass
		return
	case g.Update != UpdateStructure && limitNote(run, res.want) != "":
		res.fail("%snot written (kscope test -update=structure accepts it)\n%s", limitNote(run, res.want), lastLines(res.got, 10))
		return
	case !exists:
		res.Report = "written\n"
	case res.want == res.got:
		res.Report = "updated: its pin only\n"
	case sameStructure(res.want, res.got):
		res.Report = "updated: addresses and times only\n"
	case g.Update == UpdateStructure:
		res.Report = "updated: structure changed\n"
	default:
		res.fail("structure changed (kscope test -update=structure accepts it)\n%s", diffAt(res.want, res.got, res.own.lines()))
		return
	}
	if err := os.WriteFile(path, []byte(fresh), 0o644); err != nil {
		res.fail("%v\n", err)
		return
	}
	if res.own = res.pin; run.status != ExitOK {
		res.Report = strings.TrimSuffix(res.Report, "\n") + recorded(run.status, res.got) + "\n"
	}
}

// recorded says that a golden keeps a failure, and which: whoever wrote it by -update may not have looked.
func recorded(status int, out string) string {
	for _, line := range strings.Split(out, "\n") {
		if strings.HasPrefix(line, "error: ") || strings.HasPrefix(line, "FAIL ") {
			return fmt.Sprintf(" (exit status %d: %s)", status, line)
		}
	}
	return fmt.Sprintf(" (exit status %d)", status)
}
