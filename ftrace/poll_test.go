package ftrace

import (
	"testing"

	"kscope/kernel"
)

// TestPoll: poll(2) of a CPU's pipe heeds buffer_percent, that of trace_pipe does not, and the option block has any readable; who
// polls is woken when it is.
func TestPoll(t *testing.T) {
	tr := boot(t, kernel.Config{CPUs: 2})
	must(t, tr.WriteFile("buffer_size_kb", "36\n", false))
	c := tr.m.VCPU(1)
	open := func(path string) *Handle {
		h, err := tr.fs.Open(c, path, 0)
		must(t, err)
		return h
	}
	raw, pipe := open("per_cpu/cpu1/trace_pipe_raw"), open("per_cpu/cpu1/trace_pipe")
	if _, err := tr.fs.Open(c, "trace_pipe", 0); err != kernel.EBUSY {
		t.Errorf("a second reader of the CPU's events: %v", err)
	}
	tr.piped = 0 // for the test's sake
	all := open("trace_pipe")
	mark := func() {
		_, err := tr.mark(c, make([]byte, 1000))
		must(t, err)
	}
	polls := func() [3]bool { return [3]bool{polled(raw), polled(pipe), polled(all)} }
	if polls() != [3]bool{} || !tr.wait.next || tr.wait.full[1] != 50 {
		t.Errorf("an empty ring: %v, %+v", polls(), tr.wait)
	}
	mark()
	if polls() != [3]bool{false, false, true} || !tr.wait.pending {
		t.Errorf("an event: %v, %+v", polls(), tr.wait)
	}
	n := 1
	for ; !polled(raw); n++ {
		mark()
	}
	// Ten pages of three marks each: with the writer's own, five are half of them.
	if pages := tr.cpu[1].ring.Len(); pages != 10 || n != 13 || !polled(pipe) || tr.wait.pending {
		t.Errorf("%d pages: readable after %d marks; %+v", pages, n, tr.wait)
	}
	var page [4096]byte
	_, err := raw.Read(page[:], 0)
	must(t, err)
	if polled(raw) {
		t.Error("a page has been read")
	}
	must(t, tr.WriteFile("buffer_percent", "0\n", false))
	if !polled(raw) {
		t.Error("buffer_percent 0: an event is enough")
	}
	must(t, tr.WriteFile("buffer_percent", "100\n", false))
	must(t, tr.WriteFile("options/block", "1\n", false))
	if polls() != [3]bool{true, true, true} {
		t.Error("with block all are readable")
	}
}
