// Benchmarks of the executor: loops, and a mix of what a kernel does all day. build.sh makes mix.bin of it.
typedef unsigned char u8;
typedef unsigned int u32;
typedef unsigned long u64;
#define noinline __attribute__((noinline))
#ifdef HOST
static u64 percpu[8];
#define this_cpu_inc(i) (percpu[i]++)
#define this_cpu_add(i, v) (percpu[i] += (v))
#else
#define this_cpu_inc(i) asm volatile("incq %%gs:%c0" ::"i"((i) * 8) : "memory")
#define this_cpu_add(i, v) asm volatile("addq %1, %%gs:%c0" ::"i"((i) * 8), "r"((u64)(v)) : "memory")
#endif

u64 bench_alu(u64 n)
{
	u64 a = 1, b = 2, c = 3;

	for (u64 i = 0; i < n; i++) {
		a = (a ^ (b << 7)) + i;
		b = (b >> 3) + (a & 0xffff);
		c ^= a - b;
		c = c << 9 | c >> 55;
	}
	return a ^ b ^ c;
}

static u32 crctab[256];

u64 bench_crc(u64 n)
{
	u32 c = ~0u;
	u8 buf[256];

	for (u32 i = 0; i < 256; i++) {
		u32 v = i;
		for (int k = 0; k < 8; k++)
			v = v & 1 ? 0xedb88320u ^ v >> 1 : v >> 1;
		crctab[i] = v;
		buf[i] = i * 7;
	}
	while (n--)
		for (int i = 0; i < 256; i++)
			c = crctab[(c ^ buf[i]) & 255] ^ c >> 8;
	return c;
}

static noinline u64 leaf(u64 a, u64 b) { asm volatile(""); return a + b; }
static noinline u64 mid(u64 a) { return leaf(a, 1) ^ leaf(a, 3); }
static noinline u64 outer(u64 a) { return mid(a) + mid(a + 1); }
static noinline u64 fib(u32 n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }

u64 bench_calls(u64 n)
{
	u64 s = 0;

	while (n--)
		s += outer(s) + fib(n & 7);
	return s;
}

static u64 wa[512], wb[512];

static noinline void copy_words(u64 *d, const u64 *s, u64 n)
{
	while (n--)
		*d++ = *s++;
}

static noinline void copy_bytes(u8 *d, const u8 *s, u64 n)
{
	while (n--)
		*d++ = *s++;
}

u64 bench_words(u64 n)
{
	for (u64 i = 0; i < n; i++) {
		wa[i & 511] = i;
		copy_words(wb, wa, 512);
	}
	return wb[7];
}

u64 bench_bytes(u64 n)
{
	for (u64 i = 0; i < n; i++) {
		wa[i & 511] = i;
		copy_bytes((u8 *)wb, (u8 *)wa, 4096);
	}
	return wb[7];
}

u64 bench_sort(u64 n)
{
	static u32 v[256];
	u64 s = 0;

	while (n--) {
		u32 x = n + 1;
		for (int i = 0; i < 256; i++)
			v[i] = x = x * 1664525u + 1013904223u;
		for (int i = 1; i < 256; i++) {
			u32 k = v[i];
			int j = i;
			for (; j && v[j - 1] > k; j--)
				v[j] = v[j - 1];
			v[j] = k;
		}
		s += v[100];
	}
	return s;
}

// ---- the kernel mix

typedef struct { u32 v; } spinlock;
struct list { struct list *next, *prev; };
#define offset(t, m) __builtin_offsetof(t, m)
#define of(p, t, m) ((t *)((char *)(p) - offset(t, m)))

static u32 cmpxchg(u32 *p, u32 o, u32 n)
{
	u32 r;
	asm volatile("lock cmpxchgl %2, %1" : "=a"(r), "+m"(*p) : "r"(n), "0"(o) : "memory");
	return r;
}
static noinline void lock_slow(spinlock *l)
{
	do {
		while (*(volatile u32 *)&l->v)
			asm volatile("pause");
	} while (cmpxchg(&l->v, 0, 1));
}
static noinline void lock(spinlock *l)
{
	this_cpu_inc(0);
	if (cmpxchg(&l->v, 0, 1))
		lock_slow(l);
}
static noinline void unlock(spinlock *l) { *(volatile u32 *)&l->v = 0; this_cpu_add(0, -1); }
static void get(u32 *p) { asm volatile("lock incl %0" : "+m"(*p)::"memory"); }
static u8 put(u32 *p)
{
	u8 z;
	asm volatile("lock decl %0; sete %1" : "+m"(*p), "=qm"(z)::"memory");
	return z;
}

struct cache { u32 size, used; void *free; spinlock lock; u8 *mem; u32 next; };
static u8 heap[5][16384] __attribute__((aligned(4096)));
static struct cache caches[5] = { { 32 }, { 64 }, { 128 }, { 256 }, { 512 } };

