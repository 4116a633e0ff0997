/*
 * Disks in memory, /dev/ram0 …: module brd (Linux's drivers/block/brd.c). The driver takes bios as they are, without requests,
 * and has done with them before submit_bio() returns. A page comes to be with the first write to it.
 *
 *	modprobe brd [rd_nr=N] [rd_size=KIB]
 */
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/blkdev.h>
#include <linux/fs.h>
#include <linux/gfp.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/xarray.h>
#include <linux/rcupdate.h>

#define RAMDISK_MAJOR	1
#define PAGE_SECTORS	(PAGE_SIZE >> SECTOR_SHIFT)

static int rd_nr = 16;
module_param(rd_nr, int, 0444);
MODULE_PARM_DESC(rd_nr, "Maximum number of brd devices");
static ulong rd_size = 16384;
module_param(rd_size, ulong, 0444);
MODULE_PARM_DESC(rd_size, "Size of each RAM disk in kbytes.");

struct brd_device {
	struct gendisk *brd_disk;
	struct list_head brd_list;
	struct xarray brd_pages;	/* what is not there is zeros */
};

static LIST_HEAD(brd_devices);

static noinline struct page *brd_lookup_page(struct brd_device *brd, sector_t sector)
{
	return xa_load(&brd->brd_pages, sector / PAGE_SECTORS);
}

static noinline int brd_insert_page(struct brd_device *brd, sector_t sector)
{
	struct page *page;
	int err;

	if (brd_lookup_page(brd, sector))
		return 0;
	page = alloc_page(GFP_NOIO | __GFP_ZERO);
	if (!page)
		return -ENOSPC;
	xa_lock_irq(&brd->brd_pages);
	err = __xa_insert(&brd->brd_pages, sector / PAGE_SECTORS, page, GFP_ATOMIC);
	xa_unlock_irq(&brd->brd_pages);
	if (err)
		__free_page(page);
	return err == -EBUSY ? 0 : err;		/* another was faster */
}

/* Sectors may lie in two pages. */
static noinline void copy_to_brd(struct brd_device *brd, const char *src, sector_t sector, size_t n)
{
	while (n) {
		unsigned int offset = sector % PAGE_SECTORS << SECTOR_SHIFT;
		size_t copy = min(n, (size_t)PAGE_SIZE - offset);

		memcpy((char *)page_address(brd_lookup_page(brd, sector)) + offset, src, copy);
		src += copy;
		sector += copy >> SECTOR_SHIFT;
		n -= copy;
	}
}

static noinline void copy_from_brd(char *dst, struct brd_device *brd, sector_t sector, size_t n)
{
	while (n) {
		unsigned int offset = sector % PAGE_SECTORS << SECTOR_SHIFT;
		size_t copy = min(n, (size_t)PAGE_SIZE - offset);
		struct page *page = brd_lookup_page(brd, sector);

		if (page)
			memcpy(dst, (char *)page_address(page) + offset, copy);
		else
			memset(dst, 0, copy);
		dst += copy;
		sector += copy >> SECTOR_SHIFT;
		n -= copy;
	}
}

static noinline int copy_to_brd_setup(struct brd_device *brd, sector_t sector, size_t n)
{
	for (sector_t s = sector; s < sector + (n >> SECTOR_SHIFT); s = (s | (PAGE_SECTORS - 1)) + 1) {
		int err = brd_insert_page(brd, s);

		if (err)
			return err;
	}
	return 0;
}

static noinline int brd_do_bvec(struct brd_device *brd, struct page *page, unsigned int len, unsigned int off, blk_opf_t op, sector_t sector)
{
	char *mem = (char *)page_address(page) + off;
	int err;

	if (!op_is_write(op)) {
		copy_from_brd(mem, brd, sector, len);
		return 0;
	}
	err = copy_to_brd_setup(brd, sector, len);
	if (!err)
		copy_to_brd(brd, mem, sector, len);
	return err;
}

static noinline void brd_submit_bio(struct bio *bio)
{
	struct brd_device *brd = bio->bi_bdev->bd_disk->private_data;
	sector_t sector = bio->bi_iter.bi_sector;
	struct bio_vec *bv;
	int i;

	bio_for_each_segment_all(bv, bio, i) {
		int err = brd_do_bvec(brd, bv->bv_page, bv->bv_len, bv->bv_offset, bio_op(bio), sector);

		if (err) {
			bio->bi_status = BLK_STS_IOERR;
			break;
		}
		sector += bv->bv_len >> SECTOR_SHIFT;
	}
	bio_endio(bio);
}

static const struct block_device_operations brd_fops = {
	.owner = THIS_MODULE,
	.submit_bio = brd_submit_bio,
};

static void brd_free(struct brd_device *brd)
{
	struct page *page;
	unsigned long i;

	if (brd->brd_disk)
		put_disk(brd->brd_disk);
	for (i = 0; (page = xa_find(&brd->brd_pages, &i, ~0ul)); i++)
		__free_page(page);
	xa_destroy(&brd->brd_pages);
	kfree(brd);
}

static noinline int brd_alloc(int i)
{
	struct brd_device *brd = kzalloc(sizeof(*brd), GFP_KERNEL);
	int err = -ENOMEM;

	if (!brd)
		return -ENOMEM;
	xa_init(&brd->brd_pages);
	brd->brd_disk = blk_alloc_disk(&brd_fops, brd);
	if (!brd->brd_disk)
		goto out;
	brd->brd_disk->major = RAMDISK_MAJOR;
	brd->brd_disk->first_minor = i;
	snprintf(brd->brd_disk->disk_name, sizeof(brd->brd_disk->disk_name), "ram%d", i);
	if (!bdev_alloc(brd->brd_disk, rd_size * 2))
		goto out;
	err = device_add_disk(brd->brd_disk);
	if (err)
		goto out;
	list_add_tail(&brd->brd_list, &brd_devices);
	return 0;
out:
	brd_free(brd);
	return err;
}

static void brd_cleanup(void)
{
	struct brd_device *brd, *next;

	list_for_each_entry_safe(brd, next, &brd_devices, brd_list) {
		del_gendisk(brd->brd_disk);
		list_del(&brd->brd_list);
		brd_free(brd);
	}
}

static int __init brd_init(void)
{
	int i, err = 0;

	for (i = 0; i < rd_nr && !err; i++)
		err = brd_alloc(i);
	if (err) {
		brd_cleanup();
		pr_info("brd: module NOT loaded !!!\n");
		return err;
	}
	pr_info("brd: module loaded\n");
	return 0;
}

static void __exit brd_exit(void)
{
	brd_cleanup();
	pr_info("brd: module unloaded\n");
}

module_init(brd_init);
module_exit(brd_exit);
MODULE_LICENSE("GPL");
MODULE_AUTHOR("kscope");
MODULE_DESCRIPTION("Ram backed block device driver");
