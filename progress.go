package main

import (
	"fmt"
	"io"
	"time"

	"kscope/ftrace"
	"kscope/kernel"
)

// progress shows on a terminal, in one line that is rewritten, how far a long run is. It is the one place that reads the
// host's clock, and nothing but that line depends on it.
type progress struct {
	out   io.Writer
	start time.Time // of the statement or script
	shown time.Time
	insns uint64
	line  bool          // the line is on the screen
	calls func() uint64 // of handlers
}

const (
	progressAfter  = 700 * time.Millisecond // a run that is shorter shows nothing
	progressEvery  = 250 * time.Millisecond
	progressInsns  = 1 << 19 // how often the clock is looked at
	eraseLine      = "\r\x1b[K"
	progressFormat = eraseLine + "t = %d.%06d s, %.1f M instructions, %d events, %d handler calls, %.1f MIPS; Ctrl-C stops"
)

// begin starts a statement.
func (p *progress) begin() { p.start, p.insns = time.Now(), 0 }

// watch has a machine report.
func (p *progress) watch(m *kernel.Machine) {
	m.EveryInsns(progressInsns, func(v *kernel.VCPU) {
		p.insns += progressInsns
		now := time.Now()
		if now.Sub(p.start) < progressAfter || now.Sub(p.shown) < progressEvery {
			return
		}
		p.shown, p.line = now, true
		events := uint64(0)
		if t, ok := ftrace.Of(m); ok {
			for cpu := range m.NumCPU() {
				s := t.Stats(cpu)
				events += s.Entries + s.Overrun
			}
		}
		ns := v.Now()
		mips := float64(p.insns) / float64(now.Sub(p.start).Microseconds())
		fmt.Fprintf(p.out, progressFormat, ns/1e9, ns%1e9/1e3, float64(m.Insns())/1e6, events, p.calls(), mips)
	})
}

// clear takes the line off the screen, before anything else is printed.
func (p *progress) clear() {
	if p.line {
		io.WriteString(p.out, eraseLine)
		p.line = false
	}
}
