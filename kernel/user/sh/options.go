package sh

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// optionRow is one option of set -o (with its letter) or of shopt.
type optionRow struct {
	name   string
	letter byte
	shopt  bool
	field  func(*options) *bool
}

// optionRows are the options that do something here.
func optionRows() []optionRow {
	return []optionRow{
		{"allexport", 'a', false, func(o *options) *bool { return &o.allexport }},
		{"errexit", 'e', false, func(o *options) *bool { return &o.errexit }},
		{"monitor", 'm', false, func(o *options) *bool { return &o.monitor }},
		{"noclobber", 'C', false, func(o *options) *bool { return &o.noclobber }},
		{"noexec", 'n', false, func(o *options) *bool { return &o.noexec }},
		{"noglob", 'f', false, func(o *options) *bool { return &o.noglob }},
		{"nounset", 'u', false, func(o *options) *bool { return &o.nounset }},
		{"pipefail", 0, false, func(o *options) *bool { return &o.pipefail }},
		{"verbose", 'v', false, func(o *options) *bool { return &o.verbose }},
		{"xtrace", 'x', false, func(o *options) *bool { return &o.xtrace }},
		{"expand_aliases", 0, true, func(o *options) *bool { return &o.aliases }},
		{"dotglob", 0, true, func(o *options) *bool { return &o.dotglob }},
		{"extglob", 0, true, func(o *options) *bool { return &o.extglob }},
		{"failglob", 0, true, func(o *options) *bool { return &o.failglob }},
		{"nocasematch", 0, true, func(o *options) *bool { return &o.nocasematch }},
		{"nullglob", 0, true, func(o *options) *bool { return &o.nullglob }},
	}
}

// silent are options that bash has and that change nothing here.
const silent = " braceexpand emacs errtrace functrace hashall histexpand history ignoreeof interactive-comments keyword nolog notify onecmd " +
	"physical posix privileged vi globstar inherit_errexit lastpipe sourcepath checkwinsize cmdhist huponexit promptvars " +
	"progcomp extdebug checkjobs autocd cdspell dirspell direxpand execfail globasciiranges gnu_errfmt histappend nocaseglob " +
	"xpg_echo patsub_replacement "

func (sh *Shell) letter(c byte) *bool {
	for _, r := range optionRows() {
		if r.letter == c && c != 0 {
			return r.field(&sh.opts)
		}
	}
	if strings.IndexByte("bhkptBEHPT", c) >= 0 {
		return new(bool)
	}
	return nil
}

// option finds a set -o option by name.
func (sh *Shell) option(name string) *bool {
	for _, r := range optionRows() {
		if r.name == name && !r.shopt {
			return r.field(&sh.opts)
		}
	}
	return nil
}

func (sh *Shell) setOption(name string, on bool) bool {
	if p := sh.option(name); p != nil {
		*p = on
		return true
	}
	if strings.Contains(silent, " "+name+" ") {
		return true
	}
	sh.errorf("set: %s: invalid option name", name)
	return false
}

// flags is $-.
func (sh *Shell) flags() string {
	out := ""
	for _, c := range "aefhimnuvxBCc" {
		on := c == 'h' || c == 'B' || c == 'i' && sh.interactive || c == 'c' && sh.fromText
		if !on && strings.ContainsRune("aefmnuvxC", c) {
			on = *sh.letter(byte(c))
		}
		if on {
			out += string(c)
		}
	}
	if sh.stdin {
		out += "s"
	}
	return out
}

// optionNames is SHELLOPTS.
func (sh *Shell) optionNames() string {
	names := []string{"braceexpand", "hashall", "interactive-comments"}
	for _, r := range optionRows() {
		if !r.shopt && *r.field(&sh.opts) {
			names = append(names, r.name)
		}
	}
	slices.Sort(names)
	return strings.Join(names, ":")
}

