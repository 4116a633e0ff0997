// Package kprobe is kprobes, kretprobes and the events of kprobe_events on the bytes of a kernel.Machine.
//
// Main types: [Kprobes] (one per machine), [Probe] (Linux's struct kprobe), [Ret] (struct kretprobe) with its [Instance]s,
// [Event] (a line of kprobe_events: struct trace_kprobe), [Program] (a fetch argument), [Hit] (what a handler sees).
//
// The flow:
//
//  1. Register checks a place (place.go: boundaries, blacklist) and makes it a site. At a function's call of __fentry__ the
//     site is a function of one ftrace op with all registers (gate kprobe_ftrace_handler); elsewhere it is an int3 and a
//     copy of the instruction in a slot of shadow RAM (slot.go, insn.go).
//  2. Enable arms the site: the op's filter changes, or a one-byte poke is queued at the text patcher (site.go).
//  3. A CPU that runs into the int3 comes to trap (step.go): pre handlers, then the copy with TF set; at the #DB the
//     registers are fixed up for what the copy did at the wrong address, post handlers run, and the CPU goes on. With
//     Probe.Int3 an int3 behind the copy ends the step, and what moves RIP or IF is emulated (emulate.go), as in 6.1. Where
//     five bytes allow, a jump to a detour soon takes the int3's place (opt.go, boost.go; kernel/detour.go). A detour is a copy of
//     the guest's optprobe_template, the trampoline at entries one of ftrace_regs_caller: both save a struct pt_regs, which
//     handlers see and change, and are done in one step (detour.go).
//  4. A kretprobe's handler at entry puts the address of arch_rethook_trampoline into the return slot and an Instance on the
//     task's list; the trampoline, a jump to a gate, gives the true address back (ret.go).
//  5. Lines of kprobe_events become events (line.go, arg.go: the parser; fetch.go: the programs, direct.go: the usual ones compiled;
//     event.go: records and text; files.go: the rows of tracefs and debugfs; btf.go: arguments by name, a later kernel's).
//  6. Modules register probes by register_kprobe (guest.go); their handlers run as guest code, with a struct pt_regs that guest
//     code has built (thunk.go).
//
// Zero effect: the int3 counts as the instruction that it stands for (kernel.VCPU.Uncount), slots are shadow text, which no
// interrupt or slice end comes into, the copies in detours count as their originals, and hijacked return addresses are hidden from
// StateHash (kernel.Machine.Disguise).
//
// All of it belongs to the machine's goroutine. A fork of the machine gets copies of everything; Go handlers are shared and
// find their machine in the Hit.
package kprobe

import (
	"fmt"

	"kscope/ftrace"
	"kscope/kernel"
)

// Kprobes are the probes of one machine.
type Kprobes struct {
	m *kernel.Machine
	t *ftrace.Tracer

	sites  map[uint64]*site
	recent [16]*site // of sites: see at
	list   []*site   // as kprobes/list shows them
	dying  []*site   // without probes, but perhaps still patched
	op     *ftrace.Ops
	armed  int // sites in op's filter
	slots  slots
	bounds map[uint64][]uint16 // of functions by address: offsets of instructions
	black  []area
	init   area
	busy   []bool  // by CPU: a handler runs; hits are then only counted
	steps  []step  // by CPU: the copy that runs out of line
	hits   []hit   // by CPU: what handlers see
	off    bool    // debug switch: no site is armed
	bare   bool    // overhead = "none": nothing may be stored
	thunks []thunk // by CPU: handlers of guest code that run
	halts  []halt  // by CPU: a handler has stopped the machine at a probe

	// optimised probes: see opt.go
	noOpt      bool // sysctl debug.kprobes-optimization is 0
	optList    []*site
	messages   []string // for the guest to print
	kicked     bool     // the guest's optimiser has work that it does not know of
	detours    sitesOf
	flows      map[uint64]*flow
	flowShared *sharedFlow
	pcs        map[uint64]bool // see standing
	pcsAt      uint64

	// NoGuard runs handlers within handlers: the lesson of the seed's recursion hazard.
	NoGuard bool

	// Test knob: a mistake, which TestMistakes must see. Of stepped copies: "rip": a call returns to the copy; "jump": RIP of a jump
	// stays in the slot; "disp": an operand relative to RIP is not; "flags": pushf shows TF. Of instances: "recycle": those of tasks
	// that have died are kept; "leak": those of calls that have returned are.
	mistake string

	// Test knob: each so many hits there is no room for a frame, as at the end of a page: the bytes of trampolines run.
	narrow, frames int

	// Test knob: hits of a probe that waits for its jump are stepped.
	stepWaiting bool

	w      *regWords         // what ftraceEntry has made, while its handlers run
	tramp  uint64            // arch_rethook_trampoline
	guests map[uint64]*Probe // by the address of the guest's struct kprobe
	tasks  map[uint64]*retStack
	near   *retStack // used last
	lay    layout

	eprobes []*eprobe
	events  []*Event // in order of definition
	groups  []*group // one per event name
	nextID  uint16

	later [][]func(h *Hit) // by CPU: what waits for the end of a hit's handlers (Later)

	// Owner is whoever drives the machine; a fork starts without.
	Owner any
}

