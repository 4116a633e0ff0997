package sh

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"kscope/kernel"
	"kscope/kernel/user"
)

// Shell is one shell process.
type Shell struct {
	s        *user.Sys
	name     string // $0
	args     []string
	vars     map[string]*variable
	funcs    map[string]*function
	opts     options
	hash     map[string]hashed // where commands were found
	aliases  map[string]string
	disabled map[string]bool // builtins, by enable -n
	typed    []string        // by the user of an interactive shell: its history

	builtins map[string]builtin // shared, never changed
	terminal *Terminal          // nil: there is no editor

	pid         int    // of the main shell: $$
	status      int    // $?
	line        int    // of the command that runs
	base        int    // added to the parser's line numbers
	src         string // the text that the parser's offsets are about
	lastJob     int    // $!
	lastArg     string
	sub         int // depth of subshells
	interactive bool
	stdin       bool // -s
	fromText    bool // -c
	random      uint32

	flow     flow
	depth    int // of flow: loops still to leave
	loops    int
	quiet    int // > 0: set -e does not count (conditions)
	frames   []*frame
	sourcing int
	pipes    []int // PIPESTATUS
	temps    []temp

	traps    map[int]string
	trapping bool
	caught   bool // a trap of a signal is set: ask for signals
	pending  uint64
	jobs     []*job
	exits    map[int]int // statuses of children that were collected on the way
	started  uint64
	subst    int          // status of the last command substitution; -1: none
	dirs     []string     // the stack of pushd, below the current directory
	deadline uint64       // of read -t, by the monotonic clock
	grown    int          // bytes put together since the variables were last summed up
	held     int          // what the ledger was told
	readErr  kernel.Errno // of the last read from a pipe or terminal that has ended
	ticks    int          // statements, for an interactive shell's Ctrl-C
	nested   int          // eval, substitutions and traps around: the + signs of set -x
}

// flow says that a command list is being left.
type flow uint8

const (
	flowNone flow = iota
	flowBreak
	flowContinue
	flowReturn
	flowExit
)

// options are those of set.
type options struct {
	errexit, nounset, xtrace, noglob, pipefail, verbose, allexport, noexec, noclobber bool
	nullglob, extglob, dotglob, nocasematch, failglob, monitor, aliases               bool
}

// function is one that is defined, with the line base of the text it stands in.
type function struct {
	name string
	body *syntax.Stmt
	base int
	src  string
}

// frame is one call of a function.
type frame struct {
	fn    *function
	args  []string
	saved []savedVar
	line  int
	opts  bool // OPTIND and friends
}

// hashed is where a command was found, and how often it has been used.
type hashed struct {
	path string
	hits int
}

type savedVar struct {
	name string
	old  *variable
}

// abort unwinds the evaluation of a line.
type abort struct {
	status int
	exit   bool // a shell that is not interactive ends
}

// newShell makes a shell with the variables of its environment.
func newShell(s *user.Sys, name string) *Shell {
	sh := &Shell{s: s, name: name, vars: map[string]*variable{}, funcs: map[string]*function{}, hash: map[string]hashed{}, aliases: map[string]string{},
		traps: map[int]string{}, exits: map[int]int{}, builtins: builtins(), pid: s.Getpid(), subst: -1}
	for _, kv := range s.Env() {
		if k, v, ok := strings.Cut(kv, "="); ok && syntax.ValidName(k) {
			sh.vars[k] = &variable{value: v, set: true, export: true}
		}
	}
	sh.started, _ = s.ClockGettime(clockMonotonic)
	sh.random = uint32(sh.pid)*2654435761 + 12345
	if sh.vars["PWD"] == nil {
		if dir, e := s.Getcwd(); e == 0 {
			sh.vars["PWD"] = &variable{value: dir, set: true, export: true}
		}
	}
	if sh.vars["PATH"] == nil {
		sh.set("PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin")
	}
	level, _ := strconv.Atoi(sh.get("SHLVL"))
	sh.vars["SHLVL"] = &variable{value: strconv.Itoa(level + 1), set: true, export: true}
	sh.set("IFS", " \t\n")
	sh.set("OPTIND", "1")
	sh.set("PS4", "+ ")
	sh.set("HOSTNAME", "kscope")
	sh.set("HOSTTYPE", "x86_64")
	sh.set("OSTYPE", "linux-gnu")
	sh.set("MACHTYPE", "x86_64-pc-linux-gnu")
	sh.set("BASH", "/usr/bin/bash")
	sh.set("BASH_VERSION", "5.2.15(1)-release")
	for name, v := range map[string]string{"UID": "0", "EUID": "0", "PPID": strconv.Itoa(s.Getppid())} {
		sh.vars[name] = &variable{value: v, set: true, readonly: true, integer: true}
	}
	return sh
}

