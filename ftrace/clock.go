package ftrace

import (
	"strings"

	"kscope/kernel"
)

// traceClock is a row of trace_clock. All are derived from the CPU's virtual time t: there is no other clock.
type traceClock struct {
	name string
	ns   bool // shown as seconds
	now  func(t *Tracer, c *kernel.VCPU) uint64
}

// wallEpoch is the wall clock at t = 0 (boot_params.boot_time_s).
const wallEpoch = 1767225600

func local(_ *Tracer, c *kernel.VCPU) uint64 { return c.Now() }

// clocks are in Linux's order; see trace_clocks in kernel/trace/trace.c.
var clocks = [...]traceClock{
	{"local", true, local},
	{"global", true, func(t *Tracer, c *kernel.VCPU) uint64 {
		t.global = max(c.Now(), t.global+1)
		return t.global
	}},
	{"counter", false, func(t *Tracer, _ *kernel.VCPU) uint64 {
		t.counter++
		return t.counter
	}},
	{"uptime", false, func(_ *Tracer, c *kernel.VCPU) uint64 { return c.Now() / 10e6 }}, // USER_HZ
	{"perf", true, local},
	{"mono", true, local},
	{"mono_raw", true, local},
	{"boot", true, local},
	{"tai", true, func(_ *Tracer, c *kernel.VCPU) uint64 { return c.Now() + wallEpoch*1e9 }},
	{"x86-tsc", false, local}, // 1 GHz
}

// now reads the current trace clock on c. Linux's counter is bumped by each reading too.
func (t *Tracer) now(c *kernel.VCPU) uint64 {
	if t.clock == 0 && t.root().skew == nil { // small, so that the compiler puts it into the way of each event
		return c.Now()
	}
	return t.otherNow(c)
}

func (t *Tracer) otherNow(c *kernel.VCPU) uint64 {
	if t.clock == 0 {
		return c.Now() + t.root().skew[c.ID]
	}
	return clocks[t.clock].now(t, c)
}

// maxSkew is the most that SetSkew takes, ns. Boot ends at one second, so that no time becomes negative.
const maxSkew = 1e9

// SetSkew makes the clock local run ahead on some CPUs, or behind, by ns: TSCs that nobody has synchronised. Only time stamps are
// skewed, not the CPUs' own time. The rings are emptied, since times of before do not compare. nil: no skew.
func (t *Tracer) SetSkew(ns []int64) error {
	t = t.root()
	t.skew = nil
	if ns != nil {
		skew := make([]uint64, len(t.cpu))
		for i, x := range ns {
			if i >= len(skew) || x < -maxSkew || x > maxSkew {
				return kernel.EINVAL
			}
			skew[i] = uint64(x)
		}
		t.skew = skew
	}
	for _, x := range append([]*Tracer{t}, t.instances...) {
		if x.clock == 0 {
			x.reset()
		}
	}
	return nil
}

// stamp is the time of an emptied ring: 0 without a CPU.
func (t *Tracer) stamp(c *kernel.VCPU) uint64 {
	if c == nil {
		return 0
	}
	return t.now(c)
}

func (t *Tracer) clockText(b []byte) []byte {
	for i, c := range clocks {
		if i > 0 {
			b = append(b, ' ')
		}
		if i == t.clock {
			b = append(append(append(b, '['), c.name...), ']')
		} else {
			b = append(b, c.name...)
		}
	}
	return append(b, '\n')
}

// setClock switches the clock and empties the rings, since times of two clocks do not compare (tracing_set_clock).
func (t *Tracer) setClock(name string) error {
	name = strings.TrimSpace(name)
	for i := range clocks {
		if clocks[i].name == name {
			t.clock = i
			t.reset()
			t.stamp(t.someCPU()) // of the snapshot's rings
			for j := range t.cpu {
				if r := t.cpu[j].snap; r != nil {
					r.Reset()
				}
			}
			return nil
		}
	}
	return kernel.EINVAL
}
