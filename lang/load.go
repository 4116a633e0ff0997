package lang

import (
	"fmt"
	"io/fs"
	"maps"
	"os"
	pathpkg "path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"go.starlark.net/starlark"
)

// fileKey is the thread-local that names the file being run; load() resolves relative to it.
const fileKey = "lang.file"

// module is a loaded file. It is loaded once per host; later loads share its frozen globals.
type module struct {
	path    string
	loading bool
	globals starlark.StringDict
	err     error
}

// stdPrefix begins the names of the library that kscope brings.
const stdPrefix = "@std//"

// locate gives the path of a name in a load statement: relative to the loading file, not to the working directory.
func locate(from, name string) (string, error) {
	switch {
	case strings.HasPrefix(name, stdPrefix):
		return stdPrefix + pathpkg.Clean(strings.TrimPrefix(name, stdPrefix)), nil
	case strings.HasPrefix(name, "@"):
		return "", &Error{Msg: fmt.Sprintf("load: %s: no such library", name), At: name, Hint: "kscope's own is @std//: load(\"@std//trace.star\", ...)"}
	case strings.HasPrefix(from, stdPrefix):
		return stdPrefix + pathpkg.Join(pathpkg.Dir(strings.TrimPrefix(from, stdPrefix)), name), nil
	}
	path := filepath.FromSlash(name)
	if !filepath.IsAbs(path) {
		path = filepath.Join(filepath.Dir(from), path)
	}
	return path, nil
}

// absolute is the one name of a file, whatever it was loaded by.
func absolute(path string) (string, error) {
	if strings.HasPrefix(path, stdPrefix) {
		return path, nil
	}
	return filepath.Abs(path)
}

// readSource reads a script or library.
func (h *Host) readSource(path string) ([]byte, error) {
	if name, ok := strings.CutPrefix(path, stdPrefix); ok {
		if h.cfg.Std == nil {
			return nil, fs.ErrNotExist
		}
		return fs.ReadFile(h.cfg.Std, name)
	}
	return os.ReadFile(path)
}

// siblings are the names in the directory of path, for hints.
func (h *Host) siblings(path string) []string {
	name, ok := strings.CutPrefix(path, stdPrefix)
	if !ok {
		return siblings(path)
	}
	if h.cfg.Std == nil {
		return nil
	}
	entries, err := fs.ReadDir(h.cfg.Std, pathpkg.Dir(name))
	if err != nil {
		return nil
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// load implements load("path.star", ...). The module runs in the loader's own thread, so its prints, steps and cancellation
// are those of the script.
func (h *Host) load(t *starlark.Thread, name string) (starlark.StringDict, error) {
	path, err := locate(h.loader(t), name)
	if err != nil {
		return nil, err
	}
	abs, err := absolute(path)
	if err != nil {
		return nil, err
	}
	if m := h.modules[abs]; m != nil {
		if m.loading {
			return nil, &Error{Msg: "load: cycle: " + h.cycle(abs), At: name}
		}
		return m.globals, m.err
	}
	src, err := h.readSource(path)
	if err != nil {
		e := readError(name, err)
		e.Msg, e.At, e.Hint = "load: "+e.Msg, name, DidYouMean(filepath.Base(path), h.siblings(path))
		return nil, e
	}
	m := &module{path: path, loading: true}
	h.modules[abs] = m
	h.order = append(h.order, abs)
	outer := t.Local(fileKey)
	t.SetLocal(fileKey, path)
	if f, err := h.parseFile(path, src); err != nil {
		m.err = err
	} else {
		m.globals, m.err = h.initFile(t, f)
	}
	m.globals.Freeze() // shared by all that load it
	t.SetLocal(fileKey, outer)
	h.order = h.order[:len(h.order)-1]
	m.loading = false
	return m.globals, m.err
}

// loader is the file whose load statement is running. A load always runs at the top level of a file, so the thread-local
// is exact.
func (h *Host) loader(t *starlark.Thread) string {
	if f, ok := t.Local(fileKey).(string); ok {
		return f
	}
	return filepath.Join(".", "stdin")
}

// cycle names the files from the one that is loaded again back to itself.
func (h *Host) cycle(again string) string {
	var names []string
	seen := false
	for _, abs := range h.order {
		seen = seen || abs == again
		if seen {
			names = append(names, filepath.Base(abs))
		}
	}
	return strings.Join(append(names, filepath.Base(again)), " -> ")
}

// notInModule is how the interpreter words that a loaded file has not the name that load asks for.
var notInModule = regexp.MustCompile(`^load: name (\w+) not found in module (\S+)`)

// inModule words what a loaded file has instead of a name.
func (h *Host) inModule(file, name string) string {
	for _, m := range h.modules {
		if m.path != file && filepath.Base(m.path) != filepath.Base(file) {
			continue
		}
		names := slices.Sorted(maps.Keys(m.globals))
		names = slices.DeleteFunc(names, func(n string) bool { return n[0] == '_' })
		if near := DidYouMean(name, names); near != "" {
			return near
		}
		return "it has " + strings.Join(names, ", ")
	}
	return ""
}
