package kprobe

import (
	"errors"
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

// truth is the guest's own count of a function's calls, on all CPUs.
func (k *Kprobes) truth(t *testing.T, name string) (n uint64) {
	t.Helper()
	for cpu := range k.m.NumCPU() {
		o, err := k.m.Var("kscope_truth", cpu)
		must(t, err)
		f, err := o.Field(name)
		must(t, err)
		x, err := f.Uint()
		must(t, err)
		n += x
	}
	return n
}

// TestRetTruth: entries = returns + in flight + missed at all times, and entries are the calls that the guest has counted itself;
// with a pool that is too small, one that suffices, and functions that sleep and that never return.
func TestRetTruth(t *testing.T) {
	for _, size := range []int{1, 2, 64} {
		k := boot(t, kernel.Config{Seed: uint64(size)})
		rets, before := map[string]*Ret{}, map[string]uint64{}
		for _, name := range []string{"do_filp_open", "vfs_read", "kernel_clone", "do_exit", "filp_close", "do_sys_openat2"} {
			r := &Ret{MaxActive: size, Probe: Probe{Addr: k.addr(t, name), Name: name}, Return: func(*Hit) {}}
			k.do(t, func() error { return errors.Join(k.RegisterRet(r), k.Enable(&r.Probe)) })
			rets[name] = r
		}
		for name, r := range rets {
			before[name] = k.truth(t, name) - r.Entries
		}
		missed := uint64(0)
		for range 3 {
			cats(t, k, 6)
			for name, r := range rets {
				balance(t, r)
				calls := k.truth(t, name) - before[name]
				if seen := r.Entries + r.Probe.Missed; seen < calls || seen > calls+uint64(k.m.NumCPU()) { // a CPU may be in front of the counter
					t.Errorf("maxactive %d: %s: %d entries and %d hits within handlers, %d calls", size, name, r.Entries, r.Probe.Missed, calls)
				}
				missed += r.NoFree
			}
		}
		if size == 1 && missed == 0 || size == 64 && missed != 0 {
			t.Errorf("maxactive %d: %d missed", size, missed)
		}
		if x := rets["do_exit"]; x.Returns != 0 || x.Dropped+x.NoFree != x.Entries || x.InFlight != 0 {
			t.Errorf("do_exit: %d entries, %d returns, %d dropped, %d in flight", x.Entries, x.Returns, x.Dropped, x.InFlight)
		}
	}
}
