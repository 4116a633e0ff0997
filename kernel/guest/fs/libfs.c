/*
 * Directories that live in the dentry cache alone, and the simple operations of memory file systems (Linux's fs/libfs.c).
 * A file that exists keeps one extra reference on its dentry; negative dentries are not kept (always_delete_dentry).
 */
#include "fs.h"
#include "sched.h"
#include "slab.h"
#include "mm.h"
#include "pagemap.h"
#include "uaccess.h"

int always_delete_dentry(const struct dentry *dentry)
{
	return 1;
}

const struct dentry_operations simple_dentry_operations = { .d_delete = always_delete_dentry };

struct dentry *simple_lookup(struct inode *dir, struct dentry *dentry, unsigned int flags)
{
	if (dentry->d_name.len > PATH_MAX_NAME)
		return ERR_PTR(-ENAMETOOLONG);
	if (!dentry->d_sb->s_d_op)
		d_set_d_op(dentry, &simple_dentry_operations);
	d_add(dentry, NULL);
	return NULL;
}

int dcache_dir_open(struct inode *inode, struct file *file)
{
	file->private_data = d_alloc_cursor(file->f_path.dentry);
	return file->private_data ? 0 : -ENOMEM;
}

int dcache_dir_close(struct inode *inode, struct file *file)
{
	dput(file->private_data);
	return 0;
}

/*
 * The @count-th positive child behind @p, with a reference; the one on @last is given back. While the scan pauses, the
 * cursor marks the place.
 */
static noinline struct dentry *scan_positives(struct dentry *cursor, struct list_head *p, loff_t count, struct dentry *last)
{
	struct dentry *dentry = cursor->d_parent, *found = NULL;

	spin_lock(&dentry->d_lock);
	while ((p = p->next) != &dentry->d_subdirs) {
		struct dentry *d = list_entry(p, struct dentry, d_child);

		if (d->d_flags & DCACHE_DENTRY_CURSOR)
			continue;
		if (simple_positive(d) && !--count) {
			spin_lock(&d->d_lock);
			if (simple_positive(d))
				found = dget_dlock(d);
			spin_unlock(&d->d_lock);
			if (likely(found))
				break;
			count = 1;
		}
		if (need_resched()) {
			list_move(&cursor->d_child, p);
			p = &cursor->d_child;
			spin_unlock(&dentry->d_lock);
			cond_resched();
			spin_lock(&dentry->d_lock);
		}
	}
	spin_unlock(&dentry->d_lock);
	dput(last);
	return found;
}

loff_t dcache_dir_lseek(struct file *file, loff_t offset, int whence)
{
	struct dentry *dentry = file->f_path.dentry, *cursor = file->private_data, *to = NULL;

	if (whence == SEEK_CUR)
		offset += file->f_pos;
	else if (whence != SEEK_SET)
		return -EINVAL;
	if (offset < 0)
		return -EINVAL;
	if (offset != file->f_pos) {
		inode_lock_shared(dentry->d_inode);
		if (offset > 2)
			to = scan_positives(cursor, &dentry->d_subdirs, offset - 2, NULL);
		spin_lock(&dentry->d_lock);
		if (to)
			list_move(&cursor->d_child, &to->d_child);
		else
			list_del_init(&cursor->d_child);
		spin_unlock(&dentry->d_lock);
		dput(to);
		file->f_pos = offset;
		inode_unlock_shared(dentry->d_inode);
	}
	return offset;
}

static inline u64 parent_ino(struct dentry *dentry)
{
	u64 res;

	spin_lock(&dentry->d_lock);
	res = dentry->d_parent->d_inode->i_ino;
	spin_unlock(&dentry->d_lock);
	return res;
}

static inline bool dir_emit_dots(struct file *file, struct dir_context *ctx)
{
	if (ctx->pos == 0) {
		if (!dir_emit(ctx, ".", 1, file_inode(file)->i_ino, DT_DIR))
			return false;
		ctx->pos = 1;
	}
	if (ctx->pos == 1) {
		if (!dir_emit(ctx, "..", 2, parent_ino(file->f_path.dentry), DT_DIR))
			return false;
		ctx->pos = 2;
	}
	return true;
}

