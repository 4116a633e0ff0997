package lang

import (
	"fmt"
	"runtime"
	"runtime/metrics"
	"time"

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
func (h *Host) budgeted() bool { return h.cfg.MaxSteps != 0 }

// renew gives the thread its next lease, or cancels it when the budget is gone.
func (h *Host) renew(t *starlark.Thread) { t.SetMaxExecutionSteps(t.Steps + h.take(t, lease)) }

// take takes up to n steps from the budget; 0 when it is gone, and the thread is cancelled.
func (h *Host) take(t *starlark.Thread, n uint64) uint64 {
	if n = min(n, h.left); n == 0 {
		h.limited.Store(true)
		t.Cancel(fmt.Sprintf("more than %d steps (--max-steps)", h.cfg.MaxSteps))
	}
	h.left -= n
	return n
}

// watchEvery is how often the watchdog looks at the heap. Nothing doubles a gigabyte twice in that time.
const watchEvery = 5 * time.Millisecond

// watch starts the watchdog of the memory budget, which ends with end: it cancels all threads when what the program holds is too
// much. Steps say nothing of memory, and a guest's memory and what modules keep count as well. What one operation takes is looked at
// before it is done (guard.go).
func (h *Host) watch() (end func()) {
	if h.cfg.MaxMemory == 0 {
		return func() {}
	}
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		if h.fills(done) {
			reason := fmt.Sprintf("more than %s of memory (--max-memory)", mebi(h.cfg.MaxMemory))
			h.exhausted.Store(&reason)
			h.limited.Store(true)
			h.Cancel(reason)
			if h.cfg.Interrupt != nil {
				h.cfg.Interrupt() // a machine that runs keeps making what fills the memory
			}
		}
	}()
	return func() {
		close(done)
		<-ended
	}
}

// fills returns true when the memory budget is used up, false when done is closed before. What is dead does not count, so a heap
// above the limit is collected first; but not one that grows so fast, as a list does that doubles, that a collection, which may take a
// second, would come too late.
func (h *Host) fills(done <-chan struct{}) bool {
	tick := time.NewTicker(watchEvery)
	defer tick.Stop()
	most, last := h.cfg.MaxMemory, heap()
	var collected chan struct{} // closed when the collection under way has ended
	for {
		select {
		case <-done:
			return false
		case <-collected:
			if collected = nil; heap() > most {
				return true
			}
		case <-tick.C:
		}
		n := heap()
		switch {
		case n <= most:
		case n > 2*most || n > last && n-last > most/4:
			return true
		case collected == nil:
			ended := make(chan struct{})
			collected = ended
			go func() {
				runtime.GC()
				close(ended)
			}()
		}
		last = n
	}
}

// heap is the program's heap in bytes: scripts, machines and all. Reading it costs a microsecond.
func heap() uint64 {
	s := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(s)
	return s[0].Value.Uint64()
}

// refill starts the budget anew; a session does so for each statement.
func (h *Host) refill(t *starlark.Thread) {
	h.left = h.cfg.MaxSteps
	h.limited.Store(false)
	h.exhausted.Store(nil)
	h.arm(t)
}
