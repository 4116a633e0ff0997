package x86

import (
	"bufio"
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// FuzzDecode requires of any bytes: no panic, a length of 1 to 15 or "truncated", and the same answer whatever follows.
func FuzzDecode(f *testing.F) {
	for _, b := range vectorBytes(f) {
		f.Add(b)
	}
	corpus, err := os.ReadFile("testdata/decode.corpus")
	if err != nil {
		f.Fatal(err)
	}
	for _, line := range strings.Split(string(corpus), "\n") {
		if b, err := hex.DecodeString(line); err == nil {
			f.Add(b)
		}
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		in := decodeInst(b)
		if in.Len == truncated {
			if len(b) >= 15 {
				t.Fatalf("% x: truncated with 15 bytes at hand", b)
			}
			return
		}
		if in.Len < 1 || in.Len > 15 || in.Len > len(b) {
			t.Fatalf("% x: length %d", b, in.Len)
		}
		if in.gap == gapUD || in.gap == gapLong {
			return // the length is not used
		}
		longer := decodeInst(append(b[:in.Len:in.Len], 0xff, 0, 0x5a))
		if longer.Len != in.Len || longer.Op != in.Op || longer.gap != in.gap {
			t.Fatalf("% x: %v of %d bytes, but with other bytes behind it %v of %d", b, in.Op, in.Len, longer.Op, longer.Len)
		}
		text, n, err := Disasm(b, 0x1000, nil)
		if err == nil && (n < 1 || n > len(b) || text == "") {
			t.Fatalf("% x: disassembled as %q of %d bytes", b, text, n)
		}
	})
}

// vectorBytes collects the code of all vectors.
func vectorBytes(t testing.TB) (all [][]byte) {
	files, _ := filepath.Glob("testdata/*.txt")
	for _, name := range files {
		file, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		for sc := bufio.NewScanner(file); sc.Scan(); {
			if f := strings.Split(sc.Text(), "|"); len(f) > 2 {
				if b, err := hex.DecodeString(strings.ReplaceAll(f[1], " ", "")); err == nil && len(b) > 0 {
					all = append(all, b)
				}
			}
		}
		file.Close()
	}
	return all
}
