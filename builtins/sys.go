package builtins

import (
	"encoding/binary"
	"fmt"
	"sort"

	"go.starlark.net/starlark"

	"kscope/kernel"
	"kscope/kernel/user"
	"kscope/lang"
)

// sys is what a Starlark program gets: the system calls of its task, named and ordered as in C. A call that fails is an error
// whose .code is the errno's name; attempt(sys.open, ...) catches it.
type sys struct {
	g *Guest
	s *user.Sys
}

var (
	_ starlark.Value    = (*sys)(nil)
	_ starlark.HasAttrs = (*sys)(nil)
)

func (s *sys) String() string        { return fmt.Sprintf("<sys of pid %d>", s.s.Pid()) }
func (s *sys) Type() string          { return "Sys" }
func (s *sys) Freeze()               {}
func (s *sys) Truth() starlark.Bool  { return true }
func (s *sys) Hash() (uint32, error) { return uint32(s.s.Pid()), nil }

func (s *sys) Attr(name string) (starlark.Value, error) {
	for _, row := range sysCalls() {
		if row.name == name {
			fn := func(t *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
				return row.fn(s, &call{g: s.g, thread: t, name: "sys." + name, args: args, kwargs: kwargs})
			}
			return lang.Bind("Sys."+name, s, fn), nil
		}
	}
	if n, ok := openFlags[name]; ok {
		return num(n), nil
	}
	return nil, noAttr("sys", name, s.AttrNames())
}

func (s *sys) AttrNames() []string {
	var names []string
	for _, row := range sysCalls() {
		names = append(names, row.name)
	}
	for name := range openFlags {
		names = append(names, name)
	}
	sort.Strings(names)
	return names
}

// openFlags are the constants of open (include/uapi/asm-generic/fcntl.h) that sys has as attributes.
var openFlags = map[string]int{
	"O_RDONLY": 0, "O_WRONLY": 1, "O_RDWR": 2, "O_CREAT": 0o100, "O_EXCL": 0o200, "O_TRUNC": 0o1000, "O_APPEND": 0o2000,
	"O_NONBLOCK": 0o4000, "O_DIRECTORY": 0o200000, "O_CLOEXEC": 0o2000000,
}

// sysCall is one row: a method of sys.
type sysCall struct {
	name, sig, doc string
	fn             func(s *sys, c *call) (starlark.Value, error)
}

// sysRows are the rows for help and completion.
func sysRows() []lang.Row {
	var rows []lang.Row
	for _, r := range sysCalls() {
		rows = append(rows, lang.Row{Name: "Sys." + r.name, Sig: r.sig, Doc: r.doc})
	}
	return rows
}

// errno makes a failed call an error; at is what the call was about.
func (c *call) errno(e kernel.Errno, at string) error {
	if e == 0 {
		return nil
	}
	return c.fail(e, at, nil)
}

