package kprobe

import (
	"encoding/binary"
	"slices"

	"kscope/kernel"
	"kscope/kernel/x86"
)

// Ret is a kretprobe: Linux's struct kretprobe. At entry it takes an Instance from its pool and hides the return address;
// at return it gives both back.
//
//	guest stack                           list of the task (retStack)
//	slot  -> arch_rethook_trampoline      Instance{Addr, Slot, ...}   newest last
//
// arch_rethook_trampoline is one jump in shadow text to the gate arch_rethook_trampoline_callback, so that it touches
// neither registers nor stack; it is done with the gate in one step. function_graph does the same with return_to_handler: whichever runs later at a function's
// entry finds the other's trampoline in the slot, keeps it as the return address, and returns to it first.
type Ret struct {
	Entry     func(h *Hit) bool // may be nil; false: this call is not followed
	Return    func(h *Hit)
	MaxActive int // 0: max(10, 2*CPUs)

	Entries  uint64 // calls seen: Returns + in flight + Missed + Dropped
	Returns  uint64
	NoFree   uint64 // calls without a free instance: Linux's rp->nmissed
	Refused  uint64 // calls that Entry did not want
	Dropped  uint64 // instances recycled when their task died, or whose stack was thrown away
	InFlight int

	Probe Probe // at the function's entry

	free []*Instance // that have been used
}

// take gives an instance of the pool.
func (r *Ret) take() *Instance {
	n := len(r.free)
	if n == 0 {
		return &Instance{}
	}
	in := r.free[n-1]
	r.free = r.free[:n-1]
	return in
}

// Missed are the calls whose return was not seen for want of an instance, or since the entry was hit within a handler.
func (r *Ret) Missed() uint64 { return r.NoFree + r.Probe.Missed }

// Instance is a call that has not returned: Linux's struct kretprobe_instance.
type Instance struct {
	Ret  *Ret   // nil once its kretprobe is gone
	Addr uint64 // the return address
	Slot uint64 // where it was
	Time uint64 // of entry
	Task uint64 // task_struct of the caller
	Pid  int
	Data any // of the handlers

	guest uint64 // its struct kretprobe_instance
}

// retStack is a task's list: its rethooks.
type retStack struct {
	task uint64
	pid  int
	list []*Instance
}

const (
	minActive  = 10
	maxActive  = 4096 // KRETPROBE_MAXACTIVE_MAX
	rethookSym = "arch_rethook_trampoline"
)

// noReturn takes no kretprobe: it switches the current task, to whose list an instance belongs, but not the stack. It is the one
// row of kretprobe_blacklist (arch/x86/kernel/kprobes/core.c).
const noReturn = "__switch_to"

// RegisterRet puts a kretprobe at r.Probe.Addr, disabled.
func (k *Kprobes) RegisterRet(r *Ret) error {
	sym, off := k.m.Symbols().At(r.Probe.Addr)
	if off != 0 {
		return &PlaceError{r.Probe.Addr, "a kretprobe is at a function's entry", kernel.EINVAL}
	}
	if sym.Name == noReturn {
		return &PlaceError{r.Probe.Addr, "it returns as another task than it was called by", kernel.EINVAL}
	}
	if r.MaxActive <= 0 {
		r.MaxActive = max(minActive, 2*k.m.NumCPU())
	}
	if err := k.buildTrampoline(); err != nil {
		return err
	}
	r.Probe.ret, r.Probe.Pre = r, enterRet
	return k.Register(&r.Probe)
}

// UnregisterRet takes it out. Calls in flight return through the trampoline all the same, without its handler.
func (k *Kprobes) UnregisterRet(r *Ret) error {
	if err := k.Unregister(&r.Probe); err != nil {
		return err
	}
	for _, s := range k.tasks {
		for _, in := range s.list {
			if in.Ret == r {
				in.Ret = nil
			}
		}
	}
	r.InFlight = 0
	return nil
}

// Holders are the calls in flight of one kretprobe, by pid.
func (k *Kprobes) Holders(r *Ret) []*Instance {
	var out []*Instance
	for _, s := range k.tasks {
		for _, in := range s.list {
			if in.Ret == r {
				out = append(out, in)
			}
		}
	}
	slices.SortFunc(out, func(a, b *Instance) int {
		if a.Pid != b.Pid {
			return a.Pid - b.Pid
		}
		return int(int64(b.Slot) - int64(a.Slot))
	})
	return out
}

