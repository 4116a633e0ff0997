package kernel

import (
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// The transcripts in testdata/oops are what Debian 12's 6.1 kernel printed (oracle.sh, with a module that crashes on
// demand). The test feeds the registers, code bytes and page table entries of each into our reporter and compares line
// by line. Known differences: PKRU (no such CPU feature here), the hardware's name, the module list, Debian's taint and
// version, and the call trace, whose rows the stack tests check.
func TestOopsAgainstLinux(t *testing.T) {
	files, err := filepath.Glob("testdata/oops/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal("no transcripts", err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".txt")
		t.Run(name, func(t *testing.T) {
			raw, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			s := parseTranscript(t, string(raw))
			what := map[string]string{"gp": "general protection fault", "int3": "int3", "divide": "divide error",
				"double": "double fault", "warn": "WARNING", "bug": "kernel BUG"}[name]
			if what == "" {
				what = "Oops"
			}
			s.rep.report(what, &s.regs, s.err, s.addr)
			want, got := comparable(strings.Split(string(raw), "\n")), comparable(s.rep.out)
			for i := range max(len(want), len(got)) {
				w, g := "(no line)", "(no line)"
				if i < len(want) {
					w = want[i]
				}
				if i < len(got) {
					g = got[i]
				}
				if w != g {
					t.Fatalf("line %d:\nlinux  %q\nkscope %q", i+1, w, g)
				}
			}
		})
	}
}

// comparable takes the known differences out.
func comparable(lines []string) (out []string) {
	inTrace := false
	for _, l := range lines {
		switch {
		case l == "Call Trace:":
			inTrace = true
		case strings.HasPrefix(l, "---[ end") || strings.HasPrefix(l, "Modules"):
			inTrace = false
			l, _, _ = strings.Cut(l, ":")
		case inTrace, l == "", strings.HasPrefix(l, "PKRU"), strings.HasPrefix(l, "Hardware name: "), strings.HasPrefix(l, "warned"),
			strings.HasPrefix(l, "------------[ cut") && strings.Contains(strings.Join(lines, "\n"), "WARNING"):
			continue
		case strings.HasPrefix(l, "CPU: "):
			l = strings.Replace(l, "Tainted: G           OE     ", "Not tainted", 1)
		case strings.HasPrefix(l, "PGD "):
			l = l[strings.Index(l, "P4D"):] // the real CPU had five levels
		case strings.HasPrefix(l, "WARNING") || strings.HasPrefix(l, "kernel BUG"):
			l = sourcePos.ReplaceAllString(l, " at FILE:LINE")
		}
		out = append(out, l)
	}
	return out
}

var sourcePos = regexp.MustCompile(` at \S*:\d+`)

type transcript struct {
	rep  *reporter
	regs PtRegs
	err  uint64
	addr uint64
}

var regNames = map[string]int{"RAX": ptAX, "RBX": ptBX, "RCX": ptCX, "RDX": ptDX, "RSI": ptSI, "RDI": ptDI, "RBP": ptBP, "R08": ptR8,
	"R09": ptR9, "R10": ptR10, "R11": ptR11, "R12": ptR12, "R13": ptR13, "R14": ptR14, "R15": ptR15, "EFLAGS": ptFlags}

func parseTranscript(t *testing.T, text string) *transcript {
	s := &transcript{rep: &reporter{task: TaskInfo{}, uts: "6.1.0-57-cloud-amd64 #1  Debian 6.1.192-3", taint: "Not tainted", count: 1}}
	r := s.rep
	hexOf := func(re string) uint64 {
		m := regexp.MustCompile(re).FindStringSubmatch(text)
		if m == nil {
			return 0
		}
		v, err := strconv.ParseUint(m[1], 16, 64)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	for name, i := range regNames {
		s.regs[i] = hexOf(name + `: ([0-9a-f]+)`)
	}
	s.regs[ptOrigAX] = ^uint64(0)
	s.regs[ptCS], s.regs[ptSS] = hexOf(`RIP: (\w+):`), hexOf(`RSP: (\w+):`)
	s.regs[ptSP] = hexOf(`RSP: \w+:([0-9a-f]+)`)
	s.err, s.addr = hexOf(`error_code\(0x([0-9a-f]+)`), hexOf(`address: ([0-9a-f]+)`)
	r.cr = [5]uint64{0: hexOf(`CR0: ([0-9a-f]+)`), 2: hexOf(`CR2: ([0-9a-f]+) CR3`), 3: hexOf(`CR3: ([0-9a-f]+)`), 4: hexOf(`CR4: ([0-9a-f]+)`)}
	r.base = [3]uint64{hexOf(`FS:  ([0-9a-f]+)`), hexOf(`GS:([0-9a-f]+)`), hexOf(`knlGS:([0-9a-f]+)`)}
	r.seg[1] = 0x10
	if m := regexp.MustCompile(`CPU: (\d+) PID: (\d+) Comm: (\S+)`).FindStringSubmatch(text); m != nil {
		r.cpu, _ = strconv.Atoi(m[1])
		r.task.Pid, _ = strconv.Atoi(m[2])
		r.task.Comm = m[3]
	} else {
		m := regexp.MustCompile(`CPU: (\d+) PID: (\d+)`).FindStringSubmatch(text)
		r.cpu, _ = strconv.Atoi(m[1])
		r.task.Pid, _ = strconv.Atoi(m[2])
	}
	r.syms, r.types = &Symbols{base: &symTable{}}, &Types{}
	r.types.err = fmt.Errorf("no DWARF")
	r.text = func(uint64) bool { return false }
	r.area = func(uint64) (stackArea, bool) { return stackArea{}, false }
	r.unw = &Unwinder{table: &frameTable{}, rows: map[uint64]*row{}}
	s.placeCode(t, text, hexOf)
	s.pageTables(text, hexOf)
	return s
}

// placeCode makes a symbol and bytes for the RIP: and Code: lines.
func (s *transcript) placeCode(t *testing.T, text string, hexOf func(string) uint64) {
	at := uint64(0xffffffffc0201000)
	m := regexp.MustCompile(`RIP: 0010:([\w.]+)\+0x([0-9a-f]+)/0x([0-9a-f]+) \[crash\]`).FindStringSubmatch(text)
	switch {
	case s.err&pfInstr != 0:
		at = s.addr
		if m != nil {
			s.rep.syms.Add(Sym{Name: m[1], Addr: at, Size: hexOf(`\+0x0/0x([0-9a-f]+)`), Module: "crash"})
		}
	case strings.Contains(text, "Unable to access opcode"):
		at = hexOf(`bytes at 0x([0-9a-f]+)`) + 42
		fallthrough
	default:
		off, _ := strconv.ParseUint(m[2], 16, 64)
		size, _ := strconv.ParseUint(m[3], 16, 64)
		s.rep.syms.Add(Sym{Name: m[1], Addr: at - off, Size: size, Module: "crash"})
	}
	s.regs[ptIP] = at
	mem := fakeMemory{}
	s.rep.mem = mem
	// what gpAddress decodes: mov (%rdi),%eax
	mem[at], mem[at+1] = 0x8b, 0x07
	line := regexp.MustCompile(`(?m)^Code: (.*)$`).FindStringSubmatch(text)
	if strings.HasPrefix(line[1], "Unable") {
		return
	}
	b, err := hex.DecodeString(strings.NewReplacer(" ", "", "<", "", ">", "").Replace(line[1]))
	if err != nil || len(b) != 64 {
		t.Fatalf("%d code bytes: %v", len(b), err)
	}
	for i, c := range b {
		mem[at-42+uint64(i)] = c
	}
}

// pageTables makes the entries that the PGD … line shows. The real CPU had five levels: its P4D is what four levels call PGD.
func (s *transcript) pageTables(text string, hexOf func(string) uint64) {
	var e [4]uint64
	for i, name := range []string{"P4D", "PUD", "PMD", "PTE"} {
		e[i] = hexOf(name + ` ([0-9a-f]+)`)
	}
	i := 0
	s.rep.phys = func(uint64) (uint64, bool) { i++; return e[i-1], true }
}

type fakeMemory map[uint64]byte

func (m fakeMemory) Read(va uint64, b []byte) error {
	for i := range b {
		c, ok := m[va+uint64(i)]
		if !ok {
			return EFAULT
		}
		b[i] = c
	}
	return nil
}
