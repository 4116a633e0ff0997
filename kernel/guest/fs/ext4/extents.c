/*
 * Extents (Linux's fs/ext4/extents.c): a tree whose root is in the inode. A path is the way from the root to the leaf that
 * covers a block, or would cover it. A full leaf is followed by an empty one (files grow at their end); a full root moves
 * into a block and the tree becomes deeper.
 */
#include "ext4.h"
#include "ext4_trace.h"

struct ext4_ext_path {
	struct ext4_extent_header *p_hdr;
	struct ext4_extent *p_ext;	/* in the leaf: the last that begins at or before the block */
	struct ext4_extent_idx *p_idx;
	struct buffer_head *p_bh;
};

void ext4_ext_tree_init(handle_t *handle, struct inode *inode)
{
	struct ext4_extent_header *eh = ext_inode_hdr(inode);

	memset(EXT4_I(inode)->i_data, 0, sizeof(EXT4_I(inode)->i_data));
	*eh = (struct ext4_extent_header){ .eh_magic = EXT4_EXT_MAGIC, .eh_max = 4 };
	EXT4_I(inode)->i_flags |= EXT4_EXTENTS_FL;
}

static unsigned int ext4_ext_max_entries(struct inode *inode, struct ext4_extent_header *eh)
{
	return eh == ext_inode_hdr(inode) ? 4 : EXT4_EXT_BLOCK_MAX;
}

/* Entries in order, none of them over another, of blocks that a file may have. */
static noinline bool ext4_valid_extent_entries(struct inode *inode, struct ext4_extent_header *eh, int depth)
{
	u64 next = 0;

	for (unsigned int i = 0; i < eh->eh_entries; i++) {
		struct ext4_extent *ex = EXT_FIRST_EXTENT(eh) + i;
		unsigned int len = depth ? 1 : ext4_ext_get_actual_len(ex);
		ext4_fsblk_t block = depth ? ext4_idx_pblock(EXT_FIRST_INDEX(eh) + i) : ext4_ext_pblock(ex);

		/* the first word of both is the block where it begins */
		if (ex->ee_block < next || !len || (u64)ex->ee_block + len > 1ull << 32 || !ext4_inode_block_valid(inode, block, len))
			return false;
		next = (u64)ex->ee_block + len;
	}
	return true;
}

/* What is wrong with a node; what the code relies on so as not to leave it. NULL: nothing. */
static const char *ext4_ext_bad_header(struct inode *inode, struct ext4_extent_header *eh, int depth)
{
	if (unlikely(eh->eh_magic != EXT4_EXT_MAGIC))
		return "invalid magic";
	if (unlikely(eh->eh_depth != depth))
		return "unexpected eh_depth";
	if (unlikely(!eh->eh_max))
		return "invalid eh_max";
	if (unlikely(eh->eh_max > ext4_ext_max_entries(inode, eh)))
		return "too large eh_max";
	if (unlikely(eh->eh_entries > eh->eh_max))
		return "invalid eh_entries";
	if (unlikely(!eh->eh_entries && depth))
		return "eh_entries is 0 but eh_depth is > 0";
	if (unlikely(depth > EXT4_MAX_EXTENT_DEPTH))
		return "too large eh_depth";
	return NULL;
}

/* All of a node, or (@entries: false) only its header. */
static noinline int __ext4_ext_check(struct inode *inode, struct ext4_extent_header *eh, int depth, ext4_fsblk_t pblk, bool entries)
{
	const char *error = ext4_ext_bad_header(inode, eh, depth);

	if (!error && entries && !ext4_valid_extent_entries(inode, eh, depth))
		error = "invalid extent entries";
	if (likely(!error))
		return 0;
	EXT4_ERROR_INODE(inode, "pblk %llu bad header/extent: %s - magic %x, entries %u, max %u(%u), depth %u(%u)", (unsigned long long)pblk,
			 error, eh->eh_magic, eh->eh_entries, eh->eh_max, ext4_ext_max_entries(inode, eh), eh->eh_depth, depth);
	return -EFSCORRUPTED;
}

