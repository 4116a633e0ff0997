package event

import (
	"encoding/binary"
	"fmt"
	"testing"
)

// TestPrintk: the text made of packed arguments is the text made at once, and what Linux's printf would print.
func TestPrintk(t *testing.T) {
	neg := func(x int64) uint64 { return uint64(x) }
	for _, c := range []struct {
		format string
		args   []any // uint64, or a string for a pointer to one
		want   string
	}{
		{"plain\n", nil, "plain\n"},
		{"100%% %d|%5u|%-4x|%#lx", []any{neg(-3), uint64(7), uint64(255), uint64(1 << 40)}, "100% -3|    7|ff  |0x10000000000"},
		{"%c%hhd%hu", []any{uint64('x'), neg(-1), uint64(65535)}, "x-165535"},
		{"%s:%.2s|%6s|%-3s|", []any{"bash", "abcdef", "r", "l"}, "bash:ab|     r|l  |"},
		{"%*d|%-*s|%.*s", []any{uint64(5), uint64(42), uint64(3), "q", uint64(2), "xyz"}, "   42|q  |xy"},
		{"%pS %ps %px %p", []any{uint64(16), uint64(32), uint64(0xffff888000000000), uint64(0)}, "f10+ f20 ffff888000000000 0000000000000000"},
		{"%c%lld%c%d", []any{uint64('a'), neg(-1 << 40), uint64('b'), uint64(9)}, fmt.Sprintf("a%db9", -1<<40)},
		{"%d then %y stops", []any{uint64(1)}, "1 then "},
	} {
		p := &Printer{Name: func(b []byte, a uint64, off bool) []byte {
			if b = fmt.Appendf(b, "f%x", a); off {
				b = append(b, '+')
			}
			return b
		}}
		args := func() VarArgs {
			i, texts := 0, map[uint64]string{}
			return VarArgs{Next: func() uint64 {
				i++
				if s, ok := c.args[i-1].(string); ok {
					texts[uint64(i)] = s
					return uint64(i)
				}
				return c.args[i-1].(uint64)
			}, Str: func(va uint64) string { return texts[va] }}
		}
		packed, ok := p.PackPrintf(c.format, args())
		if !ok || len(packed)%4 != 0 {
			t.Errorf("%q: packed % x, %v", c.format, packed, ok)
		}
		p.Bprintf(c.format, packed)
		late := string(p.Buf)
		p.Buf = nil
		p.Vprintf(c.format, args())
		if late != c.want || string(p.Buf) != c.want {
			t.Errorf("%q: %q packed, %q at once; want %q", c.format, late, p.Buf, c.want)
		}
		for n := range packed { // a record that is cut short
			p.Bprintf(c.format, packed[:n])
		}
	}
}

// TestPackPrintf holds the packing against vbin_printf's: a value at a multiple of its size, 8 bytes at one of 4.
func TestPackPrintf(t *testing.T) {
	vals := []uint64{'x', 1, 2, 0x1122334455667788}
	i := -1
	p := &Printer{}
	got, _ := p.PackPrintf("%c %hd %d %ld", VarArgs{Next: func() uint64 { i++; return vals[i] }})
	want := append([]byte{'x', 0, 1, 0, 2, 0, 0, 0}, binary.LittleEndian.AppendUint64(nil, vals[3])...)
	if string(got) != string(want) {
		t.Errorf("% x, want % x", got, want)
	}
	long := make([]byte, 2000)
	if _, ok := p.PackPrintf("%s", VarArgs{Next: func() uint64 { return 0 }, Str: func(uint64) string { return string(long) }}); ok {
		t.Error("2000 bytes fit")
	}
}
