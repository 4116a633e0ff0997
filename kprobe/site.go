package kprobe

import (
	"fmt"
	"slices"

	"kscope/kernel"
)

// Probe is a kprobe: Linux's struct kprobe.
type Probe struct {
	Addr   uint64
	Name   string // says who made it
	Pre    func(h *Hit)
	Post   func(h *Hit)
	C      *GuestProbe // handlers in guest code; nil: none
	NoJump bool        // never becomes a jump
	Int3   bool        // step by an int3 behind the copy and by emulation, as 6.1 does; else by TF and #DB

	Hits   uint64 // times that Pre was called
	Missed uint64 // hits within a handler

	k       *Kprobes
	ret     *Ret   // that this is the entry of
	event   *Event // that it belongs to
	enabled bool
	serial  uint64
}

// Enabled says whether hits call the handlers.
func (p *Probe) Enabled() bool { return p.enabled }

// Kind is how the probe's place is patched: "ftrace", "int3" or "optimized"; see Unoptimized.
func (p *Probe) Kind() string {
	s := p.k.sites[p.Addr]
	switch {
	case s == nil || s.ftrace:
		return "ftrace"
	case s.opt != optNone:
		return "optimized"
	}
	return "int3"
}

// Unoptimized says why no jump can be at the probe; "" when one can, or when the probe goes through ftrace.
func (p *Probe) Unoptimized() string {
	s := p.k.sites[p.Addr]
	if s == nil || s.ftrace {
		return ""
	}
	if s.span == 0 && s.why == "" {
		s.span, s.why = p.k.optimizable(s.addr)
	}
	switch {
	case s.why != "":
		return s.why
	case s.hasPost():
		return "it has a post handler"
	case s.keepsInt3():
		return "it is asked to stay as it is"
	case p.k.probedWithin(s):
		return "another probe is within the 5 bytes"
	}
	return ""
}

// Registered says whether the probe still is in place.
func (p *Probe) Registered() bool {
	if p.k == nil {
		return false
	}
	s := p.k.sites[p.Addr]
	return s != nil && slices.Contains(s.probes, p)
}

// site is one probed address with its probes, newest first: Linux's aggregated kprobe.
type site struct {
	addr   uint64
	probes []*Probe
	ftrace bool
	armed  bool
	gone   bool // its module's text is: it is only in list, until its probes are unregistered

	// of an int3 site
	insn insn
	slot uint64
	int3 bool // how it steps: Probe.Int3 of its first probe

	opt      optState
	batch    bool // the grace period that has begun covers it
	span     int  // bytes that a jump covers; 0: not known, or none can be
	why      string
	detour   uint64
	gate     uint64 // that it calls
	from     uint64 // and from where it does
	cold     bool   // the site is in cold text
	orig     []byte // what the jump covers, once there is a detour
	restored bool   // the poke of restore has put the first byte back
}

// Register puts a probe in place, disabled. The errno is Linux's.
func (k *Kprobes) Register(p *Probe) error {
	k.reap()
	s := k.sites[p.Addr]
	if s == nil {
		var err error
		if s, err = k.newSite(p.Addr); err != nil {
			return err
		}
		s.int3 = p.Int3
		k.setSite(p.Addr, s)
	}
	if len(s.probes) == 0 {
		k.insert(s)
	}
	for _, other := range k.sites[p.Addr].probes {
		if other == p {
			return kernel.EINVAL
		}
	}
	p.k, p.enabled = k, false
	k.slots.serial++
	p.serial = k.slots.serial
	s.probes = append([]*Probe{p}, s.probes...)
	if s.hasPost() || p.NoJump {
		k.unoptimize(s, true)
	}
	return nil
}

// at is the site at an address; nil: none. A hit that asks finds the one of the last hit there: 8 ns less than the map.
func (k *Kprobes) at(addr uint64) *site {
	r := k.slot(addr)
	if s := *r; s != nil && s.addr == addr {
		return s
	}
	*r = k.sites[addr]
	return *r
}

func (k *Kprobes) slot(addr uint64) **site { return &k.recent[(addr^addr>>4)%uint64(len(k.recent))] }

// setSite makes a site known, or with nil forgotten.
func (k *Kprobes) setSite(addr uint64, s *site) {
	*k.slot(addr) = nil
	if s != nil {
		k.sites[addr] = s
		return
	}
	delete(k.sites, addr)
}

