/*
 * Block devices as files (Linux's block/bdev.c, block/fops.c): each has an inode in a file system of its own, whose page
 * cache holds the device's blocks; /dev nodes lead to it. A mounted file system holds its device exclusively.
 */
#include "blkdev.h"
#include "buffer_head.h"
#include "namei.h"
#include "sched.h"
#include "init.h"
#include "slab.h"
#include "module.h"

static struct super_block *blockdev_superblock;
static DEFINE_MUTEX(bdev_lock);

struct block_device *bdev_alloc(struct gendisk *disk, u64 sectors)
{
	struct block_device *bdev = kzalloc(sizeof(*bdev), GFP_KERNEL);
	struct inode *inode = new_inode(blockdev_superblock);

	if (!bdev || !inode)
		return NULL;
	bdev->bd_dev = MKDEV(disk->major, disk->first_minor);
	bdev->bd_nr_sectors = sectors;
	bdev->bd_disk = disk;
	bdev->bd_queue = disk->queue;
	bdev->bd_inode = inode;
	inode->i_mode = S_IFBLK;
	inode->i_rdev = bdev->bd_dev;
	inode->i_size = bdev_nr_bytes(bdev);
	inode->i_private = bdev;
	inode->i_mapping->a_ops = &def_blk_aops;
	wb_init(bdev);
	disk->part0 = bdev;
	return bdev;
}

struct block_device *blkdev_get_by_dev(dev_t dev, void *holder)
{
	struct gendisk *disk = disk_by_dev(dev);
	struct block_device *bdev = disk ? disk->part0 : NULL;

	if (!bdev)
		return ERR_PTR(-ENXIO);
	if (disk->fops && !try_module_get(disk->fops->owner))
		return ERR_PTR(-ENXIO);
	mutex_lock(&bdev_lock);
	if (holder && bdev->bd_holder && bdev->bd_holder != holder) {
		mutex_unlock(&bdev_lock);
		if (disk->fops)
			module_put(disk->fops->owner);
		return ERR_PTR(-EBUSY);
	}
	if (holder)
		bdev->bd_holder = holder;
	bdev->bd_openers++;
	mutex_unlock(&bdev_lock);
	return bdev;
}

static noinline int lookup_bdev(const char *pathname, dev_t *dev)
{
	struct inode *inode;
	struct path path;
	int error = kern_path(pathname, LOOKUP_FOLLOW, &path);

	if (error)
		return error;
	inode = d_backing_inode(path.dentry);
	if (S_ISBLK(inode->i_mode))
		*dev = inode->i_rdev;
	else
		error = -ENOTBLK;
	path_put(&path);
	return error;
}

struct block_device *blkdev_get_by_path(const char *path, void *holder)
{
	dev_t dev;
	int error = lookup_bdev(path, &dev);

	return error ? ERR_PTR(error) : blkdev_get_by_dev(dev, holder);
}

/* With the last user goes what the device's cache holds: what is dirty is written first. */
static noinline void blkdev_flush_mapping(struct block_device *bdev)
{
	sync_blockdev(bdev);
	truncate_inode_pages_range(bdev->bd_inode->i_mapping, 0, -1);
}

void blkdev_put(struct block_device *bdev, void *holder)
{
	if (bdev->bd_openers == 1)
		sync_blockdev(bdev);	/* most of it without the lock */
	mutex_lock(&bdev_lock);
	if (bdev->bd_openers == 1)
		blkdev_flush_mapping(bdev);
	if (holder)
		bdev->bd_holder = NULL;
	bdev->bd_openers--;
	mutex_unlock(&bdev_lock);
	if (bdev->bd_disk->fops)
		module_put(bdev->bd_disk->fops->owner);
}

noinline int sync_blockdev(struct block_device *bdev)
{
	return filemap_write_and_wait(bdev->bd_inode->i_mapping);
}

/* ---- the file ---- */
static noinline int blkdev_open(struct inode *inode, struct file *filp)
{
	struct block_device *bdev = blkdev_get_by_dev(inode->i_rdev, NULL);

	if (IS_ERR(bdev))
		return PTR_ERR(bdev);
	filp->f_mapping = bdev->bd_inode->i_mapping;
	filp->private_data = bdev;
	return 0;
}

static int blkdev_close(struct inode *inode, struct file *filp)
{
	blkdev_put(filp->private_data, NULL);
	return 0;
}

static noinline ssize_t blkdev_read_iter(struct kiocb *iocb, struct iov_iter *to)
{
	loff_t size = bdev_nr_bytes((struct block_device *)iocb->ki_filp->private_data);

	if (iocb->ki_pos >= size)
		return 0;
	iov_iter_truncate(to, size - iocb->ki_pos);
	return filemap_read(iocb, to, 0);
}

