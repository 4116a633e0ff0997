package kprobe

import (
	"errors"
	"fmt"
	"os"
	"testing"

	"kscope/kernel"
	"kscope/kernel/user"
)

// trail is the rolling hash of (CPU, t, rip) at each slice's end, and the final state.
type trail struct {
	slices      int
	hash, state uint64
}

// follow runs a workload on a machine that setup has prepared.
func follow(tb testing.TB, base *Kprobes, setup func(k *Kprobes)) (trail, *Kprobes) {
	k, _ := Of(base.m.Copy())
	setup(k)
	var r trail
	k.m.SetSliceHook(func(c *kernel.VCPU) {
		r.slices++
		for _, x := range []uint64{uint64(c.ID), c.Now(), k.m.DetourOrig(c.CPU.RIP())} {
			r.hash = (r.hash ^ x) * 0x100000001b3
		}
	})
	if h, ok := kernel.PartOf[*user.Host](k.m); ok {
		defer h.Close() // not at the test's end: there are thousands
	}
	work(tb, k)
	cats(tb, k, 4)
	must(tb, k.m.Mkdir("/d"))
	_, err := k.m.ListDir("/")
	must(tb, err)
	k.m.Run(kernel.Until{Time: k.m.Now() + 3_000_000})
	r.state = k.m.StateHash()
	return r, k
}

// sample are functions whose every boundary is probed in go test; KSCOPE_EVERY=1 takes all of the image.
var sample = []string{"vfs_read", "vfs_write", "do_sys_openat2", "do_sys_open", "kmalloc", "kfree", "__schedule", "try_to_wake_up",
	"schedule", "path_openat", "memcpy", "memset", "strncpy_from_user", "_copy_to_user", "copy_user_generic", "clear_page", "handle_mm_fault", "copy_page_range", "hrtimer_interrupt",
	"tick_nohz_idle_enter", "do_idle", "mutex_lock", "mutex_unlock", "_raw_spin_lock_irqsave", "_raw_spin_unlock_irqrestore",
	"queued_spin_lock_slowpath", "x2apic_send_IPI", "flush_smp_call_function_queue", "native_read_tsc", "sched_clock",
	"dequeue_entity", "enqueue_task_fair", "update_curr", "wake_up_process"}

// reason is an error without its address.
func reason(err error) string {
	var place *PlaceError
	if errors.As(err, &place) {
		return place.Why
	}
	return fmt.Sprint(errors.Unwrap(err))
}

// boundaryMode is a way to probe.
type boundaryMode struct {
	name      string
	int3, opt bool
}

var boundaryModes = []boundaryMode{{"tf", false, false}, {"int3", true, false}, {"optimized", false, true}}

// rounds splits a function's boundaries so that each can be what its mode says: with opt, jumps do not reach into other probes.
func (k *Kprobes) rounds(s kernel.Sym, offs []uint16, opt bool) (out [][]uint16) {
	if !opt {
		return [][]uint16{offs}
	}
	var ends []uint64
next:
	for _, off := range offs {
		span, why := k.optimizable(s.Addr + uint64(off))
		if why != "" {
			continue
		}
		for i := range out {
			if ends[i] <= uint64(off) {
				out[i], ends[i] = append(out[i], off), uint64(off)+uint64(span)
				continue next
			}
		}
		out, ends = append(out, []uint16{off}), append(ends, uint64(off)+uint64(span))
	}
	return out
}

// boundaries is one run of the test in one mode.
type boundaries struct {
	*testing.T
	base    *Kprobes
	mode    boundaryMode
	want    trail
	probes  int
	hits    uint64
	jumps   int
	refused map[string]int
}

// try probes some boundaries of a function at once.
func (b *boundaries) try(s kernel.Sym, offs []uint16) trail {
	var ps []*Probe
	got, k := follow(b, b.base, func(k *Kprobes) {
		k.SetOptimization(b.mode.opt)
		for _, off := range offs {
			p := &Probe{Addr: s.Addr + uint64(off), Name: "test", Int3: b.mode.int3}
			if err := k.Register(p); err != nil {
				b.refused[reason(err)]++
				continue
			}
			must(b, k.Enable(p))
			ps = append(ps, p)
		}
	})
	for _, p := range ps {
		b.hits += p.Hits
		if site := k.sites[p.Addr]; site.opt == optJumping {
			b.jumps++
		}
	}
	b.probes += len(ps)
	return got
}

