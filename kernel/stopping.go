package kernel

// Stopping says whether the machine stops behind the instruction that runs now: a handler has asked for it.
func (m *Machine) Stopping() bool { return m.stopWhy != nil }
