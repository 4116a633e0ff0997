package user

import (
	"bytes"
	"encoding/binary"
	"slices"

	"kscope/kernel"
)

// Sys is a program's only way to the kernel. Each method is one system call, named as its man page; it returns the value
// and the Errno, 0 when all went well. When the task is gone they do not return: the program unwinds.
type Sys struct {
	p     *Proc
	yield func(*request) bool // nil until the program runs
	dead  bool
	work  uint64
	top   uint64  // bytes taken from the scratch area's end by Alloc
	req   request // the call in progress, and its arguments
	a     args

	big     Buf // of Read
	dirents Buf // of Getdents64
}

// argSpace is the part of the scratch area that holds the arguments of the call in progress; Alloc gives out the rest.
const argSpace = 24 << 10

// Buf is memory of the program.
type Buf struct {
	Addr uint64
	Size int
}

// Pid is the task's pid without a system call (getpid makes one).
func (s *Sys) Pid() int { return s.p.Pid }

// Env is the environment that execve gave, as NAME=value.
func (s *Sys) Env() []string { return s.p.Env }

// Replaying is true while results are fed again after a fork of the machine: effects on the host are to be muted.
func (s *Sys) Replaying() bool { return s.p.replay > 0 }

// Work charges user time for n bytes that the program looks at in Go. A program that may loop without system calls must
// call it in the loop: it is what lets other tasks run, and kills it when its task is killed.
func (s *Sys) Work(n int) {
	if s.work += uint64(n) * perByteWork; s.work >= maxWork {
		s.do(&request{nr: noCall})
	}
}

// do makes a request, of which it keeps a copy.
func (s *Sys) do(r *request) response {
	if s.dead || !s.ask(r) {
		panic(killed{})
	}
	return s.p.resp
}

// ask is do; false: the program is to end.
func (s *Sys) ask(r *request) bool {
	s.req = *r
	s.req.work, s.work = s.work, 0
	if !s.yield(&s.req) {
		s.dead = true
	}
	return !s.dead
}

// call builds and does one request.
func (s *Sys) call(r *request) (response, kernel.Errno) {
	resp := s.do(r)
	if resp.ret < 0 && resp.ret >= -4095 {
		return resp, kernel.Errno(-resp.ret)
	}
	return resp, 0
}

// Call does any system call with numbers as they are.
func (s *Sys) Call(nr int, args ...uint64) (int64, kernel.Errno) {
	r := &request{nr: nr}
	copy(r.args[:], args)
	resp, e := s.call(r)
	return resp.ret, e
}

// args lays out byte arguments at the start of the scratch area. Its own memory serves call after call.
type args struct {
	at, end uint64
	in      []chunk
	text    []byte // of strings and arrays
	ptrs    []byte
}

func (s *Sys) args() *args {
	s.a.at, s.a.end = s.p.stub.scratch, s.p.stub.scratch+argSpace
	s.a.in, s.a.text = s.a.in[:0], s.a.text[:0]
	return &s.a
}

// bytes places data and returns its address, 0 when the arguments are too long.
func (a *args) bytes(data []byte) uint64 {
	at := a.space(len(data))
	if at != 0 && len(data) > 0 {
		a.in = append(a.in, chunk{at, data})
	}
	return at
}

func (a *args) str(text string) uint64 {
	n := len(a.text)
	a.text = append(append(a.text, text...), 0)
	return a.bytes(a.text[n:])
}

// space reserves n bytes for a result.
func (a *args) space(n int) uint64 {
	at := a.at
	if uint64(n) > a.end-a.at {
		return 0
	}
	a.at += (uint64(n) + 7) &^ 7
	return at
}

// array places a NULL-terminated array of strings.
func (a *args) array(list []string) uint64 {
	a.ptrs = a.ptrs[:0]
	for _, text := range list {
		p := a.str(text)
		if p == 0 {
			return 0
		}
		a.ptrs = binary.LittleEndian.AppendUint64(a.ptrs, p)
	}
	n := len(a.text)
	a.text = binary.LittleEndian.AppendUint64(append(a.text, a.ptrs...), 0)
	return a.bytes(a.text[n:])
}

