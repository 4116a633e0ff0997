package ftrace

import (
	"fmt"
	"strings"

	"kscope/ftrace/event"
	"kscope/kernel"
)

// files is the tracefs table, in order of path. Modes, texts and errnos are Linux 6.1's (oracle: k-listing, a-function,
// e-filter, g-buffer). Packages above add rows with FS.AddFile.
var files = [...]File{
	{Path: "README", Top: true, Mode: 0o440, Text: readme, Doc: "what the files here are",
		Partial: "lists the files that exist here, each in a line, not Linux's mini-HOWTO"},
	{Path: "available_events", Top: true, Mode: 0o440, Text: availableEvents, Doc: "events that can be switched on"},
	{Path: "available_filter_functions", Top: true, Mode: 0o440, Text: availableFunctions, Doc: "functions that can be traced and filtered on"},
	{Path: "available_tracers", Mode: 0o440, Text: availableTracers, Doc: "tracers for current_tracer"},
	{Path: "buffer_percent", Mode: 0o640, Text: percentText, Write: writePercent,
		Doc: "how full a CPU's ring must be to wake splice(2) of its trace_pipe_raw and poll(2) of that and trace_pipe, in percent"},
	{Path: "buffer_size_kb", Mode: 0o640, Text: bufferSize, Write: writeBufferSize, Doc: "KiB of each CPU's ring; X when they differ"},
	{Path: "buffer_total_size_kb", Mode: 0o440, Text: bufferTotal, Doc: "KiB of all rings"},
	{Path: "current_tracer", Mode: 0o640, Text: currentTracer, Write: writeCurrentTracer, Doc: "the tracer that is active"},
	{Path: "dyn_ftrace_total_info", Top: true, Mode: 0o440, Text: totalInfo, Doc: "number of call sites, and the pages Linux would keep them in"},
	{Path: "enabled_functions", Top: true, Mode: 0o440, Text: enabledFunctions, Doc: "functions that are patched: how many tracers, flags, trampoline"},
	{Path: "error_log", Mode: 0o640, Open: openErrorLog, Text: errorLogText, Write: accept, Doc: "errors of the last written commands; write to clear"},
	{Path: "events/enable", Mode: 0o640, Text: systemEnableText, Write: writeSystemEnable, Doc: "all events: 0, 1, or X when they differ"},
	{Path: "events/ftrace/*/format", Mode: 0o440, Each: coreEvents, Text: eventFormat, Doc: "fields of a record of this event"},
	{Path: "events/ftrace/*/hist", Mode: 0o440, Each: coreEvents, Text: coreHistText, Doc: "as of other events; only those of print can be made"},
	{Path: "events/ftrace/*/id", Mode: 0o440, Each: idEvents, Text: eventID, Doc: "number of this event in records"},
	{Path: "events/ftrace/print/trigger", Mode: 0o640, Open: openTrigger, Text: triggerText, Write: writeTrigger,
		Doc: "as of other events: what happens with each write to trace_marker"},
	{Path: "events/header_event", Once: true, Mode: 0o440, Text: constText(event.HeaderEvent), Doc: "format of an event's header in a ring page"},
	{Path: "events/header_page", Once: true, Mode: 0o440, Text: constText(event.HeaderPage), Doc: "format of a ring page's header"},
	{Path: "free_buffer", Mode: 0o200, Write: accept, Close: closeFree, Doc: "when it is closed the rings shrink to the least"},
	{Path: "function_profile_enabled", Top: true, Mode: 0o640, Text: profileEnabledText, Write: writeProfileEnabled,
		Doc: "whether the function profiler counts hits and times into trace_stat/: 0 or 1; not while function_graph is on"},
	{Path: "max_graph_depth", Top: true, Mode: 0o640, Text: graphDepthText, Write: writeGraphDepth, Doc: "how deep function_graph looks; 0: all"},
	{Path: "options/*", Mode: 0o640, Each: optionNames, Text: optionText, Write: writeOption, Doc: "one option: 0 or 1"},
	{Path: "per_cpu/*/buffer_size_kb", Mode: 0o640, Each: cpuNames, Text: cpuBufferSize, Write: writeBufferSize, Doc: "KiB of this CPU's ring"},
	{Path: "per_cpu/*/snapshot", Mode: 0o640, Each: cpuNames, Open: openSnapshot, Read: readTrace, Write: writeSnapshot, Close: closeTrace, Doc: "as snapshot, of this CPU"},
	{Path: "per_cpu/*/snapshot_raw", Mode: 0o440, Each: cpuNames, Open: openSnapshotRaw, Read: readRaw, Ready: rawReady, Splice: spliceRaw, SpliceReady: rawSpliceReady, Close: closePipe,
		Doc: "the pages of this CPU's snapshot, binary, each read once"},
	{Path: "per_cpu/*/stats", Mode: 0o440, Each: cpuNames, Text: cpuStats, Doc: "counters of this CPU's ring"},
	{Path: "per_cpu/*/trace", Mode: 0o640, Each: cpuNames, Open: openTrace, Read: readTrace, Write: accept, Close: closeTrace, Doc: "as trace, of this CPU"},
	{Path: "per_cpu/*/trace_pipe", Mode: 0o440, Each: cpuNames, Open: openPipe, Read: readPipe, Ready: pipeReady, Splice: splicePipe, Close: closePipe,
		Doc: "as trace_pipe, of this CPU"},
	{Path: "per_cpu/*/trace_pipe_raw", Mode: 0o440, Each: cpuNames, Open: openRaw, Read: readRaw, Ready: rawReady, Splice: spliceRaw, SpliceReady: rawSpliceReady, Close: closePipe,
		Doc: "the ring's pages of this CPU, binary, each read once"},
	{Path: "printk_formats", Top: true, Mode: 0o440, Text: printkFormats, Doc: "formats of trace_printk, by the address that records hold"},
	{Path: "saved_cmdlines", Top: true, Mode: 0o440, Text: savedCmdlines, Doc: "names of traced tasks by pid"},
	{Path: "saved_cmdlines_size", Top: true, Mode: 0o640, Text: cmdlinesSize, Write: writeCmdlinesSize, Doc: "number of names that are kept"},
	{Path: "saved_tgids", Top: true, Mode: 0o440, Text: savedTgids, Doc: "thread groups of traced tasks, with option record-tgid"},
	{Path: "set_event", Mode: 0o640, Open: openSetEvent, Text: setEventText, Write: writeSetEvent,
		Doc: "events that are on; SYSTEM:EVENT, or * for either, switches on, !SYSTEM:EVENT off"},
	{Path: "set_event_notrace_pid", Mode: 0o640, Open: openPids, Text: pidsText, Write: writePids, Doc: "tasks whose events are not recorded"},
	{Path: "set_event_pid", Mode: 0o640, Open: openPids, Text: pidsText, Write: writePids, Doc: "tasks whose events are recorded, when not all are"},
	{Path: "set_ftrace_filter", Mode: 0o640, Open: openFilter, Text: filterText, Write: writeFilter, Close: closeFilter,
		Doc: "functions to trace: names, globs, numbers; !name takes out; applies at close"},
	{Path: "set_ftrace_notrace", Mode: 0o640, Open: openFilter, Text: filterText, Write: writeFilter, Close: closeFilter,
		Doc: "functions not to trace"},
	{Path: "set_ftrace_notrace_pid", Mode: 0o640, Open: openPids, Text: pidsText, Write: writePids, Doc: "tasks whose functions are not traced"},
	{Path: "set_ftrace_pid", Mode: 0o640, Open: openPids, Text: pidsText, Write: writePids, Doc: "tasks whose functions are traced, when not all are"},
	{Path: "set_graph_function", Top: true, Mode: 0o640, Open: openGraph, Text: graphText, Write: writeGraph, Close: closeGraph,
		Doc: "functions whose graphs are traced, when not all are"},
	{Path: "set_graph_notrace", Top: true, Mode: 0o640, Open: openGraph, Text: graphText, Write: writeGraph, Close: closeGraph,
		Doc: "functions whose graphs are left out"},
	{Path: "snapshot", Mode: 0o640, Open: openSnapshot, Read: readTrace, Write: writeSnapshot, Close: closeTrace,
		Doc: "the trace as it was when 1 was written; 0 frees it, 2 clears it"},
	{Path: "stack_max_size", Top: true, Mode: 0o640, Text: stackMaxText, Write: writeStackMax, Doc: "bytes of the deepest stack; write what it must exceed from now on"},
	{Path: "stack_trace", Top: true, Mode: 0o440, Text: stackTraceText, Doc: "the deepest stack, while sysctl stack_tracer_enabled is 1"},
	{Path: "stack_trace_filter", Top: true, Mode: 0o640, Open: openStackFilter, Text: stackFilterText, Write: writeStackFilter, Close: closeStackFilter,
		Doc: "functions at which the stack tracer looks; as set_ftrace_filter"},
	{Path: "synthetic_events", Top: true, Mode: 0o640, Open: openSynths, Text: synthsText, Write: writeSynths,
		Doc: "events that actions of histograms make happen: NAME TYPE FIELD[; TYPE FIELD]…, !NAME takes one away"},
	{Path: "timestamp_mode", Mode: 0o440, Text: constText("[delta] absolute\n"), Doc: "how times are kept in the ring"},
	{Path: "trace", Mode: 0o640, Open: openTrace, Read: readTrace, Write: accept, Close: closeTrace, Doc: "the events, as text; > trace clears them"},
	{Path: "trace_clock", Mode: 0o640, Text: clockText, Write: writeClock, Doc: "the clock of the events; a change clears them",
		Partial: "perf, mono, mono_raw and boot are the CPU's virtual time, as local without skew"},
	{Path: "trace_marker", Mode: 0o220, Write: writeMarker, Doc: "text written here becomes an event"},
	{Path: "trace_marker_raw", Mode: 0o220, Write: writeMarkerRaw, Doc: "an u32 and data written here become an event"},
	{Path: "trace_options", Mode: 0o640, Text: optionsFile, Write: writeOptions, Doc: "all options; write NAME or noNAME"},
	{Path: "trace_pipe", Mode: 0o440, Open: openPipe, Read: readPipe, Ready: pipeReady, Splice: splicePipe, Close: closePipe,
		Doc: "the events, as text, each read once; a read waits for the next event"},
	{Path: "trace_stat/*", Top: true, Mode: 0o640, Each: statNames, Text: profileStat, Write: refuse, Doc: "hits and times of functions on this CPU, the longest first"},
	{Path: "tracing_cpumask", Whole: true, Mode: 0o640, Text: cpumaskText, Write: writeCpumask, Doc: "CPUs that are traced, as a hexadecimal mask"},
	{Path: "tracing_max_latency", Mode: 0o640, Text: maxLatencyText, Write: writeMaxLatency, Doc: "longest latency seen, in microseconds",
		Partial: "kept only: there is no latency tracer"},
	{Path: "tracing_on", Mode: 0o640, Text: tracingOn, Write: writeTracingOn, Doc: "whether the rings record: 0 or 1"},
	{Path: "tracing_thresh", Top: true, Mode: 0o640, Text: threshText, Write: writeThresh,
		Doc: "function_graph only shows exits of functions that took so many microseconds; 0: all"},
}

