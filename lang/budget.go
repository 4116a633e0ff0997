package lang

import (
	"fmt"
	"runtime"
	"runtime/metrics"

	"go.starlark.net/starlark"
)

// lease is how many steps a thread takes from the host's budget at a time: small enough that no thread hoards the budget,
// large enough that renewing costs nothing.
const lease = 1 << 12

// arm puts a thread under the host's budget. One budget holds for all threads and loaded modules together, because a
// budget per thread could be escaped by making threads.
func (h *Host) arm(t *starlark.Thread) {
	if !h.budgeted() {
		return
	}
	t.OnMaxSteps = h.renew
	h.renew(t)
}

// budgeted tells that threads need leases at all.
func (h *Host) budgeted() bool { return h.cfg.MaxSteps != 0 || h.cfg.MaxMemory != 0 }

// renew gives the thread its next lease, or cancels it when the budget is gone.
func (h *Host) renew(t *starlark.Thread) { t.SetMaxExecutionSteps(t.Steps + h.take(t, lease)) }

// take takes up to n steps from the budget; 0 when it is gone, and the thread is cancelled.
func (h *Host) take(t *starlark.Thread, n uint64) uint64 {
	if h.cfg.MaxMemory != 0 && heap() > h.cfg.MaxMemory {
		runtime.GC() // what is dead does not count
		if heap() > h.cfg.MaxMemory {
			h.limited = true
			t.Cancel(fmt.Sprintf("more than %d MiB of memory (--max-memory)", h.cfg.MaxMemory>>20))
			return 0
		}
	}
	if h.cfg.MaxSteps == 0 {
		return n
	}
	if n = min(n, h.left); n == 0 {
		h.limited = true
		t.Cancel(fmt.Sprintf("more than %d steps (--max-steps)", h.cfg.MaxSteps))
	}
	h.left -= n
	return n
}

// heap is the program's heap in bytes: scripts, machines and all. It is read once in a lease: that costs a microsecond.
func heap() uint64 {
	s := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(s)
	return s[0].Value.Uint64()
}

// refill starts the budget anew; a session does so for each statement.
func (h *Host) refill(t *starlark.Thread) {
	h.left = h.cfg.MaxSteps
	h.limited = false
	h.arm(t)
}
