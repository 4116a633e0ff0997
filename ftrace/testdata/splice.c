// Recorded splice-6.1.txt: gcc -O1 -static -o sp splice.c; oracle.sh -a sp 'cd /work; exec ./sp'
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#define T "/sys/kernel/tracing/"
#define RAW T "per_cpu/cpu0/trace_pipe_raw"
static int p[2], q[2];
static void say(const char *what, long r) { printf("%s: %ld", what, r); if (r < 0) printf(" errno %d", errno); printf("\n"); }
static long sp(int in, loff_t *oi, int out, loff_t *oo, size_t n, unsigned f) { return splice(in, oi, out, oo, n, f); }
static void put(const char *f, const char *t) { int fd = open(f, O_WRONLY | O_TRUNC); if (fd < 0 || write(fd, t, strlen(t)) < 0) printf("put %s: errno %d\n", f, errno); close(fd); }
static char buf[1 << 20];
static void drain(int fd) { int fl = fcntl(fd, F_GETFL); fcntl(fd, F_SETFL, fl | O_NONBLOCK); while (read(fd, buf, sizeof buf) > 0); fcntl(fd, F_SETFL, fl); }
static void marks(int n) { int fd = open(T "trace_marker", O_WRONLY); char x[1000]; memset(x, 'x', sizeof x); for (int i = 0; i < n; i++) write(fd, x, sizeof x); close(fd); }
int main(void)
{
	loff_t off; int f, g, r[2]; long n;
	setvbuf(stdout, 0, _IOLBF, 0); signal(SIGPIPE, SIG_IGN);
	pipe(p); pipe(q);
	f = open("/tmp/in", O_RDWR | O_CREAT | O_TRUNC, 0644); memset(buf, 'a', 10000); write(f, buf, 10000); lseek(f, 0, SEEK_SET);
	g = open("/tmp/out", O_RDWR | O_CREAT | O_TRUNC, 0644);
	printf("# files and pipes\n");
	say("len 0, bad fds", sp(99, 0, 98, 0, 0, 99));
	say("flags 16", sp(f, 0, p[1], 0, 1, 16));
	say("bad in", sp(99, 0, p[1], 0, 1, 0));
	say("bad out", sp(f, 0, 99, 0, 1, 0));
	say("no pipe", sp(f, 0, g, 0, 1, 0));
	say("out is read end", sp(f, 0, p[0], 0, 1, 0));
	say("in is write end", sp(p[1], 0, g, 0, 1, 0));
	say("same pipe", sp(p[0], 0, p[1], 0, 1, 0));
	off = 1; say("offset of a pipe", sp(f, 0, p[1], &off, 1, 0));
	off = 1; say("offset of a pipe in", sp(p[0], &off, g, 0, 1, 0));
	say("100 of a file", sp(f, 0, p[1], 0, 100, 0)); say(" position", lseek(f, 0, SEEK_CUR));
	off = 4000; say("5000 at 4000", sp(f, &off, p[1], 0, 5000, 0)); say(" offset", off); say(" position", lseek(f, 0, SEEK_CUR));
	off = 20000; say("behind its end", sp(f, &off, p[1], 0, 5000, 0));
	off = -1; say("offset -1", sp(f, &off, p[1], 0, 5000, 0));
	say("60 to a file", sp(p[0], 0, g, 0, 60, 0)); say(" position", lseek(g, 0, SEEK_CUR));
	off = 7; say("1000 to a file at 7", sp(p[0], 0, g, &off, 1000, 0)); say(" offset", off); say(" size", lseek(g, 0, SEEK_END));
	say("70 pipe to pipe", sp(p[0], 0, q[1], 0, 70, 0));
	say("9999 pipe to pipe", sp(p[0], 0, q[1], 0, 9999, 0));
	say("empty pipe, NONBLOCK", sp(p[0], 0, q[1], 0, 9999, SPLICE_F_NONBLOCK));
	say("empty pipe to file, NONBLOCK", sp(p[0], 0, g, 0, 9999, SPLICE_F_NONBLOCK));
	say("read of the other", read(q[0], buf, sizeof buf));
	off = 0; n = sp(f, &off, p[1], 0, 1 << 20, 0); say("all of a file", n);
	for (n = 0; ; n++) { off = 10; if (sp(f, &off, p[1], 0, 1, SPLICE_F_NONBLOCK) != 1) break; } say("buffers left", n);
	off = 0; say("full pipe, NONBLOCK", sp(f, &off, p[1], 0, 1, SPLICE_F_NONBLOCK));
	fcntl(p[1], F_SETFL, O_NONBLOCK); say("full pipe, O_NONBLOCK", sp(f, &off, p[1], 0, 1, 0)); fcntl(p[1], F_SETFL, 0);
	write(q[1], "abc", 3); say("pipe to full pipe, NONBLOCK", sp(q[0], 0, p[1], 0, 1, SPLICE_F_NONBLOCK));
	say("to /dev/null", sp(p[0], 0, open("/dev/null", O_WRONLY), 0, 1 << 20, 0));
	say("to /dev/zero", sp(q[0], 0, open("/dev/zero", O_WRONLY), 0, 2, 0));
	say("to /dev/full", sp(q[0], 0, open("/dev/full", O_WRONLY), 0, 2, 0));
	drain(q[0]);
	say("of /dev/zero", sp(open("/dev/zero", O_RDONLY), 0, p[1], 0, 5000, 0)); drain(p[0]);
	say("of /dev/null", sp(open("/dev/null", O_RDONLY), 0, p[1], 0, 5000, 0)); drain(p[0]);
	say("of /dev/urandom", sp(open("/dev/urandom", O_RDONLY), 0, p[1], 0, 5000, 0)); drain(p[0]);
	say("of /proc/version", sp(open("/proc/version", O_RDONLY), 0, p[1], 0, 5, 0)); drain(p[0]);
	say("of /proc/self/status", sp(open("/proc/self/status", O_RDONLY), 0, p[1], 0, 5, 0)); drain(p[0]);
	say("of /proc/sys/kernel/ostype", sp(open("/proc/sys/kernel/ostype", O_RDONLY), 0, p[1], 0, 5, 0)); drain(p[0]);
	say("of a directory", sp(open("/", O_RDONLY), 0, p[1], 0, 5, 0)); drain(p[0]);
	write(q[1], "abc", 3); say("append", sp(q[0], 0, open("/tmp/out", O_WRONLY | O_APPEND), 0, 2, 0));
	say("to /proc/self/comm", sp(q[0], 0, open("/proc/self/comm", O_WRONLY), 0, 2, 0));
	drain(q[0]);
	pipe(r); close(r[1]); say("no writer", sp(r[0], 0, g, 0, 5, 0)); say("no writer to pipe", sp(r[0], 0, q[1], 0, 5, 0)); close(r[0]);
	pipe(r); close(r[0]); off = 0; say("no reader", sp(f, &off, r[1], 0, 5, 0));
	write(q[1], "abc", 3); say("no reader from pipe", sp(q[0], 0, r[1], 0, 5, 0)); close(r[1]); drain(q[0]);

	printf("# trace_pipe_raw\n");
	put(T "tracing_cpumask", "1"); put(T "tracing_on", "1"); put(T "buffer_size_kb", "36"); put(T "buffer_percent", "50"); put(T "trace", "");
	f = open(RAW, O_RDONLY | O_NONBLOCK);
	say("empty", sp(f, 0, p[1], 0, 4096, 0));
	say("len 100", sp(f, 0, p[1], 0, 100, 0));
	off = 0; say("offset 0", sp(f, &off, p[1], 0, 4096, 0));
	marks(2); say("part of a page", sp(f, 0, p[1], 0, 4096, 0));
	marks(8);
	say("three pages, len 5000", sp(f, 0, p[1], 0, 5000, 0)); say(" in the pipe", read(p[0], buf, sizeof buf)); 
	say("len 65536", sp(f, 0, p[1], 0, 65536, 0)); say(" in the pipe", read(p[0], buf, sizeof buf));
	say("again", sp(f, 0, p[1], 0, 65536, 0));
	say("read of the rest", read(f, buf, 4096)); say("read again", read(f, buf, 4096));
	put(T "trace", ""); marks(8);
	say("read 100", read(f, buf, 100)); say("then splice", sp(f, 0, p[1], 0, 65536, 0)); drain(p[0]);
	say("read 5000", read(f, buf, 5000)); say("read 5000", read(f, buf, 5000)); say("read 5000", read(f, buf, 5000));
	put(T "trace", ""); marks(12); for (n = 0; n < 15; n++) { off = n; int h = open("/tmp/in", O_RDONLY); sp(h, &off, p[1], 0, 1, 0); close(h); }
	say("one buffer free", sp(f, 0, p[1], 0, 65536, 0)); drain(p[0]);
	say("then", sp(f, 0, p[1], 0, 65536, 0)); drain(p[0]);
	put(T "trace", ""); fcntl(f, F_SETFL, 0);
	say("NONBLOCK alone", sp(f, 0, p[1], 0, 65536, SPLICE_F_NONBLOCK));
	put(T "snapshot", "1"); f = open(T "per_cpu/cpu0/snapshot_raw", O_RDONLY | O_NONBLOCK); say("snapshot_raw", sp(f, 0, p[1], 0, 65536, 0)); drain(p[0]); say("snapshot_raw", sp(f, 0, p[1], 0, 65536, 0)); drain(p[0]); put(T "snapshot", "0");
	put(T "trace", ""); put(T "tracing_on", "1");

	printf("# trace_pipe\n");
	f = open(T "trace_pipe", O_RDONLY | O_NONBLOCK);
	say("empty", sp(f, 0, p[1], 0, 4096, 0));
	off = 0; say("offset", sp(f, &off, p[1], 0, 4096, 0));
	marks(3); 
	say("len 10", sp(f, 0, p[1], 0, 10, 0));
	say("len 4096", sp(f, 0, p[1], 0, 4096, 0)); n = read(p[0], buf, sizeof buf); say(" in the pipe", n); say(" last", buf[n - 1]); say(" lines", n > 2000);
	say("again", sp(f, 0, p[1], 0, 4096, 0)); drain(p[0]);
	marks(20); say("len 100000", sp(f, 0, p[1], 0, 100000, 0)); drain(p[0]); say("again", sp(f, 0, p[1], 0, 100000, 0)); drain(p[0]);
	marks(20); for (n = 0; n < 15; n++) { off = n; int h = open("/tmp/in", O_RDONLY); sp(h, &off, p[1], 0, 1, 0); close(h); }
	say("one buffer free", sp(f, 0, p[1], 0, 65536, 0)); drain(p[0]); say("then", sp(f, 0, p[1], 0, 65536, 0)); drain(p[0]);
	marks(1); fcntl(f, F_SETFL, 0); say("with one", sp(f, 0, p[1], 0, 100000, 0)); drain(p[0]);
	printf("# other files of tracefs\n");
	say("trace", sp(open(T "trace", O_RDONLY), 0, p[1], 0, 20, 0)); drain(p[0]);
	say("available_tracers", sp(open(T "available_tracers", O_RDONLY), 0, p[1], 0, 20, 0)); drain(p[0]);
	say("set_ftrace_filter", sp(open(T "set_ftrace_filter", O_RDONLY), 0, p[1], 0, 20, 0)); drain(p[0]);
	say("kprobe_events", sp(open(T "kprobe_events", O_RDONLY), 0, p[1], 0, 20, 0)); drain(p[0]);
	say("available_events", sp(open(T "available_events", O_RDONLY), 0, p[1], 0, 20, 0)); drain(p[0]);
	say("per_cpu/cpu0/stats", sp(open(T "per_cpu/cpu0/stats", O_RDONLY), 0, p[1], 0, 20, 0)); drain(p[0]);
	say("snapshot", sp(open(T "snapshot", O_RDONLY), 0, p[1], 0, 20, 0)); drain(p[0]);
	write(q[1], "abc", 3); say("to trace_marker", sp(q[0], 0, open(T "trace_marker", O_WRONLY), 0, 3, 0)); drain(q[0]);
	write(q[1], "0", 1); say("to tracing_on", sp(q[0], 0, open(T "tracing_on", O_WRONLY), 0, 1, 0)); drain(q[0]);
	write(q[1], "vfs_read", 8); say("to set_ftrace_filter", sp(q[0], 0, open(T "set_ftrace_filter", O_WRONLY), 0, 8, 0)); drain(q[0]);
	return 0;
}