func constText(s string) func(h *Handle, b []byte) ([]byte, error) {
	return func(_ *Handle, b []byte) ([]byte, error) { return append(b, s...), nil }
}

// accept takes any write for nothing, as tracing_write_stub does: what matters was done at open.
func accept(_ *Handle, p []byte) (int, error) { return len(p), nil }

// refuse is a file that could be written to by its mode and has no write: vfs_write's EINVAL.
func refuse(*Handle, []byte) (int, error) { return 0, kernel.EINVAL }

func cpuNames(t *Tracer) (names []string) {
	for i := range t.cpu {
		names = append(names, fmt.Sprintf("cpu%d", i))
	}
	return names
}

func statNames(t *Tracer) (names []string) {
	for i := range t.cpu {
		names = append(names, fmt.Sprintf("function%d", i))
	}
	return names
}

func coreEvents(*Tracer) (names []string) {
	for _, list := range [][]event.Format{event.Core, event.Foreign} {
		for i := range list {
			names = append(names, list[i].Name)
		}
	}
	return names
}

// idEvents are the events of events/ftrace with a number to read: those that perf could register (event_create_dir).
func idEvents(*Tracer) []string { return []string{"function", "print"} }

func optionNames(t *Tracer) (names []string) {
	for i := range optionRows {
		if row := &optionRows[i]; (t.top == nil || !row.top) && (row.need == "" || t.feature(row.need)) {
			names = append(names, optionRows[i].name)
		}
	}
	return names
}

