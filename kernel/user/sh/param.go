package sh

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// value is what a parameter stands for: one string, or the list of @ and *.
type value struct {
	list  []string
	many  bool // @ or *
	star  bool
	set   bool
	array bool // the elements of an array, for slices
	keys  []int
	name  string // for messages
}

func (v *value) one() string {
	if len(v.list) == 0 {
		return ""
	}
	return v.list[0]
}

// param expands ${…}.
func (sh *Shell) param(p *syntax.ParamExp, quoted bool) []frag {
	if p.Flags != nil || p.NestedParam != nil || p.Width || p.IsSet || len(p.Modifiers) > 0 {
		sh.discard("%s: bad substitution", sh.original(p))
	}
	if p.Names != 0 {
		var names []string
		for _, name := range append(slices.Collect(maps.Keys(sh.vars)), computed[:]...) {
			if strings.HasPrefix(name, p.Param.Value) && !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
		slices.Sort(names)
		return sh.emit(&value{list: names, many: true, star: p.Names == syntax.NamesPrefix, set: true}, quoted)
	}
	v := sh.resolve(p)
	if p.Length {
		if !v.set && sh.opts.nounset && !v.many {
			sh.fatal(sh.failure(), "%s: unbound variable", v.name)
		}
		n := len(v.one()) // bytes: the guest has the C locale
		if v.many {
			n = len(v.list)
		}
		return []frag{{s: strconv.Itoa(n), quoted: quoted, split: !quoted}}
	}
	if p.Exp != nil {
		if frags, done := sh.conditional(p, v, quoted); done {
			return frags
		}
	}
	if !v.set && sh.opts.nounset && !v.many {
		sh.fatal(sh.failure(), "%s: unbound variable", v.name)
	}
	switch {
	case p.Exp != nil:
		sh.transform(p, v)
	case p.Slice != nil:
		sh.slice(p, v)
	case p.Repl != nil:
		sh.replace(p, v)
	}
	return sh.emit(v, quoted)
}

// emit makes fragments of a value.
func (sh *Shell) emit(v *value, quoted bool) []frag {
	if !v.many {
		return []frag{{s: v.one(), quoted: quoted, split: !quoted}}
	}
	if quoted && v.star {
		return []frag{{s: strings.Join(v.list, sh.starSep()), quoted: true}}
	}
	var out []frag
	for i, s := range v.list {
		if i > 0 {
			out = append(out, frag{brk: true})
		}
		out = append(out, frag{s: s, quoted: quoted, split: !quoted})
	}
	return out
}

// starSep is what "$*" puts between its words: the first character of IFS.
func (sh *Shell) starSep() string {
	ifs, ok := sh.lookup("IFS")
	if !ok {
		return " "
	}
	return ifs[:min(1, len(ifs))]
}

// resolve finds what a parameter expansion is about, through ! and an index.
func (sh *Shell) resolve(p *syntax.ParamExp) *value {
	name := p.Param.Value
	if p.Excl {
		return sh.indirect(p, name)
	}
	return sh.value(name, p.Index)
}

func (sh *Shell) indirect(p *syntax.ParamExp, name string) *value {
	if key := listIndex(p.Index); key != "" {
		v := &value{many: true, star: key == "*", set: true, name: name}
		if a := sh.arrayOf(name); a != nil {
			v.list = a.keys()
		}
		return v
	}
	if v := sh.vars[name]; v != nil && v.isRef {
		return &value{list: []string{v.value}, set: true, name: name}
	}
	to := sh.value(name, p.Index).one()
	if to == "" {
		sh.discard("%s: invalid indirect expansion", name)
	}
	base, sub, ok := strings.Cut(to, "[")
	if ok && strings.HasSuffix(sub, "]") {
		return sh.element(base, strings.TrimSuffix(sub, "]"))
	}
	if !syntax.ValidName(to) && !isDigits(to) && !strings.Contains("@*#?-$!", to) {
		sh.discard("%s: invalid variable name", to)
	}
	return sh.value(to, nil)
}

// listIndex is @ or * when an index is that.
func listIndex(x syntax.ArithmExpr) string {
	if w, ok := x.(*syntax.Word); ok {
		if lit := w.Lit(); lit == "@" || lit == "*" {
			return lit
		}
	}
	return ""
}

// value is the value of a name with an index.
func (sh *Shell) value(name string, index syntax.ArithmExpr) *value {
	v := &value{name: name}
	if index != nil {
		key := listIndex(index)
		if key == "" {
			return sh.element(name, sh.subscript(sh.arrayOf(name), index))
		}
		v.many, v.star, v.array = true, key == "*", true
		if a := sh.arrayOf(name); a != nil {
			v.list, v.set = a.values(), len(a.values()) > 0
			for _, k := range a.keys() {
				n, _ := strconv.Atoi(k)
				v.keys = append(v.keys, n)
			}
		}
		return v
	}
	switch name {
	case "@", "*":
		v.list, v.many, v.star, v.set = sh.args, true, name == "*", len(sh.args) > 0
		return v
	case "#":
		return v.is(strconv.Itoa(len(sh.args)))
	case "?":
		return v.is(strconv.Itoa(sh.status))
	case "$":
		return v.is(strconv.Itoa(sh.pid))
	case "!":
		if sh.lastJob != 0 {
			return v.is(strconv.Itoa(sh.lastJob))
		}
		return v
	case "-":
		return v.is(sh.flags())
	case "0":
		return v.is(sh.name)
	}
	if isDigits(name) {
		n, _ := strconv.Atoi(name)
		if n >= 1 && n <= len(sh.args) {
			return v.is(sh.args[n-1])
		}
		return v
	}
	if a := sh.arrayOf(name); a != nil && a.array() {
		s, ok := a.scalar()
		if ok {
			return v.is(s)
		}
		return v
	}
	if s, ok := sh.lookup(name); ok {
		return v.is(s)
	}
	return v
}

func (v *value) is(s string) *value {
	v.list, v.set = []string{s}, true
	return v
}

// element is name[key].
func (sh *Shell) element(name, key string) *value {
	v := &value{name: name + "[" + key + "]"}
	if key == "@" || key == "*" {
		v.many, v.star, v.array = true, key == "*", true
		if a := sh.arrayOf(name); a != nil {
			v.list, v.set = a.values(), true
		}
		return v
	}
	a := sh.arrayOf(name)
	if a == nil {
		sh.index(nil, name, key)
		return v
	}
	if a.dict != nil {
		if s, ok := a.dict[key]; ok {
			return v.is(s)
		}
		return v
	}
	i := sh.index(a, name, key)
	if a.list != nil {
		if s, ok := a.list[i]; ok {
			return v.is(s)
		}
	} else if i == 0 && a.set {
		return v.is(a.value)
	}
	return v
}

// conditional does - = ? and +; done says that the expansion ends there.
func (sh *Shell) conditional(p *syntax.ParamExp, v *value, quoted bool) (out []frag, done bool) {
	null := v.set && (!v.many && v.one() == "" || v.many && len(v.list) == 1 && v.list[0] == "")
	absent := !v.set
	switch p.Exp.Op {
	case syntax.AlternateUnsetOrNull, syntax.DefaultUnsetOrNull, syntax.ErrorUnsetOrNull, syntax.AssignUnsetOrNull:
		absent = absent || null
	}
	switch p.Exp.Op {
	case syntax.AlternateUnset, syntax.AlternateUnsetOrNull:
		if absent {
			if v.many {
				return nil, true
			}
			return []frag{{quoted: quoted, split: !quoted}}, true
		}
		return sh.operand(p.Exp.Word, quoted), true
	case syntax.DefaultUnset, syntax.DefaultUnsetOrNull:
		if absent {
			return sh.operand(p.Exp.Word, quoted), true
		}
	case syntax.ErrorUnset, syntax.ErrorUnsetOrNull:
		if absent {
			msg := "parameter null or not set"
			if p.Exp.Op == syntax.ErrorUnset {
				msg = "parameter not set"
			}
			if p.Exp.Word != nil {
				msg = sh.text(p.Exp.Word)
			}
			sh.fatal(sh.failure(), "%s: %s", v.name, msg)
		}
	case syntax.AssignUnset, syntax.AssignUnsetOrNull:
		if absent {
			if !syntax.ValidName(p.Param.Value) {
				sh.fatal(1, "$%s: cannot assign in this way", p.Param.Value)
			}
			text := sh.join(sh.operand(p.Exp.Word, quoted), " ")
			if p.Index != nil {
				sh.setIndex(p.Param.Value, sh.subscript(sh.arrayOf(p.Param.Value), p.Index), text, false)
			} else {
				sh.set(p.Param.Value, text)
			}
			return []frag{{s: text, quoted: quoted, split: !quoted}}, true
		}
	default:
		return nil, false
	}
	return sh.emit(v, quoted), true
}

// operand expands the word behind :- and its like; its own quotes count even in a quoted expansion.
func (sh *Shell) operand(w *syntax.Word, quoted bool) []frag {
	if w == nil {
		return []frag{{quoted: quoted, split: !quoted}}
	}
	if quoted {
		return sh.quotedParts(w.Parts, false)
	}
	out := sh.frags(w)
	for i := range out {
		if !out[i].quoted && !out[i].brk {
			out[i].split = true
		}
	}
	return out
}

// each applies fn to every string of a value.
func (v *value) each(fn func(string) string) {
	list := make([]string, len(v.list))
	for i, s := range v.list {
		list[i] = fn(s)
	}
	v.list = list
}

// transform does # % ^ , and @.
func (sh *Shell) transform(p *syntax.ParamExp, v *value) {
	op := p.Exp.Op
	if op == syntax.OtherParamOps {
		sh.atOperator(p, v)
		return
	}
	pat := ""
	if p.Exp.Word != nil {
		pat = sh.pattern(p.Exp.Word)
	}
	switch op {
	case syntax.RemSmallPrefix, syntax.RemLargePrefix:
		v.each(func(s string) string { return s[sh.prefixLen(pat, s, op == syntax.RemLargePrefix):] })
	case syntax.RemSmallSuffix, syntax.RemLargeSuffix:
		v.each(func(s string) string { return s[:sh.suffixAt(pat, s, op == syntax.RemLargeSuffix)] })
	case syntax.UpperFirst, syntax.UpperAll, syntax.LowerFirst, syntax.LowerAll:
		v.each(func(s string) string { return sh.changeCase(op, pat, s) })
	default:
		sh.discard("%s: bad substitution", sh.original(p))
	}
}

func (sh *Shell) changeCase(op syntax.ParExpOperator, pat, s string) string {
	fn := upper
	if op == syntax.LowerFirst || op == syntax.LowerAll {
		fn = lower
	}
	all := op == syntax.UpperAll || op == syntax.LowerAll
	var b strings.Builder
	for i := range len(s) {
		c := s[i : i+1]
		if (i == 0 || all) && (pat == "" || sh.match(pat, c)) {
			c = fn(c)
		}
		b.WriteString(c)
	}
	return b.String()
}

// atOperator is ${x@Q} and its kin.
func (sh *Shell) atOperator(p *syntax.ParamExp, v *value) {
	op := ""
	if p.Exp.Word != nil {
		op = p.Exp.Word.Lit()
	}
	switch op {
	case "Q":
		if v.set {
			v.each(quoteReusable)
		}
	case "E":
		v.each(ansiC)
	case "U":
		v.each(upper)
	case "L":
		v.each(lower)
	case "u":
		v.each(func(s string) string { return sh.changeCase(syntax.UpperFirst, "", s) })
	case "P":
		v.each(sh.expandPrompt)
	case "a", "A":
		attr := ""
		if x := sh.vars[p.Param.Value]; x != nil {
			decl := x.declare(p.Param.Value)
			if attr = decl; op == "a" {
				attr = strings.Trim(strings.Fields(decl)[1], "-")
			}
		}
		v.list, v.many = []string{attr}, false
	default:
		sh.discard("%s: bad substitution", sh.original(p))
	}
}

// quoteReusable is ${x@Q}: always in quotes.
func quoteReusable(s string) string {
	for i := 0; i < len(s); i++ {
		if s[i] < 32 || s[i] == 127 {
			return ansiQuoted(s)
		}
	}
	return singleQuoted(s)
}

// slice is ${x:offset:length}; of a list it counts elements.
func (sh *Shell) slice(p *syntax.ParamExp, v *value) {
	off, n, hasLen := 0, 0, p.Slice.Length != nil
	if p.Slice.Offset != nil {
		off = int(sh.arith(p.Slice.Offset))
	}
	if hasLen {
		n = int(sh.arith(p.Slice.Length))
	}
	if !v.many {
		r := v.one()
		lo, hi, ok := bounds(off, n, hasLen, len(r))
		if !ok {
			if at := off; hasLen && n < 0 && v.set {
				if at < 0 {
					at += len(r)
				}
				if at < 0 || at > len(r) {
					v.list = []string{""}
					return
				}
				sh.discard("%s: substring expression < 0", sh.original(p.Slice.Length))
			}
			v.list = []string{""}
			return
		}
		v.list = []string{r[lo:hi]}
		return
	}
	if hasLen && n < 0 {
		sh.discard("%s: substring expression < 0", sh.original(p.Slice.Length))
	}
	list := v.list
	if !v.array { // "$@" counts from 1; 0 is the shell's name
		list = append([]string{sh.name}, list...)
	} else if off >= 0 && len(v.keys) == len(list) { // offsets are subscripts
		i := 0
		for i < len(v.keys) && v.keys[i] < off {
			i++
		}
		off = i
	}
	lo, hi, ok := bounds(off, n, hasLen, len(list))
	if !ok {
		v.list = nil
		return
	}
	v.list = list[lo:hi]
}

func bounds(off, n int, hasLen bool, size int) (lo, hi int, ok bool) {
	if off < 0 {
		off += size
	}
	if off < 0 || off > size {
		return 0, 0, false
	}
	hi = size
	switch {
	case hasLen && n < 0:
		hi = size + n
	case hasLen:
		hi = min(size, off+n)
	}
	return off, hi, hi >= off
}

// replace is ${x/pattern/text} with its forms //, /# and /%.
// matched stands in a replacement for what the pattern has matched: an unquoted & (shopt patsub_replacement, on in bash 5.2).
const matched = "\x00"

func replacement(frags []frag) string {
	var b strings.Builder
	for _, f := range frags {
		if f.brk {
			b.WriteByte(' ')
		}
		if f.quoted {
			b.WriteString(f.s)
			continue
		}
		for i := 0; i < len(f.s); i++ {
			switch {
			case f.s[i] == '&':
				b.WriteString(matched)
				continue
			case f.s[i] == '\\' && i+1 < len(f.s) && (f.s[i+1] == '&' || f.s[i+1] == '\\'):
				i++
			}
			b.WriteByte(f.s[i])
		}
	}
	return b.String()
}

func putMatch(with, text string) string { return strings.ReplaceAll(with, matched, text) }

// upper and lower are those of the C locale.
func upper(s string) string {
	b := []byte(s)
	for i, c := range b {
		if c >= 'a' && c <= 'z' {
			b[i] = c - 'a' + 'A'
		}
	}
	return string(b)
}

func lower(s string) string {
	b := []byte(s)
	for i, c := range b {
		if c >= 'A' && c <= 'Z' {
			b[i] = c - 'A' + 'a'
		}
	}
	return string(b)
}

func (sh *Shell) replace(p *syntax.ParamExp, v *value) {
	pat, with := "", ""
	if p.Repl.Orig != nil {
		pat = sh.pattern(p.Repl.Orig)
	}
	if p.Repl.With != nil {
		with = replacement(sh.frags(p.Repl.With))
	}
	front, back := false, false
	if !p.Repl.All && strings.HasPrefix(pat, "#") {
		front, pat = true, pat[1:]
	} else if !p.Repl.All && strings.HasPrefix(pat, "%") {
		back, pat = true, pat[1:]
	}
	v.each(func(s string) string {
		switch {
		case front:
			if n := sh.prefixLen(pat, s, true); n > 0 || pat == "" {
				return putMatch(with, s[:n]) + s[n:]
			}
			return s
		case back:
			if n := sh.suffixAt(pat, s, true); n < len(s) || pat == "" {
				return s[:n] + putMatch(with, s[n:])
			}
			return s
		case pat == "":
			return s
		}
		return sh.substitute(pat, s, with, p.Repl.All)
	})
}

func (sh *Shell) substitute(pat, s, with string, all bool) string {
	if s == "" && sh.match(pat, "") {
		return putMatch(with, "")
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		n := sh.prefixLen(pat, s[i:], true)
		if n == 0 {
			b.WriteByte(s[i])
			i++
			continue
		}
		b.WriteString(putMatch(with, s[i:i+n]))
		if i += n; !all {
			b.WriteString(s[i:])
			return b.String()
		}
	}
	return b.String()
}

// prefixLen is how much of the front of s the pattern takes, at most or at least; 0 when it does not match.
func (sh *Shell) prefixLen(pat, s string, longest bool) int {
	if longest {
		for n := len(s); n > 0; n-- {
			if sh.match(pat, s[:n]) {
				return n
			}
		}
		return 0
	}
	for n := 0; n <= len(s); n++ {
		if sh.match(pat, s[:n]) {
			return n
		}
	}
	return 0
}

// suffixAt is where the part begins that the pattern takes off the end; len(s) when it does not match.
func (sh *Shell) suffixAt(pat, s string, longest bool) int {
	if longest {
		for n := 0; n <= len(s); n++ {
			if sh.match(pat, s[n:]) {
				return n
			}
		}
		return len(s)
	}
	for n := len(s); n >= 0; n-- {
		if sh.match(pat, s[n:]) {
			return n
		}
	}
	return len(s)
}
