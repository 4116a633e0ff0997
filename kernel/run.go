package kernel

import (
	"fmt"

	"kscope/kernel/x86"
)

// Reason is why Run returned.
type Reason string

const (
	StopDone      Reason = "done"      // what Until asked for has happened
	StopLimit     Reason = "limit"     // Config.MaxInsns or Until.Insns is used up
	StopDeadlock  Reason = "deadlock"  // nothing can ever run again; Text says who waits on what
	StopPanic     Reason = "panic"     // the guest panicked or triple faulted; Text is the oops
	StopInterrupt Reason = "interrupt" // Interrupt was called (Ctrl-C)
	StopIdle      Reason = "idle"      // the CPU that was to be stepped is halted, and nothing is due at it
	StopVerdict   Reason = "stop"      // a handler asked for it (RequestStop)
)

// Stop says why, where and when a run ended.
type Stop struct {
	Reason Reason
	CPU    int
	PC     uint64
	Time   uint64 // of that CPU
	Insns  uint64 // of the machine
	Text   string
}

func (s Stop) String() string {
	if s.Text == "" {
		return string(s.Reason)
	}
	return string(s.Reason) + ": " + s.Text
}

// StopError is a Stop that ended something before it was done.
type StopError struct {
	Doing string
	Stop  Stop
}

func (e *StopError) Error() string { return fmt.Sprintf("%s: machine stopped: %s", e.Doing, e.Stop) }

// Until says when a run is done. Zero fields ask for nothing; with none set the machine runs until it stops by itself.
type Until struct {
	Time  uint64      // every CPU has reached this t (absolute ns); alone, it is reached even when nothing can run
	Insns uint64      // so many more counted instructions, exactly
	Cond  func() bool // asked before each slice
	Pid   int         // this user task has exited
}

// Interrupt stops a run at the next slice boundary. It may be called from any goroutine; the machine keeps its state.
func (m *Machine) Interrupt() { m.interrupt.Store(true) }

// RequestStop stops the run at the end of the current instruction, with reason "stop". For gates, traps and handlers.
func (m *Machine) RequestStop(text string) {
	m.stopNow(StopVerdict, text)
}

func (m *Machine) stopNow(why Reason, text string) {
	v := m.running
	if v == nil || m.stopWhy != nil {
		return
	}
	m.stopWhy = &Stop{Reason: why, CPU: v.ID, Text: text, Time: v.Now()}
	v.CPU.RequestStop()
}

// Dead tells that the guest has panicked: nothing can be asked of it any more.
func (m *Machine) Dead() bool { return m.dead != nil }

const never = ^uint64(0)

// Run drives the CPUs until one of the conditions holds. It must not be called from a gate or handler.
func (m *Machine) Run(u Until) Stop {
	if m.inRun {
		panic("BUG: kernel: Run from within a run")
	}
	if m.dead != nil {
		return *m.dead
	}
	m.inRun = true
	defer func() { m.inRun, m.running = false, nil }()
	m.interrupt.Store(false)
	limit := never
	if m.cfg.MaxInsns != 0 {
		limit = m.cfg.MaxInsns
	}
	limitReason := StopLimit
	if u.Insns != 0 && m.insns+u.Insns < limit {
		limit, limitReason = m.insns+u.Insns, StopDone
	}
	for {
		if stop, ok := m.finished(u, limit, limitReason); ok {
			return stop
		}
		v := m.resume
		if v == nil {
			v = m.next()
		}
		if m.ticked(v, u) {
			if m.stopWhy != nil {
				return m.takeStop(m.cpus[m.stopWhy.CPU])
			}
			continue
		}
		onlyTime := u.Time != 0 && u.Cond == nil && u.Pid == 0
		switch {
		case v == nil && !onlyTime:
			return m.stuck()
		case v == nil || u.Time != 0 && m.resume == nil && v.key() >= u.Time:
			m.idleUntil(u.Time)
			return m.stopAt(m.cpus[0], StopDone, "")
		}
		m.slice(v, &u, limit)
		if m.stopWhy != nil {
			return m.takeStop(v)
		}
	}
}

