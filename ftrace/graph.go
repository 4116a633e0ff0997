package ftrace

import (
	"encoding/binary"
	"math/bits"

	"kscope/kernel"
	"kscope/kernel/x86"
)

// The function_graph tracer: kernel/trace/fgraph.c and trace_functions_graph.c. A function's entry goes through the same
// trampolines as any op's. Its callback, ftrace_graph_func, puts the address of return_to_handler where the return address
// is, and the true one on the task's shadow stack:
//
//	guest stack                       shadow stack of the task (retStack)
//	slot  -> return_to_handler        {ret, fn, slot, call}   newest last
//
// return_to_handler is one instruction in shadow text, a jump to the gate ftrace_return_to_handler. The gate takes the entry
// off, gives the dead slot its old bytes back and goes on at the true address. (Linux's is a piece of asm that saves the
// return registers on the stack and calls C; a jump leaves every register and the stack alone, so that overhead = "none" has
// nothing to undo.) A function that ends in a jump to another traced one has the same slot twice: both entries go at once.
type graph struct {
	t       *Tracer
	users   [maxGraphUsers]*graphUser // by id; nil: free
	handler uint64                    // return_to_handler; made at first use and never freed: functions may return to it later
	offSP   uint64                    // of sp in struct pt_regs
	retval  bool                      // records have what functions return: the feature
	wide    bool                      // entries have a depth of eight bytes: features retaddr, args
	tasks   map[uint64]*retStack
	last    []*retStack // by CPU: the one of the task that was traced there last

	function, notrace *Hash  // set_graph_function, set_graph_notrace
	maxDepth          uint32 // max_graph_depth
	thresh            uint64 // tracing_thresh in ns
	threshOps         bool   // it was set when the tracer was: funcgraph_thresh_ops
	lay               schedLayout
	counts            GraphCounts
}

// graphUser follows functions from entry to return: Linux's fgraph_ops. 6.1 has one at a time, function_graph or the function
// profiler; with the feature graph-instances there may be several, on one shadow stack.
type graphUser struct {
	g    *graph
	t    *Tracer
	id   int
	ops  *Ops
	prof *profiler // nil: a tracer, which writes t's rings
}

// maxGraphUsers is FGRAPH_ARRAY_SIZE of kernels that have several.
const maxGraphUsers = 16

func (g *graph) newUser(t *Tracer, name string, prof *profiler) *graphUser {
	u := &graphUser{g: g, t: t, ops: &Ops{Name: name, Gate: "ftrace_graph_func"}, prof: prof}
	u.ops.Call = u.enter
	return u
}

// fork copies a user for t in the fork g of its graph.
func (u *graphUser) fork(g *graph, t *Tracer, prof *profiler) *graphUser {
	n := &graphUser{g: g, t: t, id: u.id, ops: g.t.sites.ForkOf(u.ops), prof: prof}
	n.ops.Call = n.enter
	if u.ops.Registered() {
		g.users[n.id] = n
	}
	return n
}

// GraphCounts tells what became of the functions that function_graph has seen. Entries = Exits + what still is on the shadow
// stacks + Abandoned.
type GraphCounts struct {
	Entries   uint64 // functions whose return address was replaced
	Exits     uint64 // that have returned
	Overrun   uint64 // nested deeper than 50: neither entry nor exit
	Abandoned uint64 // that never return: the task has exited, or its stack was thrown away
	Unwritten uint64 // exits without an event: tracing was off, the ring was full, notrace, or below tracing_thresh
}

// maxGraphDepth is FTRACE_RETFUNC_DEPTH.
const maxGraphDepth = 50

// retStack is the shadow stack of a task, with what Linux keeps in its trace_recursion word.
type retStack struct {
	task    uint64
	pid     int32
	overrun uint32     // trace_overrun
	rets    []graphRet // with room for maxGraphDepth
	marks   [maxGraphUsers]graphMarkers
}

// graphMarkers is what a user has noted about a task.
type graphMarkers struct {
	inside      bool  // TRACE_GRAPH_BIT: in a function of set_graph_function
	insideDepth uint8 // its depth, of which Linux keeps two bits
	irq         bool  // TRACE_IRQ_BIT
	notrace     bool  // TRACE_GRAPH_NOTRACE_BIT
}

type graphRet struct {
	ret, fn, slot uint64
	call          uint64 // time of entry, by the local clock
	seq           uint64 // number of the call, from 1
	ran           uint64 // with nosleep-time: what the task had run then; 0: not noted
	sub           uint64 // with nograph-time: what the functions it called took
	visit         uint64 // Sites.visits then
	users         uint16 // who follows it, by id
}

// schedLayout finds how long a task has run: task_struct.se.sum_exec_runtime and exec_start.
type schedLayout struct {
	sum, start uint64
	ok         bool
}

