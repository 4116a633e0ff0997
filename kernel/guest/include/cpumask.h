#pragma once
/* A CPU mask is one word: NR_CPUS is 64. */
#include "bitops.h"
#include "percpu.h"
struct cpumask { unsigned long bits[1]; };
typedef struct cpumask cpumask_t;
extern struct cpumask __cpu_possible_mask, __cpu_present_mask, __cpu_online_mask, __cpu_active_mask;
#define cpu_possible_mask	((const struct cpumask *)&__cpu_possible_mask)
#define cpu_present_mask	((const struct cpumask *)&__cpu_present_mask)
#define cpu_online_mask		((const struct cpumask *)&__cpu_online_mask)
#define cpu_active_mask		((const struct cpumask *)&__cpu_active_mask)
extern unsigned int nr_cpu_ids;
extern atomic_t __num_online_cpus;
#define num_online_cpus()	((unsigned int)READ_ONCE(__num_online_cpus.counter))
#define cpumask_test_cpu(c, m)	test_bit(c, (m)->bits)
#define cpumask_set_cpu(c, m)	set_bit(c, (m)->bits)
#define cpumask_clear_cpu(c, m)	clear_bit(c, (m)->bits)
#define __cpumask_set_cpu(c, m)	__set_bit(c, (m)->bits)
#define __cpumask_clear_cpu(c, m) __clear_bit(c, (m)->bits)
#define cpumask_clear(m)	((m)->bits[0] = 0)
#define cpumask_copy(d, s)	((d)->bits[0] = READ_ONCE((s)->bits[0]))
#define cpumask_and(d, a, b)	((d)->bits[0] = READ_ONCE((a)->bits[0]) & READ_ONCE((b)->bits[0]))
#define cpumask_empty(m)	(READ_ONCE((m)->bits[0]) == 0)
#define cpumask_weight(m)	hweight64(READ_ONCE((m)->bits[0]))
#define cpumask_first(m)	cpumask_next(-1, m)
#define cpu_online(c)		cpumask_test_cpu(c, cpu_online_mask)
#define cpu_active(c)		cpumask_test_cpu(c, cpu_active_mask)
static __always_inline unsigned int cpumask_next(int n, const struct cpumask *m)
{
	unsigned long w = n >= 63 ? 0 : READ_ONCE(m->bits[0]) >> (n + 1) << (n + 1);
	return w ? __ffs(w) : NR_CPUS;
}
#define for_each_cpu(c, m)	for (c = cpumask_first(m); c < nr_cpu_ids; c = cpumask_next(c, m))
#define for_each_possible_cpu(c) for_each_cpu(c, cpu_possible_mask)
#define for_each_present_cpu(c)	for_each_cpu(c, cpu_present_mask)
#define for_each_online_cpu(c)	for_each_cpu(c, cpu_online_mask)
#define cpumask_of(c)		((const struct cpumask *)&cpu_bit_bitmap[c])
extern const unsigned long cpu_bit_bitmap[NR_CPUS];
