package kprobe

import (
	"fmt"
	"strings"

	"kscope/kernel"
)

// Arguments by their names, as kernels behind 6.1 take them by BTF, here by DWARF: NAME, NAME->FIELD.FIELD, $arg*. Feature
// "probe-args"; see parse_btf_arg and traceprobe_expand_meta_args in kernel/trace/trace_probe.c of 6.6.
const featureProbeArgs = "probe-args"

const (
	msgNoBTFArg   message = "This variable is not found at this probe point"
	msgNoBTFField message = "This field is not found."
	msgNoPtrStrct message = "This is not a pointer to union/structure."
	msgNoSupDat   message = "Non pointer structure/union argument is not supported."
	msgNoSupBTF   message = "BTF is not available or not supported"
	msgNoRetval   message = "This function returns 'void' type"
	msgBadType4   message = "This type does not fit for string."
	msgBadHyphen  message = "Failed to parse single hyphen. Forgot '>'?"
	msgNoFentry   message = "$arg* can be used only on function entry"
	msgBadVarArgs message = "$arg* must be an independent parameter without name etc."
)

// protoOf is the prototype of the function whose entry a probe is at, when the feature is on; else nil.
func (k *Kprobes) protoOf(addr uint64) *kernel.Func {
	if !k.m.Feature(featureProbeArgs) {
		return nil
	}
	s, off := k.m.Symbols().At(addr)
	if off != 0 {
		return nil
	}
	f, _ := k.m.Types().Func(s.Name, s.Addr)
	return f
}

// expand replaces $arg* by the function's arguments.
func (l *Line) expand(words []string, on bool, flags argFlags) ([]string, *SyntaxError) {
	var out []string
	for i, w := range words {
		switch {
		case i < 2 || !on || !strings.HasPrefix(w, "$arg*"):
			out = append(out, w)
		case w != "$arg*":
			return nil, l.src.fail(i, 0, msgBadVarArgs, kernel.EINVAL)
		case flags.proto == nil || flags.ret:
			return nil, l.src.fail(i, 0, msgNoFentry, kernel.EINVAL)
		default:
			for n, p := range flags.proto.Params {
				if p.Name == "" {
					out = append(out, fmt.Sprintf("$arg%d", n+1))
				} else {
					out = append(out, p.Name)
				}
			}
		}
	}
	return out, nil
}

// btfName is the name of an argument that is given without one: the variable's, or "" (generate_probe_arg_name).
func btfName(body string) string {
	name, _, _ := strings.Cut(body, ":")
	if !isName(name) {
		return ""
	}
	return name
}

// btf is parse_btf_arg: NAME or $retval, with fields behind it.
func (a *argParser) btf(s string, off int) *SyntaxError {
	name, rest := s, ""
	if i := strings.IndexAny(s, "-."); i >= 0 {
		name, rest = s[:i], s[i:]
	}
	switch {
	case strings.HasPrefix(rest, "-") && !strings.HasPrefix(rest, "->"):
		return a.fail(off+len(name), msgBadHyphen)
	case strings.HasPrefix(rest, "."):
		return a.src.fail(a.word, off+len(name)+1, msgNoSupDat, kernel.EOPNOTSUPP)
	}
	t, err := a.root(name, off)
	if err != nil {
		return err
	}
	if rest == "" {
		a.prog.btf = t
		return nil
	}
	return a.fields(t, rest, off+len(name))
}

// root is the type of what an argument begins with, and its source.
func (a *argParser) root(name string, off int) (*kernel.Type, *SyntaxError) {
	p, f := a.prog, a.flags.proto
	if name == "$retval" {
		if p.src = srcRetval; f.Ret == nil || f.Ret.Kind == kernel.KindVoid {
			return nil, a.src.fail(a.word, off, msgNoRetval, kernel.ENOENT)
		}
		return f.Ret, nil
	}
	for i, param := range f.Params {
		if param.Name == name {
			p.src, p.param = srcArg, uint64(i)
			return param.Type, nil
		}
	}
	return nil, a.src.fail(a.word, off, msgNoBTFArg, kernel.ENOENT)
}

// fields is parse_btf_field: ->FIELD.FIELD->FIELD from a pointer on; a dot adds to the offset of the arrow before it. An error is where
// the field's name begins.
func (a *argParser) fields(t *kernel.Type, rest string, off int) *SyntaxError {
	p := a.prog
	for rest != "" {
		arrow := strings.HasPrefix(rest, "->")
		if !arrow && rest[0] == '-' {
			return a.fail(off, msgBadHyphen)
		}
		n := 1
		if arrow {
			n = 2
		}
		field := rest[n:]
		off += n
		end := strings.IndexAny(field, "-.")
		if end < 0 {
			end = len(field)
		}
		if arrow {
			if t == nil || t.Kind != kernel.KindPtr {
				return a.fail(off, msgNoPtrStrct)
			}
			t = t.Elem
		}
		if arrow && (t == nil || t.Kind != kernel.KindStruct && t.Kind != kernel.KindUnion) {
			return a.fail(off, msgNoPtrStrct)
		}
		m := t.Field(field[:end])
		if m.Type == nil {
			return a.src.fail(a.word, off, msgNoBTFField, kernel.ENOENT)
		}
		if arrow {
			if a.ops++; a.ops >= maxInsns-1 {
				return a.fail(off, msgTooManyOps)
			}
			p.derefs = append(p.derefs, deref{})
		}
		p.derefs[len(p.derefs)-1].off += m.Offset + int64(m.Shift/8)
		p.bits, p.shift = uint(m.Bits), uint(m.Shift%8)
		t, off, rest = m.Type, off+end, field[end:]
	}
	p.btf = t
	return nil
}

// bitfieldOf is parse_btf_bitfield: what the member of a bit field has in the word that was read.
func (p *Program) bitfieldOf() {
	size := uint(8 * p.Type.Size)
	if p.btf == nil || p.bits == 0 || p.Type.str || p.bits%8 == 0 && p.shift == 0 {
		return
	}
	w := min(p.bits, size-p.shift)
	p.left, p.right = size-w-p.shift, size-w
}

// btfString is check_prepare_btf_string_fetch: a string is a char array where it is, or what a char pointer points at.
func (a *argParser) btfString(typeOff int) *SyntaxError {
	p := a.prog
	isChar := func(t *kernel.Type) bool {
		return t != nil && (t.Kind == kernel.KindChar || t.Kind == kernel.KindUint) && t.Size == 1
	}
	switch t := p.btf; {
	case t.Kind == kernel.KindArray && isChar(t.Elem):
		return nil
	case t.Kind == kernel.KindPtr && isChar(t.Elem):
		if a.ops++; a.ops >= maxInsns-1 {
			return a.src.fail(a.word, typeOff, msgTooManyOps, kernel.E2BIG)
		}
		p.derefs = append(p.derefs, deref{user: p.Type.Name == "ustring"})
		return nil
	}
	return a.fail(typeOff, msgBadType4)
}

// btfType is the fetch type of a C type (fetch_type_from_btf_type): integers by size and sign, where a plain char has none, enums as
// int; what else is a word in hex.
func btfType(t *kernel.Type) string {
	switch t.Kind {
	case kernel.KindInt, kernel.KindEnum:
		return fmt.Sprintf("s%d", t.Size*8)
	case kernel.KindUint, kernel.KindBool, kernel.KindChar:
		return fmt.Sprintf("u%d", t.Size*8)
	}
	return defaultType
}
