package x86_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"kscope/kernel/x86"
)

// FuzzRun executes any bytes in user mode: no panic of Go, and running them in one go and one by one is the same.
func FuzzRun(f *testing.F) {
	f.Add([]byte{0x0f, 0x05}, uint64(0), false)
	f.Add([]byte{0xf3, 0xa4}, uint64(dataVA), true)
	f.Add([]byte{0x9d, 0xc3}, uint64(dataVA+0xffc), false)
	f.Add([]byte{0xc5, 0xf8, 0x77}, uint64(roVA), false)
	f.Add([]byte{0x48, 0xcf}, uint64(sysVA), true)
	corpus, err := os.ReadFile("testdata/run.corpus")
	if err != nil {
		f.Fatal(err)
	}
	for _, line := range strings.Split(string(corpus), "\n") {
		var code []byte
		var reg uint64
		var kernel bool
		if n, _ := fmt.Sscanf(line, "%x %d %t", &code, &reg, &kernel); n == 3 {
			f.Add(code, reg, kernel)
		}
	}
	phys := newPhys()
	f.Fuzz(func(t *testing.T, code []byte, reg uint64, kernel bool) {
		if len(code) > 256 {
			code = code[:256]
		}
		s := newState()
		s.code = code
		cpl := 3
		if kernel {
			cpl, s.regs[x86.RSP] = 0, stack0
		}
		for i := range s.regs {
			if i != x86.RSP {
				s.regs[i] = reg + uint64(i)*0x3ff
			}
		}
		var outs [2]*state
		for i := range outs {
			r := newRig(phys, cpl)
			r.budget = 300
			if i == 1 {
				r.chop = 1
			}
			o := r.run(s)
			if o.rip == 0 && o.stop == "" {
				t.Fatalf("% x: ended nowhere", code)
			}
			outs[i] = o
		}
		a, b := outs[0], outs[1]
		if a.rip != b.rip || a.regs != b.regs || a.flags != b.flags || a.stop != b.stop || string(a.data) != string(b.data) {
			t.Fatalf("% x: in one go\n rip %x flags %x stop %s regs %x\none by one\n rip %x flags %x stop %s regs %x", code,
				a.rip, a.flags, a.stop, a.regs, b.rip, b.flags, b.stop, b.regs)
		}
	})
}
