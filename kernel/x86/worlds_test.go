package x86_test

import (
	"flag"
	"fmt"
	"strings"
	"testing"
)

var (
	worldCount = flag.Int("worlds", 50, "random worlds of TestWorlds")
	worldSeed  = flag.Uint64("worldseed", 1, "the first's seed")
)

// modes are the ways to drive a world. The first ones are the references: the interpreter, in one go from step to step, and, as a fork
// begins with empty TLBs and a stale entry may be told from none, with forks.
var modes = []wMode{
	{name: "interpreted", gater: true},
	{name: "interpreted and forked", gater: true, fork: true},
	{name: "host code", gater: true, warm: 1},
	{name: "host code of warm blocks in pieces", gater: true, warm: 2, chop: 30},
	{name: "host code, gates by the machine", warm: 3},
	{name: "host code, gates for text", gater: true, warm: 1, text: true},
	{name: "one instruction at a time", gater: true, chop: 1},
	{name: "hooked", gater: true, warm: 2, hooks: true},
	{name: "host code, forked", gater: true, warm: 1, fork: true},
	{name: "interpreted in pieces, gates by the machine", chop: 7},
	{name: "interpreted in pieces, gates for text", gater: true, text: true, chop: 40},
	{name: "host code, restored", gater: true, warm: 2, reload: true},
}

// reference is the number of the mode to compare with.
func (m *wMode) reference() int {
	if m.fork || m.reload {
		return 1
	}
	return 0
}

// TestWorlds: what a world does does not depend on how it is driven: by the interpreter or in host code, in one go or in pieces,
// hooked, forked or restored, with gates that the CPU settles by itself or the machine.
func TestWorlds(t *testing.T) {
	insns, stale, seen := uint64(0), uint64(0), map[string]bool{}
	count := *worldCount
	if raceEnabled {
		count /= 10
	}
	for seed := *worldSeed; seed < *worldSeed+uint64(count); seed++ {
		prog := newProgram(seed)
		var want [2][]uint64
		reference := func(i int) []uint64 {
			if want[i] == nil {
				var w *world
				want[i], w = prog.drive(modes[i], len(prog.steps), 0)
				for _, c := range w.cpus {
					insns += c.Insns
					stale += c.StaleInsns
				}
				for _, l := range w.log {
					_, l, _ = strings.Cut(l, ": ")
					seen[strings.SplitN(l, "(", 2)[0]], seen[strings.Fields(l)[0]] = true, true
				}
			}
			return want[i]
		}
		for i, m := range modes[2:] {
			if i >= 2 && uint64(i)%3 != seed%3 {
				continue
			}
			got, _ := prog.drive(m, len(prog.steps), 0)
			want := reference(m.reference())
			for k := range want {
				if got[k] != want[k] {
					t.Fatalf("seed %d, %s, step %d %+v:\n%s", seed, m.name, k, prog.steps[k], prog.explain(m, k))
				}
			}
		}
	}
	t.Logf("%d instructions, %d of them stale", insns, stale)
	for _, what := range []string{"interrupt", "halt", "pause", "hypercall", "int", "#DB", "#BP", "#DE", "#UD", "#GP", "#PF", "gate 0", "gate 11"} {
		if !seen[what] && count >= 50 {
			t.Errorf("no %s in any world", what)
		}
	}
	if stale == 0 && count >= 50 {
		t.Error("no held window was executed")
	}
}

// drive runs the first n steps and returns the states behind them. cut, if not 0, is the length of the last one.
func (g *program) drive(m wMode, n int, cut int64) (sums []uint64, w *world) {
	w = newWorld(g, m)
	for k, s := range g.steps[:n] {
		if k == n-1 && cut != 0 {
			s.n = cut
		}
		w.run(s)
		sums = append(sums, w.sum(k%8 == 7 || k == n-1))
	}
	return sums, w
}

// explain finds the first instruction of step k behind which the mode differs.
func (g *program) explain(m wMode, k int) string {
	for j := max(0, k-8); j < k; j++ { // memory is compared from time to time only
		_, gw := g.drive(m, j+1, 0)
		if _, ww := g.drive(modes[m.reference()], j+1, 0); gw.state() != ww.state() {
			k = j
			break
		}
	}
	n := g.steps[k].n
	for cut := int64(1); cut <= n; cut++ {
		got, gw := g.drive(m, k+1, cut)
		want, ww := g.drive(modes[m.reference()], k+1, cut)
		if got[k] == want[k] && gw.state() == ww.state() {
			continue
		}
		s := fmt.Sprintf("step %d, after %d of its instructions:\n%s\nwant\n%s\n", k, cut, gw.state(), ww.state())
		for j := range max(len(gw.log), len(ww.log)) {
			if j >= len(gw.log) || j >= len(ww.log) || gw.log[j] != ww.log[j] {
				s += fmt.Sprintf("logs differ from %d on: %q, want %q\n", j, gw.log[j:min(len(gw.log), j+3)], ww.log[j:min(len(ww.log), j+3)])
				break
			}
		}
		if cut > 1 {
			_, w := g.drive(modes[m.reference()], k+1, cut-1)
			s += "before: " + w.where()
		}
		return s
	}
	return "only as a whole"
}

// where tells what is at the place of the CPU that ran.
func (w *world) where() string {
	c := w.cpus[w.now]
	var b [48]byte
	err := c.Read(c.RIP(), b[:])
	return fmt.Sprintf("rip %#x: % x (%v)\n%s", c.RIP(), b, err, w.state())
}
