// Package lang is kscope's Starlark host: it runs scripts, sessions and goldens, and knows no kernels.
//
// What the language can do beyond Starlark itself comes in as tables of Rows (package builtins has most of them); one row
// gives a name, its signature, its documentation and its code, and dispatch, help(), Tab completion and the tests all read
// the same rows.
//
// Main types: Host (one run of a script or one session: environment, loaded modules, threads, budget), Row and Module (the
// tables), Handler (a function that modules call back), Error (a user's error with a hint and the text to point at), Session,
// Goldens, Output (what scripts print, as JSON).
//
// A script runs like this:
//
//  1. main makes a Host with New, giving it the rows and hooks of the modules.
//  2. Host.Run parses, resolves and initialises the file in a thread of the host; load() runs other files in the same
//     thread, each once, so that prints, step budget and cancellation hold for them too.
//  3. When the file defines main(), it is called next; the globals are not frozen, so handlers may write to them.
//  4. Host.Close runs the work of OnEnd in order, unless the script failed (handlers of END, aggregations), then what was
//     registered with OnClose, newest first: what a script made vanishes with it.
//  5. Host.Report prints an error with its positions, source line, caret and hint, and gives the exit status.
//
// Ownership: one goroutine runs Starlark at a time. Threads of user programs are coroutines of that goroutine. Only
// Host.Cancel may be called from another goroutine; the list of threads that it walks is the one thing under Host.mu.
package lang

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	sktime "go.starlark.net/lib/time"
	"go.starlark.net/starlark"
	"go.starlark.net/syntax"
)

// Exit statuses of the program; see api.md section 1.
const (
	ExitOK     = 0
	ExitScript = 1 // a script failed
	ExitUsage  = 2 // a wrong command line
	ExitAssert = 3 // an assertion or a golden failed
	ExitPanic  = 4 // the guest kernel panicked
	ExitLimit  = 5 // --max-insns, --max-steps or --max-memory was reached
)

// Config is what a Host is made of.
type Config struct {
	Stdout    io.Writer            // print() and everything that scripts show
	Tables    []Table              // the modules and functions, beyond the ones that lang brings itself
	Now       func() time.Time     // the virtual wall clock behind time.now()
	Elapsed   func() uint64        // ns of virtual time that have passed in all machines so far; may be nil
	MaxSteps  uint64               // Starlark steps that all threads together may take; 0 means no limit
	MaxMemory uint64               // bytes that the program's heap may have, guests included; 0 means no limit
	Args      []string             // the script's own arguments (flag.args)
	Strings   func(Place) []string // completes inside quotes; may be nil
	Symbol    func(uint64) string  // what is at an address of the guest's kernel, "" of any other; may be nil
	Guest     func(string) string  // what finds a name of the guest's, "kernel.func(\"vfs_read\")", "" of none; may be nil
	Interrupt func() bool          // stops what the modules run and tells whether anything ran; called from any goroutine
	Dir       string               // file names are shown relative to this directory when it is set
	Seeds     int                  // test.seeds sweeps over at least so many
	Update    Update               // test.golden writes its files
	Std       fs.FS                // what load("@std//...") finds; may be nil
}

// Host runs Starlark for one script or one session.
type Host struct {
	Shell bool // it runs a script of the guest's shell: nothing is printed that Linux would not

	cfg     Config
	env     starlark.StringDict
	rows    []Row
	opts    syntax.FileOptions
	modules map[string]*module      // by absolute path
	sources map[string][]string     // by the name that errors show
	trees   map[string]*syntax.File // the same
	order   []string                // absolute paths of the files being run, outermost first
	ends    []func() error
	closers []func() error
	closing bool   // they run
	left    uint64 // steps not yet leased to a thread
	flags   []scriptFlag
	given   map[string]string // flags that were given, with their values
	args    map[string]string // arguments by the names that flag.arg gives them
	rest    []string          // arguments that are no flags
	script  string            // path of the script that runs
	cases   []CaseResult
	texts   []string // files of test.golden that were asked for
	chunks  int      // pieces of source without a file name so far

	limited   atomic.Bool            // a thread ran out of steps or memory
	stopped   atomic.Bool            // the threads are cancelled
	exhausted atomic.Pointer[string] // how the watchdog words the end of the memory

	mu         sync.Mutex // guards threads and interrupts
	threads    []*starlark.Thread
	interrupts int  // since the last statement of a session began
	ending     bool // the script is over, its ends run
}

