package user

import (
	"cmp"
	"maps"
	"os"
	"slices"
	"testing"

	"kscope/kernel"
)

// counts are instructions, by name.
type counts map[string]int

// log shows the first rows of c, each divided by n.
func (c counts) log(t *testing.T, title string, n, rows int) {
	names := slices.SortedFunc(maps.Keys(c), func(a, b string) int { return cmp.Or(c[b]-c[a], cmp.Compare(a, b)) })
	t.Log(title)
	for _, name := range names[:min(rows, len(names))] {
		t.Logf("%8.1f %s", float64(c[name])/float64(n), name)
	}
}

// profile counts where the guest's instructions are: in which function, below which function, by whose call, and how many different
// ones there are in each.
type profile struct {
	self, total, edges, distinct counts
	seen                         map[uint64]bool
	n                            int
}

func (p *profile) add(m *kernel.Machine, v *kernel.VCPU) {
	p.n++
	if rip := v.CPU.RIP(); !p.seen[rip] {
		p.seen[rip] = true
		p.distinct[m.Symbols().Name(rip)]++
	}
	once := map[string]bool{}
	count := func(c counts, kind, name string) {
		if !once[kind+name] { // of a recursion only one
			once[kind+name] = true
			c[name]++
		}
	}
	callee := ""
	_ = v.Walk(func(f *kernel.Frame) bool {
		pc := f.PC
		if callee != "" {
			pc-- // in the call
		}
		name := m.Symbols().Name(pc)
		if callee == "" {
			p.self[name]++
		} else {
			count(p.edges, ">", name+" > "+callee)
		}
		count(p.total, "", name)
		callee = name
		return true
	})
}

// TestForkProfile shows what the instructions of BenchmarkForkExecExit do, exactly: every one of 40 rounds is looked at.
// KSCOPE_PROFILE=1 go test ./kernel/user -run ForkProfile -v
func TestForkProfile(t *testing.T) {
	if os.Getenv("KSCOPE_PROFILE") == "" {
		t.Skip("KSCOPE_PROFILE is not set")
	}
	m, h := boot(t, kernel.Config{Seed: 1})
	const warm, n = 40, 40
	round := 0
	pid, err := h.Spawn(Program{Name: "loop", Main: func(s *Sys, _ []string) int {
		for range warm + n {
			round++
			s.Fork(func(c *Sys) int { c.Exec("/usr/bin/true", []string{"true"}, nil); return 1 })
			s.Wait4(-1, 0)
		}
		round++
		return 0
	}}, nil, kernel.Streams{})
	if err != nil {
		t.Fatal(err)
	}
	p := &profile{counts{}, counts{}, counts{}, counts{}, map[uint64]bool{}, 0}
	done := make([]uint64, m.NumCPU())
	for round <= warm+n {
		if stop := m.Run(kernel.Until{Insns: 1}); stop.Reason != kernel.StopDone {
			t.Fatal(stop)
		}
		for i := range done { // the one that ran: the stop's may be the next
			if v := m.VCPU(i); v.CPU.Insns != done[i] {
				done[i] = v.CPU.Insns
				if round > warm {
					p.add(m, v)
				}
			}
		}
	}
	t.Logf("%d instructions a round, %d different ones", p.n/n, len(p.seen))
	p.self.log(t, "in the function itself", n, 60)
	p.total.log(t, "and in what it calls", n, 200)
	p.edges.log(t, "by call", n, 400)
	p.distinct.log(t, "different instructions", 1, 60)
	if code, err := m.Wait(pid); code != 0 || err != nil {
		t.Fatal(code, err)
	}
}
