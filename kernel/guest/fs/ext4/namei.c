/*
 * Names in directories (Linux's fs/ext4/namei.c): blocks of entries, each as long as the way to the next; an entry without
 * an inode is free, and so is what an entry does not need of its length. Nothing is indexed.
 */
#include "ext4.h"
#include "ext4_trace.h"

#define S_SHIFT 12
static u8 ext4_type_by_mode(umode_t mode)
{
	static const u8 types[16] = {
		[S_IFREG >> S_SHIFT] = EXT4_FT_REG_FILE, [S_IFDIR >> S_SHIFT] = EXT4_FT_DIR, [S_IFCHR >> S_SHIFT] = EXT4_FT_CHRDEV,
		[S_IFBLK >> S_SHIFT] = EXT4_FT_BLKDEV, [S_IFIFO >> S_SHIFT] = EXT4_FT_FIFO, [S_IFSOCK >> S_SHIFT] = EXT4_FT_SOCK,
		[S_IFLNK >> S_SHIFT] = EXT4_FT_SYMLINK,
	};

	return types[(mode & S_IFMT) >> S_SHIFT];
}

static inline bool ext4_match(const struct qstr *name, const struct ext4_dir_entry_2 *de)
{
	return de->inode && de->name_len == name->len && !memcmp(de->name, name->name, name->len);
}

/* 1: found; 0: not in this block; -1: the block is bad. */
static noinline int ext4_search_dir(struct buffer_head *bh, struct inode *dir, const struct qstr *name, struct ext4_dir_entry_2 **res)
{
	unsigned int at;

	for (at = 0; at < EXT4_BLOCK_SIZE;) {
		struct ext4_dir_entry_2 *de = (void *)(bh->b_data + at);

		if (ext4_check_dir_entry(dir, de, bh, at))
			return -1;
		if (ext4_match(name, de)) {
			*res = de;
			return 1;
		}
		at += de->rec_len;
	}
	return 0;
}

/* The block that has the name, with a reference; NULL: it is in none. */
static noinline struct buffer_head *__ext4_find_entry(struct inode *dir, const struct qstr *name, struct ext4_dir_entry_2 **res)
{
	ext4_lblk_t nblocks = ext4_dir_blocks(dir), block;

	if (name->len > EXT4_NAME_LEN)
		return NULL;
	for (block = 0; block < nblocks; block++) {
		struct buffer_head *bh = ext4_bread(NULL, dir, block, 0);
		int ret;

		if (IS_ERR(bh))
			return bh;
		if (!bh)
			continue;
		ret = ext4_search_dir(bh, dir, name, res);
		if (ret == 1)
			return bh;
		brelse(bh);
		if (ret < 0)
			return ERR_PTR(-EFSCORRUPTED);
	}
	return NULL;
}

static noinline struct buffer_head *ext4_find_entry(struct inode *dir, const struct qstr *name, struct ext4_dir_entry_2 **res)
{
	return __ext4_find_entry(dir, name, res);
}

static noinline struct dentry *ext4_lookup(struct inode *dir, struct dentry *dentry, unsigned int flags)
{
	struct inode *inode = NULL;
	struct ext4_dir_entry_2 *de;
	struct buffer_head *bh;

	if (dentry->d_name.len > EXT4_NAME_LEN)
		return ERR_PTR(-ENAMETOOLONG);
	bh = ext4_find_entry(dir, &dentry->d_name, &de);
	if (IS_ERR(bh))
		return ERR_CAST(bh);
	if (bh) {
		u32 ino = de->inode;

		brelse(bh);
		if (ino == dir->i_ino) {
			EXT4_ERROR_INODE(dir, "'%s' linked to parent dir", dentry->d_name.name);
			return ERR_PTR(-EFSCORRUPTED);
		}
		inode = ext4_iget(dir->i_sb, ino, 0);
		if (inode == ERR_PTR(-ESTALE)) {
			EXT4_ERROR_INODE(dir, "deleted inode referenced: %u", ino);
			return ERR_PTR(-EFSCORRUPTED);
		}
	}
	return d_splice_alias(inode, dentry);
}

