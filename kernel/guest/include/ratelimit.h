#pragma once
/* Messages that a loop could repeat for ever (include/linux/ratelimit.h). */
#include "spinlock.h"
struct ratelimit_state { raw_spinlock_t lock; unsigned long interval; int burst, printed, missed; unsigned long begin; };
#define DEFINE_RATELIMIT_STATE(name, i, b) struct ratelimit_state name = { .interval = (i), .burst = (b) }
bool ___ratelimit(struct ratelimit_state *rs, const char *func);
#define __ratelimit(rs) ___ratelimit(rs, __func__)
