package kprobe

// Check says why no probe can be put at an address; nil when one can. Listing and attaching use this one rule.
func (k *Kprobes) Check(addr uint64) error { return k.check(addr) }