// pathCall is a call whose string argument is argument i.
func (s *Sys) pathCall(nr int, i int, path string, rest ...uint64) (int64, kernel.Errno) {
	a := s.args()
	r := &request{nr: nr}
	copy(r.args[:], rest)
	if len(path) > 8<<10 {
		return 0, kernel.ENAMETOOLONG
	}
	r.args[i] = a.str(path)
	r.in = a.in
	resp, e := s.call(r)
	return resp.ret, e
}

func u64(n int) uint64 { return uint64(int64(n)) }

// atFDCWD is AT_FDCWD, -100: relative paths are those of the working directory. As compiled programs do, it goes into the lower
// half of a register; traces show the register.
const atFDCWD = 0xffffff9c

func (s *Sys) Open(path string, flags int, mode uint32) (fd int, e kernel.Errno) {
	return s.Openat(atFDCWD, path, flags, mode)
}

func (s *Sys) Openat(dirfd int, path string, flags int, mode uint32) (fd int, e kernel.Errno) {
	n, e := s.pathCall(sysOpenat, 1, path, u64(dirfd), 0, u64(flags), uint64(mode))
	return int(n), e
}

func (s *Sys) Close(fd int) kernel.Errno {
	_, e := s.Call(sysClose, u64(fd))
	return e
}

// Read reads at most n bytes.
func (s *Sys) Read(fd, n int) ([]byte, kernel.Errno) {
	b, e := s.buffer(n)
	if e != 0 {
		return nil, e
	}
	return s.ReadData(fd, b)
}

// buffer is a buffer for one call: from the argument space, or one that is kept for later calls.
func (s *Sys) buffer(n int) (Buf, kernel.Errno) {
	if n <= argSpace/2 {
		return Buf{s.p.stub.scratch + argSpace/2, n}, 0
	}
	if s.big.Size < n {
		b, e := s.Alloc(n)
		if e != 0 {
			return b, e
		}
		s.big = b
	}
	return Buf{s.big.Addr, n}, 0
}

// ReadData reads into b and returns the bytes to Go.
func (s *Sys) ReadData(fd int, b Buf) ([]byte, kernel.Errno) {
	r := &request{nr: sysRead, args: [6]uint64{u64(fd), b.Addr, u64(b.Size)}, out: []span{{b.Addr, b.Size, true}}}
	resp, e := s.call(r)
	return resp.data(0), e
}

// ReadInto reads into b; the bytes stay in user memory.
func (s *Sys) ReadInto(fd int, b Buf) (int, kernel.Errno) {
	n, e := s.Call(sysRead, u64(fd), b.Addr, u64(b.Size))
	return int(n), e
}

// WriteFrom writes the first n bytes of b.
func (s *Sys) WriteFrom(fd int, b Buf, n int) (int, kernel.Errno) {
	k, e := s.Call(sysWrite, u64(fd), b.Addr, u64(n))
	return int(k), e
}

// Write writes data, by one call for each 12 KiB.
func (s *Sys) Write(fd int, data []byte) (n int, e kernel.Errno) {
	for {
		piece := data[n:min(len(data), n+argSpace/2)]
		a := s.args()
		r := &request{nr: sysWrite, args: [6]uint64{u64(fd), a.bytes(piece), u64(len(piece))}, in: a.in}
		resp, e := s.call(r)
		if e != 0 {
			return n, e
		}
		n += int(resp.ret)
		if n >= len(data) || resp.ret == 0 {
			return n, 0
		}
	}
}

// Lseek moves a file's position; whence is 0 set, 1 current, 2 end.
func (s *Sys) Lseek(fd int, off int64, whence int) (int64, kernel.Errno) {
	return s.Call(sysLseek, u64(fd), uint64(off), u64(whence))
}

func (s *Sys) Dup2(old, new int) (int, kernel.Errno) {
	n, e := s.Call(sysDup2, u64(old), u64(new))
	return int(n), e
}

