package ftrace

import (
	"strings"

	"kscope/kernel"
)

// option is a bit of trace_options.
type option uint

// The options in Linux's order; see TRACE_FLAGS in kernel/trace/trace.h.
const (
	optPrintParent option = iota
	optSymOffset
	optSymAddr
	optVerbose
	optRaw
	optHex
	optBin
	optBlock
	optPrintk
	optAnnotate
	optUserStack
	optSymUserobj
	optPrintkMsgOnly
	optContextInfo
	optLatencyFmt
	optRecordCmd
	optRecordTgid
	optOverwrite
	optDisableOnFree
	optIrqInfo
	optMarkers
	optEventFork
	optPauseOnTrace
	optHashPtr
	optFunction
	optFunctionFork
	optDisplayGraph
	optStacktrace
	optNopAccept
	optNopRefuse
	optFuncStack
	optFuncNoRepeats
	optGraphOverrun
	optGraphCPU
	optGraphOverhead
	optGraphProc
	optGraphDuration
	optGraphAbstime
	optGraphIrqs
	optGraphTail
	optSleepTime
	optGraphTime
	optGraphRetval
	optGraphRetvalHex
	optGraphRetaddr
	optGraphArgs
	numOptions
)

type options uint64

// optionRow tells an option's name, its state at boot, and why it cannot leave that state.
type optionRow struct {
	name   string
	on     bool
	tracer string                         // "": of every tracer; else listed in trace_options with that tracer only
	why    string                         // not "": writing the other state is EINVAL, for this reason
	top    bool                           // no file of it in instances
	need   string                         // the feature that it is of; "": it is in 6.1
	set    func(t *Tracer, on bool) error // after the bit has changed; nil: nothing more to do
}

var optionRows = [numOptions]optionRow{
	optPrintParent:    {name: "print-parent", on: true},
	optSymOffset:      {name: "sym-offset"},
	optSymAddr:        {name: "sym-addr"},
	optVerbose:        {name: "verbose"},
	optRaw:            {name: "raw"},
	optHex:            {name: "hex"},
	optBin:            {name: "bin"},
	optBlock:          {name: "block"},
	optPrintk:         {name: "trace_printk", on: true, top: true},
	optAnnotate:       {name: "annotate", on: true},
	optUserStack:      {name: "userstacktrace"},
	optSymUserobj:     {name: "sym-userobj"},
	optPrintkMsgOnly:  {name: "printk-msg-only", top: true},
	optContextInfo:    {name: "context-info", on: true},
	optLatencyFmt:     {name: "latency-format"},
	optRecordCmd:      {name: "record-cmd", on: true, top: true},
	optRecordTgid:     {name: "record-tgid", set: (*Tracer).setRecordTgid},
	optOverwrite:      {name: "overwrite", on: true, set: (*Tracer).setOverwrite},
	optDisableOnFree:  {name: "disable_on_free"},
	optIrqInfo:        {name: "irq-info", on: true},
	optMarkers:        {name: "markers", on: true},
	optEventFork:      {name: "event-fork", set: (*Tracer).setFollow},
	optPauseOnTrace:   {name: "pause-on-trace"},
	optHashPtr:        {name: "hash-ptr", on: true},
	optFunction:       {name: "function-trace", on: true, set: (*Tracer).setFunctionTrace},
	optFunctionFork:   {name: "function-fork", set: (*Tracer).setFollow},
	optDisplayGraph:   {name: "display-graph"},
	optStacktrace:     {name: "stacktrace"},
	optNopAccept:      {name: "test_nop_accept", tracer: "nop"},
	optNopRefuse:      {name: "test_nop_refuse", tracer: "nop", why: "it is there to be refused"},
	optFuncStack:      {name: "func_stack_trace", tracer: "function"},
	optFuncNoRepeats:  {name: "func-no-repeats", tracer: "function", set: (*Tracer).setNoRepeats},
	optGraphOverrun:   {name: "funcgraph-overrun", tracer: "function_graph", top: true},
	optGraphCPU:       {name: "funcgraph-cpu", on: true, tracer: "function_graph", top: true},
	optGraphOverhead:  {name: "funcgraph-overhead", on: true, tracer: "function_graph", top: true},
	optGraphProc:      {name: "funcgraph-proc", tracer: "function_graph", top: true},
	optGraphDuration:  {name: "funcgraph-duration", on: true, tracer: "function_graph", top: true},
	optGraphAbstime:   {name: "funcgraph-abstime", tracer: "function_graph", top: true},
	optGraphIrqs:      {name: "funcgraph-irqs", on: true, tracer: "function_graph", top: true},
	optGraphTail:      {name: "funcgraph-tail", tracer: "function_graph", top: true},
	optSleepTime:      {name: "sleep-time", on: true, tracer: "function_graph", top: true},
	optGraphTime:      {name: "graph-time", on: true, tracer: "function_graph", top: true}, // with CONFIG_FUNCTION_PROFILER
	optGraphRetval:    {name: "funcgraph-retval", tracer: "function_graph", top: true, need: featureRetval},
	optGraphRetvalHex: {name: "funcgraph-retval-hex", tracer: "function_graph", top: true, need: featureRetval},
	optGraphRetaddr:   {name: "funcgraph-retaddr", tracer: "function_graph", top: true, need: featureRetaddr},
	optGraphArgs:      {name: "funcgraph-args", tracer: "function_graph", top: true, need: featureArgs},
}

