package user

import (
	"path"
	"strings"

	"kscope/kernel"
)

// lsmod, insmod, rmmod and modprobe as kmod 30 has them, over finit_module and delete_module.

func lsmod(c *cmd) int {
	if len(c.argv) > 1 {
		c.s.Write(2, []byte("Usage: lsmod\n"))
		return 1
	}
	text, e := c.readFile("/proc/modules")
	if e != 0 {
		c.s.Write(2, []byte("libkmod: kmod_module_new_from_loaded: could not open /proc/modules: "+e.Error()+"\nError: could not get list of modules: "+e.Error()+"\n"))
		return 1
	}
	c.printf("Module                  Size  Used by\n")
	for _, l := range strings.Split(string(text), "\n") {
		f := strings.Fields(l)
		if len(f) < 3 {
			continue
		}
		users := ""
		if len(f) > 3 && f[3] != "-" {
			users = " " + strings.TrimSuffix(f[3], ",")
		}
		c.printf("%-19s %8s  %s%s\n", f[0], f[1], f[2], users)
	}
	return 0
}

// moduleName is a module's name from a file's, as modname_normalize() of kmod makes it.
func moduleName(file string) string {
	name, _, _ := strings.Cut(path.Base(file), ".")
	return strings.ReplaceAll(name, "-", "_")
}

// moduleError is the text of mod_strerror() in kmod's tools/insmod.c.
func moduleError(e kernel.Errno) string {
	switch e {
	case kernel.ENOEXEC:
		return "Invalid module format"
	case kernel.ENOENT:
		return "Unknown symbol in module"
	case kernel.ESRCH:
		return "Module has wrong symbol version"
	case kernel.EINVAL:
		return "Invalid parameters"
	}
	return e.Error()
}

// load calls finit_module(2) for a file.
func (c *cmd) load(file string, params []string) (openErr, e kernel.Errno) {
	fd, e := c.s.Open(file, oRdonly, 0)
	if e != 0 {
		return e, 0
	}
	e = c.s.do1("finit_module", fd, strings.Join(params, " "), 0)
	c.s.Close(fd)
	return 0, e
}

func insmod(c *cmd) int {
	_, args, status, done := c.parse(nil, 1)
	if done {
		return status
	}
	if len(args) == 0 {
		c.s.Write(2, []byte("insmod: ERROR: missing filename.\n"))
		return 1
	}
	openErr, e := c.load(args[0], args[1:])
	switch {
	case openErr != 0:
		c.s.Write(2, []byte("insmod: ERROR: could not load module "+args[0]+": "+openErr.Error()+"\n"))
		return 1
	case e != 0:
		c.s.Write(2, []byte("insmod: ERROR: could not insert module "+args[0]+": "+moduleError(e)+"\n"))
		return 1
	}
	return 0
}

// loaded looks for a module in /proc/modules; uses are the modules that need it.
func (c *cmd) loaded(name string) (uses string, refs string, ok bool) {
	text, _ := c.readFile("/proc/modules")
	for _, l := range strings.Split(string(text), "\n") {
		if f := strings.Fields(l); len(f) > 3 && f[0] == name {
			return strings.ReplaceAll(strings.Trim(f[3], "-,"), ",", " "), f[2], true
		}
	}
	return "", "", false
}

func rmmod(c *cmd) int {
	_, args, status, done := c.parse(nil, 1)
	if done {
		return status
	}
	if len(args) == 0 {
		c.s.Write(2, []byte("rmmod: ERROR: missing module name.\n"))
		return 1
	}
	for _, a := range args {
		if !c.unload(moduleName(a), "rmmod: ERROR") {
			status = 1
		}
	}
	return status
}

func (c *cmd) unload(name, who string) bool {
	say := func(text string) bool {
		c.flush()
		c.s.Write(2, []byte(who+": "+text+"\n"))
		return false
	}
	uses, refs, ok := c.loaded(name)
	e := kernel.Errno(0)
	switch {
	case ok && uses != "":
		return say("Module " + name + " is in use by: " + uses)
	case ok && refs != "0":
		return say("Module " + name + " is in use")
	}
	e = c.s.do1("delete_module", name, oNonblock)
	switch e {
	case 0:
		return true
	case kernel.ENOENT:
		return say("Module " + name + " is not currently loaded")
	}
	return say("could not remove module " + name + ": " + e.Error())
}

var modprobeOptions = []option{{'r', "remove", false, 0}, {'q', "quiet", false, 0}, {'v', "verbose", false, 0}, {'n', "dry-run", false, 0}, {'a', "all", false, 0}, {0, "first-time", false, 1}, {'i', "ignore-install", false, 0}}

