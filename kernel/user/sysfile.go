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
func (s *Sys) Symlink(text, path string) kernel.Errno   { return s.do1("symlink", text, path) }
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

// ignoreSignal sets a signal to SIG_IGN (rt_sigaction with struct sigaction of the kernel).
func (s *Sys) ignoreSignal(sig int) kernel.Errno {
	const sigIgn = 1
	act := make([]byte, 32)
	binary.LittleEndian.PutUint64(act, sigIgn)
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
