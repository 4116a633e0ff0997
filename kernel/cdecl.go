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

// Layout lists a struct's members with offsets and sizes, as pahole prints them.
func (t *Type) Layout() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s {\n", t.Name)
	for _, f := range t.Fields {
		decl := f.Type.Decl(f.Name)
		if f.Bits > 0 {
			decl += fmt.Sprintf(":%d", f.Bits)
		}
		fmt.Fprintf(&b, "\t%-40s /* %5d %5d */\n", decl+";", f.Offset, f.Type.Size)
	}
	fmt.Fprintf(&b, "\t/* size: %d */\n};\n", t.Size)
	return b.String()
}
