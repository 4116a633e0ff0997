package ftrace

import (
	"fmt"
	"strconv"

	"kscope/ftrace/event"
)

// The latency format; see trace_print_lat_context in kernel/trace/trace_output.c.

// latencyTitle appends the first lines of the latency format; see print_trace_header in kernel/trace/trace.c.
func (p *printer) latencyTitle(cpu int) {
	t := p.t
	entries, total := t.counts(-1, p.snap)
	p.Buf = fmt.Appendf(p.Buf, `# %s latency trace v1.1.5 on %s
# --------------------------------------------------------------------
# latency: 0 us, #%d/%d, CPU#%d | (M:desktop VP:0, KP:0, SP:0 HP:0 #P:%d)
#    -----------------
#    | task: -0 (uid:0 nice:0 policy:0 rt_prio:0)
#    -----------------
#
`, t.current.name, t.guest.release(), entries, total, t.setCPU, t.guest.online())
}

const latencyColumns = `#                    _------=> CPU#            
#                   / _-----=> irqs-off/BH-disabled
#                  | / _----=> need-resched    
#                  || / _---=> hardirq/softirq 
#                  ||| / _--=> preempt-depth   
#                  |||| / _-=> migrate-disable 
#                  ||||| /     delay           
#  cmd     pid     |||||| time  |   caller     
#     \   /        ||||||  \    |    /       
`

// latencyHeader: nothing when there are no events.
func (p *printer) latencyHeader(cpu int) {
	if p.t.empty(cpu, p.snap) {
		return
	}
	p.latencyTitle(cpu)
	if !p.t.opt(optVerbose) {
		p.Buf = append(p.Buf, latencyColumns...)
	}
}

// latencyContext appends task, CPU and flags, the time since the rings were emptied, and how long it is to the next event.
func (p *printer) latencyContext(h event.Header, e *entry) {
	t := p.t
	name := t.cmdline.find(h.PID)
	verbose := t.opt(optVerbose)
	if verbose {
		p.Buf = fmt.Appendf(p.Buf, "%16s %7d %3d %d %08x %08x ", name, h.PID, e.cpu, h.Flags, h.Preempt&15, p.index-1)
	} else {
		p.Buf = fmt.Appendf(p.Buf, "%8.8s-%-7d %3d", name, h.PID, e.cpu)
		c := h.Latency()
		p.Buf = append(p.Buf, c[:]...)
	}
	next := e.TS
	if p.ahead != nil {
		if ts, ok := p.ahead.nextTime(); ok {
			next = ts
		}
	}
	abs, rel := e.TS-t.started, next-e.TS
	if !clocks[t.clock].ns {
		if verbose {
			p.Buf = fmt.Appendf(p.Buf, "[%016x] %d (+%d): ", e.TS, abs, rel)
		} else {
			p.Buf = fmt.Appendf(p.Buf, " %4d: ", abs)
		}
		return
	}
	abs, rel = (abs+500)/1000, (rel+500)/1000
	if verbose {
		p.Buf = fmt.Appendf(p.Buf, "[%08x] %d.%03dms (+%d.%03dms): ", (e.TS+500)/1000, abs/1000, abs%1000, rel/1000, rel%1000)
		return
	}
	p.Buf = append(padNum(append(p.Buf, ' '), abs, 4, ' '), "us"...)
	p.Buf = append(p.Buf, graphMark(rel*1000), ':', ' ')
}

// repeats appends a func_repeats event; its time is the last repeat's. See trace_func_repeats_print.
func (p *printer) repeats(e *entry) {
	r, ok := event.ParseRepeats(e.Data)
	if !ok {
		p.Buf = append(p.Buf, "[short record]\n"...)
		return
	}
	p.Buf = p.symbol(p.Buf, r.IP)
	if r.Parent != 0 && !p.NoParent {
		p.Buf = p.symbol(append(p.Buf, " <-"...), r.Parent)
	}
	p.Buf = append(strconv.AppendUint(append(p.Buf, " (repeats: "...), uint64(r.Count), 10), ", last_ts: "...)
	p.Buf = append(p.t.appendTime(p.Buf, e.TS-r.Delta), ")\n"...)
}
