package builtins

import (
	"errors"
	"path"
	"slices"
	"sort"
	"strings"

	"go.starlark.net/starlark"

	"kscope/kernel"
	"kscope/kernel/user"
	"kscope/lang"
)

// fsMethods are the rows of module fs: the guest's files, through the guest's own VFS.
func fsMethods() []method {
	return []method{
		{name: "read", sig: "(path) -> string", doc: "Reads a file of the guest, as cat would; a file that would block ends there.", fn: fsRead},
		{name: "write", sig: "(path, text, append = False)", doc: "Writes a file as > would, or >> with append. Creates it if need be.", fn: fsWrite},
		{name: "ls", sig: `(path = "/") -> [string]`, doc: "Lists a directory, sorted; directories end in /.", fn: fsLs},
		{name: "mkdir", sig: "(path)", doc: "Makes a directory.", fn: fsMkdir},
		{name: "rmdir", sig: "(path)", doc: "Removes an empty directory.", fn: fsRmdir},
		{name: "remove", sig: "(path)", doc: "Removes a file.", fn: fsRemove},
	}
}

// names lists a directory for hints and completion; nothing on errors.
func (g *Guest) names(dir string) []string {
	if g.busy {
		return nil
	}
	var names []string
	for _, e := range g.look(dir) {
		names = append(names, e.Name)
	}
	return names
}

// programs are the names of the commands.
func (g *Guest) programs() []string { return append(g.names("/usr/bin"), g.names("/usr/sbin")...) }

// look lists a directory in a copy of the machine: Tab and a hint must not move the machine itself.
func (g *Guest) look(dir string) []kernel.DirEntry {
	m := g.M.Copy()
	if users, ok := kernel.PartOf[*user.Host](m); ok {
		defer users.Close()
	}
	outer := g.env.running.Swap(m)
	defer g.env.running.Store(outer)
	entries, err := m.ListDir(dir)
	if err != nil {
		return nil
	}
	return entries
}

// fileError points at the path and offers the names beside it.
func (c *call) fileError(err error, p string) error {
	e := c.fail(err, p, nil)
	var le *lang.Error
	if !errors.As(e, &le) || !errors.Is(err, kernel.ENOENT) && !errors.Is(err, kernel.EACCES) {
		return e
	}
	le.Hint = didYouMean(c.g.nearPaths(p)) // tracefs refuses to create files with EACCES
	return le
}

// nearPaths offers what p may have been meant to be: the first of its names that is not there, spelt otherwise.
func (g *Guest) nearPaths(p string) []string {
	dir := "/"
	parts := strings.Split(strings.Trim(path.Clean("/"+p), "/"), "/")
	for i, part := range parts {
		names := g.names(dir)
		if !slices.Contains(names, part) {
			var near []string
			for _, n := range lang.Near(part, names) {
				near = append(near, path.Join(append([]string{dir, n}, parts[i+1:]...)...))
			}
			return near
		}
		dir = path.Join(dir, part)
	}
	return nil
}

// ready refuses what would drive the machine from inside it.
func (c *call) ready() error {
	if c.g.busy {
		e := c.errorf("the machine is already running: programs, handlers and until may not drive it")
		e.Code, e.Hint = "EBUSY", "programs have sys.*; ask before or after the run"
		return e
	}
	return nil
}

func fsRead(c *call) (starlark.Value, error) {
	var p string
	if err := c.unpack("path", &p); err != nil {
		return nil, err
	}
	if err := c.ready(); err != nil {
		return nil, err
	}
	var data []byte
	err := c.g.guard(func() (err error) {
		data, err = c.g.M.ReadFile(p)
		return err
	})
	if err != nil {
		return nil, c.fileError(err, p)
	}
	return str(string(data)), nil
}

func fsWrite(c *call) (starlark.Value, error) {
	var p, text string
	app := false
	if err := c.unpack("path", &p, "text", &text, "append?", &app); err != nil {
		return nil, err
	}
	if err := c.ready(); err != nil {
		return nil, err
	}
	err := c.g.guard(func() error { return c.g.M.WriteFile(p, []byte(text), app) })
	if file, ok := strings.CutPrefix(p, "/sys/kernel/tracing/"); ok && errors.Is(err, kernel.EINVAL) {
		return starlark.None, c.writeError(err, file, text)
	}
	return starlark.None, c.fileError(err, p)
}

func fsLs(c *call) (starlark.Value, error) {
	p := "/"
	if err := c.unpack("path?", &p); err != nil {
		return nil, err
	}
	if err := c.ready(); err != nil {
		return nil, err
	}
	var names []string
	err := c.g.guard(func() error {
		entries, err := c.g.M.ListDir(p)
		for _, e := range entries {
			if e.Type == dtDir {
				e.Name += "/"
			}
			names = append(names, e.Name)
		}
		return err
	})
	sort.Strings(names)
	return lang.Strings(names), c.fileError(err, p)
}

// dtDir is DT_DIR of struct linux_dirent64.
const dtDir = 4

func fsMkdir(c *call) (starlark.Value, error) {
	return c.onPath(func(p string) error { return c.g.M.Mkdir(p) })
}

func fsRmdir(c *call) (starlark.Value, error) {
	return c.onPath(func(p string) error { return c.g.M.Rmdir(p) })
}

func fsRemove(c *call) (starlark.Value, error) {
	return c.onPath(func(p string) error { return c.g.M.Remove(p) })
}

func (c *call) onPath(fn func(p string) error) (starlark.Value, error) {
	var p string
	if err := c.unpack("path", &p); err != nil {
		return nil, err
	}
	if err := c.ready(); err != nil {
		return nil, err
	}
	err := c.g.guard(func() error { return fn(p) })
	return starlark.None, c.fileError(err, p)
}
