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

// btf is parse_btf_arg: NAME with fields behind it.
func (a *argParser) btf(s string, off int) *SyntaxError {
	f := a.flags.proto
	name, rest := s, ""
	if i := strings.IndexAny(s, "-."); i >= 0 {
		name, rest = s[:i], s[i:]
	}
	p := a.prog
	var t *kernel.Type
	for i, param := range f.Params {
		if param.Name == name {
			p.src, p.param, t = srcArg, uint64(i), param.Type
		}
	}
	if t == nil || a.flags.ret {
		return a.fail(off, msgNoBTFArg)
	}
	off += len(name)
	for rest != "" {
		arrow := strings.HasPrefix(rest, "->")
		switch {
		case !arrow && rest[0] == '-':
			return a.fail(off, msgBadHyphen)
		case arrow && t.Kind != kernel.KindPtr, !arrow && len(p.derefs) == 0:
			return a.fail(off, msgNoPtrStrct)
		}
		n := 1
		if arrow {
			n, t = 2, t.Elem
		}
		field := rest[n:]
		end := strings.IndexAny(field, "-.")
		if end < 0 {
			end = len(field)
		}
		if t == nil || t.Kind != kernel.KindStruct && t.Kind != kernel.KindUnion {
			return a.fail(off, msgNoPtrStrct)
		}
		m := t.Field(field[:end])
		if m.Type == nil {
			return a.fail(off+n, msgNoBTFField)
		}
		if arrow {
			if a.ops++; a.ops >= maxInsns-1 {
				return a.fail(off, msgTooManyOps)
			}
			p.derefs = append(p.derefs, deref{off: m.Offset})
		} else {
			p.derefs[len(p.derefs)-1].off += m.Offset
		}
		t, off, rest = m.Type, off+n+end, field[end:]
	}
	p.btf = t
	return nil
}

// btfType is the fetch type of a C type (find_fetch_type_from_btf_type): integers by size and sign, what else is a word in hex.
func btfType(t *kernel.Type) string {
	switch t.Kind {
	case kernel.KindInt, kernel.KindChar, kernel.KindEnum:
		return fmt.Sprintf("s%d", t.Size*8)
	case kernel.KindUint, kernel.KindBool:
		return fmt.Sprintf("u%d", t.Size*8)
	}
	return defaultType
}
