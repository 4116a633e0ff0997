// Command fsops recorded ../fsops-6.1.txt: oracle.sh 'mkdir /r; mount -t ramfs none /r; fsops /r'.
// It runs generated system calls in the current root and prints each with its result.
package main

import (
	"encoding/binary"
	"fmt"
	"math/rand"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
	"syscall"
	"unsafe"
)

type out int
type data struct{ n, seed int }
type raw []byte
type op struct {
	name string
	args []any
}

var nrs = map[string]uintptr{"openat": 257, "close": 3, "read": 0, "write": 1, "lseek": 8, "pread64": 17, "pwrite64": 18, "dup": 32, "dup2": 33,
	"mkdir": 83, "rmdir": 84, "unlink": 87, "rename": 82, "link": 86, "symlink": 88, "readlink": 89, "truncate": 76, "ftruncate": 77, "chdir": 80,
	"getcwd": 79, "newfstatat": 262, "getdents64": 217, "access": 21, "chmod": 90, "umask": 95, "fcntl": 72, "unlinkat": 263, "mkdirat": 258, "fchdir": 81, "fstat": 5, "renameat2": 316, "pipe2": 293, "poll": 7, "ioctl": 16, "fsync": 74, "fdatasync": 75, "sendfile": 40, "utimensat": 280, "statx": 332, "close_range": 436, "getdents": 78, "readv": 19, "writev": 20, "creat": 85, "open": 2, "statfs": 137, "dup3": 292}

func do(o op) (int64, []byte, int) {
	var a [6]uintptr
	var keep [][]byte
	var res []byte
	for i, v := range o.args {
		switch v := v.(type) {
		case int:
			a[i] = uintptr(v)
		case string:
			b := append([]byte(v), 0)
			keep = append(keep, b)
			a[i] = uintptr(unsafe.Pointer(&b[0]))
		case data:
			b := make([]byte, v.n+1)
			for j := range b {
				b[j] = byte(j*7 + v.seed)
			}
			keep = append(keep, b)
			a[i] = uintptr(unsafe.Pointer(&b[0]))
		case raw:
			b := append([]byte{}, v...)
			keep = append(keep, b)
			a[i] = uintptr(unsafe.Pointer(&b[0]))
			if o.name == "poll" {
				res = b
			}
		case out:
			res = make([]byte, int(v)+1)
			a[i] = uintptr(unsafe.Pointer(&res[0]))
			res = res[:v]
		}
	}
	r, _, e := syscall.Syscall6(nrs[o.name], a[0], a[1], a[2], a[3], a[4], a[5])
	runtime.KeepAlive(keep)
	if e != 0 {
		return -1, nil, int(e)
	}
	return int64(r), res, 0
}

func show(o op, r int64, b []byte, e int) string {
	s := o.name
	for _, v := range o.args {
		switch v := v.(type) {
		case int:
			s += fmt.Sprintf(" %d", v)
		case string:
			s += fmt.Sprintf(" %q", v)
		case data:
			s += fmt.Sprintf(" data:%d:%d", v.n, v.seed)
		case raw:
			s += fmt.Sprintf(" raw:%x", []byte(v))
		case out:
			s += fmt.Sprintf(" out:%d", int(v))
		}
	}
	if e != 0 {
		return fmt.Sprintf("%s = -%d", s, e)
	}
	s += fmt.Sprintf(" = %d", r)
	le := binary.LittleEndian
	switch o.name {
	case "read", "pread64":
		h := uint32(2166136261)
		for _, c := range b[:r] {
			h = (h ^ uint32(c)) * 16777619
		}
		s += fmt.Sprintf(" %08x", h)
	case "readlink", "getcwd":
		s += fmt.Sprintf(" %q", strings.TrimRight(string(b[:r]), "\x00"))
	case "newfstatat", "fstat":
		s += fmt.Sprintf(" %o %d %d", le.Uint32(b[24:]), le.Uint64(b[16:]), le.Uint64(b[48:]))
	case "pipe2":
		s += fmt.Sprintf(" %d %d", le.Uint32(b), le.Uint32(b[4:]))
	case "poll":
		for ; len(b) >= 8; b = b[8:] {
			s += fmt.Sprintf(" %x", le.Uint16(b[6:]))
		}
	case "ioctl":
		if len(b) >= 4 {
			s += fmt.Sprintf(" %d", le.Uint32(b))
		}
	case "statx":
		s += fmt.Sprintf(" %o %d %d %d.%d", le.Uint16(b[28:]), le.Uint32(b[16:]), le.Uint64(b[40:]), le.Uint64(b[112:])%1000000, le.Uint32(b[120:]))
	case "getdents64":
		for b = b[:r]; len(b) > 0; b = b[le.Uint16(b[16:]):] {
			s += fmt.Sprintf(" %s/%d", strings.SplitN(string(b[19:le.Uint16(b[16:])]), "\x00", 2)[0], b[18])
		}
	}
	return s
}

