package user

import (
	"bytes"
	"encoding/binary"
	"sort"
	"strings"
	"sync"

	"kscope/kernel"
	"kscope/kernel/mem"
	"kscope/kernel/x86"
)

// fakeOS is a small kernel in Go for tests of programs without a machine: one process at a time, files in a map, pages that
// are absent until the stub's touch loop has been at them.
type fakeOS struct {
	files  map[string]*fakeFile
	out    [3]bytes.Buffer
	in     *bytes.Reader
	now    uint64
	calls  []int // numbers of all system calls
	charge uint64
	status int
	last   *fakeTask
}

type fakeFile struct {
	mode uint32
	data []byte
	rdev uint64
}

type fakeFD struct {
	path string
	f    *fakeFile
	pos  int
	std  int // 1, 2, 3: hostcons
	dir  int // names given out
}

type fakeTask struct {
	os    *fakeOS
	regs  [16]uint64
	pages map[uint64]*[4096]byte
	fds   map[int]*fakeFD
	brk   uint64
	done  bool
	limit int          // system calls until the task is given up; 0: none
	m     *stubMachine // whose memory it uses instead of pages
}

var rootFiles = sync.OnceValue(func() []File { return RootFiles() })

func newFakeOS(stdin string) *fakeOS {
	o := &fakeOS{files: map[string]*fakeFile{}, in: bytes.NewReader([]byte(stdin)), now: 1767225601e9}
	for _, f := range rootFiles() {
		o.files["/"+f.Path] = &fakeFile{mode: f.Mode, data: f.Data, rdev: uint64(f.Rdev[0])<<8 | uint64(f.Rdev[1])}
	}
	o.files["/"] = &fakeFile{mode: modeDir | 0o755}
	return o
}

func (o *fakeOS) task() *fakeTask {
	t := &fakeTask{os: o, pages: map[uint64]*[4096]byte{}, fds: map[int]*fakeFD{}, brk: 0x10000000}
	for fd := range 3 {
		t.fds[fd] = &fakeFD{std: fd + 1}
	}
	return t
}

func (t *fakeTask) Reg(r int) uint64       { return t.regs[r] }
func (t *fakeTask) SetReg(r int, v uint64) { t.regs[r] = v }

func (t *fakeTask) each(va uint64, b []byte, fn func(p, b []byte)) error {
	for len(b) > 0 {
		p := t.pages[va>>12]
		if p == nil {
			return kernel.EFAULT
		}
		n := min(len(b), 4096-int(va&4095))
		fn(p[va&4095:][:n], b[:n])
		va, b = va+uint64(n), b[n:]
	}
	return nil
}

func (t *fakeTask) Read(va uint64, b []byte) error {
	if t.m != nil {
		return t.m.cpu.Read(va, b)
	}
	return t.each(va, b, func(p, b []byte) { copy(b, p) })
}

func (t *fakeTask) Write(va uint64, b []byte) error {
	if t.m != nil {
		return t.m.cpu.Write(va, b)
	}
	return t.each(va, b, func(p, b []byte) { copy(p, b) })
}

// touch is what a write to a page does.
func (t *fakeTask) touch(va uint64) {
	if t.m != nil {
		if t.m.cpu.Read(va, make([]byte, 1)) != nil {
			t.m.mapPage(va&^4095, mem.P|mem.RW|mem.US)
		}
		return
	}
	if t.pages[va>>12] == nil {
		t.pages[va>>12] = new([4096]byte)
	}
}

// put is copy_to_user: it makes the pages that are absent.
func (t *fakeTask) put(va uint64, b []byte) {
	for a := va &^ 4095; a < va+uint64(len(b)); a += 4096 {
		t.touch(a)
	}
	_ = t.Write(va, b)
}