// bucket is where the kernel's hash table holds an address: hash_ptr(addr, KPROBE_HASH_BITS).
func bucket(addr uint64) uint64 { return addr * 0x61c8864680b583eb >> 58 }

// insert puts a site where kprobes/list shows it: by bucket, newest first.
func (k *Kprobes) insert(s *site) {
	i, _ := slices.BinarySearchFunc(k.list, bucket(s.addr), func(e *site, b uint64) int {
		if bucket(e.addr) < b {
			return -1
		}
		return 1
	})
	k.list = slices.Insert(k.list, i, s)
}

// newSite checks an address and prepares the copy of its instruction.
func (k *Kprobes) newSite(addr uint64) (*site, error) {
	if err := k.check(addr); err != nil {
		return nil, err
	}
	s := &site{addr: addr}
	if _, s.ftrace = k.t.Sites().At(addr); s.ftrace {
		return s, nil
	}
	in, err := k.decode(addr)
	if err == nil {
		err = in.probeable(addr)
	}
	if err != nil {
		return nil, err
	}
	if s.slot, err = k.slots.alloc(k.m); err != nil {
		return nil, err
	}
	s.insn = in
	code, err := in.copyTo(addr, s.slot)
	if err != nil {
		k.slots.give(s.slot)
		return nil, err
	}
	if k.mistake == "disp" {
		copy(code, in.bytes[:in.size])
	}
	k.m.ShadowWrite(s.slot, code)
	return s, nil
}

// Unregister takes a probe out.
func (k *Kprobes) Unregister(p *Probe) error {
	if k.bury(p) {
		return nil
	}
	s := k.sites[p.Addr]
	if s == nil || !slices.Contains(s.probes, p) {
		return kernel.EINVAL
	}
	p.enabled = false
	s.probes = slices.DeleteFunc(slices.Clone(s.probes), func(q *Probe) bool { return q == p })
	if err := k.arm(s); err != nil {
		return err
	}
	if len(s.probes) == 0 {
		k.list = slices.DeleteFunc(k.list, func(q *site) bool { return q == s })
		k.dying = append(k.dying, s)
		k.reap()
	}
	return nil
}

// bury takes a probe off the list whose module is gone.
func (k *Kprobes) bury(p *Probe) bool {
	for i, s := range k.list {
		if s.gone && slices.Contains(s.probes, p) {
			s.probes = slices.DeleteFunc(slices.Clone(s.probes), func(q *Probe) bool { return q == p })
			if len(s.probes) == 0 {
				k.list = slices.Delete(slices.Clone(k.list), i, i+1)
			}
			return true
		}
	}
	return false
}

// reap forgets the sites without probes. Until the guest has written an int3 site's original byte, CPUs run into the int3 and
// must find the copy; and one may have stopped in a slot.
func (k *Kprobes) reap() {
	if len(k.dying) == 0 || k.m.Text().Pending() {
		return
	}
	for i := range k.steps {
		if k.steps[i].site != nil {
			return
		}
	}
	var left []*site
	var inside map[uint64]bool // detours that somebody is in
	for _, s := range k.dying {
		if len(s.probes) > 0 || k.sites[s.addr] != s {
			continue // used again
		}
		if s.detour != 0 && inside == nil {
			inside = k.m.InDetour()
		}
		if s.opt != optNone || inside[s.detour] {
			left = append(left, s)
			continue
		}
		k.forget(s)
	}
	k.dying = left
}

// forget drops a site that nobody can come to any more.
func (k *Kprobes) forget(s *site) {
	k.setSite(s.addr, nil)
	if s.slot != 0 {
		k.slots.give(s.slot)
	}
	if s.detour != 0 {
		k.detours.put(s.detour, nil)
		k.m.DetourFree(s.detour)
	}
}

// Enable and Disable switch a probe; the first that is enabled at an address arms it, the last disarms it.
func (k *Kprobes) Enable(p *Probe) error  { return k.setEnabled(p, true) }
func (k *Kprobes) Disable(p *Probe) error { return k.setEnabled(p, false) }

func (k *Kprobes) setEnabled(p *Probe, on bool) error {
	if !p.Registered() {
		return kernel.EINVAL
	}
	if p.enabled == on {
		return nil
	}
	p.enabled = on
	return k.arm(k.sites[p.Addr])
}

