package kernel

import "kscope/kernel/x86"

// This file is the rest of x86.Env: what the machine tells its CPUs beside MSRs (apic.go), gates (gates.go) and counters.

// TSC counts at 1 GHz: it is t.
func (v *VCPU) TSC(*x86.CPU) uint64 { return v.Now() }

// CPUID serves the topology leaves: every vCPU is a core of its own in one package, and the TSC runs at 1 GHz.
func (v *VCPU) CPUID(_ *x86.CPU, leaf, sub uint32) (a, b, c, d uint32, ok bool) {
	switch leaf {
	case 0xb: // extended topology: one thread per core, then all cores
		n := uint32(len(v.m.cpus))
		shift := uint32(0)
		for 1<<shift < n {
			shift++
		}
		switch sub {
		case 0:
			return 0, 1, 1<<8 | sub, uint32(v.ID), true
		case 1:
			return shift, n, 2<<8 | sub, uint32(v.ID), true
		}
		return 0, 0, sub & 0xff, uint32(v.ID), true
	case 0x15: // TSC / crystal = 1/1, crystal 1 GHz
		return 1, 1, 1_000_000_000, 0, true
	case 0x16: // base, max and bus MHz
		return 1000, 1000, 100, 0, true
	}
	return 0, 0, 0, 0, false
}

// HostCode says when guest code is translated to the host's.
func (v *VCPU) HostCode() int {
	if v.m.cfg.Interpret {
		return 0
	}
	return x86.WarmBlock
}

// KeepDeadStack says that probes may leave nothing behind below the stack pointer.
func (v *VCPU) KeepDeadStack() bool { return v.m.cfg.Overhead == OverheadNone }

// costCodeStore is the machine clear that a store to text costs its CPU, in ns.
const costCodeStore = 100

// CodeWrite is told of a guest store to a frame that holds decoded code, before it happens: the other CPUs keep what they
// have fetched.
func (v *VCPU) CodeWrite(c *x86.CPU, pa uint64, n int) {
	if c == nil {
		return // the host's own writes decide for themselves: Text.hold, writeCode
	}
	v.m.text.stored(v, pa, n)
	v.m.settle(v, false)
	v.off += costCodeStore
	c.RequestStop()
}
