/* Start-up of the virtual file system, in Linux's order (fs/dcache.c: vfs_caches_init). */
#include "namei.h"
#include "slab.h"
#include "pagemap.h"
#include "init.h"
#include "buffer_head.h"
#include "seq_file.h"

struct kmem_cache *names_cachep;

void __init vfs_caches_init_early(void)
{
	/* both tables are arrays in the image: there is nothing to allocate, but their sizes are told as Linux tells them */
	pr_info("Dentry cache hash table entries: %d (order: %d, %d bytes, linear)\n", 1024, 1, 8192);
}

void __init vfs_caches_init(void)
{
	names_cachep = kmem_cache_create("names_cache", PATH_MAX, 0, SLAB_HWCACHE_ALIGN | SLAB_PANIC, NULL);
	dcache_init();
	inode_init();
	files_init();
	pagecache_init();
	mnt_init();
	seq_file_init();
	buffer_init();
	bdev_cache_init();
}
