package x86

import "strings"

// OpNames lists the uops there are, but for superinstructions, which are made of them.
func OpNames() []string { return opNames[:firstSuper] }

// DecodedOps calls f with the uop of everything that the CPU's memory holds decoded: in the fast form, then in the
// precise one.
func (c *CPU) DecodedOps(f func(op string)) {
	for _, pg := range c.cache.pages {
		for _, b := range pg.blocks {
			for _, list := range [][]uop{b.code.fast, b.code.precise} {
				for i := range list {
					first, _, _ := strings.Cut(opNames[list[i].op], "_then_")
					f(first)
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
