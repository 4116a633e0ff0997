package kernel

// Bare gives external tests the results for gates that nobody registers.
func Bare(m *Machine) { _ = bare(m) }

// EarlySwitch turns a CPU's clock back by 4 us at each switch: what a woken task does then seems to come before its waking.
func EarlySwitch(m *Machine) {
	va, _ := m.SymAddr("finish_task_switch")
	if _, err := m.Hook(va, func(v *VCPU) { v.off -= 4000 }); err != nil {
		panic("BUG: " + err.Error())
	}
}

// EarlyIPI lets an interrupt arrive at a CPU 1 us before it is sent.
func EarlyIPI(m *Machine, cpu int) {
	v := m.cpus[cpu]
	v.post(ipiFixed, vecIRQWork, v.Now()+2000, v.Now()+1000)
}

// NextDraw is what the seed gives next.
func NextDraw(m *Machine) uint64 {
	r := m.rng
	return r.next()
}
