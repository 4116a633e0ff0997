package ftrace

import (
	"kscope/ftrace/ring"
	"kscope/kernel"
)

// registerGates binds the guest's calls to this tracer; a fork does it again on its machine.
func (t *Tracer) registerGates() {
	for _, g := range []struct {
		name string
		fn   kernel.Gate
	}{
		{"ftrace_process_locs", t.gateProcessLocs},
		{"function_trace_call", t.sites.GateOwn},
		{"function_trace_probe_call", t.sites.GateOwn},
		{"arch_ftrace_ops_list_func", t.sites.gateList},
		{"ftrace_graph_func", t.sites.GateOwn},
		{"stack_trace_call", t.sites.GateOwn},
		{"ftrace_return_to_handler", t.graph.gateReturn},
		{"tracefs_lookup", t.fs.gateLookup},
		{"tracefs_iterate", t.fs.gateIterate},
		{"tracefs_open", t.fs.gateOpen},
		{"tracefs_read", t.fs.gateRead},
		{"tracefs_write", t.fs.gateWrite},
		{"tracefs_release", t.fs.gateRelease},
		{"tracefs_readable", t.fs.gateReadable},
		{"tracefs_splice", t.fs.gateSplice},
		{"tracefs_dump_line", t.gateDumpLine},
		{"tracefs_mkdir", t.fs.gateMkdir},
		{"tracefs_rmdir", t.fs.gateRmdir},
		{"tracefs_set_enabled", t.gateSetEnabled},
		{"tracefs_set_stack_tracer", t.gateSetStackTracer},
	} {
		t.m.RegisterGate(g.name, g.fn)
	}
	t.sites.bindEntries()
	t.printkGates()
	t.points.registerGates()
}

// ret turns an error into a negative errno; one without an errno is our bug.
func ret(err error) uint64 {
	if err == nil {
		return 0
	}
	return errnoOf(err).Ret()
}

// gateSetEnabled: long tracefs_set_enabled(u64 on), for /proc/sys/kernel/ftrace_enabled.
func (t *Tracer) gateSetEnabled(c *kernel.VCPU) uint64 { return ret(t.sites.SetEnabled(c.Arg(0) != 0)) }

// gateProcessLocs: long ftrace_process_locs(void).
func (t *Tracer) gateProcessLocs(*kernel.VCPU) uint64 {
	n, err := t.sites.processLocs()
	if err != nil {
		t.sites.recs = nil
		return ret(err)
	}
	return uint64(n)
}

// GateOwn is the gate that an op's own trampoline calls: (ip, parent_ip, id, regs). Packages whose ops name a gate of
// their own register it under that name.
func (s *Sites) GateOwn(c *kernel.VCPU) uint64 {
	if o := s.own(c.Arg(2)); o != nil {
		s.CallOwn(c, o, c.Arg(0), c.Arg(1), c.Arg(3))
	} else {
		c.Charge(costTrampoline)
	}
	return 0
}

// CallOwn does for an op's own trampoline what GateOwn does, for who has built the struct pt_regs himself: see Ops.Entry.
func (s *Sites) CallOwn(c *kernel.VCPU, o *Ops, ip, parent, regs uint64) {
	s.call(c, o, ip, parent, regs)
	c.Charge(costTrampoline)
}

// call is small, so that the compiler puts it into its callers.
func (s *Sites) call(c *kernel.VCPU, o *Ops, ip, parent, regs uint64) {
	if o.registered {
		s.visits++
		s.inside++
		o.Call(c, ip, parent, regs)
		s.inside--
	}
}

// gateList: void arch_ftrace_ops_list_func(ip, parent_ip, op, fregs).
func (s *Sites) gateList(c *kernel.VCPU) uint64 {
	s.callList(c, c.Arg(0), c.Arg(1), c.Arg(3))
	return 0
}

func (s *Sites) callList(c *kernel.VCPU, ip, parent, regs uint64) {
	s.visits++
	s.inside++
	s.listFunc(c, ip, parent, regs)
	s.inside--
	c.Charge(costTrampoline + costListOp*uint64(len(s.ops)))
}

// maxName bounds a name that the guest passes.
const maxName = 255

// gateLookup: long tracefs_lookup(u64 dir, const char *name, u64 *id, u32 *mode).
func (fs *FS) gateLookup(c *kernel.VCPU) uint64 {
	dir := fs.nodes[c.Arg(0)]
	if dir == nil {
		return kernel.ENOENT.Ret()
	}
	name, err := fs.t.m.Str(c.Arg(1), maxName+1)
	if err != nil {
		return kernel.EFAULT.Ret()
	}
	n := dir.child(name)
	if n == nil {
		return kernel.ENOENT.Ret()
	}
	return ret(fs.put(c.Arg(2), c.Arg(3), n))
}

// put stores a node's id and mode where the guest wants them; a null pointer asks for nothing.
func (fs *FS) put(id, mode uint64, n *node) error {
	if id != 0 {
		if err := fs.t.m.PutU64(id, n.id); err != nil {
			return err
		}
	}
	if mode != 0 {
		return fs.t.m.PutU32(mode, n.mode())
	}
	return nil
}

