package ftrace

import (
	"encoding/binary"
	"fmt"
	"strings"

	"kscope/ftrace/event"
	"kscope/kernel"
)

// pointNames are the tracepoints of tracepoint.h.
var pointNames = [...]string{"sched_switch", "sched_waking", "sched_wakeup", "sched_wakeup_new", "sched_migrate_task", "sched_process_fork",
	"sched_process_exec", "sched_process_exit", "sched_process_wait", "softirq_entry", "softirq_exit", "sys_enter", "sys_exit"}

// The parts of a record are put with these.
func put32(d []byte, at int, x uint32) { binary.LittleEndian.PutUint32(d[at:], x) }
func put64(d []byte, at int, x uint64) { binary.LittleEndian.PutUint64(d[at:], x) }

func (p *points) putComm(d []byte, at int, task uint64) {
	hot{p.t.m}.putComm((*[16]byte)(d[at:]), task+p.t.lay.comm)
}

func (p *points) pid(task uint64) uint32 { return hot{p.t.m}.u32(task + p.t.lay.pid) }
func (p *points) prioOf(t uint64) uint32 { return hot{p.t.m}.u32(t + p.prio) }
func commAt(name string, at int) event.Field {
	return event.Field{Type: "char[16]", Name: name, Offset: at, Size: 16, Signed: true}
}
func pidAt(name string, at int) event.Field {
	return event.Field{Type: "pid_t", Name: name, Offset: at, Size: 4, Signed: true}
}
func intAt(name string, at int) event.Field {
	return event.Field{Type: "int", Name: name, Offset: at, Size: 4, Signed: true}
}

// printed is f with its text made from its print fmt.
func printed(f *event.Format) *event.Format {
	var err error
	if f.Text, err = event.CompilePrint(f); err != nil {
		panic("BUG: ftrace: " + err.Error())
	}
	return f
}

// schedRow is an event about one task: comm, pid, prio and what more there is.
func schedRow(name string, id uint16, print string, fields ...event.Field) pointRow {
	f := printed(&event.Format{System: "sched", Name: name, ID: id, Print: print, Fields: fields})
	last := fields[len(fields)-1]
	return pointRow{point: name, TraceEvent: TraceEvent{Format: f}, n: last.Offset + last.Size}
}

const oneTask = `"comm=%s pid=%d prio=%d", REC->comm, REC->pid, REC->prio`

func taskRow(name string, id uint16, task func(c *kernel.VCPU) uint64) pointRow {
	r := schedRow(name, id, oneTask, commAt("comm", 8), pidAt("pid", 24), intAt("prio", 28))
	r.fill = func(p *points, c *kernel.VCPU, d []byte) {
		t := task(c)
		p.putComm(d, 8, t)
		put32(d, 24, p.pid(t))
		put32(d, 28, p.prioOf(t))
	}
	return r
}

func wakeRow(name string, id uint16) pointRow {
	r := schedRow(name, id, `"comm=%s pid=%d prio=%d target_cpu=%03d", REC->comm, REC->pid, REC->prio, REC->target_cpu`,
		commAt("comm", 8), pidAt("pid", 24), intAt("prio", 28), intAt("target_cpu", 32))
	r.fill = func(p *points, c *kernel.VCPU, d []byte) {
		t := c.Arg(0)
		p.putComm(d, 8, t)
		put32(d, 24, p.pid(t))
		put32(d, 28, p.prioOf(t))
		put32(d, 32, hot{p.t.m}.u32(t+p.t.lay.cpu))
	}
	return r
}

// pointRows makes the table anew: each machine has its own. Formats, ids and texts are Debian 6.1's.
func pointRows() []pointRow {
	rows := []pointRow{
		switchRow(),
		wakeRow("sched_waking", 317), wakeRow("sched_wakeup", 316), wakeRow("sched_wakeup_new", 315),
		taskRow("sched_process_exit", 311, func(c *kernel.VCPU) uint64 { return c.Arg(0) }),
		waitRow(), migrateRow(), forkRow(), execRow(),
		softirqRow("softirq_entry", 145), softirqRow("softirq_exit", 144),
		sysEnterRow(), sysExitRow(),
	}
	return rows
}

// The states of a task as events show them: TASK_REPORT and its letters; see include/trace/events/sched.h.
const (
	taskReport = 0x7f
	taskIdle   = 0x402
	reportIdle = 0x80
	reportMax  = 0x100 // preempted
)

// reportState is __trace_sched_switch_state: the one bit of prev's state that is shown.
func (p *points) reportState(preempt bool, state uint32, task uint64) uint64 {
	if preempt {
		return reportMax
	}
	if state == taskIdle {
		return reportIdle
	}
	x := (state | hot{p.t.m}.u32(task+p.exit)) & taskReport
	top := uint64(0)
	for bit := uint32(1); bit <= taskReport; bit <<= 1 {
		if x&bit != 0 {
			top = uint64(bit)
		}
	}
	return top
}

