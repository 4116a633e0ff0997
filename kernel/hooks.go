package kernel

import (
	"fmt"
	"maps"
	"slices"

	"kscope/kernel/x86"
)

// hooks are what the host wants to see the guest do, by address. They are of this machine alone: a fork has none.
type hooks struct {
	at  map[uint64][]hook
	seq int
}

type hook struct {
	id int
	fn func(c *VCPU)
}

// Hook has fn called before each execution of the instruction at va, in the order of attachment, until remove is called.
// Nothing is patched, no time passes and the guest cannot tell; fn sees the exact state and may change it, send the CPU
// elsewhere or call RequestStop, which stops the machine before the instruction. Gates and trampolines cannot be hooked:
// they are no code of the guest's.
func (m *Machine) Hook(va uint64, fn func(c *VCPU)) (remove func(), err error) {
	v := m.cpus[0]
	if v.Gate(va) || v.Shadow(va) {
		return nil, fmt.Errorf("hook at %s: not guest code", m.syms.Format(va))
	}
	if _, ok := m.Translate(va); !ok {
		return nil, fmt.Errorf("hook at %#x: %w", va, EFAULT)
	}
	if m.hooks.at == nil {
		m.hooks.at = map[uint64][]hook{}
	}
	m.hooks.seq++
	id := m.hooks.seq
	// Copies, not appends in place: fn may be called from a walk of the old list.
	m.hooks.at[va] = append(slices.Clone(m.hooks.at[va]), hook{id, fn})
	m.rehook(va)
	return func() {
		left := slices.DeleteFunc(slices.Clone(m.hooks.at[va]), func(h hook) bool { return h.id == id })
		if m.hooks.at[va] = left; len(left) == 0 {
			delete(m.hooks.at, va)
			m.rehook(va)
		}
	}, nil
}

// rehook has the code at va decoded anew.
func (m *Machine) rehook(va uint64) {
	if pa, ok := m.Translate(va); ok {
		m.cpus[0].CPU.InvalidateCode(pa, 1)
	}
}

// Hooks are the hooked addresses, sorted.
func (m *Machine) Hooks() []uint64 { return slices.Sorted(maps.Keys(m.hooks.at)) }

// Hooked implements x86.Hooks.
func (v *VCPU) Hooked(va uint64) bool {
	return v.m.hooks.at[va] != nil || v.m.cold.start(va) != nil
}

// Hook implements x86.Hooks.
func (v *VCPU) Hook(_ *x86.CPU, va uint64) {
	if s := &v.coldState; s.all != v.m.cold || s.at != va { // an event comes to the same piece again and again
		s.all, s.at, s.here = v.m.cold, va, v.m.cold.start(va)
	}
	if p := v.coldState.here; p != nil {
		v.enterCold(p)
	}
	if len(v.m.hooks.at) == 0 {
		return
	}
	for _, h := range v.m.hooks.at[va] {
		h.fn(v)
	}
}