func gen2(r *rand.Rand, n int) (ops []op) {
	p := func() string { return paths[r.Intn(len(paths))] }
	fd := func() int { return 3 + r.Intn(9) }
	pick := func(x ...int) int { return x[r.Intn(len(x))] }
	add := func(name string, args ...any) { ops = append(ops, op{name, args}) }
	le := binary.LittleEndian
	for len(ops) < n {
		switch r.Intn(20) {
		case 0, 1, 2:
			add("openat", -100, p(), pick(0, 1, 2, 0102, 0101, 02102, 010000000, 0200000), 0644)
		case 3:
			add("close", fd())
		case 4, 5:
			add("pipe2", out(8), 04000)
		case 6, 7, 8:
			n := pick(1, 100, 4096, 5000, 12000)
			add("write", fd(), data{n, r.Intn(256)}, n)
		case 9, 10, 11:
			n := pick(1, 100, 4096, 5000, 12000)
			add("read", fd(), out(n), n)
		case 12, 13:
			k := 1 + r.Intn(3)
			b := make([]byte, 8*k)
			for i := range k {
				le.PutUint32(b[8*i:], uint32(pick(-1, fd(), fd())))
				le.PutUint16(b[8*i+4:], uint16(pick(1, 4, 5, 0x41, 0x104)))
			}
			add("poll", raw(b), k, 0)
		case 14:
			add("ioctl", fd(), pick(0x541B, 0x5401, 0x1234), out(8))
		case 15:
			add(pickS(r, "fsync", "fsync"), fd())
		case 16:
			if r.Intn(2) == 0 {
				add("sendfile", fd(), fd(), 0, pick(1, 100, 5000))
			} else {
				b := make([]byte, 8)
				le.PutUint64(b, uint64(pick(0, 1, 4096)))
				add("sendfile", fd(), fd(), raw(b), pick(1, 100, 5000))
			}
		case 17:
			b := make([]byte, 32)
			le.PutUint64(b, 1000)
			le.PutUint64(b[8:], uint64(pick(5, (1<<30)-2, 1000000000)))
			le.PutUint64(b[16:], 2000)
			le.PutUint64(b[24:], uint64(pick(7, (1<<30)-2)))
			add("utimensat", -100, p(), raw(b), pick(0, 0x100))
		case 18:
			add("utimensat", -100, p(), raw([]byte{0xe8, 3, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0xd0, 7, 0, 0, 0, 0, 0, 0, 9, 0, 0, 0, 0, 0, 0, 0}), 0)
			add("statx", -100, ops[len(ops)-1].args[1], pick(0, 0x100), 0x7ff, out(256))
		case 19:
			switch r.Intn(5) {
			case 0:
				add("close_range", fd(), fd(), pick(0, 4))
			case 1:
				add("dup2", fd(), fd())
			case 2:
				add("dup3", fd(), fd(), pick(0, 02000000))
			case 3:
				add("fcntl", fd(), pick(1, 3), 0)
			case 4:
				add("creat", p(), 0600)
			}
		}
	}
	return
}

func pickS(r *rand.Rand, s ...string) string { return s[r.Intn(len(s))] }

var paths = []string{"a", "b", "d", "d/a", "d/b", "d/e", "d/e/f", "e", "l", "d/l", "./a", "d/../a", "d/", "a/", "e/x", "..", ".", "", "d//a", "l/a", "nope/x", "d/e/../../b", "long" + strings.Repeat("n", 40), strings.Repeat("x", 256), "l2", "d/e/", "../w/a"}

