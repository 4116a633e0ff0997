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
	want := "cpus=2\n            bash-7       [000] d..2.     1.000000: my_event: who=bash their_pid=7 where=start+0x40\n"
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

func BenchmarkWrite(b *testing.B) {
	d := sample(b)
	b.SetBytes(int64(len(write(b, d))))
	for b.Loop() {
		write(b, d)
	}
}
