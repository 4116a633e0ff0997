/* ext4: Linux 6.1's events, formats and ids, each with the way from its arguments to its fields; see trace_events.h. */

TRACE_EVENT(ext4, ext4_journal_start, 1042,
	TP_PROTO(struct super_block *sb, int blocks, int rsv_blocks, int revoke_creds, unsigned long IP), TP_ARGS(sb, blocks, rsv_blocks, revoke_creds, IP),
	TP_FIELDS(
		__field(dev_t, dev, T_ARG(0), T_LD(4, struct super_block, s_dev))
		__field(unsigned long, ip, T_ARG(4), T_CALLER)
		__field(int, blocks, T_ARG(1))
		__field(int, rsv_blocks, T_ARG(2))
		__field(int, revoke_creds, T_ARG(3))),
	TP_printk("\"dev %d,%d blocks %d, rsv_blocks %d, revoke_creds %d, caller %pS\", ((unsigned int) ((REC->dev) >> "
		"20)), ((unsigned int) ((REC->dev) & ((1U << 20) - 1))), REC->blocks, REC->rsv_blocks, REC->revoke_creds, "
		"(void *)REC->ip"))

TRACE_EVENT(ext4, ext4_load_inode, 1043,
	TP_PROTO(struct super_block *sb, unsigned long ino), TP_ARGS(sb, ino),
	TP_FIELDS(
		__field(dev_t, dev, T_ARG(0), T_LD(4, struct super_block, s_dev))
		__field(ino_t, ino, T_ARG(1))),
	TP_printk("\"dev %d,%d ino %ld\", ((unsigned int) ((REC->dev) >> 20)), ((unsigned int) ((REC->dev) & ((1U << 20) - "
		"1))), (unsigned long) REC->ino"))

TRACE_EVENT(ext4, ext4_mark_inode_dirty, 1100,
	TP_PROTO(struct inode *inode, unsigned long IP), TP_ARGS(inode, IP),
	TP_FIELDS(
		__field(dev_t, dev, T_ARG(0), T_LD(8, struct inode, i_sb), T_LD(4, struct super_block, s_dev))
		__field(ino_t, ino, T_ARG(0), T_LD(8, struct inode, i_ino))
		__field(unsigned long, ip, T_ARG(1), T_CALLER)),
	TP_printk("\"dev %d,%d ino %lu caller %pS\", ((unsigned int) ((REC->dev) >> 20)), ((unsigned int) ((REC->dev) & "
		"((1U << 20) - 1))), (unsigned long) REC->ino, (void *)REC->ip"))

TRACE_EVENT(ext4, ext4_evict_inode, 1103,
	TP_PROTO(struct inode *inode), TP_ARGS(inode),
	TP_FIELDS(
		__field(dev_t, dev, T_ARG(0), T_LD(8, struct inode, i_sb), T_LD(4, struct super_block, s_dev))
		__field(ino_t, ino, T_ARG(0), T_LD(8, struct inode, i_ino))
		__field(int, nlink, T_ARG(0), T_LD(4, struct inode, i_nlink))),
	TP_printk("\"dev %d,%d ino %lu nlink %d\", ((unsigned int) ((REC->dev) >> 20)), ((unsigned int) ((REC->dev) & ((1U "
		"<< 20) - 1))), (unsigned long) REC->ino, REC->nlink"))

TRACE_EVENT(ext4, ext4_drop_inode, 1102,
	TP_PROTO(struct inode *inode, int drop), TP_ARGS(inode, drop),
	TP_FIELDS(
		__field(dev_t, dev, T_ARG(0), T_LD(8, struct inode, i_sb), T_LD(4, struct super_block, s_dev))
		__field(ino_t, ino, T_ARG(0), T_LD(8, struct inode, i_ino))
		__field(int, drop, T_ARG(1))),
	TP_printk("\"dev %d,%d ino %lu drop %d\", ((unsigned int) ((REC->dev) >> 20)), ((unsigned int) ((REC->dev) & ((1U "
		"<< 20) - 1))), (unsigned long) REC->ino, REC->drop"))

