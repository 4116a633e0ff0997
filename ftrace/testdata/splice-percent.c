#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#define T "/sys/kernel/tracing/"
static void put(const char *f, const char *t) { int fd = open(f, O_WRONLY | O_TRUNC); if (fd < 0 || write(fd, t, strlen(t)) < 0) printf("put %s: errno %d\n", f, errno); close(fd); }
int main(int argc, char **v) {
 int p[2], c[2]; char x[1000], cnt[100]; memset(x,'x',1000);
 pipe(p); pipe(c); 
 put(T "buffer_size_kb", "36"); put(T "buffer_percent", v[1]); put(T "trace", "");
 int f = open(T "per_cpu/cpu0/trace_pipe_raw", O_RDONLY);
 int m = open(T "trace_marker", O_WRONLY);
 if (!fork()) { usleep(200000); for (int i = 0; i < 40; i++) { write(m, x, 1000); write(c[1], "x", 1); if (v[2] && i == 10) put(T "tracing_on", "0"); usleep(10000); } _exit(0); }
 fcntl(p[1], F_SETPIPE_SZ, 1<<20);
 long got = splice(f, 0, p[1], 0, 1<<20, 0); int er = errno;
 fcntl(c[0], F_SETFL, O_NONBLOCK); int i = read(c[0], cnt, 100);
 printf("%s: %ld errno %d after %d\n", v[1], got, got<0?er:0, i);
 got = splice(f, 0, p[1], 0, 1<<20, 0); i = read(c[0], cnt, 100); printf(" again: %ld after %d more\n", got, i);
 return 0; }
