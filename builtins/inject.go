package builtins

import (
	"fmt"

	"go.starlark.net/starlark"

	"kscope/kernel"
)

// lookMethods are the rows of module kernel for looking into the machine and disturbing it at a chosen instruction.
func lookMethods() []method {
	return []method{
		{name: "probe_effect", sig: "(fn) -> ProbeEffect", fn: kernelProbeEffect,
			doc: "Runs fn twice on copies of this machine with one seed: with tracing at its cost, and with tracing that costs nothing,\nwhich is the run without tracing. fn() acts on the copy by kernel.*, tracer.*, …; fn(m) gets it too. Printing the result\ntells the differences: .without .with_ .diff (ns), .tasks (CPU time of each), .same_switches and .switches_without/_with,\n.records in both, .only_without .only_with .moved (another place in the order), .shift (ns)."},
		{name: "inject", sig: "(irq = None, nmi = False, at = None, nth = 1, after = None, on = None, cpu = None, delay = 0) -> int", fn: kernelInject,
			doc: "Raises an interrupt of vector irq, or an NMI, just before an instruction executes: the nth time that at (a place) is\nreached, by CPU on or any, or after so many more instructions of CPU on. cpu is who is interrupted: None the CPU that\nexecutes. delay is in ns. The result is the rule's number for kernel.cancel; a rule is done after one interrupt."},
		{name: "delay_ipi", sig: "(extra, src = None, dst = None, vec = None, skip = 0, count = 0) -> int", fn: kernelDelayIPI,
			doc: "Makes IPIs arrive extra ns late: those from CPU src to CPU dst of vector vec (None: any), but for the first skip of\nthem, and count of them (0: all)."},
		{name: "cancel", sig: "(rule) -> bool", fn: kernelCancel, doc: "Forgets a rule of kernel.inject or kernel.delay_ipi; False: it is done already."},
		{name: "rules", sig: "-> [Rule]", get: kernelRules, doc: "The rules of kernel.inject and kernel.delay_ipi that are pending."},
	}
}

// cpuOr is the number of an optional CPU, -1 for None.
func (c *call) cpuOr(name string, v starlark.Value) (int, error) {
	if v == nil || v == starlark.None {
		return -1, nil
	}
	n, err := starlark.AsInt32(v)
	if err != nil || n < 0 || n >= c.g.M.NumCPU() {
		return 0, c.errorf("%s = %s: the machine has CPUs 0 to %d", name, v, c.g.M.NumCPU()-1)
	}
	return n, nil
}

func kernelInject(c *call) (starlark.Value, error) {
	var irq, at, after, on, cpu starlark.Value
	var nth, delay uint64 = 1, 0
	nmi := false
	if err := c.unpack("irq?", &irq, "nmi?", &nmi, "at?", &at, "nth?", &nth, "after?", &after, "on?", &on, "cpu?", &cpu, "delay?", &delay); err != nil {
		return nil, err
	}
	i := kernel.Injection{NMI: nmi, Nth: nth, Delay: delay}
	var err error
	if i.On, err = c.cpuOr("on", on); err != nil {
		return nil, err
	}
	if i.CPU, err = c.cpuOr("cpu", cpu); err != nil {
		return nil, err
	}
	given := irq != nil && irq != starlark.None
	switch {
	case given == nmi:
		return nil, c.errorf("want irq or nmi = True")
	case given:
		n, err := starlark.AsInt32(irq)
		if err != nil || n < 32 || n > 255 {
			return nil, c.errorf("irq = %s: want a vector, 32 to 255", irq)
		}
		i.Vec = uint8(n)
	}
	place, count := at != nil && at != starlark.None, after != nil && after != starlark.None
	switch {
	case place == count:
		return nil, c.errorf("want at = a place, or after = instructions")
	case place:
		if i.Addr, err = c.address(at); err != nil {
			return nil, about("at", err)
		}
	default:
		if err := starlark.AsInt(after, &i.After); err != nil {
			return nil, c.errorf("after: %v", err)
		}
	}
	id, err := c.g.M.InjectAt(i)
	if err != nil {
		return nil, c.errorf("%v", err)
	}
	return num(id), nil
}

func kernelDelayIPI(c *call) (starlark.Value, error) {
	var d kernel.IPIDelay
	var src, dst, vec starlark.Value
	if err := c.unpack("extra", &d.Extra, "src?", &src, "dst?", &dst, "vec?", &vec, "skip?", &d.Skip, "count?", &d.Count); err != nil {
		return nil, err
	}
	var err error
	if d.From, err = c.cpuOr("src", src); err != nil {
		return nil, err
	}
	if d.To, err = c.cpuOr("dst", dst); err != nil {
		return nil, err
	}
	if d.Vec = -1; vec != nil && vec != starlark.None {
		if d.Vec, err = starlark.AsInt32(vec); err != nil || d.Vec < 0 || d.Vec > 255 {
			return nil, c.errorf("vec = %s: want a vector, 0 to 255", vec)
		}
	}
	id, err := c.g.M.DelayIPI(d)
	if err != nil {
		return nil, c.errorf("%v", err)
	}
	return num(id), nil
}

func kernelCancel(c *call) (starlark.Value, error) {
	var id int
	if err := c.unpack("rule", &id); err != nil {
		return nil, err
	}
	return starlark.Bool(c.g.M.CancelRule(id)), nil
}

func kernelRules(g *Guest) (starlark.Value, error) {
	var out []starlark.Value
	any := func(n int) string {
		if n < 0 {
			return "any cpu"
		}
		return fmt.Sprintf("cpu%d", n)
	}
	for _, i := range g.M.Injections() {
		what := fmt.Sprintf("vector %#x", i.Vec)
		if i.NMI {
			what = "an NMI"
		}
		when := fmt.Sprintf("after %d instructions of %s", i.After, any(i.On))
		if i.Addr != 0 {
			when = fmt.Sprintf("when %s comes to %s", any(i.On), g.M.Symbols().Format(i.Addr))
		}
		out = append(out, &record{typ: "Rule", text: fmt.Sprintf("<rule %d: %s %s>", i.ID, what, when), fields: []field{
			{"id", num(i.ID)}, {"kind", str("inject")}, {"addr", unum(i.Addr)}, {"nmi", starlark.Bool(i.NMI)}, {"vec", num(int(i.Vec))}}})
	}
	for _, d := range g.M.IPIDelays() {
		out = append(out, &record{typ: "Rule", text: fmt.Sprintf("<rule %d: IPIs from %s to %s %d ns late>", d.ID, any(d.From), any(d.To), d.Extra),
			fields: []field{{"id", num(d.ID)}, {"kind", str("delay_ipi")}, {"extra", unum(d.Extra)}, {"vec", num(d.Vec)}}})
	}
	return starlark.NewList(out), nil
}
