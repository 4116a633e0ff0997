package x86_test

import (
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"syscall"
	"testing"
	"unsafe"

	"kscope/kernel/x86"
)

// host is the CPU that runs the tests: a traced process whose only contents are the address space of rig_test.go.
// ptrace sets any register and flag and survives any fault, at about 15 us a run.
type host struct {
	pid  int
	mem  *os.File
	regs syscall.PtraceRegs // at the start: segments and the like
}

// newHost starts the process, and skips the test where that is not possible. The calling goroutine keeps its thread.
func newHost(t testing.TB) runner {
	exe := filepath.Join(t.TempDir(), "tracee")
	if err := os.WriteFile(exe, traceeELF(), 0o755); err != nil {
		t.Fatal(err)
	}
	runtime.LockOSThread() // never unlocked: the pinned thread dies with the test
	pid, err := syscall.ForkExec(exe, []string{"tracee"}, &syscall.ProcAttr{Sys: &syscall.SysProcAttr{Ptrace: true, Pdeathsig: syscall.SIGKILL}})
	if err != nil {
		t.Skipf("no traced process on this host: %v", err)
	}
	t.Cleanup(func() {
		var ws syscall.WaitStatus
		syscall.Kill(pid, syscall.SIGKILL)
		syscall.Wait4(pid, &ws, 0, nil)
	})
	var ws syscall.WaitStatus
	if _, err := syscall.Wait4(pid, &ws, 0, nil); err != nil || !ws.Stopped() {
		t.Skipf("the traced process did not stop: %v, status %#x", err, ws)
	}
	pin(pid)
	f, err := os.OpenFile(fmt.Sprintf("/proc/%d/mem", pid), os.O_RDWR, 0)
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { f.Close() })
	h := &host{pid: pid, mem: f}
	if err := syscall.PtraceGetRegs(pid, &h.regs); err != nil {
		t.Skip(err)
	}
	if _, err := f.WriteAt(slices.Repeat([]byte{0xcc}, codeSize), codeVA); err != nil {
		t.Skip(err)
	}
	return h
}

// pin puts the process and this thread on one CPU: a stop then is a plain switch, four times faster than a wake-up elsewhere.
func pin(pid int) {
	var set [16]uint64
	syscall.RawSyscall(syscall.SYS_SCHED_GETAFFINITY, 0, unsafe.Sizeof(set), uintptr(unsafe.Pointer(&set)))
	for i, w := range set {
		if w != 0 {
			one := [16]uint64{}
			one[i] = w & -w
			for _, who := range []int{0, pid} {
				syscall.RawSyscall(syscall.SYS_SCHED_SETAFFINITY, uintptr(who), unsafe.Sizeof(one), uintptr(unsafe.Pointer(&one)))
			}
			return
		}
	}
}

// traceeELF is an executable of three empty segments. The read-only one comes from the file: Linux makes bss writable.
func traceeELF() []byte {
	segs := []struct {
		va, size, inFile uint64
		flags            uint32
	}{{codeVA, codeSize, 0, 7}, {dataVA, dataSize, 0, 7}, {roVA, 0x1000, 0x1000, 4}}
	le := binary.LittleEndian
	b := make([]byte, 0x2000)
	copy(b, "\x7fELF\x02\x01\x01")
	le.PutUint16(b[16:], 2) // ET_EXEC
	le.PutUint16(b[18:], 62)
	le.PutUint32(b[20:], 1)
	le.PutUint64(b[24:], codeVA)
	le.PutUint64(b[32:], 64)
	le.PutUint16(b[52:], 64)
	le.PutUint16(b[54:], 56)
	le.PutUint16(b[56:], uint16(len(segs)))
	for i, s := range segs {
		p := b[64+56*i:]
		le.PutUint32(p, 1) // PT_LOAD
		le.PutUint32(p[4:], s.flags)
		le.PutUint64(p[8:], s.inFile)
		le.PutUint64(p[16:], s.va)
		le.PutUint64(p[32:], s.inFile)
		le.PutUint64(p[40:], s.size)
		le.PutUint64(p[48:], 0x1000)
	}
	return b
}

// breakpoint reports whether a SIGTRAP came from int3 and not from a debug exception.
func (h *host) breakpoint() bool {
	const siKernel = 0x80
	var info [128]byte
	_, _, e := syscall.RawSyscall6(syscall.SYS_PTRACE, syscall.PTRACE_GETSIGINFO, uintptr(h.pid), 0, uintptr(unsafe.Pointer(&info)), 0, 0)
	return e == 0 && binary.LittleEndian.Uint32(info[8:]) == siKernel
}

// regOrder gives the fields of PtraceRegs in the order of register numbers.
func regOrder(r *syscall.PtraceRegs) [16]*uint64 {
	return [16]*uint64{&r.Rax, &r.Rcx, &r.Rdx, &r.Rbx, &r.Rsp, &r.Rbp, &r.Rsi, &r.Rdi, &r.R8, &r.R9, &r.R10, &r.R11, &r.R12, &r.R13, &r.R14, &r.R15}
}

func (h *host) run(s *state) *state {
	must := func(err error) {
		if err != nil {
			panic(fmt.Sprintf("host CPU: %v; code % x, state %+v", err, s.code, s.regs))
		}
	}
	_, err := h.mem.WriteAt(append(slices.Clip(s.code), 0xcc), int64(codeAt(s)))
	must(err)
	_, err = h.mem.WriteAt(s.data, dataVA)
	must(err)
	r := h.regs
	for i, p := range regOrder(&r) {
		*p = s.regs[i]
	}
	r.Rip, r.Eflags, r.Fs_base, r.Gs_base, r.Orig_rax = s.rip, s.flags, s.fs, s.gs, ^uint64(0)
	must(syscall.PtraceSetRegs(h.pid, &r))
	must(syscall.PtraceCont(h.pid, 0))
	var ws syscall.WaitStatus
	_, err = syscall.Wait4(h.pid, &ws, 0, nil)
	must(err)
	if !ws.Stopped() {
		panic(fmt.Sprintf("host CPU: the process ended with status %#x after code % x", ws, s.code))
	}
	must(syscall.PtraceGetRegs(h.pid, &r))
	o := *s
	for i, p := range regOrder(&r) {
		o.regs[i] = *p
	}
	o.rip, o.flags, o.fs, o.gs = r.Rip, r.Eflags&^x86.FlagRF, r.Fs_base, r.Gs_base
	_, err = h.mem.WriteAt(slices.Repeat([]byte{0xcc}, len(s.code)), int64(codeAt(s)))
	must(err)
	o.data = make([]byte, dataSize)
	_, err = h.mem.ReadAt(o.data, dataVA)
	must(err)
	o.stop = map[syscall.Signal]string{syscall.SIGFPE: "#DE", syscall.SIGSEGV: "segv", syscall.SIGBUS: "segv", syscall.SIGILL: "#UD",
		syscall.SIGTRAP: "#DB"}[ws.StopSignal()]
	if o.stop == "#DB" && h.breakpoint() {
		o.stop = "#BP"
	}
	if o.stop == "#BP" && o.rip-1-s.rip >= uint64(len(s.code)) {
		o.stop = ""
	}
	return &o
}
