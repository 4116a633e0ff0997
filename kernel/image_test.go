package kernel

import (
	"bytes"
	"encoding/binary"
	"errors"
	"strings"
	"testing"

	"kscope/kernel/guest"
)

// patch returns a copy of the embedded image with bytes replaced at an offset.
func patched(off int, b ...byte) []byte {
	img := append([]byte(nil), guest.Kernel()...)
	copy(img[off:], b)
	return img
}

func TestImageErrors(t *testing.T) {
	phoff := int(binary.LittleEndian.Uint64(guest.Kernel()[32:]))
	for _, c := range []struct {
		name string
		img  []byte
		want string
	}{
		{"empty", []byte{}, "not an ELF file"},
		{"text", []byte("#!/bin/sh\necho hello, this is no ELF file at all, but it is long enough to look at\n"), "not an ELF file"},
		{"truncated header", guest.Kernel()[:40], "not an ELF file"},
		{"32 bit", patched(4, 1), ""},
		{"big endian", patched(5, 2), ""},
		{"arm64", patched(18, 183, 0), "must be x86-64"},
		{"shared object", patched(16, 3, 0), "must be a fully linked ET_EXEC"},
		{"segment below RAM", patched(phoff+24, 0, 0, 0, 0, 0, 0, 0, 0), "is outside 0x1000000"},
		{"segment beyond the file", patched(phoff+8, 0, 0, 0, 0x7f), "do not fit a file"},
		{"the stub is no kernel", guest.Stub(), ""},
	} {
		_, err := LoadImage(c.img)
		var bad *ImageError
		if err == nil || !errors.As(err, &bad) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want an ImageError with %q", c.name, err, c.want)
		}
	}
}

// FuzzLoadImage changes bytes of the real image, in the whole file or in its headers. What loads must also run, for a while,
// without a panic of the host.
func FuzzLoadImage(f *testing.F) {
	img := guest.Kernel()
	shoff := binary.LittleEndian.Uint64(img[40:])
	ones := bytes.Repeat([]byte{0xff}, 8)
	f.Add(uint32(0), []byte{})
	f.Add(uint32(32), ones)
	f.Add(uint32(len(img)-300), ones)
	f.Add(uint32(shoff+64*3+24), ones)
	f.Fuzz(func(t *testing.T, off uint32, b []byte) {
		bad := bytes.Clone(img)
		switch at := uint64(off) >> 2; off & 3 {
		case 0:
			copy(bad[at%uint64(len(img)):], b)
		case 1:
			copy(bad[at%512:], b)
		case 2:
			copy(bad[shoff+at%(uint64(len(img))-shoff):], b)
		case 3: // the tables of symbols and DWARF
			half := uint64(len(img)) / 2
			copy(bad[half+at%half:], b)
		}
		m, err := New(Config{Image: bad, Mem: 96 << 20, CPUs: 2})
		if err != nil {
			return
		}
		if err := bare(m); err != nil {
			return
		}
		m.Run(Until{Insns: 200_000})
	})
}

func TestErrnoTable(t *testing.T) {
	names := map[string]bool{}
	for e, row := range errnos {
		if row.name == "" || row.text == "" || names[row.name] || e <= 0 || e > 133 {
			t.Errorf("%d: bad row %v", e, row)
		}
		names[row.name] = true
	}
	if got := ENOENT.Error(); got != "No such file or directory" {
		t.Errorf("ENOENT: %q", got)
	}
	if got := Errno(41).Error(); got != "Unknown error 41" {
		t.Errorf("41: %q", got)
	}
	if _, err := RetError(Errno(16).Ret()); err != EBUSY {
		t.Errorf("RetError: %v", err)
	}
}
