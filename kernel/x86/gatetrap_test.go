package x86_test

import (
	"slices"
	"strings"
	"testing"

	"kscope/kernel/x86"
)

// TestTrapBehindGate: a gate that runs with TF set has its single-step trap behind it, whoever runs it: once the instruction behind the
// gate came first when the CPU settled the gate within Run.
func TestTrapBehindGate(t *testing.T) {
	var want string
	for _, m := range []wMode{{}, {gater: true}, {gater: true, warm: 1}, {warm: 1}, {gater: true, chop: 1}} {
		g := &program{generator: &generator{}, seed: 1, cpus: 1}
		g.buildWorld()
		g.code, g.starts, g.undefAt = nil, nil, map[int]uint64{}
		g.rnd = newWorldRand(1)
		g.handlers()
		at := uint64(shadowVA + 0x200)
		g.at(at, slices.Concat(put32([]byte{0xe8}, gateVA-at-5), []byte{0x90, 0x90, 0x90, 0xc3}))
		w := newWorld(g, m)
		c := w.cpus[0]
		c.SetReg(x86.RSP, stackA)
		c.PutU64(stackA, kernVA+0x200)
		c.SetRIP(at)
		c.SetFlags(c.Flags() | x86.FlagTF)
		w.run(wStep{n: 30})
		got := strings.Join(w.log, "\n")
		if want == "" {
			want = got
		}
		if got != want {
			t.Errorf("%+v:\n%s\nwant\n%s", m, got, want)
		}
	}
	if n := strings.Count(want, "#DB at 0xffffffff81004205"); n != 1 {
		t.Errorf("%d traps behind the gate:\n%s", n, want)
	}
}