func sysCalls() []sysCall {
	return []sysCall{
		{"open", "(path, flags = O_RDONLY, mode = 0o644) -> fd", "Opens a file; flags are sys.O_RDONLY, sys.O_WRONLY | sys.O_CREAT and so on.", sysOpen},
		{"openat", "(dirfd, path, flags = O_RDONLY, mode = 0o644) -> fd", "Opens a file relative to a directory; dirfd -100 is the working directory.", sysOpenat},
		{"read", "(fd, n) -> string", "Reads at most n bytes; \"\" is the end.", sysRead},
		{"write", "(fd, text) -> int", "Writes text and returns how many bytes were written; 1 is standard output.", sysWrite},
		{"close", "(fd)", "Closes a descriptor.", sysClose},
		{"lseek", "(fd, offset, whence = 0) -> int", "Moves a file's position; whence is 0 set, 1 current, 2 end.", sysLseek},
		{"dup2", "(old, new) -> fd", "Makes new a copy of old.", sysDup2},
		{"pipe", "() -> (read fd, write fd)", "Makes a pipe.", sysPipe},
		{"splice", "(fd_in, fd_out, n, flags = 0, off_in = None, off_out = None) -> int", "Moves at most n bytes between a pipe and a file or pipe, trace_pipe_raw's pages say; flags 2: SPLICE_F_NONBLOCK.", sysSplice},
		{"stat", "(path) -> Stat", "A file's .mode, .size, .ino, .nlink, .uid, .gid, .mtime.", sysStat},
		{"mkdir", "(path, mode = 0o755)", "Makes a directory.", sysMkdir},
		{"rmdir", "(path)", "Removes an empty directory.", pathCall((*user.Sys).Rmdir)},
		{"unlink", "(path)", "Removes a file.", pathCall((*user.Sys).Unlink)},
		{"chdir", "(path)", "Changes the working directory.", pathCall((*user.Sys).Chdir)},
		{"getcwd", "() -> string", "The working directory.", sysGetcwd},
		{"fork", "(fn) -> pid", "Makes a child that runs fn(sys) and exits with its result; returns the child's pid.", sysFork},
		{"execve", "(path, argv = [], env = None)", "Becomes another program; returns only by failing. argv has the program's name first.", sysExecve},
		{"exit", "(code = 0)", "Ends the program.", sysExit},
		{"wait4", "(pid = -1, options = 0) -> (pid, status)", "Waits for a child; status is as the kernel encodes it: exit code << 8, or the signal.", sysWait4},
		{"kill", "(pid, sig)", "Sends a signal.", sysKill},
		{"getpid", "() -> int", "The program's pid.", intCall((*user.Sys).Getpid)},
		{"getppid", "() -> int", "Its parent's pid.", intCall((*user.Sys).Getppid)},
		{"nanosleep", "(ns)", "Sleeps: sys.nanosleep(10 * ms).", sysNanosleep},
		{"clock_gettime", "(clock = 1) -> ns", "The time of a clock: 0 wall, 1 monotonic.", sysClock},
		{"sched_setaffinity", "(mask)", "Pins the task to the CPUs of a bit mask.", sysAffinity},
		{"prctl_set_name", "(name)", "Sets the task's comm.", sysSetName},
		{"brk", "(addr = 0) -> addr", "Moves the end of the heap; 0 asks where it is.", sysBrk},
		{"mmap", "(n) -> addr", "Maps n bytes of anonymous memory.", sysMmap},
		{"munmap", "(addr, n)", "Unmaps memory.", sysMunmap},
		{"call", "(name, *args) -> int", "Does any system call by name with ints, strings and lists of strings as arguments.", sysAny},
	}
}

func sysOpen(s *sys, c *call) (starlark.Value, error) {
	path, flags, mode := "", 0, 0o644
	if err := c.unpack("path", &path, "flags?", &flags, "mode?", &mode); err != nil {
		return nil, err
	}
	fd, e := s.s.Open(path, flags, uint32(mode))
	return num(fd), c.errno(e, path)
}

func sysOpenat(s *sys, c *call) (starlark.Value, error) {
	dirfd, path, flags, mode := 0, "", 0, 0o644
	if err := c.unpack("dirfd", &dirfd, "path", &path, "flags?", &flags, "mode?", &mode); err != nil {
		return nil, err
	}
	fd, e := s.s.Openat(dirfd, path, flags, uint32(mode))
	return num(fd), c.errno(e, path)
}

func sysRead(s *sys, c *call) (starlark.Value, error) {
	var fd, n int
	if err := c.unpack("fd", &fd, "n", &n); err != nil {
		return nil, err
	}
	if n < 0 || n > maxRead {
		return nil, c.errorf("n = %d: want 0 to %d", n, maxRead)
	}
	data, e := s.s.Read(fd, n)
	return str(string(data)), c.errno(e, "")
}

