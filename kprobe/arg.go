package kprobe

import (
	"fmt"
	"strconv"
	"strings"

	"kscope/ftrace/event"
	"kscope/kernel"
)

// The limits of an argument; see kernel/trace/trace_probe.h.
const (
	maxArgs    = 128
	maxArgName = 32
	maxArgText = 63
	maxArray   = 64
	maxInsns   = 16        // FETCH_INSN_MAX, the end included
	maxStack   = 16384 / 8 // PARAM_MAX_STACK: words of a stack
)

// argFlags are where the probe is.
type argFlags struct {
	ret, fentry bool
	byName      bool          // feature probe-args
	used        int           // bytes of a record that the arguments before take
	proto       *kernel.Func  // with feature probe-args, at a function's entry
	target      *event.Format // of an eprobe: the event whose fields are meant
}

// argParser parses one fetch argument: word i of src, at offset off in it.
type argParser struct {
	src   source
	word  int
	flags argFlags
	prog  *Program
	ops   int // instructions that Linux's program would have so far
	also  message
}

func (a *argParser) fail(off int, msg message) *SyntaxError {
	return a.src.fail(a.word, off, msg, kernel.EINVAL)
}

// parseArg is traceprobe_parse_probe_arg for argument n, from 0.
func parseArg(src source, word, n int, flags argFlags, before []*Program) (*Program, *SyntaxError) {
	a := &argParser{src: src, word: word, flags: flags, prog: &Program{}}
	text := src.words[word]
	name, body, named := strings.Cut(text, "=")
	off := len(name) + 1
	switch {
	case !named:
		name, body, off = fmt.Sprintf("arg%d", n+1), text, 0
		if flags.proto != nil {
			if by := btfName(text); by != "" {
				name = by
			}
		}
	case len(name) > maxArgName:
		return nil, a.fail(0, msgArgTooLong)
	case name == "":
		return nil, a.fail(0, msgNoArgName)
	}
	if !isName(name) {
		return nil, a.fail(0, msgBadArgName)
	}
	if usedName(name, before) {
		return nil, a.fail(0, msgUsedArg)
	}
	a.prog.Name = name
	if err := a.body(body, off); err != nil {
		err.Also = string(a.also)
		return nil, err
	}
	return a.prog, nil
}

// reservedNames are the fields that each record has.
var reservedNames = [...]string{"common_type", "common_flags", "common_preempt_count", "common_pid", "common_tgid",
	fieldIP, fieldRetIP, fieldFunc}

func usedName(name string, before []*Program) bool {
	for _, r := range reservedNames {
		if name == r {
			return true
		}
	}
	for _, p := range before {
		if p.Name == name {
			return true
		}
	}
	return false
}

// body is traceprobe_parse_probe_arg_body: EXPRESSION[:TYPE[[N]]].
func (a *argParser) body(text string, off int) *SyntaxError {
	p := a.prog
	switch {
	case len(text) > maxArgText:
		return a.fail(off, msgExprTooLong)
	case text == "":
		return a.fail(off, msgNoArgBody)
	}
	p.Text = text
	expr, typ, typed := strings.Cut(text, ":")
	typeOff := off
	if typed {
		typeOff += len(expr) + 1
		var err *SyntaxError
		if typ, err = a.array(typ, typeOff); err != nil {
			return err
		}
	}
	if (expr == "$comm" || expr == "$COMM") && a.flags.target == nil || strings.HasPrefix(expr, `\"`) {
		if p.Count > 0 || typed && typ != "string" {
			return a.src.silent(kernel.EINVAL)
		}
		typ, p.Type = "string", findType("string")
	} else if !typed {
		p.Type = findType(defaultType)
	} else {
		p.Type = findType(typ)
	}
	if p.Type == nil {
		return a.fail(typeOff, msgBadType)
	}
	if a.flags.used+p.size() > maxEvent {
		return a.src.fail(a.word, off, msgTooBig, kernel.E2BIG)
	}
	if err := a.expr(expr, off); err != nil {
		return err
	}
	if p.btf != nil && !typed {
		if p.Type = findType(btfType(p.btf)); p.Type == nil {
			p.Type = findType(defaultType)
		}
	} else if p.btf != nil && p.Type.str && p.Type.Name != "symstr" {
		if err := a.btfString(typeOff); err != nil {
			return err
		}
	}
	if err := a.store(typ, typeOff, typed); err != nil {
		return err
	}
	if !typed || !strings.HasPrefix(typ, "b") {
		p.bitfieldOf()
	}
	return nil
}

