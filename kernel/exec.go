package kernel

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"syscall"
)

// Streams are what a user program's standard files are to the host. A nil Reader is empty; a nil Writer drops.
type Streams struct {
	In       io.Reader
	Out, Err io.Writer

	// Fork gives the streams of the same program in a copy of the machine; nil: the copy shares these.
	Fork func() Streams
}

// streams finds the Streams of a hostcons file by the id that Exec gave it.
type streams struct {
	open []*Streams // index = id - 1
}

func (s *streams) fork() streams {
	n := streams{make([]*Streams, len(s.open))}
	for i, o := range s.open {
		c := *o
		if o.Fork != nil {
			c = o.Fork()
		}
		n.open[i] = &c
	}
	return n
}

// env is what init would give: PATH and HOME as in Debian's login.defs.
const env = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin\x00HOME=/root\x00TERM=linux\x00"

// Exec starts the program at path through kscoped (call_usermodehelper's path) and returns its pid at once.
func (m *Machine) Exec(path string, argv []string, s Streams) (pid int, err error) {
	return m.ExecOn(AnyCPU, path, argv, s)
}

// AnyCPU leaves a program to the scheduler.
const AnyCPU = -1

// ExecOn is Exec for a program that runs on cpu alone, from before its execve.
func (m *Machine) ExecOn(cpu int, path string, argv []string, s Streams) (pid int, err error) {
	if cpu < AnyCPU || cpu >= m.NumCPU() {
		return 0, EINVAL
	}
	m.streams.open = append(m.streams.open, &s)
	data := []byte(strings.Join(argv, "\x00") + "\x00")
	if len(data)+len(env) > reqBufSize {
		return 0, E2BIG
	}
	n := uint64(len(data))
	data = append(data, env...)
	r := &request{op: reqExec, path: path, data: data, flags: int32(cpu + 1), arg: uint64(len(m.streams.open)), pos: n}
	ret, err := m.call("running "+path, r)
	return int(ret), err
}

// Hot starts the guest's kthreads "hot/N" on the CPUs of mask, each calling kscope_hot calls times (0: until the end): the
// workload of the patching tests and lessons.
func (m *Machine) Hot(mask, calls uint64) error {
	_, err := m.call("starting hot kthreads", &request{op: reqHot, arg: mask, size: calls})
	return err
}

// Wait runs the machine until pid has exited and returns its status as a shell's $?: 128 + the signal when killed.
func (m *Machine) Wait(pid int) (status int, err error) {
	if !m.hasExited(pid) {
		if stop := m.Run(Until{Pid: pid}); !m.hasExited(pid) {
			return 0, &StopError{Doing: fmt.Sprintf("waiting for pid %d", pid), Stop: stop}
		}
	}
	status, _ = m.Exited(pid)
	return status, nil
}

// Exited is the status of a user task that has ended, as Wait returns it; ok is false while it lives.
func (m *Machine) Exited(pid int) (status int, ok bool) {
	code, ok := m.exits[pid]
	if sig := code & 0x7f; sig != 0 {
		return 128 + sig, ok
	}
	return code >> 8 & 0xff, ok
}

func (m *Machine) hasExited(pid int) bool {
	_, ok := m.exits[pid]
	return ok
}

// gateTaskExit: void user_task_exit(s64 pid, s64 code), code as wait4 returns it.
func (m *Machine) gateTaskExit(v *VCPU) uint64 {
	pid := int(v.Arg(0))
	if parent, _ := m.U64(v.CurrentAddr() + m.lay.taskParent); parent == m.req.parent || pid == m.turn.pid {
		m.exits[pid] = int(v.Arg(1)) // of no others, or a shell that runs for long would fill it
	}
	if pid == m.turn.pid {
		m.unchain()
	}
	return 0
}

// Cost in ns of host console work per byte, in the order of a memcpy through a tty.
const costConsoleByte = 1

// gateHostWrite: long hostcons_write(u64 stream, u32 fd, const char *s, u64 len).
func (m *Machine) gateHostWrite(v *VCPU) uint64 {
	id, fd, n := v.Arg(0), uint32(v.Arg(1)), v.Arg(3)
	if n > 1<<20 {
		return EINVAL.Ret()
	}
	b := make([]byte, n)
	if v.CPU.Read(v.Arg(2), b) != nil {
		return EFAULT.Ret()
	}
	v.ChargeWork(n * costConsoleByte)
	if id == 0 || id > uint64(len(m.streams.open)) {
		return n
	}
	s := m.streams.open[id-1]
	w := s.Out
	if fd == 2 {
		w = s.Err
	}
	if w != nil {
		if _, err := w.Write(b); errors.Is(err, syscall.ENOSPC) {
			return ENOSPC.Ret()
		} else if err != nil {
			return EPIPE.Ret()
		}
	}
	return n
}

// gateHostRead: long hostcons_read(u64 stream, char *s, u64 len). A Reader's EAGAIN lets the task sleep until an irq_work or a signal.
func (m *Machine) gateHostRead(v *VCPU) uint64 {
	id, n := v.Arg(0), min(v.Arg(2), 64<<10)
	if id == 0 || id > uint64(len(m.streams.open)) || m.streams.open[id-1].In == nil {
		return 0
	}
	b := make([]byte, n)
	k, err := m.streams.open[id-1].In.Read(b)
	if k == 0 && err != nil && err != io.EOF {
		if errors.Is(err, EAGAIN) {
			return EAGAIN.Ret()
		}
		return EIO.Ret()
	}
	if v.CPU.Write(v.Arg(1), b[:k]) != nil {
		return EFAULT.Ret()
	}
	v.ChargeWork(uint64(k) * costConsoleByte)
	return uint64(k)
}