int dcache_readdir(struct file *file, struct dir_context *ctx)
{
	struct dentry *dentry = file->f_path.dentry, *cursor = file->private_data, *next = NULL;
	struct list_head *anchor = &dentry->d_subdirs, *p;

	if (!dir_emit_dots(file, ctx))
		return 0;
	if (ctx->pos == 2)
		p = anchor;
	else if (!list_empty(&cursor->d_child))
		p = &cursor->d_child;
	else
		return 0;
	while ((next = scan_positives(cursor, p, 1, next)) != NULL) {
		if (!dir_emit(ctx, (const char *)next->d_name.name, next->d_name.len, d_inode(next)->i_ino,
			      dt_type(d_inode(next)->i_mode)))
			break;
		ctx->pos++;
		p = &next->d_child;
	}
	spin_lock(&dentry->d_lock);
	if (next)
		list_move_tail(&cursor->d_child, &next->d_child);
	else
		list_del_init(&cursor->d_child);
	spin_unlock(&dentry->d_lock);
	dput(next);
	return 0;
}

ssize_t generic_read_dir(struct file *filp, char __user *buf, size_t siz, loff_t *ppos)
{
	return -EISDIR;
}

int noop_fsync(struct file *file, loff_t start, loff_t end, int datasync)
{
	return 0;
}

const struct file_operations simple_dir_operations = {
	.open = dcache_dir_open,
	.release = dcache_dir_close,
	.llseek = dcache_dir_lseek,
	.read = generic_read_dir,
	.iterate_shared = dcache_readdir,
	.fsync = noop_fsync,
};

const struct inode_operations simple_dir_inode_operations = { .lookup = simple_lookup };

int simple_getattr(struct user_namespace *ns, const struct path *path, struct kstat *stat, u32 request_mask, unsigned int flags)
{
	struct inode *inode = d_inode(path->dentry);

	generic_fillattr(ns, inode, stat);
	stat->blocks = inode->i_mapping->nrpages << (PAGE_SHIFT - 9);
	return 0;
}

int simple_setattr(struct user_namespace *ns, struct dentry *dentry, struct iattr *iattr)
{
	struct inode *inode = d_inode(dentry);
	int error = setattr_prepare(ns, dentry, iattr);

	if (error)
		return error;
	if (iattr->ia_valid & ATTR_SIZE)
		truncate_setsize(inode, iattr->ia_size);
	setattr_copy(ns, inode, iattr);
	__mark_inode_dirty(inode, I_DIRTY_SYNC);
	return 0;
}

int simple_link(struct dentry *old_dentry, struct inode *dir, struct dentry *dentry)
{
	struct inode *inode = d_inode(old_dentry);

	inode->i_ctime = dir->i_ctime = dir->i_mtime = current_time(inode);
	inc_nlink(inode);
	ihold(inode);
	dget(dentry);
	d_instantiate(dentry, inode);
	return 0;
}

int simple_empty(struct dentry *dentry)
{
	struct dentry *child;
	int ret = 0;

	spin_lock(&dentry->d_lock);
	list_for_each_entry(child, &dentry->d_subdirs, d_child) {
		spin_lock(&child->d_lock);
		if (simple_positive(child)) {
			spin_unlock(&child->d_lock);
			goto out;
		}
		spin_unlock(&child->d_lock);
	}
	ret = 1;
out:
	spin_unlock(&dentry->d_lock);
	return ret;
}

int simple_unlink(struct inode *dir, struct dentry *dentry)
{
	struct inode *inode = d_inode(dentry);

	inode->i_ctime = dir->i_ctime = dir->i_mtime = current_time(inode);
	drop_nlink(inode);
	dput(dentry);
	return 0;
}

