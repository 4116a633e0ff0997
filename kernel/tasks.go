package kernel

import (
	"fmt"
	"strings"
)

// Task is one guest task as the host sees it.
type Task struct {
	TaskInfo
	State uint32 // __state: 0 running, 1 interruptible, 2 uninterruptible …
}

// taskStates are the letters of task_state_to_char, by bit (include/linux/sched.h).
const taskStates = "RSDTtXZPI"

// StateChar is the letter ps shows.
func (t Task) StateChar() byte {
	for i := len(taskStates) - 1; i > 0; i-- {
		if t.State>>(i-1)&1 != 0 {
			return taskStates[i]
		}
	}
	return 'R'
}

// maxTasks bounds the walk of a list that the guest may have corrupted.
const maxTasks = 1 << 16

// Tasks walks init_task.tasks: every thread group leader, in the order of creation, without the idle tasks.
func (m *Machine) Tasks() (out []Task) {
	head := m.lay.initTask + m.lay.taskTasks
	at, err := m.U64(head)
	for n := 0; err == nil && at != head && at != 0 && n < maxTasks; n++ {
		t := Task{TaskInfo: m.TaskAt(at - m.lay.taskTasks)}
		t.State, _ = m.U32(t.Addr + m.lay.taskState)
		out = append(out, t)
		at, err = m.U64(at)
	}
	return out
}

// stuck is the stop of a machine in which nothing can ever run: who waits on what.
func (m *Machine) stuck() Stop {
	if m.lastOops() != nil {
		s := m.stopAt(m.cpus[0], StopPanic, m.lastOops().Text())
		m.dead = &s
		return s
	}
	return m.stopAt(m.cpus[0], StopDeadlock, m.Blocked())
}

// Blocked says for each task what it waits for, one line each; kernel threads that wait for work are counted only.
func (m *Machine) Blocked() string {
	var b strings.Builder
	b.WriteString("every CPU is halted and no interrupt will ever come\n")
	idle := 0
	for _, t := range m.Tasks() {
		where := m.blockedAt(t)
		if frames := strings.Split(where, " <- "); len(frames) > 1 && (frames[1] == "kthread" || frames[1] == "ret_from_fork") {
			idle++ // it sleeps in its own main loop
			continue
		}
		fmt.Fprintf(&b, "  %-16s pid %-5d %c %s\n", t.Comm, t.Pid, t.StateChar(), where)
	}
	if idle > 0 && !strings.Contains(b.String(), " pid ") {
		fmt.Fprintf(&b, "  %d kernel threads wait for work, no other task is there\n", idle)
	} else if idle > 0 {
		fmt.Fprintf(&b, "  and %d kernel threads that wait for work\n", idle)
	}
	return strings.TrimRight(b.String(), "\n")
}