TRACE_EVENT(ext4, ext4_request_inode, 1105,
	TP_PROTO(struct inode *dir, int mode), TP_ARGS(dir, mode),
	TP_FIELDS(
		__field(dev_t, dev, T_ARG(0), T_LD(8, struct inode, i_sb), T_LD(4, struct super_block, s_dev))
		__field(ino_t, dir, T_ARG(0), T_LD(8, struct inode, i_ino))
		__field(__u16, mode, T_ARG(1))),
	TP_printk("\"dev %d,%d dir %lu mode 0%o\", ((unsigned int) ((REC->dev) >> 20)), ((unsigned int) ((REC->dev) & ((1U "
		"<< 20) - 1))), (unsigned long) REC->dir, REC->mode"))

TRACE_EVENT(ext4, ext4_allocate_inode, 1104,
	TP_PROTO(struct inode *inode, struct inode *dir, int mode), TP_ARGS(inode, dir, mode),
	TP_FIELDS(
		__field(dev_t, dev, T_ARG(0), T_LD(8, struct inode, i_sb), T_LD(4, struct super_block, s_dev))
		__field(ino_t, ino, T_ARG(0), T_LD(8, struct inode, i_ino))
		__field(ino_t, dir, T_ARG(1), T_LD(8, struct inode, i_ino))
		__field(__u16, mode, T_ARG(2))),
	TP_printk("\"dev %d,%d ino %lu dir %lu mode 0%o\", ((unsigned int) ((REC->dev) >> 20)), ((unsigned int) ((REC->dev) "
		"& ((1U << 20) - 1))), (unsigned long) REC->ino, (unsigned long) REC->dir, REC->mode"))

TRACE_EVENT(ext4, ext4_free_inode, 1106,
	TP_PROTO(struct inode *inode), TP_ARGS(inode),
	TP_FIELDS(
		__field(dev_t, dev, T_ARG(0), T_LD(8, struct inode, i_sb), T_LD(4, struct super_block, s_dev))
		__field(ino_t, ino, T_ARG(0), T_LD(8, struct inode, i_ino))
		__field(uid_t, uid, T_ARG(0), T_LD(4, struct inode, i_uid))
		__field(gid_t, gid, T_ARG(0), T_LD(4, struct inode, i_gid))
		__field(__u64, blocks, T_ARG(0), T_LD(8, struct inode, i_blocks))
		__field(__u16, mode, T_ARG(0), T_LD(2, struct inode, i_mode))),
	TP_printk("\"dev %d,%d ino %lu mode 0%o uid %u gid %u blocks %llu\", ((unsigned int) ((REC->dev) >> 20)), "
		"((unsigned int) ((REC->dev) & ((1U << 20) - 1))), (unsigned long) REC->ino, REC->mode, REC->uid, "
		"REC->gid, REC->blocks"))

DECLARE_EVENT_CLASS(ext4__write_begin,
	TP_PROTO(struct inode *inode, loff_t pos, unsigned int len), TP_ARGS(inode, pos, len),
	TP_FIELDS(
		__field(dev_t, dev, T_ARG(0), T_LD(8, struct inode, i_sb), T_LD(4, struct super_block, s_dev))
		__field(ino_t, ino, T_ARG(0), T_LD(8, struct inode, i_ino))
		__field(loff_t, pos, T_ARG(1))
		__field(unsigned int, len, T_ARG(2))),
	TP_printk("\"dev %d,%d ino %lu pos %lld len %u\", ((unsigned int) ((REC->dev) >> 20)), ((unsigned int) ((REC->dev) "
		"& ((1U << 20) - 1))), (unsigned long) REC->ino, REC->pos, REC->len"))

DEFINE_EVENT(ext4__write_begin, ext4, ext4_da_write_begin, 1097, TP_PROTO(struct inode *inode, loff_t pos, unsigned int len), TP_ARGS(inode, pos, len))

DECLARE_EVENT_CLASS(ext4__write_end,
	TP_PROTO(struct inode *inode, loff_t pos, unsigned int len, unsigned int copied), TP_ARGS(inode, pos, len, copied),
	TP_FIELDS(
		__field(dev_t, dev, T_ARG(0), T_LD(8, struct inode, i_sb), T_LD(4, struct super_block, s_dev))
		__field(ino_t, ino, T_ARG(0), T_LD(8, struct inode, i_ino))
		__field(loff_t, pos, T_ARG(1))
		__field(unsigned int, len, T_ARG(2))
		__field(unsigned int, copied, T_ARG(3))),
	TP_printk("\"dev %d,%d ino %lu pos %lld len %u copied %u\", ((unsigned int) ((REC->dev) >> 20)), ((unsigned int) "
		"((REC->dev) & ((1U << 20) - 1))), (unsigned long) REC->ino, REC->pos, REC->len, REC->copied"))