// run is the stub: it steps p until it exits or limit calls are done.
func (t *fakeTask) run(p *Proc) int {
	t.os.last = t
	for n := 0; !t.done; {
		t.os.charge += p.step(t)
		if t.regs[x86.R15] == 1 {
			for a := t.regs[x86.RDI]; a < t.regs[x86.RSI]; a += 4096 {
				t.touch(a)
			}
			if t.regs[x86.RSI] == 0 {
				n++ // noCall
			}
			continue
		}
		if t.limit != 0 && n >= t.limit {
			return -1
		}
		n++
		t.regs[x86.RAX] = uint64(t.syscall(p))
	}
	p.end()
	return t.os.status
}

// exec runs a program to its end.
func (o *fakeOS) exec(prog Program, args ...string) int {
	return o.task().run(fakeProc(prog, args...))
}

func fakeProc(prog Program, args ...string) *Proc {
	st := &stub{scratch: 0x600000, size: 64 << 10}
	return &Proc{Pid: 100, Name: prog.Name, Argv: append([]string{prog.Name}, args...), stub: st, origin: origin{main: prog.Main}}
}

func (t *fakeTask) str(va uint64) string {
	return (&stackReader{c: t}).str(va)
}

func (t *fakeTask) syscall(p *Proc) int64 {
	o := t.os
	nr := int(t.regs[x86.RAX])
	a := [6]uint64{t.regs[x86.RDI], t.regs[x86.RSI], t.regs[x86.RDX], t.regs[x86.R10], t.regs[x86.R8], t.regs[x86.R9]}
	o.calls = append(o.calls, nr)
	o.now += 500
	no := func(e kernel.Errno) int64 { return -int64(e) }
	switch nr {
	case sysOpenat:
		return t.open(t.str(a[1]), int(a[2]))
	case sysRead, sysWrite, sysGetdents64, sysLseek, sysClose:
		fd := t.fds[int(a[0])]
		if fd == nil {
			return no(kernel.EBADF)
		}
		return t.file(nr, int(a[0]), fd, a)
	case sysNewfstatat:
		return t.stat(int(int64(a[0])), t.str(a[1]), a[2])
	case sysMmap:
		at := t.brk
		t.brk += (a[1] + 4095) &^ 4095
		return int64(at)
	case sysMunmap:
		return 0
	case sysClockNanosleep:
		var b [16]byte
		if t.Read(a[2], b[:]) != nil {
			return no(kernel.EFAULT)
		}
		o.now += binary.LittleEndian.Uint64(b[:])*1e9 + binary.LittleEndian.Uint64(b[8:])
		return 0
	case sysClockGettime:
		b := binary.LittleEndian.AppendUint64(nil, o.now/1e9)
		t.put(a[1], binary.LittleEndian.AppendUint64(b, o.now%1e9))
		return 0
	case sysGetpid:
		return int64(p.Pid)
	case sysClone: // the child runs first, to its end
		p.revive()
		child := &fakeTask{os: o, pages: map[uint64]*[4096]byte{}, fds: t.fds, brk: t.brk}
		q := &Proc{Pid: p.Pid + 1, Name: p.Name, stub: p.stub, origin: p.child()}
		child.run(q)
		o.last = t
		return int64(q.Pid)
	case sysExitGroup:
		o.status, t.done = int(a[0]), true
		return 0
	}
	return no(kernel.ENOSYS)
}

func (t *fakeTask) open(path string, flags int) int64 {
	f := t.os.files[clean(path)]
	switch {
	case f == nil && flags&oCreat == 0:
		return -int64(kernel.ENOENT)
	case f == nil:
		f = &fakeFile{mode: modeReg | 0o644}
		t.os.files[path] = f
	case flags&oDirectory != 0 && f.mode&modeType != modeDir:
		return -int64(kernel.ENOTDIR)
	case f.mode&modeType == modeDir && flags&3 != 0:
		return -int64(kernel.EISDIR)
	case flags&oTrunc != 0:
		f.data = nil
	}
	fd := 0
	for t.fds[fd] != nil {
		fd++
	}
	t.fds[fd] = &fakeFD{path: clean(path), f: f}
	return int64(fd)
}

