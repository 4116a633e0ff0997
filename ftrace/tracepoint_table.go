package ftrace

// syscallTable: number, name, id of sys_enter_NAME (sys_exit_NAME has the one below), arguments; as Debian 6.1 has them.
const syscallTable = `
0 read 712 unsigned int fd; char * buf; size_t count
1 write 710 unsigned int fd; const char * buf; size_t count
2 open 656 const char * filename; int flags; umode_t mode
3 close 648 unsigned int fd
4 newstat 728 const char * filename; struct stat * statbuf
5 newfstat 722 unsigned int fd; struct stat * statbuf
6 newlstat 726 const char * filename; struct stat * statbuf
7 poll 776 struct pollfd * ufds; unsigned int nfds; int timeout_msecs
8 lseek 714 unsigned int fd; off_t offset; unsigned int whence
9 mmap 97 unsigned long addr; unsigned long len; unsigned long prot; unsigned long flags; unsigned long fd; unsigned long off
10 mprotect 595 unsigned long start; size_t len; unsigned long prot
11 munmap 581 unsigned long addr; size_t len
12 brk 583 unsigned long brk
13 rt_sigaction 159 int sig; const struct sigaction * act; struct sigaction * oact; size_t sigsetsize
14 rt_sigprocmask 179 int how; sigset_t * nset; sigset_t * oset; size_t sigsetsize
15 rt_sigreturn 58
16 ioctl 768 unsigned int fd; unsigned int cmd; unsigned long arg
17 pread64 708 unsigned int fd; char * buf; size_t count; loff_t pos
18 pwrite64 706 unsigned int fd; const char * buf; size_t count; loff_t pos
19 readv 704 unsigned long fd; const struct iovec * vec; unsigned long vlen
20 writev 702 unsigned long fd; const struct iovec * vec; unsigned long vlen
21 access 678 const char * filename; int mode
22 pipe 734 int * fildes
23 select 780 int n; fd_set * inp; fd_set * outp; fd_set * exp; struct __kernel_old_timeval * tvp
24 sched_yield 279
25 mremap 597 unsigned long addr; unsigned long old_len; unsigned long new_len; unsigned long flags; unsigned long new_addr
26 msync 599 unsigned long start; size_t len; int flags
27 mincore 567 unsigned long start; size_t len; unsigned char * vec
28 madvise 612 unsigned long start; size_t len_in; int behavior
29 shmget 1152 key_t key; size_t size; int shmflg
30 shmat 1148 int shmid; char * shmaddr; int shmflg
31 shmctl 1150 int shmid; int cmd; struct shmid_ds * buf
32 dup 782 unsigned int fildes
33 dup2 784 unsigned int oldfd; unsigned int newfd
34 pause 157
35 nanosleep 382 struct __kernel_timespec * rqtp; struct __kernel_timespec * rmtp
36 getitimer 412 int which; struct __kernel_old_itimerval * value
37 alarm 410 unsigned int seconds
38 setitimer 408 int which; struct __kernel_old_itimerval * value; struct __kernel_old_itimerval * ovalue
39 getpid 231
40 sendfile64 692 int out_fd; int in_fd; loff_t * offset; size_t count
41 socket 1318 int family; int type; int protocol
42 connect 1306 int fd; struct sockaddr * uservaddr; int addrlen
43 accept 1308 int fd; struct sockaddr * upeer_sockaddr; int * upeer_addrlen
44 sendto 1300 int fd; void * buff; size_t len; unsigned int flags; struct sockaddr * addr; int addr_len
45 recvfrom 1298 int fd; void * ubuf; size_t size; unsigned int flags; struct sockaddr * addr; int * addr_len
46 sendmsg 1290 int fd; struct user_msghdr * msg; unsigned int flags
47 recvmsg 1286 int fd; struct user_msghdr * msg; unsigned int flags
48 shutdown 1292 int fd; int how
49 bind 1314 int fd; struct sockaddr * umyaddr; int addrlen
50 listen 1312 int fd; int backlog
51 getsockname 1304 int fd; struct sockaddr * usockaddr; int * usockaddr_len
52 getpeername 1302 int fd; struct sockaddr * usockaddr; int * usockaddr_len
53 socketpair 1316 int family; int type; int protocol; int * usockvec
54 setsockopt 1296 int fd; int level; int optname; char * optval; int optlen
55 getsockopt 1294 int fd; int level; int optname; char * optval; int * optlen
56 clone 119 unsigned long clone_flags; unsigned long newsp; int * parent_tidptr; int * child_tidptr; unsigned long tls
57 fork 123
58 vfork 121
59 execve 732 const char * filename; const char *const * argv; const char *const * envp
60 exit 140 int error_code
61 wait4 134 pid_t upid; int * stat_addr; int options; struct rusage * ru
62 kill 173 pid_t pid; int sig
63 newuname 205 struct new_utsname * name
64 semget 1144 key_t key; int nsems; int semflg
65 semop 1138 int semid; struct sembuf * tsops; unsigned nsops
66 semctl 1142 int semid; int semnum; int cmd; unsigned long arg
67 shmdt 1146 char * shmaddr
68 msgget 1136 key_t key; int msgflg
69 msgsnd 1132 int msqid; struct msgbuf * msgp; size_t msgsz; int msgflg
70 msgrcv 1130 int msqid; struct msgbuf * msgp; size_t msgsz; long msgtyp; int msgflg
71 msgctl 1134 int msqid; int cmd; struct msqid_ds * buf
72 fcntl 766 unsigned int fd; unsigned int cmd; unsigned long arg
73 flock 964 unsigned int fd; unsigned int cmd
74 fsync 870 unsigned int fd
75 fdatasync 868 unsigned int fd
76 truncate 688 const char * path; long length
77 ftruncate 686 unsigned int fd; off_t length
78 getdents 772 unsigned int fd; struct linux_dirent * dirent; unsigned int count
79 getcwd 884 char * buf; unsigned long size
80 chdir 676 const char * filename
81 fchdir 674 unsigned int fd
82 rename 738 const char * oldname; const char * newname
83 mkdir 758 const char * pathname; umode_t mode
84 rmdir 756 const char * pathname
85 creat 650 const char * pathname; umode_t mode
86 link 744 const char * oldname; const char * newname
87 unlink 752 const char * pathname
88 symlink 748 const char * oldname; const char * newname
89 readlink 718 const char * path; char * buf; int bufsiz
90 chmod 666 const char * filename; umode_t mode
91 fchmod 670 unsigned int fd; umode_t mode
92 chown 662 const char * filename; uid_t user; gid_t group
93 fchown 658 unsigned int fd; uid_t user; gid_t group
94 lchown 660 const char * filename; uid_t user; gid_t group
95 umask 191 int mask
96 gettimeofday 365 struct __kernel_old_timeval * tv; struct timezone * tz
97 getrlimit 199 unsigned int resource; struct rlimit * rlim
98 getrusage 193 int who; struct rusage * ru
99 sysinfo 185 struct sysinfo * info
100 times 217 struct tms * tbuf
101 ptrace 153 long request; long pid; unsigned long addr; unsigned long data
102 getuid 225
103 syslog 328 int type; char * buf; int len
104 getgid 221
105 setuid 245 uid_t uid
106 setgid 249 gid_t gid
107 geteuid 223
108 getegid 219
109 setpgid 215 pid_t pid; pid_t pgid
110 getppid 227
111 getpgrp 211
112 setsid 207
113 setreuid 247 uid_t ruid; uid_t euid
114 setregid 251 gid_t rgid; gid_t egid
115 getgroups 271 int gidsetsize; gid_t * grouplist
116 setgroups 269 int gidsetsize; gid_t * grouplist
117 setresuid 243 uid_t ruid; uid_t euid; uid_t suid
118 getresuid 241 uid_t * ruidp; uid_t * euidp; uid_t * suidp
119 setresgid 239 gid_t rgid; gid_t egid; gid_t sgid
120 getresgid 237 gid_t * rgidp; gid_t * egidp; gid_t * sgidp
121 getpgid 213 pid_t pid
122 setfsuid 235 uid_t uid
123 setfsgid 233 gid_t gid
124 getsid 209 pid_t pid
125 capget 151 cap_user_header_t header; cap_user_data_t dataptr
126 capset 149 cap_user_header_t header; const cap_user_data_t data
127 rt_sigpending 177 sigset_t * uset; size_t sigsetsize
128 rt_sigtimedwait 175 const sigset_t * uthese; siginfo_t * uinfo; const struct __kernel_timespec * uts; size_t sigsetsize
129 rt_sigqueueinfo 165 pid_t pid; int sig; siginfo_t * uinfo
130 rt_sigsuspend 155 sigset_t * unewset; size_t sigsetsize
131 sigaltstack 161 const stack_t * uss; stack_t * uoss
132 utime 876 char * filename; struct utimbuf * times
133 mknod 762 const char * filename; umode_t mode; unsigned dev
135 personality 129 unsigned int personality
136 ustat 886 unsigned dev; struct ustat * ubuf
137 statfs 890 const char * pathname; struct statfs * buf
138 fstatfs 888 unsigned int fd; struct statfs * buf
139 sysfs 788 int option; unsigned long arg1; unsigned long arg2
140 getpriority 253 int which; int who
141 setpriority 255 int which; int who; int niceval
142 sched_setparam 293 pid_t pid; struct sched_param * param
143 sched_getparam 287 pid_t pid; struct sched_param * param
144 sched_setscheduler 295 pid_t pid; int policy; struct sched_param * param
145 sched_getscheduler 289 pid_t pid
146 sched_get_priority_max 277 int policy
147 sched_get_priority_min 275 int policy
148 sched_rr_get_interval 273 pid_t pid; struct __kernel_timespec * interval
149 mlock 577 unsigned long start; size_t len
150 munlock 573 unsigned long start; size_t len
151 mlockall 571 int flags
152 munlockall 569
153 vhangup 644
154 modify_ldt 95 int func; void * ptr; unsigned long bytecount
155 pivot_root 792 const char * new_root; const char * put_old
157 prctl 189 int option; unsigned long arg2; unsigned long arg3; unsigned long arg4; unsigned long arg5
158 arch_prctl 56 int option; unsigned long arg2
159 adjtimex 361 struct __kernel_timex * txc_p
160 setrlimit 195 unsigned int resource; struct rlimit * rlim
161 chroot 672 const char * filename
162 sync 874
163 acct 422 const char * name
164 settimeofday 363 struct __kernel_old_timeval * tv; struct timezone * tz
165 mount 798 char * dev_name; char * dir_name; char * type; unsigned long flags; void * data
166 umount 802 char * name; int flags
167 swapon 614 const char * specialfile; int swap_flags
168 swapoff 616 const char * specialfile
169 reboot 267 int magic1; int magic2; unsigned int cmd; void * arg
170 sethostname 203 char * name; int len
171 setdomainname 201 char * name; int len
172 iopl 90 unsigned int level
173 ioperm 92 unsigned long from; unsigned long num; int turn_on
175 init_module 350 void * umod; unsigned long len; const char * uargs
176 delete_module 352 const char * name_user; unsigned int flags
179 quotactl 994 unsigned int cmd; const char * special; qid_t id; void * addr
186 gettid 229
187 readahead 512 int fd; loff_t offset; size_t count
188 setxattr 826 const char * pathname; const char * name; const void * value; size_t size; int flags
189 lsetxattr 824 const char * pathname; const char * name; const void * value; size_t size; int flags
190 fsetxattr 822 int fd; const char * name; const void * value; size_t size; int flags
191 getxattr 820 const char * pathname; const char * name; void * value; size_t size
192 lgetxattr 818 const char * pathname; const char * name; void * value; size_t size
193 fgetxattr 816 int fd; const char * name; void * value; size_t size
194 listxattr 814 const char * pathname; char * list; size_t size
195 llistxattr 812 const char * pathname; char * list; size_t size
196 flistxattr 810 int fd; char * list; size_t size
197 removexattr 808 const char * pathname; const char * name
198 lremovexattr 806 const char * pathname; const char * name
199 fremovexattr 804 int fd; const char * name
200 tkill 167 pid_t pid; int sig
201 time 367 __kernel_old_time_t * tloc
202 futex 416 u32 * uaddr; int op; u32 val; const struct __kernel_timespec * utime; u32 * uaddr2; u32 val3
203 sched_setaffinity 283 pid_t pid; unsigned int len; unsigned long * user_mask_ptr
204 sched_getaffinity 281 pid_t pid; unsigned int len; unsigned long * user_mask_ptr
206 io_setup 948 unsigned nr_events; aio_context_t * ctxp
207 io_destroy 946 aio_context_t ctx
208 io_getevents 940 aio_context_t ctx_id; long min_nr; long nr; struct io_event * events; struct __kernel_timespec * timeout
209 io_submit 944 aio_context_t ctx_id; long nr; struct iocb * * iocbpp
210 io_cancel 942 aio_context_t ctx_id; struct iocb * iocb; struct io_event * result
213 epoll_create 918 int size
216 remap_file_pages 579 unsigned long start; unsigned long size; unsigned long prot; unsigned long pgoff; unsigned long flags
217 getdents64 770 unsigned int fd; struct linux_dirent64 * dirent; unsigned int count
218 set_tid_address 125 int * tidptr
219 restart_syscall 181
220 semtimedop 1140 int semid; struct sembuf * tsops; unsigned int nsops; const struct __kernel_timespec * timeout
221 fadvise64 510 int fd; loff_t offset; size_t len; int advice
222 timer_create 406 const clockid_t which_clock; struct sigevent * timer_event_spec; timer_t * created_timer_id
223 timer_settime 400 timer_t timer_id; int flags; const struct __kernel_itimerspec * new_setting; struct __kernel_itimerspec * old_setting
224 timer_gettime 404 timer_t timer_id; struct __kernel_itimerspec * setting
225 timer_getoverrun 402 timer_t timer_id
226 timer_delete 398 timer_t timer_id
227 clock_settime 396 const clockid_t which_clock; const struct __kernel_timespec * tp
228 clock_gettime 394 const clockid_t which_clock; struct __kernel_timespec * tp
229 clock_getres 390 const clockid_t which_clock; struct __kernel_timespec * tp
230 clock_nanosleep 388 const clockid_t which_clock; int flags; const struct __kernel_timespec * rqtp; struct __kernel_timespec * rmtp
231 exit_group 138 int error_code
232 epoll_wait 914 int epfd; struct epoll_event * events; int maxevents; int timeout
233 epoll_ctl 916 int epfd; int op; int fd; struct epoll_event * event
234 tgkill 169 pid_t tgid; pid_t pid; int sig
235 utimes 878 char * filename; struct __kernel_old_timeval * utimes
237 mbind 624 unsigned long start; unsigned long len; unsigned long mode; const unsigned long * nmask; unsigned long maxnode; unsigned int flags
238 set_mempolicy 622 int mode; const unsigned long * nmask; unsigned long maxnode
239 get_mempolicy 618 int * policy; unsigned long * nmask; unsigned long maxnode; unsigned long addr; unsigned long flags
240 mq_open 1164 const char * u_name; int oflag; umode_t mode; struct mq_attr * u_attr
241 mq_unlink 1162 const char * u_name
242 mq_timedsend 1160 mqd_t mqdes; const char * u_msg_ptr; size_t msg_len; unsigned int msg_prio; const struct __kernel_timespec * u_abs_timeout
243 mq_timedreceive 1158 mqd_t mqdes; char * u_msg_ptr; size_t msg_len; unsigned int * u_msg_prio; const struct __kernel_timespec * u_abs_timeout
244 mq_notify 1156 mqd_t mqdes; const struct sigevent * u_notification
245 mq_getsetattr 1154 mqd_t mqdes; const struct mq_attr * u_mqstat; struct mq_attr * u_omqstat
246 kexec_load 424 unsigned long entry; unsigned long nr_segments; struct kexec_segment * segments; unsigned long flags
247 waitid 136 int which; pid_t upid; struct siginfo * infop; int options; struct rusage * ru
248 add_key 1170 const char * _type; const char * _description; const void * _payload; size_t plen; key_serial_t ringid
249 request_key 1168 const char * _type; const char * _description; const char * _callout_info; key_serial_t destringid
250 keyctl 1166 int option; unsigned long arg2; unsigned long arg3; unsigned long arg4; unsigned long arg5
251 ioprio_set 1200 int which; int who; int ioprio
252 ioprio_get 1198 int which; int who
253 inotify_init 902
254 inotify_add_watch 900 int fd; const char * pathname; u32 mask
255 inotify_rm_watch 898 int fd; __s32 wd
256 migrate_pages 620 pid_t pid; unsigned long maxnode; const unsigned long * old_nodes; const unsigned long * new_nodes
257 openat 654 int dfd; const char * filename; int flags; umode_t mode
258 mkdirat 760 int dfd; const char * pathname; umode_t mode
259 mknodat 764 int dfd; const char * filename; umode_t mode; unsigned int dev
260 fchownat 664 int dfd; const char * filename; uid_t user; gid_t group; int flag
261 futimesat 880 int dfd; const char * filename; struct __kernel_old_timeval * utimes
262 newfstatat 724 int dfd; const char * filename; struct stat * statbuf; int flag
263 unlinkat 754 int dfd; const char * pathname; int flag
264 renameat 740 int olddfd; const char * oldname; int newdfd; const char * newname
265 linkat 746 int olddfd; const char * oldname; int newdfd; const char * newname; int flags
266 symlinkat 750 const char * oldname; int newdfd; const char * newname
267 readlinkat 720 int dfd; const char * pathname; char * buf; int bufsiz
268 fchmodat 668 int dfd; const char * filename; umode_t mode
269 faccessat 682 int dfd; const char * filename; int mode
270 pselect6 778 int n; fd_set * inp; fd_set * outp; fd_set * exp; struct __kernel_timespec * tsp; void * sig
271 ppoll 774 struct pollfd * ufds; unsigned int nfds; struct __kernel_timespec * tsp; const sigset_t * sigmask; size_t sigsetsize
272 unshare 115 unsigned long unshare_flags
273 set_robust_list 420 struct robust_list_head * head; size_t len
274 get_robust_list 418 int pid; struct robust_list_head * * head_ptr; size_t * len_ptr
275 splice 862 int fd_in; loff_t * off_in; int fd_out; loff_t * off_out; size_t len; unsigned int flags
276 tee 860 int fdin; int fdout; size_t len; unsigned int flags
277 sync_file_range 866 int fd; loff_t offset; loff_t nbytes; unsigned int flags
278 vmsplice 864 int fd; const struct iovec * uiov; unsigned long nr_segs; unsigned int flags
279 move_pages 628 pid_t pid; unsigned long nr_pages; const void * * pages; const int * nodes; int * status; int flags
280 utimensat 882 int dfd; const char * filename; struct __kernel_timespec * utimes; int flags
281 epoll_pwait 912 int epfd; struct epoll_event * events; int maxevents; int timeout; const sigset_t * sigmask; size_t sigsetsize
282 signalfd 922 int ufd; sigset_t * user_mask; size_t sizemask
283 timerfd_create 930 int clockid; int flags
284 eventfd 932 unsigned int count
285 fallocate 684 int fd; int mode; loff_t offset; loff_t len
286 timerfd_settime 928 int ufd; int flags; const struct __kernel_itimerspec * utmr; struct __kernel_itimerspec * otmr
287 timerfd_gettime 926 int ufd; struct __kernel_itimerspec * otmr
288 accept4 1310 int fd; struct sockaddr * upeer_sockaddr; int * upeer_addrlen; int flags
289 signalfd4 924 int ufd; sigset_t * user_mask; size_t sizemask; int flags
290 eventfd2 934 unsigned int count; int flags
291 epoll_create1 920 int flags
292 dup3 786 unsigned int oldfd; unsigned int newfd; int flags
293 pipe2 736 int * fildes; int flags
294 inotify_init1 904 int flags
295 preadv 700 unsigned long fd; const struct iovec * vec; unsigned long vlen; unsigned long pos_l; unsigned long pos_h
296 pwritev 696 unsigned long fd; const struct iovec * vec; unsigned long vlen; unsigned long pos_l; unsigned long pos_h
297 rt_tgsigqueueinfo 163 pid_t tgid; pid_t pid; int sig; siginfo_t * uinfo
298 perf_event_open 488 struct perf_event_attr * attr_uptr; pid_t pid; int cpu; int group_fd; unsigned long flags
299 recvmmsg 1284 int fd; struct mmsghdr * mmsg; unsigned int vlen; unsigned int flags; struct __kernel_timespec * timeout
300 fanotify_init 908 unsigned int flags; unsigned int event_f_flags
301 fanotify_mark 906 int fanotify_fd; unsigned int flags; __u64 mask; int dfd; const char * pathname
302 prlimit64 197 pid_t pid; unsigned int resource; const struct rlimit64 * new_rlim; struct rlimit64 * old_rlim
303 name_to_handle_at 980 int dfd; const char * name; struct file_handle * handle; int * mnt_id; int flag
304 open_by_handle_at 978 int mountdirfd; struct file_handle * handle; int flags
305 clock_adjtime 392 const clockid_t which_clock; struct __kernel_timex * utx
306 syncfs 872 int fd
307 sendmmsg 1288 int fd; struct mmsghdr * mmsg; unsigned int vlen; unsigned int flags
308 setns 265 int fd; int flags
309 getcpu 187 unsigned * cpup; unsigned * nodep; struct getcpu_cache * unused
310 process_vm_readv 608 pid_t pid; const struct iovec * lvec; unsigned long liovcnt; const struct iovec * rvec; unsigned long riovcnt; unsigned long flags
311 process_vm_writev 606 pid_t pid; const struct iovec * lvec; unsigned long liovcnt; const struct iovec * rvec; unsigned long riovcnt; unsigned long flags
312 kcmp 359 pid_t pid1; pid_t pid2; int type; unsigned long idx1; unsigned long idx2
313 finit_module 348 int fd; const char * uargs; int flags
314 sched_setattr 291 pid_t pid; struct sched_attr * uattr; unsigned int flags
315 sched_getattr 285 pid_t pid; struct sched_attr * uattr; unsigned int usize; unsigned int flags
316 renameat2 742 int olddfd; const char * oldname; int newdfd; const char * newname; unsigned int flags
317 seccomp 441 unsigned int op; unsigned int flags; void * uargs
318 getrandom 1239 char * ubuf; size_t len; unsigned int flags
319 memfd_create 642 const char * uname; unsigned int flags
320 kexec_file_load 426 int kernel_fd; int initrd_fd; unsigned long cmdline_len; const char * cmdline_ptr; unsigned long flags
321 bpf 486 int cmd; union bpf_attr * uattr; unsigned int size
322 execveat 730 int fd; const char * filename; const char *const * argv; const char *const * envp; int flags
323 userfaultfd 936 int flags
324 membarrier 324 int cmd; unsigned int flags; int cpu_id
325 mlock2 575 unsigned long start; size_t len; int flags
326 copy_file_range 690 int fd_in; loff_t * off_in; int fd_out; loff_t * off_out; size_t len; unsigned int flags
327 preadv2 698 unsigned long fd; const struct iovec * vec; unsigned long vlen; unsigned long pos_l; unsigned long pos_h; rwf_t flags
328 pwritev2 694 unsigned long fd; const struct iovec * vec; unsigned long vlen; unsigned long pos_l; unsigned long pos_h; rwf_t flags
329 pkey_mprotect 593 unsigned long start; size_t len; unsigned long prot; int pkey
330 pkey_alloc 591 unsigned long flags; unsigned long init_val
331 pkey_free 589 int pkey
332 statx 716 int dfd; const char * filename; unsigned flags; unsigned int mask; struct statx * buffer
333 io_pgetevents 938 aio_context_t ctx_id; long min_nr; long nr; struct io_event * events; struct __kernel_timespec * timeout; const struct __aio_sigset * usig
334 rseq 492 struct rseq * rseq; u32 rseq_len; int flags; u32 sig
424 pidfd_send_signal 171 int pidfd; int sig; siginfo_t * info; unsigned int flags
425 io_uring_setup 1215 u32 entries; struct io_uring_params * params
426 io_uring_enter 1217 unsigned int fd; u32 to_submit; u32 min_complete; u32 flags; const void * argp; size_t argsz
427 io_uring_register 1213 unsigned int fd; unsigned int opcode; void * arg; unsigned int nr_args
428 open_tree 800 int dfd; const char * filename; unsigned flags
429 move_mount 794 int from_dfd; const char * from_pathname; int to_dfd; const char * to_pathname; unsigned int flags
430 fsopen 896 const char * _fs_name; unsigned int flags
431 fsconfig 892 int fd; unsigned int cmd; const char * _key; const void * _value; int aux
432 fsmount 796 int fs_fd; unsigned int flags; unsigned int attr_flags
433 fspick 894 int dfd; const char * path; unsigned int flags
434 pidfd_open 263 pid_t pid; unsigned int flags
435 clone3 117 struct clone_args * uargs; size_t size
436 close_range 646 unsigned int fd; unsigned int max_fd; unsigned int flags
437 openat2 652 int dfd; const char * filename; struct open_how * how; size_t usize
438 pidfd_getfd 261 int pidfd; int fd; unsigned int flags
439 faccessat2 680 int dfd; const char * filename; int mode; int flags
440 process_madvise 610 int pidfd; const struct iovec * vec; size_t vlen; int behavior; unsigned int flags
441 epoll_pwait2 910 int epfd; struct epoll_event * events; int maxevents; const struct __kernel_timespec * timeout; const sigset_t * sigmask; size_t sigsetsize
442 mount_setattr 790 int dfd; const char * path; unsigned int flags; struct mount_attr * uattr; size_t usize
443 quotactl_fd 992 unsigned int fd; unsigned int cmd; qid_t id; void * addr
444 landlock_create_ruleset 1177 const struct landlock_ruleset_attr *const attr; const size_t size; const __u32 flags
445 landlock_add_rule 1175 const int ruleset_fd; const enum landlock_rule_type rule_type; const void *const rule_attr; const __u32 flags
446 landlock_restrict_self 1173 const int ruleset_fd; const __u32 flags
447 memfd_secret 640 unsigned int flags
448 process_mrelease 500 int pidfd; unsigned int flags
449 futex_waitv 414 struct futex_waitv * waiters; unsigned int nr_futexes; unsigned int flags; struct __kernel_timespec * timeout; clockid_t clockid
450 set_mempolicy_home_node 626 unsigned long start; unsigned long len; unsigned long home_node; unsigned long flags
`