/* Of an inode that has been read. */
int ext4_ext_check_inode(struct inode *inode)
{
	struct ext4_extent_header *eh = ext_inode_hdr(inode);

	return __ext4_ext_check(inode, eh, eh->eh_depth, 0, true);
}

static noinline void ext4_ext_drop_refs(struct ext4_ext_path *path)
{
	for (int i = 0; i <= EXT4_MAX_EXTENT_DEPTH; i++) {
		brelse(path[i].p_bh);
		path[i].p_bh = NULL;
	}
}

static void ext4_ext_binsearch_idx(struct ext4_ext_path *path, ext4_lblk_t block)
{
	struct ext4_extent_idx *l = EXT_FIRST_INDEX(path->p_hdr) + 1, *r = EXT_LAST_INDEX(path->p_hdr);

	while (l <= r) {
		struct ext4_extent_idx *m = l + (r - l) / 2;

		if (block < m->ei_block)
			r = m - 1;
		else
			l = m + 1;
	}
	path->p_idx = l - 1;
}

static void ext4_ext_binsearch(struct ext4_ext_path *path, ext4_lblk_t block)
{
	struct ext4_extent *l = EXT_FIRST_EXTENT(path->p_hdr), *r = EXT_LAST_EXTENT(path->p_hdr);

	path->p_ext = NULL;
	while (l <= r) {
		struct ext4_extent *m = l + (r - l) / 2;

		if (block < m->ee_block) {
			r = m - 1;
		} else {
			path->p_ext = m;
			l = m + 1;
		}
	}
}

static noinline struct buffer_head *__read_extent_tree_block(struct inode *inode, ext4_fsblk_t pblk, int depth)
{
	struct buffer_head *bh = sb_bread(inode->i_sb, pblk);

	if (!bh)
		return ERR_PTR(-EIO);
	if (__ext4_ext_check(inode, (struct ext4_extent_header *)bh->b_data, depth, pblk, !buffer_verified(bh))) {
		brelse(bh);
		return ERR_PTR(-EFSCORRUPTED);
	}
	set_buffer_verified(bh);
	return bh;
}

/* i_data_sem is held. @path has room for the deepest tree; the caller drops it. */
static noinline int ext4_find_extent(struct inode *inode, ext4_lblk_t block, struct ext4_ext_path *path)
{
	struct ext4_extent_header *eh = ext_inode_hdr(inode);
	int depth = eh->eh_depth, i, err = __ext4_ext_check(inode, eh, depth, 0, false);

	memset(path, 0, (EXT4_MAX_EXTENT_DEPTH + 1) * sizeof(*path));
	if (err)
		return err;
	path[0].p_hdr = eh;
	for (i = 0; i < depth; i++) {
		struct buffer_head *bh;

		ext4_ext_binsearch_idx(&path[i], block);
		bh = __read_extent_tree_block(inode, ext4_idx_pblock(path[i].p_idx), depth - i - 1);
		if (IS_ERR(bh))
			return PTR_ERR(bh);
		path[i + 1].p_bh = bh;
		path[i + 1].p_hdr = (struct ext4_extent_header *)bh->b_data;
	}
	ext4_ext_binsearch(&path[depth], block);
	return 0;
}

static noinline int ext4_ext_dirty(handle_t *handle, struct inode *inode, struct ext4_ext_path *path)
{
	if (path->p_bh)
		return ext4_handle_dirty_metadata(handle, inode, path->p_bh);
	return ext4_mark_inode_dirty(handle, inode);
}

