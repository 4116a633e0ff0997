package x86

// OpNames lists the uops there are.
func OpNames() []string { return opNames[:] }

// DecodedOps calls f with the uop of everything that the CPU's memory holds decoded: in the fast form, then in the
// precise one.
func (c *CPU) DecodedOps(f func(op string)) {
	for _, pg := range c.cache.pages {
		for _, b := range pg.blocks {
			for _, list := range [][]uop{b.code.fast, b.code.precise} {
				for i := range list {
					f(opNames[list[i].op])
				}
			}
		}
	}
}
