package kernel

import (
	"fmt"

	"kscope/kernel/x86"
)

// Unwinder is the machine's unwinder. Tracers that hijack return addresses set its RetAddr, also on a fork.
func (m *Machine) Unwinder() *Unwinder {
	if m.unw == nil {
		t, err := m.img.Types.frames()
		if err != nil { // a foreign image: stacks then end at their first frame
			t = &frameTable{}
		}
		m.unw = &Unwinder{table: t, rows: map[uint64]*row{}, leaf: [2]uint64{m.img.gateStart, m.img.gateEnd},
			Alias: m.unwindAlias, Module: m.moduleRows}
	}
	return m.unw
}

// frames parses the image's unwind rows once.
func (t *Types) frames() (*frameTable, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.rows == nil {
		rows, err := newFrameTable(t.file)
		if err != nil {
			return nil, err
		}
		t.rows = rows
	}
	return t.rows, nil
}

// dwarfOrder lists x86's register numbers by DWARF number.
var dwarfOrder = [16]int{x86.RAX, x86.RDX, x86.RCX, x86.RBX, x86.RSI, x86.RDI, x86.RBP, x86.RSP, x86.R8, x86.R9, x86.R10,
	x86.R11, x86.R12, x86.R13, x86.R14, x86.R15}

func (v *VCPU) dwarfRegs() (r [nDW]uint64) {
	for i, reg := range dwarfOrder {
		r[i] = v.CPU.Reg(reg)
	}
	r[dwRIP] = v.CPU.RIP()
	return r
}

// Walk calls fn for each frame of what v runs now, innermost first; see Unwinder.Walk.
func (v *VCPU) Walk(fn func(*Frame) bool) error {
	return v.m.Unwinder().Walk(v.CPU, Start(v.dwarfRegs()), fn)
}

// WalkTask is Walk for a task that is not running: from where it called schedule().
func (m *Machine) WalkTask(task uint64, fn func(*Frame) bool) error {
	if m.lay.taskSP == 0 {
		return fmt.Errorf("task_struct has no thread.sp: %w", EOPNOTSUPP)
	}
	sp, err := m.U64(task + m.lay.taskSP)
	if err != nil {
		return err
	}
	f, err := m.switchFrame(sp)
	if err != nil {
		return err
	}
	return m.Unwinder().Walk(m, f, fn)
}

// switchFrame is the frame behind __switch_to_asm, which pushed r12 to r15, rbx, rbp in struct inactive_task_frame's
// order (arch/x86/include/asm/switch_to.h): r15 r14 r13 r12 bx bp ret_addr, upwards.
func (m *Machine) switchFrame(sp uint64) (f Frame, err error) {
	for i, reg := range []int{15, 14, 13, 12, dwRBX, dwRBP, dwRIP} {
		if f.Regs[reg], err = m.U64(sp + uint64(i)*8); err != nil {
			return f, err
		}
		f.Known[reg] = true
	}
	f.At = sp + 48
	f.SP = sp + 56
	f.Regs[dwRSP], f.Known[dwRSP] = f.SP, true
	f.PC = f.Regs[dwRIP]
	return f, nil
}

// schedText are the functions that get_wchan() skips: where a task waits is the first frame outside them
// (in_sched_functions in kernel/sched/core.c: the section .sched.text).
func (m *Machine) inSched(pc uint64) bool {
	s, _ := m.syms.At(pc - 1)
	switch s.Name {
	case "__schedule", "schedule", "schedule_timeout", "io_schedule", "schedule_preempt_disabled", "preempt_schedule",
		"preempt_schedule_irq", "schedule_idle", "do_nanosleep", "schedule_hrtimeout_range",
		"schedule_hrtimeout_range_clock", "schedule_timeout_interruptible", "wait_for_completion", "mutex_lock", "__mutex_lock":
		return true
	}
	return s.Section == ".sched.text"
}

// blockedAt says where a sleeping task waits, and who called that: "do_wait <- kernel_wait4".
func (m *Machine) blockedAt(t Task) string {
	text, n := "", 0
	_ = m.WalkTask(t.Addr, func(f *Frame) bool {
		if n == 0 && m.inSched(f.PC) {
			return true
		}
		if s, _ := m.syms.At(f.PC - 1); s.Name != "" {
			if text += s.Name; n < 2 {
				text += " <- "
			}
		}
		n++
		return n < 3
	})
	return trimArrow(text)
}

