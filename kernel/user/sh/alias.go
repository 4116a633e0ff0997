package sh

import (
	"io"
	"maps"
	"slices"
	"strings"
)

// Aliases are replaced in what the parser reads, a line at a time, so that an alias counts from the line behind its definition: in an
// interactive shell, and in a script that says shopt -s expand_aliases. See alias_expand_token in parse.y.

// expandAliases replaces the aliases among the command words of a line; before is what stands before it in its statement.
func (sh *Shell) expandAliases(before, line string) string {
	if len(sh.aliases) == 0 || !sh.interactive && !sh.opts.aliases {
		return line
	}
	return expandAliases(sh.aliases, before, line, nil)
}

// expandAliases knows of the aliases within which it is: these are not expanded again.
func expandAliases(aliases map[string]string, before, line string, within []string) string {
	var out strings.Builder
	s := &wordScan{line: before + line, w: word{command: true}}
	done := len(before) // up to where the line is in out
	next := false       // the value before ended in a blank: the next word is one, too
	for end := false; !end; {
		end = s.i >= len(s.line)
		if c := byte('\n'); end || s.w.quote == 0 && s.start >= len(before) {
			if !end {
				c = s.line[s.i]
			}
			raw := s.line[s.start:s.i]
			if value, ok := aliases[raw]; ok && raw != "" && strings.IndexByte(" \t\n;&|()<>", c) >= 0 && (s.w.command && !s.w.redirect || next) &&
				s.start >= len(before) && !slices.Contains(within, raw) {
				out.WriteString(s.line[done:s.start])
				out.WriteString(expandAliases(aliases, "", value, append(within, raw)))
				done = s.i
				next = strings.HasSuffix(value, " ") || strings.HasSuffix(value, "\t")
			} else if raw != "" && strings.IndexByte(" \t", c) >= 0 {
				next = false
			}
		}
		if !end && !s.step() {
			break // a comment
		}
	}
	out.WriteString(s.line[done:])
	return out.String()
}

// aliasLines reads a script's text, a line at a time, for the parser.
type aliasLines struct {
	sh   *Shell
	text string
	rest string
	seen string
}

func (r *aliasLines) Read(b []byte) (int, error) {
	if r.rest == "" {
		if r.text == "" {
			return 0, io.EOF
		}
		n := strings.IndexByte(r.text, '\n') + 1
		if n == 0 {
			n = len(r.text)
		}
		if !Unfinished(strings.TrimSuffix(r.seen, "\n")) {
			r.seen = ""
		}
		r.rest = r.sh.expandAliases(r.seen, r.text[:n])
		r.seen += r.text[:n]
		r.text = r.text[n:]
	}
	n := copy(b, r.rest)
	r.rest = r.rest[n:]
	return n, nil
}

// lines gives text to the parser.
func (sh *Shell) lines(text string) io.Reader {
	if !sh.interactive && !sh.opts.aliases && !strings.Contains(text, "expand_aliases") {
		return strings.NewReader(text)
	}
	return &aliasLines{sh: sh, text: text}
}

func (sh *Shell) aliasLine(name string) string {
	return sprintf("alias %s=%s\n", name, singleQuoted(sh.aliases[name]))
}

// aliasBuiltin is alias [-p] [name[=value] ...].
func aliasBuiltin(sh *Shell, argv []string) int {
	args, list := argv[1:], len(argv) == 1
	for len(args) > 0 && len(args[0]) > 1 && args[0][0] == '-' {
		if args[0] != "-p" && args[0] != "--" {
			return sh.badOption("alias", args[0][:2], "alias [-p] [name[=value] ... ]")
		}
		list = list || args[0] == "-p"
		args = args[1:]
	}
	if list {
		for _, name := range slices.Sorted(maps.Keys(sh.aliases)) {
			sh.print("alias", sh.aliasLine(name))
		}
	}
	status := 0
	for _, a := range args {
		name, value, ok := strings.Cut(a, "=")
		_, known := sh.aliases[name]
		switch {
		case ok && name != "" && !strings.ContainsAny(name, " \t\n;&|()<>$`\\\"'/"):
			sh.aliases[name] = value
		case ok && name != "":
			sh.errorf("alias: `%s': invalid alias name", name)
			status = 1
		case known:
			sh.print("alias", sh.aliasLine(name))
		default:
			sh.errorf("alias: %s: not found", a)
			status = 1
		}
	}
	return status
}

// unaliasBuiltin is unalias [-a] name [name ...].
func unaliasBuiltin(sh *Shell, argv []string) int {
	const usage = "unalias [-a] name [name ...]"
	args := argv[1:]
	if len(args) > 0 && args[0] == "-a" {
		clear(sh.aliases)
		return 0
	}
	if len(args) > 0 && len(args[0]) > 1 && args[0][0] == '-' {
		return sh.badOption("unalias", args[0][:2], usage)
	}
	if len(args) == 0 {
		return sh.usage(usage)
	}
	status := 0
	for _, name := range args {
		if _, ok := sh.aliases[name]; !ok {
			sh.errorf("unalias: %s: not found", name)
			status = 1
		}
		delete(sh.aliases, name)
	}
	return status
}

// enableBuiltin is enable [-a] [-n] [-p] [name ...]: a builtin that is disabled is looked for in PATH.
func enableBuiltin(sh *Shell, argv []string) int {
	args, off, all := argv[1:], false, false
	for len(args) > 0 && len(args[0]) > 1 && args[0][0] == '-' {
		for _, c := range args[0][1:] {
			switch c {
			case 'n':
				off = true
			case 'a':
				all = true
			case 'p', 's':
			default:
				return sh.badOption("enable", "-"+string(c), "enable [-a] [-dnps] [-f filename] [name ...]")
			}
		}
		args = args[1:]
	}
	if len(args) == 0 {
		for _, name := range slices.Sorted(maps.Keys(sh.builtins)) {
			switch {
			case sh.disabled[name] && (off || all):
				sh.print("enable", "enable -n "+name+"\n")
			case !sh.disabled[name] && (!off || all):
				sh.print("enable", "enable "+name+"\n")
			}
		}
		return 0
	}
	status := 0
	for _, name := range args {
		if _, ok := sh.builtins[name]; !ok {
			sh.errorf("enable: %s: not a shell builtin", name)
			status = 1
			continue
		}
		if sh.disabled == nil {
			sh.disabled = map[string]bool{}
		}
		sh.disabled[name] = off
	}
	return status
}

// builtin finds one that is not disabled.
func (sh *Shell) builtin(name string) (b builtin, ok bool) {
	b, ok = sh.builtins[name]
	return b, ok && !sh.disabled[name]
}
