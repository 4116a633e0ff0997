package user

import (
	"bytes"
	"fmt"
	"path"
	"slices"
	"strings"

	"kscope/kernel/guest"
)

// File is one entry of the initial root file system.
type File struct {
	Path string // without the leading slash
	Mode uint32 // with the type bits
	Data []byte // of a regular file, or a symbolic link's target
	Rdev [2]uint32
}

// RootFiles are what every machine boots with: the commands, /etc, devices and mount points, in the places of Debian 12, whose
// /bin, /sbin and /lib are links into /usr. extra replaces files of the same path and adds others.
func RootFiles(extra ...File) []File {
	files := []File{
		{Path: "bin", Mode: modeLnk | 0o777, Data: []byte("usr/bin")}, {Path: "sbin", Mode: modeLnk | 0o777, Data: []byte("usr/sbin")},
		{Path: "lib", Mode: modeLnk | 0o777, Data: []byte("usr/lib")},
		{Path: "dev/console", Mode: modeChr | 0o600, Rdev: [2]uint32{5, 1}}, {Path: "dev/null", Mode: modeChr | 0o666, Rdev: [2]uint32{1, 3}},
		{Path: "dev/stdin", Mode: modeLnk | 0o777, Data: []byte("/proc/self/fd/0")}, {Path: "dev/stdout", Mode: modeLnk | 0o777, Data: []byte("/proc/self/fd/1")},
		{Path: "dev/stderr", Mode: modeLnk | 0o777, Data: []byte("/proc/self/fd/2")},
		{Path: "dev/zero", Mode: modeChr | 0o666, Rdev: [2]uint32{1, 5}},
		text("boot/config-"+guest.Release, string(guest.Config())),
		text("etc/fstab", "proc /proc proc defaults 0 0\ndebugfs /sys/kernel/debug debugfs defaults 0 0\ntracefs /sys/kernel/tracing tracefs defaults 0 0\n"),
		text("etc/hostname", "kscope\n"),
		text("etc/passwd", "root:x:0:0:root:/root:/bin/sh\nnobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n"),
		text("etc/group", "root:x:0:\nnogroup:x:65534:\n"),
	}
	for _, d := range [...]struct {
		mode  uint32
		paths string
	}{
		{0o755, "boot dev etc home mnt opt run usr usr/bin usr/lib usr/local usr/local/bin usr/local/sbin usr/sbin var var/log sys/kernel"},
		{0o555, "proc sys"}, {0o700, "root sys/kernel/debug sys/kernel/tracing"}, {0o1777, "tmp var/tmp"},
	} {
		for _, p := range strings.Fields(d.paths) {
			files = append(files, File{Path: p, Mode: modeDir | d.mode})
		}
	}
	stub := guest.Stub()
	for _, p := range Commands() {
		files = append(files, stubFile(stub, p.Name))
	}
	files = append(files, moduleFiles()...)
	for _, e := range extra {
		e.Path = merged(e.Path)
		if i := slices.IndexFunc(files, func(f File) bool { return f.Path == e.Path }); i >= 0 {
			files[i] = e
		} else {
			files = append(files, e)
		}
	}
	slices.SortFunc(files, func(a, b File) int { return strings.Compare(a.Path, b.Path) })
	return files
}

// ProgramPath is the file of a program of kscope's: what only root has a use for is in /usr/sbin.
func ProgramPath(name string) string {
	switch name {
	case "insmod", "modprobe", "rmmod", "sysctl":
		return "/usr/sbin/" + name
	}
	return "/usr/bin/" + name
}

// merged is a path without the links of the root directory.
func merged(path string) string {
	for _, dir := range [...]string{"bin/", "sbin/", "lib/"} {
		if strings.HasPrefix(path, dir) {
			return "usr/" + path
		}
	}
	return path
}

// modulePath is where a module is below /lib/modules/RELEASE.
func modulePath(name string) string {
	if name == "ext4" {
		return "kernel/fs/ext4/ext4.ko"
	}
	return "extra/" + name + ".ko"
}

// ModuleFile is a module as a file of the initial root file system, in the place of the one that kscope has of that name.
func ModuleFile(name string, ko []byte) File {
	return File{Path: "usr/lib/modules/" + guest.Release + "/" + modulePath(name), Mode: modeReg | 0o644, Data: ko}
}

// moduleFiles are /lib/modules/RELEASE: the guest's modules, in kernel/ or, when they are of no directory of the kernel's
// own tree, in extra/; modules.dep and modules.alias.
func moduleFiles() []File {
	dir := "usr/lib/modules/" + guest.Release
	files := []File{{Path: "usr/lib/modules", Mode: modeDir | 0o755}, {Path: dir, Mode: modeDir | 0o755}, {Path: dir + "/extra", Mode: modeDir | 0o755}, {Path: dir + "/kernel", Mode: modeDir | 0o755},
		{Path: dir + "/kernel/fs", Mode: modeDir | 0o755}, {Path: dir + "/kernel/fs/ext4", Mode: modeDir | 0o755}}
	dep, alias := "", "# Aliases extracted from modules themselves.\n"
	for _, name := range guest.Modules() {
		ko := guest.Module(name)
		files = append(files, ModuleFile(name, ko))
		dep += modulePath(name) + ":"
		for _, d := range guest.Depends(ko) {
			dep += " " + modulePath(d)
		}
		dep += "\n"
		for _, a := range guest.ModInfo(ko, "alias") {
			alias += "alias " + a + " " + name + "\n"
		}
	}
	return append(files, text(dir+"/modules.dep", dep), text(dir+"/modules.alias", alias))
}

func text(path, data string) File { return File{Path: path, Mode: modeReg | 0o644, Data: []byte(data)} }

// StubFile is the executable of a program: the stub, with the program's name behind it for people who look.
func StubFile(name string) File { return stubFile(guest.Stub(), name) }

func stubFile(stub []byte, name string) File {
	return File{Path: ProgramPath(path.Base(name))[1:], Mode: modeReg | 0o755, Data: slices.Concat(stub, []byte("\nkscope program "+name+"\n"))}
}

// Initrd is the cpio archive of RootFiles for kernel.Config.
func Initrd(extra ...File) []byte { return Cpio(RootFiles(extra...)) }

// Cpio writes a newc archive (see Documentation/driver-api/early-userspace/buffer-format.rst). All times are those of the
// virtual clock's start, all owners root.
func Cpio(files []File) []byte {
	const bootTime = 1767225600 // 2026-01-01, boot_params.boot_time_s
	var b bytes.Buffer
	entry := func(ino int, f File) {
		links := 1
		if f.Mode&modeType == modeDir {
			links = 2
		}
		fmt.Fprintf(&b, "070701%08X%08X%08X%08X%08X%08X%08X%08X%08X%08X%08X%08X%08X", ino, f.Mode, 0, 0, links, bootTime, len(f.Data),
			0, 0, f.Rdev[0], f.Rdev[1], len(f.Path)+1, 0)
		b.WriteString(f.Path + "\x00")
		pad(&b)
		b.Write(f.Data)
		pad(&b)
	}
	for i, f := range files {
		entry(i+1, f)
	}
	b.WriteString(fmt.Sprintf("070701%08X%08X%08X%08X%08X%08X%08X%08X%08X%08X%08X%08X%08X", 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 11, 0))
	b.WriteString("TRAILER!!!\x00")
	pad(&b)
	return b.Bytes()
}

func pad(b *bytes.Buffer) {
	for b.Len()%4 != 0 {
		b.WriteByte(0)
	}
}
