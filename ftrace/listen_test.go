package ftrace

import (
	"testing"

	"kscope/kernel"
)

// TestListen: a listener sees what a tracer records, in the same bytes, arms the jump labels and takes them back.
func TestListen(t *testing.T) {
	tr := withPoints(t, kernel.Config{})
	ev, ok := tr.TraceEvent("sched", "sched_switch")
	if !ok {
		t.Fatal("no sched_switch")
	}
	site := tr.points.find("sched_switch").sites[0].code
	var heard []string
	var remove func() error
	must(t, tr.m.Do("listen", func(*kernel.VCPU) (err error) {
		remove, err = tr.Listen(ev, func(c *kernel.VCPU, d []byte) { heard = append(heard, tr.RecordText(d)) })
		return err
	}))
	if b := tr.bytesAt(t, site); b[0] != 0xe9 {
		t.Errorf("listening: % x", b)
	}
	must(t, tr.WriteFile("events/sched/sched_switch/enable", "1", false))
	heard = nil
	work(t, tr)
	recs := tr.Pipe(-1, -1)
	if len(heard) == 0 || len(recs) < len(heard) {
		t.Fatalf("heard %d, recorded %d", len(heard), len(recs))
	}
	for i, r := range recs[len(recs)-len(heard):] {
		if r.Text != heard[i] {
			t.Errorf("%d: heard %q, recorded %q", i, heard[i], r.Text)
		}
	}
	must(t, tr.m.Do("unlisten", func(*kernel.VCPU) error { return remove() }))
	if b := tr.bytesAt(t, site); b[0] != 0xe9 {
		t.Errorf("recording: % x", b)
	}
	must(t, tr.WriteFile("set_event", "", false))
	if b := tr.bytesAt(t, site); b != nop5 {
		t.Errorf("off: % x", b)
	}
}

// TestLosses: several may watch what the rings lose.
func TestLosses(t *testing.T) {
	tr := boot(t, kernel.Config{})
	var a, b int
	first := tr.Losses(func(Loss) { a++ })
	second := tr.Losses(func(l Loss) {
		if l.IP == 0 || l.Cause != "overrun" {
			t.Errorf("%+v", l)
		}
		b++
	})
	must(t, tr.WriteFile("buffer_size_kb", "8", false))
	must(t, tr.Set("function"))
	work(t, tr)
	if a == 0 || a != b {
		t.Errorf("%d and %d losses", a, b)
	}
	first()
	was := a
	work(t, tr)
	if a != was || b == was {
		t.Errorf("after the first left: %d and %d", a, b)
	}
	second()
}