// New makes a host. It panics when the tables contradict each other, which is our bug.
func New(cfg Config) *Host {
	if cfg.Stdout == nil {
		cfg.Stdout = io.Discard
	}
	if cfg.Now == nil {
		cfg.Now = func() time.Time { return time.Unix(0, 0).UTC() }
	}
	h := &Host{
		cfg:     cfg,
		modules: map[string]*module{},
		sources: map[string][]string{},
		trees:   map[string]*syntax.File{},
		left:    cfg.MaxSteps,
		rest:    cfg.Args,
		// The full dialect: kscope's scripts are tools, not configuration; see api.md section 0.
		opts: syntax.FileOptions{Set: true, While: true, TopLevelControl: true, GlobalReassign: true, Recursion: true},
	}
	h.buildEnv(append(h.std(), cfg.Tables...))
	return h
}

// Stdout is where scripts print.
func (h *Host) Stdout() io.Writer { return h.cfg.Stdout }

// Rows are all documented names, in the order of the tables.
func (h *Host) Rows() []Row { return h.rows }

// OnEnd registers work for the end of a script that did not fail, or of a session; the oldest runs first, before the closers.
func (h *Host) OnEnd(f func() error) { h.ends = append(h.ends, f) }

// OnClose registers work for Close; the newest runs first.
func (h *Host) OnClose(f func() error) { h.closers = append(h.closers, f) }

// Close ends the run: after the work of OnEnd it undoes what the script made, newest first. It returns the first error.
func (h *Host) Close() error {
	var first error
	for len(h.ends) > 0 {
		f := h.ends[0]
		h.ends = h.ends[1:]
		if err := f(); err != nil && first == nil {
			first = err
		}
	}
	h.closing = true
	for len(h.closers) > 0 {
		last := len(h.closers) - 1
		f := h.closers[last]
		h.closers = h.closers[:last]
		if err := f(); err != nil && first == nil {
			first = err
		}
	}
	return first
}

// Closing tells that the run is over: what is undone now may make things happen, which are not the script's any more.
func (h *Host) Closing() bool { return h.closing }

// Thread makes a Starlark thread with the host's print, load, clock and budget. Modules that call back into Starlark later
// (handlers, user programs) run each callback in a thread of their own, made here.
func (h *Host) Thread(name string) *starlark.Thread {
	t := &starlark.Thread{
		Name:  name,
		Print: func(t *starlark.Thread, msg string) { fmt.Fprintln(h.out(t), msg) },
		Load:  h.load,
	}
	sktime.SetNow(t, func() (time.Time, error) { return h.cfg.Now(), nil })
	h.arm(t)
	h.mu.Lock()
	h.threads = append(h.threads, t)
	h.mu.Unlock()
	return t
}

// muteKey is the thread-local that says when a thread must not print.
const muteKey = "lang.mute"

// Mute keeps a thread from printing while muted is true.
func (h *Host) Mute(t *starlark.Thread, muted func() bool) { t.SetLocal(muteKey, muted) }

// out is where a thread prints now.
func (h *Host) out(t *starlark.Thread) io.Writer {
	if muted, ok := t.Local(muteKey).(func() bool); ok && muted() {
		return io.Discard
	}
	return h.cfg.Stdout
}

// Drop forgets a thread that will not run again.
func (h *Host) Drop(t *starlark.Thread) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for i, u := range h.threads {
		if u == t {
			h.threads = append(h.threads[:i], h.threads[i+1:]...)
			return
		}
	}
}

