// Package ftrace is dynamic function tracing on the bytes of a kernel.Machine, and the files of tracefs.
//
// Main types: [Sites] (one per machine: call sites, ops, trampolines), [Record] (one call site), [Ops] (a callback with its
// filter and notrace [Hash]), [Tracer] (Linux's trace_array: rings, options, current tracer), [File] (a row of the tracefs
// table), [Handle] (an open file).
//
// The flow:
//
//  1. Boot calls gate ftrace_process_locs: every `call __fentry__` of __mcount_loc becomes a nop and a [Record]
//     (record.go).
//  2. A tracer registers its Ops. [Sites] computes for each record which ops want it: none (nop), one (a call of that op's
//     own trampoline) or several (a call of the shared ftrace_caller), and queues the differences at the machine's text
//     patcher; guest C writes them (ops.go, trampoline.go).
//  3. The guest runs into a patched site: machine code of the trampoline saves registers and calls a gate, which is Go:
//     function_trace_call or arch_ftrace_ops_list_func (gates.go). It writes an event into the CPU's ring (write.go). What that
//     code does before its gate and behind is done in one step where nothing can be seen between its instructions (trampoline.go, prologue.go; x86.Trampoline).
//     Events are jump labels instead: the first tracer that wants one has its nop made a jump (tracepoint.go), behind which
//     the gate __traceiter_NAME fills the record as the image's own rows say (tracepoint_image.go; trace_printk: printk.go).
//     With triggers (trigger.go) the record is shown to them first: they stop tracing, take stacks and snapshots, wake other events,
//     or count it in a histogram (hist.go), whose actions may make synthetic events happen (synth.go).
//  4. Readers merge the rings by time and print Linux 6.1's text (iter.go, output.go).
//
// Everything a user can reach is a file of one table (files_*.go), which the guest opens through the tracefs_* gates and
// Go opens directly (fs.go). Errors are kernel.Errno with Linux's meaning.
//
// All of it belongs to the machine's goroutine. Only the rings' consuming reads may come from another one.
package ftrace

import (
	"kscope/ftrace/event"
	"kscope/ftrace/ring"
	"kscope/kernel"
)

// defaultKB is the size of each CPU's ring once it is used (TRACE_BUF_SIZE_DEFAULT >> 10).
const defaultKB = 1408

// defaultPercent is buffer_percent at boot.
const defaultPercent = 50

// cpuState is what a Tracer keeps for each CPU.
type cpuState struct {
	ring    *ring.Buffer
	snap    *ring.Buffer // of the snapshot; nil: none
	readers [2]int       // open readers of trace, of snapshot: a ring with one keeps its size (resize_disabled)
	off     bool         // taken out by tracing_cpumask
	busy    uint8        // contexts that are inside the function tracer; see recursion
	recurse uint64

	commitOver uint64 // of the ring, as tellLost has seen it last
	saved      tracedTask
	last       lastCall // with func-no-repeats
}

// Tracer is one trace instance with its rings: Linux's trace_array.
type Tracer struct {
	m      *kernel.Machine
	sites  *Sites
	events *event.Set
	cpu    []cpuState
	lay    taskLayout
	guest  guestView

	on        bool   // tracing_on
	offs      uint64 // how often it was switched off by that file
	swaps     uint64 // snapshots so far
	stops     int    // open trace files that stop tracing: pause-on-trace
	expanded  bool   // the rings have their full size
	current   *tracerType
	options   options
	starting  bool // the function tracer records nothing until its sites are patched (function_enabled)
	clock     int  // index in clocks
	counter   uint64
	skew      []uint64 // by CPU, of the clock local; nil: none. The machine's tracer has it; it is replaced, never changed
	global    uint64
	probes    []*funcProbe    // function commands, the newest kind first
	mods      [2][]pendingMod // set_ftrace_filter and notrace: modules that are not there yet
	started   uint64          // when the rings were emptied last: time_start
	percent   uint64          // buffer_percent
	maxLat    uint64          // tracing_max_latency, in ns
	ops       *Ops            // Linux's global_ops: the function tracer with set_ftrace_filter's hashes
	graph     *graph          // the machine's
	grapher   *graphUser      // function_graph
	prof      *profiler       // the machine's
	stack     *stackTracer    // the machine's
	cmdline   *cmdlines
	errs      errorLog
	pids      pidLists
	piped     uint64 // CPUs whose events an open trace_pipe reads
	pipes     int    // open trace_pipe files: they fix the current tracer
	wait      waiters
	fs        *FS
	top       *Tracer   // nil: this is the machine's tracer
	name      string    // of an instance
	instances []*Tracer // by name
	opens     int       // open files of an instance

	points     *points                     // the machine's
	catalog    []*TraceEvent               // the machine's, by id
	eventForks map[*TraceEvent]*TraceEvent // of a fork: the original's events -> these
	uses       map[*TraceEvent]*eventUse
	eventsOn   int
	marker     *TraceEvent // ftrace:print, once somebody asks for its triggers; the machine's
	trigDepth  int         // events that are being shown to triggers, one within the other; the machine's tracer has it
	trigs      [maxTrigDepth]trigEvent
	histVars   []*hist         // histograms with variables, the newest first
	named      []*trigger      // histograms with names, of all tracers; the machine's tracer has it
	cond       *condSnapshot   // of a histogram's action
	synths     []*synthEvent   // the machine's, in order of making
	lastID     uint16          // the largest number of a new event; the machine's tracer has it
	stale      bool            // events have gone of which there may be records
	dynSeq     uint64          // of the last dynamic event
	eventPids  pidLists        // set_event_pid, set_event_notrace_pid
	view       *filterView     // nil: no filter has been asked yet
	printkUsed bool            // something that uses trace_printk has come
	formats    []uint64        // of trace_printk, that modules have brought along
	defined    []*event.Format // by Define
	keeper     *lossKeeper     // nil: losses are not kept
	dumped     []string        // lines of dumps that the guest has not printed yet: gateDumpLine
	printks    *printer        // for trace_printk; nil: not used yet
	markIP     uint64
	setCPU     int          // that started the function tracer last: array_buffer.cpu, which only the latency format shows
	lost       func(l Loss) // see OnLost
	losses     []*lossWatch
	endless    func() // see OnEndless
}

