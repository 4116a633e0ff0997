package x86

// SetInterruptShadow holds interrupts back for one instruction, as sti does: for code that emulates it.
func (c *CPU) SetInterruptShadow() { c.archState.shadow = true }