func newGraph(t *Tracer) *graph {
	g := &graph{t: t, tasks: map[uint64]*retStack{}}
	g.retval, g.wide = t.feature(featureRetval), t.feature(featureRetaddr) || t.feature(featureArgs)
	g.offSP = uint64(t.m.Types().Struct("pt_regs").Field("sp").Offset)
	task, se := t.m.Types().Struct("task_struct"), t.m.Types().Struct("sched_entity")
	if task != nil && se != nil {
		at := uint64(task.Field("se").Offset)
		g.lay = schedLayout{at + uint64(se.Field("sum_exec_runtime").Offset), at + uint64(se.Field("exec_start").Offset), true}
	}
	g.attach()
	return g
}

// attach binds the tracer to its machine.
func (g *graph) attach() {
	m := g.t.m
	g.last = make([]*retStack, m.NumCPU())
	m.Disguise(g.disguise)
	u := m.Unwinder()
	next := u.RetAddr
	u.RetAddr = func(ra, slot uint64) uint64 {
		if ra == g.handler && ra != 0 {
			return g.trueReturn(slot)
		}
		if next != nil {
			return next(ra, slot)
		}
		return ra
	}
}

func (g *graph) fork(t *Tracer) *graph {
	n := &graph{}
	*n = *g
	n.t, n.users = t, [maxGraphUsers]*graphUser{} // their owners fork them
	n.tasks = make(map[uint64]*retStack, len(g.tasks))
	for at, s := range g.tasks {
		c := *s
		c.rets = append(make([]graphRet, 0, maxGraphDepth), s.rets...)
		n.tasks[at] = &c
	}
	n.function, n.notrace = g.function.Clone(), g.notrace.Clone()
	n.attach()
	return n
}

// start is register_ftrace_graph: EBUSY when another user is there, but for the feature graph-instances.
func (u *graphUser) start() error {
	g := u.g
	if g.handler == 0 {
		if err := g.build(); err != nil {
			return err
		}
	}
	free := -1
	for i := len(g.users) - 1; i >= 0; i-- {
		switch {
		case g.users[i] == nil:
			free = i
		case !g.t.feature(featureInstances):
			return kernel.EBUSY
		}
	}
	if free < 0 {
		return kernel.EBUSY
	}
	if u.prof == nil {
		g.threshOps = g.thresh != 0
	}
	u.id, g.users[free] = free, u
	if err := g.t.sites.Register(u.ops); err != nil {
		g.users[free] = nil
		return err
	}
	return nil
}

// stop is unregister_ftrace_graph. Functions that are on the stacks still return through the handler.
func (u *graphUser) stop() error {
	g := u.g
	g.users[u.id] = nil
	for _, s := range g.tasks { // the next user with this id has not seen their entries
		s.marks[u.id] = graphMarkers{}
		for i := range s.rets {
			s.rets[i].users &^= 1 << u.id
		}
	}
	return g.t.sites.Unregister(u.ops)
}

// build writes return_to_handler.
func (g *graph) build() error {
	m := g.t.m
	gate, ok := m.Symbols().Lookup("ftrace_return_to_handler")
	if !ok {
		return kernel.ENODEV
	}
	va, err := m.ShadowAlloc(siteSize, "return_to_handler")
	if err != nil {
		return err
	}
	b := [siteSize]byte{0xe9} // jmp
	binary.LittleEndian.PutUint32(b[1:], uint32(gate-va-siteSize))
	m.ShadowWrite(va, b[:])
	g.handler = va
	return nil
}

// stack is the shadow stack of the task that runs on c. A task_struct that has been used again starts an empty one.
func (g *graph) stack(c *kernel.VCPU, w running) *retStack {
	task, pid := w.task, w.pid
	if s := g.last[c.ID]; s != nil && s.task == task && s.pid == pid {
		return s
	}
	s := g.tasks[task]
	switch {
	case s == nil:
		s = &retStack{task: task, pid: pid, rets: make([]graphRet, 0, maxGraphDepth)}
		g.tasks[task] = s
	case s.pid != pid:
		g.counts.Abandoned += uint64(len(s.rets))
		*s = retStack{task: task, pid: pid, rets: s.rets[:0]}
	}
	g.last[c.ID] = s
	return s
}

