#pragma once
/* Fixed-point load averages (include/linux/sched/loadavg.h). */
#define FSHIFT		11
#define FIXED_1		(1 << FSHIFT)
#define LOAD_FREQ	(5 * HZ + 1)
#define EXP_1		1884	/* FIXED_1 / exp(5 s / 1 min) */
#define EXP_5		2014
#define EXP_15		2037
#define LOAD_INT(x)	((x) >> FSHIFT)
#define LOAD_FRAC(x)	LOAD_INT(((x) & (FIXED_1 - 1)) * 100)
struct rq;
extern unsigned long avenrun[3];
void get_avenrun(unsigned long *loads, unsigned long offset, int shift);
void calc_global_load(void);
void calc_global_load_tick(struct rq *this_rq);
void calc_load_nohz_start(void);
void calc_load_nohz_stop(void);
