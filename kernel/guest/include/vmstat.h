#pragma once
/* Counts of pages by use, for /proc/meminfo (include/linux/vmstat.h). */
#include "types.h"
struct page;
enum node_stat_item { NR_ANON_MAPPED, NR_FILE_MAPPED, NR_FILE_PAGES, NR_KERNEL_STACK_KB, NR_PAGETABLE, NR_VM_NODE_STAT_ITEMS };
void __mod_node_page_state(enum node_stat_item item, long delta);
void __mod_lruvec_page_state(struct page *page, enum node_stat_item item, int val);
unsigned long node_page_state(enum node_stat_item item);
