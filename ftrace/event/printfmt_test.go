package event

import (
	"encoding/binary"
	"fmt"
	"strings"
	"testing"
)

// printFormat has a field of each kind.
var printFormat = Format{System: "test", Name: "all", ID: 400, Fields: []Field{
	{"char[16]", "comm", 8, 16, false}, {"pid_t", "pid", 24, 4, true}, {"unsigned int", "u", 28, 4, false},
	{"unsigned long", "ptr", 32, 8, false}, {"u8", "b", 40, 1, false}, {"s8", "sb", 41, 1, true}, {"u16", "h", 42, 2, false},
	{"__data_loc char[]", "name", 44, 4, false}, {"unsigned long[2]", "args", 48, 16, false}, {"dev_t", "dev", 64, 4, false},
	{"__data_loc u16[]", "list", 68, 4, false}, {"const char *", "kstr", 72, 8, false}, {"__data_loc unsigned long[]", "mask", 80, 4, false}}}

func printRecord() []byte {
	d := make([]byte, 120)
	Header{Type: 400, PID: 7}.Put(d)
	copy(d[8:], "bash")
	put := func(name string, x uint64) {
		f, _ := printFormat.Field(name)
		f.Encode(d, x)
	}
	put("pid", ^uint64(2)) // -3
	put("u", 0xfffffffe)
	put("ptr", 0xffffffff81000040)
	put("b", 200)
	put("sb", 0xfe)
	put("h", 0xcc0)
	put("name", 5<<16|84)
	copy(d[84:], "sda1\x00")
	binary.LittleEndian.PutUint64(d[48:], 17)
	binary.LittleEndian.PutUint64(d[56:], 0xabcdef)
	put("dev", 8<<20|1)
	put("list", 4<<16|90)
	copy(d[90:], []byte{1, 0, 2, 0})
	put("kstr", 0xffffffff82000000)
	put("mask", 8<<16|96)
	d[96] = 0xf
	return d
}

// TestPrint: a row is a print fmt and what Linux's printf makes of it.
func TestPrint(t *testing.T) {
	for print, want := range map[string]string{
		`"comm=%s pid=%d", REC->comm, REC->pid`:                                                          "comm=bash pid=-3",
		`"%u %lu %x %lx", REC->pid, REC->pid, REC->pid, REC->pid`:                                        "4294967293 18446744073709551613 fffffffd fffffffffffffffd",
		`"%d %u %lld", REC->u, REC->u, REC->u`:                                                           "-2 4294967294 4294967294",
		`"%03d|%5d|%-5d|%05x|%#x|%+d|%.3u|% d", 7, 7, 7, 255, 255, 7, 7, 7`:                              "007|    7|7    |000ff|0xff|+7|007| 7",
		`"%8s|%-8s|%.2s|%c%%", REC->comm, REC->comm, REC->comm, 'x'`:                                     "    bash|bash    |ba|x%",
		`"%ps %pS %p %px", (void *)REC->ptr, (void *)REC->ptr, (void *)0, REC->ptr`:                      "fn fn+0x0 0000000000000000 ffffffff81000040",
		`"%d:%d", ((unsigned int) ((REC->dev) >> 20)), ((unsigned int) ((REC->dev) & ((1U << 20) - 1)))`: "8:1",
		`"%s", __print_flags(REC->h, "|", { 0x800, "A" }, { 0x400, "B" }, { 0x1, "C" })`:                 "A|B|0xc0",
		`"%s", (REC->h) ? __print_flags((unsigned long)(REC->h), "|", {(unsigned long)(((( gfp_t)(0x400u|0x800u)) | (( gfp_t)0xc0u))), "GFP_KERNEL"}, {1, "X"}) : "none"`: "GFP_KERNEL",
		`"%s %s", __print_symbolic(REC->b, { 0, "HI" }, { 200, "TWO" }), __print_symbolic(REC->pid, { 1, "x" })`:                                                          "TWO 0xfffffffffffffffd",
		`"%s%s", REC->b & 8 ? "+" : "", REC->sb < 0 ? "neg" : "pos"`:                                                                                                      "+neg",
		`"NR %ld (%lx)", REC->args[0], REC->args[1]`:                                                                                                                      "NR 17 (abcdef)",
		`"%s %d %s", __get_str(name), __get_dynamic_array_len(name), __print_hex_str(__get_dynamic_array(name), 3)`:                                                       "sda1 5 736461",
		`"%s", __print_array(__get_dynamic_array(list), __get_dynamic_array_len(list) / 2, 2)`:                                                                            "{0x1,0x2}",
		`"%s %s", __get_bitmask(mask), __print_hex(REC->comm, 2)`:                                                                                                         "00000000,0000000f 62 61",
		`"%s", REC->kstr`:                          "<ffffffff82000000>",
		`"%d %d %d", 1 + 2 * 3, (1 + 2) * 3, -7/2`: "7 9 -3",
		`"%lu", (unsigned long)-1 >> 60`:           "15",
		`"%d", (int)(u8)300`:                       "44",
		`"%d", -1 < 1u`:                            "0",
		`"%d %d", !REC->b || 0, 5 != 5 && 1 / 0`:   "0 0",
		`"%lu", sizeof(long) + sizeof(u16)`:        "10",
		`"a" "%" "d" "\t\"", 3`:                    "a3\t\"",
		`"%llu", (unsigned long long)REC->h << 40`: fmt.Sprint(uint64(0xcc0) << 40),
		`"%d", REC->h << 40`:                       fmt.Sprint(0xcc0 << 8), // of an int: the count is taken modulo 32, as the CPU does
		`"%s", !!(REC->b) ? "y" : "n"`:             "y",
		`"%d", ((int)REC->u) >> 1`:                 "-1",
	} {
		f := printFormat
		f.Print = print
		text, err := CompilePrint(&f)
		if err != nil {
			t.Errorf("%s: %v", print, err)
			continue
		}
		p := &Printer{Name: func(b []byte, a uint64, offset bool) []byte {
			if b = append(b, "fn"...); offset {
				b = append(b, "+0x0"...)
			}
			return b
		}, Str: func(a uint64) string { return fmt.Sprintf("<%x>", a) }}
		if text(p, printRecord()); string(p.Buf) != "all: "+want+"\n" {
			t.Errorf("%s\n got %q\nwant %q", print, p.Buf, want)
		}
		p.Buf = p.Buf[:0]
		text(p, printRecord()[:20]) // a short record prints something, and does not panic
	}
}