// enter is ftrace_graph_func: function_graph_enter and the user's entry. When several users want the function, the first has
// put the handler in place and the others join its entry.
func (u *graphUser) enter(c *kernel.VCPU, ip, _, regs uint64) {
	g := u.g
	mem := hot{g.t.m}
	w := g.t.running(c)
	s := g.stack(c, w)
	slot, depth := mem.u64(regs+g.offSP), len(s.rets)
	if depth > 0 {
		if r := &s.rets[depth-1]; r.slot == slot && r.fn == ip && r.visit == g.t.sites.visits {
			if u.wants(c, s, r, depth-1, regs, w) {
				r.users |= 1 << u.id
			}
			return
		}
	}
	if depth == maxGraphDepth {
		s.overrun++
		g.counts.Overrun++
		return
	}
	r := &s.rets[:depth+1][depth] // filled where it will be, but not there before it is wanted
	r.fn, r.slot, r.call, r.visit, r.users = ip, slot, c.Now(), g.t.sites.visits, 1<<u.id
	r.ret = mem.u64(slot) // not parent: a kretprobe that was called first has put its trampoline there
	r.seq, r.ran, r.sub = 0, 0, 0
	if !u.wants(c, s, r, depth, regs, w) {
		return
	}
	if !g.t.opt(optSleepTime) {
		r.ran = g.ran(w.task, r.call)
	}
	g.counts.Entries++
	r.seq = g.counts.Entries
	s.rets = s.rets[:depth+1]
	g.put(slot, g.handler)
}

// put stores a word of a stack.
func (g *graph) put(slot, x uint64) {
	if err := g.t.m.PutU64(slot, x); err != nil {
		panic("BUG: ftrace: a return address that was read cannot be written: " + err.Error())
	}
}

// gateReturn is ftrace_return_to_handler, jumped to with rsp just above the slot that was returned through.
func (g *graph) gateReturn(c *kernel.VCPU) uint64 {
	slot := c.CPU.Reg(x86.RSP) - 8
	w := g.t.running(c)
	s := g.stack(c, w)
	n := len(s.rets)
	for n > 0 && s.rets[n-1].slot != slot { // left behind by code that threw its stack away
		n--
		g.counts.Abandoned++
	}
	s.rets = s.rets[:n]
	c.KeepRIP()
	for n > 0 && s.rets[n-1].slot == slot {
		n--
		r := &s.rets[n]
		g.leave(c, s, r, n, w)
		s.rets = s.rets[:n]
		c.Charge(costTrampoline)
		if r.ret != g.handler {
			g.put(slot, r.ret)
			c.CPU.SetRIP(r.ret)
			return 0
		}
	}
	to, _ := g.t.m.Symbols().Lookup("panic") // as Linux: nobody knows where to go
	c.CPU.SetRIP(to)
	return 0
}

// leave tells a function's users that it returns. The entry is the top of the stack still.
func (g *graph) leave(c *kernel.VCPU, s *retStack, r *graphRet, depth int, w running) {
	now := c.Now()
	g.counts.Exits++
	if r.users == 0 {
		g.counts.Unwritten++ // switched off while the function ran
		return
	}
	if r.ran != 0 && !g.t.opt(optSleepTime) {
		r.call += now - r.call - (g.ran(s.task, now) - r.ran)
	}
	for users := r.users; users != 0; users &= users - 1 {
		u := g.users[bits.TrailingZeros16(users)]
		if u.prof != nil {
			u.prof.leave(c, s, r, depth, now)
		} else {
			u.leave(c, s, r, depth, now, w)
		}
	}
}

// ran is how long a task that runs now has run in all. Linux gets the same by moving the entries' times at each switch to
// a task (ftrace_graph_probe_sched_switch).
func (g *graph) ran(task, now uint64) uint64 {
	if !g.lay.ok {
		return 0
	}
	mem := hot{g.t.m}
	return max(mem.u64(task+g.lay.sum)+now-mem.u64(task+g.lay.start), 1)
}

// trueReturn is the address behind return_to_handler in a slot; see ftrace_graph_ret_addr. (Linux gives return_to_handler
// for a function that was entered by a jump from a traced one, and its stack ends there; this gives the true address.)
func (g *graph) trueReturn(slot uint64) uint64 {
	to, seq := g.handler, uint64(0)
	for _, s := range g.tasks {
		for i := range s.rets {
			// Of several entries for a slot, those of a task that has exited are the oldest; and one that was entered by a
			// jump has no address of its own.
			if r := &s.rets[i]; r.slot == slot && r.ret != g.handler && r.seq > seq {
				to, seq = r.ret, r.seq
			}
		}
	}
	return to
}

// disguise tells StateHash what the hijacked slots hold for the guest.
func (g *graph) disguise(was func(va, x uint64)) {
	newest := map[uint64]*graphRet{} // by slot; what is told does not depend on the order
	for _, s := range g.tasks {
		for i := range s.rets {
			if r := &s.rets[i]; r.ret != g.handler && (newest[r.slot] == nil || newest[r.slot].seq < r.seq) {
				newest[r.slot] = r
			}
		}
	}
	for slot, r := range newest {
		if x, err := g.t.m.U64(slot); err == nil && x == g.handler {
			was(slot, r.ret)
		}
	}
}

// GraphCounts are the counters of function_graph.
func (t *Tracer) GraphCounts() GraphCounts { return t.graph.counts }

// GraphDepth is the number of functions on the shadow stacks: entered and not returned yet.
func (t *Tracer) GraphDepth() (n uint64) {
	for _, s := range t.graph.tasks {
		n += uint64(len(s.rets))
	}
	return n
}
