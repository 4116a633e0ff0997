package kernel

import "fmt"

// OrderWatch checks while the machine runs that no effect has an earlier t than its cause on another CPU: an interrupt is not
// taken before it was sent, a task does not run before the waking that made it runnable, and a CPU does not acknowledge
// a write to the text before it was made. It hooks the guest's wakings and switches, which the guest cannot tell.
type OrderWatch struct {
	IPIs, Wakings, Acks int      // what was checked
	Crossed             int      // wakings by another CPU than the task then runs on
	Faults              []string // what was out of order, the first few
	Total               int      // how many that were

	m     *Machine
	woken map[int]moment // by pid: the first waking since the task last ran
}

type moment struct {
	t   uint64
	cpu int
}

// WatchOrder begins to check; the guest must be booted. The machine's forks are not watched.
func (m *Machine) WatchOrder() (*OrderWatch, error) {
	w := &OrderWatch{m: m, woken: map[int]moment{}}
	for _, h := range []struct {
		fn string
		do func(*VCPU)
	}{{"try_to_wake_up", w.waking}, {"wake_up_new_task", w.waking}, {"finish_task_switch", w.switched}} {
		va, ok := m.SymAddr(h.fn)
		if !ok {
			return nil, fmt.Errorf("watching the order: the image has no %s", h.fn)
		}
		if _, err := m.Hook(va, h.do); err != nil {
			return nil, err
		}
	}
	m.watch = w
	return w, nil
}

// Err is nil when everything was in order.
func (w *OrderWatch) Err() error {
	if w.Total == 0 {
		return nil
	}
	return fmt.Errorf("%d effects before their causes, first: %s", w.Total, w.Faults[0])
}

const maxOrderFaults = 10

func (w *OrderWatch) fault(format string, args ...any) {
	if w.Total++; w.Total <= maxOrderFaults {
		w.Faults = append(w.Faults, fmt.Sprintf(format, args...))
	}
}

func (w *OrderWatch) ipi(v *VCPU, p post) {
	w.IPIs++
	if now := v.Now(); now < p.sent {
		w.fault("CPU %d takes interrupt %#x at %d ns, sent at %d ns", v.ID, p.vec, now, p.sent)
	}
}

func (w *OrderWatch) ack(v *VCPU, s *PatchStep) {
	w.Acks++
	if now := v.Now(); now < s.Time {
		w.fault("CPU %d acknowledges at %d ns the write (%s) of %d ns", v.ID, now, s.Kind, s.Time)
	}
}

// waking is try_to_wake_up(p, …) or wake_up_new_task(p). A task that is on a run queue runs without any waking.
func (w *OrderWatch) waking(v *VCPU) {
	task := v.Arg(0)
	queued, _ := w.m.U32(task + w.m.lay.taskOnRq)
	pid := w.m.TaskAt(task).Pid
	if _, ok := w.woken[pid]; !ok && queued == 0 {
		w.woken[pid] = moment{v.Now(), v.ID}
	}
}

// switched is finish_task_switch(prev), on the stack of the task that runs now.
func (w *OrderWatch) switched(v *VCPU) {
	pid := v.CurrentPid()
	if wake, ok := w.woken[pid]; ok {
		w.Wakings++
		if wake.cpu != v.ID {
			w.Crossed++
		}
		if now := v.Now(); now < wake.t {
			w.fault("pid %d runs on CPU %d at %d ns, before its waking on CPU %d at %d ns", pid, v.ID, now, wake.cpu, wake.t)
		}
		delete(w.woken, pid)
	}
}
