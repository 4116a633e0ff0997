package ftrace

import (
	"fmt"
	"maps"
	"slices"

	"kscope/kernel"
)

// defaultCmdlines is what 128 slots become when Linux rounds their memory up to whole pages.
const defaultCmdlines = 6552

// cmdlines maps pids to the names that tasks had when they were traced: Linux's saved_cmdlines_buffer. New pids take the
// slots in turn, so the oldest is forgotten when all are used.
type cmdlines struct {
	slots []savedTask
	next  int
	of    map[int32]int
	size  int
	tgids map[int32]int32 // saved_tgids; nil: never asked for
}

type savedTask struct {
	pid  int32
	comm [16]byte
}

func (s *savedTask) name() string {
	for i, c := range s.comm {
		if c == 0 {
			return string(s.comm[:i])
		}
	}
	return string(s.comm[:])
}

func newCmdlines(size int) *cmdlines { return &cmdlines{of: map[int32]int{}, size: size} }

func (c *cmdlines) init(size int) { *c = cmdlines{of: map[int32]int{}, size: size, tgids: c.tgids} }

func (c *cmdlines) fork() *cmdlines {
	n := *c
	n.slots, n.of, n.tgids = slices.Clone(c.slots), cloneMap(c.of), maps.Clone(c.tgids)
	return &n
}

// save notes a task's name; pid 0 is known without (trace_save_cmdline).
func (c *cmdlines) save(s savedTask) {
	if s.pid == 0 {
		return
	}
	if i, ok := c.of[s.pid]; ok {
		c.slots[i] = s
		return
	}
	if len(c.slots) < c.size {
		c.of[s.pid] = len(c.slots)
		c.slots = append(c.slots, s)
		return
	}
	delete(c.of, c.slots[c.next].pid)
	c.slots[c.next], c.of[s.pid] = s, c.next
	c.next = (c.next + 1) % c.size
}

// find gives the name to print for a pid; see __trace_find_cmdline.
func (c *cmdlines) find(pid int32) string {
	switch i, ok := c.of[pid]; {
	case pid == 0:
		return "<idle>"
	case pid < 0:
		return "<XXX>"
	case ok:
		return c.slots[i].name()
	}
	return "<...>"
}

func (c *cmdlines) text(b []byte) []byte {
	for i := range c.slots {
		b = fmt.Appendf(b, "%d %s\n", c.slots[i].pid, c.slots[i].name())
	}
	return b
}

// resize rounds n up as allocate_cmdlines_buffer does (the whole buffer, with its map of 32768 pids, takes a power of two
// of pages), and forgets what was saved.
func (c *cmdlines) resize(n uint64) error {
	const head, slot = 131104, 16
	if n == 0 || n > 32768 {
		return kernel.EINVAL
	}
	size := uint64(4096)
	for size < head+slot*n {
		size *= 2
	}
	c.init(int((size - head) / (slot + 4)))
	return nil
}

// recordsCmdline says whether names are saved: while a tracer or an event is active, and from the first user of trace_printk on, unless record-cmd is off.
func (t *Tracer) recordsCmdline() bool {
	return (t.current.records || t.eventsOn > 0 || t.printkUsed && t.opt(optPrintk)) && t.opt(optRecordCmd)
}

// saveTask notes the name of the task that has just been traced on c, not the one before. Linux does so at the next task switch, so a task
// that has not been switched since shows as <...> there, and here by its name. A name can change while a task runs
// (execve), so it is read again when the next task is traced here, and when the names are printed.
func (t *Tracer) saveTask(c *kernel.VCPU, w running) {
	p := &t.cpu[c.ID]
	t.saveAgain(p)
	p.saved = tracedTask{w.task, w.pid}
	t.saveAgain(p)
}

// saveAgain reads the name of the last task traced on a CPU, if it is still there.
func (t *Tracer) saveAgain(p *cpuState) {
	mem, task := hot{t.m}, p.saved.task
	if task == 0 || mem.i32(task+t.lay.pid) != p.saved.pid {
		return
	}
	t.cmdline.save(savedTask{p.saved.pid, mem.comm(task + t.lay.comm)})
	if t.opt(optRecordTgid) && p.saved.pid != 0 {
		t.cmdline.tgids[p.saved.pid] = mem.i32(task + t.lay.tgid)
	}
}

// freshNames brings the names up to date before they are printed.
func (t *Tracer) freshNames() {
	for i := range t.cpu {
		t.saveAgain(&t.cpu[i])
	}
}

// tracedTask is the last task that was traced on a CPU.
type tracedTask struct {
	task uint64 // its task_struct, 0: none
	pid  int32
}

func (t *Tracer) tgidText(b []byte) []byte {
	pids := make([]int32, 0, len(t.cmdline.tgids))
	for pid := range t.cmdline.tgids {
		pids = append(pids, pid)
	}
	slices.Sort(pids)
	for _, pid := range pids {
		b = fmt.Appendf(b, "%d %d\n", pid, t.cmdline.tgids[pid])
	}
	return b
}
