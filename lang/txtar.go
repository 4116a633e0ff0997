package lang

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"sort"
	"strings"
)

// A golden may be one file: x.txtar, commands and then the files that they use and what they must print.
//
//	# kscope golden: image … costs … cpus 4 mem 64 seed 0
//	# a comment
//	kscope run a.star -- --fn=vfs_read     runs kscope in a directory that has the archive's files
//	! kscope run bad.star                  … which must fail
//	status 3                               the exit status of the last command
//	cmp stdout want                        its output, byte for byte: -update rewrites the file want
//	cmp stderr want.err
//	stdout 'vfs_\w+'                       a line of it matches; ! stdout '…': none does
//	stdin in                               the next command reads this file
//	-- a.star --
//	print(1)
//	-- want --
//	1
//
// Every command's output must be looked at by a cmp or a match, else a change of it would go unseen.

// archive is a parsed .txtar file (the format is that of golang.org/x/tools/txtar).
type archive struct {
	above   int // lines of the pin
	comment string
	files   []archiveFile
}

type archiveFile struct {
	name, data string
	above      int // lines of the archive before its first
}

// parseArchive parses what stands below so many lines.
func parseArchive(text string, above int) *archive {
	a := &archive{above: above}
	into := &a.comment
	for i, line := range lines(text) {
		name, ok := strings.CutPrefix(strings.TrimSpace(line), "-- ")
		if ok && strings.HasSuffix(name, " --") {
			a.files = append(a.files, archiveFile{name: strings.TrimSpace(strings.TrimSuffix(name, " --")), above: above + i + 1})
			into = &a.files[len(a.files)-1].data
			continue
		}
		*into += line
	}
	return a
}

func (a *archive) String() string {
	var b strings.Builder
	b.WriteString(a.comment)
	for _, f := range a.files {
		fmt.Fprintf(&b, "-- %s --\n%s", f.name, f.data)
		if f.data != "" && !strings.HasSuffix(f.data, "\n") {
			b.WriteByte('\n')
		}
	}
	return b.String()
}

func (a *archive) file(name string) *archiveFile {
	for i := range a.files {
		if a.files[i].name == name {
			return &a.files[i]
		}
	}
	return nil
}

// Command is one kscope command of an archive.
type Command struct {
	Dir            string // that relative file names are below
	Args           []string
	Stdin          []byte
	Stdout, Stderr bytes.Buffer
	Pin            Pin
	Faults         []string // see GoldenRun
	Time           uint64   // see GoldenRun
}

// archiveRun is one run of an archive's commands.
type archiveRun struct {
	g       *Goldens
	a       *archive
	dir     string
	pin     Pin
	at      string // the line that runs
	began   string // the last command's
	last    *Command
	status  int
	expect  string // "" (must succeed), "!" (must fail)
	seen    bool   // the last command's output was looked at
	stdin   []byte
	log     strings.Builder // everything printed, for the comparison of two runs
	faults  []string
	time    uint64
	changed bool // -update rewrote a file
	diffs   []archiveDiff
}

// archiveDiff is a cmp that failed. It ends nothing: one run shows all of them.
type archiveDiff struct {
	cmp       string // its line
	want, got string
	above     int // see archiveFile
}

// archiveVerbs are what a line of an archive may begin with.
func archiveVerbs() map[string]func(r *archiveRun, not bool, args []string) error {
	return map[string]func(r *archiveRun, not bool, args []string) error{
		"kscope": (*archiveRun).command, "cmp": (*archiveRun).compare, "status": (*archiveRun).checkStatus, "stdin": (*archiveRun).setStdin,
		"stdout": func(r *archiveRun, not bool, args []string) error { return r.match(not, "stdout", args) },
		"stderr": func(r *archiveRun, not bool, args []string) error { return r.match(not, "stderr", args) },
	}
}

// run runs all lines in a fresh directory.
func (r *archiveRun) run() (err error) {
	if r.dir, err = os.MkdirTemp(r.g.scratch, "archive"); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(r.dir)) }()
	for _, f := range r.a.files {
		if !filepath.IsLocal(f.name) {
			return fmt.Errorf("-- %s --: not below the archive's directory", f.name)
		}
		if first := r.a.file(f.name); first.above != f.above {
			return fmt.Errorf("line %d: -- %s --: there is one in line %d", f.above, f.name, first.above)
		}
		to := filepath.Join(r.dir, f.name)
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(to, []byte(f.data), 0o644); err != nil {
			return err
		}
	}
	ran := false
	for i, line := range strings.Split(r.a.comment, "\n") {
		r.at = fmt.Sprintf("line %d: %s", r.a.above+i+1, strings.TrimSpace(line))
		words, err := splitWords(line)
		if err == nil && len(words) > 0 {
			ran = true
			err = r.line(words)
		}
		if err != nil {
			return r.placed(err)
		}
	}
	if !ran {
		return errors.New("no commands before the first -- file --")
	}
	r.at = ""
	return r.placed(r.finish())
}

