package user

import (
	"bytes"
	"debug/elf"
	"fmt"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"

	"kscope/kernel"
	"kscope/kernel/guest"
	"kscope/kernel/x86"
)

// Host runs the Go programs of one machine. It owns the machine's hypercalls and the gates user_task_exec and
// (with the machine) user_task_exit.
type Host struct {
	m        *kernel.Machine
	stub     *stub
	procs    map[int]*Proc
	programs map[string]Program // by name: the commands, and what Add brought
	spawned  map[string]Program // programs without a file, by the token in argv[0]
	token    int
	births   map[int]origin // children whose parent has returned from fork before they first ran
	orphans  []origin       // of forks whose parent died before it returned
	ledger   *ledger
	pool     pool
	stack    stackReader
	parent   [2]uint64 // offsets of task_struct.real_parent and .tgid
}

// New makes the Host of a machine that has not booted yet and attaches it.
func New(m *kernel.Machine) (*Host, error) {
	st, err := loadStub(guest.Stub())
	if err != nil {
		return nil, err
	}
	h := &Host{m: m, stub: st, programs: map[string]Program{}}
	for _, p := range Commands() {
		h.programs[p.Name] = p
	}
	h.init()
	m.Attach(h)
	return h, nil
}

// init makes the parts that a fork does not take over, and registers with the machine.
func (h *Host) init() {
	h.ledger = &ledger{limit: DefaultMaxHeld}
	h.procs, h.births, h.spawned = map[int]*Proc{}, map[int]origin{}, map[string]Program{}
	task := h.m.Types().Struct("task_struct")
	h.parent = [2]uint64{uint64(task.Field("real_parent").Offset), uint64(task.Field("tgid").Offset)}
	h.m.SetHypercall(h.hypercall)
	h.m.RegisterGate("user_task_exec", h.gateExec)
	h.m.RegisterGate("user_task_exit", h.gateExit)
}

// Fork implements kernel.Part. Programs that live are brought back from their results when the copy runs them.
func (h *Host) Fork(m *kernel.Machine) kernel.Part {
	n := &Host{m: m, stub: h.stub, programs: maps.Clone(h.programs), token: h.token}
	n.init()
	n.ledger.limit = h.ledger.limit
	maps.Copy(n.spawned, h.spawned)
	for pid, p := range h.procs {
		n.procs[pid] = p.copy()
		n.procs[pid].ledger, n.procs[pid].pool = n.ledger, &n.pool
		n.ledger.logged += p.size
	}
	for pid, o := range h.births {
		n.births[pid] = o.copy()
	}
	for _, o := range h.orphans {
		n.orphans = append(n.orphans, o.copy())
	}
	return n
}

// Close stops every program's coroutine, so that the machine can be dropped. The machine must not run again.
func (h *Host) Close() {
	for _, pid := range slices.Sorted(maps.Keys(h.procs)) {
		h.procs[pid].end()
	}
	clear(h.procs)
	h.pool.close()
}

// Add makes a program known by name. It needs a file /usr/bin/NAME with the stub's bytes (see StubFile) to be executed.
func (h *Host) Add(p Program) { h.programs[p.Name] = p }

// Programs lists what the Host can run, by name.
func (h *Host) Programs() []Program {
	var out []Program
	for _, name := range slices.Sorted(maps.Keys(h.programs)) {
		out = append(out, h.programs[name])
	}
	return out
}

// Proc is the live program of a pid, nil when there is none.
func (h *Host) Proc(pid int) *Proc { return h.procs[pid] }

// Exec starts the command (the one at that path, when name has a slash) and returns its pid.
func (h *Host) Exec(name string, args []string, s kernel.Streams) (int, error) {
	file := name
	if !strings.Contains(name, "/") {
		file = ProgramPath(name)
	}
	return h.m.Exec(file, append([]string{name}, args...), s)
}

// stubPath is the file that programs without one of their own run from.
const stubPath = "/usr/bin/stub"

// Spawn starts a program that has no file: a Starlark function, a test's closure. It runs from /usr/bin/stub under the
// program's name.
func (h *Host) Spawn(p Program, args []string, s kernel.Streams) (int, error) {
	return h.SpawnOn(kernel.AnyCPU, p, args, s)
}

