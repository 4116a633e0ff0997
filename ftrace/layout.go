package ftrace

import (
	"fmt"
	"unsafe"

	"kscope/kernel"
)

// taskLayout is where struct task_struct keeps what a record needs, read from the image's DWARF.
type taskLayout struct {
	flags, pid, tgid, comm  uint64
	migrate                 uint64
	span                    uint64 // tasks that begin before it in a page have those, but for comm, in the same
	hasMigrate              bool
	cpu                     uint64               // thread_info.cpu
	pidNr                   uint64               // of struct pid
	origAX                  uint64               // of struct pt_regs
	filename                uint64               // of struct linux_binprm
	taskFlags, bp, regsSize uint64               // of task_struct.flags, pt_regs.bp, and of pt_regs
	args                    [maxGraphArgs]uint64 // of struct pt_regs: the registers of arguments
}

func newTaskLayout(m *kernel.Machine) (l taskLayout, err error) {
	task := m.Types().Struct("task_struct")
	if task == nil {
		return l, fmt.Errorf("ftrace: the image has no struct task_struct: %w", kernel.ENOEXEC)
	}
	off := func(name string) uint64 { return uint64(task.Field(name).Offset) }
	// thread_info is the first member and flags its first word (THREAD_INFO_IN_TASK).
	l.flags = 0
	l.taskFlags = off("flags")
	l.pid, l.tgid, l.comm = off("pid"), off("tgid"), off("comm")
	if ti := m.Types().Struct("thread_info"); ti != nil {
		l.cpu = uint64(ti.Field("cpu").Offset)
	}
	if regs := m.Types().Struct("pt_regs"); regs != nil {
		l.origAX = uint64(regs.Field("orig_ax").Offset)
		l.bp, l.regsSize = uint64(regs.Field("bp").Offset), uint64(regs.Size)
		for i, name := range [maxGraphArgs]string{"di", "si", "dx", "cx", "r8", "r9"} {
			l.args[i] = uint64(regs.Field(name).Offset)
		}
	}
	if b := m.Types().Struct("linux_binprm"); b != nil {
		l.filename = uint64(b.Field("filename").Offset)
	}
	if p := m.Types().Struct("pid"); p != nil {
		l.pidNr = uint64(p.Field("nr").Offset)
	}
	for _, f := range task.Fields {
		if f.Name == "migration_disabled" {
			l.hasMigrate, l.migrate = true, uint64(f.Offset)
		}
	}
	l.span = 4096 - max(l.flags, l.pid, l.migrate) - 3
	return l, nil
}

// hot reads guest memory on the path of every event. It is the package's only unsafe: kernel.HostPtr costs a fifth of
// kernel.Read. Two fields of a task may lie in frames far apart on the host, so a pointer serves one page.
type hot struct{ m *kernel.Machine }

func (h hot) u32(va uint64) uint32 {
	if p := h.m.HostPtr(va); p != nil {
		return *(*uint32)(p)
	}
	return 0
}

func (h hot) u64(va uint64) uint64 {
	if p := h.m.HostPtr(va); p != nil {
		return *(*uint64)(p)
	}
	return 0
}

func (h hot) i32(va uint64) int32 { return int32(h.u32(va)) }

// words are what each event's header needs of a task_struct whose host address is p.
func (l *taskLayout) words(p unsafe.Pointer) (pid int32, info taskInfo) {
	info = *(*taskInfo)(unsafe.Add(p, l.flags)) & (1 << tifNeedResched)
	if l.hasMigrate {
		info |= min(*(*taskInfo)(unsafe.Add(p, l.migrate))&0xffff, 15) << migrateShift
	}
	return *(*int32)(unsafe.Add(p, l.pid)), info
}

// gather copies the beginning of a task_struct that lies in two pages; zeroes when it is not mapped.
func (h hot) gather(va uint64, l *taskLayout) unsafe.Pointer {
	b := make([]uint32, (4096-l.span)/4+2)
	for _, off := range []uint64{l.flags, l.pid, l.migrate} {
		b[off/4] = h.u32(va + off)
	}
	return unsafe.Pointer(&b[0])
}

// comm reads a task's name, which may straddle two pages.
func (h hot) comm(va uint64) (c [16]byte) {
	h.putComm(&c, va)
	return c
}

// putComm is comm into 16 bytes that are there.
func (h hot) putComm(to *[16]byte, va uint64) {
	if va&4095 <= 4096-16 {
		if p := h.m.HostPtr(va); p != nil {
			*to = *(*[16]byte)(p)
			return
		}
	}
	for i := range to { // not by Read, whose buffer would be allocated
		to[i] = byte(h.u64(va&^7) >> (va & 7 * 8))
		va++
	}
}
