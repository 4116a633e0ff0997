package kernel

import (
	"fmt"
	"io"
	"slices"
)

// LogLine is one printk record.
type LogLine struct {
	Time  uint64 // ns
	Level int    // 0 to 7, KERN_EMERG to KERN_DEBUG
	CPU   int
	Pid   int
	Text  string
}

func (l LogLine) String() string {
	return fmt.Sprintf("[%5d.%06d] %s", l.Time/1e9, l.Time%1e9/1e3, l.Text)
}

// logLines is how many records are kept at least: a guest that prints without end must not take the host's memory.
const logLines = 1 << 16

// console keeps what the guest prints and hands it on.
type console struct {
	lines []LogLine
	out   io.Writer
	watch []*logWatch // of this machine alone
}

type logWatch struct{ fn func(v *VCPU, l LogLine) }

// OnLog has fn called for each later printk record, on the CPU that prints it, until remove is called.
func (m *Machine) OnLog(fn func(v *VCPU, l LogLine)) (remove func()) {
	w := &logWatch{fn}
	m.log.watch = append(slices.Clone(m.log.watch), w)
	return func() {
		m.log.watch = slices.DeleteFunc(slices.Clone(m.log.watch), func(x *logWatch) bool { return x == w })
	}
}

func (c *console) fork() console { return console{lines: c.lines[:len(c.lines):len(c.lines)]} }

// Dmesg is every printk record since power-on, of very many the last.
func (m *Machine) Dmesg() []LogLine { return m.log.lines }

// SetConsole sends later printk records to w as dmesg prints them; nil: nowhere.
func (m *Machine) SetConsole(w io.Writer) { m.log.out = w }

// gateConsoleEmit: void console_emit(const char *s, u32 len, u32 level).
func (m *Machine) gateConsoleEmit(v *VCPU) uint64 {
	n := min(v.Arg(1)&0xffffffff, 1024)
	b := make([]byte, n)
	if v.CPU.Read(v.Arg(0), b) != nil {
		return 0
	}
	m.Log(v, int(v.Arg(2)&7), string(b))
	return 0
}

// Log adds a record to the kernel log, as printk from v would: what a tracer dumps.
func (m *Machine) Log(v *VCPU, level int, text string) {
	l := LogLine{Time: v.Now(), Level: level, CPU: v.ID, Pid: v.CurrentPid(), Text: text}
	if m.log.lines = append(m.log.lines, l); len(m.log.lines) == 2*logLines {
		m.log.lines = slices.Clone(m.log.lines[logLines:])
	}
	if m.log.out != nil {
		fmt.Fprintln(m.log.out, l)
	}
	for _, w := range m.log.watch {
		w.fn(v, l)
	}
}
