package builtins

// histExamples are those of triggers and histograms.
func histExamples() map[string]string {
	const ev = "ev = event.get(\"sched:sched_switch\")\n"
	const hist = ev + "h = ev.hist([\"next_pid\"], sort = [\"hitcount.descending\"], when = \"next_pid > 0\")\nsh(\"cat /etc/hostname\")\n"
	return map[string]string{
		"export.folded": "tracer.graph(\"vfs_read\")\nkernel.exec(\"cat\", [\"/etc/hostname\"]).code\nprint(\"\\n\".join(export.folded().splitlines()[:3]))\n" +
			"stacks = agg.count(\"stacks\")\nh = on(\"function:vfs_read\", lambda ctx: stacks.inc(tuple(ctx.stack(3))))\nkernel.exec(\"cat\", [\"/etc/hostname\"]).code\nexport.folded(stacks)",
		"export.flame":    "tracer.graph(\"vfs_read\")\nkernel.exec(\"cat\", [\"/etc/hostname\"]).code\nsvg = export.flame(title = \"cat\")\nprint(re(\"<title>vfs_read .*?</title>\").match(svg)[0])",
		"export.csv":      "c = agg.count(\"calls\")\nc.inc(\"cat\", 1)\nprint(export.csv(c, cols = [\"comm\", \"cpu\", \"calls\"]))\nagg.clear_all()\nprint(export.csv(kernel.tasks()[:2], cols = [\"pid\", \"comm\"]))",
		"export.chrome":   "tracer.mark(\"here\")\nprint(export.chrome())",
		"kernel.snapshot": "before = kernel.snapshot()\nkernel.exec(\"cat\", [\"/etc/hostname\"]).code\nkernel.restore(before)\nkernel.now == 1 * s",
		"kernel.halted":   "kernel.halted\nkernel.write(\"default_idle\", b\"\\x0f\\x0b\")\nattempt(kernel.exec, \"sleep\", [\"1\"]).ok\nkernel.halted",
		"Event.trigger":   ev + "ev.trigger(\"traceoff:1 if next_pid == 1\")\nev.triggers()\nev.trigger(\"hist:keys=nope\") # fails",
		"Event.triggers":  ev + "ev.trigger(\"stacktrace:5\")\nev.triggers()",
		"Event.untrigger": ev + "ev.trigger(\"stacktrace\")\nev.untrigger(\"stacktrace\")\nev.triggers()",
		"Event.hist":      hist + "print(h.text())",
		"Hist.text":       hist + "h.text().splitlines()[0]",
		"Hist.rows":       hist + "sorted(h.rows()[0].keys())",
		"Hist.clear":      hist + "h.clear()\nh.rows()",
		"Hist.pause":      hist + "h.pause()\nn = len(h.rows())\nsh(\"true\")\nlen(h.rows()) == n",
		"Hist.cont":       hist + "h.pause()\nh.cont()\nsh(\"true\")",
		"Hist.close":      hist + "h.close()\nev.triggers()",
		"event.join": "wakeup = event.join(\"sched:sched_waking\", \"sched:sched_switch\", {\"pid\": \"next_pid\"}, emit = \"wakeup\", fields = {\"comm\": \"next_comm\", \"by\": \"start.common_pid\"})\n" +
			"lat = agg.hist(\"wakeup_ns\")\nh = wakeup.on(lambda ctx: lat.add(ctx.lat, ctx.comm))\nwakeup.enable()\nsh(\"cat /etc/passwd | wc -l\")\nlat.print(top = 1)\nagg.autoprint(False)\n" +
			"print(tracer.text(n = 1, head = False))\nh.close()\nwakeup.remove()\nevent.get(\"sched:sched_waking\").triggers()",
		"event.synth": "lat = event.synth(\"wakeup_lat\", {\"pid\": \"pid_t\", \"us\": \"u64\"})\n" +
			"event.get(\"sched:sched_waking\").trigger(\"hist:keys=pid:t0=common_timestamp.usecs\")\n" +
			"event.get(\"sched:sched_switch\").trigger(\"hist:keys=next_pid:us=common_timestamp.usecs-$t0:onmatch(sched.sched_waking).wakeup_lat(next_pid,$us)\")\n" +
			"lat.enable()\nsh(\"cat /etc/hostname\")\ntracer.records(event = \"synthetic:wakeup_lat\")[0].text",
	}
}
