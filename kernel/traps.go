package kernel

import (
	"fmt"

	"kscope/kernel/x86"
)

const (
	regAX = x86.RAX
	regSP = x86.RSP
)

// TrapOwner is asked about #BP and #DB, and about every exception within shadow text, before the guest's IDT. When it says
// true the exception is settled: it has set RIP and registers to go on. With false the guest's handler sees RIP and flags as
// the owner has left them: a fault of an instruction that was copied out of line then is one of the original. vec is the vector.
type TrapOwner func(c *VCPU, vec uint8) (handled bool)

type trapOwner struct {
	name string
	fn   TrapOwner
}

// OwnTrap adds an owner to the end of the chain. The text patcher is the first.
func (m *Machine) OwnTrap(name string, fn TrapOwner) {
	m.owners = append(m.owners, trapOwner{name, fn})
}

// exception asks the owners of #BP and #DB, then enters the guest's handler.
func (m *Machine) exception(v *VCPU) {
	vec := v.CPU.Exc.Vec // all that owners want: a copy of Exc waits for the stores of its fields
	if vec == x86.VecBP || vec == x86.VecDB || v.CPU.InShadow() {
		for i := range m.owners {
			if m.owners[i].fn(v, vec) {
				return
			}
		}
	}
	m.deliver(v)
}

// Uncount takes back the count of the int3 that an owner is asked about, so that what it has run out of line sees the time at
// which the original instruction would run; Recount counts the original once that is done. An instruction that faults
// stays uncounted, as anywhere.
func (v *VCPU) Uncount() { v.CPU.Insns--; v.seen--; v.m.insns-- }

// Recount undoes Uncount.
func (v *VCPU) Recount() { v.CPU.Insns++; v.seen++; v.m.insns++ }

// settleStep takes the single-step trap that is due behind a hlt or pause out of line, so that the CPU waits outside shadow
// text.
func (m *Machine) settleStep(v *VCPU) {
	if v.CPU.InShadow() {
		m.lookUp() // nothing runs behind it
		if v.CPU.Run(0) == x86.ExitException {
			m.exception(v)
		}
	}
}

// deliver enters the guest's handler of CPU.Exc.
func (m *Machine) deliver(v *VCPU) {
	if !v.CPU.DeliverExc() {
		m.tripleFault(v)
	}
}

// tripleFault stops the machine for good, as real hardware would reset it.
func (m *Machine) tripleFault(v *VCPU) {
	text := fmt.Sprintf("triple fault on CPU %d at %s", v.ID, m.Symbols().Format(v.CPU.RIP()))
	exc := v.CPU.Exc
	text += fmt.Sprintf(" (last exception: vector %d, error %#x, CR2 %#x)", exc.Vec, exc.Err, exc.CR2)
	if o := m.lastOops(); o != nil {
		text = o.Text() + text
	}
	m.stopNow(StopPanic, text)
}
