package event

// Foreign are the formats of Linux's tracer events that nothing here writes: branches, the latency and MMIO
// tracers. They are listed for tools that read all of events/ftrace. It is never written.
var Foreign = []Format{
	{System: "ftrace", Name: "context_switch", ID: 2, Fields: wakeupFields,
		Print: `"%u:%u:%u  ==> %u:%u:%u [%03u]", REC->prev_pid, REC->prev_prio, REC->prev_state, REC->next_pid, REC->next_prio, REC->next_state, REC->next_cpu`},
	{System: "ftrace", Name: "wakeup", ID: 3, Fields: wakeupFields,
		Print: `"%u:%u:%u  ==+ %u:%u:%u [%03u]", REC->prev_pid, REC->prev_prio, REC->prev_state, REC->next_pid, REC->next_prio, REC->next_state, REC->next_cpu`},
	{System: "ftrace", Name: "mmiotrace_rw", ID: 7, Fields: []Field{
		{"resource_size_t", "phys", 8, 8, false},
		{"unsigned long", "value", 16, 8, false},
		{"unsigned long", "pc", 24, 8, false},
		{"int", "map_id", 32, 4, true},
		{"unsigned char", "opcode", 36, 1, false},
		{"unsigned char", "width", 37, 1, false}},
		Print: `"%lx %lx %lx %d %x %x", (unsigned long)REC->phys, REC->value, REC->pc, REC->map_id, REC->opcode, REC->width`},
	{System: "ftrace", Name: "mmiotrace_map", ID: 8, Fields: []Field{
		{"resource_size_t", "phys", 8, 8, false},
		{"unsigned long", "virt", 16, 8, false},
		{"unsigned long", "len", 24, 8, false},
		{"int", "map_id", 32, 4, true},
		{"unsigned char", "opcode", 36, 1, false}},
		Print: `"%lx %lx %lx %d %x", (unsigned long)REC->phys, REC->virt, REC->len, REC->map_id, REC->opcode`},
	{System: "ftrace", Name: "branch", ID: 9, Fields: []Field{
		{"unsigned int", "line", 8, 4, false},
		{"char[31]", "func", 12, 31, true},
		{"char[21]", "file", 43, 21, true},
		{"char", "correct", 64, 1, true},
		{"char", "constant", 65, 1, true}},
		Print: `"%u:%s:%s (%u)%s", REC->line, REC->func, REC->file, REC->correct, REC->constant ? " CONSTANT" : ""`},
	{System: "ftrace", Name: "hwlat", ID: 15, Fields: []Field{
		{"u64", "duration", 8, 8, false},
		{"u64", "outer_duration", 16, 8, false},
		{"u64", "nmi_total_ts", 24, 8, false},
		{"s64", "tv_sec", 32, 8, true},
		{"long", "tv_nsec", 40, 8, true},
		{"unsigned int", "nmi_count", 48, 4, false},
		{"unsigned int", "seqnum", 52, 4, false},
		{"unsigned int", "count", 56, 4, false}},
		Print: `"cnt:%u\tts:%010llu.%010lu\tinner:%llu\touter:%llu\tcount:%d\tnmi-ts:%llu\tnmi-count:%u\n", REC->seqnum, REC->tv_sec, REC->tv_nsec, REC->duration, REC->outer_duration, REC->count, REC->nmi_total_ts, REC->nmi_count`},
	{System: "ftrace", Name: "osnoise", ID: 16, Fields: []Field{
		{"u64", "noise", 8, 8, false},
		{"u64", "runtime", 16, 8, false},
		{"u64", "max_sample", 24, 8, false},
		{"unsigned int", "hw_count", 32, 4, false},
		{"unsigned int", "nmi_count", 36, 4, false},
		{"unsigned int", "irq_count", 40, 4, false},
		{"unsigned int", "softirq_count", 44, 4, false},
		{"unsigned int", "thread_count", 48, 4, false}},
		Print: `"noise:%llu\tmax_sample:%llu\thw:%u\tnmi:%u\tirq:%u\tsoftirq:%u\tthread:%u\n", REC->noise, REC->max_sample, REC->hw_count, REC->nmi_count, REC->irq_count, REC->softirq_count, REC->thread_count`},
	{System: "ftrace", Name: "timerlat", ID: 17, Fields: []Field{
		{"unsigned int", "seqnum", 8, 4, false},
		{"int", "context", 12, 4, true},
		{"u64", "timer_latency", 16, 8, false}},
		Print: `"seq:%u\tcontext:%d\ttimer_latency:%llu\n", REC->seqnum, REC->context, REC->timer_latency`},
}

// wakeupFields are those of the events of the scheduler's tracers.
var wakeupFields = []Field{
	{"unsigned int", "prev_pid", 8, 4, false},
	{"unsigned int", "next_pid", 12, 4, false},
	{"unsigned int", "next_cpu", 16, 4, false},
	{"unsigned char", "prev_prio", 20, 1, false},
	{"unsigned char", "prev_state", 21, 1, false},
	{"unsigned char", "next_prio", 22, 1, false},
	{"unsigned char", "next_state", 23, 1, false},
}
