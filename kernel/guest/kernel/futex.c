/*
 * Futexes (kernel/futex/core.c, waitwake.c, requeue.c): waiting for a word of user memory to change. A waiter stands in the
 * hash bucket of its key; the bucket's lock covers the check of the word and the queueing, so no wake-up is lost.
 *
 * The key of a private futex is (mm, address), of a shared one (page's inode or mm, offset). Here every shared mapping that
 * two processes can have is of a file, so the inode and offset do. No priority inheritance (FUTEX_LOCK_PI …): ENOSYS.
 */
#include "mm.h"
#include "fs.h"
#include "sched.h"
#include "syscalls.h"
#include "timer.h"
#include "uaccess.h"
#include "futex.h"

#define FUTEX_WAIT		0
#define FUTEX_REQUEUE		3
#define FUTEX_CMP_REQUEUE	4
#define FUTEX_WAKE_OP		5
#define FUTEX_WAIT_BITSET	9
#define FUTEX_WAKE_BITSET	10
#define FUTEX_PRIVATE_FLAG	128
#define FUTEX_CLOCK_REALTIME	256
#define FUTEX_BITSET_MATCH_ANY	0xffffffffu
#define FLAGS_SHARED		1

union futex_key { struct { void *ptr; unsigned long offset; }; };
struct futex_hash_bucket { atomic_t waiters; spinlock_t lock; struct list_head chain; };
struct futex_q {
	struct list_head list;			/* empty: it has been woken */
	struct task_struct *task;
	struct futex_hash_bucket *lock_ptr;	/* its bucket; NULL: woken */
	union futex_key key;
	u32 bitset;
};

#define FUTEX_HASH 256
static struct futex_hash_bucket futex_queues[FUTEX_HASH];

static noinline struct futex_hash_bucket *futex_hash(union futex_key *key)
{
	unsigned long h = ((unsigned long)key->ptr >> 6) * 0x9e3779b97f4a7c15UL ^ key->offset * 0xc2b2ae3d27d4eb4fUL;

	return &futex_queues[h >> 56];
}

static bool match_futex(union futex_key *a, union futex_key *b)
{
	return a->ptr == b->ptr && a->offset == b->offset;
}

static noinline int get_futex_key(u32 __user *uaddr, unsigned int flags, union futex_key *key)
{
	unsigned long address = (unsigned long)uaddr;
	struct mm_struct *mm = current->mm;
	struct vm_area_struct *vma;

	if (unlikely(address % sizeof(u32)))
		return -EINVAL;
	if (unlikely(address >= TASK_SIZE_MAX))
		return -EFAULT;
	key->ptr = mm;
	key->offset = address;
	if (!(flags & FLAGS_SHARED))
		return 0;
	mmap_read_lock(mm);
	vma = find_vma(mm, address);
	if (vma && address >= vma->vm_start && vma->vm_file && vma->vm_flags & VM_SHARED) {
		key->ptr = file_inode(vma->vm_file);
		key->offset = address - vma->vm_start + (vma->vm_pgoff << PAGE_SHIFT);
	}
	mmap_read_unlock(mm);
	return 0;
}

static void futex_queue(struct futex_q *q, struct futex_hash_bucket *hb)
{
	q->lock_ptr = hb;
	list_add_tail(&q->list, &hb->chain);
}

/* The bucket is locked. The waiter may be gone as soon as lock_ptr is NULL. */
static noinline void futex_wake_mark(struct futex_q *q)
{
	struct task_struct *p = get_task_struct(q->task);

	list_del_init(&q->list);
	smp_store_release(&q->lock_ptr, NULL);
	wake_up_process(p);
	put_task_struct(p);
}