// New adds kprobes to a traced machine that has not booted yet.
func New(m *kernel.Machine) (*Kprobes, error) {
	t, ok := ftrace.Of(m)
	if !ok {
		return nil, fmt.Errorf("kprobe: the machine has no tracer: %w", kernel.ENODEV)
	}
	k := &Kprobes{m: m, t: t, sites: map[uint64]*site{}, bounds: map[uint64][]uint16{}, tasks: map[uint64]*retStack{}, nextID: firstID,
		flows: map[uint64]*flow{}, flowShared: &sharedFlow{}, guests: map[uint64]*Probe{}}
	k.op = &ftrace.Ops{Name: "kprobe", Gate: "kprobe_ftrace_handler", Regs: true, Filter: ftrace.NewHash()}
	var err error
	if k.lay, err = newLayout(m); err != nil {
		return nil, err
	}
	k.black, k.init = blacklist(m), initText(m.Symbols())
	k.steps = make([]step, m.NumCPU())
	k.attach()
	for i := range files {
		t.FS().AddFile(&files[i])
	}
	for i := range debugFiles {
		t.FS().AddDebugFile(&debugFiles[i])
	}
	m.Attach(k)
	return k, nil
}

// Of finds the kprobes that New attached to m.
func Of(m *kernel.Machine) (*Kprobes, bool) { return kernel.PartOf[*Kprobes](m) }

// Machine is the machine that is probed.
func (k *Kprobes) Machine() *kernel.Machine { return k.m }

// Tracer is the tracer that the events go to.
func (k *Kprobes) Tracer() *ftrace.Tracer { return k.t }

// attach binds the probes to their machine.
func (k *Kprobes) attach() {
	k.busy = make([]bool, k.m.NumCPU())
	k.hits = make([]hit, k.m.NumCPU())
	k.thunks = make([]thunk, k.m.NumCPU())
	k.bare = k.m.Config().Overhead == kernel.OverheadNone
	k.op.Call, k.op.Entry = k.ftraceHit, k.ftraceEntry
	k.t.Sites().BindOwn(k.op)
	k.m.RegisterGate("kprobe_ftrace_handler", k.t.Sites().GateOwn)
	k.m.RegisterGate("arch_rethook_trampoline_callback", k.gateReturn)
	if k.tramp != 0 {
		k.m.EntryFunc(k.tramp, k.gateReturn)
	}
	k.m.RegisterGate("user_task_exit", k.taskExit)
	for _, g := range []struct {
		name string
		fn   kernel.Gate
	}{
		{"kprobe_optimizer_step", k.gateOptimizer}, {"kprobes_optimization", k.gateSysctl}, {"kprobe_message", k.gateMessage},
		{"kprobe_arm", k.gateArm}, {"kprobe_disarm", k.gateDisarm}, {"kprobe_switch", k.gateSwitch},
		{"optimized_callback", k.gateOptimized}, {"kprobe_enter", k.gateEnter}, {"kprobe_next", k.gateNext}, {"kprobe_resume", k.gateResume},
	} {
		k.m.RegisterGate(g.name, g.fn)
	}
	k.m.OnDetour(k.detourHit)
	k.m.OwnTrap("kprobe", k.trap)
	k.m.Disguise(k.disguise)
	k.m.OnModule(k.onModule)
	u := k.m.Unwinder()
	next := u.RetAddr
	u.RetAddr = func(ra, slot uint64) uint64 { return k.trueReturn(ra, slot, next) }
}