func (k *Kprobes) buildTrampoline() error {
	if k.tramp != 0 {
		return nil
	}
	gate, ok := k.m.Symbols().Lookup("arch_rethook_trampoline_callback")
	if !ok {
		return kernel.ENODEV
	}
	va, err := k.m.ShadowAlloc(5, rethookSym)
	if err != nil {
		return err
	}
	b := [5]byte{0xe9}
	binary.LittleEndian.PutUint32(b[1:], uint32(gate-va-5))
	k.m.ShadowWrite(va, b[:])
	k.m.Symbols().Add(kernel.Sym{Name: rethookSym, Addr: va, Size: 5, ELFSize: 5, Kind: 't', Section: ".shadow"}) // no module's
	k.tramp = va
	k.m.EntryFunc(va, k.gateReturn)
	return nil
}

// stack is the list of the task that runs on c.
func (k *Kprobes) stack(task uint64, pid int) *retStack {
	if s := k.near; s != nil && s.task == task && s.pid == pid { // entry and return mostly follow each other: 20 ns less than the map, twice
		return s
	}
	s := k.tasks[task]
	switch {
	case s == nil:
		s = &retStack{task: task, pid: pid}
		k.tasks[task] = s
	case s.pid != pid: // a task_struct used again
		k.drop(s, 0)
		s.pid = pid
	}
	k.near = s
	return s
}

// drop recycles the instances of a list down to n.
func (k *Kprobes) drop(s *retStack, n int) {
	for _, in := range s.list[n:] {
		if in.Ret != nil {
			in.Ret.Dropped++
			if k.mistake != "recycle" {
				in.Ret.InFlight--
				in.Ret.recycle(in)
			}
		}
	}
	clear(s.list[n:])
	s.list = s.list[:n]
}

// taskExit is the gate user_task_exit: kprobe_flush_task. do_exit never returns, so what its callers hold is given back, and
// so are their return slots, which will be the stack of another task.
func (k *Kprobes) taskExit(c *kernel.VCPU) uint64 {
	s := k.tasks[c.CurrentAddr()]
	if s == nil {
		return 0
	}
	resolve := k.m.Unwinder().RetAddr
	for _, in := range s.list {
		if x, ok := word(k.m, in.Slot); ok {
			if to := resolve(x, in.Slot); to != x {
				k.push(in.Slot, to)
			}
		}
	}
	k.drop(s, 0)
	delete(k.tasks, s.task)
	k.near = nil
	return 0
}

// enterRet is pre_handler_kretprobe.
func enterRet(h *Hit) {
	k, r := h.K, h.Probe.ret
	in := k.begin(h)
	if in == nil {
		return
	}
	if r.Entry != nil {
		h.Ret, h.In = r, in
		ok := r.Entry(h)
		h.Ret, h.In = nil, nil
		if !ok {
			k.refuse(in)
			return
		}
	}
	k.commit(in)
}

// begin takes an instance for the call that h is the entry of; nil: there is none.
func (k *Kprobes) begin(h *Hit) *Instance {
	r, c := h.Probe.ret, h.C
	r.Entries++
	slot := h.Regs.at(regSP)
	ra, ok := word(k.m, slot)
	if !ok || r.InFlight >= r.MaxActive {
		r.NoFree++
		if r.Probe.C != nil {
			_ = k.m.PutU32(r.Probe.C.rp+k.lay.retMissed, uint32(r.NoFree))
		}
		return nil
	}
	in := r.take()
	in.Ret, in.Addr, in.Slot, in.Time = r, ra, slot, c.Now() // not as a whole: that is made aside and copied
	in.Task, in.Pid = c.CurrentIDs()
	if g := r.Probe.C; g != nil {
		n := len(g.free) - 1
		in.guest, g.free = g.free[n], g.free[:n]
		for off, x := range map[uint64]uint64{k.lay.riRp: g.rp, k.lay.riAddr: ra, k.lay.riTask: in.Task, k.lay.riFrame: slot + 8} {
			k.push(in.guest+off, x)
		}
	}
	return in
}

// refuse gives an instance back whose entry handler does not want the call.
func (k *Kprobes) refuse(in *Instance) {
	in.Ret.Refused++
	in.Ret.recycle(in)
}

// recycle puts an instance back into the pool.
func (r *Ret) recycle(in *Instance) {
	if r.Probe.C != nil && in.guest != 0 {
		r.Probe.C.free = append(r.Probe.C.free, in.guest)
	}
	in.Data, in.guest = nil, 0
	r.free = append(r.free, in)
}

// commit hides the return address.
func (k *Kprobes) commit(in *Instance) {
	s := k.stack(in.Task, in.Pid)
	s.list = append(s.list, in)
	in.Ret.InFlight++
	k.push(in.Slot, k.tramp)
}