func gen(r *rand.Rand, n int) (ops []op) {
	p := func() string { return paths[r.Intn(len(paths))] }
	fd := func() int { return 3 + r.Intn(8) }
	pick := func(x ...int) int { return x[r.Intn(len(x))] }
	flags := []int{0, 1, 2, 0100, 0101, 0102, 0301, 01001, 01101, 01102, 02001, 02101, 0200000, 0200102, 0400000, 0501, 010000000, 02000000, 02102}
	dat := func() (data, int) {
		n := pick(0, 1, 5, 100, 4095, 4096, 5000, 9000)
		return data{n, r.Intn(256)}, n
	}
	off := func() int { return pick(0, 1, 2, 3, 100, 4096, 5000, 12288, -1, 100000) }
	add := func(name string, args ...any) { ops = append(ops, op{name, args}) }
	for len(ops) < n {
		switch r.Intn(34) {
		case 0, 1, 2, 3, 4, 5:
			add("openat", -100, p(), flags[r.Intn(len(flags))], pick(0644, 0600, 0777, 0))
		case 6, 7:
			add("close", fd())
		case 8, 9, 10:
			n := pick(0, 1, 10, 4096, 6000, 20000)
			add("read", fd(), out(n), n)
		case 11, 12, 13:
			d, n := dat()
			add("write", fd(), d, n)
		case 14:
			add("lseek", fd(), off(), r.Intn(6))
		case 15:
			n := pick(1, 10, 4096, 6000)
			add("pread64", fd(), out(n), n, off())
		case 16:
			d, n := dat()
			add("pwrite64", fd(), d, n, off())
		case 17:
			add("dup", fd())
		case 18:
			add("dup2", fd(), fd())
		case 19, 20:
			add("mkdir", p(), pick(0755, 0700, 01777))
		case 21:
			add("rmdir", p())
		case 22:
			add("unlink", p())
		case 23:
			add("rename", p(), p())
		case 24:
			add("link", p(), p())
		case 25:
			add("symlink", []string{"a", "d", "../b", "/w/d", "l", "nope", "d/e"}[r.Intn(7)], p())
		case 26:
			add("readlink", p(), out(50), 50)
		case 27:
			if r.Intn(2) == 0 {
				add("truncate", p(), off())
			} else {
				add("ftruncate", fd(), off())
			}
		case 28:
			n := pick(2000, 70, 30)
			add("getdents64", fd(), out(n), n)
		case 29, 30:
			add("newfstatat", -100, p(), out(144), pick(0, 0x100))
		case 31:
			switch r.Intn(3) {
			case 0:
				add("chmod", p(), pick(0644, 0400, 04755))
			case 1:
				add("access", p(), r.Intn(9))
			case 2:
				add("umask", pick(022, 077, 0))
			}
		case 32:
			switch r.Intn(4) {
			case 0:
				add("fcntl", fd(), pick(0, 1, 2, 3, 4, 1030), r.Intn(20))
			case 1:
				add("renameat2", -100, p(), -100, p(), r.Intn(2))
			case 2:
				add("mkdirat", fd(), p(), 0755)
			case 3:
				add("unlinkat", fd(), p(), pick(0, 0x200))
			}
		case 33:
			switch r.Intn(4) {
			case 0:
				add("fstat", fd(), out(144))
			case 1:
				add("getcwd", out(200), 200)
			case 2:
				add("chdir", []string{"/w", "d", "."}[r.Intn(3)])
			case 3:
				add("fchdir", fd())
			}
		}
	}
	return
}

func main() {
	debug.SetGCPercent(-1)
	var text strings.Builder
	done := make(chan bool)
	go func() {
		runtime.LockOSThread()
		syscall.Unshare(syscall.CLONE_FS | syscall.CLONE_FILES)
		for i := 3; i < 100; i++ {
			syscall.Close(i)
		}
		syscall.Chroot(os.Args[1])
		syscall.Chdir("/")
		fd, _ := syscall.Open("/", 0, 0)
		syscall.Dup2(fd, 100)
		syscall.Close(fd)
		for seed := 1; seed <= 12; seed++ {
			syscall.Fchdir(100)
			syscall.Chroot(".")
			syscall.Umask(0)
			root := fmt.Sprintf("/root%d", seed)
			syscall.Mkdir(root, 0755)
			syscall.Chroot(root)
			syscall.Chdir("/")
			syscall.Mkdir("/w", 0755)
			syscall.Umask(022)
			syscall.Chdir("/w")
			fmt.Fprintf(&text, "# %d\n", seed)
			ops := gen(rand.New(rand.NewSource(int64(seed)*77)), 400)
			if seed > 8 {
				ops = gen2(rand.New(rand.NewSource(int64(seed)*77)), 400)
			}
			for _, o := range ops {
				r, b, e := do(o)
				fmt.Fprintln(&text, show(o, r, b, e))
			}
			for i := 3; i < 100; i++ {
				syscall.Close(i)
			}
		}
		done <- true
		select {}
	}()
	<-done
	fmt.Print(text.String())
}