// SetArmed is debugfs's kprobes/enabled: off disarms every site and leaves the probes as they are.
func (k *Kprobes) SetArmed(on bool) error {
	if on == !k.off {
		return nil
	}
	k.off = !on
	for _, s := range k.list {
		if err := k.arm(s); err != nil {
			return err
		}
	}
	if on {
		k.info("kprobes: Kprobes globally enabled")
	} else {
		k.info("kprobes: Kprobes globally disabled")
	}
	return nil
}

// wanted says whether a site must be armed.
func (k *Kprobes) wanted(s *site) bool {
	return !k.off && slices.ContainsFunc(s.probes, func(p *Probe) bool { return p.enabled })
}

// arm patches a site, or takes its patch back, when that is due.
func (k *Kprobes) arm(s *site) error {
	on := k.wanted(s)
	if on == s.armed {
		return nil
	}
	s.armed = on
	if s.ftrace {
		return k.armFtrace(s, on)
	}
	if on {
		for _, o := range k.jumpsOver(s) {
			k.unoptimize(o, true)
		}
		if s.opt == optNone {
			k.poke(s, kernel.Poke{Addr: s.addr, Old: []byte{s.insn.bytes[0]}, New: []byte{int3}})
		}
		k.optimize(s)
		return nil
	}
	s.restored = false
	k.unoptimize(s, k.off)
	if s.opt == optNone && !s.restored {
		k.poke(s, kernel.Poke{Addr: s.addr, Old: []byte{int3}, New: []byte{s.insn.bytes[0]}})
	}
	for _, o := range k.jumpsOver(s) {
		k.optimize(o)
	}
	return nil
}

// jumpsOver are the sites whose jumps cover s, or would: see get_optimized_kprobe.
func (k *Kprobes) jumpsOver(s *site) (out []*site) {
	for i := uint64(1); i < jumpSize; i++ {
		if o := k.sites[s.addr-i]; o != nil && !o.ftrace && uint64(o.span) > i {
			out = append(out, o)
		}
	}
	return out
}

func (k *Kprobes) name(s *site) string {
	if len(s.probes) > 0 && s.probes[0].Name != "" {
		return s.probes[0].Name
	}
	return k.m.Symbols().Format(s.addr)
}

// armFtrace adds a site to the filter of the op, or takes it out. An op without a filter would want every function.
func (k *Kprobes) armFtrace(s *site, on bool) error {
	sites := k.t.Sites()
	if on {
		k.op.Filter.Add(s.addr)
		if k.armed++; k.armed == 1 {
			return sites.Register(k.op)
		}
		return sites.Update(k.op.Name)
	}
	if k.armed--; k.armed == 0 {
		err := sites.Unregister(k.op)
		k.op.Filter.Remove(s.addr)
		return err
	}
	k.op.Filter.Remove(s.addr)
	return sites.Update(k.op.Name)
}

// List is kprobes/list of debugfs; see report_probe in kernel/kprobes.c.
func (k *Kprobes) List() string {
	var b []byte
	for _, s := range k.list {
		sym, off := k.m.Symbols().At(s.addr)
		for _, p := range s.probes {
			kind, flags := 'k', ""
			if p.ret != nil {
				kind = 'r'
			}
			if s.gone {
				flags = "[GONE]"
			} else if !p.enabled {
				flags = "[DISABLED]"
			}
			if s.opt != optNone {
				flags += "[OPTIMIZED]"
			}
			if s.ftrace {
				flags += "[FTRACE]"
			}
			if s.gone { // kallsyms has no name for the place
				b = fmt.Appendf(b, "%016x  %c  0x%016x %s\n", s.addr, kind, s.addr, flags)
				continue
			}
			mod := sym.Module
			if mod == "" {
				mod = " "
			}
			b = fmt.Appendf(b, "%016x  %c  %s+0x%x  %s %s\n", s.addr, kind, sym.Name, off, mod, flags)
		}
	}
	return string(b)
}

func (c *copier) site(s *site) *site {
	n := &site{}
	*n = *s
	n.probes = nil
	for _, p := range s.probes {
		n.probes = append(n.probes, c.probe(p))
	}
	return n
}

func (c *copier) probe(p *Probe) *Probe {
	if n := c.probes[p]; n != nil {
		return n
	}
	if p.ret != nil {
		return &c.ret(p.ret).Probe
	}
	n := &Probe{} // its handlers in guest code never change
	*n = *p
	c.probes[p] = n
	n.k = c.k
	return n
}