/* ---- adding ---- */
static noinline void ext4_insert_dentry(struct inode *dir, struct inode *inode, struct ext4_dir_entry_2 *de, const struct qstr *name)
{
	if (de->inode) {	/* its spare room becomes an entry */
		unsigned int nlen = EXT4_DIR_REC_LEN(de->name_len), rlen = de->rec_len;
		struct ext4_dir_entry_2 *de1 = (void *)de + nlen;

		de1->rec_len = rlen - nlen;
		de->rec_len = nlen;
		de = de1;
	}
	de->inode = inode->i_ino;
	de->file_type = ext4_type_by_mode(inode->i_mode);
	de->name_len = name->len;
	memcpy(de->name, name->name, name->len);
}

/* -ENOSPC: the block has no room. */
static noinline int add_dirent_to_buf(handle_t *handle, const struct qstr *name, struct inode *dir, struct inode *inode, struct buffer_head *bh)
{
	unsigned int reclen = EXT4_DIR_REC_LEN(name->len), at;

	for (at = 0; at < EXT4_BLOCK_SIZE;) {
		struct ext4_dir_entry_2 *de = (void *)(bh->b_data + at);

		if (ext4_check_dir_entry(dir, de, bh, at))
			return -EFSCORRUPTED;
		if (ext4_match(name, de))
			return -EEXIST;
		if ((de->inode ? de->rec_len - EXT4_DIR_REC_LEN(de->name_len) : de->rec_len) >= reclen) {
			ext4_journal_get_write_access(handle, dir->i_sb, bh);
			ext4_insert_dentry(dir, inode, de, name);
			dir->i_mtime = dir->i_ctime = current_time(dir);
			ext4_mark_inode_dirty(handle, dir);
			return ext4_handle_dirty_metadata(handle, dir, bh);
		}
		at += de->rec_len;
	}
	return -ENOSPC;
}

static noinline struct buffer_head *ext4_append(handle_t *handle, struct inode *dir)
{
	struct buffer_head *bh = ext4_bread(handle, dir, dir->i_size >> EXT4_BLOCK_BITS, EXT4_GET_BLOCKS_CREATE);

	if (IS_ERR_OR_NULL(bh))
		return bh ?: ERR_PTR(-EIO);
	dir->i_size += EXT4_BLOCK_SIZE;
	EXT4_I(dir)->i_disksize = dir->i_size;
	ext4_mark_inode_dirty(handle, dir);
	return bh;
}

static noinline int ext4_add_entry(handle_t *handle, struct dentry *dentry, struct inode *inode)
{
	struct inode *dir = d_inode(dentry->d_parent);
	ext4_lblk_t block, blocks = ext4_dir_blocks(dir);
	struct buffer_head *bh;
	int ret;

	for (block = 0; block < blocks; block++) {
		bh = ext4_bread(handle, dir, block, 0);
		if (IS_ERR(bh))
			return PTR_ERR(bh);
		if (!bh)
			continue;
		ret = add_dirent_to_buf(handle, &dentry->d_name, dir, inode, bh);
		brelse(bh);
		if (ret != -ENOSPC)
			return ret;
	}
	bh = ext4_append(handle, dir);
	if (IS_ERR(bh))
		return PTR_ERR(bh);
	((struct ext4_dir_entry_2 *)bh->b_data)->rec_len = EXT4_BLOCK_SIZE;
	ret = add_dirent_to_buf(handle, &dentry->d_name, dir, inode, bh);
	brelse(bh);
	return ret;
}

/* ---- removing ---- */
static noinline int ext4_generic_delete_entry(struct inode *dir, struct ext4_dir_entry_2 *de_del, struct buffer_head *bh)
{
	struct ext4_dir_entry_2 *de = (void *)bh->b_data, *pde = NULL;
	unsigned int at = 0;

	while (at < EXT4_BLOCK_SIZE) {
		if (ext4_check_dir_entry(dir, de, bh, at))
			return -EFSCORRUPTED;
		if (de == de_del) {
			if (pde)
				pde->rec_len += de->rec_len;
			else
				de->inode = 0;
			return 0;
		}
		at += de->rec_len;
		pde = de;
		de = (void *)(bh->b_data + at);
	}
	return -ENOENT;
}

static noinline int ext4_delete_entry(handle_t *handle, struct inode *dir, struct ext4_dir_entry_2 *de_del, struct buffer_head *bh)
{
	int err = ext4_journal_get_write_access(handle, dir->i_sb, bh);

	err = err ?: ext4_generic_delete_entry(dir, de_del, bh);
	return err ?: ext4_handle_dirty_metadata(handle, dir, bh);
}

