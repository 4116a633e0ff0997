package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"kscope/ftrace"
	"kscope/kernel"
	"kscope/kernel/user"
	"kscope/kprobe"
	"kscope/lang"
)

// options are what the command line says.
type options struct {
	command   string   // "run", "test", "help", or "" for a session or -e
	files     []string // the script, the goldens' directories, or the file of -i
	args      []string // the script's own, behind --
	machine   kernel.Config
	modules   []user.File // that come with the image of --image
	bring     []hostFile  // into the guest
	maxSteps  uint64
	maxMemory uint64
	eval      string
	echo      bool
	format    string // of what scripts print; "": text
	dryRun    bool
	color     string // "auto", "always" or "never"
	update    lang.Update
	filter    *regexp.Regexp
	seeds     int
	count     int
	jobs      int
	json      bool
	spec      string // of list
	verbose   bool
	html      bool
	quiz      bool   // of lab
	output    string // of record
	to        string // of convert
	junit     string
	version   bool
	given     map[string]bool // the flags that were given
	dir       string          // of files that are read at once; see parseArgsIn
}

// commands are the subcommands with their usage.
var commands = [...]struct{ name, args, doc string }{
	{"run", "f.star|f.sh [-- args]", "run a script, then its main(); or in the guest's shell"},
	{"sh", "[-c text | file] [arg...]", "the guest's shell: a script, or a session"},
	{"test", "[flags] [dir]", "run the goldens below . or dir: x.star, x.sh or x.in with x.out, x.txtar; _x.star is for load()"},
	{"image", "export FILE", "write the guest's kernel and modules, for --image"},
	{"list", "['kprobe:vfs_*'] [-v]", "what a spec of on() matches; -v shows prototypes and fields"},
	{"lab", "[N | f.lab]", "a course about tracing: the list of its lessons; do one, or print it when not on a terminal"},
	{"doc", "[-html]", "the reference of all functions, from their docstrings: Markdown, or HTML"},
	{"record", "[-o trace.dat] f.star", "run a script, then write its trace for trace-cmd, KernelShark"},
	{"report", "trace.dat", "print the events of a trace.dat, as trace-cmd report does, and their flags"},
	{"convert", "-to FORMAT trace.dat", "print a trace.dat as chrome (for ui.perfetto.dev), flame (a graph) or folded"},
	{"conform", "f.sh f.out [rows]", "run a script and compare with its output on real Linux"},
	{"version", "", "the version, and the image and costs that goldens are pinned to"},
	{"help", "", "show this text"},
}

// usage is the text of kscope help.
func usage() string {
	var b strings.Builder
	b.WriteString("usage: kscope [flags]                              a session; Ctrl-D leaves\n")
	b.WriteString("       kscope [flags] -e 'expr' | -i f.star        one expression; a script, then a session\n")
	for _, c := range commands {
		fmt.Fprintf(&b, "       kscope [flags] %-28s %s\n", c.name+" "+c.args, c.doc)
	}
	b.WriteString("flags:\n")
	newFlags(&options{}).VisitAll(func(f *flag.Flag) {
		name, text := flag.UnquoteUsage(f)
		fmt.Fprintf(&b, "  -%-18s %s\n", strings.TrimSpace(f.Name+" "+name), text)
	})
	b.WriteString("exit status: 0 ok, 1 script error, 2 usage, 3 assertion or golden failed, 4 guest panic, 5 limit reached\n")
	return b.String()
}

// defaultMemory is what a script may have, beyond the memory of its guest, when the command line says nothing.
const defaultMemory = 1 << 30

// memory is the bound of a program that runs so many scripts at once.
func (o *options) memory(scripts int) uint64 {
	if o.given["max-memory"] {
		return o.maxMemory
	}
	return (defaultMemory + o.machine.Mem) * uint64(scripts)
}