// readme is README: the table itself.
func readme(h *Handle, b []byte) ([]byte, error) {
	b = append(b, "kscope's tracefs: the files of Linux 6.1's function tracing.\n\n"...)
	seen := map[string]bool{}
	for _, f := range h.T.fs.Rows() {
		path := f.Path
		if p := strings.Split(path, "/"); len(p) > 2 && p[0] == "events" && p[1] != "ftrace" { // the same for all events
			path = strings.Join(append([]string{"events", "*", "*"}[:len(p)-1], p[len(p)-1]), "/")
			if seen[path] {
				continue
			}
			seen[path] = true
		}
		b = fmt.Appendf(b, "  %-28s %s\n", path, f.Doc)
		if f.Partial != "" {
			b = fmt.Appendf(b, "  %-28s   (%s)\n", "", f.Partial)
		}
	}
	return b, nil
}

func coreEvent(name string) *event.Format {
	for _, list := range [][]event.Format{event.Core, event.Foreign} {
		for i := range list {
			if list[i].Name == name {
				return &list[i]
			}
		}
	}
	panic("BUG: ftrace: no core event " + name)
}

func eventFormat(h *Handle, b []byte) ([]byte, error) {
	return append(b, h.T.root().withExtra(coreEvent(h.Arg)).File()...), nil
}

func eventID(h *Handle, b []byte) ([]byte, error) {
	return fmt.Appendf(b, "%d\n", coreEvent(h.Arg).ID), nil
}

func savedCmdlines(h *Handle, b []byte) ([]byte, error) {
	h.T.freshNames()
	return h.T.cmdline.text(b), nil
}

func savedTgids(h *Handle, b []byte) ([]byte, error) { return h.T.tgidText(b), nil }

func cmdlinesSize(h *Handle, b []byte) ([]byte, error) {
	return fmt.Appendf(b, "%d\n", h.T.cmdline.size), nil
}

func writeCmdlinesSize(h *Handle, p []byte) (int, error) {
	n, err := parseUint(p, 10)
	if err == nil {
		err = h.T.cmdline.resize(n)
	}
	h.T.forgetSaved()
	return len(p), err
}

func openErrorLog(h *Handle) error {
	if h.Writable() && h.Flags&oTrunc != 0 {
		h.T.errs.list = nil
	}
	return nil
}

func errorLogText(h *Handle, b []byte) ([]byte, error) { return h.T.errs.text(b), nil }