// gateIterate: long tracefs_iterate(u64 dir, u64 index, char *name, u64 *id, u32 *mode): 1, or 0 behind the last name.
func (fs *FS) gateIterate(c *kernel.VCPU) uint64 {
	dir := fs.nodes[c.Arg(0)]
	if dir == nil {
		return kernel.ENOENT.Ret()
	}
	i := c.Arg(1)
	if i >= uint64(len(dir.kids)) {
		return 0
	}
	n := dir.kids[i]
	if err := fs.t.m.Write(c.Arg(2), append([]byte(n.name), 0)); err != nil {
		return ret(err)
	}
	if err := fs.put(c.Arg(3), c.Arg(4), n); err != nil {
		return ret(err)
	}
	return 1
}

// gateOpen: long tracefs_open(u64 id, u32 flags, u64 *handle).
func (fs *FS) gateOpen(c *kernel.VCPU) uint64 {
	n := fs.nodes[c.Arg(0)]
	if n == nil {
		return kernel.ENOENT.Ret()
	}
	h, err := fs.openNode(c, n, uint32(c.Arg(1)))
	if err != nil {
		return ret(err)
	}
	fs.lastFD++
	fs.open[fs.lastFD] = h
	return ret(fs.t.m.PutU64(c.Arg(2), fs.lastFD))
}

// maxIO bounds the buffer of one call.
const maxIO = 1 << 20

// gateRead: long tracefs_read(u64 handle, char *kbuf, u64 len, u64 pos).
func (fs *FS) gateRead(c *kernel.VCPU) uint64 {
	h := fs.open[c.Arg(0)]
	if h == nil {
		return kernel.EBADF.Ret()
	}
	if h.ended {
		h.ended = false
		return kernel.EDEADLK.Ret()
	}
	h.VCPU = c
	buf := make([]byte, min(c.Arg(2), maxIO))
	n, err := h.Read(buf, c.Arg(3))
	h.waits = err == kernel.EAGAIN && h.Flags&oNonblock == 0
	if err != nil {
		return ret(err)
	}
	if err := fs.t.m.Write(c.Arg(1), buf[:n]); err != nil {
		return ret(err)
	}
	c.ChargeWork(uint64(n) * costFormat)
	return uint64(n)
}

// gateWrite: long tracefs_write(u64 handle, const char *kbuf, u64 len, u64 pos).
func (fs *FS) gateWrite(c *kernel.VCPU) uint64 {
	h := fs.open[c.Arg(0)]
	if h == nil {
		return kernel.EBADF.Ret()
	}
	h.VCPU = c
	buf := make([]byte, min(c.Arg(2), maxIO))
	if err := fs.t.m.Read(c.Arg(1), buf); err != nil {
		return ret(err)
	}
	n, err := h.Write(buf)
	if err != nil {
		return ret(err)
	}
	return uint64(n)
}

// gateRelease: long tracefs_release(u64 handle).
func (fs *FS) gateRelease(c *kernel.VCPU) uint64 {
	h := fs.open[c.Arg(0)]
	if h == nil {
		return kernel.EBADF.Ret()
	}
	delete(fs.open, c.Arg(0))
	h.VCPU = c
	return ret(h.Close())
}

// gateReadable: long tracefs_readable(u64 handle, u64 how): whether a read would not wait (how = 0), what poll(2) says (1), whether a
// splice would not wait (2). When it would, the next event wakes, or that which fills the ring enough.
func (fs *FS) gateReadable(c *kernel.VCPU) uint64 {
	h, how := fs.open[c.Arg(0)], c.Arg(1)
	switch {
	case h == nil || h.File.Ready == nil || h.ended && how == 0:
		return 1
	case how == 1:
		return uint64(b2i(polled(h)))
	case how == 2 && h.File.SpliceReady != nil:
		return uint64(b2i(h.File.SpliceReady(h)))
	case h.File.Ready(h):
		return 1
	}
	h.T.wait.forNext()
	return 0
}

// gateSplice: long tracefs_splice(u64 handle, char *page, u64 len, u64 waited): what the next buffer of a pipe gets from a splice of
// len bytes; 0: nothing more, EAGAIN: nothing yet. waited: the splice has slept meanwhile.
func (fs *FS) gateSplice(c *kernel.VCPU) uint64 {
	h := fs.open[c.Arg(0)]
	if h == nil || h.File.Splice == nil {
		return kernel.EINVAL.Ret()
	}
	h.VCPU = c
	buf := make([]byte, ring.PageSize)
	n, err := h.File.Splice(h, buf, c.Arg(2), c.Arg(3) != 0)
	if err != nil {
		return ret(err)
	}
	if err := fs.t.m.Write(c.Arg(1), buf[:n]); err != nil {
		return ret(err)
	}
	if h.File.SpliceReady == nil { // text; pages go as they are
		c.ChargeWork(uint64(n) * costFormat)
	}
	return uint64(n)
}
