package x86

import "math/bits"

// count returns the masked shift count: CL when the uop's m is 1.
func (c *CPU) count(u *uop) uint64 {
	n := u.imm
	if u.m == 1 {
		n = c.r[RCX]
	}
	if u.sc == 3 {
		return n & 63
	}
	return n & 31
}

// opShift is every shift and rotate that has no fast uop: sc is the size, x the /r number.
func (c *CPU) opShift(u *uop) int {
	n, sz := c.count(u), u.sc
	v := c.reg(u.d, sz)
	if n == 0 {
		c.setReg(u.d, sz, v)
		return stNext
	}
	if u.x < 4 {
		c.rotate(u, v, n)
		return stNext
	}
	w := uint64(8) << sz
	m := sizeMask(sz)
	var r, cf, of uint64
	switch u.x {
	case 4, 6:
		r = v << n & m
		if n <= w {
			cf = v >> (w - n) & 1
		}
		of = r>>(w-1)&1 ^ cf
	case 5:
		r, cf, of = v>>n, v>>(n-1)&1, v>>(w-1)
	default:
		s := int64(signExtend(v, sz))
		r, cf = uint64(s>>n)&m, uint64(s>>(n-1))&1
	}
	c.setRes(r, sz, cf|of*FlagOF)
	c.setReg(u.d, sz, r)
	return stNext
}

// rotate changes CF and OF only.
func (c *CPU) rotate(u *uop, v, n uint64) {
	w := uint64(8) << u.sc
	m, f := sizeMask(u.sc), c.arith()
	cf := f & FlagCF
	r := v
	switch u.x {
	case 0:
		k := n % w
		r = (v<<k | v>>(w-k)) & m
		cf = r & 1
	case 1:
		k := n % w
		r = (v>>k | v<<(w-k)) & m
		cf = r >> (w - 1)
	case 2:
		for range n % (w + 1) {
			top := r >> (w - 1) & 1
			r = (r<<1 | cf) & m
			cf = top
		}
	case 3:
		for range n % (w + 1) {
			low := r & 1
			r = r>>1 | cf<<(w-1)
			cf = low
		}
	}
	of := r>>(w-1)&1 ^ cf
	if u.x&1 == 1 {
		of = r>>(w-1)&1 ^ r>>(w-2)&1
	}
	c.setArith(f&^(FlagCF|FlagOF) | cf | of*FlagOF)
	c.setReg(u.d, u.sc, r)
}

func (c *CPU) opShld(u *uop) int { return c.doubleShift(u, true) }
func (c *CPU) opShrd(u *uop) int { return c.doubleShift(u, false) }

func (c *CPU) doubleShift(u *uop, left bool) int {
	n, sz := c.count(u), u.sc
	w := uint64(8) << sz
	v, s := c.reg(u.d, sz), c.reg(u.s, sz)
	if n == 0 || n > w { // n > 16 with 16 bits: undefined
		c.setReg(u.d, sz, v)
		return stNext
	}
	var r, cf uint64
	if left {
		r, cf = v<<n|s>>(w-n), v>>(w-n)&1
	} else {
		r, cf = v>>n|s<<(w-n), v>>(n-1)&1
	}
	r &= sizeMask(sz)
	c.setRes(r, sz, cf|(r^v)>>(w-1)&1*FlagOF)
	c.setReg(u.d, sz, r)
	return stNext
}

// wide writes a double-width result to AX, or to DX:AX in their sizes.
func (c *CPU) wide(lo, hi uint64, sz uint8) {
	if sz == 0 {
		c.setReg(RAX*8, 1, lo&255|hi<<8)
		return
	}
	c.setReg(RAX*8, sz, lo)
	c.setReg(RDX*8, sz, hi)
}

func (c *CPU) mulFlags(lo uint64, sz uint8, over bool) int {
	var f uint64
	if over {
		f = FlagCF | FlagOF
	}
	c.setRes(lo, sz, f)
	return stNext
}

func (c *CPU) opMul1(u *uop) int { // 8 and 16 bits
	w := uint64(8) << u.sc
	p := c.reg(RAX*8, u.sc) * c.reg(u.s, u.sc)
	lo, hi := p&sizeMask(u.sc), p>>w
	c.wide(lo, hi, u.sc)
	return c.mulFlags(lo, u.sc, hi != 0)
}

