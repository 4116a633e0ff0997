package kernel

import (
	"fmt"
	"slices"
)

// naivePoke is a write to live text without the protocol: a guest CPU stores byte after byte through the direct map, in
// its own time, while other CPUs may run there.
type naivePoke struct {
	patch *Patch
	va    uint64
	pa    uint64
	n     int
}

func (p *naivePoke) covers(pa uint64, n int) bool {
	return pa >= p.pa && pa+uint64(n) <= p.pa+uint64(p.n)
}

// Poke changes guest text. With naive, the guest's text_poke_naive stores the bytes one after the other, as code that knows
// nothing of cross-modification would; otherwise the bytes are one poke of the protocol.
func (m *Machine) Poke(addr uint64, b []byte, naive bool) error {
	if !naive {
		return m.Do("poke", func(*VCPU) error {
			return m.text.Queue("poke", []Poke{{Addr: addr, New: slices.Clone(b)}})
		})
	}
	pa, ok := m.linear(addr)
	if !ok || len(b) == 0 || len(b) > 256 {
		return fmt.Errorf("poking %d bytes at %#x: %w", len(b), addr, EFAULT)
	}
	old := make([]byte, len(b))
	m.phys.ReadAt(pa, old)
	patch := &Patch{Pokes: []Poke{{Addr: addr, Old: old, New: slices.Clone(b), By: "naive"}}}
	m.text.keep(patch)
	m.text.naive = &naivePoke{patch: patch, va: addr, pa: pa, n: len(b)}
	for i := range b {
		m.text.remember(addr+uint64(i), old[i], b[i])
	}
	_, err := m.call("poke", &request{op: reqPoke, pos: directMap + pa, data: b})
	m.text.naive = nil
	patch.Done = err == nil
	return err
}
