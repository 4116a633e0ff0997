package user

import (
	"fmt"
	"slices"

	"kscope/kernel"
	"kscope/kernel/x86"
)

// cpu is what a Proc needs of the CPU that executes its stub.
type cpu interface {
	Reg(r int) uint64
	SetReg(r int, v uint64)
	Read(va uint64, b []byte) error
	Write(va uint64, b []byte) error
}

// request is one system call that a program asks for.
type request struct {
	nr   int
	args [6]uint64
	in   []chunk        // put into user memory first
	out  []span         // read from user memory when the call has succeeded
	fork func(*Sys) int // what the child of this fork runs
	born bool           // the child has run already
	work uint64         // ns of user time to charge before the call
}

// noCall as a request's nr makes no system call: the stub comes back at once, with the work charged and every interrupt taken.
const noCall = -1

// takeSignals as a request's nr takes the set of caught signals out of the stub: its result.
const takeSignals = -2

type chunk struct {
	addr uint64
	data []byte
}

// span is a range to read back. With ret set it is cut to the call's result.
type span struct {
	addr uint64
	n    int
	ret  bool
}

// response is what a system call gave: its result and the bytes of the spans.
type response struct {
	ret int64
	out [][]byte
}

// data is the bytes of span i, nil when the call failed.
func (r *response) data(i int) []byte {
	if i < len(r.out) {
		return r.out[i]
	}
	return nil
}

// phase says what the next vmcall of a Proc answers.
type phase uint8

const (
	phaseFresh phase = iota // nothing asked yet
	phaseTouch              // the touch loop: the request's bytes can be placed now
	phaseCall               // the system call in rax has returned
)

// Costs of user code that the emulator does not see, in ns of virtual time.
const (
	perCall     = 20      // around a system call: the libc wrapper and the program's own logic
	bytesPerNS  = 8       // copies between Go and user memory, as memcpy does them
	perByteWork = 1       // looking at each byte: counting, searching, formatting
	maxWork     = 100_000 // work after which a program that makes no system calls goes through the guest, to be preempted or killed
)

// What is kept of a program's results for forks of the machine.
const (
	maxLog      = 1 << 20   // results of a program
	maxLogBytes = 128 << 20 // of all programs of a machine
	logOverhead = 64        // of a result
)

// record keeps a result.
func (p *Proc) record(r response) {
	if p.lost {
		return
	}
	n := logOverhead
	for _, b := range r.out {
		n += len(b)
	}
	p.size += n
	total := p.size
	if p.ledger != nil {
		p.ledger.logged += n
		total = p.ledger.logged
	}
	if len(p.log) == maxLog || total > maxLogBytes {
		if p.ledger != nil {
			p.ledger.logged -= p.size
		}
		p.lost, p.log, p.size = true, nil, 0
		return
	}
	p.log = append(p.log, r)
}

// Proc is one task that runs a Go program.
type Proc struct {
	Pid  int
	Name string
	Argv []string
	Env  []string

	origin          origin
	phase           phase
	req             *request   // in flight
	log             []response // all results so far, or
	lost            bool       // more than are kept: a fork of the machine cannot bring the program back
	size            int        // bytes in log
	ledger          *ledger    // of the machine; nil in tests without one
	held            int        // see Sys.Hold
	holds, killedAt int        // how often it was asked, and when the program was killed
	stub            *stub

	pool   *pool
	worker *worker // nil until the first step (of a copy: until it must run)
	sys    *Sys
	resp   response // for the program to pick up
	replay int      // results still to be fed; > 0 while replaying
}

// origin is where a Proc's function comes from: a program, or the closure of a parent's fork call.
type origin struct {
	main   func(*Sys, []string) int
	parent *ancestor
}

// ancestor remembers a parent as it was when it forked: enough to make the child's closure again.
type ancestor struct {
	origin    origin
	name      string
	argv, env []string
	stub      *stub
	log       []response // the fork is the request after these
	lost      bool       // they are not kept
}

// entry is the function that the coroutine runs. A forked child's closure is made anew by running its parent up to the
// fork, so that machines which are copies of one another share no variables.
func (o origin) entry() func(*Sys, []string) int {
	if o.main != nil {
		return o.main
	}
	a := o.parent
	if a.lost {
		return func(*Sys, []string) int { return 125 }
	}
	p := &Proc{Name: a.name, Argv: a.argv, Env: a.env, origin: a.origin, log: a.log, stub: a.stub}
	p.start()
	defer p.end()
	req, ok := p.feed()
	if !ok || req.fork == nil {
		panic(fmt.Sprintf("BUG: user: %s does not repeat its fork: the program is no function of its system calls", a.name))
	}
	fn := req.fork
	return func(s *Sys, _ []string) int { return fn(s) }
}

// feed runs the coroutine through the log and returns the request that is in flight behind it.
func (p *Proc) feed() (*request, bool) {
	p.replay = len(p.log)
	req, ok := p.resume()
	for i := 0; i < len(p.log) && ok; i++ {
		p.replay = len(p.log) - i - 1
		p.resp = p.log[i]
		req, ok = p.resume()
	}
	return req, ok
}

// copy leaves a closure out: it is the original machine's.
func (o origin) copy() origin {
	if o.parent != nil {
		o.main = nil
	}
	return o
}

