package ftrace

import (
	"bytes"
	"testing"

	"kscope/kernel"
)

// TestSplice: splice(2) of each file that has it gets what a read would, from the CPU and the ring that the file stands for, and waits when
// there is nothing. A file that loses its Splice fails here.
func TestSplice(t *testing.T) {
	for _, c := range []struct {
		path  string
		snap  bool
		least int
	}{
		{"trace_pipe", false, 1}, {"per_cpu/cpu1/trace_pipe", false, 1},
		{"per_cpu/cpu1/trace_pipe_raw", false, 4096}, {"per_cpu/cpu1/snapshot_raw", true, 4096},
	} {
		tr := boot(t, kernel.Config{CPUs: 2})
		must(t, tr.WriteFile("buffer_size_kb", "36\n", false))
		if c.snap {
			must(t, tr.allocSnapshot())
		}
		h, err := tr.fs.Open(tr.m.VCPU(0), c.path, 0)
		must(t, err)
		if h.File.Splice == nil {
			t.Errorf("%s cannot be spliced", c.path)
			continue
		}
		page := make([]byte, 4096)
		if n, err := h.File.Splice(h, page, 4096, false); n != 0 || err != kernel.EAGAIN {
			t.Errorf("%s, empty: %d bytes, %v", c.path, n, err)
		}
		for range 30 {
			_, err = tr.mark(tr.m.VCPU(1), bytes.Repeat([]byte("m"), 1000))
			must(t, err)
		}
		if c.snap {
			tr.takeSnapshot(nil)
		}
		if ready := h.File.SpliceReady; (ready != nil) != (c.least == 4096) || ready != nil && !ready(h) {
			t.Errorf("%s: not ready", c.path)
		}
		n, err := h.File.Splice(h, page, 4096, false)
		if err != nil || n < c.least || !bytes.Contains(page[:n], []byte("mmmm")) {
			t.Errorf("%s: %d bytes, %v", c.path, n, err)
		}
		must(t, h.Close())
	}
}
