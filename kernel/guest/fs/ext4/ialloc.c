/* Free inodes (Linux's fs/ext4/ialloc.c): a file goes to its directory's group, when there is room. */
#include "ext4.h"
#include "ext4_trace.h"

static struct buffer_head *ext4_read_inode_bitmap(struct super_block *sb, unsigned int group)
{
	return sb_bread(sb, ext4_get_group_desc(sb, group)->bg_inode_bitmap);
}

/* s_lock held: a free inode of the group, taken; -1: none. */
static noinline int find_inode_bit(struct super_block *sb, unsigned int group, struct buffer_head *bh)
{
	struct ext4_sb_info *sbi = EXT4_SB(sb);
	unsigned long *map = (unsigned long *)bh->b_data;
	unsigned int bit = find_next_zero_bit(map, sbi->s_inodes_per_group, group ? 0 : sbi->s_first_ino - 1);

	if (bit >= sbi->s_inodes_per_group)
		return -1;
	__set_bit(bit, map);
	return bit;
}

static noinline unsigned long ext4_take_inode(handle_t *handle, struct super_block *sb, unsigned int group, bool dir)
{
	struct ext4_group_desc *gdp = ext4_get_group_desc(sb, group);
	struct ext4_sb_info *sbi = EXT4_SB(sb);
	struct buffer_head *bh = ext4_read_inode_bitmap(sb, group);
	int bit;

	if (!bh)
		return 0;
	ext4_journal_get_write_access(handle, sb, bh);
	spin_lock(&sbi->s_lock);
	bit = find_inode_bit(sb, group, bh);
	if (bit >= 0) {
		gdp->bg_free_inodes_count--;
		gdp->bg_used_dirs_count += dir;
		sbi->s_es->s_free_inodes_count--;
	}
	spin_unlock(&sbi->s_lock);
	if (bit >= 0) {
		ext4_handle_dirty_metadata(handle, NULL, bh);
		ext4_handle_dirty_metadata(handle, NULL, sbi->s_gdb);
	}
	brelse(bh);
	return bit < 0 ? 0 : (unsigned long)group * sbi->s_inodes_per_group + bit + 1;
}

noinline struct inode *__ext4_new_inode(handle_t *handle, struct inode *dir, umode_t mode, const struct qstr *qstr)
{
	struct super_block *sb = dir->i_sb;
	struct ext4_sb_info *sbi = EXT4_SB(sb);
	unsigned int first = (dir->i_ino - 1) / sbi->s_inodes_per_group, i;
	struct inode *inode;
	unsigned long ino = 0;

	trace_ext4_request_inode(dir, mode);
	inode = new_inode(sb);
	if (!inode)
		return ERR_PTR(-ENOMEM);
	inode_init_owner(&init_user_ns, inode, dir, mode);
	for (i = 0; i < sbi->s_groups_count && !ino; i++)
		ino = ext4_take_inode(handle, sb, (first + i) % sbi->s_groups_count, S_ISDIR(mode));
	if (!ino) {
		inode->i_nlink = 0;
		make_bad_inode(inode);
		iput(inode);
		return ERR_PTR(-ENOSPC);
	}
	inode->i_ino = ino;
	inode->i_blocks = 0;
	if (insert_inode_locked(inode) < 0) {	/* the bitmap is wrong */
		ext4_error(sb, "failed to insert inode %lu: doubly allocated?", ino);
		inode->i_nlink = 0;
		make_bad_inode(inode);
		iput(inode);
		return ERR_PTR(-EIO);
	}
	inode->i_atime = inode->i_mtime = inode->i_ctime = current_time(inode);
	ext4_ext_tree_init(handle, inode);
	ext4_mark_inode_dirty(handle, inode);
	trace_ext4_allocate_inode(inode, dir, mode);
	return inode;
}

noinline void ext4_free_inode(handle_t *handle, struct inode *inode)
{
	struct super_block *sb = inode->i_sb;
	struct ext4_sb_info *sbi = EXT4_SB(sb);
	unsigned int per = sbi->s_inodes_per_group, group = (inode->i_ino - 1) / per, bit = (inode->i_ino - 1) % per;
	struct ext4_group_desc *gdp = ext4_get_group_desc(sb, group);
	struct buffer_head *bh = ext4_read_inode_bitmap(sb, group);
	bool was;

	trace_ext4_free_inode(inode);
	if (!bh)
		return;
	ext4_journal_get_write_access(handle, sb, bh);
	spin_lock(&sbi->s_lock);
	was = test_and_clear_bit(bit, (unsigned long *)bh->b_data);
	if (was) {
		gdp->bg_free_inodes_count++;
		gdp->bg_used_dirs_count -= !!S_ISDIR(inode->i_mode);
		sbi->s_es->s_free_inodes_count++;
	}
	spin_unlock(&sbi->s_lock);
	if (!was)
		EXT4_ERROR_INODE(inode, "bit already cleared for inode %lu", inode->i_ino);
	ext4_handle_dirty_metadata(handle, NULL, bh);
	ext4_handle_dirty_metadata(handle, NULL, sbi->s_gdb);
	brelse(bh);
}
