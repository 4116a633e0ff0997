package export

import (
	"bytes"
	"encoding/binary"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"kscope/ftrace/event"
	"kscope/ftrace/ring"
)

const switchText = `name: my_event
ID: 314
format:
	field:unsigned short common_type;	offset:0;	size:2;	signed:0;
	field:unsigned char common_flags;	offset:2;	size:1;	signed:0;
	field:unsigned char common_preempt_count;	offset:3;	size:1;	signed:0;
	field:int common_pid;	offset:4;	size:4;	signed:1;

	field:char who[16];	offset:8;	size:16;	signed:1;
	field:pid_t their_pid;	offset:24;	size:4;	signed:1;
	field:unsigned long where;	offset:32;	size:8;	signed:0;

print fmt: "who=%s their_pid=%d where=%pS", REC->who, REC->their_pid, (void *)REC->where
`

// sample is a Dat with two CPUs and an instance, one ring of which has lost events.
func sample(t testing.TB) *Dat {
	one, two, small := ring.New(4), ring.New(4), ring.New(2)
	put := func(b *ring.Buffer, ts uint64, pid uint32) {
		d, ok := b.Reserve(ts, 40)
		if !ok {
			t.Fatal("the ring is full")
		}
		event.Header{Type: 314, PID: int32(pid), Flags: event.IRQsOff, Preempt: 2}.Put(d)
		copy(d[8:24], "bash\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00")
		binary.LittleEndian.PutUint32(d[24:], pid)
		binary.LittleEndian.PutUint64(d[32:], 0xffffffff81000040)
		b.Commit()
	}
	for i := range uint64(150) {
		put(one, 1e9+i*1000, 7)
		put(two, 1e9+500+i*1000, 8)
	}
	for i := range uint64(500) {
		put(small, 2e9+i*1000, 9)
	}
	return &Dat{
		HeaderPage: event.HeaderPage, HeaderEvent: event.HeaderEvent, Ftrace: []string{event.Core[0].File()},
		Systems:  []System{{"mine", []string{switchText}}},
		Kallsyms: string(KernelSymbol(KernelSymbol(nil, 0xffffffff81000000, 'T', "start", ""), 0xffffffffc0000000, 't', "init", "mod")),
		Printk:   "0xffffffff82000000 : \"x=%d\\n\"\n", Cmdlines: "7 bash\n8 sh\n", Clock: "[local] global\n", Uname: "Linux kscope",
		Stats: []string{"CPU: 0\nentries: 150\n", "CPU: 1\nentries: 150\n"},
		Pages: [][]byte{RingPages(one), RingPages(two)}, Instances: []Instance{{"small", [][]byte{RingPages(small), nil}}},
	}
}