DEFINE_EVENT(ext4__write_end, ext4, ext4_da_write_end, 1094, TP_PROTO(struct inode *inode, loff_t pos, unsigned int len, unsigned int copied), TP_ARGS(inode, pos, len, copied))

DECLARE_EVENT_CLASS(ext4__page_op,
	TP_PROTO(struct page *page), TP_ARGS(page),
	TP_FIELDS(
		__field(dev_t, dev, T_ARG(0), T_LD(8, struct page, mapping), T_LD(8, struct address_space, host), T_LD(8, struct inode, i_sb), T_LD(4, struct super_block, s_dev))
		__field(ino_t, ino, T_ARG(0), T_LD(8, struct page, mapping), T_LD(8, struct address_space, host), T_LD(8, struct inode, i_ino))
		__field(unsigned long, index, T_ARG(0), T_LD(8, struct page, index))),
	TP_printk("\"dev %d,%d ino %lu page_index %lu\", ((unsigned int) ((REC->dev) >> 20)), ((unsigned int) ((REC->dev) & "
		"((1U << 20) - 1))), (unsigned long) REC->ino, (unsigned long) REC->index"))

DEFINE_EVENT(ext4__page_op, ext4, ext4_readpage, 1088, TP_PROTO(struct page *page), TP_ARGS(page))

TRACE_EVENT(ext4, ext4_writepages, 1093,
	TP_PROTO(struct inode *inode, struct writeback_control *wbc), TP_ARGS(inode, wbc),
	TP_FIELDS(
		__field(dev_t, dev, T_ARG(0), T_LD(8, struct inode, i_sb), T_LD(4, struct super_block, s_dev))
		__field(ino_t, ino, T_ARG(0), T_LD(8, struct inode, i_ino))
		__field(long, nr_to_write, T_ARG(1), T_LD(8, struct writeback_control, nr_to_write))
		__field(long, pages_skipped, T_ARG(1), T_LD(8, struct writeback_control, pages_skipped))
		__field(loff_t, range_start, T_ARG(1), T_LD(8, struct writeback_control, range_start))
		__field(loff_t, range_end, T_ARG(1), T_LD(8, struct writeback_control, range_end))
		__field(unsigned long, writeback_index, T_ARG(0), T_IMM(0))
		__field(int, sync_mode, T_ARG(1), T_LD(4, struct writeback_control, sync_mode))
		__field(char, for_kupdate, T_ARG(1), T_LD(1, struct writeback_control, for_kupdate))
		__field(char, range_cyclic, T_ARG(1), T_LD(1, struct writeback_control, range_cyclic))),
	TP_printk("\"dev %d,%d ino %lu nr_to_write %ld pages_skipped %ld range_start %lld range_end %lld sync_mode %d "
		"for_kupdate %d range_cyclic %d writeback_index %lu\", ((unsigned int) ((REC->dev) >> 20)), ((unsigned "
		"int) ((REC->dev) & ((1U << 20) - 1))), (unsigned long) REC->ino, REC->nr_to_write, REC->pages_skipped, "
		"REC->range_start, REC->range_end, REC->sync_mode, REC->for_kupdate, REC->range_cyclic, (unsigned long) "
		"REC->writeback_index"))

TRACE_EVENT(ext4, ext4_sync_file_enter, 1074,
	TP_PROTO(struct file *file, int datasync), TP_ARGS(file, datasync),
	TP_FIELDS(
		__field(dev_t, dev, T_ARG(0), T_LD(8, struct file, f_inode), T_LD(8, struct inode, i_sb), T_LD(4, struct super_block, s_dev))
		__field(ino_t, ino, T_ARG(0), T_LD(8, struct file, f_inode), T_LD(8, struct inode, i_ino))
		__field(ino_t, parent, T_ARG(0), T_LD(8, struct file, f_path.dentry), T_LD(8, struct dentry, d_parent), T_LD(8, struct dentry, d_inode), T_LD(8, struct inode, i_ino))
		__field(int, datasync, T_ARG(1))),
	TP_printk("\"dev %d,%d ino %lu parent %lu datasync %d \", ((unsigned int) ((REC->dev) >> 20)), ((unsigned int) "
		"((REC->dev) & ((1U << 20) - 1))), (unsigned long) REC->ino, (unsigned long) REC->parent, REC->datasync"))