func sysWrite(s *sys, c *call) (starlark.Value, error) {
	var fd int
	var v starlark.Value
	if err := c.unpack("fd", &fd, "text", &v); err != nil {
		return nil, err
	}
	data, err := c.data(v)
	if err != nil {
		return nil, about("text", err)
	}
	n, e := s.s.Write(fd, data)
	return num(n), c.errno(e, "")
}

func sysClose(s *sys, c *call) (starlark.Value, error) {
	var fd int
	if err := c.unpack("fd", &fd); err != nil {
		return nil, err
	}
	return starlark.None, c.errno(s.s.Close(fd), "")
}

func sysLseek(s *sys, c *call) (starlark.Value, error) {
	var fd, whence int
	var off int64
	if err := c.unpack("fd", &fd, "offset", &off, "whence?", &whence); err != nil {
		return nil, err
	}
	n, e := s.s.Lseek(fd, off, whence)
	return num(n), c.errno(e, "")
}

func sysDup2(s *sys, c *call) (starlark.Value, error) {
	var from, to int
	if err := c.unpack("old", &from, "new", &to); err != nil {
		return nil, err
	}
	n, e := s.s.Dup2(from, to)
	return num(n), c.errno(e, "")
}

func sysPipe(s *sys, c *call) (starlark.Value, error) {
	if err := c.unpack(); err != nil {
		return nil, err
	}
	r, w, e := s.s.Pipe()
	return starlark.Tuple{num(r), num(w)}, c.errno(e, "")
}

func sysSplice(s *sys, c *call) (starlark.Value, error) {
	var in, out, flags int
	var n int64
	var off [2]starlark.Value
	if err := c.unpack("fd_in", &in, "fd_out", &out, "n", &n, "flags?", &flags, "off_in?", &off[0], "off_out?", &off[1]); err != nil {
		return nil, err
	}
	var at [2]any
	for i, v := range off {
		if v == nil || v == starlark.None {
			continue
		}
		var pos int64
		if err := starlark.AsInt(v, &pos); err != nil {
			return nil, c.errorf("%s: %v", [...]string{"off_in", "off_out"}[i], err)
		}
		at[i] = binary.LittleEndian.AppendUint64(nil, uint64(pos))
	}
	moved, _, err := s.s.CallNamed("splice", in, at[0], out, at[1], n, flags)
	return num(moved), c.fail(err, "", nil)
}

func sysStat(s *sys, c *call) (starlark.Value, error) {
	var path string
	if err := c.unpack("path", &path); err != nil {
		return nil, err
	}
	st, e := s.s.Stat(path)
	if e != 0 {
		return nil, c.errno(e, path)
	}
	return &record{typ: "Stat", fields: []field{
		{"mode", unum(st.Mode)}, {"size", num(st.Size)}, {"ino", unum(st.Ino)}, {"nlink", unum(st.Nlink)},
		{"uid", unum(st.UID)}, {"gid", unum(st.GID)}, {"mtime", num(st.Mtime)},
	}}, nil
}

func sysMkdir(s *sys, c *call) (starlark.Value, error) {
	path, mode := "", 0o755
	if err := c.unpack("path", &path, "mode?", &mode); err != nil {
		return nil, err
	}
	return starlark.None, c.errno(s.s.Mkdir(path, uint32(mode)), path)
}

// pathCall makes a row's function for a call that takes a path and returns nothing.
func pathCall(do func(*user.Sys, string) kernel.Errno) func(*sys, *call) (starlark.Value, error) {
	return func(s *sys, c *call) (starlark.Value, error) {
		var path string
		if err := c.unpack("path", &path); err != nil {
			return nil, err
		}
		return starlark.None, c.errno(do(s.s, path), path)
	}
}

// intCall makes a row's function for a call without arguments that returns a number.
func intCall(do func(*user.Sys) int) func(*sys, *call) (starlark.Value, error) {
	return func(s *sys, c *call) (starlark.Value, error) {
		if err := c.unpack(); err != nil {
			return nil, err
		}
		return num(do(s.s)), nil
	}
}
