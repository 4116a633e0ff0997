package kernel

import "maps"

// entryCounters are the emulator's own counts of function entries: ground truth that no patch or probe can disturb.
type entryCounters struct {
	of map[uint64]*uint64
}

func newEntryCounters() *entryCounters { return &entryCounters{of: map[uint64]*uint64{}} }

func (e *entryCounters) fork() *entryCounters {
	n := &entryCounters{of: maps.Clone(e.of)}
	for va, p := range n.of {
		c := *p
		n.of[va] = &c
	}
	return n
}

func (e *entryCounters) add(va uint64) {
	if e.of[va] == nil {
		e.of[va] = new(uint64)
	}
}

func (e *entryCounters) get(va uint64) uint64 {
	if p := e.of[va]; p != nil {
		return *p
	}
	return 0
}

// EntryCounter is asked by the decoder for each instruction.
func (v *VCPU) EntryCounter(va uint64) *uint64 { return v.m.entries.of[va] }
