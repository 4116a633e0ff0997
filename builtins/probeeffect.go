package builtins

import (
	"fmt"
	"slices"
	"strings"

	"go.starlark.net/starlark"

	"kscope/kernel"
)

// kernel.probe_effect: the same seed twice, once with tracing that costs what it costs and once with tracing that costs
// nothing. The second run is, instruction for instruction, the run without any tracing (ftrace's TestZeroEffect), and still
// it records, so that the two can be compared record by record.

// effectRun is one of the two runs.
type effectRun struct {
	time, insns uint64 // that fn took
	switches    []taskSwitch
	tasks       map[int]*taskTime
	records     []effectRecord
}

type taskSwitch struct {
	cpu        int
	time       uint64
	prev, next string // comm-pid
}

type taskTime struct {
	pid  int
	comm string
	ns   uint64
}

// effectRecord is a record of the trace; its key is the same in both runs: the n-th of its kind that its task has made.
type effectRecord struct {
	key, text string
	ts        uint64
	cpu       int
}

func kernelProbeEffect(c *call) (starlark.Value, error) {
	var fn starlark.Callable
	if err := c.unpack("fn", &fn); err != nil {
		return nil, err
	}
	if err := c.takes("fn", fn, effectArgs(fn)...); err != nil {
		return nil, err
	}
	if err := c.ready(); err != nil {
		return nil, err
	}
	without, err := c.effectRun(fn, kernel.OverheadNone)
	if err != nil {
		return nil, err
	}
	with, err := c.effectRun(fn, kernel.OverheadModel)
	if err != nil {
		return nil, err
	}
	return effectResult(without, with), nil
}

// effectArgs are the arguments that fn is called with: none, or the machine.
func effectArgs(fn starlark.Callable) []string {
	if f, ok := fn.(*starlark.Function); ok && f.NumParams() > 0 {
		return []string{"machine"}
	}
	return nil
}

// effectRun calls fn on a copy of the machine, which is the default one meanwhile.
func (c *call) effectRun(fn starlark.Callable, o kernel.Overhead) (*effectRun, error) {
	g, err := c.g.fork(c.g.M.CopyAs(o))
	if err != nil {
		return nil, c.fail(err, "", nil)
	}
	m, run := g.M, &effectRun{tasks: map[int]*taskTime{}}
	since := make([]uint64, m.NumCPU())
	for i := range since {
		since[i] = m.VCPU(i).Now()
	}
	account := func(cpu int, t kernel.TaskInfo, until uint64) {
		if t.Pid == 0 {
			return
		}
		x := run.tasks[t.Pid]
		if x == nil {
			x = &taskTime{pid: t.Pid}
			run.tasks[t.Pid] = x
		}
		x.comm = t.Comm
		x.ns += until - since[cpu]
	}
	at, ok := m.Symbols().Lookup("__switch_to")
	if !ok {
		return nil, c.errorf("the image has no __switch_to")
	}
	remove, err := m.Hook(at, func(v *kernel.VCPU) {
		prev, next := m.TaskAt(v.Arg(0)), m.TaskAt(v.Arg(1))
		run.switches = append(run.switches, taskSwitch{v.ID, v.Now(), taskName(prev), taskName(next)})
		account(v.ID, prev, v.Now())
		since[v.ID] = v.Now()
	})
	if err != nil {
		return nil, c.errorf("%v", err)
	}
	start, insns := m.Now(), m.Insns()
	env := c.g.env
	outer := env.guest
	env.guest = g
	args := starlark.Tuple{}
	if len(effectArgs(fn)) > 0 {
		args = starlark.Tuple{&machine{g}}
	}
	_, err = starlark.Call(c.thread, fn, args, nil)
	env.guest = outer
	remove()
	if err != nil {
		return nil, err
	}
	run.time, run.insns = m.Now()-start, m.Insns()-insns
	for i := range since {
		v := m.VCPU(i)
		account(i, v.Current(), max(v.Now(), since[i]))
	}
	run.collect(g)
	return run, nil
}

