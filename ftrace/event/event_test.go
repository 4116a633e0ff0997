package event

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// TestLinuxFormats holds every core event's format file against the transcript of real Linux.
func TestLinuxFormats(t *testing.T) {
	truth, err := os.ReadFile("../../../shared/oracle/truth/i-formats.out")
	if err != nil {
		t.Skip("needs the oracle's transcripts beside the repository: ", err)
	}
	section := func(head string) string {
		_, s, ok := strings.Cut(string(truth), head+"\n")
		if !ok {
			t.Fatalf("no %q in the transcript", head)
		}
		for _, end := range []string{"\n== ", "\n$ "} {
			if i := strings.Index(s, end); i >= 0 {
				s = s[:i+1]
			}
		}
		return s
	}
	for _, f := range Core {
		if got, want := f.File(), section("== events/ftrace/"+f.Name+"/format"); got != want {
			t.Errorf("%s: got\n%s\nwant\n%s", f.Name, got, want)
		}
	}
	if want := section("$ cat events/header_page"); HeaderPage != want {
		t.Errorf("header_page: want\n%s", want)
	}
	if want := section("$ cat events/header_event"); HeaderEvent != want {
		t.Errorf("header_event: want\n%s", want)
	}
}

func TestLines(t *testing.T) {
	sym := func(b []byte, a uint64) []byte { return append(append(b, 'f'), byte('0'+a%10)) }
	h := Header{Type: IDFunction, Flags: IRQsOff | NeedResched | HardIRQ, Preempt: 0x21, PID: 7}
	fn := make([]byte, FunctionSize)
	PutFunction(fn, h, 0x11, 0x12)
	h.Type = IDPrint
	msg := make([]byte, PrintSize(2))
	PutPrint(msg, h, 3, []byte("hi"))
	h.Type = IDKernelStack
	stack := make([]byte, StackSize(2))
	PutStack(stack, h, []uint64{1, 2})
	h.Type = 99
	odd := make([]byte, 8)
	h.Put(odd)
	for _, c := range []struct {
		name, want string
		mode       Mode
		d          []byte
	}{
		{"function", "f7 <-f8\n", ModeText, fn},
		{"function raw", "11 12\n", ModeRaw, fn},
		{"function hex", "0000000000000011 0000000000000012 ", ModeHex, fn},
		{"print", "f3: hi\n", ModeText, msg},
		{"print raw", "# 3 hi\n", ModeRaw, msg},
		{"print hex", "type: 5\n", ModeHex, msg},
		{"stack", "<stack trace>\n => f1\n => f2\n", ModeText, stack},
		{"unknown", "Unknown type 99\n", ModeText, odd},
		{"short", "[short record]\n", ModeText, fn[:12]},
	} {
		p := &Printer{Sym: sym, Mode: c.mode}
		NewSet().Line(p, c.d)
		if string(p.Buf) != c.want {
			t.Errorf("%s: %q, want %q", c.name, p.Buf, c.want)
		}
	}
	if h, ok := Parse(fn); !ok || h != (Header{IDFunction, IRQsOff | NeedResched | HardIRQ, 0x21, 7}) {
		t.Errorf("header %+v", h)
	} else if l := h.Latency(); string(l[:]) != "dnh12" {
		t.Errorf("flags %s", l)
	}
}

func TestFields(t *testing.T) {
	s := NewSet()
	f := s.ByID(IDFunction)
	d := make([]byte, FunctionSize)
	for _, name := range []string{"common_pid", "ip", "parent_ip"} {
		x, ok := f.Field(name)
		if !ok {
			t.Fatal(name)
		}
		x.Encode(d, ^uint64(4))
		v, ok := x.Decode(d)
		want := ^uint64(4)
		if !ok || v.Num != want {
			t.Errorf("%s: %x", name, v.Num)
		}
	}
	x, _ := s.ByID(IDPrint).Field("buf")
	msg := make([]byte, PrintSize(3))
	PutPrint(msg, Header{}, 0, []byte("abc"))
	if v, ok := x.Decode(msg); !ok || v.Text != "abc\n" {
		t.Errorf("%+v", v)
	}
	y, _ := s.ByID(IDKernelStack).Field("caller")
	st := make([]byte, StackSize(8))
	PutStack(st, Header{}, []uint64{1, 2, 3, 4, 5, 6, 7, 8})
	if v, ok := y.Decode(st); !ok || len(v.Elems) != 8 || v.Elems[7] != 8 {
		t.Errorf("%+v", v)
	}
	if _, ok := y.Decode(st[:20]); ok {
		t.Error("a short record decodes")
	}
}

// FuzzLine prints any bytes as a record.
func FuzzLine(f *testing.F) {
	for i := range Core {
		d := make([]byte, 40)
		Header{Type: Core[i].ID}.Put(d)
		f.Add(d, uint8(0))
	}
	s := NewSet()
	f.Fuzz(func(t *testing.T, d []byte, mode uint8) {
		p := &Printer{Sym: func(b []byte, a uint64) []byte { return append(b, 'x') }, Mode: Mode(mode % 4)}
		s.Line(p, d)
		for _, x := range Common() {
			x.Decode(d)
		}
	})
}

// TestAllLinuxFormats holds the format of each ftrace event against Debian 6.1's, byte for byte.
func TestAllLinuxFormats(t *testing.T) {
	raw, err := os.ReadFile("../../../shared/oracle/truth/i-formats.out")
	if err != nil {
		t.Skip("needs the oracle's transcripts beside the repository: ", err)
	}
	n := 0
	for _, list := range [][]Format{Core, Foreign} {
		for i := range list {
			f := &list[i]
			_, want, ok := strings.Cut(string(raw), "== events/ftrace/"+f.Name+"/format\n")
			if got := f.File(); !ok || !strings.HasPrefix(want, got) {
				t.Errorf("%s:\n%s", f.Name, got)
			}
			n++
		}
	}
	if m := strings.Count(string(raw), "\n== events/ftrace/"); n != m {
		t.Errorf("%d formats, Linux has %d", n, m)
	}
}

// TestDecodeDynamic: what a __data_loc field tells of, by its type; beyond the record's end there is nothing.
func TestDecodeDynamic(t *testing.T) {
	d := printRecord()
	for name, want := range map[string]string{"name": "sda1 []", "list": " [1 2]", "mask": " [15]", "args": " [17 11259375]"} {
		f, _ := printFormat.Field(name)
		v, ok := f.Decode(d)
		if got := fmt.Sprintf("%s %v", v.Text, v.Elems); !ok || got != want {
			t.Errorf("%s: %q, %v, want %q", name, got, ok, want)
		}
	}
	f, _ := printFormat.Field("list")
	if v, ok := f.Decode(d[:92]); !ok || len(v.Elems) != 0 {
		t.Errorf("beyond the end: %v, %v", v.Elems, ok)
	}
}

func FuzzParseFormat(f *testing.F) {
	f.Add(printFormat.File())
	f.Add("name: x\nID: 7\nformat:\n\tfield:int a[2];\toffset:8;\tsize:8;\tsigned:1;\n\nprint fmt: \"%d\", REC->a[0]\n")
	d := printRecord()
	f.Fuzz(func(t *testing.T, text string) {
		x, err := ParseFormat("fuzz", text)
		if x == nil || err != nil {
			return
		}
		x.Text(&Printer{}, d)
		for i := range x.Fields {
			x.Fields[i].Decode(d)
		}
	})
}
