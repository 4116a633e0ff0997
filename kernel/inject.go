package kernel

import (
	"fmt"
	"hash"
	"slices"

	"kscope/kernel/x86"
)

// This file is what an experimenter does to the machine from outside: single steps, interrupts and NMIs raised at a chosen
// instruction, IPIs that arrive late. All of it is plain data that forks carry on and that StateHash covers while pending.

// Injection is an interrupt or NMI to be raised once, before an instruction executes: the one at Addr, or with Addr 0 the one
// after so many more counted instructions of CPU On. An interrupt waits for IF like any other.
type Injection struct {
	ID    int    // given by InjectAt
	Addr  uint64 // of guest code
	Nth   uint64 // which execution of Addr: 0 and 1 mean the first
	After uint64 // counted instructions of On, when Addr is 0
	On    int    // the CPU that executes; -1: whichever does, with Addr only
	CPU   int    // the CPU that is interrupted; -1: the one that executes
	Vec   uint8  // 32 to 255, not for NMIs
	NMI   bool
	Delay uint64 // ns from the instruction to the pin

	left   uint64 // executions of Addr that are still to come
	insns  uint64 // of On: when After is over
	remove func()
}

// IPIDelay makes IPIs arrive late: those from CPU From to CPU To with vector Vec (-1: any), but for the first Skip of them, and
// Count of them (0: all). NMIs sent as IPIs have vector 2.
type IPIDelay struct {
	ID          int // given by DelayIPI
	From, To    int
	Vec         int
	Skip, Count uint64
	Extra       uint64 // ns, on top of the 250 that an IPI takes

	seen uint64
}

// rules are what InjectAt and DelayIPI have asked for, in order.
type rules struct {
	id      int
	injects []*Injection
	delays  []*IPIDelay
}

// watchpoint is where a CPU is to stop counting: the end of a Step or the next injection by count. never: nowhere.
func (m *Machine) watchpoint(v *VCPU) {
	m.lookUp()
	v.mark = v.stepEnd
	for _, i := range m.rules.injects {
		if i.Addr == 0 && i.On == v.ID {
			v.mark = min(v.mark, i.insns)
		}
	}
}

// marked acts on a CPU that has reached its mark, outside shadow text.
func (m *Machine) marked(v *VCPU) {
	for _, i := range slices.Clone(m.rules.injects) {
		if i.Addr == 0 && i.On == v.ID && i.insns <= v.CPU.Insns {
			m.fire(v, i)
		}
	}
	if v.stepEnd <= v.CPU.Insns {
		v.stepEnd = never
		m.stopNow(StopDone, "")
	}
	m.watchpoint(v)
}

// Step runs the machine as it would run anyway, until cpu has executed n more counted instructions, and stops exactly there; the
// schedule is the same as without the stop. A CPU in hlt goes on when its next interrupt is due; when none is, as on an idle CPU
// without a tick, the reason is "idle".
func (m *Machine) Step(cpu int, n uint64) (Stop, error) {
	if cpu < 0 || cpu >= len(m.cpus) {
		return Stop{}, fmt.Errorf("stepping CPU %d: there are %d CPUs: %w", cpu, len(m.cpus), EINVAL)
	}
	v := m.cpus[cpu]
	if n == 0 {
		return m.stopAt(v, StopDone, ""), nil
	}
	v.stepEnd = v.CPU.Insns + n
	m.watchpoint(v)
	stop := m.Run(Until{Cond: func() bool { return v.key() == never }})
	if v.stepEnd != never && stop.Reason == StopDone {
		stop = m.stopAt(v, StopIdle, fmt.Sprintf("CPU %d is halted and no interrupt is due", cpu))
	}
	v.stepEnd = never
	m.watchpoint(v)
	return stop, nil
}

// InjectAt raises an interrupt or NMI before a chosen instruction executes; see Injection. It is forgotten when it is done.
func (m *Machine) InjectAt(i Injection) (id int, err error) {
	switch {
	case i.On < -1 || i.On >= len(m.cpus) || i.CPU < -1 || i.CPU >= len(m.cpus):
		return 0, fmt.Errorf("injecting: no such CPU: there are %d: %w", len(m.cpus), EINVAL)
	case !i.NMI && i.Vec < 32:
		return 0, fmt.Errorf("injecting vector %d: 0 to 31 are exceptions: %w", i.Vec, EINVAL)
	case i.Addr == 0 && i.On < 0:
		return 0, fmt.Errorf("injecting after %d instructions: of which CPU: %w", i.After, EINVAL)
	}
	i.left, i.insns, i.remove = max(i.Nth, 1), never, nil
	if i.Addr == 0 {
		i.insns = m.cpus[i.On].CPU.Insns + i.After
	}
	i.ID = m.rules.id + 1
	if err := m.arm(&i); err != nil {
		return 0, err
	}
	m.rules.id++
	m.rules.injects = append(m.rules.injects, &i)
	if i.Addr == 0 {
		m.watchpoint(m.cpus[i.On])
	}
	return i.ID, nil
}

