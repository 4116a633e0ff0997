package x86

import "kscope/kernel/mem"

// The MSRs that x86 owns; Env serves the rest.
const (
	msrTSC     = 0x10
	msrPAT     = 0x277
	msrEFER    = 0xc0000080
	msrSTAR    = 0xc0000081
	msrLSTAR   = 0xc0000082
	msrCSTAR   = 0xc0000083
	msrFMASK   = 0xc0000084
	msrFSBase  = 0xc0000100
	msrGSBase  = 0xc0000101
	msrKGSBase = 0xc0000102
	msrTSCAux  = 0xc0000103
)

// msr returns where an owned MSR lives, and whether its values must be canonical addresses.
func (c *CPU) msr(n uint32) (p *uint64, canonical bool) {
	switch n {
	case msrPAT:
		return &c.pat, false
	case msrEFER:
		return &c.efer, false
	case msrSTAR:
		return &c.star, false
	case msrLSTAR:
		return &c.lstar, true
	case msrCSTAR:
		return &c.cstar, true
	case msrFMASK:
		return &c.fmask, false
	case msrFSBase:
		return &c.r[slotFS/8], true
	case msrGSBase:
		return &c.r[slotGS/8], true
	case msrKGSBase:
		return &c.kgsBase, true
	case msrTSCAux:
		return &c.tscAux, false
	}
	return nil, false
}

func (c *CPU) opRdmsr(u *uop) int {
	if !c.privileged() {
		return stFault
	}
	c.sync()
	n := uint32(c.r[RCX])
	var v uint64
	if p, _ := c.msr(n); p != nil {
		v = *p
	} else if n == msrTSC {
		v = c.env.TSC(c)
	} else {
		var ok bool
		if v, ok = c.env.RDMSR(c, n); !ok {
			return c.raiseGP(0)
		}
	}
	c.r[RAX], c.r[RDX] = uint64(uint32(v)), v>>32
	return stNext
}

func (c *CPU) opWrmsr(u *uop) int {
	if !c.privileged() {
		return stFault
	}
	c.sync()
	n, v := uint32(c.r[RCX]), c.r[RDX]<<32|uint64(uint32(c.r[RAX]))
	p, canonical := c.msr(n)
	switch {
	case p == nil:
		if !c.env.WRMSR(c, n, v) {
			return c.raiseGP(0)
		}
	case canonical && !mem.Canonical(v):
		return c.raiseGP(0)
	case n == msrEFER:
		if v&^(eferSCE|eferLME|eferLMA|eferNXE) != 0 || v&eferLME == 0 {
			return c.raiseGP(0)
		}
		*p = v | eferLMA
		c.flushAll()
	default:
		*p = v
	}
	return c.resync(u)
}

// opCPUID reports what the executor does; Env may answer first, for the topology.
func (c *CPU) opCPUID(u *uop) int {
	leaf, sub := uint32(c.r[RAX]), uint32(c.r[RCX])
	a, b, cx, d, ok := c.env.CPUID(c, leaf, sub)
	if !ok {
		a, b, cx, d = c.cpuid(leaf)
	}
	c.r[RAX], c.r[RBX], c.r[RCX], c.r[RDX] = uint64(a), uint64(b), uint64(cx), uint64(d)
	return c.resync(u)
}

func (c *CPU) cpuid(leaf uint32) (a, b, cx, d uint32) {
	const (
		pse, tsc, msr, pae, cx8 = 1 << 3, 1 << 4, 1 << 5, 1 << 6, 1 << 8
		apic, pge, cmov, pat    = 1 << 9, 1 << 13, 1 << 15, 1 << 16
		clfsh                   = 1 << 19

		cx16, x2apic, popcnt, deadline, hypervisor = 1 << 13, 1 << 21, 1 << 23, 1 << 24, 1 << 31

		smep, erms, fsgsbase = 1 << 7, 1 << 9, 1 << 0
	)
	switch leaf {
	case 0:
		return 0xb, 0x756e6547, 0x6c65746e, 0x49656e69 // "GenuineIntel"
	case 1:
		return 0x000306a9, uint32(c.ID)<<24 | 8<<8, cx16 | x2apic | popcnt | deadline | hypervisor,
			pse | tsc | msr | pae | cx8 | apic | pge | cmov | pat | clfsh
	case 7:
		return 0, smep | erms | fsgsbase, 0, 0
	case 0x80000000:
		return 0x80000008, 0, 0, 0
	case 0x80000001:
		return 0, 0, 1, 1<<11 | 1<<20 | 1<<26 | 1<<27 | 1<<29 // syscall, nx, 1 GiB pages, rdtscp, long mode; lahf
	case 0x80000002, 0x80000003, 0x80000004:
		const name = "kscope virtual CPU\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"
		word := func(i uint32) uint32 {
			i = (leaf-0x80000002)*16 + i*4
			return uint32(name[i]) | uint32(name[i+1])<<8 | uint32(name[i+2])<<16 | uint32(name[i+3])<<24
		}
		return word(0), word(1), word(2), word(3)
	case 0x80000007:
		return 0, 0, 0, 1 << 8 // invariant TSC
	case 0x80000008:
		return 48<<8 | mem.PhysBits, 0, 0, 0
	}
	return 0, 0, 0, 0
}