// SpawnOn is Spawn for a program that runs on cpu alone.
func (h *Host) SpawnOn(cpu int, p Program, args []string, s kernel.Streams) (int, error) {
	h.token++
	token := p.Name + "#" + strconv.Itoa(h.token)
	h.spawned[token] = p
	return h.m.ExecOn(cpu, stubPath, append([]string{token}, args...), s)
}

// Run executes a command to its end and returns its exit status, and what it wrote.
func (h *Host) Run(name string, args ...string) (status int, stdout, stderr string, err error) {
	var out, errs bytes.Buffer
	pid, err := h.Exec(name, args, kernel.Streams{Out: &out, Err: &errs})
	if err != nil {
		return 0, "", "", err
	}
	status, err = h.m.Wait(pid)
	return status, out.String(), errs.String(), err
}

// hypercall answers a vmcall of the stub.
func (h *Host) hypercall(c *kernel.VCPU) {
	pid := c.CurrentPid()
	p := h.procs[pid]
	switch {
	case c.CPU.RIP() == h.stub.fresh:
		p = h.fresh(c, pid)
	case p == nil:
		p = h.born(c, pid)
	}
	if p.lost && p.worker == nil {
		h.m.RequestStop(fmt.Sprintf("%s (pid %d) made more than %d system calls before the machine was forked: it cannot go on in the fork", p.Name, pid, maxLog))
	}
	p.revive()
	fork := p.returning()
	c.ChargeWork(p.step(c.CPU))
	if fork != nil {
		h.forked(p, fork)
	}
}

// fresh starts the program that an execve has just loaded.
func (h *Host) fresh(c *kernel.VCPU, pid int) *Proc {
	if old := h.procs[pid]; old != nil {
		old.end()
		old.drop() // the kernel has no gate user_task_exec for it
	}
	h.stack.c, h.stack.n = c.CPU, 0
	st, err := h.stack.stack(c.CPU.Reg(x86.RSP))
	p := &Proc{Pid: pid, Argv: st.argv, Env: st.env, stub: h.stub, ledger: h.ledger, pool: &h.pool}
	prog, ok := h.find(c, &st)
	switch {
	case err != nil:
		p.origin.main = func(*Sys, []string) int { return 127 }
	case !ok:
		p.origin.main = noProgram
	default:
		p.origin.main = prog.Main
	}
	p.Name = prog.Name
	if len(p.Argv) > 0 && h.spawned[p.Argv[0]].Name != "" {
		delete(h.spawned, p.Argv[0])
		p.Argv[0] = prog.Name
		p.origin.main = named(prog)
	}
	h.procs[pid] = p
	return p
}

// named runs a spawned program under its own name.
func named(p Program) func(*Sys, []string) int {
	return func(s *Sys, argv []string) int {
		s.SetName(p.Name)
		return p.Main(s, argv)
	}
}

// noProgram is a stub file whose name no program has.
func noProgram(s *Sys, argv []string) int {
	s.Write(2, []byte(argv[0]+": no such program\n"))
	return 127
}

// find names the program of a fresh execve: by the token of Spawn, else by the executed file.
func (h *Host) find(c *kernel.VCPU, st *stackInfo) (Program, bool) {
	if len(st.argv) > 0 {
		if p, ok := h.spawned[st.argv[0]]; ok {
			return p, true
		}
	}
	base := path.Base(st.execFn)
	p, ok := h.programs[base]
	if !ok {
		p, ok = h.programs[c.Current().Comm]
	}
	if !ok {
		p, ok = h.programs[path.Base(first(st.argv))]
	}
	if !ok {
		p.Name = base
	}
	return p, ok
}

func first(list []string) string {
	if len(list) == 0 {
		return ""
	}
	return list[0]
}

