#pragma once
#define EPERM 1
#define ENOENT 2
#define ESRCH 3
#define EINTR 4
#define EIO 5
#define ENXIO 6
#define E2BIG 7
#define ENOEXEC 8
#define EBADF 9
#define ECHILD 10
#define EAGAIN 11
#define ENOMEM 12
#define EACCES 13
#define EFAULT 14
#define EBUSY 16
#define EEXIST 17
#define EXDEV 18
#define ENODEV 19
#define ENOTBLK 15
#define ESTALE 116
#define EUCLEAN 117
#define EFSCORRUPTED EUCLEAN
#define ENOTDIR 20
#define EISDIR 21
#define EINVAL 22
#define ENFILE 23
#define EMFILE 24
#define ENOTTY 25
#define ETXTBSY 26
#define EFBIG 27
#define ENOSPC 28
#define ESPIPE 29
#define EROFS 30
#define EMLINK 31
#define EPIPE 32
#define EDOM 33
#define ERANGE 34
#define EDEADLK 35
#define ENAMETOOLONG 36
#define ENOLCK 37
#define ENOSYS 38
#define ENOTEMPTY 39
#define ELOOP 40
#define ELIBBAD 80
#define EOVERFLOW 75
#define EILSEQ 84
#define EOPNOTSUPP 95
#define ETIMEDOUT 110
#define ERESTARTSYS 512
#define ERESTARTNOINTR 513
#define ERESTARTNOHAND 514
#define ENOIOCTLCMD 515
#define ERESTART_RESTARTBLOCK 516
#define EPROBE_DEFER 517
#define ENOTSUPP 524
#define MAX_ERRNO 4095
#define IS_ERR_VALUE(x) unlikely((unsigned long)(void *)(x) >= (unsigned long)-MAX_ERRNO)
static __always_inline void *ERR_PTR(long e) { return (void *)e; }
static __always_inline long PTR_ERR(const void *p) { return (long)p; }
static __always_inline _Bool IS_ERR(const void *p) { return IS_ERR_VALUE((unsigned long)p); }
static __always_inline _Bool IS_ERR_OR_NULL(const void *p) { return !p || IS_ERR(p); }
static __always_inline void *ERR_CAST(const void *p) { return (void *)p; }