// placed says in which line an error is, unless it says so itself, and names files as the archive does.
func (r *archiveRun) placed(err error) error {
	if err == nil {
		return nil
	}
	text := strings.ReplaceAll(err.Error(), r.dir+string(filepath.Separator), "")
	var le *lineError
	if !errors.As(err, &le) {
		text = r.at + ": " + text
	}
	return errors.New(text)
}

// lineError is an error that tells its line.
type lineError struct{ at, text string }

func (e *lineError) Error() string { return e.at + ": " + e.text }

// finish ends the last command: it must have done as expected, and been looked at.
func (r *archiveRun) finish() error {
	c := r.last
	if c == nil {
		return nil
	}
	r.last = nil
	switch {
	case r.expect == "!" && r.status == ExitOK:
		return &lineError{r.began, "succeeded"}
	case r.expect == "" && r.status != ExitOK:
		return &lineError{r.began, fmt.Sprintf("exit status %d\n%s", r.status, c.Stderr.String())}
	case !r.seen && c.Stdout.Len()+c.Stderr.Len() > 0:
		return &lineError{r.began, "nothing looks at its output (cmp stdout FILE, stdout 're')"}
	}
	return nil
}

func (r *archiveRun) line(words []string) error {
	not := words[0] == "!"
	if not {
		words = words[1:]
	}
	verbs := archiveVerbs()
	if len(words) == 0 || verbs[words[0]] == nil {
		names := make([]string, 0, len(verbs))
		for name := range verbs {
			names = append(names, name)
		}
		sort.Strings(names)
		return fmt.Errorf("want one of %s", strings.Join(names, ", "))
	}
	return verbs[words[0]](r, not, words[1:])
}

func (r *archiveRun) command(not bool, args []string) error {
	if err := r.finish(); err != nil {
		return err
	}
	c := &Command{Dir: r.dir, Args: args, Stdin: r.stdin, Pin: r.pin}
	r.status = r.g.Command(c)
	r.last, r.seen, r.stdin, r.expect, r.began = c, false, nil, "", r.at
	if not {
		r.expect = "!"
	}
	r.faults = append(r.faults, c.Faults...)
	r.time += c.Time
	fmt.Fprintf(&r.log, "%q: %d\n%s\n%s\n", args, r.status, c.Stdout.String(), c.Stderr.String())
	return nil
}

func (r *archiveRun) checkStatus(_ bool, args []string) error {
	if r.last == nil || len(args) != 1 {
		return errors.New("want: status N, behind a command")
	}
	if fmt.Sprint(r.status) != args[0] {
		return fmt.Errorf("exit status %d\n%s", r.status, r.last.Stderr.String())
	}
	if r.status != ExitOK {
		r.expect = "!"
	}
	return nil
}

func (r *archiveRun) setStdin(_ bool, args []string) error {
	if len(args) != 1 {
		return errors.New("want: stdin FILE")
	}
	f := r.a.file(args[0])
	if f == nil {
		return fmt.Errorf("the archive has no %s", args[0])
	}
	r.stdin = []byte(f.data)
	return nil
}

// stream is what the last command wrote; names of its directory are relative.
func (r *archiveRun) stream(name string) (string, error) {
	if r.last == nil {
		return "", errors.New("no command before")
	}
	r.seen = true
	switch name {
	case "stdout":
		return strings.ReplaceAll(r.last.Stdout.String(), r.dir+string(filepath.Separator), ""), nil
	case "stderr":
		return strings.ReplaceAll(r.last.Stderr.String(), r.dir+string(filepath.Separator), ""), nil
	}
	return "", fmt.Errorf("%s: want stdout or stderr", name)
}

func (r *archiveRun) compare(_ bool, args []string) error {
	if len(args) != 2 {
		return errors.New("want: cmp stdout|stderr FILE")
	}
	got, err := r.stream(args[0])
	if err != nil {
		return err
	}
	f := r.a.file(args[1])
	if f == nil && r.g.Update == "" {
		return fmt.Errorf("the archive has no %s (kscope test -update writes it)", args[1])
	}
	switch {
	case f == nil:
		r.a.files = append(r.a.files, archiveFile{name: args[1], data: got})
		r.changed = true
	case f.data == got:
	case r.g.Update != "" && (r.g.Update == UpdateStructure || sameStructure(f.data, got)):
		f.data, r.changed = got, true
	default:
		r.diffs = append(r.diffs, archiveDiff{r.at, f.data, got, f.above})
	}
	return nil
}

func (r *archiveRun) match(not bool, stream string, args []string) error {
	if len(args) != 1 {
		return fmt.Errorf("want: %s 'regular expression'", stream)
	}
	re, err := regexp.Compile("(?m)" + args[0])
	if err != nil {
		return err
	}
	text, err := r.stream(stream)
	if err != nil {
		return err
	}
	if re.MatchString(text) == not {
		text = fmt.Sprintf("%s is\n%s", stream, text)
		if stream == "stdout" && r.status != ExitOK {
			text += fmt.Sprintf("exit status %d, stderr is\n%s", r.status, r.last.Stderr.String())
		}
		return errors.New(text)
	}
	return nil
}

