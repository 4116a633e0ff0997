package ftrace

import (
	"fmt"
	"slices"
	"strings"
)

// errorLog is error_log: the last errors that a written command got, with a caret. See tracing_log_err.
type errorLog struct {
	list []loggedError
}

type loggedError struct {
	ts             uint64
	loc, text, cmd string
	pos            int
}

const maxErrors = 8 // TRACING_LOG_ERRS_MAX

func (l *errorLog) fork() errorLog { return errorLog{slices.Clone(l.list)} }

// LogError adds an entry: loc is the part of ftrace ("trace_kprobe"), text the message, pos the offset of the caret in cmd.
func (t *Tracer) LogError(ts uint64, loc, text, cmd string, pos int) {
	l := &t.errs
	if len(l.list) == maxErrors {
		l.list = append(l.list[:0], l.list[1:]...)
	}
	l.list = append(l.list, loggedError{ts, loc, text, cmd, pos})
}

func (l *errorLog) text(b []byte) []byte {
	for _, e := range l.list {
		b = fmt.Appendf(b, "[%5d.%06d] %s: error: %s\n  Command: %s\n%s^\n", e.ts/1e9, e.ts%1e9/1e3, e.loc, e.text, e.cmd,
			strings.Repeat(" ", len("  Command: ")+e.pos))
	}
	return b
}
