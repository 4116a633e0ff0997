package kprobe

import (
	"errors"
	"testing"

	"golang.org/x/arch/x86/x86asm"

	"kscope/kernel"
	"kscope/kernel/x86"
)

// TestTasksAreWaitedFor: a CPU is interrupted between two instructions that a jump will cover, and its softirq lasts for 100 ms. It has
// interrupts on, so all syncs of the text's patches are acknowledged; only the optimiser's wait for tasks keeps the jump away till the
// interrupted code has gone on. Without that wait the jump's bytes are written under it.
func TestTasksAreWaitedFor(t *testing.T) {
	for _, wait := range []bool{true, false} {
		k := boot(t, kernel.Config{Seed: 3})
		at := k.loopPlace(t)
		mid := at + 4
		must(t, k.m.Hot(0xf, 0))
		hook := func(va uint64, fn func(c *kernel.VCPU)) {
			remove, err := k.m.Hook(va, fn)
			must(t, err)
			t.Cleanup(remove)
		}
		held, released := false, false
		hook(mid, func(c *kernel.VCPU) { // a softirq will follow the interrupt that comes here
			if c.ID == 1 && !held {
				o, err := k.m.Var("__softirq_pending", 1)
				must(t, err)
				const timerSoftirq = 1
				must(t, k.m.PutU32(o.Addr, 1<<timerSoftirq))
			}
		})
		const kick = 0xf2
		_, err := k.m.InjectAt(kernel.Injection{Addr: mid, On: 1, CPU: -1, Vec: kick})
		must(t, err)
		softirq, hot := k.addr(t, "run_timer_softirq")+5, k.addr(t, "kscope_hot") // behind its call of __fentry__: a return address within
		hook(softirq, func(c *kernel.VCPU) {                                      // it calls kscope_hot over and over
			if c.ID == 1 && !released && (held || k.stackHas(c, mid)) {
				held = true
				c.Charge(300)
				sp := c.CPU.Reg(x86.RSP) - 8
				k.push(sp, softirq)
				c.CPU.SetReg(x86.RSP, sp)
				c.CPU.SetRIP(hot)
			}
		})
		if !wait {
			sync := k.addr(t, "synchronize_rcu_tasks")
			hook(sync, func(c *kernel.VCPU) { // it returns at once
				sp := c.CPU.Reg(x86.RSP)
				to, _ := word(k.m, sp)
				c.CPU.SetReg(x86.RSP, sp+8)
				c.CPU.SetRIP(to)
			})
		}
		for range 40 {
			if k.pass(t, ms); held {
				break
			}
		}
		if !held {
			t.Fatal("no softirq has come between the two instructions")
		}
		jumps, inside := 0, 0
		t.Cleanup(k.m.OnPatchStep(func(_ *kernel.VCPU, p *kernel.Patch, s *kernel.PatchStep) {
			if s.Kind == "tails" && p.Pokes[0].Addr == at && len(p.Pokes[0].New) == jumpSize {
				k.pcs = nil
				if jumps++; k.standing()[mid] {
					inside++
				}
			}
		}))
		p := &Probe{Addr: at}
		k.do(t, func() error { return errors.Join(k.Register(p), k.Enable(p)) })
		k.pass(t, 100*ms)
		early := jumps
		if released = true; wait {
			k.pass(t, 100*ms)
		}
		if inside > 0 == wait || wait && (early != 0 || jumps != 1) {
			t.Errorf("waits for tasks: %v: %d jumps, %d of them in 100 ms, %d under a CPU", wait, jumps, early, inside)
		}
	}
}

// stackHas says whether an address is among a CPU's activations.
func (k *Kprobes) stackHas(c *kernel.VCPU, pc uint64) (found bool) {
	_ = c.Walk(func(f *kernel.Frame) bool {
		found = found || f.PC == pc
		return !found
	})
	return found
}

// loopPlace is where a jump fits over two instructions of hot_thread's loop.
func (k *Kprobes) loopPlace(t *testing.T) (at uint64) {
	sym, _ := k.m.Symbols().At(k.addr(t, "hot_thread"))
	for _, off := range k.Boundaries(sym)[1:] {
		in, _ := k.decode(sym.Addr + uint64(off))
		if _, why := k.optimizable(sym.Addr + uint64(off)); why == "" && in.op == x86asm.ADD && in.size == 4 {
			at = sym.Addr + uint64(off) // i++; the comparison behind it is in the jump's bytes
		}
	}
	if at == 0 {
		t.Fatal("no place for a jump in hot_thread's loop")
	}
	return at
}

// TestUnregisterWaits: a handler in C of a probe through ftrace runs with interrupts on, so its CPU's ticks go on; what has preemption
// off is a reader of RCU's all the same, and the module of the handler stays until it has returned.
func TestUnregisterWaits(t *testing.T) {
	k := boot(t, kernel.Config{Seed: 5})
	k.load(t, "kprobe_test", "post=0 offset=0")
	pre, hot := k.addr(t, "kprobe_test:pre")+5, k.addr(t, "kscope_hot")
	var from, left, gone uint64
	remove, err := k.m.Hook(pre, func(c *kernel.VCPU) { // it calls kscope_hot for 60 ms
		if left != 0 {
			return
		}
		if from == 0 {
			from = c.Now()
		}
		if c.Now() > from+60*ms {
			left = c.Now()
			return
		}
		c.Charge(300)
		sp := c.CPU.Reg(x86.RSP) - 8
		k.push(sp, pre)
		c.CPU.SetReg(x86.RSP, sp)
		c.CPU.SetRIP(hot)
	})
	must(t, err)
	t.Cleanup(remove)
	k.m.OnModule(func(c *kernel.VCPU, ev kernel.ModuleEvent, _ *kernel.Module) error {
		if ev == kernel.ModuleRelease {
			gone = c.Now()
		}
		return nil
	})
	pid, err := k.m.Exec("/bin/cat", []string{"cat", "/etc/passwd"}, kernel.Streams{})
	must(t, err)
	k.pass(t, 10*ms)
	if from == 0 || left != 0 {
		t.Fatalf("in the handler from %d to %d", from, left)
	}
	must(t, k.m.UnloadModule("kprobe_test"))
	if left == 0 || gone < left {
		t.Errorf("the handler has returned at %d, its module was gone at %d", left, gone)
	}
	_, err = k.m.Wait(pid)
	must(t, err)
}
