package ftrace

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"kscope/kernel"
)

// sampleHeader and sampleModule are a module as modules/README.md says how to write one, with an event of its own.
const (
	sampleHeader = `TRACE_EVENT(sample, sample_step, 0,
	TP_PROTO(int n, const char *who), TP_ARGS(n, who),
	TP_FIELDS(
		__field(int, n, T_ARG(0))
		__field(pid_t, pid, T_CURRENT, T_LD(4, struct task_struct, pid))
		__string(who, T_ARG(1))),
	TP_printk("\"n=%d pid=%d who=%s\", REC->n, REC->pid, __get_str(who)"))
`
	sampleModule = `#include <linux/module.h>
#include <linux/kernel.h>
#include <linux/kthread.h>
#include <linux/sched.h>
#include <linux/err.h>
#include <linux/tracepoint.h>
#define TRACE_EVENT(sys, event, nr, proto, args, fields, print) DECLARE_TRACE(event, PARAMS(proto), PARAMS(args))
#include "sample_trace.h"
#undef TRACE_EVENT
#define TRACE_INCLUDE_FILE "sample_trace.h"
#include <linux/trace_events.h>

static struct task_struct *task;

static int sample_thread(void *data)
{
	for (int n = 0; !kthread_should_stop(); n++) {
		trace_sample_step(n, current->comm);
		set_current_state(TASK_INTERRUPTIBLE);
		schedule_timeout(1);
	}
	return 0;
}

static int __init sample_init(void)
{
	task = kthread_run(sample_thread, NULL, "sample");
	return IS_ERR(task) ? PTR_ERR(task) : 0;
}

static void __exit sample_exit(void)
{
	kthread_stop(task);
}

module_init(sample_init);
module_exit(sample_exit);
MODULE_LICENSE("GPL");
`
)

// TestUserModuleEvent: a user's own module, built from the shipped headers, loads, runs and brings an event that can be
// filtered like any other; it goes with the module though it is on, and the same bytes come of the same sources.
func TestUserModuleEvent(t *testing.T) {
	for _, tool := range []string{"gcc", "ld", "objcopy", "nm"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skip("needs ", tool)
		}
	}
	build := func() string {
		dir := t.TempDir()
		must(t, os.WriteFile(filepath.Join(dir, "sample_trace.h"), []byte(sampleHeader), 0o644))
		must(t, os.WriteFile(filepath.Join(dir, "sample.c"), []byte(sampleModule), 0o644))
		out, err := exec.Command("go", "run", "../kernel/guest/gen", "-root", "../kernel/guest", "-m", filepath.Join(dir, "sample.c")).CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		ko, err := os.ReadFile(filepath.Join(dir, "sample.ko"))
		must(t, err)
		return string(ko)
	}
	ko := build()
	if build() != ko {
		t.Error("two builds of one source differ")
	}
	tr := withPoints(t, kernel.Config{Seed: 1})
	before := mustRead(t, tr, "available_events")
	must(t, tr.m.WriteFile("/sample.ko", []byte(ko), false))
	must(t, tr.m.LoadModule("/sample.ko", ""))
	if got := mustRead(t, tr, "available_events"); !strings.Contains(got, "sample:sample_step\n") {
		t.Errorf("available_events: %q", got)
	}
	must(t, tr.WriteFile("events/sample/sample_step/filter", "n < 4 && who ~ \"sam*\"", false))
	must(t, tr.WriteFile("events/sample/enable", "1", false))
	fork := tr.m.Copy()
	tr.m.Run(kernel.Until{Time: tr.m.Now() + 50e6})
	if text := tr.Text(-1); !regexp.MustCompile(`sample-\d+ .*: sample_step: n=3 pid=\d+ who=sample\n`).MatchString(text) || strings.Contains(text, "n=4") {
		t.Errorf("%s", text)
	}
	must(t, tr.m.UnloadModule("sample"))
	if got := mustRead(t, tr, "available_events"); got != before {
		t.Errorf("after unloading: %q", got)
	}
	ftr, ok := kernel.PartOf[*Tracer](fork)
	if !ok {
		t.Fatal("no tracer in the fork")
	}
	fork.Run(kernel.Until{Time: fork.Now() + 50e6})
	if text := ftr.Text(-1); !strings.Contains(text, "sample_step: n=3 ") {
		t.Errorf("the fork: %s", text)
	}
}