/* ---- new inodes ---- */
static noinline int ext4_add_nondir(handle_t *handle, struct dentry *dentry, struct inode *inode)
{
	int err = ext4_add_entry(handle, dentry, inode);

	if (!err) {
		ext4_mark_inode_dirty(handle, inode);
		d_instantiate_new(dentry, inode);
		return 0;
	}
	drop_nlink(inode);
	ext4_mark_inode_dirty(handle, inode);
	unlock_new_inode(inode);
	iput(inode);
	return err;
}

static noinline int ext4_create(struct user_namespace *ns, struct inode *dir, struct dentry *dentry, umode_t mode, bool excl)
{
	handle_t *handle = ext4_journal_start(dir, EXT4_HT_DIR, 8);
	struct inode *inode;
	int err;

	if (IS_ERR(handle))
		return PTR_ERR(handle);
	inode = __ext4_new_inode(handle, dir, mode | S_IFREG, &dentry->d_name);
	err = PTR_ERR(inode);
	if (!IS_ERR(inode)) {
		inode->i_op = &ext4_file_inode_operations;
		inode->i_fop = &ext4_file_operations;
		ext4_set_aops(inode);
		err = ext4_add_nondir(handle, dentry, inode);
	}
	ext4_journal_stop(handle);
	return err;
}

static noinline int ext4_mknod(struct user_namespace *ns, struct inode *dir, struct dentry *dentry, umode_t mode, dev_t rdev)
{
	handle_t *handle = ext4_journal_start(dir, EXT4_HT_DIR, 8);
	struct inode *inode;
	int err;

	if (IS_ERR(handle))
		return PTR_ERR(handle);
	inode = __ext4_new_inode(handle, dir, mode, &dentry->d_name);
	err = PTR_ERR(inode);
	if (!IS_ERR(inode)) {
		init_special_inode(inode, inode->i_mode, rdev);
		inode->i_op = &ext4_special_inode_operations;
		memset(EXT4_I(inode)->i_data, 0, sizeof(EXT4_I(inode)->i_data));
		EXT4_I(inode)->i_flags &= ~EXT4_EXTENTS_FL;
		EXT4_I(inode)->i_data[0] = MAJOR(rdev) << 8 | MINOR(rdev);
		err = ext4_add_nondir(handle, dentry, inode);
	}
	ext4_journal_stop(handle);
	return err;
}

static noinline int ext4_init_new_dir(handle_t *handle, struct inode *dir, struct inode *inode)
{
	struct ext4_dir_entry_2 *de;
	struct buffer_head *bh;

	inode->i_size = EXT4_I(inode)->i_disksize = 0;
	bh = ext4_append(handle, inode);
	if (IS_ERR(bh))
		return PTR_ERR(bh);
	de = (void *)bh->b_data;
	de->inode = inode->i_ino;
	de->rec_len = EXT4_DIR_REC_LEN(1);
	de->name_len = 1;
	de->file_type = EXT4_FT_DIR;
	de->name[0] = '.';
	de = (void *)de + de->rec_len;
	de->inode = dir->i_ino;
	de->rec_len = EXT4_BLOCK_SIZE - EXT4_DIR_REC_LEN(1);
	de->name_len = 2;
	de->file_type = EXT4_FT_DIR;
	memcpy(de->name, "..", 2);
	set_nlink(inode, 2);
	ext4_handle_dirty_metadata(handle, inode, bh);
	brelse(bh);
	return 0;
}

static noinline int ext4_mkdir(struct user_namespace *ns, struct inode *dir, struct dentry *dentry, umode_t mode)
{
	handle_t *handle;
	struct inode *inode;
	int err;

	if (dir->i_nlink >= EXT4_LINK_MAX)
		return -EMLINK;
	handle = ext4_journal_start(dir, EXT4_HT_DIR, 8);
	if (IS_ERR(handle))
		return PTR_ERR(handle);
	inode = __ext4_new_inode(handle, dir, S_IFDIR | mode, &dentry->d_name);
	err = PTR_ERR(inode);
	if (IS_ERR(inode))
		goto stop;
	inode->i_op = &ext4_dir_inode_operations;
	inode->i_fop = &ext4_dir_operations;
	err = ext4_init_new_dir(handle, dir, inode);
	err = err ?: ext4_mark_inode_dirty(handle, inode) ?: ext4_add_entry(handle, dentry, inode);
	if (err) {
		clear_nlink(inode);
		ext4_mark_inode_dirty(handle, inode);
		unlock_new_inode(inode);
		iput(inode);
		goto stop;
	}
	inc_nlink(dir);
	ext4_mark_inode_dirty(handle, dir);
	d_instantiate_new(dentry, inode);
stop:
	ext4_journal_stop(handle);
	return err;
}

