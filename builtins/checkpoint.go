package builtins

import (
	"fmt"

	"go.starlark.net/starlark"

	"kscope/kernel"
	"kscope/lang"
)

// keeper makes copies of a machine while it runs, between slices, so that the guest's future is the same with them.
type keeper struct {
	every uint64
	most  int
	list  []kept // by time
}

// kept is one copy. It never runs: rewinding runs a copy of it.
type kept struct {
	time uint64
	g    *Guest
}

// checkpoint is the text of the stop that a keeper asks for.
const checkpoint = "checkpoint"

// runKept runs the machine, with stops for the copies that are to be made.
func (g *Guest) runKept(u kernel.Until) (kernel.Stop, error) {
	if g.kept == nil {
		return g.M.Run(u), nil
	}
	end := g.M.Insns() + u.Insns
	defer g.M.Every(g.kept.every, false, func(*kernel.VCPU) { g.M.RequestStop(checkpoint) })()
	if err := g.keep(); err != nil {
		return kernel.Stop{}, err
	}
	for {
		stop := g.M.Run(u)
		if stop.Reason != kernel.StopVerdict || stop.Text != checkpoint {
			return stop, nil
		}
		if err := g.keep(); err != nil {
			return stop, err
		}
		if u.Insns != 0 {
			if u.Insns = end - g.M.Insns(); u.Insns == 0 {
				return kernel.Stop{Reason: kernel.StopDone, CPU: stop.CPU, PC: stop.PC, Time: stop.Time, Insns: stop.Insns}, nil
			}
		}
	}
}

// keep makes a copy now.
func (g *Guest) keep() error {
	k, now := g.kept, g.M.Now()
	if n := len(k.list); n > 0 && k.list[n-1].time >= now {
		return nil
	}
	c, err := g.fork(g.M.Copy())
	if err != nil {
		return err
	}
	k.list = append(k.list, kept{now, c})
	if len(k.list) > k.most {
		k.list = append([]kept(nil), k.list[len(k.list)-k.most:]...)
	}
	return nil
}

// before is the latest copy at or before a time; nil when there is none.
func (k *keeper) before(t uint64) *Guest {
	for i := len(k.list) - 1; i >= 0; i-- {
		if k.list[i].time <= t {
			return k.list[i].g
		}
	}
	return nil
}

// kernelCheckpoints implements kernel.checkpoints.
func kernelCheckpoints(c *call) (starlark.Value, error) {
	var every starlark.Value
	most := 100
	if err := c.unpack("every?", &every, "keep?", &most); err != nil {
		return nil, err
	}
	if most < 1 {
		return nil, c.errorf("keep = %d: want at least 1", most)
	}
	if every != nil && every != starlark.None {
		var n uint64
		if err := starlark.AsInt(every, &n); err != nil {
			return nil, c.errorf("every: %v", err)
		}
		switch {
		case n == 0:
			c.g.kept = nil
		case n < 1000:
			return nil, &lang.Error{Msg: fmt.Sprintf("%s: every = %d: want at least 1 us", c.name, n), At: "every", Hint: "times are ints in ns: 1 * ms"}
		case c.g.kept == nil:
			c.g.kept = &keeper{every: n, most: most}
		default:
			c.g.kept.every, c.g.kept.most = n, most
		}
	}
	if c.g.kept == nil {
		return starlark.NewList(nil), nil
	}
	return list(c.g.kept.list, func(k kept) starlark.Value { return unum(k.time) }), nil
}

// kernelRewind implements kernel.rewind.
func kernelRewind(c *call) (starlark.Value, error) {
	var to starlark.Value
	if err := c.unpack("to", &to); err != nil {
		return nil, err
	}
	if r, ok := to.(*record); ok {
		for _, name := range []string{"ts", "time"} {
			if v, err := r.Attr(name); err == nil {
				to = v
				break
			}
		}
	}
	var t uint64
	if err := starlark.AsInt(to, &t); err != nil {
		return nil, c.errorf("to = %s: want a time in ns, a Record or a Stop", to)
	}
	if err := c.ready(); err != nil {
		return nil, err
	}
	if c.g.kept == nil {
		return nil, &lang.Error{Msg: c.name + ": no checkpoints are made", Hint: "kernel.checkpoints(every = 1 * ms), before the run"}
	}
	if t > c.g.M.Now() {
		return nil, &lang.Error{Msg: fmt.Sprintf("%s: to = %d is ahead: it is %d", c.name, t, c.g.M.Now()), At: "to", Hint: "kernel.run goes on"}
	}
	from := c.g.kept.before(t)
	if from == nil {
		return nil, c.errorf("no checkpoint is as old as %s", seconds(t))
	}
	g, err := from.fork(from.M.Copy())
	if err != nil {
		return nil, c.fail(err, "", nil)
	}
	keeper := *c.g.kept
	keeper.list = nil
	for _, k := range c.g.kept.list {
		if k.time <= t {
			keeper.list = append(keeper.list, k)
		}
	}
	if err := c.g.env.become(g); err != nil {
		return nil, err
	}
	stop := kernel.Stop{Reason: kernel.StopDone, Time: g.M.Now(), Insns: g.M.Insns(), PC: g.M.VCPU(0).CPU.RIP()}
	if t > g.M.Now() {
		remove := g.M.Every(t-g.M.Now(), false, func(*kernel.VCPU) { g.M.RequestStop("rewound") })
		again := &call{g: g, thread: c.thread, name: c.name}
		stop, err = g.run(again, kernel.Until{Time: t + 1e6}) // far enough to cut no slice short
		remove()
	}
	g.kept = &keeper
	return stopRecord(g, stop), err
}