// warm runs the load once, so that what the copies share is decoded once. The load then enters a few functions less: not where every
// function counts.
func warm(t *testing.T, base *Kprobes) {
	if os.Getenv("KSCOPE_EVERY") == "" {
		cats(t, base, 1)
	}
}

// TestEveryBoundary: with overhead = "none" a machine with a probe at an instruction boundary runs instruction for
// instruction as one without.
func TestEveryBoundary(t *testing.T) {
	base := boot(t, kernel.Config{Overhead: kernel.OverheadNone})
	warm(t, base)
	want, _ := follow(t, base, func(*Kprobes) {})
	syms := base.m.Symbols()
	var list []kernel.Sym
	for _, name := range sample {
		list = append(list, syms.ByName(name)...)
	}
	if os.Getenv("KSCOPE_EVERY") != "" {
		list = syms.Glob("*", "tTwW")
	}
	for _, mode := range boundaryModes {
		t.Run(mode.name, func(t *testing.T) {
			b := &boundaries{T: t, base: base, mode: mode, want: want, refused: map[string]int{}}
			for _, s := range list {
				b.function(s)
			}
			t.Logf("%d functions, %d probes, %d jumps, %d hits, refused: %v", len(list), b.probes, b.jumps, b.hits, b.refused)
			if mode.opt && b.jumps < b.probes*9/10 {
				t.Errorf("only %d of %d probes were jumps", b.jumps, b.probes)
			}
		})
	}
}

// function probes all boundaries of a function at once; when that differs, one at a time to say which.
func (b *boundaries) function(s kernel.Sym) {
	offs := b.base.Boundaries(s)
	if s.Size == 0 || len(offs) == 0 || b.base.blocked(s.Addr) != "" {
		return
	}
	for _, round := range b.base.rounds(s, offs, b.mode.opt) {
		if b.try(s, round) == b.want {
			continue
		}
		for _, off := range round {
			if got := b.try(s, []uint16{off}); got != b.want {
				in, _ := b.base.decode(s.Addr + uint64(off))
				b.Errorf("%s+%#x (% x, %v): %+v, without the probe %+v", s.Name, off, in.bytes[:in.size], in.op, got, b.want)
			}
		}
	}
}

// TestBoundariesAlone: each boundary of a few functions alone, and those of all sampled functions together, more than a thousand.
func TestBoundariesAlone(t *testing.T) {
	base := boot(t, kernel.Config{Overhead: kernel.OverheadNone})
	warm(t, base)
	want, _ := follow(t, base, func(*Kprobes) {})
	names := []string{"mutex_lock", "schedule"}
	if os.Getenv("KSCOPE_EVERY") != "" {
		names = append(names, "vfs_read")
	}
	for _, mode := range boundaryModes {
		t.Run(mode.name, func(t *testing.T) {
			b := &boundaries{T: t, base: base, mode: mode, want: want, refused: map[string]int{}}
			for _, name := range names {
				s := base.m.Symbols().ByName(name)[0]
				for _, off := range base.Boundaries(s) {
					if got := b.try(s, []uint16{off}); got != want {
						t.Errorf("%s+%#x: %+v, without the probe %+v", name, off, got, want)
					}
				}
			}
			alone, together := b.probes, 0
			got, _ := follow(t, base, func(k *Kprobes) {
				k.SetOptimization(mode.opt)
				for _, name := range sample {
					for _, s := range k.m.Symbols().ByName(name) {
						for _, off := range k.Boundaries(s) {
							p := &Probe{Addr: s.Addr + uint64(off), Name: "test", Int3: mode.int3}
							if k.blocked(s.Addr) == "" && k.Register(p) == nil {
								must(t, k.Enable(p))
								together++
							}
						}
					}
				}
			})
			if got != want || together < 1000 {
				t.Errorf("%d probes at once: %+v, without %+v", together, got, want)
			}
			t.Logf("%d probes alone, %d hits, %d jumps; %d together", alone, b.hits, b.jumps, together)
		})
	}
}