// guestView is what the text of a trace needs to know of the guest; tests of the text have one without a machine.
type guestView struct {
	symbol   func(addr uint64, offset bool) string
	online   func() int
	irqEntry func(addr uint64) bool // in .irqentry.text
	release  func() string          // uname -r
}

func viewOf(m *kernel.Machine) guestView {
	lo, _ := m.Symbols().Lookup("__irqentry_text_start")
	hi, _ := m.Symbols().Lookup("__irqentry_text_end")
	return guestView{
		irqEntry: func(addr uint64) bool { return lo <= addr && addr < hi },
		symbol:   func(addr uint64, offset bool) string { return symbolText(m.Symbols(), addr, offset) },
		release: func() string {
			o, err := m.Var("init_uts_ns", 0)
			if err != nil {
				return "6.1.0-kscope"
			}
			if o, err = o.Path("name", "release"); err != nil {
				return "6.1.0-kscope"
			}
			s, _ := o.Text()
			return s
		},
		online: func() (n int) {
			for i := range m.NumCPU() {
				n += b2i(m.Online(i))
			}
			return n
		},
	}
}

// New attaches a tracer to a machine that has not booted yet and registers its gates.
func New(m *kernel.Machine) (*Tracer, error) {
	t := &Tracer{m: m, guest: viewOf(m), events: event.NewSet(), on: true, current: &tracers[nopTracer], options: defaultOptions(), percent: defaultPercent}
	var err error
	if t.sites, err = newSites(m); err != nil {
		return nil, err
	}
	if t.lay, err = newTaskLayout(m); err != nil {
		return nil, err
	}
	for _, id := range []uint16{event.IDGraphEntry, event.IDGraphExit} {
		f := t.events.ByID(id)
		if x := t.withExtra(f); x != f {
			t.events.Remove(f)
			t.events.Add(x)
		}
	}
	t.cpu = make([]cpuState, m.NumCPU())
	for i := range t.cpu {
		t.cpu[i].ring = ring.New(ring.MinPages)
	}
	t.ops = &Ops{Name: "function", Gate: "function_trace_call"}
	t.bind(t.ops)
	t.graph = newGraph(t)
	t.grapher, t.prof = t.graph.newUser(t, "function_graph", nil), newProfiler(t)
	t.stack = newStackTracer(t)
	t.cmdline = newCmdlines(defaultCmdlines)
	if t.markIP, err = markAddress(m); err != nil {
		return nil, err
	}
	t.fs = newFS(t)
	if t.points, err = newPoints(t); err != nil {
		return nil, err
	}
	t.registerGates()
	m.OnModule(t.onModule)
	m.Attach(t)
	return t, nil
}

// Fork copies the tracer for a copy of its machine: kernel.Part.
func (t *Tracer) Fork(m *kernel.Machine) kernel.Part {
	n := &Tracer{}
	*n = *t
	n.m, n.guest = m, viewOf(m)
	n.events = t.events.Fork()
	n.sites = t.sites.fork(m)
	n.copyOwn(t)
	n.graph = t.graph.fork(n)
	n.grapher, n.prof = t.grapher.fork(n.graph, n, nil), t.prof.fork(n)
	n.stack = t.stack.fork(n)
	n.cmdline = t.cmdline.fork()
	n.instances = make([]*Tracer, len(t.instances))
	for i, x := range t.instances {
		n.instances[i] = x.forkInstance(n)
	}
	n.forkEvents(t)
	n.fs = t.fs.fork(n)
	for _, x := range n.instances {
		x.fs = n.fs
	}
	n.points = t.points.fork(n)
	n.registerGates()
	m.OnModule(n.onModule)
	return n
}

// Of finds the tracer that New attached to m.
func Of(m *kernel.Machine) (*Tracer, bool) { return kernel.PartOf[*Tracer](m) }

// Machine is the machine that is traced.
func (t *Tracer) Machine() *kernel.Machine { return t.m }

// Sites are the machine's call sites and ops.
func (t *Tracer) Sites() *Sites { return t.sites }

// Events are the events that the rings may hold; others add theirs.
func (t *Tracer) Events() *event.Set { return t.events }

// FS is the tracefs of this tracer.
func (t *Tracer) FS() *FS { return t.fs }

// markAddress is the address that trace_marker's events carry. The write path of this tracefs is a gate, so an image that
// has no function tracing_mark_write gets the name on a piece of shadow text.
func markAddress(m *kernel.Machine) (uint64, error) {
	const name = "tracing_mark_write"
	if va, ok := m.Symbols().Lookup(name); ok {
		return va, nil
	}
	va, err := m.ShadowAlloc(16, name)
	if err != nil {
		return 0, err
	}
	m.Symbols().Add(kernel.Sym{Name: name, Addr: va, Size: 16, ELFSize: 16, Kind: 't', Section: ".shadow"})
	return va, nil
}

func cloneMap[K comparable, V any](m map[K]V) map[K]V {
	n := make(map[K]V, len(m))
	for k, v := range m {
		n[k] = v
	}
	return n
}