static noinline void *cache_alloc(struct cache *c)
{
	void *p = 0;

	lock(&c->lock);
	if (c->free) {
		p = c->free;
		c->free = *(void **)p;
	} else if ((c->next + 1) * c->size <= sizeof heap[0]) {
		p = heap[c - caches] + c->size * c->next++;
	}
	if (p)
		c->used++;
	unlock(&c->lock);
	return p;
}

static noinline void zero(void *d, u64 n)
{
	u64 *p = d;
	for (; n >= 8; n -= 8)
		*p++ = 0;
}

static noinline void *alloc(u64 n, int z)
{
	int i = n <= 32 ? 0 : n <= 64 ? 1 : n <= 128 ? 2 : n <= 256 ? 3 : 4;
	void *p = cache_alloc(&caches[i]);

	if (p && z)
		zero(p, n);
	this_cpu_inc(1);
	return p;
}

static noinline void release(void *p)
{
	struct cache *c;

	if (!p)
		return;
	c = &caches[((u8 *)p - heap[0]) / sizeof heap[0]];
	lock(&c->lock);
	*(void **)p = c->free;
	c->free = p;
	c->used--;
	unlock(&c->lock);
	this_cpu_inc(2);
}

struct file;
struct ops {
	long (*read)(struct file *, char *, u64, u64 *);
	long (*write)(struct file *, const char *, u64, u64 *);
};
struct inode { u32 mode; u64 size; u8 *data; };
struct file { u32 mode, count; u64 pos; struct inode *inode; const struct ops *ops; };

static noinline int permission(struct file *f, int m) { return f->mode & m ? 0 : -13; }
static noinline int verify_area(int w, struct file *f, u64 *pos, u64 n)
{
	if ((long)n < 0 || (long)*pos < 0)
		return -22;
	return permission(f, w ? 2 : 1);
}
static noinline long copy_to(void *d, const void *s, u64 n)
{
	u64 *a = d;
	const u64 *b = s;

	while (n >= 8) {
		*a++ = *b++;
		n -= 8;
	}
	for (u64 i = 0; i < n; i++)
		((u8 *)a)[i] = ((const u8 *)b)[i];
	return 0;
}
static long ram_read(struct file *f, char *b, u64 n, u64 *pos)
{
	struct inode *i = f->inode;

	if (*pos >= i->size)
		return 0;
	if (n > i->size - *pos)
		n = i->size - *pos;
	if (copy_to(b, i->data + *pos, n))
		return -14;
	*pos += n;
	return n;
}
static long ram_write(struct file *f, const char *b, u64 n, u64 *pos)
{
	if (*pos + n > 4096)
		*pos = 0;
	copy_to(f->inode->data + *pos, b, n);
	*pos += n;
	if (f->inode->size < *pos)
		f->inode->size = *pos;
	return n;
}
static long null_read(struct file *f, char *b, u64 n, u64 *pos) { return 0; }
static long null_write(struct file *f, const char *b, u64 n, u64 *pos) { return n; }
static const struct ops ram_ops = { ram_read, ram_write }, null_ops = { null_read, null_write };
static u8 page[4096];
static struct inode ino = { 1, 4096, page };
static struct file files[4] = {
	{ 3, 1, 0, 0, &null_ops }, { 3, 1, 0, 0, &null_ops }, { 3, 1, 0, &ino, &ram_ops }, { 3, 1, 0, &ino, &ram_ops },
};

static noinline struct file *fget(u32 fd)
{
	if (fd >= 4 || !files[fd].ops)
		return 0;
	get(&files[fd].count);
	return &files[fd];
}
static noinline void fput(struct file *f)
{
	if (put(&f->count))
		f->ops = 0;
}
static noinline long vfs_read(struct file *f, char *b, u64 n, u64 *pos)
{
	long r;

	if (!(f->mode & 1))
		return -9;
	r = verify_area(0, f, pos, n);
	if (r)
		return r;
	r = f->ops->read(f, b, n, pos);
	if (r > 0)
		this_cpu_inc(3);
	return r;
}
static noinline long vfs_write(struct file *f, const char *b, u64 n, u64 *pos)
{
	long r = verify_area(1, f, pos, n);

	return r ? r : f->ops->write(f, b, n, pos);
}
static long sys_read(u64 fd, u64 b, u64 n)
{
	struct file *f = fget(fd);
	long r = -9;

	if (f) {
		r = vfs_read(f, (char *)b, n, &f->pos);
		fput(f);
	}
	return r;
}
static long sys_write(u64 fd, u64 b, u64 n)
{
	struct file *f = fget(fd);
	long r = -9;

	if (f) {
		r = vfs_write(f, (char *)b, n, &f->pos);
		fput(f);
	}
	return r;
}
static long sys_seek(u64 fd, u64 off, u64 n)
{
	struct file *f = fget(fd);

	if (!f)
		return -9;
	f->pos = off;
	fput(f);
	return off;
}
static long sys_pid(u64 a, u64 b, u64 c) { return 42; }
static long (*const table[])(u64, u64, u64) = { sys_read, sys_write, sys_seek, sys_pid };

