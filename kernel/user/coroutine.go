package user

import "iter"

// worker is a coroutine that runs programs, one after another: to make one, and to let its stack grow, costs more than what most
// programs do.
type worker struct {
	next func() (*request, bool) // nil: the program has ended
	stop func()
	sys  *Sys
	main func(*Sys, []string) int
	args args // the memory of the last program's
}

func newWorker() *worker {
	w := &worker{}
	w.next, w.stop = iter.Pull(func(yield func(*request) bool) {
		for {
			w.sys.yield = yield
			w.sys.run(w.main)
			w.sys, w.main = nil, nil
			if !yield(nil) {
				return
			}
		}
	})
	return w
}

// pool keeps the workers that have nothing to run, while any program of the machine lives. nil keeps none.
type pool struct{ idle []*worker }

const maxIdle = 4

func (q *pool) get() *worker {
	if q == nil || len(q.idle) == 0 {
		return newWorker()
	}
	w := q.idle[len(q.idle)-1]
	q.idle = q.idle[:len(q.idle)-1]
	return w
}

func (q *pool) put(w *worker) {
	if q == nil || len(q.idle) == maxIdle {
		w.stop()
		return
	}
	q.idle = append(q.idle, w)
}

func (q *pool) close() {
	for _, w := range q.idle {
		w.stop()
	}
	q.idle = nil
}

// killed is the sentinel that unwinds a program whose task is gone.
type killed struct{}

// run is a program from its start to its exit.
func (s *Sys) run(main func(*Sys, []string) int) {
	defer func() {
		s.dead = true
		if r := recover(); r != nil {
			if _, ok := r.(killed); !ok {
				panic(r)
			}
		}
	}()
	code := main(s, s.p.Argv)
	for s.ask(&request{nr: sysExitGroup, args: [6]uint64{u64(code & 0xff)}}) {
	}
}

// start has a worker wait to run p's program.
func (p *Proc) start() {
	main := p.origin.entry()
	w := p.pool.get()
	p.sys, p.worker = &Sys{p: p, a: w.args}, w
	w.sys, w.main, w.args = p.sys, main, args{}
}

// resume runs the program to its next request; false: it has ended.
func (p *Proc) resume() (*request, bool) {
	req, ok := p.worker.next()
	return req, ok && req != nil
}

// end stops the program. What it defers runs now; its system calls all unwind.
func (p *Proc) end() {
	w := p.worker
	if w == nil {
		return
	}
	p.worker, p.sys.dead = nil, true
	if p.sys.yield != nil {
		w.next()
	}
	w.args, p.sys.a = p.sys.a, args{} // what is left of the program may still make arguments of calls
	p.pool.put(w)
}