static noinline int futex_wake(u32 __user *uaddr, unsigned int flags, int nr_wake, u32 bitset)
{
	struct futex_hash_bucket *hb;
	struct futex_q *this, *next;
	union futex_key key;
	int ret;

	if (!bitset)
		return -EINVAL;
	ret = get_futex_key(uaddr, flags, &key);
	if (unlikely(ret))
		return ret;
	hb = futex_hash(&key);
	if (!atomic_read(&hb->waiters))
		return 0;
	spin_lock(&hb->lock);
	list_for_each_entry_safe(this, next, &hb->chain, list) {
		if (!match_futex(&this->key, &key) || !(this->bitset & bitset))
			continue;
		futex_wake_mark(this);
		if (++ret >= nr_wake)
			break;
	}
	spin_unlock(&hb->lock);
	return ret;
}

/* 1: it was queued still, so nobody has woken it. A requeue may move it to another bucket meanwhile. */
static noinline int futex_unqueue(struct futex_q *q)
{
	struct futex_hash_bucket *hb;

	for (;;) {
		hb = READ_ONCE(q->lock_ptr);
		if (!hb)
			return 0;
		spin_lock(&hb->lock);
		if (likely(hb == READ_ONCE(q->lock_ptr)))
			break;
		spin_unlock(&hb->lock);
	}
	list_del(&q->list);
	atomic_dec(&hb->waiters);
	spin_unlock(&hb->lock);
	return 1;
}

/* With the bucket locked the word is read; it is in the way of nobody to fault the page in without the lock first. */
static noinline int futex_wait_setup(u32 __user *uaddr, u32 val, unsigned int flags, struct futex_q *q, struct futex_hash_bucket **hb)
{
	u32 uval;
	int ret = get_futex_key(uaddr, flags, &q->key);

	if (unlikely(ret))
		return ret;
	for (;;) {
		*hb = futex_hash(&q->key);
		atomic_inc(&(*hb)->waiters);	/* before the word is read: see futex_wake() */
		spin_lock(&(*hb)->lock);
		pagefault_disable();
		ret = get_user(uval, uaddr);
		pagefault_enable();
		if (!ret)
			break;
		spin_unlock(&(*hb)->lock);
		atomic_dec(&(*hb)->waiters);
		if (get_user(uval, uaddr))
			return -EFAULT;
	}
	if (uval != val) {
		spin_unlock(&(*hb)->lock);
		atomic_dec(&(*hb)->waiters);
		return -EAGAIN;
	}
	return 0;
}

static noinline void futex_wait_queue(struct futex_hash_bucket *hb, struct futex_q *q, struct hrtimer_sleeper *timeout)
{
	set_current_state(TASK_INTERRUPTIBLE);
	futex_queue(q, hb);
	spin_unlock(&hb->lock);
	if (timeout)
		hrtimer_sleeper_start_expires(timeout, HRTIMER_MODE_ABS);
	if (likely(READ_ONCE(q->lock_ptr)) && (!timeout || timeout->task))
		schedule();
	__set_current_state(TASK_RUNNING);
}

static noinline int futex_wait(u32 __user *uaddr, unsigned int flags, u32 val, ktime_t *abs_time, u32 bitset)
{
	struct hrtimer_sleeper timeout, *to = NULL;
	struct futex_q q = { .task = current, .bitset = bitset };
	struct futex_hash_bucket *hb;
	int ret;

	if (!bitset)
		return -EINVAL;
	INIT_LIST_HEAD(&q.list);
	if (abs_time) {
		to = &timeout;
		hrtimer_init_sleeper(to, CLOCK_MONOTONIC, HRTIMER_MODE_ABS);
		to->timer._softexpires = *abs_time;
		to->timer.node.expires = *abs_time + 50 * NSEC_PER_USEC;
	}
	do {
		ret = futex_wait_setup(uaddr, val, flags, &q, &hb);
		if (ret)
			break;
		futex_wait_queue(hb, &q, to);
		if (!futex_unqueue(&q)) {
			atomic_dec(&futex_hash(&q.key)->waiters);	/* woken: the waker left the count to us */
			ret = 0;
			break;
		}
		ret = to && !to->task ? -ETIMEDOUT : signal_pending(current) ? (abs_time ? -EINTR : -ERESTARTSYS) : -EAGAIN;
		INIT_LIST_HEAD(&q.list);
	} while (ret == -EAGAIN);		/* a wake-up that was nobody's */
	if (to)
		hrtimer_cancel(&to->timer);
	return ret;
}