static noinline int ext4_symlink(struct user_namespace *ns, struct inode *dir, struct dentry *dentry, const char *symname)
{
	unsigned int len = strlen(symname);
	handle_t *handle;
	struct inode *inode;
	int err;

	if (len >= EXT4_BLOCK_SIZE)
		return -ENAMETOOLONG;
	handle = ext4_journal_start(dir, EXT4_HT_DIR, 8);
	if (IS_ERR(handle))
		return PTR_ERR(handle);
	inode = __ext4_new_inode(handle, dir, S_IFLNK | S_IRWXUGO, &dentry->d_name);
	err = PTR_ERR(inode);
	if (IS_ERR(inode))
		goto stop;
	inode->i_op = &ext4_symlink_inode_operations;
	inode->i_link = kstrdup(symname, GFP_KERNEL);
	inode->i_size = EXT4_I(inode)->i_disksize = len;
	if (len >= sizeof(EXT4_I(inode)->i_data)) {
		struct buffer_head *bh = ext4_bread(handle, inode, 0, EXT4_GET_BLOCKS_CREATE);

		err = IS_ERR_OR_NULL(bh) ? bh ? PTR_ERR(bh) : -EIO : 0;
		if (err) {
			drop_nlink(inode);
			unlock_new_inode(inode);
			iput(inode);
			goto stop;
		}
		memcpy(bh->b_data, symname, len);
		ext4_handle_dirty_metadata(handle, inode, bh);
		brelse(bh);
	} else {
		memset(EXT4_I(inode)->i_data, 0, sizeof(EXT4_I(inode)->i_data));
		memcpy(EXT4_I(inode)->i_data, symname, len);
		EXT4_I(inode)->i_flags &= ~EXT4_EXTENTS_FL;
	}
	err = ext4_add_nondir(handle, dentry, inode);
stop:
	ext4_journal_stop(handle);
	return err;
}

static noinline int ext4_link(struct dentry *old_dentry, struct inode *dir, struct dentry *dentry)
{
	struct inode *inode = d_inode(old_dentry);
	handle_t *handle;
	int err;

	if (inode->i_nlink >= EXT4_LINK_MAX)
		return -EMLINK;
	handle = ext4_journal_start(dir, EXT4_HT_DIR, 8);
	if (IS_ERR(handle))
		return PTR_ERR(handle);
	inode->i_ctime = current_time(inode);
	inc_nlink(inode);
	ihold(inode);
	err = ext4_add_entry(handle, dentry, inode);
	if (!err) {
		ext4_mark_inode_dirty(handle, inode);
		d_instantiate(dentry, inode);
	} else {
		drop_nlink(inode);
		iput(inode);
	}
	ext4_journal_stop(handle);
	return err;
}

/* ---- unlink, rmdir ---- */
/* A directory that says it has fewer links than it can keeps what it has. */
static void ext4_dec_count(struct inode *inode)
{
	if (!S_ISDIR(inode->i_mode) || inode->i_nlink > 2)
		drop_nlink(inode);
}

static noinline int __ext4_unlink(struct inode *dir, const struct qstr *d_name, struct inode *inode)
{
	struct ext4_dir_entry_2 *de;
	struct buffer_head *bh = ext4_find_entry(dir, d_name, &de);
	handle_t *handle;
	int retval;

	if (IS_ERR_OR_NULL(bh))
		return bh ? PTR_ERR(bh) : -ENOENT;
	retval = -EFSCORRUPTED;
	if (de->inode != inode->i_ino)
		goto out;
	handle = ext4_journal_start(dir, EXT4_HT_DIR, 8);
	retval = PTR_ERR(handle);
	if (IS_ERR(handle))
		goto out;
	retval = ext4_delete_entry(handle, dir, de, bh);
	if (!retval) {
		dir->i_ctime = dir->i_mtime = inode->i_ctime = current_time(dir);
		ext4_mark_inode_dirty(handle, dir);
		if (inode->i_nlink == 0)
			ext4_warning_inode(inode, "Deleting file '%.*s' with no links", d_name->len, d_name->name);
		else
			drop_nlink(inode);
		ext4_mark_inode_dirty(handle, inode);
	}
	ext4_journal_stop(handle);
out:
	brelse(bh);
	return retval;
}