// newFlags are the flags; they may stand before and behind the subcommand, with one dash or two.
func newFlags(o *options) *flag.FlagSet {
	f := flag.NewFlagSet("kscope", flag.ContinueOnError)
	f.SetOutput(io.Discard)
	machineFlags(f, o)
	f.Uint64Var(&o.maxSteps, "max-steps", 0, "stop after `N` steps of Starlark (0: never; test: 100 million a golden)")
	f.Var((*size)(&o.maxMemory), "max-memory", "stop scripts when the program has more than `SIZE` of memory (default: 1G beyond the guest's; 0: never)")
	f.Func("e", "evaluate `EXPR` and print its value", func(s string) error {
		if s == "" {
			return errors.New("want an expression")
		}
		if o.eval != "" {
			return errors.New("it may be given once: a; b makes two statements")
		}
		o.eval = s
		return nil
	})
	f.Func("i", "run `FILE`, then start a session with its globals", func(s string) error {
		o.files = append(o.files, s)
		return nil
	})
	o.color = "auto"
	f.Func("color", "`WHEN` to colour traces: auto (on a terminal without NO_COLOR), always or never", func(s string) error {
		if o.color = s; s != "auto" && s != "always" && s != "never" {
			return errors.New("want auto, always or never")
		}
		return nil
	})
	f.BoolVar(&o.echo, "echo", false, "print the statements of a session that is no terminal; with lab, take answers from there")
	f.BoolFunc("update", "test, conform: rewrite the .out files in which numbers changed (-update=structure: all), or the rows", o.update.Set)
	f.Func("run", "test: only goldens whose path matches `RE`", func(s string) (err error) {
		o.filter, err = regexp.Compile(s)
		return err
	})
	f.Func("seeds", "test: with the seeds 0 to `N`-1 what a golden asserts must hold (status, error, cases, test.golden, test.seeds); what it prints is not compared", countOf(&o.seeds))
	f.Func("count", "test: run each golden `N` times, which must print the same (default 2)", countOf(&o.count))
	f.Func("j", "test: `N` goldens at once (default: all processors)", countOf(&o.jobs))
	f.Func("format", "run, -e: `FORMAT` of what scripts print: text, json (one document) or ndjson (an object a line)", func(s string) error {
		if !slices.Contains(lang.Formats(), s) {
			return fmt.Errorf("want one of %s", strings.Join(lang.Formats(), ", "))
		}
		o.format = s
		return nil
	})
	f.BoolVar(&o.dryRun, "dry-run", false, "run, -e: list what the script arms before it first runs the machine, and end")
	f.BoolVar(&o.json, "json", false, "test: one JSON object per golden")
	f.BoolVar(&o.verbose, "v", false, "list: show prototypes and fields")
	f.BoolVar(&o.html, "html", false, "doc: write HTML instead of Markdown")
	f.BoolVar(&o.quiz, "quiz", false, "lab: print a lesson without its answers")
	f.StringVar(&o.output, "o", "trace.dat", "record: the `FILE` to write")
	f.Func("to", "convert: the `FORMAT`: chrome, flame or folded", func(s string) error {
		if o.to = s; !slices.Contains([]string{"chrome", "flame", "folded"}, s) {
			return errors.New("want chrome, flame or folded; kscope report prints text")
		}
		return nil
	})
	f.BoolVar(&o.version, "version", false, "as the command version")
	f.StringVar(&o.junit, "junit", "", "test: write JUnit XML to `FILE` too")
	return f
}

