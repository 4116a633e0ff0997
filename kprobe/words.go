package kprobe

import "kscope/kernel"

// word reads 8 bytes of kernel memory on the path of every hit. It is the package's only unsafe: kernel.U64 takes four times
// as long and allocates. va is a multiple of 8, so that the word lies in one page.
func word(m *kernel.Machine, va uint64) (uint64, bool) {
	if va&7 != 0 {
		x, err := m.U64(va)
		return x, err == nil
	}
	p := (*uint64)(m.HostPtr(va))
	if p == nil {
		return 0, false
	}
	return *p, true
}

// words reads the words at va and va+8.
func words(m *kernel.Machine, va uint64) (a, b uint64, ok bool) {
	if va&7 == 0 && va&4095 <= 4096-16 {
		if p := (*[2]uint64)(m.HostPtr(va)); p != nil {
			return p[0], p[1], true
		}
		return 0, 0, false
	}
	a, ok1 := word(m, va)
	b, ok2 := word(m, va+8)
	return a, b, ok1 && ok2
}
