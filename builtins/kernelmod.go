package builtins

import (
	"fmt"
	"strings"

	"go.starlark.net/starlark"

	"kscope/kernel"
)

// kernelMethods are the rows of module kernel and of the value Machine.
func kernelMethods() []method {
	return append(append(baseMethods(), moduleMethods()...), lookMethods()...)
}

func baseMethods() []method {
	return []method{
		{name: "run", sig: "(insns = None, time = None, until = None) -> Stop", fn: kernelRun,
			doc: "Runs the machine and says why it stopped.\nStops after insns more instructions, after time more ns, or by until: a function of the machine that is asked between slices,\na place such as \"vfs_read\" or \"vfs_read+5\", before it is executed, or a spec of on(), such as \"tracepoint:sched:sched_switch\".\nWithout a condition it stops when nothing can ever run again or Ctrl-C is pressed. A panic is an error."},
		{name: "step", sig: "(cpu = 0, n = 1) -> Stop", fn: kernelStep,
			doc: "Runs the machine until a CPU has executed n more instructions, exactly. The schedule is the same as without the stop.\nA halted CPU goes on when its next interrupt is due; without any the reason is \"idle\"."},
		{name: "stop", sig: "(reason = \"\")", fn: kernelStop,
			doc: "Stops the run that is under way, from a handler or a program; kernel.run then gives reason \"stop\" and this text."},
		{name: "exec", sig: `(prog, args = [], stdin = "", timeout = 1 * s) -> struct(code, out, err)`, fn: kernelExec,
			doc: "Runs a program of the guest to its end and returns its exit code and what it wrote.\nA prog without a slash is looked for in /usr/bin and /usr/sbin. timeout is in ns of virtual time."},
		{name: "spawn", sig: `(prog, args = [], stdin = "", cpu = None, name = None) -> Task`, fn: kernelSpawn,
			doc: "Starts a program, or a Starlark function fn(sys) as one, and returns its task at once; kernel.run lets it run.\nfn's result, if an int, is its exit code; help(\"Sys\") lists what sys can do. cpu pins the task."},
		{name: "tasks", sig: "() -> [Task]", fn: kernelTasks,
			doc: "Lists the guest's tasks, idle tasks left out, in the order of init_task.tasks."},
		{name: "task", sig: "(pid) -> Task", fn: kernelTask,
			doc: "Finds a task. Its attributes are the fields of struct task_struct, read when asked for: task(1).comm."},
		{name: "symbols", sig: `(glob = "*", kind = None) -> [Sym]`, fn: kernelSymbols,
			doc: "Lists symbols by glob; kind is nm's letters, such as \"tT\" for functions."},
		{name: "sym", sig: "(x) -> Sym", fn: kernelSym,
			doc: "Finds the symbol of a name (\"vfs_read\", \"mod:name\") or the one that covers an address."},
		{name: "addr", sig: "(x) -> int", fn: kernelAddr,
			doc: "Resolves \"sym\", \"sym+0x10\", \"mod:sym\", \"file.c:160\", a Sym or an int to an address."},
		{name: "func", sig: "(x) -> Func", fn: kernelFunc,
			doc: "Finds a function's prototype: .proto, .args, .ret, .file, .line, .sym, .inlines, the places where it was inlined;\n.sites, its call of __fentry__, and who has .patched it."},
		{name: "type", sig: "(name) -> Type", fn: kernelType,
			doc: "Finds a C type of the image; printing it shows the layout as pahole does."},
		{name: "var", sig: "(name, cpu = None) -> object", fn: kernelVar,
			doc: "A global or per-CPU variable, typed by DWARF: .field, [i], .value(), .addr.\nFields that are numbers or strings come as int or string."},
		{name: "read", sig: "(addr, n, task = None, phys = False) -> bytes", fn: kernelRead,
			doc: "Reads n bytes of guest memory by the kernel's page table, by a task's, or at a physical address."},
		{name: "bytes_seen", sig: "(addr, n = 5, cpu = None) -> [bytes]", fn: kernelBytesSeen,
			doc: "The n bytes of text at addr as each CPU sees them, in order of CPU, or as one CPU does: bytes it has fetched already are the old\nones until it synchronises. Ask it before a patch, in handlers of on(\"patch\") and on(\"patch_seen\"), and after."},
		{name: "write", sig: "(addr, data)", fn: kernelWrite,
			doc: "Writes bytes or a string into guest memory. Text is changed at one instant; kernel.poke changes it as a CPU would."},
		{name: "u8", sig: "(addr) -> int", fn: readUint(1), doc: "Reads an unsigned byte."},
		{name: "u16", sig: "(addr) -> int", fn: readUint(2), doc: "Reads 16 bits, little-endian."},
		{name: "u32", sig: "(addr) -> int", fn: readUint(4), doc: "Reads 32 bits, little-endian."},
		{name: "u64", sig: "(addr) -> int", fn: readUint(8), doc: "Reads 64 bits, little-endian."},
		{name: "s64", sig: "(addr) -> int", fn: readSigned, doc: "Reads 64 bits, little-endian, signed."},
		{name: "str", sig: "(addr, max = 64) -> string", fn: kernelStr,
			doc: "Reads a NUL-terminated string of at most max bytes."},
		{name: "poke", sig: "(addr, data, naive = False)", fn: kernelPoke,
			doc: "Changes text the way Linux does: int3, sync, tails, sync, heads, sync.\nnaive = True writes byte by byte with no protocol while other CPUs run: they may execute torn instructions."},
		{name: "hot", sig: "(cpus, calls = 0)", fn: kernelHot,
			doc: "Starts kthreads hot/N on a list of CPUs that call kscope_hot without end, or calls times: a function to patch under load."},
		{name: "disasm", sig: "(x, n = 8, bytes = True, marks = True) -> string", fn: kernelDisasm,
			doc: "Disassembles n instructions at x. marks tell ftrace call sites, what patched them, and int3s."},
		{name: "patches", sig: "() -> [Patch]", fn: kernelPatches,
			doc: "Lists the changes of text since boot, oldest first; printing one tells its story. The newest are kept, some 3,600 of one site\nor 120 full batches; .nr counts them from 0, so the first one's says how many older ones are gone.\n.pokes are the sites (addr, old, new, by); .steps the moments (kind, time, cpu, pid, comm, writes) with who saw them:\n.acks which CPU passed its sync when, .hits which ran into the transient int3, .stale which held old bytes.\nThe order of the list is the true one. CPU clocks differ by up to a slice, 1 us: what one CPU did later may have an earlier time."},
		{name: "dmesg", sig: "() -> string", fn: kernelDmesg, doc: "The guest's log, as dmesg prints it."},
		{name: "log", sig: "(fn) -> On", fn: kernelLog,
			doc: "Calls fn(ctx) for each line that the kernel prints: ctx.text, .level (0 to 7), .ts, .line as dmesg shows it."},
		{name: "state_hash", sig: "() -> int", fn: kernelStateHash,
			doc: "A hash of memory, registers, pending interrupts and time; patched text counts as its original."},
		{name: "fork", sig: "(seed = None) -> Machine", fn: kernelFork,
			doc: "A copy of the machine: the same future, or another one by a seed. The original is unchanged."},
		{name: "snapshot", sig: "() -> Machine", fn: func(c *call) (starlark.Value, error) {
			if err := c.unpack(); err != nil {
				return nil, err
			}
			return kernelFork(c)
		}, doc: "A copy of the machine as it is now, to come back to: kernel.restore(snapshot). It is what fork() makes."},
		{name: "restore", sig: "(machine)", fn: kernelRestore,
			doc: "Makes a copy of machine the one that kernel.*, tracer.* and fs.* act on: m = kernel.fork() ... kernel.restore(m).\nHandlers of on() go over to it; those of host hooks stay with the old machine as well."},
		{name: "checkpoints", sig: "(every = None, keep = 100) -> [int]", fn: kernelCheckpoints,
			doc: "Has a copy of the machine made every so many ns while it runs, and gives the times of those that are there; 0 ends that.\nThe oldest go when there are more than keep. The guest's future is the same with them and without."},
		{name: "rewind", sig: "(to) -> Stop", fn: kernelRewind,
			doc: "Makes the machine the one that it was at time to, in ns, or at a Record's or Stop's time: the latest checkpoint before it,\nrun up to there. What follows is the same run again, until something is done differently: attach a handler, and look.\nHandlers of on() go over to it, as with kernel.restore, and see the stretch from the checkpoint on again."},
		{name: "now", sig: "-> int", get: func(g *Guest) (starlark.Value, error) { return unum(g.M.Now()), nil },
			doc: "Virtual time in ns since power-on."},
		{name: "insns", sig: "-> int", get: func(g *Guest) (starlark.Value, error) { return unum(g.M.Insns()), nil },
			doc: "Instructions executed by all CPUs since power-on; tracing's own are not counted."},
		{name: "halted", sig: "-> bool", get: func(g *Guest) (starlark.Value, error) { return starlark.Bool(g.M.Dead()), nil },
			doc: "Whether the guest has panicked: nothing can run any more, memory and the log can be looked at."},
		{name: "cpus", sig: "-> [Cpu]", get: kernelCPUs,
			doc: "The CPUs: .id, .now, .insns, .pc, .task, .irqs_off, .preempt, .user, .regs."},
	}
}

