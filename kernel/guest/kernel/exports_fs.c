/* What file systems and block drivers in modules may use, beyond exports.c. */
#include "export.h"
#include "module.h"
#include "sched.h"
#include "buffer_head.h"
#include "rcupdate.h"
#include "irq.h"
#include "kmod.h"
#include "cred.h"

/* locks, tasks */
EXPORT_SYMBOL(__init_rwsem);
EXPORT_SYMBOL(__rcu_read_lock);
EXPORT_SYMBOL(__rcu_read_unlock);
EXPORT_SYMBOL(_raw_spin_lock);
EXPORT_SYMBOL(_raw_spin_lock_bh);
EXPORT_SYMBOL(_raw_spin_lock_irq);
EXPORT_SYMBOL(_raw_spin_lock_irqsave);
EXPORT_SYMBOL(_raw_spin_unlock);
EXPORT_SYMBOL(_raw_spin_unlock_bh);
EXPORT_SYMBOL(_raw_spin_unlock_irq);
EXPORT_SYMBOL(_raw_spin_unlock_irqrestore);
EXPORT_SYMBOL(down_read);
EXPORT_SYMBOL(down_write);
EXPORT_SYMBOL(down_write_killable);
EXPORT_SYMBOL(io_schedule);
EXPORT_SYMBOL(ktime_get_real_ts64);
EXPORT_SYMBOL_GPL(rcu_barrier);
EXPORT_SYMBOL(up_read);
EXPORT_SYMBOL(up_write);
/* blocks and bios */
EXPORT_SYMBOL(__bforget);
EXPORT_SYMBOL(__find_get_block);
EXPORT_SYMBOL(__block_write_begin);
EXPORT_SYMBOL(__bread_gfp);
EXPORT_SYMBOL(__brelse);
EXPORT_SYMBOL(__getblk_gfp);
EXPORT_SYMBOL(__lock_buffer);
EXPORT_SYMBOL(__wait_on_buffer);
EXPORT_SYMBOL(bio_add_folio);
EXPORT_SYMBOL(bio_add_page);
EXPORT_SYMBOL(bio_advance);
EXPORT_SYMBOL(bio_alloc);
EXPORT_SYMBOL(bio_endio);
EXPORT_SYMBOL(bio_put);
EXPORT_SYMBOL(bdev_alloc);
EXPORT_SYMBOL(blk_alloc_disk);
EXPORT_SYMBOL(del_gendisk);
EXPORT_SYMBOL(device_add_disk);
EXPORT_SYMBOL(put_disk);
EXPORT_SYMBOL(blk_finish_plug);
EXPORT_SYMBOL(blk_start_plug);
EXPORT_SYMBOL(blkdev_issue_flush);
EXPORT_SYMBOL(block_invalidate_folio);
EXPORT_SYMBOL(block_write_end);
EXPORT_SYMBOL(create_empty_buffers);
EXPORT_SYMBOL(end_buffer_read_sync);
EXPORT_SYMBOL(kill_block_super);
EXPORT_SYMBOL(mark_buffer_dirty);
EXPORT_SYMBOL(submit_bh);
EXPORT_SYMBOL(submit_bio);
EXPORT_SYMBOL(submit_bio_noacct);
EXPORT_SYMBOL(submit_bio_wait);
EXPORT_SYMBOL(sync_blockdev);
EXPORT_SYMBOL(sync_dirty_buffer);
EXPORT_SYMBOL(unlock_buffer);
/* the page cache */
EXPORT_SYMBOL(__filemap_get_folio);
EXPORT_SYMBOL(filemap_fault);
EXPORT_SYMBOL(filemap_map_pages);
EXPORT_SYMBOL(__folio_lock);
EXPORT_SYMBOL(__put_page);
EXPORT_SYMBOL(clear_page);
EXPORT_SYMBOL(file_write_and_wait_range);
EXPORT_SYMBOL(filemap_fdatawait_range);
EXPORT_SYMBOL(filemap_flush);
EXPORT_SYMBOL(filemap_write_and_wait_range);
EXPORT_SYMBOL(folio_end_writeback);
EXPORT_SYMBOL(folio_mark_dirty);
EXPORT_SYMBOL(folio_start_writeback);
EXPORT_SYMBOL(folio_unlock);
EXPORT_SYMBOL(folio_wait_writeback);
EXPORT_SYMBOL(generic_file_llseek);
EXPORT_SYMBOL(generic_file_llseek_size);
EXPORT_SYMBOL(generic_file_mmap);
EXPORT_SYMBOL(generic_file_open);
EXPORT_SYMBOL(generic_file_read_iter);
EXPORT_SYMBOL(generic_perform_write);
EXPORT_SYMBOL(grab_cache_page_write_begin);
EXPORT_SYMBOL(readahead_folio);
EXPORT_SYMBOL(truncate_inode_pages_final);
EXPORT_SYMBOL(truncate_setsize);
EXPORT_SYMBOL(write_cache_pages);
EXPORT_SYMBOL(__xa_erase);
EXPORT_SYMBOL(__xa_insert);
EXPORT_SYMBOL(xa_destroy);
EXPORT_SYMBOL(xa_find);
EXPORT_SYMBOL(xa_init);
EXPORT_SYMBOL(xa_load);
/* inodes, names, mounts */
EXPORT_SYMBOL(__mark_inode_dirty);
EXPORT_SYMBOL(__request_module);
EXPORT_SYMBOL(call_usermodehelper);
EXPORT_SYMBOL(clear_inode);
EXPORT_SYMBOL(clear_nlink);
EXPORT_SYMBOL(current_time);
EXPORT_SYMBOL(d_add);
EXPORT_SYMBOL(d_instantiate);
EXPORT_SYMBOL(d_instantiate_new);
EXPORT_SYMBOL(d_make_root);
EXPORT_SYMBOL(d_splice_alias);
EXPORT_SYMBOL(drop_nlink);
EXPORT_SYMBOL(evict_inodes);
EXPORT_SYMBOL(file_remove_privs);
EXPORT_SYMBOL(file_update_time);
EXPORT_SYMBOL(find_next_zero_bit);
EXPORT_SYMBOL(from_kgid);
EXPORT_SYMBOL(from_kuid);
EXPORT_SYMBOL(generic_drop_inode);
EXPORT_SYMBOL(generic_fillattr);
EXPORT_SYMBOL(generic_read_dir);
EXPORT_SYMBOL(generic_write_checks);
EXPORT_SYMBOL(get_tree_bdev);
EXPORT_SYMBOL(iget_failed);
EXPORT_SYMBOL(iget_locked);
EXPORT_SYMBOL(ihold);
EXPORT_SYMBOL(inc_nlink);
EXPORT_SYMBOL(init_special_inode);
EXPORT_SYMBOL(init_user_ns);
EXPORT_SYMBOL(inode_init_owner);
EXPORT_SYMBOL(insert_inode_hash);
EXPORT_SYMBOL(insert_inode_locked);
EXPORT_SYMBOL(iput);
EXPORT_SYMBOL(make_bad_inode);
EXPORT_SYMBOL(make_kgid);
EXPORT_SYMBOL(make_kuid);
EXPORT_SYMBOL(new_inode);
EXPORT_SYMBOL(register_filesystem);
EXPORT_SYMBOL(request_irq);
EXPORT_SYMBOL(set_nlink);
EXPORT_SYMBOL(setattr_copy);
EXPORT_SYMBOL(setattr_prepare);
EXPORT_SYMBOL(simple_get_link);
EXPORT_SYMBOL(sync_filesystem);
EXPORT_SYMBOL(sync_inode_metadata);
EXPORT_SYMBOL(touch_atime);
EXPORT_SYMBOL(unlock_new_inode);
EXPORT_SYMBOL(unregister_filesystem);
