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

// sampleHeader and sampleModule are a module with events of its own, written as for Linux.
const (
	sampleHeader = `#undef TRACE_SYSTEM
#define TRACE_SYSTEM sample
#if !defined(_SAMPLE_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define _SAMPLE_TRACE_H
#include <linux/tracepoint.h>

TRACE_EVENT(sample_step,
	TP_PROTO(int n, const char *who),
	TP_ARGS(n, who),
	TP_STRUCT__entry(
		__field(int, n)
		__array(char, first, 4)
		__dynamic_array(u16, list, n & 3)
		__string(who, who)
	),
	TP_fast_assign(
		__entry->n = n;
		memcpy(__entry->first, who, 4);
		for (int i = 0; i < (n & 3); i++)
			((u16 *)__get_dynamic_array(list))[i] = 100 * n + i;
		__assign_str(who, who);
	),
	TP_printk("n=%d who=%s list=%s", __entry->n, __get_str(who),
		  __print_array(__get_dynamic_array(list), __get_dynamic_array_len(list) / 2, 2))
);

DECLARE_EVENT_CLASS(sample_pair,
	TP_PROTO(int a),
	TP_ARGS(a),
	TP_STRUCT__entry(
		__field(int, a)
	),
	TP_fast_assign(
		__entry->a = a;
	),
	TP_printk("a=%d", __entry->a)
);
DEFINE_EVENT(sample_pair, sample_in, TP_PROTO(int a), TP_ARGS(a));
DEFINE_EVENT(sample_pair, sample_out, TP_PROTO(int a), TP_ARGS(a));
#endif
#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#define TRACE_INCLUDE_FILE sample_trace
#include <trace/define_trace.h>
`
	sampleModule = `#include <linux/module.h>
#include <linux/kernel.h>
#include <linux/kthread.h>
#include <linux/sched.h>
#include <linux/err.h>
#define CREATE_TRACE_POINTS
#include "sample_trace.h"

static struct task_struct *task;

static int sample_thread(void *data)
{
	for (int n = 0; !kthread_should_stop(); n++) {
		trace_sample_in(n);
		trace_sample_step(n, current->comm);
		if (trace_sample_out_enabled())
			trace_sample_out(-n);
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

// TestUserModuleEvent: a user's own module, built from the shipped headers, loads, runs and brings events in Linux's own form, with a
// class, arrays and strings, that can be filtered like any other; they go with the module though they are on, their records with
// them, and the same bytes come of the same sources.
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
	if text := tr.Text(-1); !regexp.MustCompile(`sample-\d+ .*: sample_step: n=3 who=sample list=\{0x12c,0x12d,0x12e\}\n.*: sample_out: a=-3\n.*: sample_in: a=4\n`).MatchString(text) || strings.Contains(text, "n=4") {
		t.Errorf("%s", text)
	}
	must(t, tr.WriteFile("options/stacktrace", "1", false))
	tr.m.Run(kernel.Until{Time: tr.m.Now() + 20e6})
	if text := tr.Text(-1); !strings.Contains(text, "sample_in: a=") || !strings.Contains(text, "<stack trace>\n => trace_event_raw_event_sample_pair\n => sample_thread\n => kthread\n") {
		t.Errorf("the stack: %s", text)
	}
	must(t, tr.m.UnloadModule("sample"))
	if text := tr.Text(-1); strings.Contains(text, "sample") {
		t.Errorf("its records are still there: %s", text)
	}
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