func kernelDmesg(c *call) (starlark.Value, error) {
	if err := c.unpack(); err != nil {
		return nil, err
	}
	var b strings.Builder
	for _, l := range c.g.M.Dmesg() {
		fmt.Fprintln(&b, l)
	}
	return str(b.String()), nil
}

func kernelStateHash(c *call) (starlark.Value, error) {
	if err := c.unpack(); err != nil {
		return nil, err
	}
	return unum(c.g.M.StateHash()), nil
}

func kernelFork(c *call) (starlark.Value, error) {
	var seed starlark.Value
	if err := c.unpack("seed?", &seed); err != nil {
		return nil, err
	}
	if err := c.ready(); err != nil {
		return nil, err
	}
	if seed == nil || seed == starlark.None {
		return c.forked(c.g.M.Copy())
	}
	var n uint64
	if err := starlark.AsInt(seed, &n); err != nil {
		return nil, c.errorf("seed: %v", err)
	}
	return c.forked(c.g.M.Fork(n))
}

func (c *call) forked(m *kernel.Machine) (starlark.Value, error) {
	g, err := c.g.fork(m)
	if err != nil {
		return nil, c.fail(err, "", nil)
	}
	return &machine{g}, nil
}

// kernelRestore makes a copy of a machine the default one.
func kernelRestore(c *call) (starlark.Value, error) {
	var v starlark.Value
	if err := c.unpack("machine", &v); err != nil {
		return nil, err
	}
	m, ok := v.(*machine)
	if !ok {
		return nil, c.errorf("got %s, want a Machine, such as kernel.fork() gives", v.Type())
	}
	if err := c.ready(); err != nil {
		return nil, err
	}
	if m.g.busy {
		return nil, c.errorf("that machine is running")
	}
	g, err := m.g.fork(m.g.M.Copy())
	if err != nil {
		return nil, c.fail(err, "", nil)
	}
	return starlark.None, g.env.become(g)
}

