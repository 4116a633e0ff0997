/* Readers of the kernel log (kernel/printk). */
#ifndef _KMSG_H
#define _KMSG_H
#include "types.h"

struct printk_info {
	u64 ts_nsec;
	u16 text_len;
	u8 level;
};

bool printk_get_record(u64 *seq, struct printk_info *info, char *text, size_t size);
u64 printk_next_seq(void);
void wake_up_klogd(void);

struct file_operations;
extern const struct file_operations kmsg_fops;
#endif
