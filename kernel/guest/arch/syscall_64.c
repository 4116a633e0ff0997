/*
 * The system call table (arch/x86/entry/syscalls/syscall_64.tbl). Names without an implementation are weak aliases of
 * ni_syscall, as Linux's COND_SYSCALL makes them.
 */
#include "syscalls.h"
#include "errno.h"

long __x64_sys_ni_syscall(const struct pt_regs *regs);
long __x64_sys_ni_syscall(const struct pt_regs *regs)
{
	return -ENOSYS;
}

#define SYSCALLS(X) \
	X(0, read) X(1, write) X(2, open) X(3, close) X(4, newstat) X(5, newfstat) X(6, newlstat) X(7, poll) X(8, lseek) \
	X(9, mmap) X(10, mprotect) X(11, munmap) X(12, brk) X(13, rt_sigaction) X(14, rt_sigprocmask) X(15, rt_sigreturn) \
	X(16, ioctl) X(17, pread64) X(18, pwrite64) X(19, readv) X(20, writev) X(21, access) X(22, pipe) X(23, select) X(24, sched_yield) \
	X(32, dup) X(33, dup2) X(34, pause) X(35, nanosleep) X(36, getitimer) X(37, alarm) X(38, setitimer) X(39, getpid) X(40, sendfile64) X(56, clone) X(57, fork) \
	X(58, vfork) X(59, execve) X(60, exit) X(61, wait4) X(62, kill) X(63, newuname) X(72, fcntl) X(73, flock) X(74, fsync) X(75, fdatasync) \
	X(76, truncate) X(77, ftruncate) X(78, getdents) X(79, getcwd) X(80, chdir) X(81, fchdir) X(82, rename) X(83, mkdir) \
	X(84, rmdir) X(85, creat) X(86, link) X(87, unlink) X(88, symlink) X(89, readlink) X(90, chmod) X(91, fchmod) \
	X(92, chown) X(95, umask) X(96, gettimeofday) X(97, getrlimit) X(98, getrusage) X(99, sysinfo) X(100, times) X(103, syslog) \
	X(102, getuid) X(104, getgid) X(107, geteuid) X(108, getegid) X(109, setpgid) X(110, getppid) X(111, getpgrp) \
	X(112, setsid) X(121, getpgid) X(124, getsid) X(127, rt_sigpending) X(128, rt_sigtimedwait) X(129, rt_sigqueueinfo) X(130, rt_sigsuspend) X(131, sigaltstack) \
	X(133, mknod) X(161, chroot) X(137, statfs) X(138, fstatfs) X(140, getpriority) X(141, setpriority) \
	X(142, sched_setparam) X(143, sched_getparam) X(144, sched_setscheduler) X(145, sched_getscheduler) X(146, sched_get_priority_max) \
	X(147, sched_get_priority_min) X(148, sched_rr_get_interval) X(157, prctl) X(158, arch_prctl) X(162, sync) X(160, setrlimit) X(165, mount) X(170, sethostname) \
	X(175, init_module) X(176, delete_module) X(313, finit_module) \
	X(166, umount) X(186, gettid) X(200, tkill) X(201, time) X(202, futex) X(203, sched_setaffinity) \
	X(204, sched_getaffinity) X(217, getdents64) X(218, set_tid_address) X(228, clock_gettime) X(229, clock_getres) \
	X(230, clock_nanosleep) X(231, exit_group) X(234, tgkill) X(247, waitid) X(297, rt_tgsigqueueinfo) X(257, openat) X(258, mkdirat) X(259, mknodat) X(260, fchownat) \
	X(262, newfstatat) X(263, unlinkat) X(264, renameat) X(265, linkat) X(266, symlinkat) X(267, readlinkat) \
	X(268, fchmodat) X(269, faccessat) X(273, set_robust_list) X(274, get_robust_list) X(275, splice) X(270, pselect6) X(271, ppoll) X(280, utimensat) X(292, dup3) X(293, pipe2) \
	X(302, prlimit64) X(306, syncfs) X(309, getcpu) X(314, sched_setattr) X(315, sched_getattr) X(316, renameat2) X(318, getrandom) X(332, statx) X(334, rseq) X(435, clone3) \
	X(436, close_range) X(437, openat2) X(439, faccessat2) X(600, kscope)

#define DECLARE_SYSCALL(nr, name) \
	long __x64_sys_##name(const struct pt_regs *regs) __attribute__((weak, alias("__x64_sys_ni_syscall")));
SYSCALLS(DECLARE_SYSCALL)

#define TABLE_SYSCALL(nr, name) [nr] = __x64_sys_##name,
const sys_call_ptr_t sys_call_table[NR_syscalls] = {
	[0 ... NR_syscalls - 1] = __x64_sys_ni_syscall,
	SYSCALLS(TABLE_SYSCALL)
};
