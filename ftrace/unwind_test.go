package ftrace

import (
	"testing"

	"kscope/kernel"
)

// Inside function_trace_call the stack unwinds through the trampoline's copy to the traced function, its caller and on to
// the stack's end, for both templates and whatever is traced.
func TestUnwindThroughTrampolines(t *testing.T) {
	tr := boot(t, kernel.Config{})
	m := tr.m
	walks := 0
	call := tr.ops.Call
	tr.ops.Call = func(c *kernel.VCPU, ip, parent, regs uint64) {
		call(c, ip, parent, regs)
		if walks > 5000 {
			return
		}
		walks++
		var pcs []uint64
		err := c.Walk(func(f *kernel.Frame) bool {
			pcs = append(pcs, f.PC)
			return true
		})
		var names []string
		for _, pc := range pcs {
			names = append(names, m.Symbols().FormatReturn(pc))
		}
		if err != nil {
			t.Fatalf("%v: %q", err, names)
		}
		if len(pcs) < 4 || pcs[2] != ip+siteSize || pcs[3] != parent {
			t.Fatalf("ip %s parent %s: %q", m.Symbols().Format(ip), m.Symbols().Format(parent), names)
		}
	}
	must(t, tr.Set("function"))
	work(t, tr)
	if walks < 500 {
		t.Errorf("%d walks", walks)
	}
}
