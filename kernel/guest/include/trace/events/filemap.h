/* The page cache: Linux 6.1's events, formats and ids, each with the way from its arguments to its fields; see trace_events.h. */

DECLARE_EVENT_CLASS(mm_filemap_op_page_cache,
	TP_PROTO(struct folio *folio), TP_ARGS(folio),
	TP_FIELDS(
		__field(unsigned long, pfn, T_PFN(0))
		__field(unsigned long, i_ino, T_ARG(0), T_LD(8, struct page, mapping), T_LD(8, struct address_space, host), T_LD(8, struct inode, i_ino))
		__field(unsigned long, index, T_ARG(0), T_LD(8, struct page, index))
		__field(dev_t, s_dev, T_ARG(0), T_LD(8, struct page, mapping), T_LD(8, struct address_space, host), T_LD(8, struct inode, i_sb), T_LD(4, struct super_block, s_dev))
		__field(unsigned char, order, T_IMM(0))),
	TP_printk("\"dev %d:%d ino %lx pfn=0x%lx ofs=%lu order=%u\", ((unsigned int) ((REC->s_dev) >> 20)), ((unsigned int) "
		"((REC->s_dev) & ((1U << 20) - 1))), REC->i_ino, REC->pfn, REC->index << 12, REC->order"))

DEFINE_EVENT(mm_filemap_op_page_cache, filemap, mm_filemap_add_to_page_cache, 497, TP_PROTO(struct folio *folio), TP_ARGS(folio))
DEFINE_EVENT(mm_filemap_op_page_cache, filemap, mm_filemap_delete_from_page_cache, 498, TP_PROTO(struct folio *folio), TP_ARGS(folio))
