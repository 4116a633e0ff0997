/* Credentials (Linux's kernel/cred.c) and user namespace maps (kernel/user_namespace.c). */
#include "cred.h"
#include "sched.h"
#include "slab.h"
#include "rcupdate.h"
#include "syscalls.h"

struct user_namespace init_user_ns = {
	.uid_map = { .nr_extents = 1, .extent = { { .first = 0, .lower_first = 0, .count = 4294967295U } } },
	.gid_map = { .nr_extents = 1, .extent = { { .first = 0, .lower_first = 0, .count = 4294967295U } } },
};

struct cred init_cred = {
	.usage = ATOMIC_INIT(4),
	.cap_effective = (1ULL << 41) - 1,
	.user_ns = &init_user_ns,
};

static struct kmem_cache *cred_jar;

static noinline u32 map_id_up(struct uid_gid_map *map, u32 id)
{
	for (u32 i = 0; i < map->nr_extents; i++) {
		struct uid_gid_extent *e = &map->extent[i];

		if (id >= e->lower_first && id - e->lower_first < e->count)
			return id - e->lower_first + e->first;
	}
	return (u32)-1;
}

static noinline u32 map_id_range_down(struct uid_gid_map *map, u32 id, u32 count)
{
	for (u32 i = 0; i < map->nr_extents; i++) {
		struct uid_gid_extent *e = &map->extent[i];

		if (id >= e->first && id + count - 1 - e->first < e->count)
			return id - e->first + e->lower_first;
	}
	return (u32)-1;
}

kuid_t make_kuid(struct user_namespace *ns, uid_t uid)
{
	return KUIDT_INIT(map_id_range_down(&ns->uid_map, uid, 1));
}

kgid_t make_kgid(struct user_namespace *ns, gid_t gid)
{
	return KGIDT_INIT(map_id_range_down(&ns->gid_map, gid, 1));
}

uid_t from_kuid(struct user_namespace *ns, kuid_t kuid)
{
	return map_id_up(&ns->uid_map, kuid.val);
}

gid_t from_kgid(struct user_namespace *ns, kgid_t kgid)
{
	return map_id_up(&ns->gid_map, kgid.val);
}

#define OVERFLOW_ID	65534

uid_t from_kuid_munged(struct user_namespace *ns, kuid_t kuid)
{
	uid_t uid = map_id_up(&ns->uid_map, kuid.val);

	return uid == (uid_t)-1 ? OVERFLOW_ID : uid;
}

gid_t from_kgid_munged(struct user_namespace *ns, kgid_t kgid)
{
	gid_t gid = map_id_up(&ns->gid_map, kgid.val);

	return gid == (gid_t)-1 ? OVERFLOW_ID : gid;
}

static noinline void put_cred_rcu(struct rcu_head *rcu)
{
	kmem_cache_free(cred_jar, container_of(rcu, struct cred, rcu));
}

void __put_cred(struct cred *cred)
{
	BUG_ON(cred == &init_cred);
	if (cred->non_rcu)
		put_cred_rcu(&cred->rcu);
	else
		call_rcu(&cred->rcu, put_cred_rcu);
}

struct cred *prepare_creds(void)
{
	struct cred *new;

	if (!cred_jar)
		cred_jar = kmem_cache_create("cred_jar", sizeof(struct cred), 0, SLAB_HWCACHE_ALIGN | SLAB_PANIC, NULL);
	new = kmem_cache_alloc(cred_jar, GFP_KERNEL);
	if (!new)
		return NULL;
	*new = *current->cred;
	atomic_set(&new->usage, 1);
	new->non_rcu = false;
	return new;
}

struct cred *prepare_exec_creds(void)
{
	struct cred *new = prepare_creds();

	if (new) {
		new->suid = new->fsuid = new->euid;
		new->sgid = new->fsgid = new->egid;
	}
	return new;
}

int commit_creds(struct cred *new)
{
	const struct cred *old = current->cred;

	rcu_assign_pointer(current->cred, (const struct cred *)new);
	put_cred(old);
	return 0;
}

void abort_creds(struct cred *new)
{
	put_cred(new);
}

const struct cred *override_creds(const struct cred *new)
{
	const struct cred *old = current->cred;

	get_cred(new);
	rcu_assign_pointer(current->cred, new);
	return old;
}

void revert_creds(const struct cred *old)
{
	const struct cred *override = current->cred;

	rcu_assign_pointer(current->cred, old);
	put_cred(override);
}

/* A thread shares its creator's; a new process gets a copy. */
int copy_creds(struct task_struct *p, unsigned long clone_flags)
{
	struct cred *new;

	if (clone_flags & CLONE_THREAD) {
		p->cred = get_cred(current->cred);
		return 0;
	}
	new = prepare_creds();
	if (!new)
		return -ENOMEM;
	p->cred = new;
	return 0;
}

void exit_creds(struct task_struct *tsk)
{
	const struct cred *cred = tsk->cred;

	tsk->cred = NULL;
	put_cred(cred);
}

bool capable(int cap)
{
	return current->cred->cap_effective >> cap & 1;
}

SYSCALL_DEFINE0(getuid)
{
	return from_kuid_munged(current_user_ns(), current_uid());
}

SYSCALL_DEFINE0(geteuid)
{
	return from_kuid_munged(current_user_ns(), current_euid());
}

SYSCALL_DEFINE0(getgid)
{
	return from_kgid_munged(current_user_ns(), current_gid());
}

SYSCALL_DEFINE0(getegid)
{
	return from_kgid_munged(current_user_ns(), current_egid());
}
