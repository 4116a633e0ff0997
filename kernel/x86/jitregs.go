//go:build linux && amd64 && !race

package x86

// Guest registers in host code.
//
// Ten guest registers, those that gcc likes, live in host registers while host code runs; hostCall loads and stores them. The
// others stay in their slots of CPU.r, which are within a byte's displacement of rbx. So code is rather dense.
// Rejected: copies by block of what is stored to CPU.r at once.

// fixed gives the host register of a guest register; 0: it stays in its slot.
var fixed = [numSlots]uint8{RAX: hSI, RDI: hDI, RDX: h8, RSI: h9, RBX: h10, RCX: h11, RBP: h14, RSP: h15, R12: h13, R13: h12}

// home is the displacement of a register's bytes from rbx.
func home(off uint8) int32 { return int32(off) - cpuBias }

// get returns a host register with the 64 bits of the guest register at byte offset off: scratch when it is not fixed.
func (t *translator) get(off, scratch uint8) uint8 {
	if h := fixed[off>>3]; h != 0 {
		return h
	}
	t.hot.rm(3, opMov, scratch, hBX, home(off&^7))
	return scratch
}

// operand is get for an operand of a size, whose upper bits are anything.
func (t *translator) operand(off, sz, scratch uint8) uint8 {
	switch h := fixed[off>>3]; {
	case h != 0 && off&7 == 0:
		return h
	case sz >= 2:
		t.hot.rm(sz, opMov, scratch, hBX, home(off))
		return scratch
	}
	t.read(off, sz, scratch)
	return scratch
}

// read moves the low bytes of a guest register to a scratch register, zero-extended.
func (t *translator) read(off, sz, scratch uint8) {
	h := fixed[off>>3]
	switch {
	case h == 0:
		t.hot.load(sz, scratch, hBX, home(off))
	case off&7 != 0: // ah and the like: by way of its slot
		t.hot.rm(3, opStore, h, hBX, home(off&^7))
		t.hot.load(sz, scratch, hBX, home(off))
	case sz == 0:
		t.hot.rr8(2, opMovzx8, scratch, h)
	case sz == 1:
		t.hot.rr(2, opMovzx16, scratch, h)
	default:
		t.hot.rr(sz, opMov, scratch, h)
	}
}

// write sets a guest register to the low bytes of a scratch register, as an instruction of that size does.
func (t *translator) write(off, sz, from uint8) {
	h := fixed[off>>3]
	switch {
	case h == 0 && sz == 2:
		t.hot.rr(2, opMov, from, from)
		t.hot.rm(3, opStore, from, hBX, home(off))
	case h == 0:
		t.hot.store(sz, from, hBX, home(off))
	case off&7 != 0:
		t.hot.rm(3, opStore, h, hBX, home(off&^7))
		t.hot.store(sz, from, hBX, home(off))
		t.hot.rm(3, opMov, h, hBX, home(off&^7))
	default:
		t.hot.rr(sz, sized(sz, opMov), h, from)
	}
}

// def returns where a result of 32 or 64 bits is made: the register, or scratch, which keep then stores.
func (t *translator) def(off, scratch uint8) uint8 {
	if h := fixed[off>>3]; h != 0 {
		return h
	}
	return scratch
}

// keep stores a result of 64 bits that was made in scratch.
func (t *translator) keep(off, r uint8) {
	if fixed[off>>3] == 0 {
		t.hot.rm(3, opStore, r, hBX, home(off))
	}
}
