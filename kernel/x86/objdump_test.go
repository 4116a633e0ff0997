package x86

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"debug/elf"
	"encoding/binary"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"kscope/kernel/guest"
)

// TestObjdump holds the lengths of all instructions of the guest's kernel against `objdump -d`, and requires that each can
// be executed. Where there is no
// objdump, the digest of its answer for the same image serves (testdata/objdump.sum, written when UPDATE_OBJDUMP is set).
func TestObjdump(t *testing.T) {
	image := guest.Kernel()
	f, err := elf.NewFile(bytes.NewReader(image))
	if err != nil {
		t.Skip("the kernel image is no ELF file yet: ", err)
	}
	text := map[uint64][]byte{} // executable sections by address
	for _, s := range f.Sections {
		if s.Type == elf.SHT_PROGBITS && s.Flags&elf.SHF_EXECINSTR != 0 {
			b, err := s.Data()
			if err != nil {
				t.Fatal(err)
			}
			text[s.Addr] = b
		}
	}
	name := fmt.Sprintf("%x", sha256.Sum256(image))[:16]
	sum, known := "", false
	if saved, err := os.ReadFile("testdata/objdump.sum"); err == nil {
		f := strings.Fields(string(saved))
		if known = len(f) == 2 && f[0] == name; known {
			sum = f[1]
		}
	}
	if _, err := exec.LookPath("objdump"); err != nil {
		if !known {
			t.Skip("no objdump, and no digest for this image")
		}
		if got := lengthDigest(ourLengths(text)); got != sum {
			t.Errorf("instruction lengths give digest %s, those of objdump %s", got, sum)
		}
		return
	}
	theirs, ud2 := objdumpLengths(t, image), []byte{0x0f, 0x0b}
	bad := 0
	for va, b := range text {
		for at := uint64(0); at < uint64(len(b)); {
			want, ok := theirs[va+at]
			if !ok || want < 0 { // "(bad)": data
				at++
				continue
			}
			in := decodeInst(b[at:])
			code := b[at : at+uint64(want)]
			if in.Len != want && in.gap != gapUD {
				if bad++; bad < 20 {
					t.Errorf("%#x: length %d, objdump says %d: % x", va+at, in.Len, want, code)
				}
			}
			if (in.gap == gapUD || in.gap == gapNone && opInfo[in.Op].low == lowUD) && !bytes.Equal(code, ud2) {
				if bad++; bad < 20 {
					t.Errorf("%#x: the guest has an instruction that raises #UD: %v, % x", va+at, in.Inst, code)
				}
			}
			at += uint64(want)
		}
	}
	t.Logf("%d instructions", len(theirs))
	if bad == 0 && os.Getenv("UPDATE_OBJDUMP") != "" {
		line := fmt.Sprintf("%s %s\n", name, lengthDigest(ourLengths(text)))
		if err := os.WriteFile("testdata/objdump.sum", []byte(line), 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

// objdumpLengths returns the length of each instruction by address, -1 for bytes that are none.
func objdumpLengths(t *testing.T, image []byte) map[uint64]int {
	file := filepath.Join(t.TempDir(), "vmlinux")
	if err := os.WriteFile(file, image, 0o666); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command("objdump", "-d", "-w", "-z", file).Output()
	if err != nil {
		t.Skip("objdump: ", err)
	}
	n := map[uint64]int{}
	sc := bufio.NewScanner(bytes.NewReader(out))
	for sc.Scan() {
		f := strings.Split(sc.Text(), "\t")
		if len(f) < 2 {
			continue
		}
		va, err := strconv.ParseUint(strings.TrimSuffix(strings.TrimSpace(f[0]), ":"), 16, 64)
		if err != nil {
			continue
		}
		n[va] = len(strings.Fields(f[1]))
		if len(f) < 3 || strings.Contains(f[2], "(bad)") {
			n[va] = -1
		}
	}
	return n
}

// ourLengths decodes each section from its start to its end.
func ourLengths(text map[uint64][]byte) map[uint64]int {
	n := map[uint64]int{}
	for va, b := range text {
		for at := 0; at < len(b); {
			in := decodeInst(b[at:])
			n[va+uint64(at)] = in.Len
			at += max(in.Len, 1)
		}
	}
	return n
}

// lengthDigest sums lengths so that their order does not matter.
func lengthDigest(n map[uint64]int) string {
	var sum [8]byte
	for va, l := range n {
		h := sha256.Sum256(binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(nil, va), uint64(l)))
		binary.LittleEndian.PutUint64(sum[:], binary.LittleEndian.Uint64(sum[:])+binary.LittleEndian.Uint64(h[:]))
	}
	return fmt.Sprintf("%x", sum)
}
