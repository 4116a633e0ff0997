package guest

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"io/fs"
	"path"
	"strings"
)

//go:embed modules/*.ko.gz
var modulesGz embed.FS

// Modules are the names of the modules that come with the image, sorted.
func Modules() []string {
	files, err := fs.Glob(modulesGz, "modules/*.ko.gz")
	if err != nil {
		panic("BUG: " + err.Error())
	}
	for i, f := range files {
		files[i] = strings.TrimSuffix(path.Base(f), ".ko.gz")
	}
	return files
}

// treeModules are the modules of the kernel's own tree: a directory, whose C files together are one, or a file. Read-only.
var treeModules = map[string]string{"fs/ext4": "ext4", "drivers/block/brd.c": "brd"}

// ModuleOf is the module that a source file belongs to: modules/NAME.c, or a directory's; "": the kernel.
func ModuleOf(src string) string {
	switch dir := path.Dir(src); {
	case path.Ext(src) != ".c":
		return ""
	case dir == "modules":
		return strings.TrimSuffix(path.Base(src), ".c")
	default:
		if name := treeModules[src]; name != "" {
			return name
		}
		return treeModules[dir]
	}
}

// ModuleSources lists the C files of each module.
func ModuleSources(srcs []string) map[string][]string {
	mods := map[string][]string{}
	for _, s := range srcs {
		if name := ModuleOf(s); name != "" {
			mods[name] = append(mods[name], s)
		}
	}
	return mods
}

// InTree says whether a module is of the kernel's own tree.
func InTree(name string) bool {
	for _, m := range treeModules {
		if m == name {
			return true
		}
	}
	return false
}

// Module is the .ko of a module, nil when there is none of that name.
func Module(name string) []byte {
	gz, err := modulesGz.ReadFile("modules/" + name + ".ko.gz")
	if err != nil {
		return nil
	}
	return unpack(gz)
}

// ModuleVersion is the srcversion of a module: a hash of its source and of what makes a module of it. Structures of other
// headers that it uses may have changed all the same: the tests that run the modules tell.
func ModuleVersion(dir fs.FS, source []byte) (string, error) {
	names, err := Sources(dir)
	if err != nil {
		return "", err
	}
	h := sha256.New()
	for _, name := range names {
		switch name {
		case "include/module.h", "include/moduleparam.h", "include/export.h", "gen/modules.go":
		default:
			continue
		}
		data, err := fs.ReadFile(dir, name)
		if err != nil {
			return "", err
		}
		fmt.Fprintf(h, "%s %d\n", name, len(data))
		h.Write(bytes.ReplaceAll(data, []byte("\r\n"), []byte("\n")))
	}
	h.Write(bytes.ReplaceAll(source, []byte("\r\n"), []byte("\n")))
	return strings.ToUpper(hex.EncodeToString(h.Sum(nil)[:12])), nil
}

// Release is the guest's kernel release: the name of its directory below /lib/modules (init/version.c).
const Release = "6.1.0-kscope"

// Depends are the modules that a module's file says it needs.
func Depends(ko []byte) []string {
	names := ModInfo(ko, "depends")
	if names == nil || names[0] == "" {
		return nil
	}
	return strings.Split(names[0], ",")
}

// ModInfo are the values of a tag in a module's .modinfo: "alias", "license" …
func ModInfo(ko []byte, tag string) (values []string) {
	for rest, ok := ko, true; ok; {
		if _, rest, ok = bytes.Cut(rest, []byte("\x00"+tag+"=")); ok {
			value, _, _ := bytes.Cut(rest, []byte{0})
			values = append(values, string(value))
		}
	}
	return values
}
