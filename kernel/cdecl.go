package kernel

import (
	"fmt"
	"strings"
)

// String spells the type as C does: "struct file *", "char [16]", "void (*)(struct rcu_head *)".
func (t *Type) String() string { return t.Decl("") }

// Decl spells the declaration of a variable of this type: Decl("fn") of a function pointer is "int (*fn)(void *)".
func (t *Type) Decl(name string) string {
	if t == nil {
		return strings.TrimRight("void "+name, " ")
	}
	if t.Name != "" {
		return t.qualified(t.Name, name)
	}
	switch t.Kind {
	case KindPtr:
		if e := t.Elem; e.Name == "" && (e.Kind == KindFunc || e.Kind == KindArray) {
			return e.Decl("(*" + name + ")")
		}
		s := "*" + name
		if t.Const {
			s = strings.TrimRight("*const "+name, " ")
		}
		return t.Elem.Decl(s)
	case KindArray:
		dims, e := "", t
		for ; e.Kind == KindArray && e.Name == ""; e = e.Elem {
			n := ""
			if e.Len > 0 {
				n = fmt.Sprint(e.Len)
			}
			dims += "[" + n + "]"
		}
		if name == "" {
			return e.Decl("") + " " + dims
		}
		return e.Decl(name + dims)
	case KindFunc:
		var args []string
		for _, p := range t.Params {
			args = append(args, p.String())
		}
		if len(args) == 0 {
			args = []string{"void"}
		}
		return t.Elem.Decl(name + "(" + strings.Join(args, ", ") + ")")
	case KindStruct:
		return t.qualified("struct {...}", name)
	case KindUnion:
		return t.qualified("union {...}", name)
	case KindEnum:
		return t.qualified("enum {...}", name)
	}
	return t.qualified("?", name)
}

func (t *Type) qualified(base, name string) string {
	if t.Const {
		base = "const " + base
	}
	if name == "" {
		return base
	}
	return base + " " + name
}

// String spells the prototype as C does: "ssize_t vfs_read(struct file *file, char *buf, size_t count, loff_t *pos)".
func (f *Func) String() string {
	var args []string
	for _, p := range f.Params {
		args = append(args, p.Type.Decl(p.Name))
	}
	if f.Variadic {
		args = append(args, "...")
	}
	if len(args) == 0 {
		args = []string{"void"}
	}
	s := f.Ret.Decl(f.Name + "(" + strings.Join(args, ", ") + ")")
	if f.Static {
		s = "static " + s
	}
	return s
}

// Layout shows what a type is: the members of a struct with offsets and sizes as pahole prints them, those of nameless structs and unions in
// their place; the names of an enum; what a typedef stands for.
func (t *Type) Layout() string {
	var b strings.Builder
	switch {
	case t.Typedef != nil && t.Typedef.Name != "":
		fmt.Fprintf(&b, "typedef %s;", t.Typedef.Decl(t.Name))
	case t.Typedef != nil && t.Kind != KindStruct && t.Kind != KindUnion && t.Kind != KindEnum:
		fmt.Fprintf(&b, "typedef %s;", t.Typedef.Decl(t.Name))
	case t.Kind == KindEnum:
		fmt.Fprintf(&b, "%s {\n", t.Name)
		for _, v := range t.Enum {
			fmt.Fprintf(&b, "\t%s = %d,\n", v.Name, v.Value)
		}
		fmt.Fprintf(&b, "\t/* size: %d */\n};", t.Size)
	case t.Kind == KindStruct || t.Kind == KindUnion:
		head, name := t.Name, ""
		if t.Typedef != nil {
			head, _, _ = strings.Cut(t.Typedef.String(), " {...}")
			head, name = "typedef "+head, " "+t.Name
		}
		fmt.Fprintf(&b, "%s {\n", head)
		t.layout(&b, "\t", 0)
		fmt.Fprintf(&b, "\t/* size: %d */\n}%s;", t.Size, name)
	default:
		fmt.Fprintf(&b, "%s /* size: %d */", t, t.Size)
	}
	return b.String()
}

// layout writes the members of a struct that begins at an offset.
func (t *Type) layout(b *strings.Builder, indent string, at int64) {
	for _, f := range t.Fields {
		decl := f.Type.Decl(f.Name)
		if f.Type.Name == "" && (f.Type.Kind == KindStruct || f.Type.Kind == KindUnion) {
			word, _, _ := strings.Cut(decl, " {...}")
			fmt.Fprintf(b, "%s%s {\n", indent, word)
			f.Type.layout(b, indent+"\t", at+f.Offset)
			decl = strings.TrimRight("} "+f.Name, " ")
		}
		if f.Bits > 0 {
			decl += fmt.Sprintf(":%d", f.Bits)
		}
		width := max(40-8*(len(indent)-1), 0)
		fmt.Fprintf(b, "%s%-*s /* %5d %5d */\n", indent, width, decl+";", at+f.Offset, f.Type.Size)
	}
}
