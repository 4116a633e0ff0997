/* The table of file systems (Linux's fs/filesystems.c). */
#include "fs.h"
#include "module.h"
#include "seq_file.h"
#include "kmod.h"
#include "rcupdate.h"
#include "internal.h"

static struct file_system_type *file_systems;
static DEFINE_RWLOCK(file_systems_lock);

int register_filesystem(struct file_system_type *fs)
{
	struct file_system_type **p;
	int res = 0;

	write_lock_irq(&file_systems_lock);
	for (p = &file_systems; *p; p = &(*p)->next) {
		if (!strcmp((*p)->name, fs->name)) {
			res = -EBUSY;
			break;
		}
	}
	if (!res) {
		fs->next = NULL;
		*p = fs;
	}
	write_unlock_irq(&file_systems_lock);
	return res;
}

int unregister_filesystem(struct file_system_type *fs)
{
	struct file_system_type **p;
	int res = -EINVAL;

	write_lock_irq(&file_systems_lock);
	for (p = &file_systems; *p; p = &(*p)->next) {
		if (*p == fs) {
			*p = fs->next;
			res = 0;
			break;
		}
	}
	write_unlock_irq(&file_systems_lock);
	synchronize_rcu();
	return res;
}

/* With a reference to its module. */
static noinline struct file_system_type *__get_fs_type(const char *name)
{
	struct file_system_type *p;

	read_lock(&file_systems_lock);
	for (p = file_systems; p && strcmp(p->name, name); p = p->next)
		;
	if (p && !try_module_get(p->owner))
		p = NULL;
	read_unlock(&file_systems_lock);
	return p;
}

/* A file system that is not there may be in a module: fs-NAME. */
struct file_system_type *get_fs_type(const char *name)
{
	struct file_system_type *fs = __get_fs_type(name);

	if (!fs && !request_module("fs-%s", name))
		fs = __get_fs_type(name);
	return fs;
}

void put_filesystem(struct file_system_type *fs)
{
	module_put(fs->owner);
}

/* /proc/filesystems */
int filesystems_proc_show(struct seq_file *m, void *v)
{
	struct file_system_type *p;

	read_lock(&file_systems_lock);
	for (p = file_systems; p; p = p->next)
		seq_printf(m, "%s\t%s\n", p->fs_flags & FS_REQUIRES_DEV ? "" : "nodev", p->name);
	read_unlock(&file_systems_lock);
	return 0;
}
