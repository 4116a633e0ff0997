#pragma once
#include "mutex.h"
extern struct mutex text_mutex;
void text_poke_sync(void);
void text_poke_finish(void);
void text_poke_naive(void *addr, const void *opcode, size_t len);
void ftrace_init(void);
void ftrace_run_update_code(void);	/* process context, after any gate that may have queued text pokes */
long kscope_hot(long x);