int simple_rmdir(struct inode *dir, struct dentry *dentry)
{
	if (!simple_empty(dentry))
		return -ENOTEMPTY;
	drop_nlink(d_inode(dentry));
	simple_unlink(dir, dentry);
	drop_nlink(dir);
	return 0;
}

int simple_rename(struct user_namespace *ns, struct inode *old_dir, struct dentry *old_dentry, struct inode *new_dir,
		  struct dentry *new_dentry, unsigned int flags)
{
	struct inode *inode = d_inode(old_dentry);
	int they_are_dirs = d_is_dir(old_dentry);

	if (!simple_empty(new_dentry))
		return -ENOTEMPTY;
	if (d_really_is_positive(new_dentry)) {
		simple_unlink(new_dir, new_dentry);
		if (they_are_dirs) {
			drop_nlink(d_inode(new_dentry));
			drop_nlink(old_dir);
		}
	} else if (they_are_dirs) {
		drop_nlink(old_dir);
		inc_nlink(new_dir);
	}
	old_dir->i_mtime = inode_set_ctime_current(old_dir);
	if (new_dir != old_dir)
		new_dir->i_mtime = inode_set_ctime_current(new_dir);
	inode_set_ctime_current(inode);
	return 0;
}

static int simple_read_folio(struct file *file, struct folio *folio)
{
	clear_page(page_address(&folio->page));
	SetPageUptodate(&folio->page);
	folio_unlock(folio);
	return 0;
}

int simple_write_begin(struct file *file, struct address_space *mapping, loff_t pos, unsigned int len, struct page **pagep,
		       void **fsdata)
{
	struct page *page = grab_cache_page_write_begin(mapping, pos >> PAGE_SHIFT);

	if (!page)
		return -ENOMEM;
	*pagep = page;
	if (!PageUptodate(page) && len != PAGE_SIZE) {
		unsigned int from = pos & (PAGE_SIZE - 1);

		memset(page_address(page), 0, from);
		memset(page_address(page) + from + len, 0, PAGE_SIZE - from - len);
	}
	return 0;
}

int simple_write_end(struct file *file, struct address_space *mapping, loff_t pos, unsigned int len, unsigned int copied,
		     struct page *page, void *fsdata)
{
	struct inode *inode = mapping->host;
	loff_t last_pos = pos + copied;

	if (!PageUptodate(page)) {
		if (copied < len) {
			unsigned int from = pos & (PAGE_SIZE - 1);

			memset(page_address(page) + from + copied, 0, len - copied);
		}
		SetPageUptodate(page);
	}
	if (last_pos > inode->i_size)
		i_size_write(inode, last_pos);
	SetPageDirty(page);
	unlock_page(page);
	put_page(page);
	return copied;
}

const struct address_space_operations ram_aops = {
	.read_folio = simple_read_folio,
	.write_begin = simple_write_begin,
	.write_end = simple_write_end,
};

ssize_t simple_read_from_buffer(void __user *to, size_t count, loff_t *ppos, const void *from, size_t available)
{
	loff_t pos = *ppos;
	size_t ret;

	if (pos < 0)
		return -EINVAL;
	if ((size_t)pos >= available || !count)
		return 0;
	if (count > available - pos)
		count = available - pos;
	ret = copy_to_user(to, from + pos, count);
	if (ret == count)
		return -EFAULT;
	count -= ret;
	*ppos = pos + count;
	return count;
}

const char *simple_get_link(struct dentry *dentry, struct inode *inode)
{
	return inode->i_link;
}

/* A file system that is mounted by the kernel alone: an empty directory, below which its files have no names. */
int pseudo_fill_super(struct super_block *sb, unsigned long magic, const struct dentry_operations *d_op)
{
	static const struct super_operations ops;
	struct inode *root;

	sb->s_magic = magic;
	sb->s_op = &ops;
	sb->s_d_op = d_op;
	root = new_inode(sb);
	if (!root)
		return -ENOMEM;
	root->i_ino = 1;
	root->i_mode = S_IFDIR | 0600;
	sb->s_root = d_make_root(root);
	return sb->s_root ? 0 : -ENOMEM;
}