// Cancel makes every thread fail soon, with the reason as its error. It may be called from any goroutine.
func (h *Host) Cancel(reason string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.stopped.Store(true)
	for _, t := range h.threads {
		t.Cancel(reason)
	}
}

// uncancel lets the threads of a session run again.
func (h *Host) uncancel() {
	h.mu.Lock()
	h.interrupts = 0
	h.stopped.Store(false)
	defer h.mu.Unlock()
	for _, t := range h.threads {
		t.Uncancel()
	}
}

// Interrupt is Ctrl-C: the first one stops what the modules run and keeps its state; when nothing runs, or at the second
// one, the script is cancelled. It may be called from any goroutine.
func (h *Host) Interrupt() {
	h.mu.Lock()
	h.interrupts++
	again := h.interrupts > 1
	h.mu.Unlock()
	stopped := h.cfg.Interrupt != nil && h.cfg.Interrupt()
	if again || !stopped {
		h.Cancel("interrupted")
	}
}

// Quit is Ctrl-C for a script, which has no prompt to come back to: it is cancelled, and what the modules run stops. The work of
// OnEnd is done all the same; a second one ends that too. It may be called from any goroutine.
func (h *Host) Quit() {
	h.mu.Lock()
	h.interrupts++
	skip := h.ending && h.interrupts == 1 // it came when the script was over
	h.mu.Unlock()
	if skip {
		return
	}
	h.Cancel("interrupted")
	if h.cfg.Interrupt != nil {
		h.cfg.Interrupt()
	}
}

// end lets the threads of a script that was interrupted run again, for its ends.
func (h *Host) end() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.ending = true
	if h.interrupts == 1 {
		h.stopped.Store(false)
		for _, t := range h.threads {
			t.Uncancel()
		}
	}
}

// interrupted tells that Ctrl-C was pressed: what a script has counted till then is what its user wants to see.
func (h *Host) interrupted() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.interrupts > 0
}

// Run runs a script to its end: the file and its main(), then the closers. Errors are printed to errw.
func (h *Host) Run(path string, errw io.Writer) int {
	defer h.watch()()
	_, err := h.execFile(path)
	status := h.Report(errw, err)
	if err != nil && !errors.Is(err, errDone) && !h.interrupted() {
		h.ends = nil
	}
	if status == ExitOK {
		status = h.caseStatus()
	}
	h.end()
	if cerr := h.Close(); cerr != nil && status == ExitOK {
		status = h.Report(errw, cerr)
	}
	return status
}

// execFile runs a script file, then its main() if it has one. The globals come back unfrozen, for a session that goes on
// with them.
func (h *Host) execFile(path string) (starlark.StringDict, error) {
	src, err := h.readSource(path)
	if err != nil {
		e := readError(path, err)
		if errors.Is(err, fs.ErrNotExist) {
			e.Hint = DidYouMean(filepath.Base(path), h.siblings(path))
			if strings.HasPrefix(path, stdPrefix) && e.Hint == "" {
				e.Hint = "there are " + strings.Join(h.loadable(stdPrefix), " ")
			}
		}
		return nil, e
	}
	return h.execSource(path, src)
}

// execSource is execFile for source that was read already.
func (h *Host) execSource(path string, src []byte) (starlark.StringDict, error) {
	abs, err := absolute(path)
	if err != nil {
		return nil, err
	}
	h.script = path
	m := &module{path: path, loading: true}
	h.modules[abs] = m
	h.order = append(h.order, abs)
	t := h.Thread(path)
	t.SetLocal(fileKey, path)
	defer h.Drop(t)
	f, err := h.parseFile(path, src)
	if err != nil {
		return nil, err
	}
	if done, err := h.useFlags(f, path); done || err != nil {
		return nil, err
	}
	globals, err := h.initFile(t, f)
	if fn, ok := globals["main"].(*starlark.Function); ok && err == nil && fn.NumParams() == 0 {
		_, err = starlark.Call(t, fn, nil, nil)
	}
	h.order = h.order[:0]
	m.loading = false
	return globals, err
}

