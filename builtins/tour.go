package builtins

import (
	"fmt"
	"strings"

	"go.starlark.net/starlark"

	"kscope/lang"
)

// chapters are what tour() shows: each a title and statements that are typed for the reader. scripts/tour.star is their golden.
func chapters() []struct{ title, text string } {
	return []struct{ title, text string }{
		{"the machine", `# four CPUs, a Linux-like kernel, and a few tasks; time is virtual and begins at 1 s
table(kernel.tasks()[:5], cols = ["pid", "comm", "state"])
# every function is machine code; each begins with a nop of 5 bytes where tracing can be switched on
kernel.disasm("vfs_read", n = 2)
kernel.func("vfs_read")
# run a program: it is a task of this machine, and its system calls run this kernel's code
kernel.exec("cat", ["/etc/hostname"])
`},
		{"functions", `# which functions named vfs_* does cat call?
tracer.filter("vfs_*")
tracer.set("function")
kernel.exec("cat", ["/etc/hostname"]).out
tracer.show(n = 4)
# the same as objects
[r.func for r in tracer.records()][-3:]
`},
		{"the call graph", `# what happens inside ksys_read, and how long does it take?
tracer.graph("ksys_read", depth = 4)
kernel.exec("cat", ["/etc/hostname"]).out
tracer.show(n = 8)
`},
		{"events", `# the kernel's own trace points, with their fields
event.enable("sched:sched_waking", "sched:sched_switch")
event.get("sched:sched_switch").filter("prev_pid != 0")
kernel.exec("sh", ["-c", "cat /etc/hostname | wc -c"]).out
tracer.show(n = 4)
`},
		{"probes", `# stop at any instruction, look at arguments, results and memory
p = kprobe.attach("do_sys_openat2", lambda c: print(c.comm, "opens", c.str(c.arg(1))))
r = kprobe.ret("vfs_read", lambda c: print(c.comm, "has read", c.retval, "bytes in", c.duration, "ns"))
kernel.exec("cat", ["/etc/hostname"]).out
p
# the same in the words of kprobe_events, read back from the trace
p.close()
r.close()
e = kprobe.event("p:myopen do_sys_openat2 path=+0(%si):ustring")
kernel.exec("cat", ["/etc/hostname"]).out
[x.path for x in tracer.records()]
`},
		{"histograms", `# how are the times of vfs_read distributed, by command?
lat = agg.hist("lat", unit = "ns")
on("kretprobe:vfs_read", lambda c: lat.add(c.duration, c.comm))
sh("cat /etc/passwd | sort | head -1")
lat.print()
lat.clear()
`},
		{"the shell", `# all of tracefs works as in the documents, in the guest's shell
sh("cd /sys/kernel/tracing; echo vfs_open > set_ftrace_filter; echo function > current_tracer; cat /etc/hostname; tail -2 trace")
`},
		{"time travel", `# keep the machine as it is now, let one copy run on, and come back
before = kernel.fork()
kernel.exec("cat", ["/etc/hostname"]).out
tracer.set("function")
kernel.restore(before)
(tracer.current, kernel.now)
# another seed is another interleaving of the CPUs; the same seed is the same future, to the byte
a, b = kernel.fork(seed = 7), kernel.fork(seed = 7)
a.exec("cat", ["/etc/hostname"]).out == b.exec("cat", ["/etc/hostname"]).out
a.state_hash() == b.state_hash()
`},
	}
}

// tour implements tour(n).
func (e *Env) tour(t *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	n := 0
	if err := (&call{thread: t, name: b.Name(), args: args, kwargs: kwargs}).unpack("chapter?", &n); err != nil {
		return nil, err
	}
	all := chapters()
	out := e.host.Stdout()
	switch {
	case n == 0:
		for i, c := range all {
			fmt.Fprintf(out, "tour(%d)  %s\n", i+1, c.title)
		}
		return starlark.None, nil
	case n < 0 || n > len(all):
		return nil, &lang.Error{Msg: fmt.Sprintf("%s: chapter %d: there are 1 to %d", b.Name(), n, len(all)), At: fmt.Sprint(n)}
	}
	c := all[n-1]
	fmt.Fprintf(out, "# %d of %d: %s\n", n, len(all), c.title)
	if err := e.host.Transcript(t, "kernel.boot()\n"+strings.TrimSuffix(c.text, "\n")); err != nil {
		return nil, err
	}
	if n < len(all) {
		fmt.Fprintf(out, "# next: tour(%d), %s\n", n+1, all[n].title)
	}
	return starlark.None, nil
}
