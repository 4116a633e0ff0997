/* Bios: allocation, pages, completion (Linux's block/bio.c). A bio has its vectors behind it, in one slab object. */
#include "blkdev.h"
#include "pagemap.h"
#include "slab.h"
#include "sched.h"
#include "completion.h"
#include "init.h"

static struct kmem_cache *bio_slab;

noinline struct bio *bio_alloc(struct block_device *bdev, unsigned short nr_vecs, blk_opf_t opf, gfp_t gfp_mask)
{
	struct bio *bio;

	BUG_ON(nr_vecs > BIO_MAX_VECS);
	bio = kmem_cache_alloc(bio_slab, gfp_mask);
	if (unlikely(!bio))
		return NULL;
	*bio = (struct bio){ .bi_bdev = bdev, .bi_opf = opf, .bi_max_vecs = BIO_MAX_VECS };
	return bio;
}

static noinline void bio_free(struct bio *bio)
{
	kmem_cache_free(bio_slab, bio);
}

void bio_put(struct bio *bio)
{
	bio_free(bio);
}

/* A page that follows the last one in memory goes into its vector. */
static bool __bio_try_merge_page(struct bio *bio, struct page *page, unsigned int len, unsigned int off)
{
	struct bio_vec *bv;

	if (!bio->bi_vcnt)
		return false;
	bv = &bio->bi_io_vec[bio->bi_vcnt - 1];
	if (page_to_phys(bv->bv_page) + bv->bv_offset + bv->bv_len != page_to_phys(page) + off || bv->bv_page != page)
		return false;
	bv->bv_len += len;
	bio->bi_iter.bi_size += len;
	return true;
}

static void __bio_add_page(struct bio *bio, struct page *page, unsigned int len, unsigned int off)
{
	bio->bi_io_vec[bio->bi_vcnt++] = (struct bio_vec){ .bv_page = page, .bv_len = len, .bv_offset = off };
	bio->bi_iter.bi_size += len;
}

/* How many bytes were added: len, or 0 when the bio is full. */
noinline int bio_add_page(struct bio *bio, struct page *page, unsigned int len, unsigned int offset)
{
	if (__bio_try_merge_page(bio, page, len, offset))
		return len;
	if (bio->bi_vcnt >= bio->bi_max_vecs)
		return 0;
	__bio_add_page(bio, page, len, offset);
	return len;
}

noinline bool bio_add_folio(struct bio *bio, struct folio *folio, size_t len, size_t off)
{
	return bio_add_page(bio, &folio->page, len, off) > 0;
}

void bio_advance(struct bio *bio, unsigned int nbytes)
{
	bio->bi_iter.bi_sector += nbytes >> SECTOR_SHIFT;
	bio->bi_iter.bi_size -= min(nbytes, bio->bi_iter.bi_size);
}

noinline void bio_endio(struct bio *bio)
{
	if (bio->bi_flags & BIO_TRACE_COMPLETION) {
		trace_block_bio_complete(bio->bi_bdev->bd_queue, bio);
		bio->bi_flags &= ~BIO_TRACE_COMPLETION;
	}
	if (bio->bi_end_io)
		(*bio->bi_end_io)(bio);
}

static void submit_bio_wait_endio(struct bio *bio)
{
	complete(bio->bi_private);
}

noinline int submit_bio_wait(struct bio *bio)
{
	DECLARE_COMPLETION_ONSTACK(done);

	bio->bi_private = &done;
	bio->bi_end_io = submit_bio_wait_endio;
	bio->bi_opf |= REQ_SYNC;
	submit_bio(bio);
	wait_for_completion(&done);
	return blk_status_to_errno(bio->bi_status);
}

static int __init init_bio(void)
{
	bio_slab = kmem_cache_create("bio-304", sizeof(struct bio) + BIO_MAX_VECS * sizeof(struct bio_vec), 8,
				     SLAB_HWCACHE_ALIGN | SLAB_PANIC, NULL);
	return 0;
}
core_initcall(init_bio);