func setBuiltin(sh *Shell, argv []string) int {
	args := argv[1:]
	if len(args) == 0 {
		return sh.print("set", sh.allVariables())
	}
	for len(args) > 0 {
		a := args[0]
		if a == "--" {
			sh.args = args[1:]
			return 0
		}
		if a == "-" {
			sh.opts.xtrace, sh.opts.verbose = false, false
			if len(args) > 1 {
				sh.args = args[1:]
			}
			return 0
		}
		if len(a) < 2 || a[0] != '-' && a[0] != '+' {
			break
		}
		args = args[1:]
		on := a[0] == '-'
		for _, c := range a[1:] {
			if c == 'o' {
				if len(args) == 0 {
					return sh.print("set", sh.optionTable(on))
				}
				if !sh.setOption(args[0], on) {
					return 2
				}
				args = args[1:]
				continue
			}
			p := sh.letter(byte(c))
			if p == nil {
				return sh.badOption("set", a[:1]+string(c), "set [-abefhkmnptuvxBCEHPT] [-o option-name] [--] [-] [arg ...]")
			}
			*p = on
		}
	}
	if len(args) > 0 {
		sh.args = args
	}
	return 0
}

// optionTable is what set -o and set +o print.
func (sh *Shell) optionTable(human bool) string {
	var out strings.Builder
	for _, r := range optionRows() {
		if r.shopt {
			continue
		}
		on := *r.field(&sh.opts)
		if human {
			out.WriteString(sprintf("%-15s\t%s\n", r.name, map[bool]string{true: "on", false: "off"}[on]))
		} else {
			out.WriteString("set " + map[bool]string{true: "-", false: "+"}[on] + "o " + r.name + "\n")
		}
	}
	return out.String()
}

func (sh *Shell) allVariables() string {
	var out strings.Builder
	for _, name := range slices.Sorted(maps.Keys(sh.vars)) {
		v := sh.vars[name]
		switch {
		case !syntax.ValidName(name):
		case v.array():
			_, list, _ := strings.Cut(v.declare(name), "=")
			out.WriteString(name + "=" + list + "\n")
		case v.set:
			out.WriteString(name + "=" + shellQuote(v.value) + "\n")
		}
	}
	for _, name := range slices.Sorted(maps.Keys(sh.funcs)) {
		out.WriteString(funcText(sh.funcs[name]))
	}
	return out.String()
}

func shoptBuiltin(sh *Shell, argv []string) int {
	mode := byte(0)
	args := argv[1:]
	for len(args) > 0 && len(args[0]) > 1 && args[0][0] == '-' {
		for _, c := range args[0][1:] {
			if c == 's' || c == 'u' || c == 'q' {
				mode = byte(c)
			}
		}
		args = args[1:]
	}
	status := 0
	for _, name := range args {
		var p *bool
		for _, r := range optionRows() {
			if r.name == name {
				p = r.field(&sh.opts)
			}
		}
		switch {
		case p == nil && !strings.Contains(silent, " "+name+" "):
			sh.errorf("shopt: %s: invalid shell option name", name)
			status = 1
		case mode == 's' || mode == 'u':
			if p != nil {
				*p = mode == 's'
			}
		default:
			if p == nil || !*p {
				status = 1
			}
			if mode == 0 {
				sh.print("shopt", sprintf("%-15s\t%s\n", name, map[bool]string{true: "on", false: "off"}[p != nil && *p]))
			}
		}
	}
	return status
}

func unsetBuiltin(sh *Shell, argv []string) int {
	args, funcs, vars := argv[1:], false, false
	for len(args) > 0 && len(args[0]) > 1 && args[0][0] == '-' {
		opt := args[0]
		args = args[1:]
		if opt == "--" {
			break
		}
		switch opt {
		case "-f":
			funcs = true
		case "-v", "-n":
			vars = true
		default:
			return sh.badOption("unset", opt, "unset [-f] [-v] [-n] [name ...]")
		}
	}
	status := 0
	for _, name := range args {
		base, key, ok := strings.Cut(name, "[")
		if ok {
			sh.unsetElement(base, strings.TrimSuffix(key, "]"))
			continue
		}
		if !funcs && !syntax.ValidName(name) {
			sh.errorf("unset: `%s': not a valid identifier", name)
			status = 1
			continue
		}
		if !funcs && sh.vars[name] != nil || vars {
			if !sh.unset(name) {
				status = 1
			}
			continue
		}
		delete(sh.funcs, name)
	}
	return status
}

