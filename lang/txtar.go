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
	comment string
	files   []archiveFile
}

type archiveFile struct{ name, data string }

func parseArchive(text string) *archive {
	a := &archive{}
	into := &a.comment
	for _, line := range lines(text) {
		name, ok := strings.CutPrefix(strings.TrimSpace(line), "-- ")
		if ok && strings.HasSuffix(name, " --") {
			a.files = append(a.files, archiveFile{name: strings.TrimSpace(strings.TrimSuffix(name, " --"))})
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
}

// archiveRun is one run of an archive's commands.
type archiveRun struct {
	g       *Goldens
	a       *archive
	dir     string
	pin     Pin
	last    *Command
	status  int
	expect  string // "" (must succeed), "!" (must fail)
	seen    bool   // the last command's output was looked at
	stdin   []byte
	log     strings.Builder // everything printed, for the comparison of two runs
	faults  []string
	changed bool // -update rewrote a file
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
	if r.dir, err = os.MkdirTemp("", "kscope-test"); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(r.dir)) }()
	for _, f := range r.a.files {
		if !filepath.IsLocal(f.name) {
			return fmt.Errorf("-- %s --: not below the archive's directory", f.name)
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
		words, err := splitWords(line)
		if err == nil && len(words) > 0 {
			ran = true
			err = r.line(words)
		}
		if err != nil {
			return fmt.Errorf("line %d: %s: %w", i+1, strings.TrimSpace(line), err)
		}
	}
	if !ran {
		return errors.New("no commands before the first -- file --")
	}
	return r.finish()
}

// finish ends the last command: it must have done as expected, and been looked at.
func (r *archiveRun) finish() error {
	c := r.last
	if c == nil {
		return nil
	}
	r.last = nil
	name := "kscope " + strings.Join(c.Args, " ")
	switch {
	case r.expect == "!" && r.status == ExitOK:
		return fmt.Errorf("%s: succeeded", name)
	case r.expect == "" && r.status != ExitOK:
		return fmt.Errorf("%s: exit status %d\n%s", name, r.status, c.Stderr.String())
	case !r.seen && c.Stdout.Len()+c.Stderr.Len() > 0:
		return fmt.Errorf("%s: nothing looks at its output (cmp stdout FILE, stdout 're')", name)
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
	r.last, r.seen, r.stdin, r.expect = c, false, nil, ""
	if not {
		r.expect = "!"
	}
	r.faults = append(r.faults, c.Faults...)
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
	if f == nil {
		r.a.files = append(r.a.files, archiveFile{args[1], got})
		r.changed = true
		return nil
	}
	if f.data == got {
		return nil
	}
	if r.g.Update != "" && (r.g.Update == UpdateStructure || sameStructure(f.data, got)) {
		f.data, r.changed = got, true
		return nil
	}
	return &diffError{want: f.data, got: got}
}

// diffError is a cmp that failed.
type diffError struct{ want, got string }

func (e *diffError) Error() string { return "\n" + Explain(e.want, e.got) }

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
		return fmt.Errorf("%s is\n%s", stream, text)
	}
	return nil
}

// splitWords splits a line at blanks; '…' keeps blanks. A # begins a comment.
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
	res := Result{Path: path, Failed: true}
	text, err := os.ReadFile(path)
	if err != nil {
		res.Report = err.Error() + "\n"
		return res
	}
	own, body, err := splitPin(string(text))
	if err != nil && g.Update == "" {
		res.Report = err.Error() + "\n"
		return res
	}
	pin := g.settle(own)
	first := &archiveRun{g: g, a: parseArchive(body), pin: pin}
	err = first.run()
	var d *diffError
	if own == (Pin{}) && own != pin && g.Update == "" { // a new one, whose mistakes are told before its pin is asked for
		if err == nil || errors.As(err, &d) {
			err = errors.New("no pin in its first line (kscope test -update writes it)")
		}
		res.Report = strings.TrimSuffix(err.Error(), "\n") + "\n"
		return res
	}
	if own != pin && g.Update == "" {
		res.from, res.to, res.want = own, pin, "x"
		switch {
		case err == nil:
			res.got = res.want
		case errors.As(err, &d):
			res.want, res.got = d.want, d.got
		}
		return res
	}
	for range g.again() {
		if err != nil {
			break
		}
		again := &archiveRun{g: g, a: parseArchive(first.a.String()), pin: pin}
		err = again.run()
		a, b := strings.ReplaceAll(first.log.String(), first.dir, ""), strings.ReplaceAll(again.log.String(), again.dir, "")
		if err == nil && a != b {
			err = fmt.Errorf("two runs differ (want is the first)\n%s", Diff(a, b))
		}
	}
	if err == nil && len(first.faults) > 0 {
		err = errors.New(strings.Join(first.faults, "\n"))
	}
	if err != nil {
		res.Report = strings.TrimSuffix(err.Error(), "\n") + "\n"
		return res
	}
	res.Failed = false
	if fresh := pin.String() + first.a.String(); g.Update != "" && fresh != string(text) {
		res.Report = "updated: its pin only\n"
		if first.changed {
			res.Report = "updated\n"
		}
		if err := os.WriteFile(path, []byte(fresh), 0o644); err != nil {
			res.Failed, res.Report = true, err.Error()+"\n"
		}
	}
	return res
}