// Eval runs a piece of source as -e does: the value of a sole expression is printed when it is not None.
func (h *Host) Eval(src string) error {
	v, err := h.Value(src)
	if err == nil && v != starlark.None {
		return h.show(h.cfg.Stdout, v)
	}
	return err
}

// Value runs a piece of source and gives the value of a sole expression, else None.
func (h *Host) Value(src string) (starlark.Value, error) { return h.ValueWith(src, nil) }

// ValueWith is Value for a source that may use more names than those of all scripts: values that a literal cannot spell.
func (h *Host) ValueWith(src string, names starlark.StringDict) (starlark.Value, error) {
	defer h.watch()()
	t := h.Thread("-e")
	defer h.Drop(t)
	globals := starlark.StringDict{}
	maps.Copy(globals, h.env)
	maps.Copy(globals, names)
	f, name, err := h.parseChunk(src)
	if err != nil {
		return nil, err
	}
	return h.runChunk(t, f, name, globals)
}

// parseFile reads a file's syntax and keeps its lines for error reports.
func (h *Host) parseFile(path string, src []byte) (*syntax.File, error) {
	name := h.display(path)
	h.remember(name, src)
	src = bytes.TrimPrefix(src, []byte("\xef\xbb\xbf")) // a byte-order mark, which some editors write
	return h.opts.Parse(name, src, 0)
}

// initFile runs a file in thread t. It freezes nothing: a script's main() and the handlers that run inside it may write to
// its globals (starlark.ExecFile would have frozen them); load() freezes what it loads.
func (h *Host) initFile(t *starlark.Thread, f *syntax.File) (starlark.StringDict, error) {
	h.keep(f)
	prog, err := starlark.FileProgram(f, h.env.Has)
	if err != nil {
		return nil, err
	}
	return prog.Init(t, h.env)
}

// parseChunk parses source that has no file: -e and the statements of a session.
func (h *Host) parseChunk(src string) (*syntax.File, string, error) {
	h.chunks++
	name := fmt.Sprintf("<stdin:%d>", h.chunks)
	h.remember(name, []byte(src))
	opts := h.opts
	opts.LoadBindsGlobally = true
	f, err := opts.Parse(name, src, 0)
	return f, name, err
}

// runChunk runs a parsed chunk against globals and returns the value of a sole expression, else None.
func (h *Host) runChunk(t *starlark.Thread, f *syntax.File, name string, globals starlark.StringDict) (starlark.Value, error) {
	h.keep(f)
	if len(f.Stmts) == 1 {
		if s, ok := f.Stmts[0].(*syntax.ExprStmt); ok {
			return starlark.EvalExprOptions(f.Options, t, s.X, globals)
		}
	}
	return starlark.None, starlark.ExecREPLChunk(f, t, globals)
}

// display is the name that a user sees for a file.
func (h *Host) display(path string) string {
	if strings.HasPrefix(path, stdPrefix) {
		return path
	}
	if h.cfg.Dir != "" {
		if rel, err := filepath.Rel(h.cfg.Dir, path); err == nil {
			return filepath.ToSlash(rel)
		}
	}
	return filepath.ToSlash(path)
}

// remember keeps the source's lines for error reports.
func (h *Host) remember(name string, src []byte) {
	h.sources[name] = strings.Split(string(src), "\n")
}

// keep prepares a parsed file for its run, and keeps it for errors about arguments.
func (h *Host) keep(f *syntax.File) {
	guard(f)
	h.trees[f.Path] = f
}

// readError says why a script cannot be read, without an operation's name ("open") in front.
func readError(path string, err error) *Error {
	if pe, ok := err.(*os.PathError); ok {
		err = pe.Err
	}
	e := &Error{Msg: fmt.Sprintf("%s: %v", path, err)}
	if os.IsNotExist(err) {
		e.Hint = DidYouMean(filepath.Base(path), siblings(path))
	}
	return e
}

// siblings are the names in the directory of path.
func siblings(path string) []string {
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		return nil
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}