func write(t testing.TB, d *Dat) []byte {
	var b bytes.Buffer
	if err := d.Write(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestRoundTrip: what is read is what was written, and its events are those of the rings.
func TestRoundTrip(t *testing.T) {
	d := sample(t)
	got, err := ReadDat(write(t, d))
	if err != nil {
		t.Fatal(err)
	}
	got.Instances[0].Pages[1] = nil // an empty part is no part
	if !reflect.DeepEqual(got, d) {
		t.Errorf("read:\n%+v\nwritten:\n%+v", got, d)
	}
	recs, err := got.Records()
	if err != nil || len(recs) != 300 {
		t.Fatalf("%d records, %v", len(recs), err)
	}
	for i, r := range recs {
		if r.TS != 1e9+uint64(i)*500 || r.CPU != i%2 || r.Format.Name != "my_event" {
			t.Fatalf("record %d: %+v", i, r)
		}
	}
	small := &Dat{Systems: d.Systems, Pages: got.Instances[0].Pages[:1]}
	if recs, err = small.Records(); err != nil || recs[0].Lost != -1 || len(recs) < 100 { // the page has no room for the number
		t.Errorf("%d records, %d lost, %v", len(recs), recs[0].Lost, err)
	}
	var text strings.Builder
	if err := got.Report(&text); err != nil {
		t.Fatal(err)
	}
	want := "cpus=2\n            bash-7       [000] d..2.     1.000000: my_event:             who=bash their_pid=7 where=start+0x40\n"
	if !strings.HasPrefix(text.String(), want) {
		t.Errorf("%.300s", text.String())
	}
}

// TestTruncated: a file that ends early, at any byte, is an error with its place, and never more.
func TestTruncated(t *testing.T) {
	b := write(t, sample(t))
	for n := 0; n < len(b); n += 1 + n/50 {
		if d, err := ReadDat(b[:n]); err == nil {
			if _, err = d.Records(); err == nil && n < len(b)-ring.PageSize*8 {
				t.Fatalf("%d bytes of %d are enough", n, len(b))
			}
		}
	}
}

func FuzzReadDat(f *testing.F) {
	f.Add(write(f, sample(f))[:6000])
	f.Add([]byte(datMagic + "6\x00"))
	f.Fuzz(func(t *testing.T, b []byte) {
		if d, err := ReadDat(b); err == nil {
			d.Report(&strings.Builder{})
		}
	})
}

// TestTraceCmd: Debian's trace-cmd reads the file and tells the same events. It runs in a mount namespace of its own: it
// mounts the host's tracefs where it finds none.
func TestTraceCmd(t *testing.T) {
	for _, tool := range []string{"trace-cmd", "unshare"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skip("needs ", tool)
		}
	}
	if err := exec.Command("unshare", "-m", "true").Run(); err != nil {
		t.Skip("no mount namespace: ", err)
	}
	d := sample(t)
	file := filepath.Join(t.TempDir(), "trace.dat")
	if err := os.WriteFile(file, write(t, d), 0o644); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command("unshare", "-m", "trace-cmd", "report", "-i", file).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	row := regexp.MustCompile(`(?m)^(small:)?\s*(\S+)-(\d+)\s+\[(\d+)\].*?\s(\d+\.\d{6}): my_event: +who=bash their_pid=\d+ where=(\S+)`)
	main, small := 0, 0
	for _, m := range row.FindAllStringSubmatch(string(out), -1) {
		switch {
		case m[1] != "":
			small++
		case main < 300:
			if (m[3] == "7") != (m[4] == "000") || m[6] != "start+0x40" || (m[2] == "bash") != (m[3] == "7") {
				t.Errorf("%q", m)
			}
			main++
		}
	}
	if main != 300 || small < 100 || !strings.Contains(string(out), "EVENTS DROPPED") {
		t.Errorf("%d events, %d of the instance:\n%.2000s", main, small, out)
	}
}

// graphSample is a Dat with calls that function_graph saw on two CPUs: leaves, one with calls of its own, one that another CPU's record
// parts, and the marks of long ones.
func graphSample(t testing.TB) *Dat {
	rings := []*ring.Buffer{ring.New(4), ring.New(4)}
	const first = 0xffffffff81000000
	entry := func(cpu int, ts, fn uint64, depth uint32) {
		d, ok := rings[cpu].Reserve(ts, event.GraphEntrySize)
		if !ok {
			t.Fatal("the ring is full")
		}
		event.PutGraphEntry(d, event.Header{Type: event.IDGraphEntry, PID: int32(7 + cpu), Preempt: 1}, first+fn, depth)
		rings[cpu].Commit()
	}
	exit := func(cpu int, ts, fn uint64, depth uint32, took uint64) {
		d, ok := rings[cpu].Reserve(ts, event.GraphExitSize)
		if !ok {
			t.Fatal("the ring is full")
		}
		event.PutGraphExit(d, event.Header{Type: event.IDGraphExit, PID: int32(7 + cpu)}, first+fn, depth, 0, ts-took, ts)
		rings[cpu].Commit()
	}
	entry(0, 5e9, 0, 0)
	entry(0, 5e9+1000, 16, 1)
	exit(0, 5e9+1250, 16, 1, 250)
	exit(0, 5e9+12000, 0, 0, 12_000)
	entry(0, 5e9+20000, 16, 0)
	entry(1, 5e9+20100, 0, 0)
	exit(0, 5e9+20200, 16, 0, 200_000)
	exit(1, 5e9+20300, 0, 0, 2_345_678)
	entry(1, 5e9+30000, 16, 0)
	exit(1, 5e9+30100, 16, 0, 2_345_678_901)
	var formats []string
	for i := range event.Core {
		if id := event.Core[i].ID; id == event.IDGraphEntry || id == event.IDGraphExit {
			formats = append(formats, event.Core[i].File())
		}
	}
	return &Dat{
		HeaderPage: event.HeaderPage, HeaderEvent: event.HeaderEvent, Ftrace: formats,
		Kallsyms: string(KernelSymbol(KernelSymbol(nil, first, 'T', "outer", ""), first+16, 'T', "inner", "")),
		Cmdlines: "7 bash\n8 sh\n", Clock: "[local] global\n", Uname: "Linux kscope", Pages: [][]byte{RingPages(rings[0]), RingPages(rings[1])},
	}
}

// Calls that function_graph saw are printed as trace-cmd 3.1.6 does: durations, and one line for a leaf. Where there is a trace-cmd it
// prints the same, but for the flags, which it leaves out.
func TestReportGraph(t *testing.T) {
	const want = `cpus=2
            bash-7       [000] ...1.     5.000000: funcgraph_entry:                   |  outer() {
            bash-7       [000] ...1.     5.000001: funcgraph_entry:        0.250 us   |    inner();
            bash-7       [000] .....     5.000012: funcgraph_exit:       + 12.000 us  |  }
            bash-7       [000] ...1.     5.000020: funcgraph_entry:                   |  inner() {
              sh-8       [001] ...1.     5.000020: funcgraph_entry:                   |  outer() {
            bash-7       [000] .....     5.000020: funcgraph_exit:       ! 200.000 us |  }
              sh-8       [001] .....     5.000020: funcgraph_exit:       # 2345.678 us |  }
              sh-8       [001] ...1.     5.000030: funcgraph_entry:      $ 2345678 us |  inner();
`
	file := filepath.Join(t.TempDir(), "trace.dat")
	if err := os.WriteFile(file, write(t, graphSample(t)), 0o644); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	d, err := ReadDat(data)
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	if err := d.Report(&text); err != nil || text.String() != want {
		t.Errorf("%v\n%s\nwant\n%s", err, &text, want)
	}
	if _, err := exec.LookPath("trace-cmd"); err != nil || exec.Command("unshare", "-m", "true").Run() != nil {
		t.Skip("not compared: needs trace-cmd and a mount namespace")
	}
	out, err := exec.Command("unshare", "-m", "trace-cmd", "report", "-i", file).Output()
	if err != nil {
		t.Fatal(err)
	}
	plain := func(text string) string {
		return regexp.MustCompile(`(?m)^( *\S+-\d+) +(\[\d+\])( \S{5})? +(\d+\.)`).ReplaceAllString(text, "$1 $2 $4")
	}
	if ours, theirs := plain(want), plain(string(out)); ours != theirs {
		t.Errorf("trace-cmd prints\n%s\nnot\n%s", theirs, ours)
	}
}

func BenchmarkWrite(b *testing.B) {
	d := sample(b)
	b.SetBytes(int64(len(write(b, d))))
	for b.Loop() {
		write(b, d)
	}
}
