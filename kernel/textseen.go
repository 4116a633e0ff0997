package kernel

// OnPatchSeen has fn called when a CPU passes a serialising point behind a step of a patch, s: from c.Now() on it sees the new
// bytes. Between s.Time and then it could still see the old ones, and where s.Stale has a window of it, it did hold them. A
// fork of the machine starts without.
func (m *Machine) OnPatchSeen(fn func(c *VCPU, s *PatchStep)) (remove func()) {
	t := m.text
	t.seen = append(t.seen, fn)
	k := len(t.seen) - 1
	return func() { t.seen[k] = nil }
}

func (t *Text) tellSeen(c *VCPU, s *PatchStep) {
	for _, fn := range t.seen {
		if fn != nil {
			fn(c, s)
		}
	}
}
