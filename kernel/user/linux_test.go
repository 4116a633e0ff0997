package user

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash/fnv"
	"math/rand"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"kscope/kernel"
)

// The guest's file systems answer as Linux does: random system calls, recorded on ramfs under 6.1, are made again by one
// task and compared, results, data, directory order and errnos.
func TestFileSystemAsLinux(t *testing.T) {
	text, err := os.ReadFile("testdata/fsops-6.1.txt")
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range strings.Split(string(text), "\n# ")[4:] { // after the header's lines
		name, lines, _ := strings.Cut(part, "\n")
		t.Run(name, func(t *testing.T) { replay(t, strings.Split(strings.TrimSpace(lines), "\n")) })
	}
}

func replay(t *testing.T, lines []string) {
	m, h := boot(t, kernel.Config{Seed: 5})
	var bad []string
	pid, err := h.Spawn(Program{Name: "fsops", Main: func(s *Sys, argv []string) int {
		s.CallNamed("rt_sigaction", 13, append([]byte{1}, make([]byte, 31)...), 0, 8) // SIGPIPE is ignored, as in the recorder
		s.CallNamed("umask", 0)
		s.Mkdir("/root/fs", 0o755)
		s.CallNamed("chroot", "/root/fs")
		s.Chdir("/")
		s.Mkdir("/w", 0o755)
		s.CallNamed("umask", 0o22)
		s.Chdir("/w")
		for _, line := range lines {
			call, _, _ := strings.Cut(line, " = ")
			if got := call + " = " + answer(s, call); got != line {
				bad = append(bad, fmt.Sprintf("guest %s\n linux %s", got, line))
			}
		}
		return 0
	}}, nil, kernel.Streams{})
	if err != nil {
		t.Fatal(err)
	}
	if code, err := m.Wait(pid); code != 0 || err != nil {
		t.Fatalf("%d %v\n%v", code, err, m.Dmesg())
	}
	for i, b := range bad {
		if t.Error(b); i == 5 {
			t.Fatalf("and %d more", len(bad)-i-1)
		}
	}
}

// answer makes the call that is written in text and writes its answer.
func answer(s *Sys, text string) string {
	name, rest, _ := strings.Cut(text, " ")
	args := callArgs(rest)
	if name == "poll" {
		return poll(s, args[0].([]byte), args[1].(int))
	}
	ret, out, err := s.CallNamed(name, args...)
	if e, ok := err.(kernel.Errno); ok {
		return fmt.Sprintf("-%d", int(e))
	} else if err != nil {
		return err.Error()
	}
	res := strconv.FormatInt(ret, 10)
	var b []byte
	if len(out) > 0 {
		b = out[0]
	}
	le := binary.LittleEndian
	switch name {
	case "read", "pread64":
		h := fnv.New32a()
		h.Write(b[:ret])
		res += fmt.Sprintf(" %08x", h.Sum32())
	case "readlink", "getcwd":
		res += fmt.Sprintf(" %q", strings.TrimRight(string(b[:ret]), "\x00"))
	case "newfstatat", "fstat":
		res += fmt.Sprintf(" %o %d %d", le.Uint32(b[24:]), le.Uint64(b[16:]), le.Uint64(b[48:]))
	case "pipe2":
		res += fmt.Sprintf(" %d %d", le.Uint32(b), le.Uint32(b[4:]))
	case "ioctl":
		if len(b) >= 4 {
			res += fmt.Sprintf(" %d", le.Uint32(b))
		}
	case "statx":
		res += fmt.Sprintf(" %o %d %d %d.%d", le.Uint16(b[28:]), le.Uint32(b[16:]), le.Uint64(b[40:]), le.Uint64(b[112:])%1000000, le.Uint32(b[120:]))
	case "getdents64":
		for b = b[:ret]; len(b) > 0; b = b[le.Uint16(b[16:]):] {
			file, _, _ := strings.Cut(string(b[19:le.Uint16(b[16:])]), "\x00")
			res += fmt.Sprintf(" %s/%d", file, b[18])
		}
	}
	return res
}

// poll has a buffer that goes both ways.
func poll(s *Sys, fds []byte, n int) string {
	ret, b, e := inOut(s, 7, fds, 0, uint64(n))
	if e != 0 {
		return fmt.Sprintf("-%d", int(e))
	}
	res := strconv.FormatInt(ret, 10)
	for ; len(b) >= 8; b = b[8:] {
		res += fmt.Sprintf(" %x", binary.LittleEndian.Uint16(b[6:]))
	}
	return res
}