static void double_lock_hb(struct futex_hash_bucket *a, struct futex_hash_bucket *b)
{
	if (a > b)
		swap(a, b);
	spin_lock(&a->lock);
	if (a != b)
		spin_lock(&b->lock);
}

static void double_unlock_hb(struct futex_hash_bucket *a, struct futex_hash_bucket *b)
{
	spin_unlock(&a->lock);
	if (a != b)
		spin_unlock(&b->lock);
}

/* Wakes nr_wake waiters of the first word and lets nr_requeue others wait for the second. cmpval: what the first must be. */
static noinline int futex_requeue(u32 __user *uaddr1, unsigned int flags, u32 __user *uaddr2, int nr_wake, int nr_requeue, const u32 *cmpval)
{
	struct futex_hash_bucket *hb1, *hb2;
	struct futex_q *this, *next;
	union futex_key key1, key2;
	int ret, woken = 0, moved = 0;
	u32 curval;

	if (nr_wake < 0 || nr_requeue < 0)
		return -EINVAL;
	ret = get_futex_key(uaddr1, flags, &key1);
	if (!ret)
		ret = get_futex_key(uaddr2, flags, &key2);
	if (ret)
		return ret;
	hb1 = futex_hash(&key1);
	hb2 = futex_hash(&key2);
	for (;;) {
		double_lock_hb(hb1, hb2);
		if (!cmpval)
			break;
		pagefault_disable();
		ret = get_user(curval, uaddr1);
		pagefault_enable();
		if (!ret)
			break;
		double_unlock_hb(hb1, hb2);
		if (get_user(curval, uaddr1))
			return -EFAULT;
	}
	if (cmpval && curval != *cmpval) {
		double_unlock_hb(hb1, hb2);
		return -EAGAIN;
	}
	list_for_each_entry_safe(this, next, &hb1->chain, list) {
		if (!match_futex(&this->key, &key1))
			continue;
		if (woken < nr_wake) {
			futex_wake_mark(this);
			woken++;
			continue;
		}
		if (moved == nr_requeue)
			break;
		moved++;
		this->key = key2;
		if (hb1 != hb2) {
			list_move_tail(&this->list, &hb2->chain);
			atomic_dec(&hb1->waiters);
			atomic_inc(&hb2->waiters);
			WRITE_ONCE(this->lock_ptr, hb2);
		}
	}
	double_unlock_hb(hb1, hb2);
	return woken + moved;
}

/* *uval becomes what the word was; it is newval now if that was oldval. */
static int futex_atomic_cmpxchg_inatomic(u32 *uval, u32 __user *uaddr, u32 oldval, u32 newval)
{
	int ret = 0;

	if (!access_ok(uaddr, sizeof(u32)))
		return -EFAULT;
	asm volatile("1: lock cmpxchgl %4,%2\n2:\n.pushsection .fixup,\"ax\"\n3: mov %3,%0\n jmp 2b\n.popsection\n"
		     _ASM_EXTABLE(1b, 3b) : "+r"(ret), "=a"(oldval), "+m"(*uaddr) : "i"(-EFAULT), "r"(newval), "1"(oldval) : "memory");
	*uval = oldval;
	return ret;
}

