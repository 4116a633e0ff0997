package guest

import (
	"bytes"
	"embed"
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
