package kernel

import (
	"math/bits"
	"sort"

	"kscope/kernel/x86"
)

// x2APIC MSRs (Intel SDM vol. 3A, table 10-6) and the TSC deadline.
const (
	msrTSCDeadline = 0x6e0
	msrAPICBase    = 0x1b
	msrX2ID        = 0x802
	msrX2Version   = 0x803
	msrX2TPR       = 0x808
	msrX2PPR       = 0x80a
	msrX2EOI       = 0x80b
	msrX2LDR       = 0x80d
	msrX2SVR       = 0x80f
	msrX2ISR0      = 0x810 // to 0x817
	msrX2TMR0      = 0x818 // to 0x81f
	msrX2IRR0      = 0x820 // to 0x827
	msrX2ESR       = 0x828
	msrX2ICR       = 0x830
	msrX2LVTTimer  = 0x832
	msrX2LVTError  = 0x837
	msrX2InitCount = 0x838
	msrX2CurCount  = 0x839
	msrX2DivConf   = 0x83e
	msrX2SelfIPI   = 0x83f
)

// Delivery modes of the ICR, bits 8 to 10.
const (
	ipiFixed = 0
	ipiNMI   = 4
	ipiINIT  = 5
	ipiSIPI  = 6
)

// ipiDelay is the time from the ICR write to the receiver's pin, in ns: the order of a real x2APIC's IPI latency between
// cores of one socket, without the receiver's entry. A self-IPI is taken sooner.
const (
	ipiDelay     = 250
	selfIPIDelay = 20
)

// post is an interrupt on its way: it is in nobody's IRR until the receiver's t reaches due.
type post struct {
	due  uint64
	sent uint64 // by the sender's clock
	seq  uint64
	mode uint8
	vec  uint8
}

type vectors [4]uint64

func (s *vectors) set(v uint8)      { s[v>>6] |= 1 << (v & 63) }
func (s *vectors) clear(v uint8)    { s[v>>6] &^= 1 << (v & 63) }
func (s *vectors) has(v uint8) bool { return s[v>>6]>>(v&63)&1 != 0 }

// highest is the vector of the highest priority, -1 when the set is empty.
func (s *vectors) highest() int {
	for i := 3; i >= 0; i-- {
		if s[i] != 0 {
			return i<<6 + bits.Len64(s[i]) - 1
		}
	}
	return -1
}

// apic is one CPU's local x2APIC. Posts are ordered by (due, seq).
type apic struct {
	posts    []post
	seq      uint64
	irr, isr vectors
	nmi      bool
	deadline uint64 // TSC deadline, 0 = not armed
	lvt      uint32
	svr      uint32
	tpr      uint32
	lvtOther [6]uint32
}

const lvtMasked = 1 << 16

func (a *apic) fork() apic {
	b := *a
	b.posts = append([]post(nil), a.posts...)
	return b
}

// post queues an interrupt for v's CPU, which is sent at t = sent and arrives at due.
func (v *VCPU) post(mode, vec uint8, sent, due uint64) {
	a := &v.apic
	a.seq++
	p := post{due: due, sent: sent, seq: a.seq, mode: mode, vec: vec}
	i := sort.Search(len(a.posts), func(i int) bool { return a.posts[i].due > due })
	a.posts = append(a.posts, post{})
	copy(a.posts[i+1:], a.posts[i:])
	a.posts[i] = p
	if v.m.running == v {
		v.CPU.RequestStop() // the budget of the Run under way may end too late
	} else {
		v.m.othersChanged()
	}
}

// Inject raises an interrupt on a CPU at time at (now when it is past), as a device would.
func (m *Machine) Inject(cpu int, vec uint8, at uint64) {
	v := m.cpus[cpu]
	v.post(ipiFixed, vec, at, max(at, v.Now()))
}

// InjectNMI is Inject for the non-maskable interrupt.
func (m *Machine) InjectNMI(cpu int, at uint64) {
	v := m.cpus[cpu]
	v.post(ipiNMI, 2, at, max(at, v.Now()))
}

// posted says whether an IPI is on its way or waiting to be taken.
func (a *apic) posted() bool { return len(a.posts) > 0 || a.deliverable() >= 0 || a.nmi }