// born makes the Proc of a task that returns from fork and has none yet: the function comes from its parent, which may
// still be in its own fork call, or already have returned with this pid, or be dead.
func (h *Host) born(c *kernel.VCPU, pid int) *Proc {
	o, ok := h.births[pid]
	delete(h.births, pid)
	parent := h.procs[h.parentOf(c)]
	if !ok && parent != nil && parent.forking() {
		o, ok = parent.child(), true
		parent.req.born = true
	}
	if !ok && len(h.orphans) > 0 {
		o, h.orphans, ok = h.orphans[0], h.orphans[1:], true
	}
	if !ok {
		o.main = func(*Sys, []string) int { return 127 } // a fork by the raw call: there is nothing to run
	}
	p := &Proc{Pid: pid, Name: "?", origin: o, stub: h.stub, ledger: h.ledger, pool: &h.pool}
	if a := o.parent; a != nil {
		p.Name, p.Argv, p.Env = a.name, a.argv, a.env
	}
	h.procs[pid] = p
	return p
}

// forking says that p's fork is in flight and its child has not run yet.
func (p *Proc) forking() bool {
	if p.req == nil || p.req.nr != sysClone || p.phase != phaseCall || p.req.born {
		return false
	}
	p.revive()
	return p.req.fork != nil
}

// child is the origin of what p's fork in flight makes.
func (p *Proc) child() origin {
	fn := p.req.fork
	return origin{main: func(s *Sys, _ []string) int { return fn(s) }, parent: p.ancestor()}
}

// returning is what the child of the fork runs from which p returns with this vmcall, unless it has run already; nil: there is none.
func (p *Proc) returning() func(*Sys) int {
	if p.phase != phaseCall || p.req.born {
		return nil
	}
	return p.req.fork
}

// forked notes the child of a fork that has returned to the parent.
func (h *Host) forked(p *Proc, fn func(*Sys) int) {
	child := int(p.resp.ret)
	if child <= 0 {
		return
	}
	a := p.ancestor()
	a.log = a.log[:max(0, len(a.log)-1)]
	h.births[child] = origin{main: func(s *Sys, _ []string) int { return fn(s) }, parent: a}
}

// parentOf is the pid of the current task's real parent.
func (h *Host) parentOf(c *kernel.VCPU) int {
	at, err := h.m.U64(c.CurrentAddr() + h.parent[0])
	if err != nil {
		return 0
	}
	return h.m.TaskAt(at).Tgid
}

// gateExec: void user_task_exec(s64 pid), when an execve cannot fail any more.
func (h *Host) gateExec(c *kernel.VCPU) uint64 {
	h.drop(int(c.Arg(0)))
	return 0
}

// gateExit: void user_task_exit(s64 pid, s64 code), in do_exit.
func (h *Host) gateExit(c *kernel.VCPU) uint64 {
	pid := int(c.Arg(0))
	if p := h.procs[pid]; p != nil && p.forking() {
		h.orphans = append(h.orphans, p.child()) // killed inside fork: the child may exist
	}
	delete(h.births, pid)
	h.drop(pid)
	return 0
}

func (h *Host) drop(pid int) {
	if p := h.procs[pid]; p != nil {
		delete(h.procs, pid)
		p.end()
		p.drop()
		if len(h.procs) == 0 {
			h.pool.close()
		}
	}
}

// loadStub finds the stub's first vmcall and its scratch area.
func loadStub(raw []byte) (*stub, error) {
	f, err := elf.NewFile(bytes.NewReader(raw))
	if err != nil {
		return nil, fmt.Errorf("user stub: %w", err)
	}
	const vmcallLen = 3
	s := &stub{fresh: f.Entry + vmcallLen}
	for _, p := range f.Progs {
		if p.Type == elf.PT_LOAD && p.Flags&elf.PF_W != 0 {
			s.scratch, s.size = p.Vaddr, p.Memsz&^4095 // behind it is the set of caught signals
		}
	}
	// stub.lds: the handler and its restorer stand 512 bytes into the page of code.
	s.handler = f.Entry&^4095 + 0x200
	s.restorer = s.handler + 32
	if s.size < 64<<10 {
		return nil, fmt.Errorf("user stub: read-write area of %d bytes: at least 64 KiB needed", s.size)
	}
	return s, nil
}
