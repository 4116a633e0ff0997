/* At most burst messages in interval jiffies (lib/ratelimit.c). The first one behind the interval tells how many were kept back. */
#include "ratelimit.h"
#include "ktime.h"
#include "printk.h"

/* True: print it. Another CPU that is here at the same time has nothing to say. */
noinline bool ___ratelimit(struct ratelimit_state *rs, const char *func)
{
	unsigned long flags;
	bool ok;

	local_irq_save(flags);
	if (!raw_spin_trylock(&rs->lock)) {
		local_irq_restore(flags);
		return false;
	}
	if (!rs->begin)
		rs->begin = jiffies | 1;
	if (time_after(jiffies, rs->begin + rs->interval)) {
		if (rs->missed)
			pr_warn("%s: %d callbacks suppressed\n", func, rs->missed);
		rs->begin = jiffies | 1;
		rs->printed = rs->missed = 0;
	}
	ok = rs->printed < rs->burst;
	if (ok)
		rs->printed++;
	else
		rs->missed++;
	raw_spin_unlock(&rs->lock);
	local_irq_restore(flags);
	return ok;
}