func switchRow() pointRow {
	const mask = "((((0x00000000 | 0x00000001 | 0x00000002 | 0x00000004 | 0x00000008 | 0x00000010 | 0x00000020 | 0x00000040) + 1) << 1) - 1)"
	const more = "(((0x00000000 | 0x00000001 | 0x00000002 | 0x00000004 | 0x00000008 | 0x00000010 | 0x00000020 | 0x00000040) + 1) << 1)"
	f := &event.Format{System: "sched", Name: "sched_switch", ID: 314,
		Fields: []event.Field{commAt("prev_comm", 8), pidAt("prev_pid", 24), intAt("prev_prio", 28),
			{Type: "long", Name: "prev_state", Offset: 32, Size: 8, Signed: true},
			commAt("next_comm", 40), pidAt("next_pid", 56), intAt("next_prio", 60)},
		Print: `"prev_comm=%s prev_pid=%d prev_prio=%d prev_state=%s%s ==> next_comm=%s next_pid=%d next_prio=%d", REC->prev_comm, REC->prev_pid, ` +
			`REC->prev_prio, (REC->prev_state & ` + mask + `) ? __print_flags(REC->prev_state & ` + mask + `, "|", ` +
			`{ 0x00000001, "S" }, { 0x00000002, "D" }, { 0x00000004, "T" }, { 0x00000008, "t" }, { 0x00000010, "X" }, { 0x00000020, "Z" }, ` +
			`{ 0x00000040, "P" }, { 0x00000080, "I" }) : "R", REC->prev_state & ` + more + ` ? "+" : "", REC->next_comm, REC->next_pid, REC->next_prio`}
	printed(f)
	return pointRow{point: "sched_switch", TraceEvent: TraceEvent{Format: f}, n: 64, fill: func(p *points, c *kernel.VCPU, d []byte) {
		prev, next := c.Arg(1), c.Arg(2)
		p.putComm(d, 8, prev)
		put32(d, 24, p.pid(prev))
		put32(d, 28, p.prioOf(prev))
		put64(d, 32, p.reportState(c.Arg(0)&1 != 0, uint32(c.Arg(3)), prev))
		p.putComm(d, 40, next)
		put32(d, 56, p.pid(next))
		put32(d, 60, p.prioOf(next))
	}}
}

func waitRow() pointRow {
	r := taskRow("sched_process_wait", 309, func(c *kernel.VCPU) uint64 { return c.CurrentAddr() })
	fill := r.fill
	r.fill = func(p *points, c *kernel.VCPU, d []byte) {
		fill(p, c, d)
		nr := uint32(0) // pid_nr(pid)
		if pid := c.Arg(0); pid != 0 {
			nr = hot{p.t.m}.u32(pid + p.t.lay.pidNr)
		}
		put32(d, 24, nr)
	}
	return r
}

func migrateRow() pointRow {
	r := schedRow("sched_migrate_task", 313, `"comm=%s pid=%d prio=%d orig_cpu=%d dest_cpu=%d", REC->comm, REC->pid, REC->prio, REC->orig_cpu, REC->dest_cpu`,
		commAt("comm", 8), pidAt("pid", 24), intAt("prio", 28), intAt("orig_cpu", 32), intAt("dest_cpu", 36))
	r.fill = func(p *points, c *kernel.VCPU, d []byte) {
		t := c.Arg(0)
		p.putComm(d, 8, t)
		put32(d, 24, p.pid(t))
		put32(d, 28, p.prioOf(t))
		put32(d, 32, hot{p.t.m}.u32(t+p.t.lay.cpu))
		put32(d, 36, uint32(c.Arg(1)))
	}
	return r
}

func forkRow() pointRow {
	r := schedRow("sched_process_fork", 308, `"comm=%s pid=%d child_comm=%s child_pid=%d", REC->parent_comm, REC->parent_pid, REC->child_comm, REC->child_pid`,
		commAt("parent_comm", 8), pidAt("parent_pid", 24), commAt("child_comm", 28), pidAt("child_pid", 44))
	r.fill = func(p *points, c *kernel.VCPU, d []byte) {
		p.putComm(d, 8, c.Arg(0))
		put32(d, 24, p.pid(c.Arg(0)))
		p.putComm(d, 28, c.Arg(1))
		put32(d, 44, p.pid(c.Arg(1)))
	}
	return r
}

// execRow has a text behind the fixed fields: __data_loc is its length and offset.
func execRow() pointRow {
	f := &event.Format{System: "sched", Name: "sched_process_exec", ID: 307, Fields: []event.Field{
		{Type: "__data_loc char[]", Name: "filename", Offset: 8, Size: 4, Signed: true}, pidAt("pid", 12), pidAt("old_pid", 16)},
		Print: `"filename=%s pid=%d old_pid=%d", __get_str(filename), REC->pid, REC->old_pid`}
	printed(f)
	name := func(p *points, c *kernel.VCPU) string {
		s, _ := p.t.m.Str(hot{p.t.m}.u64(c.Arg(2)+p.t.lay.filename), 4096)
		return s
	}
	return pointRow{point: "sched_process_exec", TraceEvent: TraceEvent{Format: f},
		size: func(p *points, c *kernel.VCPU) int { return 20 + len(name(p, c)) + 1 },
		fill: func(p *points, c *kernel.VCPU, d []byte) {
			s := name(p, c)
			put32(d, 8, uint32(len(s)+1)<<16|20)
			put32(d, 12, p.pid(c.Arg(0)))
			put32(d, 16, uint32(c.Arg(1)))
			clear(d[20+copy(d[20:], s):])
		}}
}

var softirqNames = [...]string{"HI", "TIMER", "NET_TX", "NET_RX", "BLOCK", "IRQ_POLL", "TASKLET", "SCHED", "HRTIMER", "RCU"}

func softirqRow(name string, id uint16) pointRow {
	var list []string
	for i, n := range softirqNames {
		list = append(list, fmt.Sprintf("{ %d, %q }", i, n))
	}
	f := &event.Format{System: "irq", Name: name, ID: id, Fields: []event.Field{{Type: "unsigned int", Name: "vec", Offset: 8, Size: 4}},
		Print: `"vec=%u [action=%s]", REC->vec, __print_symbolic(REC->vec, ` + strings.Join(list, ", ") + ")"}
	printed(f)
	return pointRow{point: name, TraceEvent: TraceEvent{Format: f}, n: 12,
		fill: func(_ *points, c *kernel.VCPU, d []byte) { put32(d, 8, uint32(c.Arg(0))) }}
}
