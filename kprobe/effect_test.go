package kprobe

import (
	"errors"
	"fmt"
	"os"
	"testing"

	"kscope/kernel"
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
		for _, x := range []uint64{uint64(c.ID), c.Now(), c.CPU.RIP()} {
			r.hash = (r.hash ^ x) * 0x100000001b3
		}
	})
	k.closing(tb)
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

// TestEveryBoundary: with overhead = "none" a machine with a probe at an instruction boundary runs instruction for
// instruction as one without.
func TestEveryBoundary(t *testing.T) {
	base := boot(t, kernel.Config{Overhead: kernel.OverheadNone})
	want, _ := follow(t, base, func(*Kprobes) {})
	syms := base.m.Symbols()
	var list []kernel.Sym
	for _, name := range sample {
		list = append(list, syms.ByName(name)...)
	}
	if os.Getenv("KSCOPE_EVERY") != "" {
		list = syms.Glob("*", "tTwW")
	}
	probes, hits, refused := 0, uint64(0), map[string]int{}
	// All boundaries of a function at once; when that differs, one at a time to say which.
	try := func(s kernel.Sym, offs []uint16) (trail, uint64) {
		var ps []*Probe
		got, _ := follow(t, base, func(k *Kprobes) {
			for _, off := range offs {
				p := &Probe{Addr: s.Addr + uint64(off), Name: "test"}
				if err := k.Register(p); err != nil {
					refused[reason(err)]++
					continue
				}
				must(t, k.Enable(p))
				ps = append(ps, p)
			}
		})
		n := uint64(0)
		for _, p := range ps {
			n += p.Hits
		}
		probes += len(ps)
		return got, n
	}
	for _, s := range list {
		offs := base.Boundaries(s)
		if s.Size == 0 || len(offs) == 0 || base.blocked(s.Addr) != "" {
			continue
		}
		got, n := try(s, offs)
		hits += n
		if got == want {
			continue
		}
		for _, off := range offs {
			if got, _ := try(s, []uint16{off}); got != want {
				in, _ := base.decode(s.Addr + uint64(off))
				t.Errorf("%s+%#x (% x, %v): %+v, without the probe %+v", s.Name, off, in.bytes[:in.size], in.op, got, want)
			}
		}
	}
	t.Logf("%d functions, %d probes, %d hits, refused: %v", len(list), probes, hits, refused)
}