func (c *CPU) opImul1(u *uop) int {
	a, b := signExtend(c.reg(RAX*8, u.sc), u.sc), signExtend(c.reg(u.s, u.sc), u.sc)
	if u.sc == 3 {
		hi, lo := bits.Mul64(a, b)
		hi -= uint64(int64(a)>>63)&b + uint64(int64(b)>>63)&a
		c.wide(lo, hi, 3)
		return c.mulFlags(lo, 3, hi != uint64(int64(lo)>>63))
	}
	w := uint64(8) << u.sc
	p := a * b
	lo := p & sizeMask(u.sc)
	c.wide(lo, p>>w&sizeMask(u.sc), u.sc)
	return c.mulFlags(lo, u.sc, p != signExtend(lo, u.sc))
}

// dividend of the sizes below 64 bits.
func (c *CPU) dividend(sz uint8) uint64 {
	if sz == 0 {
		return c.reg(RAX*8, 1)
	}
	w := uint64(8) << sz
	return c.reg(RDX*8, sz)<<w | c.reg(RAX*8, sz)
}

func (c *CPU) opDiv1(u *uop) int { // 8 and 16 bits
	n, d := c.dividend(u.sc), c.reg(u.s, u.sc)
	if d == 0 || n/d > sizeMask(u.sc) {
		return c.raise(VecDE, 0, false)
	}
	c.wide(n/d, n%d, u.sc)
	return stNext
}

func (c *CPU) opIdiv1(u *uop) int {
	d := int64(signExtend(c.reg(u.s, u.sc), u.sc))
	if d == 0 {
		return c.raise(VecDE, 0, false)
	}
	if u.sc == 3 {
		return c.idiv128(uint64(d))
	}
	n := int64(signExtend(c.dividend(u.sc), u.sc+1))
	q := n / d
	if n == -1<<63 && d == -1 || uint64(q) != signExtend(uint64(q), u.sc) {
		return c.raise(VecDE, 0, false)
	}
	c.wide(uint64(q)&sizeMask(u.sc), uint64(n%d)&sizeMask(u.sc), u.sc)
	return stNext
}

func (c *CPU) idiv128(d uint64) int {
	hi, lo := c.r[RDX], c.r[RAX]
	negN, negD := int64(hi) < 0, int64(d) < 0
	if negN {
		lo = -lo
		hi = ^hi
		if lo == 0 {
			hi++
		}
	}
	if negD {
		d = -d
	}
	if hi >= d {
		return c.raise(VecDE, 0, false)
	}
	q, r := bits.Div64(hi, lo, d)
	limit := uint64(1)<<63 - 1
	if negN != negD {
		q, limit = -q, limit+1
		if -q > limit {
			return c.raise(VecDE, 0, false)
		}
	} else if q > limit {
		return c.raise(VecDE, 0, false)
	}
	if negN {
		r = -r
	}
	c.r[RAX], c.r[RDX] = q, r
	return stNext
}

func (c *CPU) setCF(bit uint64) { c.setArith(c.arith()&^FlagCF | bit&1) }

func flipBit(v, mask uint64, kind uint8) uint64 {
	switch kind {
	case 1:
		return v | mask
	case 2:
		return v &^ mask
	case 3:
		return v ^ mask
	}
	return v
}

// opBit is bt, bts, btr, btc (x) of register slot d; the bit number is imm or, when m is 1, register s.
func (c *CPU) opBit(u *uop) int {
	n := u.imm
	if u.m == 1 {
		n = c.reg(u.s, u.sc)
	}
	n &= 8<<u.sc - 1
	v := c.reg(u.d, u.sc)
	c.setCF(v >> n)
	if u.x != 0 {
		c.setReg(u.d, u.sc, flipBit(v, 1<<n, u.x))
	}
	return stNext
}

