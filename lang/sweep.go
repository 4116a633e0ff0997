package lang

import (
	"fmt"
	"regexp"
	"sort"
	"strconv"
	"strings"
)

// Switch is one switch of a CPU from a task to another.
type Switch struct {
	T          uint64 // ns
	CPU        int
	Prev, Next string // comm-pid
}

func (s Switch) String() string {
	return fmt.Sprintf("%d.%09d cpu%d %s -> %s", s.T/1e9, s.T%1e9, s.CPU, s.Prev, s.Next)
}

// ownSweep finds the scripts that sweep seeds themselves; -seeds N then says how many.
var ownSweep = regexp.MustCompile(`\btest\.seeds\(`)

// sweep runs a golden that passed with other seeds. What it prints may differ, which is counted; what it asserts may not: exit status
// and first line of the error, the outcome of each case, the texts of test.golden, the invariants of the machine. base is the run that
// passed, with what it printed. The result says which seed fails, and where the schedule first parted from the golden's own.
func (g *Goldens) sweep(path string, pin Pin, base *GoldenRun, printed, source string) (string, *SeedCount) {
	if ownSweep.MatchString(source) {
		out, r := g.runWith(GoldenRun{Path: path, Pin: pin, Seeds: g.Seeds})
		why := differs(base, printed, r, out)
		if why == "" {
			return "", nil
		}
		m := regexp.MustCompile(`seed (\d+): `).FindStringSubmatch(out + strings.Join(r.Faults, "\n"))
		if m == nil {
			return fmt.Sprintf("with %d seeds: %s\n%s", g.Seeds, why, lastLines(out, 20)), nil
		}
		seed, _ := strconv.ParseUint(m[1], 10, 64)
		_, rec := g.runWith(GoldenRun{Path: path, Pin: pin, Seeds: g.Seeds, Record: true})
		return fmt.Sprintf("seed %d: %s\n%s%s", seed, why, lastLines(out, 20), FirstSwitch(0, rec.Schedules[0], seed, rec.Schedules[seed])), nil
	}
	count := &SeedCount{Of: g.Seeds}
	for seed := range uint64(g.Seeds) {
		p := pin
		if p.Seed = seed; p == pin {
			continue
		}
		out, r := g.output(path, p)
		why := differs(base, printed, r, out)
		if why == "" {
			if out != printed {
				count.Differ++
			}
			continue
		}
		_, good := g.runWith(GoldenRun{Path: path, Pin: pin, Record: true})
		_, bad := g.runWith(GoldenRun{Path: path, Pin: p, Record: true})
		return fmt.Sprintf("seed %d: %s\n%s%s", seed, why, lastLines(strings.Join(append(r.Faults, out), "\n"), 20),
			FirstSwitch(pin.Seed, good.Schedules[pin.Seed], seed, bad.Schedules[seed])), nil
	}
	return "", count
}

// errorLine is the first line of an error report.
var errorLine = regexp.MustCompile(`(?m)^error: .*`)

// differs says what another seed has changed that it may not; "" if nothing.
func differs(base *GoldenRun, printed string, r *GoldenRun, out string) string {
	if r.status != base.status {
		return fmt.Sprintf("exit status %d instead of %d", r.status, base.status)
	}
	if len(r.Faults) > 0 {
		return "a fault"
	}
	outcomes := map[string]string{}
	for _, c := range base.Cases {
		outcomes[c.Name] = c.Outcome
	}
	for _, c := range r.Cases {
		if was, ok := outcomes[c.Name]; !ok {
			return fmt.Sprintf("a case %q that there was not before", c.Name)
		} else if was != c.Outcome {
			return fmt.Sprintf("case %q: %s instead of %s", c.Name, c.Outcome, was)
		}
		delete(outcomes, c.Name)
	}
	for _, c := range base.Cases {
		if _, missing := outcomes[c.Name]; missing {
			return fmt.Sprintf("no case %q", c.Name)
		}
	}
	if base.status == ExitOK {
		return ""
	}
	plain := func(text string) string { return numbers.ReplaceAllString(errorLine.FindString(text), "#") }
	if was, is := plain(printed), plain(out); was != is {
		return fmt.Sprintf("another error: %s\ninstead of %s", errorLine.FindString(out), errorLine.FindString(printed))
	}
	return ""
}

func lastLines(text string, n int) string {
	l := lines(text)
	if len(l) > n {
		l = append([]string{"...\n"}, l[len(l)-n:]...)
	}
	return strings.TrimSuffix(strings.Join(l, ""), "\n") + "\n"
}

// FirstSwitch says where two schedules part: the earliest switch at which some CPU goes to another task, or, when all CPUs
// run the same tasks in the same order, at another time.
func FirstSwitch(seedA uint64, a []Switch, seedB uint64, b []Switch) string {
	if len(a) == 0 || len(b) == 0 {
		return "no schedules were recorded: no machine was booted with both seeds\n"
	}
	perCPU := func(s []Switch) map[int][]Switch {
		m := map[int][]Switch{}
		for _, x := range s {
			m[x.CPU] = append(m[x.CPU], x)
		}
		return m
	}
	ma, mb := perCPU(a), perCPU(b)
	var cpus []int
	for cpu := range ma {
		cpus = append(cpus, cpu)
	}
	sort.Ints(cpus)
	type parting struct{ a, b Switch }
	var order, timing *parting
	for _, cpu := range cpus {
		x, y := ma[cpu], mb[cpu]
		for i := range min(len(x), len(y)) {
			p := &parting{x[i], y[i]}
			if x[i].T != y[i].T && (timing == nil || x[i].T < timing.a.T) {
				timing = p
			}
			if x[i].Prev != y[i].Prev || x[i].Next != y[i].Next {
				if order == nil || x[i].T < order.a.T {
					order = p
				}
				break
			}
		}
	}
	what, p := "first scheduling difference", order
	if p == nil {
		what, p = "the same tasks in the same order; first other time", timing
	}
	if p == nil {
		return fmt.Sprintf("the schedules are equal for %d switches\n", min(len(a), len(b)))
	}
	return fmt.Sprintf("%s:\n  seed %-3d %s\n  seed %-3d %s\n", what, seedA, p.a, seedB, p.b)
}
