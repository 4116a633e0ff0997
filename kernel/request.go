package kernel

import (
	"encoding/binary"
	"fmt"
	"io"
	"slices"
)

// The operations of struct kscope_req (kernel/guest: gates.h).
const (
	reqCall    = 1
	reqOpen    = 2
	reqRead    = 3
	reqWrite   = 4
	reqClose   = 5
	reqReaddir = 6
	reqMkdir   = 7
	reqUnlink  = 8
	reqExec    = 9
	reqKill    = 10
	reqHot     = 11
	reqPoke    = 12
	reqInsmod  = 13
	reqRmmod   = 14
)

const (
	vecKick    = 0xf2 // the host has a request: wakes kscoped
	vecIRQWork = 0xf6

	reqBufSize = 64 << 10 // of kscope_req.buf
)

// request is one thing that the host asks of the guest kthread kscoped.
type request struct {
	id    uint64
	op    uint32
	flags int32
	pos   uint64
	arg   uint64
	path  string
	data  []byte // goes to buf before the operation
	size  uint64 // wanted from a read
	fn    func(c *VCPU) error

	ret  int64
	out  []byte // what a read left in buf
	err  error  // of fn
	done bool
}

// requests is the queue of kscoped. Only one request is with the guest at a time.
type requests struct {
	queue  []*request
	active *request
	lastID uint64

	parent uint64 // task_struct of kscoped's parent, and of the programs that it starts
}

// fork drops what waits: its Go side belongs to the parent. A request already with the guest finishes there unseen.
func (q *requests) fork() requests {
	n := requests{lastID: q.lastID, parent: q.parent}
	if q.active != nil {
		n.active = &request{id: q.active.id, op: q.active.op}
	}
	return n
}

// submit queues r for kscoped and rings its bell.
func (m *Machine) submit(r *request) {
	m.req.lastID++
	r.id = m.req.lastID
	m.req.queue = append(m.req.queue, r)
	m.Kick(vecKick)
}

// Kick raises an interrupt on the running CPU, or on the boot CPU when the machine is stopped: how Go wakes guest sleepers.
func (m *Machine) Kick(vec uint8) {
	v := m.running
	if v == nil {
		v = m.cpus[0]
	}
	v.post(ipiFixed, vec, m.Now(), max(m.Now(), v.Now())+selfIPIDelay)
}

// RaiseIRQWork asks for a self-IPI of irq_work on c, in which the guest wakes the sleepers of Go's files.
func (v *VCPU) RaiseIRQWork() { v.post(ipiFixed, vecIRQWork, v.Now(), v.Now()+selfIPIDelay) }

// finish runs the machine until r is done.
func (m *Machine) finish(doing string, r *request) error {
	if m.inRun {
		return fmt.Errorf("%s: the machine is running (a handler may only Post): %w", doing, EBUSY)
	}
	m.submit(r)
	stop := m.Run(Until{Cond: func() bool { return r.done }})
	if !r.done {
		m.forget(r)
		return &StopError{Doing: doing, Stop: stop}
	}
	return nil
}

// forget takes a request that did not finish out of the queue.
func (m *Machine) forget(r *request) {
	m.req.queue = slices.DeleteFunc(m.req.queue, func(q *request) bool { return q == r })
}

// Do runs fn in the guest kthread kscoped, inside a gate; the guest then writes the text pokes that fn queued. With
// OverheadNone fn runs at once, on the boot CPU's behalf, and the guest does not notice.
func (m *Machine) Do(name string, fn func(c *VCPU) error) error {
	if m.cfg.Overhead == OverheadNone {
		v := m.running
		if v == nil {
			v = m.cpus[0]
		}
		return fn(v)
	}
	r := &request{op: reqCall, fn: fn}
	if err := m.finish(name, r); err != nil {
		return err
	}
	return r.err
}

// Post is Do for callers inside a gate or handler: fn runs later, in kscoped, and its error is lost.
func (m *Machine) Post(fn func(c *VCPU) error) {
	if m.cfg.Overhead == OverheadNone {
		_ = fn(m.running)
		return
	}
	m.submit(&request{op: reqCall, fn: fn})
}

// call runs one request and turns a negative result into its Errno.
func (m *Machine) call(doing string, r *request) (int64, error) {
	if len(r.path) > 255 {
		return 0, ENAMETOOLONG
	}
	if err := m.finish(doing, r); err != nil {
		return 0, err
	}
	return RetError(uint64(r.ret))
}

// ReadFile reads a guest file through the guest's VFS, in kscoped. Files that would block end where they would.
func (m *Machine) ReadFile(path string) ([]byte, error) {
	fd, err := m.open(path, ORdonly|ONonblock)
	if err != nil {
		return nil, err
	}
	defer m.close(fd)
	var out []byte
	for {
		r := &request{op: reqRead, arg: uint64(fd), pos: uint64(len(out)), size: reqBufSize}
		n, err := m.call("reading "+path, r)
		if err == EAGAIN && len(out) > 0 {
			return out, nil
		}
		if err != nil || n == 0 {
			return out, err
		}
		if out = append(out, r.out...); uint64(len(out)) > m.phys.Size() { // as /dev/zero's, which have no end
			return nil, EFBIG
		}
	}
}

// WriteFile writes data to a guest file as a shell's > (append false) or >> would, each write of at most 64 KiB.
func (m *Machine) WriteFile(path string, data []byte, append bool) error {
	flags := int32(OWronly | OCreat | OTrunc)
	if append {
		flags = OWronly | OCreat | OAppend
	}
	fd, err := m.open(path, flags)
	if err != nil {
		return err
	}
	defer m.close(fd)
	for pos := 0; pos < len(data); {
		chunk := data[pos:min(len(data), pos+reqBufSize)]
		n, err := m.call("writing "+path, &request{op: reqWrite, arg: uint64(fd), pos: uint64(pos), data: chunk})
		if err != nil {
			return err
		}
		if n == 0 {
			return io.ErrShortWrite
		}
		pos += int(n)
	}
	return nil
}

