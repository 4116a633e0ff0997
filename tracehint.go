package main

import (
	"io"

	"kscope/ftrace"
	"kscope/kernel"
)

// endlessHint is for who reads trace while reading it is what is traced: Linux goes on for ever too, in silence.
const endlessHint = "kscope: trace has grown by 100,000 lines since its reader began: reading it may be what is traced, and then never ends, as on Linux; " +
	"before reading: echo 0 > tracing_on, or echo 1 > options/pause-on-trace\n"

// hintEndless has the shell say so, once. The guest does not notice.
func hintEndless(m *kernel.Machine, errs io.Writer) {
	if t, ok := ftrace.Of(m); ok {
		t.OnEndless(func() { io.WriteString(errs, endlessHint) })
	}
}
