package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"kscope/kernel/guest"
)

// modules builds each modules/NAME.c as modules/NAME.ko.gz.
func (b *builder) modules(srcs []string, out string) error {
	for _, s := range srcs {
		if dir, file := filepath.Split(s); dir != "modules/" || filepath.Ext(file) != ".c" {
			continue
		}
		ko, err := b.module(filepath.Join(b.dir, s), filepath.Dir(s))
		if err != nil {
			return err
		}
		name := strings.TrimSuffix(filepath.Base(s), ".c")
		dir := filepath.Join(out, "modules")
		if err := os.MkdirAll(dir, 0o755); err != nil {
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

// module compiles one C file outside or inside the tree, adds what modpost would (struct module, vermagic, depends, name)
// and links the .ko. Debug information is that of unwind rows and lines.
func (b *builder) module(src, show string) (ko string, err error) {
	name := strings.ReplaceAll(strings.TrimSuffix(filepath.Base(src), ".c"), "-", "_")
	tmp, err := os.MkdirTemp("", "kscope-ko")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(tmp)
	obj, modC, modObj := filepath.Join(tmp, name+".o"), filepath.Join(tmp, name+".mod.c"), filepath.Join(tmp, name+".mod.o")
	flags := append(b.moduleFlags(name), "-ffile-prefix-map="+filepath.Dir(src)+"="+show)
	if err := run(b.dir, "gcc", append(flags, "-c", src, "-o", obj)...); err != nil {
		return "", err
	}
	text, err := b.modpost(name, obj)
	if err != nil {
		return "", err
	}
	source, err := os.ReadFile(src)
	if err != nil {
		return "", err
	}
	version, err := guest.ModuleVersion(os.DirFS(b.dir), source)
	if err != nil {
		return "", err
	}
	text += "MODULE_INFO(srcversion, \"" + version + "\");\n"
	if err := os.WriteFile(modC, []byte(text), 0o644); err != nil {
		return "", err
	}
	if err := run(b.dir, "gcc", append(flags, "-ffile-prefix-map="+tmp+"="+show, "-c", modC, "-o", modObj)...); err != nil {
		return "", err
	}
	linked := filepath.Join(tmp, name+".ko")
	if err := run(tmp, "ld", "-r", "-z", "noexecstack", "--build-id=none", "-o", linked, obj, modObj); err != nil {
		return "", err
	}
	out, err := os.CreateTemp("", name+"-*.ko")
	if err != nil {
		return "", err
	}
	out.Close()
	return out.Name(), run(tmp, "objcopy", "-R", ".comment", "-R", ".note.*", "-R", ".debug_aranges", "-R", ".rela.debug_aranges", linked, out.Name())
}

// modpost writes NAME.mod.c. A module has an init or exit function when it defines init_module or cleanup_module.
func (b *builder) modpost(name, obj string) (string, error) {
	nm, err := exec.Command("nm", "-g", obj).Output()
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
			if owner := b.exporter(f[1], name); owner != "" {
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
	ko, err := b.module(src, ".")
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
	name := strings.TrimSuffix(filepath.Base(src), ".c") + ".ko"
	return os.WriteFile(filepath.Join(out, name), data, 0o644)
}
