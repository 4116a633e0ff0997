package guest

import (
	"bytes"
	"debug/elf"
	"os"
	"sort"
	"testing"
)

// The committed image must be built from the sources beside it.
func TestFresh(t *testing.T) {
	want, err := Hash(os.DirFS("."))
	if err != nil {
		t.Fatal(err)
	}
	got, gcc, err := Note(Kernel())
	if err != nil {
		t.Fatal(err)
	}
	if got != want {
		t.Errorf("vmlinux.elf.gz is not built from these sources (with %s): run go generate ./kernel/guest", gcc)
	}
}

// Each row of __mcount_loc is a call of __fentry__ at a function's first byte, and its function is named once.
func TestMcountLoc(t *testing.T) {
	f, err := elf.NewFile(bytes.NewReader(Kernel()))
	if err != nil {
		t.Fatal(err)
	}
	syms, err := f.Symbols()
	if err != nil {
		t.Fatal(err)
	}
	named, starts := map[string]uint64{}, map[uint64]bool{}
	for _, s := range syms {
		named[s.Name] = s.Value
		if elf.ST_TYPE(s.Info) == elf.STT_FUNC {
			starts[s.Value] = true
		}
	}
	order := f.ByteOrder
	read := func(va uint64, n int) []byte {
		for _, s := range f.Sections {
			if s.Flags&elf.SHF_ALLOC != 0 && s.Type == elf.SHT_PROGBITS && va >= s.Addr && va+uint64(n) <= s.Addr+s.Size {
				b := make([]byte, n)
				if _, err := s.ReadAt(b, int64(va-s.Addr)); err != nil {
					t.Fatal(err)
				}
				return b
			}
		}
		t.Fatalf("%#x is in no section", va)
		return nil
	}
	start, stop := named["__start_mcount_loc"], named["__stop_mcount_loc"]
	var locs []uint64
	for va := start; va < stop; va += 8 {
		locs = append(locs, order.Uint64(read(va, 8)))
	}
	if len(locs) < 500 {
		t.Errorf("only %d traceable functions", len(locs))
	}
	sort.Slice(locs, func(i, j int) bool { return locs[i] < locs[j] })
	for i, va := range locs {
		b := read(va, 5)
		if to := va + 5 + uint64(int64(int32(order.Uint32(b[1:])))); b[0] != 0xe8 || to != named["__fentry__"] || !starts[va] {
			t.Errorf("site %#x: % x", va, b)
		}
		if i > 0 && va < locs[i-1]+5 {
			t.Errorf("sites %#x and %#x overlap", locs[i-1], va)
		}
	}
	if hot := named["kscope_hot"]; hot%64 != 62 {
		t.Errorf("kscope_hot's site at %#x does not straddle a line", hot)
	}
}
