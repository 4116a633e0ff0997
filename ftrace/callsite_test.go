package ftrace

import (
	"testing"

	"kscope/kernel"
)

// TestCaller: the short way to a tracepoint's caller finds what the walk finds, at every event of a busy machine.
func TestCaller(t *testing.T) {
	tr := withPoints(t, kernel.Config{CPUs: 2})
	ev, ok := tr.TraceEvent("kmem", "kmem_cache_alloc")
	if !ok {
		t.Skip("the image has no such event")
	}
	n := 0
	must(t, tr.m.Do("listening", func(*kernel.VCPU) error {
		_, err := tr.Listen(ev, func(c *kernel.VCPU, d []byte) {
			var pcs []uint64
			_ = c.Walk(func(f *kernel.Frame) bool {
				pcs = append(pcs, f.PC)
				return len(pcs) < 3
			})
			if pc, ok := c.Caller(); !ok || len(pcs) < 3 || pc != pcs[2] {
				t.Errorf("%#x, %v; the walk: %#x", pc, ok, pcs)
			}
			n++
		})
		return err
	}))
	tr.m.Run(kernel.Until{Time: tr.m.Now() + 1e6})
	for range 5 {
		work(t, tr)
	}
	if n < 20 {
		t.Errorf("only %d events", n)
	}
}