// opBitMem is the same (d) on memory, where register s of size imm selects the word too.
func (c *CPU) opBitMem(u *uop) int {
	sz := uint8(u.imm)
	n := int64(signExtend(c.reg(u.s, sz), sz))
	size := int64(1) << sz
	va := c.ea(u) + uint64(n>>(3+sz)*size)
	bit := uint64(n) & uint64(8*size-1)
	if u.d == 0 {
		v, ok := c.load(va, uint64(size))
		if !ok {
			return stFault
		}
		c.setCF(v >> bit)
		return stNext
	}
	v, ok := c.loadW(va, uint64(size))
	if !ok {
		return stFault
	}
	c.store(va, flipBit(v, 1<<bit, u.d), uint64(size))
	c.setCF(v >> bit)
	return stNext
}

func (c *CPU) opBsf(u *uop) int {
	return c.scan(u, func(v uint64) int { return bits.TrailingZeros64(v) })
}
func (c *CPU) opBsr(u *uop) int { return c.scan(u, func(v uint64) int { return bits.Len64(v) - 1 }) }

func (c *CPU) scan(u *uop, f func(uint64) int) int {
	v := c.reg(u.s, u.sc)
	if v == 0 {
		c.setArith(FlagZF | FlagPF)
		return stNext
	}
	c.setArith(0)
	c.setReg(u.d, u.sc, uint64(f(v)))
	return stNext
}

func (c *CPU) opTzcnt(u *uop) int {
	v := c.reg(u.s, u.sc)
	return c.zeros(u, v, uint64(bits.TrailingZeros64(v)))
}

func (c *CPU) opLzcnt(u *uop) int {
	v := c.reg(u.s, u.sc)
	return c.zeros(u, v, uint64(bits.LeadingZeros64(v))-(64-8<<u.sc))
}

func (c *CPU) zeros(u *uop, v, n uint64) int {
	var f uint64
	if v == 0 {
		n, f = 8<<u.sc, FlagCF
	}
	if n == 0 {
		f |= FlagZF
	}
	c.setArith(f)
	c.setReg(u.d, u.sc, n)
	return stNext
}

func (c *CPU) opPopcnt(u *uop) int {
	v := c.reg(u.s, u.sc)
	var f uint64
	if v == 0 {
		f = FlagZF
	}
	c.setArith(f)
	c.setReg(u.d, u.sc, uint64(bits.OnesCount64(v)))
	return stNext
}

// compare sets the flags of a-b.
func (c *CPU) compare(a, b uint64, sz uint8) {
	c.fop, c.fa, c.fb = kSUB|sz, signExtend(a-b, sz), b&sizeMask(sz)
}

func (c *CPU) opCmpxchgReg(u *uop) int {
	a, v, s := c.reg(RAX*8, u.sc), c.reg(u.d, u.sc), c.reg(u.s, u.sc)
	c.compare(a, v, u.sc)
	if a == v {
		c.setReg(u.d, u.sc, s)
	} else {
		c.setReg(RAX*8, u.sc, v)
	}
	return stNext
}

func (c *CPU) opCmpxchg8b(u *uop) int {
	va := c.ea(u)
	v, ok := c.loadW(va, 8)
	if !ok {
		return stFault
	}
	f := c.arith() &^ FlagZF
	if v == c.reg(RDX*8, 2)<<32|c.reg(RAX*8, 2) {
		f |= FlagZF
		v = c.reg(RCX*8, 2)<<32 | c.reg(RBX*8, 2)
	} else {
		c.setReg(RAX*8, 2, v)
		c.setReg(RDX*8, 2, v>>32)
	}
	c.store(va, v, 8)
	c.setArith(f)
	return stNext
}

func (c *CPU) opCmpxchg16b(u *uop) int {
	va := c.ea(u)
	if va&15 != 0 {
		return c.raiseGP(0)
	}
	lo, ok := c.loadW(va, 8)
	if !ok {
		return stFault
	}
	hi, _ := c.loadW(va+8, 8)
	f := c.arith() &^ FlagZF
	if lo == c.r[RAX] && hi == c.r[RDX] {
		f |= FlagZF
		c.store(va, c.r[RBX], 8)
		c.store(va+8, c.r[RCX], 8)
	} else {
		c.r[RAX], c.r[RDX] = lo, hi
	}
	c.setArith(f)
	return stNext
}
