/*
 * Buffers: blocks of a device, each a page of the device's page cache here, since blocks are as large as pages (Linux's
 * include/linux/buffer_head.h, fs/buffer.c). page->private is the buffer of a page.
 */
#ifndef _BUFFER_HEAD_H
#define _BUFFER_HEAD_H
#include "blkdev.h"
#include "pagemap.h"

enum bh_state_bits { BH_Uptodate, BH_Dirty, BH_Lock, BH_Req, BH_Mapped, BH_New, BH_Async_Read, BH_Async_Write, BH_Delay, BH_Verified };

struct buffer_head;
typedef void (bh_end_io_t)(struct buffer_head *bh, int uptodate);

struct buffer_head {
	unsigned long b_state;
	struct page *b_page;
	sector_t b_blocknr;
	size_t b_size;
	char *b_data;
	struct block_device *b_bdev;
	bh_end_io_t *b_end_io;
	void *b_private;
	atomic_t b_count;
};

#define BUFFER_FNS(bit, name)								\
static __always_inline void set_buffer_##name(struct buffer_head *bh) { set_bit(BH_##bit, &bh->b_state); }	\
static __always_inline void clear_buffer_##name(struct buffer_head *bh) { clear_bit(BH_##bit, &bh->b_state); }	\
static __always_inline bool buffer_##name(const struct buffer_head *bh) { return test_bit(BH_##bit, &bh->b_state); }
BUFFER_FNS(Uptodate, uptodate)
BUFFER_FNS(Dirty, dirty)
BUFFER_FNS(Lock, locked)
BUFFER_FNS(Mapped, mapped)
BUFFER_FNS(New, new)
BUFFER_FNS(Delay, delay)
BUFFER_FNS(Verified, verified)	/* the file system has looked at what it holds */

#define page_has_buffers(page)	((page)->private != 0)
#define page_buffers(page)	((struct buffer_head *)(page)->private)
static inline void get_bh(struct buffer_head *bh) { atomic_inc(&bh->b_count); }
static inline void put_bh(struct buffer_head *bh) { atomic_dec(&bh->b_count); }
void __brelse(struct buffer_head *bh);
static inline void brelse(struct buffer_head *bh) { if (bh) __brelse(bh); }

struct buffer_head *alloc_page_buffers(struct page *page, unsigned long size);
void free_buffer_head(struct buffer_head *bh);
struct buffer_head *create_empty_buffers(struct page *page, struct block_device *bdev);
struct buffer_head *__find_get_block(struct block_device *bdev, sector_t block, unsigned int size);
struct buffer_head *__getblk_gfp(struct block_device *bdev, sector_t block, unsigned int size, gfp_t gfp);
struct buffer_head *__bread_gfp(struct block_device *bdev, sector_t block, unsigned int size, gfp_t gfp);
void __lock_buffer(struct buffer_head *bh);
void unlock_buffer(struct buffer_head *bh);
void __wait_on_buffer(struct buffer_head *bh);
void mark_buffer_dirty(struct buffer_head *bh);
void submit_bh(blk_opf_t opf, struct buffer_head *bh);
int sync_dirty_buffer(struct buffer_head *bh);
void end_buffer_read_sync(struct buffer_head *bh, int uptodate);
void end_buffer_async_write(struct buffer_head *bh, int uptodate);
void end_buffer_write_sync(struct buffer_head *bh, int uptodate);
void __bforget(struct buffer_head *bh);
typedef int (get_block_t)(struct inode *inode, sector_t iblock, struct buffer_head *bh, int create);
int __block_write_begin(struct page *page, loff_t pos, unsigned int len, get_block_t *get_block);
int block_write_end(struct file *file, struct address_space *mapping, loff_t pos, unsigned int len, unsigned int copied,
		    struct page *page, void *fsdata);
bool try_to_free_buffers(struct folio *folio);
void block_invalidate_folio(struct folio *folio);
int block_read_full_folio(struct folio *folio, struct block_device *bdev, sector_t block);
void buffer_init(void);

static inline void lock_buffer(struct buffer_head *bh) { if (test_and_set_bit(BH_Lock, &bh->b_state)) __lock_buffer(bh); }
static inline void wait_on_buffer(struct buffer_head *bh) { if (buffer_locked(bh)) __wait_on_buffer(bh); }
static inline struct buffer_head *sb_bread(struct super_block *sb, sector_t block)
{
	return __bread_gfp(sb->s_bdev, block, sb->s_blocksize, GFP_KERNEL);
}
static inline struct buffer_head *sb_getblk(struct super_block *sb, sector_t block)
{
	return __getblk_gfp(sb->s_bdev, block, sb->s_blocksize, GFP_KERNEL);
}
#endif