/* Where new blocks should lie: behind the ones before them. */
static noinline ext4_fsblk_t ext4_ext_find_goal(struct inode *inode, struct ext4_ext_path *path, ext4_lblk_t block)
{
	struct ext4_extent *ex = path[ext_inode_hdr(inode)->eh_depth].p_ext;

	return ex ? ext4_ext_pblock(ex) + (block - ex->ee_block) : 0;
}

static struct buffer_head *ext4_ext_new_block(handle_t *handle, struct inode *inode, ext4_fsblk_t goal, int *err)
{
	struct ext4_allocation_request ar = { .inode = inode, .len = 1, .goal = goal };
	ext4_fsblk_t block = ext4_mb_new_blocks(handle, &ar, 0, err);
	struct buffer_head *bh;

	if (!block)
		return NULL;
	bh = sb_getblk(inode->i_sb, block);
	if (!bh) {
		*err = -ENOMEM;
		return NULL;
	}
	inode->i_blocks += EXT4_BLOCK_SIZE >> 9;
	memset(bh->b_data, 0, EXT4_BLOCK_SIZE);
	return bh;
}

/* The root's entries move into a block of their own; the root points there. */
static noinline int ext4_ext_grow_indepth(handle_t *handle, struct inode *inode)
{
	struct ext4_extent_header *root = ext_inode_hdr(inode), *neh;
	struct buffer_head *bh;
	int err = 0;

	if (root->eh_depth >= EXT4_MAX_EXTENT_DEPTH)
		return -EFBIG;
	bh = ext4_ext_new_block(handle, inode, 0, &err);
	if (!bh)
		return err;
	neh = (struct ext4_extent_header *)bh->b_data;
	memcpy(neh, root, sizeof(EXT4_I(inode)->i_data));
	neh->eh_max = EXT4_EXT_BLOCK_MAX;
	ext4_handle_dirty_metadata(handle, inode, bh);
	root->eh_entries = 1;
	root->eh_depth++;
	/* an extent's and an index entry's first word are both the block where it begins */
	*EXT_FIRST_INDEX(root) = (struct ext4_extent_idx){ .ei_block = EXT_FIRST_INDEX(neh)->ei_block, .ei_leaf_lo = bh->b_blocknr,
							   .ei_leaf_hi = bh->b_blocknr >> 32 };
	brelse(bh);
	return ext4_mark_inode_dirty(handle, inode);
}

/*
 * Level @at of the path is full. A block behind it gets the upper half of its entries (none, when the new block lies behind
 * all), and an entry in the level above, which has room.
 */
static noinline int ext4_ext_split(handle_t *handle, struct inode *inode, struct ext4_ext_path *path, int at, ext4_lblk_t block)
{
	struct ext4_extent_header *eh = path[at].p_hdr, *neh, *up = path[at - 1].p_hdr;
	struct ext4_extent_idx *ix = path[at - 1].p_idx + 1;
	struct ext4_extent *ents = EXT_FIRST_EXTENT(eh);
	unsigned int had = eh->eh_entries, keep = block > ents[had - 1].ee_block ? had : had / 2;
	struct buffer_head *bh;
	int err = 0;

	bh = ext4_ext_new_block(handle, inode, path[at].p_bh->b_blocknr, &err);
	if (!bh)
		return err;
	if (unlikely(eh->eh_entries != had || up->eh_entries >= up->eh_max || ix > EXT_LAST_INDEX(up) + 1)) {
		EXT4_ERROR_INODE(inode, "p_hdr->eh_entries %d: a block of the tree was free", eh->eh_entries);
		brelse(bh);
		return -EFSCORRUPTED;	/* the bitmap was wrong: the new block is one of the path's */
	}
	neh = (struct ext4_extent_header *)bh->b_data;
	*neh = (struct ext4_extent_header){ .eh_magic = EXT4_EXT_MAGIC, .eh_max = EXT4_EXT_BLOCK_MAX, .eh_depth = eh->eh_depth,
					    .eh_entries = eh->eh_entries - keep };
	memcpy(EXT_FIRST_EXTENT(neh), ents + keep, neh->eh_entries * sizeof(*ents));
	eh->eh_entries = keep;
	ext4_handle_dirty_metadata(handle, inode, bh);
	ext4_ext_dirty(handle, inode, &path[at]);
	memmove(ix + 1, ix, (char *)(EXT_LAST_INDEX(up) + 1) - (char *)ix);
	*ix = (struct ext4_extent_idx){ .ei_block = neh->eh_entries ? EXT_FIRST_EXTENT(neh)->ee_block : block, .ei_leaf_lo = bh->b_blocknr,
					.ei_leaf_hi = bh->b_blocknr >> 32 };
	up->eh_entries++;
	brelse(bh);
	return ext4_ext_dirty(handle, inode, &path[at - 1]);
}