// machineFlags are those of the guest.
func machineFlags(f *flag.FlagSet, o *options) {
	o.machine.CPUs = 4
	f.Func("cpus", "`N` CPUs, 1 to 64", func(s string) error {
		n, err := strconv.Atoi(s)
		if err != nil || n < 1 || n > 64 {
			return errors.New("want 1 to 64")
		}
		o.machine.CPUs = n
		return nil
	})
	f.Uint64Var(&o.machine.Seed, "seed", 0, "`N` chooses the interleaving of the CPUs")
	o.machine.Mem = 64 << 20
	f.Func("mem", "`SIZE` of guest memory, such as 64M", func(s string) error {
		if err := (*size)(&o.machine.Mem).Set(s); err != nil {
			return err
		}
		if m := o.machine.Mem; m < 32<<20 || m > 64<<30 || m%(2<<20) != 0 {
			return errors.New("want a multiple of 2M from 32M to 64G")
		}
		return nil
	})
	f.Func("image", "boot the guest kernel in `FILE` (default: the one inside kscope)", func(s string) (err error) {
		o.machine.Image, o.modules, err = readImage(inDir(o.dir, s))
		return err
	})
	f.Func("file", "bring `HOST[=GUEST]`, a file of the host, into the guest, as /NAME or where GUEST says; may be given again", func(s string) error {
		h, err := parseHostFile(s)
		o.bring = append(o.bring, h)
		return err
	})
	f.Func("features", "`LIST` of features of kernels later than 6.1: "+featureNames(), func(s string) (err error) {
		o.machine.Features, err = kernel.ParseFeatures(s, features())
		return err
	})
	f.Uint64Var(&o.machine.MaxInsns, "max-insns", 0, "stop after `N` guest instructions since boot, and ns of its programs' work (0: never; test: 4 billion a golden)")
}

// countOf reads a flag that counts; 0 is its default.
func countOf(n *int) func(string) error {
	return func(s string) (err error) {
		if *n, err = strconv.Atoi(s); err != nil || *n < 0 {
			return errors.New("want an int, 0 or more")
		}
		return nil
	}
}

// features are those of all packages.
func features() []kernel.Feature { return append(ftrace.Features(), kprobe.Features()...) }

func featureNames() string {
	var names []string
	for _, f := range features() {
		names = append(names, f.Name)
	}
	if names == nil {
		return "none in this build"
	}
	return strings.Join(names, ", ")
}

// size is a number of bytes with an optional K, M or G.
type size uint64

func (s *size) String() string { return fmt.Sprintf("%dM", *s>>20) }

func (s *size) Set(text string) error {
	digits := strings.TrimRight(text, "KMGkmgiB")
	n, err := strconv.ParseUint(digits, 10, 33) // of G they fit 64 bits
	if err != nil {
		n, err = strconv.ParseUint(text, 10, 63)
	}
	if err != nil {
		return errors.New("want a size such as 64M")
	}
	switch strings.ToUpper(strings.TrimRight(text[len(digits):], "iB")) {
	case "":
	case "K":
		n <<= 10
	case "M":
		n <<= 20
	case "G":
		n <<= 30
	default:
		return errors.New("want a size such as 64M")
	}
	*s = size(n)
	return nil
}

// parseArgs reads the command line.
func parseArgs(args []string) (options, error) { return parseArgsIn("", args) }

// parseArgsIn reads a command line whose -image is below a directory; "": the process's own.
func parseArgsIn(dir string, args []string) (options, error) {
	o := options{given: map[string]bool{}, dir: dir}
	f := newFlags(&o)
	original, behind := args, 0
	for i, a := range args {
		if a == "--" {
			behind = len(args) - i
			args, o.args = args[:i:i], args[i+1:]
			break
		}
	}
	var words []string
	for len(args) > 0 {
		if err := f.Parse(args); errors.Is(err, flag.ErrHelp) {
			return options{command: "help"}, nil
		} else if err != nil {
			return o, flagError(f, err, len(words) > 1)
		}
		f.Visit(func(fl *flag.Flag) { o.given[fl.Name] = true })
		args = f.Args()
		if len(words) == 0 && len(args) > 0 && args[0] == "sh" { // the rest is the shell's
			o.args = append(args[1:], original[len(original)-behind:]...)
			return o, errors.Join(o.check(args[:1]), o.apply(f))
		}
		if len(args) > 0 {
			words, args = append(words, args[0]), args[1:]
		}
	}
	if o.version && len(words) == 0 {
		words = []string{"version"}
	}
	if err := o.check(words); err != nil {
		return o, err
	}
	return o, o.apply(f)
}

// apply refuses flags that are another command's: the text of such a flag begins with the commands that it is for.
func (o *options) apply(f *flag.FlagSet) (err error) {
	if o.eval != "" && len(o.files) > 0 {
		return errors.New("-e and -i do not go together")
	}
	what := o.command
	if o.eval != "" {
		what = "-e"
	}
	f.VisitAll(func(fl *flag.Flag) {
		head, _, ok := strings.Cut(fl.Usage, ": ")
		of := strings.Split(head, ", ")
		if err == nil && ok && o.given[fl.Name] && isCommand(of[0]) && !slices.Contains(of, what) {
			err = fmt.Errorf("-%s is for %s", fl.Name, strings.Join(of, ", "))
		}
	})
	return err
}