// gateReturn is arch_rethook_trampoline_callback, jumped to with rsp just above the slot that was returned through.
func (k *Kprobes) gateReturn(c *kernel.VCPU) uint64 {
	slot := c.CPU.Reg(x86.RSP) - 8
	s := k.stack(c.CurrentIDs())
	n := len(s.list)
	for n > 0 && s.list[n-1].Slot != slot { // left behind by code that threw its stack away
		n--
	}
	k.drop(s, n)
	c.KeepRIP()
	to := k.chain(s, slot)
	if n == 0 || to == k.tramp {
		to, _ = k.m.Symbols().Lookup("panic") // as rethook_trampoline_handler: nobody knows where to go
		c.CPU.SetRIP(to)
		return 0
	}
	c.CPU.SetRIP(to)      // stacks of the handlers' events begin there
	var chain []*Instance // newest first, when handlers of guest code are among them
	for n > 0 && s.list[n-1].Slot == slot {
		n--
		in := s.list[n]
		s.list[n] = nil
		s.list = s.list[:n]
		last := in.Addr != k.tramp
		if r := in.Ret; chain != nil || r != nil && r.Probe.C != nil && r.Probe.C.ret != 0 {
			chain = append(chain, in)
		} else {
			k.leave(c, in, to, 0)
		}
		if last {
			break
		}
	}
	k.push(slot, to)
	if chain != nil && !k.busy[c.ID] {
		k.enterThunk(c, thunk{via: viaReturn, ip: to, to: to, chain: chain})
		return 0
	}
	for _, in := range chain { // within another handler
		k.release(in)
	}
	return 0
}

// chain is the address that the newest instances of a slot lead to: with several, the oldest holds it.
func (k *Kprobes) chain(s *retStack, slot uint64) uint64 {
	for i := len(s.list) - 1; i >= 0 && s.list[i].Slot == slot; i-- {
		if s.list[i].Addr != k.tramp {
			return s.list[i].Addr
		}
	}
	return k.tramp
}

// leave runs the return handler. to is what the handler sees as the return address: every kretprobe of a call sees the true one.
// mem is a struct pt_regs in guest memory, 0: the CPU's registers are meant.
func (k *Kprobes) leave(c *kernel.VCPU, in *Instance, to, mem uint64) {
	c.Charge(costReturn)
	if r := in.Ret; r != nil && r.Return != nil && r.Probe.enabled {
		was := k.busy[c.ID]
		k.busy[c.ID] = true // kprobe_busy_begin
		h := k.newHit(c, mem, to)
		h.Ret, h.In = r, in
		if mem != 0 {
			h.added = preemptOffset
		}
		r.Return(h)
		k.busy[c.ID] = was
	}
	k.release(in)
}

// release ends a call.
func (k *Kprobes) release(in *Instance) {
	if r := in.Ret; r != nil {
		r.Returns++
		if k.mistake != "leak" {
			r.InFlight--
			r.recycle(in)
		}
	}
}

// trueReturn is Unwinder.RetAddr: through kretprobes and, by next, whatever else has hijacked the slot.
func (k *Kprobes) trueReturn(ra, slot uint64, next func(ra, slot uint64) uint64) uint64 {
	for range 64 {
		was := ra
		if ra == k.tramp && ra != 0 {
			ra = k.behind(slot)
		} else if next != nil {
			ra = next(ra, slot)
		}
		if ra == was {
			break
		}
	}
	return ra
}

// behind is the return address that the oldest instance of a slot holds. A kthread that has exited within a probed function
// leaves instances behind whose slots may be another task's stack by now: the latest task counts.
func (k *Kprobes) behind(slot uint64) uint64 {
	to, latest := k.tramp, uint64(0)
	for _, s := range k.tasks {
		addr, at := k.tramp, uint64(0)
		for _, in := range s.list {
			if in.Slot == slot {
				at = in.Time
				if addr == k.tramp {
					addr = in.Addr
				}
			}
		}
		if addr != k.tramp && at >= latest {
			to, latest = addr, at
		}
	}
	return to
}

// disguise tells StateHash what hijacked slots hold for the guest.
func (k *Kprobes) disguise(was func(va, x uint64)) {
	resolve := k.m.Unwinder().RetAddr
	for _, s := range k.tasks {
		for _, in := range s.list {
			if x, err := k.m.U64(in.Slot); err == nil {
				if to := resolve(x, in.Slot); to != x {
					was(in.Slot, to)
				}
			}
		}
	}
}

func (c *copier) ret(r *Ret) *Ret {
	if n := c.rets[r]; n != nil {
		return n
	}
	n := &Ret{}
	*n = *r
	n.free = nil
	c.rets[r] = n
	n.Probe.k, n.Probe.ret = c.k, n
	if g := r.Probe.C; g != nil {
		own := *g
		own.free = slices.Clone(g.free)
		n.Probe.C = &own
	}
	c.probes[&r.Probe] = &n.Probe
	return n
}

func (c *copier) instance(in *Instance) *Instance {
	n := &Instance{}
	*n = *in
	if in.Ret != nil {
		n.Ret = c.ret(in.Ret)
	}
	return n
}