func taskName(t kernel.TaskInfo) string { return fmt.Sprintf("%s-%d", t.Comm, t.Pid) }

// collect takes the records of the trace.
func (run *effectRun) collect(g *Guest) {
	nth := map[string]int{}
	recs := g.T.Records(-1)
	for i := range recs {
		r := &recs[i]
		key := fmt.Sprintf("%d %s", r.Header.PID, r.Name())
		nth[key]++
		run.records = append(run.records, effectRecord{
			key:  fmt.Sprintf("%s %d", key, nth[key]),
			text: fmt.Sprintf("%s-%d %s: %s", r.Comm, r.Header.PID, r.Name(), strings.TrimSpace(r.Text)), ts: r.TS, cpu: r.CPU,
		})
	}
}

// effectDiff is what the runs differ in.
type effectDiff struct {
	without, with         *effectRun
	tasks                 [][2]*taskTime
	same                  int // switches before the first difference
	both                  int // records
	onlyWithout, onlyWith []effectRecord
	moved                 []effectRecord // of the run with tracing: they have another place in the order
	shift                 uint64         // the greatest difference in time of a record, relative to the runs' starts
}

func compareEffect(without, with *effectRun) *effectDiff {
	d := &effectDiff{without: without, with: with}
	var pids []int
	for _, run := range []*effectRun{without, with} {
		for pid := range run.tasks {
			if !slices.Contains(pids, pid) {
				pids = append(pids, pid)
			}
		}
	}
	slices.Sort(pids)
	for _, pid := range pids {
		a, b := without.tasks[pid], with.tasks[pid]
		if a == nil {
			a = &taskTime{pid, b.comm, 0}
		}
		if b == nil {
			b = &taskTime{pid, a.comm, 0}
		}
		d.tasks = append(d.tasks, [2]*taskTime{a, b})
	}
	for d.same < min(len(without.switches), len(with.switches)) {
		if a, b := without.switches[d.same], with.switches[d.same]; a.cpu != b.cpu || a.prev != b.prev || a.next != b.next {
			break
		}
		d.same++
	}
	d.compareRecords()
	return d
}

// compareRecords matches the records by key. The least number of records that must be moved to make one order the other is
// what the longest increasing run of places leaves over.
func (d *effectDiff) compareRecords() {
	place := map[string]int{}
	for i, r := range d.without.records {
		place[r.key] = i
	}
	seen := map[string]bool{}
	var matched []effectRecord
	var places []int
	for _, r := range d.with.records {
		i, ok := place[r.key]
		if !ok {
			d.onlyWith = append(d.onlyWith, r)
			continue
		}
		seen[r.key] = true
		matched, places = append(matched, r), append(places, i)
		if a, b := d.without.records[i].ts, r.ts; a < b {
			d.shift = max(d.shift, b-a)
		} else {
			d.shift = max(d.shift, a-b)
		}
	}
	for _, r := range d.without.records {
		if !seen[r.key] {
			d.onlyWithout = append(d.onlyWithout, r)
		}
	}
	d.both = len(matched)
	keep := longestRun(places)
	for i, r := range matched {
		if !keep[i] {
			d.moved = append(d.moved, r)
		}
	}
}

// longestRun marks the members of a longest increasing subsequence.
func longestRun(xs []int) []bool {
	var tails []int // indexes of xs: the last member of the best run of each length
	prev := make([]int, len(xs))
	for i, x := range xs {
		k, _ := slices.BinarySearchFunc(tails, x, func(t, x int) int { return xs[t] - x })
		if prev[i] = -1; k > 0 {
			prev[i] = tails[k-1]
		}
		if k == len(tails) {
			tails = append(tails, i)
		} else {
			tails[k] = i
		}
	}
	keep := make([]bool, len(xs))
	if len(tails) > 0 {
		for i := tails[len(tails)-1]; i >= 0; i = prev[i] {
			keep[i] = true
		}
	}
	return keep
}

