/* What fs/ shares among its files (Linux's fs/internal.h). */
#pragma once
#include "fs.h"
extern struct list_head super_blocks;
extern spinlock_t sb_lock;
struct file_system_type *get_fs_type(const char *name);
void put_filesystem(struct file_system_type *fs);
struct super_block *vfs_get_super(struct file_system_type *type, void *data);