// inOut makes a call whose argument at is the address of data, and returns what is there afterwards.
func inOut(s *Sys, nr int, data []byte, at int, others ...uint64) (int64, []byte, kernel.Errno) {
	a := s.args()
	r := &request{nr: nr}
	addr := a.bytes(data)
	copy(r.args[:], slices.Insert(others, at, addr))
	r.in, r.out = a.in, []span{{addr: addr, n: len(data)}}
	resp, e := s.call(r)
	if e != 0 {
		return resp.ret, nil, e
	}
	return resp.ret, resp.data(0), 0
}

// Byte-range locks against a model: one process locks and unlocks random ranges; now and then a child asks for each byte
// who is in its way.
func TestPosixLocks(t *testing.T) {
	const size, setlk, getlk = 48, 6, 5
	m, h := boot(t, kernel.Config{Seed: 3})
	lock := func(typ, start, n int) []byte {
		b := make([]byte, 32)
		binary.LittleEndian.PutUint16(b, uint16(typ))
		binary.LittleEndian.PutUint64(b[8:], uint64(start))
		binary.LittleEndian.PutUint64(b[16:], uint64(n))
		return b
	}
	var bad []string
	pid, err := h.Spawn(Program{Name: "locks", Main: func(s *Sys, argv []string) int {
		r := rand.New(rand.NewSource(1))
		fd, _ := s.Open("/tmp/lock", 0o102, 0o644)
		var model [size]int // 0 free, else type+1
		for i := range 300 {
			typ, start := r.Intn(3), r.Intn(size)
			n := 1 + r.Intn(size-start)
			if _, e := inOutErr(s, fd, setlk, lock(typ, start, n)); e != 0 {
				bad = append(bad, fmt.Sprintf("op %d: %v", i, e))
			}
			for j := start; j < start+n; j++ {
				model[j] = (typ + 1) % 3 // F_UNLCK 2 -> 0
			}
			if i%10 != 0 {
				continue
			}
			s.Fork(func(s *Sys) int {
				for j := range size {
					for ask := range 2 {
						b, e := inOutErr(s, fd, getlk, lock(ask, j, 1))
						want := 2
						if model[j] == 2 || model[j] == 1 && ask == 1 {
							want = model[j] - 1
						}
						if got := int(binary.LittleEndian.Uint16(b)); e != 0 || got != want {
							bad = append(bad, fmt.Sprintf("op %d byte %d ask %d: %d, want %d (%v)", i, j, ask, got, want, e))
						}
					}
				}
				return 0
			})
			s.Wait4(-1, 0)
		}
		// closing any descriptor of the file gives all of them up
		other, _ := s.Open("/tmp/lock", 0, 0)
		s.Close(other)
		s.Fork(func(s *Sys) int {
			b, e := inOutErr(s, fd, getlk, lock(1, 0, 0))
			if got := binary.LittleEndian.Uint16(b); got != 2 || e != 0 {
				bad = append(bad, fmt.Sprintf("after close: %d %v", got, e))
			}
			return 0
		})
		s.Wait4(-1, 0)
		return 0
	}}, nil, kernel.Streams{})
	if err != nil {
		t.Fatal(err)
	}
	if code, err := m.Wait(pid); code != 0 || err != nil {
		t.Fatal(code, err)
	}
	for i := 0; i < len(bad) && i < 5; i++ {
		t.Error(bad[i])
	}
}

func inOutErr(s *Sys, fd, cmd int, lock []byte) ([]byte, kernel.Errno) {
	_, b, e := inOut(s, 72, lock, 2, uint64(fd), uint64(cmd))
	if len(b) < 2 {
		b = make([]byte, 2)
	}
	return b, e
}

// callArgs reads integers, quoted strings, data:N:S, raw:HEX and out:N.
func callArgs(text string) (args []any) {
	for text != "" {
		if q, err := strconv.QuotedPrefix(text); err == nil {
			v, _ := strconv.Unquote(q)
			args, text = append(args, v), strings.TrimPrefix(text[len(q):], " ")
			continue
		}
		var word string
		word, text, _ = strings.Cut(text, " ")
		var n, seed int
		if _, err := fmt.Sscanf(word, "data:%d:%d", &n, &seed); err == nil {
			b := make([]byte, n)
			for i := range b {
				b[i] = byte(i*7 + seed)
			}
			args = append(args, b)
		} else if h, ok := strings.CutPrefix(word, "raw:"); ok {
			b, _ := hex.DecodeString(h)
			args = append(args, b)
		} else if _, err := fmt.Sscanf(word, "out:%d", &n); err == nil {
			args = append(args, Out(n))
		} else {
			v, _ := strconv.Atoi(word)
			args = append(args, v)
		}
	}
	return args
}