// Fork copies the probes for a copy of the machine: kernel.Part. The tracer, which was attached first, has been copied.
func (k *Kprobes) Fork(m *kernel.Machine) kernel.Part {
	t, ok := ftrace.Of(m)
	if !ok {
		panic("BUG: kprobe: the copy of the machine has no tracer")
	}
	n := &Kprobes{}
	*n = *k
	n.recent = [len(n.recent)]*site{}
	n.bounds, n.flows, n.pcs = map[uint64][]uint16{}, map[uint64]*flow{}, nil
	n.m, n.t, n.Owner, n.w, n.later = m, t, nil, nil, nil
	n.op = t.Sites().ForkOf(k.op)
	n.slots = k.slots.fork()
	n.steps, n.halts = append([]step(nil), k.steps...), append([]halt(nil), k.halts...)
	c := n.forkProbes(k)
	n.attach()
	for i := range k.thunks { // a handler of guest code in the middle of its run
		n.busy[i] = k.busy[i] && k.thunks[i].live
		n.thunks[i] = c.thunk(&k.thunks[i])
	}
	return n
}

// forkProbes copies sites, probes, instances and events.
func (n *Kprobes) forkProbes(k *Kprobes) *copier {
	c := &copier{k: n, probes: map[*Probe]*Probe{}, rets: map[*Ret]*Ret{}, events: map[*Event]*Event{}}
	n.sites, n.list = make(map[uint64]*site, len(k.sites)), nil
	for _, s := range k.list {
		n.list = append(n.list, c.site(s))
		if !s.gone {
			n.sites[s.addr] = n.list[len(n.list)-1]
		}
	}
	n.dying = nil
	for _, s := range k.dying {
		if k.sites[s.addr] == s && len(s.probes) == 0 {
			d := c.site(s)
			n.dying = append(n.dying, d)
			n.sites[s.addr] = d
		}
	}
	n.messages = append([]string(nil), k.messages...)
	n.optList, n.detours = nil, make(sitesOf, len(k.detours))
	for _, s := range k.optList {
		n.optList = append(n.optList, n.sites[s.addr])
	}
	for i, s := range k.detours {
		if s != nil {
			n.detours[i] = n.sites[s.addr]
		}
	}
	n.guests = make(map[uint64]*Probe, len(k.guests))
	for at, p := range k.guests {
		n.guests[at] = c.probe(p)
	}
	for i := range n.steps {
		if s := n.steps[i].site; s != nil {
			n.steps[i].site = n.sites[s.addr]
		}
	}
	n.tasks, n.near = make(map[uint64]*retStack, len(k.tasks)), nil
	for task, s := range k.tasks {
		r := &retStack{task: s.task, pid: s.pid}
		for _, in := range s.list {
			r.list = append(r.list, c.instance(in))
		}
		n.tasks[task] = r
	}
	n.events, n.groups = nil, nil
	for _, g := range k.groups {
		n.groups = append(n.groups, c.group(g))
	}
	for _, e := range k.events {
		n.events = append(n.events, c.event(e))
	}
	n.forkEprobes(k)
	return c
}

// copier remembers what has been copied.
type copier struct {
	k      *Kprobes
	probes map[*Probe]*Probe
	rets   map[*Ret]*Ret
	events map[*Event]*Event
}

// Copy gives a probe's copy in a fork of its machine.
func (k *Kprobes) Copy(p *Probe) *Probe {
	if s := k.sites[p.Addr]; s != nil {
		for _, c := range s.probes {
			if c.serial == p.serial {
				return c
			}
		}
	}
	return nil
}
