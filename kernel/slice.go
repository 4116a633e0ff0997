package kernel

import "kscope/kernel/x86"

// Slices: 1 to maxSlice ns, uniformly, so about 500 ns in the mean and never more than 1 us (design.md section 2).
const maxSlice = 1000

// maxAhead is how far a CPU runs in one piece, in ns, when nobody could run between its slices: what a Ctrl-C may wait for.
const maxAhead = 100_000

// turn is the slice under way. While its CPU has less t than every other one, its next slice follows at once, and a Run goes on over
// the ends of slices: whoever could look between them would find the same CPU, the same t and the same draws of the seed.
type turn struct {
	end   uint64 // t at which the slice ends
	stop  uint64 // Until.Time; never: none
	limit uint64 // of the machine's instructions
	until uint64 // t, and the CPU's Insns, up to which Run may go on by itself
	last  uint64
	lead  uint64 // while the CPU's t is less, it is the one to run; 0: to be asked
	pid   int    // Until.Pid
	chain bool   // nobody wants to look between slices
	ahead bool   // the Run under way may pass ends of slices
}

// slice runs v for one seeded slice, and for those that follow. Owned traps, gates, interrupts and exceptions do not end it.
func (m *Machine) slice(v *VCPU, u *Until, limit uint64) {
	if !v.wakeUp() {
		return
	}
	m.running = v
	t := &m.turn
	if m.resume == nil {
		t.end = v.Now() + m.sliceLen()
	}
	m.resume = nil
	t.stop, t.limit, t.lead, t.pid = u.Time, limit, 0, u.Pid
	if t.stop == 0 {
		t.stop = never
	}
	t.chain = u.Cond == nil && m.sliceHook == nil && len(m.ticks.list) == 0
	m.runSlice(v)
	m.running = nil
	if v.state == cpuRunning && v.Now() < min(t.end, t.stop) {
		if m.stopWhy != nil || m.insns >= limit {
			m.resume = v // stopped within the slice: the next run goes on with it, so that stops do not change the schedule
			return
		}
	}
	if m.sliceHook != nil {
		m.sliceHook(v)
	}
}

func (m *Machine) sliceLen() uint64 { return 1 + m.rng.next()%maxSlice }

// runSlice executes v until the slice's end or the limit.
func (m *Machine) runSlice(v *VCPU) {
	t := &m.turn
	// A handler's stop waits until the CPU has left shadow text: whoever looks finds it in code of the guest.
	for m.stopWhy == nil || m.stopWhy.Reason == StopVerdict && v.CPU.InShadow() {
		v.apic.advance(v)
		now := v.Now()
		if (now >= min(t.end, t.stop) || m.insns >= t.limit) && !v.inShadow() {
			if m.insns >= m.ticks.nextInsns() && m.stopWhy == nil {
				m.tickedInsns(v) // it has executed the last one, not the next CPU
			}
			if !m.follow(v, now) {
				break
			}
		}
		if m.insns >= min(t.limit, m.ticks.nextInsns()) && !v.CPU.InShadow() {
			m.tickedInsns(v)
			continue
		}
		if v.mark != never && v.CPU.Insns >= v.mark && !v.CPU.InShadow() {
			m.marked(v)
			continue
		}
		m.plan(v, now)
		exit := v.CPU.Run(max(v.allowed(), 0))
		v.count(exit != x86.ExitWindow && (exit != x86.ExitException || v.trapped()))
		if !m.handle(v, exit) {
			break
		}
	}
}

// follow begins the next slice at once when it is v's again and nobody wants to look before.
func (m *Machine) follow(v *VCPU, now uint64) bool {
	t := &m.turn
	if !t.chain || now >= t.stop || m.insns >= t.limit || m.spent() || m.stopWhy != nil || now >= m.lead(v) || m.interrupt.Load() {
		return false
	}
	t.end = now + m.sliceLen()
	return true
}

// lead is the least t at which another CPU than v may be the one to run.
func (m *Machine) lead(v *VCPU) uint64 {
	t := &m.turn
	if t.lead == 0 {
		t.lead = never
		for _, o := range m.cpus {
			if o != v {
				t.lead = min(t.lead, o.key())
			}
		}
	}
	return t.lead
}

// plan finds how far v may go before the machine looks at it again: to the slice's end or, while v is the one to run anyway, beyond
// it; to its next interrupt; to the limit.
func (m *Machine) plan(v *VCPU, now uint64) {
	t := &m.turn
	t.until, t.last = min(t.end, t.stop), v.mark
	if t.chain {
		t.until = max(t.until, min(m.lead(v), t.stop, now+maxAhead))
	}
	t.until = min(t.until, max(v.apic.nextDue(), now+1))
	if limit := min(t.limit, m.ticks.nextInsns()); limit != never {
		t.last = min(t.last, v.CPU.Insns+max(limit, m.insns)-m.insns)
	}
}

// allowed is how many counted instructions more v may execute by the plan: it is asked again after each gate, which may have moved t.
// 0: the machine is to look. x86.InShadow: none, but the slice's end waits for that of the shadow text, where the machine would find
// nothing to do.
func (v *VCPU) allowed() int64 {
	t := &v.m.turn
	now := v.Now()
	switch {
	case now >= t.until || v.CPU.Insns >= t.last || v.m.stopWhy != nil:
		return 0
	case now >= t.end && !v.passEnd(now):
		return x86.InShadow
	}
	t.ahead = t.until > t.end
	return int64(min(t.until-now, t.last-v.CPU.Insns, 1<<40))
}

// passEnd begins the next slice where a gate has moved t over the end of one, as follow would: by the plan it is v's again.
func (v *VCPU) passEnd(now uint64) bool {
	if v.inShadow() {
		return false
	}
	v.m.turn.end = now + v.m.sliceLen()
	return true
}

// lookUp has the Run under way end with the gate or trap under way.
func (m *Machine) lookUp() { m.turn.until = 0 }

// count brings the machine's count of instructions up to date, and its slices; see settle.
func (v *VCPU) count(done bool) {
	v.m.insns += v.CPU.Insns - v.seen
	v.seen = v.CPU.Insns
	v.m.settle(v, done)
}

// settle draws the slices whose ends v has passed in the Run that has ended, or that ends with the instruction under way. It must come
// before t moves by anything but instructions. done: what ends the Run belongs to the last instruction that was counted; else to one
// that is not counted and begins a slice when the last one has ended one.
func (m *Machine) settle(v *VCPU, done bool) {
	t := &m.turn
	if !t.ahead {
		return
	}
	t.ahead = false
	for now := v.Now(); t.end < now || t.end == now && !done; {
		t.end += m.sliceLen()
	}
}

// trapped says whether the exception that has ended a Run came behind its instruction, or from shadow text, where no slice ends.
func (v *VCPU) trapped() bool {
	exc := &v.CPU.Exc
	return exc.Soft || exc.Vec == x86.VecDB || v.inShadow()
}

// unchain has the next slice wait until Run has looked at the machine.
func (m *Machine) unchain() {
	m.turn.chain = false
	m.othersChanged()
}

// othersChanged says that the time at which another CPU is to run may have become another.
func (m *Machine) othersChanged() {
	m.turn.lead = 0
	m.lookUp()
	if m.turn.ahead {
		m.running.CPU.RequestStop()
	}
}
