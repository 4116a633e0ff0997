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