func clean(path string) string {
	if path == "." {
		return "/"
	}
	if len(path) > 1 {
		path = strings.TrimSuffix(path, "/")
	}
	return path
}

func (t *fakeTask) file(nr, num int, fd *fakeFD, a [6]uint64) int64 {
	o := t.os
	switch {
	case nr == sysClose:
		delete(t.fds, num)
		return 0
	case fd.std != 0 && nr == sysRead:
		b := make([]byte, a[2])
		n, _ := o.in.Read(b)
		t.put(a[1], b[:n])
		return int64(n)
	case nr == sysWrite:
		b := make([]byte, a[2])
		if t.Read(a[1], b) != nil {
			return -int64(kernel.EFAULT)
		}
		if fd.std != 0 {
			o.out[fd.std-1].Write(b)
			return int64(len(b))
		}
		fd.f.data = append(fd.f.data[:min(fd.pos, len(fd.f.data))], b...)
		fd.pos += len(b)
		return int64(len(b))
	case fd.std != 0:
		return -int64(kernel.ESPIPE)
	case nr == sysLseek:
		fd.pos = map[uint64]int{0: 0, 1: fd.pos, 2: len(fd.f.data)}[a[2]] + int(int64(a[1]))
		return int64(fd.pos)
	case nr == sysGetdents64:
		return t.getdents(fd, a)
	case fd.f.mode&modeType == modeDir:
		return -int64(kernel.EISDIR)
	}
	if fd.f.rdev == 1<<8|5 { // /dev/zero
		t.put(a[1], make([]byte, a[2]))
		return int64(a[2])
	}
	n := min(int(a[2]), max(0, len(fd.f.data)-fd.pos))
	t.put(a[1], fd.f.data[fd.pos:][:n])
	fd.pos += n
	return int64(n)
}

// names lists a directory, . and .. first, in no useful order.
func (o *fakeOS) names(dir string) []string {
	out := []string{".", ".."}
	for path := range o.files {
		parent := path[:strings.LastIndex(path, "/")+1]
		if path != "/" && clean(parent) == dir {
			out = append(out, path[len(parent):])
		}
	}
	sort.Sort(sort.Reverse(sort.StringSlice(out[2:])))
	return out
}

func (t *fakeTask) getdents(fd *fakeFD, a [6]uint64) int64 {
	var b []byte
	names := t.os.names(fd.path)
	for ; fd.dir < len(names) && len(b) < 200; fd.dir++ { // small pieces: several calls
		name := names[fd.dir]
		n := (19 + len(name) + 1 + 7) &^ 7
		rec := make([]byte, n)
		rec[0] = byte(fd.dir + 1)
		binary.LittleEndian.PutUint16(rec[16:], uint16(n))
		copy(rec[19:], name)
		b = append(b, rec...)
	}
	t.put(a[1], b)
	return int64(len(b))
}

func (t *fakeTask) stat(dirfd int, path string, at uint64) int64 {
	var f *fakeFile
	if path == "" {
		fd := t.fds[dirfd]
		if fd == nil {
			return -int64(kernel.EBADF)
		}
		if f = fd.f; fd.std != 0 {
			f = &fakeFile{mode: modeChr | 0o600}
		}
	} else {
		path = strings.TrimSuffix(strings.TrimSuffix(path, "/.."), "/.")
		if f = t.os.files[clean(path)]; f == nil {
			return -int64(kernel.ENOENT)
		}
	}
	b := make([]byte, statSize)
	le := binary.LittleEndian
	le.PutUint64(b[8:], 7)
	le.PutUint64(b[16:], 1)
	le.PutUint32(b[24:], f.mode)
	le.PutUint64(b[40:], f.rdev)
	le.PutUint64(b[48:], uint64(len(f.data)))
	le.PutUint64(b[64:], uint64(len(f.data)+4095)/4096*8)
	le.PutUint64(b[88:], 1767225600)
	t.put(at, b)
	return 0
}
