package lang

import (
	"fmt"

	"go.starlark.net/starlark"
)

// lease is how many steps a thread takes from the host's budget at a time: small enough that no thread hoards the budget,
// large enough that renewing costs nothing.
const lease = 1 << 12

// arm puts a thread under the host's budget. One budget holds for all threads and loaded modules together, because a
// budget per thread could be escaped by making threads.
func (h *Host) arm(t *starlark.Thread) {
	if h.cfg.MaxSteps == 0 {
		return
	}
	t.OnMaxSteps = h.renew
	h.renew(t)
}

// renew gives the thread its next lease, or cancels it when the budget is gone.
func (h *Host) renew(t *starlark.Thread) {
	n := min(lease, h.left)
	if n == 0 {
		h.limited = true
		t.Cancel(fmt.Sprintf("more than %d steps (--max-steps)", h.cfg.MaxSteps))
		return
	}
	h.left -= n
	t.SetMaxExecutionSteps(t.Steps + n)
}

// refill starts the budget anew; a session does so for each statement.
func (h *Host) refill(t *starlark.Thread) {
	h.left = h.cfg.MaxSteps
	h.limited = false
	h.arm(t)
}
