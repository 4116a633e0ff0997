/* Reading directories (Linux's fs/ext4/dir.c). */
#include "ext4.h"
#include "ext4_trace.h"

/* 0: the entry makes sense. */
noinline int ext4_check_dir_entry(struct inode *dir, struct ext4_dir_entry_2 *de, struct buffer_head *bh, unsigned int offset)
{
	unsigned int rlen = de->rec_len;
	const char *error = NULL;

	if (unlikely(rlen < EXT4_DIR_REC_LEN(1)))
		error = "rec_len is smaller than minimal";
	else if (unlikely(rlen % 4))
		error = "rec_len % 4 != 0";
	else if (unlikely(rlen < EXT4_DIR_REC_LEN(de->name_len)))
		error = "rec_len is too small for name_len";
	else if (unlikely(offset % EXT4_BLOCK_SIZE + rlen > EXT4_BLOCK_SIZE))
		error = "directory entry overrun";
	else if (unlikely(offset % EXT4_BLOCK_SIZE + rlen > EXT4_BLOCK_SIZE - EXT4_DIR_REC_LEN(1) && offset % EXT4_BLOCK_SIZE + rlen != EXT4_BLOCK_SIZE))
		error = "directory entry too close to block end";
	else if (unlikely(de->inode > EXT4_SB(dir->i_sb)->s_inodes_count))
		error = "inode out of bounds";
	if (likely(!error))
		return 0;
	EXT4_ERROR_INODE_BLOCK(dir, bh->b_blocknr, "bad entry in directory: %s - offset=%u, inode=%u, rec_len=%u, size=%lu fake=0", error,
			       offset, de->inode, rlen, EXT4_BLOCK_SIZE);
	return 1;
}

static unsigned int get_dtype(u8 file_type)
{
	static const u8 types[] = { DT_UNKNOWN, DT_REG, DT_DIR, DT_CHR, 6, DT_FIFO, 12, DT_LNK };

	return file_type < ARRAY_SIZE(types) ? types[file_type] : DT_UNKNOWN;
}

/* The entries of one block, from ctx->pos on; false: the reader has had enough. */
static noinline bool ext4_dir_block(struct inode *inode, struct dir_context *ctx, struct buffer_head *bh)
{
	unsigned int offset = ctx->pos % EXT4_BLOCK_SIZE, at = 0;

	/* a position may have become the middle of an entry since */
	while (at < offset && at <= EXT4_BLOCK_SIZE - EXT4_DIR_REC_LEN(1)) {
		struct ext4_dir_entry_2 *de = (void *)(bh->b_data + at);

		if (de->rec_len < EXT4_DIR_REC_LEN(1))
			break;
		at += de->rec_len;
	}
	while (at < EXT4_BLOCK_SIZE) {
		struct ext4_dir_entry_2 *de = (void *)(bh->b_data + min(at, (unsigned int)(EXT4_BLOCK_SIZE - EXT4_DIR_REC_LEN(1))));

		if (ext4_check_dir_entry(inode, de, bh, at))
			break;		/* the rest of the block is lost */
		ctx->pos = (ctx->pos & ~(loff_t)(EXT4_BLOCK_SIZE - 1)) + at;
		if (de->inode && !dir_emit(ctx, de->name, de->name_len, de->inode, get_dtype(de->file_type)))
			return false;
		at += de->rec_len;
	}
	ctx->pos = (ctx->pos & ~(loff_t)(EXT4_BLOCK_SIZE - 1)) + EXT4_BLOCK_SIZE;
	return true;
}

static noinline int ext4_readdir(struct file *file, struct dir_context *ctx)
{
	struct inode *inode = file_inode(file);

	while (ctx->pos < inode->i_size) {
		struct buffer_head *bh = ext4_bread(NULL, inode, ctx->pos >> EXT4_BLOCK_BITS, 0);
		bool more;

		if (IS_ERR(bh))
			return PTR_ERR(bh);
		if (!bh) {
			EXT4_ERROR_INODE(inode, "directory contains a hole at offset %llu", (unsigned long long)ctx->pos);
			if (ctx->pos > (loff_t)inode->i_blocks << 9)
				break;
			ctx->pos = (ctx->pos | (EXT4_BLOCK_SIZE - 1)) + 1;
			continue;
		}
		more = ext4_dir_block(inode, ctx, bh);
		brelse(bh);
		if (!more)
			break;
	}
	return 0;
}

static noinline loff_t ext4_dir_llseek(struct file *file, loff_t offset, int whence)
{
	return generic_file_llseek(file, offset, whence);
}

const struct file_operations ext4_dir_operations = {
	.llseek = ext4_dir_llseek,
	.read = generic_read_dir,
	.iterate_shared = ext4_readdir,
	.fsync = ext4_sync_file,
};
