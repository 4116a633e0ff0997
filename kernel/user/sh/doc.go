// Package sh is the guest's shell: bash 5.2's language, messages and exit codes over package user's system calls.
//
// The parser is mvdan.cc/sh/v3/syntax; the evaluator is ours, because every effect has to be a system call of a guest task:
// a subshell, a pipeline's stage, a command substitution and an external command are each a real fork, pipes are guest
// pipes, redirections are openat, fcntl and dup2, and an errno of the guest's kernel comes back as bash's message.
//
// The flow:
//  1. Main reads the arguments and makes a Shell; run hands it one line's statements at a time, as bash does, so that what
//     stands before a syntax error is executed.
//  2. stmt executes a statement: compound commands in run.go, simple ones in simple.go, pipes and jobs in pipe.go and
//     job.go. A command that is the last thing its process has to do (tail) is executed without another fork.
//  3. Words become fields in expand.go: a word's parts are fragments that know whether they were quoted and whether they
//     may be split; then come splitting, and glob.go.
//  4. break, continue, return and exit are a flow value that every list looks at; an expansion that fails unwinds by a
//     panic of type abort that line catches.
//
// A child of fork works on a clone of the Shell that is made before the fork, for Go variables are shared between the
// coroutines of one machine (see user.Sys.Fork).
//
// A signal that is caught interrupts a call with EINTR, and the stub's handler notes it (user.Sys.Caught): traps are run
// between commands. Job control is what jobcontrol.go says: fg, bg and groups of an interactive shell's jobs, no Ctrl-Z.
//
// testdata/snippets.txt holds rows that bash 5.2 and this shell answer with the same bytes. Known differences:
//   - the parser takes an expression as a whole, so $((1 $op 2)) is a syntax error, and so are ${a[two words]} without
//     quotes and export 1x=3; bash's own words for a syntax error are guessed from its message;
//   - no coproc, history expansion, fc, bind, complete;
//   - =~ is POSIX's leftmost-longest by Go's regexp: no back references; extended patterns are always on;
//   - type and declare -f print functions in the parser's layout, which is near bash's;
//   - messages about $( ) in a here-document have its own line, not the command's;
//   - it nests a thousand functions, evals and sources deep, and refuses texts too deep for the parser, where bash's stack ends;
//   - RANDOM is a function of the pid; lengths and substrings count bytes, as in the C locale.
package sh