/* A shared word's old value decides whether the second's waiters are woken too (glibc's condition variables had it). */
static noinline int futex_wake_op(u32 __user *uaddr1, unsigned int flags, u32 __user *uaddr2, int nr_wake, int nr_wake2, unsigned int encoded)
{
	int op = encoded >> 28 & 7, cmp = encoded >> 24 & 15, oparg = (int)(encoded << 8) >> 20, cmparg = (int)(encoded << 20) >> 20, ret, old, new;
	u32 seen;
	bool hit;

	if (encoded >> 28 & 8) {
		if (oparg < 0 || oparg > 31)
			return -EINVAL;
		oparg = 1 << oparg;
	}
	do {
		if (get_user(old, (int __user *)uaddr2))
			return -EFAULT;
		switch (op) {
		case 0: new = oparg; break;
		case 1: new = old + oparg; break;
		case 2: new = old | oparg; break;
		case 3: new = old & ~oparg; break;
		case 4: new = old ^ oparg; break;
		default: return -ENOSYS;
		}
		ret = futex_atomic_cmpxchg_inatomic(&seen, uaddr2, old, new);
		if (ret)
			return ret;
	} while (seen != (u32)old);
	switch (cmp) {
	case 0: hit = old == cmparg; break;
	case 1: hit = old != cmparg; break;
	case 2: hit = old < cmparg; break;
	case 3: hit = old <= cmparg; break;
	case 4: hit = old > cmparg; break;
	case 5: hit = old >= cmparg; break;
	default: return -ENOSYS;
	}
	ret = futex_wake(uaddr1, flags, nr_wake, FUTEX_BITSET_MATCH_ANY);
	if (ret >= 0 && hit) {
		int more = futex_wake(uaddr2, flags, nr_wake2, FUTEX_BITSET_MATCH_ANY);

		ret = more < 0 ? more : ret + more;
	}
	return ret;
}

long do_futex(u32 __user *uaddr, int op, u32 val, ktime_t *timeout, u32 __user *uaddr2, u32 val2, u32 val3)
{
	unsigned int flags = op & FUTEX_PRIVATE_FLAG ? 0 : FLAGS_SHARED;
	int cmd = op & ~(FUTEX_PRIVATE_FLAG | FUTEX_CLOCK_REALTIME);

	if (op & FUTEX_CLOCK_REALTIME && cmd != FUTEX_WAIT_BITSET)
		return -ENOSYS;
	switch (cmd) {
	case FUTEX_WAIT:
		val3 = FUTEX_BITSET_MATCH_ANY;
		fallthrough;
	case FUTEX_WAIT_BITSET:
		return futex_wait(uaddr, flags, val, timeout, val3);
	case FUTEX_WAKE:
		val3 = FUTEX_BITSET_MATCH_ANY;
		fallthrough;
	case FUTEX_WAKE_BITSET:
		return futex_wake(uaddr, flags, val, val3);
	case FUTEX_REQUEUE:
		return futex_requeue(uaddr, flags, uaddr2, val, val2, NULL);
	case FUTEX_CMP_REQUEUE:
		return futex_requeue(uaddr, flags, uaddr2, val, val2, &val3);
	case FUTEX_WAKE_OP:
		return futex_wake_op(uaddr, flags, uaddr2, val, val2, val3);
	}
	return -ENOSYS;
}

SYSCALL_DEFINE6(futex, u32 *, uaddr, int, op, u32, val, const struct __kernel_timespec *, utime, u32 *, uaddr2, u32, val3)
{
	int cmd = op & ~(FUTEX_PRIVATE_FLAG | FUTEX_CLOCK_REALTIME);
	ktime_t t, *tp = NULL;
	struct timespec64 ts;

	if (utime && (cmd == FUTEX_WAIT || cmd == FUTEX_WAIT_BITSET)) {
		if (get_timespec64(&ts, utime))
			return -EFAULT;
		if (ts.tv_sec < 0 || (unsigned long)ts.tv_nsec >= NSEC_PER_SEC)
			return -EINVAL;
		t = timespec64_to_ns(&ts);
		if (cmd == FUTEX_WAIT)
			t += ktime_get();	/* only this one is relative */
		else if (op & FUTEX_CLOCK_REALTIME)
			t -= ktime_get_real() - ktime_get();
		tp = &t;
	}
	return do_futex(uaddr, op, val, tp, uaddr2, (u32)(unsigned long)utime, val3);
}

