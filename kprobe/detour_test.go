package kprobe

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"kscope/kernel"
	"kscope/kernel/x86"
)

// detourRun is what a run with probes by jumps leaves.
type detourRun struct {
	trail
	trace, said, log string
	jumps            int
}

// jumpsIn finds places for n jumps in a function that do not touch each other.
func (k *Kprobes) jumpsIn(tb testing.TB, name string, n int) (at []uint64) {
	sym, _ := k.m.Symbols().At(k.addr(tb, name))
	end := uint64(0)
	for _, off := range k.Boundaries(sym)[1:] {
		if span, why := k.optimizable(sym.Addr + uint64(off)); why == "" && uint64(off) >= end && len(at) < n {
			at, end = append(at, sym.Addr+uint64(off)), uint64(off)+uint64(span)
		}
	}
	return at
}

// runDetours probes a few functions by jumps: events that read registers, flags, stack and memory, handlers that change registers and
// flags and walk the stack, handlers in C, and one that stops the machine.
// With offset = 0 they are at entries too, by ftrace.
func runDetours(t *testing.T, cfg kernel.Config, offset int, execute bool) detourRun {
	var r detourRun
	k := boot(t, cfg)
	if cfg.Seed%3 == 2 {
		k.narrow = 3 // of what is done in one step
	}
	if execute {
		k.m.ExecuteDetours()
		k.t.Sites().Execute()
	}
	const bare = kernel.OverheadNone // handlers in C void it
	if cfg.Overhead != bare {
		k.load(t, "kprobe_test", fmt.Sprintf("post=%d offset=%d", 1-min(offset, 1), offset))
	}
	var said strings.Builder
	stops, opens := 0, 0
	for _, name := range []string{"vfs_read", "path_openat", "do_filp_open", "try_to_wake_up", "handle_mm_fault", "do_sys_openat2"} {
		places := k.jumpsIn(t, name, 4)
		if offset == 0 {
			places[0], places[1] = k.addr(t, name), k.addr(t, name)
		}
		for i, at := range places {
			if i%2 == 0 {
				stack := "e=$stack0 g=+0(%sp)"
				if cfg.Overhead == bare {
					stack = "" // what dead stack has become part of it: the bytes write there
				}
				k.add2(t, fmt.Sprintf("p:%s%d %s+%d "+strings.ReplaceAll(stack, "%", "%%")+" a=%%ax b=%%si c=%%sp d=%%flags f=%%ip h=%%r12 i=%%orig_ax j=%%cs k=%%ss l=%%r11", name, i, name, at-k.addr(t, name)))
				continue
			}
			p := &Probe{Addr: at, Pre: func(h *Hit) {
				ax, _ := h.Regs.Get("ax")
				fl, _ := h.Regs.Get("flags")
				fmt.Fprintf(&said, "%d %s %x %x %v %v %v\n", h.C.Now(), k.m.Symbols().Format(h.Addr()), ax, fl, h.Context(), h.Stack(4), h.Regs.Set("sp", 1))
				if k.sites[at].ftrace {
					if opens++; name == "do_filp_open" && opens%8 == 7 { // it fails
						stub, _ := k.m.Symbols().Lookup("ftrace_stub")
						must(t, errors.Join(h.Regs.Set("ax", ^uint64(1)), h.Regs.Set("ip", stub)))
					}
				} else if h.Regs.Set("ip", 1) == nil {
					t.Error("ip can be changed at a jump")
				}
				if name == "do_sys_openat2" && i == 1 { // at its beginning neither holds an argument
					must(t, errors.Join(h.Regs.Set("r11", 0x5a5a), h.Regs.Set("flags", fl^x86.FlagCF)))
				}
				if name == "vfs_read" {
					if stops++; stops%3 == 1 {
						h.K.m.RequestStop("here")
					}
				}
			}}
			k.do(t, func() error { return errors.Join(k.Register(p), k.Enable(p)) })
		}
	}
	k.write(t, "events/kprobes/enable", "1")
	k.pass(t, 60*ms)
	for _, s := range k.sites {
		if s.opt == optJumping {
			r.jumps++
			if b := k.BytesAt(s.detour, 7); !bytes.Equal(b, []byte{0x6a, 0x18, 0x54, 0x9c, 0x6a, 0x10, 0x68}) { // push $0x18; push %rsp; pushf; push $0x10; push
				t.Errorf("a detour's bytes are % x", b)
			}
		}
	}
	k.m.SetSliceHook(func(c *kernel.VCPU) {
		r.slices++
		for _, x := range []uint64{uint64(c.ID), c.Now(), k.m.DetourOrig(c.CPU.RIP())} {
			r.hash = (r.hash ^ x) * 0x100000001b3
		}
	})
	pid, err := k.m.Exec("/bin/cat", []string{"cat", "/etc/passwd", "/etc/hostname"}, kernel.Streams{})
	must(t, err)
	for range 80 {
		stop := k.m.Run(kernel.Until{Pid: pid})
		fmt.Fprintf(&said, "%v at %s, %d\n", stop, k.m.Symbols().Format(stop.PC), stop.Time)
		if stop.Reason == kernel.StopDone {
			break
		}
	}
	k.m.Run(kernel.Until{Time: k.m.Now() + 3*ms})
	r.state = k.m.StateHash()
	k.do(t, func() error { return k.SetArmed(false) })
	k.pass(t, 60*ms)
	if cfg.Overhead != bare {
		must(t, k.m.UnloadModule("kprobe_test"))
	}
	r.trace, r.said, r.log = k.read(t, "trace"), said.String(), strings.Join(k.dmesg(0), "\n")
	return r
}

