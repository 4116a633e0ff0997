/*
 * Free blocks (Linux's fs/ext4/mballoc.c, balloc.c). Blocks are looked for from the goal on in the group's bitmap, then in
 * the other groups; a request may get fewer than it wants, but one run. Delayed allocation promises blocks beforehand
 * (ext4_claim_free_clusters), so that writing back cannot run out of them.
 */
#include "ext4.h"
#include "ext4_trace.h"

static unsigned int blocks_in_group(struct super_block *sb, unsigned int group)
{
	struct ext4_sb_info *sbi = EXT4_SB(sb);
	u32 first = group * sbi->s_blocks_per_group;

	return min(sbi->s_blocks_per_group, sbi->s_blocks_count - first);
}

/* Looks once whether a bitmap holds the group's own blocks, which no file must get. */
static noinline int ext4_validate_block_bitmap(struct super_block *sb, struct ext4_group_desc *desc, unsigned int group, struct buffer_head *bh)
{
	struct ext4_sb_info *sbi = EXT4_SB(sb);
	unsigned int n = sbi->s_inodes_per_group * EXT4_INODE_SIZE / EXT4_BLOCK_SIZE, i;
	u32 first = group * sbi->s_blocks_per_group, bad = 0;
	unsigned long *map = (unsigned long *)bh->b_data;

	if (buffer_verified(bh))
		return 0;
	if (desc->bg_block_bitmap - first >= sbi->s_blocks_per_group || !test_bit(desc->bg_block_bitmap - first, map))
		bad = desc->bg_block_bitmap;
	else if (desc->bg_inode_bitmap - first >= sbi->s_blocks_per_group || !test_bit(desc->bg_inode_bitmap - first, map))
		bad = desc->bg_inode_bitmap;
	for (i = 0; i < n && !bad; i++)
		if (desc->bg_inode_table + i - first >= sbi->s_blocks_per_group || !test_bit(desc->bg_inode_table + i - first, map))
			bad = desc->bg_inode_table;
	if (bad) {
		ext4_error(sb, "bg %u: block %u: invalid block bitmap", group, bad);
		return -EFSCORRUPTED;
	}
	set_buffer_verified(bh);
	return 0;
}

static noinline struct buffer_head *ext4_read_block_bitmap(struct super_block *sb, unsigned int group)
{
	struct ext4_group_desc *gdp = ext4_get_group_desc(sb, group);
	struct buffer_head *bh = gdp ? sb_bread(sb, gdp->bg_block_bitmap) : NULL;
	int err = bh ? ext4_validate_block_bitmap(sb, gdp, group, bh) : -EIO;

	if (!err)
		return bh;
	brelse(bh);
	return ERR_PTR(err);
}

/* s_lock held. */
static int ext4_has_free_clusters(struct ext4_sb_info *sbi, u64 nclusters)
{
	return sbi->s_freeclusters >= sbi->s_dirtyclusters + nclusters;
}

noinline int ext4_claim_free_clusters(struct ext4_sb_info *sbi, u64 nclusters)
{
	int ret = -ENOSPC;

	spin_lock(&sbi->s_lock);
	if (ext4_has_free_clusters(sbi, nclusters)) {
		sbi->s_dirtyclusters += nclusters;
		ret = 0;
	}
	spin_unlock(&sbi->s_lock);
	return ret;
}

void ext4_release_clusters(struct ext4_sb_info *sbi, u64 nclusters)
{
	spin_lock(&sbi->s_lock);
	sbi->s_dirtyclusters -= min(nclusters, sbi->s_dirtyclusters);
	spin_unlock(&sbi->s_lock);
}

/* s_lock held: a run of at most @len free blocks at or behind @from, taken. Its length; 0: there is none. */
static noinline unsigned int mb_find_extent(unsigned long *map, unsigned int from, unsigned int end, unsigned int len, unsigned int *start)
{
	unsigned int i, n;

	i = find_next_zero_bit(map, end, from);
	if (i >= end)
		return 0;
	for (n = 0; n < len && i + n < end && !test_bit(i + n, map); n++)
		__set_bit(i + n, map);
	*start = i;
	return n;
}

static noinline int ext4_mb_mark_diskspace_used(handle_t *handle, struct super_block *sb, struct buffer_head *bh, unsigned int group,
						ext4_fsblk_t block, unsigned int len)
{
	struct ext4_sb_info *sbi = EXT4_SB(sb);

	if (unlikely(len && !ext4_inode_block_valid(d_inode(sb->s_root), block, len))) {
		ext4_error(sb, "Allocating blocks %llu-%llu which overlap fs metadata", (unsigned long long)block, (unsigned long long)block + len);
		return -EFSCORRUPTED;
	}
	ext4_handle_dirty_metadata(handle, NULL, bh);
	return ext4_handle_dirty_metadata(handle, NULL, sbi->s_gdb);
}