// splitWords splits a line at blanks; '…' keeps blanks, and "…" is refused, as it would not. A # begins a comment.
func splitWords(line string) ([]string, error) {
	var words []string
	word, in, quoted := "", false, false
	for _, r := range line {
		switch {
		case r == '\'':
			in, quoted = !in, true
		case in:
			word += string(r)
		case r == '#' && word == "" && !quoted:
			return words, nil
		case r == '"' && word == "" && !quoted:
			return nil, errors.New("words with blanks stand in '…'")
		case r == ' ' || r == '\t':
			if word != "" || quoted {
				words = append(words, word)
			}
			word, quoted = "", false
		default:
			word += string(r)
		}
	}
	if in {
		return nil, errors.New("a ' without an end")
	}
	if word != "" || quoted {
		words = append(words, word)
	}
	return words, nil
}

// runArchive runs a .txtar golden, several times.
func (g *Goldens) runArchive(path string) Result {
	res := Result{Path: path, Outcome: outcomePass}
	text, err := os.ReadFile(path)
	if err != nil {
		res.fail("%v\n", err)
		return res
	}
	own, body, err := splitPin(string(text))
	if err != nil && g.Update == "" {
		res.fail("%v\n", err)
		return res
	}
	res.own, res.pin = own, g.settle(own)
	first := &archiveRun{g: g, a: parseArchive(body, own.lines()), pin: res.pin}
	if strings.Contains(first.a.comment, "\r\n") {
		res.fail("%v\n", errCRLF)
		return res
	}
	err = first.run()
	res.Time = first.time
	for range g.again() {
		if err != nil || len(first.diffs) > 0 {
			break
		}
		again := &archiveRun{g: g, a: parseArchive(first.a.String(), own.lines()), pin: res.pin}
		err = again.run()
		a, b := strings.ReplaceAll(first.log.String(), first.dir, ""), strings.ReplaceAll(again.log.String(), again.dir, "")
		if err == nil && a != b {
			err = fmt.Errorf("two runs differ (want is the first)\n%s", Diff(a, b))
		}
	}
	if err == nil && len(first.faults) > 0 {
		err = errors.New(strings.Join(first.faults, "\n"))
	}
	switch {
	case err != nil:
		res.fail("%s\n%s", strings.TrimSuffix(err.Error(), "\n"), first.differences(&res))
	case len(first.diffs) > 0 && g.Update == "" && own != res.pin && own != (Pin{}):
		res.Outcome = outcomeElsewhere
		for _, d := range first.diffs {
			res.want, res.got = res.want+d.want, res.got+d.got
		}
		res.Report = first.differences(&res)
	case len(first.diffs) > 0:
		res.fail("%s%s", first.differences(&res), unpinnedNote(&res))
	case g.Update != "":
		g.rewriteArchive(&res, first, string(text))
	case g.Seeds > 0:
		g.sweepArchive(&res, body)
	}
	return res
}

// differences shows what the archive's cmps have found.
func (r *archiveRun) differences(res *Result) string {
	var out strings.Builder
	for _, d := range r.diffs {
		if r.g.Update != "" {
			fmt.Fprintf(&out, "%s: structure changed (kscope test -update=structure accepts it)\n%s", d.cmp, diffAt(d.want, d.got, d.above))
		} else {
			fmt.Fprintf(&out, "%s:\n%s", d.cmp, explainAt(d.want, d.got, d.above))
		}
	}
	return out.String()
}

// rewriteArchive writes the archive again, with what its commands have printed.
func (g *Goldens) rewriteArchive(res *Result, run *archiveRun, text string) {
	fresh := res.pin.String() + run.a.String()
	if fresh == text {
		return
	}
	res.Outcome, res.Report, res.own = outcomeUpdated, "updated: its pin only\n", res.pin
	if run.changed {
		res.Report = "updated\n"
	}
	if err := os.WriteFile(res.Path, []byte(fresh), 0o644); err != nil {
		res.fail("%v\n", err)
	}
}

// sweepArchive runs an archive with other seeds: what cmp compares may differ, and is counted; the rest must hold.
func (g *Goldens) sweepArchive(res *Result, body string) {
	res.Seeds = &SeedCount{Of: g.Seeds}
	for seed := range uint64(g.Seeds) {
		pin := res.pin
		if pin.Seed = seed; pin == res.pin {
			continue
		}
		r := &archiveRun{g: g, a: parseArchive(body, res.own.lines()), pin: pin}
		err := r.run()
		if err == nil && len(r.faults) > 0 {
			err = errors.New(strings.Join(r.faults, "\n"))
		}
		if err != nil {
			res.fail("seed %d: %s\n", seed, strings.TrimSuffix(err.Error(), "\n"))
			return
		}
		if len(r.diffs) > 0 {
			res.Seeds.Differ++
		}
	}
}