func trimArrow(s string) string {
	const arrow = " <- "
	if len(s) > len(arrow) && s[len(s)-len(arrow):] == arrow {
		return s[:len(s)-len(arrow)]
	}
	return s
}

// isText is __kernel_text_address(): kernel text, or text added at run time.
func (m *Machine) isText(va uint64) bool {
	if va < kernelText {
		return false
	}
	s, _ := m.syms.At(va)
	return s.Name != "" && s.Text()
}

// stackAreas finds the stack that sp is on: the task's, the CPU's interrupt stack or one of its exception stacks.
func (m *Machine) stackArea(v *VCPU, sp uint64) (stackArea, bool) {
	if lo, ok := m.taskStack(v.CurrentAddr()); ok && lo <= sp && sp < lo+m.ThreadSize() {
		return stackArea{name: "TASK", lo: lo, hi: lo + m.ThreadSize()}, true
	}
	if at := m.PerCPU("hardirq_stack_ptr", v.ID); at != 0 {
		// The pointer is eight bytes below the end: the last word is the interrupted stack's pointer.
		if top, err := m.U64(at); err == nil && top != 0 {
			end := (top + 4095) &^ 4095
			if end-m.ThreadSize() <= sp && sp < end {
				next, _ := m.U64(end - 8)
				return stackArea{name: "IRQ", lo: end - m.ThreadSize(), hi: end, next: next}, true
			}
		}
	}
	return m.exceptionStack(v, sp)
}

// exceptionNames are the stacks of the interrupt stack table (exception_stack_names in arch/x86/kernel/dumpstack_64.c).
var exceptionNames = [...]string{"#DF", "NMI", "#DB", "#MC"}

func (m *Machine) exceptionStack(v *VCPU, sp uint64) (stackArea, bool) {
	tss := m.PerCPU("cpu_tss_rw", v.ID)
	ist := m.Types().Struct("x86_hw_tss").Field("ist")
	if tss == 0 || ist.Type == nil {
		return stackArea{}, false
	}
	for i, name := range exceptionNames {
		top, err := m.U64(tss + uint64(ist.Offset) + uint64(i)*8)
		if err != nil || top == 0 {
			continue
		}
		if lo := top - 4096; lo <= sp && sp < top {
			next, _ := m.U64(top - 16) // the interrupted RSP, in the frame that the CPU pushed at the top
			return stackArea{name: name, lo: lo, hi: top, next: next}, true
		}
	}
	return stackArea{}, false
}

// ThreadSize is the size of a task's stack in bytes.
func (m *Machine) ThreadSize() uint64 {
	if t := m.Types().Struct("thread_union"); t != nil && t.Size > 0 {
		return uint64(t.Size)
	}
	return 16 << 10
}

func (m *Machine) taskStack(task uint64) (uint64, bool) {
	f := m.Types().Struct("task_struct").Field("stack")
	if f.Type == nil || task == 0 {
		return 0, false
	}
	lo, err := m.U64(task + uint64(f.Offset))
	return lo, err == nil && lo != 0
}

// Obj is a typed view of kernel memory: m.Obj("task_struct", addr).Field("comm").
func (m *Machine) Obj(typ string, addr uint64) (Obj, error) {
	t, err := m.Types().ByName(typ)
	if err != nil {
		return Obj{}, err
	}
	return NewObj(m, t, addr), nil
}

// Var is a global or static variable, typed; of a per-CPU variable, the copy of one CPU.
func (m *Machine) Var(name string, cpu int) (Obj, error) {
	t, err := m.Types().Var(name)
	if err != nil {
		return Obj{}, err
	}
	rows := m.syms.ByName(name)
	if len(rows) == 0 {
		return Obj{}, &SymbolError{Text: name, Msg: fmt.Sprintf("variable %q has no address", name), Err: ENOENT}
	}
	addr := rows[0].Addr
	if rows[0].PerCPU() {
		if addr = m.PerCPU(name, cpu); addr == 0 {
			return Obj{}, &SymbolError{Text: name, Msg: fmt.Sprintf("%q has no copy on CPU %d", name, cpu), Err: EINVAL}
		}
	}
	return NewObj(m, t, addr), nil
}