/* ---- robust lists: a thread that dies holding locks lets the next waiter of each know ---- */
#define FUTEX_WAITERS		0x80000000u
#define FUTEX_OWNER_DIED	0x40000000u
#define FUTEX_TID_MASK		0x3fffffffu
#define ROBUST_LIST_LIMIT	2048

/* -1: the list is not what it should be, and the rest is left alone. pending: the owner died between taking the word and the list. */
static noinline int handle_futex_death(u32 __user *uaddr, struct task_struct *curr, bool pending)
{
	u32 uval, seen;

	if ((unsigned long)uaddr % sizeof(*uaddr) || get_user(uval, uaddr))
		return -1;
	for (;;) {
		/* unlocked by its owner, who died before the wake-up */
		if (pending && !uval) {
			futex_wake(uaddr, FLAGS_SHARED, 1, FUTEX_BITSET_MATCH_ANY);
			return 0;
		}
		if ((uval & FUTEX_TID_MASK) != (u32)task_pid_vnr(curr))
			return 0;
		if (futex_atomic_cmpxchg_inatomic(&seen, uaddr, uval, (uval & FUTEX_WAITERS) | FUTEX_OWNER_DIED))
			return -1;
		if (seen == uval)
			break;
		uval = seen;
		cond_resched();
	}
	if (uval & FUTEX_WAITERS)
		futex_wake(uaddr, FLAGS_SHARED, 1, FUTEX_BITSET_MATCH_ANY);
	return 0;
}

/* Entries with bit 0 set are priority-inheriting locks, which the kernel does not have: they are passed over. */
static noinline void exit_robust_list(struct task_struct *curr)
{
	struct robust_list_head __user *head = curr->robust_list;
	struct robust_list __user *entry, *next, *pending;
	unsigned int limit = ROBUST_LIST_LIMIT;
	unsigned long offset;

	if (get_user(entry, &head->list.next) || get_user(offset, &head->futex_offset) || get_user(pending, &head->list_op_pending))
		return;
	while (entry != &head->list && limit--) {
		bool bad = get_user(next, &entry->next);

		if (entry != pending && !((unsigned long)entry & 1) &&
		    handle_futex_death((u32 __user *)((unsigned long)entry + offset), curr, false))
			return;
		if (bad)
			return;
		entry = (struct robust_list __user *)((unsigned long)next & ~1UL);
		cond_resched();
	}
	if (pending)
		handle_futex_death((u32 __user *)(((unsigned long)pending & ~1UL) + offset), curr, true);
}

static void futex_cleanup(struct task_struct *tsk)
{
	if (unlikely(tsk->robust_list)) {
		exit_robust_list(tsk);
		tsk->robust_list = NULL;
	}
}

void futex_exec_release(struct task_struct *tsk)
{
	futex_cleanup(tsk);
}

void futex_exit_release(struct task_struct *tsk)
{
	futex_cleanup(tsk);
}

SYSCALL_DEFINE2(set_robust_list, struct robust_list_head __user *, head, size_t, len)
{
	if (unlikely(len != sizeof(*head)))
		return -EINVAL;
	current->robust_list = head;
	return 0;
}

SYSCALL_DEFINE3(get_robust_list, int, pid, struct robust_list_head __user * __user *, head_ptr, size_t __user *, len_ptr)
{
	struct robust_list_head __user *head = NULL;
	struct task_struct *p;
	long ret = -ESRCH;

	rcu_read_lock();
	p = pid ? find_task_by_vpid(pid) : current;
	if (p) {
		head = p->robust_list;
		ret = 0;
	}
	rcu_read_unlock();
	if (ret)
		return ret;
	return put_user(sizeof(*head), len_ptr) || put_user(head, head_ptr) ? -EFAULT : 0;
}

static int __init futex_init(void)
{
	int i;

	for (i = 0; i < FUTEX_HASH; i++) {
		spin_lock_init(&futex_queues[i].lock);
		INIT_LIST_HEAD(&futex_queues[i].chain);
	}
	return 0;
}
core_initcall(futex_init);