// DirEntry is one name of a guest directory.
type DirEntry struct {
	Name string
	Ino  uint64
	Type uint8 // DT_DIR 4, DT_REG 8, DT_CHR 2, DT_LNK 10
}

// ListDir lists a guest directory in its own order, without . and ..
func (m *Machine) ListDir(path string) ([]DirEntry, error) {
	var out []DirEntry
	for {
		r := &request{op: reqReaddir, path: path, pos: uint64(len(out)), size: reqBufSize}
		n, err := m.call("listing "+path, r)
		if err != nil || n == 0 {
			return slices.DeleteFunc(out, func(e DirEntry) bool { return e.Name == "." || e.Name == ".." }), err
		}
		out = append(out, dirents(r.out)...)
	}
}

// dirents parses the records of KSCOPE_OP_READDIR: u64 ino, u8 type, u8 0, u16 reclen, name NUL.
func dirents(b []byte) (out []DirEntry) {
	for len(b) > 12 {
		n := int(binary.LittleEndian.Uint16(b[10:]))
		if n <= 12 || n > len(b) {
			break
		}
		out = append(out, DirEntry{Name: cstring(b[12:n]), Ino: binary.LittleEndian.Uint64(b), Type: b[8]})
		b = b[n:]
	}
	return out
}

// Mkdir makes a guest directory, Rmdir removes an empty one, Remove removes a file.
func (m *Machine) Mkdir(path string) error {
	_, err := m.call("mkdir "+path, &request{op: reqMkdir, path: path, arg: 0o755})
	return err
}

func (m *Machine) Remove(path string) error {
	_, err := m.call("rm "+path, &request{op: reqUnlink, path: path})
	return err
}

func (m *Machine) Rmdir(path string) error {
	_, err := m.call("rmdir "+path, &request{op: reqUnlink, path: path, flags: 1})
	return err
}

// Kill sends a signal to a guest process.
func (m *Machine) Kill(pid, sig int) error {
	_, err := m.call("kill", &request{op: reqKill, arg: uint64(pid), flags: int32(sig)})
	return err
}

func (m *Machine) open(path string, flags int32) (int64, error) {
	return m.call("opening "+path, &request{op: reqOpen, path: path, flags: flags, arg: 0o644})
}

func (m *Machine) close(fd int64) {
	_, _ = m.call("closing", &request{op: reqClose, arg: uint64(fd)})
}

// gateNext: long kscoped_next(struct kscope_req *r).
func (m *Machine) gateNext(v *VCPU) uint64 {
	q := &m.req
	q.parent, _ = m.U64(v.CurrentAddr() + m.lay.taskParent)
	if len(q.queue) == 0 {
		return 0
	}
	r := q.queue[0]
	q.queue = q.queue[1:]
	q.active = r
	if err := m.fillRequest(v.Arg(0), r); err != nil {
		m.stopNow(StopPanic, fmt.Sprintf("kscoped gave a bad request buffer at %#x: %v", v.Arg(0), err))
		return 0
	}
	v.ChargeWork(uint64(len(r.data)) / 8)
	return 1
}

// fillRequest writes r to the guest's struct kscope_req.
func (m *Machine) fillRequest(at uint64, r *request) error {
	f := &m.lay.req
	buf, err := m.U64(at + f.buf)
	if err != nil {
		return err
	}
	size := r.size
	if size == 0 {
		size = uint64(len(r.data))
	}
	path := make([]byte, 256)
	copy(path[:255], r.path)
	for _, w := range []struct {
		off uint64
		b   []byte
	}{
		{f.id, le64(r.id)}, {f.op, le32(r.op)}, {f.flags, le32(uint32(r.flags))}, {f.ret, le64(0)},
		{f.pos, le64(r.pos)}, {f.len, le64(size)}, {f.arg, le64(r.arg)}, {f.path, path},
	} {
		if err := m.Write(at+w.off, w.b); err != nil {
			return err
		}
	}
	if len(r.data) > 0 {
		return m.Write(buf, r.data)
	}
	return nil
}

// gateDone: void kscoped_done(struct kscope_req *r).
func (m *Machine) gateDone(v *VCPU) uint64 {
	r := m.req.active
	m.req.active = nil
	if r == nil {
		return 0
	}
	at := v.Arg(0)
	ret, _ := m.U64(at + m.lay.req.ret)
	r.ret = int64(ret)
	if (r.op == reqRead || r.op == reqReaddir) && r.ret > 0 && r.ret <= reqBufSize {
		r.out = make([]byte, r.ret)
		if buf, err := m.U64(at + m.lay.req.buf); err == nil {
			_ = m.Read(buf, r.out)
		}
	}
	r.done = true
	return 0
}

// gateCall: long kscoped_call(u64 id).
func (m *Machine) gateCall(v *VCPU) uint64 {
	r := m.req.active
	if r == nil || r.id != v.Arg(0) || r.fn == nil {
		return Errno(ENOENT).Ret()
	}
	if r.err = r.fn(v); r.err != nil {
		return Errno(EIO).Ret()
	}
	return 0
}

func le64(x uint64) []byte { return binary.LittleEndian.AppendUint64(nil, x) }
func le32(x uint32) []byte { return binary.LittleEndian.AppendUint32(nil, x) }
