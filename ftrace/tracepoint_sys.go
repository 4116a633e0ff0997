package ftrace

import (
	"encoding/binary"
	"strconv"
	"strings"

	"kscope/ftrace/event"
	"kscope/kernel"
)

// The events of system calls: raw_syscalls:sys_enter and sys_exit, and two for each call; see kernel/trace/trace_syscalls.c.

// sysArgs are the registers that hold a call's arguments, as offsets in struct pt_regs: di si dx r10 r8 r9.
var sysArgs = [...]uint64{112, 104, 96, 56, 72, 64}

func (p *points) sysArg(c *kernel.VCPU, i int) uint64 { return hot{p.t.m}.u64(c.Arg(0) + sysArgs[i]) }

func sysEnterRow() pointRow {
	f := &event.Format{System: "raw_syscalls", Name: "sys_enter", ID: 346, Fields: []event.Field{
		{Type: "long", Name: "id", Offset: 8, Size: 8, Signed: true}, {Type: "unsigned long[6]", Name: "args", Offset: 16, Size: 48}},
		Print: `"NR %ld (%lx, %lx, %lx, %lx, %lx, %lx)", REC->id, REC->args[0], REC->args[1], REC->args[2], REC->args[3], REC->args[4], REC->args[5]`}
	printed(f)
	return pointRow{point: "sys_enter", TraceEvent: TraceEvent{Format: f, depth: 1}, n: 64, fill: func(p *points, c *kernel.VCPU, d []byte) {
		put64(d, 8, c.Arg(1))
		for i := range 6 {
			put64(d, 16+8*i, p.sysArg(c, i))
		}
	}}
}

func sysExitRow() pointRow {
	f := &event.Format{System: "raw_syscalls", Name: "sys_exit", ID: 345, Fields: []event.Field{
		{Type: "long", Name: "id", Offset: 8, Size: 8, Signed: true}, {Type: "long", Name: "ret", Offset: 16, Size: 8, Signed: true}},
		Print: `"NR %ld = %ld", REC->id, REC->ret`}
	printed(f)
	return pointRow{point: "sys_exit", TraceEvent: TraceEvent{Format: f, depth: 1}, n: 24, fill: func(p *points, c *kernel.VCPU, d []byte) {
		put64(d, 8, p.syscall(c))
		put64(d, 16, c.Arg(1))
	}}
}

// addSyscalls makes the events of the system calls that the image has.
func (p *points) addSyscalls() {
	enter, exit := p.find("sys_enter"), p.find("sys_exit")
	if enter == nil || exit == nil {
		return
	}
	for _, line := range strings.Split(strings.TrimSpace(syscallTable), "\n") {
		w := strings.SplitN(line, " ", 4)
		nr, _ := strconv.ParseUint(w[0], 10, 64)
		id, _ := strconv.ParseUint(w[2], 10, 16)
		if _, ok := p.t.m.Symbols().Lookup("__x64_sys_" + w[1]); !ok {
			continue
		}
		args := ""
		if len(w) > 3 {
			args = w[3]
		}
		p.addSyscall(enter, nr, callEnterRow(w[1], uint16(id), args))
		p.addSyscall(exit, nr, callExitRow(w[1], uint16(id)-1))
	}
}

// syscallName is the name of a call by number, with sys_ in front: get_syscall_name; "": there is none.
func syscallName(nr uint64) string {
	for _, line := range strings.Split(strings.TrimSpace(syscallTable), "\n") {
		w := strings.SplitN(line, " ", 3)
		if n, _ := strconv.ParseUint(w[0], 10, 64); n == nr {
			return "sys_" + w[1]
		}
	}
	return ""
}

func (p *points) addSyscall(tp *tracepoint, nr uint64, r *pointRow) {
	e := &pointEvent{TraceEvent: &r.TraceEvent, tp: tp, row: r}
	p.bind(e)
	tp.bySys[nr] = e
	p.t.AddEvent(e.TraceEvent)
}

var sysNr = event.Field{Type: "int", Name: "__syscall_nr", Offset: 8, Size: 4, Signed: true}

func callEnterRow(name string, id uint16, args string) *pointRow {
	f := &event.Format{System: "syscalls", Name: "sys_enter_" + name, ID: id, Fields: []event.Field{sysNr}}
	var names, show, what []string
	for i, a := range strings.Split(args, "; ") {
		if a == "" {
			break
		}
		at := strings.LastIndexByte(a, ' ')
		n := a[at+1:]
		f.Fields = append(f.Fields, event.Field{Type: a[:at], Name: n, Offset: 16 + 8*i, Size: 8})
		names, show = append(names, n), append(show, n+": 0x%08lx")
		what = append(what, ", ((unsigned long)(REC->"+n+"))")
	}
	f.Print = `"` + strings.Join(show, ", ") + `"` + strings.Join(what, "")
	f.Text = func(p *event.Printer, d []byte) {
		p.Buf = append(append(append(p.Buf, "sys_"...), name...), '(')
		for i, n := range names {
			if i > 0 {
				p.Buf = append(p.Buf, ", "...)
			}
			p.Buf = append(append(p.Buf, n...), ": "...)
			p.Buf = strconv.AppendUint(p.Buf, binary.LittleEndian.Uint64(d[16+8*i:]), 16)
		}
		p.Buf = append(p.Buf, ")\n"...)
	}
	return &pointRow{point: "sys_enter", TraceEvent: TraceEvent{Format: f, depth: 1}, n: 16 + 8*len(names), fill: func(p *points, c *kernel.VCPU, d []byte) {
		put64(d, 8, uint64(uint32(c.Arg(1))))
		for i := range names {
			put64(d, 16+8*i, p.sysArg(c, i))
		}
	}}
}

func callExitRow(name string, id uint16) *pointRow {
	f := &event.Format{System: "syscalls", Name: "sys_exit_" + name, ID: id, Print: `"0x%lx", REC->ret`,
		Fields: []event.Field{sysNr, {Type: "long", Name: "ret", Offset: 16, Size: 8, Signed: true}}}
	f.Text = func(p *event.Printer, d []byte) {
		p.Buf = append(append(append(p.Buf, "sys_"...), name...), " -> 0x"...)
		p.Buf = append(strconv.AppendUint(p.Buf, binary.LittleEndian.Uint64(d[16:]), 16), '\n')
	}
	return &pointRow{point: "sys_exit", TraceEvent: TraceEvent{Format: f, depth: 1}, n: 24, fill: func(p *points, c *kernel.VCPU, d []byte) {
		put64(d, 8, uint64(uint32(p.syscall(c))))
		put64(d, 16, c.Arg(1))
	}}
}
