/* File types, mode bits and what stat reports (Linux's include/linux/stat.h, uapi/asm/stat.h). */
#ifndef _STAT_H
#define _STAT_H
#include "types.h"
#include "ktime.h"

#define S_IFMT	 00170000
#define S_IFSOCK 0140000
#define S_IFLNK	 0120000
#define S_IFREG	 0100000
#define S_IFBLK	 0060000
#define S_IFDIR	 0040000
#define S_IFCHR	 0020000
#define S_IFIFO	 0010000
#define S_ISUID	 0004000
#define S_ISGID	 0002000
#define S_ISVTX	 0001000
#define S_IRWXU	 00700
#define S_IRWXG	 00070
#define S_IXGRP	 00010
#define S_IRWXUGO 0777
#define S_IALLUGO 07777
#define S_IRUGO	 0444
#define S_IWUGO	 0222
#define S_IXUGO	 0111

#define S_ISLNK(m)	(((m) & S_IFMT) == S_IFLNK)
#define S_ISREG(m)	(((m) & S_IFMT) == S_IFREG)
#define S_ISDIR(m)	(((m) & S_IFMT) == S_IFDIR)
#define S_ISCHR(m)	(((m) & S_IFMT) == S_IFCHR)
#define S_ISBLK(m)	(((m) & S_IFMT) == S_IFBLK)
#define S_ISFIFO(m)	(((m) & S_IFMT) == S_IFIFO)
#define S_ISSOCK(m)	(((m) & S_IFMT) == S_IFSOCK)

#define DT_UNKNOWN	0
#define DT_FIFO		1
#define DT_CHR		2
#define DT_DIR		4
#define DT_REG		8
#define DT_LNK		10
#define dt_type(mode)	(((mode) >> 12) & 15)

#define MINORBITS	20
#define MAJOR(dev)	((unsigned int)((dev) >> MINORBITS))
#define MINOR(dev)	((unsigned int)((dev) & ((1U << MINORBITS) - 1)))
#define MKDEV(ma, mi)	(((ma) << MINORBITS) | (mi))

struct kstat {
	u32 result_mask;
	umode_t mode;
	unsigned int nlink;
	u32 blksize;
	u64 ino;
	dev_t dev, rdev;
	kuid_t uid;
	kgid_t gid;
	loff_t size;
	struct timespec64 atime, mtime, ctime;
	u64 blocks;
};

/* The user's struct stat of x86-64. */
struct stat {
	u64 st_dev, st_ino, st_nlink;
	u32 st_mode, st_uid, st_gid, __pad0;
	u64 st_rdev;
	s64 st_size, st_blksize, st_blocks;
	u64 st_atime, st_atime_nsec, st_mtime, st_mtime_nsec, st_ctime, st_ctime_nsec;
	s64 __unused[3];
};

#define STATX_BASIC_STATS	0x7ff
#endif
