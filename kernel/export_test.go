package kernel

import "kscope/kernel/mem"

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

// MarkStacks has the frames of all tasks' kernel stacks taken for code: each store there costs its CPU what one to text costs, and stops
// it, the frames of exceptions too.
func MarkStacks(m *Machine) {
	for _, t := range m.Tasks() {
		lo, ok := m.taskStack(t.Addr)
		for va := lo; ok && va < lo+m.ThreadSize(); va += mem.PageSize {
			if pa, mapped := m.Translate(va); mapped {
				m.phys.MarkCode(pa / mem.PageSize)
			}
		}
	}
	for _, v := range m.cpus {
		v.CPU.FlushTLB()
	}
}

// CostlyFrames does so with the page of the stack at each fault of the instruction at va, until its handler at entry begins, and counts
// the faults.
func CostlyFrames(m *Machine, va, entry uint64) (faults *int, err error) {
	faults = new(int)
	marked := uint64(0)
	_, err = m.Hook(va, func(v *VCPU) {
		if pa, ok := m.Translate(v.CPU.Reg(regSP) - 8); ok && marked == 0 {
			marked = pa / mem.PageSize
			m.phys.MarkCode(marked)
			v.CPU.FlushTLB()
		}
	})
	if err == nil {
		_, err = m.Hook(entry, func(v *VCPU) {
			if marked != 0 {
				m.phys.Bump(marked)
				marked = 0
				*faults++
			}
		})
	}
	return faults, err
}