// TestDetourBytes: a detour, and ftrace's trampoline of kprobes, done in one step leave the machine, its records and what handlers see
// and change as their bytes do, which save a struct pt_regs, call a gate with it and load what is in it then.
func TestDetourBytes(t *testing.T) {
	for seed := range uint64(6) {
		cfg := kernel.Config{Seed: seed}
		if seed >= 4 {
			cfg.Overhead = kernel.OverheadNone
		}
		offset := 5 * int(seed%2)
		fast, slow := runDetours(t, cfg, offset, false), runDetours(t, cfg, offset, true)
		switch {
		case fast.jumps < 12 || !strings.Contains(fast.trace, "l=0x5a5a") || !strings.Contains(fast.said, "stop: here at vfs_read+") ||
			cfg.Overhead != kernel.OverheadNone && !strings.Contains(fast.log, "bad 0 nmi"):
			t.Errorf("seed %d: %d jumps, r11 seen: %v, stopped: %v\n%s", seed, fast.jumps, strings.Contains(fast.trace, "l=0x5a5a"), strings.Contains(fast.said, "stop: here at vfs_read+"), fast.log)
		case fast.slices != slow.slices || fast.hash != slow.hash || fast.state != slow.state && cfg.Overhead != kernel.OverheadNone: // but for dead stack
			t.Errorf("seed %d: %+v in one step, %+v by the bytes", seed, fast.trail, slow.trail)
		case fast.trace != slow.trace:
			t.Errorf("seed %d: other records: %s", seed, firstDifference(fast.trace, slow.trace))
		case fast.log != slow.log:
			t.Errorf("seed %d: %s\nbut\n%s", seed, fast.log, slow.log)
		}
		if d := firstDifference(fast.said, slow.said); d != "" {
			t.Fatalf("seed %d: handlers see %s", seed, d)
		}
	}
}

// firstDifference is the first line in which two texts differ.
func firstDifference(a, b string) string {
	x, y := strings.Split(a, "\n"), strings.Split(b, "\n")
	for i := range x {
		if i >= len(y) || x[i] != y[i] {
			return fmt.Sprintf("\n%s\nbut\n%s", x[i], y[min(i, len(y)-1)])
		}
	}
	return ""
}
