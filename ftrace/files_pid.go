package ftrace

import (
	"fmt"
	"slices"
	"strings"

	"kscope/kernel"
)

// pidLists are set_ftrace_pid and set_ftrace_notrace_pid: they filter function events by task (ftrace_filter_pid_…). Linux
// decides at each task switch and this tracer at each event, with the same result.
type pidLists struct {
	only, not map[int32]struct{}
}

func (l *pidLists) fork() pidLists { return pidLists{cloneSet(l.only), cloneSet(l.not)} }

func cloneSet(m map[int32]struct{}) map[int32]struct{} {
	if m == nil {
		return nil
	}
	return cloneMap(m)
}

// active says whether there is a list.
func (l *pidLists) active() bool { return l.only != nil || l.not != nil }

// ignores says whether a task's function events are left out.
func (l *pidLists) ignores(pid int32) bool {
	if _, ok := l.only[pid]; l.only != nil && !ok {
		return true
	}
	_, ok := l.not[pid]
	return ok
}

// maxPid is the room of Linux's sparse pid bitmap (kernel/trace/pid_list.h); the answer beyond it is an odd EPERM.
const maxPid = 1 << 30

func pidList(h *Handle) *map[int32]struct{} {
	switch h.File.Path {
	case "set_ftrace_notrace_pid":
		return &h.T.pids.not
	case "set_event_pid":
		return &h.T.eventPids.only
	case "set_event_notrace_pid":
		return &h.T.eventPids.not
	}
	return &h.T.pids.only
}

// openPids: O_TRUNC empties the list.
func openPids(h *Handle) error {
	if h.Writable() && h.Flags&oTrunc != 0 {
		*pidList(h) = nil
	}
	return nil
}

// writePids adds pids; a bad one fails the whole write (trace_pid_write).
func writePids(h *Handle, p []byte) (int, error) {
	list := cloneMap(*pidList(h))
	var w words
	add := func(word string) error {
		n, err := kstrtoul(word, 0)
		if err != nil {
			return kernel.EINVAL
		}
		if uint32(n) >= maxPid { // what stands above is cut off: 4294967297 is 1
			return kernel.EPERM
		}
		list[int32(uint32(n))] = struct{}{}
		return nil
	}
	err := w.write(p, add)
	if err == nil {
		if rest := w.rest(); rest != "" {
			err = add(rest)
		}
	}
	if err != nil {
		return 0, err
	}
	if len(list) > 0 {
		*pidList(h) = list
	}
	return len(p), nil
}

// noPids is the pid that the lists of functions' pids show as "no pid" (FTRACE_NO_PIDS in kernel/trace/ftrace.c).
const noPids = 4 << 20

func pidsText(h *Handle, b []byte) ([]byte, error) {
	list, ofEvents := *pidList(h), strings.HasPrefix(h.File.Path, "set_event")
	if list == nil {
		if ofEvents {
			return b, nil
		}
		return append(b, "no pid\n"...), nil
	}
	pids := make([]int32, 0, len(list))
	for pid := range list {
		pids = append(pids, pid)
	}
	slices.Sort(pids)
	for _, pid := range pids {
		if pid == noPids && !ofEvents {
			b = append(b, "no pid\n"...)
			continue
		}
		b = fmt.Appendf(b, "%d\n", pid)
	}
	return b, nil
}
