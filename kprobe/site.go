package kprobe

import (
	"fmt"
	"slices"

	"kscope/kernel"
)

// Probe is a kprobe: Linux's struct kprobe.
type Probe struct {
	Addr uint64
	Name string // says who made it
	Pre  func(h *Hit)
	Post func(h *Hit)

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

// Kind is how the probe's place is patched: "ftrace" or "int3".
func (p *Probe) Kind() string {
	if s := p.k.sites[p.Addr]; s != nil && !s.ftrace {
		return "int3"
	}
	return "ftrace"
}

// Registered says whether the probe still is in place.
func (p *Probe) Registered() bool {
	s := p.k.sites[p.Addr]
	return s != nil && slices.Contains(s.probes, p)
}

// site is one probed address with its probes, newest first: Linux's aggregated kprobe.
type site struct {
	addr   uint64
	probes []*Probe
	ftrace bool
	armed  bool

	// of an int3 site
	insn insn
	slot uint64
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
		k.sites[p.Addr] = s
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
	return nil
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
	k.m.ShadowWrite(s.slot, code)
	return s, nil
}

// Unregister takes a probe out.
func (k *Kprobes) Unregister(p *Probe) error {
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
	for _, s := range k.dying {
		if len(s.probes) > 0 || k.sites[s.addr] != s {
			continue // used again
		}
		delete(k.sites, s.addr)
		if s.slot != 0 {
			k.slots.give(s.slot)
		}
	}
	k.dying = nil
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
	k.off = !on
	for _, s := range k.list {
		if err := k.arm(s); err != nil {
			return err
		}
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
	was, now := []byte{s.insn.bytes[0]}, []byte{int3}
	if !on {
		was, now = now, was
	}
	if err := k.m.Text().Queue("kprobe "+k.name(s), []kernel.Poke{{Addr: s.addr, Old: was, New: now}}); err != nil {
		return fmt.Errorf("patching for a kprobe: %w", err)
	}
	return nil
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
			if !p.enabled {
				flags = "[DISABLED]"
			}
			if s.ftrace {
				flags += "[FTRACE]"
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
	n := &Probe{}
	*n = *p
	c.probes[p] = n
	n.k = c.k
	return n
}