// diffText is a difference in ns with its share.
func diffText(without, with uint64) string {
	d := int64(with) - int64(without)
	if without == 0 {
		return fmt.Sprintf("%+d ns", d)
	}
	return fmt.Sprintf("%+d ns (%+.1f %%)", d, 100*float64(d)/float64(without))
}

func (d *effectDiff) text() string {
	var b strings.Builder
	a, w := d.without, d.with
	fmt.Fprintf(&b, "probe effect: %d ns without tracing, %d ns with it: %s\n", a.time, w.time, diffText(a.time, w.time))
	fmt.Fprintf(&b, "  %-24s %14s %14s\n", "CPU time", "without", "with")
	for _, t := range d.tasks {
		fmt.Fprintf(&b, "  %-24s %11d ns %11d ns  %s\n", fmt.Sprintf("%s-%d", t[1].comm, t[1].pid), t[0].ns, t[1].ns, diffText(t[0].ns, t[1].ns))
	}
	fmt.Fprintf(&b, "  task switches: %d without, %d with; ", len(a.switches), len(w.switches))
	if d.same == len(a.switches) && d.same == len(w.switches) {
		b.WriteString("in the same order\n")
	} else {
		fmt.Fprintf(&b, "the first %d are the same, then\n", d.same)
		d.switchText(&b, "without", a)
		d.switchText(&b, "with", w)
	}
	fmt.Fprintf(&b, "  records: %d in both, %d only without, %d only with; %d of those in both have another place in the order; largest shift %d ns\n",
		d.both, len(d.onlyWithout), len(d.onlyWith), len(d.moved), d.shift)
	for i, r := range d.moved {
		if i == 3 && len(d.moved) > 4 {
			fmt.Fprintf(&b, "    and %d more\n", len(d.moved)-i)
			break
		}
		fmt.Fprintf(&b, "    moved: cpu%d %s\n", r.cpu, r.text)
	}
	return strings.TrimRight(b.String(), "\n")
}

func (d *effectDiff) switchText(b *strings.Builder, title string, run *effectRun) {
	if d.same == len(run.switches) {
		fmt.Fprintf(b, "    %-8s no more\n", title)
		return
	}
	s := run.switches[d.same]
	fmt.Fprintf(b, "    %-8s cpu%d %s ==> %s\n", title, s.cpu, s.prev, s.next)
}

func effectResult(without, with *effectRun) starlark.Value {
	d := compareEffect(without, with)
	task := func(t [2]*taskTime) starlark.Value {
		return &record{typ: "TaskTime", fields: []field{{"pid", num(t[1].pid)}, {"comm", str(t[1].comm)}, {"without", unum(t[0].ns)},
			{"with_", unum(t[1].ns)}, {"diff", num(int64(t[1].ns) - int64(t[0].ns))}}}
	}
	sw := func(s taskSwitch) starlark.Value {
		return &record{typ: "Switch", fields: []field{{"cpu", num(s.cpu)}, {"time", unum(s.time)}, {"prev", str(s.prev)}, {"next", str(s.next)}}}
	}
	rec := func(r effectRecord) starlark.Value {
		return &record{typ: "Moved", text: r.text, fields: []field{{"ts", unum(r.ts)}, {"cpu", num(r.cpu)}, {"text", str(r.text)}}}
	}
	return &record{typ: "ProbeEffect", text: d.text(), fields: []field{
		{"without", unum(without.time)}, {"with_", unum(with.time)}, {"diff", num(int64(with.time) - int64(without.time))},
		{"insns_without", unum(without.insns)}, {"insns_with", unum(with.insns)},
		{"tasks", list(d.tasks, task)}, {"same_switches", num(d.same)},
		{"switches_without", list(without.switches, sw)}, {"switches_with", list(with.switches, sw)},
		{"records", num(d.both)}, {"only_without", list(d.onlyWithout, rec)}, {"only_with", list(d.onlyWith, rec)},
		{"moved", list(d.moved, rec)}, {"shift", unum(d.shift)}, {"text", str(d.text())},
	}}
}
