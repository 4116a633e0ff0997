package builtins

import "maps"

// moreExamples are those of the values that functions give: their methods and attributes, by name.
func moreExamples() map[string]string {
	const cat = "kernel.exec(\"cat\", [\"/etc/hostname\"])"
	const read = "h = on(\"function:vfs_read\", lambda ctx: None)\n" + cat + "\n"
	const passwd = "source = \"root:x:0\\nuser:x:1000\\n\", fs = \":\")"
	const ev = "ev = event.get(\"sched:sched_switch\")\n"
	all := map[string]string{
		"Regexp.match": "re(\"(\\\\w+)-(\\\\d+)\").match(\"cat-100\")", "Regexp.findall": "re(\"\\\\d+\").findall(\"a1b22\")",
		"Regexp.split": "re(\", *\").split(\"a, b,c\")", "Regexp.sub": "re(\"(a+)\").sub(\"<$1>\", \"caat\")", "Regexp.pattern": "re(\"a+\").pattern",

		"kernel.step":        "kernel.spawn(\"cat\", [\"/etc/hostname\"])\ns = kernel.run(until = \"vfs_read\")\nkernel.step(cpu = s.cpu, n = 3)",
		"kernel.stop":        "on(\"function:vfs_read\", lambda ctx: kernel.stop(\"it reads\"))\nkernel.spawn(\"cat\", [\"/etc/hostname\"])\nkernel.run(time = 10 * ms)",
		"kernel.checkpoints": "kernel.checkpoints(every = 50 * us)\nkernel.exec(\"cat\", [\"/etc/hostname\"]).out\nlen(kernel.checkpoints()) > 1",
		"kernel.rewind":      "kernel.checkpoints(every = 50 * us)\nkernel.spawn(\"cat\", [\"/etc/hostname\"])\nkernel.run(time = 300 * us).reason\nkernel.rewind(kernel.checkpoints()[0]).reason\nh = on(\"function:vfs_read\", lambda ctx: print(ctx.comm, \"reads\"))\nkernel.run(time = 300 * us).reason",
		"kernel.log":         "kernel.log(lambda ctx: print(ctx.level, ctx.text))\nfs.write(\"/dev/kmsg\", \"hello\\n\")",

		"On.spec": read + "h.spec", "On.sites": "on(\"kprobe:vfs_read*\", lambda ctx: None).sites", "On.calls": read + "h.calls",
		"On.errors":    "h = on(\"function:vfs_read\", lambda ctx: ctx.nothing, on_error = \"count\")\n" + cat + "\nh.errors",
		"On.error":     "h = on(\"function:vfs_read\", lambda ctx: ctx.nothing, on_error = \"count\")\n" + cat + "\nh.error",
		"On.armed":     "h = on(\"function:vfs_read\", lambda ctx: None, limit = 1)\nh.armed\n" + cat + "\nh.armed",
		"On.close":     read + "h.close()\nh.armed",
		"Moment.insns": "on(\"tracepoint:sched:sched_process_exit\", lambda c: print(c.event, c.comm, c.insns > 0))\n" + cat,

		"Line.nr": "awk.run(rules = [(None, lambda r: print(r.nr))], " + passwd, "Line.nf": "awk.run(rules = [(None, lambda r: print(r.nf))], " + passwd,
		"Line.f":    "awk.run(rules = [(re(\"^r\"), lambda r: print(r.f[1], r.f[3], r.f[9] == \"\"))], " + passwd,
		"Line.line": "awk.run(rules = [(re(\"^r\"), lambda r: print(r.line))], " + passwd,

		"tracer.pids": "tracer.pids(1)\ntracer.write(\"set_ftrace_pid\", \"\")\ntracer.pids()", "tracer.cpumask": "tracer.cpumask(1)\ntracer.cpumask()",
		"tracer.clock": "tracer.clock()\ntracer.clock(\"counter\")", "tracer.max_latency": "tracer.max_latency(7)",
		"tracer.error_log": "tracer.write(\"kprobe_events\", \"p:x vfs_read %x0\") # fails\nprint(tracer.error_log())",
		"tracer.profile":   "tracer.profile(True)\n" + cat + "\nmax([r.hits for r in tracer.profile(False) if r.func == \"vfs_read\"])",

		"Machine.tracer": "m = kernel.fork()\nm.tracer.set(\"function\")\nm.tracer.current\ntracer.current", "Machine.kprobe": "kernel.fork().kprobe.events()",
		"Machine.on":    "m = kernel.fork()\nh = m.on(\"function:vfs_read\", lambda ctx: None)\nm.exec(\"cat\", [\"/etc/hostname\"]).out\nh.calls",
		"Machine.event": "len(kernel.fork().event.list(\"sched:*\")) > 5", "Machine.fs": "kernel.fork().fs.read(\"/etc/hostname\")",
		"Obj.value": "kernel.var(\"init_task\").comm\nlen(kernel.var(\"init_task\").tasks.value()) == 16",
		"Obj.deref": "kernel.task(1).real_parent.deref().pid", "Obj.addr": "kernel.var(\"init_task\").addr == kernel.addr(\"init_task\")",
		"Obj.type": "kernel.var(\"init_task\").type",

		"Task.kill": "t = kernel.spawn(\"sleep\", [\"9\"])\nkernel.run(time = 2 * ms)\nt.kill(9)\nt.wait().code", "Task.wait": "kernel.spawn(\"cat\", [\"/etc/hostname\"]).wait()",
		"Task.stack": "t = kernel.spawn(\"sleep\", [\"9\"])\nkernel.run(time = 2 * ms)\nt.stack(n = 3, offsets = False)", "Task.pid": "kernel.task(1).pid",
		"Task.state": "kernel.task(1).state", "Task.out": "t = kernel.spawn(\"cat\", [\"/etc/hostname\"])\nkernel.run(time = 5 * ms)\nt.out",
		"Task.err": "t = kernel.spawn(\"cat\", [\"/nope\"])\nkernel.run(time = 5 * ms)\nt.err",

		"Event.enable": ev + "ev.enable()\ntracer.read(\"set_event\")", "Event.disable": ev + "ev.enable()\nev.disable()\ntracer.read(\"set_event\")",
		"Event.filter": ev + "ev.filter(\"prev_pid == 0\")\nev.filter(\"prev_pidd == 0\") # fails", "Event.format": ev + "ev.format.splitlines()[0]", "Event.id": ev + "int(ev.id) > 0",
	}
	maps.Copy(all, histExamples())
	return all
}