/* Makes room in the leaf for one extent at @block: the lowest full level below one with room is split, and again. */
static noinline int ext4_ext_create_new_leaf(handle_t *handle, struct inode *inode, struct ext4_ext_path *path, ext4_lblk_t block)
{
	for (;;) {
		int depth = ext_inode_hdr(inode)->eh_depth, i = depth, err;

		if (path[depth].p_hdr->eh_entries < path[depth].p_hdr->eh_max)
			return 0;
		while (i > 0 && path[i].p_hdr->eh_entries == path[i].p_hdr->eh_max)
			i--;
		if (path[i].p_hdr->eh_entries < path[i].p_hdr->eh_max)
			err = ext4_ext_split(handle, inode, path, i + 1, block);
		else
			err = ext4_ext_grow_indepth(handle, inode);
		ext4_ext_drop_refs(path);
		err = err ?: ext4_find_extent(inode, block, path);
		if (err)
			return err;
	}
}

/* Two neighbours in the file that are neighbours on disk. */
static bool ext4_can_extents_be_merged(struct ext4_extent *a, struct ext4_extent *b)
{
	return a->ee_len <= EXT_INIT_MAX_LEN && a->ee_block + a->ee_len == b->ee_block && ext4_ext_pblock(a) + a->ee_len == ext4_ext_pblock(b) &&
	       a->ee_len + b->ee_len <= EXT_INIT_MAX_LEN;
}

/* Index entries above must not begin behind the first entry of what they point to. */
static noinline void ext4_ext_correct_indexes(handle_t *handle, struct inode *inode, struct ext4_ext_path *path)
{
	int i = ext_inode_hdr(inode)->eh_depth;
	u32 first = EXT_FIRST_EXTENT(path[i].p_hdr)->ee_block;

	while (i-- > 0 && path[i].p_idx->ei_block > first) {
		path[i].p_idx->ei_block = first;
		ext4_ext_dirty(handle, inode, &path[i]);
	}
}

static noinline int ext4_ext_insert_extent(handle_t *handle, struct inode *inode, struct ext4_ext_path *path, struct ext4_extent *newext)
{
	int depth = ext_inode_hdr(inode)->eh_depth, err;
	struct ext4_extent *at = path[depth].p_ext;
	struct ext4_extent_header *eh;

	if (at && ext4_can_extents_be_merged(at, newext)) {
		at->ee_len += newext->ee_len;
		return ext4_ext_dirty(handle, inode, &path[depth]);
	}
	err = ext4_ext_create_new_leaf(handle, inode, path, newext->ee_block);
	if (err)
		return err;
	depth = ext_inode_hdr(inode)->eh_depth;
	eh = path[depth].p_hdr;
	at = path[depth].p_ext ? path[depth].p_ext + 1 : EXT_FIRST_EXTENT(eh);
	memmove(at + 1, at, (char *)(EXT_LAST_EXTENT(eh) + 1) - (char *)at);
	*at = *newext;
	eh->eh_entries++;
	ext4_ext_correct_indexes(handle, inode, path);
	return ext4_ext_dirty(handle, inode, &path[depth]);
}

