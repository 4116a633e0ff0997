package builtins

import (
	"fmt"
	"slices"
	"strings"

	"kscope/kernel"
)

// broken is the error of a shell that did not end. A Ctrl-C is SIGINT for all that it runs, as on a terminal: else a `yes` would go on beside all
// that is run next.
func (c *call) broken(stop kernel.Stop, doing string, pid int) error {
	if stop.Reason != kernel.StopInterrupt {
		return c.stopped(stop, doing)
	}
	const handled = 10_000_000 // ns
	job := c.g.descendants(pid)
	_ = c.g.guard(func() error {
		for _, t := range job {
			if err := c.g.M.Kill(t, sigint); err != nil && err != kernel.ESRCH {
				return err
			}
		}
		_, err := c.g.runKept(kernel.Until{Time: c.g.M.Now() + handled})
		return err
	})
	var left []string
	for _, t := range c.g.M.Tasks() {
		if slices.Contains(job, t.Pid) && c.g.lives(t) {
			left = append(left, fmt.Sprintf("%s (pid %d)", t.Comm, t.Pid))
		}
	}
	e := c.errorf("interrupted")
	if len(left) > 0 {
		e.Hint = fmt.Sprintf("SIGINT did not end %s: kernel.task(pid).kill(9) does", strings.Join(left, ", "))
	}
	return e
}

const sigint = 2

// lives tells that a task is no zombie.
func (g *Guest) lives(t kernel.Task) bool { return strings.IndexByte("ZX", t.StateChar()) < 0 }

// descendants are the pids of a task and its children, theirs and so on, that live.
func (g *Guest) descendants(pid int) (pids []int) {
	list := g.M.Tasks()
	parents := make([]int, len(list))
	for i, t := range list {
		if parent, err := kernel.NewObj(g.M, g.M.Types().Struct("task_struct"), t.Addr).Path("real_parent", "tgid"); err == nil {
			n, _ := parent.Uint()
			parents[i] = int(n)
		}
	}
	of := map[int]bool{pid: true}
	for n := 0; n < len(of); { // until a pass has found no more
		n = len(of)
		for i, t := range list {
			if of[parents[i]] {
				of[t.Pid] = true
			}
		}
	}
	for _, t := range list {
		if of[t.Pid] && g.lives(t) {
			pids = append(pids, t.Pid)
		}
	}
	return pids
}
