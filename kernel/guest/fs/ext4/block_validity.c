/*
 * Which blocks a file may have (Linux's fs/ext4/block_validity.c): within the file system, and none of its own: super block, group
 * descriptors, bitmaps and tables of inodes. What a broken disk says of an inode's blocks is held against this before it is used.
 */
#include "ext4.h"

static bool overlaps(ext4_fsblk_t a, unsigned int n, ext4_fsblk_t b, unsigned int m)
{
	return a < b + m && b < a + n;
}

noinline bool ext4_inode_block_valid(struct inode *inode, ext4_fsblk_t start, unsigned int count)
{
	struct super_block *sb = inode->i_sb;
	struct ext4_sb_info *sbi = EXT4_SB(sb);
	unsigned int group, table = sbi->s_inodes_per_group * EXT4_INODE_SIZE / EXT4_BLOCK_SIZE;

	if (start < 2 || start + count > sbi->s_blocks_count)
		return false;
	for (group = start / sbi->s_blocks_per_group; group < sbi->s_groups_count; group++) {
		struct ext4_group_desc *gdp = ext4_get_group_desc(sb, group);

		if ((ext4_fsblk_t)group * sbi->s_blocks_per_group >= start + count)
			break;		/* a group's blocks lie in it: ext4_check_descriptors */
		if (overlaps(start, count, gdp->bg_block_bitmap, 1) || overlaps(start, count, gdp->bg_inode_bitmap, 1) ||
		    overlaps(start, count, gdp->bg_inode_table, table))
			return false;
	}
	return true;
}
