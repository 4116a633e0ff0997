/* What stands in for the journal: only the depth of operations is counted, as in Linux's no-journal mode (fs/ext4/ext4_jbd2.c). */
#include "ext4.h"
#include "ext4_trace.h"

static noinline handle_t *ext4_get_nojournal(void)
{
	unsigned long ref_cnt = (unsigned long)current->journal_info + 1;

	current->journal_info = (void *)ref_cnt;
	return (handle_t *)ref_cnt;
}

static noinline void ext4_put_nojournal(handle_t *handle)
{
	unsigned long ref_cnt = (unsigned long)handle;

	BUG_ON(ref_cnt == 0);
	current->journal_info = (void *)(ref_cnt - 1);
}

static noinline int ext4_journal_check_start(struct super_block *sb)
{
	might_sleep();
	return sb->s_flags & SB_RDONLY ? -EROFS : 0;
}

noinline handle_t *__ext4_journal_start_sb(struct inode *inode, struct super_block *sb, unsigned int line, int type, int blocks,
					   int rsv_blocks, int revoke_creds)
{
	int err;

	trace_ext4_journal_start(sb, blocks, rsv_blocks, revoke_creds, 1);
	err = ext4_journal_check_start(sb);
	return err < 0 ? ERR_PTR(err) : ext4_get_nojournal();
}

noinline int __ext4_journal_stop(const char *where, unsigned int line, handle_t *handle)
{
	ext4_put_nojournal(handle);
	return 0;
}

noinline int __ext4_journal_get_write_access(const char *where, unsigned int line, handle_t *handle, struct super_block *sb,
					     struct buffer_head *bh)
{
	might_sleep();
	return 0;
}

noinline int __ext4_handle_dirty_metadata(const char *where, unsigned int line, handle_t *handle, struct inode *inode,
					  struct buffer_head *bh)
{
	might_sleep();
	set_buffer_uptodate(bh);
	mark_buffer_dirty(bh);
	return 0;
}

/* The block is about to be free: the buffer must not reach the disk any more, and no write of it may be under way. */
noinline void __ext4_forget(const char *where, unsigned int line, handle_t *handle, struct inode *inode, struct buffer_head *bh)
{
	might_sleep();
	wait_on_buffer(bh);
	__bforget(bh);
}