static noinline long do_syscall(u64 nr, u64 a, u64 b, u64 c)
{
	return nr < 4 ? table[nr](a, b, c) : -38;
}

struct obj { struct list node; u64 key, val; char name[24]; };
static struct list buckets[64];
static spinlock hash_lock;

static noinline u32 hash(u64 key)
{
	u32 a = 0xdeadbeef, b = key, c = key >> 32;

	for (int i = 0; i < 3; i++) {
		c ^= b; c -= b << 14 | b >> 18;
		a ^= c; a -= c << 11 | c >> 21;
		b ^= a; b -= a << 25 | a >> 7;
	}
	return c;
}
static noinline struct obj *find(u64 key)
{
	struct list *h = &buckets[hash(key) & 63];

	for (struct list *p = h->next; p != h; p = p->next)
		if (of(p, struct obj, node)->key == key)
			return of(p, struct obj, node);
	return 0;
}
static noinline void copy_name(char *d, const char *s)
{
	while ((*d++ = *s++))
		;
}
static noinline int insert(u64 key, u64 val, const char *name)
{
	struct obj *o = alloc(sizeof *o, 1);
	struct list *h = &buckets[hash(key) & 63];

	if (!o)
		return -12;
	o->key = key;
	o->val = val;
	copy_name(o->name, name);
	lock(&hash_lock);
	o->node.next = h->next;
	o->node.prev = h;
	h->next->prev = &o->node;
	h->next = &o->node;
	unlock(&hash_lock);
	return 0;
}
static noinline void drop(u64 key)
{
	struct obj *o;

	lock(&hash_lock);
	o = find(key);
	if (o) {
		o->node.next->prev = o->node.prev;
		o->node.prev->next = o->node.next;
	}
	unlock(&hash_lock);
	release(o);
}
static noinline int number(char *b, u64 v, u32 base)
{
	char t[24];
	int n = 0, o = 0;

	do {
		t[n++] = "0123456789abcdef"[v % base];
		v /= base;
	} while (v);
	while (n)
		b[o++] = t[--n];
	return o;
}
static noinline int print(char *b, const char *f, u64 x, u64 y)
{
	char *s = b;

	for (; *f; f++) {
		if (*f != '%') {
			*b++ = *f;
			continue;
		}
		switch (*++f) {
		case 'd': b += number(b, x, 10); break;
		case 'x': b += number(b, y, 16); break;
		default: *b++ = *f;
		}
	}
	*b = 0;
	return b - s;
}
static noinline u32 classify(u32 x)
{
	switch (x) {
	case 0: return 3;
	case 1: return 7;
	case 2: return 1;
	case 3: return 9;
	case 4: return 4;
	case 5: return 11;
	default: return x * 3;
	}
}

u64 bench_kernel(u64 n)
{
	u64 s = 0;
	char b[128], name[40];

	if (!buckets[0].next)
		for (int i = 0; i < 64; i++)
			buckets[i].next = buckets[i].prev = &buckets[i];
	for (u64 i = 0; i < n; i++) {
		do_syscall(2, 2, (i * 64) & 2047, 0);
		s += do_syscall(0, 2, (u64)b, 100);
		s += do_syscall(1, 3, (u64)b, 16);
		s += do_syscall(3, 0, 0, 0);
		s += do_syscall(0, 1, (u64)b, 5);
		insert(i, s, "dentry");
		lock(&hash_lock);
		struct obj *o = find(i);
		if (o)
			s += o->val;
		unlock(&hash_lock);
		s += classify(i % 9);
		if (i >= 16)
			drop(i - 16);
		void *p = alloc(100 + (i & 255), 0);
		release(p);
		if (!(i & 15))
			s += print(name, "ev-%d:%x cpu", i, s);
	}
	for (u64 i = n > 16 ? n - 16 : 0; i < n; i++)
		drop(i);
	return s;
}

#ifdef HOST
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
/* mixhost NAME ROUNDS: prints the result and the processor time in ns; run by qemu_test.go under qemu-x86_64. */
int main(int argc, char **argv)
{
	struct { const char *name; u64 (*f)(u64); } t[] = { { "alu", bench_alu }, { "crc", bench_crc }, { "calls", bench_calls },
		{ "words", bench_words }, { "bytes", bench_bytes }, { "kernel", bench_kernel }, { "sort", bench_sort } };
	struct timespec a, b;

	for (int i = 0; argc > 2 && i < 7; i++) {
		if (strcmp(t[i].name, argv[1]))
			continue;
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &a);
		u64 r = t[i].f(strtoul(argv[2], 0, 0));
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &b);
		printf("%lu %ld\n", r, (b.tv_sec - a.tv_sec) * 1000000000L + b.tv_nsec - a.tv_nsec);
		return 0;
	}
	return 1;
}
#endif