/* Blocks of one group; 0: it has none behind @from. */
static noinline ext4_fsblk_t ext4_mb_scan_group(handle_t *handle, struct super_block *sb, unsigned int group, unsigned int from,
						unsigned int *len, int *err)
{
	struct ext4_group_desc *gdp = ext4_get_group_desc(sb, group);
	struct ext4_sb_info *sbi = EXT4_SB(sb);
	struct buffer_head *bh;
	unsigned int start = 0, n = 0;

	if (!gdp->bg_free_blocks_count)
		return 0;
	bh = ext4_read_block_bitmap(sb, group);
	if (IS_ERR(bh)) {
		*err = PTR_ERR(bh);
		return 0;
	}
	ext4_journal_get_write_access(handle, sb, bh);
	spin_lock(&sbi->s_lock);
	n = mb_find_extent((unsigned long *)bh->b_data, from, blocks_in_group(sb, group), *len, &start);
	gdp->bg_free_blocks_count -= n;
	sbi->s_freeclusters -= n;
	sbi->s_es->s_free_blocks_count = sbi->s_freeclusters;
	spin_unlock(&sbi->s_lock);
	if (n)
		*err = ext4_mb_mark_diskspace_used(handle, sb, bh, group, (ext4_fsblk_t)group * sbi->s_blocks_per_group + start, n);
	brelse(bh);
	*len = n;
	return n ? (ext4_fsblk_t)group * sbi->s_blocks_per_group + start : 0;
}

static noinline ext4_fsblk_t ext4_mb_regular_allocator(handle_t *handle, struct ext4_allocation_request *ar, int *errp)
{
	struct super_block *sb = ar->inode->i_sb;
	struct ext4_sb_info *sbi = EXT4_SB(sb);
	unsigned int per = sbi->s_blocks_per_group, want = ar->len, first = ar->goal / per, i;

	for (i = 0; i <= sbi->s_groups_count && !*errp; i++) {
		unsigned int len = want;
		ext4_fsblk_t block = ext4_mb_scan_group(handle, sb, (first + i) % sbi->s_groups_count, i ? 0 : ar->goal % per, &len, errp);

		if (block) {
			ar->len = len;
			return block;
		}
	}
	return 0;
}

static noinline void ext4_mb_normalize_request(struct ext4_allocation_request *ar)
{
	struct ext4_sb_info *sbi = EXT4_SB(ar->inode->i_sb);

	ar->len = min(ar->len, (unsigned int)EXT_INIT_MAX_LEN);
	if (ar->goal >= sbi->s_blocks_count || !ar->goal)	/* near its inode's table */
		ar->goal = (ext4_fsblk_t)((ar->inode->i_ino - 1) / sbi->s_inodes_per_group) * sbi->s_blocks_per_group;
}

noinline ext4_fsblk_t ext4_mb_new_blocks(handle_t *handle, struct ext4_allocation_request *ar, int flags, int *errp)
{
	struct ext4_sb_info *sbi = EXT4_SB(ar->inode->i_sb);
	bool promised = flags & EXT4_GET_BLOCKS_DELALLOC_RESERVE;
	ext4_fsblk_t block;
	unsigned int want;

	*errp = 0;
	ext4_mb_normalize_request(ar);
	want = ar->len;
	if (!promised)		/* else the writer has claimed them */
		while (ar->len && ext4_claim_free_clusters(sbi, ar->len))
			ar->len >>= 1;
	if (!ar->len) {
		*errp = -ENOSPC;
		return 0;
	}
	want = ar->len;
	block = ext4_mb_regular_allocator(handle, ar, errp);
	if (!block && !*errp)
		*errp = -ENOSPC;
	if (!block)
		ar->len = 0;
	ext4_release_clusters(sbi, promised ? ar->len : want);
	if (block)
		trace_ext4_allocate_blocks(ar, block);
	return block;
}

noinline void ext4_free_blocks(handle_t *handle, struct inode *inode, ext4_fsblk_t block, unsigned long count, int flags)
{
	struct super_block *sb = inode->i_sb;
	struct ext4_sb_info *sbi = EXT4_SB(sb);
	unsigned int per = sbi->s_blocks_per_group;

	if (unlikely(!ext4_inode_block_valid(inode, block, count))) {
		ext4_error(sb, "Freeing blocks not in datazone - block = %llu, count = %lu", (unsigned long long)block, count);
		return;
	}
	trace_ext4_free_blocks(inode, block, count, flags);
	for (unsigned long i = 0; flags & EXT4_FREE_BLOCKS_FORGET && i < count; i++) {
		struct buffer_head *bh = __find_get_block(sb->s_bdev, block + i, EXT4_BLOCK_SIZE);

		if (bh)
			ext4_forget(handle, inode, bh);
	}
	while (count) {
		unsigned int group = block / per, bit = block % per, n = min(count, (unsigned long)per - bit), i, freed = 0;
		struct buffer_head *bh = ext4_read_block_bitmap(sb, group);

		if (IS_ERR(bh))
			return;
		ext4_journal_get_write_access(handle, sb, bh);
		spin_lock(&sbi->s_lock);
		for (i = 0; i < n; i++) {
			if (!test_and_clear_bit(bit + i, (unsigned long *)bh->b_data))
				continue;
			freed++;
		}
		ext4_get_group_desc(sb, group)->bg_free_blocks_count += freed;
		sbi->s_freeclusters += freed;
		sbi->s_es->s_free_blocks_count = sbi->s_freeclusters;
		spin_unlock(&sbi->s_lock);
		if (freed != n)
			EXT4_ERROR_INODE(inode, "bit already cleared for block %llu", (unsigned long long)block);
		ext4_mb_mark_diskspace_used(handle, sb, bh, group, 0, 0);
		brelse(bh);
		block += n;
		count -= n;
	}
}
