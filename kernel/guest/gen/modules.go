package main

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"kscope/kernel/guest"
)

// modules builds each module as modules/NAME.ko.gz.
func (b *builder) modules(srcs []string, out string) error {
	dir := filepath.Join(out, "modules")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	mods := guest.ModuleSources(srcs)
	for _, name := range slices.Sorted(maps.Keys(mods)) {
		var files []string
		for _, s := range mods[name] {
			files = append(files, filepath.Join(b.dir, s))
		}
		ko, err := b.module(strings.ReplaceAll(name, "-", "_"), files, filepath.Dir(mods[name][0]))
		if err != nil {
			return err
		}
		if err := compress(ko, filepath.Join(dir, name+".ko.gz")); err != nil {
			return err
		}
		os.Remove(ko)
	}
	return nil
}

// moduleFlags are what a module's C file is compiled with beyond the kernel's own flags.
func (b *builder) moduleFlags(name string) []string {
	fs := append([]string{}, commonFlags...)
	fs = append(append(fs, tracedFlags...), cloneFlags...)
	return append(fs, "-g1", "-I"+filepath.Join(b.dir, "modules/include"), "-DMODULE", fmt.Sprintf("-DKBUILD_MODNAME=%q", name))
}

// module compiles the C files of one module, outside or inside the tree, adds what modpost would (struct module, vermagic,
// depends, name) and links the .ko. Debug information is that of unwind rows and lines. Paths appear as show; temporary
// names do not, so that the same sources give the same bytes.
func (b *builder) module(name string, srcs []string, show string) (ko string, err error) {
	tmp, err := os.MkdirTemp("", "kscope-ko")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(tmp)
	var objs []string
	var source []byte
	flags := append(b.moduleFlags(name), "-iquote", filepath.Dir(srcs[0]), "-ffile-prefix-map="+b.dir+"=.", "-ffile-prefix-map="+filepath.Dir(srcs[0])+"="+show)
	for i, src := range srcs {
		obj := fmt.Sprintf("%s.%d.o", name, i)
		if err := run(b.dir, "gcc", append(flags, "-c", src, "-o", filepath.Join(tmp, obj))...); err != nil {
			return "", err
		}
		data, err := os.ReadFile(src)
		if err != nil {
			return "", err
		}
		objs, source = append(objs, obj), append(source, data...)
	}
	modObj, err := b.modObject(tmp, name, objs, source)
	if err != nil {
		return "", err
	}
	linked := name + ".ko"
	args := append([]string{"-r", "-z", "noexecstack", "--build-id=none", "-o", linked}, append(objs, modObj)...)
	if err := run(tmp, "ld", args...); err != nil {
		return "", err
	}
	out, err := os.CreateTemp("", name+"-*.ko")
	if err != nil {
		return "", err
	}
	out.Close()
	return out.Name(), run(tmp, "objcopy", "-R", ".comment", "-R", ".note.*", "-R", ".debug_aranges", "-R", ".rela.debug_aranges", linked, out.Name())
}

// modObject compiles NAME.mod.c, in tmp.
func (b *builder) modObject(tmp, name string, objs []string, source []byte) (string, error) {
	text, err := b.modpost(tmp, name, objs)
	if err != nil {
		return "", err
	}
	version, err := guest.ModuleVersion(os.DirFS(b.dir), source)
	if err != nil {
		return "", err
	}
	text += "MODULE_INFO(srcversion, \"" + version + "\");\n"
	if guest.InTree(name) {
		text += "MODULE_INFO(intree, \"Y\");\n" // not out of tree: it taints nothing
	}
	modC, modObj := name+".mod.c", name+".mod.o"
	if err := os.WriteFile(filepath.Join(tmp, modC), []byte(text), 0o644); err != nil {
		return "", err
	}
	flags := append(b.moduleFlags(name), "-I"+filepath.Join(b.dir, "include"), "-ffile-prefix-map="+b.dir+"=.", "-ffile-prefix-map="+tmp+"=.")
	return modObj, run(tmp, "gcc", append(flags, "-c", modC, "-o", modObj)...)
}

// modpost writes NAME.mod.c. A module has an init or exit function when it defines init_module or cleanup_module.
func (b *builder) modpost(tmp, name string, objs []string) (string, error) {
	cmd := exec.Command("nm", append([]string{"-g"}, objs...)...)
	cmd.Dir = tmp
	nm, err := cmd.Output()
	if err != nil {
		return "", err
	}
	var depends []string
	text := "#include <linux/module.h>\n\nMODULE_INFO(vermagic, VERMAGIC_STRING);\nMODULE_INFO(name, KBUILD_MODNAME);\n\n" +
		"struct module __this_module __used __section(\".gnu.linkonce.this_module\") = {\n\t.name = KBUILD_MODNAME,\n"
	decl := ""
	for _, line := range bytes.Split(nm, []byte("\n")) {
		f := strings.Fields(string(line))
		switch {
		case len(f) == 3 && f[2] == "init_module":
			text, decl = text+"\t.init = init_module,\n", decl+"int init_module(void);\n"
		case len(f) == 3 && f[2] == "cleanup_module":
			text, decl = text+"\t.exit = cleanup_module,\n", decl+"void cleanup_module(void);\n"
		case len(f) == 2 && f[0] == "U":
			if owner := b.exporter(f[1], name); owner != "" && !slices.Contains(depends, owner) {
				depends = append(depends, owner)
			}
		}
	}
	text = strings.Replace(text, "struct module __this", decl+"\nstruct module __this", 1)
	return text + "};\n\nMODULE_INFO(depends, \"" + strings.Join(depends, ",") + "\");\n", nil
}

// exporter finds the module of modules/ whose source exports a symbol.
func (b *builder) exporter(symbol, not string) string {
	files, _ := filepath.Glob(filepath.Join(b.dir, "modules/*.c"))
	for _, f := range files {
		data, err := os.ReadFile(f)
		if err != nil {
			continue
		}
		if name := strings.TrimSuffix(filepath.Base(f), ".c"); name != not &&
			(bytes.Contains(data, []byte("EXPORT_SYMBOL("+symbol+")")) || bytes.Contains(data, []byte("EXPORT_SYMBOL_GPL("+symbol+")"))) {
			return name
		}
	}
	return ""
}

// userModule is -m: a .ko of the user's own beside its source, or in out.
func userModule(dir, src, out string) error {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	if src, err = filepath.Abs(src); err != nil {
		return err
	}
	b := &builder{dir: abs}
	name := strings.ReplaceAll(strings.TrimSuffix(filepath.Base(src), ".c"), "-", "_")
	ko, err := b.module(name, []string{src}, ".")
	if err != nil {
		return err
	}
	defer os.Remove(ko)
	if out == "" {
		out = filepath.Dir(src)
	}
	data, err := os.ReadFile(ko)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(out, strings.TrimSuffix(filepath.Base(src), ".c")+".ko"), data, 0o644)
}
