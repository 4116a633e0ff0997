package event

// numTest compares a number of the record, or its CPU, with a constant. But for the operator & that is whether the number, its sign bit
// turned so that the order is that of unsigned numbers, lies in a range.
type numTest struct {
	at, size int // size 0: the CPU
	signed   bool
	bits     bool // the operator &: any of lo
	not      bool
	flip     uint64
	lo, span uint64 // the range is [lo, lo+span]
}

// newNumTest is the comparison of field f with want.
func newNumTest(f filterField, op string, want uint64) numTest {
	t := numTest{signed: f.signed, bits: op == "&"}
	if !f.cpu {
		t.at, t.size = f.Offset, min(f.Size, 8)
		want = cType{size: t.size, signed: f.signed}.fit(want) // the operand is cast to the field's type
	}
	if t.bits {
		t.lo = want
		return t
	}
	if f.signed {
		t.flip = 1 << 63
	}
	t.not = op == "!=" || op == ">" || op == ">="
	switch want ^= t.flip; {
	case op == "==" || op == "!=":
		t.lo = want
	case op == "<=" || op == ">":
		t.span = want
	case want == 0: // nothing is less
		t.span, t.not = ^uint64(0), !t.not
	default:
		t.span = want - 1
	}
	return t
}

// pass says whether a record passes.
func (t *numTest) pass(d []byte, cpu int) bool {
	x := uint64(cpu)
	if t.size != 0 {
		x = t.load(d)
	}
	if t.bits {
		return x&t.lo != 0
	}
	return (x^t.flip-t.lo <= t.span) != t.not
}

// load reads the field, extended to 64 bits; 0 when the record is too short.
func (t *numTest) load(d []byte) uint64 {
	if len(d) < t.at+t.size {
		return 0
	}
	d = d[t.at:]
	switch {
	case t.size == 8:
		return u64(d)
	case t.size == 4 && t.signed:
		return uint64(int64(int32(u32(d))))
	case t.size == 4:
		return uint64(u32(d))
	}
	var x uint64
	for i := range t.size {
		x |= uint64(d[i]) << (8 * i)
	}
	return cType{size: t.size, signed: t.signed}.fit(x)
}

// numbers gives the tests when all of a filter are of numbers, and every one is to pass.
func (p *filterParser) numbers() (all []numTest) {
	for i, t := range p.toks {
		switch {
		case i%2 == 0 && t.num != nil:
			all = append(all, *t.num)
		case i%2 == 0 || t.kind != '&':
			return nil
		}
	}
	return all
}

// Numbers is Match for a filter that asks for numbers alone, without a Record; ok is false for others.
func (f *Filter) Numbers(d []byte, cpu int) (pass, ok bool) {
	for i := range f.numbers {
		if !f.numbers[i].pass(d, cpu) {
			return false, true
		}
	}
	return true, f.numbers != nil
}
