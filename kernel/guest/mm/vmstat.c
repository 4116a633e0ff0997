/*
 * Counts of pages by use (mm/vmstat.c). Each CPU adds to its own; who wants to know adds them up. Linux folds the differences
 * into a global counter when they grow, and counts for each memory control group too; there is only the root here.
 */
#include "mm.h"
#include "vmstat.h"

static DEFINE_PER_CPU(long, vm_node_stat_diff[NR_VM_NODE_STAT_ITEMS]);

/* Interrupts do not count pages of these kinds, so one instruction on this CPU's counter needs no protection. */
noinline void __mod_node_page_state(enum node_stat_item item, long delta)
{
	this_cpu_add(vm_node_stat_diff[item], delta);
}

/* Accounts for @page's group, which is always the node's (mm/memcontrol.c). */
noinline void __mod_lruvec_page_state(struct page *page, enum node_stat_item item, int val)
{
	__mod_node_page_state(item, val);
}

unsigned long node_page_state(enum node_stat_item item)
{
	long sum = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		sum += per_cpu(vm_node_stat_diff[item], cpu);
	return max(sum, 0L);	/* while others count on, one may be seen without its other half */
}