// array cuts an array's size off a type.
func (a *argParser) array(typ string, off int) (string, *SyntaxError) {
	name, size, ok := strings.Cut(typ, "[")
	if !ok {
		return typ, nil
	}
	off += len(name) + 1
	num, rest, closed := strings.Cut(size, "]")
	switch {
	case !closed:
		return "", a.fail(off+len(size), msgArrayNoClose)
	case rest != "":
		return "", a.fail(off+len(num)+1, msgArraySuffix)
	}
	n, ok := parseUnsigned(num, 0)
	if !ok || n == 0 || n > 1<<32-1 {
		return "", a.fail(off, msgArrayNum)
	}
	if n > maxArray {
		return "", a.fail(off, msgArrayBig)
	}
	a.prog.Count = int(n)
	return name, nil
}

// store decides how the value gets into the record.
func (a *argParser) store(typ string, typeOff int, typed bool) *SyntaxError {
	p := a.prog
	last := len(p.derefs) > 0
	switch {
	case p.Type.Name == "symstr":
		if !last && p.src != srcReg && p.src != srcStack && p.src != srcRetval && p.src != srcArg {
			return a.fail(typeOff, msgBadSymstr)
		}
		if p.Count > 0 {
			return a.fail(typeOff, msgBadString)
		}
		a.ops++
		p.store = storeString
	case p.Type.str:
		if !last && p.src != srcImm && p.src != srcComm && p.src != srcData && p.src != srcField {
			return a.fail(typeOff, msgBadString)
		}
		if !last || p.Count > 0 {
			a.ops++
		} else {
			p.fold()
		}
		p.store = storeString
	case last:
		p.fold()
		p.store = storeMem
	default:
		a.ops++
		p.store = storeRaw
	}
	if a.ops >= maxInsns {
		return a.fail(typeOff, msgTooManyOps)
	}
	if typed && !p.bitfield(typ) {
		return a.fail(typeOff, msgBadBitfield)
	}
	if p.Count > 0 && p.store == storeRaw {
		return a.fail(typeOff, msgBadString)
	}
	return nil
}

// expr is parse_probe_arg.
func (a *argParser) expr(s string, off int) *SyntaxError {
	if s == "" {
		return a.fail(off, msgBadFetch)
	}
	p := a.prog
	switch s[0] {
	case '$':
		return a.variable(s[1:], off)
	case '%':
		if a.flags.target != nil { // an event has no registers; 6.1 logs two errors
			a.also = msgBadVar
			return a.fail(off, msgBadFetch)
		}
		reg, ok := findReg(s[1:])
		if !ok {
			return a.fail(off, msgBadReg)
		}
		p.src, p.param = srcReg, reg
	case '@':
		return a.memory(s, off)
	case '+', '-':
		return a.deref(s, off)
	case '\\':
		if text, ok := strings.CutPrefix(s, `\"`); ok {
			if text, ok = strings.CutSuffix(text, `"`); !ok {
				return a.fail(off+len(s), msgStrNoClose)
			}
			p.src, p.data = srcData, text
			return nil
		}
		n, ok := immediate(s[1:])
		if !ok {
			return a.fail(off+1, msgBadImm)
		}
		p.src, p.param = srcImm, n
	default:
		if a.flags.byName && (s[0] == '_' || s[0]|0x20 >= 'a' && s[0]|0x20 <= 'z') {
			if a.flags.proto == nil || a.flags.ret {
				return a.fail(off, msgNoSupBTF)
			}
			return a.btf(s, off)
		}
		return a.fail(off, msgBadFetch)
	}
	return nil
}

// immediate is str_to_immediate.
func immediate(s string) (uint64, bool) {
	switch {
	case s == "":
		return 0, false
	case s[0] >= '0' && s[0] <= '9':
		return parseUnsigned(s, 0)
	case s[0] == '-':
		n, ok := parseSigned(s)
		return uint64(n), ok
	case s[0] == '+':
		n, ok := parseSigned(s[1:])
		return uint64(n), ok
	}
	return 0, false
}

