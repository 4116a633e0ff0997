package x86

import "math/bits"

// Arithmetic flags are kept as the last operation that set them and computed when read. fa is the result, sign-extended,
// fb the second operand; the first operand of a SUB is fa+fb, of an ADD fa-fb. So ZF is fa == 0 and SF fa < 0 for
// every kind but kODD. The low two bits of fop are log2 of the size in bytes.
const (
	kSUB   = 0 << 2
	kADD   = 1 << 2
	kLOGIC = 2 << 2
	kRES   = 3 << 2 // CF, AF, OF are in fb
	kINC   = 4 << 2 // CF is that of sop, sa, sb
	kDEC   = 5 << 2
	kEXP   = 6<<2 | 3 // fb holds all six; fa agrees with ZF and SF
	kODD   = 7<<2 | 3 // fb holds all six; ZF and SF are both set, which no fa can say

	flagCF    = FlagCF
	flagOF    = FlagOF
	arithMask = FlagCF | FlagPF | FlagAF | FlagZF | FlagSF | FlagOF
)

// Flags returns RFLAGS.
func (c *CPU) Flags() uint64 { return c.arith() | c.sys | 2 }

// IF tells whether interrupts are enabled: Flags without the arithmetic.
func (c *CPU) IF() bool { return c.sys&FlagIF != 0 }

// SetFlags sets RFLAGS, all of it.
func (c *CPU) SetFlags(v uint64) {
	c.setArith(v)
	c.sys = v &^ (arithMask | 2 | 1<<3 | 1<<5 | 1<<15) & (1<<22 - 1)
}

func (c *CPU) setArith(v uint64) {
	v &= arithMask
	c.fop, c.fb = kEXP, v
	switch v & (FlagZF | FlagSF) {
	case FlagZF:
		c.fa = 0
	case FlagSF:
		c.fa = ^uint64(0)
	case 0:
		c.fa = 1
	default:
		c.fop, c.fa = kODD, 0
	}
}

// szp returns SF, ZF and PF of a sign-extended result.
func szp(r uint64) uint64 {
	var f uint64
	if r == 0 {
		f = FlagZF
	}
	if int64(r) < 0 {
		f |= FlagSF
	}
	if bits.OnesCount8(uint8(r))&1 == 0 {
		f |= FlagPF
	}
	return f
}

func sizeMask(sz uint8) uint64 { return ^uint64(0) >> (64 - 8<<sz) }

// signExtend widens the low bits of v.
func signExtend(v uint64, sz uint8) uint64 {
	n := 64 - 8<<sz
	return uint64(int64(v<<n) >> n)
}

// arith computes the six arithmetic flags.
func (c *CPU) arith() uint64 {
	if c.fop >= kINC && c.fop < kEXP {
		return incFlags(c.fop, c.fa) | arithOf(c.sop, c.sa, c.sb)&FlagCF
	}
	return arithOf(c.fop, c.fa, c.fb)
}

// arithOf computes the flags of every kind but kINC and kDEC, which are not saved for one another.
func arithOf(fop uint8, fa, fb uint64) uint64 {
	sz := fop & 3
	m, top := sizeMask(sz), uint(8)<<sz-1
	r, b := fa&m, fb&m
	switch fop &^ 3 {
	case kSUB:
		a := (r + b) & m
		f := szp(fa) | (a^b^r)&FlagAF
		if a < b {
			f |= FlagCF
		}
		return f | (a^b)&(a^r)>>top&1*FlagOF
	case kADD:
		a := (r - b) & m
		f := szp(fa) | (a^b^r)&FlagAF
		if r < a {
			f |= FlagCF
		}
		return f | ^(a^b)&(a^r)>>top&1*FlagOF
	case kLOGIC:
		return szp(fa)
	case kRES:
		return szp(fa) | fb
	}
	return fb
}

// incFlags computes the flags of inc and dec, but for CF.
func incFlags(fop uint8, fa uint64) uint64 {
	sz := fop & 3
	top := uint(8)<<sz - 1
	f := szp(fa)
	edge, low := uint64(1)<<top, uint64(0) // inc overflows to the most negative number, and carries out of bit 3 to 0
	if fop&^3 == kDEC {
		edge, low = 1<<top-1, 15
	}
	r := fa & sizeMask(sz)
	if r == edge {
		f |= FlagOF
	}
	if r&15 == low {
		f |= FlagAF
	}
	return f
}

func (c *CPU) cf() uint64 { return c.arith() & FlagCF }

// setRes records a result whose CF, AF and OF are given.
func (c *CPU) setRes(r uint64, sz uint8, cao uint64) {
	c.fop, c.fa, c.fb = kRES|sz, signExtend(r, sz), cao
}

// cond evaluates condition code cc.
func (c *CPU) cond(cc uint8) bool {
	f := c.arith()
	var t bool
	switch cc >> 1 {
	case 0:
		t = f&FlagOF != 0
	case 1:
		t = f&FlagCF != 0
	case 2:
		t = f&FlagZF != 0
	case 3:
		t = f&(FlagCF|FlagZF) != 0
	case 4:
		t = f&FlagSF != 0
	case 5:
		t = f&FlagPF != 0
	case 6:
		t = f&FlagSF != 0 != (f&FlagOF != 0)
	case 7:
		t = f&FlagZF != 0 || f&FlagSF != 0 != (f&FlagOF != 0)
	}
	return t != (cc&1 != 0)
}

// adc and sbb return the result and set the flags.
func (c *CPU) adc(a, b uint64, sz uint8) uint64 {
	m, top := sizeMask(sz), uint(8)<<sz-1
	cin := c.cf()
	r := (a + b + cin) & m
	f := (a ^ b ^ r) & FlagAF
	if r < a || cin == 1 && r == a {
		f |= FlagCF
	}
	f |= ^(a ^ b) & (a ^ r) >> top & 1 * FlagOF
	c.setRes(r, sz, f)
	return r
}

func (c *CPU) sbb(a, b uint64, sz uint8) uint64 {
	m, top := sizeMask(sz), uint(8)<<sz-1
	cin := c.cf()
	r := (a - b - cin) & m
	f := (a ^ b ^ r) & FlagAF
	if a < b || cin == 1 && a == b {
		f |= FlagCF
	}
	f |= (a ^ b) & (a ^ r) >> top & 1 * FlagOF
	c.setRes(r, sz, f)
	return r
}