// become makes a guest the default one; the handlers of the one before go over to it.
func (e *Env) become(g *Guest) error {
	old := e.guest
	if e.guest = g; old == nil {
		return nil
	}
	return e.rearm(old, g)
}

// kernelCPUs shows the CPUs as they stand.
func kernelCPUs(g *Guest) (starlark.Value, error) {
	var cpus []starlark.Value
	for id := range g.M.NumCPU() {
		cpus = append(cpus, cpuRecord(g, g.M.VCPU(id)))
	}
	return starlark.NewList(cpus), nil
}

func cpuRecord(g *Guest, v *kernel.VCPU) starlark.Value {
	cur := v.Current()
	task := fmt.Sprintf("%s-%d", cur.Comm, cur.Pid)
	regs := &record{typ: "Regs"}
	for i, name := range registers {
		regs.fields = append(regs.fields, field{name, unum(v.CPU.Reg(i))})
	}
	regs.fields = append(regs.fields, field{"ip", unum(v.CPU.RIP())}, field{"flags", unum(v.CPU.Flags())})
	regs.text = regsText(regs)
	return &record{
		typ: "Cpu",
		fields: []field{
			{"id", num(v.ID)}, {"now", unum(v.Now())}, {"insns", unum(v.CPU.Insns)}, {"pc", unum(v.CPU.RIP())},
			{"task", str(task)}, {"pid", num(cur.Pid)}, {"comm", str(cur.Comm)}, {"irqs_off", starlark.Bool(v.IRQsOff())},
			{"preempt", unum(v.PreemptCount() &^ (1 << 31))}, {"user", starlark.Bool(v.CPU.CPL() == 3)}, {"regs", regs},
		},
		text: fmt.Sprintf("<cpu%d at %s: %s, %s>", v.ID, seconds(v.Now()), task, g.where(v)),
	}
}

// where is the symbol at a CPU's pc, or "user code".
func (g *Guest) where(v *kernel.VCPU) string {
	if v.CPU.CPL() == 3 {
		return "user code"
	}
	return g.M.Symbols().Format(v.CPU.RIP())
}

// registers are the general registers in the numbering of package x86, by pt_regs' names.
var registers = [...]string{"ax", "cx", "dx", "bx", "sp", "bp", "si", "di", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15"}

func regsText(r *record) string {
	var b strings.Builder
	for i, f := range r.fields {
		n, _ := f.value.(starlark.Int).Uint64()
		sep := "  "
		if i%4 == 3 || i == len(r.fields)-1 {
			sep = "\n"
		}
		fmt.Fprintf(&b, "%-5s %016x%s", f.name, n, sep)
	}
	return strings.TrimRight(b.String(), "\n")
}
