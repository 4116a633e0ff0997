package user

import (
	"slices"

	"kscope/kernel"
)

// The system calls of x86-64 that programs can ask for (arch/x86/entry/syscalls/syscall_64.tbl).
const (
	sysRead             = 0
	sysWrite            = 1
	sysClose            = 3
	sysLseek            = 8
	sysMmap             = 9
	sysMunmap           = 11
	sysBrk              = 12
	sysPipe             = 22
	sysDup2             = 33
	sysNanosleep        = 35
	sysGetpid           = 39
	sysClone            = 56
	sysExecve           = 59
	sysWait4            = 61
	sysKill             = 62
	sysGetcwd           = 79
	sysChdir            = 80
	sysMkdir            = 83
	sysRmdir            = 84
	sysUnlink           = 87
	sysReadlink         = 89
	sysSyslog           = 103
	sysGetppid          = 110
	sysPrctl            = 157
	sysSchedSetaffinity = 203
	sysGetdents64       = 217
	sysClockGettime     = 228
	sysClockNanosleep   = 230
	sysExitGroup        = 231
	sysOpenat           = 257
	sysNewfstatat       = 262
)

// Flags of open.
const (
	oRdonly    = kernel.ORdonly
	oWronly    = kernel.OWronly
	oRdwr      = kernel.ORdwr
	oCreat     = kernel.OCreat
	oExcl      = kernel.OExcl
	oTrunc     = kernel.OTrunc
	oAppend    = kernel.OAppend
	oNonblock  = kernel.ONonblock
	oDirectory = kernel.ODirectory
)

// Syscall names one system call.
type Syscall struct {
	Name string
	Nr   int
}

// Syscalls are the calls that CallNamed knows, by number.
func Syscalls() []Syscall { return slices.Clone(syscallTable[:]) }

var syscallTable = [...]Syscall{
	{"read", 0}, {"write", 1}, {"open", 2}, {"close", 3}, {"stat", 4}, {"fstat", 5}, {"lstat", 6}, {"poll", 7}, {"lseek", 8},
	{"mmap", 9}, {"mprotect", 10}, {"munmap", 11}, {"brk", 12}, {"rt_sigaction", 13}, {"rt_sigprocmask", 14}, {"rt_sigreturn", 15}, {"ioctl", 16},
	{"pread64", 17}, {"pwrite64", 18}, {"readv", 19}, {"writev", 20}, {"access", 21}, {"pipe", 22}, {"select", 23}, {"sched_yield", 24},
	{"dup", 32}, {"dup2", 33}, {"pause", 34}, {"nanosleep", 35}, {"getitimer", 36}, {"setitimer", 38}, {"getpid", 39}, {"sendfile", 40},
	{"socket", 41}, {"clone", 56},
	{"fork", 57}, {"vfork", 58}, {"execve", 59}, {"exit", 60}, {"wait4", 61}, {"kill", 62}, {"uname", 63}, {"fcntl", 72},
	{"flock", 73}, {"fsync", 74}, {"fdatasync", 75}, {"truncate", 76}, {"ftruncate", 77}, {"getdents", 78}, {"getcwd", 79}, {"chdir", 80}, {"fchdir", 81},
	{"rename", 82}, {"mkdir", 83}, {"rmdir", 84}, {"creat", 85}, {"link", 86}, {"unlink", 87}, {"symlink", 88},
	{"readlink", 89}, {"chmod", 90}, {"fchmod", 91}, {"chown", 92}, {"umask", 95}, {"gettimeofday", 96}, {"getrlimit", 97}, {"getrusage", 98}, {"sysinfo", 99},
	{"times", 100}, {"syslog", 103}, {"getuid", 102}, {"getgid", 104}, {"geteuid", 107}, {"getegid", 108}, {"setpgid", 109}, {"getppid", 110},
	{"getpgrp", 111}, {"setsid", 112}, {"getpgid", 121}, {"getsid", 124}, {"rt_sigpending", 127}, {"rt_sigtimedwait", 128}, {"rt_sigqueueinfo", 129}, {"rt_sigsuspend", 130}, {"sigaltstack", 131}, {"mknod", 133},
	{"statfs", 137}, {"fstatfs", 138}, {"getpriority", 140}, {"setpriority", 141}, {"sched_setparam", 142}, {"sched_getparam", 143},
	{"sched_setscheduler", 144}, {"sched_getscheduler", 145}, {"sched_get_priority_max", 146}, {"sched_get_priority_min", 147},
	{"sched_rr_get_interval", 148}, {"alarm", 37}, {"prctl", 157}, {"arch_prctl", 158}, {"setrlimit", 160}, {"chroot", 161}, {"sync", 162}, {"mount", 165},
	{"umount2", 166}, {"reboot", 169}, {"sethostname", 170}, {"init_module", 175}, {"delete_module", 176}, {"gettid", 186}, {"tkill", 200}, {"time", 201}, {"futex", 202},
	{"sched_setaffinity", 203}, {"sched_getaffinity", 204}, {"getdents64", 217}, {"set_tid_address", 218},
	{"clock_gettime", 228}, {"clock_getres", 229}, {"clock_nanosleep", 230}, {"exit_group", 231}, {"tgkill", 234}, {"waitid", 247}, {"waitid", 247},
	{"openat", 257}, {"mkdirat", 258}, {"mknodat", 259}, {"fchownat", 260}, {"newfstatat", 262}, {"unlinkat", 263},
	{"renameat", 264}, {"linkat", 265}, {"symlinkat", 266}, {"readlinkat", 267}, {"fchmodat", 268}, {"faccessat", 269}, {"pselect6", 270}, {"ppoll", 271},
	{"set_robust_list", 273}, {"get_robust_list", 274}, {"splice", 275}, {"utimensat", 280}, {"dup3", 292}, {"pipe2", 293}, {"rt_tgsigqueueinfo", 297}, {"prlimit64", 302}, {"syncfs", 306}, {"getcpu", 309}, {"finit_module", 313}, {"sched_setattr", 314}, {"sched_getattr", 315}, {"renameat2", 316}, {"getrandom", 318}, {"statx", 332},
	{"rseq", 334}, {"clone3", 435}, {"close_range", 436}, {"openat2", 437}, {"faccessat2", 439},
}

// SyscallNr finds a call by name.
func SyscallNr(name string) (int, bool) {
	for _, c := range syscallTable {
		if c.Name == name {
			return c.Nr, true
		}
	}
	return 0, false
}
