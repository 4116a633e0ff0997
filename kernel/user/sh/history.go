package sh

import (
	"strconv"
	"strings"
)

// remember puts a line into the history: one that a statement goes on with, into the statement.
func (sh *Shell) remember(line string, first bool) {
	n := len(sh.typed)
	switch {
	case !first && n > 0:
		sh.typed[n-1] += "\n" + line
	case strings.TrimSpace(line) != "" && (n == 0 || sh.typed[n-1] != line):
		sh.typed = append(sh.typed[:n:n], line)
	}
}

// historyBuiltin is history [-c] [n]. Of what was typed in sessions before, only the line editor knows.
func historyBuiltin(sh *Shell, argv []string) int {
	from := 0
	if len(argv) > 1 {
		n, err := strconv.Atoi(argv[1])
		switch {
		case argv[1] == "-c":
			sh.typed = nil
			return 0
		case strings.HasPrefix(argv[1], "-"):
			return sh.badOption("history", argv[1][:2], "history [-c] [n]")
		case err != nil:
			sh.errorf("history: %s: numeric argument required", argv[1])
			return 1
		}
		from = max(0, len(sh.typed)-n)
	}
	for i, line := range sh.typed[from:] {
		sh.print("history", sprintf("%5d  %s\n", from+i+1, line))
	}
	return 0
}

// synopses are how builtins are called, those of a special form first.
const synopses = `[ arg... ]
. filename [arguments]
: [arguments]
alias [-p] [name[=value] ... ]
bg [job_spec ...]
break [n]
builtin [shell-builtin [arg ...]]
caller [expr]
cd [-L|-P] [dir]
command [-pVv] command [arg ...]
continue [n]
declare [-aAfFgiIlnrtux] [name[=value] ...] or declare -p [-aAfFilnrtux] [name ...]
dirs [-clpv] [+N] [-N]
disown [-h] [-ar] [jobspec ... | pid ...]
echo [-neE] [arg ...]
enable [-a] [-nps] [name ...]
eval [arg ...]
exec [-cl] [-a name] [command [argument ...]] [redirection ...]
exit [n]
export [-fn] [name[=value] ...] or export -p
false
fg [job_spec]
getopts optstring name [arg ...]
hash [-lr] [-dt] [name ...]
help [pattern ...]
history [-c] [n]
jobs [-lnprs] [jobspec ...]
kill [-s sigspec | -n signum | -sigspec] pid | jobspec ... or kill -l [sigspec]
let arg [arg ...]
local [option] name[=value] ...
mapfile [-n count] [-t] [-u fd] [array]
popd [-n] [+N | -N]
printf [-v var] format [arguments]
pushd [-n] [+N | -N | dir]
pwd [-LP]
read [-ers] [-a array] [-d delim] [-n nchars] [-N nchars] [-p prompt] [-t timeout] [-u fd] [name ...]
readarray [-n count] [-t] [-u fd] [array]
readonly [-aAf] [name[=value] ...] or readonly -p
return [n]
set [-abefhkmnptuvxBCEHPT] [-o option-name] [--] [-] [arg ...]
shift [n]
shopt [-pqsu] [-o] [optname ...]
source filename [arguments]
suspend [-f]
test [expr]
times
trap [-lp] [[arg] signal_spec ...]
true
type [-afptP] name [name ...]
typeset [-aAfFgiIlnrtux] name[=value] ... or typeset -p [-aAfFilnrtux] [name ...]
ulimit [-SHabcdefiklmnpqrstuvxPRT] [limit]
umask [-p] [-S] [mode]
unalias [-a] name [name ...]
unset [-f] [-v] [-n] [name ...]
wait [-fn] [-p var] [id ...]
`

// helpBuiltin is help [pattern ...].
func helpBuiltin(sh *Shell, argv []string) int {
	if len(argv) == 1 {
		return sh.print("help", "The guest's shell: bash 5.2's language. These are its builtins; ls /usr/bin shows the commands, each a task of the guest,\n"+
			"and ls /sys/kernel/tracing the files of tracing. `cat /sys/kernel/tracing/README' is the kernel's own help.\n\n"+synopses)
	}
	status := 0
	for _, pattern := range argv[1:] {
		found := false
		for _, line := range strings.SplitAfter(synopses, "\n") {
			if name, _, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " "); line != "" && sh.match(pattern, name) {
				sh.print("help", name+": "+line)
				found = true
			}
		}
		if !found {
			sh.errorf("help: no help topics match `%s'.  Try `help help' or `man -k %s' or `info %s'.", pattern, pattern, pattern)
			status = 1
		}
	}
	return status
}
