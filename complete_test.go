package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	"go.starlark.net/starlark"

	"kscope/lang"
)

// What Tab offers, on a real machine: the text before the cursor, one candidate that must be there, and one that must not.
func TestCompletion(t *testing.T) {
	opts, err := parseArgs(nil)
	if err != nil {
		t.Fatal(err)
	}
	h := (&program{opts: opts, snaps: testMachines}).host(io.Discard, "")
	if err := h.Eval("tracer.instance(\"mine\").set(\"nop\")"); err != nil {
		t.Fatal(err)
	}
	v, err := h.Value("kernel.task(1)")
	if err != nil {
		t.Fatal(err)
	}
	globals := starlark.StringDict{"init": v}
	for name, v := range h.Globals() {
		globals[name] = v
	}
	for _, c := range []struct{ before, want, not string }{
		{"ker", "kernel.", "kprobe."},
		{"kernel.di", "disasm(", "dmesg("},
		{"init.co", "comm", "pid"},
		{"kernel.disasm(\"vfs_re", "vfs_read", "vfs_open"},
		{"kernel.var(\"jif", "jiffies", "vfs_read"},
		{"kernel.exec(\"ca", "cat", "ls"},
		{"kernel.exec(\"cat\", [\"/etc/ho", "/etc/hostname", "/etc/group"},
		{"kprobe.attach(\"vfs_rea", "vfs_read", "vfs_open"},
		{"kprobe.event(\"p:my vfs_rea", "p:my vfs_read", "vfs_read"},
		{"kprobe.event(\"p:my vfs_read fd=%d", "p:my vfs_read fd=%di", "di"},
		{"tracer.set(\"func", "function_graph", "nop"},
		{"tracer.options(sym_", "sym_addr = ", "sym-addr = "},
		{"tracer.filter(\"vfs_rea\", mo", "mode = ", "notrace = "},
		{"tracer.read(\"set_ft", "set_ftrace_filter", "trace"},
		{"tracer.read(\"events/sched/sched_sw", "events/sched/sched_switch/", "events/sched/sched_waking/"},
		{"tracer.instance(\"mi", "mine", "x"},
		{"tracer.command(\"vfs_read\", \"trace", "traceoff", "snapshot"},
		{"event.enable(\"sched:sched_wak", "sched:sched_waking", "sched:sched_switch"},
		{"fs.read(\"/sys/kernel/tracing/set_ft", "/sys/kernel/tracing/set_ftrace_filter", "/etc/"},
		{"on(\"kr", "kretprobe:", "kprobe:"},
		{"on(\"tracepoint:sched:sched_sw", "tracepoint:sched:sched_switch", "sched:sched_switch"},
		{"on(\"function:vfs_rea", "function:vfs_read", "vfs_read"},
		{"sh(\"ca", "cat", "ls"},
		{"sh(\"cat /etc/ho", "cat /etc/hostname", "/etc/hostname"},
		{"sh(\"ls / | wc -l; ta", "ls / | wc -l; tail", "tail"},
		{"load(\"@st", "@std//", "@std//trace.star"},
		{"load(\"@std//funcc", "@std//funccount.star", "@std//trace.star"},
		{"load(\"@std//funccount.star\", \"fu", "funccount", "main"},
		{"load(\"scripts/to", "scripts/tools/", "scripts/lab/"},
		{"load(\"scripts/tools/fu", "scripts/tools/funccount.star", "scripts/tools/_tool.star"},
		{"tracer.clock(\"mo", "mono", "local"},
		{"kernel.run(until = \"vfs_rea", "vfs_read", "jiffies"},
		{"tracer.records(event = \"sched:sched_wak", "sched:sched_waking", "sched:sched_switch"},
		{"help(\"kernel.di", "kernel.disasm", "kernel.dmesg"},
		{"kernel.boot(overhead = \"no", "none", "model"},
		{"kernel.load_module(\"kscope_t", "kscope_test", "vfs"},
	} {
		before, _ := h.Value("(kernel.now, kernel.state_hash())")
		got, _ := h.Complete(c.before, globals)
		if after, _ := h.Value("(kernel.now, kernel.state_hash())"); after.String() != before.String() {
			t.Errorf("%s: Tab moved the machine from %s to %s", c.before, before, after)
		}
		all := "\n" + strings.Join(got, "\n") + "\n"
		if !strings.Contains(all, "\n"+c.want+"\n") || strings.Contains(all, "\n"+c.not+"\n") {
			t.Errorf("%s: %.300q", c.before, got)
		}
	}
}

// An expression without a machine: the budget of `kscope -e '1+1'` is 30 ms, the process's start included.
func BenchmarkExpression(b *testing.B) {
	for b.Loop() {
		if status := run([]string{"-e", "1+1"}, os.Stdin, io.Discard, io.Discard); status != 0 {
			b.Fatal(status)
		}
	}
}

// Completion over 10,000 symbols and over the guest's own: the budget is 10 ms.
func BenchmarkCompletion(b *testing.B) {
	names := make([]string, 10000)
	for i := range names {
		names[i] = fmt.Sprintf("do_something_%05d", i*7919%10000)
	}
	b.Run("10000", func(b *testing.B) {
		h := lang.New(lang.Config{Stdout: io.Discard, Strings: func(lang.Place) []string { return names }})
		for b.Loop() {
			h.Complete("help(\"do_some", nil)
		}
	})
	opts, _ := parseArgs(nil)
	h := (&program{opts: opts, snaps: testMachines}).host(io.Discard, "")
	for _, before := range []string{"kernel.sym(\"", "kprobe.attach(\"v", "on(\"kprobe:v"} {
		b.Run(before[:4], func(b *testing.B) {
			for b.Loop() {
				h.Complete(before, nil)
			}
		})
	}
}