static noinline ssize_t blkdev_write_iter(struct kiocb *iocb, struct iov_iter *from)
{
	loff_t size = bdev_nr_bytes((struct block_device *)iocb->ki_filp->private_data);
	ssize_t ret;

	if (!iov_iter_count(from))
		return 0;
	if (iocb->ki_pos >= size)
		return -ENOSPC;
	iov_iter_truncate(from, size - iocb->ki_pos);
	ret = generic_perform_write(iocb, from);
	if (ret > 0)
		iocb->ki_pos += ret;
	return ret;
}

static loff_t blkdev_llseek(struct file *file, loff_t offset, int whence)
{
	loff_t size = bdev_nr_bytes((struct block_device *)file->private_data);

	return generic_file_llseek_size(file, offset, whence, size, size);
}

static noinline int blkdev_fsync(struct file *filp, loff_t start, loff_t end, int datasync)
{
	struct block_device *bdev = filp->private_data;
	int error = filemap_write_and_wait(filp->f_mapping);

	return error ?: blkdev_issue_flush(bdev);
}

const struct file_operations def_blk_fops = {
	.open = blkdev_open,
	.release = blkdev_close,
	.llseek = blkdev_llseek,
	.read_iter = blkdev_read_iter,
	.write_iter = blkdev_write_iter,
	.fsync = blkdev_fsync,
	.splice_read = generic_file_splice_read,
	.splice_write = iter_file_splice_write,
};

/* ---- the page cache of devices ---- */
static noinline int blkdev_read_folio(struct file *file, struct folio *folio)
{
	return block_read_full_folio(folio, I_BDEV(folio->page.mapping->host), folio->page.index);
}

static noinline int blkdev_write_begin(struct file *file, struct address_space *mapping, loff_t pos, unsigned int len,
				       struct page **pagep, void **fsdata)
{
	struct page *page = grab_cache_page_write_begin(mapping, pos >> PAGE_SHIFT);
	struct folio *folio;
	int err = 0;

	if (!page)
		return -ENOMEM;
	folio = page_folio(page);
	create_empty_buffers(page, I_BDEV(mapping->host));
	if (!PageUptodate(page) && len != PAGE_SIZE) {
		err = block_read_full_folio(folio, I_BDEV(mapping->host), page->index);
		folio_lock(folio);
		if (!err && !PageUptodate(page))
			err = -EIO;
	}
	if (err) {
		folio_unlock(folio);
		folio_put(folio);
		return err;
	}
	*pagep = page;
	return 0;
}

static noinline int blkdev_write_end(struct file *file, struct address_space *mapping, loff_t pos, unsigned int len,
				     unsigned int copied, struct page *page, void *fsdata)
{
	if (copied < len && !PageUptodate(page))
		copied = 0;
	else
		mark_buffer_dirty(page_buffers(page));
	if (copied) {
		set_buffer_uptodate(page_buffers(page));
		SetPageUptodate(page);
	}
	unlock_page(page);
	put_page(page);
	return copied;
}

static noinline int blkdev_writepage(struct page *page, struct writeback_control *wbc, void *data)
{
	struct folio *folio = page_folio(page);
	struct buffer_head *bh = page_buffers(page);

	lock_buffer(bh);
	if (!buffer_dirty(bh)) {	/* forgotten meanwhile: the block has been freed */
		unlock_buffer(bh);
		folio_unlock(folio);
		return 0;
	}
	folio_start_writeback(folio);
	clear_buffer_dirty(bh);
	get_bh(bh);
	bh->b_end_io = end_buffer_async_write;
	submit_bh(REQ_OP_WRITE | (wbc->sync_mode ? REQ_SYNC : 0), bh);
	folio_unlock(folio);
	return 0;
}

static noinline int blkdev_writepages(struct address_space *mapping, struct writeback_control *wbc)
{
	struct blk_plug plug;
	int ret;

	blk_start_plug(&plug);
	ret = write_cache_pages(mapping, wbc, blkdev_writepage, mapping);
	blk_finish_plug(&plug);
	return ret;
}

const struct address_space_operations def_blk_aops = {
	.read_folio = blkdev_read_folio,
	.write_begin = blkdev_write_begin,
	.write_end = blkdev_write_end,
	.writepages = blkdev_writepages,
	.invalidate_folio = block_invalidate_folio,
};

static int bd_fill_super(struct super_block *sb, void *data)
{
	static const struct super_operations ops = { .drop_inode = generic_delete_inode };
	struct inode *inode;

	sb->s_op = &ops;
	sb->s_magic = 0x62646576;
	inode = new_inode(sb);
	if (!inode)
		return -ENOMEM;
	inode->i_mode = S_IFDIR | 0755;
	blockdev_superblock = sb;
	sb->s_root = d_make_root(inode);
	return sb->s_root ? 0 : -ENOMEM;
}

static struct file_system_type bd_type = { .name = "bdev", .fill_super = bd_fill_super };

void __init bdev_cache_init(void)
{
	register_filesystem(&bd_type);
	if (IS_ERR(kern_mount(&bd_type)))
		panic("Cannot create bdev pseudo-fs");
}