func (sh *Shell) unsetElement(name, key string) {
	v := sh.vars[name]
	switch {
	case v == nil:
	case v.dict != nil:
		delete(v.dict, key)
	case v.list != nil:
		delete(v.list, sh.index(v, name, key))
	}
}

// declFlags are the options of declare, local, export and readonly.
type declFlags struct {
	on, off   string
	show      bool
	funcs     bool
	global    bool
	localOnly bool
}

// declClause is declare, local, export, readonly and typeset as the parser gives them.
func (sh *Shell) declClause(c *syntax.DeclClause) int {
	sh.subst = -1
	var f declFlags
	name := c.Variant.Value
	var assigns []*syntax.Assign
	words := []string{name}
	for _, a := range c.Args {
		if a.Naked && a.Name == nil {
			for _, w := range sh.fields(a.Value) {
				words = append(words, w)
				if len(w) > 1 && (w[0] == '-' || w[0] == '+') {
					if status := sh.declOption(name, w, &f); status != 0 {
						return status
					}
					continue
				}
				assigns = append(assigns, wordAssign(w))
			}
			continue
		}
		assigns = append(assigns, a)
	}
	if sh.opts.xtrace {
		for _, a := range assigns {
			if a.Naked || a.Array != nil {
				words = append(words, a.Name.Value)
			} else {
				words = append(words, a.Name.Value+"="+source(a.Value))
			}
		}
		sh.traceCall(words)
	}
	return sh.declare(name, &f, assigns)
}

// wordAssign makes an assignment of an expanded word; Name.Value keeps a text that is no name for the message.
func wordAssign(w string) *syntax.Assign {
	name, value, ok := strings.Cut(w, "=")
	a := &syntax.Assign{Name: &syntax.Lit{Value: name}, Naked: !ok}
	if strings.HasSuffix(name, "+") && ok {
		a.Append, a.Name.Value = true, strings.TrimSuffix(name, "+")
	}
	if ok {
		a.Value = &syntax.Word{Parts: []syntax.WordPart{&syntax.SglQuoted{Value: value}}}
	}
	return a
}

// declareWords is a declaration that was no keyword when it was parsed (command export x=1).
func declareWords(sh *Shell, argv []string) int {
	var f declFlags
	var assigns []*syntax.Assign
	for _, w := range argv[1:] {
		if len(w) > 1 && (w[0] == '-' || w[0] == '+') {
			if status := sh.declOption(argv[0], w, &f); status != 0 {
				return status
			}
			continue
		}
		assigns = append(assigns, wordAssign(w))
	}
	return sh.declare(argv[0], &f, assigns)
}

func (sh *Shell) declOption(name, w string, f *declFlags) int {
	for _, c := range w[1:] {
		switch {
		case c == '-':
		case c == 'p':
			f.show = true
		case c == 'f' || c == 'F':
			f.funcs = true
			f.show = f.show || name != "export"
			if c == 'F' {
				f.on += "F"
			}
		case c == 'g':
			f.global = true
		case c == 'n' && name == "export":
			f.off += "x"
		case strings.ContainsRune("aAilnrtux", c) && w[0] == '-':
			f.on += string(c)
		case strings.ContainsRune("aAilnrtux", c):
			f.off += string(c)
		default:
			usage := map[string]string{"export": "export [-fn] [name[=value] ...] or export -p", "readonly": "readonly [-aAf] [name[=value] ...] or readonly -p",
				"local": "local [option] name[=value] ..."}[name]
			if usage == "" {
				usage = name + " [-aAfFgiIlnrtux] [name[=value] ...] or " + name + " -p [-aAfFilnrtux] [name ...]"
			}
			return sh.badOption(name, w[:1]+string(c), usage)
		}
	}
	return 0
}

