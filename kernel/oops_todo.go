package kernel

// oopsReport is SYM's (oops.go), a placeholder here: it fills o.Regs, o.Die and o.Line from the pt_regs at regs (0: none).
func (m *Machine) oopsReport(v *VCPU, o *OopsRecord, regs uint64) {
	o.Regs, _ = readPtRegs(m, regs)
	o.Die = true
	o.Line = []string{o.What, "RIP: 0010:" + m.Symbols().Format(o.Regs[ptIP])}
}

// blockedAt is SYM's too: where a sleeping task waits, the innermost function outside the scheduler, by unwinding.
func (m *Machine) blockedAt(t Task) string { return "" }