// variable is parse_probe_vars.
func (a *argParser) variable(s string, off int) *SyntaxError {
	p := a.prog
	if a.flags.target != nil {
		return a.eventField(s)
	}
	switch {
	case s == "retval":
		if !a.flags.ret {
			return a.fail(off, msgRetval)
		}
		if p.src = srcRetval; a.flags.proto != nil {
			return a.btf("$retval", off)
		}
	case a.flags.ret && a.flags.proto != nil && (strings.HasPrefix(s, "retval-") || strings.HasPrefix(s, "retval.")):
		return a.btf("$"+s, off)
	case s == "stack":
		p.src = srcStackPtr
	case strings.HasPrefix(s, "stack") && isDigit(s[5]):
		n, ok := parseUnsigned(s[5:], 10)
		if !ok {
			return a.fail(off, msgBadVar)
		}
		if n > maxStack {
			return a.fail(off, msgBadStack)
		}
		p.src, p.param = srcStack, n
	case s == "comm" || s == "COMM":
		p.src = srcComm
	case a.flags.fentry && !a.flags.ret && strings.HasPrefix(s, "arg"):
		n, ok := parseUnsigned(s[3:], 10)
		if !ok {
			return a.fail(off, msgBadVar)
		}
		if n == 0 || n > maxStack {
			return a.fail(off, msgBadArgNum)
		}
		p.src, p.param = srcArg, n-1
	default:
		return a.fail(off, msgBadVar)
	}
	return nil
}

// memory is @ADDR or @SYM[+|-offs]; a symbol is looked up when the probe is registered.
func (a *argParser) memory(s string, off int) *SyntaxError {
	p := a.prog
	switch {
	case len(s) > 1 && isDigit(s[1]):
		n, ok := parseUnsigned(s[1:], 0)
		if !ok {
			return a.fail(off, msgBadMem)
		}
		p.src, p.param = srcImm, n
	case len(s) > 1 && s[1] == '+':
		return a.fail(off, msgFileOnKprobe)
	default:
		p.src, p.data = srcSym, s[1:]
		a.ops++
	}
	a.ops++
	p.derefs = append(p.derefs, deref{})
	return nil
}

// deref is +|-[u]OFFS(EXPRESSION).
func (a *argParser) deref(s string, off int) *SyntaxError {
	user := len(s) > 1 && s[1] == 'u'
	start := off
	if user {
		s = s[:1] + s[2:]
	}
	plus := 0
	if s[0] == '+' {
		s, plus = s[1:], 1
	}
	num, inner, ok := strings.Cut(s, "(")
	if !ok {
		return a.fail(start, msgNeedBrace)
	}
	n, ok := parseSigned(num)
	if !ok {
		return a.fail(start, msgBadDeref)
	}
	off += len(num) + 1 + plus
	end := strings.LastIndexByte(inner, ')')
	if end < 0 {
		return a.fail(off+len(inner), msgOpenBrace)
	}
	if err := a.expr(inner[:end], off); err != nil {
		return err
	}
	if len(a.prog.derefs) == 0 && (a.prog.src == srcComm || a.prog.src == srcData) {
		return a.fail(off, msgCommDeref)
	}
	if a.ops++; a.ops >= maxInsns-1 {
		return a.fail(off, msgTooManyOps)
	}
	a.prog.derefs = append(a.prog.derefs, deref{n, user})
	a.prog.btf, a.prog.bits = nil, 0 // of what is there nothing is known
	return nil
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// parseUnsigned is kstrtoul.
func parseUnsigned(s string, base int) (uint64, bool) {
	s = strings.TrimPrefix(s, "+")
	return kstrto(s, base)
}

// parseSigned is kstrtol.
func parseSigned(s string) (int64, bool) {
	if t, ok := strings.CutPrefix(s, "-"); ok {
		n, ok := kstrto(t, 0)
		return -int64(n), ok && n <= 1<<63
	}
	n, ok := parseUnsigned(s, 0)
	return int64(n), ok && n < 1<<63
}

// kstrto reads digits: with base 0, 0x is hexadecimal and a leading 0 octal.
func kstrto(s string, base int) (uint64, bool) {
	if base == 0 {
		base = 10
		if len(s) > 2 && s[0] == '0' && s[1]|0x20 == 'x' {
			s, base = s[2:], 16
		} else if len(s) > 1 && s[0] == '0' {
			base = 8
		}
	}
	if strings.ContainsAny(s, "_+-") {
		return 0, false
	}
	n, err := strconv.ParseUint(s, base, 64)
	return n, err == nil
}