/* How many blocks from @block on lie in the hole. */
static ext4_lblk_t ext4_ext_next_allocated_block(struct ext4_ext_path *path, int depth)
{
	struct ext4_extent_header *eh = path[depth].p_hdr;
	struct ext4_extent *next = path[depth].p_ext ? path[depth].p_ext + 1 : EXT_FIRST_EXTENT(eh);

	if (next <= EXT_LAST_EXTENT(eh))
		return next->ee_block;
	while (depth-- > 0)
		if (path[depth].p_idx < EXT_LAST_INDEX(path[depth].p_hdr))
			return path[depth].p_idx[1].ei_block;
	return ~0u;
}

static int ext4_ext_allocate(handle_t *handle, struct inode *inode, struct ext4_map_blocks *map, struct ext4_ext_path *path, int flags)
{
	struct ext4_allocation_request ar = { .inode = inode, .len = map->m_len, .logical = map->m_lblk };
	struct ext4_extent newex;
	int err = 0;

	ar.goal = ext4_ext_find_goal(inode, path, map->m_lblk);
	map->m_pblk = ext4_mb_new_blocks(handle, &ar, flags, &err);
	if (!map->m_pblk)
		return err;
	map->m_len = ar.len;
	newex = (struct ext4_extent){ .ee_block = map->m_lblk, .ee_len = ar.len, .ee_start_lo = map->m_pblk, .ee_start_hi = map->m_pblk >> 32 };
	inode->i_blocks += (u64)ar.len << (EXT4_BLOCK_BITS - 9);
	err = ext4_ext_insert_extent(handle, inode, path, &newex);
	if (err) {
		inode->i_blocks -= (u64)ar.len << (EXT4_BLOCK_BITS - 9);
		ext4_free_blocks(handle, inode, map->m_pblk, ar.len, 0);
		return err;
	}
	map->m_flags |= EXT4_MAP_MAPPED | EXT4_MAP_NEW;
	return map->m_len;
}

/* How many blocks are mapped from m_lblk on; 0: a hole, of m_len blocks. i_data_sem is held, for writing with CREATE. */
noinline int ext4_ext_map_blocks(handle_t *handle, struct inode *inode, struct ext4_map_blocks *map, int flags)
{
	struct ext4_ext_path path[EXT4_MAX_EXTENT_DEPTH + 1];
	struct ext4_extent *ex;
	unsigned int len;
	int depth, ret;

	trace_ext4_ext_map_blocks_enter(inode, map->m_lblk, map->m_len, flags);
	ret = ext4_find_extent(inode, map->m_lblk, path);
	if (ret)
		goto out;
	depth = ext_inode_hdr(inode)->eh_depth;
	ex = path[depth].p_ext;
	len = ex ? ext4_ext_get_actual_len(ex) : 0;
	if (ex && map->m_lblk - ex->ee_block < len) {
		map->m_len = min(map->m_len, ex->ee_block + len - map->m_lblk);
		if (unlikely(ex->ee_len > EXT_INIT_MAX_LEN)) {	/* reads as a hole */
			ret = flags & EXT4_GET_BLOCKS_CREATE ? -EOPNOTSUPP : 0;
			goto out;
		}
		map->m_pblk = ext4_ext_pblock(ex) + (map->m_lblk - ex->ee_block);
		map->m_flags |= EXT4_MAP_MAPPED;
		ret = map->m_len;
		goto out;
	}
	map->m_len = min(map->m_len, ext4_ext_next_allocated_block(path, depth) - map->m_lblk);
	if (flags & EXT4_GET_BLOCKS_CREATE)
		ret = ext4_ext_allocate(handle, inode, map, path, flags);
out:
	ext4_ext_drop_refs(path);
	trace_ext4_ext_map_blocks_exit(inode, flags, map, ret);
	return ret;
}

