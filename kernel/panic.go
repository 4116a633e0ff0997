package kernel

import (
	"fmt"
	"strings"
)

// Oopses are all oopses since power-on.
func (m *Machine) Oopses() []*OopsRecord { return m.oopses }

func (m *Machine) lastOops() *OopsRecord {
	if len(m.oopses) == 0 {
		return nil
	}
	return m.oopses[len(m.oopses)-1]
}

// OnOops has fn called when the guest reports an oops, before it prints it.
func (m *Machine) OnOops(fn func(c *VCPU, o *OopsRecord)) { m.onOops = append(m.onOops, fn) }

// gateOopsBegin: void oops_begin(struct pt_regs *regs, const char *what, u64 err, u64 cr2).
func (m *Machine) gateOopsBegin(v *VCPU) uint64 {
	what, _ := m.Str(v.Arg(1), 256)
	o := &OopsRecord{CPU: v.ID, Time: v.Now(), Task: v.Current(), What: what, Err: v.Arg(2), CR2: v.Arg(3)}
	m.oopsReport(v, o, v.Arg(0))
	m.oopses = append(m.oopses, o)
	for _, fn := range m.onOops {
		fn(v, o)
	}
	return 0
}

// gateOopsLine: long oops_line(char *buf, u64 len).
func (m *Machine) gateOopsLine(v *VCPU) uint64 {
	o := m.lastOops()
	if o == nil || o.next == len(o.Line) || v.Arg(1) == 0 {
		return 0
	}
	line := oopsLevel(o.Line[o.next]) + o.Line[o.next]
	o.next++
	if line == "" {
		line = " " // 0 would end the report
	}
	b := append([]byte(line[:min(uint64(len(line)), v.Arg(1)-1)]), 0)
	if m.Write(v.Arg(0), b) != nil {
		return 0
	}
	return uint64(len(b) - 1)
}

// gateHalt: void machine_halt(u64 why): 0 halt, 1 panic. The machine stops for good.
func (m *Machine) gateHalt(v *VCPU) uint64 {
	text := "the guest halted"
	if v.Arg(0) == 1 {
		text = "the guest panicked"
		for i := len(m.log.lines) - 1; i >= 0; i-- {
			if strings.HasPrefix(m.log.lines[i].Text, "Kernel panic") {
				text = m.log.lines[i].Text
				break
			}
		}
		if o := m.lastOops(); o != nil {
			text = fmt.Sprintf("%s\n%s", text, strings.TrimRight(o.Text(), "\n"))
		}
	}
	m.stopNow(StopPanic, text)
	return 0
}
