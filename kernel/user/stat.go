package user

import (
	"encoding/binary"

	"kscope/kernel"
)

// Stat is struct stat of x86-64 (arch/x86/include/uapi/asm/stat.h).
type Stat struct {
	Dev, Ino, Nlink     uint64
	Mode, UID, GID      uint32
	Rdev                uint64
	Size                int64
	Blksize, Blocks     int64
	Atime, Mtime, Ctime int64 // seconds

	AtimeNsec, MtimeNsec, CtimeNsec int64
}

// The type bits of Stat.Mode.
const (
	modeType = kernel.ModeType
	modeDir  = kernel.ModeDir
	modeChr  = kernel.ModeChr
	modeBlk  = kernel.ModeBlk
	modeReg  = kernel.ModeReg
	modeFIFO = kernel.ModeFIFO
	modeLnk  = kernel.ModeLnk
	modeSock = kernel.ModeSock
)

const (
	statSize          = 144
	atEmptyPath       = 0x1000
	atSymlinkNofollow = 0x100
)

func parseStat(b []byte) (st Stat) {
	le := binary.LittleEndian
	if len(b) < statSize {
		return st
	}
	word := func(i int) uint64 { return le.Uint64(b[i:]) }
	return Stat{
		Dev: word(0), Ino: word(8), Nlink: word(16),
		Mode: le.Uint32(b[24:]), UID: le.Uint32(b[28:]), GID: le.Uint32(b[32:]),
		Rdev: word(40), Size: int64(word(48)), Blksize: int64(word(56)), Blocks: int64(word(64)),
		Atime: int64(word(72)), Mtime: int64(word(88)), Ctime: int64(word(104)),
		AtimeNsec: int64(word(80)), MtimeNsec: int64(word(96)), CtimeNsec: int64(word(112)),
	}
}

// Stat follows symbolic links, Lstat does not, Fstat asks about an open file; each is a newfstatat, as glibc 2.36 does it.
func (s *Sys) Stat(path string) (Stat, kernel.Errno) { return s.newfstatat(atFDCWD, path, 0) }
func (s *Sys) Lstat(path string) (Stat, kernel.Errno) {
	return s.newfstatat(atFDCWD, path, atSymlinkNofollow)
}
func (s *Sys) Fstat(fd int) (Stat, kernel.Errno) { return s.newfstatat(fd, "", atEmptyPath) }

func (s *Sys) newfstatat(dirfd int, path string, flags int) (Stat, kernel.Errno) {
	if len(path) > 8<<10 {
		return Stat{}, kernel.ENAMETOOLONG
	}
	a := s.args()
	r := &request{nr: sysNewfstatat, args: [6]uint64{0: u64(dirfd), 3: u64(flags)}}
	r.args[1] = a.str(path)
	r.args[2] = a.space(statSize)
	r.in, r.out = a.in, []span{{addr: r.args[2], n: statSize}}
	resp, e := s.call(r)
	return parseStat(resp.data(0)), e
}

// Dirent is one name of a directory.
type Dirent struct {
	Ino  uint64
	Type uint8 // DT_DIR 4, DT_REG 8 …
	Name string
}

// Getdents64 reads some entries of an open directory; none at its end.
func (s *Sys) Getdents64(fd int) ([]Dirent, kernel.Errno) {
	const size = 32 << 10 // what glibc's opendir allocates
	b, e := s.direntBuf(size)
	if e != 0 {
		return nil, e
	}
	r := &request{nr: sysGetdents64, args: [6]uint64{u64(fd), b.Addr, u64(b.Size)}, out: []span{{b.Addr, b.Size, true}}}
	resp, e := s.call(r)
	return parseDirents(resp.data(0)), e
}

func (s *Sys) direntBuf(size int) (Buf, kernel.Errno) {
	if s.dirents.Size == 0 {
		b, e := s.Alloc(size)
		if e != 0 {
			return b, e
		}
		s.dirents = b
	}
	return s.dirents, 0
}

// parseDirents parses struct linux_dirent64 records (include/linux/dirent.h).
func parseDirents(b []byte) (out []Dirent) {
	for len(b) > 19 {
		n := int(binary.LittleEndian.Uint16(b[16:]))
		if n <= 19 || n > len(b) {
			break
		}
		out = append(out, Dirent{binary.LittleEndian.Uint64(b), b[18], cstr(b[19:n])})
		b = b[n:]
	}
	return out
}

// ReadDir lists a directory in the kernel's order, with . and .. A broken disk may have names that begin with a NUL byte, which are
// empty for C: no path leads to them.
func (s *Sys) ReadDir(path string) ([]Dirent, kernel.Errno) {
	fd, e := s.Open(path, oRdonly|oDirectory, 0)
	if e != 0 {
		return nil, e
	}
	defer s.Close(fd)
	var out []Dirent
	for {
		some, e := s.Getdents64(fd)
		if e == kernel.ENOENT { // removed meanwhile: glibc's readdir calls that the end
			e = 0
		}
		if e != 0 || len(some) == 0 {
			return out, e
		}
		for _, d := range some {
			if d.Name != "" {
				out = append(out, d)
			}
		}
	}
}
