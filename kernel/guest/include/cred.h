/* Credentials of a task and the identity mapping of user ids (Linux's include/linux/cred.h, uidgid.h, user_namespace.h). */
#ifndef _CRED_H
#define _CRED_H
#include "types.h"
#include "atomic.h"

#define KUIDT_INIT(v)	((kuid_t){ v })
#define KGIDT_INIT(v)	((kgid_t){ v })
#define GLOBAL_ROOT_UID	KUIDT_INIT(0)
#define GLOBAL_ROOT_GID	KGIDT_INIT(0)
#define INVALID_UID	KUIDT_INIT(-1)
#define INVALID_GID	KGIDT_INIT(-1)

static inline bool uid_eq(kuid_t a, kuid_t b) { return a.val == b.val; }
static inline bool gid_eq(kgid_t a, kgid_t b) { return a.val == b.val; }
static inline bool uid_valid(kuid_t u) { return u.val != (uid_t)-1; }
static inline bool gid_valid(kgid_t g) { return g.val != (gid_t)-1; }

/* One extent of a namespace's id map: [first, first+count) inside is [lower_first, …) outside. */
struct uid_gid_extent {
	u32 first;
	u32 lower_first;
	u32 count;
};

struct uid_gid_map {
	u32 nr_extents;
	struct uid_gid_extent extent[1];
};

struct user_namespace {
	struct uid_gid_map uid_map, gid_map;
};

extern struct user_namespace init_user_ns;

kuid_t make_kuid(struct user_namespace *ns, uid_t uid);
kgid_t make_kgid(struct user_namespace *ns, gid_t gid);
uid_t from_kuid(struct user_namespace *ns, kuid_t kuid);
gid_t from_kgid(struct user_namespace *ns, kgid_t kgid);
uid_t from_kuid_munged(struct user_namespace *ns, kuid_t kuid);
gid_t from_kgid_munged(struct user_namespace *ns, kgid_t kgid);

struct cred {
	atomic_t usage;
	kuid_t uid, suid, euid, fsuid;
	kgid_t gid, sgid, egid, fsgid;
	u64 cap_effective;	/* a bit per capability; all for root */
	struct user_namespace *user_ns;
	bool non_rcu;		/* freed at once */
	struct rcu_head rcu;
};

#define CAP_CHOWN		0
#define CAP_DAC_OVERRIDE	1
#define CAP_DAC_READ_SEARCH	2
#define CAP_FOWNER		3
#define CAP_FSETID		4
#define CAP_KILL		5
#define CAP_SYS_ADMIN		21

struct task_struct;
extern struct cred init_cred;

struct cred *prepare_creds(void);
struct cred *prepare_exec_creds(void);
int commit_creds(struct cred *new);
void abort_creds(struct cred *new);
const struct cred *override_creds(const struct cred *new);
void revert_creds(const struct cred *old);
void __put_cred(struct cred *cred);
int copy_creds(struct task_struct *p, unsigned long clone_flags);	/* from copy_process() */
void exit_creds(struct task_struct *tsk);				/* from __put_task_struct()/release_task() */
bool capable(int cap);

static inline const struct cred *get_cred(const struct cred *c)
{
	atomic_inc(&((struct cred *)c)->usage);
	return c;
}

static inline void put_cred(const struct cred *c)
{
	if (c && atomic_dec_and_test(&((struct cred *)c)->usage))
		__put_cred((struct cred *)c);
}

#define current_cred()	(current->cred)
#define current_uid()	(current->cred->uid)
#define current_gid()	(current->cred->gid)
#define current_euid()	(current->cred->euid)
#define current_egid()	(current->cred->egid)
#define current_fsuid()	(current->cred->fsuid)
#define current_fsgid()	(current->cred->fsgid)
#define current_user_ns()	(current->cred->user_ns)
#endif
