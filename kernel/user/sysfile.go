package user

import (
	"encoding/binary"
	"io"
	"strings"

	"kscope/kernel"
)

// errEOF is what input.Read ends with.
var errEOF = io.EOF

// Flags of the *at calls and of mount (include/uapi/linux/fcntl.h, mount.h).
const (
	atRemovedir = 0x200
	utimeNow    = 1<<30 - 1
	utimeOmit   = 1<<30 - 2

	msRdonly  = 1
	msNosuid  = 2
	msNodev   = 4
	msNoexec  = 8
	msRemount = 32
	msBind    = 4096
)

// named is CallNamed for callers that know their arguments to be right.
func (s *Sys) named(name string, values ...any) (int64, [][]byte, kernel.Errno) {
	ret, out, err := s.CallNamed(name, values...)
	if err == nil {
		return ret, out, 0
	}
	if e, ok := err.(kernel.Errno); ok {
		return ret, nil, e
	}
	if strings.Contains(err.Error(), kernel.E2BIG.Error()) {
		return -1, nil, kernel.ENAMETOOLONG
	}
	panic("BUG: user: " + err.Error())
}

func (s *Sys) do1(name string, values ...any) kernel.Errno {
	_, _, e := s.named(name, values...)
	return e
}

func (s *Sys) Rename(from, to string) kernel.Errno      { return s.do1("rename", from, to) }
func (s *Sys) Link(from, to string) kernel.Errno        { return s.do1("link", from, to) }
func (s *Sys) Symlink(text, path string) kernel.Errno   { return s.do1("symlinkat", text, -100, path) } // as coreutils do
func (s *Sys) Chmod(path string, m uint32) kernel.Errno { return s.do1("chmod", path, int(m)) }

// Utimensat sets a file's times (seconds, ns); utimeNow and utimeOmit as ns mean what they say.
func (s *Sys) Utimensat(path string, atime, mtime [2]int64) kernel.Errno {
	var b []byte
	for _, v := range []int64{atime[0], atime[1], mtime[0], mtime[1]} {
		b = binary.LittleEndian.AppendUint64(b, uint64(v))
	}
	return s.do1("utimensat", atFDCWD, path, b, 0)
}

// Uname is the six fields of struct new_utsname.
func (s *Sys) Uname() (f [6]string, e kernel.Errno) {
	_, out, e := s.named("uname", Out(6*65))
	if e == 0 {
		for i := range f {
			f[i] = cstr(out[0][i*65 : (i+1)*65])
		}
	}
	return f, e
}

// Caught takes the signals that have come since the last call and that Catch was called for: bit n-1 is signal n. It makes no
// system call: the stub's handler, which the kernel calls on a frame of its own, has noted them.
func (s *Sys) Caught() uint64 { return uint64(s.do(&request{nr: takeSignals}).ret) }

// Disposition says what a signal does.
type Disposition uint64

const (
	Default Disposition = iota // what the kernel does by default
	Ignore                     // nothing
	Catch                      // interrupts a waiting call with EINTR and is noted; see Caught
)

// Signal sets what a signal does (rt_sigaction).
func (s *Sys) Signal(sig int, d Disposition) kernel.Errno {
	const saRestorer = 0x04000000
	act := make([]byte, 32) // handler, flags, restorer, mask
	binary.LittleEndian.PutUint64(act, uint64(d))
	if d == Catch {
		binary.LittleEndian.PutUint64(act, s.p.stub.handler)
		binary.LittleEndian.PutUint64(act[8:], saRestorer)
		binary.LittleEndian.PutUint64(act[16:], s.p.stub.restorer)
	}
	return s.do1("rt_sigaction", sig, act, nil, 8)
}

// Affinity is the mask of the CPUs that a task (0: this one) may use, lowest first.
func (s *Sys) Affinity(pid int) (mask []byte, e kernel.Errno) {
	n, out, e := s.named("sched_getaffinity", pid, 128, Out(128))
	if e != 0 {
		return nil, e
	}
	return out[0][:n], 0
}
