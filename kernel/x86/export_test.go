package x86

// OpNames lists the uops there are.
func OpNames() []string { return opNames[:] }

// DecodedOps calls f with the uop of everything that the CPU's memory holds decoded: in the fast form, then in the
// precise one. A superinstruction is named, and its first uop too, whose number it took.
func (c *CPU) DecodedOps(f func(op string)) {
	for _, pg := range c.cache.pages {
		for _, b := range pg.blocks {
			for _, list := range [][]uop{b.code.fast, b.code.precise} {
				for i := range list {
					name := opNames[list[i].op]
					f(name)
					if list[i].op >= o_push_run {
						f(opNames[firstOps[list[i].op-o_push_run]])
					}
				}
			}
		}
	}
}

// DecodeLen decodes one instruction: its length, whether it is a known one, and whether it ends a block.
func DecodeLen(b []byte) (n int, known, ends bool) {
	in := decodeInst(b)
	var l lowering
	return in.Len, in.gap == gapNone, l.ends(&in)
}