static noinline int ext4_unlink(struct inode *dir, struct dentry *dentry)
{
	int retval;

	trace_ext4_unlink_enter(dir, dentry);
	retval = __ext4_unlink(dir, &dentry->d_name, d_inode(dentry));
	trace_ext4_unlink_exit(dentry, retval);
	return retval;
}

static noinline bool ext4_empty_dir(struct inode *inode)
{
	ext4_lblk_t block;

	for (block = 0; block < ext4_dir_blocks(inode); block++) {
		struct buffer_head *bh = ext4_bread(NULL, inode, block, 0);
		unsigned int at;

		if (IS_ERR_OR_NULL(bh))
			continue;
		for (at = 0; at < EXT4_BLOCK_SIZE;) {
			struct ext4_dir_entry_2 *de = (void *)(bh->b_data + at);
			bool dot = de->name_len <= 2 && de->name[0] == '.' && (de->name_len == 1 || de->name[1] == '.');

			if (ext4_check_dir_entry(inode, de, bh, at) || (de->inode && !dot)) {
				brelse(bh);
				return false;
			}
			at += de->rec_len;
		}
		brelse(bh);
	}
	return true;
}

static noinline int ext4_rmdir(struct inode *dir, struct dentry *dentry)
{
	struct inode *inode = d_inode(dentry);
	int err;

	if (!ext4_empty_dir(inode))
		return -ENOTEMPTY;
	err = __ext4_unlink(dir, &dentry->d_name, inode);
	if (err)
		return err;
	if (inode->i_nlink > 1)		/* __ext4_unlink has taken one */
		ext4_warning_inode(inode, "empty directory '%.*s' has too many links (%u)", dentry->d_name.len, dentry->d_name.name, inode->i_nlink);
	clear_nlink(inode);
	__mark_inode_dirty(inode, I_DIRTY_SYNC);
	ext4_dec_count(dir);
	__mark_inode_dirty(dir, I_DIRTY_SYNC);
	return 0;
}

/* ---- rename ---- */
static noinline int ext4_setent(handle_t *handle, struct inode *dir, struct dentry *dentry, struct inode *inode)
{
	struct ext4_dir_entry_2 *de;
	struct buffer_head *bh = ext4_find_entry(dir, &dentry->d_name, &de);
	int err;

	if (IS_ERR_OR_NULL(bh))
		return bh ? PTR_ERR(bh) : -ENOENT;
	de->inode = inode->i_ino;
	de->file_type = ext4_type_by_mode(inode->i_mode);
	err = ext4_handle_dirty_metadata(handle, dir, bh);
	brelse(bh);
	return err;
}

/* A directory's ".." is its second entry: the block, and the entry in it. */
static noinline struct buffer_head *ext4_get_first_dir_block(handle_t *handle, struct inode *inode, struct ext4_dir_entry_2 **parent_de)
{
	struct buffer_head *bh = ext4_bread(handle, inode, 0, 0);
	struct ext4_dir_entry_2 *de;

	if (IS_ERR_OR_NULL(bh))
		return bh ?: ERR_PTR(-EFSCORRUPTED);
	de = (void *)bh->b_data;
	if (ext4_check_dir_entry(inode, de, bh, 0) || de->name_len != 1 || de->name[0] != '.' || de->rec_len == EXT4_BLOCK_SIZE) {
		EXT4_ERROR_INODE(inode, "directory missing '.'");
		brelse(bh);
		return ERR_PTR(-EFSCORRUPTED);
	}
	*parent_de = (void *)de + de->rec_len;
	if (ext4_check_dir_entry(inode, *parent_de, bh, de->rec_len) || (*parent_de)->name_len != 2 || memcmp((*parent_de)->name, "..", 2)) {
		EXT4_ERROR_INODE(inode, "directory missing '..'");
		brelse(bh);
		return ERR_PTR(-EFSCORRUPTED);
	}
	return bh;
}

static noinline int ext4_rename_dir_prepare(handle_t *handle, struct inode *inode)
{
	struct ext4_dir_entry_2 *de;
	struct buffer_head *bh = ext4_get_first_dir_block(handle, inode, &de);

	if (IS_ERR(bh))
		return PTR_ERR(bh);
	brelse(bh);
	return 0;
}