// nextDue is when the next post or the timer arrives.
func (a *apic) nextDue() uint64 {
	due := never
	if len(a.posts) > 0 {
		due = a.posts[0].due
	}
	if a.deadline != 0 && a.lvt&lvtMasked == 0 {
		due = min(due, a.deadline)
	}
	return due
}

// startDue is when an INIT or SIPI reaches a CPU that does not run.
func (a *apic) startDue() uint64 {
	for _, p := range a.posts {
		if p.mode == ipiINIT || p.mode == ipiSIPI {
			return p.due
		}
	}
	return never
}

// advance moves what is due at t from the posts and the timer to the IRR and drives the CPU's interrupt line.
func (a *apic) advance(v *VCPU) {
	now := v.Now()
	for len(a.posts) > 0 && a.posts[0].due <= now {
		p := a.posts[0]
		a.posts = append(a.posts[:0], a.posts[1:]...)
		if v.m.watch != nil {
			v.m.watch.ipi(v, p)
		}
		switch p.mode {
		case ipiFixed:
			a.irr.set(p.vec)
		case ipiNMI:
			a.nmi = true
		}
	}
	if a.deadline != 0 && a.deadline <= now && a.lvt&lvtMasked == 0 {
		a.deadline = 0
		a.irr.set(uint8(a.lvt))
	}
	v.CPU.SetIRQ(a.deliverable() >= 0)
	if a.nmi && !v.CPU.InShadow() && v.CPU.NMI() {
		a.nmi = false
	}
}

// deliverable is the vector that would be taken now if IF allowed, -1 for none: its priority class must exceed that of
// the interrupt in service.
func (a *apic) deliverable() int {
	vec := a.irr.highest()
	if vec < 0 || vec>>4 <= a.isr.highest()>>4 && a.isr.highest() >= 0 || vec>>4 <= int(a.tpr>>4) && a.tpr != 0 {
		return -1
	}
	return vec
}

// wake is when a halted CPU can go on: at an interrupt that its flags let through.
func (a *apic) wake(v *VCPU) uint64 {
	now := v.Now()
	ifOn := v.CPU.IF()
	if a.nmi || ifOn && a.deliverable() >= 0 {
		return now
	}
	due := never
	for _, p := range a.posts {
		if p.mode == ipiNMI || p.mode == ipiINIT || ifOn && p.mode == ipiFixed {
			due = max(p.due, now)
			break
		}
	}
	if ifOn && a.deadline != 0 && a.lvt&lvtMasked == 0 {
		due = min(due, max(a.deadline, now))
	}
	return due
}

// wakeUp brings a CPU that next chose to where it can run; false when its turn has made it only change state.
func (v *VCPU) wakeUp() bool {
	switch v.state {
	case cpuRunning:
		return true
	case cpuHalted:
		v.setNow(max(v.Now(), v.key()))
		v.state = cpuRunning
		return true
	}
	return v.startup()
}

// startup consumes the INIT or SIPI that is due at a CPU which does not run yet. Shortcut against hardware: the SIPI's
// vector is ignored and the CPU begins in long mode at secondary_startup_64 with the stack and GS base that do_boot_cpu
// has left in initial_stack and initial_gs, where real hardware goes through a 16-bit trampoline.
func (v *VCPU) startup() bool {
	a := &v.apic
	for len(a.posts) > 0 {
		p := a.posts[0]
		a.posts = append(a.posts[:0], a.posts[1:]...)
		switch {
		case p.mode == ipiINIT:
			v.state = cpuWaitSIPI
			return false
		case p.mode == ipiSIPI && v.state == cpuWaitSIPI:
			v.setNow(p.due)
			v.m.startAP(v)
			v.state = cpuRunning
			return true
		}
	}
	return false
}

// takeInterrupt delivers the highest interrupt; the CPU has said that it can.
func (m *Machine) takeInterrupt(v *VCPU) {
	vec := v.apic.deliverable()
	if vec < 0 {
		v.CPU.SetIRQ(false)
		return
	}
	v.apic.irr.clear(uint8(vec))
	if uint8(vec) != uint8(v.apic.svr) { // the spurious one is not in service, and gets no EOI (SDM 3A, 11.9)
		v.apic.isr.set(uint8(vec))
	}
	if vec == virtioVector {
		m.completeDisk(v)
	}
	rip := v.CPU.RIP()
	if !v.CPU.Interrupt(uint8(vec)) {
		m.tripleFault(v)
		return
	}
	m.interrupted(v, rip)
}

