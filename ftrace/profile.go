package ftrace

import (
	"cmp"
	"fmt"
	"slices"

	"kscope/kernel"
)

// The function profiler: hits and times of functions by CPU, without events. It is a user of the shadow stacks, so that in 6.1
// it and function_graph exclude each other. See ftrace_profile_write, profile_graph_entry and profile_graph_return in
// kernel/trace/ftrace.c, and kernel/trace/trace_stat.c for the files.
type profiler struct {
	t    *Tracer
	user *graphUser
	cpu  []profileCPU
}

// profileCPU holds one CPU's records, in the order in which its functions were first called.
type profileCPU struct {
	recs []profileRec
	at   map[uint64]int // by ip; nil: never enabled
}

// profileRec is Linux's struct ftrace_profile.
type profileRec struct {
	ip, hits    uint64
	time, time2 uint64 // ns, and the sum of the squares
}

func newProfiler(t *Tracer) *profiler {
	p := &profiler{t: t, cpu: make([]profileCPU, len(t.cpu))}
	p.user = t.graph.newUser(t, "function_profile", p)
	return p
}

func (p *profiler) fork(t *Tracer) *profiler {
	n := &profiler{t: t, cpu: make([]profileCPU, len(p.cpu))}
	for i := range p.cpu {
		n.cpu[i] = profileCPU{recs: slices.Clone(p.cpu[i].recs), at: cloneMap(p.cpu[i].at)}
	}
	n.user = p.user.fork(t.graph, t, n)
	return n
}

// set is function_profile_enabled. Each start begins with zeroes; what was found stays to be read when it stops.
func (p *profiler) set(on bool) error {
	switch {
	case on == p.user.ops.Registered():
		return nil
	case !on:
		return p.user.stop()
	}
	for i := range p.cpu {
		p.cpu[i] = profileCPU{at: map[uint64]int{}}
	}
	return p.user.start()
}

// enter is function_profile_call.
func (p *profiler) enter(c *kernel.VCPU, ip uint64) {
	p.rec(c.ID, ip).hits++
	c.Charge(costTrampoline)
}

func (p *profiler) rec(cpu int, ip uint64) *profileRec {
	q := &p.cpu[cpu]
	i, ok := q.at[ip]
	if !ok {
		i = len(q.recs)
		q.at[ip] = i
		q.recs = append(q.recs, profileRec{ip: ip})
	}
	return &q.recs[i]
}

// leave is profile_graph_return. A function that was entered on another CPU and never on this one counts no time, as on Linux.
func (p *profiler) leave(c *kernel.VCPU, s *retStack, r *graphRet, depth int, now uint64) {
	took := now - r.call
	if !p.t.opt(optGraphTime) {
		if depth > 0 {
			s.rets[depth-1].sub += took
		}
		took -= min(r.sub, took)
	}
	if i, ok := p.cpu[c.ID].at[r.fn]; ok {
		q := &p.cpu[c.ID].recs[i]
		q.time += took
		q.time2 += took * took
	}
	c.Charge(costTrampoline)
}

func profileEnabledText(h *Handle, b []byte) ([]byte, error) {
	return fmt.Appendf(b, "%d\n", b2i(h.T.prof.user.ops.Registered())), nil
}

func writeProfileEnabled(h *Handle, p []byte) (int, error) {
	n, err := parseUint(p, 10)
	if err == nil {
		err = h.T.prof.set(n != 0)
	}
	return len(p), err
}

const profileHeader = "  Function                               Hit    Time            Avg             s^2\n" +
	"  --------                               ---    ----            ---             ---\n"

// profileStat is function_stat_show over the records by time, the longest first; of equals the one that was called last is first
// (insert_stat).
func profileStat(h *Handle, b []byte) ([]byte, error) {
	t := h.T
	b = append(b, profileHeader...)
	recs := slices.Clone(t.prof.cpu[h.CPU].recs)
	slices.Reverse(recs)
	slices.SortStableFunc(recs, func(x, y profileRec) int { return cmp.Compare(y.time, x.time) })
	for _, r := range recs {
		avg := r.time / r.hits
		if t.graph.thresh != 0 && avg < t.graph.thresh {
			continue
		}
		var s2 uint64
		if r.hits > 1 { // n/(n-1) of the variance, in ns^2/1000
			s2 = (r.hits*r.time2 - r.time*r.time) / (r.hits * (r.hits - 1) * 1000)
		}
		b = fmt.Appendf(b, "  %-30.30s  %10d    ", t.guest.symbol(r.ip, false), r.hits)
		b = append(appendDuration(b, r.time), "    "...)
		b = append(appendDuration(b, avg), "    "...)
		b = append(appendDuration(b, s2), '\n')
	}
	return b, nil
}