static noinline int ext4_rename_dir_finish(handle_t *handle, struct inode *inode, struct inode *new_dir)
{
	struct ext4_dir_entry_2 *de;
	struct buffer_head *bh = ext4_get_first_dir_block(handle, inode, &de);

	if (IS_ERR(bh))
		return PTR_ERR(bh);
	de->inode = new_dir->i_ino;
	ext4_handle_dirty_metadata(handle, inode, bh);
	brelse(bh);
	return 0;
}

static noinline int ext4_rename_delete(handle_t *handle, struct inode *dir, struct dentry *dentry)
{
	struct ext4_dir_entry_2 *de;
	struct buffer_head *bh = ext4_find_entry(dir, &dentry->d_name, &de);
	int err;

	if (IS_ERR_OR_NULL(bh))
		return bh ? PTR_ERR(bh) : -ENOENT;
	err = ext4_delete_entry(handle, dir, de, bh);
	brelse(bh);
	return err;
}

static noinline int ext4_do_rename(handle_t *handle, struct inode *old_dir, struct dentry *old_dentry, struct inode *new_dir,
				   struct dentry *new_dentry)
{
	struct inode *inode = d_inode(old_dentry), *victim = d_inode(new_dentry);
	bool is_dir = S_ISDIR(inode->i_mode);
	int err = is_dir && old_dir != new_dir ? ext4_rename_dir_prepare(handle, inode) : 0;

	if (!err)
		err = victim ? ext4_setent(handle, new_dir, new_dentry, inode) : ext4_add_entry(handle, new_dentry, inode);
	err = err ?: ext4_rename_delete(handle, old_dir, old_dentry);
	if (!err && is_dir && old_dir != new_dir)
		err = ext4_rename_dir_finish(handle, inode, new_dir);
	if (err)
		return err;
	inode->i_ctime = old_dir->i_ctime = old_dir->i_mtime = current_time(old_dir);
	new_dir->i_ctime = new_dir->i_mtime = old_dir->i_ctime;
	if (victim) {
		victim->i_ctime = inode->i_ctime;
		if (is_dir)
			clear_nlink(victim);
		else if (victim->i_nlink)
			drop_nlink(victim);
		ext4_mark_inode_dirty(handle, victim);
	}
	if (is_dir) {
		ext4_dec_count(old_dir);
		if (!victim)
			inc_nlink(new_dir);
	}
	ext4_mark_inode_dirty(handle, inode);
	ext4_mark_inode_dirty(handle, old_dir);
	return old_dir == new_dir ? 0 : ext4_mark_inode_dirty(handle, new_dir);
}

static noinline int ext4_rename(struct user_namespace *ns, struct inode *old_dir, struct dentry *old_dentry, struct inode *new_dir,
				struct dentry *new_dentry, unsigned int flags)
{
	struct inode *victim = d_inode(new_dentry);
	handle_t *handle;
	int err;

	if (victim && S_ISDIR(victim->i_mode) && !ext4_empty_dir(victim))
		return -ENOTEMPTY;
	handle = ext4_journal_start(old_dir, EXT4_HT_DIR, 16);
	if (IS_ERR(handle))
		return PTR_ERR(handle);
	err = ext4_do_rename(handle, old_dir, old_dentry, new_dir, new_dentry);
	ext4_journal_stop(handle);
	return err;
}

static noinline int ext4_rename2(struct user_namespace *ns, struct inode *old_dir, struct dentry *old_dentry, struct inode *new_dir,
				 struct dentry *new_dentry, unsigned int flags)
{
	if (flags & ~1u)	/* RENAME_NOREPLACE, which VFS has looked after */
		return -EINVAL;
	return ext4_rename(ns, old_dir, old_dentry, new_dir, new_dentry, flags);
}

const struct inode_operations ext4_dir_inode_operations = {
	.create = ext4_create,
	.lookup = ext4_lookup,
	.link = ext4_link,
	.unlink = ext4_unlink,
	.symlink = ext4_symlink,
	.mkdir = ext4_mkdir,
	.rmdir = ext4_rmdir,
	.mknod = ext4_mknod,
	.rename = ext4_rename2,
	.setattr = ext4_setattr,
	.getattr = ext4_file_getattr,
};

const struct inode_operations ext4_special_inode_operations = {
	.setattr = ext4_setattr,
	.getattr = ext4_file_getattr,
};

const struct inode_operations ext4_symlink_inode_operations = {
	.get_link = simple_get_link,
	.setattr = ext4_setattr,
	.getattr = ext4_file_getattr,
};