// finished asks the conditions that are checked between slices.
func (m *Machine) finished(u Until, limit uint64, reason Reason) (Stop, bool) {
	switch {
	case m.interrupt.Load():
		return m.stopAt(m.cpus[0], StopInterrupt, ""), true
	case u.Cond != nil && u.Cond():
		return m.stopAt(m.cpus[0], StopDone, ""), true
	case u.Pid != 0 && m.hasExited(u.Pid):
		return m.stopAt(m.cpus[0], StopDone, ""), true
	case m.spent() && m.insns < limit:
		text := fmt.Sprintf("%d instructions executed, and work of programs for %d more (--max-insns)", m.insns, m.work)
		return m.stopAt(m.cpus[0], StopLimit, text), true
	case m.insns >= limit:
		text := ""
		if reason == StopLimit {
			text = fmt.Sprintf("%d instructions executed (--max-insns)", m.insns)
		}
		return m.stopAt(m.cpus[0], reason, text), true
	}
	return Stop{}, false
}

// spent tells that Config.MaxInsns is used up. The work of user programs counts, at its 1 ns an instruction: a loop of a shell or of awk
// that makes no system calls executes next to nothing of the guest.
func (m *Machine) spent() bool { return m.cfg.MaxInsns != 0 && m.insns+m.work >= m.cfg.MaxInsns }

func (m *Machine) stopAt(v *VCPU, why Reason, text string) Stop {
	return Stop{Reason: why, CPU: v.ID, PC: v.CPU.RIP(), Time: v.Now(), Insns: m.insns, Text: text}
}

// takeStop turns what stopNow left into the run's result.
func (m *Machine) takeStop(v *VCPU) Stop {
	s := m.stopAt(v, m.stopWhy.Reason, m.stopWhy.Text)
	s.Time = max(s.Time, m.stopWhy.Time) // the host's clocks stop the machine ahead of a CPU that waits
	m.stopWhy = nil
	if s.Reason == StopPanic {
		m.dead = &s
	}
	return s
}

// key is the time at which a CPU can next run: its t while running, the next due time while halted.
func (v *VCPU) key() uint64 {
	switch v.state {
	case cpuRunning:
		return v.Now()
	case cpuHalted:
		return v.apic.wake(v)
	case cpuWaitSIPI, cpuOffline:
		return v.apic.startDue()
	}
	return never
}

// next is the CPU with the least key; ties go to the lowest id. nil when nothing can ever run.
func (m *Machine) next() *VCPU {
	var best *VCPU
	least := never
	for _, v := range m.cpus {
		if k := v.key(); k < least {
			best, least = v, k
		}
	}
	return best
}

// Idle tells whether every CPU is halted and no interrupt is on its way to any: the only thing that can wake one is its timer.
func (m *Machine) Idle() bool {
	for _, v := range m.cpus {
		if v.state == cpuRunning || v.state == cpuHalted && v.apic.posted() {
			return false
		}
	}
	return true
}

// idleUntil moves the clocks of halted CPUs to t, where a run with a time limit ends.
func (m *Machine) idleUntil(t uint64) {
	for _, v := range m.cpus {
		if v.state == cpuHalted && v.Now() < t {
			v.setNow(t)
		}
	}
}

// handle acts on one exit; false ends the slice.
func (m *Machine) handle(v *VCPU, exit x86.Exit) bool {
	switch exit {
	case x86.ExitBudget, x86.ExitStop, x86.ExitGate:
		return true
	case x86.ExitException:
		m.exception(v)
	case x86.ExitWindow:
		m.takeInterrupt(v)
	case x86.ExitHypercall:
		if m.hyper == nil {
			v.CPU.Exc = x86.Exception{Vec: x86.VecUD}
			m.deliver(v)
			return true
		}
		m.hyper(v)
	case x86.ExitPause:
		m.settleStep(v)
		return m.pause(v)
	case x86.ExitHalt:
		m.settleStep(v)
		v.state = cpuHalted
		return false
	case x86.ExitShutdown:
		m.tripleFault(v)
	default:
		panic(fmt.Sprintf("BUG: kernel: exit %v", exit))
	}
	return true
}

// pause moves t just past the least t of the other CPUs that can run soon: those running, and those halted with an IPI on
// its way. Timers far ahead do not count, or a udelay loop would sleep until the next tick.
func (m *Machine) pause(v *VCPU) bool {
	least := never
	for _, o := range m.cpus {
		if o == v {
			continue
		}
		switch {
		case o.state == cpuRunning:
			least = min(least, o.Now())
		case o.apic.posted():
			least = min(least, o.key())
		}
	}
	now := v.Now()
	if least == never || least < now {
		return least == never
	}
	to := least + 1
	if due := v.apic.nextDue(); due > now && due < to {
		to = due
	}
	v.off += int64(to - now)
	return false
}
