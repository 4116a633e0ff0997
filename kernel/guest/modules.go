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
	_, rest, ok := bytes.Cut(ko, []byte("\x00depends="))
	names, _, _ := bytes.Cut(rest, []byte{0})
	if !ok || len(names) == 0 {
		return nil
	}
	return strings.Split(string(names), ",")
}