// declare gives variables values and attributes.
func (sh *Shell) declare(name string, f *declFlags, assigns []*syntax.Assign) int {
	local := len(sh.frames) > 0 && !f.global && (name == "declare" || name == "typeset" || name == "local")
	if name == "local" && len(sh.frames) == 0 {
		sh.errorf("local: can only be used in a function")
		return 1
	}
	switch name {
	case "export":
		if f.off == "" {
			f.on += "x"
		}
	case "readonly":
		f.on += "r"
	}
	if f.funcs {
		return sh.showFuncs(f, assigns)
	}
	if len(assigns) == 0 || f.show {
		return sh.showVars(name, f, assigns)
	}
	status := 0
	for _, a := range assigns {
		n := a.Name.Value
		if !syntax.ValidName(n) {
			text := n
			if a.Value != nil {
				text += "=" + sh.text(a.Value)
			}
			sh.errorf("%s: `%s': not a valid identifier", name, text)
			status = 1
			continue
		}
		if !sh.declareOne(name, f, a, local) {
			status = 1
		}
	}
	return status
}

func (sh *Shell) declareOne(name string, f *declFlags, a *syntax.Assign, local bool) bool {
	n := a.Name.Value
	v := sh.vars[n]
	if v != nil && v.readonly && (!a.Naked || strings.Contains(f.off, "r")) {
		sh.errorf("%s: %s: readonly variable", name, n)
		return false
	}
	if local {
		fr := sh.frames[len(sh.frames)-1]
		if !slices.ContainsFunc(fr.saved, func(s savedVar) bool { return s.name == n }) {
			value := ""
			if !a.Naked && a.Value != nil { // x in "local x=$x" is still the old one
				value = sh.assignText(a.Value)
				a = wordAssign(n + "=" + value)
			}
			fr.saved = append(fr.saved, savedVar{n, v})
			v = &variable{}
			sh.vars[n] = v
		}
	}
	if v == nil {
		v = &variable{}
		sh.vars[n] = v
	}
	for _, c := range f.on {
		switch c {
		case 'a':
			v.toList()
		case 'A':
			if v.dict == nil {
				v.dict, v.list = map[string]string{}, nil
			}
		}
	}
	v.setFlags(f.on, true)
	v.setFlags(f.off, false)
	if !a.Naked {
		v.readonly = false
		if v.isRef && a.Value != nil {
			v.value, v.set = sh.assignText(a.Value), true
		} else {
			sh.assign(a, f.on)
		}
	}
	if strings.Contains(f.on, "r") {
		v.readonly = true
	}
	return true
}

func (v *variable) setFlags(letters string, on bool) {
	for _, c := range letters {
		switch c {
		case 'x':
			v.export = on
		case 'r':
			v.readonly = on
		case 'i':
			v.integer = on
		case 'u':
			v.upper, v.lower = on, false
		case 'l':
			v.lower, v.upper = on, false
		case 'n':
			v.isRef = on
		}
	}
}

func (sh *Shell) showVars(name string, f *declFlags, assigns []*syntax.Assign) int {
	var out strings.Builder
	status := 0
	var names []string
	for _, a := range assigns {
		names = append(names, a.Name.Value)
	}
	all := len(names) == 0
	if all {
		names = slices.Sorted(maps.Keys(sh.vars))
	}
	for _, n := range names {
		v := sh.vars[n]
		switch {
		case v == nil:
			sh.errorf("%s: %s: not found", name, n)
			status = 1
		case all && (!syntax.ValidName(n) || strings.Contains(f.on, "x") && !v.export || strings.Contains(f.on, "r") && !v.readonly ||
			strings.Contains(f.on, "a") && v.list == nil || strings.Contains(f.on, "A") && v.dict == nil):
		default:
			out.WriteString(v.declare(n) + "\n")
		}
	}
	return max(status, sh.print(name, out.String()))
}

func (sh *Shell) showFuncs(f *declFlags, assigns []*syntax.Assign) int {
	var names []string
	for _, a := range assigns {
		names = append(names, a.Name.Value)
	}
	all := len(names) == 0
	if all {
		names = slices.Sorted(maps.Keys(sh.funcs))
	}
	var out strings.Builder
	for _, n := range names {
		fn := sh.funcs[n]
		switch {
		case fn == nil:
			return 1
		case strings.Contains(f.on, "F") && all:
			out.WriteString("declare -f " + n + "\n")
		case strings.Contains(f.on, "F"):
			out.WriteString(n + "\n")
		default:
			out.WriteString(funcText(fn))
		}
	}
	return sh.print("declare", out.String())
}

