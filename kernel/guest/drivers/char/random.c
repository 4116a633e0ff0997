/*
 * Random numbers (Linux's drivers/char/random.c), as deterministic as the machine: a counter-mode generator that is keyed
 * by the time of each request, so that runs with other seeds see other numbers, and the same run the same.
 */
#include "fs.h"
#include "random.h"
#include "sched.h"
#include "mm.h"
#include "syscalls.h"
#include "uaccess.h"

static DEFINE_SPINLOCK(crng_lock);
static u64 crng_key = 0x9e3779b97f4a7c15ull, crng_count;

/* splitmix64: one word of output for each count. */
static u64 crng_word(u64 x)
{
	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
	return x ^ (x >> 31);
}

static noinline void _get_random_bytes(void *buf, size_t len)
{
	u8 *p = buf;
	u64 key, count;

	spin_lock(&crng_lock);
	crng_key = crng_word(crng_key + (u64)ktime_get());
	key = crng_key;
	count = crng_count;
	crng_count += (len + 7) / 8;
	spin_unlock(&crng_lock);
	while (len) {
		u64 w = crng_word(key + ++count * 0x9e3779b97f4a7c15ull);
		size_t n = min_t(size_t, len, sizeof(w));

		memcpy(p, &w, n);
		p += n;
		len -= n;
	}
}

void get_random_bytes(void *buf, size_t len)
{
	_get_random_bytes(buf, len);
}

static noinline ssize_t get_random_bytes_user(struct iov_iter *iter)
{
	ssize_t ret = 0;
	u8 block[64];

	while (iov_iter_count(iter)) {
		size_t n = min(iov_iter_count(iter), sizeof(block)), copied;

		_get_random_bytes(block, n);
		copied = copy_to_iter(block, n, iter);
		ret += copied;
		if (copied != n)
			break;
		if (ret % PAGE_SIZE == 0) {
			if (signal_pending(current))
				break;
			cond_resched();
		}
	}
	return ret ? ret : -EFAULT;
}

#define GRND_NONBLOCK	1
#define GRND_RANDOM	2
#define GRND_INSECURE	4

SYSCALL_DEFINE3(getrandom, char __user *, ubuf, size_t, len, unsigned int, flags)
{
	struct iov_iter iter;

	if (flags & ~(GRND_NONBLOCK | GRND_RANDOM | GRND_INSECURE) || (flags & (GRND_INSECURE | GRND_RANDOM)) == (GRND_INSECURE | GRND_RANDOM))
		return -EINVAL;
	len = min_t(size_t, len, MAX_RW_COUNT);
	if (!access_ok(ubuf, len))
		return -EFAULT;
	if (!len)
		return 0;
	iov_iter_ubuf(&iter, ITER_DEST, ubuf, len);
	return get_random_bytes_user(&iter);
}

static ssize_t urandom_read_iter(struct kiocb *kiocb, struct iov_iter *iter)
{
	return iov_iter_count(iter) ? get_random_bytes_user(iter) : 0;
}

/* What is written stirs the key. */
static ssize_t random_write_iter(struct kiocb *kiocb, struct iov_iter *iter)
{
	ssize_t ret = 0;
	u64 w;

	while (iov_iter_count(iter)) {
		size_t n = copy_from_iter(&w, sizeof(w), iter);

		if (!n)
			return ret ? ret : -EFAULT;
		spin_lock(&crng_lock);
		crng_key = crng_word(crng_key ^ w);
		spin_unlock(&crng_lock);
		ret += n;
	}
	return ret;
}

const struct file_operations urandom_fops = {
	.read_iter = urandom_read_iter, .write_iter = random_write_iter, .llseek = noop_llseek,
	.splice_read = generic_file_splice_read, .splice_write = iter_file_splice_write,
};
