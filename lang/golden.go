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
	"slices"
	"sort"
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
	Path   string
	Failed bool
	Report string // the difference, or what was updated
	Cases  []CaseResult

	from, to  Pin    // of a golden that another program made
	want, got string // its bodies
}

// Run runs them and prints what failed; the status is ExitOK, ExitAssert or ExitUsage.
func (g *Goldens) Run() int {
	paths, orphans, err := g.find()
	if err != nil {
		var pe *fs.PathError
		if errors.As(err, &pe) {
			err = fmt.Errorf("%s: %w", pe.Path, pe.Err)
		}
		fmt.Fprintf(g.Out, "kscope test: %v\n", err)
		return ExitUsage
	}
	if len(paths) == 0 && len(orphans) == 0 {
		what := "no scripts"
		if g.Filter != nil {
			what = fmt.Sprintf("no script matches -run %q", g.Filter)
		}
		fmt.Fprintf(g.Out, "kscope test: %s in %s\n", what, strings.Join(g.Dirs, " "))
		return ExitUsage
	}
	results := g.runAll(paths)
	for _, o := range orphans {
		results = append(results, Result{Path: o, Failed: true, Report: "has no script\n"})
	}
	return g.report(results)
}

// runAll runs the goldens on all processors; results come in the order of paths.
func (g *Goldens) runAll(paths []string) []Result {
	results := make([]Result, len(paths))
	next := make(chan int)
	done := make(chan bool)
	workers := g.Jobs
	if workers <= 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	workers = min(workers, max(1, len(paths)))
	for range workers {
		go func() {
			for i := range next {
				results[i] = g.runOne(paths[i])
			}
			done <- true
		}()
	}
	for i := range paths {
		next <- i
	}
	close(next)
	for range workers {
		<-done
	}
	return results
}

// output is everything that one run of a golden prints, its exit status included.
func (g *Goldens) output(path string, pin Pin) (string, *GoldenRun) {
	var out bytes.Buffer
	r := &GoldenRun{Path: path, Pin: pin, Out: &out}
	if r.status = g.Exec(r); r.status != ExitOK {
		fmt.Fprintf(&out, "[exit status %d]\n", r.status)
	}
	return out.String(), r
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

// runOne runs a golden, several times.
func (g *Goldens) runOne(path string) Result {
	if filepath.Ext(path) == ".txtar" {
		return g.runArchive(path)
	}
	res := Result{Path: path}
	fail := func(format string, args ...any) Result {
		res.Failed, res.Report = true, fmt.Sprintf(format, args...)
		return res
	}
	outPath := goldenPath(path)
	text, readErr := os.ReadFile(outPath)
	if readErr != nil && !errors.Is(readErr, fs.ErrNotExist) {
		return fail("%v\n", readErr)
	}
	own, want, err := splitPin(string(text))
	if err != nil && g.Update == "" {
		return fail("%v\n", err)
	}
	pin := g.settle(own)
	got, run := g.output(path, pin)
	res.Cases = run.Cases
	for range g.again() {
		if again, _ := g.output(path, pin); again != got {
			return fail("two runs differ (want is the first)\n%s", Explain(got, again))
		}
	}
	if len(run.Faults) > 0 {
		return fail("%s\n", strings.Join(run.Faults, "\n"))
	}
	switch {
	case g.Update != "":
		g.rewrite(&res, outPath, string(text), want, pin, got, readErr == nil)
		if !res.Failed && res.Report != "" && run.status != ExitOK {
			res.Report = strings.TrimSuffix(res.Report, "\n") + recorded(run.status, got) + "\n"
		}
		return res
	case readErr != nil:
		return fail("no .out file (kscope test -update writes it)\n")
	case own != pin:
		res.Failed, res.from, res.to, res.want, res.got = true, own, pin, want, got
		return res
	}
	if d := Explain(want, got); d != "" {
		return fail("%s", d)
	}
	if g.Seeds > 0 {
		source, _ := os.ReadFile(path)
		if text := g.sweep(path, pin, run, got, string(source)); text != "" {
			return fail("%s", text)
		}
	}
	return res
}

// rewrite updates an .out file, and says how much of it changed.
func (g *Goldens) rewrite(res *Result, path, text, want string, pin Pin, got string, exists bool) {
	fresh := pin.String() + got
	switch {
	case exists && text == fresh:
		return
	case !exists:
		res.Report = "written\n"
	case want == got:
		res.Report = "updated: its pin only\n"
	case sameStructure(want, got):
		res.Report = "updated: addresses and times only\n"
	case g.Update == UpdateStructure:
		res.Report = "updated: structure changed\n"
	default:
		res.Failed, res.Report = true, "structure changed (kscope test -update=structure accepts it)\n"+Diff(want, got)
		return
	}
	if err := os.WriteFile(path, []byte(fresh), 0o644); err != nil {
		res.Failed, res.Report = true, err.Error()+"\n"
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

// goldenPath is where a script's output is kept.
func goldenPath(script string) string {
	return strings.TrimSuffix(script, filepath.Ext(script)) + ".out"
}

// isScript tells which files are goldens.
func isScript(name string) bool {
	ext := filepath.Ext(name)
	return (ext == ".star" || ext == ".in" || ext == ".sh" || ext == ".lab" || ext == ".txtar") && !strings.HasPrefix(filepath.Base(name), "_")
}

// find lists the scripts, sorted, and the .out files that no script writes.
func (g *Goldens) find() (scripts, orphans []string, err error) {
	outs := map[string]bool{}
	have := map[string]bool{}
	texts := map[string]string{} // files of test.golden and the .out of their script
	foreign := map[string]bool{} // X.sh and X.out beside an X.rows are conformance cases (kscope conform), no goldens
	for _, dir := range g.Dirs {
		err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			if d.IsDir() {
				return nil
			}
			switch filepath.Ext(path) {
			case ".out":
				outs[path] = true
			case ".rows":
				foreign[goldenPath(path)] = true
			case ".golden": // of test.golden: x.golden, x.NAME.golden
				stem, _, _ := strings.Cut(d.Name(), ".")
				texts[path] = filepath.Join(filepath.Dir(path), stem+".out")
			}
			if _, err := os.Stat(strings.TrimSuffix(path, ".sh") + ".rows"); err == nil { // it alone was named
				foreign[goldenPath(path)] = true
			}
			if isScript(path) {
				if filepath.Ext(path) != ".txtar" {
					have[goldenPath(path)] = true
				}
				if g.Filter == nil || g.Filter.MatchString(filepath.ToSlash(path)) {
					scripts = append(scripts, path)
				}
			}
			return nil
		})
		if err != nil {
			return nil, nil, err
		}
	}
	scripts = slices.DeleteFunc(scripts, func(path string) bool { return foreign[goldenPath(path)] })
	for out := range outs {
		if !have[out] && !foreign[out] && g.Filter == nil {
			orphans = append(orphans, out)
		}
	}
	for text, out := range texts {
		if !have[out] && g.Filter == nil {
			orphans = append(orphans, text)
		}
	}
	sort.Strings(scripts)
	sort.Strings(orphans)
	return scripts, orphans, nil
}