/* ---- truncation ---- */
static int get_default_free_blocks_flags(struct inode *inode)
{
	return S_ISREG(inode->i_mode) ? 0 : EXT4_FREE_BLOCKS_METADATA | EXT4_FREE_BLOCKS_FORGET;
}

static noinline void ext4_remove_blocks(handle_t *handle, struct inode *inode, struct ext4_extent *ex, ext4_lblk_t from)
{
	unsigned int n = ex->ee_block + ext4_ext_get_actual_len(ex) - from;

	ext4_free_blocks(handle, inode, ext4_ext_pblock(ex) + (from - ex->ee_block), n, get_default_free_blocks_flags(inode));
	inode->i_blocks -= (u64)n << (EXT4_BLOCK_BITS - 9);
	ex->ee_len = from == ex->ee_block ? 0 : ex->ee_len - n;
}

static noinline void ext4_ext_rm_leaf(handle_t *handle, struct inode *inode, struct ext4_extent_header *eh, ext4_lblk_t start)
{
	while (eh->eh_entries) {
		struct ext4_extent *ex = EXT_LAST_EXTENT(eh);

		if ((u64)ex->ee_block + ext4_ext_get_actual_len(ex) <= start)
			break;
		ext4_remove_blocks(handle, inode, ex, max(start, ex->ee_block));
		if (ex->ee_len)
			break;
		eh->eh_entries--;
	}
}

static noinline void ext4_ext_rm_idx(handle_t *handle, struct inode *inode, struct ext4_extent_header *eh)
{
	ext4_free_blocks(handle, inode, ext4_idx_pblock(EXT_LAST_INDEX(eh)), 1, EXT4_FREE_BLOCKS_METADATA | EXT4_FREE_BLOCKS_FORGET);
	inode->i_blocks -= EXT4_BLOCK_SIZE >> 9;
	eh->eh_entries--;
}

/* All from @start on goes, last entries first. The tree is at most EXT4_MAX_EXTENT_DEPTH deep. */
static int ext4_ext_rm_level(handle_t *handle, struct inode *inode, struct ext4_extent_header *eh, ext4_lblk_t start)
{
	if (!eh->eh_depth) {
		ext4_ext_rm_leaf(handle, inode, eh, start);
		return 0;
	}
	while (eh->eh_entries) {
		struct ext4_extent_idx *ix = EXT_LAST_INDEX(eh);
		struct buffer_head *bh = __read_extent_tree_block(inode, ext4_idx_pblock(ix), eh->eh_depth - 1);
		unsigned int left;
		int err;

		if (IS_ERR(bh))
			return PTR_ERR(bh);
		err = ext4_ext_rm_level(handle, inode, (struct ext4_extent_header *)bh->b_data, start);
		left = ((struct ext4_extent_header *)bh->b_data)->eh_entries;
		if (left)
			ext4_handle_dirty_metadata(handle, inode, bh);
		if (err || left) {
			brelse(bh);
			return err;
		}
		brelse(bh);
		ext4_ext_rm_idx(handle, inode, eh);
	}
	return 0;
}

static noinline int ext4_ext_remove_space(handle_t *handle, struct inode *inode, ext4_lblk_t start)
{
	struct ext4_extent_header *eh = ext_inode_hdr(inode);
	int err = __ext4_ext_check(inode, eh, eh->eh_depth, 0, false);

	err = err ?: ext4_ext_rm_level(handle, inode, eh, start);
	if (!eh->eh_entries)
		eh->eh_depth = 0;
	return err ?: ext4_mark_inode_dirty(handle, inode);
}

noinline int ext4_ext_truncate(handle_t *handle, struct inode *inode)
{
	ext4_lblk_t last = (inode->i_size + EXT4_BLOCK_SIZE - 1) >> EXT4_BLOCK_BITS;

	EXT4_I(inode)->i_disksize = inode->i_size;
	return ext4_ext_remove_space(handle, inode, last);
}