// Pipe returns the read and the write end.
func (s *Sys) Pipe() (r, w int, e kernel.Errno) {
	a := s.args()
	at := a.space(8)
	resp, e := s.call(&request{nr: sysPipe, args: [6]uint64{at}, out: []span{{addr: at, n: 8}}})
	if e != 0 {
		return -1, -1, e
	}
	b := resp.data(0)
	return int(int32(binary.LittleEndian.Uint32(b))), int(int32(binary.LittleEndian.Uint32(b[4:]))), 0
}

// Fork makes a child that runs child and exits with what it returns. The parent goes on with the child's pid. The child
// has its own copy of the guest's memory, but shares Go variables with its parent: treat them as read-only.
func (s *Sys) Fork(child func(*Sys) int) (pid int, e kernel.Errno) {
	// CLONE_CHILD_CLEARTID, CLONE_CHILD_SETTID and SIGCHLD, as glibc's fork: the child's first act is to write its number, here
	// to where its arguments will stand.
	const flags = 0x200000 | 0x1000000 | 17
	resp, e := s.call(&request{nr: sysClone, args: [6]uint64{flags, 0, 0, s.p.stub.scratch}, fork: child})
	return int(resp.ret), e
}

// Exec replaces the program; it only returns when that fails.
func (s *Sys) Exec(path string, argv, env []string) kernel.Errno {
	a := s.args()
	need := len(path) + 64
	for _, text := range slices.Concat(argv, env) {
		need += len(text) + 24 // its NUL, its alignment and its pointer
	}
	if need > argSpace { // the kernel says what is too long
		b, e := s.Mmap(need)
		if e != 0 {
			return e
		}
		defer s.Munmap(b)
		a.at, a.end = b.Addr, b.Addr+uint64(need)
	}
	r := &request{nr: sysExecve}
	r.args[0], r.args[1], r.args[2] = a.str(path), a.array(argv), a.array(env)
	if r.args[0] == 0 || r.args[1] == 0 || r.args[2] == 0 {
		return kernel.E2BIG
	}
	r.in = a.in
	_, e := s.call(r)
	return e
}

// ExitGroup ends the process. It does not return; a stub whose code somebody has overwritten may, and is asked again.
func (s *Sys) ExitGroup(code int) {
	for {
		s.Call(sysExitGroup, u64(code&0xff))
	}
}

// Wait4 waits for a child (pid > 0: that one, -1: any). options: 1 WNOHANG. status is as the kernel encodes it.
func (s *Sys) Wait4(pid, options int) (child, status int, e kernel.Errno) {
	a := s.args()
	at := a.space(4)
	r := &request{nr: sysWait4, args: [6]uint64{u64(pid), at, u64(options)}, out: []span{{addr: at, n: 4}}}
	resp, e := s.call(r)
	if e == 0 && resp.ret > 0 {
		status = int(binary.LittleEndian.Uint32(resp.data(0)))
	}
	return int(resp.ret), status, e
}

func (s *Sys) Getpid() int {
	n, _ := s.Call(sysGetpid)
	return int(n)
}

func (s *Sys) Getppid() int {
	n, _ := s.Call(sysGetppid)
	return int(n)
}

func (s *Sys) Kill(pid, sig int) kernel.Errno {
	_, e := s.Call(sysKill, u64(pid), u64(sig))
	return e
}

// Nanosleep sleeps for ns.
func (s *Sys) Nanosleep(ns uint64) kernel.Errno {
	a := s.args()
	at := a.bytes(timespec(ns))
	_, e := s.call(&request{nr: sysNanosleep, args: [6]uint64{at, 0}, in: a.in})
	return e
}

func timespec(ns uint64) []byte {
	return binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(nil, ns/1e9), ns%1e9)
}

// ClockGettime is the time of a clock in ns; 0 is the wall clock, 1 monotonic.
func (s *Sys) ClockGettime(clock int) (ns uint64, e kernel.Errno) {
	a := s.args()
	at := a.space(16)
	resp, e := s.call(&request{nr: sysClockGettime, args: [6]uint64{u64(clock), at}, out: []span{{addr: at, n: 16}}})
	if e != 0 {
		return 0, e
	}
	b := resp.data(0)
	return binary.LittleEndian.Uint64(b)*1e9 + binary.LittleEndian.Uint64(b[8:]), 0
}