TRACE_EVENT(ext4, ext4_sync_file_exit, 1073,
	TP_PROTO(struct inode *inode, int ret), TP_ARGS(inode, ret),
	TP_FIELDS(
		__field(dev_t, dev, T_ARG(0), T_LD(8, struct inode, i_sb), T_LD(4, struct super_block, s_dev))
		__field(ino_t, ino, T_ARG(0), T_LD(8, struct inode, i_ino))
		__field(int, ret, T_ARG(1))),
	TP_printk("\"dev %d,%d ino %lu ret %d\", ((unsigned int) ((REC->dev) >> 20)), ((unsigned int) ((REC->dev) & ((1U << "
		"20) - 1))), (unsigned long) REC->ino, REC->ret"))

TRACE_EVENT(ext4, ext4_sync_fs, 1072,
	TP_PROTO(struct super_block *sb, int wait), TP_ARGS(sb, wait),
	TP_FIELDS(
		__field(dev_t, dev, T_ARG(0), T_LD(4, struct super_block, s_dev))
		__field(int, wait, T_ARG(1))),
	TP_printk("\"dev %d,%d wait %d\", ((unsigned int) ((REC->dev) >> 20)), ((unsigned int) ((REC->dev) & ((1U << 20) - "
		"1))), REC->wait"))

TRACE_EVENT(ext4, ext4_allocate_blocks, 1076,
	TP_PROTO(struct ext4_allocation_request *ar, unsigned long long block), TP_ARGS(ar, block),
	TP_FIELDS(
		__field(dev_t, dev, T_ARG(0), T_LD(8, struct ext4_allocation_request, inode), T_LD(8, struct inode, i_sb), T_LD(4, struct super_block, s_dev))
		__field(ino_t, ino, T_ARG(0), T_LD(8, struct ext4_allocation_request, inode), T_LD(8, struct inode, i_ino))
		__field(__u64, block, T_ARG(1))
		__field(unsigned int, len, T_ARG(0), T_LD(4, struct ext4_allocation_request, len))
		__field(__u32, logical, T_ARG(0), T_LD(4, struct ext4_allocation_request, logical))
		__field(__u32, lleft, T_IMM(0))
		__field(__u32, lright, T_IMM(0))
		__field(__u64, goal, T_ARG(0), T_LD(8, struct ext4_allocation_request, goal))
		__field(__u64, pleft, T_IMM(0))
		__field(__u64, pright, T_IMM(0))
		__field(unsigned int, flags, T_IMM(0))),
	TP_printk("\"dev %d,%d ino %lu flags %s len %u block %llu lblk %u goal %llu lleft %u lright %u pleft %llu pright "
		"%llu\", ((unsigned int) ((REC->dev) >> 20)), ((unsigned int) ((REC->dev) & ((1U << 20) - 1))), (unsigned "
		"long) REC->ino, __print_flags(REC->flags, \"|\", { 0x0001, \"HINT_MERGE\" }, { 0x0002, \"HINT_RESV\" }, "
		"{ 0x0004, \"HINT_MDATA\" }, { 0x0008, \"HINT_FIRST\" }, { 0x0010, \"HINT_BEST\" }, { 0x0020, "
		"\"HINT_DATA\" }, { 0x0040, \"HINT_NOPREALLOC\" }, { 0x0080, \"HINT_GRP_ALLOC\" }, { 0x0100, "
		"\"HINT_GOAL_ONLY\" }, { 0x0200, \"HINT_TRY_GOAL\" }, { 0x0400, \"DELALLOC_RESV\" }, { 0x0800, "
		"\"STREAM_ALLOC\" }, { 0x1000, \"USE_ROOT_BLKS\" }, { 0x2000, \"USE_RESV\" }, { 0x4000, \"STRICT_CHECK\" "
		"}), REC->len, REC->block, REC->logical, REC->goal, REC->lleft, REC->lright, REC->pleft, REC->pright"))