// funcText is a function as type and declare -f show it: the printer's layout, which is near bash's.
func funcText(fn *function) string {
	var b strings.Builder
	if syntax.NewPrinter(syntax.Indent(4)).Print(&b, fn.body) != nil {
		return ""
	}
	body := strings.TrimPrefix(strings.TrimSpace(b.String()), "{\n")
	if body == b.String() {
		return fn.name + " () \n" + body + "\n"
	}
	lines := strings.Split(strings.TrimSuffix(body, "\n}"), "\n")
	for i, l := range lines { // a list inside braces ends its simple lines with ;
		if i < len(lines)-1 && l != "" && !strings.HasSuffix(l, ";") && !strings.HasSuffix(l, "{") && !strings.HasSuffix(l, "then") &&
			!strings.HasSuffix(l, "do") && !strings.HasSuffix(l, "else") && !strings.HasSuffix(l, "in") && !strings.HasSuffix(l, ")") {
			lines[i] = l + ";"
		}
	}
	return fn.name + " () \n{ \n" + strings.Join(lines, "\n") + "\n}\n"
}

func letBuiltin(sh *Shell, argv []string) int {
	status := 1
	for _, a := range argv[1:] {
		v, msg := sh.catchArith(a, syntax.Pos{}, func() int64 { return sh.inner(a, 0) })
		if msg != "" {
			sh.errorf("let: %s", msg)
			return 1
		}
		if status = 0; v == 0 {
			status = 1
		}
	}
	return status
}

// getoptsBuiltin is getopts optstring name [arg …]. The place inside a word of several letters is kept in a variable that
// no script can name.
func getoptsBuiltin(sh *Shell, argv []string) int {
	if len(argv) < 3 {
		return sh.usage("getopts optstring name [arg ...]")
	}
	spec, name, args := argv[1], argv[2], sh.args
	if len(argv) > 3 {
		args = argv[3:]
	}
	quiet := strings.HasPrefix(spec, ":")
	spec = strings.TrimPrefix(spec, ":")
	const place = "\x00optpos"
	ind, _ := strconv.Atoi(sh.get("OPTIND"))
	pos, _ := strconv.Atoi(sh.get(place))
	ind, pos = max(ind, 1), max(pos, 1)
	done := func() int {
		sh.set("OPTIND", strconv.Itoa(ind))
		sh.set(name, "?")
		sh.unset("OPTARG")
		return 1
	}
	if ind > len(args) {
		return done()
	}
	word := args[ind-1]
	if pos == 1 && (len(word) < 2 || word[0] != '-') {
		return done()
	}
	if word == "--" {
		ind++
		return done()
	}
	c := word[pos]
	next := func() {
		if pos++; pos >= len(word) {
			ind, pos = ind+1, 1
		}
	}
	at := strings.IndexByte(spec, c)
	if at < 0 || c == ':' {
		next()
		sh.set("OPTIND", strconv.Itoa(ind))
		sh.set(place, strconv.Itoa(pos))
		sh.set(name, "?")
		if quiet {
			sh.set("OPTARG", string(c))
		} else {
			sh.unset("OPTARG")
			sh.s.Write(2, []byte(sh.name+": illegal option -- "+string(c)+"\n"))
		}
		return 0
	}
	result := string(c)
	if at+1 < len(spec) && spec[at+1] == ':' {
		switch {
		case pos+1 < len(word):
			sh.set("OPTARG", word[pos+1:])
			ind++
		case ind < len(args):
			sh.set("OPTARG", args[ind])
			ind += 2
		case quiet:
			result = ":"
			sh.set("OPTARG", string(c))
			ind++
		default:
			result = "?"
			sh.unset("OPTARG")
			sh.s.Write(2, []byte(sh.name+": option requires an argument -- "+string(c)+"\n"))
			ind++
		}
		pos = 1
	} else {
		next()
		sh.unset("OPTARG")
	}
	sh.set("OPTIND", strconv.Itoa(ind))
	sh.set(place, strconv.Itoa(pos))
	sh.set(name, result)
	return 0
}
