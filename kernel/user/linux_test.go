package user

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash/fnv"
	"os"
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
	a := s.args()
	r := &request{nr: 7}
	r.args[0], r.args[1] = a.bytes(fds), uint64(n)
	r.in, r.out = a.in, []span{{addr: r.args[0], n: len(fds)}}
	resp, e := s.call(r)
	if e != 0 {
		return fmt.Sprintf("-%d", int(e))
	}
	res := strconv.FormatInt(resp.ret, 10)
	for b := resp.data(0); len(b) >= 8; b = b[8:] {
		res += fmt.Sprintf(" %x", binary.LittleEndian.Uint16(b[6:]))
	}
	return res
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
