package sh

import (
	"slices"
	"strconv"
	"strings"
)

// The directory stack: sh.dirs are the directories below the current one, the newest first.

// shown is a directory as dirs shows it: $HOME is ~.
func (sh *Shell) shown(dir string, long bool) string {
	home := sh.get("HOME")
	if rest, ok := strings.CutPrefix(dir, home); ok && !long && home != "" && home != "/" && (rest == "" || rest[0] == '/') {
		return "~" + rest
	}
	return dir
}

// stack is the whole stack, the current directory first.
func (sh *Shell) stack() []string { return append([]string{sh.get("PWD")}, sh.dirs...) }

// stackIndex reads +N and -N; ok is false when it is neither, or there is no such entry.
func (sh *Shell) stackIndex(name, arg string) (i int, is, ok bool) {
	if len(arg) < 2 || arg[0] != '+' && arg[0] != '-' || !isDigits(arg[1:]) {
		return 0, false, false
	}
	i, err := strconv.Atoi(arg[1:])
	n := len(sh.dirs) + 1
	if arg[0] == '-' {
		i = n - 1 - i
	}
	switch {
	case err == nil && i >= 0 && i < n:
		return i, true, true
	case n == 1:
		sh.errorf("%s: directory stack empty", name)
	default:
		sh.errorf("%s: %s: directory stack index out of range", name, strings.TrimLeft(arg, "+-"))
	}
	return 0, true, false
}

// dirsBuiltin is dirs [-clpv] [+N] [-N].
func dirsBuiltin(sh *Shell, argv []string) int {
	long, lines, numbers := false, false, false
	for _, a := range argv[1:] {
		if i, is, ok := sh.stackIndex("dirs", a); is {
			if !ok {
				return 1
			}
			return sh.print("dirs", sh.shown(sh.stack()[i], long)+"\n")
		}
		if a == "" || a[0] != '-' || strings.Trim(a[1:], "clpv") != "" {
			return sh.badOption("dirs", a, "dirs [-clpv] [+N] [-N]")
		}
		if strings.Contains(a, "c") {
			sh.dirs = nil
			return 0
		}
		long, lines = long || strings.Contains(a, "l"), lines || strings.ContainsAny(a, "pv")
		numbers = numbers || strings.Contains(a, "v")
	}
	var b strings.Builder
	for i, d := range sh.stack() {
		switch {
		case numbers:
			b.WriteString(sprintf("%2d  ", i))
		case i > 0 && !lines:
			b.WriteByte(' ')
		}
		b.WriteString(sh.shown(d, long))
		if lines {
			b.WriteByte('\n')
		}
	}
	return sh.print("dirs", strings.TrimSuffix(b.String(), "\n")+"\n")
}

// goTo changes to a directory of the stack as cd does.
func (sh *Shell) goTo(name, dir string) bool {
	return cdBuiltin(sh, []string{name, "--", dir}) == 0
}

// pushdBuiltin is pushd [-n] [+N | -N | dir].
func pushdBuiltin(sh *Shell, argv []string) int {
	args, stay := argv[1:], false
	for len(args) > 0 && (args[0] == "-n" || args[0] == "--") {
		stay = stay || args[0] == "-n"
		args = args[1:]
	}
	switch {
	case len(args) == 0:
		if len(sh.dirs) == 0 {
			sh.errorf("pushd: no other directory")
			return 1
		}
		old, dir := sh.get("PWD"), sh.dirs[0]
		if stay {
			return 0
		}
		if !sh.goTo("pushd", dir) {
			return 1
		}
		sh.dirs = append([]string{old}, sh.dirs[1:]...)
	default:
		i, is, ok := sh.stackIndex("pushd", args[0])
		switch {
		case is && !ok:
			return 1
		case is:
			all := sh.stack()
			turned := slices.Concat(all[i:], all[:i])
			if !stay && !sh.goTo("pushd", turned[0]) {
				return 1
			}
			sh.dirs = turned[1:]
		case stay:
			sh.dirs = append([]string{args[0]}, sh.dirs...)
		default:
			old := sh.get("PWD")
			if !sh.goTo("pushd", args[0]) {
				return 1
			}
			sh.dirs = append([]string{old}, sh.dirs...)
		}
	}
	return dirsBuiltin(sh, []string{"dirs"})
}

// popdBuiltin is popd [-n] [+N | -N].
func popdBuiltin(sh *Shell, argv []string) int {
	args, stay := argv[1:], false
	for len(args) > 0 && args[0] == "-n" {
		stay, args = true, args[1:]
	}
	i := 0
	if len(args) > 0 {
		n, is, ok := sh.stackIndex("popd", args[0])
		if !is {
			sh.errorf("popd: %s: invalid argument", args[0])
			return sh.usage("popd [-n] [+N | -N]")
		}
		if i = n; !ok {
			return 1
		}
	}
	if len(sh.dirs) == 0 {
		sh.errorf("popd: directory stack empty")
		return 1
	}
	if i == 0 && !stay {
		if !sh.goTo("popd", sh.dirs[0]) {
			return 1
		}
		i = 1
	}
	i = max(i, 1)
	sh.dirs = slices.Delete(slices.Clone(sh.dirs), i-1, i)
	return dirsBuiltin(sh, []string{"dirs"})
}