// sendIPI is a write of the ICR.
func (v *VCPU) sendIPI(icr uint64) {
	mode, vec := uint8(icr>>8&7), uint8(icr)
	dest, shorthand := uint32(icr>>32), icr>>18&3
	if mode == ipiINIT && icr>>14&1 == 0 && icr>>15&1 == 1 {
		return // INIT level de-assert: ignored since the Pentium 4
	}
	now := v.Now()
	for _, o := range v.m.cpus {
		match := shorthand == 1 && o == v || shorthand == 2 || shorthand == 3 && o != v ||
			shorthand == 0 && (dest == uint32(o.ID) || dest == ^uint32(0))
		if !match {
			continue
		}
		delay := uint64(ipiDelay)
		if o == v {
			delay = selfIPIDelay
		}
		if mode == ipiFixed && o.state < cpuRunning {
			continue // lost, as on a CPU that waits for its SIPI
		}
		if len(v.m.rules.delays) > 0 {
			delay += v.m.late(v.ID, o.ID, mode, vec)
		}
		o.post(mode, vec, now, now+delay)
	}
}

// RDMSR serves the MSRs of the local APIC.
func (v *VCPU) RDMSR(_ *x86.CPU, msr uint32) (uint64, bool) {
	a := &v.apic
	switch {
	case msr == msrTSCDeadline:
		return a.deadline, true
	case msr == msrAPICBase:
		base := uint64(0xfee00000 | 1<<11 | 1<<10) // enabled, x2APIC mode
		if v.ID == 0 {
			base |= 1 << 8
		}
		return base, true
	case msr >= msrX2ISR0 && msr < msrX2ISR0+8:
		return uint64(uint32(a.isr[(msr-msrX2ISR0)/2] >> (32 * (msr & 1)))), true
	case msr >= msrX2TMR0 && msr < msrX2TMR0+8:
		return 0, true
	case msr >= msrX2IRR0 && msr < msrX2IRR0+8:
		return uint64(uint32(a.irr[(msr-msrX2IRR0)/2] >> (32 * (msr & 1)))), true
	case msr > msrX2LVTTimer && msr <= msrX2LVTError:
		return uint64(a.lvtOther[msr-msrX2LVTTimer-1]), true
	}
	switch msr {
	case msrX2ID:
		return uint64(v.ID), true
	case msrX2Version:
		return 0x50014, true
	case msrX2TPR, msrX2PPR:
		return uint64(a.tpr), true
	case msrX2LDR:
		return uint64(v.ID>>4<<16 | 1<<(v.ID&15)), true
	case msrX2SVR:
		return uint64(a.svr), true
	case msrX2LVTTimer:
		return uint64(a.lvt), true
	case msrX2ESR, msrX2ICR, msrX2InitCount, msrX2CurCount, msrX2DivConf:
		return 0, true
	}
	return 0, false
}

// WRMSR serves the MSRs of the local APIC.
func (v *VCPU) WRMSR(_ *x86.CPU, msr uint32, val uint64) bool {
	a := &v.apic
	switch msr {
	case msrTSCDeadline:
		a.deadline = val
		v.CPU.RequestStop()
	case msrX2EOI:
		if vec := a.isr.highest(); vec >= 0 {
			a.isr.clear(uint8(vec))
		}
		v.CPU.SetIRQ(a.deliverable() >= 0)
	case msrX2ICR:
		v.sendIPI(val)
	case msrX2SelfIPI:
		v.post(ipiFixed, uint8(val), v.Now(), v.Now()+selfIPIDelay)
	case msrX2LVTTimer:
		a.lvt = uint32(val)
		v.CPU.RequestStop()
	case msrX2SVR:
		a.svr = uint32(val)
	case msrX2TPR:
		a.tpr = uint32(val) & 0xff
		v.CPU.SetIRQ(a.deliverable() >= 0)
	case msrX2ESR, msrX2InitCount, msrX2DivConf, msrAPICBase:
	default:
		if msr > msrX2LVTTimer && msr <= msrX2LVTError {
			a.lvtOther[msr-msrX2LVTTimer-1] = uint32(val)
			return true
		}
		return false
	}
	return true
}
