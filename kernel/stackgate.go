package kernel

// gateStackTrace: long stack_trace_save_tsk(struct task_struct *tsk, unsigned long *store, u64 size, u64 skipnr): the return
// addresses of a task, innermost first, for /proc/PID/stack (see kernel/stacktrace.c, whose arch_stack_walk_reliable is our
// unwinder). The caller's own frames begin behind the gate; of a task that runs on another CPU nothing can be said.
func (m *Machine) gateStackTrace(c *VCPU) uint64 {
	task, store, size, skip := c.Arg(0), c.Arg(1), c.Arg(2), c.Arg(3)
	n := uint64(0)
	var fault error
	add := func(f *Frame) bool {
		if skip > 0 {
			skip--
			return true
		}
		if m.inSched(f.PC) { // consume_entry_nosched
			return true
		}
		if n == size || !m.isText(f.PC) {
			return false
		}
		if fault = m.PutU64(store+n*8, f.PC); fault != nil {
			return false
		}
		n++
		return true
	}
	var err error
	if c.CurrentAddr() == task {
		skip++ // the gate itself
		err = c.Walk(add)
	} else {
		for _, o := range m.cpus {
			if o.CurrentAddr() == task {
				return 0
			}
		}
		err = m.WalkTask(task, add)
	}
	if fault != nil || err != nil && n == 0 {
		return EFAULT.Ret()
	}
	return n
}