// listed says whether trace_options knows the option now.
func (r *optionRow) listed(t *Tracer) bool {
	return (r.tracer == "" || r.tracer == t.current.name) && (r.need == "" || t.feature(r.need))
}

func defaultOptions() (o options) {
	for i := range optionRows {
		if optionRows[i].on {
			o |= 1 << i
		}
	}
	return o
}

func (t *Tracer) opt(o option) bool { return t.options>>o&1 != 0 }

// setOption changes one option.
func (t *Tracer) setOption(o option, on bool) error {
	row := &optionRows[o]
	switch {
	case t.opt(o) == on:
		return nil
	case row.why != "":
		return kernel.EINVAL
	}
	t.options ^= 1 << o
	if row.set != nil {
		return row.set(t, on)
	}
	return nil
}

// setOptionWord is a write of trace_options: a name, or "no" and a name. Options of other tracers are unknown then.
func (t *Tracer) setOptionWord(word string) error {
	word = strings.TrimSpace(word)
	on := true
	if rest, ok := strings.CutPrefix(word, "no"); ok {
		word, on = rest, false
	}
	for i := range optionRows {
		if row := &optionRows[i]; row.name == word && row.listed(t) {
			if row.why != "" {
				return kernel.EINVAL // of its own state too: the tracer is always asked (__set_tracer_option)
			}
			return t.setOption(option(i), on)
		}
	}
	return kernel.EINVAL
}

func (t *Tracer) optionsText(b []byte) []byte {
	for i := range optionRows {
		row := &optionRows[i]
		if !row.listed(t) {
			continue
		}
		if !t.opt(option(i)) {
			b = append(b, "no"...)
		}
		b = append(append(b, row.name...), '\n')
	}
	return b
}

func (t *Tracer) setOverwrite(on bool) error {
	for i := range t.cpu {
		t.cpu[i].ring.SetOverwrite(on)
		if t.cpu[i].snap != nil {
			t.cpu[i].snap.SetOverwrite(on)
		}
	}
	return nil
}

func (t *Tracer) setRecordTgid(bool) error {
	if t.cmdline.tgids == nil {
		t.cmdline.tgids = map[int32]int32{}
	}
	t.forgetSaved()
	return nil
}

// setFunctionTrace takes the current tracer off its functions, or puts it back.
func (t *Tracer) setFunctionTrace(on bool) error {
	if t.current != &tracers[functionTracer] {
		return nil
	}
	if on {
		return t.startFunctions()
	}
	return t.sites.Unregister(t.ops)
}

// setNoRepeats forgets which call each CPU made last.
func (t *Tracer) setNoRepeats(bool) error {
	for i := range t.cpu {
		t.cpu[i].last = lastCall{}
	}
	return nil
}

// forgetSaved makes each CPU save its task's name again.
func (t *Tracer) forgetSaved() {
	for i := range t.cpu {
		t.cpu[i].saved = tracedTask{}
	}
}
