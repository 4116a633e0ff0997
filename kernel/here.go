package kernel

import (
	"unsafe"

	"kscope/kernel/mem"
)

// here is where on the host a CPU has what each event asks for, as long as no frame of the guest's memory moves.
type here struct {
	epoch   uint64  // mem.Phys.Epoch, and one; 0: not looked up
	current *uint64 // current_task
	preempt *uint32 // __preempt_count
	task    uint64
	words   unsafe.Pointer
	none    uint32
}

// Here is the current task_struct and the preempt count; see CurrentAddr and PreemptCount. words is the task's host address, for
// reading what of it lies in its first page, and only until the guest runs or the host writes; nil: it is not mapped.
func (v *VCPU) Here() (task uint64, words unsafe.Pointer, preempt uint32) {
	h := &v.here
	if h.epoch != v.m.phys.Epoch+1 || *h.current != h.task {
		v.lookAround()
	}
	return h.task, h.words, *h.preempt
}

// pidIn is the pid at an offset of the words that Here gives.
func pidIn(words unsafe.Pointer, at uint64) int32 { return *(*int32)(unsafe.Add(words, at)) }

// lookAround finds them anew. Until boot is over the per-CPU area may move.
func (v *VCPU) lookAround() {
	m, h := v.m, &v.here
	*h = here{}
	h.preempt = &h.none
	base, ok := m.linear(m.perCPUBase(v.ID))
	if !ok {
		return
	}
	at := func(off uint64) unsafe.Pointer {
		pa := base + off
		return unsafe.Pointer(&m.phys.Page(pa / mem.PageSize)[pa%mem.PageSize])
	}
	h.current, h.preempt = (*uint64)(at(m.lay.currentTask)), (*uint32)(at(m.lay.preemptCount))
	if m.booted {
		h.epoch = m.phys.Epoch + 1
	}
	if h.task = *h.current; h.task != 0 {
		h.words = m.HostPtr(h.task)
	}
}