TRACE_EVENT(ext4, ext4_free_blocks, 1075,
	TP_PROTO(struct inode *inode, unsigned long long block, unsigned long count, int flags), TP_ARGS(inode, block, count, flags),
	TP_FIELDS(
		__field(dev_t, dev, T_ARG(0), T_LD(8, struct inode, i_sb), T_LD(4, struct super_block, s_dev))
		__field(ino_t, ino, T_ARG(0), T_LD(8, struct inode, i_ino))
		__field(__u64, block, T_ARG(1))
		__field(unsigned long, count, T_ARG(2))
		__field(int, flags, T_ARG(3))
		__field(__u16, mode, T_ARG(0), T_LD(2, struct inode, i_mode))),
	TP_printk("\"dev %d,%d ino %lu mode 0%o block %llu count %lu flags %s\", ((unsigned int) ((REC->dev) >> 20)), "
		"((unsigned int) ((REC->dev) & ((1U << 20) - 1))), (unsigned long) REC->ino, REC->mode, REC->block, "
		"REC->count, __print_flags(REC->flags, \"|\", { 0x0001, \"METADATA\" }, { 0x0002, \"FORGET\" }, { 0x0004, "
		"\"VALIDATED\" }, { 0x0008, \"NO_QUOTA\" }, { 0x0010,\"1ST_CLUSTER\" }, { 0x0020, \"LAST_CLUSTER\" })"))

TRACE_EVENT(ext4, ext4_unlink_enter, 1054,
	TP_PROTO(struct inode *parent, struct dentry *dentry), TP_ARGS(parent, dentry),
	TP_FIELDS(
		__field(dev_t, dev, T_ARG(0), T_LD(8, struct inode, i_sb), T_LD(4, struct super_block, s_dev))
		__field(ino_t, ino, T_ARG(1), T_LD(8, struct dentry, d_inode), T_LD(8, struct inode, i_ino))
		__field(ino_t, parent, T_ARG(0), T_LD(8, struct inode, i_ino))
		__field(loff_t, size, T_ARG(1), T_LD(8, struct dentry, d_inode), T_LD(8, struct inode, i_size))),
	TP_printk("\"dev %d,%d ino %lu size %lld parent %lu\", ((unsigned int) ((REC->dev) >> 20)), ((unsigned int) "
		"((REC->dev) & ((1U << 20) - 1))), (unsigned long) REC->ino, REC->size, (unsigned long) REC->parent"))

TRACE_EVENT(ext4, ext4_unlink_exit, 1053,
	TP_PROTO(struct dentry *dentry, int ret), TP_ARGS(dentry, ret),
	TP_FIELDS(
		__field(dev_t, dev, T_ARG(0), T_LD(8, struct dentry, d_inode), T_LD(8, struct inode, i_sb), T_LD(4, struct super_block, s_dev))
		__field(ino_t, ino, T_ARG(0), T_LD(8, struct dentry, d_inode), T_LD(8, struct inode, i_ino))
		__field(int, ret, T_ARG(1))),
	TP_printk("\"dev %d,%d ino %lu ret %d\", ((unsigned int) ((REC->dev) >> 20)), ((unsigned int) ((REC->dev) & ((1U << "
		"20) - 1))), (unsigned long) REC->ino, REC->ret"))

DECLARE_EVENT_CLASS(ext4__truncate,
	TP_PROTO(struct inode *inode), TP_ARGS(inode),
	TP_FIELDS(
		__field(dev_t, dev, T_ARG(0), T_LD(8, struct inode, i_sb), T_LD(4, struct super_block, s_dev))
		__field(ino_t, ino, T_ARG(0), T_LD(8, struct inode, i_ino))
		__field(__u64, blocks, T_ARG(0), T_LD(8, struct inode, i_blocks))),
	TP_printk("\"dev %d,%d ino %lu blocks %llu\", ((unsigned int) ((REC->dev) >> 20)), ((unsigned int) ((REC->dev) & "
		"((1U << 20) - 1))), (unsigned long) REC->ino, REC->blocks"))

DEFINE_EVENT(ext4__truncate, ext4, ext4_truncate_enter, 1052, TP_PROTO(struct inode *inode), TP_ARGS(inode))
DEFINE_EVENT(ext4__truncate, ext4, ext4_truncate_exit, 1051, TP_PROTO(struct inode *inode), TP_ARGS(inode))

