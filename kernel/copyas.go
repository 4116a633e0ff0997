package kernel

// CopyAs is Copy with another Overhead: what the machine would do from here on if tracing had cost time, or none. With
// OverheadNone the copy runs as if nothing were traced at all.
func (m *Machine) CopyAs(o Overhead) *Machine {
	was := m.cfg.Overhead
	m.cfg.Overhead = o // the CPUs of a copy ask for it while they are made
	n := m.Copy()
	m.cfg.Overhead = was
	return n
}
