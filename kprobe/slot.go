package kprobe

import (
	"kscope/kernel"
)

// slots are the places of shadow RAM for instructions that run out of line, a page of them at a time: what Linux calls
// kprobe_insn_page (kernel/kprobes.c).
type slots struct {
	free   []uint64
	serial uint64 // of probes, so that a fork's copy can be found
}

const (
	slotSize = 32 // an instruction of up to 15 bytes and int3 behind it
	slotPage = 4096
	slotName = "kprobe_insn_page"
)

func (s *slots) fork() slots { return slots{append([]uint64(nil), s.free...), s.serial} }

func (s *slots) alloc(m *kernel.Machine) (uint64, error) {
	if len(s.free) == 0 {
		page, err := m.ShadowAlloc(slotPage, slotName)
		if err != nil {
			return 0, err
		}
		for at := page + slotPage - slotSize; at >= page; at -= slotSize {
			s.free = append(s.free, at)
		}
	}
	at := s.free[len(s.free)-1]
	s.free = s.free[:len(s.free)-1]
	return at, nil
}

// give frees a slot. No CPU is inside one: slots are not interrupted, and requests of the host run outside them.
func (s *slots) give(at uint64) { s.free = append(s.free, at) }
