package kprobe

import (
	"testing"

	"kscope/kernel"
)

// balance checks entries = returns + in flight + missed.
func balance(t *testing.T, r *Ret) {
	t.Helper()
	if r.Entries != r.Returns+uint64(r.InFlight)+r.NoFree+r.Refused+r.Dropped {
		t.Errorf("%s: %d entries, %d returns, %d in flight, %d missed, %d refused, %d dropped", r.Probe.Name, r.Entries, r.Returns, r.InFlight,
			r.NoFree, r.Refused, r.Dropped)
	}
}

// TestRetZeroEffect: kretprobes on every traceable function, alone and together with function_graph in both orders, change nothing,
// and every call returns.
func TestRetZeroEffect(t *testing.T) {
	base := boot(t, kernel.Config{Overhead: kernel.OverheadNone})
	want, _ := follow(t, base, func(*Kprobes) {})
	for _, order := range []string{"alone", "graph last", "graph first"} {
		var rets []*Ret
		got, k := follow(t, base, func(k *Kprobes) {
			if order == "graph first" {
				must(t, k.t.Set("function_graph"))
			}
			for _, r := range k.t.Sites().Records() {
				x := &Ret{MaxActive: 64, Probe: Probe{Addr: r.IP, Name: r.Name}, Return: func(*Hit) {}}
				if err := k.RegisterRet(x); err == nil {
					must(t, k.Enable(&x.Probe))
					rets = append(rets, x)
				}
			}
			if order == "graph last" {
				must(t, k.t.Set("function_graph"))
			}
		})
		if got != want {
			t.Errorf("%s: %+v, without probes %+v", order, got, want)
		}
		n := uint64(0)
		for _, r := range rets {
			balance(t, r)
			n += r.Returns
		}
		if g := k.t.GraphCounts(); order != "alone" && g.Entries != g.Exits+k.t.GraphDepth()+g.Abandoned {
			t.Errorf("%s: %+v, %d on the shadow stacks", order, g, k.t.GraphDepth())
		} else {
			t.Logf("%s: %d kretprobes, %d returns, graph %+v", order, len(rets), n, g)
		}
	}
}

// TestMaxActive: sleepers hold instances; what has none is missed.
func TestMaxActive(t *testing.T) {
	k := boot(t, kernel.Config{})
	r := &Ret{MaxActive: 1, Probe: Probe{Addr: k.addr(t, "do_filp_open"), Name: "one"}}
	k.do(t, func() error { return k.RegisterRet(r) })
	k.do(t, func() error { return k.Enable(&r.Probe) })
	work(t, k)
	if balance(t, r); r.Entries == 0 || r.InFlight != 0 {
		t.Errorf("%+v", *r)
	}
	k.do(t, func() error { return k.UnregisterRet(r) })
	work(t, k)
}
