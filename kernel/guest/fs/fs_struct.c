/* A task's root, working directory and umask (Linux's fs/fs_struct.c); chdir, fchdir, chroot, umask. */
#include "namei.h"
#include "fs_struct.h"
#include "fdtable.h"
#include "sched.h"
#include "slab.h"
#include "syscalls.h"

static struct kmem_cache *fs_cachep;

struct fs_struct init_fs = {
	.users = 1,
	.lock = __SPIN_LOCK_UNLOCKED(init_fs.lock),
	.umask = 0022,
};

static __always_inline void replace_path(struct fs_struct *fs, struct path *which, const struct path *path)
{
	struct path old;

	path_get(path);
	spin_lock(&fs->lock);
	write_seqcount_begin(&fs->seq);
	old = *which;
	*which = *path;
	write_seqcount_end(&fs->seq);
	spin_unlock(&fs->lock);
	if (old.dentry)
		path_put(&old);
}

void set_fs_root(struct fs_struct *fs, const struct path *path)
{
	replace_path(fs, &fs->root, path);
}

noinline void set_fs_pwd(struct fs_struct *fs, const struct path *path)
{
	replace_path(fs, &fs->pwd, path);
}

struct fs_struct *copy_fs_struct(struct fs_struct *old)
{
	struct fs_struct *fs;

	if (!fs_cachep)
		fs_cachep = kmem_cache_create("fs_cache", sizeof(struct fs_struct), 0, SLAB_HWCACHE_ALIGN | SLAB_PANIC, NULL);
	fs = kmem_cache_alloc(fs_cachep, GFP_KERNEL);
	if (!fs)
		return NULL;
	fs->users = 1;
	fs->in_exec = 0;
	spin_lock_init(&fs->lock);
	seqcount_spinlock_init(&fs->seq, &fs->lock);
	fs->umask = old->umask;
	spin_lock(&old->lock);
	fs->root = old->root;
	path_get(&fs->root);
	fs->pwd = old->pwd;
	path_get(&fs->pwd);
	spin_unlock(&old->lock);
	return fs;
}

void free_fs_struct(struct fs_struct *fs)
{
	path_put(&fs->root);
	path_put(&fs->pwd);
	kmem_cache_free(fs_cachep, fs);
}

void exit_fs(struct task_struct *tsk)
{
	struct fs_struct *fs = tsk->fs;
	int kill;

	if (!fs)
		return;
	task_lock(tsk);
	spin_lock(&fs->lock);
	tsk->fs = NULL;
	kill = !--fs->users;
	spin_unlock(&fs->lock);
	task_unlock(tsk);
	if (kill)
		free_fs_struct(fs);
}

int current_umask(void)
{
	return current->fs->umask;
}

SYSCALL_DEFINE1(umask, int, mask)
{
	return xchg(&current->fs->umask, mask & S_IRWXUGO);
}

SYSCALL_DEFINE1(chdir, const char __user *, filename)
{
	struct path path;
	int error = user_path_at_empty(AT_FDCWD, filename, LOOKUP_FOLLOW | LOOKUP_DIRECTORY, &path, NULL);

	if (error)
		return error;
	error = inode_permission(&init_user_ns, path.dentry->d_inode, MAY_EXEC | MAY_CHDIR);
	if (!error)
		set_fs_pwd(current->fs, &path);
	path_put(&path);
	return error;
}

SYSCALL_DEFINE1(fchdir, unsigned int, fd)
{
	struct fd f = fdget_raw(fd);
	int error = -EBADF;

	if (!f.file)
		return error;
	error = -ENOTDIR;
	if (d_can_lookup(f.file->f_path.dentry))
		error = inode_permission(&init_user_ns, file_inode(f.file), MAY_EXEC | MAY_CHDIR);
	if (!error)
		set_fs_pwd(current->fs, &f.file->f_path);
	fdput(f);
	return error;
}

SYSCALL_DEFINE1(chroot, const char __user *, filename)
{
	struct path path;
	int error = user_path_at_empty(AT_FDCWD, filename, LOOKUP_FOLLOW | LOOKUP_DIRECTORY, &path, NULL);

	if (error)
		return error;
	error = inode_permission(&init_user_ns, path.dentry->d_inode, MAY_EXEC | MAY_CHDIR);
	if (!error && !capable(CAP_SYS_ADMIN))
		error = -EPERM;
	if (!error)
		set_fs_root(current->fs, &path);
	path_put(&path);
	return error;
}