func isCommand(name string) bool {
	for _, c := range commands {
		if c.name == name {
			return true
		}
	}
	return false
}

// check sorts out the words that are no flags.
func (o *options) check(words []string) error {
	if len(words) == 0 {
		return nil
	}
	o.command, words = words[0], words[1:]
	switch o.command {
	case "help":
		return nil
	case "version":
		if len(words) > 0 {
			return fmt.Errorf("version: want no file, got %d", len(words))
		}
	case "sh":
	case "run", "record":
		if len(words) != 1 {
			return fmt.Errorf("%s: want one script, got %d; its own arguments go behind --", o.command, len(words))
		}
	case "report", "convert":
		if len(words) != 1 {
			return fmt.Errorf("%s: want one trace.dat, got %d files", o.command, len(words))
		}
		if o.command == "convert" && o.to == "" {
			return errors.New("convert: want -to chrome, -to flame or -to folded")
		}
	case "test":
		if len(words) == 0 {
			words = []string{"."}
		}
	case "image":
		if len(words) != 2 || words[0] != "export" {
			return errors.New("image: want image export FILE")
		}
		words = words[1:]
	case "doc":
		if len(words) != 0 {
			return fmt.Errorf("doc: want no file, got %d: it writes to standard output", len(words))
		}
	case "lab":
		if len(words) > 1 {
			return fmt.Errorf("lab: want one lesson, got %d; kscope lab lists them", len(words))
		}
	case "list":
		if len(words) > 1 {
			return fmt.Errorf("list: want one spec such as 'kprobe:vfs_*', got %d: quote it against the shell", len(words))
		}
		o.spec = strings.Join(words, "")
		words = nil
	case "conform":
		if len(words) != 2 && len(words) != 3 {
			return fmt.Errorf("conform: want a script, its transcript and perhaps a file of accepted differences, got %d files", len(words))
		}
	default:
		return unknownCommand(o.command)
	}
	if o.eval != "" || len(o.files) > 0 {
		return fmt.Errorf("-e and -i do not go with %s", o.command)
	}
	o.files = words
	return nil
}

func unknownCommand(name string) error {
	var names []string
	for _, c := range commands {
		names = append(names, c.name)
	}
	msg := fmt.Sprintf("unknown command %q", name)
	if strings.HasSuffix(name, ".star") {
		return fmt.Errorf("%s: did you mean kscope run %s?", msg, name)
	}
	if hint := lang.DidYouMean(name, names); hint != "" {
		return fmt.Errorf("%s: %s", msg, hint)
	}
	return fmt.Errorf("%s; kscope help lists them", msg)
}

// flagError rewords package flag's errors and adds a hint. script tells that a script stands before the flag.
func flagError(f *flag.FlagSet, err error, script bool) error {
	const undefined = "flag provided but not defined: -"
	name, ok := strings.CutPrefix(err.Error(), undefined)
	if !ok {
		if text, ok := strings.CutSuffix(err.Error(), ": parse error"); ok {
			return fmt.Errorf("%s: want a number, 0 or more", text)
		}
		return err
	}
	var names []string
	f.VisitAll(func(fl *flag.Flag) { names = append(names, fl.Name) })
	msg := "unknown flag -" + name
	if i := strings.IndexAny(name, "0123456789"); i > 0 && f.Lookup(name[:i]) != nil {
		return fmt.Errorf("%s: did you mean -%s %s?", msg, name[:i], name[i:])
	}
	if near := lang.Near(name, names); len(near) > 0 {
		return fmt.Errorf("%s: did you mean -%s?", msg, near[0])
	}
	if script {
		return fmt.Errorf("%s; a script's own flags go behind --", msg)
	}
	return fmt.Errorf("%s; kscope help lists them", msg)
}