// modprobe finds NAME.ko below /lib/modules/RELEASE, by modules.dep where that is, and loads what it needs first.
func modprobe(c *cmd) int {
	c.inOrder = true
	found, args, status, done := c.parse(modprobeOptions, 1)
	if done {
		return status
	}
	var on [256]bool
	for _, o := range found {
		on[o.id] = true
	}
	if len(args) == 0 {
		c.s.Write(2, []byte("modprobe: ERROR: missing parameters. See -h.\n"))
		return 1
	}
	u, _ := c.s.Uname()
	dir := "/lib/modules/" + u[2]
	names, params := args[:1], args[1:]
	if on['a'] || on['r'] {
		names, params = args, nil
	}
	for _, a := range names {
		name := moduleName(a)
		files := c.moduleFiles(dir, name)
		if files == nil {
			if real := c.moduleAlias(dir, name); real != "" {
				name, files = real, c.moduleFiles(dir, real)
			}
		}
		_, _, is := c.loaded(name)
		switch {
		case on['r'] && !is && files == nil:
			status = c.modprobeFatal(&on, "Module "+a+" not found.")
		case on['r'] && !is && on[1]:
			status = c.modprobeFatal(&on, "Module "+a+" is not in kernel.")
		case on['r'] && !is:
		case on['r']:
			if !on['n'] && !c.unload(name, "modprobe: FATAL") {
				status = 1
			}
		case is && on[1]:
			c.s.Write(2, []byte("modprobe: ERROR: could not insert '"+name+"': Module already in kernel\n"))
			status = 1
		case is:
		case files == nil:
			status = c.modprobeFatal(&on, "Module "+a+" not found in directory "+dir)
		default:
			status = max(status, c.modprobeLoad(dir, name, files, params, &on))
		}
	}
	return status
}

func (c *cmd) modprobeFatal(on *[256]bool, text string) int {
	if !on['q'] {
		c.s.Write(2, []byte("modprobe: FATAL: "+text+"\n"))
	}
	return 1
}

// modprobeLoad loads files from the last, which needs nothing, to the first, the module itself.
func (c *cmd) modprobeLoad(dir, name string, files, params []string, on *[256]bool) int {
	for i := len(files) - 1; i >= 0; i-- {
		if _, _, is := c.loaded(moduleName(files[i])); is {
			continue
		}
		var with []string
		if i == 0 {
			with = params
		}
		file := files[i]
		if !strings.HasPrefix(file, "/") {
			file = dir + "/" + file
		}
		if on['v'] {
			c.printf("insmod %s %s\n", file, strings.Join(with, " "))
		}
		if on['n'] {
			continue
		}
		openErr, e := c.load(file, with)
		if e == 0 {
			e = openErr
		}
		if e != 0 && e != kernel.EEXIST {
			c.flush()
			c.s.Write(2, []byte("modprobe: ERROR: could not insert '"+name+"': "+moduleError(e)+"\n"))
			return 1
		}
	}
	return 0
}

// moduleAlias is the module that modules.alias has under the name, in which - and _ are the same.
func (c *cmd) moduleAlias(dir, name string) string {
	text, _ := c.readFile(dir + "/modules.alias")
	for _, l := range strings.Split(string(text), "\n") {
		if f := strings.Fields(l); len(f) == 3 && f[0] == "alias" && strings.ReplaceAll(f[1], "-", "_") == name {
			return f[2]
		}
	}
	return ""
}

// moduleFiles is the module's file and those of the modules that it needs.
func (c *cmd) moduleFiles(dir, name string) []string {
	if text, e := c.readFile(dir + "/modules.dep"); e == 0 {
		for _, l := range strings.Split(string(text), "\n") {
			file, needs, ok := strings.Cut(l, ":")
			if ok && moduleName(file) == name {
				return append([]string{file}, strings.Fields(needs)...)
			}
		}
		return nil
	}
	var search func(dir string) string
	search = func(dir string) string {
		names, _ := c.s.ReadDir(dir)
		for _, n := range names {
			if n.Name == "." || n.Name == ".." {
				continue
			}
			at := dir + "/" + n.Name
			if strings.HasSuffix(n.Name, ".ko") && moduleName(n.Name) == name {
				return at
			}
			if n.Type == 4 {
				if hit := search(at); hit != "" {
					return hit
				}
			}
		}
		return ""
	}
	if file := search(dir); file != "" {
		return []string{file}
	}
	return nil
}