const (
	clockRealtime  = 0
	clockMonotonic = 1
)

// clone is what a child of fork starts with.
func (sh *Shell) clone() *Shell {
	c := *sh
	c.vars = make(map[string]*variable, len(sh.vars))
	for name, v := range sh.vars {
		c.vars[name] = v.clone()
	}
	c.args = slices.Clone(sh.args)
	c.funcs = maps.Clone(sh.funcs)
	c.hash = maps.Clone(sh.hash)
	c.aliases, c.disabled = maps.Clone(sh.aliases), maps.Clone(sh.disabled)
	c.traps = maps.Clone(sh.traps)
	c.exits = map[int]int{}
	c.jobs = nil
	c.temps = nil
	c.pipes = slices.Clone(sh.pipes)
	c.frames = nil
	for _, f := range sh.frames {
		g := *f
		g.saved = nil
		c.frames = append(c.frames, &g)
	}
	c.sub++
	c.held = 0
	return &c
}

// fork runs fn in a child of this shell; its result is the exit status.
func (sh *Shell) fork(fn func(c *Shell) int) (pid int, e kernel.Errno) {
	child := sh.clone()
	pid, e = sh.s.Fork(func(s *user.Sys) int {
		child.s = s
		child.dropTraps()
		return child.finish(fn)
	})
	if e != 0 {
		sh.errorf("fork: retry: %s", e.Error())
	}
	return pid, e
}

// finish runs fn as a process's whole work: an abort ends it, and the EXIT trap follows.
func (sh *Shell) finish(fn func(c *Shell) int) int {
	status := sh.protect(func() int { return fn(sh) })
	if sh.flow == flowExit {
		status = sh.status
	}
	sh.status = status
	return sh.exitTrap()
}

// protect runs fn; an abort in it gives its status and, where bash would exit, makes the shell leave.
func (sh *Shell) protect(fn func() int) (status int) {
	temps := len(sh.temps)
	defer func() {
		switch r := recover().(type) {
		case nil:
		case abort:
			status, sh.status = r.status, r.status
			if sh.interactive && len(sh.frames) == 0 {
				sh.loops, sh.quiet = 0, 0
			}
			for len(sh.frames) > 0 && (r.exit || sh.interactive) {
				sh.leave()
			}
			if r.exit && !sh.interactive {
				sh.flow = flowExit
			}
		default:
			panic(r)
		}
		sh.dropTemps(temps)
	}()
	return fn()
}

// errorf prints a message as bash's report_error does.
func (sh *Shell) errorf(format string, args ...any) {
	sh.s.Write(2, []byte(sh.prefix()+sprintf(format, args...)+"\n"))
}

// prefix is what stands before a message: the script's name and the line, without the line in an interactive shell.
func (sh *Shell) prefix() string {
	if sh.interactive && sh.sub == 0 && sh.sourcing == 0 {
		return sh.name + ": "
	}
	return sh.name + ": line " + strconv.Itoa(max(sh.line, 0)) + ": "
}

// fatal ends the shell (unless it is interactive) with a message.
func (sh *Shell) fatal(status int, format string, args ...any) {
	sh.errorf(format, args...)
	panic(abort{status, true})
}

// discard gives the rest of the line up.
func (sh *Shell) discard(format string, args ...any) {
	sh.errorf(format, args...)
	panic(abort{1, false})
}

func (sh *Shell) setLine(p syntax.Pos) { sh.line = int(p.Line()) + sh.base }

// lineOf is where a statement's line counts from. bash notes a simple command's line when it has read the word behind the
// first one, to see whether that is the parenthesis of a function.
func lineOf(st *syntax.Stmt) syntax.Pos {
	switch c := st.Cmd.(type) {
	case nil:
		return st.Pos()
	case *syntax.CallExpr:
		if len(c.Assigns) == 0 && len(c.Args) > 1 {
			return c.Args[1].End()
		}
		return c.Pos()
	}
	return st.Cmd.Pos()
}

// original is a node's text as it was written.
func (sh *Shell) original(n syntax.Node) string { return sh.between(n.Pos(), n.End()) }

func (sh *Shell) between(from, to syntax.Pos) string {
	a, b := int(from.Offset()), int(to.Offset())
	if a > b || b > len(sh.src) {
		return ""
	}
	return decode(sh.src[a:b])
}

// failure is the exit status of a script that an expansion has ended.
func (sh *Shell) failure() int {
	if sh.fromText {
		return 127
	}
	return 1
}
