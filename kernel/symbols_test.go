package kernel

import (
	"bytes"
	"debug/elf"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// compile builds a small kernel-like ELF from testdata/sym; it skips where gcc is missing.
func compile(t testing.TB) *elf.File {
	t.Helper()
	out := filepath.Join(t.TempDir(), "k.elf")
	args := strings.Fields(`-O2 -g -gz -ffreestanding -fno-builtin -nostdlib -static -mcmodel=kernel -mno-red-zone -mno-sse -fno-pic
		-fno-pie -no-pie -fno-stack-protector -fcf-protection=none -fno-asynchronous-unwind-tables -falign-functions=16 -fno-ipa-sra
		-fno-optimize-sibling-calls -Wl,-z,noexecstack -Wl,--build-id=none -Wl,-T,k.lds -o`)
	cmd := exec.Command("gcc", append(args, out, "k.c", "k2.c", "k.S")...)
	cmd.Dir = "testdata/sym"
	if msg, err := cmd.CombinedOutput(); err != nil {
		if len(msg) > 0 {
			t.Fatalf("gcc: %s", msg)
		}
		t.Skip("no gcc: ", err)
	}
	raw, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	f, err := elf.NewFile(bytes.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestSymbols(t *testing.T) {
	f := compile(t)
	s, err := NewSymbols(f)
	if err != nil {
		t.Fatal(err)
	}
	read := s.MustLookup("vfs_read")
	rows := s.ByName("vfs_read")
	if len(rows) != 1 || rows[0].Kind != 'T' || rows[0].Section != ".text" || rows[0].Size%16 != 0 || rows[0].ELFSize > rows[0].Size {
		t.Errorf("vfs_read: %+v", rows)
	}
	for _, c := range []struct{ name, kinds string }{{"helper", "t"}, {"the_file", "B"}, {"hidden", "d"}, {"pcp_count", "A"},
		{"table", "R"}, {"weak_one", "W"}} {
		if rows := s.ByName(c.name); len(rows) != 1 || string(rows[0].Kind) != c.kinds {
			t.Errorf("%s: %+v, want kind %s", c.name, rows, c.kinds)
		}
	}
	if r := s.ByName("pcp_count")[0]; !r.PerCPU() || r.Addr > 4096 {
		t.Errorf("pcp_count: %+v", r)
	}
	if got := len(s.ByName("twice")); got != 2 {
		t.Errorf("%d functions named twice", got)
	}
	size := rows[0].Size
	for _, c := range []struct {
		addr uint64
		want string
	}{{read, "vfs_read+0x0/0x"}, {read + 7, "vfs_read+0x7/0x"}, {read + size - 1, "vfs_read+0x"}, {0x1234, "0x1234"}, {^uint64(0), "0xffffffffffffffff"}} {
		if got := s.Format(c.addr); !strings.HasPrefix(got, c.want) {
			t.Errorf("%#x formats as %s, want %s…", c.addr, got, c.want)
		}
	}
	if got := s.FormatReturn(read + size); !strings.HasPrefix(got, "vfs_read+0x") {
		t.Errorf("a return address at a function's end: %s", got)
	}
	s.Add(Sym{Name: "ftrace_trampoline", Addr: 0xffffffffc0200000, Size: 0x40, Module: "__builtin__ftrace"})
	if got := s.Format(0xffffffffc0200010); got != "ftrace_trampoline+0x10/0x40 [__builtin__ftrace]" {
		t.Error(got)
	}
	fork := s.Fork()
	fork.Remove(0xffffffffc0200000)
	if _, ok := fork.Lookup("ftrace_trampoline"); ok {
		t.Error("a removed symbol is still there")
	}
	if _, ok := s.Lookup("__builtin__ftrace:ftrace_trampoline"); !ok {
		t.Error("removing from a fork removed from the original")
	}
	for _, r := range s.All() { // both ways
		if r.PerCPU() || r.Size == 0 {
			continue
		}
		if got, off := s.At(r.Addr); got.Addr != r.Addr || off != 0 {
			t.Errorf("%s at %#x is found as %s+%#x", r.Name, r.Addr, got.Name, off)
		}
	}
}

func TestResolve(t *testing.T) {
	s, err := NewSymbols(compile(t))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ text, want string }{
		{"vfs_read+0x4", ""}, {"0xffffffff81000000", ""}, {"vfs_raed", `no symbol "vfs_raed"; did you mean "vfs_read"?`},
		{"vfs_read+x", `"x" is no offset`}, {"12z", `"12z" is no address`}, {"twice", `2 symbols are named "twice"`},
		{"mod:vfs_read", `no symbol "mod:vfs_read"`},
	} {
		_, err := s.Resolve(c.text)
		if err == nil && c.want == "" {
			continue
		}
		if err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", c.text, err, c.want)
		}
	}
}

func TestTypes(t *testing.T) {
	f := compile(t)
	types := NewTypes(f)
	file := types.Struct("file")
	if file == nil {
		t.Fatal("no struct file: ", types.err)
	}
	for _, c := range []struct {
		name, decl         string
		off                int64
		bits, shift, bytes int
	}{
		{"self", "file_t *self", 0, 0, 0, 8}, {"pid", "int pid", 8, 0, 0, 4}, {"comm", "char comm[16]", 12, 0, 0, 16},
		{"a", "u32 a", 28, 3, 0, 4}, {"b", "u32 b", 28, 5, 3, 4}, {"wide", "long long unsigned int wide", 32, 40, 0, 8}, {"y", "long int y", 40, 0, 0, 8},
		{"col", "enum color col", 52, 0, 0, 4}, {"fn", "void (*fn)(struct file *, int)", 56, 0, 0, 8}, {"arr", "int arr[3][4]", 80, 0, 0, 48},
		{"name", "const char *name", 128, 0, 0, 8}, {"neg", "int neg", 136, 4, 0, 4},
	} {
		g := file.Field(c.name)
		if g.Type == nil || g.Type.Decl(g.Name) != c.decl || g.Offset != c.off || g.Bits != c.bits || g.Shift != c.shift || int(g.Type.Size) != c.bytes {
			t.Errorf("%s: %+v %v", c.name, g, g.Type)
		}
	}
	if got := file.Field("self").Type.Elem.Field("comm").Offset; got != 12 {
		t.Errorf("through a typedef to itself: %d", got)
	}
	protos := map[string]string{
		"vfs_read": "ssize_t vfs_read(struct file *file, char *buf, size_t count, loff_t *pos)", "helper": "static int helper(const struct file *f)",
		"many": "int many(struct file *f, ...)", "nothing": "void nothing(void)", "helper.isra.0": "static int helper(const struct file *f)",
	}
	for name, want := range protos {
		if fn, ok := types.Func(name, 0); !ok || fn.String() != want {
			t.Errorf("%s: %v, want %s", name, fn, want)
		}
	}
	syms, _ := NewSymbols(f)
	if _, line, ok := types.Line(syms.MustLookup("vfs_read")); !ok || line == 0 {
		t.Errorf("vfs_read has no line: %d %v", line, ok)
	}
	if _, err := types.ByName("struct flie"); err == nil || err.Error() != `no type "struct flie"; did you mean "file"?` {
		t.Error(err)
	}
	if x, err := types.ByName("file_t **"); err != nil || x.String() != "file_t **" {
		t.Error(x, err)
	}
	if v, err := types.Var("hidden"); err != nil || v.String() != "int" {
		t.Error(v, err)
	}
}

func TestObj(t *testing.T) {
	types := NewTypes(compile(t))
	mem := fakeMemory{}
	put := func(at uint64, b ...byte) {
		for i := range 200 {
			if _, ok := mem[at+uint64(i)]; !ok {
				mem[at+uint64(i)] = 0
			}
		}
		for i, c := range b {
			mem[at+uint64(i)] = c
		}
	}
	put(0x1000, 0, 0x20)
	put(0x1008, 0xff, 0xff, 0xff, 0xff, 'c', 'a', 't')
	put(0x101c, 0xfd)     // a = 5, b = 31
	put(0x1034, 5)        // col = GREEN
	put(0x1050+4*5, 42)   // arr[1][1]
	put(0x1080, 0, 0x30)  // name
	put(0x1088, 0x0e)     // neg = -2
	put(0x2000, 0, 0x10)  // self->self
	put(0x200c, 'd', 'o') // self->comm
	put(0x3000, 'h', 'i') // *name
	o := NewObj(mem, types.Struct("file"), 0x1000)
	get := func(path ...string) Obj {
		f, err := o.Path(path...)
		if err != nil {
			t.Fatal(path, err)
		}
		return f
	}
	for _, c := range []struct {
		o    Obj
		want string
	}{
		{get("pid"), "(int)-1"}, {get("comm"), `(char [16])"cat"`}, {get("a"), "(u32)5"}, {get("b"), "(u32)31"}, {get("col"), "(enum color)GREEN"},
		{get("self", "comm"), `(char [16])"do"`}, {get("self", "self", "pid"), "(int)-1"}, {get("self"), "(file_t *)0x2000"}, {get("neg"), "(int)-2"}, {get("name"), `(const char *)0x3000 = "hi"`},
		{NewValue(mem, types.Struct("file").Field("self").Type, 0x2000), "(file_t *)0x2000"},
	} {
		if got := c.o.String(); got != c.want {
			t.Errorf("%s, want %s", got, c.want)
		}
	}
	if s, err := get("name").Text(); s != "hi" || err != nil {
		t.Error(s, err)
	}
	one, err := get("arr").Index(1)
	if err == nil {
		one, err = one.Index(1)
	}
	if got := one.String(); got != "(int)42" || err != nil {
		t.Error(got, err)
	}
	if _, err := get("arr").Index(3); err == nil {
		t.Error("arr[3] is allowed")
	}
	if _, err := o.Field("comn"); err == nil || err.Error() != `struct file has no field "comn"; did you mean "comm"?` {
		t.Error(err)
	}
	if _, err := NewObj(mem, types.Struct("file"), 0x9000).Field("pid"); err != nil {
		t.Error("a field is read before it is asked for: ", err)
	}
	if got := NewObj(mem, types.Struct("file").Field("pid").Type, 0x9000).String(); !strings.Contains(got, "0x9000") {
		t.Error(got)
	}
}

func TestGlob(t *testing.T) {
	for _, c := range []struct {
		pattern, s string
		want       bool
	}{
		{"vfs_*", "vfs_read", true}, {"*_read", "vfs_read", true}, {"*fs_*", "vfs_read", true}, {"v*d", "vfs_read", true}, {"v*x", "vfs_read", false},
		{"vfs_rea?", "vfs_read", true}, {"vfs_[a-r]ead", "vfs_read", true}, {"vfs_[!r]ead", "vfs_read", false}, {"vfs_[!a-q]ead", "vfs_read", true},
		{"[]]", "]", true}, {"[!]]", "x", true}, {"a[", "a[", true}, {`\*`, "*", true}, {`\*`, "x", false}, {"*", "", true}, {"", "", true}, {"", "x", false},
		{"a*b*c", "aXbYc", true}, {"a*b*c", "aXbY", false}, {"**a", "bba", true}, {"vfs_read", "vfs_read_iter", false},
	} {
		if got := Glob(c.pattern, c.s); got != c.want {
			t.Errorf("Glob(%q, %q) = %v", c.pattern, c.s, got)
		}
	}
}

func TestSuggest(t *testing.T) {
	names := []string{"vfs_read", "vfs_write", "vfs_readv", "ksys_read", "inet_csk_accept"}
	for _, c := range []struct {
		name string
		want []string
	}{{"vfs_raed", []string{"vfs_read", "vfs_readv"}}, {"vsf_read", []string{"vfs_read", "vfs_readv"}}, {"inet_csk_acept", []string{"inet_csk_accept"}}, {"zzz", nil}} {
		if got := Suggest(c.name, names); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

func TestInlined(t *testing.T) {
	types := NewTypes(compile(t))
	var got []string
	for _, s := range types.Inlined("inner") {
		if s.Addr < kernelText || s.Line == 0 || !strings.HasSuffix(s.File, "k.c") {
			t.Errorf("%+v", s)
		}
		got = append(got, s.Caller)
	}
	slices.Sort(got)
	if want := []string{"inlines_twice", "outer"}; !slices.Equal(got, want) {
		t.Errorf("inner is inlined into %q, want %q", got, want)
	}
	if types.Inlined("vfs_read") != nil {
		t.Error("vfs_read was not inlined")
	}
}

// The embedded image, read as a whole: symbols and lines for every function, layouts for the structs that tools name.
func TestImageSymbols(t *testing.T) {
	img, err := LoadImage(nil)
	if err != nil {
		t.Skip(err)
	}
	for _, name := range []string{"vfs_read", "vfs_write", "do_sys_openat2", "schedule", "kmalloc", "kfree", "handle_mm_fault", "__schedule"} {
		rows := img.Syms.ByName(name)
		if len(rows) != 1 || !rows[0].Text() {
			t.Errorf("%s: %+v", name, rows)
			continue
		}
		f, ok := img.Types.Func(name, rows[0].Addr)
		if !ok || f.Addr != rows[0].Addr && !strings.Contains(name, ".") {
			t.Errorf("%s has no prototype: %+v", name, f)
		}
	}
	if f, ok := img.Types.Func("vfs_read", 0); !ok || f.String() != "ssize_t vfs_read(struct file *file, char *buf, size_t count, loff_t *pos)" {
		t.Errorf("vfs_read is %v", f)
	}
	funcs, rows, lines := 0, 0, 0
	frames, err := img.Types.frames()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range img.Syms.All() {
		if !s.Text() || s.ELFSize == 0 || s.Addr >= img.gateStart && s.Addr < img.gateEnd {
			continue
		}
		funcs++
		if frames.row(s.Addr).ok {
			rows++
		} else {
			t.Logf("no unwind rows: %s", s.Name)
		}
		if _, _, ok := img.Types.Line(s.Addr); ok {
			lines++
		}
	}
	t.Logf("%d functions, %d with unwind rows, %d with lines", funcs, rows, lines)
	if rows*100 < funcs*99 || lines*100 < funcs*99 {
		t.Errorf("%d functions: %d with unwind rows, %d with lines", funcs, rows, lines)
	}
}

func BenchmarkDWARFIndex(b *testing.B) {
	img, err := LoadImage(nil)
	if err != nil {
		b.Skip(err)
	}
	for b.Loop() {
		if NewTypes(img.ELF).Struct("task_struct") == nil {
			b.Skip("no task_struct")
		}
	}
}

func BenchmarkSymbolAt(b *testing.B) {
	img, err := LoadImage(nil)
	if err != nil {
		b.Skip(err)
	}
	at := img.Syms.MustLookup("vfs_read") + 5
	for b.Loop() {
		img.Syms.At(at)
	}
}
