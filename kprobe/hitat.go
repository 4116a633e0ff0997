package kprobe

import "kscope/kernel"

// HitAt is a Hit for handlers that come by other ways than a probe: host hooks, clocks and ftrace ops. regs is a struct pt_regs
// in guest memory, 0: the CPU's own registers; ip is where the code is. Like every Hit it is good until the CPU's next one.
func (k *Kprobes) HitAt(c *kernel.VCPU, regs, ip uint64) *Hit {
	h := k.newHit(c, regs, ip)
	p := &k.hits[c.ID].place
	*p = Probe{Addr: ip}
	h.Probe, h.partial = p, regs != 0
	return h
}