// Brk moves the end of the heap and returns where it is; 0 only asks.
func (s *Sys) Brk(addr uint64) uint64 {
	n, _ := s.Call(sysBrk, addr)
	return uint64(n)
}

// Mmap maps n bytes of anonymous private memory, readable and writable.
func (s *Sys) Mmap(n int) (Buf, kernel.Errno) {
	const protRW, mapPrivateAnon = 3, 0x22
	at, e := s.Call(sysMmap, 0, u64(n), protRW, mapPrivateAnon, u64(-1), 0)
	return Buf{uint64(at), n}, e
}

func (s *Sys) Munmap(b Buf) kernel.Errno {
	_, e := s.Call(sysMunmap, b.Addr, u64(b.Size))
	return e
}

// Alloc gives memory that stays: from the stub's own area while it lasts, else mapped.
func (s *Sys) Alloc(n int) (Buf, kernel.Errno) {
	need := (uint64(n) + 15) &^ 15
	if s.top+need <= s.p.stub.size-argSpace {
		s.top += need
		return Buf{s.p.stub.scratch + s.p.stub.size - s.top, n}, 0
	}
	return s.Mmap(n)
}

// SetName sets the task's comm (prctl PR_SET_NAME).
func (s *Sys) SetName(name string) kernel.Errno {
	const prSetName = 15
	a := s.args()
	at := a.str(name)
	_, e := s.call(&request{nr: sysPrctl, args: [6]uint64{prSetName, at}, in: a.in})
	return e
}

// Sched_setaffinity pins the task to the CPUs of mask.
func (s *Sys) SetAffinity(mask uint64) kernel.Errno {
	a := s.args()
	at := a.bytes(binary.LittleEndian.AppendUint64(nil, mask))
	_, e := s.call(&request{nr: sysSchedSetaffinity, args: [6]uint64{0, 8, at}, in: a.in})
	return e
}

func (s *Sys) Mkdir(path string, mode uint32) kernel.Errno {
	_, e := s.pathCall(sysMkdir, 0, path, 0, uint64(mode))
	return e
}

func (s *Sys) Rmdir(path string) kernel.Errno {
	_, e := s.pathCall(sysRmdir, 0, path)
	return e
}

func (s *Sys) Unlink(path string) kernel.Errno {
	_, e := s.pathCall(sysUnlink, 0, path)
	return e
}

func (s *Sys) Chdir(path string) kernel.Errno {
	_, e := s.pathCall(sysChdir, 0, path)
	return e
}

// Getcwd is the working directory.
func (s *Sys) Getcwd() (string, kernel.Errno) {
	a := s.args()
	at := a.space(4096)
	resp, e := s.call(&request{nr: sysGetcwd, args: [6]uint64{at, 4096}, out: []span{{at, 4096, true}}})
	return cstr(resp.data(0)), e
}

// Readlink is a symbolic link's target.
func (s *Sys) Readlink(path string) (string, kernel.Errno) {
	a := s.args()
	r := &request{nr: sysReadlink}
	r.args[0] = a.str(path)
	r.args[1], r.args[2] = a.space(4096), 4096
	r.in, r.out = a.in, []span{{r.args[1], 4096, true}}
	resp, e := s.call(r)
	return string(resp.data(0)), e
}

func cstr(b []byte) string {
	if i := bytes.IndexByte(b, 0); i >= 0 {
		b = b[:i]
	}
	return string(b)
}

// sleepFor is glibc's nanosleep(): clock_nanosleep on the wall clock, relative.
func (s *Sys) sleepFor(ns uint64) kernel.Errno {
	a := s.args()
	at := a.bytes(timespec(ns))
	_, e := s.call(&request{nr: sysClockNanosleep, args: [6]uint64{0, 0, at, 0}, in: a.in})
	if e == kernel.ENOSYS {
		return s.Nanosleep(ns)
	}
	return e
}