// TestPrintErrors: what is not understood is told at compile time, with its place.
func TestPrintErrors(t *testing.T) {
	for print, want := range map[string]string{
		`REC->comm`:               "want a format string",
		`"%d", REC->nosuch`:       `no field "nosuch"`,
		`"%d", mystery(REC->pid)`: "mystery is not known",
		`"%d"`:                    `want ","`,
		`"%d", 1, 2`:              "more arguments",
		`"%y", 1`:                 "conversion %y",
		`"%s", REC->pid`:          "want a text",
		`"%d", REC->comm`:         "want a number",
		`"%d", (1 + `:             "expression ends",
		`"%s", __print_flags(REC->comm, "|", { 1, "x" }) + 1`: "number",
	} {
		f := printFormat
		f.Print = print
		_, err := CompilePrint(&f)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", print, err, want)
		}
	}
}

func FuzzPrint(f *testing.F) {
	for _, s := range []string{`"%d", REC->pid`, `"%s", __print_flags(REC->h, "|", { 1, "x" })`, `"%s", REC->b ? "a" : "b"`, `"%pS %03u", REC->ptr, 1 << 2`} {
		f.Add(s)
	}
	d := printRecord()
	f.Fuzz(func(t *testing.T, print string) {
		x := printFormat
		x.Print = print
		if text, err := CompilePrint(&x); err == nil && len(print) < 200 {
			text(&Printer{}, d)
		}
	})
}

func BenchmarkPrint(b *testing.B) {
	f := switchFormat
	f.Print = `"prev_comm=%s prev_pid=%d prev_prio=%d prev_state=%s%s ==> next_comm=%s next_pid=%d next_prio=%d", REC->prev_comm, REC->prev_pid, REC->prev_prio, (REC->prev_state & 0xff) ? __print_flags(REC->prev_state & 0xff, "|", { 0x1, "S" }, { 0x2, "D" }) : "R", REC->prev_state & 0x100 ? "+" : "", REC->next_comm, REC->next_pid, REC->next_prio`
	text, err := CompilePrint(&f)
	if err != nil {
		b.Fatal(err)
	}
	d, p := make([]byte, 64), &Printer{}
	copy(d[8:], "bash")
	copy(d[40:], "swapper/1")
	d[32] = 1
	b.ReportAllocs()
	for b.Loop() {
		p.Buf = p.Buf[:0]
		text(p, d)
	}
}
