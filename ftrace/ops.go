package ftrace

import (
	"fmt"
	"slices"

	"kscope/kernel"
)

// Ops is a callback on call sites with its filter: Linux's struct ftrace_ops.
type Ops struct {
	Name    string // says who patched, in Text's history
	Gate    string // the gate symbol that its own trampoline calls
	Regs    bool   // wants all registers (FTRACE_OPS_FL_SAVE_REGS)
	Filter  *Hash  // nil or empty: every function
	Notrace *Hash

	// Entry, with Regs, does in one step what the op's own trampoline would: it saves the registers, calls CallOwn and loads them
	// again. May be nil.
	Entry kernel.Gate

	// Call is the callback: ip is the site, parent the return address, regs the address of the saved registers
	// (struct pt_regs, whole with Regs).
	Call func(c *kernel.VCPU, ip, parent, regs uint64)

	registered bool
	id         int
	tramp      uint64
	gate, from uint64 // what tramp calls, and the address behind its call
}

// Wants says whether the op traces the site at ip (ftrace_ops_test).
func (o *Ops) Wants(ip uint64) bool {
	return (o.Filter.Empty() || o.Filter.Has(ip)) && !o.Notrace.Has(ip)
}

// Registered says whether the op is active.
func (o *Ops) Registered() bool { return o.registered }

// Trampoline is the address of the op's own trampoline, 0 when it has none.
func (o *Ops) Trampoline() uint64 { return o.tramp }

// Register makes an op active: its trampoline is built and the patches of its sites are queued.
func (s *Sites) Register(o *Ops) error {
	if o.registered {
		return kernel.EBUSY
	}
	o.id = s.newID(o)
	if err := s.build(o); err != nil {
		s.byID[o.id] = nil
		return err
	}
	o.registered = true
	s.ops = append([]*Ops{o}, s.ops...)
	return s.Update(o.Name)
}

// Unregister takes an op off its sites. Its trampoline lives until no site calls it.
func (s *Sites) Unregister(o *Ops) error {
	if !o.registered {
		return kernel.EINVAL
	}
	o.registered = false
	for i := range s.ops {
		if s.ops[i] == o {
			s.ops = slices.Concat(s.ops[:i], s.ops[i+1:])
			break
		}
	}
	err := s.Update(o.Name)
	s.byID[o.id] = nil
	s.dead = append(s.dead, o.tramp)
	o.tramp = 0
	s.bury()
	return err
}

// newID finds a free id for an op. An id stays free for use only after its trampoline is gone.
func (s *Sites) newID(o *Ops) int {
	s.bury()
	if len(s.dead) == 0 {
		for i := 1; i < len(s.byID); i++ {
			if s.byID[i] == nil {
				s.byID[i] = o
				return i
			}
		}
	}
	s.byID = append(s.byID, o)
	return len(s.byID) - 1
}

// bury frees trampolines that no site calls. Once the queued patches are written and synced no CPU can come into one; and
// none is inside, since no interrupt or slice end is taken in shadow text, but for a callback that unregisters or has
// stopped the machine: then they wait for the next change.
func (s *Sites) bury() {
	if s.m.Text().Pending() || s.inside > 0 {
		return
	}
	for i := range s.m.NumCPU() {
		if c := s.m.VCPU(i); c != s.m.Running() && c.CPU.InShadow() {
			return
		}
	}
	for _, va := range s.dead {
		s.m.ShadowFree(va)
	}
	s.dead = nil
}

// SetEnabled is /proc/sys/kernel/ftrace_enabled: 0 turns every site into a nop.
func (s *Sites) SetEnabled(on bool) error {
	s.enabled = on
	return s.Update("ftrace_enabled")
}

// Update recomputes every record from the registered ops and queues what changed. Call it after a change of a registered
// op's hashes.
func (s *Sites) Update(by string) error {
	var pokes []kernel.Poke
	for i := range s.recs {
		if p, ok := s.recompute(&s.recs[i]); ok {
			pokes = append(pokes, p)
		}
	}
	if len(pokes) == 0 {
		return nil
	}
	if err := s.m.Text().Queue("ftrace "+by, pokes); err != nil {
		return fmt.Errorf("patching for %s: %w", by, err)
	}
	return nil
}

// recompute finds what a record's site must call now; ok says that it must be patched, and p how.
func (s *Sites) recompute(r *Record) (p kernel.Poke, ok bool) {
	r.refs, r.regs, r.only = 0, false, nil
	if s.enabled {
		for _, o := range s.ops {
			if o.Wants(r.IP) {
				r.refs++
				r.regs = r.regs || o.Regs
				r.only = o
			}
		}
	}
	if r.refs != 1 {
		r.only = nil
	}
	to := s.targetOf(r)
	if to == r.target {
		return p, false
	}
	was, now := site(r.IP, r.target), site(r.IP, to)
	r.target = to
	return kernel.Poke{Addr: r.IP, Old: was[:], New: now[:]}, true
}

// targetOf is what a site must call; see ftrace_get_addr_new.
func (s *Sites) targetOf(r *Record) uint64 {
	switch {
	case r.refs == 0:
		return 0
	case r.only != nil:
		return r.only.tramp
	case r.regs:
		return s.tmpl[1].shared
	}
	return s.tmpl[0].shared
}

// site is the instruction of a call site: a call, or a nop when there is nothing to call.
func site(ip, to uint64) [siteSize]byte {
	if to == 0 {
		return nop5
	}
	return call(ip, to)
}

// listFunc is arch_ftrace_ops_list_func: it calls each op that wants the site, newest first.
func (s *Sites) listFunc(c *kernel.VCPU, ip, parent, regs uint64) {
	for _, o := range s.ops { // the list as it is now: a callback that changes it makes a new one
		if o.registered && o.Wants(ip) {
			o.Call(c, ip, parent, regs)
		}
	}
}

// own calls the op whose trampoline passed id.
func (s *Sites) own(id uint64) *Ops {
	if id < uint64(len(s.byID)) {
		return s.byID[id]
	}
	return nil
}

// enabledText is enabled_functions; see t_show in kernel/trace/ftrace.c.
func (s *Sites) enabledText(b []byte) []byte {
	syms := s.m.Symbols()
	for i := range s.recs {
		r := &s.recs[i]
		if r.refs == 0 {
			continue
		}
		flag := "  "
		if r.regs {
			flag = " R"
		}
		b = fmt.Appendf(b, "%s (%d)%s    ", r.symbol(), r.refs, flag)
		if o := r.only; o != nil {
			fn := syms.Format(s.gateAddr(o))
			b = fmt.Appendf(b, "\ttramp: 0x%x (%s) ->%s", o.tramp, fn, fn) // %pS has no name for it in 6.1
		} else if list, ok := syms.Lookup("arch_ftrace_ops_list_func"); ok {
			b = fmt.Appendf(b, " ->%s", syms.Format(list))
		}
		b = append(b, '\n')
	}
	return b
}
