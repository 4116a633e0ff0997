/* A second function of the same name. */
static __attribute__((noinline)) int twice(int n) { asm volatile(""); return n + n; }
int call_other_twice(int n) { return twice(n) + 2; }
