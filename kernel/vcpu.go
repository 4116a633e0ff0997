package kernel

import (
	"kscope/kernel/mem"
	"kscope/kernel/x86"
)

// cpuState is what a vCPU is doing, in the order in which it gets there.
type cpuState uint8

const (
	cpuOffline  cpuState = iota // not started: no INIT yet
	cpuWaitSIPI                 // INIT received
	cpuRunning
	cpuHalted // in hlt, until an interrupt is due
)

// VCPU is one CPU of the machine: the executor's state, its clock and its local APIC.
type VCPU struct {
	ID  int
	CPU *x86.CPU

	m     *Machine
	state cpuState
	off   int64  // t = counted instructions + off
	seen  uint64 // CPU.Insns that the machine's total holds already
	apic  apic
	cont  []continuation // pending "call guest f, then gate g"
	own   bool           // the running gate has set RIP itself

	mark    uint64 // CPU.Insns at which Step ends or an injection is due; never: none
	stepEnd uint64

	coldState coldState // see enterCold

	recent [1 << recentBits]recentGate
	caller [16]callerAt // see Caller
	here   here
}

// Machine is the machine this CPU is part of.
func (v *VCPU) Machine() *Machine { return v.m }

// Now is the CPU's virtual time t in ns, exact whenever Go code runs.
func (v *VCPU) Now() uint64 { return uint64(int64(v.CPU.Insns) + v.off) }

// setNow moves t to t (never for a running tracer: see Charge).
func (v *VCPU) setNow(t uint64) { v.off = int64(t) - int64(v.CPU.Insns) }

// Charge adds the documented cost of a tracing event to t. With OverheadNone it does nothing.
func (v *VCPU) Charge(ns uint64) {
	if v.m.cfg.Overhead == OverheadModel {
		v.off += int64(ns)
	}
}

// ChargeWork adds the time of work that the guest asked of the host (a write to the console, a file's copy): always.
func (v *VCPU) ChargeWork(ns uint64) {
	v.off += int64(ns)
	v.m.work += ns
}

// argRegs are the SysV argument registers.
var argRegs = [...]int{x86.RDI, x86.RSI, x86.RDX, x86.RCX, x86.R8, x86.R9}

// Arg is SysV integer argument i, 0 to 5, of the gate that runs.
func (v *VCPU) Arg(i int) uint64 { return v.CPU.Reg(argRegs[i]) }

// TaskInfo says who runs.
type TaskInfo struct {
	Addr      uint64 // of task_struct
	Pid, Tgid int
	Comm      string
}

// CurrentAddr is the address of the current task_struct, 0 before the guest has set it.
func (v *VCPU) CurrentAddr() uint64 {
	task, _, _ := v.Here()
	return task
}

// CurrentPid is Current().Pid without the rest.
func (v *VCPU) CurrentPid() int {
	_, pid := v.CurrentIDs()
	return pid
}

// CurrentIDs are CurrentAddr and CurrentPid.
func (v *VCPU) CurrentIDs() (addr uint64, pid int) {
	addr, words, _ := v.Here()
	if at := v.m.lay.taskPid; words != nil && addr%mem.PageSize+at <= mem.PageSize-4 {
		return addr, int(pidIn(words, at))
	}
	pa, ok := v.m.linear(addr)
	if !ok {
		return addr, 0
	}
	return addr, int(int32(v.m.phys.U32(pa + v.m.lay.taskPid)))
}

// Current is the task that runs on this CPU.
func (v *VCPU) Current() TaskInfo { return v.m.TaskAt(v.CurrentAddr()) }

// CommBytes is Current().Comm and the NULs behind it.
func (v *VCPU) CommBytes() (b [16]byte) {
	if pa, ok := v.m.linear(v.CurrentAddr()); ok && v.m.phys.Contains(pa+v.m.lay.taskSize) {
		v.m.phys.ReadAt(pa+v.m.lay.taskComm, b[:])
	}
	return b
}

// TaskAt reads the task_struct at addr.
func (m *Machine) TaskAt(addr uint64) TaskInfo {
	pa, ok := m.linear(addr)
	if !ok || !m.phys.Contains(pa+m.lay.taskSize) {
		return TaskInfo{}
	}
	var comm [16]byte
	m.phys.ReadAt(pa+m.lay.taskComm, comm[:])
	return TaskInfo{
		Addr: addr,
		Pid:  int(int32(m.phys.U32(pa + m.lay.taskPid))),
		Tgid: int(int32(m.phys.U32(pa + m.lay.taskTgid))),
		Comm: cstring(comm[:]),
	}
}

// PreemptCount is the per-CPU __preempt_count as Linux keeps it on x86: bit 31 set means that no reschedule is needed.
func (v *VCPU) PreemptCount() uint32 {
	_, _, n := v.Here()
	return n
}

// NeedResched is TIF_NEED_RESCHED of the current task as __preempt_count mirrors it.
func (v *VCPU) NeedResched() bool { return v.PreemptCount()&(1<<31) == 0 }

// IRQsOff says whether interrupts are disabled.
func (v *VCPU) IRQsOff() bool { return !v.CPU.IF() }

func cstring(b []byte) string {
	for i, c := range b {
		if c == 0 {
			return string(b[:i])
		}
	}
	return string(b)
}
