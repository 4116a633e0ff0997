/*
 * File operations of tracefs files, under the names that Linux has in its traces (kernel/trace/trace*.c). What they do is
 * kscope's, behind the gates; so each is a name over tracing_read_user() or tracing_write_user(), and a file that is not
 * in the table gets the generic pair. Last path component -> operations.
 */
#include "seq_file.h"
#include "splice.h"
#include "tracefs.h"

#define READER(fn)										\
static notrace ssize_t fn(struct file *filp, char __user *ubuf, size_t cnt, loff_t *ppos)		\
{												\
	return tracing_read_user(filp, ubuf, cnt, ppos);					\
}

#define WRITER(fn)										\
static notrace ssize_t fn(struct file *filp, const char __user *ubuf, size_t cnt, loff_t *ppos)	\
{												\
	return tracing_write_user(filp, ubuf, cnt, ppos);					\
}

READER(tracing_read_pipe)
READER(tracing_set_trace_read)
READER(tracing_entries_read)
READER(rb_simple_read)
READER(event_enable_read)
READER(event_filter_read)
READER(tracing_stats_read)
READER(tracing_readme_read)
READER(tracing_read_generic)
WRITER(tracing_write_stub)
WRITER(tracing_set_trace_write)
WRITER(tracing_entries_write)
WRITER(rb_simple_write)
WRITER(ftrace_filter_write)
WRITER(ftrace_notrace_write)
WRITER(ftrace_graph_write)
WRITER(ftrace_pid_write)
WRITER(event_enable_write)
WRITER(event_filter_write)
WRITER(event_trigger_write)
WRITER(ftrace_event_write)
WRITER(tracing_trace_options_write)
WRITER(tracing_clock_write)
WRITER(tracing_cpumask_write)
WRITER(tracing_mark_write)
WRITER(probes_write)
WRITER(tracing_write_generic)

#define FOPS(rd, wr, ...) {						\
	.open = tracing_open_generic,				\
	.read = rd,						\
	.write = wr,						\
	.read_iter = tracing_read_iter,				\
	.write_iter = tracing_write_iter,			\
	.llseek = tracing_lseek,				\
	.poll = tracing_poll,					\
	.release = tracing_release_generic,			\
	__VA_ARGS__						\
}

/* Without a position. */
#define STREAM_FOPS(op, rd, wr, ...) {				\
	.open = op,						\
	.read = rd,						\
	.write = wr,						\
	.read_iter = tracing_read_iter,				\
	.write_iter = tracing_write_iter,			\
	.poll = tracing_poll,					\
	.release = tracing_release_generic,			\
	__VA_ARGS__						\
}

static const struct tracefs_file {
	const char *name;
	struct file_operations fops;
} tracefs_files[] = {
	{ "trace", FOPS(seq_read, tracing_write_stub, .splice_read = generic_file_splice_read) },
	{ "trace_pipe", STREAM_FOPS(tracing_open_pipe, tracing_read_pipe, tracing_write_generic, .splice_read = tracing_splice_read_pipe) },
	{ "trace_pipe_raw", STREAM_FOPS(tracing_open_pipe, tracing_read_generic, tracing_write_generic, .splice_read = tracing_buffers_splice_read) },
	{ "snapshot_raw", STREAM_FOPS(tracing_open_pipe, tracing_read_generic, tracing_write_generic, .splice_read = tracing_buffers_splice_read) },
	{ "tracing_on", FOPS(rb_simple_read, rb_simple_write) },
	{ "current_tracer", FOPS(tracing_set_trace_read, tracing_set_trace_write) },
	{ "set_ftrace_filter", FOPS(seq_read, ftrace_filter_write) },
	{ "set_ftrace_notrace", FOPS(seq_read, ftrace_notrace_write) },
	{ "set_graph_function", FOPS(seq_read, ftrace_graph_write) },
	{ "set_graph_notrace", FOPS(seq_read, ftrace_graph_write) },
	{ "set_ftrace_pid", FOPS(seq_read, ftrace_pid_write) },
	{ "set_event", FOPS(seq_read, ftrace_event_write) },
	{ "available_tracers", FOPS(seq_read, tracing_write_generic) },
	{ "available_filter_functions", FOPS(seq_read, tracing_write_generic) },
	{ "enabled_functions", FOPS(seq_read, tracing_write_generic) },
	{ "enable", FOPS(event_enable_read, event_enable_write) },
	{ "filter", FOPS(event_filter_read, event_filter_write) },
	{ "trigger", FOPS(seq_read, event_trigger_write) },
	{ "trace_options", FOPS(seq_read, tracing_trace_options_write) },
	{ "trace_clock", FOPS(seq_read, tracing_clock_write) },
	{ "tracing_cpumask", FOPS(tracing_read_generic, tracing_cpumask_write) },
	{ "buffer_size_kb", FOPS(tracing_entries_read, tracing_entries_write) },
	{ "trace_marker", STREAM_FOPS(tracing_mark_open, tracing_read_generic, tracing_mark_write) },
	{ "trace_marker_raw", STREAM_FOPS(tracing_mark_open, tracing_read_generic, tracing_mark_write) },
	{ "kprobe_events", FOPS(seq_read, probes_write) },
	{ "stats", FOPS(tracing_stats_read, tracing_write_generic) },
	{ "README", FOPS(tracing_readme_read, tracing_write_generic) },
};

static const struct file_operations tracefs_generic_fops = FOPS(tracing_read_generic, tracing_write_generic);

notrace const struct file_operations *tracefs_fops_of(const char *name)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(tracefs_files); i++)
		if (!strcmp(tracefs_files[i].name, name))
			return &tracefs_files[i].fops;
	return &tracefs_generic_fops;
}
