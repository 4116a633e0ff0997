/* What symbols_test.go and unwind_test.go compile: one of each kind of symbol and type, and calls to unwind through. */
typedef unsigned int u32;
typedef unsigned long size_t;
typedef long ssize_t, loff_t;
struct list_head { struct list_head *next, *prev; };
typedef struct file file_t;
enum color { RED, GREEN = 5, BLUE };
struct file {
	file_t *self;
	int pid;
	char comm[16];
	u32 a:3, b:5;
	unsigned long long wide:40;
	union { int x; long y; };
	struct { int in; } named;
	enum color col;
	void (*fn)(struct file *, int);
	struct list_head list;
	int arr[3][4];
	const char *name;
	int neg:4;
};
struct file the_file;
static int hidden = 3;
int *get_hidden(void) { return &hidden; }
const int table[4] = { 1, 2, 3, 4 };
__attribute__((section(".data..percpu"))) int pcp_count;
__attribute__((weak)) int weak_one(int x) { return x; }
#define noinline __attribute__((noinline))
noinline void nothing(void) { asm volatile(""); }
noinline ssize_t vfs_read(struct file *file, char *buf, size_t count, loff_t *pos)
{
	nothing();
	file->pid += count;
	return *pos + file->pid;
}
static noinline int helper(const struct file *f) { asm volatile(""); return f->pid + hidden; }
noinline int many(struct file *f, ...) { return helper(f) + 1; }
static noinline int twice(int n) { asm volatile(""); return 2 * n; }
int call_twice(int n) { return twice(n) + 1; }
noinline int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
/* A frame whose size is not known, with many saved registers: the CFA hangs on rbp. */
noinline long vla(int n, long a, long b, long c)
{
	volatile char room[n * 16];
	loff_t pos = a;
	room[0] = fib(n);
	return vfs_read(&the_file, 0, b, &pos) + room[0] + a * b + c;
}
int call_asm(int n);
int asm_target(int n) { return call_twice(fib(n)); }
void trap(void) { nothing(); the_file.wide++; }
int start_c(void)
{
	int sum = 0;
	for (int i = 0; i < 4; i++)
		sum += vla(i + 2, i, sum, 3) + many(&the_file, i) + call_asm(i + 1) + weak_one(i);
	return sum;
}
static inline __attribute__((always_inline)) int inner(int x) { asm volatile("nop"); return x + 1; }
static inline __attribute__((always_inline)) int outer(int x) { return inner(x) + 2; }
int inlines_twice(int x) { return outer(x) + inner(x); }