DECLARE_EVENT_CLASS(ext4__map_blocks_enter,
	TP_PROTO(struct inode *inode, u32 lblk, unsigned int len, unsigned int flags), TP_ARGS(inode, lblk, len, flags),
	TP_FIELDS(
		__field(dev_t, dev, T_ARG(0), T_LD(8, struct inode, i_sb), T_LD(4, struct super_block, s_dev))
		__field(ino_t, ino, T_ARG(0), T_LD(8, struct inode, i_ino))
		__field(ext4_lblk_t, lblk, T_ARG(1))
		__field(unsigned int, len, T_ARG(2))
		__field(unsigned int, flags, T_ARG(3))),
	TP_printk("\"dev %d,%d ino %lu lblk %u len %u flags %s\", ((unsigned int) ((REC->dev) >> 20)), ((unsigned int) "
		"((REC->dev) & ((1U << 20) - 1))), (unsigned long) REC->ino, REC->lblk, REC->len, "
		"__print_flags(REC->flags, \"|\", { 0x0001, \"CREATE\" }, { 0x0002, \"UNWRIT\" }, { 0x0004, \"DELALLOC\" "
		"}, { 0x0008, \"PRE_IO\" }, { 0x0010, \"CONVERT\" }, { 0x0020, \"METADATA_NOFAIL\" }, { 0x0040, "
		"\"NO_NORMALIZE\" }, { 0x0100, \"CONVERT_UNWRITTEN\" }, { 0x0200, \"ZERO\" }, { 0x0400, \"IO_SUBMIT\" }, "
		"{ 0x40000000, \"EX_NOCACHE\" })"))

DEFINE_EVENT(ext4__map_blocks_enter, ext4, ext4_ext_map_blocks_enter, 1048, TP_PROTO(struct inode *inode, u32 lblk, unsigned int len, unsigned int flags), TP_ARGS(inode, lblk, len, flags))

DECLARE_EVENT_CLASS(ext4__map_blocks_exit,
	TP_PROTO(struct inode *inode, unsigned int flags, struct ext4_map_blocks *map, int ret), TP_ARGS(inode, flags, map, ret),
	TP_FIELDS(
		__field(dev_t, dev, T_ARG(0), T_LD(8, struct inode, i_sb), T_LD(4, struct super_block, s_dev))
		__field(ino_t, ino, T_ARG(0), T_LD(8, struct inode, i_ino))
		__field(unsigned int, flags, T_ARG(1))
		__field(ext4_fsblk_t, pblk, T_ARG(2), T_LD(8, struct ext4_map_blocks, m_pblk))
		__field(ext4_lblk_t, lblk, T_ARG(2), T_LD(4, struct ext4_map_blocks, m_lblk))
		__field(unsigned int, len, T_ARG(2), T_LD(4, struct ext4_map_blocks, m_len))
		__field(unsigned int, mflags, T_ARG(2), T_LD(4, struct ext4_map_blocks, m_flags))
		__field(int, ret, T_ARG(3))),
	TP_printk("\"dev %d,%d ino %lu flags %s lblk %u pblk %llu len %u mflags %s ret %d\", ((unsigned int) ((REC->dev) >> "
		"20)), ((unsigned int) ((REC->dev) & ((1U << 20) - 1))), (unsigned long) REC->ino, "
		"__print_flags(REC->flags, \"|\", { 0x0001, \"CREATE\" }, { 0x0002, \"UNWRIT\" }, { 0x0004, \"DELALLOC\" "
		"}, { 0x0008, \"PRE_IO\" }, { 0x0010, \"CONVERT\" }, { 0x0020, \"METADATA_NOFAIL\" }, { 0x0040, "
		"\"NO_NORMALIZE\" }, { 0x0100, \"CONVERT_UNWRITTEN\" }, { 0x0200, \"ZERO\" }, { 0x0400, \"IO_SUBMIT\" }, "
		"{ 0x40000000, \"EX_NOCACHE\" }), REC->lblk, REC->pblk, REC->len, __print_flags(REC->mflags, \"\", { "
		"((((1UL))) << (5)), \"N\" }, { ((((1UL))) << (4)), \"M\" }, { ((((1UL))) << (11)), \"U\" }, { ((((1UL))) "
		"<< (9)), \"B\" }), REC->ret"))

DEFINE_EVENT(ext4__map_blocks_exit, ext4, ext4_ext_map_blocks_exit, 1046, TP_PROTO(struct inode *inode, unsigned int flags, struct ext4_map_blocks *map, int ret), TP_ARGS(inode, flags, map, ret))