// arm hooks the instruction of an injection by address.
func (m *Machine) arm(i *Injection) (err error) {
	if i.Addr == 0 {
		return nil
	}
	i.remove, err = m.Hook(i.Addr, func(c *VCPU) {
		if i.left == 0 || i.On >= 0 && i.On != c.ID {
			return
		}
		if i.left--; i.left == 0 {
			m.fire(c, i)
		}
	})
	return err
}

// fire raises the interrupt of an injection that c has come to.
func (m *Machine) fire(c *VCPU, i *Injection) {
	m.CancelRule(i.ID)
	target := c
	if i.CPU >= 0 {
		target = m.cpus[i.CPU]
	}
	mode, vec := uint8(ipiFixed), i.Vec
	if i.NMI {
		mode, vec = ipiNMI, x86.VecNMI
	}
	now := c.Now()
	target.post(mode, vec, now, max(now+i.Delay, target.Now()))
}

// DelayIPI makes IPIs arrive late; see IPIDelay. When several rules are for one IPI, their delays add up.
func (m *Machine) DelayIPI(d IPIDelay) (id int, err error) {
	if d.From < -1 || d.From >= len(m.cpus) || d.To < -1 || d.To >= len(m.cpus) || d.Vec < -1 || d.Vec > 255 {
		return 0, fmt.Errorf("delaying IPIs from CPU %d to CPU %d with vector %d: out of range: %w", d.From, d.To, d.Vec, EINVAL)
	}
	m.rules.id++
	d.ID, d.seen = m.rules.id, 0
	m.rules.delays = append(m.rules.delays, &d)
	return d.ID, nil
}

// late is how much later than usual an IPI arrives.
func (m *Machine) late(from, to int, mode, vec uint8) (extra uint64) {
	switch mode {
	case ipiFixed:
	case ipiNMI:
		vec = x86.VecNMI
	default:
		return 0 // INIT and SIPI: hot-plugging is no interrupt
	}
	for _, d := range m.rules.delays {
		if d.From >= 0 && d.From != from || d.To >= 0 && d.To != to || d.Vec >= 0 && d.Vec != int(vec) {
			continue
		}
		if d.seen++; d.seen > d.Skip && (d.Count == 0 || d.seen <= d.Skip+d.Count) {
			extra += d.Extra
		}
	}
	return extra
}

// Injections are those that are still to come; IPIDelays are the rules in force.
func (m *Machine) Injections() (out []Injection) {
	for _, i := range m.rules.injects {
		out = append(out, *i)
	}
	return out
}

func (m *Machine) IPIDelays() (out []IPIDelay) {
	for _, d := range m.rules.delays {
		out = append(out, *d)
	}
	return out
}

// CancelRule takes back an injection or a delay; false when there is none of that id.
func (m *Machine) CancelRule(id int) bool {
	r := &m.rules
	if k := slices.IndexFunc(r.delays, func(d *IPIDelay) bool { return d.ID == id }); k >= 0 {
		r.delays = slices.Delete(r.delays, k, k+1)
		return true
	}
	k := slices.IndexFunc(r.injects, func(i *Injection) bool { return i.ID == id })
	if k < 0 {
		return false
	}
	i := r.injects[k]
	r.injects = slices.Delete(r.injects, k, k+1)
	if i.remove != nil {
		i.remove()
	}
	if i.Addr == 0 {
		m.watchpoint(m.cpus[i.On])
	}
	return true
}

// forkRules copies them to n, whose code is hooked anew.
func (m *Machine) forkRules(n *Machine) {
	n.rules.id = m.rules.id
	for _, d := range m.rules.delays {
		c := *d
		n.rules.delays = append(n.rules.delays, &c)
	}
	for _, i := range m.rules.injects {
		c := *i
		if n.arm(&c) == nil {
			n.rules.injects = append(n.rules.injects, &c)
		}
	}
	for _, v := range n.cpus {
		n.watchpoint(v)
	}
}

// hash covers what is still to come: it decides how the machine goes on.
func (r *rules) hash(h hash.Hash) {
	for _, i := range r.injects {
		put(h, i.Addr, i.left, i.insns, uint64(i.On), uint64(i.CPU), uint64(i.Vec), i.Delay)
		if i.NMI {
			put(h, 1)
		}
	}
	for _, d := range r.delays {
		put(h, uint64(d.From), uint64(d.To), uint64(d.Vec), d.Skip, d.Count, d.Extra, min(d.seen, d.Skip+d.Count+1))
	}
}
