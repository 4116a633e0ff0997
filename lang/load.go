package lang

import (
	"fmt"
	"os"
	"path/filepath"
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

// load implements load("path.star", ...). The path is relative to the loading file, not to the working directory, and the
// module runs in the loader's own thread, so its prints, steps and cancellation are those of the script.
func (h *Host) load(t *starlark.Thread, name string) (starlark.StringDict, error) {
	if strings.HasPrefix(name, "@") {
		return nil, &Error{Msg: fmt.Sprintf("load: %s: no such library", name), At: name}
	}
	from := h.loader(t)
	path := filepath.FromSlash(name)
	if !filepath.IsAbs(path) {
		path = filepath.Join(filepath.Dir(from), path)
	}
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	if m := h.modules[abs]; m != nil {
		if m.loading {
			return nil, &Error{Msg: "load: cycle: " + h.cycle(abs), At: name}
		}
		return m.globals, m.err
	}
	src, err := os.ReadFile(path)
	if err != nil {
		e := readError(name, err).(*Error)
		e.Msg, e.At, e.Hint = "load: "+e.Msg, name, DidYouMean(filepath.Base(path), siblings(path))
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