// revive makes a copied Proc's coroutine and brings it to where the original was. A program that is lost exits instead.
func (p *Proc) revive() {
	if p.worker != nil {
		return
	}
	if p.lost {
		p.origin.main = func(*Sys, []string) int { return 125 }
	}
	p.start()
	if p.phase == phaseFresh {
		return
	}
	if p.lost {
		p.phase = phaseFresh
		return
	}
	req, ok := p.feed()
	if !ok || req.nr != p.req.nr {
		panic(fmt.Sprintf("BUG: user: %s (pid %d) does not repeat its system calls", p.Name, p.Pid))
	}
	req.born = p.req.born
	p.req = req // a fork's closure is this machine's own
}

// ancestor is the parent's part of a child's origin, taken while the parent's fork is in flight.
func (p *Proc) ancestor() *ancestor {
	return &ancestor{origin: p.origin.copy(), name: p.Name, argv: p.Argv, env: p.Env, stub: p.stub, log: p.log[:len(p.log):len(p.log)],
		lost: p.lost}
}

// copy is the Proc of a forked machine; its coroutine is made when it must run.
func (p *Proc) copy() *Proc {
	q := *p
	q.pool, q.worker, q.sys, q.resp, q.held, q.holds = nil, nil, nil, response{}, 0, 0
	q.log = p.log[:len(p.log):len(p.log)]
	q.origin = p.origin.copy()
	q.lost = p.lost || p.origin.parent != nil && p.origin.parent.lost
	if p.req != nil {
		req := *p.req
		req.fork, req.in = nil, slices.Clone(req.in)
		for i := range req.in {
			req.in[i].data = slices.Clone(req.in[i].data) // the original's program makes its next request in the same memory
		}
		q.req = &req
	}
	return &q
}

// step answers one vmcall: it takes the result, lets the program run to its next request, and loads that. It returns the
// ns of user time to charge.
func (p *Proc) step(c cpu) (ns uint64) {
	p.revive()
	switch p.phase {
	case phaseTouch:
	case phaseCall:
		r := p.result(c)
		for _, b := range r.out {
			ns += uint64(len(b)) / bytesPerNS
		}
		p.record(r)
		p.resp = r
		fallthrough
	case phaseFresh:
		req, ok := p.resume()
		if !ok {
			req = &request{nr: sysExitGroup} // the program has ended, but a damaged guest runs its stub on
		}
		p.req = req
		ns += req.work + perCall
		for _, b := range req.in {
			ns += uint64(len(b.data)) / bytesPerNS
		}
	}
	p.issue(c)
	return ns
}

// result reads what the system call gave.
func (p *Proc) result(c cpu) response {
	if p.req.nr == noCall {
		return response{}
	}
	r := response{ret: int64(c.Reg(x86.RAX))}
	if p.req.nr == takeSignals {
		return r
	}
	if r.ret < 0 && r.ret >= -4095 {
		return r
	}
	for _, s := range p.req.out {
		n := s.n
		if s.ret {
			n = min(n, int(r.ret))
		}
		b := make([]byte, n)
		if err := c.Read(s.addr, b); err != nil {
			// The kernel has just written there, so the page is present; only a wrong address of a raw call gets here.
			return response{ret: -int64(kernel.EFAULT)}
		}
		r.out = append(r.out, b)
	}
	return r
}

// issue puts the request's bytes into user memory and loads the registers. Where a page is absent or copy-on-write the
// stub touches it first; the bytes are then placed at the vmcall that ends the loop, with no guest code in between.
func (p *Proc) issue(c cpu) {
	if p.req.nr == noCall { // touch an empty range
		c.SetReg(x86.RDI, 0)
		c.SetReg(x86.RSI, 0)
		c.SetReg(x86.R15, 1)
		p.phase = phaseCall
		return
	}
	if p.req.nr == takeSignals {
		c.SetReg(x86.R15, 2)
		p.phase = phaseCall
		return
	}
	for _, b := range p.req.in {
		if c.Write(b.addr, b.data) == nil {
			continue
		}
		if p.phase == phaseTouch && c.Reg(x86.R14) == b.addr {
			break // touched and still not writable: let the kernel say EFAULT
		}
		c.SetReg(x86.RDI, b.addr&^4095)
		c.SetReg(x86.RSI, b.addr+uint64(len(b.data)))
		c.SetReg(x86.R14, b.addr)
		c.SetReg(x86.R15, 1)
		p.phase = phaseTouch
		return
	}
	for i, reg := range [...]int{x86.RDI, x86.RSI, x86.RDX, x86.R10, x86.R8, x86.R9} {
		c.SetReg(reg, p.req.args[i])
	}
	c.SetReg(x86.RAX, uint64(p.req.nr))
	c.SetReg(x86.R15, 0)
	p.phase = phaseCall
}

// stub is what the Host knows of the stub's ELF file.
type stub struct {
	fresh         uint64 // RIP at the first vmcall of an execve
	scratch, size uint64 // the read-write area
	handler       uint64 // of signals that the program catches: it adds them to a set (see Sys.Caught)
	restorer      uint64 // where a handler returns to: rt_sigreturn
}
